//! What a demonstration tells besides: chapters with pictures.

use serde::{Deserialize, Serialize};

/// Chapters that a report tells besides its figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Story {
    /// Title above the chapters.
    pub title: String,
    /// The chapters in order.
    pub chapters: Vec<Chapter>,
}

/// A chapter of a story.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Chapter {
    /// Heading of the chapter.
    pub heading: String,
    /// Paragraphs of the chapter.
    pub text: Vec<String>,
    /// Pictures of the chapter.
    pub figures: Vec<Figure>,
    /// Commands to type, one line each.
    pub commands: Vec<String>,
}

/// A picture with its caption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What the picture shows, in words.
    pub caption: String,
    /// Media type of the picture: `image/svg+xml` or `image/png`.
    pub kind: String,
    /// Bytes of the picture in base64.
    pub data: String,
    /// Numbers that are written in the picture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<FigureNumber>,
}

/// A number that is written in a picture or in a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FigureNumber {
    /// What the number stands for.
    pub name: String,
    /// Value of the number.
    pub value: f64,
}

impl Figure {
    /// This picture with the numbers that are written in it.
    #[must_use]
    pub fn with(self, numbers: Vec<(String, f64)>) -> Self {
        let number = |(name, value)| FigureNumber { name, value };
        Self { numbers: numbers.into_iter().map(number).collect(), ..self }
    }
}
