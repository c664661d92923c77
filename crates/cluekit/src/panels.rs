//! Products whose outputs lie side by side: each output is a lane of the processor's registers.
//!
//! Two of them: [`gathered`] multiplies runs of numbers by weights that lie in [`Panels`], and [`outer`] sums the products
//! of two lists of rows, which is the gradient of such weights. A run may begin anywhere, so that the window of a
//! convolution multiplies what it sees where it lies. Each sum is made in the order of its terms, whatever is computed
//! beside it.

use pulp::{Arch, Simd, WithSimd};

/// Outputs of one panel: the widest register.
const LANE: usize = 16;

/// Weights in the order in which they are read: sixteen outputs side by side, input after input.
#[derive(Clone, Debug)]
pub(crate) struct Panels {
    inputs: usize,
    outputs: usize,
    /// `[⌈outputs / 16⌉, inputs, 16]`
    values: Vec<f32>,
}

impl Panels {
    /// The weight of each input for each output.
    pub fn new(inputs: usize, outputs: usize, weight: impl Fn(usize, usize) -> f32) -> Self {
        let mut values = vec![0.0; inputs * outputs.next_multiple_of(LANE)];
        let panels = values.chunks_exact_mut((inputs * LANE).max(1));
        for (panel, first) in panels.zip((0..outputs).step_by(LANE)) {
            for (input, lanes) in panel.chunks_exact_mut(LANE).enumerate() {
                for (lane, output) in lanes.iter_mut().zip(first..outputs) {
                    *lane = weight(input, output);
                }
            }
        }
        Self { inputs, outputs, values }
    }

    /// Weights that lie output by output.
    ///
    /// # Shapes
    /// - `weight`: `[outputs, inputs]`
    pub fn of_columns(weight: &[f32], inputs: usize) -> Self {
        let outputs = weight.len() / inputs.max(1);
        let mut values = vec![0.0; inputs * outputs.next_multiple_of(LANE)];
        for (panel, rows) in values.chunks_exact_mut((inputs * LANE).max(1)).zip(weight.chunks(inputs * LANE)) {
            // Few lines of the cache at a time.
            for first in (0..inputs).step_by(2 * LANE) {
                let last = inputs.min(first + 2 * LANE);
                for (lane, row) in rows.chunks_exact(inputs).enumerate() {
                    let to = panel[first * LANE + lane..].iter_mut().step_by(LANE);
                    to.zip(&row[first..last]).for_each(|(to, from)| *to = *from);
                }
            }
        }
        Self { inputs, outputs, values }
    }

    /// Weights that lie row by row.
    ///
    /// # Shapes
    /// - `weight`: `[inputs, outputs]`
    pub fn of_rows(weight: &[f32], outputs: usize) -> Self {
        let inputs = weight.len() / outputs.max(1);
        let mut values = vec![0.0; inputs * outputs.next_multiple_of(LANE)];
        for (input, row) in weight.chunks_exact(outputs).enumerate() {
            for (panel, part) in row.chunks(LANE).enumerate() {
                let at = (panel * inputs + input) * LANE;
                values[at..at + part.len()].copy_from_slice(part);
            }
        }
        Self { inputs, outputs, values }
    }
}

impl Panels {
    /// Number of columns of an input.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of columns of an output.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The weights of the outputs from `first` on, up to the end of their panel: the first of them lies at 0 for input 0, at
    /// 16 for input 1 and so on, with those of its neighbours behind it.
    pub fn of_outputs(&self, first: usize) -> &[f32] {
        let at = first / LANE * self.inputs * LANE;
        &self.values[at + first % LANE..at + self.inputs * LANE]
    }

