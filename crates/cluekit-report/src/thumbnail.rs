//! Small pictures for a page: one pixel of the file for one of the image, or for some of a large one.

use crate::picture::{DIFFERENCES, FULL, UNKNOWN, cells, changes};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluekit::data::Image;
use cluekit_plot::Colour;
use cluekit_plot::raster::colours_png;

/// Pixels on the longer side at the most: a page holds hundreds of pictures.
const MOST: usize = 64;

/// The PNG of an encoded image, as base64.
pub(super) fn picture(x: &[f32], image: &Image) -> String {
    encoded(&cells(x, image), image)
}

/// The PNG of what differs from `original`, red for more and blue for less, as base64.
pub(super) fn difference(x: &[f32], original: &[f32], image: &Image) -> String {
    let colour = |change: &f64| if change.is_nan() { UNKNOWN } else { DIFFERENCES.at(0.5 + 0.5 * change / FULL) };
    encoded(&changes(x, original, image).iter().map(colour).collect::<Vec<_>>(), image)
}

fn encoded(cells: &[Colour], image: &Image) -> String {
    let (pixels, width) = reduced(cells, image.width, image.height);
    STANDARD.encode(colours_png(&pixels, width))
}

/// The mean colours of squares, just so large that no side is longer than [`MOST`].
fn reduced(cells: &[Colour], width: usize, height: usize) -> (Vec<Colour>, usize) {
    let side = width.max(height).div_ceil(MOST).max(1);
    if side == 1 {
        return (cells.to_vec(), width);
    }
    let (columns, rows) = (width.div_ceil(side), height.div_ceil(side));
    let mean = |row: usize, column: usize| {
        let mut sums = [0_usize; 4];
        for y in row * side..((row + 1) * side).min(height) {
            for cell in &cells[y * width + column * side..y * width + ((column + 1) * side).min(width)] {
                let parts = [cell.red, cell.green, cell.blue, 1].map(usize::from);
                sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
        }
        // The mean of bytes is a byte.
        let [red, green, blue] = [0, 1, 2].map(|at| ((sums[at] + sums[3] / 2) / sums[3]) as u8);
        Colour { red, green, blue }
    };
    (
        (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(r, c)| mean(r, c)).collect(),
        columns,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_image_becomes_the_means_of_its_squares() {
        // 128 columns in squares of two: black and white side by side are grey.
        let cells: Vec<Colour> = (0..256).map(|i| if i % 2 == 0 { Colour::BLACK } else { Colour::WHITE }).collect();
        let (pixels, width) = reduced(&cells, 128, 2);
        assert_eq!((pixels.len(), width), (64, 64));
        assert!(pixels.iter().all(|&pixel| pixel == Colour::new(128, 128, 128)));
        assert_eq!(reduced(&cells, 64, 4).1, 64, "small enough");
        let (pixels, width) = reduced(&cells[..130], 65, 2);
        assert_eq!((pixels.len(), width), (33, 33), "the last square is narrower");
    }
}
