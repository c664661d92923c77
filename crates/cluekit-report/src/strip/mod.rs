//! An input and its counterfactuals as pictures, side by side.
//!
//! The input and its reconstruction stand on the left, then the clues in rows of ten. Above each are its label and
//! uncertainty H, below its distances d and ρ from the input, and what was added and removed. [Ley2022, Fig. 2]

mod header;
mod panel;

use cluekit::data::Image;
use cluekit::explanation::Explanation;
use cluekit::wording;
use cluekit_plot::layout::EDGE;
use cluekit_plot::svg::Svg;
use header::Header;
use panel::{LINE, Panel};

/// Clues side by side.
const COLUMNS: usize = 10;
/// The longer side of a picture.
const SIDE: f64 = 84.0;
/// From one picture to the next.
const GAP: f64 = 14.0;
/// Between the reconstruction and the clues.
const WIDE_GAP: f64 = 26.0;
/// Below a row, before the next one.
const ROW_GAP: f64 = 18.0;
/// Enough for the legend.
const LEAST_WIDTH: f64 = 440.0;

/// The input, its reconstruction and at most `most` of its clues, the accepted ones first, as an SVG document.
pub fn strip(explanation: &Explanation, image: &Image, classes: &[String], most: usize) -> String {
    let panels = panel::panels(explanation, classes, most);
    let sheet = Sheet::of(&panels, image);
    let title = wording::heading(&explanation.input, classes, "", "");
    let header = Header::of(&title, (sheet.clues, explanation.clues.len()), sheet.width);
    let mut svg = Svg::new(sheet.width, header.height() + sheet.height() + EDGE, &title);
    header.draw(&mut svg);
    for (index, panel) in panels.iter().enumerate() {
        let (x, y) = sheet.place(index);
        panel.draw(&mut svg, (x, header.height() + y), &sheet, &explanation.input.x);
    }
    svg.finish()
}

/// The numbers that are written in the strip, by what they are.
pub fn strip_numbers(explanation: &Explanation, most: usize) -> Vec<(String, f64)> {
    let Explanation { input, reconstruction, clues, .. } = explanation;
    let mut numbers = vec![
        ("H of the input".into(), f64::from(input.uncertainty.total)),
        ("H of the reconstruction".into(), f64::from(reconstruction.uncertainty.total)),
        ("d of the reconstruction".into(), f64::from(reconstruction.distance)),
    ];
    for (index, clue) in panel::accepted_first(clues).into_iter().take(most) {
        let amounts = [("H", clue.uncertainty.total), ("d", clue.distance.input), ("ρ", clue.distance.latent)];
        numbers.extend(amounts.map(|(what, value)| (format!("{what} of clue {}", index + 1), f64::from(value))));
    }
    numbers
}

/// Where everything stands.
struct Sheet<'a> {
    image: &'a Image,
    clues: usize,
    width: f64,
    /// Size of a picture.
    picture: (f64, f64),
    /// Whether H has a line of its own, because a label needs one.
    long_labels: bool,
}

impl<'a> Sheet<'a> {
    fn of(panels: &[Panel], image: &'a Image) -> Self {
        let scale = SIDE / image.width.max(image.height) as f64;
        // However narrow an image is, it is seen.
        let picture = [image.width, image.height].map(|size| (scale * size as f64).max(4.0)).into();
        let clues = panels.len() - 2;
        let right = Self::column(2 + clues.min(COLUMNS)) - GAP;
        let long_labels = panels.iter().any(|panel| panel.label_room() < panel.label_width());
        Self { image, clues, width: (right + EDGE).max(LEAST_WIDTH), picture, long_labels }
    }

    /// Where a column begins; the input has the first one.
    fn column(column: usize) -> f64 {
        EDGE + column as f64 * (SIDE + GAP) + if column > 1 { WIDE_GAP - GAP } else { 0.0 }
    }

    /// From the top of a panel to its picture.
    fn above_picture(&self) -> f64 {
        if self.long_labels { 3.0 * LINE } else { 2.0 * LINE }
    }

    /// From the top of a panel to the picture of its difference.
    fn above_difference(&self) -> f64 {
        self.above_picture() + self.picture.1 + LINE + 3.0
    }

