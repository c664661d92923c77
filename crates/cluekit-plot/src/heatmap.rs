//! A grid of values as an image, stretched by the viewer.
//!
//! Values become one of 255 shades of a colour map, which keeps the image small; what is not finite is transparent.

use crate::colour::ColourMap;
use crate::raster::{SHADES, enlarged, pixels_a_side, shade, shades_png};
use std::fmt;

/// More values than a picture can show.
const MOST_VALUES: usize = 4_000_000;

/// Pixels on the longer side of an image whose values are not blended.
const SHARP: usize = 400;

/// Why values are no grid that can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridError(String);

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GridError {}

/// Values over a part of the plane, shown as colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Heatmap {
    values: Vec<f64>,
    columns: usize,
    rows: usize,
    /// Left and right edge of the heatmap.
    pub x: (f64, f64),
    /// Lower and upper edge of the heatmap.
    pub y: (f64, f64),
    /// Map from values to colours.
    pub map: ColourMap,
    /// The values at the ends of the colour map. None: the least and the greatest.
    pub range: Option<(f64, f64)>,
    /// What the values are, with their unit, written beside the colour bar.
    pub label: String,
    /// Whether neighbouring values are blended.
    pub smooth: bool,
}

impl Heatmap {
    /// `values` of `rows × columns` equal cells, row by row from the lower edge, each row from the left.
    pub fn new(values: Vec<f64>, columns: usize, rows: usize, x: (f64, f64), y: (f64, f64)) -> Result<Self, GridError> {
        if columns.checked_mul(rows) != Some(values.len()) || values.is_empty() {
            return Err(GridError(format!(
                "{} values do not make a grid of {rows} rows and {columns} columns; give one value a cell",
                values.len()
            )));
        }
        if values.len() > MOST_VALUES {
            return Err(GridError(format!(
                "a grid of {rows} rows and {columns} columns is too fine for a picture; give at most {MOST_VALUES} values"
            )));
        }
        if [x.0, x.1, y.0, y.1].iter().any(|edge| !edge.is_finite()) {
            return Err(GridError(format!("the grid lies between {x:?} and {y:?}; its edges must be finite")));
        }
        let (map, range) = (ColourMap::default(), None);
        Ok(Self { values, columns, rows, x, y, map, range, label: String::new(), smooth: false })
    }

    /// The values at the two ends of the colour map, finite and apart.
    pub(crate) fn limits(&self) -> (f64, f64) {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        let (low, high) = self.range.unwrap_or_else(|| {
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        });
        match (high - low).is_finite() && high > low {
            true => (low, high),
            false if low.is_finite() && low.abs() < 1e300 => (low, low + low.abs().max(1.0)),
            false => (0.0, 1.0),
        }
    }

    /// The image, its first row at the upper edge.
    pub(crate) fn png(&self) -> Vec<u8> {
        let (low, high) = self.limits();
        let rows = self.values.chunks_exact(self.columns).rev();
        let shades: Vec<u8> = rows.flatten().map(|value| shade((value - low) / (high - low))).collect();
        let times = if self.smooth { 1 } else { pixels_a_side(self.columns.max(self.rows), SHARP) };
        shades_png(&enlarged(&shades, self.columns, times), self.columns * times, self.map)
    }
}

/// All shades of `map` above each other, the greatest at the top.
pub(crate) fn colour_bar(map: ColourMap) -> Vec<u8> {
    // Some viewers fade half a pixel along the edges, so one wide pixel would look like a ridge.
    const WIDTH: usize = 16;
    let pixels: Vec<u8> = (0..SHADES).rev().flat_map(|shade| [shade; WIDTH]).collect();
    shades_png(&pixels, WIDTH, map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::decoded;

    #[test]
    fn the_first_row_of_values_lies_at_the_bottom_of_the_image() {
        let mut heatmap = Heatmap::new(vec![0.0, 1.0, f64::NAN, 0.0], 2, 2, (0.0, 1.0), (0.0, 1.0)).unwrap();
        heatmap.smooth = true;
        let pixels = decoded(&heatmap.png());
        let rgb = |share: f64| {
            let c = heatmap.map.at(share);
            [c.red, c.green, c.blue]
        };
        assert_eq!(pixels[3], 0, "the upper left value is not finite, so it is transparent");
        assert_eq!(pixels[4..7], rgb(0.0));
        assert_eq!(pixels[8..11], rgb(0.0));
        assert_eq!(pixels[12..15], rgb(1.0));
    }

    #[test]
    fn a_cell_that_is_not_blended_fills_a_square_of_pixels() {
        let heatmap = Heatmap::new(vec![0.0, 1.0], 2, 1, (0.0, 1.0), (0.0, 1.0)).unwrap();
        let pixels = decoded(&heatmap.png());
        assert_eq!(pixels.len(), 400 * 200 * 4);
        assert_eq!(pixels[..4], pixels[199 * 4..200 * 4]);
        assert_ne!(pixels[199 * 4..200 * 4], pixels[200 * 4..201 * 4]);
        assert_eq!(pixels[..400 * 4], pixels[199 * 400 * 4..]);
    }

    #[test]
    fn limits_are_finite_and_apart_whatever_the_values() {
        let limits =
            |values: &[f64]| Heatmap::new(values.to_vec(), values.len(), 1, (0.0, 1.0), (0.0, 1.0)).unwrap().limits();
        assert_eq!(limits(&[2.0, f64::INFINITY, 5.0]), (2.0, 5.0));
        assert_eq!(limits(&[2.0, 2.0]), (2.0, 4.0));
        assert_eq!(limits(&[f64::NAN]), (0.0, 1.0));
        assert_eq!(limits(&[-1e308, 1e308]), (0.0, 1.0));
    }

    #[test]
    fn a_grid_of_another_size_is_refused() {
        let problem = |n: usize, columns, rows| {
            Heatmap::new(vec![0.0; n], columns, rows, (0.0, 1.0), (0.0, 1.0)).unwrap_err().to_string()
        };
        assert!(problem(5, 2, 3).contains("5 values do not make a grid of 3 rows and 2 columns"));
        assert!(problem(0, 0, 0).contains("0 values"));
        assert!(problem(1, usize::MAX, 2).contains("1 values"));
        assert!(problem(4_000_001, 4_000_001, 1).contains("too fine"));
    }
}
