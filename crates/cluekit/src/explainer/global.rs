//! What a fitted mapper does to the uncertain rows of its group that it was not learned from.
//!
//! A mapper knows no constraints. What it makes of a row is brought within those of the row and certified, as the clue of
//! a single input is; rows that cannot meet them are counted and left out.

use super::{Explainer, Split};
use crate::amortise::{Encoded, GlobalChange, Mapper, Mappers, cheapest_first};
use crate::audit::FeatureShift;
use crate::data::{Samples, Schema};
use crate::error::{Error, ErrorKind, Result};
use crate::explanation::{Clue, Label};
use crate::measure::{Outcome, Reach};
use crate::search::{Inputs, Models, Prepared, Proposal, Search};
use crate::seed::Seed;
use serde::Serialize;

/// Inputs that are shown beside a change.
const EXAMPLES: usize = 6;

/// What mappers of one name do to their groups: the document of a global explanation.
#[derive(Clone, Debug, Serialize)]
pub struct GlobalSet {
    /// The name of the mappers.
    pub method: String,
    /// A counterfactual is accepted below this.
    pub threshold: f32,
    /// One for each mapper.
    pub groups: Vec<GlobalExplanation>,
}

/// What one mapper does to the uncertain inputs of its group.
#[derive(Clone, Debug, Serialize)]
pub struct GlobalExplanation {
    /// Groups that the mapper leads from and to, such as `4 → 4`.
    pub name: String,
    /// Uncertainty above which inputs of the group were taken.
    pub uncertain_above: f32,
    /// Number of such inputs that cannot meet their constraints and are left out.
    #[serde(skip_serializing_if = "is_none")]
    pub impossible: usize,
    /// Means over these inputs; none without inputs.
    pub reach: Option<Reach>,
    /// Mean change of each feature of a table, within the constraints; empty for images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FeatureShift>,
    /// Share of these inputs that are certain after mere reconstruction, without the change.
    #[serde(skip)]
    pub certain_unchanged: Option<f64>,
    /// Mean change of these inputs, as encoded rows; none without inputs.
    #[serde(skip)]
    pub change: Option<GlobalChange>,
    /// Some of the inputs, each before and after the change.
    #[serde(skip)]
    pub examples: Vec<ChangedExample>,
}

/// One input before and after the change.
#[derive(Clone, Debug)]
pub struct ChangedExample {
    /// The encoded input x₀.
    pub input: Vec<f32>,
    /// The reconstruction of the input, μ_θ(z₀), as an encoded row.
    pub reconstruction: Vec<f32>,
    /// The decoded input after the change, as an encoded row.
    pub after: Vec<f32>,
    /// Total uncertainty of input, reconstruction and changed input, in this order.
    pub uncertainty: [f32; 3],
}

