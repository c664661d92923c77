//! A convolution as one product of matrices over many rows.
//!
//! What the window sees at each of its places is a column; the weights times all columns are the answer, and their
//! transpose times its gradient is the gradient of the columns. The kernel of the backend multiplies row by row, which
//! costs more where an image is small and the weights are many: they are read anew for every row.

use cluekit::tensor::{PullBack, Tensor, is_tracked, pulled_back, tensor, values};
use std::sync::Arc;

/// Numbers in the columns of one product: few enough to stay near the processor.
const AT_ONCE: usize = 1 << 19;

/// Places of a window above which an image is large enough for the kernel of the backend.
const MOST_PLACES: usize = 256;

/// Numbers under a window below which a product is not worth its columns.
const FEWEST_WEIGHTS: usize = 64;

/// Where a window goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    /// Channels, height and width of the input.
    pub(super) input: [usize; 3],
    pub(super) kernel: [usize; 2],
    pub(super) stride: [usize; 2],
    pub(super) dilation: [usize; 2],
    /// In front of each axis.
    pub(super) before: [usize; 2],
    /// Places along each axis.
    pub(super) places: [usize; 2],
}

impl Geometry {
    /// Whether a product over many rows is the faster way.
    pub(super) fn pays(&self) -> bool {
        self.count() <= MOST_PLACES && self.height() >= FEWEST_WEIGHTS
    }

    /// Numbers of a column.
    fn height(&self) -> usize {
        self.input[0] * self.kernel[0] * self.kernel[1]
    }

    /// Places of the window.
    fn count(&self) -> usize {
        self.places[0] * self.places[1]
    }

    /// Numbers of a row.
    fn width(&self) -> usize {
        self.input.iter().product()
    }

    /// Rows whose columns are made at once.
    fn rows_at_once(&self) -> usize {
        (AT_ONCE / (self.height() * self.count())).max(1)
    }

    /// Calls `visit` with the position in the columns and in a row, and with a count, of each run of numbers that a window
    /// sees side by side; the numbers of the row are `stride` apart.
    fn runs(&self, rows: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let [channels, height, width] = self.input;
        let [down, across] = self.places;
        let columns = rows * self.count();
        let mut line = 0;
        for channel in 0..channels {
            for ky in 0..self.kernel[0] {
                for kx in 0..self.kernel[1] {
                    // The first and the last place at which this number of the window lies within the image.
                    let shift = kx * self.dilation[1];
                    let first = self.before[1].saturating_sub(shift).div_ceil(self.stride[1]);
                    let reach = (width + self.before[1]).saturating_sub(shift);
                    let end = reach.div_ceil(self.stride[1]).min(across);
                    for row in 0..rows {
                        for y in 0..down {
                            let above = y * self.stride[0] + ky * self.dilation[0];
                            if first >= end || above < self.before[0] || above - self.before[0] >= height {
                                continue;
                            }
                            let left = first * self.stride[1] + shift - self.before[1];
                            let from = ((row * channels + channel) * height + above - self.before[0]) * width + left;
                            visit(line * columns + (row * down + y) * across + first, from, end - first);
                        }
                    }
                    line += 1;
                }
            }
        }
    }

    /// What the window sees: `[height, rows · places]`.
    fn columns(&self, x: &[f32], rows: usize) -> Vec<f32> {
        let mut columns = vec![0.0; self.height() * rows * self.count()];
        let stride = self.stride[1];
        self.runs(rows, |to, from, count| {
            let target = &mut columns[to..to + count];
            match stride {
                1 => target.copy_from_slice(&x[from..from + count]),
                _ => target.iter_mut().zip(x[from..].iter().step_by(stride)).for_each(|(to, from)| *to = *from),
            }
        });
        columns
    }

    /// Adds up what columns say about a row: the transpose of [`Self::columns`].
    fn summed(&self, columns: &[f32], rows: usize) -> Vec<f32> {
        let mut x = vec![0.0; rows * self.width()];
        let stride = self.stride[1];
        self.runs(rows, |at, to, count| {
            let target = x[to..].iter_mut().step_by(stride);
            target.zip(&columns[at..at + count]).for_each(|(to, from)| *to += from);
        });
        x
    }
}

/// `[rows, channels, places]` as `[channels, rows · places]`, or back.
fn turned(numbers: &[f32], outer: usize, inner: usize, count: usize) -> Vec<f32> {
    let mut turned = vec![0.0; numbers.len()];
    for a in 0..outer {
        for b in 0..inner {
            let (from, to) = ((a * inner + b) * count, (b * outer + a) * count);
            turned[to..to + count].copy_from_slice(&numbers[from..from + count]);
        }
    }
    turned
}

