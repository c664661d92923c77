//! A user's own images: a folder with a subfolder of PNG files for each class.
//!
//! Classes are called as their subfolders, and files come in the order of their names. All images have one size. They
//! are grey if every pixel of every image is, else they have three colours; 16 bits become 8, and what is transparent
//! shows a white ground. Links, other files and deeper folders are skipped, with a note.

use super::Request;
use super::arrays::check_sizes;
use crate::data::content::Content;
use crate::data::dataset::{sha256_hex, sha256_of};
use crate::data::raw::file_name;
use crate::data::split::Split;
use crate::data::{Constraints, Dataset, Image, PartNames, Samples, Schema, Source, Target, Targets, Task};
use crate::error::{Error, Remedy, Result};
use png::{BitDepth, ColorType, Decoder, Transformations};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// An image may not have more pixels than this.
const MOST_PIXELS: usize = 1 << 24;
/// So many images are named that differ in size.
const NAMED: usize = 3;
/// The value of full intensity.
const MAXIMUM: f64 = 255.0;

/// Reads the images below the folder `path`; their subfolders are the classes.
pub fn load(path: &Path, request: &Request) -> Result<Dataset> {
    if request.target.is_some() {
        let problem = format!("the classes of the images in {} are its subfolders", path.display());
        return Err(Error::setting("target", problem).remedy(Remedy::leave_out(["target"])));
    }
    let mut found = Found::default();
    for folder in entries(path)? {
        match kind_of(&folder)? {
            Entry::Folder => found.add_class(&folder)?,
            _ => found.skipped.push(folder),
        }
    }
    if found.classes.len() < 2 {
        let problem = format!("holds {} subfolders with PNG images", found.classes.len());
        let remedy = "put the images of each class into a subfolder of its own, two classes or more";
        return Err(Error::file(path, format!("{problem}; {remedy}")));
    }
    let [height, width] = common_size(path, &found.files)?;
    let pixels = pixels(&found.files)?;
    let channels = if are_grey(&pixels) { 1 } else { 3 };
    let image = Image { channels, height, width, maximum: MAXIMUM };
    let x = pixels.iter().flat_map(|pixels| encoded(pixels, channels)).collect();
    let all = Samples { x, width: channels * height * width, y: Targets::Classes(found.labels.clone()), weights: None };
    let split = Split::new(all.len(), request.test_share, request.seed)?;
    let schema = Schema {
        target: Target {
            name: "class".into(),
            task: Task::Classification { classes: found.classes.clone() },
            unit: None,
            meaning: None,
        },
        image: Some(image),
        features: Vec::new(),
        constraints: Constraints::default(),
    };
    let sources = vec![source(path, &found.files)?];
    let (train, test) = (all.select(&split.train), all.select(&split.test));
    let (name, notes) = (file_name(path), found.notes(path));
    Ok(Dataset { name, schema, train, test, sources, notes, names: PartNames::default() })
}

/// The PNG image at `path`, or those in a folder there, encoded for a model of `image`s, row after row.
pub fn read_rows(path: &Path, image: &Image) -> Result<Vec<f32>> {
    let files = files_of(path)?;
    let [height, width] = common_size(path, &files)?;
    let pixels = pixels(&files)?;
    // Grey images are colour images too.
    let channels = if are_grey(&pixels) { image.channels } else { 3 };
    check_sizes(path, [channels, height, width], image)?;
    Ok(pixels.iter().flat_map(|pixels| encoded(pixels, channels)).collect())
}

/// The image at `path`, or those in a folder there, with one hash for all.
pub(super) fn source_of(path: &Path) -> Result<Source> {
    source(path, &files_of(path)?)
}

fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    match kind_of(path)? {
        Entry::Folder => collect(path, &mut files)?,
        _ => files.push(path.to_owned()),
    }
    Ok(files)
}

/// All PNG images in a folder and below.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in entries(folder)? {
        match kind_of(&entry)? {
            Entry::Folder => collect(&entry, files)?,
            Entry::Png => files.push(entry),
            Entry::Other => {}
        }
    }
    Ok(())
}

/// What is found in a folder of images.
#[derive(Default)]
struct Found {
    classes: Vec<String>,
    files: Vec<PathBuf>,
    /// The class of each file.
    labels: Vec<u32>,
    skipped: Vec<PathBuf>,
}

