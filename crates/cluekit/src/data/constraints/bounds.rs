//! The constraints as a search sees them: a box and halfspaces of encoded columns.
//!
//! Every number in the box decodes to a value that is immutable, of its direction and in its range as it should be,
//! since the ends are rounded inward to the decimals of the data before they are encoded. The column of a category that
//! cannot be reached ends at 0.

use super::domains::{Domains, Inequality};
use super::range::Interval;
use super::{Constraints, Range};
use crate::data::encoding::position_in;
use crate::data::{Column, Feature, Scaling, Schema, Value};
use crate::error::{Error, Result};

/// The least and the greatest number of each encoded column.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Lower end of each column.
    pub lower: Vec<f32>,
    /// Upper end of each column, at least the lower one.
    pub upper: Vec<f32>,
}

/// A linear relation on encoded columns: coefficients · x ≤ limit. The largest |coefficient| is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Halfspace {
    /// Coefficient of each column.
    pub coefficients: Vec<f32>,
    /// Greatest value that coefficients · x may take.
    pub limit: f32,
}

impl Bounds {
    /// Keeps the feature at `index` as it is in `original`, an encoded row.
    pub fn pin(&mut self, schema: &Schema, original: &[f32], index: usize) {
        let columns = schema.columns()[index].range();
        self.lower[columns.clone()].copy_from_slice(&original[columns.clone()]);
        self.upper[columns.clone()].copy_from_slice(&original[columns]);
    }

    /// These bounds with every feature kept as it is in `original`, except those at the positions in `free`, which
    /// should hold those that [must change](Bounds::must_change).
    pub fn frozen_except(mut self, schema: &Schema, original: &[f32], free: &[usize]) -> Self {
        for index in (0..schema.features.len()).filter(|index| !free.contains(index)) {
            self.pin(schema, original, index);
        }
        self
    }

    /// The positions of the features that cannot stay as they are in `original`, an encoded row.
    pub fn must_change(&self, schema: &Schema, original: &[f32]) -> Vec<usize> {
        let features = schema.features.iter().zip(schema.columns()).enumerate();
        let outside = features.filter(|(_, (feature, column))| {
            let (Some(scaling), Some([least, greatest])) = (feature.kind.scaling(), self.ends(feature, *column)) else {
                return false;
            };
            if column.is_missing(original) {
                return false;
            }
            let value = scaling.decode(original[column.start]);
            let range = Interval { least: Some(least), greatest: Some(greatest) };
            !range.contains(value, scaling.noise(value))
        });
        outside.map(|(index, _)| index).collect()
    }

    /// Whether a feature has no choice.
    pub(super) fn pins(&self, column: Column) -> bool {
        column.range().all(|column| self.lower[column] >= self.upper[column])
    }

    /// Whether a feature cannot have this category, or be missing.
    pub(super) fn closes(&self, feature: &Feature, column: Column, value: &Value) -> bool {
        let place = match value {
            Value::Missing => Some(column.len - 1),
            value => position_in(feature.kind.categories(), value.as_cell()),
        };
        place.is_some_and(|place| column.len > 1 && self.upper[column.start + place] <= 0.0)
    }

    /// Both ends of a number in the data's own unit; none for a category.
    pub(super) fn ends(&self, feature: &Feature, column: Column) -> Option<[f64; 2]> {
        let ends = [self.lower[column.start], self.upper[column.start]];
        feature.kind.scaling().map(|scaling| ends.map(|end| scaling.decode(end)))
    }

    /// The values that they leave to each feature.
    pub(super) fn domains(&self, schema: &Schema) -> Domains {
        let columns = schema.features.iter().zip(schema.columns());
        Domains { ends: columns.map(|(feature, column)| self.ends(feature, column).unwrap_or_default()).collect() }
    }
}

