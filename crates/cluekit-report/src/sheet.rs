//! Many small images side by side.

use crate::picture::cells;
use cluekit::data::{Image, Samples};
use cluekit_plot::Colour;
use cluekit_plot::raster::{colours_png, enlarged};

/// Pixels between two images.
const GAP: usize = 1;
const PAPER: Colour = Colour::new(128, 128, 160);
/// Images in a row of the sheet of reconstructions, rows of them, and how many pixels each of theirs becomes.
const COLUMNS: usize = 16;
const ROWS: usize = 4;
const TIMES: usize = 2;
/// Images whose reconstructions fit on a sheet.
pub const RECONSTRUCTED: usize = COLUMNS * ROWS;

/// The PNG of some encoded images in rows of `columns`, each pixel `times × times`.
pub fn contact_sheet(images: &[&[f32]], image: &Image, columns: usize, times: usize) -> Vec<u8> {
    let (columns, step) = (columns.max(1), [image.height + GAP, image.width + GAP]);
    let (height, width) = (images.len().div_ceil(columns).max(1) * step[0] + GAP, columns * step[1] + GAP);
    let mut sheet = vec![PAPER; height * width];
    for (place, x) in images.iter().enumerate() {
        let (top, left) = (GAP + place / columns * step[0], GAP + place % columns * step[1]);
        for (row, line) in cells(x, image).chunks_exact(image.width).enumerate() {
            let start = (top + row) * width + left;
            sheet[start..start + image.width].copy_from_slice(line);
        }
    }
    let times = times.max(1);
    colours_png(&enlarged(&sheet, width, times), width * times)
}

/// Images with what a generative model makes of them, `made` row by row: under each row of images the row of
/// reconstructions.
pub fn reconstruction_sheet(samples: &Samples, made: &[f32], image: &Image) -> Vec<u8> {
    let count = samples.len();
    let made: Vec<&[f32]> = made.chunks_exact(samples.width).collect();
    let originals: Vec<&[f32]> = (0..count).map(|row| samples.row(row)).collect();
    let pairs = originals.chunks(COLUMNS).zip(made.chunks(COLUMNS));
    // A last row that is not full is left out, so that what belongs together stays above each other.
    let full = pairs.filter(|(row, _)| row.len() == COLUMNS || count < COLUMNS);
    let rows: Vec<&[f32]> = full.flat_map(|(originals, made)| [originals, made].concat()).collect();
    contact_sheet(&rows, image, COLUMNS.min(count), TIMES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::data::Targets;
    use cluekit_plot::raster::decoded;

    #[test]
    fn images_lie_in_rows_with_paper_between_them() {
        let image = Image { channels: 1, height: 1, width: 2, maximum: 255.0 };
        let bytes = decoded(&contact_sheet(&[&[0.0, 1.0], &[1.0, 1.0], &[0.0, 0.0]], &image, 2, 1));
        let (pixels, _) = bytes.as_chunks::<4>();
        let grey = |level: u8| [level, level, level, 255];
        let paper = [128, 128, 160, 255];
        assert_eq!(pixels.len(), 7 * 5);
        assert_eq!(pixels[7..14], [paper, grey(0), grey(255), paper, grey(255), grey(255), paper]);
        assert_eq!(pixels[21..28], [paper, grey(0), grey(0), paper, paper, paper, paper]);
    }

    #[test]
    fn a_last_row_of_reconstructions_that_is_not_full_is_left_out() {
        let image = Image { channels: 1, height: 1, width: 1, maximum: 255.0 };
        let samples = Samples { x: vec![0.0; 20], width: 1, y: Targets::Unknown(20), weights: None };
        let pixels = decoded(&reconstruction_sheet(&samples, &[1.0; 20], &image)).len() / 4;
        // 16 images above 16 reconstructions, paper around each, everything twice as large.
        assert_eq!(pixels, (2 * (16 * 2 + 1)) * (2 * (2 * 2 + 1)));
    }
}
