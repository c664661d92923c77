//! Products of weights with rows: each row is a lane of the processor's registers, or, where rows are few, each output.
//!
//! yⱼ = bⱼ + Σₖ wⱼₖ xₖ, where xₖ and yⱼ are numbers of up to [`BLOCK`] rows side by side. Up to [`FEW`] rows lie one behind
//! the other: then a product takes as long as reading its weights does. The sums of a row are the same to the bit whichever
//! rows lie beside it, and however many.

use crate::panels::{Panels, multiplied};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::mem::take;

/// Rows that lie side by side: three of the widest registers.
pub(crate) const BLOCK: usize = 48;
/// Rows are filled up to a multiple of this: the widest register.
pub(crate) const LANE: usize = 16;
/// Outputs of one tile at the most: with three registers of rows each they fill a file of 32 registers.
const TILE: usize = 8;

/// Rows that are so few that they lie one behind the other.
const FEW: usize = 8;

/// Some rows of `features` numbers, block after block; in a block feature after feature, and there row beside row. Few rows
/// lie one behind the other.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    rows: usize,
    features: usize,
    values: Vec<f32>,
}

impl Lanes {
    /// Zeros.
    pub fn zeros(rows: usize, features: usize) -> Self {
        let lanes = if rows <= FEW { rows } else { rows.next_multiple_of(LANE) };
        Self { rows, features, values: vec![0.0; lanes * features] }
    }

    /// Rows that lie one behind the other.
    ///
    /// # Shapes
    /// - `x`: `[rows, features]`
    pub fn from_rows(x: &[f32], features: usize) -> Self {
        let mut lanes = Self::zeros(x.len() / features, features);
        if lanes.rows <= FEW {
            lanes.values.copy_from_slice(x);
            return lanes;
        }
        for (rows, (block, width)) in x.chunks(BLOCK * features).zip(blocks_mut(&mut lanes.values, features)) {
            // A line of the cache at a time, so that neither side is walked through in long strides.
            for first in (0..features).step_by(LANE) {
                let last = features.min(first + LANE);
                for (lane, row) in rows.chunks_exact(features).enumerate() {
                    let lanes = block[first * width + lane..].iter_mut().step_by(width);
                    lanes.zip(&row[first..last]).for_each(|(lane, value)| *lane = *value);
                }
            }
        }
        lanes
    }

    /// The rows one behind the other.
    ///
    /// # Shapes
    /// - returns: `[rows, features]`
    pub fn to_rows(&self) -> Vec<f32> {
        if self.rows <= FEW {
            return self.values.clone();
        }
        let mut x = vec![0.0; self.rows * self.features];
        for (rows, (block, width)) in x.chunks_mut(BLOCK * self.features).zip(blocks(&self.values, self.features)) {
            for first in (0..self.features).step_by(LANE) {
                let last = self.features.min(first + LANE);
                for (lane, row) in rows.chunks_exact_mut(self.features).enumerate() {
                    let lanes = block[first * width + lane..].iter().step_by(width);
                    row[first..last].iter_mut().zip(lanes).for_each(|(value, lane)| *value = *lane);
                }
            }
        }
        x
    }

    /// All numbers, those of the rows that fill up the last register among them.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The same, to be changed one by one.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// W x + b of every row; without a bias W x.
    pub fn linear(&self, weight: &Panels, bias: Option<&[f32]>) -> Self {
        let mut out = Self::zeros(self.rows, weight.outputs());
        out.add_product(weight, bias, self, false);
        out
    }

    /// Adds W x + b of every row; without a bias W x.
    pub fn add_linear(&mut self, weight: &Panels, bias: Option<&[f32]>, x: &Self) {
        self.add_product(weight, bias, x, true);
    }

    fn add_product(&mut self, weight: &Panels, bias: Option<&[f32]>, x: &Self, add: bool) {
        let sizes = (weight.inputs(), weight.outputs(), self.rows);
        assert_eq!(sizes, (x.features, self.features, x.rows), "the sizes of a product fit each other");
        match self.rows <= FEW {
            true => multiplied(weight, bias, &x.values, &mut self.values, add),
            false => Arch::new().dispatch(Product { weight, bias, add, x: &x.values, out: &mut self.values }),
        }
    }
}

