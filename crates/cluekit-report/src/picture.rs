//! An encoded image as a person sees it, and what differs between two of them.
//!
//! Values are shares of full intensity. What lies outside 0 to 1 is clipped; what is no number is mid grey.

use cluekit::data::Image;
use cluekit_plot::raster::{colours_png, enlarged, pixels_a_side, shade, shades_png};
use cluekit_plot::{Colour, ColourMap};

/// Pixels on the longer side of a small image: twice what is shown, for fine screens.
const PIXELS: usize = 168;

/// Where a value is no number.
pub(super) const UNKNOWN: Colour = Colour::new(128, 128, 128);

/// The difference that has the full colour, as a share of the whole range; few changes go all the way.
pub(super) const FULL: f64 = 0.6;

/// How differences become colours: blue for less, red for more.
pub(super) const DIFFERENCES: ColourMap = ColourMap::Diverging;

/// The PNG of `x`: in its colours if it has three channels, else grey.
pub(super) fn picture(x: &[f32], image: &Image) -> Vec<u8> {
    let times = times(image);
    colours_png(&enlarged(&cells(x, image), image.width, times), image.width * times)
}

/// The colour of each pixel of `x`, row by row.
pub(super) fn cells(x: &[f32], image: &Image) -> Vec<Colour> {
    (0..image.height * image.width).map(|pixel| colour(x, image, pixel)).collect()
}

/// The PNG of `x − original`, its mean over the channels, in [`DIFFERENCES`]; what is no number is transparent.
pub(super) fn difference(x: &[f32], original: &[f32], image: &Image) -> Vec<u8> {
    shaded(&changes(x, original, image), FULL, image)
}

/// How much brighter each pixel of `x` is than that of `original`, its mean over the channels.
pub(super) fn changes(x: &[f32], original: &[f32], image: &Image) -> Vec<f64> {
    let change = |pixel: usize| mean_level(x, image, pixel) - mean_level(original, image, pixel);
    (0..image.height * image.width).map(change).collect()
}

/// The PNG of `changes` in [`DIFFERENCES`], a change of `full` in its full colour; what is no number is transparent.
pub(super) fn shaded(changes: &[f64], full: f64, image: &Image) -> Vec<u8> {
    let cells: Vec<u8> = changes.iter().map(|change| shade(0.5 + 0.5 * change / full)).collect();
    let times = times(image);
    shades_png(&enlarged(&cells, image.width, times), image.width * times, DIFFERENCES)
}

fn times(image: &Image) -> usize {
    pixels_a_side(image.width.max(image.height), PIXELS)
}

fn colour(x: &[f32], image: &Image, pixel: usize) -> Colour {
    let levels = match image.channels {
        3 => [0, 1, 2].map(|channel| level(x, image, channel, pixel)),
        _ => [mean_level(x, image, pixel); 3],
    };
    match levels.iter().any(|level| level.is_nan()) {
        true => UNKNOWN,
        false => {
            let [red, green, blue] = levels.map(|level| (255.0 * level).round() as u8);
            Colour { red, green, blue }
        }
    }
}

fn mean_level(x: &[f32], image: &Image, pixel: usize) -> f64 {
    let sum: f64 = (0..image.channels).map(|channel| level(x, image, channel, pixel)).sum();
    sum / image.channels as f64
}

/// One value between 0 and 1; not a number where `x` has none.
fn level(x: &[f32], image: &Image, channel: usize, pixel: usize) -> f64 {
    let value = x.get(channel * image.height * image.width + pixel).copied().unwrap_or(f32::NAN);
    f64::from(value).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit_plot::raster::decoded;

    /// The pixels of a decoded PNG, without those that only enlarge it.
    fn cells(png: &[u8], image: &Image) -> Vec<[u8; 4]> {
        let (times, pixels) = (times(image), decoded(png));
        let rows = pixels.chunks_exact(4 * image.width * times).step_by(times);
        rows.flat_map(|row| row.chunks_exact(4).step_by(times).map(|p| [p[0], p[1], p[2], p[3]]).collect::<Vec<_>>())
            .collect()
    }

    fn image(channels: usize, height: usize, width: usize) -> Image {
        Image { channels, height, width, maximum: 255.0 }
    }

    #[test]
    fn grey_values_are_clipped_and_what_is_no_number_is_mid_grey() {
        let image = image(1, 2, 3);
        let shown = cells(&picture(&[0.0, 0.2, 1.0, -3.0, f32::INFINITY, f32::NAN], &image), &image);
        assert_eq!(shown.iter().map(|p| p[0]).collect::<Vec<_>>(), [0, 51, 255, 0, 255, 128]);
        assert!(shown.iter().all(|p| p[0] == p[1] && p[1] == p[2] && p[3] == 255));
    }

    #[test]
    fn colours_are_stored_channel_by_channel() {
        let image = image(3, 1, 2);
        let shown = cells(&picture(&[1.0, 0.0, 0.2, 0.4, 0.0, 1.0], &image), &image);
        assert_eq!(shown, [[255, 51, 0, 255], [0, 102, 255, 255]]);
    }

    #[test]
    fn more_is_red_less_is_blue_and_the_same_is_neutral() {
        let image = image(1, 1, 4);
        let shown = cells(&difference(&[1.0, 0.0, 0.5, f32::NAN], &[0.0, 1.0, 0.5, 0.0], &image), &image);
        let [red, blue] = [1.0, 0.0].map(|share| DIFFERENCES.at(share));
        assert_eq!(shown[0], [red.red, red.green, red.blue, 255]);
        assert_eq!(shown[1], [blue.red, blue.green, blue.blue, 255]);
        assert_eq!(shown[2], [246, 246, 246, 255]);
        assert_eq!(shown[3][3], 0, "what is no number is transparent");
    }

    #[test]
    fn a_full_change_has_the_full_colour_and_half_of_it_half() {
        let image = image(1, 1, 3);
        assert_eq!(changes(&[0.75, 0.0, 1.0], &[0.5, 0.0, 2.0], &image), [0.25, 0.0, 0.0]);
        let shown = cells(&shaded(&[0.2, 0.1, 0.0], 0.2, &image), &image);
        // The middle of 255 shades is shade 127, so a half is shade 191 of 254.
        let expected = [1.0, 191.0 / 254.0, 0.5].map(|share| DIFFERENCES.at(share));
        assert_eq!(shown, expected.map(|c| [c.red, c.green, c.blue, 255]));
    }

    #[test]
    fn the_difference_of_colours_is_their_mean() {
        let image = image(3, 1, 1);
        let shown = cells(&difference(&[1.0, 0.0, 0.5], &[0.0, 1.0, 0.5], &image), &image);
        assert_eq!(shown, [[246, 246, 246, 255]]);
    }

    #[test]
    fn an_image_of_any_size_and_too_few_values_is_drawn() {
        for image in [image(1, 1, 1), image(2, 5, 300), image(3, 40, 7)] {
            assert_eq!(cells(&picture(&[0.5], &image), &image).len(), image.height * image.width);
        }
    }
}
