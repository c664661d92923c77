//! From a latent code to the input that the predictor sees.
//!
//! | decoding | x(z) |
//! |---|---|
//! | `mean` | μ_θ(x\|z), the paper's |
//! | `anchored` | x₀ + (μ_θ(z) − μ_θ(z₀)): z₀ gives back the input to the bit, and a clue shows only what must change |
//!
//! What may not change is held there during the search: x is clamped to the bounds of its input, then moved out of
//! every half-space that a relation between features forbids. Both are part of x(z), so the search sees them.

use super::Models;
use super::origin::Origin;
use crate::data::{Bounds, Halfspace};
use crate::error::Result;
use crate::tensor::{Tensor, relu, tensor, values};
use serde::{Deserialize, Serialize};

/// Rounds of moving out of forbidden half-spaces and back between the bounds.
const ROUNDS: usize = 4;

/// How a latent code becomes an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decoding {
    /// The decoder's mean: x(z) = μ_θ(z).
    #[default]
    Mean,
    /// The input plus the change of the decoder's mean: x(z) = x₀ + μ_θ(z) − μ_θ(z₀).
    Anchored,
}

/// What the candidates of one descent are compared with, row by row.
pub(super) struct Rows {
    x: Tensor<2>,
    z: Tensor<2>,
    prediction: Tensor<2>,
    /// μ_θ(z₀) of anchored decoding.
    anchor: Option<Tensor<2>>,
    bounds: Option<(Tensor<2>, Tensor<2>)>,
    relations: Vec<Relation>,
}

/// a·x ≤ b, and for each row the direction in which to leave the forbidden side: a over free columns, / ‖a‖².
struct Relation {
    coefficients: Tensor<2>,
    limit: f32,
    direction: Tensor<2>,
}

/// One candidate's input and what it may change, if that is less than the input's own bounds.
pub(super) type Row<'a> = (&'a Origin, Option<&'a Bounds>);

impl Rows {
    /// The constants of these rows.
    pub fn new(rows: &[Row], decoding: Decoding, relations: &[Halfspace]) -> Self {
        let stack = |of: &dyn Fn(&Origin) -> Vec<f32>| {
            let values: Vec<f32> = rows.iter().flat_map(|(origin, _)| of(origin)).collect();
            let width = values.len() / rows.len();
            tensor(values, [rows.len(), width])
        };
        let bounds: Option<Vec<&Bounds>> = rows.iter().map(|(origin, own)| own.or(origin.bounds.as_ref())).collect();
        let width = rows[0].0.x.len();
        let side = |of: &dyn Fn(&Bounds) -> Vec<f32>, bounds: &[&Bounds]| {
            tensor(bounds.iter().flat_map(|b| of(b)).collect(), [rows.len(), width])
        };
        Self {
            x: stack(&|origin| origin.x.clone()),
            z: stack(&|origin| origin.z.clone()),
            prediction: stack(&|origin| origin.prediction.clone()),
            anchor: (decoding == Decoding::Anchored).then(|| stack(&|origin| origin.decoded.clone())),
            relations: bounds.iter().flat_map(|b| relations.iter().map(|r| Relation::new(r, b))).collect(),
            bounds: bounds.map(|b| (side(&|b| b.lower.clone(), &b), side(&|b| b.upper.clone(), &b))),
        }
    }

    /// x₀ of each row.
    pub fn x(&self) -> &Tensor<2> {
        &self.x
    }

    /// z₀ of each row.
    pub fn z(&self) -> &Tensor<2> {
        &self.z
    }

    /// The mean prediction of x₀ of each row.
    pub fn prediction(&self) -> &Tensor<2> {
        &self.prediction
    }

    /// x(z).
    pub fn decode(&self, models: &Models, z: &Tensor<2>) -> Result<Tensor<2>> {
        let mut x = models.decode(z, self.x.dims()[1])?;
        if let Some(anchor) = &self.anchor {
            let anchor = self.as_decoded_here(anchor, z, &x);
            x = self.x.clone() + (x - anchor);
        }
        let Some((lower, upper)) = &self.bounds else { return Ok(x) };
        let clamp = |x: Tensor<2>| x.max_pair(lower.clone()).min_pair(upper.clone());
        x = clamp(x);
        if !self.relations.is_empty() {
            for _ in 0..ROUNDS {
                x = clamp(self.relations.iter().fold(x, |x, relation| relation.leave(x)));
            }
        }
        Ok(x)
    }

    /// μ_θ(z₀) of each row; where z is z₀, with the bits that this batch has for it, since a decoder rounds otherwise in
    /// batches of another size. Nothing is left of the difference then but its gradient.
    fn as_decoded_here(&self, anchor: &Tensor<2>, z: &Tensor<2>, decoded: &Tensor<2>) -> Tensor<2> {
        let ([_, latent], [_, width]) = (z.dims(), decoded.dims());
        let (here, home) = (values(z.clone()), values(self.z.clone()));
        let same = |(a, b): (&[f32], &[f32])| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        let at_home: Vec<bool> = here.chunks_exact(latent).zip(home.chunks_exact(latent)).map(same).collect();
        if !at_home.contains(&true) {
            return anchor.clone();
        }
        let (mut anchors, decoded) = (values(anchor.clone()), values(decoded.clone()));
        let rows = anchors.chunks_exact_mut(width).zip(decoded.chunks_exact(width)).zip(at_home);
        rows.filter(|(_, at_home)| *at_home).for_each(|((anchor, decoded), _)| anchor.copy_from_slice(decoded));
        tensor(anchors, anchor.dims())
    }
}

