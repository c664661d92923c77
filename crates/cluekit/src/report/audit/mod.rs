//! The audit of a run: one page for a person who has to judge a model.
//!
//! [`Audit`] is plain data, the document beside the page. The page comes from it alone, so that it can be made again
//! from a saved one, and holds no number that the document does not.
//!
//! ```text
//! rows ─► tally, spread, classes, bands ─┐
//! explanations ─► gallery, levers, latent ┼─► Audit ─► findings, pictures ─► page
//! mappers ─► groups ─────────────────────┘
//! ```

mod bands;
mod classes;
mod findings;
mod gallery;
mod groups;
mod latent;
mod levers;
mod page;
mod pictures;
mod provenance;
mod rows;
mod spread;
mod story;
mod subject;
mod tally;
mod thumbnail;
mod trust;

pub use bands::FeatureBand;
pub use classes::{ClassRow, Hesitation};
pub use findings::Finding;
pub use gallery::{Card, CardChange, CardClue, Gallery, NamedShare, NamedValue};
pub use groups::{GroupCard, Groups};
pub use latent::{LatentMap, LatentPoint, Way};
pub use levers::Lever;
pub use provenance::{Provenance, Setting};
pub use rows::Rows;
pub use spread::{Spread, Tenth, UncertaintyBin};
pub use story::{Chapter, Figure, Story};
pub use subject::{Subject, Unit};
pub use tally::Tally;
pub use trust::Trust;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The version of the document's layout.
pub const FORMAT: u32 = 1;

/// Everything that the page of an audit shows; parts that could not be had are none, and `missing` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// The version of the document's layout.
    pub format: u32,
    /// Which model was looked at, on which rows.
    pub subject: Subject,
    /// Whether its confidence can be trusted.
    pub trust: Option<Trust>,
    /// Where it is unsure.
    pub uncertainty: Option<Whereabouts>,
    /// The most uncertain inputs with their clues.
    pub gallery: Option<Gallery>,
    /// What would make whole groups certain.
    pub groups: Option<Groups>,
    /// The latent space in two dimensions.
    pub latent: Option<LatentMap>,
    /// What a demonstration tells besides.
    pub story: Option<Story>,
    /// How to repeat it.
    pub provenance: Provenance,
    /// What the page lacks, and why, a sentence each.
    pub missing: Vec<String>,
}

/// Where a model is unsure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Whereabouts {
    /// How many rows it is unsure about.
    pub tally: Tally,
    /// How uncertainty is spread over the rows.
    pub spread: Spread,
    /// Class by class; empty for a regression.
    pub classes: Vec<ClassRow>,
    /// The pairs of classes between which it hesitates, the most frequent first; empty for a regression.
    pub hesitations: Vec<Hesitation>,
    /// Groups of rows by the features of a table, those first that hold the most uncertainty; empty for images.
    pub bands: Vec<FeatureBand>,
}

impl Audit {
    /// Reads the document that an audit left.
    pub fn from_json(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            format: Option<u32>,
        }
        let unreadable = |problem: serde_json::Error| {
            Error::data(format!("this is no document of `clue audit`: {problem}; make it again"))
        };
        match serde_json::from_str::<Format>(text).map_err(unreadable)?.format {
            Some(format) if format != FORMAT => Err(Error::data(format!(
                "the document has format {format}, this version reads {FORMAT}; use the version of clue that made it"
            ))),
            _ => serde_json::from_str(text).map_err(unreadable),
        }
    }

    /// The document as one line of JSON.
    pub fn json(&self) -> Result<String> {
        let text = serde_json::to_string(self);
        text.map(|text| text + "\n").map_err(|problem| Error::data(format!("the audit cannot be written: {problem}")))
    }

    /// What it says in plain words, the most important first.
    pub fn findings(&self) -> Vec<Finding> {
        findings::findings(self)
    }

    /// The page: one file, nothing fetched, readable without script.
    pub fn html(&self) -> Result<String> {
        page::html(self)
    }
}
