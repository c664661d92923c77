//! What the columns of a dataset mean, and how a value becomes a number that a model sees.
//!
//! A schema is saved as `schema.toml`, can be edited there, and is all that is needed to read the model's numbers
//! in the data's own units.
//!
//! | kind | encoded as | decoded by |
//! |---|---|---|
//! | continuous, ordinal | (v − mean) / deviation | undoing it, rounded to `decimals` |
//! | ordinal with an order of words | the same, v being the place of the word, from 0 | the nearest word |
//! | date | the same, v being days, months, minutes or seconds since 1970 | the date as the data writes it |
//! | binary | 0 for the first category, 1 for the second | the nearer one |
//! | categorical | one-hot, one column a category | the largest column |
//! | grouped | the same; the last category stands for all that are not listed | the largest column |
//! | one-hot | the same, from columns of the table of which one holds in each row | the name of the largest column |
//! | image | v / maximum, every pixel | undoing it, rounded to whole numbers unless maximum ≤ 1 |
//!
//! A number that may be missing has a second column, its indicator; a category may be called `missing` (`missing.rs`).

use super::calendar::Calendar;
use super::constraints::Constraints;
use super::missing::Missing;
use super::schema_toml::{FeatureForm, TargetForm};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The most values that one input may have, so that a mistyped size is an error and not an allocation.
const LARGEST_INPUT: usize = 100_000_000;

/// The meaning of a dataset's inputs and target.
///
/// Inputs are either one image or a list of features, never both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Target of the prediction: classes or a value.
    pub target: Target,
    /// Shape of an image input; none for a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// The features of a table, in the order of their columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<Feature>,
    /// Limits on what a counterfactual may change in the features; models do not depend on them.
    #[serde(default, skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
}

/// An image input: `channels × height × width` values, channel by channel, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Number of channels: 1 for grey, 3 for RGB.
    pub channels: usize,
    /// Height in pixels.
    pub height: usize,
    /// Width in pixels.
    pub width: usize,
    /// The stored value that stands for full intensity: 255 for bytes, 1 for floats.
    pub maximum: f64,
}

/// One column of a user's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FeatureForm", into = "FeatureForm")]
pub struct Feature {
    /// Name of the column.
    pub name: String,
    /// Kind of the values, with what encoding needs to know.
    pub kind: Kind,
    /// Unit of the values, for people.
    pub unit: Option<String>,
    /// What the feature stands for, for people.
    pub meaning: Option<String>,
    /// What is made of cells without a value; none where every cell must have one.
    pub missing: Option<Missing>,
}

/// Kinds of values that a feature can have.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A measured quantity, standardised.
    Continuous(Scaling),
    /// Whole steps whose order matters: a rating, a count of months.
    Ordinal(Scaling),
    /// Words whose order matters, encoded as their places in it.
    Ordered {
        /// The words from low to high, as they are written in the data.
        order: Vec<String>,
        /// Scaling of the places, which count from 0.
        scaling: Scaling,
    },
    /// A date or a time, encoded as a number of days, months, minutes or seconds.
    Date {
        /// How dates are written in the data, which says what is counted.
        calendar: Calendar,
        /// Scaling of these numbers.
        scaling: Scaling,
    },
    /// One of two values, encoded as 0 or 1.
    Binary {
        /// The two values, as they are written in the data.
        categories: Vec<String>,
    },
    /// One of several values without order, encoded as one-hot columns.
    Categorical {
        /// The values, as they are written in the data, in the order of their one-hot columns.
        categories: Vec<String>,
    },
    /// One of many values without order, of which only the frequent ones are told apart; encoded as one-hot columns.
    Grouped {
        /// The frequent values, and behind them the name of the group that holds all others.
        categories: Vec<String>,
    },
    /// A category that the table holds in columns of their own, of which exactly one holds in every row.
    OneHot {
        /// The names of these columns, which are the categories.
        columns: Vec<String>,
    },
}

/// A shift and a scale: `encoded = (value − mean) / deviation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// Mean over the training rows.
    pub mean: f64,
    /// Standard deviation over the training rows; 1 for a constant column.
    pub deviation: f64,
    /// Digits after the decimal point in the data; decoding rounds to them. Absent: no rounding.
    pub decimals: Option<u32>,
    /// Least value in the training rows.
    pub least: f64,
    /// Greatest value in the training rows.
    pub greatest: f64,
}

/// The target of a prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TargetForm", into = "TargetForm")]
pub struct Target {
    /// The target's name: the column of a table, or what a label stands for.
    pub name: String,
    /// Kind of prediction: classification or regression.
    pub task: Task,
    /// Unit of a regression target, for people.
    pub unit: Option<String>,
    /// What the target stands for, for people, with the meaning of its classes.
    pub meaning: Option<String>,
}

/// The two kinds of prediction.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// The target is one of several classes.
    Classification {
        /// The classes as they are written in the data; a label is a position in this list.
        classes: Vec<String>,
    },
    /// The target is a value, scaled like a continuous feature.
    Regression(Scaling),
}

