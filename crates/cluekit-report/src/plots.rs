//! The plots of an audit, each from one part of it.

use crate::{calibration_plot, rejection_plot, reliability_diagram};
use cluekit::audit::amounts::{amount, count};
use cluekit::audit::{Audit, ClassRow, GroupCard, LatentMap, Spread, Subject, UncertaintyBin, Unit};
use cluekit::measure::{PredictorHealth, Reach};
use cluekit::wording::figures;
use cluekit_plot::Axis;
use cluekit_plot::Grid;
use cluekit_plot::Plot;
use cluekit_plot::{Bar, Bars, Course, Line, Mark, Reference, Scatter};
use cluekit_plot::{Colour, ColourMap, PALETTE};
use std::collections::BTreeMap;

/// Steps of colour from sure to unsure.
const SHADES: usize = 6;
/// Classes that a plot has room for.
const MOST_CLASSES: usize = 40;
/// Groups that a plot has room for.
const MOST_GROUPS: usize = 40;

/// The plots that an audit has, by their names in the template.
pub(super) fn plots(audit: &Audit) -> BTreeMap<&'static str, String> {
    let mut plots = BTreeMap::new();
    let subject = &audit.subject;
    if let Some(trust) = &audit.trust {
        if let Some(reliability) = &trust.reliability {
            plots.insert("reliability", reliability_diagram(reliability));
        }
        if let Some(rejection) = &trust.rejection {
            plots.insert("rejection", rejection_plot(rejection));
        }
        if let PredictorHealth::Regressor(health) = &trust.health.predictor {
            plots.insert("coverage", calibration_plot(&health.coverage));
        }
    }
    if let Some(whereabouts) = &audit.uncertainty {
        plots.insert("spread", spread_plot(&whereabouts.spread, subject));
        plots.insert("tenths", tenths_plot(&whereabouts.spread, subject));
        if (1..=MOST_CLASSES).contains(&whereabouts.classes.len()) {
            plots.insert("classes", classes_plot(&whereabouts.classes, subject));
        }
    }
    let reached = audit.groups.as_ref().map_or(vec![], |groups| groups.by_reach(subject));
    if (2..=MOST_GROUPS).contains(&reached.len()) {
        plots.insert("groups", groups_plot(&reached));
    }
    if let Some(map) = &audit.latent {
        plots.insert("latent", latent_plot(map, subject));
    }
    plots
}

/// `uncertainty (nats)`, `uncertainty (€)`.
fn quantity(what: &str, subject: &Subject) -> String {
    match &subject.unit {
        Unit::Nats => format!("{what} (nats)"),
        Unit::Target(unit) if unit.is_empty() => what.into(),
        Unit::Target(unit) => format!("{what} ({unit})"),
    }
}

/// How many rows are how uncertain, the wrong ones beside the right ones.
fn spread_plot(spread: &Spread, subject: &Subject) -> String {
    let heights = || spread.bins.iter().map(|bin| bin.rows as f64);
    let (all, fullest) = (heights().sum::<f64>(), heights().fold(0.0, f64::max));
    let counts = Axis::new("inputs");
    // Where most rows are certain, the others could not be seen on an even scale.
    let y = if 2.0 * fullest > all { counts.log().between(0.7, 1.4 * fullest) } else { counts };
    // Empty bins have no bar, and yet tell that nothing is so unsure.
    let last = spread.bins.last().map_or(1.0, |bin| bin.upper);
    let x = Axis::new(quantity("total uncertainty", subject)).between(0.0, last);
    let mut plot = Plot::new("How unsure it is", x, y);
    if spread.beyond > 0 {
        plot = plot.captioned(format!(
            "The last bar also counts inputs that lie beyond it: {} of them, up to {}.",
            count(spread.beyond),
            amount(spread.greatest, subject)
        ));
    }
    let halves = |of: &dyn Fn(&UncertaintyBin) -> usize, place: f64, width: f64| -> Vec<Bar> {
        let bar = |bin: &UncertaintyBin| {
            let step = bin.upper - bin.lower;
            let left = bin.lower + place * step;
            Bar { left, right: left + width * step, foot: 0.0, top: of(bin) as f64 }
        };
        spread.bins.iter().filter(|bin| of(bin) > 0).map(bar).collect()
    };
    let layer = |bars: Vec<Bar>, colour: Colour, name: Option<&str>| Bars {
        bars,
        opacity: 1.0,
        colour: Some(colour),
        name: name.map(Into::into),
    };
    plot = match subject.is_regression() {
        true => plot.with(layer(halves(&|bin| bin.rows, 0.0, 1.0), Colour::BLUE, None)),
        false => plot
            .with(layer(
                halves(&|bin| bin.rows - bin.wrong.unwrap_or(0).min(bin.rows), 0.0, 0.5),
                Colour::BLUE,
                Some("right"),
            ))
            .with(layer(halves(&|bin| bin.wrong.unwrap_or(0), 0.5, 0.5), Colour::VERMILION, Some("wrong"))),
    };
    if let Some(above) = subject.unsure_above {
        plot = plot
            .with(Reference { course: Course::Vertical(f64::from(above)), name: Some("unsure from here on".into()) });
    }
    plot.to_svg()
}

