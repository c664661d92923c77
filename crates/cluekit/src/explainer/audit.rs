//! The audit of an opened model: counts, cards and findings for a person who has to judge it.

use super::explain::wider;
use super::training::training_settings;
use super::{CostSettings, Explainer, GlobalExplanation, GroupSettings, Split};
use crate::amortise::{
    Encoded, LearnFrom, Limit, Mapper, MapperKind, MapperPlan, Mappers, Members, Pair, Scheme, Thresholds,
};
use crate::audit::{
    Audit, ClassRow, FORMAT, FeatureBand, Gallery, GroupCard, Groups, Hesitation, LatentMap, Provenance, Rows, Setting,
    Spread, Subject, Tally, UncertaintyProfile,
};
use crate::error::{Error, Result};
use crate::explanation::Explanation;
use crate::measure::Reach;
use crate::observer::Observer;
use crate::prediction::{Prediction, ranked};
use crate::search::{Decoding, Delta, DiversityTerm, LatentBall, Portfolio, Search, Weighted};
use crate::seed::Seed;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How many inputs are explained, and by how many clues each, when nothing is said; and in a hurry.
const TOP: usize = 24;
const COUNT: usize = 10;
const QUICK_TOP: usize = 8;
const QUICK_COUNT: usize = 4;
/// λ_D of ∇-CLUE.
const DIVERSITY: f32 = 1.0;
/// Where searches without a ball start: within one deviation of the prior.
const NEARBY: f32 = 1.0;
/// How often an automatic ball is doubled for inputs without a clue in it.
const DOUBLINGS: u32 = 8;
/// Rows on the map of the latent space, besides those that are explained.
const MAPPED: usize = 2000;
/// Rows of a file that cannot be looked at which are named; the others are counted.
const NAMED: usize = 3;
/// λ_θ where there is no time to choose it.
const QUICK_LAMBDA: f32 = 1.0;

/// Settings of an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// Split of the rows to audit.
    pub split: Split,
    /// Number of most uncertain inputs to explain; by default 24, or 8 if `quick`.
    pub top: Option<usize>,
    /// Number of clues for each explained input; by default 10, or 4 if `quick`.
    pub count: Option<usize>,
    /// Ball that clues stay in; an automatic one grows until it holds a clue.
    pub delta: Delta,
    /// Largest number of steps of each search; by default that of ∇-CLUE.
    pub steps: Option<usize>,
    /// Weight λ_x of the distance to the input.
    pub lambda_x: f32,
    /// Total uncertainty above which the model counts as unsure; by default [`Explainer::unsure_above`].
    pub above: Option<f32>,
    /// Uncertainty below which a clue is accepted; by default [`Explainer::threshold`].
    pub threshold: Option<f32>,
    /// Whether to add only what changes to the input; by default yes for tables, no for images.
    pub anchored: Option<bool>,
    /// Name of a feature: a change is learned for each of its parts, instead of for each class.
    pub by: Option<String>,
    /// Kind of mapper that learns the change of each group.
    pub mapper: MapperKind,
    /// Whether to skip the changes of groups, which need predictions of all training rows.
    pub no_groups: bool,
    /// Whether to search for the clues of a table as the paper does, with nothing beside.
    pub only_paper: bool,
    /// Whether to save time: fewer inputs and clues, and no choice of settings.
    pub quick: bool,
    /// Seed of all randomness in the audit.
    pub seed: Seed,
}

impl Default for AuditSettings {
    fn default() -> Self {
        Self {
            split: Split::Test,
            top: None,
            count: None,
            delta: Delta::Auto,
            steps: None,
            lambda_x: CostSettings::default().lambda_x,
            above: None,
            threshold: None,
            anchored: None,
            by: None,
            mapper: MapperKind::Scaled,
            no_groups: false,
            only_paper: false,
            quick: false,
            seed: Seed(0),
        }
    }
}