impl Task {
    /// The classes, in the order of their labels; none for regression.
    pub fn classes(&self) -> &[String] {
        match self {
            Self::Classification { classes } => classes,
            Self::Regression(_) => &[],
        }
    }

    /// Whether the target is a value rather than a class.
    pub fn is_regression(&self) -> bool {
        matches!(self, Self::Regression(_))
    }
}

impl Image {
    /// Number of values of an image: `channels × height × width`.
    pub fn len(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// Whether an image has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn validate(&self) -> Result<()> {
        let Self { channels, height, width, maximum } = *self;
        let size = channels.checked_mul(height).and_then(|n| n.checked_mul(width));
        if !size.is_some_and(|n| (1..=LARGEST_INPUT).contains(&n)) {
            return Err(Error::data(format!(
                "an image of {channels} × {height} × {width} values cannot be used; the product must lie between 1 and \
                 {LARGEST_INPUT}"
            )));
        }
        if !(maximum > 0.0 && maximum.is_finite()) {
            return Err(Error::data(format!("the image's `maximum` is {maximum}; it must be a positive number")));
        }
        Ok(())
    }
}

impl Kind {
    /// Name of the kind in TOML, reports and messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Continuous(_) => "continuous",
            Self::Ordinal(_) | Self::Ordered { .. } => "ordinal",
            Self::Date { .. } => "date",
            Self::Binary { .. } => "binary",
            Self::Categorical { .. } => "categorical",
            Self::Grouped { .. } => "grouped",
            Self::OneHot { .. } => "one-hot",
        }
    }

    /// The scaling of a number, of the places of an order or of a date; none for categories.
    pub fn scaling(&self) -> Option<&Scaling> {
        match self {
            Self::Continuous(scaling)
            | Self::Ordinal(scaling)
            | Self::Ordered { scaling, .. }
            | Self::Date { scaling, .. } => Some(scaling),
            Self::Binary { .. } | Self::Categorical { .. } | Self::Grouped { .. } | Self::OneHot { .. } => None,
        }
    }

    /// The values of a feature without order, in the order of their codes; none for a number.
    pub fn categories(&self) -> &[String] {
        match self {
            Self::Binary { categories } | Self::Categorical { categories } | Self::Grouped { categories } => categories,
            Self::OneHot { columns } => columns,
            Self::Continuous(_) | Self::Ordinal(_) | Self::Ordered { .. } | Self::Date { .. } => &[],
        }
    }

    /// Whether values are written as words or dates rather than as numbers.
    pub fn is_written_in_words(&self) -> bool {
        !matches!(self, Self::Continuous(_) | Self::Ordinal(_))
    }

    /// Whether values are encoded as one column a category.
    pub(crate) fn is_one_hot(&self) -> bool {
        matches!(self, Self::Categorical { .. } | Self::Grouped { .. } | Self::OneHot { .. })
    }
}

impl Feature {
    fn validate(&self) -> Result<()> {
        let what = format!("feature `{}`", self.name);
        if let (Some(scaling), Some(median)) = (self.kind.scaling(), self.missing.as_ref().and_then(|m| m.median))
            && !scaling.encode(median).is_finite()
        {
            return Err(Error::data(format!("{what} has median {median}; it must be a number like the others")));
        }
        match &self.kind {
            Kind::Continuous(scaling) | Kind::Ordinal(scaling) | Kind::Date { scaling, .. } => scaling.validate(&what),
            Kind::Ordered { order, scaling } => {
                several_and_distinct(&what, "words in its order", order)?;
                scaling.validate(&what)
            }
            Kind::Binary { categories } if categories.len() != 2 => Err(Error::data(format!(
                "{what} is binary and needs exactly two categories, got {}; make it categorical or mend the list",
                categories.len()
            ))),
            Kind::Binary { categories } | Kind::Categorical { categories } | Kind::Grouped { categories } => {
                several_and_distinct(&what, "categories", categories)
            }
            Kind::OneHot { columns } => several_and_distinct(&what, "columns", columns),
        }
    }
}

impl Target {
    fn validate(&self) -> Result<()> {
        let what = format!("target `{}`", self.name);
        match &self.task {
            Task::Classification { classes } => several_and_distinct(&what, "classes", classes),
            Task::Regression(scaling) => scaling.validate(&what),
        }
    }
}

impl Schema {
    /// Checks that the schema can be used: one kind of input, distinct names, categories and classes, usable scaling,
    /// constraints that can be met.
    pub fn validate(&self) -> Result<()> {
        self.target.validate()?;
        self.validate_inputs()?;
        self.constraints.validate(self)
    }

    /// This schema without its constraints, which may change after training: what the models were trained on.
    pub fn without_constraints(&self) -> Self {
        Self { constraints: Constraints::default(), ..self.clone() }
    }

