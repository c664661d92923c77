#![doc = include_str!("../../../README.md")]

pub mod data;
pub mod error;
pub mod measure;
pub mod model;
pub mod observer;
pub mod parallel;
pub mod prediction;
pub mod reconstruction;
pub mod report;
pub mod seed;
pub mod tensor;
pub mod uncertainty;

pub use error::{Error, Result};
pub use seed::Seed;