/// Whether a count says nothing.
fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Explainer {
    /// The mappers that lead from or to a class, all of them where none is named, with their places among all.
    pub fn leading<'a>(
        &self,
        fitted: &'a Mappers,
        method: &str,
        class: Option<&str>,
    ) -> Result<Vec<(usize, &'a Mapper)>> {
        let all = fitted.all.iter().enumerate();
        let Some(name) = class else { return Ok(all.collect()) };
        let class = Some(self.class_named(name)?);
        let chosen: Vec<_> =
            all.filter(|(_, Mapper { pair, .. })| pair.from.class == class || pair.to.class == class).collect();
        if chosen.is_empty() {
            return Err(Error::setting("class", format!("`{method}` has no mapper from or to `{name}`")));
        }
        Ok(chosen)
    }

    /// What mappers called `method` do to the uncertain test rows of their groups.
    pub fn globals(
        &self,
        mappers: &[(usize, &Mapper)],
        method: &str,
        search: &Search,
        seed: Seed,
    ) -> Result<GlobalSet> {
        let (test, says) = (self.samples(Split::Test)?, self.predictions(Split::Test)?.to_vec());
        let rows = Encoded::with_predictions(&self.models()?, Samples::clone(&test), says)?;
        let explain = |(_, mapper): &(usize, &Mapper)| self.global(mapper, method, &rows, search, seed);
        let groups = mappers.iter().map(explain).collect::<Result<_>>()?;
        Ok(GlobalSet { method: method.into(), threshold: search.threshold, groups })
    }

    /// Applies a mapper called `method` to the uncertain rows of its group among `rows`, and sums up what it does.
    pub fn global(
        &self,
        mapper: &Mapper,
        method: &str,
        rows: &Encoded,
        search: &Search,
        seed: Seed,
    ) -> Result<GlobalExplanation> {
        let (models, background) = (self.models()?, self.plain_background(search)?);
        let kind = search.accepted_by();
        let amount = |row: usize| rows.predictions[row].uncertainty.get(kind);
        let belongs =
            |&row: &usize| amount(row) > mapper.uncertain_above && mapper.pair.from.hold(rows, row, models.schema);
        let members = crate::prediction::ranked(&rows.predictions, kind).into_iter().filter(belongs);
        let (members, impossible): (Vec<usize>, Vec<usize>) = members.partition(|&row| self.is_possible(rows.x(row)));
        let mut explanation = GlobalExplanation {
            name: mapper.pair.name(self.classes()),
            uncertain_above: mapper.uncertain_above,
            impossible: impossible.len(),
            reach: None,
            changes: vec![],
            certain_unchanged: None,
            change: None,
            examples: vec![],
        };
        if members.is_empty() {
            return Ok(explanation);
        }
        let rows = rows.select(&members);
        let inputs = Inputs::new(rows.x.clone(), rows.width)?;
        let prepared = search.prepare(&models, &background, &inputs)?;
        let rows = Encoded { classes: rows.classes, ..Encoded::prepared(&prepared, &inputs) };
        let clues = cheapest(&models, &prepared, mapper, &rows, method)?;
        let outcomes: Vec<Outcome> =
            clues.iter().enumerate().map(|(row, clue)| outcome(mapper, &rows, row, clue)).collect();
        explanation.reach = Reach::of(&outcomes, seed);
        let codes: Vec<f32> = clues.iter().flat_map(|clue| clue.z.iter().copied()).collect();
        let change = GlobalChange::of(&models, &rows, &codes)?;
        let unchanged = unchanged(&prepared)?;
        let certain = unchanged.iter().filter(|clue| clue.accepted).count();
        explanation.certain_unchanged = Some(certain as f64 / unchanged.len() as f64);
        if let Some(schema) = models.schema {
            // What was certified makes nothing missing; a change of means may.
            let free = schema.constraints.allow_everything() && schema.features.iter().all(|f| f.missing.is_none());
            let after = match free {
                true => change.changed_inputs(),
                false => mean_row(&clues, rows.width),
            };
            explanation.changes = FeatureShift::between(schema, &change.inputs, &after);
        }
        explanation.change = Some(change);
        explanation.examples = examples(&rows, &unchanged, &clues);
        Ok(explanation)
    }

    /// Whether an input can meet its constraints.
    fn is_possible(&self, x: &[f32]) -> bool {
        let impossible = |schema: &Schema| {
            let bounds = schema.constraints.bounds(schema, x);
            bounds.is_err_and(|error| error.kind() == ErrorKind::ConstraintsImpossible)
        };
        !self.schema().is_some_and(impossible)
    }
}

/// The mean of what was certified, an encoded row.
fn mean_row(clues: &[Clue], width: usize) -> Vec<f32> {
    let mean = |column: usize| {
        let sum: f64 = clues.iter().map(|clue| f64::from(clue.x[column])).sum();
        (sum / clues.len() as f64) as f32
    };
    (0..width).map(mean).collect()
}

/// The cheapest clue of each row.
fn cheapest(models: &Models, prepared: &Prepared, mapper: &Mapper, rows: &Encoded, method: &str) -> Result<Vec<Clue>> {
    let proposals = mapper.propose(models, rows, method, prepared.price())?;
    let mut sets = prepared.certify(&proposals)?;
    cheapest_first(&mut sets);
    Ok(sets.into_iter().flat_map(|set| set.into_iter().take(1)).collect())
}

/// What each input is when its own code is decoded.
fn unchanged(prepared: &Prepared) -> Result<Vec<Clue>> {
    let nothing = |row: usize| vec![Proposal { z: prepared.z(row).to_vec(), x: None, mapper: String::new() }];
    let sets = prepared.certify(&(0..prepared.len()).map(nothing).collect::<Vec<_>>())?;
    Ok(sets.into_iter().flatten().collect())
}

