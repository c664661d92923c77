//! Convolutions of images whose channels lie side by side.
//!
//! yₒ(p) = bₒ + Σ w_{o,c}(q) x_c(s p + q): with the channels of a pixel one behind the other, what a line of the window sees
//! is a single run of numbers, and a convolution is a product over as many runs as the window has lines. The way back to x
//! is the same with the weights turned, for a stride of s once for each of the s² kinds of pixels. Nothing of a row
//! depends on which rows lie beside it.

use crate::panels::{Panels, Places, Side, gathered, outer};

/// Places that are worked on at a time, of as many rows as that takes.
const PLACES: usize = 256;

/// Images of some rows, row after row, in a border of zeros.
#[derive(Clone, Debug)]
pub(crate) struct Images {
    rows: usize,
    size: [usize; 2],
    channels: usize,
    border: usize,
    /// `[rows, border + height + border, border + width + border, channels]`
    values: Vec<f32>,
}

impl Images {
    /// Zeros.
    pub fn zeros(rows: usize, size: [usize; 2], channels: usize, border: usize) -> Self {
        let places: usize = size.iter().map(|side| side + 2 * border).product();
        Self { rows, size, channels, border, values: vec![0.0; rows * places * channels] }
    }

    /// Images whose channels lie side by side.
    ///
    /// # Shapes
    /// - `x`: `[rows, height, width, channels]`
    pub fn from_pixels(x: &[f32], size: [usize; 2], channels: usize, border: usize) -> Self {
        let row = size[0] * size[1] * channels;
        let mut images = Self::zeros(x.len() / row.max(1), size, channels, border);
        let line = size[1] * channels;
        images.lines_mut().zip(x.chunks_exact(line.max(1))).for_each(|(to, from)| to.copy_from_slice(from));
        images
    }

    /// Channels side by side.
    ///
    /// # Shapes
    /// - returns: `[rows, height, width, channels]`
    #[cfg(test)]
    pub fn to_pixels(&self) -> Vec<f32> {
        let mut x = Vec::with_capacity(self.rows * self.size[0] * self.size[1] * self.channels);
        self.lines().for_each(|line| x.extend_from_slice(line));
        x
    }

    /// Images whose channels lie one behind the other.
    ///
    /// # Shapes
    /// - `x`: `[rows, channels, height, width]`
    pub fn from_planes(x: &[f32], size: [usize; 2], channels: usize, border: usize) -> Self {
        let [height, width] = size;
        let mut images = Self::zeros(x.len() / (height * width * channels).max(1), size, channels, border);
        for (line, to) in images.lines_mut().enumerate() {
            let (row, y) = (line / height, line % height);
            for channel in 0..channels {
                let from = ((row * channels + channel) * height + y) * width;
                let to = to[channel..].iter_mut().step_by(channels);
                to.zip(&x[from..from + width]).for_each(|(to, from)| *to = *from);
            }
        }
        images
    }

