//! The layout of the published files: HDF5 with images, masks, attributes as JSON, and splits.
//!
//! | dataset | type | shape |
//! |---|---|---|
//! | `x` | u8 | `[images, height, width, channels]` |
//! | `mask` | u8 | `[images, height, width, 1]` |
//! | `y` | text | `[images]`, a JSON object each |
//! | `split/<name>` | FALSE or TRUE | `[images, 3]`: training, validation, test |

use super::{Generator, Pattern, Symbol};
use cluekit::error::{Error, Result};
use cluekit::seed::Seed;
use hdf5_pure::{AttrValue, DType, EnumTypeBuilder, File, FileBuilder, make_i8_type};
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Images of one chunk.
const CHUNK: u64 = 10;
/// How hard chunks are compressed, as in the published files.
const DEFLATE: u32 = 4;
/// Shares of training and validation images; the rest is for testing.
const SHARES: [f64; 2] = [0.6, 0.2];

/// For each image whether it belongs to training, validation or testing.
pub type Split = Vec<[bool; 3]>;

/// A file of symbols in the published layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Number of images, height, width and number of channels.
    pub shape: [usize; 4],
    /// Bytes of all images, one behind the other.
    pub images: Vec<u8>,
    /// Cover of each pixel by the symbol, 0 to 255; none if the file has no masks.
    pub masks: Option<Vec<u8>>,
    /// Attributes of each image as a JSON object.
    pub attributes: Vec<String>,
    /// Splits of the images, by name.
    pub splits: BTreeMap<String, Split>,
}

impl Published {
    /// Images that a generator made, with splits of 60, 20 and 20 % at random, by letters and by fonts.
    pub fn of(generator: &Generator, symbols: &[Symbol], seed: Seed) -> Self {
        let [side, channels] = generator.shape();
        let letter = |symbol: &Symbol| symbol.attributes.letter;
        let font = |symbol: &Symbol| symbol.attributes.font;
        let places: Vec<usize> = (0..symbols.len()).collect();
        let split = |name: &str, groups: Vec<usize>| (name.to_owned(), split(&groups, name, seed));
        Self {
            shape: [symbols.len(), side, side, channels],
            images: symbols.iter().flat_map(|symbol| symbol.pixels.iter().copied()).collect(),
            masks: Some(symbols.iter().flat_map(|symbol| symbol.mask.iter().copied()).collect()),
            attributes: symbols.iter().map(|symbol| text(generator, symbol)).collect(),
            splits: BTreeMap::from([
                split("random", places),
                split("stratified_char", symbols.iter().map(letter).collect()),
                split("stratified_font", symbols.iter().map(font).collect()),
            ]),
        }
    }

    /// The file as the bytes of HDF5.
    pub fn to_hdf5(&self, seed: Seed) -> Result<Vec<u8>> {
        let [count, height, width, channels] = self.shape.map(|side| side as u64);
        let mut file = FileBuilder::new();
        let mut images = |name: &str, bytes: &[u8], channels: u64| {
            let dataset = file.create_dataset(name).with_data(bytes).with_shape(&[count, height, width, channels]);
            if count > 0 {
                dataset.with_chunks(&[CHUNK.min(count), height, width, channels]).with_deflate(DEFLATE);
            }
        };
        images("x", &self.images, channels);
        if let Some(masks) = &self.masks {
            images("mask", masks, 1);
        }
        let texts: Vec<&str> = self.attributes.iter().map(String::as_str).collect();
        file.create_dataset("y").with_vlen_strings(&texts);
        let boolean = EnumTypeBuilder::with_base(make_i8_type()).value("FALSE", 0).value("TRUE", 1);
        let boolean = boolean.build().map_err(unwritten)?;
        let mut splits = file.create_group("split");
        for (name, split) in &self.splits {
            let bytes: Vec<u8> = split.as_flattened().iter().map(|&member| u8::from(member)).collect();
            let dataset = splits.create_dataset(name).with_enum_u8_data(boolean.clone(), &bytes);
            dataset.with_shape(&[count, 3]).set_attr("seed", AttrValue::U64(seed.0));
        }
        file.add_group(splits.finish());
        file.finish().map_err(unwritten)
    }

