//! An explanation as text for a terminal: what to change, and how certain the model becomes.
//!
//! Images have no changes that words could list, so each of their clues is one line.

use cluekit::data::{Schema, Value};
use cluekit::error::Remedy;
use cluekit::explanation::{Agreement, Change, Clue, Explanation, Label, Mode, Outside, Verdict};
use cluekit::wording::{directions, distance, grouped, heading, label, shares, uncertainty};
use std::fmt::Write;

const INDENT: &str = "     ";

/// The input, what of it is unlike the training rows, each clue with its changes in the data's own units, advice, and what the clues have in common.
///
/// `word` says how a remedy is written where this is read.
pub fn change_list(explanation: &Explanation, schema: &Schema, word: &dyn Fn(&Remedy) -> String) -> String {
    let words = Words::of(explanation, schema);
    let mut text = words.heading(explanation) + "\n";
    for outside in &explanation.input.outside {
        let _ = writeln!(text, "  {}", words.outside(outside));
    }
    for (index, clue) in explanation.clues.iter().enumerate() {
        let _ = writeln!(text, "{:>3}. → {}", index + 1, words.clue(clue));
        clue.changes.iter().for_each(|change| text += &words.change(change));
        if let Some(agreement) = clue.agreement.as_ref().filter(|_| clue.accepted) {
            let _ = writeln!(text, "{INDENT}{}", believed(agreement));
        }
        let beside = clue.accepted && clue.found_by.is_some();
        if let Some(odd) = clue.plausibility.filter(|plausibility| beside && plausibility.is_odd()) {
            let share = 100.0 * odd.share();
            let _ =
                writeln!(text, "{INDENT}odd: {share:.1} % of the training rows are as unusual; none better was found");
        }
        if !clue.accepted {
            let reason = clue.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            let _ = writeln!(text, "{INDENT}rejected{reason}");
        }
    }
    let advice = explanation.advice.as_ref().map(|advice| advice.worded(word));
    let certain = explanation
        .label_distribution
        .as_ref()
        .map(|distribution| format!("certain as: {}", shares(distribution.iter().copied(), words.classes)));
    let modes = match explanation.modes.iter().any(|mode| !mode.changes.is_empty()) {
        true => Some(kinds(&explanation.modes, words.classes)),
        false => (!explanation.modes.is_empty()).then(|| modes(&explanation.modes, words.classes)),
    };
    for line in [advice, certain, modes].into_iter().flatten() {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Who else is certain about a clue, of those who had no part in the search.
fn believed(agreement: &Agreement) -> String {
    let judges: Vec<&Verdict> = agreement.verdicts.iter().filter(|verdict| !verdict.asked).collect();
    let names = |certain: bool| {
        let named = judges.iter().filter(|verdict| verdict.certain == certain);
        named.map(|verdict| format!("{} (H {:.2})", verdict.juror, verdict.uncertainty)).collect::<Vec<_>>().join(", ")
    };
    match (names(true), names(false)) {
        (sure, unsure) if unsure.is_empty() => format!("believed by {sure}"),
        (sure, unsure) if sure.is_empty() => format!("doubted by {unsure}"),
        (sure, unsure) => format!("believed by {sure}, doubted by {unsure}"),
    }
}

/// How this data's labels and changes are written, with columns as wide as the widest.
struct Words<'a> {
    schema: &'a Schema,
    classes: &'a [String],
    /// Behind a predicted value.
    unit: String,
    feature_width: usize,
    from_width: usize,
}

impl<'a> Words<'a> {
    fn of(explanation: &Explanation, schema: &'a Schema) -> Self {
        let unit = schema.target.unit.as_ref().filter(|_| schema.target.task.is_regression());
        let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
        let classes = schema.target.task.classes();
        let words = Self { schema, classes, unit, feature_width: 0, from_width: 0 };
        let changes = || explanation.clues.iter().flat_map(|clue| &clue.changes);
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        let feature_width = widest(&mut changes().map(|change| change.feature.chars().count()));
        let from_width = widest(&mut changes().map(|change| words.value(change, &change.from).chars().count()));
        Self { feature_width, from_width, ..words }
    }

    fn heading(&self, explanation: &Explanation) -> String {
        let input = &explanation.input;
        let odds = shares(input.probabilities.iter().map(|&p| f64::from(p)), self.classes);
        let detail = if odds.is_empty() { odds } else { format!(" ({odds})") };
        heading(input, self.classes, &detail, &self.unit)
    }

    fn outside(&self, outside: &Outside) -> String {
        let feature = self.schema.features.iter().find(|feature| feature.name == outside.feature);
        let show = |value: f64| match feature {
            Some(feature) => grouped(&feature.show(&Value::Number(value))),
            None => grouped(&value.to_string()),
        };
        outside.worded(&show)
    }

    fn clue(&self, clue: &Clue) -> String {
        let amount = |amount| uncertainty(amount, clue.label);
        let parts = clue.uncertainty;
        let mut text = format!(
            "{}{unit}, H {}{unit} (aleatoric {}, epistemic {})",
            label(clue.label, self.classes),
            amount(parts.total),
            amount(parts.aleatoric),
            amount(parts.epistemic),
            unit = self.unit
        );
        if self.schema.image.is_none() {
            let _ = match clue.changes.len() {
                0 => write!(text, ", no change"),
                1 => write!(text, ", 1 change"),
                many => write!(text, ", {many} changes"),
            };
        }
        text += &format!(", d {}, ρ {}", distance(clue.distance.input), distance(clue.distance.latent));
        clue.mapper.as_ref().map_or(text.clone(), |mapper| format!("{text}, by {mapper}"))
    }

    fn change(&self, change: &Change) -> String {
        let (from, to) = (self.value(change, &change.from), self.value(change, &change.to));
        let unit = change.unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
        let (name, width, before) = (&change.feature, self.feature_width, self.from_width);
        format!("{INDENT}{name:<width$}  {from:>before$} → {to}{unit}\n")
    }

    /// A number with its thousands apart; a category is left as it is, even if it is written in digits.
    fn value(&self, change: &Change, text: &str) -> String {
        let feature = self.schema.features.iter().find(|feature| feature.name == change.feature);
        match feature.is_some_and(|feature| !feature.kind.is_written_in_words()) {
            true => grouped(text),
            false => text.to_owned(),
        }
    }
}

/// `2 kinds of change:`, and below it what each changes, the class that it ends in, and its clues.
fn kinds(modes: &[Mode], classes: &[String]) -> String {
    let mut text = format!("{} {} of change:", modes.len(), if modes.len() == 1 { "kind" } else { "kinds" });
    for mode in modes {
        let class = mode.label.map_or(String::new(), |class| format!(" → {}", label(Label::Class(class), classes)));
        let numbers: Vec<String> = mode.clues.iter().map(|place| (place + 1).to_string()).collect();
        let clues = if numbers.len() == 1 { "clue" } else { "clues" };
        let _ = write!(text, "\n{INDENT}{}{class} ({clues} {})", directions(&mode.changes), numbers.join(", "));
    }
    text
}

/// `3 modes: 2 of `no`, 1 of `yes``.
fn modes(modes: &[Mode], classes: &[String]) -> String {
    let all = format!("{} {}", modes.len(), if modes.len() == 1 { "mode" } else { "modes" });
    let mut labels: Vec<usize> = modes.iter().filter_map(|mode| mode.label).collect();
    labels.sort_unstable();
    let named = |class: usize| format!("of `{}`", label(Label::Class(class), classes));
    let groups: Vec<&[usize]> = labels.chunk_by(|a, b| a == b).collect();
    match groups.as_slice() {
        [] => all,
        [only] => format!("{all} {}", named(only[0])),
        several => {
            let parts: Vec<_> = several.iter().map(|group| format!("{} {}", group.len(), named(group[0]))).collect();
            format!("{all}: {}", parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::fixture::{client, digits, house, table};
    use cluekit::data::{Image, Scaling, Task};
    use cluekit::explanation::{Advice, Direction, FoundBy, Plausibility};

    fn shown(explanation: &Explanation, schema: &Schema) -> String {
        change_list(explanation, schema, &Remedy::to_string).replace('\u{202f}', "_")
    }

    #[test]
    fn changes_stand_below_each_other_in_the_units_of_the_data() {
        let expected = "\
Input 17: predicted no (no 52%, yes 48%), H 1.38, target yes
  1. → no, H 0.02 (aleatoric 0.01, epistemic 0.01), 3 changes, d 27.1, ρ 3.4
     LIMIT_BAL  20_000 → 50_000 NT$
     PAY_0           2 → 0
     ZIP         10115 → 20095
  2. → yes, H 0.02 (aleatoric 0.01, epistemic 0.01), 1 change, d 27.1, ρ 3.4
     PAY_0           2 → 1
     rejected: uncertainty 0.450 is not below 0.2
  certain as: no 71%, yes 29%
  3 modes: 2 of `no`, 1 of `yes`
";
        assert_eq!(shown(&client(), &table()), expected);
    }

    #[test]
    fn an_odd_clue_says_so() {
        let mut client = client();
        client.clues[0].found_by = Some(FoundBy::Scan);
        client.clues[0].plausibility = Some(Plausibility { reconstruction: 0.99, elbo: Some(0.012) });
        let text = shown(&client, &table());
        let odd = "     odd: 1.2 % of the training rows are as unusual; none better was found";
        assert_eq!(text.lines().nth(5), Some(odd));
        client.clues[0].plausibility = Some(Plausibility { reconstruction: 0.6, elbo: Some(0.4) });
        assert!(!shown(&client, &table()).contains("odd:"));
    }

    #[test]
    fn what_is_unlike_the_training_rows_is_said_first() {
        let mut client = client();
        client.input.outside = vec![Outside {
            feature: "LIMIT_BAL".into(),
            value: 200_000.0,
            beyond: true,
            range: [0.0, 90_000.0],
            usual: [10_000.0, 30_000.0],
            score: 6.0,
            unit: Some("NT$".into()),
        }];
        let text = shown(&client, &table());
        assert_eq!(
            text.lines().nth(1),
            Some("  LIMIT_BAL = 200_000 NT$ lies outside of what training rows hold (0 to 90_000 NT$)")
        );
    }

    #[test]
    fn images_have_a_line_a_clue() {
        let image = Some(Image { channels: 1, height: 2, width: 2, maximum: 255.0 });
        let schema = Schema { image, features: vec![], ..table() };
        let text = shown(&digits(12), &schema);
        assert_eq!(text.lines().count(), 13);
        assert!(text.contains("\n 12. → 9, H 0.02 (aleatoric 0.01, epistemic 0.01), d 27.1, ρ 3.4\n"), "{text}");
    }

    #[test]
    fn values_have_their_unit() {
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: 0.0, greatest: 1.0 };
        let mut schema = table();
        schema.target.task = Task::Regression(scaling);
        schema.target.unit = Some("€".into());
        let text = shown(&house(), &schema);
        assert!(
            text.starts_with("Input 17: predicted 21_400 €, H 1.38 €, target 19_000 €\n  1. → 20_500 €, H 0.02 €"),
            "{text}"
        );
    }

    #[test]
    fn modes_of_one_label_and_of_none_are_said_shortly() {
        let mode = |label| Mode { label, clues: vec![0], best: 0, changes: vec![] };
        assert_eq!(modes(&[mode(Some(1))], &["a".into(), "b".into()]), "1 mode of `b`");
        assert_eq!(modes(&[mode(None), mode(None)], &[]), "2 modes");
    }

    #[test]
    fn kinds_of_change_are_named_by_what_they_change() {
        let mut client = client();
        let direction = |feature: &str, to: &str| Direction { feature: feature.into(), to: to.into() };
        let changes = vec![direction("LIMIT_BAL", "higher"), direction("PAY_0", "lower"), direction("ZIP", "20095")];
        client.modes = vec![
            Mode { label: Some(0), clues: vec![0, 2], best: 0, changes },
            Mode { label: Some(1), clues: vec![1], best: 1, changes: vec![direction("PAY_0", "lower")] },
        ];
        let expected = "
  2 kinds of change:
     lower PAY_0; higher LIMIT_BAL; ZIP = 20095 → no (clues 1, 3)
     lower PAY_0 → yes (clue 2)
";
        assert!(shown(&client, &table()).ends_with(expected), "{}", shown(&client, &table()));
    }

    #[test]
    fn advice_comes_after_the_clues() {
        let mut client = client();
        client.advice = Some(Advice::NoMapper { remedies: vec![Remedy::Fit] });
        assert!(shown(&client, &table()).contains("below 0.2\n  no mapper serves this input"));
        let text = change_list(&client, &table(), &|_| "knock".into());
        assert!(text.contains("its classes: knock\n  certain as"), "{text}");
    }
}
