//! `input-dbm`: x₀ plus the difference between means of inputs, clipped to the data's range, reconstructed.

use super::{Functions, Learned, Saved, added, one_each};
use crate::amortise::encoded::{codes, mean};
use crate::amortise::fit::difference;
use crate::amortise::{Encoded, Group, Map};
use crate::data::{Bounds, Constraints};
use crate::error::Result;
use crate::search::{Models, Price, Proposal};

pub(super) const FUNCTIONS: Functions = Functions {
    fit: |fit, _, groups, _| {
        Ok(groups.iter().map(|group| Learned::plain(InputShift(input_difference(fit.train, group)))).collect())
    },
    saved: Saved::Never,
};

/// Mean of certain inputs minus mean of uncertain ones.
fn input_difference(train: &Encoded, group: &Group) -> Vec<f32> {
    let of = |rows: &[usize]| mean(rows.iter().map(|&row| train.x(row)), train.width);
    difference(&of(&group.certain), &of(&group.uncertain))
}

/// A map that adds one shift to x₀, clips the sum to the data's range and encodes it.
#[derive(Clone, Debug)]
pub struct InputShift(
    /// The shift, added to an encoded row.
    pub Vec<f32>,
);

impl Map for InputShift {
    fn propose(&self, models: &Models, rows: &Encoded, name: &str, _: &Price) -> Result<Vec<Vec<Proposal>>> {
        let moved = rows.x.chunks_exact(rows.width).map(|x| shifted(models, x, &self.0));
        let z = codes(models, &moved.collect::<Result<Vec<_>>>()?.concat(), rows.width)?;
        Ok(one_each(&z, rows.latent, name))
    }
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
    use crate::amortise::kind::codes_of;
    use crate::amortise::toy::{Same, Sigmoid, pictures, table};

    #[test]
    fn a_shift_of_inputs_is_encoded_again() {
        let same = Same { width: 2, scale: 2.0 };
        let models = Models::new(&same, &Sigmoid);
        let shift = InputShift(vec![0.5, -0.5]);
        assert_eq!(codes_of(&shift, &models, &[0.75, 0.25], 2), [[[2.5, -0.5]]]);
    }

    #[test]
    fn a_shift_of_inputs_stays_in_the_range_of_the_data() {
        let (same, schema) = (Same { width: 2, scale: 2.0 }, pictures(2));
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        let shift = InputShift(vec![0.5, -0.5]);
        assert_eq!(codes_of(&shift, &models, &[0.75, 0.25, 0.25, 0.75], 2), [[[2.0, 0.0]], [[1.5, 0.5]]]);
        let (same, schema) = (Same::new(1), table());
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        assert_eq!(codes_of(&InputShift(vec![2.0]), &models, &[2.0, -2.0], 1), [[[3.0]], [[0.0]]]);
    }
}
