//! What every diversity obeys, so that a new one is tested on arrival.

use super::*;
use proptest::prelude::*;

const WIDTH: usize = 3;

/// Two to six points whose coordinates are probabilities; every other set on a grid, where many coincide and tie.
fn sets() -> impl Strategy<Value = Vec<f32>> {
    let grid = prop::sample::select(vec![0.0f32, 0.5, 1.0]);
    let rows = |coordinate: BoxedStrategy<f32>| {
        prop::collection::vec(prop::collection::vec(coordinate, WIDTH), 2..=6).prop_map(|rows| rows.concat())
    };
    prop_oneof![rows((0.0f32..=1.0).boxed()), rows(grid.boxed())]
}

fn set(points: &[f32]) -> Set<'_> {
    Set { points, width: WIDTH, original: Some(&[0.5, 0.25, 0.25]) }
}

/// Every metric with every distance that it can look at.
fn measured() -> impl Iterator<Item = (Diversity, Norm)> {
    let sensible = |(diversity, norm): &(Diversity, Norm)| diversity.check_distance(*norm).is_ok();
    Diversity::ALL.into_iter().flat_map(|diversity| Norm::ALL.map(|norm| (diversity, norm))).filter(sensible)
}

fn differentiable() -> impl Iterator<Item = (Diversity, Norm)> {
    measured().filter(|(diversity, _)| diversity.soft().is_none())
}

fn reversed<T: Clone>(rows: &[T]) -> Vec<T> {
    rows.chunks(WIDTH).rev().flatten().cloned().collect()
}

/// Equal up to a relative tolerance; also both −∞.
fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Points without ties, of which no two are near each other; distributions if they have more than one coordinate.
fn scattered(count: usize, width: usize) -> Points {
    let value = |n: usize| 0.5 + 0.45 * (1.7 + 12.9898 * n as f64).sin();
    let mut coordinates: Vec<f64> = (0..count * width).map(value).collect();
    for point in coordinates.chunks_mut(width).filter(|point| point.len() > 1) {
        let total: f64 = point.iter().sum();
        point.iter_mut().for_each(|coordinate| *coordinate /= total);
    }
    Points { coordinates, width, original: vec![1.0 / width as f64; width], norm: Norm::L2 }
}

proptest! {
    #[test]
    fn a_diversity_stays_within_its_bounds(points in sets()) {
        for (diversity, norm) in measured() {
            let (least, greatest) = diversity.bounds(WIDTH);
            let value = diversity.of_by(&set(&points), norm);
            prop_assert!((least..=greatest).contains(&value), "{diversity} by {norm}: {value}");
        }
    }

    #[test]
    fn a_diversity_ignores_the_order_of_candidates(points in sets()) {
        for (diversity, norm) in measured() {
            let (one, other) = (diversity.of_by(&set(&points), norm), diversity.of_by(&set(&reversed(&points)), norm));
            prop_assert!(close(one, other, 1e-9), "{diversity} by {norm}: {one} and {other}");
        }
    }

    /// Except between candidates that tie for the furthest, of which the first has the gradient.
    #[test]
    fn a_gradient_follows_its_candidate(points in sets()) {
        let smooth = |diversity: &Diversity| {
            !matches!(diversity, Diversity::Coverage | Diversity::RangeCoverage | Diversity::PredictionCoverage)
        };
        for (diversity, norm) in differentiable().filter(|(diversity, _)| smooth(diversity)) {
            let (_, gradient) = diversity.value_and_gradient_by(&set(&points), norm).unwrap();
            let (_, other) = diversity.value_and_gradient_by(&set(&reversed(&points)), norm).unwrap();
            let same = reversed(&gradient).into_iter().zip(other).all(|(a, b)| close(a, b, 1e-5));
            prop_assert!(same, "{diversity} by {norm}");
        }
    }

    #[test]
    fn a_gradient_is_finite_and_comes_with_the_same_value(points in sets()) {
        for (diversity, norm) in differentiable() {
            let (value, gradient) = diversity.value_and_gradient_by(&set(&points), norm).unwrap();
            prop_assert!(value == diversity.of_by(&set(&points), norm), "{diversity}");
            prop_assert_eq!(gradient.len(), points.len());
            prop_assert!(gradient.iter().all(|slope| slope.is_finite()), "{diversity}");
        }
    }

    #[test]
    fn another_candidate_never_lowers_what_is_covered(points in sets()) {
        use Diversity::{Coverage, DistinctLabels, PredictionCoverage, RangeCoverage, SoftDistinctLabels};
        for diversity in [Coverage, DistinctLabels, PredictionCoverage, RangeCoverage, SoftDistinctLabels] {
            let fewer = diversity.of(&set(&points[..points.len() - WIDTH]));
            prop_assert!(diversity.of(&set(&points)) >= fewer - 1e-12, "{diversity}");
        }
    }
}

