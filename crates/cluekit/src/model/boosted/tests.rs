//! Boosted trees as a whole: what they learn, what they never do, and what they refuse.

use super::*;
use crate::data::{Scaling, Targets};
use crate::seed::Rng;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) fn classes(count: usize) -> Task {
    Task::Classification { classes: (0..count).map(|class| class.to_string()).collect() }
}

pub(super) fn regression() -> Task {
    Task::Regression(Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: -9.0, greatest: 9.0 })
}

/// Points of [−1, 1]² with targets that depend on both columns: the sign of x₀ x₁, three sectors, or a value whose
/// noise is ten times larger on the right.
pub(super) fn samples_of(task: &Task, rows: usize) -> Samples {
    let mut rng = Seed(11).stream("samples");
    let x: Vec<f32> = (0..2 * rows).map(|_| rng.random_range(-1.0..1.0)).collect();
    let points = || x.chunks(2).map(|row| [row[0], row[1]]);
    let y = match task.classes().len() {
        0 => Targets::Values(points().map(|[a, b]| a + b * b + deviation(a) * normal(&mut rng)).collect()),
        2 => Targets::Classes(points().map(|[a, b]| u32::from(a * b > 0.0)).collect()),
        _ => Targets::Classes(points().map(|[a, b]| if a > 0.3 { 0 } else { 1 + u32::from(b > a) }).collect()),
    };
    Samples { x, width: 2, y, weights: None }
}

fn deviation(first: f32) -> f32 {
    if first > 0.0 { 0.5 } else { 0.05 }
}

fn normal(rng: &mut Rng) -> f32 {
    StandardNormal.sample(rng)
}

fn fit(plan: &BoostedPlan, samples: &Samples, task: &Task) -> Boosted {
    Boosted::fit(plan, samples, task, Seed(3), &|| Ok(())).unwrap()
}

/// Two members with few rounds.
pub(super) fn fitted(samples: &Samples, task: &Task) -> Boosted {
    fit(&BoostedPlan { members: 2, rounds: 12, ..BoostedPlan::default() }, samples, task)
}

fn rows_of(samples: &Samples) -> Tensor<2> {
    tensor(samples.x.clone(), [samples.len(), samples.width])
}

/// Mean over the members: probabilities of the classes, or mean and variance, `[rows, answers]`.
fn mean_answers(boosted: &Boosted, x: &Tensor<2>) -> Vec<f32> {
    let mean = |values: Tensor<2>| values.mean_dim(0).swap_dims(0, 1);
    match boosted.predict(x).unwrap() {
        Predictive::Classes { log_probabilities } => values(log_probabilities.exp().mean_dim(0)),
        Predictive::Gaussian { mean: means, variance } => values(Tensor::cat(vec![mean(means), mean(variance)], 1)),
    }
}

/// Share of the rows whose class is the most probable one.
fn accuracy(boosted: &Boosted, samples: &Samples) -> f64 {
    let Targets::Classes(labels) = &samples.y else { panic!("classes") };
    let probabilities = mean_answers(boosted, &rows_of(samples));
    let is_right = |(p, label): (&[f32], &u32)| p.iter().all(|other| *other <= p[*label as usize]);
    let right = probabilities.chunks(boosted.loss.answers()).zip(labels).filter(|row| is_right(*row)).count();
    right as f64 / labels.len() as f64
}

/// The last rows, which are not learned from, and the others.
fn halves(samples: &Samples) -> [Samples; 2] {
    let half = samples.len() / 2;
    [0..half, half..samples.len()].map(|rows| samples.select(&rows.collect::<Vec<_>>()))
}

#[test]
fn two_and_three_classes_are_learned() {
    for count in [2, 3] {
        let task = classes(count);
        let [train, test] = halves(&samples_of(&task, 4000));
        let share = accuracy(&fit(&BoostedPlan::default(), &train, &task), &test);
        assert!(share > 0.95, "{count} classes: {share}");
    }
}

#[test]
fn the_moons_are_learned() {
    let moons = crate::data::source::moons::make(Seed(0));
    let boosted = fit(&BoostedPlan::default(), &moons.train, &moons.schema.target.task);
    let share = accuracy(&boosted, &moons.test);
    assert!(share > 0.95, "{share}");
}