impl AuditSettings {
    /// An error if a setting cannot be used.
    pub fn validate(&self) -> Result<()> {
        for (key, value) in [("top", self.top), ("count", self.count)] {
            if value == Some(0) {
                return Err(Error::setting(key, "is 0; ask for at least one"));
            }
        }
        match self.above.filter(|above| !above.is_finite() || *above < 0.0) {
            Some(above) => Err(Error::setting("above", format!("must be 0 or a positive number, got {above}"))),
            None => Ok(()),
        }
    }

    /// What is said, by the names of the settings, for those who repeat it; switches and the seed are not listed.
    pub fn said(&self) -> Vec<(&'static str, String)> {
        let said = [
            ("split", (self.split != Split::Test).then(|| self.split.to_string())),
            ("top", self.top.map(|top| top.to_string())),
            ("count", self.count.map(|count| count.to_string())),
            ("delta", (self.delta != Delta::Auto).then(|| self.delta.to_string())),
            ("steps", self.steps.map(|steps| steps.to_string())),
            ("lambda_x", Some(self.lambda_x.to_string())),
            ("above", self.above.map(|above| above.to_string())),
            ("threshold", self.threshold.map(|threshold| threshold.to_string())),
            ("anchored", self.anchored.map(|anchored| anchored.to_string())),
            ("by", self.by.clone()),
            ("mapper", Some(self.mapper.name().into())),
        ];
        said.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn top(&self) -> usize {
        self.top.unwrap_or(if self.quick { QUICK_TOP } else { TOP })
    }

    /// What a change costs. A table is changed where it must be: what its reconstruction blurs is no change.
    fn cost(&self, anchored: bool) -> CostSettings {
        let anchored = self.anchored.unwrap_or(anchored);
        CostSettings { lambda_x: self.lambda_x, threshold: self.threshold, anchored, ..CostSettings::default() }
    }

    fn groups(&self) -> GroupSettings {
        match &self.by {
            Some(feature) => GroupSettings::of_feature(feature),
            None => GroupSettings::of_scheme(Scheme::Within),
        }
    }
}

/// An audit, and what its pictures are drawn from.
pub struct Audited {
    /// The audit as a document, without pictures.
    pub audit: Audit,
    /// Explanations behind the cards, in the order of the cards.
    pub explanations: Vec<Explanation>,
    /// Explanations behind the groups, in the order of the groups.
    pub groups: Vec<GlobalExplanation>,
}

/// What was found for a row that is explained.
struct Found {
    row: usize,
    explanation: Explanation,
    /// How many times as far as the automatic ball it was searched for.
    times: u32,
}

/// The rows of an audit with what the predictor says of them.
struct Looked {
    split: Split,
    samples: std::sync::Arc<crate::data::Samples>,
    predictions: std::sync::Arc<Vec<Prediction>>,
}

impl Explainer {
    /// An error if a setting cannot be used, before anything long is computed.
    pub fn check_audit(&self, settings: &AuditSettings) -> Result<()> {
        settings.validate()?;
        self.pairs(&settings.groups())?;
        if self.can_search() {
            self.audit_search(settings, &settings.cost(self.is_table()))?;
        }
        Ok(())
    }

    /// Makes the audit of the model, under the name `name`.
    pub fn audit(&self, settings: &AuditSettings, name: &str, observer: &mut dyn Observer) -> Result<Audited> {
        settings.validate()?;
        let pairs = self.pairs(&settings.groups())?;
        let mut audited = match self.can_search() {
            true => self.full_audit(settings, name, &pairs, observer)?,
            false => {
                let mut audit = self.begun_audit(settings, name)?;
                self.look(settings, &mut audit, 0.0)?;
                audit.missing.push(
                    "The run has no generative model, so there are no clues, no groups and no latent space; training \
                     makes one."
                        .into(),
                );
                Audited { audit, explanations: vec![], groups: vec![] }
            }
        };
        if !settings.quick {
            audited.audit.learning = self.learning_curve(settings.split, settings.seed, observer)?;
        }
        audited.audit = audited.audit.concluded();
        Ok(audited)
    }

