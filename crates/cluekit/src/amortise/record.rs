//! Fitted mappers as a file: parameters, and a JSON text that says what they mean and which models they belong to.

use super::fit::{Fitted, Fitting, Terms};
use super::groups::{Members, Pair};
use super::mapper::{Mapper, Method};
use super::neural::{Neural, NeuralPlan};
use super::translation::{self, Form, LatentMap};
use crate::data::Predicate;
use crate::error::{Error, Remedy, Result};
use crate::mixture::{Component, Mixture};
use crate::model::parameters::{Layout, Parameters};
use crate::model::store::mappers::Mappers;
use crate::search::Models;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The version of the text.
const FORMAT: u32 = 1;
/// Numbers that a predictor returns beyond which a text is wrong.
const MOST_OUTPUTS: usize = 1_000_000;
/// Clusters beyond which a text is wrong rather than thorough.
const MOST_CLUSTERS: usize = 1_000_000;

/// What lies beside the arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    format: u32,
    method: Method,
    terms: Terms,
    /// SHA-256 of the files of the models.
    models: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    neural: Option<NeuralPlan>,
    /// Numbers that the predictor returns, where a network sees them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outputs: Option<usize>,
    groups: Vec<GroupRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupRecord {
    from: MembersRecord,
    to: MembersRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lambda_theta: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clusters: Option<usize>,
    uncertain: usize,
    certain: usize,
    uncertain_above: f32,
    certain_below: f32,
    notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MembersRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

impl MembersRecord {
    fn of(members: &Members, classes: &[String]) -> Self {
        let class = members.class.map(|class| classes.get(class).cloned().unwrap_or_else(|| class.to_string()));
        Self { class, condition: members.condition.as_ref().map(ToString::to_string) }
    }

    fn members(&self, models: &Models) -> std::result::Result<Members, String> {
        let classes = models.task().classes();
        // Models without names for their classes number them.
        let number = |name: &String| name.parse().ok().filter(|_| classes.is_empty());
        let place = |name: &String| {
            let place = classes.iter().position(|class| class == name).or_else(|| number(name));
            place.ok_or_else(|| format!("names a class `{name}` that the run does not have"))
        };
        let condition = match (&self.condition, models.schema) {
            (Some(text), Some(schema)) => Some(Predicate::parse(text, schema).map_err(|error| error.to_string())?),
            _ => None,
        };
        Ok(Members { class: self.class.as_ref().map(place).transpose()?, condition })
    }
}

impl Fitted {
    /// Saves the mappers under a name, for the models whose files have these hashes.
    pub fn save(&self, store: &Mappers, name: &str, models: &Models, hashes: BTreeMap<String, String>) -> Result<()> {
        if self.method.is_baseline() {
            return Err(Error::setting(
                "mapper",
                format!("`{}` needs no fitting and is not saved", self.method.name()),
            ));
        }
        let classes = models.task().classes();
        let neural = self.network();
        let group = |fitting: &Fitting| GroupRecord {
            from: MembersRecord::of(&fitting.pair.from, classes),
            to: MembersRecord::of(&fitting.pair.to, classes),
            lambda_theta: fitting.lambda_theta,
            clusters: match &fitting.mapper {
                Mapper::Clusters { translations, .. } => Some(translations.len()),
                _ => None,
            },
            uncertain: fitting.uncertain,
            certain: fitting.certain,
            uncertain_above: fitting.uncertain_above,
            certain_below: fitting.certain_below,
            notes: fitting.notes.clone(),
        };
        let record = Record {
            format: FORMAT,
            method: self.method,
            terms: self.terms.clone(),
            models: hashes,
            neural: neural.map(|network| network.plan().clone()),
            outputs: neural.map(Neural::outputs),
            groups: self.fittings.iter().map(group).collect(),
        };
        let parameters = match neural {
            Some(network) => network.parameters().clone(),
            None => {
                let layout = Arc::new(record.layout(models.generative.latent_dim()));
                Parameters::new(layout, self.fittings.iter().flat_map(numbers).collect())?
            }
        };
        let note = serde_json::to_string(&record).expect("a record is made of names and finite numbers");
        store.write(name, &parameters, &note)
    }

    /// Loads the mappers called `name`, which must have been fitted for the models whose files have these hashes.
    pub fn load(store: &Mappers, name: &str, models: &Models, hashes: &BTreeMap<String, String>) -> Result<Self> {
        let (arrays, note) = store.read(name)?;
        let path = store.path(name);
        let record = Record::read(&note, &path)?;
        for (file, hash) in hashes {
            if record.models.get(file) != Some(hash) {
                let problem = format!("was fitted for another {file} (its SHA-256 differs)");
                return Err(Error::Mismatch { path, problem }.remedy(Remedy::FitAgain));
            }
        }
        let wrong = |problem: String| Error::file(&path, format!("{problem}; fit it again"));
        let outputs = record.outputs.unwrap_or(0);
        let expected = if models.task().is_regression() { 1 } else { models.task().classes().len() };
        if record.outputs.is_some() && expected > 0 && outputs != expected {
            return Err(wrong(format!("is for a predictor with {outputs} outputs, and this one has {expected}")));
        }
        let layout = match &record.neural {
            Some(plan) => {
                plan.validate()
                    .map_err(|error| Error::file(&path, format!("cannot be used: {error}; fit it again")))?;
                Neural::layout(models, outputs, plan)
            }
            None => Arc::new(record.layout(models.generative.latent_dim())),
        };
        let parameters = arrays.matching(layout)?;
        let mappers = match &record.neural {
            Some(plan) => {
                let network = Arc::new(Neural::new(models, record.terms.distance, outputs, plan.clone(), parameters));
                record.groups.iter().map(|_| Mapper::Neural { network: network.clone(), target: 0 }).collect()
            }
            None => record.mappers(&parameters, models.generative.latent_dim()),
        };
        let fitting = |(group, mapper): (&GroupRecord, Mapper)| -> Result<Fitting> {
            let pair =
                Pair { from: group.from.members(models).map_err(wrong)?, to: group.to.members(models).map_err(wrong)? };
            let mapper = match mapper {
                Mapper::Neural { network, .. } => Mapper::Neural { network, target: pair.target() },
                other => other,
            };
            Ok(Fitting {
                pair,
                mapper,
                lambda_theta: group.lambda_theta,
                uncertain: group.uncertain,
                certain: group.certain,
                uncertain_above: group.uncertain_above,
                certain_below: group.certain_below,
                notes: group.notes.clone(),
            })
        };
        let fittings = record.groups.iter().zip(mappers).map(fitting).collect::<Result<_>>()?;
        Ok(Self { method: record.method, terms: record.terms, fittings })
    }
}

impl Record {
    fn read(note: &str, path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Format {
            format: Option<u32>,
        }
        let unreadable = |problem: serde_json::Error| {
            Error::file(path, format!("does not say what its mapper is ({problem}); fit it again"))
        };
        match serde_json::from_str::<Format>(note).map_err(unreadable)?.format {
            Some(FORMAT) => {}
            Some(other) => {
                let problem = format!("has format {other}, this version reads {FORMAT}; fit it again");
                return Err(Error::file(path, problem));
            }
            None => return Err(Error::file(path, "does not say its format; fit it again")),
        }
        let record: Self = serde_json::from_str(note).map_err(unreadable)?;
        let neural = record.neural.is_some() && record.outputs.is_some_and(|outputs| outputs <= MOST_OUTPUTS);
        let neural = (record.method == Method::Neural) == neural;
        let clusters = |group: &GroupRecord| match group.clusters {
            Some(count) => record.method == Method::Clusters && (1..=MOST_CLUSTERS).contains(&count),
            None => record.method != Method::Clusters,
        };
        if record.method.is_baseline() || !neural || !record.groups.iter().all(clusters) || record.groups.is_empty() {
            return Err(Error::file(path, "describes no mapper that can be fitted; fit it again"));
        }
        Ok(record)
    }

    /// The arrays of every group, one behind the other.
    fn layout(&self, latent: usize) -> Layout {
        let mut layout = Layout::default();
        for (i, group) in self.groups.iter().enumerate() {
            let name = |part: &str| format!("groups.{i}.{part}");
            match (self.method, group.clusters) {
                (_, Some(count)) => {
                    layout.push(name("weights"), &[count]);
                    layout.push(name("means"), &[count, latent]);
                    layout.push(name("variances"), &[count]);
                    layout.push(name("translations"), &[count, latent]);
                }
                (method, None) => {
                    for entry in translation::layout(form(method), latent).entries() {
                        layout.push(name(&entry.name), &entry.shape);
                    }
                }
            }
        }
        layout
    }

    /// The mappers that [`numbers`] made the arrays of.
    fn mappers(&self, parameters: &Parameters, latent: usize) -> Vec<Mapper> {
        let mut rest = parameters.values.as_slice();
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at(count);
            rest = left;
            taken.to_vec()
        };
        let mut mapper = |group: &GroupRecord| match (self.method, group.clusters) {
            (_, Some(count)) => {
                let (weights, means, variances) = (take(count), take(count * latent), take(count));
                let component = |k: usize| Component {
                    weight: f64::from(weights[k]),
                    mean: means[k * latent..(k + 1) * latent].iter().copied().map(f64::from).collect(),
                    variance: f64::from(variances[k]),
                };
                let mixture = Mixture { components: (0..count).map(component).collect(), bic: 0.0 };
                let translations = take(count * latent).chunks_exact(latent).map(<[f32]>::to_vec).collect();
                Mapper::Clusters { mixture, translations }
            }
            (Method::Scaled, None) => Mapper::Scaled(take(latent)),
            (method, None) => {
                let layout = Arc::new(translation::layout(form(method), latent));
                let numbers = take(layout.len());
                let parameters = Parameters::new(layout, numbers).expect("as many numbers as the layout has places");
                Mapper::Latent(LatentMap::new(form(method), parameters))
            }
        };
        self.groups.iter().map(&mut mapper).collect()
    }
}

