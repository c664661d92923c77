//! Training points about which the model is certain: what paths lead to, and what tells how far certainty is away.
//!
//! All training rows are encoded, but only those near an input are predicted: for each class the nearest ones first,
//! a few more at a time, until one is certain. Most training points are, so this looks at few of them.
//!
//! A point counts if both the row and what its code decodes to are certain: a search can only get to what decodes. A
//! nearer row that is certain only as it is counts where its class has no other.

use super::Models;
use super::prepared::GoOn;
use crate::data::{Samples, Targets};
use crate::distance::latent_distance;
use crate::error::{Error, Remedy, Result};
use crate::parallel::over_shards;
use crate::prediction::predict;
use crate::tensor::{tensor, values};
use crate::uncertainty::Uncertainty;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Rows that one thread encodes at a time.
const ROWS: usize = 256;
/// Inputs whose neighbours are kept in memory at a time.
const INPUTS: usize = 32;
/// Neighbours of one class that are predicted first; twice as many each time that none of them is certain.
const FIRST: usize = 8;

/// Training rows with their codes, class by class, among which the certain ones are looked for.
#[derive(Clone, Debug)]
pub struct Certain {
    samples: Arc<Samples>,
    latent: usize,
    codes: Vec<f32>,
    /// Rows of each class; a regression has one class.
    classes: Vec<Vec<usize>>,
    kind: Uncertainty,
    below: f32,
}

/// The nearest certain training point of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// Latent code of the training point.
    pub z: Vec<f32>,
    /// Latent distance from the input's code z₀.
    pub distance: f64,
}

/// How certain the model is about a training row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    None,
    /// About the row itself, but not about what its code decodes to.
    AsItIs,
    /// About both: a search can get there.
    Reachable,
}

/// The neighbours of one input in one class that have not been found certain yet.
struct Quest {
    input: usize,
    class: usize,
    /// Rows and their distances, the nearest first.
    order: Vec<(usize, f64)>,
    looked_at: usize,
}

impl Certain {
    /// The training `samples` to look in for points whose uncertainty of this `kind` lies below `below`.
    pub fn among(models: &Models, samples: impl Into<Arc<Samples>>, kind: Uncertainty, below: f32) -> Result<Self> {
        let samples = samples.into();
        let parts = over_shards(samples.len(), ROWS, |range| -> Result<Vec<f32>> {
            let x = samples.x[range.start * samples.width..range.end * samples.width].to_vec();
            Ok(values(models.encode(&tensor(x, [range.len(), samples.width]))?))
        });
        let codes = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
        let classes = match &samples.y {
            Targets::Values(_) | Targets::Unknown(_) => vec![(0..samples.len()).collect()],
            Targets::Classes(labels) => {
                let named = models.task().classes().len();
                let count = labels.iter().map(|&label| label as usize + 1).max().unwrap_or(0).max(named);
                let mut classes = vec![Vec::new(); count];
                labels.iter().enumerate().for_each(|(row, &label)| classes[label as usize].push(row));
                classes
            }
        };
        Ok(Self { latent: models.generative.latent_dim(), codes, classes, kind, below, samples })
    }

    /// For each of the codes `z` the nearest certain point of every class that is predicted as that class, where
    /// there is one.
    pub fn nearest_of_each_class(&self, models: &Models, z: &[&[f32]]) -> Result<Vec<Vec<Option<Nearest>>>> {
        self.nearest_watched(models, z, &|| Ok(()))
    }

    /// The same as part of work that can be ended.
    pub(super) fn nearest_watched(
        &self,
        models: &Models,
        z: &[&[f32]],
        go_on: GoOn,
    ) -> Result<Vec<Vec<Option<Nearest>>>> {
        let mut known = BTreeMap::new();
        let blocks = z.chunks(INPUTS).map(|z| self.nearest_in_block(models, z, &mut known, go_on));
        Ok(blocks.collect::<Result<Vec<_>>>()?.concat())
    }

