//! Round numbers along an axis: 1, 2 or 5 times a power of ten, and how they are written.

/// A place on an axis with what is written beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Value at the tick.
    pub value: f64,
    /// Text beside the tick.
    pub label: String,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Plain numbers: `0.25`, `40k`.
    Plain,
    /// Percentages: `25 %`.
    Percent,
}

/// Round numbers between `low` and `high`, at most `most` and a few more if the ends are round themselves.
///
/// The ends are finite, `low` below `high`.
pub fn linear_ticks(low: f64, high: f64, most: usize, notation: Notation) -> Vec<Tick> {
    let step = Step::at_least((high - low) / most.max(1) as f64);
    // The slack lets a range that ends at 0.3 have a tick at 3 · 0.1.
    let slack = 1e-9;
    let first = (low / step.size() - slack).ceil();
    let count = (high / step.size() + slack).floor() - first;
    if !(0.0..=1000.0).contains(&count) {
        return Vec::new();
    }
    let largest = low.abs().max(high.abs());
    let values = (0..=count as usize).map(|i| step.times(first + i as f64));
    values.map(|value| Tick { value, label: written(value, step.exponent, largest, notation) }).collect()
}

/// Round numbers between `low` and `high` on a logarithmic axis: powers of ten, with 2 and 5 between if there is room.
pub(crate) fn log_ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |value: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(value);
    let among = |digits: &[f64]| -> Vec<f64> {
        let decades = (first..=last).flat_map(|e| digits.iter().map(move |&digit| Step { digit, exponent: e }.size()));
        decades.filter(inside).collect()
    };
    let fine = among(&[1.0, 2.0, 5.0]);
    let mut values = if fine.len() <= most { fine } else { among(&[1.0]) };
    if values.len() < 2 {
        return linear_ticks(low, high, most, Notation::Plain);
    }
    let stride = values.len().div_ceil(most.max(1));
    values = values.into_iter().step_by(stride).collect();
    let label = |value: f64| written(value, value.log10().floor() as i32, value, Notation::Plain);
    values.into_iter().map(|value| Tick { value, label: label(value) }).collect()
}

/// digit · 10^exponent with a digit of 1, 2 or 5.
struct Step {
    digit: f64,
    exponent: i32,
}

impl Step {
    fn at_least(raw: f64) -> Self {
        let exponent = raw.log10().floor() as i32;
        let candidates = [(1.0, exponent), (2.0, exponent), (5.0, exponent), (1.0, exponent + 1)];
        let steps = candidates.map(|(digit, exponent)| Self { digit, exponent });
        steps.into_iter().find(|step| step.size() >= raw * (1.0 - 1e-9)).unwrap_or(Self { digit: 1.0, exponent })
    }

    fn size(&self) -> f64 {
        self.times(1.0)
    }

    /// Divides by a power of ten rather than multiplying by its inverse, which is not exact.
    fn times(&self, count: f64) -> f64 {
        let power = 10_f64.powi(self.exponent.abs());
        if self.exponent < 0 { count * self.digit / power } else { count * self.digit * power }
    }
}

/// `value` with the digits that a step of 10^`exponent` needs, in a unit that suits the `largest` value of the axis.
fn written(value: f64, exponent: i32, largest: f64, notation: Notation) -> String {
    let (shift, unit) = match notation {
        Notation::Percent => (-2, " %".to_owned()),
        Notation::Plain if (1e-3..1e4).contains(&largest) => (0, String::new()),
        Notation::Plain if (1e4..1e6).contains(&largest) => (3, "k".to_owned()),
        Notation::Plain if (1e6..1e9).contains(&largest) => (6, "M".to_owned()),
        Notation::Plain if largest > 0.0 => {
            let power = largest.log10().floor() as i32;
            (power, format!("e{power}"))
        }
        Notation::Plain => (0, String::new()),
    };
    if value.abs() <= 0.0 && shift != 0 && notation == Notation::Plain {
        return "0".to_owned();
    }
    let decimals = (shift - exponent).clamp(0, 12) as usize;
    let scaled = if shift < 0 { value * 10_f64.powi(-shift) } else { value / 10_f64.powi(shift) };
    let text = format!("{scaled:.decimals$}{unit}");
    // Minus zero, and the hyphen as a sign.
    if scaled.abs() <= 0.0 { text.trim_start_matches('-').to_owned() } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<Tick>) -> Vec<String> {
        ticks.into_iter().map(|tick| tick.label).collect()
    }

    fn linear(low: f64, high: f64, most: usize) -> Vec<String> {
        labels(linear_ticks(low, high, most, Notation::Plain))
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        assert_eq!(linear(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(linear(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(linear(-1.3, 2.7, 5), ["−1", "0", "1", "2"]);
        assert_eq!(linear(0.0, 0.3, 3), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(linear(3.0, 17.0, 3), ["5", "10", "15"]);
    }

    #[test]
    fn large_and_small_numbers_get_a_unit() {
        assert_eq!(linear(0.0, 50_000.0, 3), ["0", "20k", "40k"]);
        assert_eq!(linear(1e6, 2e6, 2), ["1.0M", "1.5M", "2.0M"]);
        assert_eq!(linear(0.0, 4e-5, 2), ["0", "2e−5", "4e−5"]);
        assert_eq!(linear(0.0, 4e12, 2), ["0", "2e12", "4e12"]);
    }

    #[test]
    fn percentages_are_written_as_such() {
        assert_eq!(labels(linear_ticks(0.0, 1.0, 2, Notation::Percent)), ["0 %", "50 %", "100 %"]);
        assert_eq!(labels(linear_ticks(0.97, 0.99, 4, Notation::Percent)).first().unwrap(), "97.0 %");
    }

    #[test]
    fn logarithmic_axes_have_decades_and_what_fits_between() {
        assert_eq!(labels(log_ticks(1.0, 10.0, 5)), ["1", "2", "5", "10"]);
        assert_eq!(labels(log_ticks(0.01, 1000.0, 6)), ["0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!(labels(log_ticks(1e-6, 1e6, 4)).len(), 4);
        assert_eq!(labels(log_ticks(3.0, 4.0, 3)), ["3.0", "3.5", "4.0"]);
    }

    #[test]
    fn extreme_ranges_stay_bounded() {
        for (low, high) in [(-1e300, 1e300), (1e-300, 2e-300), (1e15, 1e15 + 1.0), (0.0, 1e-320)] {
            assert!(linear_ticks(low, high, 6, Notation::Plain).len() <= 12, "{low} to {high}");
        }
    }
}
