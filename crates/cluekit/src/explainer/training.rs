//! How the models of a run came about, setting by setting: trained by a plan, or taken from files made elsewhere.

use crate::audit::Setting;
use crate::error::{Error, Result};
use crate::model::store::run::RunRecord;
use serde::Serialize;

/// The settings of training as far as a model of this run follows from them, and what is known of models from elsewhere.
pub(super) fn training_settings(record: &RunRecord) -> Result<Vec<Setting>> {
    let adopted = [("predictor.", record.predictor.is_some()), ("generative.", record.generative.is_some())];
    let is_used =
        |setting: &Setting| !adopted.iter().any(|(model, adopted)| *adopted && setting.key.starts_with(model));
    let planned = record.plan.as_ref().map(flattened).transpose()?.unwrap_or_default().into_iter().filter(is_used);
    let mut settings: Vec<Setting> = planned.collect();
    for (model, taken) in [
        ("predictor.", record.predictor.as_ref().map(flattened).transpose()?),
        ("generative.", record.generative.as_ref().map(flattened).transpose()?),
    ] {
        let named = |setting: Setting| Setting { key: format!("{model}{}", setting.key), ..setting };
        settings.extend(taken.unwrap_or_default().into_iter().map(named));
    }
    Ok(settings)
}

/// Settings as lines of keys and values.
pub(super) fn flattened(settings: &impl Serialize) -> Result<Vec<Setting>> {
    Setting::flattened(settings).map_err(|problem| Error::data(problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Schema;
    use crate::model::plan::Plan;

    #[test]
    fn the_plan_of_a_predictor_that_was_adopted_is_left_out() {
        let record: RunRecord = toml::from_str(
            "format = 1\n[dataset]\nname = \"loans.csv\"\ntest_share = 0.1\nseed = 0\n[predictor]\nfiles = \
             [\"predictor/net.onnx\"]\noutput = \"logits\"\n",
        )
        .unwrap();
        let schema: Schema = toml::from_str(
            "[target]\nname = \"y\"\ntask = \"classification\"\nclasses = [\"0\", \"1\"]\n[[features]]\nname = \"x\"\nkind = \
             \"binary\"\ncategories = [\"a\", \"b\"]\n",
        )
        .unwrap();
        let plan = Plan::for_data(&schema, 100);
        let keys = |record: &RunRecord| -> Vec<String> {
            training_settings(record).unwrap().into_iter().map(|setting| setting.key).collect()
        };
        let adopted = keys(&RunRecord { plan: Some(plan.clone()), ..record.clone() });
        assert!(adopted.contains(&"generative.latent".into()) && adopted.contains(&"predictor.files".into()));
        assert!(!adopted.contains(&"predictor.kind".into()), "{adopted:?}");
        let trained = keys(&RunRecord { plan: Some(plan), predictor: None, ..record });
        assert!(trained.contains(&"predictor.kind".into()) && !trained.contains(&"predictor.files".into()));
    }
}
