//! Where a training run stands, on disk, so that a killed run continues and ends with the same bytes.
//!
//! A checkpoint is a folder of snapshots, one for each thing that is being trained and one for each thing that is
//! finished. Which run it belongs to says `run.toml` beside it.

use super::files::{create_folder, remove_leftovers, write_whole};
use crate::error::{Error, Remedy, Result};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder for snapshots.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    folder: Option<PathBuf>,
}

/// Arrays and numbers under names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    arrays: BTreeMap<String, Vec<f32>>,
    numbers: BTreeMap<String, f64>,
    origin: PathBuf,
}

impl Checkpoint {
    /// The checkpoint in `folder`, which is created.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        create_folder(folder)?;
        remove_leftovers(folder);
        Ok(Self { folder: Some(folder.to_owned()) })
    }

    /// A checkpoint that keeps nothing, for what is trained in minutes.
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// Replaces the snapshot called `name`.
    pub fn save(&self, name: &str, snapshot: &Snapshot) -> Result<()> {
        match self.path(name) {
            Some(path) => write_whole(&path, &snapshot.to_bytes()),
            None => Ok(()),
        }
    }

    /// The snapshot called `name`, if there is one.
    pub fn load(&self, name: &str) -> Result<Option<Snapshot>> {
        match self.path(name).filter(|path| path.exists()) {
            Some(path) => Snapshot::read(&path).map(Some),
            None => Ok(None),
        }
    }

    /// Removes every snapshot: the run is done.
    pub fn clear(&self) -> Result<()> {
        match self.folder.as_ref().filter(|folder| folder.exists()) {
            Some(folder) => fs::remove_dir_all(folder).map_err(Error::writing(folder)),
            None => Ok(()),
        }
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{}.safetensors", name.replace(' ', "-"))))
    }
}

impl Snapshot {
    /// This snapshot with one more array.
    pub fn array(mut self, name: &str, values: &[f32]) -> Self {
        self.arrays.insert(name.into(), values.to_vec());
        self
    }

    /// This snapshot with one more number.
    pub fn number(mut self, name: &str, value: f64) -> Self {
        self.numbers.insert(name.into(), value);
        self
    }

    /// Takes out the array called `name`, which must have `len` values.
    pub fn take(&mut self, name: &str, len: usize) -> Result<Vec<f32>> {
        match self.arrays.remove(name) {
            Some(values) if values.len() == len => Ok(values),
            Some(values) => Err(self.broken(format!("`{name}` has {} values, expected {len}", values.len()))),
            None => Err(self.broken(format!("`{name}` is missing"))),
        }
    }

    /// The number called `name`.
    pub fn get(&self, name: &str) -> Result<f64> {
        self.numbers.get(name).copied().ok_or_else(|| self.broken(format!("`{name}` is missing")))
    }

    fn broken(&self, problem: String) -> Error {
        Error::file(&self.origin, problem).remedy(Remedy::TrainAgain)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.arrays.iter().map(|(name, values)| {
            (name.clone(), Dtype::F32, values.len(), values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
        });
        let numbers =
            self.numbers.iter().map(|(name, value)| (name.clone(), Dtype::F64, 1, value.to_le_bytes().to_vec()));
        let all: Vec<_> = arrays.chain(numbers).collect();
        let views = all.iter().map(|(name, kind, len, bytes)| {
            (name, TensorView::new(*kind, vec![*len], bytes).expect("as many bytes as the shape says"))
        });
        safetensors::serialize(views, None).expect("names and shapes were made here")
    }

    fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(Error::reading(path))?;
        let mut snapshot = Self { origin: path.to_owned(), ..Self::default() };
        let file = SafeTensors::deserialize(&bytes).map_err(|problem| snapshot.broken(problem.to_string()))?;
        for (name, view) in file.iter() {
            let data = view.data();
            if view.dtype() == Dtype::F64 && data.len() == 8 {
                let value = f64::from_le_bytes(data.try_into().expect("eight bytes"));
                snapshot.numbers.insert(name.into(), value);
            } else {
                let values = data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")));
                snapshot.arrays.insert(name.into(), values.collect());
            }
        }
        Ok(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::in_folder(&folder.path().join("checkpoint")).unwrap();
        let snapshot = Snapshot::default().array("a", &[1.0, f32::MIN_POSITIVE]).number("n", f64::INFINITY);
        checkpoint.save("some model", &snapshot).unwrap();
        let mut back = checkpoint.load("some model").unwrap().unwrap();
        assert_eq!(back.get("n").unwrap(), f64::INFINITY);
        assert_eq!(back.take("a", 2).unwrap(), vec![1.0, f32::MIN_POSITIVE]);
        assert!(checkpoint.load("another").unwrap().is_none());
    }

    #[test]
    fn a_snapshot_of_another_size_names_file_and_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::in_folder(folder.path()).unwrap();
        checkpoint.save("m", &Snapshot::default().array("a", &[1.0])).unwrap();
        let error = checkpoint.load("m").unwrap().unwrap().take("a", 2).unwrap_err().to_string();
        assert!(error.contains("m.safetensors") && error.contains("train again from the beginning"), "{error}");
    }
}
