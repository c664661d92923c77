//! What every `clue glam` command needs: models, rows, and what a counterfactual costs.

use crate::cmd::explain::threshold;
use crate::cmd::run::{Run, RunArgs};
use anyhow::Result;
use clap::Args;
use cluekit::amortise::{Encoded, Fitted};
use cluekit::data::{Constraints, Dataset, Samples, Targets};
use cluekit::distance::{Distance, Metric};
use cluekit::model::parameters::{Layout, Parameters};
use cluekit::model::pipeline::validation_split;
use cluekit::model::vae::Vae;
use cluekit::prediction::{Amounts, Prediction, predict};
use cluekit::search::{Background, Convergence, Decoding, Models, Search, Weighted};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a counterfactual costs, and when it is accepted.
#[derive(Args, Debug)]
#[command(next_help_heading = "Cost")]
pub struct CostArgs {
    /// Weight of the distance to the input in the cost H + λ d.
    #[arg(long, value_name = "V", default_value_t = 0.03, allow_hyphen_values = true)]
    pub lambda_x: f32,
    /// The distance between inputs: l1, l2, mahalanobis; for tables also mad and range.
    #[arg(long, value_name = "NAME", default_value = "l1")]
    pub distance: Distance,
    /// A counterfactual is accepted below this uncertainty [default: that of the surest quarter of the training rows,
    /// or a fifth of the greatest possible one if that is more].
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    pub threshold: Option<f32>,
    /// Add to the input only what changes, instead of showing its reconstruction changed.
    #[arg(long)]
    pub anchored: bool,
}

/// An opened run with its data.
pub struct Studio {
    /// The run.
    pub run: Run,
    /// Its generative model.
    pub generative: Vae,
    /// Hashes of the files of both models.
    pub hashes: BTreeMap<String, String>,
    /// Its data.
    pub dataset: Dataset,
}

impl Studio {
    /// Opens a run and reads its data.
    pub fn open(args: &RunArgs) -> Result<Self> {
        let run = Run::open(&args.run)?;
        let generative = run.folder.generative(&run.schema)?;
        let hashes = run.folder.model_hashes()?;
        let dataset = run.dataset(args.data.as_deref())?;
        Ok(Self { run, generative, hashes, dataset })
    }

    /// The same without constraints: mappers know none. They are for single inputs, and checked when one is applied.
    pub fn unconstrained(mut self) -> Self {
        self.run.schema.constraints = Constraints::default();
        self
    }

