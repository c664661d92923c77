//! What one learned change does to a group of images: its mean, and what becomes of some inputs.

use crate::{TranslationExample, TranslationPicture, translation_numbers, translation_picture};
use cluekit::data::Schema;
use cluekit::explainer::{ChangedExample, GlobalExplanation};
use cluekit::measure::Reach;

/// The picture of a group as SVG, and the numbers that are written in it; a table has none.
///
/// `split` says which rows the change was applied to.
pub fn group_picture(group: &GlobalExplanation, schema: &Schema, split: &str) -> Option<(String, Vec<(String, f64)>)> {
    let (image, change) = (schema.image.as_ref()?, group.change.as_ref()?);
    let title = format!("Uncertain → certain: {}", group.name);
    let subtitle = group.reach.as_ref().map_or(String::new(), |reach| one_line(reach, split));
    let picture = TranslationPicture {
        title: &title,
        subtitle: &subtitle,
        before: &change.before,
        after: &change.after,
        examples: group.examples.iter().map(pictured).collect(),
    };
    Some((translation_picture(&picture, image), translation_numbers(&picture, image)))
}

fn pictured(example: &ChangedExample) -> TranslationExample<'_> {
    let ChangedExample { input, reconstruction, after, uncertainty } = example;
    TranslationExample { input, reconstruction, after, uncertainty: *uncertainty }
}

fn one_line(reach: &Reach, split: &str) -> String {
    let inputs = if reach.inputs == 1 { "input" } else { "inputs" };
    format!(
        "{} {split} {inputs}: mean H {:.2} before, {:.2} after; mean distance d {:.1}; {:.0}% become certain",
        reach.inputs,
        reach.before.mean,
        reach.after.mean,
        reach.distance.mean,
        100.0 * reach.certain.mean
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::Seed;
    use cluekit::measure::Outcome;

    #[test]
    fn a_picture_says_which_inputs_it_shows() {
        let outcome = Outcome { before: 0.6, after: 0.1, distance: 2.0, certain: true, class_kept: None };
        let reach = Reach::of(&[outcome], Seed(0)).unwrap();
        assert!(one_line(&reach, "training").starts_with("1 training input: mean H 0.60 before"));
    }
}