/// The sum of rows with rows of the same size.
pub(crate) fn sum(mut a: Lanes, b: &Lanes) -> Lanes {
    vectorised(
        #[inline(always)]
        || a.values.iter_mut().zip(&b.values).for_each(|(a, b)| *a += b),
    );
    a
}

/// The blocks of rows of `features` numbers, each with its number of lanes.
fn blocks(values: &[f32], features: usize) -> impl Iterator<Item = (&[f32], usize)> {
    values.chunks(BLOCK * features).map(move |block| (block, block.len() / features))
}

fn blocks_mut(values: &mut [f32], features: usize) -> impl Iterator<Item = (&mut [f32], usize)> {
    values.chunks_mut(BLOCK * features).map(move |block| {
        let width = block.len() / features;
        (block, width)
    })
}

/// `work` on slices, compiled for what the processor has.
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// W x + b, or what was there plus W x, of all blocks.
struct Product<'a> {
    weight: &'a Panels,
    bias: Option<&'a [f32]>,
    add: bool,
    x: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Product { weight, bias, add, x, out } = self;
        let (inputs, outputs) = (weight.inputs(), weight.outputs());
        let most = if S::REGISTER_COUNT >= 32 { TILE } else { TILE / 2 };
        let mut first = 0;
        while first < outputs {
            // The largest tile that is left: 8, 4, 2 or 1 outputs.
            let tile = most.min(1 << (outputs - first).ilog2());
            let bias = bias.map(|bias| &bias[first..first + tile]);
            // The next panel is fetched while this one is multiplied, a half of it with each half of this one.
            let half = first % LANE / TILE * TILE * inputs;
            let next = first / LANE * LANE + LANE;
            let mut ahead = if next < outputs { &weight.of_outputs(next)[half..half + TILE * inputs] } else { &[] };
            let weight = weight.of_outputs(first);
            for ((x, width), (out, _)) in blocks(x, inputs).zip(blocks_mut(out, outputs)) {
                let out = &mut out[first * width..(first + tile) * width];
                let (x, out) = (S::as_simd_f32s(x).0, S::as_mut_simd_f32s(out).0);
                let at = Tile { weight, bias, add, x, registers: width / S::F32_LANES, ahead: take(&mut ahead) };
                match tile {
                    8 => at.all::<S, 8>(simd, out),
                    4 => at.all::<S, 4>(simd, out),
                    2 => at.all::<S, 2>(simd, out),
                    _ => at.all::<S, 1>(simd, out),
                }
            }
            first += tile;
        }
    }
}

/// A few outputs of one block.
#[derive(Clone, Copy)]
struct Tile<'a, V> {
    /// Those of the first output lie [`LANE`] apart, with those of the others behind them.
    weight: &'a [f32],
    bias: Option<&'a [f32]>,
    add: bool,
    x: &'a [V],
    /// Registers that hold the rows of the block.
    registers: usize,
    /// Numbers that are fetched from memory on the way.
    ahead: &'a [f32],
}

