//! Boosted trees as named arrays, for a file.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `members.<m>.start` | `[outputs]` | outputs before the first tree |
//! | `members.<m>.columns` | `[trees, 2^depth − 1]` | column that each node looks at, as a whole number |
//! | `members.<m>.thresholds` | `[trees, 2^depth − 1]` | values above it go right |
//! | `members.<m>.leaves` | `[trees, 2^depth]` | what is added to output t mod outputs by tree t |

use super::loss::Loss;
use super::plan::MOST_DEPTH;
use super::trees::{Node, Trees};
use super::{Boosted, Member};
use crate::data::Task;
use crate::error::{Error, Result};
use crate::model::parameters::{Layout, Parameters};
use crate::model::store::weights::Arrays;
use std::sync::Arc;

/// No start and no leaf is larger, so that no sum of them leaves the finite numbers.
const LARGEST: f32 = 1e18;

impl Boosted {
    /// The trees as named arrays, ready for `write_weights`.
    pub fn parameters(&self) -> Parameters {
        let shapes = self.members.iter().map(|member| (member.trees.len(), member.trees.depth()));
        let mut values = Vec::new();
        for Member { start, trees } in &self.members {
            values.extend(start);
            values.extend(trees.nodes.iter().map(|node| node.column as f32));
            values.extend(trees.nodes.iter().map(|node| node.threshold));
            values.extend(&trees.leaves);
        }
        let layout = Arc::new(layout(shapes, self.loss.outputs()));
        Parameters::new(layout, values).expect("as many numbers as the layout has places")
    }

    /// The trees of a file, for rows of `width` columns.
    pub fn read(arrays: Arrays, width: usize, task: &Task) -> Result<Self> {
        let loss = Loss::of(task);
        let path = arrays.path().to_owned();
        let wrong = |problem: String| Error::file(&path, format!("{problem}; fit it again"));
        let count = arrays.count("members.");
        if count == 0 {
            return Err(wrong("has no boosted trees".into()));
        }
        let shape = |member: usize| {
            let name = format!("members.{member}.leaves");
            match arrays.shape(&name) {
                Some(&[trees, leaves]) if is_shape(trees, leaves, loss.outputs()) => {
                    Ok((trees, leaves.trailing_zeros() as usize))
                }
                Some(shape) => Err(wrong(format!(
                    "`{name}` has shape {shape:?}, expected trees for {} outputs with 2 to {} leaves each",
                    loss.outputs(),
                    1 << MOST_DEPTH
                ))),
                None => Err(wrong(format!("`{name}` is missing"))),
            }
        };
        let shapes = (0..count).map(shape).collect::<Result<Vec<_>>>()?;
        let parameters = arrays.matching(Arc::new(layout(shapes.iter().copied(), loss.outputs())))?;
        let member = |(member, &(_, depth)): (usize, &(usize, usize))| {
            read_member(&parameters, member, depth, width).map_err(wrong)
        };
        Ok(Self { width, loss, members: shapes.iter().enumerate().map(member).collect::<Result<_>>()? })
    }
}

/// Whether there can be this many trees with this many leaves each.
fn is_shape(trees: usize, leaves: usize, outputs: usize) -> bool {
    leaves.is_power_of_two() && (2..=1 << MOST_DEPTH).contains(&leaves) && trees.is_multiple_of(outputs.max(1))
}

/// The arrays of members with so many trees of such a depth each.
fn layout(members: impl Iterator<Item = (usize, usize)>, outputs: usize) -> Layout {
    let mut layout = Layout::default();
    for (member, (trees, depth)) in members.enumerate() {
        let mut push = |name: &str, shape: &[usize]| layout.push(format!("members.{member}.{name}"), shape);
        push("start", &[outputs]);
        push("columns", &[trees, (1 << depth) - 1]);
        push("thresholds", &[trees, (1 << depth) - 1]);
        push("leaves", &[trees, 1 << depth]);
    }
    layout
}

