//! Which mappers serve an input whose class nobody knows. [Ley2022, Proposed Method: GLAM-CLUE]
//!
//! Every mapper that leads from (or, where it leads from anything, to) a class that the input could be makes a proposal;
//! the cheapest is the explanation, and the others show what else it could become.

use super::Encoded;
use super::fit::{Fitted, Fitting};
use super::neural::most_probable;
use crate::error::Result;
use crate::explanation::Clue;
use crate::search::{Models, Proposal};

/// The classes that an input could be.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// The most probable ones, so many of them.
    MostProbable(usize),
    /// The true class of each row, or the predicted one where that is unknown.
    OwnClass,
    /// These, for every input.
    Classes(Vec<usize>),
}

impl Ask {
    /// The classes for one row.
    fn classes(&self, rows: &Encoded, row: usize) -> Vec<usize> {
        match self {
            Self::MostProbable(count) => most_probable(&rows.predictions[row].mean, *count),
            Self::OwnClass => vec![rows.class(row)],
            Self::Classes(classes) => classes.clone(),
        }
    }
}

impl Fitting {
    /// Whether this mapper serves a row that could be of these classes.
    fn serves(&self, classes: &[usize], x: &[f32], models: &Models) -> bool {
        let wanted = self.pair.from.class.or(self.pair.to.class);
        wanted.is_none_or(|class| classes.contains(&class)) && self.pair.from.condition_holds(x, models.schema)
    }
}

impl Fitted {
    /// What the mappers propose for each row, in the order of the pairs; an input that no mapper serves gets nothing.
    pub fn propose(
        &self,
        models: &Models,
        rows: &Encoded,
        ask: &Ask,
        lambda_x: f32,
        name: &str,
    ) -> Result<Vec<Vec<Proposal>>> {
        let classes: Vec<Vec<usize>> = (0..rows.len()).map(|row| ask.classes(rows, row)).collect();
        let mut proposals = vec![Vec::new(); rows.len()];
        for fitting in &self.fittings {
            let serves = |&row: &usize| fitting.serves(&classes[row], rows.x(row), models);
            let served: Vec<usize> = (0..rows.len()).filter(serves).collect();
            if served.is_empty() {
                continue;
            }
            let name = format!("{name} {}", fitting.pair.name(models.task().classes()));
            let new = fitting.mapper.propose(models, &rows.select(&served), &name, lambda_x)?;
            for (row, new) in served.into_iter().zip(new) {
                proposals[row].extend(new);
            }
        }
        Ok(proposals)
    }
}

/// Puts the cheapest clue of each input first.
pub fn cheapest_first(sets: &mut [Vec<Clue>]) {
    for set in sets {
        set.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    }
}
