//! Explanations as the bytes of files that other programs read; the same explanations give the same bytes.
//!
//! | format | one entry is | read by |
//! |---|---|---|
//! | [`npz()`] | an array over all inputs, or over all clues | NumPy |
//! | [`parquet()`] | a row for each input and each clue, in the data's own units | pandas, Polars, DuckDB |
//! | [`clue_sheet`], [`csv()`], [`xlsx()`] | a row for each clue, in the data's own units | spreadsheets |
//! | [`json_lines`] | a line for each input, with everything that is known | anything |
//!
//! Positions are counted from 0.

mod clues;
mod columns;
mod csv;
mod json;
mod npz;
mod parquet;
mod sheet;
mod xlsx;

pub use clues::clue_sheet;
pub use csv::csv;
pub use json::json_lines;
pub use npz::npz;
pub use parquet::parquet;
pub use sheet::{Entry, Sheet};
pub use xlsx::{MOST_COLUMNS, xlsx};

use cluekit::error::{Error, Result};

/// Whether a row of numbers has the length that all others have.
fn check_width(what: &str, row: &[f32], width: usize) -> Result<()> {
    match row.len() == width {
        true => Ok(()),
        false => Err(Error::Shape { what: what.to_owned(), expected: vec![width], got: vec![row.len()] }),
    }
}
