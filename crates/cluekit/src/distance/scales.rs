//! What a difference in each column of a table is worth.

use super::Distance;
use crate::data::{ColumnKind, Schema};

/// The factor of each encoded column: 1 / MAD or 1 / range of a numeric one, 1 of a binary one, ½ of each column of a
/// category, since a change moves two of them.
pub(super) fn scales(kind: Distance, rows: &[f32], width: usize, schema: Option<&Schema>) -> Vec<f32> {
    let mut scales = vec![0.0; width];
    let column = |c: usize| -> Vec<f32> { rows.chunks_exact(width).map(|row| row[c]).collect() };
    let numeric = |c: usize| {
        let mut values = column(c);
        let unit = if kind == Distance::Mad { absolute_deviation(&mut values) } else { range(&values) };
        if unit > 0.0 { 1.0 / unit } else { 1.0 }
    };
    match schema {
        None => (0..width).for_each(|c| scales[c] = numeric(c)),
        Some(schema) => {
            for place in schema.distributions() {
                for c in place.range() {
                    scales[c] = match place.kind {
                        ColumnKind::Gaussian => numeric(c),
                        ColumnKind::Bernoulli => 1.0,
                        ColumnKind::Categorical => 0.5,
                    };
                }
            }
        }
    }
    scales
}

/// The median of |v − median|; where more than half of the values are equal, the mean of it.
fn absolute_deviation(values: &mut [f32]) -> f32 {
    let centre = median(values);
    let mut deviations: Vec<f32> = values.iter().map(|v| (v - centre).abs()).collect();
    let mean = deviations.iter().map(|&d| f64::from(d)).sum::<f64>() / deviations.len() as f64;
    match median(&mut deviations) {
        0.0 => mean as f32,
        deviation => deviation,
    }
}

fn median(values: &mut [f32]) -> f32 {
    values.sort_by(f32::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

fn range(values: &[f32]) -> f32 {
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    values.iter().copied().fold(f32::NEG_INFINITY, f32::max) - least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_absolute_deviation_of_five_numbers() {
        // Median 3, deviations 2 1 0 1 6: their median is 1.
        assert_eq!(absolute_deviation(&mut [1.0, 2.0, 3.0, 4.0, 9.0]), 1.0);
    }

    #[test]
    fn a_column_that_is_mostly_constant_is_weighed_by_its_mean_deviation() {
        assert_eq!(absolute_deviation(&mut [0.0, 0.0, 0.0, 4.0]), 1.0);
        assert_eq!(scales(Distance::Mad, &[5.0, 5.0], 1, None), [1.0]);
    }
}
