//! A dataset in memory: encoded rows, their targets, and the schema that explains both.

use super::{PartNames, Schema};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A dataset that is ready for a model.
///
/// ```
/// use cluekit::data::{DataDir, Request, load};
///
/// let moons = load(&Request::new("moons"), None, &DataDir::locate(None))?;
/// assert_eq!((moons.train.len(), moons.test.len()), (2000, 500));
/// assert_eq!((moons.schema.width(), moons.schema.target.task.classes().len()), (2, 2));
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Name of the dataset for the user: `mnist`, `credit`, or the file's name.
    pub name: String,
    /// Meaning of the columns and of the target.
    pub schema: Schema,
    /// Rows to learn from; a validation split is taken from these.
    pub train: Samples,
    /// Rows to test on; nothing is learned from them or chosen on them.
    pub test: Samples,
    /// Files that the dataset was read from, with their hashes; empty for a dataset that is made.
    pub sources: Vec<Source>,
    /// Notes for the user on how the data were read: columns that were left out, and why.
    pub notes: Vec<String>,
    /// Names of the rows, for those that come from a file with rows.
    pub names: PartNames,
}

/// Encoded rows with their targets.
///
/// ```
/// use cluekit::data::{Samples, Targets};
///
/// let y = Targets::Classes(vec![0, 1]);
/// let samples = Samples { x: vec![0.0, 1.0, 2.0, 3.0], width: 2, y, weights: None };
/// assert_eq!(samples.len(), 2);
/// assert_eq!(samples.row(1), [2.0, 3.0]);
/// assert_eq!(samples.select(&[1]).y, Targets::Classes(vec![1]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Encoded inputs, row after row.
    pub x: Vec<f32>,
    /// Number of columns of an encoded row.
    pub width: usize,
    /// Targets, one for each row.
    pub y: Targets,
    /// How much each row counts in the training of a predictor, 1 on the average; none where all count alike.
    pub weights: Option<Vec<f32>>,
}

/// The targets of some rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// Position of each row's class in the schema's list of classes.
    Classes(Vec<u32>),
    /// Scaled value of each row.
    Values(Vec<f32>),
    /// Unknown targets of this number of rows.
    Unknown(usize),
}

/// A file that a dataset was read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name of the file, without its folder.
    pub file: String,
    /// SHA-256 of the file's bytes, in lower-case hexadecimal.
    pub sha256: String,
}

impl Dataset {
    /// What is in it, in one line.
    pub fn summary(&self) -> String {
        let schema = &self.schema;
        let inputs = match &schema.image {
            Some(image) => format!("images of {} × {} × {}", image.channels, image.height, image.width),
            None => format!("{} features in {} columns", schema.features.len(), schema.width()),
        };
        let target = match schema.target.task.classes() {
            [] => format!("the value `{}`", schema.target.name),
            classes => format!("`{}` with {} classes", schema.target.name, classes.len()),
        };
        let (train, test) = (self.train.len(), self.test.len());
        format!("{}: {train} rows to train on, {test} to test on, {inputs}, predicting {target}", self.name)
    }
}

impl Samples {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The encoded input of row `index`.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.x[index * self.width..(index + 1) * self.width]
    }

    /// The rows at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        let x = indices.iter().flat_map(|&i| self.row(i)).copied().collect();
        let of = |weights: &Vec<f32>| indices.iter().map(|&i| weights[i]).collect();
        Self { x, width: self.width, y: self.y.select(indices), weights: self.weights.as_ref().map(of) }
    }
}

impl Targets {
    /// Number of targets.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(labels) => labels.len(),
            Self::Values(values) => values.len(),
            Self::Unknown(count) => *count,
        }
    }

    /// Whether there are no targets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The targets at `indices`, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        match self {
            Self::Classes(labels) => Self::Classes(indices.iter().map(|&i| labels[i]).collect()),
            Self::Values(values) => Self::Values(indices.iter().map(|&i| values[i]).collect()),
            Self::Unknown(_) => Self::Unknown(indices.len()),
        }
    }
}

/// SHA-256 of `bytes`, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of a file, in lower-case hexadecimal.
pub(crate) fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Which of so many rows are wanted, in ascending order; told one by one, since a wrong file can declare any number.
pub type Chosen<'a> = &'a dyn Fn(usize) -> Box<dyn Iterator<Item = usize>>;

/// At most `most` of `count` rows, evenly spread over all: every so-many-th, from the first.
pub(crate) fn spread_evenly(count: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(count.div_ceil(most).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_abc_is_the_one_in_the_standard() {
        // FIPS 180-4, example of SHA-256.
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
