//! How each kind of layer is drawn into the area between the axes.

use crate::axis::Span;
use crate::colour::Colour;
use crate::heatmap::Heatmap;
use crate::layer::{Bars, Course, Layer, Line, Mark, Scatter};
use crate::svg::{Frame, Paint, Path, Style, Svg};

pub(crate) const LINE_WIDTH: f64 = 2.0;
pub(crate) const BAND_OPACITY: f64 = 0.22;

/// The area between the axes: where on the page a value lies.
pub(crate) struct Area {
    pub frame: Frame,
    pub x: Span,
    pub y: Span,
}

impl Area {
    fn point(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        self.x.share(x).zip(self.y.share(y)).map(|(x, y)| (self.column(x), self.row(y)))
    }

    /// The page's x at a share of the x axis.
    pub fn column(&self, share: f64) -> f64 {
        self.frame.x + share * self.frame.width
    }

    /// The page's y at a share of the y axis.
    pub fn row(&self, share: f64) -> f64 {
        self.frame.y + (1.0 - share) * self.frame.height
    }

    fn between(&self, x: (f64, f64), y: (f64, f64)) -> Frame {
        let [left, right] = [x.0, x.1].map(|v| self.column(self.x.share_or_start(v)));
        let [foot, top] = [y.0, y.1].map(|v| self.row(self.y.share_or_start(v)));
        Frame { x: left.min(right), y: top.min(foot), width: (right - left).abs(), height: (foot - top).abs() }
    }
}

/// Draws `layer` in `colour`.
pub(crate) fn layer(svg: &mut Svg, area: &Area, layer: &Layer, colour: Colour) {
    match layer {
        Layer::Line(line) => draw_line(svg, area, line, colour),
        Layer::Scatter(scatter) => draw_scatter(svg, area, scatter, colour),
        Layer::Bars(bars) => draw_bars(svg, area, bars, colour),
        Layer::Heatmap(heatmap) => draw_heatmap(svg, area, heatmap),
        Layer::Reference(reference) => draw_reference(svg, area, reference.course),
    }
}

/// Draws one point of a scatter at a place on the page.
pub(crate) fn mark(svg: &mut Svg, centre: (f64, f64), scatter: &Scatter, colour: Colour) {
    let radius = scatter.radius;
    match scatter.mark {
        Mark::Dot => svg.circle(centre, radius, &dot_style(scatter.opacity, colour)),
        Mark::Ring => {
            svg.circle(centre, radius, &Style::stroke(Paint::Solid(Colour::WHITE), 4.0));
            svg.circle(centre, radius, &Style::stroke(Paint::Solid(colour), 2.0));
        }
    }
}

fn dot_style(opacity: f64, colour: Colour) -> Style {
    Style { fill: Paint::Solid(colour), opacity, ..Style::stroke(Paint::Solid(Colour::WHITE), 0.6) }
}

fn draw_line(svg: &mut Svg, area: &Area, line: &Line, colour: Colour) {
    let bands = runs(line.band.iter().map(|b| area.point((b.x, b.low)).zip(area.point((b.x, b.high)))));
    for run in bands {
        let mut path = Path::default();
        path.move_to(run[0].0.0, run[0].0.1);
        let there = run.iter().skip(1).map(|ends| ends.0);
        for (x, y) in there.chain(run.iter().rev().map(|ends| ends.1)) {
            path.line_to(x, y);
        }
        path.close();
        svg.path(&path, &Style { opacity: BAND_OPACITY, ..Style::fill(Paint::Solid(colour)) });
    }
    let style = Style { dashed: line.dashed, ..Style::stroke(Paint::Solid(colour), LINE_WIDTH) };
    for run in runs(line.points.iter().map(|&point| area.point(point))) {
        match run[..] {
            // A line of one point would not show.
            [centre] if !line.dots => svg.circle(centre, LINE_WIDTH, &Style::fill(Paint::Solid(colour))),
            _ => svg.polyline(&run, &style),
        }
    }
    if line.dots {
        let dots = Scatter { points: line.points.clone(), ..Scatter::default() };
        draw_scatter(svg, area, &dots, colour);
    }
}

/// Unbroken runs of values.
fn runs<T: Copy>(values: impl Iterator<Item = Option<T>>) -> Vec<Vec<T>> {
    let mut runs = vec![Vec::new()];
    for value in values {
        match (value, runs.last_mut()) {
            (Some(value), Some(run)) => run.push(value),
            _ => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn draw_scatter(svg: &mut Svg, area: &Area, scatter: &Scatter, colour: Colour) {
    let centres = scatter.points.iter().filter_map(|&point| area.point(point));
    match scatter.mark {
        // One group says the look once for all points.
        Mark::Dot => svg.group(&dot_style(scatter.opacity, colour), |svg| {
            centres.for_each(|centre| svg.circle(centre, scatter.radius, &Style::inherit()));
        }),
        Mark::Ring => centres.for_each(|centre| mark(svg, centre, scatter, colour)),
    }
}

fn draw_bars(svg: &mut Svg, area: &Area, bars: &Bars, colour: Colour) {
    let look = Style { fill: Paint::Solid(colour), opacity: bars.opacity, ..Style::stroke(Paint::Paper, 1.0) };
    svg.group(&look, |svg| {
        for bar in &bars.bars {
            if [bar.left, bar.right, bar.foot, bar.top].iter().all(|v| v.is_finite()) {
                svg.rect(area.between((bar.left, bar.right), (bar.foot, bar.top)), &Style::inherit());
            }
        }
    });
}

fn draw_heatmap(svg: &mut Svg, area: &Area, heatmap: &Heatmap) {
    svg.image(area.between(heatmap.x, heatmap.y), &heatmap.png(), heatmap.smooth);
}

fn draw_reference(svg: &mut Svg, area: &Area, course: Course) {
    let ((left, right), (low, high)) = (area.x.ends(), area.y.ends());
    let ends = match course {
        Course::Diagonal => {
            (area.point((left.max(low), left.max(low))), area.point((right.min(high), right.min(high))))
        }
        Course::Horizontal(y) => (area.point((left, y)), area.point((right, y))),
        Course::Vertical(x) => (area.point((x, low)), area.point((x, high))),
    };
    if let (Some(from), Some(to)) = ends {
        // A light edge keeps it in sight on dark bars.
        svg.line(from, to, &Style { opacity: 0.6, ..Style::stroke(Paint::Paper, 3.5) });
        svg.line(from, to, &reference_style());
    }
}

/// The look of a reference line.
pub(crate) fn reference_style() -> Style {
    Style { dashed: true, ..Style::stroke(Paint::Ink, 1.5) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_ends_a_run() {
        let values = [None, Some(1), Some(2), None, None, Some(3)];
        assert_eq!(runs(values.into_iter()), [vec![1, 2], vec![3]]);
        assert!(runs::<u8>([None].into_iter()).is_empty());
    }
}