    fn validate_inputs(&self) -> Result<()> {
        match (&self.image, self.features.is_empty()) {
            (Some(image), true) => image.validate(),
            (None, false) => self.validate_features(),
            (Some(_), false) => {
                Err(Error::data("the schema has both an image and features; keep the one that the data is"))
            }
            (None, true) => Err(Error::data("the schema has neither an image nor features; give one of them")),
        }
    }

    fn validate_features(&self) -> Result<()> {
        let mut names = BTreeSet::from([self.target.name.as_str()]);
        for feature in &self.features {
            feature.validate()?;
            if feature.name.is_empty() {
                return Err(Error::data("a feature of the schema has an empty name; give it the name of its column"));
            }
            if !names.insert(&feature.name) {
                return Err(Error::data(format!(
                    "the name `{}` is given twice in the schema; each feature and the target need a name of their own",
                    feature.name
                )));
            }
        }
        Ok(())
    }
}

fn several_and_distinct(what: &str, list: &str, values: &[String]) -> Result<()> {
    if values.len() < 2 {
        let got = values.len();
        return Err(Error::data(format!("{what} needs at least two {list}, got {got}; complete or remove it")));
    }
    let mut seen = BTreeSet::new();
    match values.iter().find(|value| !seen.insert(*value)) {
        Some(twice) => Err(Error::data(format!("{what} lists `{twice}` twice in its {list}; remove one"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let classes = vec!["no".into(), "yes".into()];
        let scaling = Scaling { mean: 1.0, deviation: 2.0, decimals: Some(0), least: -1.0, greatest: 3.0 };
        Schema {
            target: Target {
                name: "default".into(),
                task: Task::Classification { classes },
                unit: None,
                meaning: None,
            },
            image: None,
            features: vec![Feature {
                name: "age".into(),
                kind: Kind::Continuous(scaling),
                unit: None,
                meaning: None,
                missing: None,
            }],
            constraints: Constraints::default(),
        }
    }

    fn problem(change: impl FnOnce(&mut Schema)) -> String {
        let mut schema = schema();
        change(&mut schema);
        schema.validate().unwrap_err().to_string()
    }

    fn with_kind(kind: Kind) -> String {
        problem(|s| s.features[0].kind = kind)
    }

    #[test]
    fn a_sound_schema_is_valid() {
        schema().validate().unwrap();
    }

    #[test]
    fn inputs_are_an_image_or_features_but_not_both_and_not_neither() {
        let image = Image { channels: 1, height: 2, width: 2, maximum: 255.0 };
        assert!(problem(|s| s.image = Some(image)).contains("both"));
        assert!(problem(|s| s.features.clear()).contains("neither"));
        Schema { image: Some(image), features: vec![], ..schema() }.validate().unwrap();
    }

    #[test]
    fn a_name_given_twice_is_named() {
        assert!(problem(|s| s.features.push(s.features[0].clone())).contains("`age` is given twice"));
        assert!(problem(|s| s.target.name = "age".into()).contains("`age` is given twice"));
    }

    #[test]
    fn categories_are_several_and_distinct() {
        let list = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(with_kind(Kind::Categorical { categories: list(&["a"]) }).contains("at least two categories, got 1"));
        assert!(with_kind(Kind::Categorical { categories: list(&["a", "a"]) }).contains("`a` twice"));
        assert!(with_kind(Kind::Binary { categories: list(&["a", "b", "c"]) }).contains("exactly two"));
        let one = Task::Classification { classes: list(&["no"]) };
        assert!(problem(|s| s.target.task = one).contains("at least two classes"));
    }

    #[test]
    fn constraints_are_part_of_a_schema_but_not_of_what_models_were_trained_on() {
        let unknown = problem(|s| s.constraints.immutable = vec!["agee".into()]);
        assert!(unknown.contains("`agee`") && unknown.contains("did you mean `age`?"), "{unknown}");
        let constraints = Constraints { immutable: vec!["age".into()], ..Constraints::default() };
        let constrained = Schema { constraints, ..schema() };
        constrained.validate().unwrap();
        assert_eq!(constrained.without_constraints(), schema());
    }

    #[test]
    fn an_image_too_large_to_hold_is_refused() {
        let image = Image { channels: usize::MAX, height: 2, width: 2, maximum: 255.0 };
        let schema = Schema { image: Some(image), features: vec![], ..schema() };
        assert!(schema.validate().unwrap_err().to_string().contains("must lie between 1 and"));
    }

    #[test]
    fn a_classifier_gives_a_logit_a_class_and_a_regressor_a_mean_and_a_variance() {
        let task = schema().target.task;
        assert_eq!((task.is_regression(), task.classes().len()), (false, 2));
        let scaling = Scaling { mean: 0.0, deviation: 1.0, decimals: None, least: 0.0, greatest: 1.0 };
        assert_eq!((Task::Regression(scaling).is_regression(), Task::Regression(scaling).classes().len()), (true, 0));
    }
}
