//! Every diversity metric as the objective of ∇-CLUE, measured by all others: the ablation that the paper asks for. [Ley2022, App. D]

use super::metrics::{MEASURES, Measure, of_all};
use super::settings::settings;
use crate::laboratory::{Laboratory, delta_clue};
use crate::statistics::{figure, mean, spread_over_inputs};
use crate::study_result::{Check, StudyResult, Table, Verdict};
use cluekit::diversity::{Diversity, Space};
use cluekit::error::Result;
use cluekit::explanation::Explanation;
use cluekit::search::{DiversityTerm, Weighted};
use cluekit::seed::Seed;
use cluekit_plot::{Axis, ColourMap, Plot};
use cluekit_report::heatmap;

settings! {
    /// The weights that are tried, and how much uncertainty they may cost.
    pub struct Objectives: Clues {
        /// δ = r.
        pub delta: f32,
        /// Weights, from small to large; the largest that keeps clues certain is reported.
        pub weights: Vec<f32>,
        /// Mean H of the clues at the most, as a share of that of the inputs.
        pub most_uncertain: f64,
    }
}

/// An objective with the largest weight that keeps clues certain.
struct Row {
    name: String,
    /// Its own metric among the measures, if it is one of them.
    own: Option<usize>,
    weight: f32,
    metrics: Vec<f64>,
    uncertainty: f64,
    distance: f64,
}

impl Objectives {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let rows = stage.top(self.inputs).to_vec();
        let mut search = |term: Option<Weighted<DiversityTerm>>| {
            let mut search = delta_clue(self.delta, self.count, 0.0, self.steps)?;
            search.objective.diversity = term;
            lab.explain(&stage, &search, &rows, Seed(self.seed))
        };
        let measured = |name: String, own: Option<usize>, weight: f32, found: &[Explanation]| Row {
            name,
            own,
            weight,
            metrics: of_all(found),
            uncertainty: spread_over_inputs(found, |clue| clue.uncertainty.total)[1],
            distance: spread_over_inputs(found, |clue| clue.distance.input)[1],
        };
        let plain = measured("none (δ-CLUE)".into(), None, 0.0, &search(None)?);
        let before = mean(rows.iter().map(|&row| f64::from(stage.predictions[row].uncertainty.total)));
        let mut measured_rows = Vec::new();
        for metric in Diversity::ALL.into_iter().filter(|metric| metric.check_objective().is_ok()) {
            for &space in metric.spaces() {
                let mut best = None;
                for &weight in &self.weights {
                    let found =
                        search(Some(Weighted(weight, DiversityTerm { metric, space, ..DiversityTerm::default() })))?;
                    let row = measured(format!("{metric} in {space}"), own(metric, space), weight, &found);
                    if row.uncertainty <= self.most_uncertain * before || best.is_none() {
                        best = Some(row);
                    }
                }
                measured_rows.extend(best);
            }
        }
        Ok(StudyResult { seeds: vec![self.seed], ..StudyResult::default() }
            .checks(checks(&plain, &measured_rows))
            .table(table(&plain, &measured_rows))
            .picture("figure", picture(&plain, &measured_rows)?))
    }
}

/// The measure that an objective raises if it does what it should; soft counts stand for what they count.
fn own(metric: Diversity, space: Space) -> Option<usize> {
    let counted = Diversity::ALL.into_iter().find(|counting| counting.soft() == Some(metric)).unwrap_or(metric);
    let fits = |measure: &Measure| {
        measure.metric == counted && (space == Space::Y || measure.name.ends_with(&format!(" in {space}")))
    };
    let compared_by_place = matches!(counted, Diversity::Dpp | Diversity::LogDpp | Diversity::AveragePairwiseDistance);
    MEASURES.iter().position(fits).filter(|_| space != Space::Y || !compared_by_place)
}

fn table(plain: &Row, rows: &[Row]) -> Table {
    let mut headings = vec!["objective", "lambda_D"];
    headings.extend(MEASURES.iter().map(|measure| measure.name));
    headings.extend(["H", "d"]);
    let mut table = Table::new("objectives", &headings);
    for row in std::iter::once(plain).chain(rows) {
        let numbers = row.metrics.iter().copied().chain([row.uncertainty, row.distance]).map(Into::into);
        table.push([vec![row.name.as_str().into(), row.weight.into()], numbers.collect()].concat());
    }
    table
}

