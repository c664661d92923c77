//! The audit of a run: one page for a person who has to judge a model.
//!
//! [`Audit`] is plain data, the document beside the page: counts, cards and findings. Who draws the page needs nothing
//! but this.
//!
//! ```text
//! rows ─► tally, spread, classes, bands ─┐
//! explanations ─► gallery, levers, latent ┼─► Audit ─► findings
//! mappers ─► groups ─────────────────────┘
//! ```

pub mod amounts;
mod bands;
mod classes;
mod findings;
#[cfg(any(test, feature = "testing"))]
pub mod fixture;
mod gallery;
mod groups;
mod help;
mod latent;
mod learning;
mod levers;
mod page;
mod provenance;
mod rows;
mod shifts;
mod spread;
mod story;
mod subject;
mod tally;
mod trust;

pub use bands::FeatureBand;
pub use classes::{ClassRow, Hesitation};
pub use findings::Finding;
pub use gallery::{Card, CardChange, CardClue, Gallery, NamedShare, NamedValue};
pub use groups::{GroupCard, Groups};
pub use help::reach_in_words;
pub use latent::{LatentMap, LatentPoint, Way};
pub use learning::{LearningCurve, LearningPoint};
pub use levers::Lever;
pub use page::{check_page, write_page};
pub use provenance::{Provenance, Setting};
pub use rows::Rows;
pub use shifts::{FeatureShift, ShiftKind};
pub use spread::{Spread, Tenth, UncertaintyBin};
pub use story::{Chapter, Figure, FigureNumber, Story};
pub use subject::{Subject, Unit};
pub use tally::Tally;
pub use trust::Trust;

use crate::error::{Error, Result};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Version of the layout of the document.
pub const FORMAT: u32 = 4;

/// Everything that the page of an audit shows; parts that could not be had are none, and `missing` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// Version of the document's layout.
    pub format: u32,
    /// The audited model and the rows that it was audited on.
    pub subject: Subject,
    /// What the audit says in plain words, the most important first; see [`Audit::concluded`].
    pub findings: Vec<Finding>,
    /// Scores of the models: whether their confidence can be trusted.
    pub trust: Option<Trust>,
    /// Where the model is unsure.
    pub uncertainty: Option<UncertaintyProfile>,
    /// How much better the rows are predicted as more are learned from; none for images, and in a hurry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<LearningCurve>,
    /// The most uncertain inputs with their clues.
    pub gallery: Option<Gallery>,
    /// Learned changes that would make whole groups certain.
    pub groups: Option<Groups>,
    /// The latent space in two dimensions.
    pub latent: Option<LatentMap>,
    /// Further chapters, such as those of a demonstration.
    pub story: Option<Story>,
    /// How to repeat the audit: versions, seeds, settings and hashes.
    pub provenance: Provenance,
    /// What the page lacks, and why, one sentence each.
    pub missing: Vec<String>,
}

/// Where a model is unsure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UncertaintyProfile {
    /// Counts of the rows that the model is unsure about.
    pub tally: Tally,
    /// How uncertainty is spread over the rows.
    pub spread: Spread,
    /// Counts for each class; empty for a regression.
    pub classes: Vec<ClassRow>,
    /// Pairs of classes between which the model hesitates, the most frequent first; empty for a regression.
    pub hesitations: Vec<Hesitation>,
    /// Groups of rows by the features of a table, those first that hold the most uncertainty; empty for images.
    pub bands: Vec<FeatureBand>,
}

impl Audit {
    /// Whether a text is the document of an audit: only that has a subject.
    pub fn is_in(text: &str) -> bool {
        #[derive(Deserialize)]
        struct Kind {
            subject: Option<IgnoredAny>,
        }
        serde_json::from_str::<Kind>(text).is_ok_and(|kind| kind.subject.is_some())
    }

