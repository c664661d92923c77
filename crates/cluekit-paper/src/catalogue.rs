//! The experiments that come with cluekit, in the order of the paper.

use super::spec::Spec;
use cluekit::error::{Error, Result};
use cluekit_report::TextTable;
use std::path::PathBuf;

macro_rules! experiments {
    ($($name:literal),* $(,)?) => {
        /// The name and the text of every experiment.
        const EXPERIMENTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../experiments/", $name, ".toml")))),*];

        /// The name of every experiment.
        pub const NAMES: &[&str] = &[$($name),*];
    };
}

experiments![
    "fig-1-methods",
    "fig-2-trade-off-mnist",
    "fig-2-trade-off-synbols",
    "table-1-metrics",
    "fig-3-diverse-set",
    "fig-4-explanations",
    "fig-5-baselines",
    "fig-6-groups",
    "fig-7-entropy",
    "fig-7-performance",
    "fig-8-weight-mnist",
    "fig-8-weight-credit",
    "fig-9-glam-4",
    "fig-9-class-kept",
    "table-2-times-mnist",
    "table-2-times-credit",
    "a-datasets",
    "b-variants-best",
    "b-variants-average",
    "b-spread",
    "b-labels",
    "b-progress",
    "b-descent-one-delta",
    "b-descent",
    "b-translations",
    "b-constrained",
    "b-shell",
    "b-starts-2d",
    "b-starts-radii",
    "b-start-paths",
    "b-label-entropy",
    "b-class-costs",
    "b-modes",
    "b-label-distribution",
    "b-hundred-clues",
    "b-latent-performance",
    "b-latent-shell",
    "b-latent-labels",
    "c-metrics-delta",
    "c-metrics-count",
    "c-coverage",
    "d-weight-and-spread",
    "d-sequential-2d",
    "d-sequential",
    "d-penalty",
    "e-glam-every-class",
    "e-input-dbm",
    "e-one-translation",
    "x-seeds",
    "x-seeds-of-models",
    "x-objectives",
];

/// The experiment called `name`, at the paper's size or in a hurry.
pub fn built_in(name: &str, quick: bool) -> Result<Spec> {
    let Some((_, text)) = EXPERIMENTS.iter().find(|(known, _)| *known == name) else {
        let near = NAMES.iter().max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let problem = format!("no experiment is called `{name}`{near} `clue experiment list` shows all of them");
        return Err(Error::setting("experiment", problem));
    };
    Spec::parse(text, &PathBuf::from(format!("experiments/{name}.toml")), quick)
}

/// Every experiment with its place in the paper and what it shows.
pub fn list_of_all(quick: bool) -> Result<TextTable> {
    let row = |name: &&str| {
        let spec = built_in(name, quick)?;
        Ok(vec![name.to_string(), spec.paper, spec.title])
    };
    let rows = NAMES.iter().map(row).collect::<Result<_>>()?;
    Ok(TextTable::new(&["experiment", "in the paper", "what it shows"], rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExperimentRecord;

    #[test]
    fn every_experiment_can_be_read_and_every_file_is_an_experiment() {
        for name in NAMES {
            for quick in [false, true] {
                let spec = built_in(name, quick).unwrap();
                assert!(!spec.title.is_empty() && spec.claim.ends_with('.') && !spec.paper.is_empty(), "{name}");
            }
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let stem = name.strip_suffix(".toml").unwrap_or_default();
            assert!(stem == "models" || NAMES.contains(&stem), "{name} is in the folder but not in the list");
        }
    }

    #[test]
    fn a_setting_that_no_study_has_is_refused_beside_those_that_it_has() {
        for (name, text) in EXPERIMENTS {
            assert!(text.contains("[study]\n"), "{name}");
            let text = text.replace("[study]\n", "[study]\nnonsense = 1\n");
            let error = Spec::parse(&text, &PathBuf::from(name), false).unwrap_err().to_string();
            assert!(error.contains("unknown field `nonsense`, expected"), "{error}");
        }
    }

    #[test]
    fn settings_are_written_as_in_the_records_that_there_are() {
        for name in NAMES {
            let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results")).join(name);
            let Some(record) = ExperimentRecord::read(&folder).unwrap() else { panic!("{name} has no record") };
            let written = std::fs::read_to_string(folder.join("result.json")).unwrap();
            let study = serde_json::to_string(&record.spec.study).unwrap();
            assert!(written.contains(&format!("\"study\":{study}")), "{name} is written otherwise: {study}");
        }
    }

    #[test]
    fn a_misspelt_name_is_told_the_nearest_one() {
        let error = built_in("b-shel", false).unwrap_err().to_string();
        assert!(error.contains("no experiment is called `b-shel`; did you mean `b-shell`?"), "{error}");
    }
}