/// Aleatoric and epistemic uncertainty of the rows, tenth by tenth, above their error.
fn tenths_plot(spread: &Spread, subject: &Subject) -> String {
    let names: Vec<String> = (1..=spread.tenths.len()).map(|tenth| tenth.to_string()).collect();
    let parts: Vec<[f64; 2]> = spread.tenths.iter().map(|tenth| [tenth.aleatoric, tenth.epistemic]).collect();
    let errors: Vec<f64> = spread.tenths.iter().map(|tenth| tenth.error).collect();
    let above = stacked(
        Plot::new(
            if subject.tells_kinds() { "Which kind it is" } else { "Tenth by tenth" },
            Axis::new("").names(names.clone()),
            Axis::new(quantity("mean", subject)),
        ),
        &parts,
        subject,
    );
    let y = match subject.is_regression() {
        true => Axis::new(quantity("error", subject)),
        false => Axis::new("wrong").percent(),
    };
    let below = Plot::new("", Axis::new("tenths of the inputs, the surest first").names(names), y)
        .with(Bars { colour: Some(Colour::VERMILION), ..Bars::at_names(&errors) })
        .sized(640.0, 170.0);
    Grid::new("", 1, vec![above.sized(640.0, 300.0), below]).to_svg()
}

/// What is unsure in each class.
fn classes_plot(classes: &[ClassRow], subject: &Subject) -> String {
    let names: Vec<String> = classes.iter().map(|class| class.name.clone()).collect();
    let parts: Vec<[f64; 2]> = classes.iter().map(|class| [class.aleatoric, class.epistemic]).collect();
    let plot = Plot::new("Class by class", Axis::new("true class").names(names), Axis::new("mean uncertainty (nats)"));
    stacked(plot, &parts, subject).to_svg()
}

/// Aleatoric parts with epistemic ones on top of them, or all of it where they cannot be told apart.
fn stacked(plot: Plot, parts: &[[f64; 2]], subject: &Subject) -> Plot {
    let bars = |ends: &dyn Fn(&[f64; 2]) -> (f64, f64)| -> Vec<Bar> {
        let bar = |(at, part): (usize, &[f64; 2])| {
            let (foot, top) = ends(part);
            Bar { left: at as f64 - 0.4, right: at as f64 + 0.4, foot, top }
        };
        parts.iter().enumerate().map(bar).collect()
    };
    let layer = |bars, colour, name: &str| Bars { bars, opacity: 1.0, colour: Some(colour), name: Some(name.into()) };
    if !subject.tells_kinds() {
        return plot.with(layer(bars(&|part| (0.0, part[0] + part[1])), PALETTE[0], "uncertainty"));
    }
    plot.with(layer(bars(&|part| (0.0, part[0])), PALETTE[0], "aleatoric")).with(layer(
        bars(&|part| (part[0], part[0] + part[1])),
        PALETTE[1],
        "epistemic",
    ))
}

