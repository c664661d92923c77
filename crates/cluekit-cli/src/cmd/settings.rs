//! Options that set how models are trained.

use anyhow::{Context, Result};
use clap::Args;
use cluekit::Error;
use cluekit::data::Dataset;
use cluekit::model::plan::Plan;
use cluekit::settings::parse_setting;
use std::path::PathBuf;

/// Settings of training.
#[derive(Args, Debug)]
pub struct SettingArgs {
    /// Begin with the settings of this plan, for images of your own too: synbols-small, synbols-full or synbols-demo.
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// Settings that differ from the defaults, as TOML.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting, such as predictor.samples=20; may be repeated and wins over --config.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

impl SettingArgs {
    /// The defaults for this data, then `--config`, then every `--set`.
    pub fn plan(&self, dataset: &Dataset) -> Result<Plan> {
        let defaults = self.plan.as_deref().map_or_else(|| Ok(Plan::for_dataset(dataset)), Plan::named)?;
        let mut overrides = Vec::new();
        if let Some(path) = &self.config {
            let text = std::fs::read_to_string(path).map_err(Error::reading(path))?;
            let table =
                text.parse().map_err(|problem: toml::de::Error| Error::file(path, problem.to_string().trim_end()))?;
            overrides.push(table);
            defaults.with(&overrides).with_context(|| format!("reading {}", path.display()))?;
        }
        for setting in &self.settings {
            overrides.push(parse_setting(setting)?);
        }
        Ok(defaults.with(&overrides)?)
    }
}
