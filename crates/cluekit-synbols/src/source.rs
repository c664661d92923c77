//! Symbols as a dataset: made from the seed, or read from a file in the published layout.
//!
//! Training and validation part of a split are the rows to train on, its test part those to test on.

use crate::{ALPHABET, Generator, Published, Set, encoded, fonts};
use cluekit::data::catalogue::{Entry, RemoteFile};
use cluekit::data::sha256_hex;
use cluekit::data::{
    Constraints, DataDir, Dataset, Image, Provider, Request, Samples, Schema, Source, Target, Targets, Task,
};
use cluekit::error::{Error, Remedy, Result, SettingValue};
use std::path::{Path, PathBuf};

/// What to cite.
const SYNBOLS: &str = "A. Lacoste et al.: Synbols: Probing Learning Algorithms with Synthetic Datasets. NeurIPS, 2020.";
/// The published file of thick letters in black and white, and what the dataset is called.
const PUBLISHED_FILE: &str = "non-camou-bw_n=100000_2020-Oct-19.h5py";
const PUBLISHED: &str = "synbols-published";

/// The stored value of full intensity.
const MAXIMUM: f64 = 255.0;
/// What is predicted and how images are split unless something else is asked for.
const TARGET: &str = "char";
const SPLIT: &str = "random";

/// A dataset of symbols that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Name that the user types.
    pub name: &'static str,
    /// Set whose law the images are drawn from.
    pub set: Set,
    /// Letters of the dataset, one after the other.
    pub letters: &'static str,
    /// Number of images in all: 60 % to learn from, 20 % to validate on, 20 % to test on.
    pub images: usize,
    /// Number of pixels on each side of an image.
    pub side: usize,
    /// Whether images are grey, with one channel instead of three.
    pub grey: bool,
}

/// Every dataset of symbols that has a name; the first is what `synbols` means.
pub const RECIPES: [Recipe; 3] = [
    Recipe {
        name: "synbols-small",
        set: Set::NonCamouBw,
        letters: "abcdefghijklmnopqrstuvwxyz",
        images: 40_000,
        side: 32,
        grey: true,
    },
    Recipe { name: "synbols-full", set: Set::NonCamouBw, letters: ALPHABET, images: 100_000, side: 32, grey: false },
    Recipe { name: "synbols-demo", set: Set::NonCamouBw, letters: "abdeghnpqu", images: 20_000, side: 24, grey: true },
];

/// The recipe called `name`; `name:5000` is this recipe with 5000 images.
pub fn recipe(name: &str) -> Option<Recipe> {
    let (name, images) = match name.split_once(':') {
        Some((name, images)) => (name, Some(images.parse().ok().filter(|images| *images > 0)?)),
        None => (name, None),
    };
    let name = if name == "synbols" { RECIPES[0].name } else { name };
    let recipe = RECIPES.into_iter().find(|recipe| recipe.name == name)?;
    Some(Recipe { images: images.unwrap_or(recipe.images), ..recipe })
}

/// The provider of symbols: datasets that are made, the published file, and files in its layout.
#[derive(Clone, Copy, Debug, Default)]
pub struct Symbols;

impl Provider for Symbols {
    fn knows(&self, name: &str) -> bool {
        recipe(name).is_some() || name == PUBLISHED || is_hdf5(Path::new(name))
    }

    fn load(&self, request: &Request, directory: &DataDir) -> Result<Dataset> {
        match recipe(&request.name) {
            Some(recipe) => make(&recipe, request),
            None if request.name == PUBLISHED => {
                let dataset = load(&published_file(directory)?, request)?;
                Ok(Dataset { name: request.name.clone(), ..dataset })
            }
            None => load(Path::new(&request.name), request),
        }
    }

    fn read_rows(&self, path: &Path, image: &Image) -> Result<Vec<f32>> {
        read_rows(path, image)
    }

    fn entries(&self) -> Vec<Entry> {
        RECIPES.iter().map(symbols).chain([published_symbols()]).collect()
    }

    fn full_name<'a>(&self, name: &'a str) -> &'a str {
        recipe(name).map_or(name, |recipe| recipe.name)
    }
}

fn is_hdf5(path: &Path) -> bool {
    let ending = path.extension().and_then(|end| end.to_str()).unwrap_or("").to_ascii_lowercase();
    ["h5py", "h5", "hdf5"].contains(&ending.as_str())
}

/// Where the published file of symbols lies.
fn published_file(directory: &DataDir) -> Result<PathBuf> {
    let path = directory.path_of("synbols").join(PUBLISHED_FILE);
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::missing(&path, "is not there").remedy(Remedy::fetch(PUBLISHED))),
    }
}