    /// The weights with inputs and outputs exchanged, as the way back through a product needs them.
    pub fn turned(&self) -> Self {
        let (inputs, outputs) = (self.outputs, self.inputs);
        let mut values = vec![0.0; inputs * outputs.next_multiple_of(LANE)];
        for (panel, turned) in values.chunks_exact_mut((inputs * LANE).max(1)).enumerate() {
            let first = panel * LANE;
            // A square of sixteen by sixteen at a time.
            for (rows, turned) in turned.chunks_mut(LANE * LANE).enumerate() {
                let from = &self.values[rows * outputs * LANE + first * LANE..(rows + 1) * outputs * LANE];
                for (output, from) in from.chunks_exact(LANE).take(LANE).enumerate() {
                    turned[output..].iter_mut().step_by(LANE).zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        }
        Self { inputs, outputs, values }
    }
}

/// Where the numbers of a product lie.
#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    /// Where the first run of each place begins.
    pub starts: &'a [usize],
    /// Where the outputs of each place go.
    pub ends: &'a [usize],
    /// Where each run begins, from the first one on.
    pub runs: &'a [usize],
    /// Numbers of a run.
    pub len: usize,
}

/// Writes b + Σ w x at the end of each place, or adds it there; x are the runs of the place one after the other.
pub(crate) fn gathered(panels: &Panels, bias: Option<&[f32]>, x: &[f32], places: Places, out: &mut [f32], add: bool) {
    assert_eq!(places.runs.len() * places.len, panels.inputs, "the runs of a place are the inputs of the weights");
    assert_eq!(places.starts.len(), places.ends.len(), "each place begins and ends");
    Arch::new().dispatch(Gathered { panels, bias, x, places, out, add });
}

struct Gathered<'a> {
    panels: &'a Panels,
    bias: Option<&'a [f32]>,
    x: &'a [f32],
    places: Places<'a>,
    out: &'a mut [f32],
    add: bool,
}

impl WithSimd for Gathered<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let registers = self.panels.outputs.div_ceil(S::F32_LANES);
        let mut first = 0;
        while first < registers {
            let many = S::REGISTER_COUNT >= 32;
            match (registers - first, many) {
                (1, true) => self.all::<S, 1, 12>(simd, first),
                (1, false) => self.all::<S, 1, 8>(simd, first),
                (_, true) => self.all::<S, 2, 8>(simd, first),
                (_, false) => self.all::<S, 2, 4>(simd, first),
            }
            first += 2;
        }
    }
}

impl Gathered<'_> {
    /// `V` registers of outputs from `first` on, `P` places at a time.
    #[inline(always)]
    fn all<S: Simd, const V: usize, const P: usize>(&mut self, simd: S, first: usize) {
        let Places { starts, ends, .. } = self.places;
        let whole = starts.len() / P * P;
        for (starts, ends) in starts[..whole].chunks_exact(P).zip(ends.chunks_exact(P)) {
            self.some::<S, V, P>(simd, first, starts, ends);
        }
        let (starts, ends) = (&starts[whole..], &ends[whole..]);
        let half = starts.len() / 4 * 4;
        for (starts, ends) in starts[..half].chunks_exact(4).zip(ends[..half].chunks_exact(4)) {
            self.some::<S, V, 4>(simd, first, starts, ends);
        }
        for (starts, ends) in starts[half..].chunks(2).zip(ends[half..].chunks(2)) {
            self.some::<S, V, 2>(simd, first, starts, ends);
        }
    }

    /// `V` registers of outputs of up to `P` places; a place that is missing is computed like the first and left away.
    #[inline(always)]
    fn some<S: Simd, const V: usize, const P: usize>(
        &mut self,
        simd: S,
        first: usize,
        starts: &[usize],
        ends: &[usize],
    ) {
        let Places { runs, len, .. } = self.places;
        let per = LANE / S::F32_LANES;
        let Panels { inputs, outputs, ref values } = *self.panels;
        let (weights, _) = S::as_simd_f32s(values);
        let weights: [&[S::f32s]; V] = std::array::from_fn(|v| {
            let register = first + v;
            &weights[register / per * inputs * per + register % per..]
        });
        let starts: [usize; P] = std::array::from_fn(|p| starts[if p < starts.len() { p } else { 0 }]);
        let mut sums = [[simd.splat_f32s(0.0); V]; P];
        if let Some(bias) = self.bias {
            let bias: [S::f32s; V] = std::array::from_fn(|v| {
                let from = (first + v) * S::F32_LANES;
                simd.partial_load_f32s(&bias[from..outputs.min(from + S::F32_LANES)])
            });
            sums = [bias; P];
        }
        for (at, &run) in runs.iter().enumerate() {
            let x: [&[f32]; P] = std::array::from_fn(|p| &self.x[starts[p] + run..][..len]);
            // The last weight of a run need not be followed by a whole step.
            let weights: [&[S::f32s]; V] =
                std::array::from_fn(|v| &weights[v][at * len * per..][..(len - 1) * per + 1]);
            for j in 0..len {
                let weight: [S::f32s; V] = std::array::from_fn(|v| weights[v][j * per]);
                for p in 0..P {
                    let x = simd.splat_f32s(x[p][j]);
                    for v in 0..V {
                        sums[p][v] = simd.mul_add_e_f32s(x, weight[v], sums[p][v]);
                    }
                }
            }
        }
        for (sums, &end) in sums.iter().zip(ends) {
            for (v, &sum) in sums.iter().enumerate() {
                let from = (first + v) * S::F32_LANES;
                let out = &mut self.out[end + from..end + outputs.min(from + S::F32_LANES)];
                match S::as_mut_simd_f32s(out) {
                    ([whole], _) => *whole = if self.add { simd.add_f32s(*whole, sum) } else { sum },
                    (_, part) => {
                        let there = simd.partial_load_f32s(part);
                        simd.partial_store_f32s(part, if self.add { simd.add_f32s(there, sum) } else { sum });
                    }
                }
            }
        }
    }
}

