//! One translation in latent space for a whole group of images: what it adds, what it takes away, and what becomes of
//! single images. [Ley2022, App. E]

use crate::picture::{UNKNOWN, changes, picture, shaded};
use cluekit::data::Image;
use cluekit_plot::Heading;
use cluekit_plot::layout::EDGE;
use cluekit_plot::svg::{Anchor, Frame, Paint, Style, Svg, TextStyle};
use cluekit_plot::text::shortened;
use cluekit_plot::{LABEL_SIZE, TICK_SIZE};

/// The longer side of a picture of the whole group.
const LARGE: f64 = 136.0;
/// The longer side of a picture of an example.
const SMALL: f64 = 84.0;
/// Between pictures of the whole group.
const LARGE_GAP: f64 = 28.0;
/// Between pictures of an example, wide enough for an arrow.
const GAP: f64 = 20.0;
/// Examples side by side.
const COLUMNS: usize = 2;
/// Between examples that stand side by side.
const COLUMN_GAP: f64 = 4.0 * LARGE + 3.0 * LARGE_GAP - 2.0 * EXAMPLE;
/// Width of an example: its three pictures.
const EXAMPLE: f64 = 3.0 * SMALL + 2.0 * GAP;
const WIDTH: f64 = 4.0 * LARGE + 3.0 * LARGE_GAP + 2.0 * EDGE;
/// Height of a line of text.
const LINE: f64 = 16.0;
/// From the line below the group to the first row of examples.
const ABOVE_EXAMPLES: f64 = 48.0;
/// The largest change has the full colour, but what could be noise is left pale.
const LEAST_FULL: f64 = 0.05;

/// What a translation does to a group of images, as shares of full intensity.
#[derive(Clone, Debug, PartialEq)]
pub struct TranslationPicture<'a> {
    /// Which group it is.
    pub title: &'a str,
    /// How well it works, below the title; empty for nothing.
    pub subtitle: &'a str,
    /// The mean of the uncertain inputs' reconstructions.
    pub before: &'a [f32],
    /// The mean of the same after the change.
    pub after: &'a [f32],
    /// Some of the inputs.
    pub examples: Vec<TranslationExample<'a>>,
}

/// What a translation does to one image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TranslationExample<'a> {
    /// The input itself.
    pub input: &'a [f32],
    /// The reconstruction of the input, before the translation.
    pub reconstruction: &'a [f32],
    /// The decoded input after the translation.
    pub after: &'a [f32],
    /// Uncertainty H of the three.
    pub uncertainty: [f32; 3],
}

/// The group before and after, what is added and what is taken away, and below it the examples.
pub fn translation_picture(translation: &TranslationPicture, image: &Image) -> String {
    let heading = Heading::of(translation.title, translation.subtitle, WIDTH);
    let group = heading.height() + 8.0;
    let examples = group + 2.0 * LINE + size(LARGE, image).1 + LINE + 6.0;
    let height = examples + examples_height(translation.examples.len(), image) + EDGE;
    let mut svg = Svg::new(WIDTH, height, translation.title);
    heading.draw(&mut svg);
    draw_group(&mut svg, group, translation, image);
    draw_examples(&mut svg, examples, &translation.examples, image);
    svg.finish()
}

/// The numbers that are written in the picture, by what they are.
pub fn translation_numbers(translation: &TranslationPicture, image: &Image) -> Vec<(String, f64)> {
    let (_, _, most, least) = parts(translation, image);
    let mut numbers = vec![("greatest change added".into(), most), ("greatest change taken away".into(), least)];
    for (place, example) in translation.examples.iter().enumerate() {
        for (what, amount) in ["input", "reconstruction", "counterfactual"].iter().zip(example.uncertainty) {
            numbers.push((format!("H of {what} {}", place + 1), f64::from(amount)));
        }
    }
    numbers
}

/// What is added, what is taken away, and the most of each.
fn parts(translation: &TranslationPicture, image: &Image) -> (Vec<f64>, Vec<f64>, f64, f64) {
    let change = changes(translation.after, translation.before, image);
    // Unlike max and min, clamp keeps what is no number.
    let added: Vec<f64> = change.iter().map(|change| change.clamp(0.0, 1.0)).collect();
    let removed: Vec<f64> = change.iter().map(|change| change.clamp(-1.0, 0.0)).collect();
    let [most, least] = [&added, &removed].map(|part| part.iter().fold(0.0_f64, |most, c| most.max(c.abs())));
    (added, removed, most, least)
}

