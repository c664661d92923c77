//! The missing cells of a table: counted, filled in where kinds are inferred, declared in the schema, or refused.
//!
//! The kind of a column follows from the cells that are there: [`infer`](super::infer::infer) sees a table in which every
//! gap is filled in, a number with the median of the training rows, so that the mean and the deviation are those of the
//! encoded column. Then each feature with gaps gets its [`Missing`].

use super::encoding::Cell;
use super::infer::{Inferred, infer, scaling_of};
use super::missing::MISSING;
use super::raw::{Cells, RawColumn, RawTable, Words, decimals_of};
use super::split::Split;
use super::{Feature, Kind, Meaning, Missing, Schema};
use crate::error::{Error, Result};

/// Places of missing cells that an error names before it only counts them.
const MOST_PLACES: usize = 3;
/// Columns that a note counts the missing cells of.
const MOST_COLUMNS: usize = 40;

/// Infers the schema of `table` as [`infer`] does, with a declared state for each feature that has missing cells.
pub(crate) fn inferred(table: &mut RawTable, target: &str, training: &[usize], meaning: &Meaning) -> Result<Inferred> {
    let gaps = fill(table, target, training);
    let inferred = infer(table, target, training, meaning);
    gaps.into_iter().for_each(|(index, cells)| table.columns[index].cells = cells);
    let Inferred { mut schema, notes, reasons } = inferred?;
    let there = table.by_name();
    for feature in &mut schema.features {
        if let Some(column) = there.get(feature.name.as_str()).filter(|column| column.has_gaps()) {
            declare(feature, Missing { sentinels: vec![], median: median(column, training) });
        }
    }
    let notes = note(table, &schema).into_iter().chain(notes).collect();
    Ok(Inferred { schema, notes, reasons })
}

/// A schema that was given, with what it leaves open about missing cells taken from `table`: medians, and the statistics of
/// the numbers that they belong to, from the `training` rows; categories called `missing`.
pub(crate) fn completed(table: &RawTable, mut schema: Schema, training: &[usize]) -> Result<Schema> {
    for feature in &mut schema.features {
        let open = match &feature.missing {
            Some(missing) if feature.kind.scaling().is_some() => missing.median.is_none(),
            Some(_) => feature.missing_category().is_none(),
            None => false,
        };
        if let (true, Some(missing)) = (open, feature.missing.clone()) {
            let column = table.need(&feature.name)?;
            if let Kind::Continuous(scaling) | Kind::Ordinal(scaling) = &mut feature.kind {
                *scaling = scaling_of(table, &column.filled(training), training)?;
            }
            declare(feature, Missing { median: median(column, training), ..missing });
        }
    }
    Ok(schema)
}

/// A table in which the sentinels of a schema are missing cells like others.
pub(crate) fn without_sentinels(mut table: RawTable, schema: &Schema) -> RawTable {
    let named = schema.features.iter().filter_map(|feature| Some((feature, feature.missing.as_ref()?)));
    for (feature, missing) in named.filter(|(_, missing)| !missing.sentinels.is_empty()) {
        if let Some(column) = table.columns.iter_mut().find(|column| column.name == feature.name) {
            column.cells = column.without(missing);
        }
    }
    table
}

/// The split of the rows whose target is known; `split` is told these and parts their positions.
pub(crate) fn split(
    table: &RawTable,
    target: &str,
    schema: Option<&Schema>,
    split: impl FnOnce(&[usize]) -> Result<Split>,
) -> Result<(Split, Option<String>)> {
    let column = table.need(target)?;
    let is_class = |cell: Cell<'_>| schema.is_some_and(|schema| schema.target.task.label(cell).is_ok());
    let known: Vec<usize> = match column.has_gaps() {
        true => (0..table.rows()).filter(|&row| has_target(column, row) || is_class(column.cell(row))).collect(),
        false => return Ok((split(&(0..table.rows()).collect::<Vec<_>>())?, None)),
    };
    let left_out = table.rows() - known.len();
    if known.is_empty() {
        return Err(Error::file(&table.path, format!("target `{target}` is missing in every row; fill it in")));
    }
    let Split { train, test } = split(&known)?;
    let at = |rows: Vec<usize>| rows.into_iter().map(|row| known[row]).collect();
    let rows = if left_out == 1 { "1 row has" } else { &format!("{left_out} rows have") };
    let note = format!("{rows} no `{target}`, of {}: left out", table.rows());
    Ok((Split { train: at(train), test: at(test) }, (left_out > 0).then_some(note)))
}

