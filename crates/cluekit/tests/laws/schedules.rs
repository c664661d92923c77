//! Searches that ask a few posterior samples at each step.

use super::*;
use std::sync::Mutex;

fn scheduled(schedule: &str, search: &Search) -> Search {
    Search { schedule: schedule.parse().unwrap(), ..search.clone() }
}

fn mean_cost(explanations: &[Explanation]) -> f64 {
    let costs: Vec<f64> = explanations.iter().flat_map(|e| &e.clues).map(|clue| f64::from(clue.cost)).collect();
    costs.iter().sum::<f64>() / costs.len() as f64
}

#[test]
fn a_phase_of_all_samples_is_the_schedule_of_all() {
    let world = World::classes();
    let inputs = world.inputs(5);
    for (name, search) in searches() {
        let all = world.explain(&scheduled("all", &search), &inputs, 3);
        assert_eq!(world.explain(&scheduled("4*30", &search), &inputs, 3), all, "{name}");
        assert_ne!(world.explain(&scheduled("1*30", &search), &inputs, 3), all, "{name}");
    }
}

#[test]
fn few_samples_give_the_same_bytes_on_any_number_of_threads() {
    let world = World::classes();
    let inputs = world.inputs(50);
    let on = |threads: usize, search: &Search| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&world.explain(search, &inputs, 3)).unwrap())
    };
    for (name, search) in searches() {
        let search = after(4, &scheduled("auto", &search));
        assert!(on(1, &search) == on(3, &search), "{name}");
    }
}

#[test]
fn few_samples_give_an_input_the_same_clues_in_any_company() {
    let world = World::classes();
    let all = world.inputs(5);
    for (name, search) in searches() {
        let search = scheduled("1*10, 2*5", &search);
        let together = world.explain(&search, &all, 4);
        for row in [0, 3, 4] {
            let alone = world.explain(&search, &all.select(&[row]), 4);
            for (a, b) in alone[0].clues.iter().zip(&together[row].clues) {
                let near = a.x.iter().zip(&b.x).all(|(a, b)| (a - b).abs() < 1e-4);
                assert!(near, "{name}: input {row}: {:?} alone, {:?} among others", a.x, b.x);
            }
        }
    }
}

#[test]
fn clues_of_few_samples_stay_in_their_ball_and_take_all_their_steps() {
    let world = World::classes();
    for (name, search) in searches() {
        for explanation in world.explain(&scheduled("auto", &search), &world.inputs(6), 1) {
            for clue in &explanation.clues {
                assert_eq!(clue.steps, search.convergence.max_steps, "{name}");
                let Some(radius) = clue.delta else { continue };
                assert!(clue.distance.latent <= radius * 1.0001, "{name}: {} of {radius}", clue.distance.latent);
            }
        }
    }
}

#[test]
fn few_samples_cost_little_more_than_all_and_every_kind_of_uncertainty_is_reduced() {
    for world in [World::classes(), World::regression()] {
        let inputs = world.inputs(40);
        for kind in Uncertainty::ALL {
            let objective = Objective { uncertainty: UncertaintyWeights::only(kind), ..Objective::default() };
            let search = Search { objective, learning_rate: 0.25, ..Search::clue() };
            let all = mean_cost(&world.explain(&scheduled("all", &search), &inputs, 0));
            let few = mean_cost(&world.explain(&scheduled("auto", &search), &inputs, 0));
            let start = mean_cost(&world.explain(&after(0, &search), &inputs, 0));
            assert!(few - all < 0.2 * (start - all), "{kind}: {start} at the start, {few} with few, {all} with all");
        }
    }
}

/// A predictor that remembers which samples it was asked for.
struct Remembering<'a>(&'a Members, Mutex<Vec<Vec<usize>>>);

impl Predictor for Remembering<'_> {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        self.0.predict(x)
    }

    fn predict_by(&self, x: &Tensor<2>, samples: &[usize]) -> Result<Predictive> {
        self.1.lock().unwrap().push(samples.to_vec());
        self.0.predict_by(x, samples)
    }

    fn can_choose(&self) -> bool {
        true
    }

    fn samples(&self) -> Option<usize> {
        self.0.samples()
    }
}

#[test]
fn every_sample_is_asked_equally_often() {
    let world = World::classes();
    let predictor = Remembering(&world.predictor, Mutex::default());
    let models = Models::new(&world.generative, &predictor).with_task(&world.task);
    // Everything is accepted, so that no advice is looked for.
    let search = Search { threshold: 1e9, ..after(8, &scheduled("1*4, 2*4", &Search::clue())) };
    search.explain(&models, &world.background(), &world.inputs(1), Seed(0), &mut Silent).unwrap();
    let asked = predictor.1.into_inner().unwrap();
    assert_eq!(asked.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 1, 2, 2, 2, 2]);
    for sample in 0..SAMPLES {
        assert_eq!(asked.iter().flatten().filter(|&&asked| asked == sample).count(), 3);
    }
}