/// Some inputs, evenly spread over all.
fn examples(rows: &Encoded, unchanged: &[Clue], clues: &[Clue]) -> Vec<ChangedExample> {
    let example = |row: usize| {
        let (reconstruction, clue) = (&unchanged[row], &clues[row]);
        let totals =
            [rows.predictions[row].uncertainty.total, reconstruction.uncertainty.total, clue.uncertainty.total];
        ChangedExample {
            input: rows.x(row).to_vec(),
            reconstruction: reconstruction.x.clone(),
            after: clue.x.clone(),
            uncertainty: totals,
        }
    };
    (0..clues.len()).step_by(clues.len().div_ceil(EXAMPLES).max(1)).map(example).collect()
}

fn outcome(mapper: &Mapper, rows: &Encoded, row: usize, clue: &Clue) -> Outcome {
    let asked = mapper.pair.to.class.unwrap_or_else(|| rows.class(row));
    Outcome {
        before: rows.predictions[row].uncertainty.total,
        after: clue.uncertainty.total,
        distance: clue.distance.input,
        certain: clue.accepted,
        class_kept: match clue.label {
            Label::Class(label) => Some(label == asked),
            Label::Value(_) => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::{LearnFrom, MapperKind, MapperPlan, Scheme};
    use crate::data::{Constraints, DataDir, Request, load};
    use crate::explainer::{CostSettings, GroupSettings};
    use crate::observer::Silent;
    use crate::testing::toy::{Logistic, Same};
    use std::sync::Arc;

    /// What the difference of means does to the group of each class under these constraints.
    fn shown(constraints: &str) -> Vec<GlobalExplanation> {
        let moons = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
        let constraints: Constraints = toml::from_str(constraints).unwrap();
        let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same)).with_rows(moons);
        let explainer = explainer.with_constraints(constraints).unwrap();
        let groups = GroupSettings::of_scheme(Scheme::Within);
        let search = explainer.judging(&CostSettings::default()).unwrap();
        let thresholds = groups.thresholds(search.threshold, search.accepted_by());
        let plan = MapperPlan::new(MapperKind::LatentDbm, LearnFrom::Data);
        let pairs = explainer.pairs(&groups).unwrap();
        let fitted = explainer.fit(&plan, &pairs, &search, thresholds, Seed(0), &mut Silent).unwrap();
        let mappers: Vec<_> = fitted.all.iter().enumerate().collect();
        explainer.globals(&mappers, "latent-dbm", &search, Seed(0)).unwrap().groups
    }

    #[test]
    fn what_a_group_changes_keeps_the_constraints() {
        let changes = |constraints: &str| -> Vec<f64> {
            shown(constraints).iter().flat_map(|group| group.changes.iter().map(|shift| shift.change)).collect()
        };
        let free = changes("");
        assert_eq!(free.len(), 4, "two features in each of two groups");
        assert!(free.iter().all(|change| change.abs() > 0.01), "{free:?}");
        let held = changes("immutable = [\"x1\"]\nonly_up = [\"x2\"]");
        for (held, free) in held.chunks(2).zip(free.chunks(2)) {
            assert!(held[0].abs() < 1e-5 && held[1] > -1e-5, "{held:?}");
            // What leads down stays; what leads up is as it was.
            assert!((held[1] - free[1].max(0.0)).abs() < 0.1, "{held:?} {free:?}");
        }
    }

    #[test]
    fn inputs_that_cannot_meet_their_constraints_are_counted_and_left_out() {
        let some = shown("immutable = [\"x1\"]\nranges = { x1 = [0.5, 9] }");
        let free = shown("");
        for (some, free) in some.iter().zip(&free) {
            let inputs = |group: &GlobalExplanation| group.reach.as_ref().map_or(0, |reach| reach.inputs);
            assert_eq!(inputs(some) + some.impossible, inputs(free));
            assert_eq!(free.impossible, 0);
        }
        assert!(some.iter().any(|group| group.impossible > 0));
        let none = shown("immutable = [\"x1\"]\nranges = { x1 = [90, 91] }");
        assert!(none.iter().all(|group| group.reach.is_none() && group.impossible > 0));
    }
}
