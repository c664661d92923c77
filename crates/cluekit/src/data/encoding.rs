//! Rows of values to rows of numbers, and back: encoding and then decoding a row of the data gives the row itself.

#[cfg(feature = "files")]
use super::Task;
use super::missing::MISSING;
use super::{Feature, Image, Kind, Scaling, Schema};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// How many choices a message lists before it only counts them.
const MOST_LISTED: usize = 40;
/// How many characters of a cell or a name a message shows.
const MOST_SHOWN: usize = 80;

/// One value of a row, as the data has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// The value of a continuous or ordinal feature, or of a pixel.
    Number(f64),
    /// The value of a binary or categorical feature, as it is written in the data.
    Category(String),
    /// No value of a number; `null` in JSON.
    Missing,
}

/// Without a precision the shortest digits that mean the same number: after decoding, those of the data.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => fmt::Display::fmt(value, f),
            Self::Category(text) => f.pad(text),
            Self::Missing => f.pad(MISSING),
        }
    }
}

/// A value that is borrowed from where it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Number(f64),
    Text(&'a str),
    Missing,
}

impl Value {
    pub(crate) fn as_cell(&self) -> Cell<'_> {
        match self {
            Self::Number(value) => Cell::Number(*value),
            Self::Category(text) => Cell::Text(text),
            Self::Missing => Cell::Missing,
        }
    }
}

impl Cell<'_> {
    /// The cell as a finite number, if it is one.
    pub(crate) fn number(self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(value),
            Self::Text(text) => text.trim().parse().ok(),
            Self::Missing => None,
        }
        .filter(|value| value.is_finite())
    }
}

/// As a message shows it.
impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) => fmt::Display::fmt(value, f),
            Self::Text(text) => f.pad(&shown(text)),
            Self::Missing => f.pad(MISSING),
        }
    }
}

/// Columns of one feature in an encoded row, and the distribution that fits them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Position of the feature's first column.
    pub start: usize,
    /// Number of columns of the feature.
    pub len: usize,
    /// Distribution of these columns, for a generative model; of a number with an indicator that of the number, see
    /// [`Schema::distributions`].
    pub kind: ColumnKind,
}

impl Column {
    /// Range of the feature's columns: `start..start + len`.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }

    /// Position of the indicator beside a number that may be missing; none of any other feature.
    pub fn indicator(&self) -> Option<usize> {
        (self.kind == ColumnKind::Gaussian && self.len == 2).then_some(self.start + 1)
    }

    /// Whether the feature is a number that is missing in an encoded row.
    pub fn is_missing(&self, row: &[f32]) -> bool {
        self.indicator().is_some_and(|indicator| row[indicator] >= 0.5)
    }
}

/// The distribution of encoded columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Real numbers around 0.
    Gaussian,
    /// Numbers between 0 and 1, independent of each other.
    Bernoulli,
    /// Numbers between 0 and 1 that sum to 1 over the feature's columns: a softmax.
    Categorical,
}

/// The place of `cell` in `choices`: the same text, else the same number (`2.0` finds `2`).
pub(crate) fn position_in(choices: &[String], cell: Cell<'_>) -> Option<usize> {
    let same_text = match cell {
        Cell::Text(text) => choices.iter().position(|choice| choice == text),
        Cell::Number(_) | Cell::Missing => None,
    };
    same_text.or_else(|| {
        let number = cell.number()?;
        let same = |choice: &String| Cell::Text(choice).number().is_some_and(|c| (c - number).abs() <= 0.0);
        choices.iter().position(same)
    })
}

/// Whether a cell that says yes or no says yes; nothing for other cells.
#[cfg(feature = "files")]
pub(crate) fn holds(cell: Cell<'_>) -> Option<bool> {
    const WORDS: [[&str; 2]; 3] = [["false", "true"], ["no", "yes"], ["0", "1"]];
    match cell {
        Cell::Number(number) if (number - number.clamp(0.0, 1.0).round()).abs() <= 0.0 => Some(number >= 0.5),
        Cell::Number(_) | Cell::Missing => None,
        Cell::Text(text) => {
            let said = |answer: usize| WORDS.iter().any(|words| words[answer].eq_ignore_ascii_case(text.trim()));
            if said(1) { Some(true) } else { said(0).then_some(false) }
        }
    }
}

