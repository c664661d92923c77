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
use super::nearest::{Points, nearest_l1};
use super::neural::Neural;
use super::translation::LatentMap;
use crate::data::{Bounds, Constraints};
use crate::error::Result;
use crate::mixture::Mixture;
use crate::parallel::over_shards;
use crate::search::{Models, Price, Proposal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Lengths along a translation that `scaled` tries, as multiples of it; 0 is the reconstruction.
pub const LENGTHS: [f32; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0];

crate::named! {
    "method", "a mapper";
    /// The kinds of mapper.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Method {
        /// Nothing is changed.
        Reconstruction = "reconstruction",
        /// Difference between means of inputs.
        InputDbm = "input-dbm",
        /// Difference between means of codes.
        LatentDbm = "latent-dbm",
        /// Nearest certain neighbour by input.
        InputNn = "input-nn",
        /// Nearest certain neighbour by code.
        LatentNn = "latent-nn",
        /// One translation.
        Glam = "glam",
        /// A translation for each cluster.
        Clusters = "clusters",
        /// A length of its own for each input.
        Scaled = "scaled",
        /// A matrix and a translation.
        Affine = "affine",
        /// A network.
        Neural = "neural",
    }
}

impl Method {
    /// Whether it follows from the groups alone, without anything being learned.
    pub fn is_baseline(self) -> bool {
        self <= Self::LatentNn
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
    pub fn propose(&self, models: &Models, rows: &Encoded, name: &str, price: &Price) -> Result<Vec<Vec<Proposal>>> {
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
                    true => Points::new(&certain.z, rows.latent).nearest(&rows.z),
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
                one_each(&network.map(models, rows, &vec![*target; rows.len()], price)?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::{Same, Sigmoid, pictures, rows, table};
    use crate::amortise::translation::Form;
    use crate::mixture::Component;
    use crate::model::parameters::Parameters;

    /// The codes that a mapper proposes for each row of `x`.
    fn codes_of(mapper: &Mapper, models: &Models, x: &[f32], width: usize) -> Vec<Vec<Vec<f32>>> {
        let rows = rows(models, x, width, &vec![0; x.len() / width]);
        let proposals = mapper.propose(models, &rows, "mine", &Price::default()).unwrap();
        let code = |proposal: Proposal| {
            assert_eq!((proposal.mapper.as_str(), proposal.x), ("mine", None));
            proposal.z
        };
        proposals.into_iter().map(|set| set.into_iter().map(code).collect()).collect()
    }

    #[test]
    fn a_reconstruction_changes_nothing() {
        let same = Same { width: 1, scale: 2.0 };
        let models = Models::new(&same, &Sigmoid);
        assert_eq!(codes_of(&Mapper::Reconstruction, &models, &[3.0, -1.0], 1), [[[6.0]], [[-2.0]]]);
    }

    #[test]
    fn a_shift_of_inputs_is_encoded_again() {
        let same = Same { width: 2, scale: 2.0 };
        let models = Models::new(&same, &Sigmoid);
        let mapper = Mapper::InputShift(vec![0.5, -0.5]);
        assert_eq!(codes_of(&mapper, &models, &[0.75, 0.25], 2), [[[2.5, -0.5]]]);
    }

    #[test]
    fn a_shift_of_inputs_stays_in_the_range_of_the_data() {
        let (same, schema) = (Same { width: 2, scale: 2.0 }, pictures(2));
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        let mapper = Mapper::InputShift(vec![0.5, -0.5]);
        assert_eq!(codes_of(&mapper, &models, &[0.75, 0.25, 0.25, 0.75], 2), [[[2.0, 0.0]], [[1.5, 0.5]]]);
        let (same, schema) = (Same::new(1), table());
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        assert_eq!(codes_of(&Mapper::InputShift(vec![2.0]), &models, &[2.0, -2.0], 1), [[[3.0]], [[0.0]]]);
    }

    #[test]
    fn maps_between_codes_are_applied_to_each_row() {
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let translation = Mapper::Latent(LatentMap::translation(vec![1.5]));
        assert_eq!(codes_of(&translation, &models, &[3.0, -1.0], 1), [[[4.5]], [[0.5]]]);
        let layout = Arc::new(crate::amortise::translation::layout(Form::Affine, 1));
        let affine = LatentMap::new(Form::Affine, Parameters::new(layout, vec![2.0, 1.0]).unwrap());
        assert_eq!(codes_of(&Mapper::Latent(affine), &models, &[3.0, -1.0], 1), [[[10.0]], [[-2.0]]]);
    }

    #[test]
    fn each_cluster_has_a_translation_of_its_own() {
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let component = |mean: f64| Component { weight: 0.5, mean: vec![mean], variance: 1.0 };
        let mapper = Mapper::Clusters {
            mixture: Mixture { components: vec![component(-5.0), component(5.0)], bic: 0.0 },
            translations: vec![vec![1.0], vec![-2.0]],
        };
        assert_eq!(codes_of(&mapper, &models, &[-4.0, 6.0, 0.5], 1), [[[-3.0]], [[4.0]], [[-1.5]]]);
    }

    #[test]
    fn every_length_of_a_translation_is_proposed() {
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let lengths = [[1.0], [1.5], [2.0], [2.5], [3.0], [4.0], [5.0], [7.0]];
        assert_eq!(codes_of(&Mapper::Scaled(vec![2.0]), &models, &[1.0], 1), [lengths]);
        assert_eq!(LENGTHS.len(), lengths.len());
    }

    #[test]
    fn the_nearest_by_code_is_euclidean_and_the_nearest_by_input_is_not() {
        // From (0, 0): (2, 2) is 2.8 away and 4 around the corner, (3.5, 0) is 3.5 away both ways.
        let same = Same { width: 2, scale: 2.0 };
        let models = Models::new(&same, &Sigmoid);
        let certain = Arc::new(rows(&models, &[2.0, 2.0, 3.5, 0.0], 2, &[1, 1]));
        let rows = rows(&models, &[0.0, 0.0, 5.0, 0.0], 2, &[1, 1]);
        let propose = |latent: bool| {
            let mapper = Mapper::Nearest { latent, certain: certain.clone() };
            mapper.propose(&models, &rows, "nearest", &Price::default()).unwrap().concat()
        };
        let proposal = |z: [f32; 2], x: Option<[f32; 2]>| Proposal {
            z: z.to_vec(),
            x: x.map(|x| x.to_vec()),
            mapper: "nearest".into(),
        };
        assert_eq!(propose(true), [proposal([4.0, 4.0], None), proposal([7.0, 0.0], None)]);
        let far = proposal([7.0, 0.0], Some([3.5, 0.0]));
        assert_eq!(propose(false), [far.clone(), far]);
    }

    #[test]
    fn every_kind_is_chosen_by_its_name() {
        for method in Method::ALL {
            assert_eq!(method.name().parse::<Method>().unwrap(), method);
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
        let baselines: Vec<&str> = Method::ALL.into_iter().filter(|m| m.is_baseline()).map(Method::name).collect();
        assert_eq!(baselines, ["reconstruction", "input-dbm", "latent-dbm", "input-nn", "latent-nn"]);
        let message = "glum".parse::<Method>().unwrap_err().to_string();
        assert!(message.contains("`glum`") && message.contains("glam, clusters"), "{message}");
    }
}
