//! Settings as tables of TOML: merged, flattened, and one at a time.

use crate::error::{Error, Result};

/// Puts every value of `from` in its place in `into`.
pub fn merge(into: &mut toml::Table, from: &toml::Table) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => merge(inner, value),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Every value of a table under its whole key, `a.b.c`.
pub fn flatten(table: &toml::Table, prefix: &str, into: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => flatten(inner, &format!("{prefix}{key}."), into),
            value => into.push((format!("{prefix}{key}"), value.clone())),
        }
    }
}

/// `a.b.c` and a value as the table `{a = {b = {c = value}}}`.
pub fn nested(key: &str, value: toml::Value) -> toml::Table {
    let mut names = key.split('.').rev();
    let last = names.next().unwrap_or_default();
    let innermost = toml::Table::from_iter([(last.to_owned(), value)]);
    names.fold(innermost, |table, name| toml::Table::from_iter([(name.to_owned(), toml::Value::Table(table))]))
}

/// A setting in the form `key=value`, as it stands after `--set`; a value that is no TOML is taken as a word.
pub fn parse_setting(text: &str) -> Result<toml::Table> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(Error::setting(text, "is not of the form key=value, such as predictor.samples=20"));
    };
    let (key, value) = (key.trim(), value.trim());
    let parsed = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
    let parsed = parsed.and_then(|mut table| table.remove("value"));
    Ok(nested(key, parsed.unwrap_or_else(|| toml::Value::String(value.to_owned()))))
}

/// A share as a number or in percent: `0.95` or `95%`.
///
/// ```
/// use cluekit::settings::parse_share;
///
/// assert_eq!([parse_share("0.95")?, parse_share("95%")?], [0.95, 0.95]);
/// assert!(parse_share("most").is_err());
/// # Ok::<(), cluekit::Error>(())
/// ```
pub fn parse_share(text: &str) -> Result<f32> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1.0), |percent| (percent, 100.0));
    let wrong = |_| Error::data(format!("`{text}` is no share; write it as 0.95 or 95%"));
    number.trim().parse::<f32>().map(|number| number / of).map_err(wrong)
}
