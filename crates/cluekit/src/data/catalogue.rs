//! The datasets that are known by name: what they are, under which licence, and where their files come from.

use super::DataDir;
use super::source::{mnist, synbols};
use super::synbols::Set;
use crate::error::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

const SYNBOLS: &str = "A. Lacoste et al.: Synbols: Probing Learning Algorithms with Synthetic Datasets. NeurIPS, 2020.";
/// The published file of thick letters in black and white.
pub(crate) const PUBLISHED_SYMBOLS: &str = "non-camou-bw_n=100000_2020-Oct-19.h5py";

/// A dataset that is known by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What the user types: `mnist`.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// What is in it, in a sentence or two.
    pub summary: String,
    /// How many rows it has, training and test together.
    pub rows: usize,
    /// Under which terms it may be used.
    pub licence: String,
    /// What to cite.
    pub citation: String,
    /// The subfolder of the data directory that holds its files.
    pub folder: String,
    /// Its files; none for a dataset that is made.
    pub files: Vec<RemoteFile>,
}

/// A file of a dataset, and where to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoteFile {
    /// Its name in the dataset's folder.
    pub name: String,
    /// Its length, where it is known.
    pub bytes: Option<u64>,
    /// SHA-256 of its bytes in hexadecimal. Where it is not known, only the format can be checked after a download.
    pub sha256: Option<String>,
    /// Addresses that serve it, best first.
    pub mirrors: Vec<String>,
    /// Other names under which the same content may lie in the folder.
    pub also: Vec<String>,
}

impl Entry {
    /// The folder of its files.
    pub fn folder_in(&self, directory: &DataDir) -> PathBuf {
        directory.path_of(&self.folder)
    }

    /// The files that are not there, neither under their own name nor under another.
    pub fn missing(&self, directory: &DataDir) -> Vec<&RemoteFile> {
        let folder = self.folder_in(directory);
        self.files.iter().filter(|file| file.find_in(&folder).is_none()).collect()
    }

    /// Whether it can be used: every file is there, or none is needed.
    pub fn present(&self, directory: &DataDir) -> bool {
        self.missing(directory).is_empty()
    }
}

impl RemoteFile {
    /// Where it lies in `folder`, under its own name or under another.
    pub fn find_in(&self, folder: &Path) -> Option<PathBuf> {
        let names = std::iter::once(&self.name).chain(&self.also);
        names.map(|name| folder.join(name)).find(|path| path.is_file())
    }
}

/// Every dataset that is known by name.
pub fn entries() -> Vec<Entry> {
    let made = synbols::RECIPES.iter().map(symbols);
    [moons()].into_iter().chain(made).chain([published_symbols(), mnist(), credit()]).collect()
}

/// The dataset called `name`.
pub fn find(name: &str) -> Result<Entry> {
    let entries = entries();
    let name = synbols::recipe(name).map_or(name, |recipe| recipe.name);
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

fn symbols(recipe: &synbols::Recipe) -> Entry {
    let colours = if recipe.grey { "grey" } else { "three channels" };
    Entry {
        name: recipe.name.into(),
        title: format!("Symbols: {} letters", recipe.letters.chars().count()),
        summary: format!(
            "The letters {}, turned and moved, white on black or black on white, {1} × {1} pixels, {colours}; set {2}. \
             Made from the seed. `clue data make synbols` writes images of any set to a file: {3}.",
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
    let name = PUBLISHED_SYMBOLS;
    Entry {
        name: "synbols-published".into(),
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

fn mnist_file(part: &str, dimensions: u8, bytes: u64, sha256: &str) -> RemoteFile {
    let mut also = mnist::names(part, dimensions);
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
        let message = find("minst").unwrap_err().to_string();
        assert!(
            message
                .contains("`minst`; it has moons, synbols-small, synbols-full, synbols-demo, synbols-published, mnist"),
            "{message}"
        );
        assert_eq!(find("mnist").unwrap().files.len(), 4);
    }

    #[test]
    fn every_hash_has_64_hexadecimal_digits_and_every_file_a_mirror() {
        for file in entries().iter().flat_map(|entry| &entry.files) {
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
}
