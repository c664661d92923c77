//! The run folder: everything that a run knows, in files that another program can read and write.
//!
//! The one room beside `data` that opens files.

pub mod checkpoint;
pub mod files;
pub mod mappers;
pub mod run;
pub mod schema;
pub mod weights;
