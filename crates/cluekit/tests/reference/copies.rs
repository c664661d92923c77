//! Copies of the folders, to be spoilt.

use super::*;

/// A copy of a folder of the reference, to be spoilt.
pub struct Damaged {
    pub folder: TempDir,
}

pub struct Array {
    pub kind: Dtype,
    pub shape: Vec<usize>,
    pub data: Vec<u8>,
}

impl Array {
    /// Without any numbers along `axis`.
    pub fn empty(&mut self, axis: usize) {
        self.shape[axis] = 0;
        self.data.clear();
    }
}

/// The arrays of a file by name; asking for one that is not there is a mistake in the test.
#[derive(Default)]
pub struct Named(pub BTreeMap<String, Array>);

impl std::ops::Index<&str> for Named {
    type Output = Array;
    fn index(&self, name: &str) -> &Array {
        &self.0[name]
    }
}

impl std::ops::IndexMut<&str> for Named {
    fn index_mut(&mut self, name: &str) -> &mut Array {
        self.0.get_mut(name).unwrap()
    }
}

impl Damaged {
    pub fn copy(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(reference(name)).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        Self { folder }
    }

    pub fn run(&self) -> RunFolder {
        RunFolder::at(self.folder.path())
    }

    /// With `from` replaced in a text file.
    pub fn text(self, file: &str, from: &str, to: &str) -> Self {
        let path = self.folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no `{from}`");
        fs::write(path, text.replace(from, to)).unwrap();
        self
    }

    /// With other bytes in a file.
    pub fn bytes(self, file: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Self {
        let path = self.folder.path().join(file);
        fs::write(&path, change(fs::read(&path).unwrap())).unwrap();
        self
    }

    /// With other arrays in `<file>.safetensors`.
    pub fn arrays(self, file: &str, change: impl FnOnce(&mut Named)) -> Self {
        self.bytes(&format!("{file}.safetensors"), |bytes| {
            let mut arrays = named(&bytes);
            change(&mut arrays);
            let views = arrays
                .0
                .iter()
                .map(|(name, array)| (name, TensorView::new(array.kind, array.shape.clone(), &array.data).unwrap()));
            safetensors::serialize(views, None).unwrap()
        })
    }

    pub fn load(&self, model: &str) -> Result<(), Error> {
        let schema = self.run().schema()?;
        match model {
            "predictor" => self.run().predictor(&schema).map(drop),
            _ => self.run().generative(&schema).map(drop),
        }
    }

    /// What loading that model says.
    pub fn problem(&self, model: &str) -> String {
        self.load(model).expect_err("a damaged folder must not load").to_string()
    }
}

pub fn named(bytes: &[u8]) -> Named {
    let array =
        |view: TensorView| Array { kind: view.dtype(), shape: view.shape().to_vec(), data: view.data().to_vec() };
    let file = SafeTensors::deserialize(bytes).unwrap();
    Named(file.tensors().into_iter().map(|(name, view)| (name, array(view))).collect())
}

pub fn names_in(folder: &str, file: &str) -> Vec<String> {
    named(&fs::read(reference(folder).join(format!("{file}.safetensors"))).unwrap()).0.into_keys().collect()
}