impl Relation {
    fn new(halfspace: &Halfspace, bounds: &[&Bounds]) -> Self {
        let width = halfspace.coefficients.len();
        let direction = bounds.iter().flat_map(|bounds| {
            let free = |c: usize| if bounds.upper[c] > bounds.lower[c] { halfspace.coefficients[c] } else { 0.0 };
            let square: f32 = (0..width).map(|c| free(c) * free(c)).sum();
            (0..width).map(move |c| if square > 0.0 { free(c) / square } else { 0.0 }).collect::<Vec<_>>()
        });
        Self {
            direction: tensor(direction.collect(), [bounds.len(), width]),
            coefficients: tensor(halfspace.coefficients.clone(), [1, width]),
            limit: halfspace.limit,
        }
    }

    /// x − (a·x − b)⁺ · direction.
    fn leave(&self, x: Tensor<2>) -> Tensor<2> {
        let excess = relu((x.clone() * self.coefficients.clone()).sum_dim(1) - self.limit);
        x - excess * self.direction.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Generative, Predictive, Predictor};

    /// Decodes z to itself, shifted by one.
    struct Shifted;

    impl Generative for Shifted {
        fn latent_dim(&self) -> usize {
            2
        }
        fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
            Ok(x.clone() - 1.0)
        }
        fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
            Ok(z.clone() + 1.0)
        }
    }

    /// Nobody asks it.
    struct Unasked;

    impl Predictor for Unasked {
        fn predict(&self, _: &Tensor<2>) -> Result<Predictive> {
            unreachable!("decoding needs no prediction")
        }
    }

    fn origin(bounds: Option<Bounds>) -> Origin {
        Origin { z: vec![0.0, 0.0], decoded: vec![1.0, 1.0], bounds, ..Origin::at(&[5.0, 5.0]) }
    }

    fn decode(origin: &Origin, decoding: Decoding, relations: &[Halfspace], z: [f32; 2]) -> Vec<f32> {
        let rows = Rows::new(&[(origin, None)], decoding, relations);
        let models = Models::new(&Shifted, &Unasked);
        values(rows.decode(&models, &tensor(z.to_vec(), [1, 2])).unwrap())
    }

    fn bounds(lower: [f32; 2], upper: [f32; 2]) -> Option<Bounds> {
        Some(Bounds { lower: lower.to_vec(), upper: upper.to_vec() })
    }

    #[test]
    fn an_anchored_code_adds_only_what_changes() {
        assert_eq!(decode(&origin(None), Decoding::Mean, &[], [2.0, 0.0]), [3.0, 1.0]);
        assert_eq!(decode(&origin(None), Decoding::Anchored, &[], [2.0, 0.0]), [7.0, 5.0]);
        assert_eq!(decode(&origin(None), Decoding::Anchored, &[], [0.0, 0.0]), [5.0, 5.0]);
    }

    #[test]
    fn the_code_of_an_input_gives_it_back_to_the_bit() {
        // The decoder's answer for z₀ was remembered with another rounding, as of a batch of another size.
        let mut origin = origin(None);
        (origin.x, origin.decoded) = (vec![0.1, 0.7], vec![1.0 + f32::EPSILON, 1.0 - f32::EPSILON]);
        assert_eq!(decode(&origin, Decoding::Anchored, &[], [0.0, 0.0]), [0.1, 0.7]);
    }

    #[test]
    fn a_step_from_the_code_of_an_input_has_the_slope_of_the_decoder() {
        let origin = origin(None);
        let rows = Rows::new(&[(&origin, None)], Decoding::Anchored, &[]);
        let z = crate::tensor::leaf(vec![0.0, 0.0], [1, 2]);
        let x = rows.decode(&Models::new(&Shifted, &Unasked), &z).unwrap();
        assert_eq!(crate::tensor::gradients(&x.sum(), &[z]).unwrap(), [[1.0, 1.0]]);
    }

    #[test]
    fn bounds_hold_what_they_bound() {
        let origin = origin(bounds([5.0, 0.0], [5.0, 2.0]));
        assert_eq!(decode(&origin, Decoding::Mean, &[], [8.0, 8.0]), [5.0, 2.0]);
    }

    #[test]
    fn relations_move_free_columns_to_the_allowed_side() {
        // x₁ + x₂ ≤ 4 from (4, 4): the nearest allowed point is (2, 2); with x₁ held at 4 it is (4, 0).
        let relation = Halfspace { coefficients: vec![1.0, 1.0], limit: 4.0 };
        let wide = origin(bounds([-9.0, -9.0], [9.0, 9.0]));
        assert_eq!(decode(&wide, Decoding::Mean, std::slice::from_ref(&relation), [3.0, 3.0]), [2.0, 2.0]);
        let held = origin(bounds([4.0, -9.0], [4.0, 9.0]));
        assert_eq!(decode(&held, Decoding::Mean, &[relation], [3.0, 3.0]), [4.0, 0.0]);
    }
}