/// The choices for a message, shortened if there are many.
pub(crate) fn listed<S: AsRef<str>>(choices: &[S]) -> String {
    let first: Vec<Cow<'_, str>> = choices.iter().take(MOST_LISTED).map(|choice| shown(choice.as_ref())).collect();
    match choices.len().checked_sub(MOST_LISTED) {
        None | Some(0) => first.join(", "),
        Some(more) => format!("{} and {more} more", first.join(", ")),
    }
}

/// A cell or a name as a message shows it: the beginning of a long one, and no control characters.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let long = text.char_indices().nth(MOST_SHOWN).map(|(end, _)| end);
    if long.is_none() && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut short: String = text[..long.unwrap_or(text.len())]
        .chars()
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect();
    short.extend(long.map(|_| '…'));
    Cow::Owned(short)
}

/// The choice that looks most like `name`, if any looks like it at all.
pub(crate) fn closest<'a>(name: &str, choices: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |choice: &str| strsim::normalized_levenshtein(&name, &choice.to_lowercase());
    let best = choices.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= 0.5).then_some(best)
}

#[cfg(feature = "files")]
impl Task {
    /// The label of the class that is written as `cell`.
    pub(crate) fn label(&self, cell: Cell<'_>) -> std::result::Result<u32, String> {
        let classes = self.classes();
        let bare = |cell: Cell<'_>| match cell {
            // `>50K.` in a file of test rows is `>50K`, and the other way round.
            Cell::Text(text) => {
                let other = text.strip_suffix('.').map_or_else(|| format!("{text}."), str::to_owned);
                position_in(classes, Cell::Text(&other))
            }
            Cell::Number(_) | Cell::Missing => None,
        };
        position_in(classes, cell).or_else(|| bare(cell)).map(|label| label as u32).ok_or_else(|| {
            format!("`{cell}` is not one of the classes {}; mend the cell or the schema's classes", listed(classes))
        })
    }
}

impl Feature {
    /// The columns of a table that hold the feature: one called as it is, or one for each category.
    pub fn sources(&self) -> &[String] {
        match &self.kind {
            Kind::OneHot { columns } => columns,
            _ => std::slice::from_ref(&self.name),
        }
    }

    /// Number of encoded columns of the feature.
    pub fn width(&self) -> usize {
        match self.kind.is_one_hot() {
            true => self.kind.categories().len(),
            false => 1 + usize::from(self.has_indicator()),
        }
    }

    /// `value` as a person should read it: a number with the decimals of the data, a place in an order or a date as the
    /// data writes it.
    pub fn show(&self, value: &Value) -> String {
        match (value, &self.kind) {
            (Value::Number(number), Kind::Continuous(scaling) | Kind::Ordinal(scaling)) => scaling.show(*number),
            (Value::Number(number), _) => self.value(*number).to_string(),
            (Value::Category(_) | Value::Missing, _) => value.to_string(),
        }
    }

    /// The value that stands for a number: the number itself, the word at this place of an order, or a date.
    pub fn value(&self, number: f64) -> Value {
        match &self.kind {
            Kind::Ordered { order, .. } => {
                let place = number.round().clamp(0.0, (order.len() - 1) as f64) as usize;
                Value::Category(order[place].clone())
            }
            Kind::Date { calendar, .. } => Value::Category(calendar.write(number)),
            _ => Value::Number(number),
        }
    }

    /// The finite number that stands for a value, as far as it has one: the place of a word in an order, what is counted
    /// up to a date, or the number itself.
    pub fn number(&self, value: &Value) -> Option<f64> {
        self.number_of(value.as_cell())
    }

    /// The same for a cell.
    pub(crate) fn number_of(&self, cell: Cell<'_>) -> Option<f64> {
        match (&self.kind, cell) {
            (Kind::Ordered { order, .. }, cell) => position_in(order, cell).map(|place| place as f64),
            (Kind::Date { calendar, .. }, Cell::Text(text)) => calendar.read(text),
            (_, cell) => cell.number(),
        }
    }

