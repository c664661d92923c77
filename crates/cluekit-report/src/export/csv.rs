//! A sheet as comma-separated values, in which a spreadsheet finds no formula.

use super::sheet::{Entry, Sheet, clean};

/// The sheet as text: commas, a line for each row, quotes where they are needed.
///
/// Words that a spreadsheet would take for a formula begin with an apostrophe.
pub fn csv(sheet: &Sheet) -> String {
    let mut text = line(sheet.headings.iter().map(|heading| words(heading)));
    for row in &sheet.rows {
        text += &line(row.iter().map(cell));
    }
    text
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\n"
}

fn cell(entry: &Entry) -> String {
    match entry {
        Entry::Number(number) if number.is_finite() => number.to_string(),
        Entry::Empty | Entry::Number(_) => String::new(),
        Entry::Truth(holds) => holds.to_string(),
        Entry::Text(text) => words(text),
    }
}

/// Words that are quoted where they must be, and are no formula.
fn words(text: &str) -> String {
    let begins = text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with(['\t', '\r']);
    let harmless = !begins || text.parse::<f64>().is_ok();
    let text = if harmless { clean(text) } else { format!("'{}", clean(text)) };
    match text.contains([',', '"', ';']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_formula_begins_with_an_apostrophe() {
        for formula in ["=1+1", "+A1", "-cmd", "@SUM(A1)", "\t=1", " =1", "\rx"] {
            assert!(words(formula).starts_with('\''), "{formula:?}");
        }
        assert_eq!(["-5", "+1e3", "C-7", "a=b"].map(words), ["-5", "+1e3", "C-7", "a=b"]);
    }

    #[test]
    fn a_row_is_a_line_whatever_its_cells_hold() {
        let row = vec![
            Entry::Number(0.5),
            Entry::Number(f64::NAN),
            Entry::Truth(true),
            Entry::Empty,
            Entry::Text("a \"b\",\nc".into()),
        ];
        let sheet =
            Sheet { headings: ["h", "nothing", "is", "none", "=x"].map(str::to_owned).to_vec(), rows: vec![row] };
        assert_eq!(csv(&sheet), "h,nothing,is,none,'=x\n0.5,,true,,\"a \"\"b\"\", c\"\n");
    }
}
