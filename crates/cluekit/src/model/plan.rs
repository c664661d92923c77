//! The settings of a training run: plain structs with defaults for each kind of data, a table in TOML.

use super::bayesian::Sampler;
use super::network::Network;
use super::training::{Trainable, TrainingPlan};
use super::vae::{VaeNetwork, VaeShape};
use crate::data::{Dataset, Schema};
use crate::error::{Error, Result};
use crate::settings::{flatten, merge, nested};
use serde::{Deserialize, Serialize};

/// Fewer rows than this teach a network nothing.
const LEAST_ROWS: usize = 20;
/// The widest layer and the deepest network.
const MOST_WIDTH: usize = 1_000_000;
const MOST_DEPTH: usize = 1000;
/// The most parameters of a model, all posterior samples together: 8 GiB of them.
const MOST_PARAMETERS: usize = 1 << 31;

/// Settings of the training of both models: all that `clue train` lets a user choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Share of the training rows that is held out to stop training and to choose settings on.
    pub validation_share: f64,
    /// Settings of the generative model.
    pub generative: GenerativePlan,
    /// Settings of the predictor.
    pub predictor: PredictorPlan,
}

/// Settings of the generative model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerativePlan {
    /// Kind of the networks of encoder and decoder.
    pub architecture: Architecture,
    /// Number of latent dimensions; with `ladder`, those of the high-level code.
    pub latent: usize,
    /// Number of dimensions of the low-level code; only for `ladder`.
    #[serde(default)]
    pub low_latent: usize,
    /// Width of the hidden layers.
    pub width: usize,
    /// Number of residual blocks in each of encoder and decoder.
    pub depth: usize,
    /// Number of residual convolutions behind each halving; only for `ladder`.
    #[serde(default)]
    pub blocks: usize,
    /// Channels of each halving of the image; only for `convolution` and `ladder`.
    pub channels: Vec<usize>,
    /// Settings of the generative model's training.
    pub fit: TrainingPlan,
}

/// The networks of a VAE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Residual multilayer perceptrons.
    Residual,
    /// Convolutions that halve an image, and their transposes.
    Convolution,
    /// Residual convolutions with a high-level and a low-level code.
    Ladder,
}

/// Settings of the predictor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictorPlan {
    /// Source of the posterior samples.
    pub kind: PredictorKind,
    /// Kind of network of each posterior sample.
    #[serde(default)]
    pub network: NetworkKind,
    /// Widths of the hidden layers of a perceptron, from the input on.
    pub hidden: Vec<usize>,
    /// Channels of each halving of the image; only for `resnet`.
    #[serde(default)]
    pub channels: Vec<usize>,
    /// Number of residual blocks behind each halving; only for `resnet`.
    #[serde(default)]
    pub blocks: usize,
    /// Number S of posterior samples: draws, members or masks. A plain network has one.
    pub samples: usize,
    /// Probability that a hidden activation is dropped; only for `dropout`.
    pub dropout: f64,
    /// How much the rows of each class count.
    #[serde(default)]
    pub class_weights: ClassWeights,
    /// Training with Adam; for `bayesian` it is the warm start of the chain.
    pub fit: TrainingPlan,
    /// Settings of the Markov chain; only for `bayesian`.
    pub sampler: Sampler,
}

/// Source of the posterior samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictorKind {
    /// Draws of a Markov chain over the weights.
    Bayesian,
    /// Networks trained from different starts.
    Ensemble,
    /// One network with fixed random masks.
    Dropout,
    /// One network, without posterior samples.
    Plain,
}

/// How much the rows of each class count in the training of a predictor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeights {
    /// Every row counts alike, so that probabilities are those of the data.
    #[default]
    None,
    /// The rows of each class together count as much as those of any other: for a rare class that must not be missed.
    Balanced,
}

/// Kind of network of one posterior sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkKind {
    /// A multilayer perceptron.
    #[default]
    Mlp,
    /// A residual network of convolutions.
    Resnet,
}

impl Plan {
    /// The default settings for data of this schema with this number of training rows.
    pub fn for_data(schema: &Schema, rows: usize) -> Self {
        match &schema.image {
            Some(_) => Self::images(),
            None => Self::tables(rows),
        }
    }

    /// The plan that a dataset of symbols comes with, by the dataset's name.
    pub fn named(name: &str) -> Result<Self> {
        match name.split(':').next().unwrap_or(name) {
            "synbols" | "synbols-small" => Ok(Self::symbols()),
            "synbols-demo" => Ok(Self::symbols_in_a_hurry()),
            "synbols-full" | "synbols-published" => Ok(Self::symbols_in_full()),
            _ => Err(Error::setting(
                "plan",
                format!("no plan is called `{name}`; choose synbols-small, synbols-full or synbols-demo"),
            )),
        }
    }

