//! Settings as options and as files: the same names, in files with `_` instead of `-`.

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cluekit::Error;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::str::FromStr;

/// Reads a choice of the library that has one of these names: help, errors and completion list them.
pub fn one_of<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}

/// What a file says; nothing where none is given.
pub fn read<T: DeserializeOwned + Default>(path: Option<&Path>) -> Result<T> {
    let Some(path) = path else { return Ok(T::default()) };
    let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
    let words = |problem: toml::de::Error| {
        let lines: Vec<&str> = problem.message().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let line = problem.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        Error::setting("config", format!("{}, line {line}: {}", path.display(), lines.join(" ")))
    };
    Ok(toml::from_str(&text).map_err(words)?)
}

/// Lays options over settings: of each name the option where it is given, else what the settings say already.
macro_rules! lay_over {
    ($options:ident, $settings:ident: $($name:ident),+ $(,)?) => {
        $(if let Some(given) = &$options.$name {
            $settings.$name = given.to_owned().into();
        })+
    };
}
pub(crate) use lay_over;
