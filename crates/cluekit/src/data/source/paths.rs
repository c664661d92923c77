//! Where a run finds its files again, whatever folder a command is run in.
//!
//! A run keeps a path as it was given if that is absolute, and otherwise as it is seen from the folder of the run. Runs
//! of before kept it as it was seen from the folder of the command, which is where it is looked for next.

use super::{Request, counted};
use crate::data::{DataDir, catalogue};
use std::path::{Component, Path, PathBuf};

impl Request {
    /// The request as a run in `folder` keeps it: relative paths of files are those from the folder, which is there.
    #[must_use]
    pub fn kept_in(&self, folder: &Path, directory: &DataDir) -> Self {
        self.with_paths(directory, &|path| seen_from(folder, path))
    }

    /// The request of a run in `folder`, with paths that can be opened.
    #[must_use]
    pub fn found_from(&self, folder: &Path, directory: &DataDir) -> Self {
        self.with_paths(directory, &|path| Some(folder.join(path)).filter(|path| path.exists()))
    }

    /// The request with other paths for its relative ones; a dataset that is known by name has none.
    fn with_paths(&self, directory: &DataDir, other: &dyn Fn(&Path) -> Option<PathBuf>) -> Self {
        let moved = |path: &String| {
            let known = catalogue::find(counted(path).0, directory).is_ok();
            let other = if known || Path::new(path).is_absolute() { None } else { other(Path::new(path)) };
            other.map_or_else(|| path.clone(), |path| path.to_string_lossy().into_owned())
        };
        let mut request = self.clone();
        request.name = moved(&self.name);
        request.rows.test = self.rows.test.as_ref().map(moved);
        request.reading.labels = self.reading.labels.as_ref().map(moved);
        request
    }
}

/// A path as it is seen from a folder; none where one of the two is not there, or they share nothing.
fn seen_from(folder: &Path, path: &Path) -> Option<PathBuf> {
    let (folder, path) = (folder.canonicalize().ok()?, path.canonicalize().ok()?);
    let parts = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
    let shared = folder.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir.as_os_str().to_owned());
    (shared > 0).then(|| up.chain(parts(&path).into_iter().skip(shared)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::source::RowRequest;

    #[test]
    fn a_relative_path_is_kept_as_it_is_seen_from_the_run_and_found_again() {
        let place = tempfile::tempdir().unwrap();
        let (run, file) = (place.path().join("runs/bank"), place.path().join("data/bank.csv"));
        std::fs::create_dir_all(&run).unwrap();
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "a,b\n").unwrap();
        let kept = seen_from(&run, &file).unwrap();
        assert_eq!(kept, Path::new("../../data/bank.csv"));
        let directory = DataDir::locate(None);
        let request = Request::new(kept.to_string_lossy());
        let found = request.found_from(&run, &directory);
        assert_eq!(Path::new(&found.name).canonicalize().unwrap(), file.canonicalize().unwrap());
    }

    #[test]
    fn names_absolute_paths_and_those_of_earlier_runs_stay() {
        let place = tempfile::tempdir().unwrap();
        let directory = DataDir::locate(None);
        let absolute = place.path().join("bank.csv").to_string_lossy().into_owned();
        for name in ["moons", "mnist:700", absolute.as_str(), "seen/from/elsewhere.csv"] {
            let rows = RowRequest { test: Some(name.into()), ..RowRequest::default() };
            let request = Request { rows, ..Request::new(name) };
            assert_eq!(request.kept_in(place.path(), &directory), request);
            assert_eq!(request.found_from(place.path(), &directory), request);
        }
    }
}
