//! What stands above the pictures: a title, what the letters mean, and what the colours mean.

use crate::picture::DIFFERENCES;
use cluekit_plot::Heading;
use cluekit_plot::LABEL_SIZE;
use cluekit_plot::layout::{CAPTION_LINE, EDGE};
use cluekit_plot::svg::{Frame, Paint, Style, Svg, TextStyle};
use cluekit_plot::text::text_width;

/// What is written above the pictures.
pub(super) struct Header(Heading);

impl Header {
    /// `clues` are those shown and all of them.
    pub fn of(title: &str, clues: (usize, usize), width: f64) -> Self {
        let mut caption = "H uncertainty, d distance to the input, ρ distance in latent space".to_owned();
        if clues.0 < clues.1 {
            caption = format!("{} of {} clues. {caption}", clues.0, clues.1);
        }
        Self(Heading::of(title, &caption, width))
    }

    pub fn height(&self) -> f64 {
        self.0.height() + CAPTION_LINE + 6.0
    }

    pub fn draw(&self, svg: &mut Svg) {
        self.0.draw(svg);
        let y = self.0.height();
        let mut x = EDGE;
        for (share, name) in [(0.92, "added: brighter than the input"), (0.08, "removed: darker than the input")] {
            let swatch = Frame { x, y: y + 3.5, width: 11.0, height: 11.0 };
            svg.rect(swatch, &Style::fill(Paint::Solid(DIFFERENCES.at(share))));
            svg.text((x + 16.0, y + CAPTION_LINE - 4.0), name, &TextStyle::new(LABEL_SIZE));
            x += 16.0 + text_width(name, LABEL_SIZE) + 12.0;
        }
    }
}
