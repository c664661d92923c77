//! Sizes of the datasets. [Ley2022, App. A]

use crate::laboratory::Laboratory;
use crate::study_result::{Check, StudyResult, Table};
use cluekit::data::{self, Request};
use cluekit::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Which datasets, and what the paper says of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Datasets {
    /// Names of the datasets' models.
    pub models: Vec<String>,
    /// Numbers of rows to train and to test on that the paper prints.
    #[serde(default)]
    pub printed: Vec<[usize; 2]>,
    /// Numbers of features that the paper prints.
    #[serde(default)]
    pub dimensions: Vec<usize>,
}

impl Datasets {
    pub(super) fn run(&self, lab: &mut Laboratory) -> Result<StudyResult> {
        let mut table = Table::new("datasets", &["dataset", "classes", "columns", "features", "train", "test"]);
        let mut finding = StudyResult { seeds: vec![0], ..StudyResult::default() };
        for (key, given) in [("printed", self.printed.len()), ("dimensions", self.dimensions.len())] {
            if self.models.len() != given {
                let problem = format!("has {given} sizes for {} datasets; give one for each", self.models.len());
                return Err(Error::setting(key, problem));
            }
        }
        for ((name, printed), &dimension) in self.models.iter().zip(&self.printed).zip(&self.dimensions) {
            let dataset = data::load(&Request::new(name), None, &lab.directory())?;
            let (train, test) = (dataset.train.len(), dataset.test.len());
            let schema = &dataset.schema;
            let features = if schema.image.is_some() { schema.width() } else { schema.features.len() };
            let classes = schema.target.task.classes().len();
            table.push(vec![
                name.as_str().into(),
                classes.into(),
                schema.width().into(),
                features.into(),
                train.into(),
                test.into(),
            ]);
            finding = finding.checks(checks(name, [*printed, [train, test]], [dimension, features]));
        }
        Ok(finding.table(table))
    }
}

/// Of rows to train and to test on, and of features: what is printed, and what there is.
fn checks(name: &str, [printed, rows]: [[usize; 2]; 2], [dimension, features]: [usize; 2]) -> [Check; 2] {
    [
        Check::that(
            format!("{name} has {} rows to train and {} to test on", printed[0], printed[1]),
            rows == printed,
            format!("{} and {}", rows[0], rows[1]),
        ),
        Check::that(
            format!("an input of {name} has {dimension} features"),
            features == dimension,
            format!("{features}"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_result::Verdict::{DidNotHold, Held};

    #[test]
    fn sizes_are_those_that_are_printed() {
        let same = checks("credit", [[27, 3], [27, 3]], [24, 24]);
        assert_eq!(same[0].says, "credit has 27 rows to train and 3 to test on");
        assert_eq!(Check::verdicts(same), [Held, Held]);
        let other = checks("credit", [[27, 3], [26, 4]], [24, 23]);
        assert_eq!(other[0].figures, "26 and 4");
        assert_eq!(Check::verdicts(other), [DidNotHold, DidNotHold]);
    }
}