    fn panel_height(&self) -> f64 {
        self.above_difference() + self.picture.1
    }

    fn height(&self) -> f64 {
        let rows = self.clues.div_ceil(COLUMNS).max(1) as f64;
        rows * (self.panel_height() + ROW_GAP) - ROW_GAP
    }

    /// The upper left corner of a panel, counted from the input on.
    fn place(&self, panel: usize) -> (f64, f64) {
        match panel.checked_sub(2) {
            None => (Self::column(panel), 0.0),
            Some(clue) => {
                let row = (clue / COLUMNS) as f64;
                (Self::column(2 + clue % COLUMNS), row * (self.panel_height() + ROW_GAP))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::fixture::{clue, digits};
    use cluekit::explanation::Label;

    const IMAGE: Image = Image { channels: 1, height: 2, width: 2, maximum: 255.0 };

    fn texts(document: &str) -> Vec<String> {
        let tree = roxmltree::Document::parse(document).unwrap();
        tree.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).map(String::from).collect()
    }

    fn drawn(explanation: &Explanation, most: usize) -> String {
        let classes: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
        strip(explanation, &IMAGE, &classes, most)
    }

    #[test]
    fn every_picture_has_its_numbers_and_all_but_the_input_their_difference() {
        let document = drawn(&digits(2), 10);
        assert_eq!(document.matches("<image").count(), 4 + 3);
        let texts = texts(&document);
        assert_eq!(texts[0], "Input 17: predicted 4, H 1.38, target 9");
        for expected in ["input", "reconstruction", "clue 1", "clue 2", "9", "H 0.02", "d 27.1", "ρ 3.4"] {
            assert!(texts.iter().any(|text| text == expected), "{expected} in {texts:?}");
        }
        assert!(
            texts.iter().any(|text| text.starts_with("added")) && texts.iter().any(|text| text.starts_with("removed"))
        );
    }

    #[test]
    fn accepted_clues_come_first_and_the_others_say_that_they_are_rejected() {
        let mut explanation = digits(3);
        explanation.clues[0].accepted = false;
        let texts = texts(&drawn(&explanation, 10));
        let headings: Vec<_> = texts.iter().filter(|text| text.starts_with("clue")).collect();
        assert_eq!(headings, ["clue 2", "clue 3", "clue 1 rejected"]);
    }

    #[test]
    fn at_most_so_many_clues_are_shown_and_the_caption_says_of_how_many() {
        let document = drawn(&digits(5), 2);
        assert_eq!(document.matches("clue ").count(), 2);
        assert!(texts(&document).iter().any(|text| text.starts_with("2 of 5 clues.")));
    }

    #[test]
    fn a_hundred_clues_fill_ten_rows_of_ten() {
        let explanation = digits(100);
        let sheet = Sheet::of(&panel::panels(&explanation, &[], 100), &IMAGE);
        assert_eq!(sheet.place(2).1, sheet.place(11).1);
        assert_eq!(sheet.place(2).0, sheet.place(12).0);
        let (x, y) = sheet.place(101);
        assert_eq!((x + SIDE + EDGE, y + sheet.panel_height()), (sheet.width, sheet.height()));
    }

    #[test]
    fn a_label_that_needs_it_has_a_line_of_its_own() {
        let sheet = |name: &str| {
            let classes = vec![name.to_owned(); 10];
            Sheet::of(&panel::panels(&digits(1), &classes, 1), &IMAGE).above_picture()
        };
        assert!(sheet("omega letter") > sheet("9"));
        let document = strip(&digits(1), &IMAGE, &vec!["omega letter".to_owned(); 10], 1);
        assert!(texts(&document).iter().any(|text| text == "omega letter"));
    }

    #[test]
    fn no_clue_and_values_that_are_no_numbers_still_make_a_picture() {
        let mut explanation = digits(0);
        explanation.input.x = vec![f32::NAN];
        explanation.clues.push(clue(Label::Value(f32::NAN), vec![]));
        explanation.clues[0].distance.input = f32::INFINITY;
        for most in [0, 10] {
            assert!(roxmltree::Document::parse(&drawn(&explanation, most)).is_ok());
        }
    }
}