impl Constraints {
    /// The box that a counterfactual of `original`, an encoded row, must stay in.
    ///
    /// A number without a range stays between the least and the greatest of the training rows, and its own value. One that
    /// is missing may become any of them, and none becomes missing.
    /// Constraints that this input contradicts are an error.
    pub fn bounds(&self, schema: &Schema, original: &[f32]) -> Result<Bounds> {
        self.validate(schema)?;
        let width = schema.width();
        if original.len() != width {
            let what = "the encoded input".into();
            return Err(Error::Shape { what, expected: vec![width], got: vec![original.len()] });
        }
        let mut bounds = Bounds { lower: vec![0.0; width], upper: vec![1.0; width] };
        for (index, (feature, column)) in schema.features.iter().zip(schema.columns()).enumerate() {
            match feature.kind.scaling() {
                Some(scaling) => {
                    let missing = column.is_missing(original);
                    if missing && self.immutable.contains(&feature.name) {
                        bounds.pin(schema, original, index);
                        continue;
                    }
                    let (x, ends) = match missing {
                        true => (f32::NAN, self.filled_in(feature, scaling)),
                        false => (original[column.start], self.interval(feature, scaling, original[column.start])?),
                    };
                    [bounds.lower[column.start], bounds.upper[column.start]] =
                        self.without_never(feature, scaling, x, ends)?;
                    if let (Some(indicator), false) = (column.indicator(), missing) {
                        bounds.upper[indicator] = 0.0;
                    }
                }
                None => self.close_categories(schema, original, index, &mut bounds),
            }
        }
        self.check_count(schema, original, &bounds)?;
        self.check_relations(schema, original, &bounds)?;
        Ok(bounds)
    }

    /// The numbers that the range of a feature leaves to it; all of them where it has none.
    ///
    /// The constraints must be valid for the schema.
    pub(super) fn range_of(&self, feature: &Feature) -> Interval {
        self.ranges.get(&feature.name).and_then(|range| range.of(feature).ok()).unwrap_or_default()
    }

    /// Both ends of a number that is missing in the input: any that its range, or a training row, holds.
    fn filled_in(&self, feature: &Feature, scaling: &Scaling) -> [f32; 2] {
        let range = self.range_of(feature).inward(scaling);
        let lower = range.least.map(|value| not_below(scaling, value));
        let upper = range.greatest.map(|value| not_above(scaling, value));
        let [least, greatest] = [scaling.least, scaling.greatest].map(|value| scaling.encode(value));
        let lower = lower.unwrap_or_else(|| least.min(upper.unwrap_or(f32::INFINITY)));
        [lower, upper.unwrap_or(greatest).max(lower)]
    }

    /// Both ends of a number that is `x` in the input.
    fn interval(&self, feature: &Feature, scaling: &Scaling, x: f32) -> Result<[f32; 2]> {
        let immutable = self.immutable.contains(&feature.name);
        let up = immutable || self.only_up.contains(&feature.name);
        let down = immutable || self.only_down.contains(&feature.name);
        let range = self.range_of(feature).inward(scaling);
        let value = scaling.decode(x);
        let below = Interval { least: None, ..range }.contains(value, scaling.noise(value));
        let above = Interval { greatest: None, ..range }.contains(value, scaling.noise(value));
        if (up && !below) || (down && !above) {
            return Err(out_of_reach(feature, value, &self.ranges[&feature.name], [up, down]));
        }
        // An open end is where the training rows end, or the input, or the range's other end.
        let least = range.least.map(|value| not_below(scaling, value));
        let greatest = range.greatest.map(|value| not_above(scaling, value));
        let mut lower =
            least.unwrap_or_else(|| scaling.encode(scaling.least).min(x).min(greatest.unwrap_or(f32::INFINITY)));
        let mut upper = greatest.unwrap_or_else(|| scaling.encode(scaling.greatest).max(x)).max(lower);
        if up {
            (lower, upper) = (lower.max(x), upper.max(x));
        }
        if down {
            (lower, upper) = (lower.min(x), upper.min(x));
        }
        Ok([lower, upper])
    }

    /// Both ends of a number that is `x` in the input, NaN if it is missing, moved inward past what it may never become.
    fn without_never(&self, feature: &Feature, scaling: &Scaling, x: f32, ends: [f32; 2]) -> Result<[f32; 2]> {
        let value = scaling.decode(x);
        let forbidden = self.forbidden_from(feature, value);
        let [least, greatest] = ends.map(|end| scaling.decode(end));
        if !forbidden.holds(least) && !forbidden.holds(greatest) {
            return Ok(ends);
        }
        let [from, to] = [forbidden.beyond(scaling, least, true), forbidden.beyond(scaling, greatest, false)];
        // A step inward may not pass the input.
        let inside = (ends[0]..=ends[1]).contains(&x);
        let lower = if from > least { not_below(scaling, from) } else { ends[0] };
        let upper = if to < greatest { not_above(scaling, to) } else { ends[1] };
        match [if inside { lower.min(x) } else { lower }, if inside { upper.max(x) } else { upper }] {
            [lower, upper] if lower <= upper => Ok([lower, upper]),
            _ => {
                let [least, greatest] = [least, greatest].map(|value| feature.show(&Value::Number(value)));
                let shown = if value.is_nan() { Value::Missing } else { Value::Number(value) };
                let shown = feature.show(&shown);
                let problem = format!(
                    "`{}` is {shown} in this input, and `never` leaves no value between {least} and {greatest} that it \
                     could take; widen its range, or remove a value",
                    feature.name
                );
                Err(Error::infeasible("constraints.never", problem))
            }
        }
    }

