//! Cells of colour as a PNG image.

use crate::colour::{Colour, ColourMap};

/// Number of shades of a map that are told apart; the shade of this number is transparent.
pub const SHADES: u8 = 255;

/// The shade at `share` of the way along a map; what is no number is transparent.
pub fn shade(share: f64) -> u8 {
    if share.is_nan() { SHADES } else { (share.clamp(0.0, 1.0) * f64::from(SHADES - 1)).round() as u8 }
}

/// How many pixels on either side a cell needs for `cells` of them to fill `pixels`.
///
/// With enough of them cells stay sharp in viewers that blend all images.
pub fn pixels_a_side(cells: usize, pixels: usize) -> usize {
    (pixels / cells.max(1)).max(1)
}

/// The image of `cells`, row by row from the top, with every cell a square of `times × times` pixels.
pub fn enlarged<T: Copy>(cells: &[T], columns: usize, times: usize) -> Vec<T> {
    let mut pixels = Vec::with_capacity(cells.len() * times * times);
    for row in cells.chunks_exact(columns) {
        let line: Vec<T> = row.iter().flat_map(|&cell| std::iter::repeat_n(cell, times)).collect();
        (0..times).for_each(|_| pixels.extend_from_slice(&line));
    }
    pixels
}

/// A PNG of pixels of any colour, in rows of `columns`.
pub fn colours_png(pixels: &[Colour], columns: usize) -> Vec<u8> {
    let bytes: Vec<u8> = pixels.iter().flat_map(|c| [c.red, c.green, c.blue]).collect();
    encoded(&bytes, columns, pixels.len() / columns, |encoder| encoder.set_color(png::ColorType::Rgb))
}

/// Pixels that are shades of `map` in rows of `columns`, which makes a smaller image.
pub fn shades_png(pixels: &[u8], columns: usize, map: ColourMap) -> Vec<u8> {
    let shades = (0..SHADES).map(|i| map.at(f64::from(i) / f64::from(SHADES - 1)));
    let mut palette: Vec<u8> = shades.flat_map(|c| [c.red, c.green, c.blue]).collect();
    palette.extend([0; 3]);
    let mut opacity = vec![255; usize::from(SHADES)];
    opacity.push(0);

    encoded(pixels, columns, pixels.len() / columns, |encoder| {
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(palette);
        if pixels.contains(&SHADES) {
            encoder.set_trns(opacity);
        }
    })
}

fn encoded(bytes: &[u8], columns: usize, rows: usize, kind: impl FnOnce(&mut png::Encoder<&mut Vec<u8>>)) -> Vec<u8> {
    let mut image = Vec::new();
    // A picture has at most some hundred million pixels, so either side fits into 32 bits.
    let mut encoder = png::Encoder::new(&mut image, columns as u32, rows as u32);
    kind(&mut encoder);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(bytes));
    written.expect("an image whose size fits its pixels is written to memory");
    image
}

/// The pixels of an image: red, green, blue and opacity of each.
///
/// # Panics
/// When the bytes are no PNG image.
pub fn decoded(image: &[u8]) -> Vec<u8> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(image));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().expect("an image");
    let mut out = vec![0; reader.output_buffer_size().expect("an image that fits into memory")];
    reader.next_frame(&mut out).expect("an image");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_becomes_a_square_of_pixels() {
        assert_eq!(enlarged(&[1, 2], 2, 2), [1, 1, 2, 2, 1, 1, 2, 2]);
        assert_eq!([pixels_a_side(28, 168), pixels_a_side(500, 168), pixels_a_side(1, 168)], [6, 1, 168]);
    }

    #[test]
    fn colours_survive_the_journey_through_png() {
        let image = colours_png(&[Colour::BLUE, Colour::WHITE], 1);
        assert_eq!(decoded(&image), [0, 114, 178, 255, 255, 255, 255, 255]);
        let image = shades_png(&[0, SHADES], 2, ColourMap::Diverging);
        assert_eq!(decoded(&image), [24, 70, 140, 255, 0, 0, 0, 0]);
    }
}
