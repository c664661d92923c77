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
        /// Path of the file that could not be read.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },

    /// A file could not be created, written or renamed into place.
    #[error("cannot write {}", path.display())]
    Write {
        /// Path of the file that could not be written.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },

    /// A file was read but its contents are not what they should be.
    #[error("{}: {problem}", path.display())]
    File {
        /// Path of the file whose contents are wrong.
        path: PathBuf,
        /// What is wrong with the contents, and how to mend them.
        problem: String,
    },

    /// A file or folder that is needed is not there.
    #[error("{}: {problem}", path.display())]
    Missing {
        /// Path of the file or folder that is missing.
        path: PathBuf,
        /// What is missing, in words.
        problem: String,
    },

    /// A file belongs to models other than those at hand.
    #[error("{}: {problem}", path.display())]
    Mismatch {
        /// Path of the file that belongs to other models.
        path: PathBuf,
        /// How the file and the models differ.
        problem: String,
    },

    /// One line of a text file is wrong.
    #[error("{}, line {line}: {problem}", path.display())]
    Line {
        /// Path of the text file.
        path: PathBuf,
        /// Number of the wrong line, counted from 1.
        line: u64,
        /// What is wrong with the line, and how to mend it.
        problem: String,
    },

    /// A setting has a value that cannot be used.
    #[error("setting `{key}`: {problem}")]
    Setting {
        /// Name of the setting, as it is written in TOML.
        key: String,
        /// What is wrong with the value, and which values can be used.
        problem: String,
    },

    /// No input meets all constraints.
    #[error("setting `{key}`: {problem}")]
    Infeasible {
        /// Name of the constraint, as it is written in TOML.
        key: String,
        /// What contradicts the constraint, and what to do.
        problem: String,
    },

    /// The model is certain about no training row that would serve.
    #[error("no training point of the wanted classes has an uncertainty below {below}")]
    NoCertainRow {
        /// Uncertainty below which the model counts as certain.
        below: f32,
    },

    /// The data are no longer those that a run was made from.
    #[error("{problem}")]
    DataChanged {
        /// What differs between the data now and the data of the run.
        problem: String,
    },

    /// The data cannot serve for what was asked.
    #[error("{problem}")]
    Data {
        /// What the data lack or contradict, and what to do.
        problem: String,
    },

    /// An array does not have the shape that the model expects.
    #[error("{what} has shape {got:?}, expected {expected:?}")]
    Shape {
        /// Name of the array, in words.
        what: String,
        /// Shape that the model expects.
        expected: Vec<usize>,
        /// Shape that the array has.
        got: Vec<usize>,
    },

    /// Training diverged: a loss left the finite numbers, or grew without end.
    #[error("training of the {model} diverged at epoch {epoch}: {quantity} is {value}; {remedy}")]
    Diverged {
        /// Name of the model that was being trained.
        model: String,
        /// Epoch in which training failed, counted from 1.
        epoch: usize,
        /// Name of the quantity that became unusable, such as a loss.
        quantity: &'static str,
        /// Value of that quantity when training ended.
        value: f64,
        /// Which settings to change, in words.
        remedy: String,
    },

    /// An [`Observer`](crate::observer::Observer) ended the work.
    #[error("{what} was stopped")]
    Cancelled {
        /// Name of the work that was ended.
        what: String,
    },

    /// A diversity metric that counts labels was asked to serve as an objective, which needs a gradient.
    #[error("`{name}` cannot be optimised: it counts labels and has no gradient; choose one of {choices}")]
    NotDifferentiable {
        /// Name of the metric without a gradient.
        name: &'static str,
        /// Names of the metrics with a gradient, the nearest relative first.
        choices: String,
    },

    /// A gradient was asked of a model that only answers.
    #[error(
        "the {model} only answers and has no gradient to descend; choose a gradient-free method, or give it a pull-back"
    )]
    NoGradient {
        /// Name of the model without a gradient: `decoder` or `predictor`.
        model: &'static str,
    },

    /// Every mirror failed to serve a file.
    #[error("could not fetch {name}: {problem}")]
    Fetch {
        /// Name of the file that was to be fetched.
        name: String,
        /// What each mirror answered, and what to do.
        problem: String,
    },

    /// A problem, together with remedies.
    #[error("{problem}; {}", alternatives(remedies, &Remedy::to_string))]
    Remedied {
        /// The problem itself.
        problem: Box<Error>,
        /// Things to do about the problem; any one of them helps.
        remedies: Vec<Remedy>,
    },
}

impl Error {
    /// Makes an [`Error::File`]: the contents of `path` are not usable because of `problem`.
    pub fn file(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().to_owned(), problem: problem.into() }
    }

    /// Makes an [`Error::Line`] of the text file `path`; lines are counted from 1.
    pub fn line(path: impl AsRef<Path>, line: u64, problem: impl Into<String>) -> Self {
        Self::Line { path: path.as_ref().to_owned(), line, problem: problem.into() }
    }

    /// Makes an [`Error::Missing`]: `path` is absent, or lacks something.
    pub fn missing(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::Missing { path: path.as_ref().to_owned(), problem: problem.into() }
    }

    /// This problem with one more remedy.
    ///
    /// ```
    /// use cluekit::Error;
    /// use cluekit::error::Remedy;
    ///
    /// let error = Error::data("no clue was found").remedy(Remedy::raise("threshold"));
    /// assert_eq!(error.fact().to_string(), "no clue was found");
    /// assert_eq!(error.remedies(), [Remedy::raise("threshold")]);
    /// ```
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

    /// The remedies of the problem; any one of them helps.
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

    /// Makes an [`Error::Setting`]: the value of `key` cannot be used because of `problem`.
    pub fn setting(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Setting { key: key.into(), problem: problem.into() }
    }

    /// Makes an [`Error::Infeasible`]: the constraint `key` cannot be met because of `problem`.
    pub fn infeasible(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Infeasible { key: key.into(), problem: problem.into() }
    }

    /// Makes an [`Error::Data`]: the data cannot serve because of `problem`.
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