impl Found {
    /// Adds the images of one class, if there are any.
    fn add_class(&mut self, folder: &Path) -> Result<()> {
        let before = self.files.len();
        for file in entries(folder)? {
            match kind_of(&file)? {
                Entry::Png => {
                    self.files.push(file);
                    self.labels.push(self.classes.len() as u32);
                }
                _ => self.skipped.push(file),
            }
        }
        if self.files.len() > before {
            self.classes.push(file_name(folder));
        }
        Ok(())
    }

    fn notes(&self, path: &Path) -> Vec<String> {
        let name = |skipped: &PathBuf| skipped.strip_prefix(path).unwrap_or(skipped).display().to_string();
        let first: Vec<String> = self.skipped.iter().take(NAMED).map(name).collect();
        let more = match self.skipped.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let note =
            || format!("skipped, since they are no PNG images in a class's subfolder: {}{more}", first.join(", "));
        (!first.is_empty()).then(note).into_iter().collect()
    }
}

/// What an entry of a folder is.
enum Entry {
    Folder,
    Png,
    /// A link, or another file.
    Other,
}

fn kind_of(path: &Path) -> Result<Entry> {
    let kind = path.symlink_metadata().map_err(Error::reading(path))?.file_type();
    Ok(match () {
        () if kind.is_dir() => Entry::Folder,
        () if kind.is_file() && Content::of_file(path)? == Content::Png => Entry::Png,
        () => Entry::Other,
    })
}

/// What a folder holds, in the order of the names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(Error::reading(folder))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()
        .map_err(Error::reading(folder))?;
    paths.sort();
    Ok(paths)
}

/// One hash for all files: of their names and hashes, line by line.
fn source(path: &Path, files: &[PathBuf]) -> Result<Source> {
    let mut lines = String::new();
    for file in files {
        let name = file.strip_prefix(path).unwrap_or(file);
        let hash = sha256_of(file).map_err(Error::reading(file))?;
        lines += &format!("{}\0{hash}\n", name.display());
    }
    Ok(Source { file: file_name(path), sha256: sha256_hex(lines.as_bytes()) })
}

/// Height and width of all images; those that differ from most others are named.
fn common_size(path: &Path, files: &[PathBuf]) -> Result<[usize; 2]> {
    let sizes = files.iter().map(|file| size(file)).collect::<Result<Vec<_>>>()?;
    let times = |size: &[usize; 2]| sizes.iter().filter(|other| *other == size).count();
    let mut distinct = sizes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let usual = distinct.iter().copied().max_by_key(times);
    let usual = usual.ok_or_else(|| Error::file(path, "holds no PNG images; give a folder of them"))?;
    let different: Vec<String> = (files.iter().zip(&sizes).filter(|(_, size)| **size != usual))
        .map(|(file, [height, width])| {
            format!("{} is {height} × {width}", file.strip_prefix(path).unwrap_or(file).display())
        })
        .collect();
    if different.is_empty() {
        return Ok(usual);
    }
    let first = different.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let problem = format!("{} of {} images are not {} × {}", different.len(), files.len(), usual[0], usual[1]);
    Err(Error::file(path, format!("{problem}: {first}; resize them")))
}

fn open(file: &Path) -> Result<Decoder<BufReader<File>>> {
    let mut decoder = Decoder::new(BufReader::new(File::open(file).map_err(Error::reading(file))?));
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    Ok(decoder)
}

fn damaged(file: &Path) -> impl Fn(png::DecodingError) -> Error {
    move |error| Error::file(file, format!("cannot be read as a PNG image ({error}); save it again"))
}

fn size(file: &Path) -> Result<[usize; 2]> {
    let mut decoder = open(file)?;
    let info = decoder.read_header_info().map_err(damaged(file))?;
    let size = [info.height as usize, info.width as usize];
    if size[0].saturating_mul(size[1]) > MOST_PIXELS {
        return Err(Error::file(
            file,
            format!("is {} × {}, more than {MOST_PIXELS} pixels; resize it", size[0], size[1]),
        ));
    }
    Ok(size)
}

/// The pixels of each file: red, green and blue.
fn pixels(files: &[PathBuf]) -> Result<Vec<Vec<[u8; 3]>>> {
    files.iter().map(|file| decode(file)).collect()
}

