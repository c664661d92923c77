//! What goes to stdout: a table for people, numbers to the right and words to the left, or one JSON document.

use serde::Serialize;
use std::fmt::Write;

/// A document as one line of JSON, whole before any of it is written.
pub fn json(document: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(document)?;
    line.push(b'\n');
    Ok(line)
}

/// The rows under their headings, columns aligned.
pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let right: Vec<bool> = (0..headings.len()).map(|column| rows.iter().all(|row| is_number(&row[column]))).collect();
    let line = |cells: Vec<&str>| {
        let mut line = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let _ = match right[column] {
                true => write!(line, "{cell:>width$}  ", width = widths[column]),
                false => write!(line, "{cell:<width$}  ", width = widths[column]),
            };
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut text = line(headings.to_vec());
    for row in rows {
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell.trim_end_matches('%').trim().parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_words_to_the_left() {
        let rows = vec![vec!["a".into(), "1.5".into()], vec!["bcd".into(), "10.5".into()]];
        assert_eq!(table(&["name", "h"], &rows), "name     h\na      1.5\nbcd   10.5\n");
    }
}
