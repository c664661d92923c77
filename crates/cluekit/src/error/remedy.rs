//! What to do next, as data: each door words it in its own language.
//!
//! [`Display`](fmt::Display) is plain language. The command line writes `--delta 4.2` where Python writes `delta=4.2`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// One thing to do about a problem. Settings have the names that they have in TOML.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Remedy {
    /// Give these settings these values, all of them together.
    Set {
        /// Names of the settings, each with its new value.
        settings: BTreeMap<String, SettingValue>,
    },
    /// Give a setting a value of one's own.
    Give {
        /// Name of the setting.
        setting: String,
        /// What the value could be, in words.
        value: String,
    },
    /// Give a setting a higher value.
    Raise {
        /// Name of the setting.
        setting: String,
    },
    /// Give a setting a lower value.
    Lower {
        /// Name of the setting.
        setting: String,
    },
    /// Leave settings out.
    LeaveOut {
        /// Names of the settings to leave out.
        settings: Vec<String>,
    },
    /// Start searches at random within a radius of one's own.
    StartElsewhere,
    /// Loosen the constraints.
    LoosenConstraints,
    /// Search for the explanation of each input.
    Search,
    /// Choose another method.
    AnotherMethod,
    /// Choose another mapper.
    AnotherMapper,
    /// Fit a mapper.
    Fit,
    /// Fit the mapper again.
    FitAgain,
    /// Train a run.
    Train,
    /// Train a run again from the beginning.
    TrainAgain,
    /// Go on with a training that did not end.
    Resume {
        /// Path of the run's folder.
        run: PathBuf,
    },
    /// Restore a file as it was.
    Restore {
        /// Name of the file to restore.
        file: String,
    },
    /// Fetch a dataset.
    Fetch {
        /// Name of the dataset in the catalogue.
        dataset: String,
    },
    /// Download a file by hand.
    Download {
        /// Address of the file.
        url: String,
        /// Folder to put the file into.
        folder: PathBuf,
    },
    /// Name another folder of data.
    DataFolder {
        /// What the folder must hold, in words.
        holding: String,
    },
}

/// The value of a setting: a switch, a number or a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SettingValue {
    /// A switch that is on or off.
    Switch(bool),
    /// A whole number, 0 or more.
    Whole(u64),
    /// A number that may have a fraction.
    Number(f64),
    /// A name or another text.
    Name(String),
}

