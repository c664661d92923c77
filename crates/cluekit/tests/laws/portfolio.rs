//! What a portfolio promises: it finds whatever a simple scan finds, its clues are minimal, allowed and all different, and
//! it never costs more than the search alone.

use super::*;
use cluekit::data::Constraints;
use cluekit::error::Remedy;
use cluekit::explanation::{Advice, Rejection};
use cluekit::search::{Juror, Jury, Portfolio, Scan, TrainingRows};
use std::sync::Arc;

const POLICY: &str =
    "immutable = ['AGE', 'JOB']\nonly_down = ['GRADE']\nmost_changed = 2\nrelations = ['DEBT <= INCOME']";
const LAMBDA_X: f32 = 0.03;
const THRESHOLD: f32 = 0.45;

fn background(world: &World, jury: Option<Jury>) -> Background {
    let uncertainty = world.predictions().into_iter().map(|prediction| prediction.uncertainty).collect();
    let (schema, samples) = (world.schema.as_ref().unwrap(), Arc::new(world.samples.clone()));
    let rows = schema.image.is_none().then(|| TrainingRows::new(schema, samples, uncertainty, jury.as_ref()).unwrap());
    Background { rows: rows.map(Arc::new), jury: jury.map(Arc::new), plausible: None, ..world.background() }
}

fn search(portfolio: Option<Portfolio>, count: usize) -> Search {
    let mut search = Search { threshold: THRESHOLD, portfolio, ..Search::delta_clue(Delta::Auto, count) };
    search.objective.input = Weighted(LAMBDA_X, Distance::L1);
    search
}

fn explain(world: &World, inputs: &Inputs, portfolio: Option<Portfolio>, count: usize) -> Vec<Explanation> {
    let search = search(portfolio, count);
    search.explain(&world.models(), &background(world, None), inputs, Seed(1), &mut Silent).unwrap()
}

/// The uncertain rows that the policy leaves a way for.
fn inputs(world: &World, count: usize) -> Inputs {
    let schema = world.schema.as_ref().unwrap();
    world.uncertain(count, |row| {
        let before = schema.decode_row(world.samples.row(row));
        schema.constraints.bounds(schema, world.samples.row(row)).is_ok()
            && schema.constraints.broken(schema, &before, &before).is_empty()
    })
}

fn two() -> Option<Portfolio> {
    Some(Portfolio { scan: Scan::Two, ..Portfolio::default() })
}

/// H and H + λ_x d of some rows as counterfactuals of `x`.
fn judged(world: &World, x: &[f32], rows: &[Vec<f32>]) -> Vec<(f32, f32)> {
    let samples = Samples { x: rows.concat(), width: x.len(), y: Targets::Unknown(rows.len()), weights: None };
    let says = predict(&world.predictor, &samples, &world.task).unwrap();
    let distance = |row: &Vec<f32>| row.iter().zip(x).map(|(a, b)| (a - b).abs()).sum::<f32>();
    says.iter()
        .zip(rows)
        .map(|(p, row)| (p.uncertainty.total, p.uncertainty.total + LAMBDA_X * distance(row)))
        .collect()
}

fn least_cost(explanation: &Explanation) -> Option<f32> {
    explanation.clues.iter().filter(|clue| clue.accepted).map(|clue| clue.cost).min_by(f32::total_cmp)
}

#[test]
fn whatever_one_value_of_a_training_row_would_settle_is_settled_for_no_more() {
    let world = World::table(POLICY);
    let (schema, inputs) = (world.schema.as_ref().unwrap(), inputs(&world, 12));
    let found = explain(&world, &inputs, two(), 1);
    let mut settled = 0;
    for explanation in &found {
        let (x, before) = (&explanation.input.x, schema.decode_row(&explanation.input.x));
        let mut rows = Vec::new();
        for donor in 0..ROWS {
            for column in schema.columns() {
                let mut row = x.clone();
                row[column.range()].copy_from_slice(&world.samples.row(donor)[column.range()]);
                if schema.constraints.broken(schema, &before, &schema.decode_row(&row)).is_empty() && row != *x {
                    rows.push(row);
                }
            }
        }
        let best = judged(&world, x, &rows).into_iter().filter(|(h, _)| *h < THRESHOLD).map(|(_, cost)| cost);
        let Some(best) = best.min_by(f32::total_cmp) else { continue };
        settled += 1;
        let least = least_cost(explanation).expect("a single value of a training row would settle it");
        // Of numbers with many values the scan tries some; what it finds is then made cheaper.
        assert!(least <= best + 0.02, "{least} against {best}");
    }
    assert!(settled >= 4, "only {settled} inputs can be settled by one value");
}

