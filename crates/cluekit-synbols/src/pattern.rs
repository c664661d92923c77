//! What a symbol or its background is painted with; it lies on the image, not on the symbol.

use cluekit::seed::{Rng, Seed};
use rand::RngExt;
use rand_distr::{Distribution, Normal};
use serde::{Deserialize, Serialize};
use std::f32::consts::TAU;

/// Strokes of a camouflage.
const STROKES: usize = 500;
/// Of one stroke, in sides of the image.
const STROKE_LENGTH: f32 = 0.6;
/// See there.
const STROKE_WIDTH: f32 = 0.1;
/// How much of what lies below a stroke it hides.
const STROKE_OPACITY: f32 = 0.8;
/// Radii of the two circles of a radial gradient.
const RADII: [f32; 2] = [2.0, 0.1];

/// An opaque colour: red, green and blue from 0 to 1.
pub type Colour = [f32; 3];

/// A pattern that fills an image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// One colour everywhere.
    Solid(Colour),
    /// Three colours that run into each other, along a line or between two circles; all of it follows from this seed.
    Gradient(u64),
    /// Hundreds of strokes of any colour.
    Camouflage {
        /// Seed of the strokes.
        seed: u64,
        /// Whether strokes go down instead of across.
        upright: bool,
    },
}

impl Pattern {
    /// White, for symbols.
    pub const WHITE: Self = Self::Solid([1.0; 3]);
    /// Black, for backgrounds.
    pub const BLACK: Self = Self::Solid([0.0; 3]);

    /// The colours of an image with this many pixels a side, row by row, each at the middle of its pixel.
    pub fn paint(&self, side: usize) -> Vec<Colour> {
        let rng = |seed: u64| Seed(seed).stream("synbols: pattern");
        match *self {
            Self::Solid(colour) => vec![colour; side * side],
            Self::Gradient(seed) => {
                let gradient = Gradient::draw(&mut rng(seed));
                let middle = |pixel: usize| (pixel as f32 + 0.5) / side as f32;
                (0..side * side).map(|pixel| gradient.at([middle(pixel % side), middle(pixel / side)])).collect()
            }
            Self::Camouflage { seed, upright } => camouflage(side, upright, &mut rng(seed)),
        }
    }
}

/// A gradient between three colours.
struct Gradient {
    /// At 0, ½ and 1.
    stops: [Colour; 3],
    shape: Shape,
}

enum Shape {
    Linear {
        start: [f32; 2],
        way: [f32; 2],
    },
    /// Between circles around these points.
    Radial {
        start: [f32; 2],
        way: [f32; 2],
    },
}

impl Gradient {
    fn draw(rng: &mut Rng) -> Self {
        let radial = rng.random_bool(0.5);
        let mut colour = || [rng.random(), rng.random(), rng.random()];
        let stops = [colour(), colour(), colour()];
        let mut point = || -> [f32; 2] { [rng.random(), rng.random()] };
        let start = point();
        let shape = if radial {
            let end = point();
            Shape::Radial { start, way: [end[0] - start[0], end[1] - start[1]] }
        } else {
            let angle: f32 = rng.random_range(0.0..TAU);
            let length: f32 = Normal::new(1.0, 0.2).expect("a positive deviation").sample(rng);
            Shape::Linear { start, way: [length * angle.cos(), length * angle.sin()] }
        };
        Self { stops, shape }
    }

    fn at(&self, point: [f32; 2]) -> Colour {
        let from = |start: [f32; 2]| [point[0] - start[0], point[1] - start[1]];
        let t = match self.shape {
            Shape::Linear { start, way } => dot(from(start), way) / dot(way, way).max(f32::MIN_POSITIVE),
            Shape::Radial { start, way } => between_circles(from(start), way),
        };
        let t = 2.0 * t.clamp(0.0, 1.0);
        let (first, share) = if t < 1.0 { (0, t) } else { (1, t - 1.0) };
        let mix = |channel: usize| (1.0 - share) * self.stops[first][channel] + share * self.stops[first + 1][channel];
        [mix(0), mix(1), mix(2)]
    }
}

fn dot(a: [f32; 2], b: [f32; 2]) -> f32 {
    a[0] * b[0] + a[1] * b[1]
}

/// The t for which a point lies on the circle around t · way whose radius runs from the first to the second of [`RADII`].
/// The second circle lies within the first, so there is one with a radius that is no negative number.
fn between_circles(point: [f32; 2], way: [f32; 2]) -> f32 {
    // |p − t w|² = (r₀ + t dr)², that is a t² − 2 b t + c = 0.
    let growth = RADII[1] - RADII[0];
    let a = dot(way, way) - growth * growth;
    let b = dot(point, way) + RADII[0] * growth;
    let c = dot(point, point) - RADII[0] * RADII[0];
    let root = (b * b - a * c).max(0.0).sqrt();
    // a is negative, so this is the smaller solution; the radius of the larger one is negative.
    (b + root) / a
}

fn camouflage(side: usize, upright: bool, rng: &mut Rng) -> Vec<Colour> {
    let mut image = vec![[0.0; 3]; side * side];
    for _ in 0..STROKES {
        // From before one edge to the other, so that the image is covered evenly.
        let along = rng.random_range(-STROKE_LENGTH..1.0f32);
        let across = rng.random_range(0.0..1.0f32) - STROKE_WIDTH / 2.0;
        let colour: Colour = [rng.random(), rng.random(), rng.random()];
        let (x, y) = if upright { (across, along) } else { (along, across) };
        let size = if upright { [STROKE_WIDTH, STROKE_LENGTH] } else { [STROKE_LENGTH, STROKE_WIDTH] };
        paint_box(&mut image, side, [x, y], size, colour);
    }
    image
}

/// Paints a box of the given corner and size, each pixel by how much of it is covered.
fn paint_box(image: &mut [Colour], side: usize, corner: [f32; 2], size: [f32; 2], colour: Colour) {
    let scale = side as f32;
    let covered = |axis: usize| {
        let (from, to) = (corner[axis] * scale, (corner[axis] + size[axis]) * scale);
        let first = from.floor().clamp(0.0, scale) as usize;
        let last = to.ceil().clamp(0.0, scale) as usize;
        (first..last).map(move |pixel| (pixel, (to.min(pixel as f32 + 1.0) - from.max(pixel as f32)).max(0.0)))
    };
    for (y, down) in covered(1) {
        for (x, across) in covered(0) {
            let opacity = STROKE_OPACITY * across * down;
            let pixel = &mut image[y * side + x];
            for (old, new) in pixel.iter_mut().zip(colour) {
                *old += opacity * (new - *old);
            }
        }
    }
}