    /// The models with what is known of their columns.
    pub fn models(&self) -> Models<'_> {
        Models::new(&self.generative, &self.run.predictor).with_schema(&self.run.schema)
    }

    /// The search that judges counterfactuals; it takes no step of its own.
    pub fn search(&self, cost: &CostArgs) -> Result<Search> {
        let mut search = Search {
            convergence: Convergence::never_before(0),
            decoding: if cost.anchored { Decoding::Anchored } else { Decoding::Mean },
            ..Search::clue()
        };
        search.objective.input = Weighted(cost.lambda_x, cost.distance);
        search.threshold = match cost.threshold {
            Some(threshold) => threshold,
            None => threshold::from_rows(&self.models(), &self.dataset.train, search.accept_by)?,
        };
        search.validate()?;
        Ok(search)
    }

    /// The distance, learned from training rows where it has to be.
    pub fn background(&self, cost: &CostArgs) -> Result<Background> {
        let Samples { x, width, .. } = &self.dataset.train;
        let metric = Metric::fit(cost.distance, x, *width, Some(&self.run.schema))?;
        Ok(Background { metric: Some(metric), ..Background::default() })
    }

    /// Rows to learn from and rows to choose settings on, of these classes or of all.
    ///
    /// What the predictor says of all rows is kept in the run, since it takes long to ask.
    pub fn rows(&self, classes: Option<&[usize]>) -> Result<[Encoded; 2]> {
        let share = self.run.record.plan.as_ref().map_or(0.0, |plan| plan.validation_share);
        let (train, validation) = validation_split(&self.dataset.train, share, self.run.record.seed)?;
        // Weights made elsewhere may come without a validation split; then settings are chosen on the rows themselves.
        let validation = if validation.is_empty() { train.clone() } else { validation };
        let split = [train, validation];
        let wanted = split.each_ref().map(|samples| rows_of(samples, classes));
        let kept = match self.kept_predictions(&split) {
            Some(kept) => Some(kept),
            None if classes.is_none() => Some(self.ask_and_keep(&split)?),
            None => None,
        };
        let encode = |place: usize| -> Result<Encoded> {
            let (samples, rows) = (split[place].select(&wanted[place]), &wanted[place]);
            match &kept {
                Some(kept) => {
                    let predictions = rows.iter().map(|&row| kept[place][row].clone()).collect();
                    Ok(Encoded::with_predictions(&self.models(), samples, predictions)?)
                }
                None => {
                    tracing::info!("predicting {} training rows …", rows.len());
                    Ok(Encoded::of(&self.models(), samples)?)
                }
            }
        };
        Ok([encode(0)?, encode(1)?])
    }

    /// Predictions of both parts of the training rows, if they were kept.
    fn kept_predictions(&self, split: &[Samples; 2]) -> Option<[Vec<Prediction>; 2]> {
        let (layout, key) = self.place_of_predictions(split);
        let outputs = layout.entries()[0].shape[1];
        let means = layout.entries()[0].len();
        let kept = self.run.folder.predictions(layout, &key)?;
        let (means, amounts) = kept.values.split_at(means);
        let row = |(mean, amounts): (&[f32], &[f32])| Prediction {
            mean: mean.to_vec(),
            uncertainty: Amounts { total: amounts[0], aleatoric: amounts[1], epistemic: amounts[2] },
        };
        let mut all: Vec<Prediction> = means.chunks_exact(outputs).zip(amounts.chunks_exact(3)).map(row).collect();
        let of_validation = all.split_off(split[0].len());
        Some([all, of_validation])
    }

    fn ask_and_keep(&self, split: &[Samples; 2]) -> Result<[Vec<Prediction>; 2]> {
        let ask = |samples: &Samples| {
            tracing::info!("predicting {} training rows …", samples.len());
            predict(&self.run.predictor, samples, &self.run.schema.target.task)
        };
        let answers = [ask(&split[0])?, ask(&split[1])?];
        let (layout, key) = self.place_of_predictions(split);
        let means = answers.iter().flatten().flat_map(|prediction| prediction.mean.iter().copied());
        let amounts = answers.iter().flatten().map(|prediction| prediction.uncertainty);
        let numbers = means.chain(amounts.flat_map(|amounts| [amounts.total, amounts.aleatoric, amounts.epistemic]));
        let parameters = Parameters::new(Arc::new(layout), numbers.collect())?;
        if let Err(error) = self.run.folder.write_predictions(&parameters, &key) {
            tracing::warn!("the predictions are not kept for the next time: {error}");
        }
        Ok(answers)
    }

    /// The arrays that predictions are kept in, and what they depend on.
    fn place_of_predictions(&self, split: &[Samples; 2]) -> (Layout, String) {
        let task = &self.run.schema.target.task;
        let outputs = if task.is_regression() { 1 } else { task.classes().len() };
        let count = split[0].len() + split[1].len();
        let mut layout = Layout::default();
        layout.push("mean", &[count, outputs]);
        layout.push("uncertainty", &[count, 3]);
        let sources: Vec<&str> = self.dataset.sources.iter().map(|source| source.sha256.as_str()).collect();
        // Seed and size say which rows the validation split holds.
        let (seed, validation) = (self.run.record.seed.0, split[1].len());
        (layout, format!("{seed} {validation} {}", sources.join(" ")))
    }

    /// The saved mappers called `name`.
    pub fn load(&self, name: &str) -> Result<Fitted> {
        let store = self.run.folder.mappers();
        Ok(Fitted::load(&store, name, &self.models(), &self.hashes)?)
    }

    /// Saves mappers under a name.
    pub fn save(&self, fitted: &Fitted, name: &str) -> Result<()> {
        Ok(fitted.save(&self.run.folder.mappers(), name, &self.models(), self.hashes.clone())?)
    }
}

/// The rows of these classes, or all.
fn rows_of(samples: &Samples, classes: Option<&[usize]>) -> Vec<usize> {
    match (&samples.y, classes) {
        (Targets::Classes(labels), Some(classes)) => {
            (0..labels.len()).filter(|&row| classes.contains(&(labels[row] as usize))).collect()
        }
        _ => (0..samples.len()).collect(),
    }
}
