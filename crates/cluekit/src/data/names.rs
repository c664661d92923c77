//! Names of rows: where in its file each row of a table stands, and what its identifier says.
//!
//! The rows of a table are shuffled into parts, so a position in a part finds no line of the file. A name does.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The name of one row of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RowName {
    /// Row of the file as people count it: the line of a text file, the row of a sheet, of Parquet the row from 1.
    pub row: u64,
    /// Identifier of the row; none where no column holds identifiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// `row 4021, id C-1042`.
impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "row {}, id {id}", self.row),
            None => write!(f, "row {}", self.row),
        }
    }
}

/// The names of some rows; clones and parts share those of the whole file.
///
/// ```
/// use cluekit::data::RowNames;
///
/// let names = RowNames::new(vec![2, 3, 4], Some(vec!["a".into(), "b".into(), "c".into()]));
/// let shuffled = names.select(&[2, 0]);
/// assert_eq!(shuffled.get(0).map(|name| name.to_string()).as_deref(), Some("row 4, id c"));
/// assert_eq!(shuffled.with_id("a"), [1]);
/// assert!(RowNames::default().get(0).is_none()); // images and made data have none
/// ```
#[derive(Clone, Debug, Default)]
pub struct RowNames {
    file: Option<Arc<FileNames>>,
    /// For each row its place in the file, counted from 0.
    places: Vec<u32>,
}

/// The names of all rows of a file.
#[derive(Debug)]
struct FileNames {
    rows: Vec<u64>,
    ids: Option<Vec<String>>,
}

impl RowNames {
    /// The names of all rows of a file: its rows as people count them and, where there are some, their identifiers.
    pub fn new(rows: Vec<u64>, ids: Option<Vec<String>>) -> Self {
        let places = (0..rows.len() as u32).collect();
        Self { file: Some(Arc::new(FileNames { rows, ids })), places }
    }

    /// Name of the row at a position; none where rows have no names.
    pub fn get(&self, position: usize) -> Option<RowName> {
        let (file, &place) = (self.file.as_ref()?, self.places.get(position)?);
        let id = file.ids.as_ref().map(|ids| ids[place as usize].clone());
        Some(RowName { row: file.rows[place as usize], id })
    }

    /// Names of the rows at these positions, in that order.
    #[must_use]
    pub fn select(&self, positions: &[usize]) -> Self {
        match &self.file {
            Some(_) => Self {
                file: self.file.clone(),
                places: positions.iter().map(|&position| self.places[position]).collect(),
            },
            None => Self::default(),
        }
    }

    /// Whether rows have identifiers.
    pub fn have_ids(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.ids.is_some())
    }

    /// Positions of the rows with this identifier.
    pub fn with_id(&self, id: &str) -> Vec<usize> {
        let Some(ids) = self.file.as_ref().and_then(|file| file.ids.as_ref()) else { return vec![] };
        (0..self.places.len()).filter(|&position| ids[self.places[position] as usize] == id).collect()
    }
}

/// The names of the rows of a dataset, and what another file of such rows is read by.
#[derive(Clone, Debug, Default)]
pub struct PartNames {
    /// Name of the column that holds identifiers; none where there is no such column.
    pub id: Option<String>,
    /// Whether numbers of the file have a decimal comma.
    pub decimal_comma: bool,
    /// Names of the training rows.
    pub train: RowNames,
    /// Names of the test rows.
    pub test: RowNames,
}

/// A row of a file that a model cannot be asked about, with the reason; the rows beside it go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RejectedRow {
    /// Position of the row among those of its file or its split, counted from 0.
    pub index: usize,
    /// Where the row came from; none where rows have no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<RowName>,
    /// What is wrong with the row.
    pub reason: String,
}

/// `Input 3 (row 5, id C-7): left out: column …`.
impl fmt::Display for RejectedRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        write!(f, "Input {}{name}: left out: {}", self.index, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_an_identifier_is_called_by_its_line() {
        let names = RowNames::new(vec![2, 4], None);
        assert_eq!(names.get(1).unwrap().to_string(), "row 4");
        assert!(!names.have_ids() && names.with_id("4").is_empty() && names.get(2).is_none());
        assert_eq!(serde_json::to_string(&names.get(0).unwrap()).unwrap(), r#"{"row":2}"#);
    }

    #[test]
    fn several_rows_may_share_an_identifier() {
        let names = RowNames::new(vec![2, 3, 4], Some(["a", "b", "a"].map(str::to_owned).to_vec()));
        assert_eq!(names.with_id("a"), [0, 2]);
        assert_eq!(names.select(&[1, 2]).with_id("a"), [1]);
    }

    #[test]
    fn a_row_that_is_left_out_says_where_it_is_and_why() {
        let name = Some(RowName { row: 5, id: Some("C-7".into()) });
        let row = RejectedRow { index: 3, name, reason: "column `age`: no".into() };
        assert_eq!(row.to_string(), "Input 3 (row 5, id C-7): left out: column `age`: no");
        assert_eq!(RejectedRow { name: None, ..row }.to_string(), "Input 3: left out: column `age`: no");
    }
}