#[test]
fn mean_and_variance_of_a_value_follow_the_input() {
    let task = regression();
    let [train, test] = halves(&samples_of(&task, 6000));
    let boosted = fit(&BoostedPlan { rounds: 200, ..BoostedPlan::default() }, &train, &task);
    let (mut errors, mut sums) = (0.0, [[0.0f32; 2]; 2]);
    for (row, answer) in test.x.chunks(2).zip(mean_answers(&boosted, &rows_of(&test)).chunks(2)) {
        errors += (answer[0] - row[0] - row[1] * row[1]).abs() / test.len() as f32;
        let side = &mut sums[usize::from(row[0] > 0.0)];
        (side[0], side[1]) = (side[0] + answer[1].sqrt(), side[1] + 1.0);
    }
    let [left, right] = sums.map(|[sum, count]| sum / count);
    assert!(errors < 0.1, "{errors}");
    assert!((0.03..0.1).contains(&left) && (0.4..0.6).contains(&right), "{left} {right}");
}

/// Sum of −log p(y) up to a constant.
fn total_loss(boosted: &Boosted, samples: &Samples) -> f64 {
    let targets = boosted.loss.targets(&samples.y).unwrap();
    let mut total = 0.0;
    for (row, target) in samples.x.chunks(samples.width).zip(targets) {
        let mut scores = boosted.members[0].start.clone();
        boosted.members[0].trees.add(row, samples.width, boosted.loss.outputs(), &mut scores);
        total += f64::from(boosted.loss.value(&scores, target));
    }
    total
}

#[test]
fn the_loss_of_the_rows_learned_from_never_rises() {
    for task in [classes(2), classes(3), regression()] {
        let mut samples = samples_of(&task, 300);
        // Some labels are wrong, so that no leaf is pure.
        if let Targets::Classes(labels) = &mut samples.y {
            labels.iter_mut().step_by(7).for_each(|label| *label = 0);
        }
        for learning_rate in [0.3, 1.0] {
            let mut before = f64::INFINITY;
            for rounds in 1..15 {
                let plan = BoostedPlan {
                    members: 1,
                    rounds,
                    learning_rate,
                    rows: 1.0,
                    l2: 0.0,
                    least_in_leaf: 1,
                    ..BoostedPlan::default()
                };
                let loss = total_loss(&fit(&plan, &samples, &task), &samples);
                assert!(loss <= before, "{task:?}, rate {learning_rate}, round {rounds}: {loss} after {before}");
                before = loss;
            }
        }
    }
}

#[test]
fn one_round_on_a_toy_is_the_newton_step_by_hand() {
    // The start is ln(3/3) = 0: gradients ½, ½, −½, −½ and curvatures ¼.
    let samples =
        Samples { x: vec![0.0, 1.0, 2.0, 3.0], width: 1, y: Targets::Classes(vec![0, 0, 1, 1]), weights: None };
    let plan = BoostedPlan {
        members: 1,
        rounds: 1,
        depth: 1,
        rows: 1.0,
        columns: 1.0,
        least_in_leaf: 1,
        ..BoostedPlan::default()
    };
    let Member { start, trees } = &fit(&plan, &samples, &classes(2)).members[0];
    assert_eq!((start[0], trees.nodes[0].threshold), (0.0, 1.5));
    // ∓0.1 · 1 / (½ + 1)
    assert!((trees.leaves[0] + 0.1 / 1.5).abs() < 1e-7 && (trees.leaves[1] - 0.1 / 1.5).abs() < 1e-7);
}

#[test]
fn the_same_seed_gives_the_same_trees_on_any_number_of_threads() {
    let task = classes(3);
    let samples = samples_of(&task, 500);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitted(&samples, &task).parameters().values)
    };
    assert_eq!(on(1), on(3));
    let plan = BoostedPlan { members: 2, rounds: 12, ..BoostedPlan::default() };
    let other = Boosted::fit(&plan, &samples, &task, Seed(4), &|| Ok(())).unwrap();
    assert_ne!(on(1), other.parameters().values);
}

#[test]
fn members_differ_and_noise_stops_them_early() {
    let mut rng = Seed(1).stream("noise");
    let x: Vec<f32> = (0..3000).map(|_| rng.random()).collect();
    let y = Targets::Classes((0..1000).map(|_| rng.random_range(0..2)).collect());
    let boosted = fit(&BoostedPlan::default(), &Samples { x, width: 3, y, weights: None }, &classes(2));
    let trees: Vec<usize> = boosted.members.iter().map(|member| member.trees.len()).collect();
    assert!(trees.iter().all(|&count| count < 20), "{trees:?}");
    assert_ne!(boosted.members[0], boosted.members[1]);
}

