//! What a search by evolution obeys: every law of searches, to the byte where draws and rounding allow it, and ends as good
//! as those of the gradient.

use super::foreign::{PlainMembers, Speech};
use super::*;
use cluekit::model::foreign::Foreign;
use cluekit::model::{Boosted, BoostedPlan, InputSpace};
use cluekit::search::{Effort, Portfolio, TrainingRows, Way};
use std::sync::Arc;

/// The same search by evolution, with so many evaluations of each candidate.
fn evolved(evaluations: usize, search: &Search) -> Search {
    Search { way: Way::Evolution, effort: Effort::Evaluations(evaluations), ..search.clone() }
}

/// Every search whose starts need no gradient, by evolution.
fn evolving() -> Vec<(String, Search)> {
    let plain = |search: &Search| !search.starts.schemes.contains(&InitScheme::ClassPath);
    searches().into_iter().filter(|(_, search)| plain(search)).map(|(name, s)| (name, evolved(120, &s))).collect()
}

/// A model that only answers, of the members of a world.
fn answers_only(world: &World) -> Foreign<PlainMembers> {
    let mut members = PlainMembers::new(&world.predictor, Speech::Logs);
    members.gradient = false;
    Foreign::new(members)
}

fn costs(explanations: &[Explanation]) -> Vec<f64> {
    explanations.iter().flat_map(|e| e.clues.iter().map(|clue| f64::from(clue.cost))).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn every_search_of_a_model_that_only_answers_ends_in_its_ball_and_no_worse_than_it_began() {
    let world = World::classes();
    let members = answers_only(&world);
    let models = Models::new(&world.generative, &members).with_task(&world.task);
    let (background, inputs) = (world.background(), world.inputs(3));
    let mut moved = 0;
    for (name, search) in evolving() {
        // Nobody has to say that it is to evolve.
        let search = Search { way: Way::Auto, ..search };
        let explain = |search: &Search| search.explain(&models, &background, &inputs, Seed(5), &mut Silent).unwrap();
        let (begin, end) = (explain(&after(0, &search)), explain(&search));
        for (begin, end) in begin.iter().zip(&end) {
            assert_eq!(end.clues.len(), search.count, "{name}");
            assert_in_ball(&name, end);
            let no_worse = |before: f64, now: f64| {
                assert!(now <= before + 1e-4 * (1.0 + before.abs()), "{name}: from {before} to {now}");
            };
            let (first, last) = (all_clues(begin), all_clues(end));
            moved += first.iter().zip(&last).filter(|(a, b)| a.z != b.z).count();
            if search.objective.coupling().is_none() {
                first.iter().zip(&last).for_each(|(a, b)| no_worse(f64::from(a.cost), f64::from(b.cost)));
            } else if search.order == Order::Simultaneous {
                no_worse(coupled_objective(&search, &end.input, &first), coupled_objective(&search, &end.input, &last));
            }
        }
    }
    assert!(moved > 100, "{moved} candidates moved");
}

#[test]
fn a_diversity_without_weight_is_exactly_delta_clue() {
    let world = World::classes();
    let inputs = world.inputs(2);
    let delta = evolved(100, &Search::delta_clue(ball(1.0), 3));
    let expected = world.explain(&delta, &inputs, 1);
    assert!(costs(&expected) != costs(&world.explain(&after(0, &delta), &inputs, 1)));
    for term in terms() {
        for order in ORDERS {
            let nabla = Search { order, ..Search::nabla_clue(ball(1.0), 3, Weighted(0.0, term)) };
            assert_eq!(world.explain(&evolved(100, &nabla), &inputs, 1), expected, "{term:?}, {order:?}");
        }
    }
}

#[test]
fn one_candidate_from_the_input_without_a_ball_is_exactly_clue() {
    let world = World::classes();
    let inputs = world.inputs(3);
    let expected = world.explain(&evolved(100, &Search::clue()), &inputs, 2);
    assert!(expected.iter().all(|e| e.clues[0].uncertainty.total < e.input.uncertainty.total), "nothing moved");
    let everywhere = Delta::Fixed(LatentBall::UNBOUNDED);
    let starts = Starts::at_the_input();
    let delta = Search { starts: starts.clone(), ..Search::delta_clue(everywhere, 1) };
    assert_eq!(world.explain(&evolved(100, &delta), &inputs, 2), expected);
    for order in ORDERS {
        let nabla = Search::nabla_clue(everywhere, 1, diversity(5.0, Diversity::Dpp, Space::Z));
        let nabla = Search { starts: starts.clone(), order, ..nabla };
        assert_eq!(world.explain(&evolved(100, &nabla), &inputs, 2), expected, "{order:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads_and_another_seed_others() {
    let world = World::classes();
    let inputs = world.inputs(9);
    let on = |threads: usize, search: &Search, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&world.explain(search, &inputs, seed)).unwrap())
    };
    for (name, search) in evolving() {
        let search = with_sub_searches(&evolved(40, &search));
        let expected = on(1, &search, 3);
        for threads in [2, 3] {
            assert!(on(threads, &search, 3) == expected, "{name}: {threads} threads find something else");
        }
        assert!(on(1, &search, 4) != expected, "{name}: the seed makes no difference");
    }
}

