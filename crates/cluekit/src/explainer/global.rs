//! What a fitted mapper does to the uncertain rows of its group that it was not learned from.

use super::{Explainer, Split};
use crate::amortise::{Encoded, GlobalChange, Mapper, Mappers, cheapest_first};
use crate::audit::FeatureShift;
use crate::data::Samples;
use crate::error::{Error, Result};
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
    /// Means over these inputs; none without inputs.
    pub reach: Option<Reach>,
    /// Mean change of each feature of a table; empty for images.
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
        let rows = Encoded::with_predictions(&self.unconstrained()?, Samples::clone(&test), says)?;
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
        let (models, background) = (self.unconstrained()?, self.plain_background(search)?);
        let kind = search.accept_by;
        let amount = |row: usize| rows.predictions[row].uncertainty.get(kind);
        let belongs =
            |&row: &usize| amount(row) > mapper.uncertain_above && mapper.pair.from.hold(rows, row, models.schema);
        let members: Vec<usize> =
            crate::prediction::ranked(&rows.predictions, kind).into_iter().filter(belongs).collect();
        let mut explanation = GlobalExplanation {
            name: mapper.pair.name(self.classes()),
            uncertain_above: mapper.uncertain_above,
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
            explanation.changes = FeatureShift::between(schema, &change.inputs, &change.changed_inputs());
        }
        explanation.change = Some(change);
        explanation.examples = examples(&rows, &unchanged, &clues);
        Ok(explanation)
    }
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
