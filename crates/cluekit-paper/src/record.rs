//! What remains of an experiment: `result.json`, a CSV for each table, an SVG for each picture.

use super::spec::Spec;
use super::study_result::{Check, ModelHashes, StudyResult, Table, Verdict};
use cluekit::error::{Error, Result};
use cluekit::model::store::files::{create_folder, write_whole};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file that says that an experiment is done.
const RESULT: &str = "result.json";

/// Raised whenever a study asks, measures or judges otherwise than before, so that older records do not count.
const REVISION: u32 = 3;

/// A finished experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    /// Its name, that of its folder too.
    pub name: String,
    /// The version of cluekit that it was carried out with.
    pub version: String,
    /// The revision of the studies.
    pub revision: u32,
    /// Whether it was done in a hurry: small models, few clues.
    pub quick: bool,
    /// What was asked, every setting included.
    pub spec: Spec,
    /// The verdict on the claim.
    pub verdict: Verdict,
    /// The parts of the claim with their figures.
    pub checks: Vec<Check>,
    /// Seeds of the experiment.
    pub seeds: Vec<u64>,
    /// The models, with the hashes of their files.
    pub models: ModelHashes,
    /// How long it took, models that had to be trained first included.
    pub seconds: f64,
    /// The names of the pictures.
    pub pictures: Vec<String>,
    /// Every number that was plotted.
    pub tables: Vec<Table>,
}

impl ExperimentRecord {
    /// Writes what was found into `folder`, the record itself last.
    pub fn write(
        name: &str,
        spec: &Spec,
        quick: bool,
        finding: &StudyResult,
        seconds: f64,
        folder: &Path,
    ) -> Result<Self> {
        create_folder(folder)?;
        for table in &finding.tables {
            write_whole(&folder.join(format!("{}.csv", table.name)), &table.csv()?)?;
        }
        for (name, svg) in &finding.pictures {
            write_whole(&folder.join(format!("{name}.svg")), svg.as_bytes())?;
        }
        let record = Self {
            name: name.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            revision: REVISION,
            quick,
            spec: spec.clone(),
            verdict: finding.verdict(),
            checks: finding.checks.clone(),
            seeds: finding.seeds.clone(),
            models: finding.models.clone(),
            seconds,
            pictures: finding.pictures.iter().map(|(name, _)| name.clone()).collect(),
            tables: finding.tables.clone(),
        };
        record.save(folder)?;
        Ok(record)
    }

    fn save(&self, folder: &Path) -> Result<()> {
        let mut json = serde_json::to_vec(self).map_err(|error| Error::data(error.to_string()))?;
        json.push(b'\n');
        write_whole(&folder.join(RESULT), &json)
    }

    /// The same record under the words that `spec` has now for the same study.
    pub fn worded(self, spec: &Spec, folder: &Path) -> Result<Self> {
        if self.spec == *spec {
            return Ok(self);
        }
        let record = Self { spec: spec.clone(), ..self };
        record.save(folder)?;
        Ok(record)
    }

    /// The record in `folder`, if there is one that can be read.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(RESULT);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::reading(&path)(error)),
        };
        let wrong = |error: serde_json::Error| {
            Error::file(
                &path,
                format!("is not the record of an experiment ({error}); remove it to repeat the experiment"),
            )
        };
        serde_json::from_slice(&bytes).map(Some).map_err(wrong)
    }

    /// Whether it answers what is asked now.
    pub fn answers(&self, spec: &Spec, quick: bool) -> bool {
        let now = (env!("CARGO_PKG_VERSION"), REVISION, quick);
        self.spec.study == spec.study && (self.version.as_str(), self.revision, self.quick) == now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in;

    #[test]
    fn a_record_is_read_as_it_was_written_and_answers_only_its_own_question() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ExperimentRecord::read(folder.path()).unwrap(), None);
        let spec = built_in("a-datasets", false).unwrap();
        let mut table = Table::new("rows", &["name", "count"]);
        table.push(vec!["mnist".into(), 60_000.into()]);
        let finding = StudyResult { seeds: vec![0], ..StudyResult::default() }
            .table(table)
            .picture("figure", "<svg/>".into())
            .check(Check::that("so", true, "1"));
        let record = ExperimentRecord::write("a-datasets", &spec, false, &finding, 1.5, folder.path()).unwrap();
        assert_eq!(ExperimentRecord::read(folder.path()).unwrap(), Some(record.clone()));
        assert_eq!(std::fs::read_to_string(folder.path().join("rows.csv")).unwrap(), "name,count\nmnist,60000\n");
        assert!(record.answers(&spec, false) && !record.answers(&spec, true));
        assert!(!record.answers(&built_in("b-shell", false).unwrap(), false));
        assert!(!ExperimentRecord { revision: REVISION - 1, ..record.clone() }.answers(&spec, false));
        let said_otherwise = Spec { title: "Other words".into(), ..spec.clone() };
        let worded = record.clone().worded(&said_otherwise, folder.path()).unwrap();
        assert!(worded.answers(&spec, false) && worded.seconds == record.seconds);
        assert_eq!(ExperimentRecord::read(folder.path()).unwrap(), Some(worded));
        std::fs::write(folder.path().join("result.json"), "{").unwrap();
        let error = ExperimentRecord::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("remove it to repeat the experiment"), "{error}");
    }
}
