//! What the columns of a table mean, as far as it can be told without training.

use super::{identifiers, signless, split, target_name, weights};
use crate::data::Schema;
use crate::data::gaps;
use crate::data::infer::Inferred;
use crate::data::raw::{RawTable, ReadTable};
use crate::data::source::Request;
use crate::error::{Error, Result};
use serde::Serialize;
use std::path::Path;

/// What the columns of a table mean, as far as it can be told without training.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    /// The schema that a training would begin with.
    pub schema: Schema,
    /// Why each feature is of its kind, in the order of the features.
    pub reasons: Vec<String>,
    /// What the user should know: columns that are left out, copies, leaks.
    pub notes: Vec<String>,
}

impl Described {
    /// The text of a `schema.toml` with the reason for its kind above each feature.
    pub fn to_toml(&self) -> Result<String> {
        let text = self.schema.to_toml()?;
        let mut reasons = self.reasons.iter();
        let line = |line: &str| match line {
            "[[features]]" => {
                let reason = reasons.next().map(|reason| reason.replace(|c: char| c.is_control(), " "));
                reason.map_or(format!("{line}\n"), |reason| format!("# {reason}\n{line}\n"))
            }
            line => format!("{line}\n"),
        };
        Ok(text.lines().map(line).collect())
    }
}

/// What the columns of the table that `request` names mean, inferred as [`load`](super::load) does it; without a target that of the
/// last column is predicted.
pub fn describe(request: &Request) -> Result<Described> {
    let ReadTable { table, notes: read, .. } = RawTable::read(Path::new(&request.name), &request.reading, &[])?;
    let (mut table, signs) = signless(table);
    let last = table.columns.last().map(|column| column.name.clone());
    let guessed = request.target.is_none().then(|| last.clone().unwrap_or_default());
    let request = Request { target: request.target.clone().or(last), ..request.clone() };
    let target = target_name(&table, &request, None)?.to_owned();
    identifiers::asked(&mut table, request.rows.id.as_deref(), &target, None)?;
    weights::asked(&mut table, request.rows.weight.as_deref(), &target, None)?;
    let (split, left_out) = split(&table, &target, &request, None)?;
    let Inferred { schema, notes, reasons } = gaps::inferred(&mut table, &target, &split.train, &request.meaning)?;
    let mut notes: Vec<String> = read.into_iter().chain(signs).chain(left_out).chain(notes).collect();
    schema.validate().map_err(|error| Error::file(&table.path, error.to_string()))?;
    if let Some(last) = guessed {
        notes.insert(0, format!("the last column, `{last}`, is taken as the target; name another as `target`"));
    }
    Ok(Described { schema, reasons, notes })
}
