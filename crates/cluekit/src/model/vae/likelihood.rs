//! p(x|z), column by column as the schema says.
//!
//! | columns | distribution | mean | −log p(x) of an output l |
//! |---|---|---|---|
//! | pixels, binary, indicators | Bernoulli | σ(l) | −x log σ(l) − (1 − x) log σ(−l) |
//! | continuous, ordinal | normal, one variance v a column | l | ½ ((x − l)² / v + log 2πv) |
//! | a categorical feature | one-hot | softmax(l) | −Σ x log softmax(l) |

use crate::data::{ColumnKind, Schema};
use crate::tensor::{Tensor, log_sigmoid, log_softmax, sigmoid, softmax};
use std::ops::Range;

/// Log-variances are kept within these bounds, so that a column without spread cannot run off to −∞.
const LOG_VARIANCE: Range<f64> = -8.0..8.0;

/// The distributions of a row's columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    groups: Vec<(Range<usize>, ColumnKind)>,
}

impl Likelihood {
    /// The likelihood that a schema asks for; neighbours of one kind are handled together.
    pub fn of(schema: &Schema) -> Self {
        let mut groups: Vec<(Range<usize>, ColumnKind)> = Vec::new();
        for column in schema.distributions() {
            let range = column.start..column.start + column.len;
            match groups.last_mut() {
                Some((last, kind)) if *kind == column.kind && column.kind != ColumnKind::Categorical => {
                    last.end = range.end;
                }
                _ => groups.push((range, column.kind)),
            }
        }
        Self { groups }
    }

    /// How many columns are normal: each has a variance of its own.
    pub fn gaussians(&self) -> usize {
        let normal = self.groups.iter().filter(|(_, kind)| *kind == ColumnKind::Gaussian);
        normal.map(|(columns, _)| columns.len()).sum()
    }

    /// Whether every column is a probability of its own, as the pixels of an image are.
    pub fn is_bernoulli(&self) -> bool {
        self.groups.iter().all(|(_, kind)| *kind == ColumnKind::Bernoulli)
    }

    /// The mean of x for the decoder's outputs.
    ///
    /// # Shapes
    /// - `outputs`: `[rows, inputs]`, returns the same
    pub fn mean(&self, outputs: Tensor<2>) -> Tensor<2> {
        let mean = |kind: ColumnKind, outputs: Tensor<2>| match kind {
            ColumnKind::Bernoulli => sigmoid(outputs),
            ColumnKind::Gaussian => outputs,
            ColumnKind::Categorical => softmax(outputs, 1),
        };
        if let [(_, kind)] = self.groups[..] {
            return mean(kind, outputs);
        }
        let rows = outputs.dims()[0];
        let part = |columns: &Range<usize>| outputs.clone().slice([0..rows, columns.clone()]);
        Tensor::cat(self.groups.iter().map(|(columns, kind)| mean(*kind, part(columns))).collect(), 1)
    }

    /// −log p(x|z) of each row.
    ///
    /// # Shapes
    /// - `outputs`, `x`: `[rows, inputs]`, `log_variance`: `[gaussians]`
    /// - returns: `[rows]`
    pub fn negative_log(&self, outputs: &Tensor<2>, x: &Tensor<2>, log_variance: Option<Tensor<1>>) -> Tensor<1> {
        let rows = outputs.dims()[0];
        let mut variances = 0;
        let terms = self.groups.iter().map(|(columns, kind)| {
            let cut = |tensor: &Tensor<2>| tensor.clone().slice([0..rows, columns.clone()]);
            let (l, x) = if self.groups.len() == 1 { (outputs.clone(), x.clone()) } else { (cut(outputs), cut(x)) };
            let term = match kind {
                // log σ(l) = l + log σ(−l), so −log p = −log σ(−l) − x l.
                ColumnKind::Bernoulli => log_sigmoid(l.clone().neg()).neg() - x * l,
                ColumnKind::Categorical => (log_softmax(l, 1) * x).neg(),
                ColumnKind::Gaussian => {
                    let all = log_variance.clone().expect("a normal column comes with its variance");
                    let own = all.narrow(0, variances, columns.len());
                    variances += columns.len();
                    let log_v: Tensor<2> = own.clamp(LOG_VARIANCE.start, LOG_VARIANCE.end).unsqueeze();
                    let square = (x - l).powi_scalar(2) / log_v.clone().exp();
                    (square + log_v + std::f64::consts::TAU.ln()) * 0.5
                }
            };
            term.sum_dim(1).squeeze_dim::<1>(1)
        });
        terms.reduce(|a, b| a + b).expect("a schema has a column")
    }
}
