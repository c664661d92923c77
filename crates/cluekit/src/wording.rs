//! How labels, numbers and shares are written for people.

use crate::explanation::{Direction, Label, Original};

/// Between groups of three digits: a narrow space at which no line is broken.
const THIN_SPACE: char = '\u{202f}';

/// More classes than this are not listed.
const MOST_CLASSES: usize = 3;

/// Name of the class, or the value, that a label stands for.
pub fn label(label: Label, classes: &[String]) -> String {
    match label {
        Label::Class(class) => classes.get(class).cloned().unwrap_or_else(|| class.to_string()),
        Label::Value(value) => figures(value, 4),
    }
}

/// An uncertainty of a prediction: two decimals of a nat, or a deviation in the data's unit.
pub fn uncertainty(amount: f32, of: Label) -> String {
    match of {
        Label::Class(_) => format!("{:.2}", amount + 0.0),
        Label::Value(_) => figures(amount, 3),
    }
}

/// `Input 17: predicted 4, H 1.38, target 9`, with `detail` behind the prediction and `unit` behind values.
pub fn heading(input: &Original, classes: &[String], detail: &str, unit: &str) -> String {
    let predicted = label(input.label, classes);
    let amount = uncertainty(input.uncertainty.total, input.label);
    let name = input.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
    let mut text = format!("Input {}{name}: predicted {predicted}{unit}{detail}, H {amount}{unit}", input.index);
    if let Some(target) = input.target {
        text += &format!(", target {}{unit}", label(target, classes));
    }
    text
}

/// The greatest shares with their classes: `no 52%, yes 48%`; those that round to nothing are left out.
pub fn shares(shares: impl IntoIterator<Item = f64>, classes: &[String]) -> String {
    let mut shown: Vec<(usize, f64)> = shares.into_iter().enumerate().filter(|(_, share)| *share >= 0.005).collect();
    shown.sort_by(|a, b| b.1.total_cmp(&a.1));
    let written =
        |&(class, share): &(usize, f64)| format!("{} {:.0}%", label(Label::Class(class), classes), 100.0 * share);
    shown.iter().take(MOST_CLASSES).map(written).collect::<Vec<_>>().join(", ")
}

/// Where features go: `lower PAY_0, PAY_2; higher LIMIT_BAL; EDUCATION = 5`.
pub fn directions(directions: &[Direction]) -> String {
    let going = |to: &str| {
        let names: Vec<&str> = directions.iter().filter(|d| d.to == to).map(|d| d.feature.as_str()).collect();
        (!names.is_empty()).then(|| format!("{to} {}", names.join(", ")))
    };
    let others = directions.iter().filter(|direction| !["lower", "higher"].contains(&direction.to.as_str()));
    let others = others.map(|Direction { feature, to }| format!("{feature} = {to}"));
    let parts: Vec<String> = [going("lower"), going("higher")].into_iter().flatten().chain(others).collect();
    if parts.is_empty() { "no change".into() } else { parts.join("; ") }
}

/// A distance: about two figures that count, and never more than two decimals.
pub fn distance(value: f32) -> String {
    let decimals = match value {
        100.0.. => 0,
        1.0.. => 1,
        _ => 2,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// `value` with this number of significant figures, without zeros at the end and with all digits before the point.
pub fn figures(value: f32, figures: i32) -> String {
    let magnitude = value.abs().log10().floor();
    if !magnitude.is_finite() {
        return format!("{}", value + 0.0); // 0 or not finite
    }
    if !(-5.0..12.0).contains(&magnitude) {
        return format!("{value:.*e}", figures as usize - 1);
    }
    let decimals = (figures - 1 - magnitude as i32).max(0) as usize;
    let digits = format!("{value:.decimals$}");
    match digits.contains('.') {
        true => grouped(digits.trim_end_matches('0').trim_end_matches('.')),
        false => grouped(&digits),
    }
}

/// A written number with its thousands apart, if there are at least ten: `1234`, `20 000`.
pub fn grouped(number: &str) -> String {
    let start = number.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let length = number[start..].bytes().take_while(u8::is_ascii_digit).count();
    if length < 5 || number.contains(['e', 'E']) {
        return number.to_owned();
    }
    let (whole, rest) = number[start..].split_at(length);
    let mut out = number[..start].to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (length - index) % 3 == 0 {
            out.push(THIN_SPACE);
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_go_the_same_way_are_named_together() {
        let direction = |feature: &str, to: &str| Direction { feature: feature.into(), to: to.into() };
        let all = [("PAY_0", "lower"), ("LIMIT_BAL", "higher"), ("ZIP", "20095"), ("PAY_2", "lower")];
        let all = all.map(|(feature, to)| direction(feature, to));
        assert_eq!(directions(&all), "lower PAY_0, PAY_2; higher LIMIT_BAL; ZIP = 20095");
        assert_eq!(directions(&[]), "no change");
    }

    #[test]
    fn thousands_stand_apart_from_ten_of_them_on() {
        let written = ["1234", "-20000", "50000.25", "1234567", "0.123456", "1e20", "none"].map(grouped);
        let spaced = ["1234", "-20_000", "50_000.25", "1_234_567", "0.123456", "1e20", "none"];
        assert_eq!(written, spaced.map(|text| text.replace('_', "\u{202f}")));
    }

    #[test]
    fn figures_are_kept_to_what_matters() {
        let written = [27.123, 3.4, 0.080_34, 127.6, 99_960.0, 0.0, -0.0, 2.0].map(|value| figures(value, 3));
        assert_eq!(written, ["27.1", "3.4", "0.0803", "128", "99\u{202f}960", "0", "0", "2"]);
        assert_eq!([figures(1e-9, 3), figures(f32::NAN, 3), figures(2e20, 2)], ["1.00e-9", "NaN", "2.0e20"]);
    }

    #[test]
    fn a_distance_has_fewer_decimals_the_larger_it_is() {
        let written = [27.13, 3.4, 0.123, 127.6, 12_345.6, f32::NAN].map(distance);
        assert_eq!(written, ["27.1", "3.4", "0.12", "128", "12\u{202f}346", "NaN"]);
    }

    #[test]
    fn the_greatest_shares_come_first_and_nothing_is_left_out_quietly_but_the_tiny() {
        let classes = ["no", "yes", "maybe"].map(String::from);
        assert_eq!(shares([0.48, 0.52, 0.001], &classes), "yes 52%, no 48%");
        assert_eq!(shares([0.5, 0.5], &classes), "no 50%, yes 50%");
        assert_eq!(shares([f64::NAN], &classes), "");
    }

    #[test]
    fn a_class_without_a_name_is_its_number() {
        assert_eq!(label(Label::Class(7), &["no".into()]), "7");
        assert_eq!(label(Label::Value(21.375), &[]), "21.38");
    }
}
