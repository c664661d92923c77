//! Whole numbers beside the tensors: shapes, indices and what is computed from them.

use crate::Outcome;
use crate::constant::elements;
use std::sync::Arc;

/// Whole numbers with sides, row by row; 0 and 1 also stand for no and yes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Integers {
    pub(crate) dims: Vec<usize>,
    pub(crate) data: Arc<[i64]>,
}

/// Product of the sides; one that was made has few enough elements to count.
pub(crate) fn span(dims: &[usize]) -> usize {
    dims.iter().product()
}

/// The sides that two operands have together.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Outcome<Vec<usize>> {
    let rank = a.len().max(b.len());
    let side = |dims: &[usize], at: usize| (at + dims.len()).checked_sub(rank).map_or(1, |at| dims[at]);
    let joint = |at: usize| match (side(a, at), side(b, at)) {
        (a, b) if a == b => Ok(a),
        (1, b) => Ok(b),
        (a, 1) => Ok(a),
        _ => Err(format!("{a:?} and {b:?} do not fit together")),
    };
    (0..rank).map(joint).collect()
}

impl Integers {
    pub(crate) fn new(dims: Vec<usize>, data: Vec<i64>) -> Self {
        debug_assert_eq!(span(&dims), data.len(), "as many numbers as the sides span");
        Self { dims, data: data.into() }
    }

    pub(crate) fn list(data: Vec<i64>) -> Self {
        Self::new(vec![data.len()], data)
    }

    pub(crate) fn single(&self) -> Outcome<i64> {
        match *self.data {
            [number] => Ok(number),
            _ => Err(format!("one whole number is expected, and there are {}", self.data.len())),
        }
    }

    pub(crate) fn map(&self, change: impl Fn(i64) -> i64) -> Self {
        Self { dims: self.dims.clone(), data: self.data.iter().map(|&number| change(number)).collect() }
    }

    /// Numbers of this one at the places that `place` gives for each index of the result.
    fn arranged(&self, dims: Vec<usize>, place: impl Fn(&[usize]) -> usize) -> Outcome<Self> {
        let count = elements(&dims)?;
        let mut index = vec![0; dims.len()];
        let mut data = Vec::with_capacity(count);
        for _ in 0..count {
            data.push(self.data[place(&index)]);
            for (at, side) in index.iter_mut().zip(&dims).rev() {
                *at += 1;
                if *at < *side {
                    break;
                }
                *at = 0;
            }
        }
        Ok(Self::new(dims, data))
    }