/// The convolution of all rows; none where its weights are to be differentiated too.
///
/// # Shapes
/// - `x`: `[rows, channels, height, width]`, `weight`: `[out, channels, kernel…]`, `bias`: `[out]`
/// - returns: `[rows, out, places…]`
pub(super) fn convolved(
    x: &Tensor<4>,
    weight: &Tensor<4>,
    bias: Option<&Tensor<1>>,
    geometry: Geometry,
) -> Option<Tensor<4>> {
    if is_tracked(weight) || bias.is_some_and(is_tracked) {
        return None;
    }
    let (rows, out) = (x.dims()[0], weight.dims()[0]);
    let (width, count) = (geometry.width(), geometry.count());
    let weight: Tensor<2> = weight.clone().reshape([out, geometry.height()]);
    let x: Tensor<2> = x.clone().reshape([rows, width]);
    let numbers = values(x.clone());
    let mut answer = Vec::with_capacity(rows * out * count);
    for piece in numbers.chunks(geometry.rows_at_once() * width) {
        let rows = piece.len() / width;
        let columns = tensor(geometry.columns(piece, rows), [geometry.height(), rows * count]);
        answer.extend(turned(&values(weight.clone().matmul(columns)), out, rows, count));
    }
    if let Some(bias) = bias {
        let bias = values(bias.clone());
        for (channel, place) in answer.chunks_exact_mut(count).enumerate() {
            let bias = bias[channel % out];
            place.iter_mut().for_each(|number| *number += bias);
        }
    }
    let back = weight.transpose();
    let pull_back: PullBack = Arc::new(move |cotangent| {
        let mut gradient = Vec::with_capacity(rows * width);
        for piece in cotangent.chunks(geometry.rows_at_once() * out * count) {
            let rows = piece.len() / (out * count);
            let slopes = tensor(turned(piece, rows, out, count), [out, rows * count]);
            gradient.extend(geometry.summed(&values(back.clone().matmul(slopes)), rows));
        }
        Ok(gradient)
    });
    Some(pulled_back(&x, answer, [rows, out, geometry.places[0], geometry.places[1]], pull_back))
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_tensor::module;
    use burn_tensor::ops::ConvOptions;
    use cluekit::tensor::{gradients, leaf};

    fn ramp(count: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * 37 % 23) as f32 - 11.0) / 7.0).collect()
    }

    #[test]
    fn a_product_over_rows_is_the_convolution_of_the_backend() {
        for (kernel, stride, dilation, pads) in [
            ([3, 3], [1, 1], [1, 1], [[1, 1], [1, 1]]),
            ([3, 2], [2, 3], [1, 2], [[0, 2], [3, 1]]),
            ([1, 1], [2, 2], [1, 1], [[0, 0], [0, 0]]),
            ([4, 5], [1, 2], [2, 1], [[5, 0], [0, 4]]),
        ] {
            let (input, sides) = ([2, 9, 8], [9, 8]);
            let places: [usize; 2] = std::array::from_fn(|axis| {
                let reach = (kernel[axis] - 1) * dilation[axis] + 1;
                (sides[axis] + pads[axis][0] + pads[axis][1] - reach) / stride[axis] + 1
            });
            let before = pads.map(|pad: [usize; 2]| pad[0]);
            let geometry = Geometry { input, kernel, stride, dilation, before, places };
            let weight = tensor(ramp(3 * geometry.height()), [3, 2, kernel[0], kernel[1]]);
            let bias = tensor(vec![0.5, -1.0, 2.0], [3]);
            let weighing = tensor(ramp(4 * 3 * geometry.count()), [4, 3, places[0], places[1]]);
            let both = [true, false].map(|own| {
                let x = leaf(ramp(4 * 144), [4, 2, 9, 8]);
                let y = match own {
                    true => convolved(&x, &weight, Some(&bias), geometry).unwrap(),
                    false => {
                        let padding = pads.map(|[before, after]| (before, after));
                        let options = ConvOptions::new_with_padding(stride, padding, dilation, 1);
                        module::conv2d(x.clone(), weight.clone(), Some(bias.clone()), options)
                    }
                };
                let slope = gradients(&(y.clone() * weighing.clone()).sum(), &[x]).unwrap().concat();
                [values(y), slope].concat()
            });
            assert_eq!(both[0].len(), both[1].len());
            assert!(both[0].iter().zip(&both[1]).all(|(a, b)| (a - b).abs() < 1e-3), "kernel {kernel:?}");
        }
    }
}
