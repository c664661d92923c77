//! Explanations as the bytes of files that other programs read; the same explanations give the same bytes.
//!
//! | format | one entry is | read by |
//! |---|---|---|
//! | [`npz()`] | an array over all inputs, or over all clues | NumPy |
//! | [`parquet()`] | a row for each input and each clue, in the data's own units | pandas, Polars, DuckDB |
//! | [`json_lines`] | a line for each input, with everything that is known | anything |
//!
//! Positions are counted from 0.

mod columns;
mod json;
mod npz;
mod parquet;

pub use json::json_lines;
pub use npz::npz;
pub use parquet::parquet;

use cluekit::error::{Error, Result};

/// Whether a row of numbers has the length that all others have.
fn check_width(what: &str, row: &[f32], width: usize) -> Result<()> {
    match row.len() == width {
        true => Ok(()),
        false => Err(Error::Shape { what: what.to_owned(), expected: vec![width], got: vec![row.len()] }),
    }
}
