//! Results as tables of text: headings, and rows of cells.

use crate::export::{Entry, Sheet, csv};
use cluekit::data::RejectedRow;
use cluekit::explainer::{ComparedMethod, Extremes, FitSummary, FittedGroup, Ranked, Ranking, SingleChange, SweepRow};
use cluekit::explanation::Label;
use cluekit::measure::{ClassifierHealth, Health, PredictorHealth, RegressorHealth};
use cluekit::prediction::UncertaintyParts;
use cluekit::wording;
use std::fmt::Write;

/// Rows of cells under their headings; every row has as many cells as there are headings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// What the columns are called.
    pub headings: Vec<&'static str>,
    /// The cells, row after row.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Rows under these headings.
    pub fn new(headings: &[&'static str], rows: Vec<Vec<String>>) -> Self {
        Self { headings: headings.to_vec(), rows }
    }

    /// The rows under their headings, columns aligned: numbers to the right and words to the left.
    pub fn text(&self) -> String {
        let Self { headings, rows } = self;
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..headings.len()).map(width).collect();
        let right: Vec<bool> =
            (0..headings.len()).map(|column| rows.iter().all(|row| is_number(&row[column]))).collect();
        let line = |cells: Vec<&str>| {
            let mut line = String::new();
            for (column, cell) in cells.iter().enumerate() {
                let _ = match right[column] {
                    true => write!(line, "{cell:>width$}  ", width = widths[column]),
                    false => write!(line, "{cell:<width$}  ", width = widths[column]),
                };
            }
            line.trim_end().to_owned() + "\n"
        };
        let mut text = line(headings.clone());
        for row in rows {
            text += &line(row.iter().map(String::as_str).collect());
        }
        text
    }

    /// The same without those of some columns in which no row has anything.
    fn without_empty(mut self, columns: std::ops::Range<usize>) -> Self {
        for column in columns.rev() {
            if self.rows.iter().all(|row| row[column].is_empty()) {
                self.headings.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell.trim_end_matches('%').trim().parse::<f64>().is_ok()
}

/// The most uncertain inputs, with what is predicted for them.
pub fn ranking_table(inputs: &[Ranked], classes: &[String]) -> TextTable {
    let show = |label: Label| match label {
        Label::Class(label) => classes.get(label).cloned().unwrap_or_else(|| label.to_string()),
        Label::Value(value) => format!("{value:.4}"),
    };
    let most_likely = |input: &Ranked| {
        let mut order: Vec<usize> = (0..input.probabilities.len()).collect();
        order.sort_by(|&a, &b| input.probabilities[b].total_cmp(&input.probabilities[a]));
        let parts = order.iter().take(3).map(|&c| format!("{} {:.0}%", classes[c], 100.0 * input.probabilities[c]));
        parts.collect::<Vec<_>>().join(", ")
    };
    let row = |input: &Ranked| {
        let UncertaintyParts { total, aleatoric, epistemic } = input.uncertainty;
        let name = input.name.as_ref();
        let mut row = vec![input.index.to_string()];
        row.push(name.map_or(String::new(), |name| name.row.to_string()));
        row.push(name.and_then(|name| name.id.clone()).unwrap_or_default());
        row.extend([total, aleatoric, epistemic].map(|amount| format!("{amount:.3}")));
        row.extend([
            show(input.label),
            input.target.map_or(String::new(), show),
            most_likely(input),
            matters(&input.matters),
        ]);
        row
    };
    let headings =
        ["index", "row", "id", "total", "aleatoric", "epistemic", "predicted", "target", "most likely", "matters most"];
    let table = TextTable::new(&headings, inputs.iter().map(row).collect());
    table.without_empty(9..10).without_empty(1..3)
}

/// The features that matter most, with what their best values alone would do: `PAY_0 2 → 0 (H 0.21)`.
fn matters(changes: &[SingleChange]) -> String {
    let one = |change: &SingleChange| {
        let SingleChange { feature, from, to, uncertainty } = change;
        format!("{feature} {from} → {to} (H {})", wording::uncertainty(*uncertainty, Label::Class(0)))
    };
    changes.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A ranking as text: its table, and a line for each row that was left out.
pub fn ranking_text(ranking: &Ranking, classes: &[String]) -> String {
    ranking_table(&ranking.inputs, classes).text() + &rejected_text(&ranking.rejected)
}

/// The table of a ranking as CSV, with the rows that were left out behind it.
pub fn ranking_csv(ranking: &Ranking, classes: &[String]) -> String {
    let table = ranking_table(&ranking.inputs, classes);
    let words = |cells: &[String]| cells.iter().map(|cell| Entry::of_text(cell)).collect::<Vec<_>>();
    let mut headings: Vec<String> = table.headings.iter().map(ToString::to_string).collect();
    headings.push("reason".into());
    let mut rows: Vec<Vec<Entry>> = table.rows.iter().map(|row| words(row)).collect();
    rows.iter_mut().for_each(|row| row.push(Entry::Empty));
    for rejected in &ranking.rejected {
        let cell = |heading: &str| match (heading, &rejected.name) {
            ("index", _) => Entry::Number(rejected.index as f64),
            ("row", Some(name)) => Entry::Number(name.row as f64),
            ("id", Some(name)) => name.id.as_ref().map_or(Entry::Empty, |id| Entry::Text(id.clone())),
            ("reason", _) => Entry::Text(rejected.reason.clone()),
            _ => Entry::Empty,
        };
        rows.push(headings.iter().map(|heading| cell(heading)).collect());
    }
    csv(&Sheet { headings, rows })
}

/// A line for each row that was left out.
pub fn rejected_text(rejected: &[RejectedRow]) -> String {
    rejected.iter().map(|row| format!("{row}\n")).collect()
}

/// The scores of both models on so many rows, beside those of the best constant answer, with what they mean.
pub fn health_table(health: &Health, rows: usize) -> TextTable {
    let mut lines = vec![HealthLine::new("rows", rows.to_string(), "")];
    match &health.predictor {
        PredictorHealth::Classifier(health) => lines.extend(classifier_lines(health)),
        PredictorHealth::Regressor(health) => lines.extend(regressor_lines(health)),
    }
    if let Some(health) = &health.generative {
        if let Some(elbo) = health.elbo {
            lines.push(HealthLine::new("elbo", format!("{elbo:.2}"), "nats a row, higher is better"));
        }
        let distance = format!("{:.3}", health.reconstruction_l1);
        lines.push(HealthLine::new("reconstruction", distance, "ℓ₁ distance, lower is better"));
        lines.push(HealthLine::new("latent dimensions", health.latent.to_string(), ""));
    }
    let row = |line: HealthLine| vec![line.measure, line.value, line.constant, line.meaning];
    let rows = lines.into_iter().map(row).collect();
    TextTable::new(&["measure", "value", "constant", "meaning"], rows).without_empty(2..3)
}

/// A score with its meaning, and that of the best constant answer where it has one.
struct HealthLine {
    measure: String,
    value: String,
    constant: String,
    meaning: String,
}

impl HealthLine {
    fn new(measure: impl Into<String>, value: String, meaning: &str) -> Self {
        Self { measure: measure.into(), value, constant: String::new(), meaning: meaning.into() }
    }

    fn beside(self, constant: Option<f64>) -> Self {
        Self { constant: constant.map_or(String::new(), four), ..self }
    }
}

fn four(value: f64) -> String {
    format!("{value:.4}")
}

fn classifier_lines(health: &ClassifierHealth) -> Vec<HealthLine> {
    let constant = health.constant.as_ref();
    let score = |measure: &str, value: f64, meaning: &str| HealthLine::new(measure, four(value), meaning);
    let mut lines = vec![
        score("error", health.error, "share of wrong labels, lower is better").beside(constant.map(|c| c.error)),
        score("nll", health.nll, "nats, lower is better").beside(constant.map(|c| c.nll)),
        score("brier", health.brier, "0 to 2, lower is better").beside(constant.map(|c| c.brier)),
    ];
    if let Some(auroc) = health.auroc {
        lines.push(score("auroc", auroc, "are rows of a class ranked first? 1 perfect").beside(Some(0.5)));
    }
    if let Some(auprc) = health.auprc {
        let line = score("auprc", auprc, "mean precision over recall, 1 perfect");
        lines.push(line.beside(constant.and_then(|c| c.auprc)));
    }
    lines.push(score("ece", health.ece, "gap between confidence and accuracy, lower is better"));
    let errors = health.auroc_errors.map_or("–".into(), four);
    lines.push(HealthLine::new("auroc of errors", errors, "does uncertainty spot errors? 0.5 blind, 1 perfect"));
    lines.push(HealthLine::new("posterior samples", health.samples.to_string(), ""));
    lines
}

fn regressor_lines(health: &RegressorHealth) -> Vec<HealthLine> {
    let constant = health.constant.as_ref();
    let score = |measure: &str, value: f64, meaning: &str| HealthLine::new(measure, four(value), meaning);
    let mut lines = vec![
        score("rmse", health.rmse, "in the target's unit, lower is better").beside(constant.map(|c| c.rmse)),
        score("nll", health.nll, "nats, lower is better").beside(constant.and_then(|c| c.nll)),
    ];
    if let Some(r2) = health.r2 {
        lines.insert(1, score("r2", r2, "share of the spread explained, 1 perfect").beside(Some(0.0)));
    }
    for interval in &health.coverage {
        let name = format!("{:.0}% interval", 100.0 * interval.nominal);
        lines.push(HealthLine::new(name, format!("{:.3}", interval.observed), "share of targets inside"));
    }
    lines.push(HealthLine::new("posterior samples", health.samples.to_string(), ""));
    lines
}

/// What each radius of a sweep gave.
pub fn sweep_table(sweep: &[SweepRow]) -> TextTable {
    let three = |spread: Extremes| spread.three().map(|value| format!("{value:.3}"));
    let row = |row: &SweepRow| {
        let mut cells = vec![format!("{:.3}", row.delta)];
        cells.extend(three(row.uncertainty));
        cells.extend(three(row.distance));
        cells.extend([format!("{:.3}", row.latent.mean), format!("{:.0}%", 100.0 * row.on_shell)]);
        cells.extend([format!("{:.1}", row.labels), format!("{:.0}%", 100.0 * row.accepted)]);
        cells
    };
    let headings =
        ["delta", "H least", "H mean", "H most", "d least", "d mean", "d most", "rho", "shell", "labels", "accepted"];
    TextTable::new(&headings, sweep.iter().map(row).collect())
}

/// Methods side by side, with their cost as a share of that of a mere reconstruction.
pub fn comparison_table(methods: &[ComparedMethod]) -> TextTable {
    let reconstruction = methods.iter().find(|row| row.method == "reconstruction").map(|row| row.cost);
    let row = |row: &ComparedMethod| {
        let milliseconds = |seconds: f64| format!("{:.3}", 1000.0 * seconds);
        vec![
            row.method.clone(),
            row.inputs.to_string(),
            format!("{:.3}", row.uncertainty),
            format!("{:.2}", row.distance),
            format!("{:.3}", row.cost),
            reconstruction.map_or(String::new(), |cost| format!("{:.3}", row.cost / cost)),
            row.class_kept.map_or(String::new(), |kept| format!("{:.0}%", 100.0 * kept)),
            format!("{:.0}%", 100.0 * row.certain),
            milliseconds(row.seconds_each),
            row.mapping_seconds_each.map_or(String::new(), milliseconds),
        ]
    };
    let headings =
        ["method", "inputs", "H", "d", "cost", "/ recon.", "class kept", "certain", "ms each", "mapping alone"];
    TextTable::new(&headings, methods.iter().map(row).collect())
}

/// What was fitted for each pair of groups; what no mapper of this kind has is left out.
pub fn fitted_table(groups: &[FittedGroup]) -> TextTable {
    let number = |value: Option<f64>, digits: usize| value.map_or(String::new(), |value| format!("{value:.digits$}"));
    let row = |group: &FittedGroup| {
        vec![
            group.name.clone(),
            group.uncertain.to_string(),
            group.certain.to_string(),
            format!("{:.3}", group.uncertain_above),
            format!("{:.3}", group.certain_below),
            group.lambda_theta.map_or(String::new(), |lambda| lambda.to_string()),
            group.clusters.map_or(String::new(), |clusters| clusters.to_string()),
            number(group.length, 2),
        ]
    };
    let headings = ["group", "uncertain", "certain", "above", "below", "lambda-theta", "clusters", "length"];
    TextTable::new(&headings, groups.iter().map(row).collect()).without_empty(5..8)
}

/// The same with the notes on groups, and where the mappers are kept.
pub fn fitted_text(fitted: &FitSummary) -> String {
    let mut text = fitted_table(&fitted.groups).text();
    for group in &fitted.groups {
        for note in &group.notes {
            text += &format!("note on {}: {note}\n", group.name);
        }
    }
    text + &format!("saved as {}\n", fitted.file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_words_to_the_left() {
        let rows = vec![vec!["a".into(), "1.5".into()], vec!["bcd".into(), "10.5".into()]];
        assert_eq!(TextTable::new(&["name", "h"], rows).text(), "name     h\na      1.5\nbcd   10.5\n");
    }

    #[test]
    fn a_column_in_which_no_row_has_anything_may_be_left_out() {
        let group = |clusters| FittedGroup {
            name: "4 → 4".into(),
            uncertain: 12,
            certain: 30,
            uncertain_above: 0.5,
            certain_below: 0.1,
            lambda_theta: None,
            clusters,
            length: None,
            notes: vec![],
        };
        let table = fitted_table(&[group(Some(2)), group(None)]);
        assert_eq!(table.headings, ["group", "uncertain", "certain", "above", "below", "clusters"]);
        assert_eq!(table.rows[1], ["4 → 4", "12", "30", "0.500", "0.100", ""]);
    }
}