/// Width and height of a picture whose longer side is `side`; however narrow an image is, it is seen.
fn size(side: f64, image: &Image) -> (f64, f64) {
    let scale = side / image.width.max(image.height).max(1) as f64;
    [image.width, image.height].map(|pixels| (scale * pixels as f64).max(4.0)).into()
}

fn draw_group(svg: &mut Svg, y: f64, translation: &TranslationPicture, image: &Image) {
    let (added, removed, most, least) = parts(translation, image);
    let full = most.max(least).max(LEAST_FULL);
    let panels = [
        (["uncertain inputs,", "reconstructed: mean"], picture(translation.before, image), String::new()),
        (["the same after", "the change: mean"], picture(translation.after, image), String::new()),
        (["what is", "added"], shaded(&added, full, image), format!("at most +{most:.2}")),
        (["what is", "taken away"], shaded(&removed, full, image), format!("at most −{least:.2}")),
    ];
    let (width, height) = size(LARGE, image);
    for (index, (name, png, below)) in panels.iter().enumerate() {
        let x = EDGE + index as f64 * (LARGE + LARGE_GAP);
        for (line, words) in name.iter().enumerate() {
            let foot = y + (line as f64 + 1.0) * LINE - 5.0;
            svg.text((x + LARGE / 2.0, foot), words, &TextStyle::new(LABEL_SIZE).anchored(Anchor::Middle));
        }
        let top = y + 2.0 * LINE;
        draw_image(svg, Frame { x: x + (LARGE - width) / 2.0, y: top, width, height }, png);
        let muted = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) };
        svg.text((x + LARGE / 2.0, top + height + LINE - 2.0), below, &muted.anchored(Anchor::Middle));
    }
    draw_arrow(svg, (EDGE + LARGE + LARGE_GAP / 2.0, y + 2.0 * LINE + height / 2.0));
}

/// From the upper end of one row of examples to the next.
fn row_height(image: &Image) -> f64 {
    size(SMALL, image).1 + LINE + 10.0
}

fn examples_height(count: usize, image: &Image) -> f64 {
    let rows = count.div_ceil(COLUMNS) as f64;
    if count > 0 { ABOVE_EXAMPLES + rows * row_height(image) - 10.0 } else { 0.0 }
}

fn draw_examples(svg: &mut Svg, y: f64, examples: &[TranslationExample], image: &Image) {
    if !examples.is_empty() {
        svg.line((EDGE, y), (WIDTH - EDGE, y), &Style::stroke(Paint::Faint, 1.0));
        svg.text((EDGE, y + 22.0), "Single inputs and their uncertainty H", &TextStyle::new(LABEL_SIZE));
    }
    for (index, example) in examples.iter().enumerate() {
        let x = EDGE + (index % COLUMNS) as f64 * (EXAMPLE + COLUMN_GAP);
        let top = y + ABOVE_EXAMPLES;
        if index < COLUMNS {
            draw_names(svg, (x, top - 5.0));
        }
        draw_example(svg, (x, top + (index / COLUMNS) as f64 * row_height(image)), example, image);
    }
}

/// What the three pictures of an example are.
fn draw_names(svg: &mut Svg, (x, y): (f64, f64)) {
    for (index, name) in ["input", "reconstruction", "counterfactual"].iter().enumerate() {
        let middle = x + index as f64 * (SMALL + GAP) + SMALL / 2.0;
        let style = TextStyle { paint: Paint::Muted, ..TextStyle::new(TICK_SIZE) }.anchored(Anchor::Middle);
        svg.text((middle, y), name, &style);
    }
}

fn draw_example(svg: &mut Svg, (x, y): (f64, f64), example: &TranslationExample, image: &Image) {
    let (width, height) = size(SMALL, image);
    let pictures = [example.input, example.reconstruction, example.after];
    for (index, (values, amount)) in pictures.into_iter().zip(example.uncertainty).enumerate() {
        let left = x + index as f64 * (SMALL + GAP);
        if index > 0 {
            draw_arrow(svg, (left - GAP / 2.0, y + height / 2.0));
        }
        draw_image(svg, Frame { x: left + (SMALL - width) / 2.0, y, width, height }, &picture(values, image));
        let text = shortened(&format!("H {:.2}", amount + 0.0), TICK_SIZE, SMALL + GAP);
        let style = TextStyle { bold: index == 2, ..TextStyle::new(TICK_SIZE) }.anchored(Anchor::Middle);
        svg.text((left + SMALL / 2.0, y + height + LINE - 2.0), &text, &style);
    }
}