/// Whether the target of a row is known.
pub(crate) fn has_target(column: &RawColumn, row: usize) -> bool {
    !column.cell(row).is_missing()
}

/// A column in which every gap is filled in, as if these rows were for training.
pub(crate) fn filled_in(column: &RawColumn, training: &[usize]) -> RawColumn {
    column.filled(training)
}

/// An error if a feature that cannot be missing has missing cells in `table`.
pub(crate) fn refuse(table: &RawTable, schema: &Schema) -> Result<()> {
    let there = table.by_name();
    for feature in schema.features.iter().filter(|feature| !feature.accepts_missing()) {
        for name in feature.sources() {
            let column = there.get(name.as_str()).map_or_else(|| table.need(name), |column| Ok(*column))?;
            if column.has_gaps() {
                return Err(refused(table, column, feature));
            }
        }
    }
    Ok(())
}

fn refused(table: &RawTable, column: &RawColumn, feature: &Feature) -> Error {
    let rows: Vec<usize> = (0..table.rows()).filter(|&row| column.cell(row).is_missing()).collect();
    let others: Vec<String> = rows.iter().skip(1).take(MOST_PLACES - 1).map(|&row| table.place(row)).collect();
    let others = match rows.len() {
        1 => String::new(),
        count if count > MOST_PLACES => format!(", also in {} and others, {count} in all", others.join(", ")),
        _ => format!(", also in {}", others.join(" and ")),
    };
    let state = if feature.kind.scaling().is_some() { "median" } else { "category" };
    let problem = format!(
        "the cell is missing{others}, but the schema has no state for missing cells of this feature; fill them in, leave \
         the rows out, or train with `missing = \"{state}\"` in schema.toml"
    );
    table.cell_error(rows[0], &column.name, problem)
}

/// How many cells are missing in each feature, in one line; nothing if none are.
pub(crate) fn note(table: &RawTable, schema: &Schema) -> Option<String> {
    let there = table.by_name();
    let count = |feature: &Feature| {
        let column = there.get(feature.name.as_str()).filter(|column| column.has_gaps())?;
        let count = (0..table.rows()).filter(|&row| column.cell(row).is_missing()).count();
        let share = 100.0 * count as f64 / table.rows() as f64;
        Some(format!("{} {count} of {} ({share:.1} %)", column.name, table.rows()))
    };
    let counts: Vec<String> = schema.features.iter().filter_map(count).collect();
    let more = match counts.len().saturating_sub(MOST_COLUMNS) {
        0 => String::new(),
        more => format!(" and {more} columns more"),
    };
    let shown = counts.iter().take(MOST_COLUMNS).cloned().collect::<Vec<_>>().join(", ");
    let state =
        "a number is the median beside an indicator, a category is `missing`; `missing` in schema.toml says otherwise";
    (!counts.is_empty()).then(|| format!("missing: {shown}{more} ({state})"))
}

fn declare(feature: &mut Feature, missing: Missing) {
    match feature.kind.scaling() {
        Some(_) => feature.missing = Some(missing),
        None => {
            feature.kind = feature.kind.clone().with_missing_category();
            feature.missing = Some(Missing { median: None, ..missing });
        }
    }
}

/// Fills every gap of a table in; returns the cells that had gaps, with the positions of their columns.
fn fill(table: &mut RawTable, target: &str, training: &[usize]) -> Vec<(usize, Cells)> {
    let with_gaps = table.columns.iter_mut().enumerate().filter(|(_, column)| column.has_gaps());
    let filled = with_gaps.map(|(index, column)| {
        // Of one value or none, that it is there is all that a column says.
        let cells = match column.has_one_value() && column.name != target {
            true => column.named(),
            false => column.filled(training).cells,
        };
        (index, std::mem::replace(&mut column.cells, cells))
    });
    filled.collect()
}