fn symbols(recipe: &Recipe) -> Entry {
    let colours = if recipe.grey { "grey" } else { "three channels" };
    Entry {
        name: recipe.name.into(),
        title: format!("Symbols: {} letters", recipe.letters.chars().count()),
        summary: format!(
            "The letters {}, turned and moved, white on black or black on white, {1} × {1} pixels, {colours}; set {2}. \
             Made from the seed. Files of images can be made of any set: {3}.",
            recipe.letters,
            recipe.side,
            recipe.set.name(),
            Set::ALL.map(Set::name).join(", ")
        ),
        rows: recipe.images,
        licence: "none needed: it is made, in fonts that may be passed on (docs/symbols.md)".into(),
        citation: SYNBOLS.into(),
        folder: "synbols".into(),
        files: Vec::new(),
    }
}

fn published_symbols() -> Entry {
    let name = PUBLISHED_FILE;
    Entry {
        name: PUBLISHED.into(),
        title: "Synbols, as published".into(),
        summary:
            "The published file of the set non-camou-bw: 48 letters with and without accents in 1120 fonts, 32 × 32 \
                  pixels, three channels, 60 000 to learn from, 20 000 to validate on, 20 000 to test on."
                .into(),
        rows: 100_000,
        licence: "Apache 2.0 (Element AI)".into(),
        citation: SYNBOLS.into(),
        folder: "synbols".into(),
        files: vec![RemoteFile {
            name: name.into(),
            bytes: Some(238_318_574),
            sha256: Some("8aedd4e30636997124ec1797d3746795c23c1dd93ab7e49d6fb627572dbf0917".into()),
            mirrors: vec![format!("https://zenodo.org/record/4701316/files/{name}?download=1")],
            also: Vec::new(),
        }],
    }
}

/// Makes the dataset of a recipe.
pub fn make(recipe: &Recipe, request: &Request) -> Result<Dataset> {
    let letters: Vec<char> = recipe.letters.chars().collect();
    let generator = Generator::new(recipe.set, &letters, fonts::embedded(&letters)?)?;
    let generator = generator.with_side(recipe.side)?.in_grey(recipe.grey);
    let published = Published::of(&generator, &generator.make(recipe.images, request.seed)?, request.seed);
    dataset(&published, recipe.name.to_owned(), request, Error::data)
}

/// Reads a file in the published layout.
pub fn load(path: &Path, request: &Request) -> Result<Dataset> {
    let bytes = std::fs::read(path).map_err(Error::reading(path))?;
    let sha256 = sha256_hex(&bytes);
    let published = Published::parse(path, bytes)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = Source { file: file.clone(), sha256 };
    let dataset = dataset(&published, file, request, |problem| Error::file(path, problem))?;
    Ok(Dataset { sources: vec![source], ..dataset })
}

/// The images of another such file encoded for a model of `image`s, row after row.
pub fn read_rows(path: &Path, image: &Image) -> Result<Vec<f32>> {
    let published = Published::read(path)?;
    let (got, wanted) = (image_of(&published), *image);
    match [got.channels, got.height, got.width] == [wanted.channels, wanted.height, wanted.width] {
        true => Ok(pixels(&published, 0..published.shape[0])),
        false => {
            let size = |image: Image| format!("{} × {} × {}", image.channels, image.height, image.width);
            let problem = format!("holds {} images, the run was trained on {}", size(got), size(wanted));
            let grey = SettingValue::from(wanted.channels == 1);
            let made = Remedy::set([("grey", grey), ("resolution", wanted.height.into())]);
            Err(Error::file(path, format!("{problem}; make them anew")).remedy(made))
        }
    }
}

fn dataset(published: &Published, name: String, request: &Request, wrong: impl Fn(String) -> Error) -> Result<Dataset> {
    let target = request.target.as_deref().unwrap_or(TARGET);
    let (classes, labels) = published.labels(target).map_err(|problem| wrong(problem.to_string()))?;
    let split = request.split.as_deref().unwrap_or(SPLIT);
    let known: Vec<&str> = published.splits.keys().map(String::as_str).collect();
    let parts = published.splits.get(split).ok_or_else(|| {
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        Error::setting("split", format!("`{name}` has no split `{split}`; it has {known}"))
    })?;
    let samples = |member: fn(&[bool; 3]) -> bool| {
        let rows: Vec<usize> = (0..parts.len()).filter(|&row| member(&parts[row])).collect();
        let y = Targets::Classes(rows.iter().map(|&row| labels[row]).collect());
        Samples {
            x: pixels(published, rows.into_iter()),
            width: published.shape[1..].iter().product(),
            y,
            weights: None,
        }
    };
    let (train, test) = (samples(|[train, validation, _]| *train || *validation), samples(|[_, _, test]| *test));
    if train.is_empty() || test.is_empty() {
        let (train, test) = (train.len(), test.len());
        let problem = format!("its split `{split}` has {train} images to train on and {test} to test on");
        return Err(wrong(format!("{problem}; make more images, or choose another split")));
    }
    let schema = Schema {
        target: Target { name: target.to_owned(), task: Task::Classification { classes }, unit: None, meaning: None },
        image: Some(image_of(published)),
        features: Vec::new(),
        constraints: Constraints::default(),
    };
    schema.validate()?;
    Ok(Dataset { name, schema, train, test, sources: vec![], notes: vec![], names: Default::default() })
}

