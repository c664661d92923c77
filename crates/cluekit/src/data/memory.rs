//! A table in memory: named columns of numbers or words, with or without a column to predict.
//!
//! ```
//! use cluekit::Seed;
//! use cluekit::data::Table;
//!
//! let ages = (0..40).map(|i| 20.0 + f64::from(i)).collect::<Vec<f64>>();
//! let pays = (0..40).map(|i| if i % 3 == 0 { "no" } else { "yes" }.to_owned()).collect::<Vec<String>>();
//! let clients = Table::new("clients").with("age", ages).with("pays", pays);
//! let dataset = clients.dataset("pays", 0.25, Seed(0))?;
//! assert_eq!((dataset.train.len(), dataset.test.len()), (30, 10));
//! assert_eq!(dataset.schema.target.task.classes(), ["no", "yes"]);
//! # Ok::<(), cluekit::Error>(())
//! ```

use super::gaps;
use super::infer::Inferred;
use super::raw::{Cells, Commas, Places, RawColumn, RawTable};
use super::source::table::{assembled, encode_inputs};
use super::split::Split;
use super::{Dataset, Meaning, Samples, Schema, Target, Targets, Task};
use crate::error::{Error, Result};
use crate::seed::Seed;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What a column that nobody predicts is called while the others are looked at.
const NOTHING: &str = "nothing to predict";

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// A column of finite numbers, NaN where one is missing.
    Numbers(Vec<f64>),
    /// A column of words; an empty one, and what files write for it, is missing.
    Words(Vec<String>),
}

impl From<Vec<f64>> for Values {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Numbers(numbers)
    }
}

impl From<Vec<String>> for Values {
    fn from(words: Vec<String>) -> Self {
        Self::Words(words)
    }
}

/// A table in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    name: String,
    columns: Vec<(String, Values)>,
}

impl Table {
    /// An empty table called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), columns: vec![] }
    }

    /// This table with one more column.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, values: impl Into<Values>) -> Self {
        self.columns.push((name.into(), values.into()));
        self
    }

    /// A dataset that predicts the column `target`; what columns mean is inferred as from a file.
    pub fn dataset(self, target: &str, test_share: f64, seed: Seed) -> Result<Dataset> {
        let (name, mut table) = (self.name.clone(), self.raw()?);
        table.need(target)?;
        let new_split = |rows: &[usize]| Split::new(rows.len(), test_share, seed);
        let (split, left_out) = gaps::split(&table, target, None, new_split)?;
        let Inferred { schema, notes, .. } = gaps::inferred(&mut table, target, &split.train, &Meaning::default())?;
        let notes = left_out.into_iter().chain(notes).collect();
        Ok(Dataset { notes, ..assembled(&name, &table, schema, &split, vec![])? })
    }

    /// A dataset whose targets nobody knows, for a model of this `task`.
    pub fn without_target(self, task: Task, test_share: f64, seed: Seed) -> Result<Dataset> {
        let rows = self.columns.first().map_or(0, |(_, values)| values.len());
        let nothing = (0..rows).map(|row| (row % 2) as f64).collect::<Vec<f64>>();
        let (name, mut table) = (self.name.clone(), self.with(NOTHING, nothing).raw()?);
        let split = Split::new(table.rows(), test_share, seed)?;
        let Inferred { schema, notes, .. } = gaps::inferred(&mut table, NOTHING, &split.train, &Meaning::default())?;
        let schema = Schema { target: Target { name: "target".into(), task, unit: None, meaning: None }, ..schema };
        let (x, width) = (encode_inputs(&table, &schema)?, schema.width());
        let all = Samples { x, width, y: Targets::Unknown(table.rows()), weights: None };
        let (train, test) = (all.select(&split.train), all.select(&split.test));
        Ok(Dataset { name, schema, train, test, sources: vec![], notes, names: Default::default() })
    }

    /// The columns as those of a file, every cell checked.
    fn raw(self) -> Result<RawTable> {
        let path = PathBuf::from(&self.name);
        let rows = self.columns.first().map_or(0, |(_, values)| values.len());
        let (mut columns, mut names) = (Vec::new(), BTreeSet::new());
        for (name, values) in self.columns {
            if values.len() != rows {
                let problem =
                    format!("column `{name}` has {} rows, the first one {rows}; give one value a row", values.len());
                return Err(Error::file(path, problem));
            }
            if !names.insert(name.clone()) {
                return Err(Error::file(path, format!("has two columns called `{name}`; name each differently")));
            }
            let cells = values.cells().map_err(|problem| Error::file(&path, format!("column `{name}`: {problem}")))?;
            columns.push(RawColumn { name, cells });
        }
        match rows {
            0 => Err(Error::file(path, "has no rows; give at least two")),
            _ => Ok(RawTable { path, columns, places: Places::Rows, commas: Commas::Never }),
        }
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Words(words) => words.len(),
        }
    }

    fn cells(self) -> std::result::Result<Cells, String> {
        match self {
            Self::Numbers(numbers) => match numbers.iter().position(|number| number.is_infinite()) {
                Some(row) => Err(format!(
                    "row {} is {}; every number must be finite, or NaN where it is missing",
                    row + 1,
                    numbers[row]
                )),
                None => {
                    let decimals = |number: &f64| number.to_string().split_once('.').map_or(0, |(_, d)| d.len() as u32);
                    let decimals = numbers.iter().map(decimals).max().unwrap_or(0);
                    Ok(Cells::Numbers { values: numbers.into_iter().map(|number| number + 0.0).collect(), decimals })
                }
            },
            Self::Words(all) => {
                let (mut words, mut places, mut codes) = (Vec::new(), BTreeMap::new(), Vec::with_capacity(all.len()));
                for word in all {
                    let code = *places.entry(word).or_insert_with_key(|word: &String| {
                        words.push(word.clone());
                        words.len() as u32 - 1
                    });
                    codes.push(code);
                }
                Ok(Cells::Text { words, codes })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients() -> Table {
        let ages = (0..40).map(|i| f64::from(20 + i)).collect::<Vec<f64>>();
        let jobs = (0..40).map(|i| ["none", "clerk", "nurse"][i % 3].to_owned()).collect::<Vec<String>>();
        Table::new("clients").with("age", ages).with("job", jobs)
    }

    #[test]
    fn rows_need_no_target() {
        let task = Task::Classification { classes: vec!["no".into(), "yes".into()] };
        let dataset = clients().without_target(task, 0.25, Seed(0)).unwrap();
        assert_eq!(dataset.test.y, Targets::Unknown(10));
        assert_eq!(dataset.schema.features.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["age", "job"]);
        assert_eq!(dataset.schema.target.task.classes(), ["no", "yes"]);
    }

    #[test]
    fn what_is_wrong_with_a_table_is_named() {
        let problem = |table: Table| table.dataset("age", 0.25, Seed(0)).unwrap_err().to_string();
        assert!(problem(clients().with("age", vec![0.0; 40])).contains("two columns called `age`"));
        assert!(problem(clients().with("pay", vec![0.0; 3])).contains("`pay` has 3 rows, the first one 40"));
        assert!(problem(clients().with("pay", vec![f64::INFINITY; 40])).contains("`pay`: row 1 is inf"));
        assert!(problem(Table::new("nothing")).contains("no rows"));
        let missing = clients().dataset("pays", 0.25, Seed(0)).unwrap_err().to_string();
        assert!(missing.contains("no column `pays`"), "{missing}");
    }
}