/// The lower median of the numbers that are there in the training rows, or else in all; none for text.
fn median(column: &RawColumn, training: &[usize]) -> Option<f64> {
    let Cells::Numbers { values, .. } = &column.cells else { return None };
    let there = |rows: &mut dyn Iterator<Item = usize>| -> Vec<f64> {
        rows.map(|row| values[row]).filter(|value| !value.is_nan()).collect()
    };
    let mut numbers = there(&mut training.iter().copied());
    if numbers.is_empty() {
        numbers = there(&mut (0..values.len()));
    }
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len().checked_sub(1)? / 2).copied()
}

impl RawColumn {
    /// Whether a cell is missing.
    fn has_gaps(&self) -> bool {
        match &self.cells {
            Cells::Numbers { values, .. } => values.iter().any(|value| value.is_nan()),
            Cells::Text { words, .. } => words.iter().any(|word| Cell::Text(word).is_missing()),
        }
    }

    /// Whether all cells that are there have one value, or none is there.
    fn has_one_value(&self) -> bool {
        let mut there = (0..self.cells.len()).map(|row| self.cell(row)).filter(|cell| !cell.is_missing());
        let first = there.next();
        there.all(|cell| Some(cell) == first)
    }

    /// The value where a cell is there, and the word `missing` where it is not.
    fn named(&self) -> Cells {
        let mut words = Words::default();
        for cell in (0..self.cells.len()).map(|row| self.cell(row)) {
            words.push(&if cell.is_missing() { MISSING.to_owned() } else { cell.to_string() });
        }
        words.cells()
    }

    /// The column with the median in place of missing numbers, and another of its words in place of missing ones.
    fn filled(&self, training: &[usize]) -> Self {
        let cells = match &self.cells {
            Cells::Numbers { values, decimals } => {
                let median = median(self, training).unwrap_or_default();
                let values = values.iter().map(|value| if value.is_nan() { median } else { *value }).collect();
                Cells::Numbers { values, decimals: *decimals }
            }
            Cells::Text { words, codes } => {
                let there: Vec<bool> = words.iter().map(|word| !Cell::Text(word).is_missing()).collect();
                let counted = there.iter().scan(0, |count, there| {
                    let place = *count;
                    *count += u32::from(*there);
                    Some(if *there { place } else { 0 })
                });
                let places: Vec<u32> = counted.collect();
                let code = |code: &u32| places[*code as usize];
                let words = words.iter().zip(&there).filter(|(_, there)| **there).map(|(word, _)| word.clone());
                Cells::Text { words: words.collect(), codes: codes.iter().map(code).collect() }
            }
        };
        Self { name: self.name.clone(), cells }
    }

