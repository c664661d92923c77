//! The studies: each answers one kind of question, for settings that a spec gives.

mod baselines_2d;
mod class_costs;
mod class_kept;
mod constrained;
mod coverage;
mod datasets;
mod delta_sweep;
mod diversity_weight;
mod entropy;
mod explanations;
mod gallery;
mod glam;
mod groups;
mod input_dbm;
mod label_distribution;
mod latent_dimension;
mod methods_2d;
mod metrics;
mod model_seeds;
mod objectives;
mod one_translation;
mod plane;
mod sampling;
mod seeds;
mod sequential_2d;
mod settings;
mod start_radii;
mod starts_2d;
mod times;
mod trade_off;
mod translations;

use super::laboratory::Laboratory;
use super::study_result::StudyResult;
use cluekit::error::Result;
use serde::{Deserialize, Serialize};

macro_rules! studies {
    ($($(#[$meaning:meta])* $name:ident in $file:ident,)*) => {
        /// A study with its settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum Study {
            $($(#[$meaning])* $name($file::$name),)*
        }

        impl Study {
            /// Carries the study out.
            pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
                match self {
                    $(Self::$name(study) => study.run(lab),)*
                }
            }
        }
    };
}

studies! {
    /// Sizes of the datasets.
    Datasets in datasets,
    /// H, d, labels and the shell against δ.
    DeltaSweep in delta_sweep,
    /// The same for VAEs of several latent dimensions.
    LatentDimension in latent_dimension,
    /// What less uncertainty costs in distance, label by label.
    TradeOff in trade_off,
    /// Entropy of labels and modes against the number of clues.
    Entropy in entropy,
    /// The least cost of each class against the number of clues.
    ClassCosts in class_costs,
    /// From the costs of clues to a distribution of labels.
    LabelDistribution in label_distribution,
    /// Many clues of one input, or some clues of many.
    Gallery in gallery,
    /// Descent against mere sampling.
    Sampling in sampling,
    /// What distances make of an image that is moved.
    Translations in translations,
    /// How far from the input the schemes of starts begin.
    StartRadii in start_radii,
    /// Every diversity metric of the same sets.
    Metrics in metrics,
    /// How coverage is made up.
    Coverage in coverage,
    /// The effect of λ_D and of spread starts.
    DiversityWeight in diversity_weight,
    /// Every diversity metric as objective.
    Objectives in objectives,
    /// Mappers, baselines and CLUE compared.
    Glam in glam,
    /// Whether a counterfactual keeps the class.
    ClassKept in class_kept,
    /// How long one explanation takes.
    Times in times,
    /// What each method makes of the same input.
    Explanations in explanations,
    /// Schemes of groups compared.
    Groups in groups,
    /// The difference of means, step by step.
    InputDbm in input_dbm,
    /// Where one translation fails, and clusters help.
    OneTranslation in one_translation,
    /// All four methods in a latent plane.
    #[serde(rename = "methods-2d")]
    Methods2d in methods_2d,
    /// Searches with and without the ball in a latent plane.
    Constrained in constrained,
    /// Baselines in a latent plane.
    #[serde(rename = "baselines-2d")]
    Baselines2d in baselines_2d,
    /// Schemes of starts in a latent plane.
    #[serde(rename = "starts-2d")]
    Starts2d in starts_2d,
    /// One candidate after another in a latent plane.
    #[serde(rename = "sequential-2d")]
    Sequential2d in sequential_2d,
    /// How much depends on the seed of a search.
    Seeds in seeds,
    /// How much depends on the seed of the models.
    ModelSeeds in model_seeds,
}

impl Study {
    /// What is wrong with its settings, if they ask for nothing: no list may be empty, no number of things 0, and what
    /// is compared must be there.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let table = toml::Table::try_from(self).map_err(|problem| problem.to_string())?;
        for (key, value) in &table {
            let numbers = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            if numbers.iter().any(|number| number.as_float().is_some_and(|number| !number.is_finite())) {
                return Err(format!("`{key}` must hold finite numbers"));
            }
            match (key.as_str(), value) {
                (_, toml::Value::Array(list)) if list.is_empty() => {
                    return Err(format!("`{key}` is empty; give at least one"));
                }
                ("count", toml::Value::Integer(count @ ..2)) => {
                    return Err(format!("`count` is {count}; a set has at least 2 clues"));
                }
                ("inputs" | "groups" | "points" | "classes" | "pixels", toml::Value::Integer(0)) => {
                    return Err(format!("`{key}` is 0; give at least 1"));
                }
                _ => {}
            }
        }
        match self {
            Self::DeltaSweep(study) => study.check(),
            Self::DiversityWeight(study) => study.check(),
            Self::Seeds(study) => study.check(),
            _ => Ok(()),
        }
    }
}