#[test]
fn what_a_search_explains_stays_explained_with_fewer_changes() {
    let world = World::table(&POLICY.replace("most_changed = 2", "most_changed = 4"));
    let inputs = inputs(&world, 12);
    let (alone, with) = (explain(&world, &inputs, None, 3), explain(&world, &inputs, two(), 3));
    let fewest = |explanation: &Explanation| {
        explanation.clues.iter().filter(|clue| clue.accepted).map(|clue| clue.changes.len()).min()
    };
    let mut fewer = 0;
    for (alone, with) in alone.iter().zip(&with) {
        if let Some(changes) = fewest(alone) {
            let now = fewest(with).expect("what the search alone explains stays explained");
            assert!(now <= changes, "{now} changes against {changes}");
            fewer += usize::from(now < changes);
        }
    }
    assert!(fewer >= 4, "only {fewer} inputs need fewer changes");
    let explained = |all: &[Explanation]| all.iter().filter(|e| least_cost(e).is_some()).count();
    assert!(explained(&with) >= explained(&alone));
}

#[test]
fn accepted_clues_are_minimal_allowed_and_different() {
    let world = World::table(POLICY);
    let (schema, inputs) = (world.schema.as_ref().unwrap(), inputs(&world, 12));
    let mut seen = 0;
    for explanation in explain(&world, &inputs, two(), 4) {
        let before = schema.decode_row(&explanation.input.x);
        let accepted: Vec<&Clue> = explanation.clues.iter().filter(|clue| clue.accepted).collect();
        for (place, clue) in accepted.iter().enumerate() {
            seen += 1;
            let after = schema.decode_row(&clue.x);
            assert_eq!(schema.constraints.broken(schema, &before, &after), Vec::<String>::new());
            assert!(clue.found_by.is_some() && clue.minimal == Some(true));
            assert!(accepted[..place].iter().all(|other| other.x != clue.x), "the same row twice");
            // No single change can be taken back.
            let back = schema.changed(&before, &after).into_iter().map(|feature| {
                let range = schema.columns()[feature].range();
                let mut row = clue.x.clone();
                row[range.clone()].copy_from_slice(&explanation.input.x[range]);
                row
            });
            let allowed =
                |row: &Vec<f32>| schema.constraints.broken(schema, &before, &schema.decode_row(row)).is_empty();
            let back: Vec<Vec<f32>> = back.filter(allowed).collect();
            for (h, _) in judged(&world, &explanation.input.x, &back) {
                assert!(h >= THRESHOLD, "a change can be taken back: H = {h}");
            }
        }
    }
    assert!(seen >= 10, "only {seen} clues were accepted");
}

#[test]
fn a_portfolio_gives_the_same_clues_each_time_and_whichever_inputs_come_along() {
    let world = World::table(POLICY);
    let all = inputs(&world, 6);
    let together = explain(&world, &all, two(), 2);
    assert_eq!(together, explain(&world, &all, two(), 2));
    let alone = explain(&world, &all.select(&[4]), two(), 2);
    let rows = |e: &Explanation| e.clues.iter().map(|clue| clue.row.clone()).collect::<Vec<_>>();
    assert_eq!(rows(&alone[0]), rows(&together[4]));
}

#[test]
fn models_without_rows_are_searched_as_before() {
    let world = World::table("");
    let inputs = world.inputs(3);
    let without = |portfolio| world.explain(&search(portfolio, 2), &inputs, 1);
    assert_eq!(without(two()), without(None));
}