    fn full_audit(
        &self,
        settings: &AuditSettings,
        name: &str,
        pairs: &[Pair],
        observer: &mut dyn Observer,
    ) -> Result<Audited> {
        let search = self.audit_search(settings, &settings.cost(self.is_table()))?;
        let mut audit = self.begun_audit(settings, name)?;
        let looked = self.look(settings, &mut audit, search.threshold)?;
        audit.subject.accepted_below = Some(search.threshold);
        let (top, infeasible) = self.most_uncertain(&looked, settings.top())?;
        audit.missing.extend(infeasible);
        let found = self.clues(&search, &looked, &top, settings.seed, observer)?;
        let mut explanations: Vec<Explanation> = found.iter().map(|found| found.explanation.clone()).collect();
        match self.has_generative() {
            true => audit.latent = self.latent_map(&looked, &found, &explanations)?,
            false => audit.missing.push(
                "The run has no generative model: clues were looked for among the columns themselves, nothing is said of \
                 how plausible they are, and there is no latent space to draw."
                    .into(),
            ),
        }
        explanations.iter_mut().flat_map(|e| &mut e.clues).for_each(|clue| clue.path = vec![]);
        audit.gallery = Some(self.gallery(&found, &explanations, audit.subject.unsure_above)?);
        self.add_search(&mut audit.provenance, &search)?;
        let groups = match settings.no_groups {
            true => {
                audit.missing.push("No change for whole groups was learned, as was asked for.".into());
                vec![]
            }
            false => self.add_groups(settings, &mut audit, &looked, pairs, observer)?,
        };
        Ok(Audited { audit, explanations, groups })
    }

    /// What is known before anything is looked at.
    fn begun_audit(&self, settings: &AuditSettings, name: &str) -> Result<Audit> {
        let schema = self.known_schema()?;
        let subject = Subject::new(name, self.file_name().unwrap_or(&self.rows()?.name), schema, settings.split.name());
        Ok(Audit {
            format: FORMAT,
            subject: Subject { samples: self.predictor().samples(), ..subject },
            findings: vec![],
            trust: None,
            uncertainty: None,
            learning: None,
            gallery: None,
            groups: None,
            latent: None,
            story: None,
            provenance: self.provenance(settings.seed)?,
            missing: self.left_out().into_iter().collect(),
        })
    }

    /// A sentence on the rows of a file that cannot be looked at, with the first of them.
    fn left_out(&self) -> Option<String> {
        let (rejected, name) = (self.rejected(), self.file_name()?);
        let named: Vec<String> = rejected.iter().take(NAMED).map(ToString::to_string).collect();
        let (rows, more) = (if rejected.len() == 1 { "row" } else { "rows" }, rejected.len() > NAMED);
        let told = format!("{} {rows} of {name} cannot be looked at. {}", rejected.len(), named.join("; "));
        (!rejected.is_empty()).then(|| if more { told + "; …" } else { told })
    }

    /// Adds what the rows say of the model.
    fn look(&self, settings: &AuditSettings, audit: &mut Audit, accepted: f32) -> Result<Looked> {
        let split = settings.split;
        let looked = Looked { split, samples: self.samples(split)?, predictions: self.predictions(split)? };
        if let Some(row) = looked.predictions.iter().position(|prediction| !prediction.is_finite()) {
            return Err(Error::data(format!(
                "what the predictor says of row {row} is no finite number; look for extreme values there, or train it \
                 again with a smaller `predictor.fit.learning_rate`"
            )));
        }
        let above = match settings.above {
            Some(above) => above,
            None => self.unsure_above(accepted)?,
        };
        audit.subject.unsure_above = Some(above);
        audit.trust = Some(self.measure(settings.split)?);
        let (schema, task) = (self.known_schema()?, &self.task);
        let rows = Rows { samples: &looked.samples, predictions: &looked.predictions, task, unsure_above: above };
        audit.uncertainty = Some(UncertaintyProfile {
            tally: Tally::of(&rows),
            spread: Spread::of(&rows),
            classes: ClassRow::of(&rows),
            hesitations: Hesitation::of(&rows),
            bands: FeatureBand::of(&rows, schema),
        });
        Ok(looked)
    }

