//! What the tests of this workspace share: the insides of models, where the real data lie, and what becomes of a test
//! without them.

/// The insides of the models that this crate trains.
pub mod model {
    pub use crate::model::adam::Adam;
    pub use crate::model::mlp::{Head, Mlp, negative_log_likelihood};
    pub use crate::model::network::Network;
    pub use crate::model::parameters::{Layout, Parameters, Weights};
    pub use crate::model::resnet::ResNet;
    pub use crate::model::sghmc::Sghmc;
    pub use crate::model::stacked::stack;
    pub use crate::model::training::{Batch, Trainable, gradient_by_graph};
    pub use crate::model::vae::likelihood::Likelihood;
    pub use crate::model::vae::{VaeNetwork, VaeShape};
}

/// Models of two columns that can be checked by hand.
pub mod toy {
    use crate::error::Result;
    use crate::model::{Generative, Predictive, Predictor};
    use crate::tensor::{Tensor, log_softmax};

    /// The second class where x1 + x2 is large: p = σ(x1 + x2).
    pub struct Logistic;

    impl Predictor for Logistic {
        fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
            let sum = x.clone().sum_dim(1);
            let logits = Tensor::cat(vec![sum.clone() * -0.5, sum * 0.5], 1);
            Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
        }
    }

    /// The latent space is the input space.
    pub struct Same;

    impl Generative for Same {
        fn latent_dim(&self) -> usize {
            2
        }
        fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
            Ok(x.clone())
        }
        fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
            Ok(z.clone())
        }
    }
}

use std::ffi::OsString;
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// The folder of the datasets if it holds these files: the one that `CLUE_DATA` names, else `shared/data` beside the
/// checkout.
///
/// Nothing if one of them is missing; the test then says on stderr that it is skipped, and in the file that
/// `CLUE_SKIPPED` names, which `make test` shows at its end. With `CLUE_REQUIRE_DATA=1` it fails instead.
#[track_caller]
pub fn real_data(files: &[&str]) -> Option<PathBuf> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/cluekit lies in a checkout");
    let beside = checkout.with_file_name("shared").join("data");
    let missing = match found(std::env::var_os("CLUE_DATA"), &beside, files) {
        Ok(folder) => return Some(folder),
        Err(missing) => missing,
    };
    let required = std::env::var_os("CLUE_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!required, "{missing}, and CLUE_REQUIRE_DATA=1 asks for it; unset it to skip the tests that need data");
    skip(&missing, std::env::var_os("CLUE_SKIPPED"));
    None
}

/// The folder, or what is missing and how to bring it.
fn found(named: Option<OsString>, beside: &Path, files: &[&str]) -> Result<PathBuf, String> {
    let named = named.filter(|name| !name.is_empty());
    let folder = named.map_or_else(|| beside.to_owned(), PathBuf::from);
    match files.iter().find(|file| !folder.join(file).exists()) {
        None => Ok(folder),
        Some(file) => {
            let folder = folder.display();
            Err(format!("there is no {file} in {folder}; set CLUE_DATA to the folder that holds it"))
        }
    }
}

/// Says which place of a test goes without what.
#[track_caller]
#[allow(clippy::print_stderr, reason = "a test without its data says that it is skipped")]
fn skip(missing: &str, list: Option<OsString>) {
    let test = Location::caller();
    let line = format!("{}, line {}: {missing}\n", test.file(), test.line());
    eprint!("skipped: {line}");
    if let Some(path) = list {
        // One write for the whole line, since tests of several processes append to the same file.
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("the file that CLUE_SKIPPED names can be written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_lie_where_the_variable_says_or_beside_the_checkout() {
        let (named, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(beside.path().join("digits"), "").unwrap();
        let find = |named: Option<&Path>, file| found(named.map(Into::into), beside.path(), &[file]);
        assert_eq!(find(None, "digits").unwrap(), beside.path());
        assert_eq!(find(Some(Path::new("")), "digits").unwrap(), beside.path(), "an empty variable is none");
        let missing = find(Some(named.path()), "digits").unwrap_err();
        assert!(missing.contains("there is no digits in") && missing.contains("set CLUE_DATA"), "{missing}");
        std::fs::write(named.path().join("digits"), "").unwrap();
        assert_eq!(find(Some(named.path()), "digits").unwrap(), named.path());
    }

    #[test]
    fn every_skip_is_a_line_of_the_list() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("skipped.txt");
        skip("no digits", Some(list.clone().into()));
        skip("no letters", Some(list.clone().into()));
        skip("no list", None);
        let lines = std::fs::read_to_string(list).unwrap();
        let [digits, letters] = lines.lines().collect::<Vec<_>>()[..] else { panic!("two lines, not {lines}") };
        assert!(digits.contains("testing.rs, line ") && digits.ends_with(": no digits"), "{digits}");
        assert!(letters.ends_with(": no letters"), "{letters}");
    }
}