    /// Channels one behind the other.
    ///
    /// # Shapes
    /// - returns: `[rows, channels, height, width]`
    pub fn to_planes(&self) -> Vec<f32> {
        let ([height, width], channels) = (self.size, self.channels);
        let mut x = vec![0.0; self.rows * channels * height * width];
        for (line, from) in self.lines().enumerate() {
            let (row, y) = (line / height, line % height);
            for channel in 0..channels {
                let to = ((row * channels + channel) * height + y) * width;
                let from = from[channel..].iter().step_by(channels);
                x[to..to + width].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
        x
    }

    /// All numbers, zeros of the border among them.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Height and width.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// All numbers, zeros of the border among them.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The same, to be changed one by one; what is 0 in the border has to stay so.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The lines of all images, from top to bottom, without their border.
    pub fn lines(&self) -> impl Iterator<Item = &[f32]> {
        let (of_row, of_line, line) = self.strides();
        let (height, border, channels) = (self.size[0], self.border, self.channels);
        let at = move |line: usize| (line / height) * of_row + (line % height + border) * of_line + border * channels;
        (0..self.rows * height).map(move |number| &self.values[at(number)..at(number) + line])
    }

    /// The same, to be changed.
    pub fn lines_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        let (of_row, of_line, line) = self.strides();
        let (height, border, from) = (self.size[0], self.border, self.border * self.channels);
        let rows = self.values.chunks_exact_mut(of_row.max(1));
        let lines = rows.flat_map(move |row| row.chunks_exact_mut(of_line.max(1)).skip(border).take(height));
        lines.map(move |all| &mut all[from..from + line])
    }

    /// Numbers from row to row and from line to line, and those of a line without its border.
    fn strides(&self) -> (usize, usize, usize) {
        let of_line = (self.size[1] + 2 * self.border) * self.channels;
        ((self.size[0] + 2 * self.border) * of_line, of_line, self.size[1] * self.channels)
    }

    /// Where the pixels begin that are `step` apart, from `first` on, of `rows` rows; `first` counts from the border on.
    fn places(&self, rows: usize, first: [usize; 2], step: usize, count: [usize; 2]) -> Vec<usize> {
        let (of_row, of_line, _) = self.strides();
        let mut places = Vec::with_capacity(rows * count[0] * count[1]);
        for row in 0..rows {
            for y in 0..count[0] {
                let line = row * of_row + (first[0] + y * step) * of_line + first[1] * self.channels;
                places.extend((0..count[1]).map(|x| line + x * step * self.channels));
            }
        }
        places
    }
}

/// A window of odd sides that moves over an image in steps, so that both sides are divided by the step, rounding up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Of the image that it sees.
    pub inputs: usize,
    /// Of the image that it makes.
    pub outputs: usize,
    pub side: usize,
    pub stride: usize,
}

/// Weights as the way back reads them: for each kind of pixel those that reach it.
#[derive(Clone, Debug)]
pub(crate) struct Turned(Vec<Phase>);

/// The pixels whose position leaves the same rest after a division by the stride.
#[derive(Clone, Debug)]
struct Phase {
    /// The first of these pixels.
    rest: [usize; 2],
    /// How many places see such a pixel, along each axis.
    taps: [usize; 2],
    /// How far the first of these places lies behind the pixel's own, counted from a border as wide as the padding.
    shift: [usize; 2],
    panels: Panels,
}

impl Window {
    fn padding(&self) -> usize {
        self.side / 2
    }

    /// The size of what is made of an image of this size.
    pub fn size(&self, [height, width]: [usize; 2]) -> [usize; 2] {
        [height.div_ceil(self.stride), width.div_ceil(self.stride)]
    }

    /// # Shapes
    /// - `weight`: `[outputs, inputs, side, side]`
    pub fn panels(&self, weight: &[f32]) -> Panels {
        let Self { inputs, outputs, side, .. } = *self;
        let square = side * side;
        Panels::new(square * inputs, outputs, |at, output| {
            weight[(output * inputs + at % inputs) * square + at / inputs]
        })
    }

    /// # Shapes
    /// - `weight`: `[outputs, inputs, side, side]`
    pub fn turned(&self, weight: &[f32]) -> Turned {
        let Self { inputs, outputs, side, stride } = *self;
        // The lines of the window that see a pixel of this rest, the last one first: it is where the first place is.
        let seeing = |rest: usize| -> Vec<usize> {
            let sees = |tap: &usize| (rest + self.padding() + side * stride - tap).is_multiple_of(stride);
            (0..side).rev().filter(sees).collect()
        };
        let phase = |rest: [usize; 2]| {
            let [down, across] = rest.map(seeing);
            let taps = [down.len(), across.len()];
            let shift = |axis: usize, first: Option<&usize>| {
                // rest + padding − tap is at least −(side − 1) + padding = −padding.
                first.map_or(0, |tap| (rest[axis] + self.padding() + self.padding() * stride - tap) / stride)
            };
            let shift = [shift(0, down.first()), shift(1, across.first())];
            let panels = Panels::new(taps[0] * taps[1] * outputs, inputs, |at, input| {
                let (tap, output) = (at / outputs, at % outputs);
                let (y, x) = (down[tap / taps[1]], across[tap % taps[1]]);
                weight[((output * inputs + input) * side + y) * side + x]
            });
            Phase { rest, taps, shift, panels }
        };
        Turned((0..stride * stride).map(|at| phase([at / stride, at % stride])).collect())
    }