fn checks(plain: &Row, rows: &[Row]) -> Vec<Check> {
    // Of the measures that are not the objective itself, nor the logarithm of another.
    let others = |row: &Row| {
        let own = row.own.map(|own| MEASURES[own].name.trim_start_matches("log "));
        (0..MEASURES.len()).filter(move |&i| !MEASURES[i].name.starts_with("log") && Some(MEASURES[i].name) != own)
    };
    let improved = |row: &Row| others(row).filter(|&i| row.metrics[i] > plain.metrics[i]).count();
    let share = |row: &Row| improved(row) as f64 / others(row).count() as f64;
    // Of several that improve as many, the one that leaves clues most certain.
    let better = |a: &&Row, b: &&Row| share(a).total_cmp(&share(b)).then(b.uncertainty.total_cmp(&a.uncertainty));
    let best = rows.iter().max_by(better).expect("there are objectives");
    let dpp = rows.iter().find(|row| row.name == "dpp in z").expect("DPP in z is an objective");
    let all = others(dpp).count();
    let measured: Vec<(&Row, usize)> = rows.iter().filter_map(|row| Some((row, row.own?))).collect();
    let own = measured.iter().filter(|(row, own)| row.metrics[*own] > plain.metrics[*own]).count();
    vec![
        Check::new(
            "as an objective, each metric raises itself",
            Verdict::of_share(own, measured.len()),
            format!("{own} of {} objectives that are measures too", measured.len()),
        ),
        Check::new(
            "DPP in z, the paper's choice, improves almost every other metric",
            match improved(dpp) {
                count if count + 1 >= all => Verdict::Held,
                count if 2 * count >= all => Verdict::HeldPartly,
                _ => Verdict::DidNotHold,
            },
            format!(
                "{} of {all} at λ_D = {}, mean H {} → {}",
                improved(dpp),
                dpp.weight,
                figure(plain.uncertainty),
                figure(dpp.uncertainty)
            ),
        ),
        Check::that(
            "no other objective improves more of the others",
            share(best) <= share(dpp),
            format!(
                "{}: {} of {}, mean H {}",
                best.name,
                improved(best),
                others(best).count(),
                figure(best.uncertainty)
            ),
        ),
    ]
}

fn picture(plain: &Row, rows: &[Row]) -> Result<String> {
    let shown: Vec<usize> = (0..MEASURES.len()).filter(|&i| !MEASURES[i].name.starts_with("log DPP")).collect();
    let mut values = Vec::new();
    for row in rows.iter().rev() {
        values.extend(shown.iter().map(|&i| (row.metrics[i] / plain.metrics[i]).log2().clamp(-3.0, 3.0)));
    }
    let (columns, lines) = (shown.len(), rows.len());
    let mut map = heatmap(values, columns, lines, (-0.5, columns as f64 - 0.5), (-0.5, lines as f64 - 0.5))?;
    (map.map, map.range, map.label) = (ColourMap::Diverging, Some((-3.0, 3.0)), "log₂ of the ratio to δ-CLUE".into());
    let x = Axis::new("measured by").names(shown.iter().map(|&i| MEASURES[i].name.to_owned()).collect());
    let name = |row: &Row| format!("{} (λ {}, H {})", row.name, row.weight, figure(row.uncertainty));
    let y = Axis::new("").names(rows.iter().rev().map(name).collect());
    Ok(Plot::new("Every diversity as objective, measured by every other", x, y)
        .captioned("Red: more diverse than δ-CLUE; blue: less. In brackets the weight and the mean uncertainty.")
        .with(map)
        .sized(820.0, 560.0)
        .to_svg())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{DidNotHold, Held, HeldPartly};

    const DPP: &str = "dpp in z";

    fn place(name: &str) -> usize {
        MEASURES.iter().position(|measure| measure.name == name).unwrap()
    }

    /// An objective by which so many of the first measures are larger than those of δ-CLUE, and the others smaller.
    fn row(name: &str, own: &str, larger: usize) -> Row {
        let metrics = (0..MEASURES.len()).map(|i| if i < larger { 0.6 } else { 0.4 }).collect();
        Row { name: name.into(), own: Some(place(own)), weight: 1.0, metrics, uncertainty: 0.1, distance: 1.0 }
    }

    fn judged(rows: &[Row]) -> Vec<Verdict> {
        let metrics = vec![0.5; MEASURES.len()];
        let plain = Row { name: "none".into(), own: None, weight: 0.0, metrics, uncertainty: 0.1, distance: 1.0 };
        Check::verdicts(checks(&plain, rows))
    }

    #[test]
    fn the_papers_choice_raises_itself_and_most_others_and_no_other_raises_more() {
        let all = MEASURES.len();
        assert_eq!(judged(&[row(DPP, "DPP in z", all), row("other", "label entropy", all)]), [Held; 3]);
        // Nothing but DPP in x is larger, and another objective raises everything.
        let others = judged(&[row(DPP, "DPP in z", 1), row("other", "label entropy", all)]);
        assert_eq!(others, [HeldPartly, DidNotHold, DidNotHold]);
        assert_eq!(judged(&[row(DPP, "DPP in z", 1)])[0], DidNotHold);
    }

    #[test]
    fn almost_every_other_metric_is_all_but_one() {
        let all = MEASURES.len();
        // Logarithms do not count, nor does the metric itself.
        assert_eq!(judged(&[row(DPP, "DPP in z", all - 1)])[1], Held);
        assert_eq!(judged(&[row(DPP, "DPP in z", all - 2)])[1], HeldPartly);
    }
}
