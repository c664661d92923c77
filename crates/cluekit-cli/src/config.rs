//! Settings as files: the same names as the options, with `_` instead of `-`.

use anyhow::{Context, Result};
use cluekit::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

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

/// Settings as the text of such a file.
pub fn written(settings: &impl Serialize) -> Result<String> {
    toml::to_string(settings).context("writing settings as TOML")
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