#[test]
fn clues_of_images_lose_what_need_not_change_and_nothing_else() {
    let world = World::images();
    let inputs = world.inputs(8);
    let (whole, less) = (explain(&world, &inputs, None, 2), explain(&world, &inputs, two(), 2));
    let mut trimmed = 0;
    for (whole, less) in whole.iter().zip(&less) {
        assert_eq!(whole.clues.len(), less.clues.len());
        for (whole, less) in whole.clues.iter().zip(&less.clues) {
            assert!(less.cost <= whole.cost && less.accepted == whole.accepted && less.z == whole.z);
            assert_eq!(less.minimal.is_some(), less.accepted);
            // Each pixel is that of the whole clue or that of the input.
            let kept = less.x.iter().zip(whole.x.iter());
            trimmed += kept.filter(|(less, whole)| less != whole).count();
        }
        for clue in &less.clues {
            let pixels = clue.x.iter().zip(&less.input.x).zip(&whole.clues.iter().find(|w| w.z == clue.z).unwrap().x);
            assert!(pixels.into_iter().all(|((now, before), whole)| now == whole || now == before));
        }
    }
    assert!(trimmed > 0, "nothing was taken back");
}

#[test]
fn advice_of_a_nearest_miss_comes_true() {
    let policy =
        "immutable = ['AGE', 'JOB', 'INCOME', 'MEMBER', 'DEBT']\nonly_down = ['GRADE', 'RATE']\nmost_changed = 1";
    let world = World::table(policy);
    let inputs = inputs(&world, 12);
    let found = explain(&world, &inputs, two(), 1);
    let (mut misses, mut helped) = (0, 0);
    for (place, explanation) in found.iter().enumerate().filter(|(_, found)| least_cost(found).is_none()) {
        let Some(Advice::NearestMiss { threshold, reached, loosened, scanned, .. }) = &explanation.advice else {
            panic!("{:?}", explanation.advice)
        };
        misses += 1;
        assert!((*threshold - THRESHOLD).abs() < 1e-6 && reached >= threshold);
        assert_eq!(scanned.map(|scanned| scanned.changes), Some(1), "one change may be, and all were looked at");
        let shown = explanation.clues.iter().map(|clue| clue.uncertainty.total).fold(f32::INFINITY, f32::min);
        assert!((shown - reached).abs() < 1e-4, "the nearest miss is shown: {shown} against {reached}");
        for loosening in loosened.iter().flatten() {
            assert!(loosening.uncertainty < *threshold);
            let constraints = Constraints::clone(&world.schema.as_ref().unwrap().constraints);
            let free = constraints.loosened().into_iter().find(|free| free.allowed == loosening.allowed).unwrap();
            let freed = World::table(&toml::to_string(&free.constraints).unwrap());
            let again = explain(&freed, &inputs.select(&[place]), two(), 1);
            assert!(least_cost(&again[0]).is_some(), "{} does not help", loosening.allowed);
            helped += 1;
        }
    }
    assert!(misses >= 2 && helped >= 2, "{misses} misses, {helped} helped");
}

/// A juror that is certain of nothing, or of everything.
struct Stubborn(f32);

impl Predictor for Stubborn {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let rows = x.dims()[0];
        let logits = [self.0, 0.0, 0.0].repeat(rows);
        let logs = log_softmax(tensor(logits, [rows, CLASSES]), 1);
        Ok(Predictive::Classes { log_probabilities: logs.unsqueeze_dim::<3>(0) })
    }

    fn has_gradient(&self) -> bool {
        false
    }
}

/// The model itself as a juror, so that the jury is certain where the model is.
fn jury(judges: &[(&str, f32)]) -> Jury {
    let model = Juror::new("the model again", Arc::new(Members::new(people().width(), false)));
    let judge = |(name, logit): &(&str, f32)| Juror::new(*name, Arc::new(Stubborn(*logit)));
    Jury { asked: vec![model], judges: judges.iter().map(judge).collect(), threshold: THRESHOLD }
}

fn judged_by(world: &World, jury: Jury, portfolio: Portfolio, inputs: &Inputs) -> Vec<Explanation> {
    let search = search(Some(portfolio), 2);
    search.explain(&world.models(), &background(world, Some(jury)), inputs, Seed(1), &mut Silent).unwrap()
}

