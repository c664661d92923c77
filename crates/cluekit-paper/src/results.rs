//! `RESULTS.md`: what the paper claims, what we measured, and whether the claim held, on one page.

use super::record::ExperimentRecord;
use super::study_result::Verdict;
use std::fmt::Write;

/// The page for these records, in their order; `pictures` is the path from the page to their folders.
pub fn results_page(records: &[ExperimentRecord], pictures: Option<&str>) -> String {
    let mut page = String::from("# Results\n\n");
    let count = |verdict: Verdict| records.iter().filter(|record| record.verdict == verdict).count();
    let minutes = records.iter().map(|record| record.seconds).sum::<f64>() / 60.0;
    let _ = writeln!(
        page,
        "Made by `clue experiment {}{}`. {} in {minutes:.0} minutes: {} claims held, {} held partly, {} did \
         not hold.\nA trend counts as held from a rank correlation of 0.9 on, as held partly from 0.5 on.\n",
        if let [only] = records { only.name.as_str() } else { "all" },
        if records.iter().any(|record| record.quick) { " --quick" } else { "" },
        if records.len() == 1 { "1 experiment".into() } else { format!("{} experiments", records.len()) },
        count(Verdict::Held),
        count(Verdict::HeldPartly),
        count(Verdict::DidNotHold),
    );
    page += "| experiment | in the paper | verdict | seeds | time |\n|---|---|---|---|---|\n";
    for record in records {
        let seeds: Vec<String> = record.seeds.iter().map(ToString::to_string).collect();
        let seeds = if seeds.len() > 3 { format!("{} of them", seeds.len()) } else { seeds.join(", ") };
        let _ = writeln!(
            page,
            "| [{}](#{}) | {} | {} | {seeds} | {} |",
            cell(&record.spec.title),
            record.name,
            cell(&record.spec.paper),
            record.verdict,
            time(record.seconds)
        );
    }
    for record in records {
        chapter(&mut page, record, pictures);
    }
    page
}

fn chapter(page: &mut String, record: &ExperimentRecord, pictures: Option<&str>) {
    let ExperimentRecord { name, spec, verdict, checks, .. } = record;
    let _ = writeln!(page, "\n<a id=\"{name}\"></a>\n## {}\n\n`clue experiment {name}` · {}\n", spec.title, spec.paper);
    let _ = writeln!(page, "**Claim.** {}\n\n**Verdict: {verdict}.**\n", spec.claim);
    page.push_str("| what should be so | what was measured | |\n|---|---|---|\n");
    for check in checks {
        let _ = writeln!(page, "| {} | {} | {} |", cell(&check.says), cell(&check.figures), check.verdict);
    }
    if let Some(note) = &spec.note {
        let _ = writeln!(page, "\n{note}");
    }
    if let Some(folder) = pictures {
        for picture in &record.pictures {
            let _ = writeln!(page, "\n![{}]({folder}/{name}/{picture}.svg)", cell(&spec.title));
        }
    }
}

/// Text inside a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn time(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.1} s") } else { format!("{:.1} min", seconds / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Check, built_in};

    fn record(verdict: Verdict) -> ExperimentRecord {
        ExperimentRecord {
            name: "a-datasets".into(),
            version: "0".into(),
            revision: 0,
            quick: false,
            spec: built_in("a-datasets", false).unwrap(),
            verdict,
            checks: vec![Check::new("a | b", verdict, "1 → 2")],
            seeds: vec![0, 1, 2, 3],
            models: Default::default(),
            seconds: 100.0,
            pictures: vec!["figure".into()],
            tables: vec![],
        }
    }

    #[test]
    fn the_page_counts_verdicts_and_shows_every_claim_with_its_figures() {
        let page = results_page(&[record(Verdict::Held), record(Verdict::DidNotHold)], Some("pictures"));
        assert!(page.contains("2 experiments in 3 minutes: 1 claims held, 0 held partly, 1 did not hold"), "{page}");
        assert!(page.contains("| a \\| b | 1 → 2 | did not hold |"), "{page}");
        assert!(
            page.contains("](pictures/a-datasets/figure.svg)") && page.contains("| 4 of them | 1.7 min |"),
            "{page}"
        );
        assert!(!results_page(&[record(Verdict::Held)], None).contains("!["), "no folder, no picture");
    }
}
