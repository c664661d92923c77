//! What a model from elsewhere sees of a row: its own order, units and categories.
//!
//! | form | a model of a table sees |
//! |---|---|
//! | encoded | the columns of this crate: scaled numbers, one column a category |
//! | raw | one value a feature, in the data's own units; categories as numbers, one-hot columns or words |
//! | columns | the columns that are listed, each with a unit of its own |
//!
//! A model of images sees values between 0 and `maximum`, less a mean and divided by a deviation for each channel.

use crate::named;
use serde::{Deserialize, Serialize};

named! {
    "predictor.input.form", "a form of a model's input";
    /// The numbers that a model of a table sees.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum InputForm {
        /// Encoded columns, as the models of this crate see them.
        #[default]
        Encoded = "encoded",
        /// Values in the data's own units, feature by feature.
        Raw = "raw",
    }
}

named! {
    "predictor.input.categories", "a form of categories";
    /// What a model sees of a category in the raw form.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum CategoryForm {
        /// The number that the category is written as; its place where one of them is no number.
        Values = "values",
        /// The place of the category in the schema, from 0.
        Index = "index",
        /// One column a category.
        OneHot = "one-hot",
        /// The word itself.
        Text = "text",
    }
}

named! {
    "predictor.input.layout", "a layout of images";
    /// The order of the sides of an image.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Layout {
        /// Channel by channel, as PyTorch has it.
        ChannelsFirst = "nchw",
        /// Pixel by pixel, as TensorFlow has it.
        ChannelsLast = "nhwc",
    }
}

named! {
    "predictor.input.channels", "an order of channels";
    /// The order of the three channels of a colour image.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Channels {
        /// Red, green, blue.
        #[default]
        Rgb = "rgb",
        /// Blue, green, red.
        Bgr = "bgr",
    }
}

/// The preprocessing of a model, as data: `[predictor.input]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelInput {
    /// Form of the numbers of a table, where no columns are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<InputForm>,
    /// Form of categories in the raw form; chosen by the number of columns where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<CategoryForm>,
    /// The columns in the model's own order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<InputColumn>,
    /// Layout of images; the one that fits the model's shape where it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Order of the channels of images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Channels>,
    /// Number that stands for full intensity of a pixel: 1 unless it is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Mean of each channel, or one for all, in units of `maximum`'s scale.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mean: Vec<f64>,
    /// Deviation of each channel, or one for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deviation: Vec<f64>,
}

/// One or, of a category in one-hot form, several columns of a model's input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputColumn {
    /// Name of the feature.
    pub feature: String,
    /// Name of the model's input that the column belongs to, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Subtracted from a number in the data's unit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: f64,
    /// What the difference is divided by.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub scale: f64,
    /// Form of a category.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub form: Option<CategoryForm>,
    /// Categories in the model's order; that of the schema where it is absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Whether the column says that the number is missing, 1 for yes, instead of the number.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indicator: bool,
}

impl InputColumn {
    /// The column of a feature as the data writes it.
    pub fn of(feature: impl Into<String>) -> Self {
        let feature = feature.into();
        Self { feature, input: None, offset: 0.0, scale: 1.0, form: None, categories: vec![], indicator: false }
    }
}

fn one() -> f64 {
    1.0
}

fn is_zero(number: &f64) -> bool {
    number.abs() <= 0.0
}

fn is_one(number: &f64) -> bool {
    (number - 1.0).abs() <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_written_and_read_again() {
        let text = "form = \"raw\"\ncategories = \"one-hot\"\n\n[[columns]]\nfeature = \"AGE\"\noffset = 35.5\nscale = \
                    9.2\n\n[[columns]]\nfeature = \"SEX\"\nas = \"index\"\ncategories = [\"2\", \"1\"]\n";
        let input: ModelInput = toml::from_str(text).unwrap();
        assert_eq!(input.form, Some(InputForm::Raw));
        assert_eq!(input.columns[0], InputColumn { offset: 35.5, scale: 9.2, ..InputColumn::of("AGE") });
        assert_eq!(input.columns[1].form, Some(CategoryForm::Index));
        assert_eq!(toml::to_string(&input).unwrap(), text);
        assert!(toml::from_str::<ModelInput>("shape = 3").unwrap_err().to_string().contains("unknown field `shape`"));
    }
}
