//! The legend: a row of symbols and names above the plot, where it can hide nothing.

use crate::colour::Colour;
use crate::draw::{BAND_OPACITY, LINE_WIDTH, mark, reference_style};
use crate::layer::{Layer, Scatter};
use crate::svg::{Frame, Paint, Style, Svg, TextStyle};
use crate::text::{shortened, text_width};

pub(crate) const ROW_HEIGHT: f64 = 19.0;
const TEXT_SIZE: f64 = 12.0;
const SYMBOL_WIDTH: f64 = 20.0;
const SYMBOL_GAP: f64 = 6.0;
const ENTRY_GAP: f64 = 16.0;
const MOST_ROWS: usize = 5;

/// A named layer with its colour.
#[derive(Clone)]
pub(crate) struct Entry<'a> {
    /// None where there is only something to say.
    layer: Option<&'a Layer>,
    colour: Colour,
    name: String,
}

impl Entry<'_> {
    fn width(&self) -> f64 {
        SYMBOL_WIDTH + SYMBOL_GAP + text_width(&self.name, TEXT_SIZE)
    }
}

/// The named ones among `layers`, in a few rows no wider than `width`.
pub(crate) fn rows<'a>(layers: &'a [Layer], colours: &[Colour], width: f64) -> Vec<Vec<Entry<'a>>> {
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    let mut taken = 0.0;
    for (layer, &colour) in layers.iter().zip(colours) {
        let Some(name) = layer.name() else { continue };
        let name = shortened(name, TEXT_SIZE, width - SYMBOL_WIDTH - SYMBOL_GAP);
        let entry = Entry { layer: Some(layer), colour, name };
        match rows.last_mut() {
            Some(row) if taken + ENTRY_GAP + entry.width() <= width => {
                taken += ENTRY_GAP + entry.width();
                row.push(entry);
            }
            _ => {
                taken = entry.width();
                rows.push(vec![entry]);
            }
        }
    }
    bounded(rows)
}

/// The first rows, and in place of the others how many names are missing.
fn bounded(mut rows: Vec<Vec<Entry>>) -> Vec<Vec<Entry>> {
    if rows.len() > MOST_ROWS {
        let missing: usize = rows.split_off(MOST_ROWS - 1).iter().map(Vec::len).sum();
        rows.push(vec![Entry { layer: None, colour: Colour::BLACK, name: format!("and {missing} more") }]);
    }
    rows
}

/// Draws `rows` below each other, from the upper left corner on.
pub(crate) fn draw(svg: &mut Svg, rows: &[Vec<Entry>], (left, top): (f64, f64)) {
    for (index, row) in rows.iter().enumerate() {
        let middle = top + (index as f64 + 0.5) * ROW_HEIGHT;
        let mut x = left;
        for entry in row {
            draw_symbol(svg, entry, (x, middle));
            let place = (x + SYMBOL_WIDTH + SYMBOL_GAP, middle + 0.35 * TEXT_SIZE);
            svg.text(place, &entry.name, &TextStyle::new(TEXT_SIZE));
            x += entry.width() + ENTRY_GAP;
        }
    }
}

fn draw_symbol(svg: &mut Svg, entry: &Entry, (x, y): (f64, f64)) {
    let colour = Paint::Solid(entry.colour);
    let ends = ((x, y), (x + SYMBOL_WIDTH, y));
    let centre = (x + SYMBOL_WIDTH / 2.0, y);
    let swatch = Frame { x: x + 3.0, y: y - 5.0, width: SYMBOL_WIDTH - 6.0, height: 10.0 };
    let Some(layer) = entry.layer else { return };
    match layer {
        Layer::Line(line) => {
            if !line.band.is_empty() {
                let band = Frame { x, width: SYMBOL_WIDTH, ..swatch };
                svg.rect(band, &Style { opacity: BAND_OPACITY, ..Style::fill(colour) });
            }
            svg.line(ends.0, ends.1, &Style { dashed: line.dashed, ..Style::stroke(colour, LINE_WIDTH) });
            if line.dots {
                mark(svg, centre, &Scatter::default(), entry.colour);
            }
        }
        Layer::Scatter(scatter) => {
            let shown = Scatter { points: Vec::new(), radius: scatter.radius.clamp(3.0, 5.5), name: None, ..*scatter };
            mark(svg, centre, &Scatter { opacity: 1.0, ..shown }, entry.colour);
        }
        Layer::Bars(bars) => svg.rect(swatch, &Style { opacity: bars.opacity, ..Style::fill(colour) }),
        Layer::Reference(_) => svg.line(ends.0, ends.1, &reference_style()),
        Layer::Heatmap(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{Line, Scatter};

    fn named(name: &str) -> Layer {
        Line { name: Some(name.to_owned()), ..Line::default() }.into()
    }

    #[test]
    fn entries_that_do_not_fit_begin_a_new_row_and_nameless_layers_have_none() {
        let layers = [named("first"), Scatter::default().into(), named("second"), named("third")];
        let colours = [Colour::BLUE; 4];
        let names = |width: f64| -> Vec<Vec<String>> {
            rows(&layers, &colours, width).into_iter().map(|row| row.into_iter().map(|e| e.name).collect()).collect()
        };
        assert_eq!(names(600.0), [["first", "second", "third"]]);
        assert_eq!(names(160.0), [vec!["first", "second"], vec!["third"]]);
        assert_eq!(names(80.0).len(), 3);
    }

    #[test]
    fn no_row_is_wider_than_it_may_be() {
        let layers = [named(&"long name ".repeat(50)), named("x")];
        for row in rows(&layers, &[Colour::BLUE; 2], 300.0) {
            assert!(row.iter().map(Entry::width).sum::<f64>() <= 300.0);
        }
    }

    #[test]
    fn a_legend_of_very_many_names_says_how_many_are_missing() {
        let layers: Vec<Layer> = (0..1000).map(|i| named(&format!("class {i}"))).collect();
        let rows = rows(&layers, &[Colour::BLUE; 1000], 600.0);
        assert_eq!(rows.len(), 5);
        let shown: usize = rows[..4].iter().map(Vec::len).sum();
        assert_eq!(rows[4][0].name, format!("and {} more", 1000 - shown));
    }
}
