#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests that mean exactly this number"))]

pub mod amortise;
pub mod audit;
mod convolution;
pub mod data;
pub mod distance;
pub mod diversity;
pub mod error;
pub mod explainer;
pub mod explanation;
mod lanes;
mod linear;
pub mod measure;
pub mod mixture;
pub mod model;
mod named;
mod normal;
pub mod observer;
mod panels;
pub mod parallel;
pub mod prediction;
pub mod search;
pub mod seed;
pub mod settings;
pub mod tensor;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod uncertainty;
pub mod wording;

pub use data::{Constraints, Dataset, Schema};
pub use distance::Distance;
pub use diversity::Diversity;
pub use error::{Error, Result};
pub use explainer::{AuditSettings, Explainer, ExplanationSet, Selection};
pub use explanation::{Clue, Explanation};
pub use model::plan::Plan;
pub use model::{Generative, Predictor};
pub use search::{Delta, Inputs, Search, SearchMethod, SearchSettings};
pub use seed::Seed;
pub use uncertainty::Uncertainty;

/// The example in the README of the repository.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
