//! Fitted mappers as a file: parameters, and a JSON text that says what they mean and which models they belong to.

use super::fit::{Fitted, Fitting, LearnFrom};
use super::groups::{Members, Pair};
use super::mapper::{Mapper, Method};
use super::neural::{Neural, NeuralPlan};
use super::translation::{self, Form, LatentMap};
use crate::data::Predicate;
use crate::error::{Error, Result};
use crate::mixture::{Component, Mixture};
use crate::model::parameters::{Layout, Parameters};
use crate::model::store::mappers::Mappers;
use crate::search::Models;
use crate::seed::Seed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The version of the text.
const FORMAT: u32 = 1;

/// What lies beside the arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    format: u32,
    method: Method,
    learn_from: LearnFrom,
    lambda_x: f32,
    seed: Seed,
    /// SHA-256 of the files of the models.
    models: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    neural: Option<NeuralPlan>,
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
        let place = |name: &String| {
            classes
                .iter()
                .position(|class| class == name)
                .ok_or_else(|| format!("names a class `{name}` that the run does not have"))
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
    pub fn save(
        &self,
        store: &Mappers,
        name: &str,
        models: &Models,
        hashes: BTreeMap<String, String>,
        seed: Seed,
    ) -> Result<()> {
        if self.method.is_baseline() {
            return Err(Error::setting(
                "mapper",
                format!("`{}` needs no fitting and is not saved", self.method.name()),
            ));
        }
        let classes = models.task().classes();
        let neural = self.fittings.iter().find_map(|fitting| match &fitting.mapper {
            Mapper::Neural { network, .. } => Some(network),
            _ => None,
        });
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
            learn_from: self.learn_from,
            lambda_x: self.lambda_x,
            seed,
            models: hashes,
            neural: neural.map(|network| network.plan().clone()),
            groups: self.fittings.iter().map(group).collect(),
        };
        let parameters = match neural {
            Some(network) => network.parameters().clone(),
            None => {
                let layout = Arc::new(record.layout(models.generative.latent()));
                Parameters::new(layout, self.fittings.iter().flat_map(numbers).collect())?
            }
        };
        let note = serde_json::to_string(&record).expect("a record is made of names and finite numbers");
        store.write(name, &parameters, &note)
    }

    /// Loads the mappers called `name`, which must have been fitted for the models whose files have these hashes.
    pub fn load(
        store: &Mappers,
        name: &str,
        models: &Models,
        width: usize,
        hashes: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let (arrays, note) = store.read(name)?;
        let path = store.path(name);
        let record = Record::read(&note, &path)?;
        for (file, hash) in &record.models {
            if hashes.get(file) != Some(hash) {
                return Err(Error::file(
                    path,
                    format!("was fitted for another {file} (its SHA-256 differs); fit it again with `clue glam fit`"),
                ));
            }
        }
        let outputs = if models.task().is_regression() { 1 } else { models.task().classes().len() };
        let layout = match &record.neural {
            Some(plan) => {
                plan.validate()
                    .map_err(|error| Error::file(&path, format!("cannot be used: {error}; fit it again")))?;
                Neural::layout(models, width, outputs, plan)
            }
            None => Arc::new(record.layout(models.generative.latent())),
        };
        let parameters = arrays.matching(layout)?;
        let mappers = match &record.neural {
            Some(plan) => {
                let network = Arc::new(Neural::new(models, width, outputs, plan.clone(), parameters));
                record.groups.iter().map(|_| Mapper::Neural { network: network.clone(), target: 0 }).collect()
            }
            None => record.mappers(&parameters, models.generative.latent()),
        };
        let wrong = |problem: String| Error::file(&path, format!("{problem}; fit it again"));
        let fitting = |(group, mapper): (&GroupRecord, Mapper)| -> Result<Fitting> {
            let pair =
                Pair { from: group.from.members(models).map_err(wrong)?, to: group.to.members(models).map_err(wrong)? };
            let mapper = match mapper {
                Mapper::Neural { network, .. } => Mapper::Neural { network, target: pair.to.class.unwrap_or(0) },
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
        Ok(Self { method: record.method, learn_from: record.learn_from, lambda_x: record.lambda_x, fittings })
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
        let neural = (record.method == Method::Neural) == record.neural.is_some();
        let clusters =
            |group: &GroupRecord| (record.method == Method::Clusters) == group.clusters.is_some_and(|k| k > 0);
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