    /// Reads a published file, or one that was written in the same layout.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse(path, std::fs::read(path).map_err(Error::reading(path))?)
    }

    /// Like [`Published::read`], from the bytes of the file at `path`.
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let wrong = |problem: String| Error::file(path, problem);
        let no_file = |problem| wrong(format!("is no whole HDF5 file ({problem}); fetch or make it again"));
        let file = File::from_bytes(bytes).map_err(no_file)?;
        let dataset = |name: &str| {
            let missing = |_| wrong(format!("has no dataset `{name}`; a file of symbols has x, y and split"));
            file.dataset(name).map_err(missing)
        };
        let broken = |name: &str, problem: hdf5_pure::Error| {
            wrong(format!("`{name}` cannot be read ({problem}); fetch or make it again"))
        };
        let x = dataset("x")?;
        let shape = x.shape().map_err(|problem| broken("x", problem))?;
        let shape: [usize; 4] =
            shape.iter().map(|&side| side as usize).collect::<Vec<_>>().try_into().map_err(|shape: Vec<usize>| {
                wrong(format!("`x` has shape {shape:?}, expected images, height, width and channels"))
            })?;
        let kind = x.dtype().map_err(|problem| broken("x", problem))?;
        if kind != DType::U8 {
            return Err(wrong(format!("`x` has the type {kind:?}, expected U8; save images as bytes from 0 to 255")));
        }
        let bytes = shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
        if shape.contains(&0) || ![1, 3].contains(&shape[3]) || bytes.is_none() {
            let problem = format!("`x` has shape {shape:?}, expected some images with 1 or 3 channels");
            return Err(wrong(problem));
        }
        let images = x.read_u8().map_err(|problem| broken("x", problem))?;
        let attributes = dataset("y")?.read_string().map_err(|problem| broken("y", problem))?;
        let masks = match file.dataset("mask") {
            Ok(mask) => Some(mask.read_u8().map_err(|problem| broken("mask", problem))?),
            Err(_) => None,
        };
        if Some(images.len()) != bytes || attributes.len() != shape[0] {
            let problem =
                format!("has {} images in `x` and {} texts in `y`; fetch or make it again", shape[0], attributes.len());
            return Err(wrong(problem));
        }
        let mut splits = BTreeMap::new();
        if let Ok(group) = file.group("split") {
            for name in group.datasets().map_err(|problem| broken("split", problem))? {
                let path = format!("split/{name}");
                let members = dataset(&path)?.read_u8().map_err(|problem| broken(&path, problem))?;
                if members.len() != 3 * shape[0] {
                    return Err(wrong(format!("`{path}` has {} members, expected 3 for each image", members.len())));
                }
                splits.insert(name, members.chunks_exact(3).map(|row| [row[0] > 0, row[1] > 0, row[2] > 0]).collect());
            }
        }
        Ok(Self { shape, images, masks, attributes, splits })
    }

    /// Value of an attribute such as `char` or `font` for each image: the sorted values, and each image's position
    /// among them.
    pub fn labels(&self, attribute: &str) -> Result<(Vec<String>, Vec<u32>)> {
        let value = |(row, text): (usize, &String)| -> Result<String> {
            let known = serde_json::from_str::<Value>(text).ok();
            let value = known.and_then(|known| known.get(attribute)?.as_str().map(str::to_owned));
            value.ok_or_else(|| {
                Error::data(format!("image {row} has no text called `{attribute}` among its attributes"))
            })
        };
        let values = self.attributes.iter().enumerate().map(value).collect::<Result<Vec<_>>>()?;
        let classes: Vec<String> = values.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
        let place = |value: &String| classes.binary_search(value).map_or(0, |place| place as u32);
        let labels = values.iter().map(place).collect();
        Ok((classes, labels))
    }
}

fn unwritten(problem: impl std::fmt::Display) -> Error {
    Error::data(format!("the symbols cannot be written as HDF5: {problem}"))
}

/// A split that keeps groups together; each image may be a group of its own.
fn split(groups: &[usize], name: &str, seed: Seed) -> Split {
    let mut order: Vec<usize> = groups.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    order.shuffle(&mut seed.stream(&format!("synbols: split {name}")));
    let ends = [SHARES[0], SHARES[0] + SHARES[1]].map(|share| (share * order.len() as f64).round() as usize);
    let part = |place: usize| ends.iter().filter(|end| place >= **end).count();
    let parts: BTreeMap<usize, usize> =
        order.into_iter().enumerate().map(|(place, group)| (group, part(place))).collect();
    groups.iter().map(|group| [0, 1, 2].map(|part| parts[group] == part)).collect()
}

