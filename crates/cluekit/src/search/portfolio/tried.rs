//! Rows that are tried as counterfactuals, and what the model says of them.

use super::lattice::{Lattice, within};
use crate::data::{Bounds, Halfspace};
use crate::error::Result;
use crate::explanation::FoundBy;
use crate::search::certificate::{Acceptance, evaluate};
use crate::search::descent::Descent;
use crate::search::origin::Origin;
use std::cmp::Ordering;

/// How far a relation between encoded columns may be off for the rounding of f32.
const NOISE: f32 = 1e-5;

/// A row to be tried for one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Position of the input.
    pub input: usize,
    /// The encoded row.
    pub x: Vec<f32>,
    /// Who proposes it.
    pub by: FoundBy,
}

/// A row that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The row, its input, and who proposed it.
    pub row: Candidate,
    /// Uncertainty of the kind that acceptance looks at.
    pub uncertainty: f32,
    /// Cost of the row.
    pub cost: f32,
    /// Whether the model is certain and the constraints hold.
    pub accepted: bool,
}

impl Tried {
    /// Accepted rows come first, then cheap ones; among rejected rows the surest.
    pub fn order(&self, other: &Self) -> Ordering {
        let amount = |tried: &Self| if tried.accepted { tried.cost } else { tried.uncertainty };
        other.accepted.cmp(&self.accepted).then(amount(self).total_cmp(&amount(other)))
    }
}

/// Where rows are tried.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// Models, inputs and objective.
    pub descent: &'a Descent<'a>,
    /// When a row is accepted.
    pub acceptance: Acceptance,
    /// Values that features take.
    pub lattice: &'a Lattice,
    /// Greatest number of features that may change.
    pub most_changed: usize,
}

impl<'a> Trial<'a> {
    /// An input.
    pub fn origin(&self, input: usize) -> &'a Origin {
        &self.descent.origins[input]
    }

    /// The limits of an input's columns.
    pub fn bounds(&self, input: usize) -> &'a Bounds {
        self.origin(input).bounds.as_ref().expect("the inputs of a table have bounds")
    }

    /// Asks the model about all rows at once.
    pub fn ask(&self, rows: Vec<Candidate>) -> Result<Vec<Tried>> {
        if rows.is_empty() {
            return Ok(vec![]);
        }
        let places: Vec<(usize, &[f32])> =
            rows.iter().map(|row| (row.input, self.origin(row.input).z.as_slice())).collect();
        let x: Vec<Vec<f32>> = rows.iter().map(|row| row.x.clone()).collect();
        let evaluated = evaluate(self.descent, &places, &x)?;
        let tried = |(row, now): (Candidate, crate::search::certificate::Evaluated)| {
            let uncertainty = now.prediction.uncertainty.get(self.acceptance.kind);
            let accepted = uncertainty < self.acceptance.threshold && self.is_allowed(&row);
            Tried { row, uncertainty, cost: now.cost, accepted }
        };
        Ok(rows.into_iter().zip(evaluated).map(tried).collect())
    }

    /// Whether a row keeps the constraints.
    pub fn is_allowed(&self, row: &Candidate) -> bool {
        let (origin, bounds) = (self.origin(row.input), self.bounds(row.input));
        let inside = |feature: usize| {
            let column = self.lattice.column(feature);
            within(&row.x[column.range()], column, bounds)
        };
        let keeps = |Halfspace { coefficients, limit }: &Halfspace| {
            let sum: f32 = coefficients.iter().zip(&row.x).map(|(a, x)| a * x).sum();
            sum <= limit + NOISE
        };
        self.lattice.changed(&origin.x, &row.x).len() <= self.most_changed
            && (0..self.lattice.features()).all(inside)
            && self.descent.relations.iter().all(keeps)
    }
}