    fn check_count(&self, schema: &Schema, original: &[f32], bounds: &Bounds) -> Result<()> {
        let Some(most) = self.most_changed else { return Ok(()) };
        let outside = bounds.must_change(schema, original);
        if outside.len() <= most {
            return Ok(());
        }
        let names: Vec<&str> = outside.iter().map(|&index| schema.features[index].name.as_str()).collect();
        let problem = format!(
            "at most {most} features may change, but {} of this input lie outside their ranges ({}); allow {} changes, \
             or widen a range",
            names.len(),
            names.join(", "),
            names.len()
        );
        Err(Error::infeasible("constraints.most_changed", problem))
    }

    fn check_relations(&self, schema: &Schema, original: &[f32], bounds: &Bounds) -> Result<()> {
        let row = schema.decode_row(original);
        let inequalities: Vec<Inequality> =
            self.inequalities(schema).into_iter().map(|relation| relation.of_present(&row)).collect();
        let Err(position) = bounds.domains(schema).tighten(schema, &inequalities) else { return Ok(()) };
        let (relation, inequality) = (&self.relations[position], &inequalities[position]);
        let columns = schema.columns();
        let problem = if inequality.terms.iter().all(|&(index, _)| bounds.pins(columns[index])) {
            let values = &row;
            let value = |name: &str| {
                let place = schema.features.iter().position(|feature| feature.name == name);
                place.and_then(|index| schema.features[index].number(&values[index])).unwrap_or(f64::NAN)
            };
            let contrary = relation.contrary(value);
            format!(
                "`{relation}` does not hold for this input, {contrary}, and no feature in it may change; free one, or \
                 remove the relation"
            )
        } else {
            format!(
                "`{relation}` cannot be met from this input within the ranges, directions and other relations; widen a \
                 range, free a feature, or remove the relation"
            )
        };
        Err(Error::infeasible("constraints.relations", problem))
    }

    /// The relations in encoded columns, with v = mean + deviation · x for each feature.
    ///
    /// The constraints must be valid for the schema.
    pub fn encoded_relations(&self, schema: &Schema) -> Vec<Halfspace> {
        let columns = schema.columns();
        let halfspace = |Inequality { terms, limit }: Inequality| {
            let mut coefficients = vec![0.0; schema.width()];
            let mut rest = limit;
            for (index, coefficient) in terms {
                if let Some(scaling) = schema.features[index].kind.scaling() {
                    coefficients[columns[index].start] = coefficient * scaling.deviation;
                    rest -= coefficient * scaling.mean;
                }
            }
            let largest = coefficients.iter().fold(0.0, |largest: f64, c| largest.max(c.abs()));
            let coefficients = coefficients.iter().map(|c| (c / largest) as f32).collect();
            Halfspace { coefficients, limit: (rest / largest) as f32 }
        };
        self.inequalities(schema).into_iter().map(halfspace).collect()
    }
}

/// The least encoded number that does not decode below `value`.
fn not_below(scaling: &Scaling, value: f64) -> f32 {
    let x = scaling.encode(value);
    if scaling.decode(x) < value { x.next_up() } else { x }
}

/// The greatest encoded number that does not decode above `value`.
fn not_above(scaling: &Scaling, value: f64) -> f32 {
    let x = scaling.encode(value);
    if scaling.decode(x) > value { x.next_down() } else { x }
}