    fn column_kind(&self) -> ColumnKind {
        match &self.kind {
            kind if kind.is_one_hot() => ColumnKind::Categorical,
            Kind::Binary { .. } => ColumnKind::Bernoulli,
            _ => ColumnKind::Gaussian,
        }
    }

    /// Writes `cell` into `out`, the feature's own columns of a row of zeros.
    ///
    /// The problem is returned as text, since only the caller knows the row and the file.
    pub(crate) fn encode(&self, cell: Cell<'_>, out: &mut [f32]) -> std::result::Result<(), String> {
        let declared = self.missing.as_ref().filter(|missing| missing.covers(cell));
        if cell.is_missing() && self.kind.scaling().is_some() && !self.has_indicator() {
            return Err("the cell is missing, and the training rows had no such cell; fill it in".into());
        }
        match &self.kind {
            kind if kind.scaling().is_some() && declared.is_some() => {
                let scaling = kind.scaling().expect("it is a number");
                let median = declared.and_then(|missing| missing.median);
                out.copy_from_slice(&[scaling.encode(median.unwrap_or(scaling.mean)), 1.0]);
            }
            Kind::Grouped { categories } if cell.is_missing() || declared.is_some() => {
                out[self.category(categories, cell)?] = 1.0;
            }
            Kind::Binary { categories } => out[0] = self.category(categories, cell)? as f32,
            Kind::Grouped { categories } => {
                let (_, frequent) = categories.split_last().expect("a valid schema lists categories");
                out[position_in(frequent, cell).unwrap_or(frequent.len())] = 1.0;
            }
            kind => match kind.scaling() {
                Some(scaling) => out[0] = self.scaled(scaling, cell)?,
                None => out[self.category(kind.categories(), cell)?] = 1.0,
            },
        }
        Ok(())
    }

    /// The encoded number of a cell, which must not lie beyond all floats.
    fn scaled(&self, scaling: &Scaling, cell: Cell<'_>) -> std::result::Result<f32, String> {
        let number = self.number_of(cell).ok_or_else(|| self.no_number(cell))?;
        let encoded = scaling.encode(number);
        if encoded.is_finite() {
            return Ok(encoded);
        }
        let [least, greatest] = [scaling.least, scaling.greatest].map(|end| self.value(end));
        Err(format!(
            "{cell} is too far from the training rows, which lie between {least} and {greatest}; mend the cell"
        ))
    }

    /// Why a cell has no number, in the words of the feature's kind.
    fn no_number(&self, cell: Cell<'_>) -> String {
        match &self.kind {
            Kind::Ordered { order, .. } => {
                let words = listed(order);
                format!("`{cell}` is not one of the words {words}; mend the cell or the schema's order")
            }
            Kind::Date { calendar, .. } => {
                format!("`{cell}` is not a date written as {}; mend the cell", calendar.name())
            }
            kind => format!("`{cell}` is not a finite number, but the feature is {}; mend the cell", kind.name()),
        }
    }

    fn category(&self, categories: &[String], cell: Cell<'_>) -> std::result::Result<usize, String> {
        let missing = match &self.missing {
            Some(missing) => missing.covers(cell),
            None => cell.is_missing() && position_in(categories, cell).is_none(),
        };
        let place = if missing { self.missing_category() } else { position_in(categories, cell) };
        place.ok_or_else(|| {
            format!(
                "`{cell}` is not one of the categories {}; mend the cell or the schema's categories",
                listed(categories)
            )
        })
    }

    /// The value that `encoded`, the feature's own columns, stands for.
    pub(crate) fn decode(&self, encoded: &[f32]) -> Value {
        match &self.kind {
            _ if self.has_indicator() && encoded[1] >= 0.5 => Value::Missing,
            Kind::Binary { categories } => Value::Category(categories[usize::from(encoded[0] >= 0.5)].clone()),
            kind => match kind.scaling() {
                Some(scaling) => self.value(scaling.decode(encoded[0])),
                None => Value::Category(kind.categories()[largest(encoded)].clone()),
            },
        }
    }
}

