//! The audit of finished explanations: a gallery of them, without a model that could say more.

use super::training::{flattened, training_settings};
use super::{Audited, ExplanationSet};
use crate::audit::{Audit, FORMAT, Gallery, Provenance, Subject};
use crate::data::Schema;
use crate::error::{Error, Result};
use crate::model::plan::PredictorKind;
use crate::model::store::files::last_name;
use crate::model::store::run::RunFolder;
use crate::search::SearchMethod;
use std::path::Path;

impl ExplanationSet {
    /// A gallery of these explanations; what their columns and classes mean is in their run, with this `schema`.
    pub fn audited(self, run: &RunFolder, schema: &Schema) -> Result<Audited> {
        let record = run.record()?;
        if let Some(other) = self.explanations.iter().find(|e| e.input.x.len() != schema.width()) {
            let (got, expected, run) = (other.input.x.len(), schema.width(), run.path().display());
            return Err(Error::data(format!(
                "its inputs have {got} numbers, those of {run} {expected}; name the run that they come from"
            )));
        }
        let mut subject = Subject::new(&last_name(run.path()), &last_name(Path::new(&record.dataset.name)), schema, "");
        subject.accepted_below = Some(self.settings.threshold);
        subject.accepted_by = self.settings.accepted_by();
        let trained = record.plan.as_ref().filter(|_| record.predictor.is_none());
        subject.samples = trained.map(|plan| match plan.predictor.kind {
            PredictorKind::Plain => 1,
            _ => plan.predictor.samples,
        });
        let gallery = Gallery::of(&self.explanations, schema, title(&self.method), None);
        let audit = Audit {
            format: FORMAT,
            subject,
            findings: vec![],
            trust: None,
            uncertainty: None,
            learning: None,
            gallery: Some(gallery),
            groups: None,
            latent: None,
            story: None,
            provenance: Provenance {
                cluekit: env!("CARGO_PKG_VERSION").into(),
                command: String::new(),
                seed: self.seed.0,
                training_seed: record.plan.as_ref().map(|_| record.seed.0),
                search: flattened(&self.settings)?,
                constraints: flattened(&self.constraints)?,
                groups: vec![],
                training: training_settings(&record)?,
                versions: record.versions,
                sources: record.sources,
                models: record.hashes,
            },
            missing: vec![],
        };
        Ok(Audited { audit: audit.concluded(), explanations: self.explanations, groups: vec![] })
    }
}

/// What people call a method; a mapper has its own name.
fn title(name: &str) -> &str {
    name.parse::<SearchMethod>().map_or(name, |method| method.title())
}
