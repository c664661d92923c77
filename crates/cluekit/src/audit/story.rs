//! What a demonstration tells besides: chapters with pictures.

use serde::{Deserialize, Serialize};

/// Chapters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Story {
    /// What they are about.
    pub title: String,
    /// One after the other.
    pub chapters: Vec<Chapter>,
}

/// A chapter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// Its heading.
    pub heading: String,
    /// Its paragraphs.
    pub text: Vec<String>,
    /// Its pictures.
    pub figures: Vec<Figure>,
    /// Lines to type.
    pub commands: Vec<String>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What is to be seen.
    pub caption: String,
    /// `image/svg+xml` or `image/png`.
    pub kind: String,
    /// Its bytes in base64.
    pub data: String,
    /// The numbers that are written in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<FigureNumber>,
}

/// A number that is written in a picture or in a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FigureNumber {
    /// What it is.
    pub name: String,
    /// What it amounts to.
    pub value: f64,
}

impl Figure {
    /// With the numbers that are written in it.
    #[must_use]
    pub fn with(self, numbers: Vec<(String, f64)>) -> Self {
        let number = |(name, value)| FigureNumber { name, value };
        Self { numbers: numbers.into_iter().map(number).collect(), ..self }
    }
}
