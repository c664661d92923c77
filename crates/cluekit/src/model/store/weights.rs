//! Weights as safetensors: written from a layout, read with every difference named.

use super::files::write_whole;
use crate::error::{Error, Result};
use crate::model::parameters::{Layout, Parameters};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Differences named in one message; a file of another model would otherwise list hundreds.
const MOST_DIFFERENCES: usize = 6;

/// Bytes in front of the header of a file: its length.
const HEADER: usize = 8;
/// Bytes that are read at once.
const BLOCK: usize = 1 << 16;
/// The key of the text that may lie in a file beside its arrays.
const NOTE: &str = "cluekit";

/// Writes parameters under their names.
pub fn write_weights(path: &Path, parameters: &Parameters) -> Result<()> {
    write_weights_with_note(path, parameters, None)
}

/// Writes parameters under their names, and beside them a text.
pub fn write_weights_with_note(path: &Path, parameters: &Parameters, note: Option<&str>) -> Result<()> {
    let bytes: Vec<u8> = parameters.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let views = parameters.layout().entries().iter().map(|entry| {
        let data = &bytes[4 * entry.range().start..4 * entry.range().end];
        (&entry.name, TensorView::new(Dtype::F32, entry.shape.clone(), data).expect("the layout's own bytes"))
    });
    let note = note.map(|note| [(NOTE.to_owned(), note.to_owned())].into_iter().collect());
    write_whole(path, &safetensors::serialize(views, note).expect("names and shapes come from a layout"))
}

/// The arrays of a weights file: their shapes and places. Numbers are read when they are asked for, so that they lie in
/// memory once.
#[derive(Clone, Debug)]
pub struct Arrays {
    path: PathBuf,
    arrays: BTreeMap<String, (Vec<usize>, Range<usize>)>,
    note: Option<String>,
}

impl Arrays {
    /// Looks at every array; they must be finite numbers of type F32.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(Error::reading(path))?;
        let file = SafeTensors::deserialize(&bytes).map_err(|problem| {
            let remedy = "it may be cut short: copy it again, or make it anew";
            Error::file(path, format!("is no whole safetensors file ({problem}); {remedy}"))
        })?;
        let mut arrays = BTreeMap::new();
        let mut names = file.names();
        names.sort_unstable();
        for name in names {
            let view = file.tensor(name).expect("a name of the file itself");
            if view.dtype() != Dtype::F32 {
                let problem =
                    format!("`{name}` has the type {:?}, expected F32; save it as 32-bit floats", view.dtype());
                return Err(Error::file(path, problem));
            }
            if view.shape().contains(&0) {
                let problem = format!("`{name}` has shape {:?}; every side must be at least 1", view.shape());
                return Err(Error::file(path, problem));
            }
            if let Some((position, value)) = numbers(view.data()).enumerate().find(|(_, value)| !value.is_finite()) {
                let problem = format!("`{name}` holds {value} at position {position}; train it again");
                return Err(Error::file(path, problem));
            }
            arrays.insert(name.to_owned(), (view.shape().to_vec(), 0..0));
        }
        let (length, header) = SafeTensors::read_metadata(&bytes).expect("it was read a moment ago");
        let first = HEADER + length;
        for (name, (_, place)) in &mut arrays {
            let (start, end) = header.info(name).expect("a name of the file itself").data_offsets;
            *place = first + start..first + end;
        }
        let note = header.metadata().as_ref().and_then(|texts| texts.get(NOTE).cloned());
        Ok(Self { path: path.to_owned(), arrays, note })
    }

    /// Path of the file that the arrays came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Text that lies beside the arrays; none if there is none.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Number of layers numbered behind `prefix`: one more than the largest number, even where one is missing.
    pub fn count(&self, prefix: &str) -> usize {
        let number = |name: &String| name.strip_prefix(prefix)?.split('.').next()?.parse::<usize>().ok();
        self.arrays
            .keys()
            .filter_map(number)
            .max()
            .map_or(0, |largest| largest.saturating_add(1).min(self.arrays.len()))
    }

    /// Like [`Arrays::count`], for layers of each of `groups` groups: at most the number that the file has arrays for.
    pub fn count_within(&self, prefix: &str, groups: usize) -> usize {
        self.count(prefix).min(self.arrays.len() / groups.max(1))
    }

    /// The shape of the array called `name`, if it is there.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.arrays.get(name).map(|(shape, _)| shape.as_slice())
    }

    /// The numbers of the array called `name`.
    ///
    /// # Panics
    /// When there is no such array.
    pub fn numbers(&self, name: &str) -> Result<Vec<f32>> {
        let (_, place) = &self.arrays[name];
        let mut file = File::open(&self.path).map_err(Error::reading(&self.path))?;
        file.seek(SeekFrom::Start(place.start as u64)).map_err(Error::reading(&self.path))?;
        let (mut all, mut block) = (Vec::with_capacity(place.len() / 4), vec![0; BLOCK]);
        while all.len() < place.len() / 4 {
            let length = BLOCK.min(place.len() - 4 * all.len());
            file.read_exact(&mut block[..length]).map_err(Error::reading(&self.path))?;
            all.extend(numbers(&block[..length]));
        }
        Ok(all)
    }

    /// The arrays in the order of `layout`, which must name exactly these with exactly these shapes.
    pub fn matching(self, layout: Arc<Layout>) -> Result<Parameters> {
        self.check(&layout)?;
        let mut values = Vec::with_capacity(layout.len());
        for entry in layout.entries() {
            values.extend(self.numbers(&entry.name)?);
        }
        Parameters::new(layout, values)
    }

    /// Refuses a layout that does not name exactly these arrays with exactly these shapes.
    pub fn check(&self, layout: &Layout) -> Result<()> {
        // What is missing stands first: it is often the cause of the other differences. No memory is asked for
        // before every shape agrees, since a wrong file can describe a model of any size.
        let mut differences: Vec<String> = layout
            .entries()
            .iter()
            .filter(|entry| !self.arrays.contains_key(&entry.name))
            .map(|entry| format!("`{}` is missing", entry.name))
            .collect();
        for entry in layout.entries() {
            if let Some(shape) = self.shape(&entry.name).filter(|shape| *shape != entry.shape) {
                differences.push(format!("`{}` has shape {shape:?}, expected {:?}", entry.name, entry.shape));
            }
        }
        let expected = |name: &String| layout.entries().iter().any(|entry| entry.name == *name);
        let others = self.arrays.keys().filter(|name| !expected(name));
        differences.extend(others.map(|name| format!("`{name}` is not expected")));
        if differences.is_empty() {
            return Ok(());
        }
        let more = differences.len().saturating_sub(MOST_DIFFERENCES);
        differences.truncate(MOST_DIFFERENCES);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        Err(Error::file(
            &self.path,
            format!("does not fit its model: {}{more}; docs/run-folder.md lists the arrays", differences.join("; ")),
        ))
    }
}