impl<V: Copy> Tile<'_, V> {
    /// `T` outputs of all rows, three registers at a time.
    #[inline(always)]
    fn all<S: Simd<f32s = V>, const T: usize>(mut self, simd: S, out: &mut [V]) {
        let mut at = 0;
        while at < self.registers {
            match self.registers - at {
                1 => self.some::<S, T, 1>(simd, at, out),
                2 => self.some::<S, T, 2>(simd, at, out),
                _ => self.some::<S, T, 3>(simd, at, out),
            }
            self.ahead = &[];
            at += 3;
        }
    }

    /// `T` outputs of the rows in `R` registers from `at` on.
    #[inline(always)]
    fn some<S: Simd<f32s = V>, const T: usize, const R: usize>(self, simd: S, at: usize, out: &mut [V]) {
        let Tile { weight, bias, add, x, registers, ahead } = self;
        let mut sums: [[V; R]; T] = std::array::from_fn(|t| [simd.splat_f32s(bias.map_or(0.0, |bias| bias[t])); R]);
        for (k, (x, weight)) in x.chunks_exact(registers).zip(weight.chunks(LANE)).enumerate() {
            if let Some(number) = ahead.get(k * TILE) {
                black_box(*number);
            }
            let (x, weight) = (&x[at..at + R], &weight[..T]);
            for t in 0..T {
                let weight = simd.splat_f32s(weight[t]);
                for r in 0..R {
                    sums[t][r] = simd.mul_add_e_f32s(weight, x[r], sums[t][r]);
                }
            }
        }
        for t in 0..T {
            for r in 0..R {
                let out = &mut out[t * registers + at + r];
                *out = if add { simd.add_f32s(*out, sums[t][r]) } else { sums[t][r] };
            }
        }
    }
}

/// eˣ to the last bit or two, in a form that the compiler turns into vectors: x = n ln 2 + r, eˣ = 2ⁿ eʳ.
#[inline(always)]
pub(crate) fn exponential(x: f32) -> f32 {
    /// Adding and taking away this rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts, of which the first has few digits: n times it is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let x = x.clamp(-87.0, 88.0);
    // The whole number stands in the last bits of the rounded sum.
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = (x - n * LN_2[0]) - n * LN_2[1];
    // The polynomial of Cephes for eʳ on |r| ≤ ½ ln 2.
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 0.166_666_65;
    let p = p * r + 0.5;
    let p = p * r * r + r + 1.0;
    p * f32::from_bits(rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23)
}

/// σ(x) = 1 / (1 + e⁻ˣ).
#[inline(always)]
pub(crate) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exponential(-x))
}

/// log(1 + eˣ) = max(x, 0) + log(1 + e^−|x|).
#[inline(always)]
pub(crate) fn softplus(x: f32) -> f32 {
    x.max(0.0) + log_of_sum(exponential(-x.abs()))
}

