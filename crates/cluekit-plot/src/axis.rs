//! An axis: what it shows, and where on it a value lies.

use crate::text::shortened;
use crate::ticks::{Notation, Tick, linear_ticks, log_ticks};

/// Values beyond this are treated as not finite, so that differences stay finite.
const FARTHEST: f64 = 1e300;

/// One of the two directions of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What the axis measures, with its unit.
    pub label: String,
    /// Values at the two ends of the axis; a greater first one turns it round. None: what the layers need.
    pub range: Option<(f64, f64)>,
    /// How values are spread over the axis.
    pub scale: Scale,
    /// What is written along the axis.
    pub ticks: Ticks,
}

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences take equal room.
    #[default]
    Linear,
    /// Equal ratios take equal room; values of 0 and below are left out.
    Log,
}

/// What is written along an axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ticks {
    /// Round numbers.
    #[default]
    Numbers,
    /// Shares, written as percentages.
    Percent,
    /// These names, at the values 0, 1, 2 …
    Names(Vec<String>),
}

impl Axis {
    /// A linear axis that fits its data.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// This axis from `first` to `last`.
    pub fn between(self, first: f64, last: f64) -> Self {
        Self { range: Some((first, last)), ..self }
    }

    /// This axis with its numbers written as percentages.
    pub fn percent(self) -> Self {
        Self { ticks: Ticks::Percent, ..self }
    }

    /// This axis with names at 0, 1, 2 …
    pub fn names(self, names: Vec<String>) -> Self {
        Self { ticks: Ticks::Names(names), ..self }
    }

    /// This axis on a logarithmic scale.
    pub fn log(self) -> Self {
        Self { scale: Scale::Log, ..self }
    }

    /// Where the axis begins and ends, if its layers need `extent`.
    pub(crate) fn span(&self, extent: &Extent) -> Span {
        let asked = self.range.and_then(|(a, b)| self.scale.position(a).zip(self.scale.position(b)));
        let named = match &self.ticks {
            Ticks::Names(names) if !names.is_empty() => Some((-0.5, names.len() as f64 - 0.5)),
            _ => None,
        };
        let (first, last) = asked.or(named).unwrap_or_else(|| extent.padded());
        Span { first, last, scale: self.scale }.widened()
    }

    /// What is written along `span`, at most about `most` places; names are cut to `room` pixels.
    pub(crate) fn ticks(&self, span: &Span, most: usize, room: f64) -> Vec<Tick> {
        let (low, high) = span.ends();
        let ticks = match (&self.ticks, self.scale) {
            (Ticks::Names(names), _) => names
                .iter()
                .enumerate()
                .map(|(i, name)| Tick { value: i as f64, label: shortened(name, crate::plot::TICK_SIZE, room) })
                .collect(),
            (_, Scale::Log) => log_ticks(low, high, most),
            (Ticks::Percent, Scale::Linear) => linear_ticks(low, high, most, Notation::Percent),
            (Ticks::Numbers, Scale::Linear) => linear_ticks(low, high, most, Notation::Plain),
        };
        ticks.into_iter().filter(|tick| span.shows(tick.value)).collect()
    }
}

impl Scale {
    /// `value` on the line along which room is equal; none if it has no place there.
    fn position(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear => (value.abs() <= FARTHEST).then_some(value),
            Self::Log => (value > 0.0 && value <= FARTHEST).then(|| value.log10()),
        }
    }
}

/// The least and greatest position that layers need on one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    scale: Scale,
    loose: Option<(f64, f64)>,
    tight: Option<(f64, f64)>,
}

impl Extent {
    pub fn new(scale: Scale) -> Self {
        Self { scale, loose: None, tight: None }
    }

    /// Makes room for `value` and some air around it.
    pub fn include(&mut self, value: f64) {
        grow(&mut self.loose, self.scale.position(value));
    }

    /// Makes room up to `value` and no farther: the foot of a bar, the edge of an image.
    pub fn include_edge(&mut self, value: f64) {
        grow(&mut self.tight, self.scale.position(value));
    }

    fn padded(&self) -> (f64, f64) {
        const AIR: f64 = 0.04;
        match (self.loose, self.tight) {
            (None, None) => (0.0, 1.0),
            (None, Some(edges)) => edges,
            (Some((low, high)), None) => {
                let air = AIR * (high - low);
                (low - air, high + air)
            }
            (Some((low, high)), Some((first, last))) => {
                let air = AIR * (high.max(last) - low.min(first));
                (if first <= low { first } else { low - air }, if last >= high { last } else { high + air })
            }
        }
    }
}

