//! Images in rows, each with a line above it and some below: sets of clues, ways, steps of a computation.

use crate::picture::{UNKNOWN, picture, shaded};
use cluekit::data::Image;
use cluekit_plot::Heading;
use cluekit_plot::layout::EDGE;
use cluekit_plot::svg::{Anchor, Frame, Paint, Style, Svg, TextStyle};
use cluekit_plot::text::{shortened, text_width};
use cluekit_plot::{LABEL_SIZE, TICK_SIZE};

/// Between two images.
const GAP: f64 = 12.0;
/// A line of small text.
const LINE: f64 = 14.0;
/// The name of a row at the most.
const LONGEST_NAME: f64 = 190.0;

/// Rows of images.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiles<'a> {
    /// What they show.
    pub title: &'a str,
    /// What is to be seen; empty for nothing.
    pub caption: &'a str,
    /// Pixels on the longer side of an image.
    pub side: f64,
    /// The rows.
    pub rows: Vec<TileRow>,
}

/// One row of images.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileRow {
    /// Text to the left of the row; empty for none.
    pub name: String,
    /// Images of the row.
    pub tiles: Vec<Tile>,
}

/// One image with its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// What is shown.
    pub content: Content,
    /// Text above the image; empty for none.
    pub above: String,
    /// Text below the image, line by line.
    pub below: Vec<String>,
}

/// What an image shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// An encoded image.
    Picture(Vec<f32>),
    /// Changes of brightness, red for more and blue for less; the largest of the second number has the full colour.
    Changes(Vec<f32>, f32),
    /// Room that is left free.
    Nothing,
}

impl Tile {
    /// An image without words.
    pub fn new(content: Content) -> Self {
        Self { content, above: String::new(), below: vec![] }
    }

    /// An encoded image.
    pub fn picture(x: &[f32]) -> Self {
        Self::new(Content::Picture(x.to_vec()))
    }

    /// This image with a text above it.
    #[must_use]
    pub fn above(self, text: impl Into<String>) -> Self {
        Self { above: text.into(), ..self }
    }

    /// With one more line below it.
    #[must_use]
    pub fn below(mut self, text: impl Into<String>) -> Self {
        self.below.push(text.into());
        self
    }
}

/// The picture as an SVG document.
pub fn tiles(tiles: &Tiles, image: &Image) -> String {
    let layout = Layout::of(tiles, image);
    let heading = Heading::of(tiles.title, tiles.caption, layout.width);
    let heights: Vec<f64> = tiles.rows.iter().map(|row| layout.row_height(row)).collect();
    let height = heading.height() + heights.iter().sum::<f64>() + EDGE;
    let mut svg = Svg::new(layout.width, height, tiles.title);
    heading.draw(&mut svg);
    let mut y = heading.height() + 4.0;
    for (row, height) in tiles.rows.iter().zip(heights) {
        layout.draw(&mut svg, y, row, image);
        y += height;
    }
    svg.finish()
}

/// Where things stand.
struct Layout {
    /// Of one image.
    size: (f64, f64),
    /// From one image to the next.
    step: f64,
    /// Where images begin.
    left: f64,
    /// Of the whole picture.
    width: f64,
}

impl Layout {
    fn of(tiles: &Tiles, image: &Image) -> Self {
        let side = if tiles.side.is_finite() { tiles.side.clamp(16.0, 400.0) } else { 64.0 };
        let scale = side / image.width.max(image.height).max(1) as f64;
        let size: (f64, f64) = [image.width, image.height].map(|pixels| (scale * pixels as f64).max(4.0)).into();
        let words = |tile: &Tile| {
            let lines = tile.below.iter().chain([&tile.above]);
            lines.map(|line| text_width(line, TICK_SIZE)).fold(0.0, f64::max)
        };
        let widest = tiles.rows.iter().flat_map(|row| &row.tiles).map(words).fold(0.0, f64::max);
        let step = size.0.max(widest.min(2.2 * side)) + GAP;
        let names = tiles.rows.iter().map(|row| text_width(&row.name, LABEL_SIZE)).fold(0.0, f64::max);
        let left = EDGE + if names > 0.0 { names.min(LONGEST_NAME) + GAP } else { 0.0 };
        let most = tiles.rows.iter().map(|row| row.tiles.len()).max().unwrap_or(0).max(1);
        let width = (left + most as f64 * step - GAP + EDGE).max(360.0);
        Self { size, step, left, width }
    }

