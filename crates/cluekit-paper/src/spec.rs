//! An experiment as a file of settings: what the paper shows, what it claims, and how to find out.

use super::study::Study;
use cluekit::error::{Error, Result};
use cluekit::settings::merge;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// One table or figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper, or what goes beyond it.
    pub paper: String,
    /// What the paper concludes from it.
    pub claim: String,
    /// Why our answer differs, where it does; for a person to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How long it takes, about, on two cores and among all others, which share models and clues; only the estimate of
    /// the time that is left depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How it is carried out.
    pub study: Study,
}

impl Spec {
    /// Reads a spec; the table `quick` replaces settings of the study if `quick` is asked for.
    pub fn parse(text: &str, path: &Path, quick: bool) -> Result<Self> {
        let wrong = |problem: toml::de::Error| {
            let line = problem.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            let words: Vec<&str> = problem.message().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            Error::line(path, line as u64, words.join(" "))
        };
        let mut table: toml::Table = text.parse().map_err(wrong)?;
        let hurried = match table.remove("quick") {
            Some(toml::Value::Table(hurried)) => hurried,
            None => toml::Table::new(),
            Some(_) => {
                return Err(Error::file(path, "`quick` must be a table of settings that replace those of `study`"));
            }
        };
        if let (true, Some(toml::Value::Table(study))) = (quick, table.get_mut("study")) {
            merge(study, &hurried);
        }
        let spec: Self = table.try_into().map_err(|problem: toml::de::Error| {
            let words: Vec<&str> = problem.message().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            Error::file(path, words.join(" "))
        })?;
        spec.study.check().map_err(|problem| Error::file(path, problem))?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "title = 't'\npaper = 'p'\nclaim = 'c'\n[study]\nkind = 'datasets'\nmodels = ['mnist', 'credit']\n\
                        printed = [[2, 1], [2, 1]]\ndimensions = [3, 4]\n[quick]\nmodels = ['credit']\n";

    fn parsed(text: &str, quick: bool) -> Result<Spec> {
        Spec::parse(text, Path::new("spec.toml"), quick)
    }

    #[test]
    fn a_hurry_replaces_settings_of_the_study() {
        let Study::Datasets(study) = parsed(TEXT, false).unwrap().study else { panic!() };
        assert_eq!(study.models, ["mnist", "credit"]);
        let Study::Datasets(study) = parsed(TEXT, true).unwrap().study else { panic!() };
        assert_eq!(study.models, ["credit"]);
    }

    const CLASS_COSTS: &str = "title = 't'\npaper = 'p'\nclaim = 'c'\n[study]\nkind = 'class-costs'\nmodels = 'mnist'\n\
                               inputs = 8\ncount = 5\ndelta = 1.0\n";

    /// Of another kind of study with the same settings, and some more.
    fn of_kind(kind: &str, more: &str) -> Result<Spec> {
        parsed(&format!("{}{more}\n", CLASS_COSTS.replace("class-costs", kind)), false)
    }

    #[test]
    fn a_study_of_nothing_is_refused() {
        let error = |text: &str| parsed(text, false).unwrap_err().to_string();
        let nothing = error(&TEXT.replace("['mnist', 'credit']", "[]"));
        assert_eq!(nothing, "spec.toml: `models` is empty; give at least one");
        let one = error(&CLASS_COSTS.replace("count = 5", "count = 1"));
        assert_eq!(one, "spec.toml: `count` is 1; a set has at least 2 clues");
        let nobody = error(&CLASS_COSTS.replace("inputs = 8", "inputs = 0"));
        assert_eq!(nobody, "spec.toml: `inputs` is 0; give at least 1");
    }

    #[test]
    fn weights_begin_with_none() {
        let weights = |weights: &str| {
            of_kind("diversity-weight", &format!("weights = {weights}\nexpect = ['every-metric-grows']"))
        };
        assert!(weights("[0.0, 1.0]").is_ok());
        let error = weights("[1.0, 2.0]").unwrap_err().to_string();
        assert!(error.contains("`weights` must begin with 0"), "{error}");
        assert!(weights("[0.0]").is_err(), "nothing to compare with");
        let spread = weights("[0.0, 1.0]\nspreads = [0]").is_ok();
        assert!(spread, "one spread is enough where spreads are not compared");
    }

    #[test]
    fn variants_that_are_compared_differ() {
        let sweep = |expect: &str| {
            let text = "title = 't'\npaper = 'p'\nclaim = 'c'\n[study]\nkind = 'delta-sweep'\nmodels = 'mnist'\ncount = 5\n\
                        deltas = [1.0]\nvariants = [{ name = 'a', lambda_x = 0.0, init = 'random-radius' }]\n\
                        show = ['labels']\n";
            parsed(&format!("{text}expect = ['{expect}']\n"), false)
        };
        assert!(sweep("labels-rise").is_ok());
        for (expect, differ) in [("distance-weight-helps", "lambda_x"), ("random-beats-paths", "init")] {
            let error = sweep(expect).unwrap_err().to_string();
            assert!(error.contains("compares variants") && error.contains(differ), "{error}");
        }
    }

    #[test]
    fn seeds_are_several_different_ones() {
        let seeds = |seeds: &str| of_kind("seeds", &format!("diversity = 1.0\nseeds = {seeds}"));
        assert!(seeds("[0, 1, 2]").is_ok());
        let error = seeds("[0, 1, 1]").unwrap_err().to_string();
        assert!(error.contains("`seeds` must be at least 3 different ones"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_file() {
        let error = |text: &str| parsed(text, false).unwrap_err().to_string();
        assert!(error("title = ").starts_with("spec.toml, line 1: "), "{}", error("title = "));
        let misspelt = error(&TEXT.replace("models =", "modles ="));
        assert!(misspelt.starts_with("spec.toml: ") && misspelt.contains("modles"), "{misspelt}");
        let unknown = error(&TEXT.replace("'datasets'", "'alchemy'"));
        assert!(unknown.contains("alchemy") && unknown.contains("delta-sweep"), "{unknown}");
    }
}
