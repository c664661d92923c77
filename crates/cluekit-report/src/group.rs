//! What one learned change does to a group: how far it reaches in words, and of images its mean and some inputs.

use crate::{TranslationExample, TranslationPicture, shift_table, translation_numbers, translation_picture};
use cluekit::data::Schema;
use cluekit::explainer::{ChangedExample, GlobalExplanation, GlobalSet};
use cluekit::measure::{MeanInterval, Reach};
use std::fmt::Write;

/// Features listed for a translation.
const MOST_FEATURES: usize = 12;

/// How far each change reaches on inputs that it was not learned from, and what it changes in a table.
pub fn global_text(set: &GlobalSet) -> String {
    let mut text = String::new();
    for group in &set.groups {
        let _ = writeln!(text, "{}", group.name);
        let (above, left_out) = (group.uncertain_above, group.impossible);
        let Some(reach) = &group.reach else {
            let _ = match left_out {
                0 => writeln!(text, "  no test input of this group is more uncertain than {above:.3}\n"),
                _ => writeln!(text, "  none of its {left_out} uncertain test inputs can meet the constraints\n"),
            };
            continue;
        };
        let percent =
            |i: &MeanInterval| format!("{:.0}% ({:.0} to {:.0}%)", 100.0 * i.mean, 100.0 * i.low, 100.0 * i.high);
        let number = |i: &MeanInterval| format!("{:.2} ({:.2} to {:.2})", i.mean, i.low, i.high);
        let inputs = if reach.inputs == 1 { "input" } else { "inputs" };
        let _ = writeln!(text, "  on {} held-out {inputs} with an uncertainty above {:.3}:", reach.inputs, above);
        if left_out > 0 {
            let _ = writeln!(text, "  ({left_out} more cannot meet the constraints)");
        }
        let _ = writeln!(text, "  uncertainty {} before, {} after", number(&reach.before), number(&reach.after));
        let _ = writeln!(text, "  {} become certain (below {})", percent(&reach.certain), set.threshold);
        if let Some(kept) = &reach.class_kept {
            let _ = writeln!(text, "  {} have the class that was asked for", percent(kept));
        }
        let _ = writeln!(text, "  distance {}", number(&reach.distance));
        if !group.changes.is_empty() {
            let _ = writeln!(text, "  what changes, on average:");
            text += &shift_table(&group.changes, MOST_FEATURES);
        }
        text.push('\n');
    }
    text
}

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