fn draw_image(svg: &mut Svg, frame: Frame, png: &[u8]) {
    svg.rect(frame, &Style::fill(Paint::Solid(UNKNOWN)));
    svg.image(frame, png, false);
    svg.rect(frame, &Style::stroke(Paint::Faint, 1.0));
}

/// An arrow to the right around a point.
fn draw_arrow(svg: &mut Svg, (x, y): (f64, f64)) {
    let style = Style::stroke(Paint::Muted, 1.5);
    svg.polyline(&[(x - 6.0, y), (x + 6.0, y)], &style);
    svg.polyline(&[(x + 2.0, y - 4.0), (x + 6.0, y), (x + 2.0, y + 4.0)], &style);
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: Image = Image { channels: 1, height: 2, width: 2, maximum: 255.0 };
    const BEFORE: [f32; 4] = [0.0, 0.5, 1.0, 0.25];
    const AFTER: [f32; 4] = [0.5, 0.5, 0.75, 0.25];

    fn drawn(after: &[f32], examples: usize) -> String {
        let example = TranslationExample {
            input: &BEFORE,
            reconstruction: &BEFORE,
            after: &AFTER,
            uncertainty: [1.381, 1.3, 0.125],
        };
        let picture = TranslationPicture {
            title: "<4 & 9>",
            subtitle: "",
            before: &BEFORE,
            after,
            examples: vec![example; examples],
        };
        translation_picture(&picture, &IMAGE)
    }

    fn texts(document: &str) -> Vec<String> {
        let tree = roxmltree::Document::parse(document).unwrap();
        tree.descendants().filter(|n| n.has_tag_name("text")).filter_map(|n| n.text()).map(String::from).collect()
    }

    #[test]
    fn four_pictures_of_the_group_and_three_an_example() {
        let document = drawn(&AFTER, 3);
        assert_eq!(document.matches("<image").count(), 4 + 3 * 3);
        let texts = texts(&document);
        for (text, times) in [("H 1.38", 3), ("H 1.30", 3), ("H 0.12", 3), ("reconstruction", 2), ("<4 & 9>", 1)] {
            assert_eq!(texts.iter().filter(|t| *t == text).count(), times, "{text} in {texts:?}");
        }
    }

    #[test]
    fn the_largest_changes_are_written_below_what_is_added_and_what_is_taken_away() {
        let texts = texts(&drawn(&AFTER, 0));
        assert!(texts.iter().any(|text| text == "at most +0.50"), "{texts:?}");
        assert!(texts.iter().any(|text| text == "at most −0.25"), "{texts:?}");
    }

    #[test]
    fn every_number_of_the_picture_can_be_had_by_name() {
        let example = TranslationExample {
            input: &BEFORE,
            reconstruction: &BEFORE,
            after: &AFTER,
            uncertainty: [1.5, 1.25, 0.125],
        };
        let picture =
            TranslationPicture { title: "", subtitle: "", before: &BEFORE, after: &AFTER, examples: vec![example] };
        let numbers = translation_numbers(&picture, &IMAGE);
        let named = |name: &str| numbers.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        assert_eq!([named("greatest change added"), named("greatest change taken away")], [Some(0.5), Some(0.25)]);
        assert_eq!([named("H of input 1"), named("H of counterfactual 1")], [Some(1.5), Some(0.125)]);
    }

    #[test]
    fn a_picture_without_examples_or_with_too_few_values_is_well_formed() {
        for (after, examples) in [(&AFTER[..], 0), (&[][..], 1), (&[f32::NAN, 0.5][..], 2)] {
            let document = drawn(after, examples);
            assert!(roxmltree::Document::parse(&document).is_ok());
            assert!(!document.contains("=\"-"), "nothing lies outside the picture");
        }
    }

    #[test]
    fn two_examples_stand_side_by_side_and_the_third_below_them() {
        let height = |examples: usize| -> f64 {
            let document = drawn(&AFTER, examples);
            let tree = roxmltree::Document::parse(&document).unwrap();
            tree.root_element().attribute("height").unwrap().parse().unwrap()
        };
        assert_eq!(height(1), height(2));
        assert!((height(3) - height(2) - row_height(&IMAGE)).abs() < 1e-6);
    }
}
