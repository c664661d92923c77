//! An audit of images with its pictures: those of the cards, and those of the groups.

use crate::group::group_picture;
use crate::{svg_figure, thumbnail};
use cluekit::audit::{Audit, Gallery, GroupCard};
use cluekit::data::{Image, Schema};
use cluekit::explainer::{Audited, GlobalExplanation};
use cluekit::explanation::Explanation;

/// Groups of images that are pictured: those with the most uncertain inputs.
const MOST_PICTURES: usize = 12;

/// The audit with all its pictures; one of a table is what it is.
pub fn illustrated(audited: Audited, schema: &Schema) -> Audit {
    let Audited { mut audit, explanations, groups } = audited;
    let Some(image) = &schema.image else { return audit };
    if let Some(gallery) = &mut audit.gallery {
        illustrate(gallery, &explanations, image);
    }
    let split = if audit.subject.split == "train" { "training" } else { audit.subject.split.as_str() };
    if let Some(cards) = &mut audit.groups {
        for place in most_uncertain(&cards.groups) {
            draw_group(&mut cards.groups[place], &groups[place], schema, split);
        }
    }
    audit
}

/// Draws the inputs, reconstructions and clues of a gallery of images; `explanations` are those that its cards came from.
pub fn illustrate(gallery: &mut Gallery, explanations: &[Explanation], image: &Image) {
    for (card, explanation) in gallery.cards.iter_mut().zip(explanations) {
        let original = &explanation.input.x;
        card.picture = Some(thumbnail::picture(original, image));
        card.reconstruction = Some(thumbnail::picture(&explanation.reconstruction.x, image));
        for clue in &mut card.clues {
            let x = &explanation.clues[clue.number - 1].x;
            clue.picture = Some(thumbnail::picture(x, image));
            clue.difference = Some(thumbnail::difference(x, original, image));
        }
    }
}

fn draw_group(card: &mut GroupCard, group: &GlobalExplanation, schema: &Schema, split: &str) {
    let name = &card.name;
    let caption = format!(
        "What the change for {name} adds and takes away on average, and what it makes of some inputs: the input, its \
         reconstruction, and the same after the change."
    );
    // What left the finite numbers has no reach, and no picture.
    let picture = group_picture(group, schema, split).filter(|_| card.reach.is_some());
    card.picture = picture.map(|(picture, numbers)| svg_figure(&picture, &caption).with(numbers));
}

/// The groups with the most uncertain inputs.
fn most_uncertain(groups: &[GroupCard]) -> Vec<usize> {
    let inputs = |group: &GroupCard| group.reach.as_ref().map_or(0, |reach| reach.inputs);
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(inputs(&groups[place])));
    order.truncate(MOST_PICTURES);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::Seed;
    use cluekit::audit::fixture::{digits, table};
    use cluekit::measure::{Outcome, Reach};

    #[test]
    fn every_card_and_every_clue_gets_its_picture() {
        let image = Image { channels: 1, height: 2, width: 2, maximum: 255.0 };
        let schema = Schema { image: Some(image), features: vec![], ..table() };
        let explanations = [digits(3)];
        let mut gallery = Gallery::of(&explanations, &schema, "δ-CLUE", None);
        illustrate(&mut gallery, &explanations, &image);
        let card = &gallery.cards[0];
        assert!(card.picture.is_some() && card.reconstruction.is_some());
        assert!(card.clues.iter().all(|clue| clue.picture.is_some() && clue.difference.is_some()));
    }

    #[test]
    fn the_groups_with_the_most_uncertain_inputs_are_pictured() {
        let group = |inputs: usize| {
            let outcome = Outcome { before: 0.6, after: 0.1, distance: 2.0, certain: true, class_kept: None };
            GroupCard {
                name: inputs.to_string(),
                uncertain_above: 0.5,
                lambda_theta: None,
                reach: Reach::of(&vec![outcome; inputs], Seed(0)),
                certain_unchanged: None,
                changes: vec![],
                picture: None,
                notes: vec![],
            }
        };
        let groups: Vec<GroupCard> = (1..=MOST_PICTURES + 2).map(group).collect();
        let shown = most_uncertain(&groups);
        assert!(shown.len() == MOST_PICTURES && !shown.contains(&0) && !shown.contains(&1));
    }
}
