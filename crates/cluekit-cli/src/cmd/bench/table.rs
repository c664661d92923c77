//! What was measured, as tables of text.

use super::document::{Against, Bench, EqualCost, Row, StepRow};
use cluekit_report::TextTable;
use serde_json::Value;

/// The tables, under a line that says what was measured where.
pub fn text(bench: &Bench) -> String {
    let Bench { run, samples, threads, cores, weights_mb, rounds, .. } = bench;
    let samples = samples.map_or(String::new(), |samples| format!("{samples} posterior samples, "));
    let mut text = format!(
        "{run}: {samples}{weights_mb:.1} MB of weights; {threads} threads on {cores} processors; medians of {rounds} rounds\n"
    );
    if let Some(against) = &bench.against {
        text += &opponent(against);
    }
    let other = if bench.against.is_some() { "their" } else { "full" };
    text += &format!("\n{}\n{}", seconds(&bench.rows, other).text(), quality(&bench.rows, other).text());
    if !bench.steps.is_empty() {
        text += &format!("\n{}", steps(&bench.steps).text());
    }
    if let Some(equal) = &bench.equal_cost {
        text += &format!("\n{}", equal_cost(equal));
    }
    if let Some(peak) = bench.peak_memory_mb {
        text += &format!("\nat most {peak:.0} MB of memory, beside {weights_mb:.1} MB of weights\n");
    }
    text
}

/// The other program, with what it says of itself in a word or a number.
fn opponent(against: &Against) -> String {
    let short = |(key, value): (&String, &Value)| match value {
        Value::String(word) => Some(format!("{key} {word}")),
        Value::Number(number) => Some(format!("{key} {number}")),
        _ => None,
    };
    let facts: Vec<String> = against.info.as_object().into_iter().flatten().filter_map(short).collect();
    format!("against {}: {}\n", against.command, facts.join(", "))
}

fn seconds(rows: &[Row], other: &str) -> TextTable {
    let headings = match other {
        "their" => {
            ["work", "inputs", "their s", "our s", "ratio", "their cost", "our cost", "our ms a clue", "peak MB"]
        }
        _ => ["work", "inputs", "full s", "s", "ratio", "full cost", "cost", "ms a clue", "peak MB"],
    };
    let row = |row: &Row| {
        vec![
            row.work.clone(),
            row.inputs.to_string(),
            three(row.other_seconds),
            three(row.ours_seconds),
            format!("{:.2}", row.ratio),
            four(row.other_cost),
            four(row.ours_cost),
            three(1e3 * row.ours_seconds_each),
            row.peak_memory_mb.map_or(String::new(), |peak| format!("{peak:.0}")),
        ]
    };
    TextTable::new(&headings, rows.iter().map(row).collect())
}

fn quality(rows: &[Row], other: &str) -> TextTable {
    let headings = match other {
        "their" => [
            "work",
            "inputs",
            "their H",
            "our H",
            "their d",
            "our d",
            "their DPP",
            "our DPP",
            "their share",
            "our share",
        ],
        _ => ["work", "inputs", "full H", "H", "full d", "d", "full DPP", "DPP", "full accepted", "accepted"],
    };
    let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.0}%", 100.0 * share));
    let row = |row: &Row| {
        vec![
            row.work.clone(),
            row.inputs.to_string(),
            four(row.other_uncertainty),
            four(row.ours_uncertainty),
            three(row.other_distance),
            three(row.ours_distance),
            row.other_dpp.map_or(String::new(), three),
            row.ours_dpp.map_or(String::new(), three),
            share(row.other_share_certain),
            share(row.ours_share_certain),
        ]
    };
    TextTable::new(&headings, rows.iter().map(row).collect())
}

fn steps(rows: &[StepRow]) -> TextTable {
    let milliseconds = |seconds: Option<f64>| seconds.map_or(String::new(), |seconds| three(1e3 * seconds));
    let row = |row: &StepRow| {
        vec![
            "one step".to_owned(),
            row.inputs.to_string(),
            milliseconds(row.other_seconds),
            milliseconds(row.ours_seconds),
            row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
        ]
    };
    TextTable::new(&["work", "inputs", "full ms", "ms", "ratio"], rows.iter().map(row).collect())
}

fn equal_cost(equal: &EqualCost) -> String {
    let EqualCost { inputs, other_cost, other_seconds, tried, .. } = equal;
    let goal =
        format!("{inputs} inputs at the cost of the paper's steps ({other_cost:.4}, {} s)", three(*other_seconds));
    match (equal.steps, equal.ours_seconds, equal.ratio) {
        (Some(steps), Some(seconds), Some(ratio)) => {
            format!("{goal}: {steps} steps, {} s, ratio {ratio:.2}\n", three(seconds))
        }
        _ => {
            let least = tried.iter().map(|tried| tried.cost).fold(f64::INFINITY, f64::min);
            format!("{goal}: not within {} steps ({least:.4})\n", tried.last().map_or(0, |tried| tried.steps))
        }
    }
}

/// Three digits that count.
fn three(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v >= 0.1 => 3,
        v if v >= 0.01 => 4,
        v if v > 0.0 => return format!("{value:.2e}"),
        _ => 0,
    };
    format!("{value:.digits$}")
}

fn four(value: f64) -> String {
    format!("{value:.4}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        assert_eq!([123.4, 12.34, 1.234, 0.1234, 0.01234].map(three), ["123", "12.3", "1.23", "0.123", "0.0123"]);
        assert_eq!([0.0, 0.001_234, 1.234e-12].map(three), ["0", "1.23e-3", "1.23e-12"]);
    }

    #[test]
    fn the_other_program_is_named_with_its_short_facts() {
        let info = serde_json::json!({"threads": 2, "torch": "2.9", "trials": [{"seconds": 1.0}]});
        let said = opponent(&Against { command: "python search.py".into(), info });
        assert_eq!(said, "against python search.py: threads 2, torch 2.9\n");
    }

    #[test]
    fn a_cost_that_is_not_reached_says_how_near_it_came() {
        let tried = [(10, 0.9), (60, 0.8)].map(|(steps, cost)| super::super::document::Tried { steps, cost });
        let equal = EqualCost {
            inputs: 100,
            other_cost: 0.75,
            other_seconds: 1.5,
            tried: tried.to_vec(),
            steps: None,
            ours_seconds: None,
            ratio: None,
        };
        let said = equal_cost(&equal);
        assert_eq!(
            said,
            "100 inputs at the cost of the paper's steps (0.7500, 1.50 s): not within 60 steps (0.8000)\n"
        );
    }
}