    /// Writes, or adds, b + Σ w x to `out`.
    pub fn forward(&self, panels: &Panels, bias: Option<&[f32]>, x: &Images, out: &mut Images, add: bool) {
        assert_eq!((self.size(x.size), x.rows, self.outputs), (out.size, out.rows, out.channels), "an image fits");
        assert!(x.border >= self.padding() && x.channels == self.inputs, "a window sees its channels and a border");
        let group = group(x.rows, out.size);
        let starts = x.places(group, [x.border - self.padding(); 2], self.stride, out.size);
        let ends = out.places(group, [out.border; 2], 1, out.size);
        let (of_row, of_line, _) = x.strides();
        let runs: Vec<usize> = (0..self.side).map(|line| line * of_line).collect();
        let (of_out, count) = (out.strides().0, out.size[0] * out.size[1]);
        for (x, out) in x.values.chunks(group * of_row).zip(out.values.chunks_mut(group * of_out)) {
            let count = x.len() / of_row * count;
            let (starts, ends) = (&starts[..count], &ends[..count]);
            let places = Places { starts, ends, runs: &runs, len: self.side * self.inputs };
            gathered(panels, bias, x, places, out, add);
        }
    }

    /// Writes, or adds, b + Σ wᵀ g to `out`, which is the size of x; where nothing sees a pixel, `out` stays as it is.
    pub fn back(&self, turned: &Turned, bias: Option<&[f32]>, g: &Images, out: &mut Images, add: bool) {
        assert_eq!((self.size(out.size), g.rows, self.inputs), (g.size, out.rows, out.channels), "an image fits");
        assert!(
            g.border >= self.padding() && g.channels == self.outputs,
            "the way back sees its channels and a border"
        );
        let (of_row, of_line, _) = g.strides();
        let out_row = out.strides().0;
        for Phase { rest, taps, shift, panels } in &turned.0 {
            let count: [usize; 2] =
                std::array::from_fn(|axis| out.size[axis].saturating_sub(rest[axis]).div_ceil(self.stride));
            if taps.contains(&0) || count.contains(&0) {
                continue;
            }
            let group = group(g.rows, count);
            let first = shift.map(|shift| g.border - self.padding() + shift);
            let starts = g.places(group, first, 1, count);
            let ends = out.places(group, rest.map(|rest| out.border + rest), self.stride, count);
            let runs: Vec<usize> = (0..taps[0]).map(|line| line * of_line).collect();
            let places = count[0] * count[1];
            for (g, out) in g.values.chunks(group * of_row).zip(out.values.chunks_mut(group * out_row)) {
                let count = g.len() / of_row * places;
                let (starts, ends) = (&starts[..count], &ends[..count]);
                gathered(panels, bias, g, Places { starts, ends, runs: &runs, len: taps[1] * self.outputs }, out, add);
            }
        }
    }

    /// Σ over rows and places of what the window sees times g: the gradient of its weights.
    ///
    /// # Shapes
    /// - returns: `[outputs, inputs, side, side]`
    pub fn weights(&self, x: &Images, g: &Images) -> Vec<f32> {
        let Self { inputs, outputs, side, stride } = *self;
        let group = group(x.rows, g.size);
        let ends = g.places(group, [g.border; 2], 1, g.size);
        let (of_row, of_line, _) = x.strides();
        let len = side * inputs;
        let mut sums = vec![0.0; side * len * outputs];
        let starts: Vec<Vec<usize>> = (0..side)
            .map(|line| {
                let mut starts = x.places(group, [x.border - self.padding(); 2], stride, g.size);
                starts.iter_mut().for_each(|start| *start += line * of_line);
                starts
            })
            .collect();
        for (x, g_values) in x.values.chunks(group * of_row).zip(g.values.chunks(group * g.strides().0)) {
            let count = x.len() / of_row * g.size[0] * g.size[1];
            for (starts, sums) in starts.iter().zip(sums.chunks_exact_mut(len * outputs)) {
                let seen = Side { values: x, starts: &starts[..count], len };
                outer(seen, Side { values: g_values, starts: &ends[..count], len: outputs }, sums);
            }
        }
        let square = side * side;
        let mut gradient = vec![0.0; sums.len()];
        for (at, sums) in sums.chunks_exact(outputs.max(1)).enumerate() {
            let (tap, input) = (at / inputs, at % inputs);
            for (output, &sum) in sums.iter().enumerate() {
                gradient[(output * inputs + input) * square + tap] = sum;
            }
        }
        gradient
    }
}

