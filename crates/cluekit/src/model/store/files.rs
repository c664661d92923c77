//! Files that are written whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Writes `bytes` to `path` by way of a temporary file beside it, so that no reader ever sees half a file and a full
/// disk leaves what was there before.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let temporary = path.with_file_name(format!(".{name}.writing"));
    let written = (|| {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    written.map_err(|source| {
        // Nothing to do about a failure to tidy up; the first error is the one that matters.
        let _ = fs::remove_file(&temporary);
        Error::Write { path: path.to_owned(), source }
    })
}

/// Creates a folder and the ones above it.
pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Error::writing(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights");
        write_whole(&path, b"old").unwrap();
        // A folder in the temporary file's place makes writing fail.
        fs::create_dir(folder.path().join(".weights.writing")).unwrap();
        let error = write_whole(&path, b"new").unwrap_err();
        assert!(error.to_string().starts_with("cannot write"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}