/// The place of the largest number, the first of equals.
fn largest(numbers: &[f32]) -> usize {
    (1..numbers.len()).fold(0, |best, i| if numbers[i] > numbers[best] { i } else { best })
}

impl Image {
    fn encode(&self, row: &[Value]) -> Result<Vec<f32>> {
        let pixel = |(index, value): (usize, &Value)| match value.as_cell().number() {
            Some(v) if (0.0..=self.maximum).contains(&v) => Ok((v / self.maximum) as f32),
            _ => Err(Error::data(format!(
                "value {index} of the image is {value}; it must be a number between 0 and {}",
                self.maximum
            ))),
        };
        row.iter().enumerate().map(pixel).collect()
    }

    fn decode(&self, encoded: &[f32]) -> Vec<Value> {
        let whole = self.maximum > 1.0;
        let pixel = |&x: &f32| {
            let value = f64::from(x) * self.maximum;
            Value::Number(if whole { value.round() } else { value })
        };
        encoded.iter().map(pixel).collect()
    }
}

impl Schema {
    /// Number of columns of an encoded row.
    pub fn width(&self) -> usize {
        match &self.image {
            Some(image) => image.len(),
            None => self.features.iter().map(Feature::width).sum(),
        }
    }

    /// Number of values of a row before it is encoded: features or pixels.
    pub fn values(&self) -> usize {
        self.image.map_or(self.features.len(), |image| image.len())
    }

    /// The encoded columns, feature by feature; an image is one range over all its pixels.
    pub fn columns(&self) -> Vec<Column> {
        if let Some(image) = &self.image {
            return vec![Column { start: 0, len: image.len(), kind: ColumnKind::Bernoulli }];
        }
        let mut start = 0;
        let place = |feature: &Feature| {
            let column = Column { start, len: feature.width(), kind: feature.column_kind() };
            start += column.len;
            column
        };
        self.features.iter().map(place).collect()
    }

    /// The encoded columns, distribution by distribution: those of a feature, but a number and its indicator apart.
    pub fn distributions(&self) -> Vec<Column> {
        let parted = |column: Column| match column.indicator() {
            Some(start) => vec![Column { len: 1, ..column }, Column { start, len: 1, kind: ColumnKind::Bernoulli }],
            None => vec![column],
        };
        self.columns().into_iter().flat_map(parted).collect()
    }

    /// The numbers that a model sees of `row`, one value a feature (or pixel), in the order of the schema.
    pub fn encode_row(&self, row: &[Value]) -> Result<Vec<f32>> {
        if row.len() != self.values() {
            return Err(Error::data(format!(
                "a row has {} values, the schema describes {}; give one value for each",
                row.len(),
                self.values()
            )));
        }
        if let Some(image) = &self.image {
            return image.encode(row);
        }
        let mut encoded = vec![0.0; self.width()];
        for ((feature, column), value) in self.features.iter().zip(self.columns()).zip(row) {
            feature
                .encode(value.as_cell(), &mut encoded[column.range()])
                .map_err(|problem| Error::data(format!("feature `{}`: {problem}", feature.name)))?;
        }
        Ok(encoded)
    }

