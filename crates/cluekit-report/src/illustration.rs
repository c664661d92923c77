//! The cards of an audit with their pictures.

use crate::thumbnail;
use cluekit::audit::Gallery;
use cluekit::data::Image;
use cluekit::explanation::Explanation;

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

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::fixture::{digits, table};
    use cluekit::data::Schema;

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
}