impl Remedy {
    /// Makes a [`Remedy::Set`] of these settings and values.
    pub fn set<V: Into<SettingValue>>(settings: impl IntoIterator<Item = (&'static str, V)>) -> Self {
        Self::Set { settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect() }
    }

    /// Makes a [`Remedy::Give`]: give `setting` a value such as `value` describes.
    pub fn give(setting: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Give { setting: setting.into(), value: value.into() }
    }

    /// Makes a [`Remedy::Raise`]: give `setting` a higher value.
    pub fn raise(setting: impl Into<String>) -> Self {
        Self::Raise { setting: setting.into() }
    }

    /// Makes a [`Remedy::Lower`]: give `setting` a lower value.
    pub fn lower(setting: impl Into<String>) -> Self {
        Self::Lower { setting: setting.into() }
    }

    /// Makes a [`Remedy::LeaveOut`] of these settings.
    pub fn leave_out<const N: usize>(settings: [&str; N]) -> Self {
        Self::LeaveOut { settings: settings.map(str::to_owned).to_vec() }
    }

    /// Makes a [`Remedy::Fetch`] of the dataset called `dataset`.
    pub fn fetch(dataset: impl Into<String>) -> Self {
        Self::Fetch { dataset: dataset.into() }
    }

    /// Makes a [`Remedy::DataFolder`]: name a folder that holds what `holding` describes.
    pub fn data_folder(holding: impl Into<String>) -> Self {
        Self::DataFolder { holding: holding.into() }
    }
}

impl Remedy {
    /// The same where settings are called otherwise: what is given, raised, lowered or left out has its name there.
    pub fn named(&self, name: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Give { setting, value } => format!("give {} with {value}", name(setting)),
            Self::Raise { setting } => format!("raise {}", name(setting)),
            Self::Lower { setting } => format!("lower {}", name(setting)),
            Self::LeaveOut { settings } => {
                format!("leave out {}", settings.iter().map(|setting| name(setting)).collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }
}

/// Alternatives as one clause, each in the words of a door: `a`, `a, or b`, `a, b, or c`.
pub fn alternatives(remedies: &[Remedy], word: &dyn Fn(&Remedy) -> String) -> String {
    let worded: Vec<String> = remedies.iter().map(word).collect();
    match worded.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{}, or {last}", others.join(", ")),
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Set { settings } => {
                let pairs: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "try {}", pairs.join(", "))
            }
            Self::Give { .. } | Self::Raise { .. } | Self::Lower { .. } | Self::LeaveOut { .. } => {
                f.write_str(&self.named(&|setting| format!("`{setting}`")))
            }
            Self::StartElsewhere => write!(f, "start elsewhere (init = random-radius) with a `delta` of your own"),
            Self::LoosenConstraints => write!(f, "loosen the constraints"),
            Self::Search => write!(f, "search for an explanation of its own"),
            Self::AnotherMethod => write!(f, "choose another method"),
            Self::AnotherMapper => write!(f, "choose another mapper"),
            Self::Fit => write!(f, "fit a mapper"),
            Self::FitAgain => write!(f, "fit it again"),
            Self::Train => write!(f, "train a run"),
            Self::TrainAgain => write!(f, "train again from the beginning"),
            Self::Resume { run } => write!(f, "resume the training of {}", run.display()),
            Self::Restore { file } => write!(f, "restore {file}"),
            Self::Fetch { dataset } => write!(f, "fetch the dataset `{dataset}`"),
            Self::Download { url, folder } => write!(f, "download {url} by hand into {}", folder.display()),
            Self::DataFolder { holding } => write!(f, "name a data folder that holds {holding}"),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Switch(on) => write!(f, "{on}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => write!(f, "{name}"),
        }
    }
}

impl From<bool> for SettingValue {
    fn from(on: bool) -> Self {
        Self::Switch(on)
    }
}

impl From<usize> for SettingValue {
    fn from(number: usize) -> Self {
        Self::Whole(number as u64)
    }
}

impl From<f64> for SettingValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for SettingValue {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_one_clause() {
        let all = [Remedy::set([("delta", 4.2)]), Remedy::raise("steps"), Remedy::fetch("mnist")];
        let clause = |count: usize| alternatives(&all[..count], &Remedy::to_string);
        assert_eq!(clause(0), "");
        assert_eq!(clause(1), "try delta = 4.2");
        assert_eq!(clause(2), "try delta = 4.2, or raise `steps`");
        assert_eq!(clause(3), "try delta = 4.2, raise `steps`, or fetch the dataset `mnist`");
    }

    #[test]
    fn settings_may_be_called_otherwise() {
        let left_out = Remedy::leave_out(["where", "to_where"]);
        assert_eq!(left_out.to_string(), "leave out `where`, `to_where`");
        let dashed = |setting: &str| format!("--{}", setting.replace('_', "-"));
        assert_eq!(left_out.named(&dashed), "leave out --where, --to-where");
        assert_eq!(Remedy::Fit.named(&dashed), Remedy::Fit.to_string());
    }

    #[test]
    fn a_remedy_is_the_same_after_it_was_written() {
        let set: [(_, SettingValue); 3] = [("delta", 2.0.into()), ("steps", 30.into()), ("grey", true.into())];
        let written = serde_json::to_string(&Remedy::set(set.clone())).unwrap();
        assert_eq!(written, r#"{"kind":"set","settings":{"delta":2.0,"grey":true,"steps":30}}"#);
        assert_eq!(serde_json::from_str::<Remedy>(&written).unwrap(), Remedy::set(set));
    }
}
