//! How long it takes to tell what the columns of a large table mean: `wide_and_long ROWS COLUMNS`.
//!
//! Makes a CSV of that size in the folder for temporary files, times `describe`, and removes it. Of eight columns one holds
//! words, one dates, one a rating, and the others measured numbers.

use cluekit::data::Request;
use cluekit::data::source::table::describe;
use std::io::{BufWriter, Write};
use std::time::Instant;

#[allow(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = std::env::args().skip(1).map(|size| size.parse::<usize>());
    let rows = sizes.next().transpose()?.unwrap_or(1_000_000);
    let columns = sizes.next().transpose()?.unwrap_or(50);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("table.csv");
    let mut file = BufWriter::new(std::fs::File::create(&path)?);
    let names: Vec<String> = (0..columns).map(|column| format!("column {column}")).collect();
    writeln!(file, "{},class", names.join(","))?;
    for row in 0..rows {
        for column in 0..columns {
            // Every cell follows from its place, without two columns that say the same.
            let mixed = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(column as u32 % 64)
                ^ (column as u64).wrapping_mul(0xd134_2543_de82_ef95);
            match column % 8 {
                0 => write!(file, "word {},", mixed % 20)?,
                1 => write!(file, "2021-{:02}-{:02},", 1 + mixed % 12, 1 + mixed / 12 % 28)?,
                2 => write!(file, "{},", mixed % 10)?,
                _ => write!(file, "{}.{:02},", mixed % 10_000, mixed / 10_000 % 100)?,
            }
        }
        writeln!(file, "{}", ["no", "yes"][row % 7 / 4])?;
    }
    file.flush()?;
    let megabytes = std::fs::metadata(&path)?.len() / 1_000_000;
    let request = Request { target: Some("class".into()), stratified: true, ..Request::new(path.to_string_lossy()) };
    let begun = Instant::now();
    let described = describe(&request)?;
    let (seconds, features) = (begun.elapsed().as_secs_f64(), described.schema.features.len());
    println!("{rows} rows, {columns} columns, {megabytes} MB: {features} features in {seconds:.1} s");
    Ok(())
}
