//! How methods compare: uncertainty H, distance d and cost H + λₓ d over the same inputs. [Ley2022, GLAM-CLUE]
//!
//! Histograms that lie on each other could not be told apart, so each method has a row of its own, and all rows of a
//! panel share their axis.

use cluekit::data::Target;
use cluekit::explainer::ComparedMethod;
use cluekit::measure::histogram::{BINS, counts, ends, mean};
use cluekit::wording::{figures, grouped};
use cluekit_plot::Heading;
use cluekit_plot::layout::EDGE;
use cluekit_plot::svg::{Anchor, Frame, Paint, Path, Style, Svg, TextStyle};
use cluekit_plot::text::{shortened, text_width};
use cluekit_plot::ticks::{Notation, linear_ticks};
use cluekit_plot::{Colour, PALETTE};
use cluekit_plot::{LABEL_SIZE, TICK_SIZE};

const TITLE: &str = "Uncertainty, distance and cost of each method";
const CAPTION: &str = "Each histogram is as high as its own greatest bin; line and number are the mean.";
const CLIPPED: &str = "The outer bins also count what lies beyond an axis.";

/// Width of a panel between its edges.
const PANEL: f64 = 236.0;
/// Room for the means, to the right of each panel.
const MEANS: f64 = 48.0;
/// From the means of a panel to the next panel.
const GAP: f64 = 26.0;
const LONGEST_NAME: f64 = 170.0;
/// Above the rows, for the word over the means.
const ABOVE: f64 = 24.0;
/// Below the rows: ticks and the name of the axis.
const BELOW: f64 = 42.0;
/// The height that rows share until they are too many.
const ROWS: f64 = 330.0;
/// The share of a row that its histogram fills.
const FILLED: f64 = 0.82;

/// The values of one method, one for each input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MethodValues<'a> {
    /// What the method is called.
    pub name: &'a str,
    /// Uncertainty H.
    pub uncertainty: &'a [f32],
    /// Distance d from the input.
    pub distance: &'a [f32],
    /// Cost H + λₓ d.
    pub cost: &'a [f32],
}

impl<'a> MethodValues<'a> {
    fn of(ComparedMethod { method, values: [uncertainty, distance, cost], .. }: &'a ComparedMethod) -> Self {
        Self { name: method, uncertainty, distance, cost }
    }
}

/// The picture of methods that were compared, with H in the unit that a prediction of this target has.
pub fn compared_picture(methods: &[ComparedMethod], target: &Target, lambda_x: f32) -> String {
    let unit = match target {
        Target { task, unit, .. } if task.is_regression() => unit.as_deref().unwrap_or("unit of the target"),
        _ => "nats",
    };
    comparison(&methods.iter().map(MethodValues::of).collect::<Vec<_>>(), unit, lambda_x)
}

/// Three panels side by side with a histogram a method, H in this unit; values that are not finite are left out.
pub fn comparison(methods: &[MethodValues], unit: &str, lambda_x: f32) -> String {
    let cost = format!("cost H + λ d (λ = {})", figures(lambda_x, 3));
    let panels = [
        Panel::of(methods, &format!("uncertainty H ({unit})"), PALETTE[0], |method| method.uncertainty),
        Panel::of(methods, "distance d", PALETTE[2], |method| method.distance),
        Panel::of(methods, &cost, PALETTE[4], |method| method.cost),
    ];
    let widest = methods.iter().map(|method| text_width(method.name, LABEL_SIZE)).fold(0.0, f64::max);
    let left = EDGE + widest.min(LONGEST_NAME) + 7.0;
    let width = left + 3.0 * (PANEL + MEANS) + 2.0 * GAP + EDGE;
    let clipped = panels.iter().any(Panel::is_clipped);
    let caption = if clipped { format!("{CAPTION} {CLIPPED}") } else { CAPTION.to_owned() };
    let heading = Heading::of(TITLE, &caption, width);
    let top = heading.height() + ABOVE;
    let row = (ROWS / methods.len().max(1) as f64).clamp(30.0, 64.0);
    let height = row * methods.len().max(1) as f64;

    let mut svg = Svg::new(width, top + height + BELOW + EDGE, TITLE);
    heading.draw(&mut svg);
    for (index, method) in methods.iter().enumerate() {
        let style = TextStyle::new(LABEL_SIZE).anchored(Anchor::End);
        let foot = top + (index as f64 + 0.5) * row + 0.35 * LABEL_SIZE;
        svg.text((left - 7.0, foot), &shortened(method.name, LABEL_SIZE, LONGEST_NAME), &style);
    }
    for (index, panel) in panels.iter().enumerate() {
        let x = left + index as f64 * (PANEL + MEANS + GAP);
        panel.draw(&mut svg, Frame { x, y: top, width: PANEL, height });
    }
    svg.finish()
}