fn decode(file: &Path) -> Result<Vec<[u8; 3]>> {
    let mut reader = open(file)?.read_info().map_err(damaged(file))?;
    let length = reader.output_buffer_size().ok_or_else(|| Error::file(file, "is too large; resize it"))?;
    let mut bytes = vec![0; length];
    let frame = reader.next_frame(&mut bytes).map_err(damaged(file))?;
    bytes.truncate(frame.buffer_size());
    if frame.bit_depth != BitDepth::Eight {
        return Err(Error::file(file, format!("has pixels of {:?} bits; save it with 8 bits", frame.bit_depth)));
    }
    Ok(match frame.color_type {
        ColorType::Grayscale => bytes.iter().map(|&grey| [grey; 3]).collect(),
        ColorType::GrayscaleAlpha => {
            bytes.as_chunks().0.iter().map(|&[grey, alpha]| on_white([grey; 3], alpha)).collect()
        }
        ColorType::Rgb | ColorType::Indexed => bytes.as_chunks().0.to_vec(),
        ColorType::Rgba => bytes.as_chunks().0.iter().map(|&[r, g, b, alpha]| on_white([r, g, b], alpha)).collect(),
    })
}

/// Whether no pixel of any image has a colour.
fn are_grey(images: &[Vec<[u8; 3]>]) -> bool {
    images.iter().flatten().all(|[r, g, b]| r == g && g == b)
}

/// A colour on a white ground, rounded to whole numbers.
fn on_white(colour: [u8; 3], alpha: u8) -> [u8; 3] {
    let alpha = u32::from(alpha);
    colour.map(|value| ((u32::from(value) * alpha + 255 * (255 - alpha) + 127) / 255) as u8)
}