    /// The default settings for a dataset: those of its own plan, if it has one.
    pub fn for_dataset(dataset: &Dataset) -> Self {
        Self::named(&dataset.name).unwrap_or_else(|_| Self::for_data(&dataset.schema, dataset.train.len()))
    }

    /// This plan for another kind of predictor, with the training that it needs.
    pub fn of_kind(mut self, kind: PredictorKind) -> Self {
        let predictor = &mut self.predictor;
        if kind == predictor.kind {
            return self;
        }
        predictor.samples = match kind {
            PredictorKind::Bayesian | PredictorKind::Dropout => 50,
            PredictorKind::Ensemble => 10,
            PredictorKind::Plain => 1,
        };
        if kind != PredictorKind::Bayesian {
            (predictor.fit.epochs, predictor.fit.patience, predictor.fit.weight_decay) = (30, 5, 0.01);
        }
        predictor.kind = kind;
        self
    }

    fn images() -> Self {
        Self {
            validation_share: 0.05,
            generative: GenerativePlan {
                architecture: Architecture::Residual,
                latent: 20,
                low_latent: 0,
                width: 400,
                depth: 3,
                blocks: 0,
                channels: vec![32, 64],
                fit: TrainingPlan { epochs: 30, batch: 256, learning_rate: 2e-3, weight_decay: 0.0, patience: 8 },
            },
            predictor: PredictorPlan {
                kind: PredictorKind::Bayesian,
                network: NetworkKind::Mlp,
                hidden: vec![400, 400],
                channels: vec![16, 32, 64],
                blocks: 1,
                samples: 50,
                dropout: 0.2,
                class_weights: ClassWeights::None,
                fit: TrainingPlan { epochs: 4, batch: 256, learning_rate: 1e-3, weight_decay: 0.0, patience: 0 },
                sampler: Sampler { step: 0.004, likelihood_power: 10.0, ..Sampler::default() },
            },
        }
    }

    /// An ensemble of residual networks and a ladder, small enough for two cores.
    fn symbols() -> Self {
        Self {
            validation_share: 0.1,
            generative: GenerativePlan {
                architecture: Architecture::Ladder,
                latent: 24,
                low_latent: 8,
                width: 400,
                depth: 3,
                blocks: 0,
                channels: vec![16, 32],
                fit: TrainingPlan { epochs: 30, batch: 128, learning_rate: 1e-3, weight_decay: 0.0, patience: 0 },
            },
            predictor: PredictorPlan {
                kind: PredictorKind::Ensemble,
                network: NetworkKind::Resnet,
                hidden: vec![400, 400],
                channels: vec![16, 32, 64],
                blocks: 1,
                samples: 5,
                dropout: 0.0,
                class_weights: ClassWeights::None,
                fit: TrainingPlan { epochs: 4, batch: 128, learning_rate: 4e-3, weight_decay: 0.01, patience: 0 },
                sampler: Sampler::default(),
            },
        }
    }

    /// The same ensemble for a demonstration, and a generative model that learns in half a minute.
    fn symbols_in_a_hurry() -> Self {
        let mut plan = Self::symbols();
        let fit = TrainingPlan { epochs: 28, batch: 256, learning_rate: 2e-3, weight_decay: 0.0, patience: 0 };
        plan.generative = GenerativePlan { latent: 24, fit, ..Self::images().generative };
        (plan.predictor.fit.epochs, plan.predictor.samples) = (3, 3);
        plan
    }

    /// Data, channels and codes of the size of the published ones: for a large machine or some days.
    fn symbols_in_full() -> Self {
        let mut plan = Self::symbols();
        // Of 80 000 images that are not for testing, 20 000 are to validate on.
        plan.validation_share = 0.25;
        plan.generative = GenerativePlan {
            latent: 64,
            low_latent: 64,
            width: 512,
            depth: 2,
            blocks: 1,
            channels: vec![128, 128, 256],
            fit: TrainingPlan { epochs: 200, batch: 256, learning_rate: 1e-4, weight_decay: 0.0, patience: 0 },
            ..plan.generative
        };
        plan.predictor.channels = vec![64, 128, 256, 512];
        plan.predictor.fit =
            TrainingPlan { epochs: 100, batch: 512, learning_rate: 4e-4, weight_decay: 1e-4, patience: 10 };
        plan
    }

