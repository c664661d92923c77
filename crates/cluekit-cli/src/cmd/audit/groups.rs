//! What one learned change does for whole groups of inputs.

use super::AuditArgs;
use crate::cmd::glam::cost::CostArgs;
use crate::cmd::glam::groups::GroupArgs;
use crate::cmd::glam::show::{GlobalExplanation, Scene};
use crate::cmd::run::Split;
use crate::progress::Bar;
use anyhow::Result;
use cluekit::Seed;
use cluekit::amortise::{Encoded, LearnFrom, Limit, Method, Recipe, Scheme, Thresholds, Workshop};
use cluekit::data::Samples;
use cluekit::observer::Observer;
use cluekit::prediction::Prediction;
use cluekit::report::audit::{Figure, GroupCard, Groups};
use cluekit::studio::Studio;

/// λ_θ where there is no time to choose it.
const QUICK_LAMBDA: f32 = 1.0;

/// Fits a translation for each group and applies it to the rows of the audit.
pub fn groups(
    args: &AuditArgs,
    studio: Studio,
    cost: &CostArgs,
    above: f32,
    samples: Samples,
    predictions: Vec<Prediction>,
    quiet: bool,
) -> Result<Option<Groups>> {
    let method: Method = args.mapper.parse()?;
    let groups = match &args.by {
        Some(feature) => GroupArgs::of_feature(feature),
        None => GroupArgs::of_scheme(Scheme::Within),
    };
    let pairs = groups.pairs(&studio.run.schema, &studio.dataset.train)?;
    let [train, validation] = studio.rows(None, &mut Bar::new(quiet))?;
    let (models, background, search) = (studio.models(), cost.background(&studio)?, cost.search(&studio)?);
    // Who is uncertain is the same question for the whole page.
    let thresholds =
        Thresholds { uncertain_above: Limit::Value(above), ..groups.thresholds(search.threshold, search.accept_by) };
    let seed = Seed(args.seed);
    let mut recipe = Recipe::new(method, LearnFrom::Data);
    recipe.lambda_theta = args.quick.then_some(QUICK_LAMBDA);
    let mut workshop = Workshop::new(&models, &search, &background, [&train, &validation], thresholds, seed);
    let mut bar = Bar::new(quiet);
    let fitted = workshop.fit(&recipe, &pairs, &mut bar)?;
    bar.finished("GLAM-CLUE", &format!("fitted for {} groups", fitted.fittings.len()));
    let test = Encoded::with_predictions(&models, samples, predictions)?;
    let scene = Scene { models: &models, search: &search, background: &background, test: &test, seed };
    let explain = |fitting| Ok(card(scene.explain(fitting, method.name())?));
    let groups = fitted.fittings.iter().map(explain).collect::<Result<Vec<_>>>()?;
    let held_out = !matches!(args.split, Split::Train | Split::Validation);
    Ok(Some(Groups { mapper: method.name().into(), held_out, groups }))
}

fn card(explanation: GlobalExplanation) -> GroupCard {
    let GlobalExplanation { name, uncertain_above, reach, changes, picture, numbers, certain_unchanged } = explanation;
    let caption = format!(
        "What the change for {name} adds and takes away on average, and what it makes of some inputs: the input, its \
         reconstruction, and the same after the change."
    );
    let picture = picture.map(|picture| Figure::svg(&picture, &caption).with(numbers));
    GroupCard { name, uncertain_above, reach, certain_unchanged, changes, picture }
}
