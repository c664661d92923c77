//! Images of another size.
//!
//! Each place of the result is a weighing of places of the input, axis by axis, so that every mode is the product with one
//! matrix an axis; where each place comes from one other alone, it is chosen instead.

use super::one;
use crate::Outcome;
use crate::run::Call;
use crate::value::{Floats, Value, block_sides};
use burn_tensor::Tensor;
use cluekit::tensor::tensor;

/// How the places of the result lie on those of the input.
struct Rule<'a> {
    mode: &'a str,
    coordinates: &'a str,
    nearest: &'a str,
    cubic: f32,
    exclude_outside: bool,
}

/// One axis: its length before and after, and the ratio that is meant.
struct Axis {
    before: usize,
    after: usize,
    scale: f32,
}

impl Rule<'_> {
    /// The place in the input, as ONNX Runtime rounds it.
    fn place(&self, axis: &Axis, at: usize) -> Outcome<f32> {
        let (at, before, after) = (at as f32, axis.before as f32, axis.after as f32);
        Ok(match self.coordinates {
            "asymmetric" => at / axis.scale,
            "half_pixel" => (at + 0.5) / axis.scale - 0.5,
            "pytorch_half_pixel" if axis.after > 1 => (at + 0.5) / axis.scale - 0.5,
            "pytorch_half_pixel" => 0.0,
            "align_corners" if axis.after > 1 => at * (before - 1.0) / (after - 1.0),
            "align_corners" => 0.0,
            "half_pixel_symmetric" => {
                let adjustment = after / (axis.scale * before);
                before / 2.0 * (1.0 - adjustment) + (at + 0.5) / axis.scale - 0.5
            }
            other => return Err(format!("`coordinate_transformation_mode` is `{other}`, which is not supported")),
        })
    }

    /// The places of the input that make up a place of the result, with their weights.
    fn weights(&self, axis: &Axis, at: usize) -> Outcome<Vec<(usize, f32)>> {
        let place = self.place(axis, at)?;
        let last = axis.before as i64 - 1;
        let within = |at: i64| at.clamp(0, last) as usize;
        match self.mode {
            "nearest" => {
                let rounded = match self.nearest {
                    "round_prefer_floor" => (place - 0.5).ceil(),
                    "round_prefer_ceil" => (place + 0.5).floor(),
                    "floor" => place.floor(),
                    "ceil" => place.ceil(),
                    other => return Err(format!("`nearest_mode` is `{other}`")),
                };
                Ok(vec![(within(rounded as i64), 1.0)])
            }
            "linear" => {
                let place = place.clamp(0.0, last as f32);
                let low = place.floor();
                let share = place - low;
                Ok(vec![(within(low as i64), 1.0 - share), (within(low as i64 + 1), share)])
            }
            "cubic" => {
                let low = place.floor();
                let t = place - low;
                let a = self.cubic;
                let near = |t: f32| ((a + 2.0) * t - (a + 3.0)) * t * t + 1.0;
                let far = |t: f32| ((a * t - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a;
                let shares = [far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)];
                let places: [i64; 4] = std::array::from_fn(|k| low as i64 - 1 + k as i64);
                let inside = |at: i64| (0..=last).contains(&at);
                let sum: f32 = match self.exclude_outside {
                    true => places.iter().zip(shares).filter(|(at, _)| inside(**at)).map(|(_, share)| share).sum(),
                    false => 1.0,
                };
                let kept = places.into_iter().zip(shares).filter(|(at, _)| !self.exclude_outside || inside(*at));
                Ok(kept.map(|(at, share)| (within(at), share / sum)).collect())
            }
            other => Err(format!("`mode` is `{other}`, which is not supported")),
        }
    }

    /// An input with one axis of another length.
    fn along(&self, x: Floats, position: usize, axis: &Axis) -> Outcome<Floats> {
        let (mut dims, members) = (x.dims(), x.members());
        let weights = (0..axis.after).map(|at| self.weights(axis, at)).collect::<Outcome<Vec<_>>>()?;
        if self.mode == "nearest" {
            let places: Vec<usize> = weights.iter().map(|weights| weights[0].0).collect();
            return x.selected(position, &places);
        }
        block_sides(1, &[axis.before, axis.after])?;
        let mut matrix = vec![0.0; axis.before * axis.after];
        for (at, (place, share)) in
            weights.iter().enumerate().flat_map(|(at, all)| all.iter().map(move |one| (at, one)))
        {
            matrix[at * axis.before + place] += share;
        }
        let outer: usize = members * dims[..position].iter().product::<usize>();
        let inner: usize = dims[position + 1..].iter().product();
        dims[position] = axis.after;
        block_sides(members, &dims)?;
        let flat: Tensor<3> = x.block.reshape([outer, axis.before, inner]);
        let made = match inner {
            1 => {
                let matrix: Tensor<2> = tensor(matrix, [axis.after, axis.before]);
                flat.reshape([outer, axis.before]).matmul(matrix.transpose()).reshape([outer, axis.after, 1])
            }
            _ => {
                let matrix: Tensor<3> = tensor(matrix, [1, axis.after, axis.before]);
                matrix.expand([outer, axis.after, axis.before]).matmul(flat)
            }
        };
        Floats::from(made, members, &dims)
    }
}