/// One member, or what is wrong with its numbers.
fn read_member(
    parameters: &Parameters,
    member: usize,
    depth: usize,
    width: usize,
) -> std::result::Result<Member, String> {
    let array = |name: &str| parameters.array(&format!("members.{member}.{name}"));
    for name in ["start", "leaves"] {
        if let Some(value) = array(name).iter().find(|value| value.abs() > LARGEST) {
            return Err(format!("`members.{member}.{name}` holds {value:e}, which is too large"));
        }
    }
    let node = |(&column, &threshold): (&f32, &f32)| {
        let is_column = column >= 0.0 && column < width as f32 && column.fract() <= 0.0;
        let problem = || format!("`members.{member}.columns` holds {column}, the data has {width} columns from 0 on");
        is_column.then_some(Node { column: column as u32, threshold }).ok_or_else(problem)
    };
    let mut trees = Trees::new(depth);
    trees.nodes = array("columns").iter().zip(array("thresholds")).map(node).collect::<std::result::Result<_, _>>()?;
    trees.leaves = array("leaves").to_vec();
    Ok(Member { start: array("start").to_vec(), trees })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{classes, fitted, regression, samples_of};
    use super::*;
    use crate::model::store::weights::write_weights;
    use std::fs;
    use std::path::PathBuf;
    use tempfile::TempDir;

    fn place() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boosted.safetensors");
        (folder, path)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let (_folder, path) = place();
        for task in [classes(2), classes(3), regression()] {
            let boosted = fitted(&samples_of(&task, 200), &task);
            write_weights(&path, &boosted.parameters()).unwrap();
            assert_eq!(Boosted::read(Arrays::read(&path).unwrap(), 2, &task).unwrap(), boosted);
        }
    }

    /// What is said of a file with these arrays.
    fn refusal(arrays: &[(&str, &[usize], Vec<f32>)]) -> String {
        let (_folder, path) = place();
        let mut layout = Layout::default();
        arrays.iter().for_each(|(name, shape, _)| layout.push(*name, shape));
        let values = arrays.iter().flat_map(|(_, _, values)| values.clone()).collect();
        write_weights(&path, &Parameters::new(Arc::new(layout), values).unwrap()).unwrap();
        let error = Boosted::read(Arrays::read(&path).unwrap(), 2, &classes(2)).unwrap_err().to_string();
        assert!(error.contains("boosted.safetensors") && !error.contains('\n'), "{error}");
        error
    }

    /// One member with one tree of one split, each array with its values replaced where a name fits.
    fn one_tree(name: &str, value: f32) -> Vec<(&'static str, &'static [usize], Vec<f32>)> {
        let arrays: [(&str, &[usize]); 4] = [
            ("members.0.start", &[1]),
            ("members.0.columns", &[1, 1]),
            ("members.0.thresholds", &[1, 1]),
            ("members.0.leaves", &[1, 2]),
        ];
        let values = |array: &str, shape: &[usize]| {
            vec![if array.ends_with(name) { value } else { 1.0 }; shape.iter().product()]
        };
        arrays.map(|(array, shape)| (array, shape, values(array, shape))).to_vec()
    }

    #[test]
    fn columns_out_of_range_and_numbers_too_large_are_refused() {
        for column in [2.0, -1.0, 0.5, 1e30] {
            let message = refusal(&one_tree("columns", column));
            assert!(message.contains("the data has 2 columns from 0 on; fit it again"), "{message}");
        }
        for name in ["start", "leaves"] {
            let message = refusal(&one_tree(name, -3e38));
            assert!(message.contains(&format!("`members.0.{name}` holds -3e38, which is too large")), "{message}");
        }
    }

    #[test]
    fn shapes_that_do_not_belong_together_are_refused() {
        let with = |place: usize, shape: &'static [usize]| {
            let mut arrays = one_tree("none", 0.0);
            arrays[place].1 = shape;
            arrays[place].2 = vec![0.0; shape.iter().product()];
            arrays
        };
        for shape in [&[1, 3][..], &[1, 1], &[1, 128], &[2], &[1, 2, 1]] {
            let message = refusal(&with(3, shape));
            assert!(message.contains("expected trees for 1 outputs with 2 to 64 leaves each"), "{message}");
        }
        for (place, shape) in [(0, &[2][..]), (1, &[1, 3]), (2, &[2, 1]), (3, &[2, 2]), (3, &[1, 4])] {
            let message = refusal(&with(place, shape));
            assert!(message.contains("does not fit its model"), "{message}");
        }
        let mut arrays = one_tree("none", 0.0);
        arrays[3].0 = "members.7.leaves";
        assert!(refusal(&arrays).contains("`members.0.leaves` is missing"));
        assert!(refusal(&[("other", &[1], vec![0.0])]).contains("has no boosted trees"));
    }

    #[test]
    fn a_file_cut_short_or_without_numbers_is_refused() {
        let (_folder, path) = place();
        let boosted = fitted(&samples_of(&classes(2), 100), &classes(2));
        write_weights(&path, &boosted.parameters()).unwrap();
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        assert!(Arrays::read(&path).unwrap_err().to_string().contains("cut short"));
        let mut parameters = boosted.parameters();
        parameters.values[0] = f32::NAN;
        write_weights(&path, &parameters).unwrap();
        assert!(Arrays::read(&path).unwrap_err().to_string().contains("holds NaN"));
    }
}