    fn nearest_in_block(
        &self,
        models: &Models,
        z: &[&[f32]],
        known: &mut BTreeMap<usize, Certainty>,
        go_on: GoOn,
    ) -> Result<Vec<Vec<Option<Nearest>>>> {
        let mut nearest = vec![vec![None; self.classes.len()]; z.len()];
        let pairs: Vec<(usize, usize)> =
            (0..z.len()).flat_map(|input| (0..self.classes.len()).map(move |class| (input, class))).collect();
        let mut quests = over_shards(pairs.len(), 1, |at| self.quest(pairs[at.start], z));
        let mut block = FIRST;
        while !quests.is_empty() {
            go_on()?;
            let next =
                |quest: &Quest| quest.order.iter().skip(quest.looked_at).take(block).map(|(row, _)| *row).collect();
            let unknown: BTreeSet<usize> =
                quests.iter().flat_map(|q| -> Vec<usize> { next(q) }).filter(|row| !known.contains_key(row)).collect();
            let unknown: Vec<usize> = unknown.into_iter().collect();
            known.extend(unknown.iter().copied().zip(self.are_certain(models, &unknown)?));
            quests.retain_mut(|quest| {
                let end = quest.order.len().min(quest.looked_at + block);
                let first = |wanted: Certainty, from: usize| {
                    quest.order[from..end].iter().find(|(row, _)| known[row] >= wanted).copied()
                };
                let reachable = first(Certainty::Reachable, quest.looked_at);
                // Where no point can be reached, one that is certain as it is at least shows the way.
                let found = reachable.or_else(|| first(Certainty::AsItIs, 0).filter(|_| end == quest.order.len()));
                quest.looked_at = end;
                if let Some((row, distance)) = found {
                    let z = self.codes[row * self.latent..(row + 1) * self.latent].to_vec();
                    nearest[quest.input][quest.class] = Some(Nearest { z, distance });
                }
                found.is_none() && end < quest.order.len()
            });
            block *= 2;
        }
        Ok(nearest)
    }

    fn quest(&self, (input, class): (usize, usize), z: &[&[f32]]) -> Quest {
        let distance =
            |&row: &usize| (row, latent_distance(&self.codes[row * self.latent..(row + 1) * self.latent], z[input]));
        let mut order: Vec<(usize, f64)> = self.classes[class].iter().map(distance).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Quest { input, class, order, looked_at: 0 }
    }

    /// How certain, and right, the model is about each of these rows.
    fn are_certain(&self, models: &Models, rows: &[usize]) -> Result<Vec<Certainty>> {
        let chosen = self.samples.select(rows);
        let codes = rows.iter().flat_map(|row| &self.codes[row * self.latent..(row + 1) * self.latent]).copied();
        let codes: Vec<f32> = codes.collect();
        let parts = over_shards(rows.len(), ROWS, |range| -> Result<Vec<f32>> {
            let z = codes[range.start * self.latent..range.end * self.latent].to_vec();
            Ok(values(models.decode(&tensor(z, [range.len(), self.latent]), chosen.width)?))
        });
        let decoded = Samples { x: parts.into_iter().collect::<Result<Vec<_>>>()?.concat(), ..chosen.clone() };
        let certain = |samples: &Samples| -> Result<Vec<bool>> {
            let predictions = predict(models.predictor, samples, models.task())?;
            let right = |at: usize| match &chosen.y {
                Targets::Classes(labels) => predictions[at].label() == labels[at] as usize,
                Targets::Values(_) | Targets::Unknown(_) => true,
            };
            Ok((0..rows.len()).map(|at| right(at) && predictions[at].uncertainty.get(self.kind) < self.below).collect())
        };
        let both = certain(&chosen)?.into_iter().zip(certain(&decoded)?);
        Ok(both
            .map(|(as_it_is, decoded)| match (as_it_is, decoded) {
                (true, true) => Certainty::Reachable,
                (true, false) => Certainty::AsItIs,
                (false, _) => Certainty::None,
            })
            .collect())
    }

    /// The error for a search that needs a certain training point and has none.
    pub(super) fn missing(&self) -> Error {
        let problem = Error::NoCertainRow { below: self.below };
        problem.remedy(Remedy::raise("threshold")).remedy(Remedy::StartElsewhere)
    }
}