    /// The row, in the data's own units, that a model's numbers stand for.
    ///
    /// # Panics
    /// If `encoded` does not have [`Schema::width`] numbers.
    pub fn decode_row(&self, encoded: &[f32]) -> Vec<Value> {
        assert_eq!(encoded.len(), self.width(), "an encoded row has the width of its schema");
        match &self.image {
            Some(image) => image.decode(encoded),
            None => {
                let columns = self.columns();
                self.features.iter().zip(columns).map(|(feature, c)| feature.decode(&encoded[c.range()])).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Constraints, Missing, Target};

    #[test]
    fn messages_show_the_beginning_of_long_cells_and_no_control_characters() {
        assert_eq!(shown("Fähre"), "Fähre");
        assert_eq!(shown("a\x1b[2J\nb"), "a\u{fffd}[2J\u{fffd}b");
        assert_eq!(shown(&"ä".repeat(81)), format!("{}…", "ä".repeat(80)));
        assert_eq!(Cell::Text(&"x".repeat(1000)).to_string().chars().count(), 81);
    }
    use proptest::prelude::*;

    fn strings(values: &[&str]) -> Vec<String> {
        values.iter().map(ToString::to_string).collect()
    }

    fn schema(features: Vec<(&str, Kind)>) -> Schema {
        let task = Task::Classification { classes: strings(&["0", "1"]) };
        let feature =
            |(name, kind): (&str, Kind)| Feature { name: name.into(), kind, unit: None, meaning: None, missing: None };
        Schema {
            target: Target { name: "y".into(), task, unit: None, meaning: None },
            image: None,
            features: features.into_iter().map(feature).collect(),
            constraints: Constraints::default(),
        }
    }

    fn table() -> Schema {
        let scaling = Scaling { mean: 10.0, deviation: 4.0, decimals: Some(1), least: 0.0, greatest: 20.0 };
        schema(vec![
            ("age", Kind::Continuous(scaling)),
            ("sex", Kind::Binary { categories: strings(&["f", "m"]) }),
            ("school", Kind::Categorical { categories: strings(&["1", "2", "3"]) }),
            ("delay", Kind::Ordinal(Scaling { decimals: Some(0), ..scaling })),
        ])
    }

    fn image(maximum: f64) -> Schema {
        Schema { image: Some(Image { channels: 1, height: 1, width: 2, maximum }), ..schema(vec![]) }
    }

    fn category(text: &str) -> Value {
        Value::Category(text.into())
    }

    #[test]
    fn columns_lie_side_by_side_with_their_distributions() {
        let column = |start, len, kind| Column { start, len, kind };
        let expected = [
            column(0, 1, ColumnKind::Gaussian),
            column(1, 1, ColumnKind::Bernoulli),
            column(2, 3, ColumnKind::Categorical),
            column(5, 1, ColumnKind::Gaussian),
        ];
        assert_eq!(table().columns(), expected);
        assert_eq!(table().width(), 6);
        assert_eq!(image(255.0).columns(), [column(0, 2, ColumnKind::Bernoulli)]);
    }

    #[test]
    fn a_row_is_scaled_coded_and_one_hot() {
        let row = [Value::Number(12.0), category("m"), category("2"), Value::Number(8.0)];
        let encoded = table().encode_row(&row).unwrap();
        assert_eq!(encoded, [0.5, 1.0, 0.0, 1.0, 0.0, -0.5]);
        assert_eq!(table().decode_row(&encoded), row);
    }

    #[test]
    fn decoding_rounds_numbers_and_takes_the_nearest_category() {
        let row = table().decode_row(&[0.515, 0.4, 0.2, 0.3, 0.5, -0.4]);
        assert_eq!(row, [Value::Number(12.1), category("f"), category("3"), Value::Number(8.0)]);
    }

    #[test]
    fn a_category_may_be_given_as_a_number() {
        let row = [category("12"), category("f"), Value::Number(3.0), Value::Number(8.0)];
        assert_eq!(table().encode_row(&row).unwrap(), [0.5, 0.0, 0.0, 0.0, 1.0, -0.5]);
        assert_eq!(position_in(&strings(&["2", "2.0"]), Cell::Text("2.0")), Some(1));
    }

    #[test]
    fn values_that_do_not_fit_are_named_with_their_feature() {
        let problem = |index: usize, value: Value| {
            let mut row = vec![Value::Number(12.0), category("m"), category("2"), Value::Number(8.0)];
            row[index] = value;
            table().encode_row(&row).unwrap_err().to_string()
        };
        assert!(problem(0, category("old")).starts_with("feature `age`: `old` is not a finite number"));
        assert!(problem(0, Value::Number(f64::NAN)).contains("the cell is missing"));
        assert!(problem(0, Value::Number(1e60)).contains("too far from the training rows"));
        assert!(problem(2, Value::Number(7.0)).contains("`7` is not one of the categories 1, 2, 3"));
        assert!(table().encode_row(&[]).unwrap_err().to_string().contains("0 values, the schema describes 4"));
    }

    #[test]
    fn bytes_and_floats_of_an_image_survive() {
        for byte in 0..=255 {
            let row = [Value::Number(f64::from(byte)), Value::Number(0.0)];
            assert_eq!(image(255.0).decode_row(&image(255.0).encode_row(&row).unwrap()), row);
        }
        let row = [Value::Number(0.25), Value::Number(1.0)];
        assert_eq!(image(1.0).decode_row(&image(1.0).encode_row(&row).unwrap()), row);
        assert!(image(1.0).encode_row(&[Value::Number(0.0), Value::Number(1.5)]).is_err());
    }

    /// A number and a category that may be missing: three columns and two.
    fn with_gaps() -> Schema {
        let mut schema = table();
        schema.features = vec![schema.features.remove(0), schema.features.remove(0)];
        schema.features[0].missing = Some(Missing { sentinels: strings(&["-999"]), median: Some(12.0) });
        schema.features[1].missing = Some(Missing::default());
        schema.features[1].kind = Kind::Categorical { categories: strings(&["f", "m", "missing"]) };
        schema
    }

    #[test]
    fn a_missing_number_is_the_median_beside_an_indicator_and_a_missing_category_one_of_its_own() {
        let schema = with_gaps();
        let missing = [Value::Missing, category("missing")];
        assert_eq!(schema.encode_row(&missing).unwrap(), [0.5, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(schema.encode_row(&[Value::Number(-999.0), category("?")]).unwrap(), [0.5, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(schema.encode_row(&[Value::Number(8.0), category("m")]).unwrap(), [-0.5, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(schema.decode_row(&[7.0, 0.5, 0.1, 0.2, 0.7]), missing);
        assert_eq!(schema.decode_row(&[-0.5, 0.4, 0.1, 0.2, 0.1]), [Value::Number(8.0), category("m")]);
        let shown = |at: usize| schema.features[at].show(&missing[at]);
        assert_eq!((shown(0), shown(1)), ("missing".into(), "missing".into()));
        assert_eq!(serde_json::to_string(&missing).unwrap(), "[null,\"missing\"]");
        assert_eq!(serde_json::from_str::<Vec<Value>>("[null,\"missing\"]").unwrap(), missing);
        assert!(table().encode_row(&[Value::Missing, category("m"), category("2"), Value::Number(8.0)]).is_err());
    }

    #[test]
    fn a_number_and_its_indicator_have_distributions_of_their_own() {
        let column = |start, len, kind| Column { start, len, kind };
        assert_eq!(with_gaps().columns(), [column(0, 2, ColumnKind::Gaussian), column(2, 3, ColumnKind::Categorical)]);
        let parts = [
            column(0, 1, ColumnKind::Gaussian),
            column(1, 1, ColumnKind::Bernoulli),
            column(2, 3, ColumnKind::Categorical),
        ];
        assert_eq!(with_gaps().distributions(), parts);
        assert_eq!(table().distributions(), table().columns());
        let [age, sex] = with_gaps().columns()[..] else { panic!("two features") };
        assert!(age.is_missing(&[0.5, 1.0, 0.0, 0.0, 1.0]) && !sex.is_missing(&[0.5, 1.0, 0.0, 0.0, 1.0]));
    }

    #[test]
    fn values_are_shown_with_the_decimals_of_the_data() {
        assert_eq!(table().features[0].show(&Value::Number(12.0)), "12.0");
        assert_eq!(Value::Number(0.1).to_string(), "0.1");
        assert_eq!(format!("{:.2}", Value::Number(0.5)), "0.50");
    }

    proptest! {
        #[test]
        fn encoding_and_decoding_give_the_row_itself(age in -500..500, sex in 0..2usize, school in 0..3usize, delay in -9..9) {
            let row = [
                Value::Number(f64::from(age) / 10.0),
                category(["f", "m"][sex]),
                category(["1", "2", "3"][school]),
                Value::Number(f64::from(delay)),
            ];
            prop_assert_eq!(table().decode_row(&table().encode_row(&row).unwrap()), row);
        }
    }
}