fn image_of(published: &Published) -> Image {
    let [_, height, width, channels] = published.shape;
    Image { channels, height, width, maximum: MAXIMUM }
}

/// Some images, channel by channel, as shares of full intensity.
fn pixels(published: &Published, rows: impl Iterator<Item = usize>) -> Vec<f32> {
    let [_, height, width, channels] = published.shape;
    let one = height * width * channels;
    rows.flat_map(|row| encoded(&published.images[row * one..(row + 1) * one], channels)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::seed::Seed;

    fn small() -> Recipe {
        Recipe { letters: "abc", images: 200, side: 8, ..RECIPES[1] }
    }

    #[test]
    fn a_made_dataset_and_its_file_are_the_same() {
        let letters: Vec<char> = small().letters.chars().collect();
        let generator = Generator::new(small().set, &letters, fonts::embedded(&letters).unwrap()).unwrap();
        let generator = generator.with_side(8).unwrap();
        let published = Published::of(&generator, &generator.make(200, Seed(3)).unwrap(), Seed(3));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("symbols.h5py");
        std::fs::write(&path, published.to_hdf5(Seed(3)).unwrap()).unwrap();
        let request = Request { seed: Seed(3), ..Request::new("symbols.h5py") };
        let (made, read) = (make(&small(), &request).unwrap(), load(&path, &request).unwrap());
        assert_eq!((made.train.len(), made.test.len(), made.train.width), (160, 40, 3 * 64));
        assert!(made.train == read.train && made.test == read.test && made.schema == read.schema);
        assert_eq!(read.sources[0].file, "symbols.h5py");
        assert_eq!(made.schema.target.task.classes(), ["a", "b", "c"]);
        let image = made.schema.image.unwrap();
        assert_eq!(read_rows(&path, &image).unwrap().len(), 200 * 192);
        let message = read_rows(&path, &Image { width: 9, ..image }).unwrap_err().to_string();
        assert!(message.contains("3 × 8 × 8 images, the run was trained on 3 × 8 × 9"), "{message}");
    }

    #[test]
    fn channels_come_one_after_the_other() {
        let published = Published {
            shape: [1, 1, 2, 3],
            images: vec![255, 51, 0, 0, 102, 255],
            masks: None,
            attributes: vec![],
            splits: Default::default(),
        };
        assert_eq!(pixels(&published, 0..1), [1.0, 0.0, 0.2, 0.4, 0.0, 1.0]);
    }

    #[test]
    fn fonts_can_be_predicted_and_splits_chosen() {
        let request = Request { target: Some("font".into()), ..Request::new("synbols") };
        let by_font = make(&small(), &request).unwrap();
        assert!(by_font.schema.target.task.classes().contains(&"DejaVu Sans".to_owned()));
        let request = Request { split: Some("stratified_font".into()), ..request };
        let apart = make(&small(), &request).unwrap();
        let (Targets::Classes(train), Targets::Classes(test)) = (&apart.train.y, &apart.test.y) else { panic!() };
        assert!(!train.iter().any(|font| test.contains(font)));
        let request = Request { split: Some("by-mood".into()), ..request };
        let message = make(&small(), &request).unwrap_err().to_string();
        assert!(message.contains("no split `by-mood`; it has random, stratified_char, stratified_font"), "{message}");
        let request = Request { target: Some("mood".into()), ..Request::new("synbols") };
        let message = make(&small(), &request).unwrap_err().to_string();
        assert!(message.contains("no text called `mood`"), "{message}");
    }

    #[test]
    fn synbols_means_the_small_recipe() {
        assert_eq!(recipe("synbols").unwrap().name, "synbols-small");
        assert_eq!(recipe("synbols-full").unwrap().letters.chars().count(), 49);
        assert_eq!(recipe("synbols:500"), Some(Recipe { images: 500, ..RECIPES[0] }));
        for wrong in ["synbols-huge", "synbols:", "synbols:0", "synbols:many", "mnist:5"] {
            assert!(recipe(wrong).is_none(), "{wrong}");
        }
    }
}
