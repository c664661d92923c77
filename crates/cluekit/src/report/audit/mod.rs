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

mod amounts;
mod bands;
mod classes;
mod findings;
mod gallery;
mod groups;
mod help;
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
pub use story::{Chapter, Figure, FigureNumber, Story};
pub use subject::{Subject, Unit};
pub use tally::Tally;
pub use trust::Trust;

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The version of the document's layout.
pub const FORMAT: u32 = 4;

/// Everything that the page of an audit shows; parts that could not be had are none, and `missing` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Audit {
    /// The version of the document's layout.
    pub format: u32,
    /// Which model was looked at, on which rows.
    pub subject: Subject,
    /// What it says in plain words, the most important first; see [`Audit::concluded`].
    pub findings: Vec<Finding>,
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
                "the document has format {format}, this version reads {FORMAT}; use the version of clue that made it, or make \
                 it again"
            ))),
            _ => serde_json::from_str(text).map_err(unreadable),
        }
    }

    /// The document as one line of JSON.
    pub fn json(&self) -> Result<String> {
        let text = serde_json::to_string(self);
        text.map(|text| text + "\n").map_err(|problem| Error::data(format!("the audit cannot be written: {problem}")))
    }

    /// With its findings, which all other parts are needed for.
    #[must_use]
    pub fn concluded(self) -> Self {
        Self { findings: findings::findings(&self), ..self }
    }

    /// The page: one file, nothing fetched, readable without script.
    pub fn html(&self) -> Result<String> {
        page::html(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{client, table};
    use super::rows::toy::says;
    use super::*;
    use crate::data::{Samples, Schema, Targets};
    use crate::measure::{
        ClassifierHealth, Health, Outcome, Predictions, PredictorHealth, Reach, Reliability, rejection_curve,
    };

    /// Four clients, of whom the model is unsure about two and wrong about one.
    fn clients(schema: &Schema) -> Audit {
        let row = |pay: f32| [1.0, pay, 1.0, 0.0];
        let x = [row(2.0), row(2.0), row(0.0), row(0.0)].concat();
        let labels = [0, 1, 0, 0];
        let samples = Samples { x, width: 4, y: Targets::Classes(labels.to_vec()) };
        let predictions = [(0.6, 0.67), (0.6, 0.67), (0.99, 0.05), (0.99, 0.05)].map(|(p, h)| says(&[p, 1.0 - p], h));
        let task = &schema.target.task;
        let rows = Rows { samples: &samples, predictions: &predictions, task, unsure_above: 0.5 };
        let probabilities = crate::prediction::probabilities(&predictions);
        let checked = Predictions::new(&probabilities, 2, &labels).unwrap();
        let uncertainty = [0.67, 0.67, 0.05, 0.05];
        let health = ClassifierHealth::of(&checked, &uncertainty, 3).unwrap();
        let mut subject = Subject::new("run", "clients.csv", schema, "test");
        (subject.unsure_above, subject.accepted_below) = (Some(0.5), Some(0.2));
        Audit {
            format: FORMAT,
            subject,
            findings: vec![],
            trust: Some(Trust {
                health: Health { predictor: PredictorHealth::Classifier(health), generative: None },
                reliability: Some(Reliability::of(&checked)),
                rejection: Some(rejection_curve(&uncertainty, &checked.wrong()).unwrap()),
            }),
            uncertainty: Some(Whereabouts {
                tally: Tally::of(&rows),
                spread: Spread::of(&rows),
                classes: ClassRow::of(&rows),
                hesitations: Hesitation::of(&rows),
                bands: FeatureBand::of(&rows, schema),
            }),
            gallery: Some(Gallery::of(&[client()], schema, "∇-CLUE", Some(0.5))),
            groups: Some(Groups {
                mapper: "glam".into(),
                groups: vec![group("no → no", 0.5, &[true, false]), group("yes → yes", 0.1, &[true])],
            }),
            latent: LatentMap::of(&[1.0, 2.0, 3.0, 4.0], 2, &[0, 1], &[0.1, 0.2], &[client()], &[]),
            story: None,
            provenance: Provenance::default(),
            missing: vec![],
        }
        .concluded()
    }

    /// What was learned for a group, and about which of its inputs the model becomes certain.
    fn group(name: &str, uncertain_above: f32, certain: &[bool]) -> GroupCard {
        let outcome =
            |&certain: &bool| Outcome { before: 0.6, after: 0.1, distance: 2.0, certain, class_kept: Some(true) };
        let outcomes: Vec<Outcome> = certain.iter().map(outcome).collect();
        GroupCard {
            name: name.into(),
            uncertain_above,
            lambda_theta: Some(1.0),
            reach: Reach::of(&outcomes, crate::seed::Seed(0)),
            certain_unchanged: Some(0.25),
            changes: vec![],
            picture: None,
            notes: vec![format!("no training row of `{name}` is more uncertain")],
        }
    }

    #[test]
    fn a_document_that_is_read_again_makes_the_same_page() {
        let audit = clients(&table());
        let again = Audit::from_json(&audit.json().unwrap()).unwrap();
        assert_eq!(audit, again);
        assert_eq!(audit.html().unwrap(), again.html().unwrap());
    }

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
    fn what_comes_from_data_is_text_and_never_markup() {
        let mut schema = table();
        let evil = "</script><script>boom()</script>\"' onload=boom() <img src=x onerror=boom()>";
        schema.features[0].name = format!("a{evil}");
        schema.features[2].name = evil.into();
        schema.target.name = format!("t{evil}");
        schema.target.task = crate::data::Task::Classification { classes: vec![evil.into(), "yes".into()] };
        let mut audit = clients(&schema);
        audit.subject.run = evil.into();
        audit.subject.dataset = evil.into();
        audit.provenance.command = evil.into();
        audit.provenance.search = vec![Setting { key: evil.into(), value: evil.into() }];
        audit.missing = vec![evil.into()];
        let chapter = Chapter {
            heading: evil.into(),
            text: vec![evil.into()],
            figures: vec![Figure { caption: evil.into(), kind: evil.into(), data: evil.into(), numbers: vec![] }],
            commands: vec![evil.into()],
        };
        audit.story = Some(Story { title: evil.into(), chapters: vec![chapter] });
        let card = &mut audit.gallery.as_mut().unwrap().cards[0];
        (card.picture, card.reconstruction, card.advice) = (Some(evil.into()), Some(evil.into()), Some(evil.into()));
        card.clues[0].changes[0].to = evil.into();
        card.clues[1].reason = Some(evil.into());
        let html = audit.html().unwrap();
        assert!(!html.contains("<script>boom") && !html.contains("<img src=x") && !html.contains("\"' onload"));
        assert_eq!(html.matches("</script>").count(), 1, "that of the page itself");
        assert!(html.contains("&lt;img src=x"), "the names are shown");
    }

    #[test]
    fn a_document_of_another_kind_is_refused_with_the_remedy() {
        let problem = |text: &str| Audit::from_json(text).unwrap_err().to_string();
        assert!(problem("{\"format\": 7}").contains(&format!("format 7, this version reads {FORMAT}")));
        assert!(problem("[]").contains("make it again"));
        assert!(problem(&format!("{{\"format\": {FORMAT}, \"subject\": 3}}")).contains("make it again"));
    }

    #[test]
    fn a_page_fetches_nothing_and_its_parts_can_be_reached() {
        let html = clients(&table()).html().unwrap();
        assert!(!html.contains("=\"http") || html.matches("=\"http").count() == html.matches("xmlns=\"http").count());
        for part in ["summary", "where", "gallery", "groups", "trust", "latent", "repeat", "words"] {
            assert!(html.contains(&format!("<section id=\"{part}\"")), "{part}");
            assert!(html.contains(&format!("href=\"#{part}\"")), "{part}");
        }
    }

    #[test]
    fn inputs_that_the_model_is_sure_about_are_told_apart() {
        let mut audit = clients(&table());
        let mut sure = client();
        (sure.input.index, sure.input.uncertainty.total) = (18, 0.4);
        sure.clues[0].accepted = false;
        let help = |audit: &Audit| audit.findings[4].clone();
        audit.gallery = Some(Gallery::of(&[client(), sure.clone()], &table(), "∇-CLUE", Some(0.5)));
        let audit = audit.concluded();
        let text = help(&audit).text;
        assert!(text.starts_with("For the row that the model is unsure about, the computer"), "{text}");
        assert!(text.ends_with(" One more is shown, about which it is sure."), "{text}");
        assert!(audit.html().unwrap().contains("sure already"));
        let gallery = Some(Gallery::of(&[sure], &table(), "∇-CLUE", Some(0.5)));
        let audit = Audit { gallery, groups: None, ..audit }.concluded();
        assert_eq!(help(&audit).answer, "It is sure");
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
    fn the_example_shows_the_cheapest_clue() {
        let mut cheap = client();
        cheap.input.index = 99;
        cheap.clues.iter_mut().for_each(|clue| clue.cost /= 2.0);
        let gallery = Some(Gallery::of(&[client(), cheap], &table(), "∇-CLUE", Some(0.5)));
        let audit = Audit { gallery, ..clients(&table()) }.concluded();
        assert_eq!(audit.findings[4].example, Some(99));
        assert!(audit.html().unwrap().contains("For example, <a href=\"#input-99\">input 99</a>"));
    }

    #[test]
    fn a_class_that_is_called_by_a_number_is_named_with_its_target() {
        let subject = Subject::new("run", "clients.csv", &table(), "test");
        assert_eq!(subject.class("1"), format!("{} = 1", subject.target));
        assert_eq!(subject.class("yes"), "yes");
        assert_eq!(Subject { images: Some([2, 2]), ..subject }.class("1"), "1");
    }

    #[test]
    fn a_group_that_the_model_is_sure_about_is_marked_and_one_input_has_no_interval() {
        let html = clients(&table()).html().unwrap();
        assert_eq!(html.matches("<span class=\"tag\">sure already</span>").count(), 1, "that of the second group");
        assert!(html.contains("no training row of `yes → yes` is more uncertain."), "the note is shown");
        assert!(html.contains("\">–</td>"), "no interval");
        let reach = "50.0 % of 2 uncertain rows of class no become certain, against 25.0 % when they are only redrawn.";
        assert!(html.replace('\u{a0}', " ").contains(&format!("<p>{reach}</p>")), "the first group alone");
        assert!(!html.contains("Constraints hold"));
        let mut audit = clients(&table());
        audit.provenance.constraints = vec![Setting { key: "immutable".into(), value: "ZIP".into() }];
        assert!(audit.html().unwrap().contains("Constraints hold for the clues of single inputs and not here"));
    }

    #[test]
    fn one_network_says_nothing_of_kinds() {
        let mut audit = clients(&table());
        assert!(audit.html().unwrap().contains("of it aleatoric"));
        audit.subject.samples = Some(1);
        let audit = audit.concluded();
        let html = audit.html().unwrap();
        assert_eq!(audit.findings[3].answer, "Not known");
        assert!(
            !html.contains("of it aleatoric")
                && !html.contains("aleatoric share")
                && !html.contains("number\">epistemic<")
        );
    }

    #[test]
    fn how_ordinary_a_clue_is_and_why_it_was_rejected_can_be_read() {
        let mut audit = clients(&table());
        assert!(!audit.html().unwrap().contains("unusual"), "it is not known");
        let clue = &mut audit.gallery.as_mut().unwrap().cards[0].clues[0];
        clue.plausibility = Some(crate::explanation::Plausibility { reconstruction: 0.993, elbo: None });
        let html = audit.html().unwrap();
        assert!(html.contains("unusual 99.3\u{a0}%") && html.contains("“Unusual” is the share"), "it is shown");
        assert!(!html.contains("plausible"), "nobody checked");
        audit.subject.images = Some([2, 2]);
        assert!(audit.html().unwrap().contains("rejected: uncertainty 0.45 is above the threshold 0.2</span>"));
    }

    #[test]
    fn a_gallery_alone_claims_neither_balls_nor_ranks() {
        let mut explanation = client();
        explanation.clues.iter_mut().for_each(|clue| clue.delta = None);
        let mut audit = Audit { trust: None, uncertainty: None, groups: None, latent: None, ..clients(&table()) };
        audit.subject.accepted_by = crate::uncertainty::Uncertainty::Epistemic;
        audit.gallery = Some(Gallery::of(&[explanation], &table(), "glam", None));
        let audit = audit.concluded();
        let html = audit.html().unwrap();
        assert!(!html.contains("most uncertain inputs") && !html.contains("δ"), "{html}");
        assert!(html.contains("glam tried 2 candidates") && html.contains("if its epistemic uncertainty is below"));
        assert!(audit.findings[0].text.starts_with("For the explained row, the computer"), "{:?}", audit.findings);
    }

    #[test]
    fn long_lists_are_cut_on_the_page_and_the_page_says_so() {
        let mut audit = clients(&table());
        let bands = &mut audit.uncertainty.as_mut().unwrap().bands;
        let band = bands[0].clone();
        bands.extend(std::iter::repeat_n(band, 200));
        let all = bands.len();
        let html = audit.html().unwrap();
        assert!(html.contains(&format!("The 120 of {all} groups")));
    }

    /// Every place of a document, but of a list only the first one.
    fn places(value: &serde_json::Value, way: String, found: &mut Vec<String>) {
        found.push(way.clone());
        match value {
            serde_json::Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| places(value, format!("{way}/{name}"), found));
            }
            serde_json::Value::Array(values) => {
                values.iter().take(1).for_each(|value| places(value, format!("{way}/0"), found));
            }
            _ => {}
        }
    }

    #[test]
    fn whatever_can_be_read_makes_a_page() {
        let mut audit = clients(&table());
        audit.subject.classes.push("maybe".into());
        let document: serde_json::Value = serde_json::from_str(&audit.json().unwrap()).unwrap();
        let mut ways = Vec::new();
        places(&document, String::new(), &mut ways);
        let mut made = 0;
        for way in ways {
            for other in
                [serde_json::json!(null), serde_json::json!([]), serde_json::json!(u64::MAX), serde_json::json!(-1e300)]
            {
                let mut changed = document.clone();
                *changed.pointer_mut(&way).unwrap() = other.clone();
                if let Ok(read) = Audit::from_json(&changed.to_string()) {
                    let page = read.html();
                    assert!(page.is_ok(), "{way} is {other}: {}", page.unwrap_err());
                    made += 1;
                }
            }
        }
        assert!(made > 200, "{made} documents could be read");
        // Classes beside the health of a model of values.
        let mut odd = document;
        odd["trust"]["health"]["predictor"] =
            serde_json::json!({"rmse": 1.0, "nll": 1.0, "coverage": [], "samples": 1});
        assert!(Audit::from_json(&odd.to_string()).unwrap().html().is_ok());
    }
}
