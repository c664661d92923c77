//! What stands above a picture that is no plot: a title, and below it what is to be seen.

use crate::layout::{CAPTION_LINE, EDGE, TITLE_LINE};
use crate::plot::{LABEL_SIZE, TITLE_SIZE};
use crate::svg::{Paint, Svg, TextStyle};
use crate::text::wrapped;

/// A title and a caption, line by line.
pub struct Heading {
    title: Vec<String>,
    caption: Vec<String>,
}

impl Heading {
    /// A title of at most two lines and a caption of at most three, for a picture `width` wide.
    pub fn of(title: &str, caption: &str, width: f64) -> Self {
        let room = width - 2.0 * EDGE;
        // Bold letters are wider.
        Self { title: wrapped(title, TITLE_SIZE, room / 1.16, 2), caption: wrapped(caption, LABEL_SIZE, room, 3) }
    }

    /// From the top of the picture to below the last line.
    pub fn height(&self) -> f64 {
        EDGE + self.title.len() as f64 * TITLE_LINE + self.caption.len() as f64 * CAPTION_LINE
    }

    /// Writes the heading along the upper edge.
    pub fn draw(&self, svg: &mut Svg) {
        let mut y = EDGE;
        for line in &self.title {
            y += TITLE_LINE;
            svg.text((EDGE, y - 5.0), line, &TextStyle { bold: true, ..TextStyle::new(TITLE_SIZE) });
        }
        for line in &self.caption {
            y += CAPTION_LINE;
            svg.text((EDGE, y - 4.0), line, &TextStyle { paint: Paint::Muted, ..TextStyle::new(LABEL_SIZE) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_as_high_as_its_lines_and_nothing_takes_no_line() {
        assert_eq!(Heading::of("", "", 300.0).height(), EDGE);
        assert_eq!(Heading::of("title", "caption", 300.0).height(), EDGE + TITLE_LINE + CAPTION_LINE);
        let long = Heading::of(&"title ".repeat(90), &"caption ".repeat(90), 300.0);
        assert_eq!(long.height(), EDGE + 2.0 * TITLE_LINE + 3.0 * CAPTION_LINE);
    }
}
