//! The datasets that are known by name: what they are, under which licence, and where their files come from.

use super::DataDir;
use crate::error::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A dataset that is known by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Name that the user types, such as `mnist`.
    pub name: String,
    /// Name that people read, such as `MNIST`.
    pub title: String,
    /// What the dataset holds, in a sentence or two.
    pub summary: String,
    /// Number of rows, training and test together.
    pub rows: usize,
    /// Terms under which the data may be used.
    pub licence: String,
    /// Work to cite for the data.
    pub citation: String,
    /// Subfolder of the data directory that holds the files.
    pub folder: String,
    /// Files of the dataset; empty for one that is made.
    pub files: Vec<RemoteFile>,
}

/// A file of a dataset, and where to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoteFile {
    /// Name of the file in the dataset's folder.
    pub name: String,
    /// Length of the file in bytes; none if it is unknown.
    pub bytes: Option<u64>,
    /// SHA-256 of the file in hexadecimal; none if it is unknown, so that a download is checked by its format only.
    pub sha256: Option<String>,
    /// Addresses that serve the file, the best first.
    pub mirrors: Vec<String>,
    /// Other names under which the same content may lie in the folder.
    pub also: Vec<String>,
}

impl Entry {
    /// Path of the folder that holds the dataset's files.
    pub fn folder_in(&self, directory: &DataDir) -> PathBuf {
        directory.path_of(&self.folder)
    }

    /// Files that are absent under all of their names.
    pub fn missing(&self, directory: &DataDir) -> Vec<&RemoteFile> {
        let folder = self.folder_in(directory);
        self.files.iter().filter(|file| file.find_in(&folder).is_none()).collect()
    }

    /// Whether the dataset can be used: all its files are there, or it needs none.
    pub fn present(&self, directory: &DataDir) -> bool {
        self.missing(directory).is_empty()
    }
}

impl RemoteFile {
    /// Path of the file in `folder`, under its own name or another; none if it is absent.
    pub fn find_in(&self, folder: &Path) -> Option<PathBuf> {
        let names = std::iter::once(&self.name).chain(&self.also);
        names.map(|name| folder.join(name)).find(|path| path.is_file())
    }
}

/// What is known about a dataset, and what of it is on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// What is known about it.
    #[serde(flatten)]
    pub entry: Entry,
    /// Whether it can be used now.
    pub present: bool,
    /// The folder of its files; nothing if it has none.
    pub path: Option<String>,
    /// Where each of its files lies, in their order; nothing for one that is missing.
    pub found: Vec<Option<String>>,
}

impl Status {
    /// What of a dataset is in this directory.
    pub fn of(entry: Entry, directory: &DataDir) -> Self {
        let folder = entry.folder_in(directory);
        let text = |path: &Path| path.display().to_string();
        let found = entry.files.iter().map(|file| file.find_in(&folder).map(|path| text(&path))).collect();
        let path = (!entry.files.is_empty()).then(|| text(&folder));
        Self { present: entry.present(directory), path, found, entry }
    }
}

/// All datasets that are known by name.
pub fn entries(directory: &DataDir) -> Vec<Entry> {
    let brought = directory.providers().iter().flat_map(|provider| provider.entries());
    [moons()].into_iter().chain(brought).chain([mnist(), credit()]).collect()
}

/// The dataset called `name`; an error lists the known ones.
pub fn find(name: &str, directory: &DataDir) -> Result<Entry> {
    let entries = entries(directory);
    let name = directory.provider_of(name).map_or(name, |provider| provider.full_name(name));
    let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    entries.into_iter().find(|entry| entry.name == name).ok_or_else(|| {
        Error::setting("name", format!("the catalogue has no dataset `{name}`; it has {}", names.join(", ")))
    })
}

fn moons() -> Entry {
    Entry {
        name: "moons".into(),
        title: "Two moons".into(),
        summary: "Two interleaved half circles with noise: two features, two classes. Made from the seed.".into(),
        rows: 2_500,
        licence: "none needed: it is made".into(),
        citation: "none needed".into(),
        folder: "moons".into(),
        files: Vec::new(),
    }
}

