//! Every table and figure of the paper: a file of settings each, and the studies that carry them out.
//!
//! ```text
//! spec (TOML) ─► laboratory (models, sets of clues) ─► study ─► finding (tables, pictures, checks) ─► record ─► results
//! ```
//!
//! This is the only room with a clock. It opens files of its own: specs that a user brings, and records of what was
//! found.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests that mean exactly this number"))]

mod catalogue;
mod curves;
pub mod demo;
mod laboratory;
mod models;
mod own_tables;
mod record;
mod results;
mod series;
mod spec;
mod statistics;
mod study;
mod study_result;
mod typing_errors;

pub use catalogue::{NAMES, built_in, list_of_all};
pub use laboratory::{Laboratory, Place, Stage};
pub use own_tables::OwnTable;
pub use record::ExperimentRecord;
pub use results::results_page;
pub use series::{Pace, ResultsFolder, UnderWay, asked_for};
pub use spec::Spec;
pub use study_result::{Cell, Check, ModelHashes, StudyResult, Table, Verdict};
pub use typing_errors::{Count, TypingErrors, typing_errors};