    /// The cells with those missing that `missing` covers; numbers, if no word is left.
    fn without(&self, missing: &Missing) -> Cells {
        match &self.cells {
            Cells::Numbers { values, decimals } => {
                let covered = |value: f64| value.is_nan() || missing.covers(Cell::Number(value));
                let values = values.iter().map(|&value| if covered(value) { f64::NAN } else { value });
                Cells::numbers(values.collect(), *decimals)
            }
            Cells::Text { words, codes } => {
                let number = |word: &String| match missing.covers(Cell::Text(word)) {
                    true => Some(f64::NAN),
                    false => Cell::Text(word).number(),
                };
                if let Some(numbers) = words.iter().map(number).collect::<Option<Vec<f64>>>() {
                    let decimals = words.iter().filter(|word| number(word).is_some_and(|n| !n.is_nan()));
                    let decimals = decimals.map(|word| decimals_of(word)).max().unwrap_or(0);
                    return Cells::numbers(codes.iter().map(|&code| numbers[code as usize]).collect(), decimals);
                }
                let word = |word: &String| if missing.covers(Cell::Text(word)) { String::new() } else { word.clone() };
                Cells::Text { words: words.iter().map(word).collect(), codes: codes.clone() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::raw::text::parse;
    use crate::seed::Seed;
    use std::path::Path;

    fn table(text: &str) -> RawTable {
        parse(Path::new("t.csv"), text, 0).unwrap()
    }

    /// Twelve ages, of which one in four is missing, jobs of which one in three is `?`, and who is married.
    fn people() -> RawTable {
        let row = |i: usize| {
            let age = if i % 4 == 3 { "NA".into() } else { (20 + i).to_string() };
            format!("{age},{},{},{}\n", ["clerk", "nurse", "?"][i % 3], ["yes", "no", ""][i % 3], i % 2)
        };
        table(&format!("age,job,married,y\n{}", (0..12).map(row).collect::<String>()))
    }

    fn all(table: &RawTable) -> Vec<usize> {
        (0..table.rows()).collect()
    }

    fn feature(table: &RawTable, name: &str) -> Feature {
        let schema = inferred(&mut table.clone(), "y", &all(table), &Meaning::default()).unwrap().schema;
        schema.features.into_iter().find(|feature| feature.name == name).unwrap()
    }

    #[test]
    fn kinds_follow_the_cells_that_are_there_and_missing_ones_get_a_state() {
        let age = feature(&people(), "age");
        // There: 20 21 22 24 25 26 28 29 30; the fifth is the median.
        assert_eq!(age.missing, Some(Missing { sentinels: vec![], median: Some(25.0) }));
        let scaling = age.kind.scaling().unwrap();
        assert_eq!(
            (age.kind.name(), scaling.least, scaling.greatest, scaling.decimals),
            ("ordinal", 20.0, 30.0, Some(0))
        );
        assert_eq!((age.width(), scaling.mean), (2, 25.0));
        let job = feature(&people(), "job");
        assert_eq!(
            (job.kind.name(), job.kind.categories()),
            ("categorical", ["clerk", "nurse", "missing"].map(String::from).as_slice())
        );
        let married = feature(&people(), "married");
        assert_eq!(married.kind.categories(), ["no", "yes", "missing"]);
        assert_eq!(married.missing, Some(Missing::default()));
    }

    #[test]
    fn one_note_counts_the_missing_cells_of_all_columns() {
        let notes = inferred(&mut people(), "y", &all(&people()), &Meaning::default()).unwrap().notes;
        assert_eq!(notes.len(), 1);
        let counts = "missing: age 3 of 12 (25.0 %), job 4 of 12 (33.3 %), married 4 of 12 (33.3 %) (a number is";
        assert!(notes[0].starts_with(counts), "{}", notes[0]);
        let mut whole = table("a,y\n1,0\n2,1\n3,0\n");
        let inferred = inferred(&mut whole, "y", &[0, 1], &Meaning::default()).unwrap();
        assert!(inferred.notes.is_empty() && inferred.schema.features[0].missing.is_none());
    }

    #[test]
    fn a_value_that_is_there_or_not_is_a_binary_feature_and_a_column_without_any_is_left_out() {
        let row = |i: usize| format!("{},{},,{}\n", ["x", ""][i % 2], ["7", ""][i / 2 % 2], i % 2);
        let table = table(&format!("flag,seven,none,y\n{}", (0..12).map(row).collect::<String>()));
        let flag = feature(&table, "flag");
        assert_eq!(
            (flag.kind.name(), flag.kind.categories()),
            ("binary", ["missing", "x"].map(String::from).as_slice())
        );
        assert_eq!(feature(&table, "seven").kind.categories(), ["7", "missing"]);
        let notes = inferred(&mut table.clone(), "y", &all(&table), &Meaning::default()).unwrap().notes;
        assert!(notes.contains(&"column `none` is left out: it is `missing` in every row".to_owned()), "{notes:?}");
    }

    #[test]
    fn rows_without_a_target_are_in_no_part() {
        let table = table("a,y\n1,0\n2,\n3,1\n4,?\n5,0\n");
        let (parts, note) = split(&table, "y", None, |rows| Split::new(rows.len(), 0.4, Seed(0))).unwrap();
        let mut rows = [parts.train, parts.test].concat();
        rows.sort_unstable();
        assert_eq!((rows, note.as_deref()), (vec![0, 2, 4], Some("2 rows have no `y`, of 5: left out")));
        let (whole, note) = split(&table, "a", None, |rows| Split::new(rows.len(), 0.4, Seed(0))).unwrap();
        assert_eq!((whole, note), (Split::new(5, 0.4, Seed(0)).unwrap(), None));
    }

    #[test]
    fn a_feature_without_a_state_refuses_missing_cells_with_their_places_and_their_count() {
        let schema = inferred(&mut table("a,b,y\n1,p,0\n2,q,1\n3,r,0\n4,p,1\n"), "y", &[0, 1, 2], &Meaning::default())
            .unwrap()
            .schema;
        let problem = |text: &str| refuse(&table(text), &schema).unwrap_err().to_string();
        assert_eq!(
            problem("a,b,y\n1,p,0\n,p,1\n3,p,0\n?,p,0\nNA,p,0\n-,p,0\n"),
            "t.csv, line 3: column `a`: the cell is missing, also in line 5, line 6 and others, 4 in all, but the schema has \
             no state for missing cells of this feature; fill them in, leave the rows out, or train with `missing = \
             \"median\"` in schema.toml"
        );
        assert!(problem("a,b,y\n1,p,0\n2,?,1\n").contains("line 3: column `b`: the cell is missing, but"));
        assert!(problem("a,b,y\n,p,0\n,p,1\n3,p,1\n").contains("missing, also in line 3, but"));
        refuse(&people(), &inferred(&mut people(), "y", &all(&people()), &Meaning::default()).unwrap().schema).unwrap();
    }

    #[test]
    fn a_category_that_is_written_like_a_missing_cell_stays_what_it_was() {
        let mut schema =
            inferred(&mut table("job,y\na,0\nb,1\nc,0\na,1\n"), "y", &[0, 1], &Meaning::default()).unwrap().schema;
        schema.features[0].kind = Kind::Categorical { categories: ["?", "a", "b"].map(String::from).to_vec() };
        refuse(&table("job,y\n?,0\nb,1\n"), &schema).unwrap();
        let encoded = |cell| {
            let mut out = [0.0; 3];
            schema.features[0].encode(cell, &mut out).map(|()| out)
        };
        assert_eq!(encoded(Cell::Text("?")), Ok([1.0, 0.0, 0.0]));
        assert_eq!(encoded(Cell::Missing), Ok([1.0, 0.0, 0.0]));
    }

    #[test]
    fn a_sentinel_is_left_out_of_the_statistics_that_a_schema_leaves_open() {
        let text = "a,b,y\n1,p,0\n-999,q,1\n5,unknown,0\n9,p,1\n";
        let mut schema = inferred(&mut table(text), "y", &[0, 1, 2, 3], &Meaning::default()).unwrap().schema;
        schema.features[0].missing = Some(Missing { sentinels: vec!["-999".into()], median: None });
        schema.features[1].missing = Some(Missing { sentinels: vec!["unknown".into()], median: None });
        let table = without_sentinels(table(text), &schema);
        let schema = completed(&table, schema, &[0, 1, 2, 3]).unwrap();
        let [a, b] = schema.features.as_slice() else { panic!("two features") };
        let Some(Missing { median: Some(median), .. }) = a.missing else { panic!("a median") };
        let scaling = a.kind.scaling().unwrap();
        // 1, 5, 5 in place of the gap, 9.
        assert_eq!((median, scaling.mean, scaling.least, scaling.greatest), (5.0, 5.0, 1.0, 9.0));
        assert!(b.missing_category().is_some());
        assert_eq!(completed(&table, schema.clone(), &[0]).unwrap(), schema, "nothing is open any more");
        assert!(note(&table, &schema).unwrap().starts_with("missing: a 1 of 4 (25.0 %), b 1 of 4 (25.0 %) ("));
    }

    #[test]
    fn a_word_that_a_schema_calls_missing_leaves_numbers() {
        let mut schema =
            inferred(&mut table("a,y\n1,0\n2,1\n3.5,0\n"), "y", &[0, 1, 2], &Meaning::default()).unwrap().schema;
        schema.features[0].missing = Some(Missing { sentinels: vec!["unknown".into()], median: None });
        let table = without_sentinels(table("a,y\n1,0\nunknown,1\n2.5,0\n"), &schema);
        let Cells::Numbers { values, decimals } = &table.columns[0].cells else { panic!("numbers") };
        assert_eq!((values[0], values[1].is_nan(), values[2], *decimals), (1.0, true, 2.5, 1));
    }
}
