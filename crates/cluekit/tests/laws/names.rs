//! A choice has one name: in messages, on the command line, in TOML and in JSON.

use super::*;
use cluekit::amortise::{MapperKind, Scheme};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Display};
use std::str::FromStr;

fn names_agree<T>(all: &[T], name: impl Fn(T) -> &'static str)
where
    T: Copy + Debug + Display + PartialEq + FromStr<Err = Error> + Serialize + DeserializeOwned,
{
    for &choice in all {
        let name = name(choice);
        assert_eq!(choice.to_string(), name);
        assert_eq!(name.parse::<T>().unwrap(), choice);
        assert_eq!(serde_json::to_value(choice).unwrap(), name);
        assert_eq!(serde_json::from_value::<T>(name.into()).unwrap(), choice);
    }
    let problem = "nothing-of-the-kind".parse::<T>().unwrap_err().to_string();
    let choices: Vec<String> = all.iter().map(T::to_string).collect();
    assert!(problem.contains("`nothing-of-the-kind` is not "), "{problem}");
    assert!(problem.ends_with(&format!("; choose one of {}", choices.join(", "))), "{problem}");
}

#[test]
fn every_choice_reads_back_from_its_only_name() {
    names_agree(&Distance::ALL, Distance::name);
    names_agree(&Diversity::ALL, Diversity::name);
    names_agree(&InitScheme::ALL, InitScheme::name);
    names_agree(&MapperKind::ALL, MapperKind::name);
    names_agree(&Scheme::ALL, Scheme::name);
    names_agree(&Space::ALL, Space::name);
    names_agree(&Uncertainty::ALL, Uncertainty::name);
}