#[test]
fn the_certificate_says_what_each_juror_says() {
    let world = World::table("");
    let found = judged_by(&world, jury(&[("sure", 9.0), ("unsure", 0.0)]), Portfolio::default(), &inputs(&world, 6));
    let accepted: Vec<&Clue> = found.iter().flat_map(|e| &e.clues).filter(|clue| clue.accepted).collect();
    assert!(accepted.len() >= 6);
    for clue in accepted {
        let agreement = clue.agreement.as_ref().unwrap();
        let certain: Vec<(&str, bool, bool)> =
            agreement.verdicts.iter().map(|v| (v.juror.as_str(), v.asked, v.certain)).collect();
        assert_eq!(certain, [("sure", false, true), ("unsure", false, false), ("the model again", true, true)]);
        assert!((agreement.share - 0.5).abs() < 1e-6, "half of those who only judge are certain");
    }
}

#[test]
fn a_clue_that_the_jury_believes_has_its_margin_and_comes_first() {
    let world = World::table("");
    let portfolio = Portfolio { margin: 0.6, ..Portfolio::default() };
    let found = judged_by(&world, jury(&[]), portfolio, &inputs(&world, 8));
    let sure = found.iter().filter(|e| e.clues[0].accepted && e.clues[0].uncertainty.total < 0.6 * THRESHOLD).count();
    assert!(sure >= 6, "{sure} of 8 first clues have the margin");
    for explanation in &found {
        let believed: Vec<bool> =
            explanation.clues.iter().map(|clue| clue.uncertainty.total < 0.6 * THRESHOLD).collect();
        assert!(believed.is_sorted_by(|a, b| a >= b), "believed clues come first: {believed:?}");
    }
}

#[test]
fn too_little_agreement_can_be_a_reason_to_refuse() {
    let world = World::table("");
    let inputs = inputs(&world, 4);
    let refused =
        judged_by(&world, jury(&[("unsure", 0.0)]), Portfolio { agree: 0.5, ..Portfolio::default() }, &inputs);
    for clue in refused.iter().flat_map(|e| &e.clues) {
        assert!(!clue.accepted);
        let told = matches!(clue.reason, Some(Rejection::Disagreement { share: 0.0, required: 0.5 }));
        assert!(told || matches!(clue.reason, Some(Rejection::TooUncertain { .. })), "{:?}", clue.reason);
    }
}

#[test]
fn odd_clues_are_refused_where_plausible_ones_are_asked_for() {
    let world = World::table("");
    let inputs = inputs(&world, 10);
    let plausible = world.background().plausible;
    let explain = |share: f32| {
        let portfolio = Portfolio { plausible: share, ..Portfolio::default() };
        let background = Background { plausible: plausible.clone(), ..background(&world, None) };
        search(Some(portfolio), 3).explain(&world.models(), &background, &inputs, Seed(1), &mut Silent).unwrap()
    };
    let usual = explain(0.9);
    let all: Vec<&Clue> = usual.iter().flat_map(|e| &e.clues).collect();
    assert!(all.iter().any(|clue| clue.accepted));
    for clue in all {
        let odd = clue.plausibility.unwrap().reconstruction > 0.9;
        assert!(!(odd && clue.accepted), "{:?}", clue.plausibility);
    }
    let explained = |all: &[Explanation]| all.iter().filter(|e| e.accepted().next().is_some()).count();
    assert!(explained(&explain(0.0)) >= explained(&usual), "nothing is refused where any clue will do");
    // Hardly anything is plausible enough, and what is certain is refused for it: the advice knows.
    let refused = explain(0.2);
    let advice: Vec<&Advice> = refused.iter().filter_map(|explanation| explanation.advice.as_ref()).collect();
    assert!(!advice.is_empty());
    for advice in advice {
        let Advice::NearestMiss { threshold, reached, remedies, .. } = advice else { panic!("{advice:?}") };
        assert!(reached < threshold && remedies[0] == Remedy::lower("plausible"), "{advice:?}");
    }
}
