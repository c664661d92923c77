//! `runs/<name>/`: `run.toml`, `schema.toml`, `generative.safetensors`, `predictor.safetensors`.
//!
//! `docs/run-folder.md` describes every file for other programs.

use super::checkpoint::Checkpoint;
use super::files::{create_folder, remove_leftovers, write_whole};
use super::mappers::MapperFolder;
use super::weights::{Arrays, write_weights, write_weights_with_note};
use crate::data::{Request, Schema, Source, sha256_hex, sha256_of};
use crate::error::{Error, Remedy, Result};
use crate::model::adopted::probe::Probe;
use crate::model::adopted::{AdoptedGenerative, AdoptedPredictor};
use crate::model::mlp::{Head, Mlp};
use crate::model::network::Network;
use crate::model::parameters::{Layout, Parameters};
use crate::model::plan::{Architecture, Plan};
use crate::model::resnet::ResNet;
use crate::model::stacked::Stacked;
use crate::model::training::Trainable;
use crate::model::vae::{Vae, VaeNetwork, VaeShape};
use crate::seed::Seed;
use crate::settings::flatten;
use crate::tensor::BACKEND;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the folder's layout.
const FORMAT: u32 = 1;
/// The file that says what the columns mean.
const SCHEMA: &str = "schema.toml";
/// The files whose hashes `run.toml` holds.
const HASHED: [&str; 3] = [SCHEMA, "generative.safetensors", "predictor.safetensors"];

/// What the predictor says of the training rows, kept because it takes long to ask.
const PREDICTIONS: &str = "predictions.safetensors";

/// Folders of models that lie in files of another program's format.
const ADOPTED: [&str; 2] = ["predictor", "generative"];

/// Rows and answers that the predictor is checked by whenever the run is opened.
const PROBE: &str = "probe.safetensors";

/// What else a run may hold; a new run in the same folder begins without it.
const RESULTS: [&str; 14] = [
    "run.toml",
    ADOPTED[0],
    ADOPTED[1],
    PROBE,
    "checkpoint",
    "measure",
    "explanations",
    "mappers",
    "jury",
    "plausible.safetensors",
    PREDICTIONS,
    "report.html",
    "report.json",
    "demo.svg",
];

/// The contents of `run.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Version of the folder's layout.
    pub format: u32,
    /// Versions of the software that made the run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// Seed of all randomness in training.
    #[serde(default)]
    pub seed: Seed,
    /// The dataset, and how it was read and split.
    pub dataset: Request,
    /// Files that the data were read from, with their hashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
    /// Every setting of training; none for a run whose weights were made elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The predictor that lies in files of another program's format; none for one in `predictor.safetensors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictor: Option<AdoptedPredictor>,
    /// The generative model that lies in such files; none for one in `generative.safetensors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generative: Option<AdoptedGenerative>,
    /// SHA-256 of the folder's files, by name; a file without an entry is not checked.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hashes: BTreeMap<String, String>,
}

impl RunRecord {
    /// The record of a run that is about to begin.
    pub fn new(dataset: Request, sources: Vec<Source>, plan: Plan, seed: Seed) -> Self {
        let versions = [("cluekit", env!("CARGO_PKG_VERSION")), BACKEND];
        Self {
            format: FORMAT,
            versions: versions.iter().map(|(name, version)| (name.to_string(), version.to_string())).collect(),
            seed,
            dataset,
            sources,
            plan: Some(plan),
            predictor: None,
            generative: None,
            hashes: BTreeMap::new(),
        }
    }

    /// Names of the model files below the run's folder, in the order of their names, for one of [`ADOPTED`]: those that
    /// have a hash, or the one file of weights.
    fn model_files(&self, model: &str) -> Vec<String> {
        let adopted = match model {
            "predictor" => self.predictor.is_some(),
            _ => self.generative.is_some(),
        };
        let below = |name: &&String| name.split_once('/').is_some_and(|(folder, _)| folder == model);
        match adopted {
            true => self.hashes.keys().filter(below).cloned().collect(),
            false => vec![format!("{model}.safetensors")],
        }
    }
}