    /// Distance in the list between neighbours along each side.
    fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.dims.len()];
        for at in (1..self.dims.len()).rev() {
            strides[at - 1] = strides[at] * self.dims[at];
        }
        strides
    }

    pub(crate) fn reshaped(&self, dims: Vec<usize>) -> Outcome<Self> {
        match elements(&dims)? == self.data.len() {
            true => Ok(Self { dims, data: self.data.clone() }),
            false => Err(format!("{:?} cannot take the shape {dims:?}", self.dims)),
        }
    }

    pub(crate) fn permuted(&self, axes: &[usize]) -> Outcome<Self> {
        let strides = self.strides();
        let dims = axes.iter().map(|&axis| self.dims[axis]).collect();
        self.arranged(dims, |index| index.iter().zip(axes).map(|(at, &axis)| at * strides[axis]).sum())
    }

    pub(crate) fn expanded(&self, dims: &[usize]) -> Outcome<Self> {
        let strides = self.strides();
        let new = dims.len().saturating_sub(self.dims.len());
        self.arranged(dims.to_vec(), |index| {
            let own = index[new..].iter().zip(&self.dims).zip(&strides);
            own.map(|((at, side), stride)| if *side == 1 { 0 } else { at * stride }).sum()
        })
    }

    pub(crate) fn selected(&self, axis: usize, places: &[usize]) -> Outcome<Self> {
        let strides = self.strides();
        let mut dims = self.dims.clone();
        dims[axis] = places.len();
        self.arranged(dims, |index| {
            let own = index.iter().zip(&strides).enumerate();
            own.map(|(side, (&at, stride))| if side == axis { places[at] * stride } else { at * stride }).sum()
        })
    }

    pub(crate) fn joined(all: &[Self], axis: usize) -> Outcome<Self> {
        let mut dims = all[0].dims.clone();
        dims[axis] = all.iter().map(|part| part.dims[axis]).sum();
        elements(&dims)?;
        let inner = |part: &Self| span(&part.dims[axis..]);
        let mut data = Vec::new();
        for outer in 0..span(&dims[..axis]) {
            for part in all {
                data.extend_from_slice(&part.data[outer * inner(part)..(outer + 1) * inner(part)]);
            }
        }
        Ok(Self::new(dims, data))
    }

    /// Two operands element by element.
    pub(crate) fn zip(&self, other: &Self, combine: impl Fn(i64, i64) -> Outcome<i64>) -> Outcome<Self> {
        let dims = broadcast(&self.dims, &other.dims)?;
        let (a, b) = (self.expanded(&dims)?, other.expanded(&dims)?);
        let data = a.data.iter().zip(b.data.iter()).map(|(&a, &b)| combine(a, b)).collect::<Outcome<Vec<_>>>()?;
        Ok(Self::new(dims, data))
    }

    /// The numbers as lengths of sides.
    pub(crate) fn sides(&self) -> Outcome<Vec<usize>> {
        let side = |&number: &i64| usize::try_from(number).map_err(|_| format!("{number} is no length of a side"));
        self.data.iter().map(side).collect()
    }
}

/// An axis that may count from the end.
pub(crate) fn axis(number: i64, rank: usize) -> Outcome<usize> {
    let from_start = if number < 0 { number.checked_add(rank as i64) } else { Some(number) };
    let axis = from_start.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
    axis.ok_or_else(|| format!("axis {number} does not exist among {rank}"))
}

/// Axes that may count from the end, in order and each once.
pub(crate) fn axes(numbers: &[i64], rank: usize) -> Outcome<Vec<usize>> {
    let mut axes = numbers.iter().map(|&number| axis(number, rank)).collect::<Outcome<Vec<_>>>()?;
    axes.sort_unstable();
    match axes.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(format!("an axis occurs twice in {numbers:?}")),
        false => Ok(axes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn six() -> Integers {
        Integers::new(vec![2, 3], vec![1, 2, 3, 4, 5, 6])
    }

    #[test]
    fn rearranging_goes_by_places() {
        assert_eq!(*six().permuted(&[1, 0]).unwrap().data, [1, 4, 2, 5, 3, 6]);
        assert_eq!(*six().selected(1, &[2, 0]).unwrap().data, [3, 1, 6, 4]);
        assert_eq!(*Integers::list(vec![7, 8]).expanded(&[2, 2]).unwrap().data, [7, 8, 7, 8]);
        assert_eq!(*Integers::joined(&[six(), six()], 1).unwrap().data, [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
    }

    #[test]
    fn sides_fit_together_or_not() {
        assert_eq!(broadcast(&[4, 1, 3], &[2, 1]).unwrap(), [4, 2, 3]);
        assert!(broadcast(&[2], &[3]).unwrap_err().contains("do not fit together"));
        let sum = six().zip(&Integers::list(vec![10, 20, 30]), |a, b| Ok(a + b)).unwrap();
        assert_eq!(*sum.data, [11, 22, 33, 14, 25, 36]);
    }

    #[test]
    fn axes_count_from_both_ends() {
        assert_eq!(axes(&[-1, 0], 3).unwrap(), [0, 2]);
        assert!(axis(3, 3).is_err() && axis(i64::MIN, 3).is_err() && axes(&[0, -3], 3).is_err());
    }
}
