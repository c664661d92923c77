//! The one error of the library: a fact, the values inside it, and the remedy.

mod kind;
mod remedy;

pub use kind::ErrorKind;
pub use remedy::{Remedy, SettingValue, alternatives};

use std::path::{Path, PathBuf};

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong, in the words a user reads.
///
/// Messages are lower case, carry the offending value, and end with what to do about it. Where that differs from door
/// to door it is a [`Remedy`]. The command line adds context in front and prints the chain once.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened or read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// A file could not be created, written or renamed into place.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },

    /// A file was read but its contents are not what they should be.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and how to mend it.
        problem: String,
    },

    /// A file or folder that is needed is not there.
    #[error("{}: {problem}", path.display())]
    Missing {
        /// The file or folder.
        path: PathBuf,
        /// What is missing.
        problem: String,
    },

    /// A file belongs to other models.
    #[error("{}: {problem}", path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        problem: String,
    },

    /// One line of a text file is wrong.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it and how to mend it.
        problem: String,
    },

    /// A setting has a value that cannot be used.
    #[error("setting `{key}`: {problem}")]
    Setting {
        /// The setting's name as it is written in TOML.
        key: String,
        /// What is wrong with its value and what would be right.
        problem: String,
    },

    /// No input meets all constraints.
    #[error("setting `{key}`: {problem}")]
    Infeasible {
        /// The constraint's name as it is written in TOML.
        key: String,
        /// What contradicts it, and what to do.
        problem: String,
    },

    /// The model is certain about no training row that would serve.
    #[error("no training point of the wanted classes has an uncertainty below {below}")]
    NoCertainRow {
        /// The threshold of certainty.
        below: f32,
    },

    /// The data are no longer those that a run was made from.
    #[error("{problem}")]
    DataChanged {
        /// What differs.
        problem: String,
    },

    /// The data cannot serve for what was asked.
    #[error("{problem}")]
    Data {
        /// What is missing or contradictory, and what to do.
        problem: String,
    },

    /// An array does not have the shape that the model expects.
    #[error("{what} has shape {got:?}, expected {expected:?}")]
    Shape {
        /// Which array.
        what: String,
        /// The shape that was needed.
        expected: Vec<usize>,
        /// The shape that came.
        got: Vec<usize>,
    },

    /// Training left the finite numbers.
    #[error("training of the {model} diverged at epoch {epoch}: {quantity} is {value}; {remedy}")]
    Diverged {
        /// Which model was being trained.
        model: String,
        /// The epoch, counted from 1.
        epoch: usize,
        /// What became unusable.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// Which settings to change.
        remedy: String,
    },

    /// Somebody who watched wanted it to end.
    #[error("{what} was stopped")]
    Cancelled {
        /// What was being done.
        what: String,
    },

    /// A metric that counts was asked to serve as an objective.
    #[error("`{name}` cannot be optimised: it counts labels and has no gradient; choose one of {choices}")]
    NotDifferentiable {
        /// The metric.
        name: &'static str,
        /// The metrics that do have a gradient, the nearest to it first.
        choices: String,
    },

    /// A gradient was asked of a model that only answers.
    #[error(
        "the {model} only answers and has no gradient to descend; choose a gradient-free method, or give it a pull-back"
    )]
    NoGradient {
        /// Which model.
        model: &'static str,
    },

    /// Nothing more than a download went wrong, from every mirror.
    #[error("could not fetch {name}: {problem}")]
    Fetch {
        /// The file that was to be fetched.
        name: String,
        /// What each mirror answered, and what to do.
        problem: String,
    },

    /// A problem with things to do about it.
    #[error("{problem}; {}", alternatives(remedies, &Remedy::to_string))]
    Remedied {
        /// The problem.
        problem: Box<Error>,
        /// Any of these helps.
        remedies: Vec<Remedy>,
    },
}

impl Error {
    /// An [`Error::File`]: the contents of `path` are not usable because of `problem`.
    pub fn file(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().to_owned(), problem: problem.into() }
    }

    /// An [`Error::Line`] of the text file `path`; lines are counted from 1.
    pub fn line(path: impl AsRef<Path>, line: u64, problem: impl Into<String>) -> Self {
        Self::Line { path: path.as_ref().to_owned(), line, problem: problem.into() }
    }

    /// An [`Error::Missing`]: `path` is not there, or lacks something.
    pub fn missing(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::Missing { path: path.as_ref().to_owned(), problem: problem.into() }
    }

    /// The same problem with one more thing to do about it.
    #[must_use]
    pub fn remedy(self, remedy: Remedy) -> Self {
        match self {
            Self::Remedied { problem, mut remedies } => {
                remedies.push(remedy);
                Self::Remedied { problem, remedies }
            }
            problem => Self::Remedied { problem: Box::new(problem), remedies: vec![remedy] },
        }
    }

    /// The problem without its remedies.
    pub fn fact(&self) -> &Self {
        match self {
            Self::Remedied { problem, .. } => problem.fact(),
            problem => problem,
        }
    }

    /// What helps: any of these.
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::Remedied { remedies, .. } => remedies,
            _ => &[],
        }
    }

    /// The problem in the words of a door: what a setting is called there, and how to do what helps.
    pub fn worded(&self, name: &dyn Fn(&str) -> String, word: &dyn Fn(&Remedy) -> String) -> String {
        let fact = match self.fact() {
            Self::Setting { key, problem } | Self::Infeasible { key, problem } => {
                format!("setting `{}`: {problem}", name(key))
            }
            fact => fact.to_string(),
        };
        match self.remedies() {
            [] => fact,
            remedies => format!("{fact}; {}", alternatives(remedies, word)),
        }
    }

    /// The same problem, said of the input numbered `index`.
    pub(crate) fn of_input(self, index: usize) -> Self {
        match self {
            Self::Setting { key, problem } => Self::Setting { key, problem: format!("input {index}: {problem}") },
            Self::Infeasible { key, problem } => Self::Infeasible { key, problem: format!("input {index}: {problem}") },
            Self::Data { problem } => Self::Data { problem: format!("input {index}: {problem}") },
            Self::Remedied { problem, remedies } => {
                Self::Remedied { problem: Box::new(problem.of_input(index)), remedies }
            }
            other => other,
        }
    }

    /// An [`Error::Setting`].
    pub fn setting(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Setting { key: key.into(), problem: problem.into() }
    }

    /// An [`Error::Infeasible`].
    pub fn infeasible(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Infeasible { key: key.into(), problem: problem.into() }
    }

    /// An [`Error::Data`].
    pub fn data(problem: impl Into<String>) -> Self {
        Self::Data { problem: problem.into() }
    }

    /// Turns an I/O error into [`Error::Read`] of `path`: `File::open(p).map_err(Error::reading(p))`.
    pub fn reading(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Read { path, source }
    }

    /// Turns an I/O error into [`Error::Write`] of `path`.
    pub fn writing(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Write { path, source }
    }
}
