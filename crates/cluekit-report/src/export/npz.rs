//! NumPy's archive of arrays: inputs as rows of some, clues as rows of others.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `input_index` | n | which input it is |
//! | `input_row` | n | the row of the file that it came from; only for inputs of a file |
//! | `input_x`, `input_z` | n × … | encoded input, latent code |
//! | `clue_input` | c | the row of its input in the arrays above |
//! | `clue_x`, `clue_z` | c × … | encoded counterfactual, latent code |
//! | `clue_label` | c | class as an integer, or value |
//! | `clue_uncertainty` | c × 3 | total, aleatoric, epistemic |
//! | `clue_distance` | c × 3 | input, latent, prediction |
//! | `clue_probabilities` | c × classes | of the classes; no columns for a regression |
//! | `clue_cost`, `clue_accepted` | c | the objective; whether it was accepted |
//! | `clue_delta` | c | the radius of its ball; infinite without one |

use super::check_width;
use cluekit::data::npy::{NewArray, archive};
use cluekit::error::Result;
use cluekit::explanation::{Clue, Explanation, Label};

/// All explanations as the bytes of one `.npz` file.
pub fn npz(explanations: &[Explanation]) -> Result<Vec<u8>> {
    archive(&arrays(explanations)?)
}

fn arrays(explanations: &[Explanation]) -> Result<Vec<NewArray>> {
    let clues: Vec<(usize, &Clue)> =
        explanations.iter().enumerate().flat_map(|(row, one)| one.clues.iter().map(move |clue| (row, clue))).collect();
    let inputs = || explanations.iter().map(|one| &one.input);
    let each = || clues.iter().map(|(_, clue)| *clue);
    let (n, c) = (explanations.len(), clues.len());
    let width = inputs().next().map_or(0, |input| input.x.len());
    let latent = inputs().next().map_or(0, |input| input.z.len());
    let classes = each().next().map_or(0, |clue| clue.probabilities.len());
    let rows_of_file: Vec<i64> = inputs().filter_map(|input| input.name.as_ref()).map(|name| name.row as i64).collect();
    let mut arrays = vec![
        NewArray::integers("input_index", inputs().map(|input| input.index as i64)),
        rows("input_x", n, width, inputs().map(|input| input.x.as_slice()))?,
        rows("input_z", n, latent, inputs().map(|input| input.z.as_slice()))?,
        NewArray::integers("clue_input", clues.iter().map(|(row, _)| *row as i64)),
        rows("clue_x", c, width, each().map(|clue| clue.x.as_slice()))?,
        rows("clue_z", c, latent, each().map(|clue| clue.z.as_slice()))?,
        labels(&each().map(|clue| clue.label).collect::<Vec<_>>()),
        NewArray::floats(
            "clue_uncertainty",
            vec![c, 3],
            each().flat_map(|clue| {
                let parts = clue.uncertainty;
                [parts.total, parts.aleatoric, parts.epistemic]
            }),
        ),
        NewArray::floats(
            "clue_distance",
            vec![c, 3],
            each().flat_map(|clue| {
                let distance = clue.distance;
                [distance.input, distance.latent, distance.prediction]
            }),
        ),
        rows("clue_probabilities", c, classes, each().map(|clue| clue.probabilities.as_slice()))?,
        NewArray::floats("clue_cost", vec![c], each().map(|clue| clue.cost)),
        NewArray::bytes("clue_accepted", "|b1", vec![c], each().map(|clue| u8::from(clue.accepted)).collect()),
        NewArray::floats("clue_delta", vec![c], each().map(|clue| clue.delta.unwrap_or(f32::INFINITY))),
    ];
    if rows_of_file.len() == n && n > 0 {
        arrays.insert(1, NewArray::integers("input_row", rows_of_file.into_iter()));
    }
    Ok(arrays)
}

/// Integers if all labels are classes, else floats.
fn labels(labels: &[Label]) -> NewArray {
    let classes: Option<Vec<i64>> = labels
        .iter()
        .map(|label| match label {
            Label::Class(class) => Some(*class as i64),
            Label::Value(_) => None,
        })
        .collect();
    match classes {
        Some(classes) => NewArray::integers("clue_label", classes.into_iter()),
        None => NewArray::floats(
            "clue_label",
            vec![labels.len()],
            labels.iter().map(|label| match label {
                Label::Class(class) => *class as f32,
                Label::Value(value) => *value,
            }),
        ),
    }
}

/// Rows of the same width.
fn rows<'a>(name: &str, length: usize, width: usize, rows: impl Iterator<Item = &'a [f32]>) -> Result<NewArray> {
    let rows: Vec<&[f32]> = rows.collect();
    rows.iter().enumerate().try_for_each(|(index, row)| check_width(&format!("row {index} of {name}"), row, width))?;
    Ok(NewArray::floats(name, vec![length, width], rows.into_iter().flatten().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::audit::fixture::{client, house};
    use std::io::{Cursor, Read};

    /// The header's text and the values of one array of an archive.
    fn array(archive: &[u8], name: &str) -> (String, Vec<u8>) {
        let mut zip = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
        let mut file = Vec::new();
        zip.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut file).unwrap();
        let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
        (String::from_utf8(file[10..start].to_vec()).unwrap(), file[start..].to_vec())
    }

    fn floats(archive: &[u8], name: &str) -> Vec<f32> {
        let (header, bytes) = array(archive, name);
        assert!(header.contains("'<f4'"), "{header}");
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    fn integers(archive: &[u8], name: &str) -> Vec<i64> {
        let (header, bytes) = array(archive, name);
        assert!(header.contains("'<i8'"), "{header}");
        bytes.chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn clues_know_their_input_and_their_numbers() {
        let mut second = client();
        second.input.index = 42;
        let archive = npz(&[client(), second]).unwrap();
        assert_eq!(integers(&archive, "input_index"), [17, 42]);
        assert_eq!(integers(&archive, "clue_input"), [0, 0, 1, 1]);
        assert_eq!(integers(&archive, "clue_label"), [0, 1, 0, 1]);
        assert_eq!(floats(&archive, "clue_x")[..4], [5.0, 0.0, 0.0, 1.0]);
        assert_eq!(floats(&archive, "clue_uncertainty")[..3], [0.02, 0.012, 0.008]);
        assert_eq!(floats(&archive, "clue_distance")[3..6], [27.1, 3.4, 0.5]);
        assert_eq!(array(&archive, "clue_accepted").1, [1, 0, 1, 0]);
        assert!(array(&archive, "input_x").0.contains("'shape': (2,4,)"));
    }

    #[test]
    fn values_are_floats() {
        assert_eq!(floats(&npz(&[house()]).unwrap(), "clue_label"), [20_500.5]);
    }

    #[test]
    fn the_same_explanations_give_the_same_bytes_and_none_give_empty_arrays() {
        assert_eq!(npz(&[client()]).unwrap(), npz(&[client()]).unwrap());
        let (header, bytes) = array(&npz(&[]).unwrap(), "clue_x");
        assert!(header.contains("(0,0,)") && bytes.is_empty());
    }

    #[test]
    fn rows_of_different_lengths_are_named() {
        let problem = npz(&[client(), house()]).unwrap_err().to_string();
        assert_eq!(problem, "row 1 of input_x has shape [1], expected [4]");
    }
}
