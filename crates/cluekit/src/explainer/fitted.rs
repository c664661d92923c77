//! What was learned for groups, as plain data.

use super::Explainer;
use crate::amortise::{LearnFrom, Mapper, MapperKind, Mappers};
use crate::error::Result;
use serde::Serialize;
use std::path::PathBuf;

/// Mappers of one kind that are kept in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitSummary {
    /// What they are called there.
    pub name: String,
    /// Their kind.
    pub method: MapperKind,
    /// What they learned from.
    pub learn_from: LearnFrom,
    /// The file that holds them.
    pub file: PathBuf,
    /// One for each pair of groups.
    pub groups: Vec<FittedGroup>,
}

/// The mapper of one pair of groups, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FittedGroup {
    /// The group that it leads from, and the one that it leads to.
    pub name: String,
    /// Uncertain training rows of the group.
    pub uncertain: usize,
    /// Certain ones.
    pub certain: usize,
    /// Rows above this are uncertain.
    pub uncertain_above: f32,
    /// Rows below this are certain.
    pub certain_below: f32,
    /// λ_θ that was given or chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda_theta: Option<f32>,
    /// How many clusters have a translation of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    /// ‖θ‖₂, where there is one translation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// What had to be chosen otherwise than asked for.
    pub notes: Vec<String>,
}

impl FittedGroup {
    fn of(mapper: &Mapper, classes: &[String]) -> Self {
        let length = |theta: &[f32]| theta.iter().map(|t| f64::from(*t).powi(2)).sum::<f64>().sqrt();
        Self {
            name: mapper.pair.name(classes),
            uncertain: mapper.uncertain,
            certain: mapper.certain,
            uncertain_above: mapper.uncertain_above,
            certain_below: mapper.certain_below,
            lambda_theta: mapper.lambda_theta,
            clusters: mapper.map.clusters(),
            length: mapper.map.translation().map(length),
            notes: mapper.notes.clone(),
        }
    }
}

impl Explainer {
    /// What was fitted and saved in the run under a name.
    pub fn summary(&self, fitted: &Mappers, name: &str) -> Result<FitSummary> {
        let group = |mapper: &Mapper| FittedGroup::of(mapper, self.classes());
        Ok(FitSummary {
            name: name.into(),
            method: fitted.kind,
            learn_from: fitted.fitted_under.learn_from,
            file: self.opened()?.folder.mappers().path(name),
            groups: fitted.all.iter().map(group).collect(),
        })
    }
}