/// One quantity of all methods.
struct Panel {
    label: String,
    /// The least and the greatest value on the axis.
    ends: (f64, f64),
    colour: Colour,
    /// The finite values of each method.
    rows: Vec<Vec<f64>>,
}

impl Panel {
    fn of<'a>(
        methods: &[MethodValues<'a>],
        label: &str,
        colour: Colour,
        of: fn(&MethodValues<'a>) -> &'a [f32],
    ) -> Self {
        let finite = |values: &[f32]| values.iter().filter(|v| v.is_finite()).map(|&v| f64::from(v)).collect();
        let rows: Vec<Vec<f64>> = methods.iter().map(|method| finite(of(method))).collect();
        let ends = ends(rows.iter().flatten().copied());
        Self { label: label.to_owned(), ends, colour, rows }
    }

    fn draw(&self, svg: &mut Svg, frame: Frame) {
        self.draw_axis(svg, frame);
        let muted = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) }.anchored(Anchor::End);
        svg.text((frame.x + PANEL + MEANS, frame.y - 7.0), "mean", &muted);
        let height = frame.height / self.rows.len().max(1) as f64;
        let decimals = self.decimals();
        for (index, values) in self.rows.iter().enumerate() {
            let row = Frame { y: frame.y + index as f64 * height, height, ..frame };
            self.draw_row(svg, row, values);
            let number = mean(values).map_or("–".to_owned(), |mean| grouped(&format!("{:.decimals$}", mean + 0.0)));
            let place = (frame.x + PANEL + MEANS, row.y + 0.5 * height + 0.35 * TICK_SIZE);
            let style = TextStyle::new(TICK_SIZE).anchored(Anchor::End);
            svg.text(place, &shortened(&number, TICK_SIZE, MEANS - 4.0), &style);
        }
        svg.rect(frame, &Style::stroke(Paint::Muted, 1.0));
    }

    fn draw_axis(&self, svg: &mut Svg, frame: Frame) {
        let foot = frame.y + frame.height;
        for tick in linear_ticks(self.ends.0, self.ends.1, 5, Notation::Plain) {
            let column = self.column(tick.value, frame);
            svg.line((column, frame.y), (column, foot), &Style::stroke(Paint::Faint, 1.0));
            let style = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) };
            svg.text((column, foot + 15.0), &tick.label, &style.anchored(Anchor::Middle));
        }
        let label = shortened(&self.label, LABEL_SIZE, frame.width + MEANS);
        let style = TextStyle::new(LABEL_SIZE).anchored(Anchor::Middle);
        svg.text((frame.x + frame.width / 2.0, foot + 35.0), &label, &style);
    }

    /// The histogram of `values` on the lower edge of `row`, and their mean.
    fn draw_row(&self, svg: &mut Svg, row: Frame, values: &[f64]) {
        let foot = row.y + row.height;
        svg.line((row.x, foot), (row.x + row.width, foot), &Style::stroke(Paint::Faint, 1.0));
        let Some(mean) = mean(values) else { return };
        let counts = counts(values, self.ends);
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let mut outline = Path::default();
        outline.move_to(row.x, foot);
        for (bin, &count) in counts.iter().enumerate() {
            let top = foot - FILLED * row.height * count as f64 / most;
            for edge in [bin, bin + 1] {
                outline.line_to(row.x + edge as f64 / BINS as f64 * row.width, top);
            }
        }
        outline.line_to(row.x + row.width, foot);
        outline.close();
        let colour = Paint::Solid(self.colour);
        svg.path(&outline, &Style { opacity: 0.75, ..Style::fill(colour) });
        let column = self.column(mean, row);
        let ends = ((column, foot), (column, foot - (1.0 + FILLED) / 2.0 * row.height));
        svg.line(ends.0, ends.1, &Style { opacity: 0.6, ..Style::stroke(Paint::Paper, 3.5) });
        svg.line(ends.0, ends.1, &Style::stroke(Paint::Ink, 1.5));
    }

    /// Where on the page `value` stands in `frame`; what lies beyond the axis stands at its end.
    fn column(&self, value: f64, frame: Frame) -> f64 {
        let (low, high) = self.ends;
        frame.x + ((value - low) / (high - low)).clamp(0.0, 1.0) * frame.width
    }

    /// Whether some value lies beyond the axis.
    fn is_clipped(&self) -> bool {
        let (low, high) = self.ends;
        self.rows.iter().flatten().any(|value| !(low..=high).contains(value))
    }

    /// So many that the greatest mean has three figures.
    fn decimals(&self) -> usize {
        let greatest = self.rows.iter().filter_map(|values| mean(values)).map(f64::abs).fold(0.0, f64::max);
        if greatest > 0.0 { (2.0 - greatest.log10().floor()).clamp(0.0, 6.0) as usize } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method<'a>(name: &'a str, values: &'a [f32]) -> MethodValues<'a> {
        MethodValues { name, uncertainty: values, distance: values, cost: values }
    }

    fn texts(document: &str) -> Vec<String> {
        let tree = roxmltree::Document::parse(document).unwrap();
        tree.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).map(String::from).collect()
    }

    #[test]
    fn each_method_has_its_name_once_and_a_histogram_and_a_mean_a_panel() {
        let document = comparison(&[method("original", &[1.0, 2.0]), method("glam-1", &[0.5, 0.25])], "nats", 0.03);
        let texts = texts(&document);
        for (text, times) in [("original", 1), ("glam-1", 1), ("1.50", 3), ("0.38", 3), ("mean", 3)] {
            assert_eq!(texts.iter().filter(|t| *t == text).count(), times, "{text} in {texts:?}");
        }
        for axis in ["uncertainty H (nats)", "distance d", "cost H + λ d (λ = 0.03)"] {
            assert!(texts.iter().any(|text| text == axis), "{axis} in {texts:?}");
        }
        assert_eq!(document.matches("<path").count(), 6);
    }

    #[test]
    fn values_that_are_not_finite_are_left_out() {
        let with = comparison(&[method("a", &[1.0, f32::NAN, 3.0, f32::INFINITY])], "nats", 1.0);
        assert_eq!(with, comparison(&[method("a", &[1.0, 3.0])], "nats", 1.0));
    }

    #[test]
    fn a_few_far_values_do_not_squash_the_others() {
        let mut values: Vec<f32> = (0..1000).map(|i| i as f32 / 1000.0).collect();
        values[0] = 1e6;
        let panel = Panel::of(&[method("a", &values)], "", PALETTE[0], |method| method.cost);
        assert!(panel.ends.1 < 1.0, "{:?}", panel.ends);
        assert!(texts(&comparison(&[method("a", &values)], "nats", 1.0))[1].ends_with(CLIPPED));
        assert!(!texts(&comparison(&[method("a", &values[1..])], "nats", 1.0))[1].ends_with(CLIPPED));
    }

    #[test]
    fn no_method_and_methods_without_values_are_well_formed() {
        let hostile = "<a & b> ".repeat(40);
        for methods in [&[][..], &[method("a", &[])], &[method(&hostile, &[f32::NAN]), method("b", &[0.0])]] {
            let document = comparison(methods, "nats", f32::NAN);
            assert!(roxmltree::Document::parse(&document).is_ok());
            assert!(!document.contains("=\"-"), "nothing lies outside the picture");
        }
        assert!(texts(&comparison(&[method("a", &[])], "nats", 1.0)).iter().any(|text| text == "–"));
    }

    #[test]
    fn many_methods_make_a_higher_picture_whose_rows_do_not_shrink() {
        let height = |count: usize| -> f64 {
            let document = comparison(&vec![method("a", &[1.0]); count], "nats", 1.0);
            let tree = roxmltree::Document::parse(&document).unwrap();
            tree.root_element().attribute("height").unwrap().parse().unwrap()
        };
        assert!((height(30) - height(20) - 300.0).abs() < 1e-6);
    }
}
