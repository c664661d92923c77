//! A user's own images: NumPy arrays in an `.npz` archive or in `.npy` files, or IDX files as those of MNIST.
//!
//! | file | images | labels | split |
//! |---|---|---|---|
//! | `.npz` | `x_train`, `x_test` | `y_train`, `y_test` | the file's own |
//! | `.npz` | `x` or `images` | `y`, `labels`, or the key that `target` names | seeded |
//! | `.npy`, IDX | the file | the file that `labels` or `target` names, of either kind | seeded |
//!
//! Contents say which of them a file is. Arrays may be gzipped, archives may not.
//!
//! Images have the shape `[N, H, W]`, `[N, H, W, C]` or `[N, C, H, W]` with 1 or 3 channels; they are stored
//! channel by channel, each value divided by the full intensity: 255 for bytes, for others 1 if no value is greater.

use super::Request;
use crate::data::content::Content;
use crate::data::dataset::sha256_hex;
use crate::data::idx;
use crate::data::npy::{self, Archive, Array, Kind};
use crate::data::raw::text::unzipped;
use crate::data::split::Split;
use crate::data::{Constraints, Dataset, Image, Samples, Schema, Source, Target, Targets, Task};
use crate::error::{Error, Remedy, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Reads the images of `path` and their labels.
pub fn load(path: &Path, request: &Request) -> Result<Dataset> {
    let (bytes, source) = read(path)?;
    let found = match Content::of(&bytes) {
        Content::Array | Content::Idx => from_files(path, array(path, bytes)?, source, request)?,
        _ => from_archive(path, &bytes, source, request)?,
    };
    let layouts = found.parts.iter().map(|part| Layout::of(path, &part.images)).collect::<Result<Vec<_>>>()?;
    check_alike(path, &found.parts, &layouts)?;
    let labels = found.parts.iter().map(|part| labels(path, part)).collect::<Result<Vec<_>>>()?;
    let classes = classes(path, &labels)?;
    let maximum = maximum(path, found.parts.iter().map(|part| &part.images))?;

    let parts = found.parts.iter().zip(&layouts).zip(&labels);
    let samples = parts.map(|((part, layout), labels)| samples(&part.images, layout, maximum, labels, &classes));
    let (train, test) = train_and_test(request, samples.collect())?;
    let [channels, height, width] = layouts[0].sizes;
    let classes = named(&classes, &request.reading.class_names)?;
    let schema = Schema {
        target: Target { name: found.target, task: Task::Classification { classes }, unit: None, meaning: None },
        image: Some(Image { channels, height, width, maximum }),
        features: Vec::new(),
        constraints: Constraints::default(),
    };
    Ok(Dataset {
        name: file_name(path),
        schema,
        train,
        test,
        sources: found.sources,
        notes: vec![],
        names: Default::default(),
    })
}

/// The images of another file encoded for a model of `image`s, row after row; no labels are needed.
pub fn read_rows(path: &Path, image: &Image) -> Result<Vec<f32>> {
    let (bytes, _) = read(path)?;
    let images = match Content::of(&bytes) {
        Content::Array | Content::Idx => array(path, bytes)?,
        Content::Arrays | Content::Zip | Content::DamagedZip => {
            let mut archive = Archive::open(path, &bytes)?;
            let keys = archive.keys();
            let key = ["x", "images", "x_test"].into_iter().find(|key| keys.iter().any(|known| known == key));
            let none = || Error::file(path, format!("holds the arrays {}; save the images as x", keys.join(", ")));
            archive.array(key.ok_or_else(none)?)?
        }
        _ => {
            let problem = "holds no images; give a NumPy or IDX file, or a folder of PNG images";
            return Err(Error::file(path, format!("{problem}, as the run was trained on images")));
        }
    };
    let layout = Layout::of(path, &images)?;
    check_sizes(path, layout.sizes, image)?;
    let maximum = maximum(path, std::iter::once(&images))?;
    Ok(encode(&images, &layout, maximum))
}

/// Refuses images of other channels, height and width than a run was trained on.
pub(super) fn check_sizes(path: &Path, [channels, height, width]: [usize; 3], trained: &Image) -> Result<()> {
    let Image { channels: c, height: h, width: w, .. } = *trained;
    if [channels, height, width] == [c, h, w] {
        return Ok(());
    }
    let problem = format!("holds {channels} × {height} × {width} images, the run was trained on {c} × {h} × {w}");
    Err(Error::file(path, format!("{problem}; resize them")))
}

/// The array in the bytes of a NumPy or IDX file, gzipped or not.
fn array(path: &Path, bytes: Vec<u8>) -> Result<Array> {
    let (content, name) = (Content::of(&bytes), file_name(path));
    let bytes = unzipped(path, bytes, npy::MOST_BYTES)?;
    if content == Content::Idx { idx::array(path, &name, bytes) } else { npy::parse(path, &name, bytes) }
}

/// What was found in the files: one part that is still to be split, or training and test part.
struct Found {
    parts: Vec<Part>,
    target: String,
    sources: Vec<Source>,
}

struct Part {
    images: Array,
    labels: Array,
}

fn from_archive(path: &Path, bytes: &[u8], source: Source, request: &Request) -> Result<Found> {
    let mut archive = Archive::open(path, bytes)?;
    let pairs = choose_keys(path, &archive.keys(), request.target.as_deref())?;
    let parts = pairs.iter().map(|[images, labels]| {
        let images = archive.array(images)?;
        Ok(Part { images, labels: archive.array(labels)? })
    });
    let parts = parts.collect::<Result<_>>()?;
    Ok(Found { parts, target: request.target.clone().unwrap_or_else(|| "label".into()), sources: vec![source] })
}

/// The keys of images and labels, one pair a part.
fn choose_keys(path: &Path, keys: &[String], target: Option<&str>) -> Result<Vec<[String; 2]>> {
    let has = |key: &str| keys.iter().any(|known| known == key);
    let split = ["x_train", "y_train", "x_test", "y_test"];
    if split.iter().all(|key| has(key)) {
        return match target {
            None => Ok(vec![["x_train".into(), "y_train".into()], ["x_test".into(), "y_test".into()]]),
            Some(target) => Err(Error::file(
                path,
                format!("has a split of its own with the labels y_train and y_test; do not name the target `{target}`"),
            )),
        };
    }
    let images = ["x", "images"].into_iter().find(|key| has(key));
    let labels = target.map_or_else(|| ["y", "labels"].into_iter().find(|key| has(key)), |key| has(key).then_some(key));
    match (images, labels) {
        (Some(images), Some(labels)) => Ok(vec![[images.to_owned(), labels.to_owned()]]),
        _ => {
            let wanted = target.unwrap_or("y (or labels)");
            let problem =
                format!("holds the arrays {}", if keys.is_empty() { "(none)".into() } else { keys.join(", ") });
            let remedy = format!("save x (or images) and {wanted}, or x_train, y_train, x_test and y_test");
            Err(Error::file(path, format!("{problem}; {remedy}")))
        }
    }
}

fn from_files(path: &Path, images: Array, image_source: Source, request: &Request) -> Result<Found> {
    let given = request.reading.labels.as_ref().or(request.target.as_ref());
    let Some(given) = given else {
        let (fact, remedy) = match images.shape.len() {
            1 => ("holds one number an item, as labels do", "these, and the path of the images as the data"),
            _ => ("holds images without labels", "the file of the labels, such as labels.npy"),
        };
        return Err(Error::file(path, fact).remedy(Remedy::give("labels", remedy)));
    };
    let beside = path.parent().map(|folder| folder.join(given)).filter(|file| file.is_file());
    let labels_path = beside.unwrap_or_else(|| PathBuf::from(given));
    if !labels_path.exists() {
        let problem = format!("holds {} and no column, and `{given}` is no file of labels", described(&images));
        let labels = Remedy::give("labels", "the file of the labels, such as labels.npy");
        return Err(Error::file(path, problem).remedy(labels));
    }
    let (labels, label_source) = read(&labels_path)?;
    let labels = array(&labels_path, labels)?;
    let target = target_name(&label_source.file).to_owned();
    Ok(Found { parts: vec![Part { images, labels }], target, sources: vec![image_source, label_source] })
}

/// An array in words: `an array of uint8 of shape [10, 28, 28]`.
fn described(array: &Array) -> String {
    format!("an array of {} of shape {:?}", array.element, array.shape)
}

/// The name of a file of labels without its endings.
fn target_name(file: &str) -> &str {
    let unpacked = file.strip_suffix(".gz").unwrap_or(file);
    let name = Path::new(unpacked).file_stem().and_then(|stem| stem.to_str()).unwrap_or(unpacked);
    if unpacked.len() < file.len() { name.strip_suffix(".idx").unwrap_or(name) } else { name }
}

fn read(path: &Path) -> Result<(Vec<u8>, Source)> {
    let bytes = std::fs::read(path).map_err(Error::reading(path))?;
    let source = Source { file: file_name(path), sha256: sha256_hex(&bytes) };
    Ok((bytes, source))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Where channels, rows and columns lie in an array of images.
#[derive(Debug)]
struct Layout {
    count: usize,
    /// Channels, height, width.
    sizes: [usize; 3],
    /// From one image to the next, in values.
    step: usize,
    /// From one channel, row, column to the next, in values.
    strides: [usize; 3],
}

impl Layout {
    fn of(path: &Path, images: &Array) -> Result<Self> {
        let wrong =
            |problem: &str| Error::file(path, format!("{} has shape {:?}: {problem}", images.name, images.shape));
        let axes = match images.shape[..] {
            [_, _] => return Err(wrong("a table belongs in a .csv or .parquet file; reshape images to [N, H, W]")),
            [_, _, _] => [None, Some(1), Some(2)],
            [_, _, _, 1 | 3] => [Some(3), Some(1), Some(2)],
            [_, 1 | 3, _, _] => [Some(1), Some(2), Some(3)],
            _ => return Err(wrong("images are [N, H, W], [N, H, W, C] or [N, C, H, W] with 1 or 3 channels")),
        };
        let sizes = axes.map(|axis| axis.map_or(1, |axis| images.shape[axis]));
        if images.len() == 0 {
            return Err(wrong("there is nothing in it to learn from"));
        }
        let strides = axes.map(|axis| axis.map_or(0, |axis| images.strides[axis]));
        Ok(Self { count: images.shape[0], sizes, step: images.strides[0], strides })
    }

    /// Where each value of image `index` is stored: channel by channel, row by row.
    fn offsets(&self, index: usize) -> impl Iterator<Item = usize> {
        let ([channels, height, width], [channel, row, column]) = (self.sizes, self.strides);
        let first = index * self.step;
        let channels = (0..channels).map(move |c| first + c * channel);
        let rows = channels.flat_map(move |start| (0..height).map(move |h| start + h * row));
        rows.flat_map(move |start| (0..width).map(move |w| start + w * column))
    }
}

fn check_alike(path: &Path, parts: &[Part], layouts: &[Layout]) -> Result<()> {
    let describe = |index: usize| {
        let (images, [channels, height, width]) = (&parts[index].images, layouts[index].sizes);
        format!("{} holds {channels} × {height} × {width} images of {}", images.name, images.element)
    };
    let alike = |index: usize| {
        layouts[index].sizes == layouts[0].sizes && parts[index].images.element == parts[0].images.element
    };
    match (1..parts.len()).find(|&index| !alike(index)) {
        Some(index) => Err(Error::file(path, format!("{}, but {}; save both alike", describe(0), describe(index)))),
        None => Ok(()),
    }
}

/// The labels of a part, one for each of its images.
fn labels(path: &Path, part: &Part) -> Result<Vec<i128>> {
    let Part { images, labels } = part;
    let wrong = |problem: String| Error::file(path, format!("the labels {} {problem}", labels.name));
    if !matches!(labels.shape[..], [_] | [_, 1]) {
        let problem = format!("have shape {:?}; save one class number an image: y.argmax(1)", labels.shape);
        return Err(wrong(problem));
    }
    let (count, wanted) = (labels.len(), images.shape[0]);
    if count != wanted {
        return Err(wrong(format!("are {count} for the {wanted} images of {}; save one an image", images.name)));
    }
    let whole: Option<Vec<i128>> = (0..count).map(|index| labels.whole(index)).collect();
    whole.ok_or_else(|| wrong("are floats; save whole numbers: y.astype('int64')".into()))
}

fn classes(path: &Path, labels: &[Vec<i128>]) -> Result<Vec<i128>> {
    let classes: BTreeSet<i128> = labels.iter().flatten().copied().collect();
    if classes.len() < 2 {
        let only = classes.first().map(ToString::to_string).unwrap_or_default();
        return Err(Error::file(path, format!("every label is {only}; classification needs two classes or more")));
    }
    Ok(classes.into_iter().collect())
}

/// What the classes with these labels are called: as the user says, or by their labels.
fn named(labels: &[i128], names: &[String]) -> Result<Vec<String>> {
    if names.is_empty() {
        return Ok(labels.iter().map(ToString::to_string).collect());
    }
    let problem = |problem: String| Err(Error::setting("class_names", problem));
    let distinct: BTreeSet<&str> = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
    match (names.len() == labels.len(), distinct.len() == names.len()) {
        (false, _) => {
            let shown: Vec<String> = labels.iter().take(20).map(ToString::to_string).collect();
            let more = if labels.len() > 20 { ", …" } else { "" };
            let count = names.len();
            problem(format!(
                "has {count} names for the {} labels {}{more}; give one each",
                labels.len(),
                shown.join(", ")
            ))
        }
        (true, false) => problem("has a name twice, or an empty one; name each class differently".into()),
        (true, true) => Ok(names.iter().map(|name| name.trim().to_owned()).collect()),
    }
}

/// The value of full intensity: 255 for bytes; for others 1 if no value exceeds it, else 255.
fn maximum<'a>(path: &Path, parts: impl Iterator<Item = &'a Array>) -> Result<f64> {
    let (mut greatest, mut element) = (0.0f64, None);
    for images in parts {
        element = element.or(Some(images.element));
        for offset in 0..images.len() {
            let value = images.value(offset);
            if !(0.0..=255.0).contains(&value) {
                let problem = format!("{} is {value}; pixels lie in [0, 1] or [0, 255]", images.place(offset));
                return Err(Error::file(path, format!("{problem}: rescale the images, undo any standardisation")));
            }
            greatest = greatest.max(value);
        }
    }
    let unit = element.is_some_and(|e| e.kind == Kind::Bool || !e.is_byte() && greatest <= 1.0);
    Ok(if unit { 1.0 } else { 255.0 })
}

fn samples(images: &Array, layout: &Layout, maximum: f64, labels: &[i128], classes: &[i128]) -> Samples {
    let class = |label: &i128| classes.binary_search(label).expect("classes hold every label") as u32;
    let (x, width) = (encode(images, layout, maximum), layout.sizes.iter().product());
    Samples { x, width, y: Targets::Classes(labels.iter().map(class).collect()), weights: None }
}

/// Every image, channel by channel, full intensity at 1.
fn encode(images: &Array, layout: &Layout, maximum: f64) -> Vec<f32> {
    let values = |index| layout.offsets(index).map(|offset| (images.value(offset) / maximum) as f32);
    (0..layout.count).flat_map(values).collect()
}

fn train_and_test(request: &Request, mut parts: Vec<Samples>) -> Result<(Samples, Samples)> {
    let last = parts.pop().expect("there is a part");
    if let Some(train) = parts.pop() {
        return Ok((train, last));
    }
    let Split { train, test } = Split::new(last.len(), request.test_share, request.seed)?;
    Ok((last.select(&train), last.select(&test)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Reading;
    use crate::data::npy::tests::encode;
    use std::io::Write;

    fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        // Images stored as by numpy.savez, labels packed as by numpy.savez_compressed.
        for (name, bytes) in arrays {
            let images = name.starts_with('x') || *name == "images";
            let method = if images { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            zip.start_file(format!("{name}.npy"), options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn bytes(shape: &str, values: &[u8]) -> Vec<u8> {
        encode("|u1", "False", shape, values)
    }

    fn floats(shape: &str, values: &[f32]) -> Vec<u8> {
        let stored: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        encode("<f4", "False", shape, &stored)
    }

    fn load_npz(arrays: &[(&str, Vec<u8>)], target: Option<&str>) -> Result<Dataset> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.npz");
        std::fs::write(&path, npz(arrays)).unwrap();
        load(&path, &Request { target: target.map(str::to_owned), test_share: 0.5, ..Request::new("set.npz") })
    }

    /// Two images `x` with the labels 0 and 1, read as training and test part alike.
    fn both(x: Vec<u8>) -> Result<Dataset> {
        let y = || bytes("(2,)", &[0, 1]);
        load_npz(&[("x_train", x.clone()), ("y_train", y()), ("x_test", x), ("y_test", y())], None)
    }

    fn complaint(result: Result<Dataset>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn the_split_of_the_file_is_kept_and_classes_are_sorted() {
        let arrays = [
            ("x_train", bytes("(2, 1, 2)", &[0, 51, 102, 255])),
            ("y_train", encode("<i8", "False", "(2,)", &[[7, 0, 0, 0, 0, 0, 0, 0], [0xff; 8]].concat())), // 7, −1
            ("x_test", bytes("(1, 1, 2)", &[255, 0])),
            ("y_test", bytes("(1, 1)", &[7])),
        ];
        let set = load_npz(&arrays, None).unwrap();
        assert_eq!(set.train.x, [0.0, 0.2, 0.4, 1.0]);
        assert_eq!(set.train.y, Targets::Classes(vec![1, 0]));
        assert_eq!(set.test.y, Targets::Classes(vec![1]));
        assert_eq!(set.schema.target.task, Task::Classification { classes: vec!["-1".into(), "7".into()] });
        assert_eq!(set.schema.image, Some(Image { channels: 1, height: 1, width: 2, maximum: 255.0 }));
        assert!(complaint(load_npz(&arrays, Some("y"))).contains("has a split of its own"));
    }

    #[test]
    fn channels_come_first_wherever_they_were() {
        // Image 0 has the red pixels 0 1, green 2 3, blue 4 5; image 1 the same plus 10.
        let expected: Vec<f32> = [0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15].map(|v: u8| f32::from(v) / 255.0).to_vec();
        let last = bytes("(2, 1, 2, 3)", &[0, 2, 4, 1, 3, 5, 10, 12, 14, 11, 13, 15]);
        let first = bytes("(2, 3, 1, 2)", &[0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15]);
        let fortran = encode("|u1", "True", "(2, 3, 1, 2)", &[0, 10, 2, 12, 4, 14, 1, 11, 3, 13, 5, 15]);
        for images in [last, first, fortran] {
            let set = both(images).unwrap();
            assert_eq!(set.train.x, expected);
            assert_eq!(set.schema.image.unwrap().channels, 3);
        }
    }

    #[test]
    fn floats_up_to_one_stay_and_floats_up_to_255_are_divided() {
        let unit = both(floats("(2, 1, 1)", &[0.5, 1.0])).unwrap();
        assert_eq!((unit.train.x.as_slice(), unit.schema.image.unwrap().maximum), ([0.5, 1.0].as_slice(), 1.0));
        let byte = both(floats("(2, 1, 1)", &[51.0, 255.0])).unwrap();
        assert_eq!((byte.train.x.as_slice(), byte.schema.image.unwrap().maximum), ([0.2, 1.0].as_slice(), 255.0));
    }

    #[test]
    fn an_offending_pixel_is_named_with_its_index_and_value() {
        for (value, text) in [(f32::NAN, "NaN"), (-0.5, "-0.5"), (256.0, "256"), (f32::INFINITY, "inf")] {
            let message = complaint(both(floats("(2, 1, 2)", &[0.0, 0.0, 0.0, value])));
            assert!(message.contains(&format!("x_train[1, 0, 1] is {text};")), "{message}");
        }
    }

    #[test]
    fn shapes_that_are_no_images_are_refused_with_the_remedy() {
        assert!(complaint(both(bytes("(2, 784)", &[0; 1568]))).contains("reshape images to [N, H, W]"));
        assert!(complaint(both(bytes("(2, 2, 2, 2)", &[0; 16]))).contains("with 1 or 3 channels"));
        assert!(complaint(both(bytes("(0, 28, 28)", &[]))).contains("nothing in it"));
        assert!(complaint(both(bytes("(0, 4294967296, 4294967296)", &[]))).contains("nothing in it"));
    }

    #[test]
    fn labels_must_be_one_whole_number_an_image_of_two_classes_or_more() {
        let with = |y: Vec<u8>| complaint(load_npz(&[("x", bytes("(2, 1, 1)", &[0, 9])), ("y", y)], None));
        assert!(with(bytes("(3,)", &[0, 1, 2])).contains("are 3 for the 2 images of x"));
        assert!(with(bytes("(2, 2)", &[0, 1, 1, 0])).contains("have shape [2, 2]"));
        assert!(with(floats("(2,)", &[0.0, 1.0])).contains("are floats"));
        assert!(with(bytes("(2,)", &[4, 4])).contains("every label is 4;"));
    }

    #[test]
    fn a_seeded_split_shares_out_every_row_once_and_repeats() {
        let x: Vec<u8> = (0..10).collect();
        let arrays = [("images", bytes("(10, 1, 1)", &x)), ("digit", bytes("(10,)", &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1]))];
        let set = load_npz(&arrays, Some("digit")).unwrap();
        assert_eq!((set.train.len(), set.test.len(), set.schema.target.name.as_str()), (5, 5, "digit"));
        let mut all = [set.train.x.clone(), set.test.x.clone()].concat();
        all.sort_by(f32::total_cmp);
        assert_eq!(all, x.iter().map(|&v| f32::from(v) / 255.0).collect::<Vec<_>>());
        assert_eq!(load_npz(&arrays, Some("digit")).unwrap().test, set.test);
        assert!(complaint(load_npz(&arrays, None)).contains("holds the arrays digit, images; save"));
    }

    #[test]
    fn the_labels_of_an_npy_lie_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        std::fs::write(&path, bytes("(2, 1, 1)", &[0, 255])).unwrap();
        std::fs::write(folder.path().join("digits.npy"), bytes("(2,)", &[3, 5])).unwrap();
        let request = Request { target: Some("digits.npy".into()), ..Request::new("x.npy") };
        let set = load(&path, &request).unwrap();
        assert_eq!((set.train.len(), set.test.len(), set.sources.len()), (1, 1, 2));
        assert_eq!(set.schema.target.name, "digits");
        assert!(complaint(load(&path, &Request::new("x.npy"))).contains("give `labels` with the file"));
        let shared = Request { test_share: 1.0, ..request };
        assert!(complaint(load(&path, &shared)).contains("test_share"));
    }

    #[test]
    fn idx_files_are_read_with_their_labels_whatever_their_endings() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: Vec<u8>| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("images.idx.gz", idx::tests::gzip(&idx::tests::encode(&[2, 1, 2], &[0, 51, 102, 255])));
        write("letters.idx.gz", idx::tests::gzip(&idx::tests::encode(&[2], &[26, 9])));
        write("plain", idx::tests::encode(&[2], &[26, 9]));
        let path = folder.path().join("images.idx.gz");
        let labels = |file: &str| Reading { labels: Some(file.into()), ..Reading::default() };
        let request = |reading: Reading| Request { reading, ..Request::new("images.idx.gz") };
        let set = load(&path, &request(labels("letters.idx.gz"))).unwrap();
        assert_eq!(set.schema.target.name, "letters");
        assert_eq!(set.schema.target.task.classes(), ["9", "26"]);
        let called = |names: &[&str]| {
            let class_names = names.iter().map(|name| (*name).to_owned()).collect();
            load(&path, &request(Reading { class_names, ..labels("letters.idx.gz") }))
        };
        assert_eq!(called(&["i", "z"]).unwrap().schema.target.task.classes(), ["i", "z"]);
        assert!(complaint(called(&["i"])).contains("has 1 names for the 2 labels 9, 26"));
        assert!(complaint(called(&["i", " i"])).contains("has a name twice"));
        assert_eq!(set.schema.image, Some(Image { channels: 1, height: 1, width: 2, maximum: 255.0 }));
        let mut all = [set.train.x.clone(), set.test.x.clone()].concat();
        all.sort_by(f32::total_cmp);
        assert_eq!(all, [0.0, 0.2, 0.4, 1.0]);
        assert_eq!(load(&path, &request(labels("plain"))).unwrap().train.x, set.train.x);
        assert_eq!(read_rows(&path, &set.schema.image.unwrap()).unwrap(), [0.0, 0.2, 0.4, 1.0]);

        let table = Request { target: Some("digit".into()), ..request(Reading::default()) };
        let message = complaint(load(&path, &table));
        assert!(message.contains("shape [2, 1, 2] and no column, and `digit` is no file of labels"), "{message}");
        assert!(message.contains("give `labels` with"), "{message}");
        let message = complaint(load(&folder.path().join("plain"), &request(Reading::default())));
        assert!(message.contains("holds one number an item, as labels do; give `labels` with these"), "{message}");
    }

    #[test]
    fn the_target_of_a_file_of_labels_is_its_name_without_endings() {
        for (file, name) in [
            ("digits.npy", "digits"),
            ("letters.idx.gz", "letters"),
            ("train-labels-idx1-ubyte.gz", "train-labels-idx1-ubyte"),
            ("digits.v2.npy", "digits.v2"),
            ("plain", "plain"),
        ] {
            assert_eq!(target_name(file), name);
        }
    }

    #[test]
    fn a_damaged_archive_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.npz");
        let whole = npz(&[("x", bytes("(2, 1, 1)", &[0, 1])), ("y", bytes("(2,)", &[0, 1]))]);
        std::fs::write(&path, &whole[..whole.len() - 30]).unwrap();
        assert!(complaint(load(&path, &Request::new("set.npz"))).contains("is not a readable .npz archive"));
    }
}