fn out_of_reach(feature: &Feature, value: f64, range: &Range, [up, down]: [bool; 2]) -> Error {
    let (rule, remedy) = match (up, down) {
        (true, true) => ("is immutable", "let it change"),
        (true, false) => ("may only go up", "let it go down"),
        _ => ("may only go down", "let it go up"),
    };
    let name = &feature.name;
    let shown = feature.show(&Value::Number(value));
    Error::infeasible(
        format!("constraints.ranges.{name}"),
        format!("`{name}` is {shown} in this input and {rule}, but must lie in {range}; widen the range, or {remedy}"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{credit, read, scaling, table};
    use super::*;
    use crate::data::Kind;
    use proptest::prelude::*;

    fn input(limit: f64, bill: f64, pay: f64, rate: f64) -> Vec<f32> {
        let category = |text: &str| Value::Category(text.into());
        let numbers = [limit, bill, pay, rate].map(Value::Number).into_iter();
        let row: Vec<Value> = numbers.chain([category("yes"), category("university")]).collect();
        credit().encode_row(&row).unwrap()
    }

    fn ordinary() -> Vec<f32> {
        input(20_000.0, 3_000.0, 1.0, 2.5)
    }

    /// Both ends of a number in the data's unit.
    fn ends(constraints: &str, original: &[f32], index: usize) -> [f64; 2] {
        let schema = credit();
        let bounds = read(constraints).bounds(&schema, original).unwrap();
        bounds.ends(&schema.features[index], schema.columns()[index]).unwrap()
    }

    fn problem(constraints: &str, original: &[f32]) -> String {
        read(constraints).bounds(&credit(), original).unwrap_err().to_string()
    }

    #[test]
    fn free_features_stay_within_the_training_rows_and_their_own_value() {
        assert_eq!(ends("", &ordinary(), 0), [10_000.0, 1_000_000.0]);
        assert_eq!(ends("", &input(2_000_000.0, 3_000.0, 1.0, 2.5), 0), [10_000.0, 2_000_000.0]);
        let bounds = Constraints::default().bounds(&credit(), &ordinary()).unwrap();
        assert_eq!((&bounds.lower[4..], &bounds.upper[4..]), (&[0.0; 4][..], &[1.0; 4][..]));
    }

    #[test]
    fn immutable_features_have_one_value() {
        let original = ordinary();
        let constraints = "immutable = [\"RATE\", \"MARRIED\", \"EDUCATION\"]";
        let bounds = read(constraints).bounds(&credit(), &original).unwrap();
        assert_eq!((&bounds.lower[3..], &bounds.upper[3..]), (&original[3..], &original[3..]));
        assert!(bounds.lower[..3].iter().zip(&bounds.upper[..3]).all(|(lower, upper)| lower < upper));
    }

    #[test]
    fn directions_end_at_the_original() {
        assert_eq!(ends("only_up = [\"PAY_0\"]", &ordinary(), 2), [1.0, 8.0]);
        assert_eq!(ends("only_down = [\"PAY_0\"]", &ordinary(), 2), [-2.0, 1.0]);
        let bounds = |text: &str| read(text).bounds(&credit(), &ordinary()).unwrap();
        assert_eq!(bounds("only_up = [\"MARRIED\"]").lower[4], 1.0);
        assert_eq!(bounds("only_down = [\"MARRIED\"]").lower[4], 0.0);
    }

    #[test]
    fn ranges_replace_the_training_rows_and_are_rounded_inward() {
        assert_eq!(ends("ranges = { PAY_0 = [-0.5, 9.9] }", &ordinary(), 2), [0.0, 9.0]);
        assert_eq!(ends("ranges = { PAY_0 = \"3..\" }", &ordinary(), 2), [3.0, 8.0]);
        assert_eq!(ends("ranges = { PAY_0 = \"12..\" }", &ordinary(), 2), [12.0, 12.0]);
        assert_eq!(ends("ranges = { PAY_0 = \"..-5\" }", &ordinary(), 2), [-5.0, -5.0]);
        assert_eq!(ends("ranges = { PAY_0 = \"2..5\" }\nonly_up = [\"PAY_0\"]", &ordinary(), 2), [2.0, 5.0]);
    }

    #[test]
    fn a_range_out_of_reach_is_refused_with_the_inputs_value() {
        let rich = input(900_000.0, 3_000.0, 1.0, 2.5);
        let range = "\nranges = { LIMIT_BAL = [10000, 500000] }";
        let is = "setting `constraints.ranges.LIMIT_BAL`: `LIMIT_BAL` is 900000 in this input and";
        let but = "but must lie in 10000..500000; widen the range, or let it";
        let problem = |text: &str| problem(&format!("{text}{range}"), &rich);
        assert_eq!(problem("immutable = [\"LIMIT_BAL\"]"), format!("{is} is immutable, {but} change"));
        assert_eq!(problem("only_up = [\"LIMIT_BAL\"]"), format!("{is} may only go up, {but} go down"));
        read(&format!("only_down = [\"LIMIT_BAL\"]{range}")).bounds(&credit(), &rich).unwrap();
        read(range).bounds(&credit(), &rich).unwrap();
    }

    #[test]
    fn more_features_out_of_range_than_may_change_are_refused_by_name() {
        let text = "most_changed = 1\nranges = { PAY_0 = \"..0\", RATE = \"..2\" }";
        assert_eq!(
            problem(text, &ordinary()),
            "setting `constraints.most_changed`: at most 1 features may change, but 2 of this input lie outside their \
             ranges (PAY_0, RATE); allow 2 changes, or widen a range"
        );
        let bounds = read(&text.replace("= 1", "= 2")).bounds(&credit(), &ordinary()).unwrap();
        assert_eq!(bounds.must_change(&credit(), &ordinary()), [2, 3]);
    }

    #[test]
    fn a_relation_that_this_input_cannot_meet_is_refused() {
        let deep = input(20_000.0, 30_000.0, 1.0, 2.5);
        let relation = "relations = [\"BILL_AMT1 <= LIMIT_BAL\"]\n";
        assert_eq!(
            problem(&format!("{relation}immutable = [\"LIMIT_BAL\", \"BILL_AMT1\"]"), &deep),
            "setting `constraints.relations`: `BILL_AMT1 <= LIMIT_BAL` does not hold for this input, 30000 > 20000, \
             and no feature in it may change; free one, or remove the relation"
        );
        let stuck = format!("{relation}immutable = [\"LIMIT_BAL\"]\nonly_up = [\"BILL_AMT1\"]");
        assert_eq!(
            problem(&stuck, &deep),
            "setting `constraints.relations`: `BILL_AMT1 <= LIMIT_BAL` cannot be met from this input within the \
             ranges, directions and other relations; widen a range, free a feature, or remove the relation"
        );
        read(&format!("{relation}immutable = [\"LIMIT_BAL\"]")).bounds(&credit(), &deep).unwrap();
    }

    #[test]
    fn an_input_of_another_width_is_refused() {
        assert_eq!(problem("", &[0.0]), "the encoded input has shape [1], expected [8]");
    }

    #[test]
    fn freezing_leaves_only_the_free_features_a_choice() {
        let (schema, original) = (credit(), ordinary());
        let bounds = Constraints::default().bounds(&schema, &original).unwrap();
        let frozen = bounds.clone().frozen_except(&schema, &original, &[1, 5]);
        for (index, column) in schema.columns().into_iter().enumerate() {
            assert_eq!(frozen.pins(column), ![1, 5].contains(&index));
            assert!(!bounds.pins(column));
        }
        assert_eq!(frozen.lower[3], original[3]);
    }

    #[test]
    fn a_relation_is_a_halfspace_with_largest_coefficient_one() {
        let kind = |mean, deviation| Kind::Continuous(scaling(mean, deviation, None, [0.0, 1.0]));
        let schema = table(vec![("a", kind(10.0, 4.0)), ("b", kind(-1.0, 2.0)), ("c", kind(0.0, 1.0))]);
        // 2 (10 + 4a) − (−1 + 2b) ≤ 5  ⇔  8a − 2b ≤ −16
        let halfspaces = read("relations = [\"2*a <= b + 5\"]").encoded_relations(&schema);
        assert_eq!(halfspaces, [Halfspace { coefficients: vec![1.0, -0.25, 0.0], limit: -2.0 }]);
    }

    proptest! {
        #[test]
        fn whatever_lies_in_the_bounds_keeps_what_concerns_single_features(
            shares in prop::collection::vec(0.0..=1.0_f32, 8),
            (limit, bill, pay, rate) in (10_000..900_000_i32, -15_000..700_000_i32, -2..8_i32, 0.5..12.0),
            (least, length) in (-3.0..6.0, 1.0..4.0),
        ) {
            let original = input(limit.into(), bill.into(), pay.into(), rate);
            let constraints = format!(
                "immutable = [\"EDUCATION\", \"LIMIT_BAL\"]\nonly_up = [\"RATE\"]\nonly_down = [\"BILL_AMT1\"]\n\
                 ranges = {{ PAY_0 = [{least}, {}], RATE = \"0.3..12.7\" }}", least + length
            );
            let constraints = read(&constraints);
            let bounds = constraints.bounds(&credit(), &original).unwrap();
            let ends = bounds.lower.iter().zip(&bounds.upper).zip(&shares);
            let x: Vec<f32> = ends.map(|((l, u), share)| (l + share * (u - l)).clamp(*l, *u)).collect();
            let (from, to) = (credit().decode_row(&original), credit().decode_row(&x));
            prop_assert_eq!(constraints.broken(&credit(), &from, &to), Vec::<String>::new());
        }
    }
}