fn mnist() -> Entry {
    Entry {
        name: "mnist".into(),
        title: "MNIST handwritten digits".into(),
        summary: "Grey images of 28 × 28 pixels in ten classes: 60 000 to learn from, 10 000 to test on.".into(),
        rows: 70_000,
        licence: "CC BY-SA 3.0 (Yann LeCun and Corinna Cortes)".into(),
        citation: "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner: Gradient-based learning applied to document \
                   recognition. Proceedings of the IEEE 86(11), 1998."
            .into(),
        folder: "mnist".into(),
        files: vec![
            mnist_file(
                "train-images",
                3,
                9_912_422,
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            mnist_file("train-labels", 1, 28_881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
            mnist_file("t10k-images", 3, 1_648_877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
            mnist_file("t10k-labels", 1, 4_542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
        ],
    }
}

/// The names under which the file of MNIST `part` (`train-images`), of `dimensions` dimensions, is known; the official first.
pub(crate) fn mnist_names(part: &str, dimensions: u8) -> Vec<String> {
    let stems = ["-", "."].map(|dot| format!("{part}{dot}idx{dimensions}-ubyte"));
    stems.iter().flat_map(|stem| [format!("{stem}.gz"), stem.clone()]).collect()
}

fn mnist_file(part: &str, dimensions: u8, bytes: u64, sha256: &str) -> RemoteFile {
    let mut also = mnist_names(part, dimensions);
    let name = also.remove(0);
    let mirrors = [
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        "https://storage.googleapis.com/cvdf-datasets/mnist",
        "http://yann.lecun.com/exdb/mnist",
    ];
    let mirrors = mirrors.iter().map(|mirror| format!("{mirror}/{name}")).collect();
    RemoteFile { name, bytes: Some(bytes), sha256: Some(sha256.into()), mirrors, also }
}

fn credit() -> Entry {
    Entry {
        name: "credit".into(),
        title: "Default of credit card clients".into(),
        summary: "Taiwan, 2005: 23 features of a client (limit, sex, education, marriage, age, six months of \
                  payments and bills), and whether the next payment was missed."
            .into(),
        rows: 30_000,
        licence: "CC BY 4.0 (UCI Machine Learning Repository)".into(),
        citation: "I-C. Yeh: Default of Credit Card Clients. UCI Machine Learning Repository, 2009. \
                   doi:10.24432/C55S3H"
            .into(),
        folder: "uci_default_credit".into(),
        files: vec![RemoteFile {
            name: "default+of+credit+card+clients.zip".into(),
            bytes: None,
            sha256: None,
            mirrors: vec!["https://archive.ics.uci.edu/static/public/350/default+of+credit+card+clients.zip".into()],
            also: ["default of credit card clients.xls", "UCI_Credit_Card.csv", "UCI_Credit_Card.csv.gz"]
                .map(str::to_owned)
                .to_vec(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let directory = DataDir::locate(None);
        let message = find("minst", &directory).unwrap_err().to_string();
        assert!(message.contains("`minst`; it has moons, mnist, credit"), "{message}");
        assert_eq!(find("mnist", &directory).unwrap().files.len(), 4);
    }

    #[test]
    fn every_hash_has_64_hexadecimal_digits_and_every_file_a_mirror() {
        for file in entries(&DataDir::locate(None)).iter().flat_map(|entry| &entry.files) {
            assert!(!file.mirrors.is_empty(), "{}", file.name);
            if let Some(hash) = &file.sha256 {
                assert!(hash.len() == 64 && hash.bytes().all(|b| b"0123456789abcdef".contains(&b)), "{}", file.name);
            }
        }
    }

    #[test]
    fn a_file_under_another_of_its_names_counts_as_there() {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDir::locate(Some(folder.path()));
        let credit = credit();
        assert!(!credit.present(&directory));
        std::fs::create_dir(credit.folder_in(&directory)).unwrap();
        std::fs::write(credit.folder_in(&directory).join("UCI_Credit_Card.csv"), "ID\n").unwrap();
        assert!(credit.present(&directory));
        assert!(moons().present(&directory), "what is made is always there");
        assert_eq!(mnist().missing(&directory).len(), 4);
    }

    #[test]
    fn the_status_of_a_dataset_says_which_files_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDir::locate(Some(folder.path()));
        let status = Status::of(mnist(), &directory);
        assert!(!status.present && status.path.is_some());
        assert_eq!(status.found, [None, None, None, None]);
        let status = Status::of(moons(), &directory);
        assert!(status.present && status.path.is_none() && status.found.is_empty());
    }
}
