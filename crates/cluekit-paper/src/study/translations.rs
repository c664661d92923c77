//! What distances make of an image that is only moved. [Ley2022, App. B, "Distance Metrics"]

use super::settings::eight;
use crate::curves::{Curve, panel};
use crate::laboratory::Laboratory;
use crate::statistics::{figure, l1, mean};
use crate::study_result::{Check, StudyResult, Table};
use cluekit::data::Image;
use cluekit::error::Result;
use cluekit::tensor::{tensor, values};
use cluekit_plot::{Axis, Course, Grid, Reference};
use serde::{Deserialize, Serialize};

/// Directions of one step, right and down.
const DIRECTIONS: [(&str, isize, isize); 3] = [("horizontal", 1, 0), ("vertical", 0, 1), ("diagonal", 1, 1)];
/// At this shift the paper calls distances not robust.
const SHIFT: usize = 5;

/// How far images are moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translations {
    /// The models.
    pub models: String,
    /// How many test images.
    #[serde(default = "eight")]
    pub inputs: usize,
    /// Pixels at the most.
    pub pixels: usize,
}

/// The image moved by so many pixels; what comes in is empty.
fn moved(x: &[f32], image: &Image, right: isize, down: isize) -> Vec<f32> {
    let (height, width) = (image.height as isize, image.width as isize);
    let at = |channel: usize, row: isize, column: isize| {
        let (row, column) = (row - down, column - right);
        match (0..height).contains(&row) && (0..width).contains(&column) {
            true => x[channel * image.height * image.width + (row * width + column) as usize],
            false => 0.0,
        }
    };
    let mut moved = Vec::with_capacity(x.len());
    for channel in 0..image.channels {
        for row in 0..height {
            moved.extend((0..width).map(|column| at(channel, row, column)));
        }
    }
    moved
}

fn l2(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from((a - b).powi(2))).sum::<f64>().sqrt()
}

type Norm = fn(&[f32], &[f32]) -> f64;
const NORMS: [(&str, Norm); 2] = [("ℓ₁", l1), ("ℓ₂", l2)];

impl Translations {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let stage = lab.stage(&self.models)?;
        let image = stage.image()?;
        let width = stage.test().width;
        let encode = |rows: &[Vec<f32>]| -> Result<Vec<Vec<f32>>> {
            let x = tensor(rows.concat(), [rows.len(), width]);
            let codes = values(stage.explainer.generative()?.encode(&x)?);
            Ok(codes.chunks_exact(codes.len() / rows.len()).map(<[f32]>::to_vec).collect())
        };
        let shifts: Vec<usize> = (0..=self.pixels).collect();
        let judged = SHIFT.min(self.pixels);
        let x: Vec<f64> = shifts.iter().map(|&shift| shift as f64).collect();
        let mut table =
            Table::new("shifts", &["direction", "space", "norm", "pixels", "share of the distance to nothing"]);
        let mut panels = Vec::new();
        let mut at_judged = Vec::new();
        for (direction, right, down) in DIRECTIONS {
            let mut curves = Vec::new();
            let inputs = self.inputs.min(stage.test().len());
            // One list for each combination of space and norm, over inputs.
            let mut shares = vec![vec![Vec::new(); shifts.len()]; 4];
            for row in 0..inputs {
                let original = stage.test().row(row);
                let mut images: Vec<Vec<f32>> = shifts
                    .iter()
                    .map(|&shift| moved(original, image, right * shift as isize, down * shift as isize))
                    .collect();
                images.push(vec![0.0; width]);
                for (space, points) in [images.clone(), encode(&images)?].iter().enumerate() {
                    for (norm, (_, distance)) in NORMS.iter().enumerate() {
                        let whole = distance(&points[shifts.len()], &points[0]);
                        for (place, point) in points[..shifts.len()].iter().enumerate() {
                            shares[2 * space + norm][place].push(distance(point, &points[0]) / whole);
                        }
                    }
                }
            }
            for (space, name) in ["x", "z"].iter().enumerate() {
                for (norm, (norm_name, _)) in NORMS.iter().enumerate() {
                    let means: Vec<f64> =
                        shares[2 * space + norm].iter().map(|values| mean(values.iter().copied())).collect();
                    for (&shift, &share) in shifts.iter().zip(&means) {
                        table.push(vec![
                            direction.into(),
                            (*name).into(),
                            (*norm_name).into(),
                            shift.into(),
                            share.into(),
                        ]);
                    }
                    at_judged.push((format!("{norm_name} in {name}, {direction}"), means[judged]));
                    curves.push(Curve::new(format!("{norm_name} in {name}"), &x, means));
                }
            }
            let plot =
                panel(direction, Axis::new("pixels"), Axis::new("share of the distance to an empty image"), curves);
            panels.push(plot.with(Reference { course: Course::Horizontal(1.0), name: None }));
        }
        let title = format!("Distance of a moved image from itself, mean over {} images", self.inputs);
        Ok(StudyResult { seeds: vec![0], ..StudyResult::default() }
            .check(check(judged, &at_judged))
            .table(table)
            .picture("figure", Grid::new(title, 3, panels).to_svg()))
    }
}

/// Of images that are moved by so many pixels: how far each norm finds them, as a share of the distance to nothing.
fn check(pixels: usize, shares: &[(String, f64)]) -> Check {
    let least = shares.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are distances");
    let most = shares.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are distances");
    Check::that(
        format!(
            "moved by {pixels} pixels, an image is about as far from itself as from nothing, by either norm in either \
             space"
        ),
        least.1 >= 0.8,
        format!("between {} ({}) and {} ({})", figure(least.1), least.0, figure(most.1), most.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn no_norm_finds_a_moved_image_near_to_itself() {
        let judged = |shares: [f64; 2]| {
            check(5, &["ℓ₁ in x", "ℓ₂ in z"].map(str::to_owned).into_iter().zip(shares).collect::<Vec<_>>())
        };
        assert_eq!(judged([1.2, 0.8]).verdict, Held);
        assert_eq!(judged([1.2, 0.8]).figures, "between 0.800 (ℓ₂ in z) and 1.20 (ℓ₁ in x)");
        assert_eq!(judged([1.2, 0.7]).verdict, DidNotHold, "one of them is robust");
    }

    #[test]
    fn an_image_moves_right_and_down_and_what_leaves_is_gone() {
        let image = Image { channels: 1, height: 2, width: 2, maximum: 1.0 };
        let x = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(moved(&x, &image, 1, 0), [0.0, 1.0, 0.0, 3.0]);
        assert_eq!(moved(&x, &image, 0, 1), [0.0, 0.0, 1.0, 2.0]);
        assert_eq!(moved(&x, &image, 0, 0), x);
        assert_eq!((l1(&x, &[0.0; 4]), l2(&[3.0, 4.0], &[0.0; 2])), (10.0, 5.0));
    }
}
