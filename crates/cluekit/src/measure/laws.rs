//! What the measures obey whatever the numbers are.

use super::{Predictions, assert_close, auroc, ece, rejection_curve};
use proptest::prelude::*;

/// Scores with many ties, beside arbitrary kinds.
fn scores() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
    prop::collection::vec((-20_i32..20, any::<bool>()), 2..60)
        .prop_map(|rows| rows.into_iter().map(|(score, kind)| (f64::from(score) / 4.0, kind)).unzip())
}

/// Probabilities of three classes with labels.
fn predictions() -> impl Strategy<Value = (Vec<f32>, Vec<u32>)> {
    prop::collection::vec(([1_u32..1000, 1_u32..1000, 1_u32..1000], 0_u32..3), 1..80).prop_map(|rows| {
        let normalised = |weights: [u32; 3]| weights.map(|w| w as f32 / weights.iter().sum::<u32>() as f32);
        let labels = rows.iter().map(|row| row.1).collect();
        (rows.into_iter().flat_map(|row| normalised(row.0)).collect(), labels)
    })
}

proptest! {
    #[test]
    fn auroc_only_sees_the_order_of_the_scores((scores, positive) in scores()) {
        let mapped: Vec<f64> = scores.iter().map(|s| (s / 2.0).exp() - 3.0).collect();
        prop_assert_eq!(auroc(&scores, &positive), auroc(&mapped, &positive));
    }

    #[test]
    fn turning_the_scores_round_turns_auroc_round((scores, positive) in scores()) {
        let turned: Vec<f64> = scores.iter().map(|s| -s).collect();
        match (auroc(&scores, &positive), auroc(&turned, &positive)) {
            (Some(straight), Some(turned)) => assert_close(turned, 1.0 - straight, 1e-12),
            (straight, turned) => prop_assert_eq!(straight, turned),
        }
    }

    #[test]
    fn auroc_is_the_share_of_pairs_in_order((scores, positive) in scores()) {
        let side = |kind: bool| scores.iter().zip(&positive).filter(move |pair| *pair.1 == kind).map(|pair| *pair.0);
        let (mut pairs, mut in_order) = (0.0, 0.0);
        for high in side(true) {
            for low in side(false) {
                pairs += 1.0;
                in_order += if high > low { 1.0 } else if high < low { 0.0 } else { 0.5 };
            }
        }
        match auroc(&scores, &positive) {
            Some(area) => assert_close(area, in_order / pairs, 1e-12),
            None => prop_assert!(pairs < 1.0),
        }
    }

    #[test]
    fn scores_of_a_classifier_stay_in_their_ranges((probabilities, labels) in predictions()) {
        let predictions = Predictions::new(&probabilities, 3, &labels).unwrap();
        prop_assert!((0.0..=1.0).contains(&predictions.error()));
        prop_assert!((0.0..=2.0).contains(&predictions.brier()));
        prop_assert!((0.0..=1.0).contains(&ece(&predictions)));
        prop_assert!(predictions.nll() >= 0.0);
    }

    #[test]
    fn perfect_predictions_score_zero(labels in prop::collection::vec(0_u32..4, 1..50)) {
        let one_hot: Vec<f32> =
            labels.iter().flat_map(|&label| (0..4).map(move |c| if c == label { 1.0 } else { 0.0 })).collect();
        let predictions = Predictions::new(&one_hot, 4, &labels).unwrap();
        for score in [predictions.error(), predictions.brier(), predictions.nll(), ece(&predictions)] {
            assert_close(score, 0.0, 0.0);
        }
    }

    #[test]
    fn a_rejection_curve_begins_with_the_accuracy_and_stays_a_share((uncertainty, wrong) in scores()) {
        let curve = rejection_curve(&uncertainty, &wrong).unwrap();
        let right = wrong.iter().filter(|&&w| !w).count() as f64;
        assert_close(curve.points[0].accuracy, right / wrong.len() as f64, 1e-12);
        prop_assert!((0.0..=1.0 + 1e-12).contains(&curve.area));
        prop_assert!(curve.points.len() <= 100);
        prop_assert!(curve.points.windows(2).all(|pair| pair[0].kept > pair[1].kept));
    }
}