#[test]
fn an_input_has_the_same_clues_in_any_company_to_the_last_bit() {
    let world = World::classes();
    let all = world.inputs(5);
    let members = answers_only(&world);
    let background = world.background();
    for models in [world.models(), Models::new(&world.generative, &members).with_task(&world.task)] {
        for (name, search) in evolving() {
            let explain = |inputs: &Inputs| search.explain(&models, &background, inputs, Seed(4), &mut Silent).unwrap();
            let together = explain(&all);
            for row in [0, 3, 4] {
                let alone = explain(&all.select(&[row]));
                for (a, b) in alone[0].clues.iter().zip(&together[row].clues) {
                    assert_eq!((&a.z, &a.x), (&b.z, &b.x), "{name}: input {row}");
                }
            }
        }
    }
}

#[test]
fn evolution_ends_within_a_twentieth_of_what_the_gradient_reaches() {
    for world in [World::classes(), World::regression(), World::table("")] {
        let inputs = world.inputs(12);
        let objective = Objective { input: Weighted(0.03, Distance::L1), ..Objective::default() };
        for search in [
            Search { objective: objective.clone(), ..Search::clue() },
            Search { objective: objective.clone(), ..Search::delta_clue(ball(1.0), 3) },
        ] {
            let longer = Search { convergence: Convergence::all_steps(200), ..search.clone() };
            let [gradient, evolution, begin] = [longer, evolved(480, &search), after(0, &search)]
                .map(|search| mean(&costs(&world.explain(&search, &inputs, 6))));
            assert!(gradient < 0.8 * begin, "the gradient leads from {begin} to {gradient} alone");
            assert!(evolution < 1.05 * gradient, "evolution costs {evolution}, the gradient {gradient}");
        }
    }
}

#[test]
fn more_evaluations_cost_less() {
    let world = World::classes();
    let inputs = world.inputs(12);
    let cost = |effort| {
        let search = Search { effort, way: Way::Evolution, ..Search::clue() };
        mean(&costs(&world.explain(&search, &inputs, 7)))
    };
    let [few, quick, normal] = [Effort::Evaluations(20), Effort::Quick, Effort::Normal].map(cost);
    assert!(normal < quick && quick < few, "{few}, {quick}, {normal}");
}

#[test]
fn held_apart_at_once_or_one_by_one_clues_are_more_diverse_than_without() {
    let world = World::classes();
    let inputs = world.inputs(4);
    for (metric, space) in
        [(Diversity::Dpp, Space::Z), (Diversity::AveragePairwiseDistance, Space::X), (Diversity::Coverage, Space::X)]
    {
        let term = diversity(1.0, metric, space);
        let diverse = |search: &Search| {
            let found = world.explain(&evolved(120, search), &inputs, 8);
            mean(&found.iter().map(|e| measured(term.1, &e.input, &all_clues(e))).collect::<Vec<_>>())
        };
        let apart = diverse(&Search::delta_clue(ball(1.0), 4));
        for order in [Order::Simultaneous, Order::Sequential] {
            let held = diverse(&Search { order, ..Search::nabla_clue(ball(1.0), 4, term) });
            assert!(held > 1.05 * apart, "{metric} in {space}, {order:?}: {held} instead of {apart}");
        }
    }
}

#[test]
fn an_image_without_a_gradient_is_explained_within_its_range() {
    let world = World::images();
    let members = answers_only(&world);
    let models = Models::new(&world.generative, &members).with_schema(world.schema.as_ref().unwrap());
    for decoding in DECODINGS {
        let search = Search { decoding, effort: Effort::Evaluations(200), threshold: 0.9, ..Search::clue() };
        let found = search.explain(&models, &Background::default(), &world.inputs(4), Seed(9), &mut Silent).unwrap();
        for explanation in found {
            let (before, clue) = (&explanation.input, &explanation.clues[0]);
            assert!(clue.uncertainty.total < before.uncertainty.total, "{decoding:?}");
            assert!(clue.x.iter().all(|pixel| (0.0..=1.0).contains(pixel)), "{:?}", clue.x);
        }
    }
}

const LAMBDA_X: f32 = 0.03;
const THRESHOLD: f32 = 0.5;
/// What a change counts beside the cost, in thresholds.
const CHANGE: f32 = 0.04;