    fn tables(rows: usize) -> Self {
        // Small tables get small batches, so that an epoch has some steps in it.
        let batch = (rows / 40).clamp(16, 256);
        Self {
            validation_share: 0.1,
            generative: GenerativePlan {
                architecture: Architecture::Residual,
                latent: 8,
                low_latent: 0,
                width: 100,
                depth: 2,
                blocks: 0,
                channels: vec![],
                fit: TrainingPlan { epochs: 40, batch, learning_rate: 2e-3, weight_decay: 0.0, patience: 10 },
            },
            predictor: PredictorPlan {
                kind: PredictorKind::Bayesian,
                network: NetworkKind::Mlp,
                hidden: vec![50, 50],
                channels: vec![],
                blocks: 0,
                samples: 50,
                dropout: 0.1,
                class_weights: ClassWeights::None,
                fit: TrainingPlan { epochs: 5, batch, learning_rate: 1e-3, weight_decay: 0.0, patience: 0 },
                sampler: Sampler::default(),
            },
        }
    }

    /// This plan with some settings replaced, as tables in a TOML file or after `--set` give them; later ones win.
    ///
    /// Another kind of predictor brings its own defaults along: an ensemble is trained for longer than a warm start.
    pub fn with(&self, tables: &[toml::Table]) -> Result<Self> {
        let mut overrides = toml::Table::new();
        tables.iter().for_each(|table| merge(&mut overrides, table));
        let overrides = &overrides;
        let kind = overrides.get("predictor").and_then(|predictor| predictor.get("kind")).cloned();
        let base = match kind.and_then(|kind| kind.try_into().ok()) {
            Some(kind) => self.clone().of_kind(kind),
            None => self.clone(),
        };
        let mut table = toml::Table::try_from(&base).expect("a plan is made of tables, numbers and strings");
        merge(&mut table, overrides);
        table.try_into().map_err(|problem: toml::de::Error| {
            // The library's message ends in the path of the key; a person wants one line.
            let lines: Vec<&str> = problem.message().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            Error::setting(offending_key(self, overrides), lines.join(" "))
        })
    }

    /// An error if a setting is out of its range or does not fit the schema or the number of training rows.
    pub fn validate(&self, schema: &Schema, rows: usize) -> Result<()> {
        if rows < LEAST_ROWS {
            return Err(Error::data(format!("there are {rows} rows to train on; at least {LEAST_ROWS} are needed")));
        }
        let check = |ok: bool, key: &str, problem: String| match ok {
            true => Ok(()),
            false => Err(Error::setting(key, problem)),
        };
        let (generative, predictor) = (&self.generative, &self.predictor);
        let share = self.validation_share;
        check(
            (0.0..0.9).contains(&share),
            "validation_share",
            format!("must be at least 0 and below 0.9, got {share}"),
        )?;
        check(generative.latent > 0, "generative.latent", "must be positive, got 0".into())?;
        check(generative.width > 0, "generative.width", "must be positive, got 0".into())?;
        let channels = |list: &[usize], key: &str| {
            let positive = !list.is_empty() && list.iter().all(|&channels| channels > 0);
            check(positive, key, "needs at least one positive number, such as [32, 64]".into())
        };
        if generative.architecture != Architecture::Residual && schema.image.is_some() {
            channels(&generative.channels, "generative.channels")?;
        }
        if generative.architecture == Architecture::Ladder {
            check(generative.low_latent > 0, "generative.low_latent", "must be positive for a ladder, got 0".into())?;
        }
        check(
            predictor.class_weights == ClassWeights::None || !schema.target.task.classes().is_empty(),
            "predictor.class_weights",
            format!("`balanced` needs classes, and the target `{}` is a value", schema.target.name),
        )?;
        if predictor.network == NetworkKind::Resnet && schema.image.is_some() {
            channels(&predictor.channels, "predictor.channels")?;
            check(predictor.blocks > 0, "predictor.blocks", "must be positive, got 0".into())?;
        }
        generative.fit.validate("generative.fit")?;
        check(generative.fit.epochs > 0, "generative.fit.epochs", "must be positive, got 0".into())?;
        check(predictor.samples > 0, "predictor.samples", "must be positive, got 0".into())?;
        check(predictor.samples <= 100_000, "predictor.samples", "must be at most 100000".into())?;
        let widths = [generative.latent, generative.low_latent, generative.width].into_iter();
        let lists = [&generative.channels, &predictor.hidden, &predictor.channels];
        let mut widths = widths.chain(lists.into_iter().flatten().copied());
        let shallow = [generative.depth, generative.blocks, predictor.blocks].iter().all(|&depth| depth <= MOST_DEPTH);
        let small = widths.all(|width| width <= MOST_WIDTH) && shallow;
        let key = "generative, predictor";
        check(small, key, format!("no width may be above {MOST_WIDTH} and no depth above {MOST_DEPTH}"))?;
        let network = Network::of(predictor, schema)?;
        let stacked = network.layout().len().saturating_mul(predictor.samples);
        let parameters = VaeNetwork::new(&VaeShape::from(generative), schema)?.layout().len().max(stacked);
        let problem = format!("{parameters} parameters are more than the {MOST_PARAMETERS} that a run may have");
        check(parameters <= MOST_PARAMETERS, key, problem)?;
        check(!predictor.hidden.contains(&0), "predictor.hidden", "every width must be positive".into())?;
        let rate = predictor.dropout;
        check((0.0..1.0).contains(&rate), "predictor.dropout", format!("must be at least 0 and below 1, got {rate}"))?;
        predictor.fit.validate("predictor.fit")?;
        match predictor.kind {
            PredictorKind::Bayesian => predictor.sampler.validate("predictor.sampler"),
            _ => check(predictor.fit.epochs > 0, "predictor.fit.epochs", "must be positive, got 0".into()),
        }
    }
}

