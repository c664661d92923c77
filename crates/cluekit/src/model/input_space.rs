//! The space of the inputs themselves, where there is no generative model: z = x.
//!
//! A row of a table is explained in its own columns then. Nothing says how usual a row is but the training rows.

use super::Generative;
use crate::error::Result;
use crate::tensor::Tensor;

/// The identity on encoded rows.
///
/// ```
/// use cluekit::model::{Generative, InputSpace};
/// use cluekit::tensor::{tensor, values};
///
/// let space = InputSpace { width: 2 };
/// let x = tensor(vec![3.0, -1.0], [1, 2]);
/// assert_eq!(values(space.decode(&space.encode(&x)?)?), [3.0, -1.0]);
/// assert_eq!(space.latent_dim(), 2);
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSpace {
    /// Number of columns of an encoded row.
    pub width: usize,
}

impl Generative for InputSpace {
    fn latent_dim(&self) -> usize {
        self.width
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone())
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(z.clone())
    }
}