    /// Reads an audit from JSON.
    pub fn from_json(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            format: Option<u32>,
        }
        let unreadable = |problem: serde_json::Error| {
            Error::data(format!("this is no document of an audit: {problem}; make it again"))
        };
        match serde_json::from_str::<Format>(text).map_err(unreadable)?.format {
            Some(format) if format != FORMAT => Err(Error::data(format!(
                "the document has format {format}, this version reads {FORMAT}; use the version of clue that made it, or make \
                 it again"
            ))),
            _ => serde_json::from_str(text).map_err(unreadable),
        }
    }

    /// The audit as one line of JSON.
    pub fn json(&self) -> Result<String> {
        let text = serde_json::to_string(self);
        text.map(|text| text + "\n").map_err(|problem| Error::data(format!("the audit cannot be written: {problem}")))
    }

    /// This audit with its findings, which follow from all other parts.
    #[must_use]
    pub fn concluded(self) -> Self {
        Self { findings: findings::findings(&self), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{client, clients, table};
    use super::*;

    #[test]
    fn findings_tell_the_numbers_of_the_document() {
        let findings = clients(&table()).findings;
        let said = |at: usize| (findings[at].answer.replace('\u{a0}', " "), findings[at].text.replace('\u{a0}', " "));
        let good = "It is right on 3 of 4 test rows. Always answering no would be right on 75.0 %. It is worst where the \
                    truth is yes: wrong on 100.0 % of 1.";
        assert_eq!(said(0), ("75.0 % right, but only 0.0 % where the truth is yes".into(), good.into()));
        let unsure = "It is unsure about 2 of the 4 rows: the answer that it leans to gets 80 % or less there. Its one error is \
                      among these.";
        assert_eq!(said(1), ("50.0 %".into(), unsure.into()));
        let about = "PAY_0: months behind. It is unsure about 2 of the 2 rows where PAY_0 = 2: 100.0 %, against 50.0 % of \
                     all rows.";
        assert_eq!(said(2), ("Rows where PAY_0 = 2".into(), about.into()));
        let help = "For the most uncertain row, the computer looked for a changed version that the model is sure about (a \
                    clue): it found one. In these, LIMIT_BAL is higher (1 of 1), PAY_0 is lower (1 of 1), ZIP is 20095 (1 \
                    of 1), and it is sure of no (1 of 1). That shows what the model looks at; it is no advice.";
        assert_eq!(said(4), ("A changed row, for 1 of 1".into(), help.into()));
        assert_eq!(findings[4].example, Some(client().input.index));
        // Confidence 0.6 where half is right, 0.99 where all is: (0.1 + 0.01) / 2. By chance: (0.276 + 0.056) / 2.
        let trust = "Its percentages differ by 5.5 points on average from how often it is right; chance alone makes 16.6 on \
                     so few. Whether its doubt warns of errors cannot be told from so few of them.";
        assert_eq!(said(5), ("Too few rows to tell".into(), trust.into()));
        let number =
            |finding: usize, name: &str| findings[finding].numbers.iter().find(|n| n.name == name).unwrap().value;
        let numbers = [
            number(1, "share unsure"),
            number(4, "inputs with a clue"),
            number(0, "share right of class yes"),
            number(4, "of inputs"),
        ];
        assert_eq!(numbers, [0.5, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn a_document_of_another_kind_is_refused_with_the_remedy() {
        let problem = |text: &str| Audit::from_json(text).unwrap_err().to_string();
        assert!(problem("{\"format\": 7}").contains(&format!("format 7, this version reads {FORMAT}")));
        assert!(problem("[]").contains("make it again"));
        assert!(problem(&format!("{{\"format\": {FORMAT}, \"subject\": 3}}")).contains("make it again"));
    }

    #[test]
    fn without_a_clue_there_is_no_example() {
        let mut unexplained = client();
        unexplained.clues.iter_mut().for_each(|clue| clue.accepted = false);
        let gallery = Some(Gallery::of(&[unexplained.clone(), unexplained], &table(), "∇-CLUE", Some(0.5)));
        let help = Audit { gallery, ..clients(&table()) }.concluded().findings[4].clone();
        assert_eq!((help.answer.as_str(), help.example), ("Nothing was found", None));
        assert!(help.text.contains("each of the 2 most uncertain rows") && help.text.contains("it found none"));
    }

    #[test]
    fn a_class_that_is_called_by_a_number_is_named_with_its_target() {
        let subject = Subject::new("run", "clients.csv", &table(), "test");
        assert_eq!(subject.class("1"), format!("{} = 1", subject.target));
        assert_eq!(subject.class("yes"), "yes");
        assert_eq!(Subject { images: Some([2, 2]), ..subject }.class("1"), "1");
    }
}