#[test]
fn a_gradient_agrees_with_central_differences() {
    let step = 1e-6;
    for (diversity, norm) in differentiable() {
        for (count, width) in [(2, 1), (2, 4), (5, 2), (7, 10)] {
            let points = Points { norm, ..scattered(count, width) };
            let (_, gradient) = diversity.with_gradient_at(&points).unwrap();
            for (at, slope) in gradient.into_iter().enumerate() {
                let moved = |by: f64| {
                    let mut points = points.clone();
                    points.coordinates[at] += by;
                    diversity.at(&points)
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                assert!(
                    close(slope, difference, 1e-7),
                    "{diversity} by {norm} at {at}: {slope}, by differences {difference}"
                );
            }
        }
    }
}

#[test]
fn no_candidates_have_no_diversity_and_one_has_none_to_pairs() {
    for diversity in Diversity::ALL {
        assert_eq!(diversity.of(&set(&[])), 0.0);
        assert!(!diversity.compares_pairs() || diversity.of(&set(&[0.5, 0.25, 0.25])) == 0.0, "{diversity}");
    }
}

#[test]
fn one_candidate_covers_what_it_reaches_and_its_own_label() {
    // |0.8 − 0.5|, |0 − 0.25| and |0.2 − 0.25|, in the mean; one class of three.
    let value = |diversity: Diversity| diversity.of(&set(&[0.8, 0.0, 0.2]));
    assert!((value(Diversity::Coverage) - 0.2).abs() < 1e-7);
    assert_eq!(value(Diversity::RangeCoverage), 0.0);
    assert_eq!(value(Diversity::DistinctLabels), 1.0 / 3.0);
    assert!((value(Diversity::PredictionCoverage) - 1.0 / 3.0).abs() < 1e-7);
    assert!((value(Diversity::SoftDistinctLabels) - 1.0 / 3.0).abs() < 1e-7);
    assert_eq!(value(Diversity::LabelEntropy), 0.0);
}

#[test]
fn one_candidate_and_none_are_no_objective() {
    for diversity in Diversity::ALL {
        for points in [&[][..], &[0.5, 0.25, 0.25]] {
            if let Ok((value, gradient)) = diversity.value_and_gradient(&set(points)) {
                assert_eq!((value, gradient), (0.0, vec![0.0; points.len()]));
            }
        }
    }
}

#[test]
fn a_metric_has_a_gradient_exactly_if_it_may_be_an_objective() {
    let points = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    for diversity in Diversity::ALL {
        assert_eq!(diversity.check_objective().is_ok(), diversity.value_and_gradient(&set(&points)).is_ok());
    }
}

#[test]
fn a_name_reads_back_and_is_the_one_in_json() {
    for diversity in Diversity::ALL {
        assert_eq!(diversity.name().parse::<Diversity>().unwrap(), diversity);
        assert_eq!(serde_json::to_value(diversity).unwrap(), diversity.name());
    }
}

#[test]
fn the_default_space_is_one_that_makes_sense() {
    for diversity in Diversity::ALL {
        assert!(diversity.check_space(diversity.default_space()).is_ok());
    }
}

#[test]
fn a_hundred_candidates_in_twenty_dimensions_have_finite_numbers_that_move_them() {
    let points = scattered(100, 20);
    for (diversity, norm) in differentiable() {
        let (value, gradient) = diversity.with_gradient_at(&Points { norm, ..points.clone() }).unwrap();
        assert!(value.is_finite() && gradient.iter().all(|slope| slope.is_finite()), "{diversity}");
    }
    let (_, gradient) = Diversity::LogDpp.with_gradient_at(&points).unwrap();
    assert!(gradient.iter().all(|slope| slope.abs() > 0.0));
}

#[test]
fn a_hundred_candidates_in_one_place_have_finite_gradients() {
    let points = [0.5, 0.25, 0.25].repeat(100);
    for (diversity, norm) in differentiable() {
        let (_, gradient) = diversity.value_and_gradient_by(&set(&points), norm).unwrap();
        assert!(gradient.iter().all(|slope| slope.is_finite()), "{diversity}");
    }
}
