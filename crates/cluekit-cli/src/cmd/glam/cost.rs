//! What a counterfactual of a mapper costs, as options.

use anyhow::Result;
use clap::Args;
use cluekit::data::Samples;
use cluekit::distance::{Distance, Metric};
use cluekit::search::{Background, Convergence, Decoding, Search, Weighted, usual_threshold};
use cluekit::studio::Studio;

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

impl CostArgs {
    /// The search that judges counterfactuals; it takes no step of its own.
    pub fn search(&self, studio: &Studio) -> Result<Search> {
        let mut search = Search {
            convergence: Convergence::never_before(0),
            decoding: if self.anchored { Decoding::Anchored } else { Decoding::Mean },
            ..Search::clue()
        };
        search.objective.input = Weighted(self.lambda_x, self.distance);
        search.threshold = match self.threshold {
            Some(threshold) => threshold,
            None => usual_threshold(&studio.models(), &studio.dataset.train, search.accept_by)?,
        };
        search.validate()?;
        Ok(search)
    }

    /// The distance, learned from training rows where it has to be.
    pub fn background(&self, studio: &Studio) -> Result<Background> {
        let Samples { x, width, .. } = &studio.dataset.train;
        let metric = Metric::fit(self.distance, x, *width, Some(&studio.run.schema))?;
        Ok(Background { metric: Some(metric), ..Background::default() })
    }
}