fn form(method: Method) -> Form {
    if method == Method::Affine { Form::Affine } else { Form::Translation }
}

/// The numbers of a mapper in the order of its arrays.
fn numbers(fitting: &Fitting) -> Vec<f32> {
    match &fitting.mapper {
        Mapper::Latent(map) => map.parameters().values.clone(),
        Mapper::Scaled(translation) => translation.clone(),
        Mapper::Clusters { mixture, translations } => {
            let components = &mixture.components;
            let weights = components.iter().map(|component| component.weight as f32);
            let means = components.iter().flat_map(|component| component.mean.iter().map(|&value| value as f32));
            let variances = components.iter().map(|component| component.variance as f32);
            weights.chain(means).chain(variances).chain(translations.concat()).collect()
        }
        Mapper::Reconstruction | Mapper::InputShift(_) | Mapper::Nearest { .. } | Mapper::Neural { .. } => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::{Same, Sigmoid, classes, fitting, rows, table, terms};
    use crate::amortise::{Ask, Scheme};
    use crate::data::Task;
    use crate::distance::Distance;
    use crate::model::store::run::RunFolder;
    use crate::model::store::weights::write_weights;
    use crate::search::Price;
    use crate::seed::Seed;
    use std::fs;
    use tempfile::TempDir;

    /// A run folder with room for mappers.
    fn shelf() -> (TempDir, Mappers) {
        let place = tempfile::tempdir().unwrap();
        let store = RunFolder::at(place.path()).mappers();
        (place, store)
    }

    fn hashes(predictor: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("predictor.safetensors".into(), predictor.into()), ("vae.safetensors".into(), "1f".into())])
    }

    fn two_classes() -> Task {
        classes(&["a", "b"])
    }

    fn layout_of(form: Form) -> Arc<Layout> {
        Arc::new(translation::layout(form, 2))
    }

    /// A mapper of each kind that is saved, for two columns.
    fn mapper(method: Method, models: &Models) -> Mapper {
        let component = |x: f64| Component { weight: 0.5, mean: vec![x, 0.25], variance: 0.5 };
        match method {
            Method::Clusters => Mapper::Clusters {
                mixture: Mixture { components: vec![component(-1.0), component(1.0), component(4.0)], bic: 0.0 },
                translations: vec![vec![0.1, 0.2], vec![0.3, 0.4], vec![0.5, 0.6]],
            },
            Method::Scaled => Mapper::Scaled(vec![0.1, -0.2]),
            Method::Affine => {
                let numbers = vec![0.1, -0.2, 0.3, 0.4, 0.5, -0.6];
                Mapper::Latent(LatentMap::new(Form::Affine, Parameters::new(layout_of(Form::Affine), numbers).unwrap()))
            }
            Method::Neural => {
                let plan = NeuralPlan { width: 5, depth: 1, ..NeuralPlan::default() };
                let layout = Neural::layout(models, 2, &plan);
                let parameters = Parameters::initial(layout, &mut Seed(3).stream("start"));
                Mapper::Neural { network: Arc::new(Neural::new(models, Distance::L1, 2, plan, parameters)), target: 0 }
            }
            _ => Mapper::Latent(LatentMap::translation(vec![1.5, -0.7])),
        }
    }

    fn fitted(method: Method, models: &Models) -> Fitted {
        let one = mapper(method, models);
        let of_pair = |pair: Pair| match &one {
            Mapper::Neural { network, .. } => {
                let target = pair.to.class.unwrap();
                fitting(pair, Mapper::Neural { network: network.clone(), target })
            }
            other => fitting(pair, other.clone()),
        };
        let scheme = if method == Method::Neural { Scheme::AnyToClass } else { Scheme::Within };
        let fittings = scheme.pairs(2).into_iter().map(of_pair).collect();
        Fitted { method, terms: terms(), fittings }
    }

    /// What is said of the file `glam` when it is loaded for the classes a and b.
    fn refusal(store: &Mappers) -> String {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let message = Fitted::load(store, "glam", &models, &hashes("ab")).unwrap_err().to_string();
        assert!(message.contains("glam.safetensors") && !message.contains('\n'), "{message}");
        message
    }

    /// Saves a mapper called `glam`.
    fn save(store: &Mappers, method: Method) {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        fitted(method, &models).save(store, "glam", &models, hashes("ab")).unwrap();
    }

    #[test]
    fn what_is_loaded_proposes_what_was_saved() {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let rows = rows(&models, &[0.3, -0.7, 1.2, 0.4, -2.0, 5.0, 4.5, 0.0], 2, &[0, 1, 0, 1]);
        let (_place, store) = shelf();
        for method in Method::ALL.into_iter().filter(|method| !method.is_baseline()) {
            let saved = fitted(method, &models);
            saved.save(&store, method.name(), &models, hashes("ab")).unwrap();
            let loaded = Fitted::load(&store, method.name(), &models, &hashes("ab")).unwrap();
            let price = Price { lambda_x: 0.05, ..Price::default() };
            let propose = |fitted: &Fitted| fitted.propose(&models, &rows, &Ask::MostProbable(2), &price, "m").unwrap();
            assert_eq!(propose(&loaded), propose(&saved), "{method:?}");
            assert_eq!((loaded.method, loaded.terms), (method, terms()));
            for (loaded, saved) in loaded.fittings.iter().zip(&saved.fittings) {
                assert_eq!((&loaded.pair, &loaded.notes), (&saved.pair, &saved.notes));
                assert_eq!((loaded.lambda_theta, loaded.uncertain, loaded.certain), (Some(0.3), 7, 9));
                assert_eq!(
                    [loaded.uncertain_above, loaded.certain_below].map(f32::to_bits),
                    [0.5, 0.1].map(f32::to_bits)
                );
            }
        }
        assert_eq!(store.names().unwrap(), ["affine", "clusters", "glam", "neural", "scaled"]);
    }

    #[test]
    fn conditions_are_kept() {
        let (same, schema) = (Same::new(1), table());
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        let mut pair = Pair::of_classes(Some(1), None);
        pair.from.condition = Some(Predicate::parse("x < 0.25 or not x = 1", &schema).unwrap());
        let fittings = vec![fitting(pair.clone(), Mapper::Latent(LatentMap::translation(vec![1.0])))];
        let saved = Fitted { method: Method::Glam, terms: terms(), fittings };
        let (_place, store) = shelf();
        saved.save(&store, "young", &models, hashes("ab")).unwrap();
        let loaded = Fitted::load(&store, "young", &models, &hashes("ab")).unwrap();
        assert_eq!(loaded.fittings[0].pair, pair);
    }

    #[test]
    fn a_baseline_is_not_saved_and_a_name_is_a_file_name() {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let (_place, store) = shelf();
        let mut baseline = fitted(Method::Glam, &models);
        baseline.method = Method::LatentDbm;
        let message = baseline.save(&store, "x", &models, hashes("ab")).unwrap_err().to_string();
        assert!(message.contains("`latent-dbm` needs no fitting"), "{message}");
        for name in ["", "../glam", "a b", "ä", &"x".repeat(65)] {
            let saved = fitted(Method::Glam, &models).save(&store, name, &models, hashes("ab"));
            let message = saved.unwrap_err().to_string();
            assert!(message.contains(&format!("`{name}` cannot name a mapper")), "{message}");
        }
    }

    #[test]
    fn a_mapper_of_other_models_is_refused() {
        let (_place, store) = shelf();
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        fitted(Method::Glam, &models).save(&store, "glam", &models, hashes("cd")).unwrap();
        let message = refusal(&store);
        assert!(message.contains("fitted for another predictor.safetensors"), "{message}");
        assert!(message.contains("(its SHA-256 differs); fit it again"), "{message}");
    }

    #[test]
    fn a_class_that_the_run_does_not_have_is_named() {
        let (_place, store) = shelf();
        let (same, task) = (Same::new(2), classes(&["a", "z"]));
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        fitted(Method::Glam, &models).save(&store, "glam", &models, hashes("ab")).unwrap();
        let message = refusal(&store);
        assert!(message.contains("names a class `z`") && message.ends_with("fit it again"), "{message}");
    }

    #[test]
    fn a_file_that_is_missing_cut_short_or_silent_is_named_with_the_remedy() {
        let (_place, store) = shelf();
        let message = refusal(&store);
        assert!(message.contains("is not there (none is); fit a mapper"), "{message}");
        save(&store, Method::Glam);
        let bytes = fs::read(store.path("glam")).unwrap();
        for cut in [bytes.len() - 1, bytes.len() / 2, 7, 0] {
            fs::write(store.path("glam"), &bytes[..cut]).unwrap();
            let message = refusal(&store);
            assert!(message.contains("cut short") && message.contains("again"), "{message}");
        }
        let parameters = Parameters::new(layout_of(Form::Translation), vec![1.0, 2.0]).unwrap();
        write_weights(&store.path("glam"), &parameters).unwrap();
        assert!(refusal(&store).ends_with("says nothing of its mapper; fit it again"));
        fs::rename(store.path("glam"), store.path("other")).unwrap();
        assert!(refusal(&store).contains("is not there (there are other)"));
    }

    /// Changes the text of the file `glam`.
    fn rewrite(store: &Mappers, note: &str) {
        let parameters = Parameters::new(layout_of(Form::Translation), vec![1.0, 2.0]).unwrap();
        store.write("glam", &parameters, note).unwrap();
    }

    #[test]
    fn a_text_that_describes_no_mapper_is_refused() {
        let (_place, store) = shelf();
        save(&store, Method::Glam);
        let (_, glam) = store.read("glam").unwrap();
        save(&store, Method::Clusters);
        let (_, clusters) = store.read("glam").unwrap();
        let wrong = [
            ("hello".into(), "does not say what its mapper is"),
            ("{}".into(), "does not say its format; fit it again"),
            (glam.replace("\"format\":1", "\"format\":2"), "has format 2, this version reads 1; fit it again"),
            (glam.replace("\"format\":1", "\"format\":1,\"colour\":3"), "unknown field `colour`"),
            (glam.replace("\"glam\"", "\"input-nn\""), "describes no mapper that can be fitted; fit it again"),
            (glam.replace("\"glam\"", "\"neural\""), "describes no mapper that can be fitted"),
            (glam.replace("\"glam\"", "\"clusters\""), "describes no mapper that can be fitted"),
            (clusters.replace("\"clusters\":3", "\"clusters\":0"), "describes no mapper that can be fitted"),
            (clusters.replace("\"clusters\":3", "\"clusters\":18446744073709551615"), "describes no mapper"),
            (clusters.replace("\"clusters\":3", "\"clusters\":2"), "groups."),
            (clusters, "groups."),
        ];
        for (note, expected) in wrong {
            rewrite(&store, &note);
            let message = refusal(&store);
            assert!(message.contains(expected), "`{expected}` is not in: {message}");
        }
    }
}
