//! Mappers: what turns an uncertain input into a counterfactual in one call.
//!
//! | mapper | counterfactual of x₀ with code z₀ |
//! |---|---|
//! | `reconstruction` | μ_θ(z₀): nothing is changed; who does not beat it has learned nothing |
//! | `input-dbm` | x₀ + difference of means, clipped to the data's range, reconstructed |
//! | `latent-dbm` | μ_θ(z₀ + latent difference of means) |
//! | `input-nn` | the certain training row nearest to x₀ |
//! | `latent-nn` | μ_θ of the code of a certain training row that is nearest to z₀ |
//! | `glam` | μ_θ(z₀ + θ), θ from Eq. 2 |
//! | `clusters` | the same with a θ for each cluster of uncertain codes |
//! | `scaled` | μ_θ(z₀ + s θ), the length s chosen for each input |
//! | `affine` | μ_θ(z₀ + A z₀ + b) |
//! | `neural` | μ_θ(z₀ + g(x₀, z₀, …)) |

use super::Encoded;
use super::encoded::codes;
use super::nearest::{nearest, nearest_l1};
use super::neural::Neural;
use super::translation::LatentMap;
use crate::data::{Bounds, Constraints};
use crate::error::{Error, Result};
use crate::mixture::Mixture;
use crate::parallel::over_shards;
use crate::search::{Models, Proposal};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::sync::Arc;

/// Lengths along a translation that `scaled` tries, as multiples of it; 0 is the reconstruction.
pub const LENGTHS: [f32; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];

/// The kinds of mapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Nothing is changed.
    Reconstruction,
    /// Difference between means of inputs.
    InputDbm,
    /// Difference between means of codes.
    LatentDbm,
    /// Nearest certain neighbour by input.
    InputNn,
    /// Nearest certain neighbour by code.
    LatentNn,
    /// One translation.
    Glam,
    /// A translation for each cluster.
    Clusters,
    /// A length of its own for each input.
    Scaled,
    /// A matrix and a translation.
    Affine,
    /// A network.
    Neural,
}

impl Method {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Reconstruction,
        Self::InputDbm,
        Self::LatentDbm,
        Self::InputNn,
        Self::LatentNn,
        Self::Glam,
        Self::Clusters,
        Self::Scaled,
        Self::Affine,
        Self::Neural,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reconstruction => "reconstruction",
            Self::InputDbm => "input-dbm",
            Self::LatentDbm => "latent-dbm",
            Self::InputNn => "input-nn",
            Self::LatentNn => "latent-nn",
            Self::Glam => "glam",
            Self::Clusters => "clusters",
            Self::Scaled => "scaled",
            Self::Affine => "affine",
            Self::Neural => "neural",
        }
    }

    /// Whether it follows from the groups alone, without anything being learned.
    pub fn is_baseline(self) -> bool {
        self <= Self::LatentNn
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let choices = Self::ALL.map(Self::name).join(", ");
            Error::setting("method", format!("`{name}` is not a mapper; choose one of {choices}"))
        })
    }
}

/// A mapper that is ready for use.
#[derive(Clone, Debug)]
pub enum Mapper {
    /// z₀ itself.
    Reconstruction,
    /// x₀ plus this, clipped and reconstructed.
    InputShift(Vec<f32>),
    /// A map between codes.
    Latent(LatentMap),
    /// For each cluster of codes a translation.
    Clusters {
        /// The clusters.
        mixture: Mixture,
        /// One for each of them.
        translations: Vec<Vec<f32>>,
    },
    /// A translation of any length.
    Scaled(Vec<f32>),
    /// The nearest of some certain rows.
    Nearest {
        /// By code instead of by input.
        latent: bool,
        /// The certain rows.
        certain: Arc<Encoded>,
    },
    /// A network that leads to this class.
    Neural {
        /// The network, which is the same for every class.
        network: Arc<Neural>,
        /// Where it leads.
        target: usize,
    },
}

impl Mapper {
    /// The counterfactuals that it proposes for each of some rows; `name` is what they are called.
    pub fn propose(&self, models: &Models, rows: &Encoded, name: &str, lambda_x: f32) -> Result<Vec<Vec<Proposal>>> {
        let proposal = |z: &[f32]| Proposal { z: z.to_vec(), x: None, mapper: name.into() };
        let one_each = |z: &[f32]| z.chunks_exact(rows.latent).map(|z| vec![proposal(z)]).collect();
        Ok(match self {
            Self::Reconstruction => one_each(&rows.z),
            Self::InputShift(shift) => {
                let moved = rows.x.chunks_exact(rows.width).map(|x| shifted(models, x, shift));
                one_each(&codes(models, &moved.collect::<Result<Vec<_>>>()?.concat(), rows.width)?)
            }
            Self::Latent(map) => one_each(&map.apply(&rows.z)),
            Self::Clusters { mixture, translations } => {
                let moved = |z: &[f32]| added(z, &translations[mixture.assign(z)], 1.0);
                rows.z.chunks_exact(rows.latent).map(|z| vec![proposal(&moved(z))]).collect()
            }
            Self::Scaled(translation) => {
                let lengths = |z: &[f32]| LENGTHS.iter().map(|s| proposal(&added(z, translation, *s))).collect();
                rows.z.chunks_exact(rows.latent).map(lengths).collect()
            }
            Self::Nearest { latent, certain } => {
                let places = match latent {
                    true => nearest(&rows.z, &certain.z, rows.latent),
                    false => over_shards(rows.len(), 1, |at| {
                        nearest_l1(rows.x(at.start), certain.x.chunks_exact(certain.width)).unwrap_or(0)
                    }),
                };
                let row = |place: usize| Proposal {
                    x: (!latent).then(|| certain.x(place).to_vec()),
                    ..proposal(certain.z(place))
                };
                places.into_iter().map(|place| vec![row(place)]).collect()
            }
            Self::Neural { network, target } => {
                one_each(&network.map(models, rows, &vec![*target; rows.len()], lambda_x)?)
            }
        })
    }
}

fn added(z: &[f32], translation: &[f32], length: f32) -> Vec<f32> {
    z.iter().zip(translation).map(|(z, t)| z + length * t).collect()
}

/// x + shift within the range of the data.
fn shifted(models: &Models, x: &[f32], shift: &[f32]) -> Result<Vec<f32>> {
    let mut moved = added(x, shift, 1.0);
    match models.schema {
        Some(schema) if schema.image.is_some() => moved.iter_mut().for_each(|value| *value = value.clamp(0.0, 1.0)),
        Some(schema) => {
            let Bounds { lower, upper } = Constraints::default().bounds(schema, x)?;
            for ((value, lower), upper) in moved.iter_mut().zip(lower).zip(upper) {
                *value = value.max(lower).min(upper);
            }
        }
        None => {}
    }
    Ok(moved)
}
