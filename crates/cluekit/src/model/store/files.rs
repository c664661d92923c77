//! Files that are written whole or not at all.

use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The temporary files of this process. Only who holds it makes one, renames one or removes one.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Writes `bytes` to `path` by way of a temporary file beside it, so that no reader ever sees half a file and a full
/// disk leaves what was there before.
///
/// The temporary file is new and has a name that nobody foresees, `.<name>.<random>.writing`: no link that lies there is
/// followed, and two processes that write the same file do not meet.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_for(path);
    let written = (|| {
        let mut unfinished = unfinished();
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        unfinished.insert(temporary.clone());
        drop(unfinished);
        let whole = file.write_all(bytes).and_then(|()| file.sync_all());
        finish(&temporary, path, whole)
    })();
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Renames a temporary file that is whole into its place, and removes one that is not.
fn finish(temporary: &Path, path: &Path, whole: io::Result<()>) -> io::Result<()> {
    let mut unfinished = unfinished();
    unfinished.remove(temporary);
    let renamed = whole.and_then(|()| fs::rename(temporary, path));
    if renamed.is_err() {
        // Nothing to do about a failure to tidy up; the first error is the one that matters.
        let _ = fs::remove_file(temporary);
    }
    renamed
}

/// Removes every file that this process has begun to write and not finished. Whoever holds what is returned keeps the
/// others from writing on: for a process that is about to end at once.
pub fn abandon() -> impl Sized {
    let mut unfinished = unfinished();
    remove_all(&mut unfinished);
    unfinished
}

fn remove_all(unfinished: &mut BTreeSet<PathBuf>) {
    for temporary in std::mem::take(unfinished) {
        let _ = fs::remove_file(temporary);
    }
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn temporary_for(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    // Keys that the operating system draws, different each time; no result depends on them.
    let random = RandomState::new().hash_one(std::process::id());
    path.with_file_name(format!(".{name}.{random:016x}.writing"))
}

/// Removes the temporary files that killed processes left in a folder to which nobody else writes now.
pub fn remove_leftovers(folder: &Path) {
    let is_leftover = |name: &str| name.starts_with('.') && name.ends_with(".writing");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_leftover) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Creates a folder and the ones above it.
pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Error::writing(path))
}

/// Creates the folder that a file is to lie in.
pub fn create_parent(file: &Path) -> Result<()> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => create_folder(folder),
        _ => Ok(()),
    }
}

/// The text of a file; nothing where it cannot be read.
pub fn text_of(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// What a file or a folder is called; `.` and its like by what they stand for.
pub fn last_name(path: &Path) -> String {
    let whole = || path.canonicalize().ok();
    let name = path.file_name().map(ToOwned::to_owned).or_else(|| whole()?.file_name().map(ToOwned::to_owned));
    name.map_or("run".into(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_what_was_there_and_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        // A folder that holds something cannot be replaced by a file.
        let path = folder.path().join("weights");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("old"), b"old").unwrap();
        let error = write_whole(&path, b"new").unwrap_err();
        assert!(error.to_string().starts_with("cannot write"), "{error}");
        assert_eq!(fs::read(path.join("old")).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["weights"]);
    }

    #[test]
    fn temporary_files_have_other_names_each_time_and_say_what_they_are() {
        let path = Path::new("runs/report.html");
        let (one, two) = (temporary_for(path), temporary_for(path));
        assert_ne!(one, two);
        let name = one.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(".report.html.") && name.ends_with(".writing"), "{name}");
        assert_eq!(one.parent(), path.parent());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_in_the_place_of_a_temporary_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (outside, path) = (folder.path().join("outside"), folder.path().join("report.html"));
        fs::write(&outside, b"precious").unwrap();
        // Under the name that was used once, and under one that is in use right now.
        std::os::unix::fs::symlink(&outside, folder.path().join(".report.html.writing")).unwrap();
        write_whole(&path, b"page").unwrap();
        let taken = temporary_for(&path);
        std::os::unix::fs::symlink(&outside, &taken).unwrap();
        let refused = OpenOptions::new().write(true).create_new(true).open(&taken).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&outside).unwrap(), b"precious");
        assert!(fs::symlink_metadata(&path).unwrap().is_file() && fs::read(&path).unwrap() == b"page");
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = temporary_for(&folder.path().join("weights"));
        for path in [temporary, folder.path().join("weights"), folder.path().join("my.writing")] {
            fs::write(path, b"").unwrap();
        }
        remove_leftovers(folder.path());
        assert_eq!(names(folder.path()), ["my.writing", "weights"]);
        remove_leftovers(&folder.path().join("nowhere"));
    }

    #[test]
    fn an_abandoned_file_is_gone_and_the_one_before_it_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights");
        write_whole(&path, b"old").unwrap();
        let temporary = temporary_for(&path);
        fs::write(&temporary, b"ne").unwrap();
        remove_all(&mut BTreeSet::from([temporary]));
        assert_eq!(names(folder.path()), ["weights"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_file_is_called_by_its_last_name_and_gets_the_folder_it_lies_in() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/page.html");
        assert_eq!(last_name(&file), "page.html");
        create_parent(&file).unwrap();
        assert!(file.parent().unwrap().is_dir() && !file.exists());
        create_parent(Path::new("page.html")).unwrap();
        assert_eq!(text_of(&file), None);
    }
}
