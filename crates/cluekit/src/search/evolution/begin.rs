//! Where candidates begin beside their own starts: at the codes of training rows that the model is certain about.

use crate::error::Result;
use crate::search::descent::{Descent, Start};
use crate::search::portfolio::Donors;
use crate::tensor::{tensor, values};

/// For each start the code of a certain training row, where one is known: the first start of an input has the row of least
/// cost, the next one the next.
pub fn beside(descent: &Descent, starts: &[Start]) -> Result<Vec<Option<Vec<f32>>>> {
    let mut wanted = vec![0; descent.origins.len()];
    let place = |start: &Start| {
        wanted[start.input] += 1;
        wanted[start.input] - 1
    };
    let places: Vec<usize> = starts.iter().map(place).collect();
    let codes = match Donors::certain_for(descent) {
        Some(donors) => of_rows(descent, &donors, &wanted)?,
        None => wanted.iter().enumerate().map(|(input, _)| of_classes(descent, input)).collect(),
    };
    Ok(starts.iter().zip(places).map(|(start, place)| codes[start.input].get(place).cloned()).collect())
}

/// The codes of the rows of least cost.
fn of_rows(descent: &Descent, donors: &Donors, wanted: &[usize]) -> Result<Vec<Vec<Vec<f32>>>> {
    let codes = |(input, &most): (usize, &usize)| -> Result<Vec<Vec<f32>>> {
        if most == 0 {
            return Ok(vec![]);
        }
        let rows = donors.cheapest(descent, input, most);
        let width = descent.origins[input].x.len();
        // Row by row, so that a code does not depend on how many are asked for.
        rows.into_iter().map(|row| Ok(values(descent.models.encode(&tensor(row, [1, width]))?))).collect()
    };
    wanted.iter().enumerate().map(codes).collect()
}

/// The codes of the nearest certain rows of each class, where they were looked for, the nearest first.
fn of_classes(descent: &Descent, input: usize) -> Vec<Vec<f32>> {
    let mut nearest: Vec<_> = descent.origins[input].nearest.iter().flatten().collect();
    nearest.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    nearest.into_iter().map(|near| near.z.clone()).collect()
}
