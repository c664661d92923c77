//! Symbols: letters in many fonts, whose attributes are known. \[Lacoste2020\]
//!
//! ```text
//! law ─► attributes ─► outline of the letter ─► mask ─► painted ─► inverted, stretched, with noise ─► bytes
//! ```

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests that mean exactly this number"))]
#![cfg_attr(test, allow(clippy::print_stderr, reason = "a test says how much symbols resemble the published ones"))]

pub mod fonts;
mod law;
mod outline;
mod pattern;
mod published;
mod source;
#[cfg(test)]
mod tests;

pub use fonts::Font;
pub use law::{Attributes, Law, Set};
pub use outline::{Outline, Pose};
pub use pattern::{Colour, Pattern};
pub use published::{Published, Split};
pub use source::{RECIPES, Recipe, Symbols, recipe};

use cluekit::data::Image;
use cluekit::error::{Error, Result};
use cluekit::parallel::over_shards;
use cluekit::seed::{Rng, Seed};
use rand_distr::{Distribution, StandardNormal};
use std::path::PathBuf;

/// English letters without accents, and the 23 with accents from which the published sets have 22.
pub const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyzàáâãäåèéêëìíîïñòóôöùúûü";
/// Images that one thread makes at a time.
const IMAGES: usize = 64;
/// More bytes of images than a dataset may have, 16 GiB.
const MOST_BYTES: usize = 1 << 34;
/// More pixels a side than anybody looks at.
const MOST_PIXELS: usize = 4096;

/// A maker of images of symbols.
#[derive(Clone, Debug)]
pub struct Generator {
    law: Law,
    letters: Vec<char>,
    fonts: Vec<Font>,
    side: usize,
    channels: usize,
}

/// What to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorSettings {
    /// From which laws images are drawn.
    pub set: Set,
    /// Which letters, one after the other; a to z where nothing is said.
    pub letters: Option<String>,
    /// Those with accents too, where no letters are named.
    pub accents: bool,
    /// A folder of fonts instead of those that come along.
    pub fonts: Option<PathBuf>,
    /// Pixels a side; those of the set where nothing is said.
    pub resolution: Option<usize>,
    /// One channel, even where the set has three.
    pub grey: bool,
}

/// One image with the attributes that it was drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Pixels of the image, `side × side × channels` bytes, row by row.
    pub pixels: Vec<u8>,
    /// Cover of each pixel by the symbol, 0 to 255, `side × side` bytes.
    pub mask: Vec<u8>,
    /// Attributes that the image was drawn from.
    pub attributes: Attributes,
}

impl Generator {
    /// Images of a set, of these letters in these fonts.
    pub fn new(set: Set, letters: &[char], fonts: Vec<Font>) -> Result<Self> {
        let law = set.law();
        let fonts: Vec<Font> = fonts.into_iter().filter(|font| font.has_bold || !law.bold_fonts).collect();
        if fonts.is_empty() {
            let name = set.name();
            return Err(Error::setting(
                "fonts",
                format!("`{name}` needs fonts with a bold face, and there is none; choose another set or other fonts"),
            ));
        }
        let channels = if set.is_grey() { 1 } else { 3 };
        Ok(Self { law, letters: letters.to_vec(), fonts, side: set.side(), channels })
    }

    /// Images as these settings say; each letter counts once.
    pub fn from_settings(settings: &GeneratorSettings) -> Result<Self> {
        let mut letters: Vec<char> = match &settings.letters {
            Some(letters) => letters.chars().filter(|letter| !letter.is_whitespace()).collect(),
            None if settings.accents => ALPHABET.chars().collect(),
            None => ('a'..='z').collect(),
        };
        if letters.is_empty() {
            return Err(Error::setting("letters", "names no letter; write them one after the other, such as abc"));
        }
        letters.sort_unstable();
        letters.dedup();
        let fonts = match &settings.fonts {
            Some(folder) => fonts::of_folder(folder, &letters)?,
            None => fonts::embedded(&letters)?,
        };
        let generator = Self::new(settings.set, &letters, fonts)?;
        let grey = settings.grey || generator.channels == 1;
        let side = settings.resolution.unwrap_or(generator.side);
        Ok(generator.with_side(side)?.in_grey(grey))
    }

