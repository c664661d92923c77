//! Windows that slide over one or two axes: of convolutions and pools.

use crate::Outcome;
use crate::node::Node;
use crate::value::Floats;

/// A longer step, or a wider gap, than anybody means.
const LARGEST: i64 = 1 << 16;

/// The two axes of a window; a window over one axis has a first one of length 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) kernel: [usize; 2],
    pub(super) stride: [usize; 2],
    pub(super) dilation: [usize; 2],
    /// Before and after, for each axis.
    pub(super) pads: [[usize; 2]; 2],
    pub(super) automatic: Automatic,
    /// Whether there are two axes.
    pub(super) flat: bool,
}

/// Paddings that follow from the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Automatic {
    No,
    /// The odd one comes after.
    Upper,
    /// The odd one comes before.
    Lower,
    Valid,
}

impl Window {
    /// The window of a node over `axes` axes, with this kernel.
    pub(super) fn of(node: &Node, kernel: &[usize]) -> Outcome<Self> {
        let axes = kernel.len();
        if !(1..=2).contains(&axes) {
            return Err(format!("windows over {axes} axes are not supported; those over 1 and 2 are"));
        }
        let two = |all: &[usize], filler: usize| if axes == 2 { [all[0], all[1]] } else { [filler, all[0]] };
        let read = |name: &str, count: usize, default: i64, least: i64| -> Outcome<Vec<usize>> {
            let given = node.integers(name)?.map_or_else(|| vec![default; count], <[i64]>::to_vec);
            let fits = given.len() == count && given.iter().all(|number| (least..=LARGEST).contains(number));
            let problem = || format!("`{name}` is {given:?}, which does not fit to a window over {axes} axes");
            if fits { Ok(given.iter().map(|&number| number as usize).collect()) } else { Err(problem()) }
        };
        let pads = read("pads", 2 * axes, 0, 0)?;
        let pad = |axis: usize| [pads[axis], pads[axes + axis]];
        let automatic = match node.text("auto_pad", "NOTSET")? {
            "NOTSET" | "" => Automatic::No,
            "SAME_UPPER" => Automatic::Upper,
            "SAME_LOWER" => Automatic::Lower,
            "VALID" => Automatic::Valid,
            other => return Err(format!("`auto_pad` is `{other}`")),
        };
        if kernel.iter().any(|&side| side == 0 || side > LARGEST as usize) {
            return Err(format!("its window is {kernel:?}"));
        }
        Ok(Self {
            kernel: two(kernel, 1),
            stride: two(&read("strides", axes, 1, 1)?, 1),
            dilation: two(&read("dilations", axes, 1, 1)?, 1),
            pads: if axes == 2 { [pad(0), pad(1)] } else { [[0; 2], pad(0)] },
            automatic,
            flat: axes == 2,
        })
    }

    /// The kernel of a pool.
    pub(super) fn pool(node: &Node) -> Outcome<Self> {
        let kernel = node.integers("kernel_shape")?.ok_or("`kernel_shape` is missing")?;
        let sides = kernel.iter().map(|&side| usize::try_from(side).map_err(|_| format!("its window is {kernel:?}")));
        Self::of(node, &sides.collect::<Outcome<Vec<_>>>()?)
    }

    /// Length of the window with its gaps.
    pub(super) fn reach(&self, axis: usize) -> usize {
        (self.kernel[axis] - 1) * self.dilation[axis] + 1
    }

    /// The paddings for an input of these sides.
    pub(super) fn padded(mut self, sides: [usize; 2]) -> Self {
        for (axis, side) in sides.into_iter().enumerate() {
            let total = match self.automatic {
                Automatic::No => continue,
                Automatic::Valid => 0,
                Automatic::Upper | Automatic::Lower => {
                    let out = side.div_ceil(self.stride[axis]);
                    ((out - 1) * self.stride[axis] + self.reach(axis)).saturating_sub(side)
                }
            };
            let half = total / 2;
            self.pads[axis] =
                if self.automatic == Automatic::Lower { [total - half, half] } else { [half, total - half] };
        }
        self
    }

    /// Number of places of the window along each axis.
    ///
    /// Where it may overhang (`ceil`), it begins within the input or its padding in front.
    pub(super) fn places(&self, sides: [usize; 2], ceil: bool) -> Outcome<[usize; 2]> {
        let mut places = [0; 2];
        for axis in 0..2 {
            let [before, after] = self.pads[axis];
            let room = (sides[axis] + before + after).checked_sub(self.reach(axis));
            let room =
                room.ok_or_else(|| format!("its window {:?} is larger than its input {sides:?}", self.kernel))?;
            places[axis] = room / self.stride[axis] + 1;
            if ceil
                && !room.is_multiple_of(self.stride[axis])
                && places[axis] * self.stride[axis] < sides[axis] + before
            {
                places[axis] += 1;
            }
        }
        Ok(places)
    }
}

/// Rows, channels and the one or two axes of an image; a line is an image of height 1.
pub(super) fn image(floats: &Floats) -> Outcome<[usize; 4]> {
    match floats.dims()[..] {
        [rows, channels, height, width] => Ok([rows, channels, height, width]),
        [rows, channels, width] => Ok([rows, channels, 1, width]),
        ref dims => Err(format!("an input of rows, channels and one or two axes is expected, not {dims:?}")),
    }
}

/// The sides that an image of a window over one or two axes has in the file.
pub(super) fn sides_of(image: [usize; 4], flat: bool) -> Vec<usize> {
    let [rows, channels, height, width] = image;
    if flat { vec![rows, channels, height, width] } else { vec![rows, channels, width] }
}
