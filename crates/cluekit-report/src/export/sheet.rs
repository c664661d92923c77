//! A table for a spreadsheet: cells that are numbers, truths or words, and words that can do no harm there.

/// Cells under their headings; every row has as many as there are headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What the columns are called.
    pub headings: Vec<String>,
    /// The cells, row after row.
    pub rows: Vec<Vec<Entry>>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Nothing.
    Empty,
    /// A number; one that is not finite is written as nothing.
    Number(f64),
    /// Whether something holds.
    Truth(bool),
    /// Words.
    Text(String),
}

impl Entry {
    /// A number as short as its 32 bits allow.
    pub fn of_f32(value: f32) -> Self {
        value.to_string().parse().map_or(Self::Empty, Self::Number)
    }

    /// The number that a text is, or the text.
    pub fn of_text(text: &str) -> Self {
        match text.parse::<f64>() {
            _ if text.is_empty() => Self::Empty,
            Ok(number) if number.is_finite() => Self::Number(number),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Words that may be missing.
    pub fn of_words(text: Option<&str>) -> Self {
        text.map_or(Self::Empty, |text| Self::Text(text.to_owned()))
    }
}

/// The words without characters that steer a terminal or end a line.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_number_where_it_reads_as_one() {
        assert_eq!(Entry::of_text("-1.5"), Entry::Number(-1.5));
        assert_eq!(Entry::of_text("C-7"), Entry::Text("C-7".into()));
        assert_eq!((Entry::of_text(""), Entry::of_text("NaN")), (Entry::Empty, Entry::Text("NaN".into())));
        assert_eq!(Entry::of_f32(0.02), Entry::Number(0.02));
        assert_eq!(clean("a\tb\u{1b}[0m\r\n"), "a b [0m  ");
    }
}
