#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests that mean exactly this number"))]

pub mod amortise;
pub mod audit;
pub mod data;
pub mod distance;
pub mod diversity;
pub mod error;
pub mod explainer;
pub mod explanation;
mod linear;
pub mod measure;
pub mod mixture;
pub mod model;
mod named;
pub mod observer;
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

pub use error::{Error, Result};
pub use seed::Seed;

/// The example in the README of the repository.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