/// The first key of `overrides` that on its own makes the plan unreadable.
fn offending_key(plan: &Plan, overrides: &toml::Table) -> String {
    let mut pairs = Vec::new();
    flatten(overrides, "", &mut pairs);
    let unreadable = |key: &str, value: &toml::Value| {
        let mut table = toml::Table::try_from(plan).expect("a plan is made of tables, numbers and strings");
        merge(&mut table, &nested(key, value.clone()));
        table.try_into::<Plan>().is_err()
    };
    let found = pairs.iter().find(|(key, value)| unreadable(key, value));
    found.map_or_else(|| "plan".into(), |(key, _)| key.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DataDir, Request, load};
    use crate::settings::parse_setting;

    fn plan() -> Plan {
        Plan::tables(2000)
    }

    fn set(text: &str) -> Result<Plan> {
        plan().with(&[parse_setting(text)?])
    }

    #[test]
    fn a_setting_replaces_one_value_and_leaves_the_rest() {
        let changed = set("predictor.sampler.step = 0.5").unwrap();
        assert_eq!(changed.predictor.sampler.step, 0.5);
        assert_eq!(changed.generative, plan().generative);
        assert_eq!(set("predictor.kind=ensemble").unwrap().predictor.kind, PredictorKind::Ensemble);
        assert_eq!(set("predictor.hidden=[3, 4]").unwrap().predictor.hidden, vec![3, 4]);
        assert_eq!(set("generative.fit.learning_rate=1").unwrap().generative.fit.learning_rate, 1.0);
    }

    #[test]
    fn another_kind_brings_its_defaults_and_explicit_settings_win() {
        let tables = ["predictor.fit.epochs=3", "predictor.kind=ensemble"].map(|text| parse_setting(text).unwrap());
        let changed = plan().with(&tables).unwrap().predictor;
        assert_eq!((changed.kind, changed.samples, changed.fit.epochs), (PredictorKind::Ensemble, 10, 3));
        assert!(changed.fit.patience > 0);
        assert_eq!(set("predictor.kind=bayesian").unwrap(), plan());
    }

    #[test]
    fn an_unknown_or_misplaced_setting_is_named() {
        let error = set("predictor.radios=2").unwrap_err().to_string();
        assert!(error.starts_with("setting `predictor.radios`") && error.contains("unknown field `radios`"), "{error}");
        assert!(error.contains("`samples`"), "{error}");
        let error = set("predictor.samples=many").unwrap_err().to_string();
        assert!(error.starts_with("setting `predictor.samples`"), "{error}");
        let error = set("predictor.samples").unwrap_err().to_string();
        assert!(error.contains("key=value"), "{error}");
    }

    #[test]
    fn a_plan_survives_its_own_toml() {
        let text = toml::to_string(&plan()).unwrap();
        assert_eq!(toml::from_str::<Plan>(&text).unwrap(), plan());
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let schema = load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap().schema;
        plan().validate(&schema, 2000).unwrap();
        for (setting, key) in [
            ("validation_share=0.95", "validation_share"),
            ("generative.latent=0", "generative.latent"),
            ("generative.architecture=convolution", "generative.architecture"),
            ("generative.fit.learning_rate=-1", "generative.fit.learning_rate"),
            ("predictor.samples=0", "predictor.samples"),
            ("generative.width=100000000", "generative, predictor"),
            ("generative.width=100000", "generative, predictor"),
            ("predictor.fit.epochs=10000000", "predictor.fit.epochs"),
            ("predictor.dropout=1.0", "predictor.dropout"),
            ("predictor.sampler.step=0.0", "predictor.sampler.step"),
            ("predictor.sampler.friction=2.0", "predictor.sampler.friction"),
        ] {
            let error = set(setting).unwrap().validate(&schema, 2000).unwrap_err().to_string();
            assert!(error.starts_with(&format!("setting `{key}`")), "{error}");
        }
    }
}