/// Writes b + Σ w x of each row, or adds it.
///
/// # Shapes
/// - `x`: `[rows, inputs]`, `out`: `[rows, outputs]`
pub(crate) fn multiplied(panels: &Panels, bias: Option<&[f32]>, x: &[f32], out: &mut [f32], add: bool) {
    let rows = x.len() / panels.inputs.max(1);
    let (starts, ends) = (every(rows, panels.inputs), every(rows, panels.outputs));
    gathered(panels, bias, x, Places { starts: &starts, ends: &ends, runs: &[0], len: panels.inputs }, out, add);
}

/// Where rows of `len` numbers begin.
fn every(rows: usize, len: usize) -> Vec<usize> {
    (0..rows).map(|row| row * len).collect()
}

/// Adds Σ gᵢ xⱼ and Σ gᵢ over the rows: the gradients of weight and bias of a linear layer.
///
/// # Shapes
/// - `g`: `[rows, outputs]`, `x`: `[rows, inputs]`, `weight`: `[outputs, inputs]`, `bias`: `[outputs]`
pub(crate) fn learned(g: &[f32], x: &[f32], weight: &mut [f32], bias: &mut [f32]) {
    let outputs = bias.len();
    let (rows, inputs) = (g.len() / outputs, weight.len() / outputs);
    let (of_g, of_x) = (every(rows, outputs), every(rows, inputs));
    let left = Side { values: g, starts: &of_g, len: outputs };
    outer(left, Side { values: x, starts: &of_x, len: inputs }, weight);
    for g in g.chunks_exact(outputs) {
        bias.iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
    }
}

/// Some rows of numbers: where each begins, and how many numbers it has.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub values: &'a [f32],
    pub starts: &'a [usize],
    pub len: usize,
}

/// Adds Σ aᵢ bⱼ over the rows of both sides to `sums[i][j]`.
///
/// # Shapes
/// - `sums`: `[len of a, len of b]`
pub(crate) fn outer(a: Side, b: Side, sums: &mut [f32]) {
    assert_eq!((a.starts.len(), sums.len()), (b.starts.len(), a.len * b.len), "the sizes of a product fit each other");
    Arch::new().dispatch(Outer { a, b, sums });
}

struct Outer<'a> {
    a: Side<'a>,
    b: Side<'a>,
    sums: &'a mut [f32],
}