#[test]
fn a_row_gets_the_same_answer_alone_and_among_others() {
    let task = classes(3);
    let samples = samples_of(&task, 1500);
    let boosted = fitted(&samples, &task);
    assert_eq!((boosted.samples(), boosted.has_gradient(), boosted.width()), (Some(2), false, 2));
    let log_probabilities = |x: Tensor<2>| match boosted.predict(&x).unwrap() {
        Predictive::Classes { log_probabilities } => values(log_probabilities),
        Predictive::Gaussian { .. } => panic!("classes"),
    };
    let all = log_probabilities(rows_of(&samples));
    for row in [0, 63, 64, 1024, 1499] {
        let alone = log_probabilities(tensor(samples.row(row).to_vec(), [1, 2]));
        assert_eq!(alone[..3], all[3 * row..3 * row + 3]);
        assert_eq!(alone[3..], all[3 * (1500 + row)..3 * (1500 + row) + 3]);
    }
    let Predictive::Classes { log_probabilities } = boosted.predict_by(&rows_of(&samples), &[1]).unwrap() else {
        panic!("classes")
    };
    assert_eq!(values(log_probabilities), all[4500..]);
}

#[test]
fn poor_data_make_poor_predictors_and_no_panic() {
    let nan = f32::NAN;
    for task in [classes(2), classes(3), regression()] {
        for x in [vec![1.0, 1.0], vec![0.0, 5.0], vec![nan, f32::INFINITY], vec![3.0], vec![2.0; 50]] {
            let y = match task {
                Task::Regression(_) => Targets::Values((0..x.len()).map(|row| [0.5, 1e9][row % 2]).collect()),
                Task::Classification { .. } => Targets::Classes(vec![1; x.len()]),
            };
            let plan = BoostedPlan { least_in_leaf: 1, l2: 0.0, ..BoostedPlan::default() };
            let boosted = fit(&plan, &Samples { x, width: 1, y, weights: None }, &task);
            let answers = mean_answers(&boosted, &tensor(vec![0.0, nan, f32::INFINITY], [3, 1]));
            assert!(answers.iter().all(|answer| answer.is_finite()), "{answers:?}");
        }
    }
}

#[test]
fn unusable_data_and_settings_are_refused() {
    let plan = BoostedPlan::default();
    let refusal = |samples: Samples, task: Task| {
        Boosted::fit(&plan, &samples, &task, Seed(0), &|| Ok(())).unwrap_err().to_string()
    };
    let two = || Targets::Classes(vec![0, 1]);
    let message = refusal(Samples { x: vec![0.0; 3], width: 2, y: two(), weights: None }, classes(2));
    assert!(message.contains("the training rows has shape [3], expected [2, 2]"), "{message}");
    for samples in [
        Samples { x: vec![], width: 0, y: two(), weights: None },
        Samples { x: vec![], width: 2, y: Targets::Classes(vec![]), weights: None },
    ] {
        assert!(refusal(samples, classes(2)).contains("teach boosted trees nothing"));
    }
    assert!(refusal(Samples { x: vec![0.0; 2], width: 1, y: two(), weights: None }, classes(0)).contains("nothing"));
    assert!(
        refusal(Samples { x: vec![0.0; 2], width: 1, y: two(), weights: None }, regression())
            .contains("targets of their task")
    );
    let boosted = fitted(&samples_of(&classes(2), 50), &classes(2));
    let error = boosted.predict(&tensor(vec![0.0; 3], [1, 3])).unwrap_err();
    assert_eq!(error.to_string(), "the input has shape [1, 3], expected [1, 2]");
}

#[test]
fn fitting_ends_when_it_is_told_to() {
    let asked = AtomicUsize::new(0);
    let go_on = || match asked.fetch_add(1, Ordering::Relaxed) {
        0..5 => Ok(()),
        _ => Err(Error::Cancelled { what: "fitting".into() }),
    };
    let samples = samples_of(&classes(2), 200);
    let error = Boosted::fit(&BoostedPlan::default(), &samples, &classes(2), Seed(0), &go_on).unwrap_err();
    assert_eq!(error.to_string(), "fitting was stopped");
}