/// Little-endian bytes as numbers.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[usize]) -> Arc<Layout> {
        let mut layout = Layout::default();
        layout.push("a", shape);
        layout.push("b", &[1]);
        Arc::new(layout)
    }

    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.safetensors");
        let parameters = Parameters::new(layout(&[2, 1]), vec![1.0, 2.0, 3.0]).unwrap();
        write_weights(&path, &parameters).unwrap();
        (folder, path)
    }

    #[test]
    fn weights_come_back_as_they_were() {
        let (_folder, path) = written();
        let back = Arrays::read(&path).unwrap().matching(layout(&[2, 1])).unwrap();
        assert_eq!(back.values, vec![1.0, 2.0, 3.0]);
    }

    #[test]
    fn every_difference_is_named() {
        let (_folder, path) = written();
        let mut other = Layout::default();
        other.push("a", &[1, 2]);
        other.push("c", &[4]);
        let error = Arrays::read(&path).unwrap().matching(Arc::new(other)).unwrap_err().to_string();
        for part in ["`a` has shape [2, 1], expected [1, 2]", "`c` is missing", "`b` is not expected"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_file_cut_short_says_so() {
        let (_folder, path) = written();
        let bytes = fs::read(&path).unwrap();
        for len in [0, 5, bytes.len() - 1] {
            fs::write(&path, &bytes[..len]).unwrap();
            let error = Arrays::read(&path).unwrap_err().to_string();
            assert!(error.contains("w.safetensors") && error.contains("cut short"), "{error}");
        }
    }

    #[test]
    fn weights_that_are_no_numbers_are_refused() {
        let (_folder, path) = written();
        write_weights(&path, &Parameters::new(layout(&[2, 1]), vec![1.0, f32::NAN, 3.0]).unwrap()).unwrap();
        let error = Arrays::read(&path).unwrap_err().to_string();
        assert!(error.contains("`a` holds NaN at position 1"), "{error}");
    }
}