/// log(1 + y) for y between 0 and 1, right to some 10⁻⁷: 2 artanh(y / (2 + y)).
#[inline(always)]
fn log_of_sum(y: f32) -> f32 {
    let t = y / (2.0 + y);
    let square = t * t;
    // Σ t^(2k + 1) / (2k + 1), t ≤ 1/3: the next term is below 3⁻¹⁵ / 15.
    let series = 1.0 / 13.0;
    let series = series * square + 1.0 / 11.0;
    let series = series * square + 1.0 / 9.0;
    let series = series * square + 1.0 / 7.0;
    let series = series * square + 1.0 / 5.0;
    let series = series * square + 1.0 / 3.0;
    2.0 * t * (series * square + 1.0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "the same sums have the same bits")]

    use super::*;
    use crate::seed::Seed;
    use rand_distr::{Distribution, StandardNormal};

    fn draws(len: usize, name: &str) -> Vec<f32> {
        StandardNormal.sample_iter(Seed(1).stream(name)).take(len).collect()
    }

    #[test]
    fn a_product_by_hand() {
        // Rows (1, 2) and (3, 4); W = (1 10; 100 0; 0 1), b = (5, 6, 7).
        let x = Lanes::from_rows(&[1.0, 2.0, 3.0, 4.0], 2);
        let weight = Panels::of_columns(&[1.0, 10.0, 100.0, 0.0, 0.0, 1.0], 2);
        assert_eq!(x.linear(&weight, Some(&[5.0, 6.0, 7.0])).to_rows(), [26.0, 106.0, 9.0, 48.0, 306.0, 11.0]);
        let mut sum = Lanes::from_rows(&[0.5; 6], 3);
        sum.add_linear(&weight, None, &x);
        assert_eq!(sum.to_rows(), [21.5, 100.5, 2.5, 43.5, 300.5, 4.5]);
    }

    #[test]
    fn products_of_all_sizes_are_sums_of_products() {
        for (rows, inputs, outputs) in [(1, 1, 1), (5, 3, 10), (16, 7, 8), (33, 20, 15), (48, 4, 2), (131, 19, 13)] {
            let (x, weight, bias) =
                (draws(rows * inputs, "x"), draws(inputs * outputs, "weight"), draws(outputs, "bias"));
            let panels = Panels::of_columns(&weight, inputs);
            let y = Lanes::from_rows(&x, inputs).linear(&panels, Some(&bias)).to_rows();
            for (at, y) in y.iter().enumerate() {
                let (x, w) = (&x[at / outputs * inputs..], &weight[at % outputs * inputs..]);
                let sum: f64 = (0..inputs).map(|k| f64::from(x[k]) * f64::from(w[k])).sum();
                let expected = sum + f64::from(bias[at % outputs]);
                assert!((f64::from(*y) - expected).abs() < 1e-5, "{rows} × {inputs} × {outputs}: {y} {expected}");
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_alone_and_among_few_and_many_others() {
        let (inputs, outputs, rows) = (37, 21, 120);
        let (x, bias) = (draws(rows * inputs, "x"), draws(outputs, "bias"));
        let weight = Panels::of_columns(&draws(inputs * outputs, "weight"), inputs);
        let together = Lanes::from_rows(&x, inputs).linear(&weight, Some(&bias)).to_rows();
        for count in [1, 2, 3, 5, 8, 9, 17] {
            for (x, together) in x.chunks(count * inputs).zip(together.chunks(count * outputs)) {
                let some = Lanes::from_rows(x, inputs).linear(&weight, Some(&bias));
                assert_eq!(some.to_rows(), together, "{count} rows");
                let (mut twice, x) = (some.clone(), Lanes::from_rows(x, inputs));
                twice.add_linear(&weight, Some(&bias), &x);
                assert!(twice.to_rows().iter().zip(together).all(|(twice, once)| *twice == 2.0 * once));
            }
        }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        for (rows, features) in [(1, 3), (47, 5), (48, 17), (49, 16), (100, 33)] {
            let x = draws(rows * features, "x");
            assert_eq!(Lanes::from_rows(&x, features).to_rows(), x);
        }
    }

    #[test]
    fn the_exponential_is_right_to_the_last_digits() {
        for at in -8700..=8800 {
            let x = at as f32 / 100.0;
            let (got, expected) = (f64::from(exponential(x)), f64::from(x).exp());
            assert!((got / expected - 1.0).abs() < 3e-7, "e^{x} = {got}, expected {expected}");
        }
        assert!(exponential(-1e9) < 2e-38 && exponential(f32::INFINITY).is_finite() && exponential(f32::NAN).is_nan());
    }

    #[test]
    fn the_logistic_function_is_symmetric_and_ends_at_0_and_1() {
        assert!((logistic(0.0) - 0.5).abs() < 1e-7);
        assert!((logistic(2.0) + logistic(-2.0) - 1.0).abs() < 1e-6);
        assert!(logistic(-100.0) < 1e-37 && (logistic(100.0) - 1.0).abs() < 1e-7);
    }

    #[test]
    fn the_logarithm_is_right_to_the_last_digits() {
        for at in 0..=1000 {
            let y = at as f32 / 1000.0;
            let (got, expected) = (f64::from(log_of_sum(y)), f64::from(y).ln_1p());
            assert!((got - expected).abs() < 2e-7 * expected + 1e-9, "log(1 + {y}) = {got}, expected {expected}");
        }
    }

    #[test]
    fn softplus_is_flat_on_the_left_and_steep_on_the_right() {
        assert!((softplus(0.0) - 2f32.ln()).abs() < 1e-6 && (softplus(3.0) - softplus(-3.0) - 3.0).abs() < 1e-6);
        assert!(softplus(-100.0) < 1e-37 && softplus(100.0) == 100.0 && softplus(f32::NAN).is_nan());
    }
}