    fn row_height(&self, row: &TileRow) -> f64 {
        let above = row.tiles.iter().any(|tile| !tile.above.is_empty());
        let below = row.tiles.iter().map(|tile| tile.below.len()).max().unwrap_or(0);
        self.size.1 + LINE * (usize::from(above) + below) as f64 + GAP
    }

    fn draw(&self, svg: &mut Svg, y: f64, row: &TileRow, image: &Image) {
        let above = row.tiles.iter().any(|tile| !tile.above.is_empty());
        let top = if above { y + LINE } else { y };
        let name = shortened(&row.name, LABEL_SIZE, LONGEST_NAME);
        svg.text((EDGE, top + self.size.1 / 2.0 + 0.35 * LABEL_SIZE), &name, &TextStyle::new(LABEL_SIZE));
        for (index, tile) in row.tiles.iter().enumerate() {
            let x = self.left + index as f64 * self.step;
            let middle = x + (self.step - GAP) / 2.0;
            let (width, height) = self.size;
            let frame = Frame { x: middle - width / 2.0, y: top, width, height };
            draw_content(svg, frame, &tile.content, image);
            let text = |svg: &mut Svg, foot: f64, words: &str, paint: Paint| {
                let style = TextStyle { paint, ..TextStyle::new(TICK_SIZE) }.anchored(Anchor::Middle);
                svg.text((middle, foot), &shortened(words, TICK_SIZE, self.step), &style);
            };
            text(svg, top - 4.0, &tile.above, Paint::Ink);
            for (line, words) in tile.below.iter().enumerate() {
                text(svg, top + height + LINE * (line as f64 + 1.0) - 2.0, words, Paint::Muted);
            }
        }
    }
}

fn draw_content(svg: &mut Svg, frame: Frame, content: &Content, image: &Image) {
    let png = match content {
        Content::Picture(x) => picture(x, image),
        Content::Changes(changes, full) => {
            let changes: Vec<f64> = changes.iter().map(|&change| f64::from(change)).collect();
            shaded(&changes, f64::from(*full).max(1e-6), image)
        }
        Content::Nothing => return,
    };
    svg.rect(frame, &Style::fill(Paint::Solid(UNKNOWN)));
    svg.image(frame, &png, false);
    svg.rect(frame, &Style::stroke(Paint::Faint, 1.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: Image = Image { channels: 1, height: 2, width: 2, maximum: 255.0 };

    fn drawn(rows: Vec<TileRow>) -> String {
        tiles(&Tiles { title: "<t>", caption: "", side: 60.0, rows }, &IMAGE)
    }

    #[test]
    fn every_tile_is_an_image_with_its_words() {
        let tile = || Tile::picture(&[0.0, 0.5, 1.0, 0.2]).above("4 & 9").below("H 0.12").below("d 3");
        let changes = Tile::new(Content::Changes(vec![0.1, -0.1, 0.0, f32::NAN], 0.1));
        let row = |name: &str| TileRow {
            name: name.into(),
            tiles: vec![tile(), changes.clone(), Tile::new(Content::Nothing)],
        };
        let document = drawn(vec![row("one"), row("two")]);
        let tree = roxmltree::Document::parse(&document).unwrap();
        let count =
            |text: &str| tree.descendants().filter(|n| n.has_tag_name("text") && n.text() == Some(text)).count();
        assert_eq!(document.matches("<image").count(), 4);
        assert_eq!([count("4 & 9"), count("H 0.12"), count("d 3"), count("one"), count("two")], [2, 2, 2, 1, 1]);
    }

    #[test]
    fn no_row_and_too_few_values_are_well_formed() {
        for rows in
            [vec![], vec![TileRow::default()], vec![TileRow { name: "n".into(), tiles: vec![Tile::picture(&[])] }]]
        {
            assert!(roxmltree::Document::parse(&drawn(rows)).is_ok());
        }
    }
}