    /// The most uncertain rows that some change brings within the constraints, and a sentence on the others that would have
    /// been among them.
    fn most_uncertain(&self, looked: &Looked, count: usize) -> Result<(Vec<usize>, Option<String>)> {
        let schema = self.known_schema()?;
        let (mut top, mut first, mut others) = (Vec::new(), None, 0);
        for row in ranked(&looked.predictions, Uncertainty::Total) {
            if top.len() == count {
                break;
            }
            let bounds = schema.image.is_none().then(|| schema.constraints.bounds(schema, looked.samples.row(row)));
            match bounds.transpose() {
                Ok(_) => top.push(row),
                Err(problem) => {
                    first.get_or_insert((row, problem));
                    others += 1;
                }
            }
        }
        match first {
            Some((row, problem)) if top.is_empty() => Err(problem.of_input(row)),
            Some((row, problem)) => {
                let rows = if others == 1 { "row has" } else { "rows have" };
                let example = if others == 1 { "" } else { ", for one" };
                let told =
                    format!("{others} uncertain {rows} no clue, since no change meets the constraints: row {row}");
                Ok((top, Some(format!("{told}{example}, {problem}"))))
            }
            None => Ok((top, None)),
        }
    }

    /// ∇-CLUE with the settings of an audit; of a table with what is tried beside it.
    fn audit_search(&self, settings: &AuditSettings, cost: &CostSettings) -> Result<Search> {
        let count = settings.count.unwrap_or(if settings.quick { QUICK_COUNT } else { COUNT });
        let diversity = Weighted(DIVERSITY, DiversityTerm::default());
        let mut search = Search::nabla_clue(settings.delta, count, diversity);
        search.threshold = self.judging(cost)?.threshold;
        search.objective.input = Weighted(cost.lambda_x, cost.distance);
        search.decoding = if cost.anchored { Decoding::Anchored } else { Decoding::Mean };
        if self.is_table() && !settings.only_paper {
            search.portfolio = Some(Portfolio::default());
        }
        if let Some(steps) = settings.steps {
            search.convergence.max_steps = steps;
        }
        if search.delta == Delta::Fixed(LatentBall::UNBOUNDED) {
            search.starts.radius = Some(NEARBY);
        }
        search.validate()?;
        if search.delta == Delta::Auto {
            wider(&search, 2).validate()?;
        }
        Ok(search)
    }

