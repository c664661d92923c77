//! MNIST: 60 000 + 10 000 grey images of handwritten digits, 28 × 28.
//!
//! Read from the four IDX files of the original distribution; pixels become v / 255.

use crate::data::catalogue::mnist_names;
use crate::data::idx::{self, Idx};
use crate::data::source::Part;
use crate::data::{Chosen, Constraints, Dataset, Image, Samples, Schema, Source, Target, Targets, Task};
use crate::error::{Error, Remedy, Result};
use std::path::{Path, PathBuf};

const SIDE: usize = 28;
const MAXIMUM: f64 = 255.0;

/// The four files: images and labels to learn from, images and labels to test on.
#[derive(Debug)]
pub struct Files([PathBuf; 4]);

impl Files {
    /// Finds the four files of MNIST in the folder `directory`.
    pub fn find(directory: &Path) -> Result<Self> {
        let parts = [("train-images", 3), ("train-labels", 1), ("t10k-images", 3), ("t10k-labels", 1)];
        let mut missing = Vec::new();
        let files = parts.map(|(part, dimensions)| {
            let names = mnist_names(part, dimensions);
            let found = names.iter().map(|name| directory.join(name)).find(|path| path.is_file());
            found.unwrap_or_else(|| {
                missing.push(names[0].clone());
                PathBuf::new()
            })
        });
        if missing.is_empty() {
            return Ok(Self(files));
        }
        let problem = format!("has no {}", missing.join(", "));
        let elsewhere = Remedy::data_folder("these files in its subfolder mnist");
        Err(Error::missing(directory, problem).remedy(Remedy::fetch("mnist")).remedy(elsewhere))
    }

    /// Number of images to learn from, and number to test on.
    pub fn counts(&self) -> Result<[usize; 2]> {
        Ok([idx::count(&self.0[0], 3)?, idx::count(&self.0[2], 3)?])
    }

    /// The first images of both parts, `counts` of them.
    pub fn load(&self, counts: [usize; 2]) -> Result<Dataset> {
        let first = |part: Part| self.read(part, &|_| Box::new(0..counts[part as usize]));
        let ((train, train_sources), (test, test_sources)) = (first(Part::Train)?, first(Part::Test)?);
        let sources = [train_sources, test_sources].concat();
        Ok(Dataset {
            name: "mnist".into(),
            schema: schema(),
            train,
            test,
            sources,
            notes: vec![],
            names: Default::default(),
        })
    }

    /// The images of one part at the positions that `chosen` returns for their number, in ascending order.
    pub fn read(&self, part: Part, chosen: Chosen) -> Result<(Samples, Vec<Source>)> {
        let (images, labels) = match part {
            Part::Train => (&self.0[0], &self.0[1]),
            Part::Test => (&self.0[2], &self.0[3]),
        };
        // Numbers are made while bytes come, in memory that is asked for once.
        let mut x: Vec<f32> = Vec::new();
        let _ = x.try_reserve_exact(chosen(idx::count(images, 3)?).count().saturating_mul(SIDE * SIDE));
        let pixels = idx::read(images, 3, chosen, &mut |bytes| {
            x.extend(bytes.iter().map(|&pixel| f32::from(pixel) / MAXIMUM as f32));
        })?;
        let mut all_digits = Vec::new();
        let digits =
            idx::read(labels, 1, &|count| Box::new(0..count), &mut |bytes| all_digits.extend_from_slice(bytes))?;
        check_images(images, &pixels)?;
        let (image_count, label_count) = (pixels.shape[0], digits.shape[0]);
        if image_count != label_count {
            let problem = format!("holds {label_count} labels for the {image_count} images of {}", images.display());
            return Err(Error::file(labels, format!("{problem}; take both from the same distribution")));
        }
        if let Some(position) = all_digits.iter().position(|&digit| digit > 9) {
            let digit = all_digits[position];
            let problem = format!("label {position} (counted from 0) is {digit}, not one of 0 to 9");
            return Err(Error::file(labels, problem));
        }
        let y = chosen(label_count).map(|row| u32::from(all_digits[row])).collect();
        let samples = Samples { x, width: SIDE * SIDE, y: Targets::Classes(y), weights: None };
        Ok((samples, vec![pixels.source, digits.source]))
    }
}

fn check_images(path: &Path, images: &Idx) -> Result<()> {
    let [count, height, width] = images.shape[..] else { unreachable!("three dimensions were asked for") };
    if (height, width) != (SIDE, SIDE) {
        return Err(Error::file(path, format!("holds images of {height} × {width}, not {SIDE} × {SIDE}")));
    }
    if count == 0 {
        return Err(Error::file(path, "holds no image; download it again"));
    }
    Ok(())
}