impl WithSimd for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let registers = self.b.len / S::F32_LANES;
        let mut first = 0;
        while first < registers {
            let many = S::REGISTER_COUNT >= 32;
            match (registers - first, many) {
                (1, true) => self.all::<S, 1, 16>(simd, first),
                (1, false) => self.all::<S, 1, 8>(simd, first),
                (_, true) => self.all::<S, 2, 12>(simd, first),
                (_, false) => self.all::<S, 2, 4>(simd, first),
            }
            first += 2;
        }
        self.rest(simd, registers * S::F32_LANES);
    }
}

impl Outer<'_> {
    /// `V` registers of b from `first` on, `T` numbers of a at a time.
    #[inline(always)]
    fn all<S: Simd, const V: usize, const T: usize>(&mut self, simd: S, first: usize) {
        let mut at = 0;
        while at < self.a.len {
            at += match self.a.len - at {
                left if left >= T => self.some::<S, V, T>(simd, first, at),
                left if left >= 4 => self.some::<S, V, 4>(simd, first, at),
                _ => self.some::<S, V, 1>(simd, first, at),
            };
        }
    }

    #[inline(always)]
    fn some<S: Simd, const V: usize, const T: usize>(&mut self, simd: S, first: usize, at: usize) -> usize {
        let column = first * S::F32_LANES;
        let mut sums = [[simd.splat_f32s(0.0); V]; T];
        for (&a, &b) in self.a.starts.iter().zip(self.b.starts) {
            let a: &[f32; T] = self.a.values[a + at..].first_chunk().expect("a row of a lies within its values");
            let (b, _) = S::as_simd_f32s(&self.b.values[b + column..][..V * S::F32_LANES]);
            let b: [S::f32s; V] = std::array::from_fn(|v| b[v]);
            for t in 0..T {
                let a = simd.splat_f32s(a[t]);
                for v in 0..V {
                    sums[t][v] = simd.mul_add_e_f32s(a, b[v], sums[t][v]);
                }
            }
        }
        for (t, sums) in sums.iter().enumerate() {
            let (out, _) = S::as_mut_simd_f32s(&mut self.sums[(at + t) * self.b.len + column..][..V * S::F32_LANES]);
            out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = simd.add_f32s(*out, sum));
        }
        T
    }

    /// The numbers of b that do not fill a register.
    #[inline(always)]
    fn rest<S: Simd>(&mut self, simd: S, column: usize) {
        let width = self.b.len - column;
        if width == 0 {
            return;
        }
        let mut at = 0;
        while at < self.a.len {
            at += match self.a.len - at {
                left if left >= 8 => self.part::<S, 8>(simd, column, at),
                _ => self.part::<S, 1>(simd, column, at),
            };
        }
    }

    #[inline(always)]
    fn part<S: Simd, const T: usize>(&mut self, simd: S, column: usize, at: usize) -> usize {
        let width = self.b.len - column;
        let mut sums = [simd.splat_f32s(0.0); T];
        for (&a, &b) in self.a.starts.iter().zip(self.b.starts) {
            let a: &[f32; T] = self.a.values[a + at..].first_chunk().expect("a row of a lies within its values");
            let b = simd.partial_load_f32s(&self.b.values[b + column..][..width]);
            for t in 0..T {
                sums[t] = simd.mul_add_e_f32s(simd.splat_f32s(a[t]), b, sums[t]);
            }
        }
        for (t, &sum) in sums.iter().enumerate() {
            let out = &mut self.sums[(at + t) * self.b.len + column..][..width];
            let there = simd.partial_load_f32s(out);
            simd.partial_store_f32s(out, simd.add_f32s(there, sum));
        }
        T
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use rand_distr::{Distribution, StandardNormal};

    fn draws(len: usize, name: &str) -> Vec<f32> {
        StandardNormal.sample_iter(Seed(1).stream(name)).take(len).collect()
    }

    #[test]
    fn weights_turned_again_are_the_weights() {
        for (inputs, outputs) in [(1, 1), (3, 20), (16, 32), (35, 18), (50, 7)] {
            let weights = Panels::new(inputs, outputs, |input, output| (100 * input + output) as f32);
            let turned = weights.turned();
            assert_eq!(
                turned.values,
                Panels::new(outputs, inputs, |output, input| (100 * input + output) as f32).values
            );
            assert_eq!(turned.turned().values, weights.values);
        }
    }

    #[test]
    fn a_place_is_the_sum_over_its_runs() {
        // Runs (1, 2) and (5, 6) of the first place, (3, 4) and (7, 8) of the second; weights 1, 10, 100, 1000.
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let panels = Panels::of_rows(&[1.0, 10.0, 100.0, 1000.0], 1);
        let places = Places { starts: &[0, 2], ends: &[1, 0], runs: &[0, 4], len: 2 };
        let mut out = [0.0; 2];
        gathered(&panels, Some(&[0.5]), &x, places, &mut out, false);
        assert_eq!(out, [8743.5, 6521.5]);
        gathered(&panels, None, &x, places, &mut out, true);
        assert_eq!(out, [17486.5, 13042.5]);
    }

    #[test]
    fn products_of_all_sizes_are_sums_of_products_and_do_not_depend_on_their_company() {
        for (rows, inputs, outputs) in [(1, 1, 1), (3, 5, 7), (8, 9, 16), (13, 20, 35), (30, 4, 33), (25, 3, 64)] {
            let (x, weight) = (draws(rows * inputs, "x"), draws(inputs * outputs, "weight"));
            let panels = Panels::new(inputs, outputs, |input, output| weight[input * outputs + output]);
            assert_eq!(panels.values, Panels::of_rows(&weight, outputs).values);
            let turned: Vec<f32> = (0..weight.len()).map(|at| weight[at % inputs * outputs + at / inputs]).collect();
            assert_eq!(panels.values, Panels::of_columns(&turned, inputs).values);
            let bias = draws(outputs, "bias");
            let starts: Vec<usize> = (0..rows).map(|row| row * inputs).collect();
            let ends: Vec<usize> = (0..rows).map(|row| row * outputs).collect();
            let mut out = vec![0.0; rows * outputs];
            let places = Places { starts: &starts, ends: &ends, runs: &[0], len: inputs };
            gathered(&panels, Some(&bias), &x, places, &mut out, false);
            for (at, got) in out.iter().enumerate() {
                let (row, output) = (at / outputs, at % outputs);
                let term = |k: usize| f64::from(x[row * inputs + k]) * f64::from(weight[k * outputs + output]);
                let expected = (0..inputs).map(term).sum::<f64>() + f64::from(bias[output]);
                assert!((f64::from(*got) - expected).abs() < 1e-5, "{rows} × {inputs} × {outputs}: {got} {expected}");
            }
            for row in 0..rows {
                let mut alone = vec![0.0; outputs];
                let places = Places { starts: &starts[row..=row], ends: &[0], runs: &[0], len: inputs };
                gathered(&panels, Some(&bias), &x, places, &mut alone, false);
                assert_eq!(alone, out[row * outputs..(row + 1) * outputs]);
            }
        }
    }

    #[test]
    fn an_outer_product_sums_over_rows() {
        for (rows, left, right) in [(1, 1, 1), (4, 3, 5), (9, 17, 16), (6, 12, 40), (5, 30, 65)] {
            let (a, b) = (draws(rows * left, "a"), draws(rows * right, "b"));
            let starts = |len: usize| (0..rows).map(|row| row * len).collect::<Vec<_>>();
            let mut sums = vec![1.0; left * right];
            let (of_a, of_b) = (starts(left), starts(right));
            let sides = [Side { values: &a, starts: &of_a, len: left }, Side { values: &b, starts: &of_b, len: right }];
            outer(sides[0], sides[1], &mut sums);
            for (at, got) in sums.iter().enumerate() {
                let term = |row: usize| a[row * left + at / right] * b[row * right + at % right];
                let expected = 1.0 + (0..rows).map(term).sum::<f32>();
                assert!((got - expected).abs() < 1e-5, "{rows} × {left} × {right}: {got} {expected}");
            }
        }
    }
}
