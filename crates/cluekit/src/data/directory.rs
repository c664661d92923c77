//! Where datasets lie on this machine.
//!
//! `--data DIR`, else the environment variable `CLUE_DATA`, else `shared/data` beside a checkout of this project
//! that the current directory lies in, else the user's cache directory.

use super::Provider;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder that holds one subfolder for each dataset.
#[derive(Clone, Debug)]
pub struct DataDir {
    path: PathBuf,
    providers: Vec<Arc<dyn Provider>>,
}

impl DataDir {
    /// The data directory: `option` if the user gave one, otherwise what the environment says.
    pub fn locate(option: Option<&Path>) -> Self {
        let here = env::current_dir().ok();
        Self::choose(option, here.as_deref(), &|name| env::var_os(name))
    }

    /// This folder, together with the datasets of a provider.
    #[must_use]
    pub fn with(mut self, provider: impl Provider + 'static) -> Self {
        self.providers.push(Arc::new(provider));
        self
    }

    /// Providers of further datasets.
    pub fn providers(&self) -> &[Arc<dyn Provider>] {
        &self.providers
    }

    /// Who knows a dataset of this name, or reads the file at this path.
    pub(super) fn provider_of(&self, name: &str) -> Option<&dyn Provider> {
        self.providers.iter().find(|provider| provider.knows(name)).map(AsRef::as_ref)
    }

    /// Path of the folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the file or subfolder called `name`.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn choose(option: Option<&Path>, here: Option<&Path>, variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let path = option
            .map(Path::to_owned)
            .or_else(|| variable("CLUE_DATA"))
            .or_else(|| here.and_then(beside_checkout))
            .or_else(|| cache(&variable))
            .unwrap_or_else(|| PathBuf::from("cluekit-data")); // no home: a folder where the user stands
        Self { path, providers: vec![] }
    }
}

/// `shared/data` beside the checkout that `here` lies in, if both are there.
fn beside_checkout(here: &Path) -> Option<PathBuf> {
    let checkout = here.ancestors().find(|folder| folder.join("crates/cluekit").is_dir())?;
    let data = checkout.parent()?.join("shared").join("data");
    data.is_dir().then_some(data)
}

/// The folder of this program in the user's cache directory.
fn cache(variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let home = || variable("HOME");
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Caches"))
    } else {
        // The XDG specification says that a relative path there is to be ignored.
        variable("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| home().map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("cluekit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(option: Option<&str>, here: Option<&Path>, variables: &[(&str, &str)]) -> PathBuf {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        DataDir::choose(option.map(Path::new), here, &variable).path
    }

    #[test]
    fn the_option_comes_before_the_environment() {
        assert_eq!(choose(Some("given"), None, &[("CLUE_DATA", "env")]), Path::new("given"));
        assert_eq!(choose(None, None, &[("CLUE_DATA", "env")]), Path::new("env"));
    }

    #[test]
    fn without_anything_it_is_a_folder_where_the_user_stands() {
        assert_eq!(choose(None, None, &[]), Path::new("cluekit-data"));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn an_empty_variable_counts_as_unset() {
        let variables = [("CLUE_DATA", ""), ("XDG_CACHE_HOME", ""), ("HOME", "/home/ada")];
        assert_eq!(choose(None, None, &variables), Path::new("/home/ada/.cache/cluekit"));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn a_relative_cache_home_is_ignored() {
        let variables = [("XDG_CACHE_HOME", "cache"), ("HOME", "/home/ada")];
        assert_eq!(choose(None, None, &variables), Path::new("/home/ada/.cache/cluekit"));
        assert_eq!(choose(None, None, &[("XDG_CACHE_HOME", "/cache")]), Path::new("/cache/cluekit"));
    }

    #[test]
    fn a_checkout_finds_the_shared_data_beside_it_from_any_depth() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("checkout/crates/cluekit/src");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(choose(None, Some(&deep), &[]), Path::new("cluekit-data"), "there is no shared data yet");

        let shared = root.path().join("shared/data");
        std::fs::create_dir_all(&shared).unwrap();
        assert_eq!(choose(None, Some(&deep), &[]), shared);
        assert_eq!(choose(None, Some(root.path()), &[]), Path::new("cluekit-data"), "outside the checkout");
        assert_eq!(choose(None, Some(&deep), &[("CLUE_DATA", "env")]), Path::new("env"));
    }

    #[test]
    fn a_dataset_is_a_subfolder() {
        assert_eq!(DataDir::locate(Some(Path::new("d"))).path_of("mnist"), Path::new("d").join("mnist"));
    }
}