/// Schema of MNIST: 28 × 28 grey pixels and ten digits.
pub fn schema() -> Schema {
    let classes = (0..10).map(|digit| digit.to_string()).collect();
    Schema {
        target: Target { name: "digit".into(), task: Task::Classification { classes }, unit: None, meaning: None },
        image: Some(Image { channels: 1, height: SIDE, width: SIDE, maximum: MAXIMUM }),
        features: Vec::new(),
        constraints: Constraints::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::idx::tests::{encode, gzip};
    use crate::testing::real_data;
    use std::fs;

    /// Two training images and one test image; gzipped and plain, with both kinds of name.
    fn tiny() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
        let mut pixels = vec![0; 2 * 784];
        (pixels[1], pixels[784]) = (255, 51);
        write("train-images-idx3-ubyte.gz", gzip(&encode(&[2, 28, 28], &pixels)));
        write("train-labels-idx1-ubyte", encode(&[2], &[7, 0]));
        write("t10k-images.idx3-ubyte", encode(&[1, 28, 28], &[0; 784]));
        write("t10k-labels.idx1-ubyte.gz", gzip(&encode(&[1], &[9])));
        folder
    }

    /// All of it.
    fn load(directory: &Path) -> Result<Dataset> {
        let files = Files::find(directory)?;
        files.load(files.counts()?)
    }

    fn complaint(folder: &tempfile::TempDir) -> String {
        load(folder.path()).unwrap_err().to_string()
    }

    #[test]
    fn pixels_are_scaled_to_one_and_labels_are_digits() {
        let mnist = load(tiny().path()).unwrap();
        assert_eq!(mnist.train.row(0)[..3], [0.0, 1.0, 0.0]);
        assert_eq!(mnist.train.row(1)[..2], [0.2, 0.0]); // 51 / 255
        assert_eq!(mnist.train.y, Targets::Classes(vec![7, 0]));
        assert_eq!(mnist.test.y, Targets::Classes(vec![9]));
        let files: Vec<_> = mnist.sources.iter().map(|source| source.file.as_str()).collect();
        let expected = ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte"];
        assert_eq!(files, [&expected[..], &["t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte.gz"]].concat());
    }

    #[test]
    fn some_images_come_with_their_labels_and_the_hashes_of_whole_files() {
        let folder = tiny();
        let (whole, files) = (load(folder.path()).unwrap(), Files::find(folder.path()).unwrap());
        let (second, sources) = files.read(Part::Train, &|count| Box::new(std::iter::once(count - 1))).unwrap();
        assert_eq!(second, whole.train.select(&[1]));
        assert_eq!(sources, whole.sources[..2]);
        let first = files.load([1, 1]).unwrap();
        assert_eq!((first.train, first.test), (whole.train.select(&[0]), whole.test));
        assert_eq!(first.sources, whole.sources);
    }

    #[test]
    fn missing_files_are_named_with_the_remedy() {
        let folder = tiny();
        fs::remove_file(folder.path().join("train-labels-idx1-ubyte")).unwrap();
        let message = complaint(&folder);
        assert!(message.contains("has no train-labels-idx1-ubyte.gz; fetch the dataset `mnist`"), "{message}");
        assert!(message.contains("or name a data folder"), "{message}");
    }

    #[test]
    fn a_label_above_nine_is_named_with_its_position() {
        let folder = tiny();
        fs::write(folder.path().join("train-labels-idx1-ubyte"), encode(&[2], &[7, 10])).unwrap();
        assert!(complaint(&folder).contains("label 1 (counted from 0) is 10"));
    }

    #[test]
    fn labels_that_do_not_match_the_images_in_number_are_refused() {
        let folder = tiny();
        fs::write(folder.path().join("train-labels-idx1-ubyte"), encode(&[3], &[7, 1, 2])).unwrap();
        assert!(complaint(&folder).contains("holds 3 labels for the 2 images"));
    }

    #[test]
    fn images_of_another_size_are_refused() {
        let folder = tiny();
        fs::write(folder.path().join("t10k-images.idx3-ubyte"), encode(&[1, 2, 3], &[0; 6])).unwrap();
        assert!(complaint(&folder).contains("images of 2 × 3, not 28 × 28"));
        fs::write(folder.path().join("t10k-images.idx3-ubyte"), encode(&[0, 28, 28], &[])).unwrap();
        assert!(complaint(&folder).contains("holds no image"));
    }

    #[test]
    fn the_real_files_have_the_published_counts_and_means() {
        let Some(data) = real_data(&["mnist"]) else { return };
        let mnist = load(&data.join("mnist")).unwrap();
        let counts = |samples: &Samples| {
            let Targets::Classes(labels) = &samples.y else { unreachable!() };
            (0..10).map(|digit| labels.iter().filter(|&&label| label == digit).count()).collect::<Vec<_>>()
        };
        assert_eq!(counts(&mnist.train), [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]);
        assert_eq!(counts(&mnist.test), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
        let mean = |samples: &Samples| samples.x.iter().map(|&v| f64::from(v)).sum::<f64>() / samples.x.len() as f64;
        assert!((mean(&mnist.train) - 0.130_660).abs() < 1e-6);
        assert!((mean(&mnist.test) - 0.132_515).abs() < 1e-6);
    }
}