    /// Clues of the rows `top`, and the ways to them. An automatic ball is doubled for inputs that have none in it; one
    /// that the user chose is kept to.
    fn clues(
        &self,
        search: &Search,
        looked: &Looked,
        top: &[usize],
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Found>> {
        // A portfolio that takes no steps looks everywhere at once.
        let alone = search.portfolio_is_enough(&self.models()?, self.has_rows());
        let doublings = if search.delta == Delta::Auto && !alone { DOUBLINGS } else { 0 };
        let (mut found, mut left) = (Vec::with_capacity(top.len()), top.to_vec());
        for doubling in 0..=doublings {
            let times = 2_u32.pow(doubling);
            let last = doubling == doublings;
            let search = if times == 1 { search.clone() } else { wider(search, times) };
            // Advice is for those that no ball held a clue for.
            let search = Search { traced: true, advised: last, ..search };
            let name = if times == 1 { "∇-CLUE".into() } else { format!("∇-CLUE, {times} times as far") };
            let inputs = self.inputs(looked.split, &left)?;
            let explanations = self.sweep(&search, &[search.delta], &inputs, seed, observer)?;
            observer.finished(&name, &Explanation::tally(&explanations));
            let is_done = |explanation: &Explanation| last || explanation.accepted().next().is_some();
            let (done, others): (Vec<_>, Vec<_>) =
                left.into_iter().zip(explanations).partition(|(_, explanation)| is_done(explanation));
            found.extend(done.into_iter().map(|(row, explanation)| Found { row, explanation, times }));
            left = others.into_iter().map(|(row, _)| row).collect();
            if left.is_empty() {
                break;
            }
        }
        found.sort_by_key(|found| top.iter().position(|row| *row == found.row));
        Ok(found)
    }

    /// A card for each input.
    fn gallery(&self, found: &[Found], explanations: &[Explanation], above: Option<f32>) -> Result<Gallery> {
        let mut gallery = Gallery::of(explanations, self.known_schema()?, "∇-CLUE", above);
        for (card, found) in gallery.cards.iter_mut().zip(found) {
            card.widened = Some(found.times).filter(|times| *times > 1);
        }
        Ok(gallery)
    }

    /// Codes of rows that are evenly spread over all, and of those that are explained.
    fn latent_map(&self, looked: &Looked, found: &[Found], explained: &[Explanation]) -> Result<Option<LatentMap>> {
        let Looked { samples, predictions, split } = looked;
        let step = samples.len().div_ceil(MAPPED).max(1);
        let shown: BTreeSet<usize> =
            (0..samples.len()).step_by(step).chain(found.iter().map(|found| found.row)).collect();
        let shown: Vec<usize> = shown.into_iter().collect();
        let says: Vec<Prediction> = shown.iter().map(|&row| predictions[row].clone()).collect();
        let totals: Vec<f32> = says.iter().map(|prediction| prediction.uncertainty.total).collect();
        let paths: Vec<_> =
            explained.iter().map(|e| e.clues.iter().map(|clue| clue.path.clone()).collect::<Vec<_>>()).collect();
        let rows = Encoded::with_predictions(&self.models()?, samples.select(&shown), says)?;
        let numbers: Vec<usize> = shown.iter().map(|&row| self.number(*split, row)).collect();
        Ok(LatentMap::of(&rows.z, rows.latent, &numbers, &totals, explained, &paths))
    }

    /// Everything that an audit depends on, as far as it is known before any search.
    pub fn provenance(&self, seed: Seed) -> Result<Provenance> {
        let plain = Provenance { cluekit: env!("CARGO_PKG_VERSION").into(), seed: seed.0, ..Provenance::default() };
        let Some(run) = self.run() else { return Ok(plain) };
        let record = &run.record;
        Ok(Provenance {
            training_seed: record.plan.as_ref().map(|_| record.seed.0),
            versions: record.versions.clone(),
            sources: record.sources.iter().chain(self.file.as_ref().map(|file| &file.source)).cloned().collect(),
            models: record.hashes.clone(),
            training: training_settings(record)?,
            ..plain
        })
    }

    /// Adds the settings of the search for clues.
    fn add_search(&self, provenance: &mut Provenance, search: &Search) -> Result<()> {
        let written = |problem: serde_json::Error| Error::data(problem.to_string());
        provenance.search = Setting::flattened(search).map_err(written)?;
        if search.delta == Delta::Auto {
            let value = wider(search, 2).convergence.max_steps.to_string();
            provenance.search.push(Setting { key: "wider.convergence.max_steps".into(), value });
        }
        if let Some(schema) = self.schema().filter(|schema| !schema.constraints.is_empty()) {
            provenance.constraints = Setting::flattened(&schema.constraints).map_err(written)?;
        }
        Ok(())
    }

    /// Fits a change for each group and applies it to the rows of the audit.
    fn add_groups(
        &self,
        settings: &AuditSettings,
        audit: &mut Audit,
        looked: &Looked,
        pairs: &[Pair],
        observer: &mut dyn Observer,
    ) -> Result<Vec<GlobalExplanation>> {
        let search = self.judging(&settings.cost(false))?;
        let rows = self.encoded(None, observer)?;
        let (train, models) = (&rows[0], self.unconstrained()?);
        let has_rows = |side: &Members| (0..train.len()).any(|row| side.hold(train, row, models.schema));
        let (pairs, empty): (Vec<Pair>, Vec<Pair>) =
            pairs.iter().cloned().partition(|pair| has_rows(&pair.from) && has_rows(&pair.to));
        audit.missing.extend(left_out(&empty, self.classes()));
        if pairs.is_empty() {
            return Ok(vec![]);
        }
        // Who is uncertain is the same question for the whole page.
        let above = Limit::Value(audit.subject.unsure_above.unwrap_or(search.threshold));
        let usual = settings.groups().thresholds(search.threshold, search.accepted_by());
        let thresholds = Thresholds { uncertain_above: above, ..usual };
        let mut plan = MapperPlan::new(settings.mapper, LearnFrom::Data);
        plan.lambda_theta = settings.quick.then_some(QUICK_LAMBDA);
        let mappers = self.fit(&plan, &pairs, &search, thresholds, settings.seed, observer)?;
        observer.finished("GLAM-CLUE", &format!("fitted for {} groups", mappers.all.len()));
        let samples = crate::data::Samples::clone(&looked.samples);
        let test = Encoded::with_predictions(&models, samples, looked.predictions.to_vec())?;
        self.add_cards(settings, audit, &mappers, &test, &search)
    }

    fn add_cards(
        &self,
        settings: &AuditSettings,
        audit: &mut Audit,
        mappers: &Mappers,
        test: &Encoded,
        search: &Search,
    ) -> Result<Vec<GlobalExplanation>> {
        let method = settings.mapper.name();
        let explain = |mapper| self.global(mapper, method, test, search, settings.seed);
        let explained = mappers.all.iter().map(explain).collect::<Result<Vec<_>>>()?;
        let card = |(mapper, explanation): (&Mapper, &GlobalExplanation)| {
            let mut card = GroupCard {
                name: explanation.name.clone(),
                uncertain_above: explanation.uncertain_above,
                lambda_theta: mapper.lambda_theta,
                reach: explanation.reach.clone(),
                certain_unchanged: explanation.certain_unchanged,
                changes: explanation.changes.clone(),
                picture: None,
                notes: mapper.notes.clone(),
            };
            if explanation.impossible > 0 {
                let count = explanation.impossible;
                card.notes.push(format!("{count} uncertain inputs cannot meet the constraints and are left out"));
            }
            if card.reach.as_ref().is_some_and(|reach| !is_finite(reach)) {
                (card.reach, card.changes) = (None, vec![]);
                card.notes.push("what the change makes of its inputs left the finite numbers".into());
            }
            card
        };
        let groups = mappers.all.iter().zip(&explained).map(card).collect();
        audit.groups = Some(Groups { mapper: method.into(), groups });
        audit.provenance.groups =
            Setting::flattened(&mappers.fitted_under).map_err(|problem| Error::data(problem.to_string()))?;
        Ok(explained)
    }
}

/// A sentence on groups that nothing can be learned for.
fn left_out(pairs: &[Pair], classes: &[String]) -> Option<String> {
    let names: Vec<String> = pairs.iter().map(|pair| pair.from.name(classes)).collect();
    (!names.is_empty())
        .then(|| format!("Nothing was learned for groups without a training row to learn from: {}.", names.join(", ")))
}

/// Whether every number can be written down.
fn is_finite(reach: &Reach) -> bool {
    [reach.certain, reach.before, reach.after, reach.distance].iter().all(|interval| interval.mean.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_without_rows_is_named() {
        let classes = ["a", "b"].map(String::from);
        let sentence = left_out(&[Pair::of_classes(Some(1), Some(1))], &classes).unwrap();
        assert_eq!(sentence, "Nothing was learned for groups without a training row to learn from: b.");
        assert_eq!(left_out(&[], &classes), None);
    }

    #[test]
    fn settings_say_what_differs_and_what_always_counts() {
        let settings = AuditSettings { top: Some(3), anchored: Some(false), ..AuditSettings::default() };
        let said = [("top", "3"), ("lambda_x", "0.03"), ("anchored", "false"), ("mapper", "scaled")];
        assert_eq!(settings.said(), said.map(|(name, value)| (name, value.to_owned())));
    }
}
