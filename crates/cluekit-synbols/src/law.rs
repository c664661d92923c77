//! The laws that attributes are drawn from, and the sets that have a name. [Lacoste2020]

use super::pattern::Pattern;
use cluekit::seed::Rng;
use rand::RngExt;
use rand_distr::{Distribution, Normal};
use serde::{Deserialize, Serialize};

/// Attributes of one symbol: all that its picture follows from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    /// Position of the letter in the alphabet.
    pub letter: usize,
    /// Position of the font in the list of fonts.
    pub font: usize,
    /// Whether the strokes are thick.
    pub is_bold: bool,
    /// Whether the letter leans.
    pub is_slant: bool,
    /// Rotation in radians.
    pub rotation: f32,
    /// The longer side of the symbol, in sides of the image.
    pub scale: f32,
    /// Place in the image, across and down: from −1 at one edge to 1 at the other.
    pub translation: [f32; 2],
    /// Pattern that the symbol is painted with.
    pub foreground: Pattern,
    /// Pattern behind the symbol.
    pub background: Pattern,
    /// Whether every pixel v becomes 1 − v.
    pub inverse_color: bool,
    /// Standard deviation of each pixel's noise.
    pub pixel_noise_scale: f32,
    /// Seed of the noise.
    pub seed: u64,
}

/// What something is painted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paint {
    White,
    Black,
    Gradient,
    Strokes { upright: bool },
}

impl Paint {
    fn draw(self, rng: &mut Rng) -> Pattern {
        match self {
            Self::White => Pattern::WHITE,
            Self::Black => Pattern::BLACK,
            Self::Gradient => Pattern::Gradient(rng.random()),
            Self::Strokes { upright } => Pattern::Camouflage { seed: rng.random(), upright },
        }
    }
}

/// The probabilities that attributes are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// Probability of thick strokes.
    bold: f64,
    /// Probability of leaning.
    slant: f64,
    /// Deviation of the rotation.
    rotation: f32,
    /// The scale is the first number times e to a normal draw of this deviation.
    scale: [f32; 2],
    /// Both translations are uniform between minus this and this.
    translation: f32,
    foreground: Paint,
    background: Paint,
    /// Probability of inversion.
    inverse: f64,
    noise: f32,
    /// Whether only fonts with a bold face are used.
    pub bold_fonts: bool,
}

/// Everything varies, between gradients of any colour.
const DEFAULT: Law = Law {
    bold: 0.5,
    slant: 0.5,
    rotation: 0.3,
    scale: [0.6, 0.2],
    translation: 0.9,
    foreground: Paint::Gradient,
    background: Paint::Gradient,
    inverse: 0.5,
    noise: 0.01,
    bold_fonts: false,
};

/// Thick upright letters of about one size.
const THICK: Law = Law { bold: 1.0, slant: 0.0, scale: [0.7, 0.1], bold_fonts: true, ..DEFAULT };

cluekit::named! {
    "set", "a set of symbols";
    /// Named sets of symbols, as they are published.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Set {
        /// White on black, upright and in the middle: only letter and font vary.
        Plain = "plain",
        /// All attributes vary; symbol and background are gradients of any colour.
        Default = "default",
        /// All attributes vary; white on black or black on white.
        DefaultBw = "default-bw",
        /// Thick letters, white on black or black on white.
        #[default]
        NonCamouBw = "non-camou-bw",
        /// Thick letters between gradients.
        NonCamouShade = "non-camou-shade",
        /// Thick letters of strokes that go across, before strokes that go down.
        Camouflage = "camouflage",
        /// Small, thin and almost upright.
        LessVariations = "less-variations",
        /// 8 × 8 pixels, grey.
        Tiny = "tiny",
    }
}

impl Set {
    /// The law that attributes of the set are drawn from.
    pub fn law(self) -> Law {
        let white_on_black = Law { foreground: Paint::White, background: Paint::Black, ..DEFAULT };
        match self {
            Self::Plain => Law {
                bold: 0.0,
                slant: 0.0,
                rotation: 0.0,
                scale: [1.0, 0.0],
                translation: 0.0,
                inverse: 0.0,
                noise: 0.0,
                ..white_on_black
            },
            Self::Default => DEFAULT,
            Self::DefaultBw => white_on_black,
            Self::NonCamouBw => Law { foreground: Paint::White, background: Paint::Black, ..THICK },
            Self::NonCamouShade => THICK,
            Self::Camouflage => {
                let [foreground, background] = [false, true].map(|upright| Paint::Strokes { upright });
                Law { foreground, background, ..THICK }
            }
            Self::LessVariations => Law { bold: 0.0, slant: 0.0, scale: [0.5, 0.1], rotation: 0.1, ..DEFAULT },
            Self::Tiny => Law { bold: 0.0, slant: 0.0, scale: [1.0, 0.0], ..white_on_black },
        }
    }

    /// Usual number of pixels on each side of an image.
    pub fn side(self) -> usize {
        if self == Self::Tiny { 8 } else { 32 }
    }

    /// Whether images of the set are usually grey.
    pub fn is_grey(self) -> bool {
        self == Self::Tiny
    }
}

impl Law {
    /// Draws the attributes of one image.
    pub fn draw(&self, letters: usize, fonts: usize, rng: &mut Rng) -> Attributes {
        let normal = |deviation: f32, rng: &mut Rng| -> f32 {
            Normal::new(0.0, deviation).expect("a deviation is no negative number").sample(rng)
        };
        let letter = rng.random_range(0..letters);
        let font = rng.random_range(0..fonts);
        let is_bold = rng.random_bool(self.bold);
        let is_slant = rng.random_bool(self.slant);
        let rotation = normal(self.rotation, rng);
        let scale = self.scale[0] * normal(self.scale[1], rng).exp();
        let translation = [0, 1].map(|_| self.translation * rng.random_range(-1.0..=1.0f32));
        Attributes {
            letter,
            font,
            is_bold,
            is_slant,
            rotation,
            scale,
            translation,
            foreground: self.foreground.draw(rng),
            background: self.background.draw(rng),
            inverse_color: rng.random_bool(self.inverse),
            pixel_noise_scale: self.noise,
            seed: rng.random(),
        }
    }
}