/// Lengths of the axes after, and their ratios.
fn lengths(dims: &[usize], scales: Option<Vec<f32>>, sizes: Option<Vec<usize>>) -> Outcome<Vec<(usize, f32)>> {
    let ratio = |side: usize, scale: f32| -> Outcome<(usize, f32)> {
        let length = (side as f32 * scale).floor();
        if !(1.0..1e6).contains(&length) || !scale.is_finite() {
            return Err(format!("a side of {side} cannot become {scale} times as long"));
        }
        Ok((length as usize, scale))
    };
    match (scales, sizes) {
        (Some(scales), None) if scales.len() == dims.len() => {
            dims.iter().zip(scales).map(|(&side, scale)| ratio(side, scale)).collect()
        }
        (None, Some(sizes)) if sizes.len() == dims.len() && !sizes.contains(&0) => {
            Ok(dims.iter().zip(sizes).map(|(&side, size)| (size, size as f32 / side as f32)).collect())
        }
        _ => Err(format!("its scales or sizes do not fit to {dims:?}")),
    }
}

pub(super) fn resize(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let dims = x.dims();
    let scales = if call.has(2) { Some(call.numbers(2)?).filter(|scales| !scales.is_empty()) } else { None };
    let sizes = if call.has(3) { Some(call.integers(3)?.sides()?).filter(|sizes| !sizes.is_empty()) } else { None };
    // From version 18 on, the axes may be named.
    let (scales, sizes) = match call.node.integers("axes")? {
        None => (scales, sizes),
        Some(axes) => {
            let axes = axes.iter().map(|&axis| crate::integers::axis(axis, dims.len())).collect::<Outcome<Vec<_>>>()?;
            let wide_scales = scales.map(|given| {
                let mut all = vec![1.0; dims.len()];
                axes.iter().zip(given).for_each(|(&axis, scale)| all[axis] = scale);
                all
            });
            let wide_sizes = sizes.map(|given| {
                let mut all = dims.clone();
                axes.iter().zip(given).for_each(|(&axis, size)| all[axis] = size);
                all
            });
            (wide_scales, wide_sizes)
        }
    };
    if call.node.flag("antialias", false)? {
        return Err("`antialias` is not supported".into());
    }
    if call.node.text("keep_aspect_ratio_policy", "stretch")? != "stretch" {
        return Err("`keep_aspect_ratio_policy` is not supported".into());
    }
    let node = call.node;
    let rule = Rule {
        mode: node.text("mode", "nearest")?,
        coordinates: node.text("coordinate_transformation_mode", "half_pixel")?,
        nearest: node.text("nearest_mode", "round_prefer_floor")?,
        cubic: node.float("cubic_coeff_a", -0.75)?,
        exclude_outside: node.flag("exclude_outside", false)?,
    };
    resized(x, &lengths(&dims, scales, sizes)?, &rule)
}

/// `Upsample`, which newer versions do without.
pub(super) fn upsample(call: &mut Call) -> Outcome<Vec<Value>> {
    let x = call.floats(0)?;
    let scales = call.numbers(1)?;
    let mode = call.node.text("mode", "nearest")?;
    let rule = Rule { mode, coordinates: "asymmetric", nearest: "floor", cubic: -0.75, exclude_outside: false };
    let lengths = lengths(&x.dims(), Some(scales), None)?;
    resized(x, &lengths, &rule)
}

fn resized(x: Floats, lengths: &[(usize, f32)], rule: &Rule) -> Outcome<Vec<Value>> {
    let mut x = x;
    let after: Vec<usize> = lengths.iter().map(|(after, _)| *after).collect();
    block_sides(x.members(), &after)?;
    for (position, &(after, scale)) in lengths.iter().enumerate() {
        let before = x.dims()[position];
        if after != before || (scale - 1.0).abs() > 0.0 {
            x = rule.along(x, position, &Axis { before, after, scale })?;
        }
    }
    one(x)
}