/// The folder of a run: settings, models, mappers and results.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder at `path`, whether it is there or not.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the file called `name` in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether the folder holds a run, finished or not.
    pub fn exists(&self) -> bool {
        self.file("run.toml").exists()
    }

    /// Name of the first thing in the folder that a new run would replace; none if there is nothing.
    pub fn occupied_by(&self) -> Option<&'static str> {
        RESULTS.into_iter().chain(HASHED).find(|name| self.file(name).exists())
    }

    /// The difference that keeps a run begun as `self.record()` from being continued as `now`; none if there is none.
    pub fn differs_from(&self, now: &RunRecord, schema: &Schema) -> Result<Option<String>> {
        for name in HASHED {
            if self.file(name).exists() {
                self.check_hash(name)?;
            }
        }
        // A run that was broken off while it was begun has none yet.
        let before = if self.file(SCHEMA).exists() { self.schema()? } else { schema.clone() };
        if before.without_constraints() != schema.without_constraints() {
            return Ok(Some("schema.toml differs".into()));
        }
        if before.constraints != schema.constraints {
            return Ok(Some("schema.toml has other constraints (give it as the schema to keep them)".into()));
        }
        let settings = |record: &RunRecord| {
            let table = toml::Table::try_from(record).expect("a record is made of tables, numbers and strings");
            let mut settings = Vec::new();
            flatten(&table, "", &mut settings);
            settings.into_iter().filter(|(key, _)| !key.starts_with("hashes.")).collect::<BTreeMap<_, _>>()
        };
        let (then, now) = (settings(&self.record()?), settings(now));
        let show = |value: Option<&toml::Value>| value.map_or("absent".into(), ToString::to_string);
        let differs = then.keys().chain(now.keys()).find(|key| then.get(*key) != now.get(*key));
        Ok(differs.map(|key| format!("{key} was {}, now {}", show(then.get(key)), show(now.get(key)))))
    }

    /// Begins a run: creates the folder and writes what is known before training.
    ///
    /// `run.toml` comes first, since it makes the folder a run that can be resumed, at whatever moment it is broken off.
    pub fn begin(&self, record: &RunRecord, schema: &Schema) -> Result<()> {
        create_folder(&self.path)?;
        remove_leftovers(&self.path);
        self.write_record(record)?;
        write_whole(&self.file(SCHEMA), schema.to_toml()?.as_bytes())
    }

    /// Ends a run: notes the hashes of its files and removes the checkpoint.
    pub fn finish(&self, record: &RunRecord) -> Result<()> {
        let mut record = record.clone();
        for name in HASHED {
            if self.file(name).exists() {
                let hash = match name {
                    SCHEMA if !self.read_schema()?.constraints.is_empty() => self.hash_without_constraints()?,
                    _ => self.hash(name)?,
                };
                record.hashes.insert(name.into(), hash);
            }
        }
        if self.file(PROBE).exists() {
            record.hashes.insert(PROBE.into(), self.hash(PROBE)?);
        }
        for name in self.adopted_files()? {
            let hash = self.hash(&name)?;
            record.hashes.insert(name, hash);
        }
        self.write_record(&record)?;
        self.checkpoint()?.clear()
    }

    /// Removes what an earlier run left: its models, its results, its checkpoint.
    pub fn clear(&self) -> Result<()> {
        for name in HASHED.iter().chain(&RESULTS) {
            let path = self.file(name);
            let removed = match path.is_dir() {
                true => fs::remove_dir_all(&path),
                false if path.exists() => fs::remove_file(&path),
                false => Ok(()),
            };
            removed.map_err(Error::writing(&path))?;
        }
        Ok(())
    }

    /// The place where training keeps what a resumed run needs.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        Checkpoint::in_folder(&self.file("checkpoint"))
    }

    /// Writes the generative model's weights.
    pub fn write_generative(&self, parameters: &Parameters) -> Result<()> {
        write_weights(&self.file("generative.safetensors"), parameters)
    }

    /// Writes the predictor's stacked weights.
    pub fn write_predictor(&self, parameters: &Parameters) -> Result<()> {
        write_weights(&self.file("predictor.safetensors"), parameters)
    }

    /// Whether the folder holds the weights of the generative model, or its files.
    pub fn has_generative(&self) -> bool {
        self.file("generative.safetensors").exists() || self.file(ADOPTED[1]).is_dir()
    }

    /// Whether a generative model belongs to the run, even if its file is lost.
    pub fn expects_generative(&self) -> Result<bool> {
        let record = self.record()?;
        let is_hashed = record.hashes.contains_key("generative.safetensors");
        Ok(self.has_generative() || record.generative.is_some() || is_hashed)
    }

    /// Whether the folder holds the weights of the predictor, or its files.
    pub fn has_predictor(&self) -> bool {
        self.file("predictor.safetensors").exists() || self.file(ADOPTED[0]).is_dir()
    }

    /// Copies the files of a model into the folder, as `model/name`; `model` is `predictor` or `generative`.
    pub fn adopt(&self, model: &str, name: &str, from: &Path) -> Result<()> {
        let to = self.file(model).join(name);
        create_folder(to.parent().expect("it lies below the folder"))?;
        write_whole(&to, &fs::read(from).map_err(Error::reading(from))?)
    }

    /// Names of all files of models of another program's format, below the folder.
    fn adopted_files(&self) -> Result<Vec<String>> {
        let mut found = vec![];
        let mut folders: Vec<String> = ADOPTED.iter().map(ToString::to_string).collect();
        while let Some(name) = folders.pop() {
            let path = self.file(&name);
            if !path.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&path).map_err(Error::reading(&path))? {
                let entry = entry.map_err(Error::reading(&path))?;
                let name = format!("{name}/{}", entry.file_name().to_string_lossy());
                if entry.path().is_dir() { folders.push(name) } else { found.push(name) }
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Rows and answers that the predictor is checked by; none if the run has no probe.
    pub fn probe(&self, schema: &Schema) -> Result<Option<Probe>> {
        match self.file(PROBE).exists() {
            true => {
                self.check_hash(PROBE)?;
                Probe::read(&self.file(PROBE), schema).map(Some)
            }
            false if self.record()?.hashes.contains_key(PROBE) => {
                Err(Error::missing(self.file(PROBE), "is lost; restore it, or make the run anew"))
            }
            false => Ok(None),
        }
    }

    /// Writes the probe of a predictor of rows with this schema.
    pub fn write_probe(&self, probe: &Probe, schema: &Schema) -> Result<()> {
        write_weights(&self.file(PROBE), &probe.arrays(schema)?)
    }

    /// Checks the hashes of all files of a model: of `predictor` or `generative`.
    pub fn check_model(&self, model: &str) -> Result<()> {
        self.record()?.model_files(model).iter().try_for_each(|name| self.check_hash(name))
    }

    /// The hash of a model: that of its file, or one over those of all its files.
    fn hash_of(&self, model: &str) -> Result<String> {
        let files = self.record()?.model_files(model);
        let hashes = files.iter().map(|name| self.hash(name)).collect::<Result<Vec<_>>>()?;
        Ok(match &hashes[..] {
            [hash] => hash.clone(),
            several => sha256_hex(several.concat().as_bytes()),
        })
    }

    fn write_record(&self, record: &RunRecord) -> Result<()> {
        let text = toml::to_string(record).expect("a record is made of tables, numbers and strings");
        write_whole(&self.file("run.toml"), text.as_bytes())
    }

    /// Reads `run.toml`.
    pub fn record(&self) -> Result<RunRecord> {
        let path = self.file("run.toml");
        if !self.path.exists() {
            return Err(Error::missing(&self.path, "is not there").remedy(Remedy::Train));
        }
        if !self.exists() {
            return Err(Error::missing(&self.path, "is no run: it holds no run.toml").remedy(Remedy::Train));
        }
        let text = self.text("run.toml")?;
        let unreadable = |problem: toml::de::Error| Error::file(&path, problem.to_string().trim_end());
        /// The format comes first: the keys of a newer one are unknown to this version.
        #[derive(Deserialize)]
        struct Format {
            format: Option<i64>,
        }
        match toml::from_str::<Format>(&text).map_err(unreadable)?.format {
            Some(format) if format != i64::from(FORMAT) => {
                let remedy = "use the version of clue that made the run";
                Err(Error::file(&path, format!("has format {format}, this version reads {FORMAT}; {remedy}")))
            }
            _ => toml::from_str(&text).map_err(unreadable),
        }
    }

    /// Reads `schema.toml`, and checks its hash.
    pub fn schema(&self) -> Result<Schema> {
        self.check_hash(SCHEMA)?;
        self.read_schema()
    }

    fn read_schema(&self) -> Result<Schema> {
        Schema::from_toml(&self.text(SCHEMA)?, &self.file(SCHEMA))
    }

    /// Reads the trained predictor.
    pub fn predictor(&self, schema: &Schema) -> Result<Stacked> {
        self.check_hash("predictor.safetensors")?;
        let arrays = Arrays::read(&self.file("predictor.safetensors"))?;
        let (network, samples) = network_of(&arrays, schema)?;
        Stacked::read(&arrays, &network, samples)
    }

    /// Reads the trained generative model.
    pub fn generative(&self, schema: &Schema) -> Result<Vae> {
        self.check_hash("generative.safetensors")?;
        let arrays = Arrays::read(&self.file("generative.safetensors"))?;
        let shape = shape_of_vae(&arrays);
        if shape.architecture != Architecture::Residual && schema.image.is_none() {
            return Err(no_image(&arrays));
        }
        let network = VaeNetwork::new(&shape, schema)?;
        let parameters = arrays.matching(network.layout().clone())?;
        Ok(Vae::new(network, &parameters))
    }

    /// SHA-256 of the files of the models that there are, by file name.
    pub fn model_hashes(&self) -> Result<BTreeMap<String, String>> {
        let there = ADOPTED.iter().filter(|model| **model == ADOPTED[0] || self.has_generative());
        there.map(|model| Ok((format!("{model}.safetensors"), self.hash_of(model)?))).collect()
    }

    /// Keeps predictions of the run's predictor, under a key that names their rows.
    pub fn write_predictions(&self, predictions: &Parameters, key: &str) -> Result<()> {
        write_weights_with_note(&self.file(PREDICTIONS), predictions, Some(&self.whole_key(key)?))
    }

    /// Takes over the predictor of another run, with its kept predictions of the training rows.
    pub fn take_predictor(&self, from: &Self) -> Result<()> {
        let take = |name: &str| {
            let path = from.file(name);
            write_whole(&self.file(name), &fs::read(&path).map_err(Error::reading(&path))?)
        };
        if from.file(PREDICTIONS).exists() {
            take(PREDICTIONS)?;
        }
        take("predictor.safetensors")
    }

    /// A key with what the run itself adds to it: what the predictor is, and how rows are encoded for it.
    fn whole_key(&self, key: &str) -> Result<String> {
        Ok(format!("{} {} {key}", self.hash_of(ADOPTED[0])?, self.hash(SCHEMA)?))
    }

    /// The hash of the generative model's weights.
    pub fn hash_of_generative(&self) -> Result<String> {
        self.hash_of(ADOPTED[1])
    }

    /// The predictions kept under `key`; none if they are absent or damaged.
    pub fn predictions(&self, layout: Layout, key: &str) -> Option<Parameters> {
        let key = self.whole_key(key).ok()?;
        let arrays = Arrays::read(&self.file(PREDICTIONS)).ok().filter(|arrays| arrays.note() == Some(&key))?;
        arrays.matching(Arc::new(layout)).ok()
    }

    /// Keeps arrays for the next time in a file of this name, under a key that says what they were made from; a folder that
    /// cannot be written to keeps none.
    pub fn keep(&self, name: &str, arrays: &Parameters, key: &str) {
        let path = self.file(name);
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let (Ok(()), Ok(key)) = (folder, self.whole_key(key)) {
            let _ = write_weights_with_note(&path, arrays, Some(&key));
        }
    }

    /// The arrays kept in a file of this name under `key`; none if they are absent or damaged.
    pub fn kept(&self, name: &str, key: &str) -> Option<Arrays> {
        let key = self.whole_key(key).ok()?;
        Arrays::read(&self.file(name)).ok().filter(|arrays| arrays.note() == Some(&key))
    }

    /// The folder of the mappers.
    pub fn mappers(&self) -> MapperFolder {
        MapperFolder::in_folder(self.file("mappers"))
    }

    fn text(&self, name: &str) -> Result<String> {
        let path = self.file(name);
        fs::read_to_string(&path).map_err(Error::reading(&path))
    }

    fn hash(&self, name: &str) -> Result<String> {
        let path = self.file(name);
        sha256_of(&path).map_err(Error::reading(&path))
    }

    /// The hash of what the models depend on in `schema.toml`: constraints may be edited after training.
    fn hash_without_constraints(&self) -> Result<String> {
        Ok(sha256_hex(self.read_schema()?.without_constraints().to_toml()?.as_bytes()))
    }

    fn check_hash(&self, name: &str) -> Result<()> {
        let Some(expected) = self.record()?.hashes.remove(name) else { return Ok(()) };
        let got = self.hash(name)?;
        if got == expected || (name == SCHEMA && self.hash_without_constraints()? == expected) {
            return Ok(());
        }
        Err(Error::file(
            self.file(name),
            format!(
                "has changed since the run was made: its SHA-256 is {got}, run.toml says {expected}; restore it, or \
                 delete its line under [hashes] in run.toml if the change was meant"
            ),
        ))
    }
}

fn no_image(arrays: &Arrays) -> Error {
    let problem = "has convolutions, but the schema describes a table, not an image; it belongs to another run";
    Error::file(arrays.path(), problem)
}

/// The network of a predictor, and S, from the arrays of its file: the widths of hidden layers and S are whatever the
/// file holds; what must fit is how they follow each other.
fn network_of(arrays: &Arrays, schema: &Schema) -> Result<(Network, usize)> {
    let head = Head::of(&schema.target.task);
    // What belongs to a layer has the same first two sides, so one of its arrays is enough to know them.
    let side = |layer: String, parts: &[&str], axis: usize| {
        let names = parts.iter().map(|part| format!("{layer}.{part}"));
        names.into_iter().find_map(|name| arrays.shape(&name)?.get(axis).copied()).unwrap_or(1)
    };
    let groups = arrays.count("groups.");
    if groups > 0 {
        let image = schema.image.as_ref().ok_or_else(|| no_image(arrays))?;
        let parts = ["weight", "norm.scale", "norm.shift", "norm.mean", "norm.variance"];
        let first = |group: usize, axis: usize| side(format!("groups.{group}.blocks.0.first"), &parts, axis);
        let channels: Vec<usize> = (0..groups).map(|group| first(group, 1)).collect();
        let blocks = arrays.count_within("groups.0.blocks.", groups).max(1);
        let network = ResNet::new(image, &channels, blocks, head);
        return Ok((Network::ResNet(network), first(0, 0)));
    }
    let layer = |layer: usize, axis: usize| side(format!("layers.{layer}"), &["weight", "bias"], axis);
    let hidden: Vec<usize> = (1..arrays.count("layers.")).map(|i| layer(i - 1, 1)).collect();
    Ok((Network::Mlp(Mlp::new(schema.width(), &hidden, head, 0.0)), layer(0, 0)))
}

/// The shape of a VAE from the arrays of its file, so that a file made elsewhere needs no settings beside it.
fn shape_of_vae(arrays: &Arrays) -> VaeShape {
    let side = |name: &str, axis: usize| arrays.shape(name).and_then(|shape| shape.get(axis).copied());
    // Weight and bias of a layer both begin with its outputs, so one of them is enough to know these.
    let outputs =
        |layer: String| side(&format!("{layer}.weight"), 0).or(side(&format!("{layer}.bias"), 0)).unwrap_or(1);
    let numbered = |prefix: &str, layer: &str| -> Vec<usize> {
        (0..arrays.count(prefix)).map(|i| outputs(format!("{prefix}{i}{layer}"))).collect()
    };
    let (convolutions, groups) = (numbered("encoder.convolutions.", ""), numbered("encoder.groups.", ".halve"));
    let architecture = match (convolutions.is_empty(), groups.is_empty()) {
        (true, true) => Architecture::Residual,
        (true, false) => Architecture::Ladder,
        (false, _) => Architecture::Convolution,
    };
    VaeShape {
        architecture,
        latent: outputs("encoder.output".into()) / 2,
        low_latent: outputs("encoder.low".into()) / 2,
        width: outputs("decoder.input".into()),
        depth: arrays.count("encoder.blocks."),
        blocks: arrays.count_within("encoder.groups.0.blocks.", groups.len()),
        channels: if architecture == Architecture::Ladder { groups } else { convolutions },
    }
}
