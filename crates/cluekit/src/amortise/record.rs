//! The JSON text beside the arrays of saved mappers: what they mean, and which models they belong to.

use super::{FittedUnder, Map, Mapper, MapperKind, Mappers, Neural, NeuralPlan, Pair, WrittenMembers};
use crate::error::{Error, Result};
use crate::model::parameters::Layout;
use crate::search::Models;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The version of the text.
const FORMAT: u32 = 1;
/// Numbers that a predictor returns beyond which a text is wrong.
const MOST_OUTPUTS: usize = 1_000_000;
/// Clusters beyond which a text is wrong rather than thorough.
const MOST_CLUSTERS: usize = 1_000_000;

/// What lies beside the arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    format: u32,
    #[serde(rename = "method")]
    pub kind: MapperKind,
    #[serde(rename = "terms")]
    pub fitted_under: FittedUnder,
    /// SHA-256 of the files of the models.
    pub models: BTreeMap<String, String>,
    /// Settings of the network, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neural: Option<NeuralPlan>,
    /// Numbers that the predictor returns, where a network sees them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<usize>,
    pub groups: Vec<GroupRecord>,
}

/// What is said of the mapper of one pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupRecord {
    from: WrittenMembers,
    to: WrittenMembers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_theta: Option<f32>,
    /// How many clusters there are, for `clusters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<usize>,
    pub uncertain: usize,
    pub certain: usize,
    pub uncertain_above: f32,
    pub certain_below: f32,
    pub notes: Vec<String>,
}

impl GroupRecord {
    fn of(mapper: &Mapper, classes: &[String]) -> Self {
        Self {
            from: WrittenMembers::of(&mapper.pair.from, classes),
            to: WrittenMembers::of(&mapper.pair.to, classes),
            lambda_theta: mapper.lambda_theta,
            clusters: mapper.map.clusters(),
            uncertain: mapper.uncertain,
            certain: mapper.certain,
            uncertain_above: mapper.uncertain_above,
            certain_below: mapper.certain_below,
            notes: mapper.notes.clone(),
        }
    }

    /// The pair that is meant, or what is wrong.
    pub fn pair(&self, models: &Models) -> std::result::Result<Pair, String> {
        Ok(Pair { from: self.from.members(models)?, to: self.to.members(models)? })
    }
}

impl Record {
    /// What is said of these mappers, which belong to models with these hashes.
    pub fn of(mappers: &Mappers, models: &Models, hashes: BTreeMap<String, String>) -> Self {
        let (network, classes) = (mappers.network(), models.task().classes());
        Self {
            format: FORMAT,
            kind: mappers.kind,
            fitted_under: mappers.fitted_under.clone(),
            models: hashes,
            neural: network.map(|network| network.plan().clone()),
            outputs: network.map(Neural::outputs),
            groups: mappers.all.iter().map(|mapper| GroupRecord::of(mapper, classes)).collect(),
        }
    }

    /// The record that a text holds.
    pub fn read(note: &str, path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            format: Option<u32>,
        }
        let unreadable = |problem: serde_json::Error| {
            Error::file(path, format!("does not say what its mapper is ({problem}); fit it again"))
        };
        match serde_json::from_str::<Format>(note).map_err(unreadable)?.format {
            Some(FORMAT) => {}
            Some(other) => {
                let problem = format!("has format {other}, this version reads {FORMAT}; fit it again");
                return Err(Error::file(path, problem));
            }
            None => return Err(Error::file(path, "does not say its format; fit it again")),
        }
        let record: Self = serde_json::from_str(note).map_err(unreadable)?;
        let neural = match record.kind {
            MapperKind::Neural => record.neural.is_some() && record.outputs.is_some_and(|count| count <= MOST_OUTPUTS),
            _ => record.neural.is_none() && record.outputs.is_none(),
        };
        let clusters = |group: &GroupRecord| match group.clusters {
            Some(count) => record.kind == MapperKind::Clusters && (1..=MOST_CLUSTERS).contains(&count),
            None => record.kind != MapperKind::Clusters,
        };
        if record.kind.is_baseline() || !neural || !record.groups.iter().all(clusters) || record.groups.is_empty() {
            return Err(Error::file(path, "describes no mapper that can be fitted; fit it again"));
        }
        Ok(record)
    }

    /// The arrays of every group, one behind the other.
    pub fn layout(&self, models: &Models, of_group: fn(usize, &GroupRecord) -> Layout) -> Layout {
        let mut layout = Layout::default();
        for (i, group) in self.groups.iter().enumerate() {
            for entry in of_group(models.generative.latent_dim(), group).entries() {
                layout.push(format!("groups.{i}.{}", entry.name), &entry.shape);
            }
        }
        layout
    }

    /// The map of every group, from numbers that lie one behind the other.
    pub fn maps(
        &self,
        models: &Models,
        numbers: &[f32],
        layout: fn(usize, &GroupRecord) -> Layout,
        read: fn(&[f32], usize, &GroupRecord) -> Arc<dyn Map>,
    ) -> Vec<Arc<dyn Map>> {
        let (latent, mut rest) = (models.generative.latent_dim(), numbers);
        let mut map = |group: &GroupRecord| {
            let (own, left) = rest.split_at(layout(latent, group).len());
            rest = left;
            read(own, latent, group)
        };
        self.groups.iter().map(&mut map).collect()
    }
}