fn grow(range: &mut Option<(f64, f64)>, position: Option<f64>) {
    if let Some(p) = position {
        let (low, high) = range.unwrap_or((p, p));
        *range = Some((low.min(p), high.max(p)));
    }
}

/// The positions at the two ends of an axis: finite and apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    first: f64,
    last: f64,
    scale: Scale,
}

impl Span {
    /// Where `value` lies, 0 at the beginning of the axis and 1 at its end; none if it has no place.
    pub fn share(&self, value: f64) -> Option<f64> {
        self.scale.position(value).map(|position| (position - self.first) / (self.last - self.first))
    }

    /// Like [`Span::share`], but what has no place lies at the beginning: the foot of a bar on a logarithmic axis.
    pub fn share_or_start(&self, value: f64) -> f64 {
        self.share(value).unwrap_or(0.0)
    }

    /// The least and the greatest value.
    pub fn ends(&self) -> (f64, f64) {
        let value = |position: f64| match self.scale {
            Scale::Linear => position,
            Scale::Log => 10_f64.powf(position),
        };
        (value(self.first.min(self.last)), value(self.first.max(self.last)))
    }

    fn shows(&self, value: f64) -> bool {
        self.share(value).is_some_and(|share| (-1e-6..=1.0 + 1e-6).contains(&share))
    }

    /// Makes room around a single value.
    fn widened(self) -> Self {
        let size = self.first.abs().max(self.last.abs());
        if (self.last - self.first).abs() > 1e-9 * size {
            return self;
        }
        let room = if size > 0.0 { 0.1 * size } else { 1.0 };
        Self { first: self.first - room, last: self.last + room, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent_of(scale: Scale, values: &[f64]) -> Extent {
        let mut extent = Extent::new(scale);
        values.iter().for_each(|&v| extent.include(v));
        extent
    }

    fn assert_ends(span: Span, low: f64, high: f64) {
        let (a, b) = span.ends();
        assert!((a - low).abs() < 1e-9 && (b - high).abs() < 1e-9, "{a} to {b}, expected {low} to {high}");
    }

    #[test]
    fn data_get_some_air_but_edges_none() {
        let mut extent = extent_of(Scale::Linear, &[0.0, 100.0, f64::NAN, f64::INFINITY]);
        assert_ends(Axis::new("").span(&extent), -4.0, 104.0);
        extent.include_edge(0.0);
        assert_ends(Axis::new("").span(&extent), 0.0, 104.0);
    }

    #[test]
    fn a_single_value_and_no_value_still_have_an_axis() {
        assert_ends(Axis::new("").span(&extent_of(Scale::Linear, &[5.0])), 4.5, 5.5);
        assert_ends(Axis::new("").span(&extent_of(Scale::Linear, &[0.0])), -1.0, 1.0);
        assert_ends(Axis::new("").span(&extent_of(Scale::Linear, &[])), 0.0, 1.0);
    }

    #[test]
    fn a_range_that_makes_no_sense_is_replaced_by_the_data() {
        let extent = extent_of(Scale::Log, &[1.0, 100.0, -5.0]);
        assert_ends(Axis::new("").log().between(0.0, 10.0).span(&extent), 10_f64.powf(-0.08), 10_f64.powf(2.08));
        assert_ends(Axis::new("").log().between(1.0, 10.0).span(&extent), 1.0, 10.0);
    }

    #[test]
    fn values_have_their_place_on_either_scale_and_in_either_direction() {
        let none = Extent::new(Scale::Linear);
        assert_eq!(Axis::new("").between(0.0, 4.0).span(&none).share(1.0), Some(0.25));
        assert_eq!(Axis::new("").between(4.0, 0.0).span(&none).share(1.0), Some(0.75));
        let log = Axis::new("").log().between(1.0, 100.0).span(&Extent::new(Scale::Log));
        assert_eq!(log.share(10.0), Some(0.5));
        assert_eq!(log.share(0.0), None);
        assert_eq!(log.share(f64::NAN), None);
    }

    #[test]
    fn names_stand_in_the_middle_of_their_places() {
        let axis = Axis::new("").names(vec!["a".into(), "b".into()]);
        let span = axis.span(&Extent::new(Scale::Linear));
        assert_ends(span, -0.5, 1.5);
        let labels: Vec<_> = axis.ticks(&span, 5, 100.0).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["a", "b"]);
    }
}
