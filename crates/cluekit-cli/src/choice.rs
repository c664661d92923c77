//! A choice of the library as the value of an option: help, errors and completion list its names.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use cluekit::Error;
use std::str::FromStr;

/// Reads a choice that has one of these names.
pub fn one_of<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}
