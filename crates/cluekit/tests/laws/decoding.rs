//! What is decoded is what the data could hold.

use super::*;

#[test]
fn anchored_decoding_gives_back_the_input_where_nothing_changes() {
    let search = after(0, &Search { decoding: Decoding::Anchored, ..Search::clue() });
    for world in [World::classes(), World::regression(), World::images()] {
        for explanation in world.explain(&search, &world.inputs(20), 14) {
            assert_eq!(explanation.clues[0].x, explanation.input.x);
        }
    }
    let world = World::table("");
    let rate = world.models().schema.unwrap().features.iter().position(|feature| feature.name == "RATE").unwrap();
    for explanation in world.explain(&search, &world.inputs(20), 14) {
        for (column, (a, b)) in explanation.clues[0].x.iter().zip(&explanation.input.x).enumerate() {
            // What is rounded is exact; the one number without decimals has nothing to round to.
            assert!(if column == rate { (a - b).abs() < 1e-6 } else { a == b }, "column {column}: {a}, input {b}");
        }
    }
}

#[test]
fn what_the_rounding_of_floats_does_is_no_change() {
    let world = World::table("");
    let search = after(0, &Search { decoding: Decoding::Anchored, ..Search::clue() });
    for explanation in world.explain(&search, &world.inputs(20), 14) {
        assert_eq!(explanation.clues[0].changes, []);
    }
}

#[test]
fn an_image_stays_within_its_range() {
    let world = World::images();
    let mut at_the_edge = 0;
    for decoding in DECODINGS {
        let search = Search { decoding, ..Search::delta_clue(ball(2.0), 5) };
        for clue in world.explain(&search, &world.inputs(5), 15).iter().flat_map(|explanation| &explanation.clues) {
            assert!(clue.x.iter().all(|v| (0.0..=1.0).contains(v)) && clue.changes.is_empty(), "{:?}", clue.x);
            at_the_edge += clue.x.iter().filter(|v| **v <= 0.0 || **v >= 1.0).count();
        }
    }
    assert!(at_the_edge > 0, "nothing had to be held back");
}