/// An image channel by channel, full intensity at 1.
fn encoded(pixels: &[[u8; 3]], channels: usize) -> impl Iterator<Item = f32> + '_ {
    (0..channels).flat_map(move |channel| pixels.iter().map(move |pixel| (f64::from(pixel[channel]) / MAXIMUM) as f32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use tempfile::TempDir;

    fn png_of(colour: ColorType, depth: BitDepth, [height, width]: [u32; 2], bytes: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if colour == ColorType::Indexed {
            encoder.set_palette(vec![0, 0, 0, 255, 0, 51]);
        }
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        file
    }

    fn grey(bytes: &[u8]) -> Vec<u8> {
        png_of(ColorType::Grayscale, BitDepth::Eight, [1, bytes.len() as u32], bytes)
    }

    fn folder(files: &[(&str, Vec<u8>)]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn loaded(files: &[(&str, Vec<u8>)]) -> Result<Dataset> {
        load(folder(files).path(), &Request { test_share: 0.5, ..Request::new("images") })
    }

    #[test]
    fn subfolders_are_classes_and_the_split_is_seeded() {
        let files: Vec<(String, Vec<u8>)> =
            (0..10).map(|i| (format!("{}/{i}.png", ["cat", "dog"][i % 2]), grey(&[i as u8, 255]))).collect();
        let files: Vec<(&str, Vec<u8>)> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        let place = folder(&files);
        let request = |seed| Request { test_share: 0.3, seed: Seed(seed), ..Request::new("images") };
        let set = load(place.path(), &request(1)).unwrap();
        assert_eq!((set.train.len(), set.test.len()), (7, 3));
        assert_eq!(set.schema.target.task.classes(), ["cat", "dog"]);
        assert_eq!(set.schema.image, Some(Image { channels: 1, height: 1, width: 2, maximum: 255.0 }));
        for row in 0..set.train.len() {
            let number = (set.train.row(row)[0] * 255.0).round() as u32;
            assert_eq!(set.train.y.select(&[row]), Targets::Classes(vec![number % 2]));
        }
        let again = load(place.path(), &request(1)).unwrap();
        assert_eq!((again.test, &again.sources), (set.test.clone(), &set.sources));
        assert_ne!(load(place.path(), &request(2)).unwrap().test, set.test);
        std::fs::write(place.path().join("cat/0.png"), grey(&[9, 9])).unwrap();
        assert_ne!(load(place.path(), &request(1)).unwrap().sources, set.sources);
    }

    #[test]
    fn every_kind_of_pixel_becomes_eight_bits_of_three_colours() {
        let size = [1, 2];
        let cases = [
            (ColorType::Grayscale, BitDepth::Eight, vec![7, 255], [[7; 3], [255; 3]]),
            (ColorType::Grayscale, BitDepth::One, vec![0b0100_0000], [[0; 3], [255; 3]]),
            (ColorType::Grayscale, BitDepth::Sixteen, vec![7, 200, 255, 255], [[7; 3], [255; 3]]),
            (ColorType::GrayscaleAlpha, BitDepth::Eight, vec![7, 255, 7, 0], [[7; 3], [255; 3]]),
            (ColorType::Rgb, BitDepth::Eight, vec![1, 2, 3, 4, 5, 6], [[1, 2, 3], [4, 5, 6]]),
            (ColorType::Rgba, BitDepth::Eight, vec![1, 2, 3, 255, 0, 0, 0, 51], [[1, 2, 3], [204; 3]]),
            (ColorType::Indexed, BitDepth::Eight, vec![1, 0], [[255, 0, 51], [0; 3]]),
        ];
        for (colour, depth, bytes, expected) in cases {
            let place = folder(&[("a.png", png_of(colour, depth, size, &bytes))]);
            assert_eq!(decode(&place.path().join("a.png")).unwrap(), expected, "{colour:?} {depth:?}");
        }
    }

    #[test]
    fn one_coloured_pixel_gives_all_images_three_channels() {
        let coloured = png_of(ColorType::Rgb, BitDepth::Eight, [1, 1], &[255, 0, 0]);
        let set = loaded(&[("a/1.png", coloured), ("b/1.png", grey(&[51]))]).unwrap();
        let mut rows = [set.train.x, set.test.x];
        rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(rows, [vec![0.2; 3], vec![1.0, 0.0, 0.0]]);
    }

    #[test]
    fn images_of_other_sizes_are_counted_and_the_first_three_named() {
        let (one, two) = (grey(&[1]), grey(&[1, 2]));
        let mut files = vec![("a/0.png", one)];
        let names = ["a/1.png", "a/2.png", "a/3.png", "b/4.png"];
        files.extend(names.map(|name| (name, png_of(ColorType::Grayscale, BitDepth::Eight, [2, 1], &[1, 2]))));
        files.extend(["b/5.png", "b/6.png", "b/7.png", "b/8.png", "b/9.png"].map(|name| (name, two.clone())));
        let message = loaded(&files).unwrap_err().to_string();
        assert!(
            message.ends_with(
                "5 of 10 images are not 1 × 2: a/0.png is 1 × 1, a/1.png is 2 × 1, a/2.png is 2 × 1; resize them"
            ),
            "{message}"
        );
    }

    #[test]
    fn other_files_and_links_are_skipped_with_a_note() {
        let place = folder(&[
            ("a/1.png", grey(&[1])),
            ("b/1.png", grey(&[2])),
            ("a/notes.txt", b"hello".to_vec()),
            ("empty/notes.txt", vec![]),
        ]);
        #[cfg(unix)]
        std::os::unix::fs::symlink(place.path().join("a/1.png"), place.path().join("b/2.png")).unwrap();
        let set = load(place.path(), &Request { test_share: 0.5, ..Request::new("images") }).unwrap();
        assert_eq!(set.schema.target.task.classes(), ["a", "b"]);
        assert_eq!(set.train.len() + set.test.len(), 2);
        let links = if cfg!(unix) { "b/2.png, " } else { "" };
        let expected = format!("a/notes.txt, {links}empty/notes.txt");
        assert!(set.notes[0].ends_with(&expected), "{:?}", set.notes);
    }

    #[test]
    fn folders_without_classes_damaged_images_and_targets_are_refused() {
        let problem = |files: &[(&str, Vec<u8>)]| loaded(files).unwrap_err().to_string();
        assert!(problem(&[("1.png", grey(&[1]))]).contains("holds 0 subfolders with PNG images; put the images"));
        let mut cut = grey(&[1, 2, 3]);
        cut.truncate(40);
        assert!(problem(&[("a/1.png", cut), ("b/1.png", grey(&[1, 2, 3]))]).contains("cannot be read as a PNG image"));
        let request = Request { target: Some("y".into()), ..Request::new("images") };
        assert!(load(Path::new("."), &request).unwrap_err().to_string().contains("leave out `target`"));
    }

    #[test]
    fn one_image_or_a_folder_of_them_can_be_explained() {
        let place = folder(&[("b.png", grey(&[255])), ("a.png", grey(&[51]))]);
        let image = Image { channels: 1, height: 1, width: 1, maximum: 255.0 };
        assert_eq!(read_rows(place.path(), &image).unwrap(), [0.2, 1.0]);
        assert_eq!(read_rows(&place.path().join("b.png"), &image).unwrap(), [1.0]);
        assert_eq!(read_rows(&place.path().join("a.png"), &Image { channels: 3, ..image }).unwrap(), [0.2; 3]);
        let message = read_rows(place.path(), &Image { width: 2, ..image }).unwrap_err().to_string();
        assert!(message.contains("holds 1 × 1 × 1 images, the run was trained on 1 × 1 × 2"), "{message}");
    }
}
