//! Two interleaving half circles: the smallest dataset on which a model can be certain and uncertain.
//!
//! upper: (cos t, sin t), lower: (1 − cos t, ½ − sin t), t ~ U(0, π), each with Gaussian noise of deviation 0.15.

use crate::data::{Constraints, Dataset, Feature, Kind, Samples, Scaling, Schema, Target, Targets, Task};
use crate::seed::{Rng, Seed};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use std::f64::consts::PI;

const TRAIN: usize = 2000;
const TEST: usize = 500;
const NOISE: f64 = 0.15;
/// Points lie on a grid this fine, so that they survive encoding like the values of any table.
const DECIMALS: u32 = 4;

/// Makes the dataset: 2000 training and 500 test rows, half of each class.
pub fn make(seed: Seed) -> Dataset {
    let points = points(TRAIN + TEST, &mut seed.stream("moons"));
    let feature = |name: &str, axis: usize| {
        let values: Vec<f64> = points.iter().map(|point| point[axis]).collect();
        let scaling = Scaling::fit(&values[..TRAIN]).expect("points near the unit circle are small numbers");
        let kind = Kind::Continuous(scaling.rounding_to(Some(DECIMALS), &values));
        (Feature { name: name.to_owned(), kind, unit: None, meaning: None, missing: None }, scaling)
    };
    let ((x1, first), (x2, second)) = (feature("x1", 0), feature("x2", 1));
    let x = points.iter().flat_map(|[a, b]| [first.encode(*a), second.encode(*b)]).collect();
    let y = Targets::Classes((0..points.len()).map(label).collect());
    let all = Samples { x, width: 2, y, weights: None };
    let part = |rows: std::ops::Range<usize>| all.select(&rows.collect::<Vec<_>>());
    let task = Task::Classification { classes: vec!["upper".to_owned(), "lower".to_owned()] };
    Dataset {
        name: "moons".to_owned(),
        schema: Schema {
            target: Target { name: "moon".to_owned(), task, unit: None, meaning: None },
            image: None,
            features: vec![x1, x2],
            constraints: Constraints::default(),
        },
        train: part(0..TRAIN),
        test: part(TRAIN..TRAIN + TEST),
        sources: vec![],
        notes: vec![],
        names: Default::default(),
    }
}

/// Classes alternate, so that every even part of the rows is balanced.
fn label(row: usize) -> u32 {
    (row % 2) as u32
}

fn points(count: usize, rng: &mut Rng) -> Vec<[f64; 2]> {
    let point = |row| {
        let t = rng.random_range(0.0..PI);
        let [x1, x2] = if label(row) == 0 { [t.cos(), t.sin()] } else { [1.0 - t.cos(), 0.5 - t.sin()] };
        [x1, x2].map(|v| {
            let noise: f64 = StandardNormal.sample(rng);
            let grid = 10f64.powi(DECIMALS as i32);
            ((v + NOISE * noise) * grid).round() / grid + 0.0
        })
    };
    (0..count).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;

    #[test]
    fn it_has_balanced_classes_and_a_valid_schema() {
        let moons = make(Seed(0));
        moons.schema.validate().unwrap();
        assert_eq!((moons.train.len(), moons.test.len(), moons.train.width), (2000, 500, 2));
        let Targets::Classes(labels) = &moons.train.y else { panic!("moons has classes") };
        assert_eq!(labels.iter().sum::<u32>(), 1000);
    }

    #[test]
    fn it_follows_the_seed() {
        assert_eq!(make(Seed(1)).train, make(Seed(1)).train);
        assert_ne!(make(Seed(1)).train, make(Seed(2)).train);
    }

    #[test]
    fn the_upper_moon_lies_within_its_noise_of_the_circle() {
        let moons = make(Seed(0));
        let radius = |row: usize| {
            let values = moons.schema.decode_row(moons.train.row(row));
            let [Value::Number(x1), Value::Number(x2)] = values[..] else { panic!("both are numbers") };
            x1.hypot(x2)
        };
        let upper: Vec<f64> = (0..2000).step_by(2).map(radius).collect();
        let mean = upper.iter().sum::<f64>() / 1000.0;
        let deviation = (upper.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 1000.0).sqrt();
        // Noise across the circle adds ½ · 0.15² to the mean radius.
        assert!((mean - 1.011).abs() < 0.02 && (deviation - 0.15).abs() < 0.015, "{mean} {deviation}");
    }

    #[test]
    fn columns_are_standardised_and_points_survive_encoding() {
        let moons = make(Seed(0));
        let mean = (0..2000).map(|row| f64::from(moons.train.row(row)[0])).sum::<f64>() / 2000.0;
        assert!(mean.abs() < 1e-6);
        for row in 0..500 {
            let values = moons.schema.decode_row(moons.test.row(row));
            assert_eq!(moons.schema.encode_row(&values).unwrap(), moons.test.row(row));
        }
    }
}