/// δ for an input: the smallest ball around z₀ that holds certain training points of two classes, or of the only one
/// that has any.
pub(super) fn automatic_radius(nearest: &[Option<Nearest>]) -> Option<f32> {
    // A training row that is the input itself tells nothing of how far certainty is away.
    let mut distances: Vec<f64> = nearest.iter().flatten().map(|near| near.distance).filter(|d| *d > 0.0).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(1).or(distances.first()).map(|distance| *distance as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Generative, Predictive, Predictor};
    use crate::tensor::Tensor;

    /// The latent space is the input space.
    struct Same;

    impl Generative for Same {
        fn latent_dim(&self) -> usize {
            1
        }
        fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
            Ok(x.clone())
        }
        fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
            Ok(z.clone())
        }
    }

    /// p(1) = σ(x): certain far from 0.
    struct Sigmoid;

    impl Predictor for Sigmoid {
        fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
            let logits = Tensor::cat(vec![x.clone() * -1.0, x.clone()], 1) * 0.5;
            Ok(Predictive::Classes { log_probabilities: crate::tensor::log_softmax(logits, 1).unsqueeze() })
        }
    }

    fn nearest(x: Vec<f32>, labels: Vec<u32>, z: f32) -> Vec<Option<f64>> {
        let models = Models::new(&Same, &Sigmoid);
        let samples = Samples { x, width: 1, y: Targets::Classes(labels), weights: None };
        let certain = Certain::among(&models, samples, Uncertainty::Total, 0.1).unwrap();
        let found = certain.nearest_of_each_class(&models, &[&[z]]).unwrap().remove(0);
        found.into_iter().map(|near| near.map(|near| near.distance)).collect()
    }

    #[test]
    fn each_class_has_its_nearest_certain_point() {
        // Uncertain at ±1 (0.58 nats), certain at ±5 (0.04); the point at 4 is certain, and of the wrong class.
        let found = nearest(vec![1.0, 5.0, 9.0, -1.0, -6.0, 4.0], vec![1, 1, 1, 0, 0, 0], 0.5);
        assert_eq!(found, [Some(6.5), Some(4.5)]);
    }

    /// Codes up to 6 decode to 0, where nothing is certain.
    struct Lossy;

    impl Generative for Lossy {
        fn latent_dim(&self) -> usize {
            1
        }
        fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
            Ok(x.clone())
        }
        fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
            let kept = values(z.clone()).into_iter().map(|z| if z > 6.0 { z } else { 0.0 }).collect();
            Ok(tensor(kept, z.dims()))
        }
    }

    #[test]
    fn a_nearer_point_that_does_not_decode_to_certainty_counts_where_its_class_has_no_other() {
        // 5 and 7 are certain as they are, and 5 decodes to 0.
        let models = Models::new(&Lossy, &Sigmoid);
        let found = |x: Vec<f32>| {
            let samples = Samples { y: Targets::Classes(vec![1; x.len()]), x, width: 1, weights: None };
            let certain = Certain::among(&models, samples, Uncertainty::Total, 0.1).unwrap();
            certain.nearest_of_each_class(&models, &[&[0.0]]).unwrap().remove(0)[1].clone().unwrap().distance
        };
        assert_eq!(found(vec![5.0, 7.0]), 7.0);
        assert_eq!(found(vec![5.0, 5.5]), 5.0);
    }

    #[test]
    fn a_certain_point_behind_many_uncertain_ones_is_found() {
        let x: Vec<f32> = (0..100).map(|i| if i == 99 { 7.0 } else { 0.01 * i as f32 }).collect();
        assert_eq!(nearest(x, vec![1; 100], 0.0), [None, Some(7.0)]);
    }

    #[test]
    fn the_automatic_ball_reaches_two_classes() {
        let near = |distance: f64| Some(Nearest { z: vec![], distance });
        assert_eq!(automatic_radius(&[near(1.0), None, near(3.0), near(9.0)]), Some(3.0));
        assert_eq!(automatic_radius(&[None, near(2.0)]), Some(2.0));
        assert_eq!(automatic_radius(&[None]), None);
    }
}
