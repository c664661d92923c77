//! How values are spread along an axis that a few far ones do not stretch.
//!
//! The axis ends at the outermost value, but if the last 0.5 % of the values lie far out, it ends before them and they
//! count in the outer bin.

/// The share of values that may lie beyond an end of the axis.
const BEYOND: f64 = 0.005;

/// How many times longer the axis may be to show them after all.
const STRETCH: f64 = 1.5;

/// Number of equal parts of the axis in which values are counted.
pub const BINS: usize = 40;

/// Where an axis for `values`, all of them finite, begins and ends: it begins at 0 unless some are negative.
pub fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let beyond = (BEYOND * sorted.len() as f64) as usize;
    let end = |outermost: Option<&f64>, most: Option<&f64>| match (outermost, most) {
        (Some(&outermost), Some(&most)) if outermost.abs() > STRETCH * most.abs() => most,
        (outermost, _) => outermost.copied().unwrap_or(0.0),
    };
    let low = end(sorted.first(), sorted.get(beyond)).min(0.0);
    let high = end(sorted.last(), sorted.iter().rev().nth(beyond)).max(0.0);
    if high > low { (low, high) } else { (low, low + 1.0) }
}

/// How many of `values` lie in each of [`BINS`] equal parts between `low` and `high`.
pub fn counts(values: &[f64], (low, high): (f64, f64)) -> [usize; BINS] {
    let mut counts = [0; BINS];
    for value in values {
        // As a whole number, what lies below 0 is 0.
        let bin = ((value - low) / (high - low) * BINS as f64) as usize;
        counts[bin.min(BINS - 1)] += 1;
    }
    counts
}

/// Mean of `values`; none without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_in_two_hundred_may_lie_beyond_the_axis() {
        let with = |far: f64, count: u32| ends((1..count).map(f64::from).chain([far]));
        assert_eq!(with(1e9, 200), (0.0, 199.0));
        assert_eq!(with(1e9, 199), (0.0, 1e9), "one in 199 is too many to be left out");
        assert_eq!(with(250.0, 200), (0.0, 250.0), "not far enough to be left out");
        assert_eq!(with(-1e9, 200), (0.0, 199.0));
    }

    #[test]
    fn an_axis_has_room_for_negative_values_and_some_room_for_none() {
        assert_eq!(ends([-3.0, -1.0]), (-3.0, 0.0));
        assert_eq!(ends([]), (0.0, 1.0));
        assert_eq!(ends([0.0, 0.0]), (0.0, 1.0));
        assert_eq!(ends([2.0]), (0.0, 2.0));
    }

    #[test]
    fn what_lies_beyond_the_axis_counts_in_the_outer_bins() {
        let counts = counts(&[-5.0, 0.0, 0.4, 0.5, 1.0, 7.0], (0.0, 1.0));
        assert_eq!([counts[0], counts[16], counts[20], counts[39]], [2, 1, 1, 2]);
        assert_eq!(counts.iter().sum::<usize>(), 6);
    }

    #[test]
    fn the_mean_of_one_and_four_is_two_and_a_half_and_of_nothing_none() {
        assert_eq!(mean(&[1.0, 4.0]), Some(2.5));
        assert_eq!(mean(&[]), None);
    }
}
