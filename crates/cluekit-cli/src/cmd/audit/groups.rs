//! What one learned change does for whole groups of inputs.

use super::AuditArgs;
use crate::cmd::glam::cost::CostArgs;
use crate::cmd::glam::groups::GroupArgs;
use crate::cmd::glam::show::{GlobalExplanation, Scene};
use crate::cmd::run::Split;
use crate::progress::Bar;
use anyhow::Result;
use cluekit::Seed;
use cluekit::amortise::{Encoded, Fitting, LearnFrom, Limit, Members, Pair, Recipe, Scheme, Thresholds, Workshop};
use cluekit::audit::{Audit, GroupCard, Groups, Setting};
use cluekit::data::{Samples, Schema};
use cluekit::measure::Reach;
use cluekit::observer::Observer;
use cluekit::prediction::Prediction;
use cluekit::studio::Studio;
use cluekit_report::svg_figure;

/// λ_θ where there is no time to choose it.
const QUICK_LAMBDA: f32 = 1.0;
/// Groups of images that are pictured: those with the most uncertain inputs.
const MOST_PICTURES: usize = 12;

/// The rows that changes are applied to, and the groups that they are learned for.
pub struct Wanted {
    /// The rows.
    pub samples: Samples,
    /// One for each of them.
    pub predictions: Vec<Prediction>,
    /// From whom to whom.
    pub pairs: Vec<Pair>,
}

impl AuditArgs {
    /// Each class to itself, or each part of a feature.
    pub fn pairs(&self, schema: &Schema, train: &Samples) -> Result<Vec<Pair>> {
        self.groups().pairs(schema, train)
    }

    fn groups(&self) -> GroupArgs {
        match &self.by {
            Some(feature) => GroupArgs::of_feature(feature),
            None => GroupArgs::of_scheme(Scheme::Within),
        }
    }
}

/// Fits a change for each group and applies it to the rows of the audit.
pub fn add(
    audit: &mut Audit,
    args: &AuditArgs,
    studio: &Studio,
    cost: &CostArgs,
    wanted: Wanted,
    quiet: bool,
) -> Result<()> {
    let [train, validation] = studio.rows(None, &mut Bar::new(quiet))?;
    let (models, background, search) = (studio.models(), cost.background(studio)?, cost.search(studio)?);
    let has_rows = |side: &Members| (0..train.len()).any(|row| side.hold(&train, row, Some(&studio.run.schema)));
    let (pairs, empty): (Vec<Pair>, Vec<Pair>) =
        wanted.pairs.into_iter().partition(|pair| has_rows(&pair.from) && has_rows(&pair.to));
    audit.missing.extend(left_out(&empty, models.task().classes()));
    if pairs.is_empty() {
        return Ok(());
    }
    // Who is uncertain is the same question for the whole page.
    let above = Limit::Value(audit.subject.unsure_above.unwrap_or(search.threshold));
    let usual = args.groups().thresholds(search.threshold, search.accept_by);
    let thresholds = Thresholds { uncertain_above: above, ..usual };
    let (method, seed) = (args.mapper, Seed(args.seed));
    let mut recipe = Recipe::new(method, LearnFrom::Data);
    recipe.lambda_theta = args.quick.then_some(QUICK_LAMBDA);
    let mut workshop = Workshop::new(&models, &search, &background, [&train, &validation], thresholds, seed);
    let mut bar = Bar::new(quiet);
    let fitted = workshop.fit(&recipe, &pairs, &mut bar)?;
    bar.finished("GLAM-CLUE", &format!("fitted for {} groups", fitted.fittings.len()));
    let test = Encoded::with_predictions(&models, wanted.samples, wanted.predictions)?;
    let split = match args.split {
        Split::Test => "test",
        Split::Validation => "validation",
        Split::Train => "training",
    };
    let scene = Scene { models: &models, search: &search, background: &background, test: &test, split, seed };
    let explain = |fitting| Ok(card(fitting, scene.explain(fitting, method.name())?));
    let mut groups = fitted.fittings.iter().map(explain).collect::<Result<Vec<_>>>()?;
    keep_pictures(&mut groups);
    audit.groups = Some(Groups { mapper: method.name().into(), groups });
    audit.provenance.groups = Setting::flattened(&fitted.terms)?;
    Ok(())
}

/// A sentence on groups that nothing can be learned for.
fn left_out(pairs: &[Pair], classes: &[String]) -> Option<String> {
    let names: Vec<String> = pairs.iter().map(|pair| pair.from.name(classes)).collect();
    (!names.is_empty())
        .then(|| format!("Nothing was learned for groups without a training row to learn from: {}.", names.join(", ")))
}

/// Leaves pictures to the groups with the most uncertain inputs.
fn keep_pictures(groups: &mut [GroupCard]) {
    let inputs = |group: &GroupCard| group.reach.as_ref().map_or(0, |reach| reach.inputs);
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(inputs(&groups[place])));
    for place in order.into_iter().skip(MOST_PICTURES) {
        groups[place].picture = None;
    }
}

fn card(fitting: &Fitting, explanation: GlobalExplanation) -> GroupCard {
    let GlobalExplanation { name, uncertain_above, reach, changes, picture, numbers, certain_unchanged } = explanation;
    let caption = format!(
        "What the change for {name} adds and takes away on average, and what it makes of some inputs: the input, its \
         reconstruction, and the same after the change."
    );
    let mut card = GroupCard {
        name,
        uncertain_above,
        lambda_theta: fitting.lambda_theta,
        reach,
        certain_unchanged,
        changes,
        picture: picture.map(|picture| svg_figure(&picture, &caption).with(numbers)),
        notes: fitting.notes.clone(),
    };
    if card.reach.as_ref().is_some_and(|reach| !is_finite(reach)) {
        (card.reach, card.picture, card.changes) = (None, None, vec![]);
        card.notes.push("what the change makes of its inputs left the finite numbers".into());
    }
    card
}

/// Whether every number can be written down.
fn is_finite(reach: &Reach) -> bool {
    [reach.certain, reach.before, reach.after, reach.distance].iter().all(|interval| interval.mean.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::measure::Outcome;

    fn group(inputs: usize) -> GroupCard {
        let outcome = Outcome { before: 0.6, after: 0.1, distance: 2.0, certain: true, class_kept: None };
        GroupCard {
            name: inputs.to_string(),
            uncertain_above: 0.5,
            lambda_theta: None,
            reach: Reach::of(&vec![outcome; inputs], Seed(0)),
            certain_unchanged: None,
            changes: vec![],
            picture: Some(svg_figure("<svg/>", "")),
            notes: vec![],
        }
    }

    #[test]
    fn the_groups_with_the_most_uncertain_inputs_are_pictured() {
        let mut groups: Vec<GroupCard> = (1..=MOST_PICTURES + 2).map(group).collect();
        keep_pictures(&mut groups);
        let without: Vec<&str> = groups.iter().filter(|g| g.picture.is_none()).map(|g| g.name.as_str()).collect();
        assert_eq!(without, ["1", "2"]);
    }

    #[test]
    fn a_group_without_rows_is_named() {
        let classes = ["a", "b"].map(String::from);
        let sentence = left_out(&[Pair::of_classes(Some(1), Some(1))], &classes).unwrap();
        assert_eq!(sentence, "Nothing was learned for groups without a training row to learn from: b.");
        assert_eq!(left_out(&[], &classes), None);
    }
}