/// Rows whose places are worked on together.
fn group(rows: usize, count: [usize; 2]) -> usize {
    PLACES.div_ceil((count[0] * count[1]).max(1)).min(rows.max(1))
}

/// Σ over rows and places of each channel: the gradient of a bias.
pub(crate) fn summed(g: &Images) -> Vec<f32> {
    let mut sums = vec![0.0; g.channels];
    crate::lanes::vectorised(
        #[inline(always)]
        || {
            for line in g.lines() {
                // Line by line, so that few large numbers do not swallow many small ones.
                let mut own = vec![0.0f32; g.channels];
                for pixel in line.chunks_exact(g.channels) {
                    own.iter_mut().zip(pixel).for_each(|(sum, g)| *sum += g);
                }
                sums.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
            }
        },
    );
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use rand_distr::{Distribution, StandardNormal};

    fn draws(len: usize, name: &str) -> Vec<f32> {
        StandardNormal.sample_iter(Seed(1).stream(name)).take(len).collect()
    }

    /// The window, size and number of rows of awkward cases.
    fn cases() -> Vec<(Window, [usize; 2], usize)> {
        let window = |inputs, outputs, side, stride| Window { inputs, outputs, side, stride };
        vec![
            (window(1, 1, 3, 1), [1, 1], 1),
            (window(1, 3, 3, 2), [5, 4], 2),
            (window(3, 16, 3, 2), [7, 7], 3),
            (window(16, 17, 3, 1), [4, 5], 2),
            (window(4, 33, 1, 2), [5, 3], 3),
            (window(2, 5, 1, 1), [3, 3], 1),
            (window(2, 3, 5, 1), [3, 6], 2),
            (window(2, 3, 5, 2), [1, 2], 2),
            (window(3, 2, 3, 3), [7, 5], 2),
            (window(20, 8, 3, 2), [2, 2], 140),
        ]
    }

    /// y, number by number.
    fn slowly(window: &Window, weight: &[f32], x: &Images) -> Vec<f64> {
        let Window { inputs, outputs, side, stride } = *window;
        let ([height, width], planes) = (x.size, x.to_planes());
        let [down, across] = window.size(x.size);
        let mut y = Vec::new();
        for row in 0..x.rows {
            for output in 0..outputs {
                for at in 0..down * across {
                    let mut sum = 0.0;
                    for term in 0..inputs * side * side {
                        let (input, tap) = (term / (side * side), term % (side * side));
                        let py = (at / across * stride + tap / side).wrapping_sub(side / 2);
                        let px = (at % across * stride + tap % side).wrapping_sub(side / 2);
                        if py < height && px < width {
                            let x = planes[((row * inputs + input) * height + py) * width + px];
                            sum += f64::from(x) * f64::from(weight[output * inputs * side * side + term]);
                        }
                    }
                    y.push(sum);
                }
            }
        }
        y
    }

    fn dot(a: &[f32], b: &[f32]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn a_convolution_is_its_definition() {
        for (window, size, rows) in cases() {
            let x = draws(rows * size[0] * size[1] * window.inputs, "x");
            let weight = draws(window.outputs * window.inputs * window.side * window.side, "weight");
            let bias = draws(window.outputs, "bias");
            for border in [window.padding(), window.padding() + 1] {
                let x = Images::from_planes(&x, size, window.inputs, border);
                let mut y = Images::zeros(rows, window.size(size), window.outputs, border);
                window.forward(&window.panels(&weight), Some(&bias), &x, &mut y, false);
                window.forward(&window.panels(&weight), None, &x, &mut y, true);
                let places: usize = window.size(size).iter().product();
                for (at, (got, expected)) in y.to_planes().iter().zip(slowly(&window, &weight, &x)).enumerate() {
                    let expected = 2.0 * expected + f64::from(bias[at / places % window.outputs]);
                    assert!((f64::from(*got) - expected).abs() < 1e-4, "{window:?} {size:?}: {got} {expected}");
                }
                let written = |values: &[f32]| values.iter().filter(|value| value.abs() > 0.0).count();
                assert_eq!(written(y.values()), written(&y.to_planes()), "the border stays 0");
            }
        }
    }

    #[test]
    fn the_way_back_and_the_weights_are_what_a_product_with_a_direction_says() {
        // ⟨g, C(w) x⟩ = ⟨Cᵀ(w) g, x⟩ = ⟨∂w, w⟩, since a convolution is linear in both, for any g, w and x.
        for (window, size, rows) in cases() {
            let border = window.padding();
            let x = draws(rows * size[0] * size[1] * window.inputs, "x");
            let x = Images::from_pixels(&x, size, window.inputs, border);
            let made = window.size(size);
            let g = draws(rows * made[0] * made[1] * window.outputs, "g");
            let g = Images::from_pixels(&g, made, window.outputs, border);
            let len = window.outputs * window.inputs * window.side * window.side;
            let gradient = window.weights(&x, &g);
            for draw in ["weight", "another weight"] {
                let weight = draws(len, draw);
                let mut y = Images::zeros(rows, made, window.outputs, 0);
                window.forward(&window.panels(&weight), None, &x, &mut y, false);
                let mut back = Images::zeros(rows, size, window.inputs, 1);
                window.back(&window.turned(&weight), None, &g, &mut back, false);
                let expected = dot(&g.to_pixels(), &y.to_pixels());
                let scale = dot(&y.to_pixels(), &y.to_pixels()).sqrt() * dot(g.values(), g.values()).sqrt();
                for got in [dot(&back.to_pixels(), &x.to_pixels()), dot(&gradient, &weight)] {
                    assert!((got - expected).abs() < 1e-6 * scale + 1e-6, "{window:?} {size:?}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_alone_and_among_others() {
        for (window, size, rows) in cases() {
            let (len, border) = (size[0] * size[1] * window.inputs, window.padding());
            let x = draws(rows * len, "x");
            let weight = draws(window.outputs * window.inputs * window.side * window.side, "weight");
            let both = |x: &[f32]| {
                let x = Images::from_pixels(x, size, window.inputs, border);
                let mut y = Images::zeros(x.rows, window.size(size), window.outputs, border);
                window.forward(&window.panels(&weight), None, &x, &mut y, false);
                let mut back = Images::zeros(x.rows, size, window.inputs, 0);
                window.back(&window.turned(&weight), None, &y, &mut back, false);
                (y.to_pixels(), back.to_pixels())
            };
            let together = both(&x);
            for (row, x) in x.chunks_exact(len).enumerate() {
                let alone = both(x);
                for (alone, together) in [(alone.0, &together.0), (alone.1, &together.1)] {
                    assert_eq!(alone, together[row * alone.len()..(row + 1) * alone.len()]);
                }
            }
        }
    }

    #[test]
    fn images_come_back_as_they_were() {
        let x = draws(3 * 4 * 5 * 2, "x");
        for border in [0, 2] {
            assert_eq!(Images::from_planes(&x, [4, 5], 2, border).to_planes(), x);
            assert_eq!(Images::from_pixels(&x, [4, 5], 2, border).to_pixels(), x);
        }
        // Two channels of two pixels: 1 2 | 3 4 become 1 3 2 4.
        assert_eq!(Images::from_planes(&[1.0, 2.0, 3.0, 4.0], [1, 2], 2, 1).to_pixels(), [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(summed(&Images::from_planes(&[1.0, 2.0, 3.0, 4.0], [1, 2], 2, 1)), [3.0, 7.0]);
    }
}
