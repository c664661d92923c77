//! Training points about which the model is certain: what paths lead to, and what tells how far certainty is away.

use super::Models;
use crate::data::Samples;
use crate::distance::latent_distance;
use crate::error::{Error, Result};
use crate::parallel::over_shards;
use crate::prediction::Prediction;
use crate::tensor::{tensor, values};
use crate::uncertainty::Uncertainty;

/// Rows that one thread encodes at a time.
const ROWS: usize = 256;

/// The codes of certain training points, class by class.
#[derive(Clone, Debug)]
pub struct Certain {
    latent: usize,
    /// Codes of the points of each predicted class, row after row.
    codes: Vec<Vec<f32>>,
    below: f32,
}

/// The nearest certain training point of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest<'a> {
    /// Its code.
    pub z: &'a [f32],
    /// How far it is.
    pub distance: f64,
}

impl Certain {
    /// Those of the training `samples` whose uncertainty of this `kind` lies below `below`, by predicted class; a
    /// regression has one class.
    pub fn among(
        models: &Models,
        samples: &Samples,
        predictions: &[Prediction],
        kind: Uncertainty,
        below: f32,
    ) -> Result<Self> {
        let classes = predictions.first().map_or(0, |p| p.mean.len());
        let chosen: Vec<usize> = (0..samples.len()).filter(|&i| predictions[i].uncertainty.get(kind) < below).collect();
        let rows = samples.select(&chosen);
        let parts = over_shards(rows.len(), ROWS, |range| -> Result<Vec<f32>> {
            let x = rows.x[range.start * rows.width..range.end * rows.width].to_vec();
            Ok(values(models.generative.encode(&tensor(x, [range.len(), rows.width]))?))
        });
        let codes = parts.into_iter().collect::<Result<Vec<_>>>()?.concat();
        let latent = models.generative.latent();
        let mut by_class = vec![Vec::new(); classes];
        for (code, &i) in codes.chunks_exact(latent).zip(&chosen) {
            by_class[predictions[i].label()].extend_from_slice(code);
        }
        Ok(Self { latent, codes: by_class, below })
    }

    /// The nearest point of each class, where there is one.
    pub fn nearest_of_each_class(&self, z: &[f32]) -> Vec<Option<Nearest<'_>>> {
        let nearest = |codes: &'_ Vec<f32>| {
            let distance = |code: &[f32]| latent_distance(code, z);
            let (at, distance) =
                codes.chunks_exact(self.latent).map(distance).enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
            Some((at, distance))
        };
        self.codes
            .iter()
            .map(|codes| {
                nearest(codes)
                    .map(|(at, distance)| Nearest { z: &codes[at * self.latent..(at + 1) * self.latent], distance })
            })
            .collect()
    }

    /// δ for an input: the smallest ball around z₀ that holds certain training points of two classes, or of the only
    /// one that has any.
    pub fn automatic_radius(&self, z: &[f32]) -> Result<f32> {
        let mut distances: Vec<f64> = self.nearest_of_each_class(z).iter().flatten().map(|n| n.distance).collect();
        distances.sort_by(f64::total_cmp);
        let distance = distances.get(1).or(distances.first()).ok_or_else(|| self.missing())?;
        Ok((*distance as f32).max(f32::MIN_POSITIVE))
    }

    /// The error for a search that needs a certain training point and has none.
    pub(super) fn missing(&self) -> Error {
        Error::data(format!(
            "no training point of the wanted classes has an uncertainty below {}; raise --threshold, or start elsewhere \
             (--init random-radius) with a radius of your own (--delta)",
            self.below
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain() -> Certain {
        Certain { latent: 1, codes: vec![vec![5.0, 1.0], vec![], vec![-3.0]], below: 0.1 }
    }

    #[test]
    fn each_class_has_its_nearest_point() {
        let certain = certain();
        let nearest = certain.nearest_of_each_class(&[0.0]);
        assert_eq!(nearest[0], Some(Nearest { z: &[1.0], distance: 1.0 }));
        assert_eq!(nearest[1], None);
        assert_eq!(nearest[2], Some(Nearest { z: &[-3.0], distance: 3.0 }));
    }

    #[test]
    fn the_automatic_ball_reaches_two_classes() {
        assert_eq!(certain().automatic_radius(&[0.0]).unwrap(), 3.0);
        let one = Certain { codes: vec![vec![], vec![2.0]], ..certain() };
        assert_eq!(one.automatic_radius(&[0.0]).unwrap(), 2.0);
    }

    #[test]
    fn without_a_certain_point_there_is_a_remedy() {
        let none = Certain { codes: vec![vec![]], ..certain() };
        let problem = none.automatic_radius(&[0.0]).unwrap_err().to_string();
        assert!(problem.contains("below 0.1; raise --threshold"), "{problem}");
    }
}
