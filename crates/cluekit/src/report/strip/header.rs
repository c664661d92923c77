//! What stands above the pictures: a title, what the letters mean, and what the colours mean.

use super::super::layout::{CAPTION_LINE, EDGE, TITLE_LINE};
use super::super::plot::{LABEL_SIZE, TITLE_SIZE};
use super::super::svg::{Frame, Paint, Style, Svg, TextStyle};
use super::super::text::{text_width, wrapped};
use super::picture::DIFFERENCES;

/// What is written above the pictures.
pub(super) struct Header {
    title: Vec<String>,
    caption: Vec<String>,
}

impl Header {
    /// `clues` are those shown and all of them.
    pub fn of(title: &str, clues: (usize, usize), width: f64) -> Self {
        let mut caption = "H uncertainty, d distance to the input, ρ distance in latent space".to_owned();
        if clues.0 < clues.1 {
            caption = format!("{} of {} clues. {caption}", clues.0, clues.1);
        }
        Self { title: wrapped(title, TITLE_SIZE, width, 2), caption: wrapped(&caption, LABEL_SIZE, width, 2) }
    }

    pub fn height(&self) -> f64 {
        let lines = self.title.len() as f64 * TITLE_LINE + (self.caption.len() + 1) as f64 * CAPTION_LINE;
        EDGE + lines + 6.0
    }

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
        let mut x = EDGE;
        for (share, name) in [(0.92, "added: brighter than the input"), (0.08, "removed: darker than the input")] {
            let swatch = Frame { x, y: y + 3.5, width: 11.0, height: 11.0 };
            svg.rect(swatch, &Style::fill(Paint::Solid(DIFFERENCES.at(share))));
            svg.text((x + 16.0, y + CAPTION_LINE - 4.0), name, &TextStyle::new(LABEL_SIZE));
            x += 16.0 + text_width(name, LABEL_SIZE) + 12.0;
        }
    }
}
