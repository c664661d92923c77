//! How an audit writes shares, counts and uncertainties.

use super::Subject;
use crate::wording::{figures, grouped};

/// `98.2 %`, with a space that does not break; never none or all of something where it is not so.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share + 0.0;
    match percent {
        few if few > 0.0 && few < 0.05 => "<0.1\u{a0}%".into(),
        99.95..100.0 => ">99.9\u{a0}%".into(),
        _ => format!("{percent:.1}\u{a0}%"),
    }
}

/// A number with its thousands set apart.
pub fn count(number: usize) -> String {
    grouped(&number.to_string())
}

/// An uncertainty or an error with its unit: two decimals of a nat, or two figures where these would be zeros; three
/// figures of anything else.
pub fn amount(value: f64, subject: &Subject) -> String {
    let number = match value {
        _ if subject.is_regression() => figures(value as f32, 3),
        tiny if tiny > 0.0 && tiny < 5e-5 => "<0.0001".into(),
        small if small > 0.0 && small < 0.095 => figures(small as f32, 2),
        _ => format!("{:.2}", value + 0.0),
    };
    number + &subject.unit_behind()
}

/// Probability of the likelier of two classes at an uncertainty of `nats`: 0.8 for 0.5; none above ln 2.
pub fn of_two(nats: f64) -> Option<f64> {
    let entropy = |p: f64| -(p * p.ln() + (1.0 - p) * (1.0 - p).ln());
    if !(nats > 0.0 && nats < std::f64::consts::LN_2) {
        return None;
    }
    let (mut low, mut high) = (0.5, 1.0 - 1e-12);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        // The entropy falls from ln 2 at one half to 0 at 1.
        *(if entropy(middle) > nats { &mut low } else { &mut high }) = middle;
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::table;
    use super::*;

    #[test]
    fn nearly_none_and_nearly_all_are_not_none_and_all() {
        let written =
            [0.0, 0.0004, 0.0005, 0.5, 0.9994, 0.9997, 1.0].map(|share| percent(share).replace('\u{a0}', " "));
        assert_eq!(written, ["0.0 %", "<0.1 %", "0.1 %", "50.0 %", "99.9 %", ">99.9 %", "100.0 %"]);
    }

    #[test]
    fn small_entropies_keep_figures_that_count() {
        let subject = Subject::new("run", "clients.csv", &table(), "test");
        let written = [0.0, -0.0, 1e-9, 0.0032, 0.0213, 0.1, 0.456].map(|value| amount(value, &subject));
        let expected = ["0.00", "0.00", "<0.0001", "0.0032", "0.021", "0.10", "0.46"];
        assert_eq!(written, expected.map(|number| format!("{number} nats")));
    }

    #[test]
    fn four_to_one_is_half_a_nat() {
        let nats = -(0.8 * 0.8_f64.ln() + 0.2 * 0.2_f64.ln());
        assert!((of_two(nats).unwrap() - 0.8).abs() < 1e-9);
        assert_eq!([0.0, -1.0, 0.7, f64::NAN].map(of_two), [None; 4]);
    }
}