    /// This generator with `side` pixels on each side of an image.
    pub fn with_side(self, side: usize) -> Result<Self> {
        match side {
            1..=MOST_PIXELS => Ok(Self { side, ..self }),
            other => Err(Error::setting("resolution", format!("must lie between 1 and {MOST_PIXELS}, got {other}"))),
        }
    }

    /// This generator for images in grey, or in colours.
    pub fn in_grey(self, grey: bool) -> Self {
        Self { channels: if grey { 1 } else { 3 }, ..self }
    }

    /// Letters that are drawn.
    pub fn letters(&self) -> &[char] {
        &self.letters
    }

    /// Fonts that letters are drawn in.
    pub fn fonts(&self) -> &[Font] {
        &self.fonts
    }

    /// Number of pixels on each side, and number of channels.
    pub fn shape(&self) -> [usize; 2] {
        [self.side, self.channels]
    }

    /// What its images are to those who show them.
    pub fn image(&self) -> Image {
        Image { channels: self.channels, height: self.side, width: self.side, maximum: 255.0 }
    }

    /// Makes `count` images, each with its own stream of random numbers.
    pub fn make(&self, count: usize, seed: Seed) -> Result<Vec<Symbol>> {
        let bytes = count.saturating_mul(self.side * self.side * (self.channels + 1));
        if bytes > MOST_BYTES {
            let problem =
                format!("{count} images of {0} × {0} pixels do not fit into memory; ask for fewer", self.side);
            return Err(Error::setting("count", problem));
        }
        let parts = over_shards(count, IMAGES, |range| {
            range.map(|index| self.one(&mut seed.numbered("synbols", index as u64))).collect::<Vec<_>>()
        });
        Ok(parts.into_iter().flatten().collect())
    }

    fn one(&self, rng: &mut Rng) -> Symbol {
        self.draw(self.law.draw(self.letters.len(), self.fonts.len(), rng))
    }

    /// The image with these attributes.
    ///
    /// # Panics
    /// When letter or font are none of this generator's.
    pub fn draw(&self, attributes: Attributes) -> Symbol {
        let Attributes { rotation, scale, translation, is_slant, .. } = attributes;
        let outline = self.fonts[attributes.font].outline(attributes.letter, attributes.is_bold);
        let mask = outline.mask(&Pose { scale, rotation, is_slant, translation }, self.side);
        let (front, back) = (attributes.foreground.paint(self.side), attributes.background.paint(self.side));
        let mix = |(&covered, (front, back)): (&u8, (&Colour, &Colour))| -> Colour {
            let share = f32::from(covered) / 255.0;
            // As bytes of a surface hold it.
            let channel = |c: usize| (255.0 * (back[c] + share * (front[c] - back[c]))).round() / 256.0;
            [channel(0), channel(1), channel(2)]
        };
        let painted = mask.iter().zip(front.iter().zip(&back)).map(mix);
        let values: Vec<f32> = match self.channels {
            1 => painted.map(|colour| colour.iter().sum::<f32>() / 3.0).collect(),
            _ => painted.flatten().collect(),
        };
        let pixels = finished(values, &attributes);
        Symbol { pixels, mask, attributes }
    }
}

/// The bytes of an image as a model sees them: channel by channel, as shares of full intensity.
pub fn encoded(pixels: &[u8], channels: usize) -> impl Iterator<Item = f32> {
    let values = (0..channels).flat_map(move |channel| pixels.iter().skip(channel).step_by(channels));
    values.map(|&byte| f32::from(byte) / f32::from(u8::MAX))
}

/// Inverted, stretched to all of 0 to 1, with noise, as bytes.
fn finished(mut values: Vec<f32>, attributes: &Attributes) -> Vec<u8> {
    if attributes.inverse_color {
        values.iter_mut().for_each(|value| *value = 1.0 - *value);
    }
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    let range = values.iter().copied().fold(f32::NEG_INFINITY, f32::max) - least;
    let range = if range > 0.0 { range } else { 1.0 };
    let mut rng = Seed(attributes.seed).stream("synbols: noise");
    let byte = |value: f32| {
        let noise: f32 = if attributes.pixel_noise_scale > 0.0 { StandardNormal.sample(&mut rng) } else { 0.0 };
        let value = (value - least) / range + attributes.pixel_noise_scale * noise;
        (255.0 * value.clamp(0.0, 1.0)) as u8
    };
    values.into_iter().map(byte).collect()
}