/// How far the change of each group reaches, with its interval.
fn groups_plot(all: &[(&GroupCard, &Reach)]) -> String {
    let names = all.iter().map(|(group, _)| group.source().to_owned()).collect();
    let heights: Vec<f64> = all.iter().map(|(_, reach)| reach.certain.mean).collect();
    let y = Axis::new("become certain").percent().between(0.0, 1.0);
    let mut plot = Plot::new("How far what was learned reaches", Axis::new("group").names(names), y)
        .with(Bars { colour: Some(PALETTE[2]), ..Bars::at_names(&heights) })
        .sized(640.0, 320.0);
    let gap = (f64::NAN, f64::NAN);
    // One input tells nothing of how another would fare.
    let ends = all
        .iter()
        .enumerate()
        .filter(|(_, (_, reach))| reach.inputs > 1)
        .flat_map(|(at, (_, reach))| [(at as f64, reach.certain.low), (at as f64, reach.certain.high), gap]);
    plot = plot.with(Line {
        points: ends.collect(),
        colour: Some(PALETTE[7]),
        name: Some("95 % interval".into()),
        ..Line::default()
    });
    plot.to_svg()
}

/// Codes in the colour of their uncertainty, and the ways of accepted clues.
fn latent_plot(map: &LatentMap, subject: &Subject) -> String {
    let label = |at: usize| match map.explained {
        None => format!("z{}", ["₁", "₂"][at]),
        Some(shares) => format!("principal component {} ({:.0} % of the variance)", at + 1, 100.0 * shares[at]),
    };
    let mut plot = Plot::new("Latent space", Axis::new(label(0)), Axis::new(label(1))).sized(760.0, 620.0);
    let place = |at: [f32; 2]| (f64::from(at[0]), f64::from(at[1]));
    let greatest = map.points.iter().map(|point| f64::from(point.total)).fold(0.0, f64::max);
    let step = greatest / SHADES as f64;
    for shade in 0..SHADES {
        let within = |total: f32| ((f64::from(total) / step.max(f64::MIN_POSITIVE)) as usize).min(SHADES - 1) == shade;
        let points: Vec<_> = map.points.iter().filter(|p| within(p.total)).map(|p| place(p.at)).collect();
        let [from, to] = [shade, shade + 1].map(|end| figures((step * end as f64) as f32, 2));
        let name = format!("{from} to {to}");
        plot = plot.with(Scatter {
            points,
            radius: 2.2 + 0.35 * shade as f64,
            opacity: 0.85,
            colour: Some(ColourMap::Sequential.at(1.0 - (shade as f64 + 0.3) / SHADES as f64)),
            name: Some(if shade == 0 { quantity(&name, subject) } else { name }),
            ..Scatter::default()
        });
    }
    let accepted = || map.ways.iter().filter(|way| way.accepted);
    let gap = (f64::NAN, f64::NAN);
    let mut starts: Vec<[f32; 2]> = accepted().map(|way| way.from).collect();
    starts.dedup();
    if !starts.is_empty() {
        plot = plot
            .with(Line {
                // One way an input: all of them would hide what they lead through.
                points: accepted()
                    .filter(|way| way.cheapest)
                    .flat_map(|way| way.through.iter().map(|&at| place(at)).chain([gap]))
                    .collect(),
                colour: Some(PALETTE[4]),
                name: Some("way to the cheapest clue".into()),
                ..Line::default()
            })
            .with(Scatter {
                points: accepted().filter_map(|way| way.through.last()).map(|&at| place(at)).collect(),
                radius: 2.0,
                colour: Some(PALETTE[4]),
                name: Some("accepted clues".into()),
                ..Scatter::default()
            })
            .with(Scatter {
                points: starts.into_iter().map(place).collect(),
                mark: Mark::Ring,
                radius: 5.0,
                colour: Some(Colour::BLACK),
                name: Some("explained input".into()),
                ..Scatter::default()
            });
    }
    plot.to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::Rows;
    use cluekit::audit::fixture::{says, table};
    use cluekit::data::{Samples, Targets, Task};

    #[test]
    fn a_model_that_is_sure_of_all_shows_where_it_would_be_unsure() {
        let samples = Samples { x: vec![0.0; 2], width: 1, y: Targets::Classes(vec![0, 0]), weights: None };
        let task = Task::Classification { classes: ["a", "b", "c"].map(String::from).to_vec() };
        let predictions = [0.01, 0.02].map(|total| says(&[1.0, 0.0, 0.0], total));
        let rows = Rows { samples: &samples, predictions: &predictions, task: &task, unsure_above: 0.5 };
        let subject = Subject { unsure_above: Some(0.5), ..Subject::new("run", "letters", &table(), "test") };
        let plot = spread_plot(&Spread::of(&rows), &subject);
        assert!(plot.contains(">0.5</text>"), "the axis goes on to the limit: {plot}");
    }
}