/// Boosted trees that learned the classes of a table's rows, with these rows as the background of a portfolio.
fn trees(world: &World) -> (Boosted, Background) {
    let plan = BoostedPlan { members: 2, ..BoostedPlan::default() };
    let trees = Boosted::fit(&plan, &world.samples, &world.task, Seed(0), &|| Ok(())).unwrap();
    let says = predict(&trees, &world.samples, &world.task).unwrap();
    let uncertainty = says.into_iter().map(|prediction| prediction.uncertainty).collect();
    let schema = world.schema.as_ref().unwrap();
    let rows = TrainingRows::new(schema, Arc::new(world.samples.clone()), uncertainty, None).unwrap();
    (trees, Background { rows: Some(Arc::new(rows)), ..Background::default() })
}

fn by_portfolio() -> Search {
    let mut search = Search { threshold: THRESHOLD, portfolio: Some(Portfolio::default()), ..Search::clue() };
    search.objective.input = Weighted(LAMBDA_X, Distance::L1);
    search
}

#[test]
fn trees_on_a_table_are_explained_by_the_portfolio_without_a_generative_model() {
    let world = World::table("");
    let (trees, background) = trees(&world);
    let (columns, schema) = (InputSpace { width: world.samples.width }, world.schema.as_ref().unwrap());
    let models = Models::new(&columns, &trees).with_schema(schema);
    let says = predict(&trees, &world.samples, &world.task).unwrap();
    let unsure = cluekit::prediction::ranked(&says, Uncertainty::Total);
    let inputs = Inputs::of(&world.samples, &unsure[..8], &world.task).unwrap();
    // What need not change may go back for some cost, so nothing does here.
    let portfolio = Some(Portfolio { minimal: false, ..Portfolio::default() });
    let one = Search { portfolio, ..by_portfolio() };
    for search in [one.clone(), Search { count: 4, delta: Delta::Auto, ..one }] {
        let found = search.explain(&models, &background, &inputs, Seed(1), &mut Silent).unwrap();
        for explanation in &found {
            let clue = &explanation.clues[0];
            assert!(clue.accepted && !clue.changes.is_empty() && clue.steps == 0, "{clue:?}");
            let before = schema.decode_row(&explanation.input.x);
            // H + λ_x d of a row, and what each of its changes counts beside that.
            let cost = |x: &[f32], uncertainty: f32| {
                uncertainty + LAMBDA_X * x.iter().zip(&explanation.input.x).map(|(a, b)| (a - b).abs()).sum::<f32>()
            };
            let changes = |x: &[f32]| schema.changed(&before, &schema.decode_row(x)).len();
            let price = |x: &[f32], amount: f32| cost(x, amount) + CHANGE * THRESHOLD * changes(x) as f32;
            let certain = (0..ROWS).filter(|&row| says[row].uncertainty.total < THRESHOLD);
            let row_cost = |row: usize| cost(world.samples.row(row), says[row].uncertainty.total);
            let nearest = certain.min_by(|&a, &b| row_cost(a).total_cmp(&row_cost(b))).unwrap();
            let ours = price(&clue.x, clue.uncertainty.total);
            let theirs = price(world.samples.row(nearest), says[nearest].uncertainty.total);
            assert!(ours <= theirs + 1e-5, "{ours} where a training row costs {theirs}");
        }
    }
}

#[test]
fn beside_a_portfolio_evolution_is_asked_for_by_its_name_by_an_effort_or_by_a_ball() {
    let world = World::table("");
    let (trees, background) = trees(&world);
    let columns = InputSpace { width: world.samples.width };
    let models = Models::new(&columns, &trees).with_schema(world.schema.as_ref().unwrap());
    let steps = |search: Search| {
        // Without anything that it tries, a portfolio keeps what the search found.
        let portfolio = Some(Portfolio { donors: 1, scan: cluekit::search::Scan::Off, ..Portfolio::default() });
        let none = Background { rows: background.rows.clone(), ..Background::default() };
        let search = Search { portfolio, threshold: 1e-6, advised: false, ..search };
        search.explain(&models, &none, &world.inputs(1), Seed(1), &mut Silent).unwrap()[0].clues[0].z.clone()
    };
    let still = steps(by_portfolio());
    for search in [
        Search { way: Way::Evolution, ..by_portfolio() },
        Search { effort: Effort::Evaluations(100), ..by_portfolio() },
        Search { effort: Effort::Thorough, ..by_portfolio() },
        Search { delta: ball(3.0), ..by_portfolio() },
    ] {
        assert_ne!(steps(search.clone()), still, "{search:?}");
    }
    let problem = Search { way: Way::Gradient, ..by_portfolio() };
    let problem = problem.explain(&models, &background, &world.inputs(1), Seed(1), &mut Silent).unwrap_err();
    assert!(matches!(problem, Error::NoGradient { model: "predictor" }), "{problem}");
}
