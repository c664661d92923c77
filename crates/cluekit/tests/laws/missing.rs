//! What is missing in an input may be filled in, and no clue makes a value missing.

use super::*;
use cluekit::search::{Portfolio, Scan, TrainingRows, Usual};
use std::sync::Arc;

/// For each feature of a clue: its name, and whether it is missing in the input and in the clue.
type Step = (String, [bool; 2]);

fn steps(schema: &Schema, from: &[f32], to: &[f32]) -> Vec<Step> {
    let rows = schema.decode_row(from).into_iter().zip(schema.decode_row(to));
    let step = |(feature, (from, to)): (&Feature, (Value, Value))| {
        (feature.name.clone(), [feature.is_missing(&from), feature.is_missing(&to)])
    };
    schema.features.iter().zip(rows).map(step).collect()
}

/// The steps of all clues of some inputs, by every kind of search and by a portfolio.
fn steps_of_searches(world: &World) -> Vec<Step> {
    let schema = world.schema.as_ref().unwrap();
    let inputs = world.inputs(8);
    let uncertainty = world.predictions().into_iter().map(|prediction| prediction.uncertainty).collect();
    let samples = Arc::new(world.samples.clone());
    let rows = TrainingRows::new(schema, samples.clone(), uncertainty, None).unwrap();
    let usual = Usual::among(schema, samples).map(Arc::new);
    let background = Background { rows: Some(Arc::new(rows)), usual, ..world.background() };
    let portfolio = Portfolio { scan: Scan::Two, ..Portfolio::default() };
    let tried = Search { threshold: 0.6, portfolio: Some(portfolio), ..Search::delta_clue(ball(2.0), 4) };
    let all = searches().into_iter().map(|(_, search)| after(8, &search)).chain([tried]);
    let mut taken = Vec::new();
    for search in all {
        for explanation in search.explain(&world.models(), &background, &inputs, Seed(1), &mut Silent).unwrap() {
            let of_clue = |clue: &Clue| steps(schema, &explanation.input.x, &clue.x);
            taken.extend(explanation.clues.iter().flat_map(of_clue));
        }
    }
    taken
}

#[test]
fn no_clue_makes_a_value_missing_and_some_fill_one_in() {
    let world = World::with_gaps("");
    let steps = steps_of_searches(&world);
    assert_eq!(steps.iter().find(|(_, missing)| *missing == [false, true]), None);
    for names in [["AGE", "RATE"], ["MEMBER", "JOB"]] {
        let is_filled_in = |(name, missing): &Step| names.contains(&name.as_str()) && *missing == [true, false];
        assert!(steps.iter().any(is_filled_in), "nobody fills in {names:?}");
    }
}

#[test]
fn what_may_not_change_stays_missing() {
    let world =
        World::with_gaps("immutable = ['AGE', 'JOB']\nranges = { RATE = [4, 9] }\nrelations = ['RATE <= GRADE']");
    let schema = world.schema.as_ref().unwrap();
    assert!(world.samples.x.chunks(schema.width()).any(|row| schema.decode_row(row)[0] == Value::Missing));
    let steps = steps_of_searches(&world);
    let is_immutable = |(name, _): &&Step| ["AGE", "JOB"].contains(&name.as_str());
    assert!(steps.iter().filter(is_immutable).all(|(_, missing)| missing[0] == missing[1]));
    assert_eq!(steps.iter().find(|(_, missing)| *missing == [false, true]), None);
}

#[test]
fn no_mapper_makes_a_value_missing() {
    let world = World::with_gaps("");
    let schema = world.schema.as_ref().unwrap();
    let inputs = world.inputs(30);
    for kind in amortise::kinds() {
        let proposals = amortise::proposals(&world, &inputs, &amortise::fit(&world, kind, 1));
        let (models, background) = (world.models(), Background::default());
        let prepared = amortise::search(0).prepare(&models, &background, &inputs).unwrap();
        for (input, clues) in prepared.certify(&proposals).unwrap().iter().enumerate() {
            for clue in clues {
                let made = steps(schema, &inputs.x()[input * inputs.width()..][..inputs.width()], &clue.x);
                assert_eq!(made.iter().find(|(_, missing)| *missing == [false, true]), None, "{kind:?}");
            }
        }
    }
}
