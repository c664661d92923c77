//! Weights of rows by which rare classes count as much as frequent ones.

use super::plan::ClassWeights;
use crate::data::{Samples, Targets};

/// The samples with the weights that training by this plan gives them.
///
/// `balanced`: of n rows, w_i n / (K W_k), where W_k is the weight of all rows of class k and K the number of classes that
/// occur. Each class weighs n / K, and the mean weight stays 1.
pub fn weighted(mut samples: Samples, plan: ClassWeights) -> Samples {
    let (ClassWeights::Balanced, Targets::Classes(labels)) = (plan, &samples.y) else { return samples };
    let own = |row: usize| samples.weights.as_ref().map_or(1.0, |weights| f64::from(weights[row]));
    let mut of_class = vec![0.0; labels.iter().max().map_or(0, |&most| most as usize + 1)];
    labels.iter().enumerate().for_each(|(row, &label)| of_class[label as usize] += own(row));
    let occurring = of_class.iter().filter(|&&weight| weight > 0.0).count();
    let each = labels.len() as f64 / occurring.max(1) as f64;
    let weight = |(row, &label): (usize, &u32)| match own(row) {
        weight if weight > 0.0 => (weight * each / of_class[label as usize]) as f32,
        _ => 0.0,
    };
    let weights = labels.iter().enumerate().map(weight).collect();
    samples.weights = Some(weights);
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(weights: Option<Vec<f32>>) -> Samples {
        Samples { x: vec![0.0; 4], width: 1, y: Targets::Classes(vec![0, 2, 0, 0]), weights }
    }

    #[test]
    fn each_class_that_occurs_weighs_the_same_and_the_mean_stays_one() {
        // Four rows, two classes: each class weighs 2; three rows share it, or one has it alone.
        let third = 2.0 / 3.0;
        let balanced = |weights| weighted(samples(weights), ClassWeights::Balanced).weights.unwrap();
        assert_eq!(balanced(None), [third, 2.0, third, third]);
        // With weights of their own the rows of a class share it by these: 0 : 1 : 3.
        assert_eq!(balanced(Some(vec![0.0, 0.5, 0.5, 1.5])), [0.0, 2.0, 0.5, 1.5]);
        assert_eq!(weighted(samples(None), ClassWeights::None), samples(None));
        let values = Samples { y: Targets::Values(vec![0.0; 4]), ..samples(None) };
        assert_eq!(weighted(values.clone(), ClassWeights::Balanced), values);
    }
}