/// The attributes of an image as the published files have them.
fn text(generator: &Generator, Symbol { attributes, .. }: &Symbol) -> String {
    let pattern = |pattern: &Pattern| match pattern {
        Pattern::Solid(_) => json!({ "style": "SolidColor" }),
        Pattern::Gradient(seed) => json!({ "style": "Gradient", "seed": seed }),
        Pattern::Camouflage { seed, .. } => json!({ "style": "Camouflage", "seed": seed }),
    };
    let word = |holds: bool| if holds { "True" } else { "False" };
    let mut symbol = json!({
        "alphabet": "english",
        "char": generator.letters()[attributes.letter],
        "font": generator.fonts()[attributes.font].name,
        "is_bold": word(attributes.is_bold),
        "is_slant": word(attributes.is_slant),
        "scale": attributes.scale,
        "translation": attributes.translation,
        "rotation": attributes.rotation,
        "foreground": pattern(&attributes.foreground),
    });
    let symbols = json!([symbol.clone()]);
    let whole = json!({
        "resolution": [generator.shape()[0], generator.shape()[0]],
        "pixel_noise_scale": attributes.pixel_noise_scale,
        "seed": attributes.seed,
        "background": pattern(&attributes.background),
        "inverse_color": u8::from(attributes.inverse_color),
        "symbols": symbols,
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut symbol, whole) {
        all.extend(more);
    }
    in_ascii(&symbol.to_string())
}

/// JSON with everything beyond ASCII escaped.
fn in_ascii(json: &str) -> String {
    let mut ascii = String::with_capacity(json.len());
    for character in json.chars() {
        match character.is_ascii() {
            true => ascii.push(character),
            false => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(ascii, "\\u{unit:04x}");
                }
            }
        }
    }
    ascii
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Set, fonts};

    fn some(count: usize) -> Published {
        let letters = ['a', 'b', 'é', 'ü', 'z'];
        let generator = Generator::new(Set::Default, &letters, fonts::embedded(&letters).unwrap()).unwrap();
        let symbols = generator.with_side(8).unwrap();
        Published::of(&symbols, &symbols.make(count, Seed(2)).unwrap(), Seed(2))
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.h5py");
        for count in [1, 10, 57] {
            let published = some(count);
            std::fs::write(&path, published.to_hdf5(Seed(2)).unwrap()).unwrap();
            let read = Published::read(&path).unwrap();
            assert!(read == published, "{count} images");
            assert_eq!(published.to_hdf5(Seed(2)).unwrap(), read.to_hdf5(Seed(2)).unwrap());
        }
        let published = some(57);
        assert!(published.attributes.iter().all(|text| text.is_ascii()));
        let (classes, labels) = published.labels("char").unwrap();
        assert_eq!(classes, ["a", "b", "z", "é", "ü"]);
        assert!((0..5).all(|class| labels.contains(&class)));
        let message = published.labels("mood").unwrap_err().to_string();
        assert_eq!(message, "image 0 has no text called `mood` among its attributes");
    }

    #[test]
    fn splits_are_whole_and_keep_letters_and_fonts_together() {
        let published = some(500);
        for (name, split) in &published.splits {
            assert!(split.iter().all(|parts| parts.iter().filter(|part| **part).count() == 1), "{name}");
        }
        let random = &published.splits["random"];
        let counts = [0, 1, 2].map(|part| random.iter().filter(|parts| parts[part]).count());
        assert_eq!(counts, [300, 100, 100]);
        for (name, attribute) in [("stratified_char", "char"), ("stratified_font", "font")] {
            let (classes, labels) = published.labels(attribute).unwrap();
            for class in 0..classes.len() as u32 {
                let parts: BTreeSet<[bool; 3]> =
                    labels.iter().zip(&published.splits[name]).filter(|(l, _)| **l == class).map(|(_, p)| *p).collect();
                assert!(parts.len() <= 1, "{name}: {}", classes[class as usize]);
            }
        }
    }

    #[test]
    fn a_file_that_is_none_is_named_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("symbols.h5py");
        let refused = || Published::read(&path).unwrap_err().to_string();
        assert!(refused().contains("cannot read") && refused().contains("symbols.h5py"), "{}", refused());
        std::fs::write(&path, "not one").unwrap();
        assert!(refused().contains("is no whole HDF5 file"), "{}", refused());
        let whole = some(25).to_hdf5(Seed(2)).unwrap();
        for end in (0..whole.len()).step_by(whole.len() / 60) {
            std::fs::write(&path, &whole[..end]).unwrap();
            assert!(refused().contains("symbols.h5py") && !refused().contains('\n'), "{end}: {}", refused());
        }
        let mut other = FileBuilder::new();
        other.create_dataset("temperature").with_data(&[1.0f64, 2.0]);
        std::fs::write(&path, other.finish().unwrap()).unwrap();
        assert!(refused().contains("has no dataset `x`; a file of symbols has x, y and split"), "{}", refused());
        let mut flat = FileBuilder::new();
        flat.create_dataset("x").with_data(&[1u8, 2]);
        std::fs::write(&path, flat.finish().unwrap()).unwrap();
        assert!(refused().contains("`x` has shape [2], expected images"), "{}", refused());
    }
}
