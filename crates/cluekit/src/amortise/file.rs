//! Mappers as a file: arrays, and the text of a record beside them.
//!
//! What the arrays of a kind are, its own file says: `kind/<name>.rs`.

use super::kind::Saved;
use super::record::{GroupRecord, Record};
use super::{Map, Mapper, Mappers, Pair};
use crate::error::{Error, Remedy, Result};
use crate::model::parameters::Parameters;
use crate::model::store::mappers::MapperFolder;
use crate::search::Models;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Mappers {
    /// Saves the mappers under a name, for the models whose files have these hashes.
    pub fn save(
        &self,
        folder: &MapperFolder,
        name: &str,
        models: &Models,
        hashes: BTreeMap<String, String>,
    ) -> Result<()> {
        let record = Record::of(self, models, hashes);
        let parameters = match self.kind.functions().saved {
            Saved::Never => {
                let problem = format!("`{}` needs no fitting and is not saved", self.kind.name());
                return Err(Error::setting("mapper", problem));
            }
            Saved::EachGroup { layout, .. } => {
                let layout = Arc::new(record.layout(models, layout));
                Parameters::new(layout, self.all.iter().flat_map(|mapper| mapper.map.numbers()).collect())?
            }
            Saved::Together { write, .. } => write(self)?,
        };
        let note = serde_json::to_string(&record).expect("a record is made of names and finite numbers");
        folder.write(name, &parameters, &note)
    }

    /// Loads the mappers called `name`, which must have been fitted for the models whose files have these hashes.
    pub fn load(folder: &MapperFolder, name: &str, models: &Models, hashes: &BTreeMap<String, String>) -> Result<Self> {
        let (arrays, note) = folder.read(name)?;
        let path = folder.path(name);
        let record = Record::read(&note, &path)?;
        for (file, hash) in hashes {
            if record.models.get(file) != Some(hash) {
                let problem = format!("was fitted for another {file} (its SHA-256 differs)");
                return Err(Error::Mismatch { path, problem }.remedy(Remedy::FitAgain));
            }
        }
        let wrong = |problem: String| Error::file(&path, format!("{problem}; fit it again"));
        let pairs =
            || -> Result<Vec<Pair>> { record.groups.iter().map(|group| group.pair(models).map_err(wrong)).collect() };
        let (maps, pairs) = match record.kind.functions().saved {
            Saved::Never => return Err(wrong("describes no mapper that can be fitted".into())),
            Saved::EachGroup { layout, read } => {
                let parameters = arrays.matching(Arc::new(record.layout(models, layout)))?;
                (record.maps(models, &parameters.values, layout, read), pairs()?)
            }
            Saved::Together { layout, read, .. } => {
                let parameters = arrays.matching(layout(&record, models).map_err(wrong)?)?;
                let pairs = pairs()?;
                (read(&record, models, parameters, &pairs), pairs)
            }
        };
        let mapper = |((group, pair), map): ((&GroupRecord, Pair), Arc<dyn Map>)| Mapper {
            pair,
            map,
            lambda_theta: group.lambda_theta,
            uncertain: group.uncertain,
            certain: group.certain,
            uncertain_above: group.uncertain_above,
            certain_below: group.certain_below,
            notes: group.notes.clone(),
        };
        let all = record.groups.iter().zip(pairs).zip(maps).map(mapper).collect();
        Ok(Self { kind: record.kind, fitted_under: record.fitted_under, all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::{Same, Sigmoid, classes, fitted_under, mapper, rows, table};
    use crate::amortise::translation::{self, Form, LatentMap};
    use crate::amortise::{Ask, Clusters, MapperKind, Neural, NeuralMap, NeuralPlan, Scaled, Scheme};
    use crate::data::{Predicate, Task};
    use crate::distance::Distance;
    use crate::mixture::{Component, Mixture};
    use crate::model::parameters::Layout;
    use crate::model::store::run::RunFolder;
    use crate::model::store::weights::write_weights;
    use crate::search::Price;
    use crate::seed::Seed;
    use std::fs;
    use tempfile::TempDir;

    /// A run folder with room for mappers.
    fn shelf() -> (TempDir, MapperFolder) {
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

    /// A map of each kind that is saved, for two columns; a network leads to `target`.
    fn map(kind: MapperKind, models: &Models, target: usize) -> Arc<dyn Map> {
        let component = |x: f64| Component { weight: 0.5, mean: vec![x, 0.25], variance: 0.5 };
        match kind {
            MapperKind::Clusters => Arc::new(Clusters {
                mixture: Mixture { components: vec![component(-1.0), component(1.0), component(4.0)], bic: 0.0 },
                translations: vec![vec![0.1, 0.2], vec![0.3, 0.4], vec![0.5, 0.6]],
            }),
            MapperKind::Scaled => Arc::new(Scaled(vec![0.1, -0.2])),
            MapperKind::Affine => {
                let numbers = vec![0.1, -0.2, 0.3, 0.4, 0.5, -0.6];
                Arc::new(LatentMap::new(Form::Affine, Parameters::new(layout_of(Form::Affine), numbers).unwrap()))
            }
            MapperKind::Neural => {
                let plan = NeuralPlan { width: 5, depth: 1, ..NeuralPlan::default() };
                let layout = Neural::layout(models, 2, &plan);
                let parameters = Parameters::initial(layout, &mut Seed(3).stream("start"));
                let network = Arc::new(Neural::new(models, Distance::L1, 2, plan, parameters));
                Arc::new(NeuralMap { network, target })
            }
            _ => Arc::new(LatentMap::translation(vec![1.5, -0.7])),
        }
    }

    fn mappers(kind: MapperKind, models: &Models) -> Mappers {
        let scheme = if kind == MapperKind::Neural { Scheme::AnyToClass } else { Scheme::Within };
        let of_pair = |pair: Pair| {
            let target = pair.to.class.unwrap();
            mapper(pair, map(kind, models, target))
        };
        Mappers { kind, fitted_under: fitted_under(), all: scheme.pairs(2).into_iter().map(of_pair).collect() }
    }

    /// What is said of the file `glam` when it is loaded for the classes a and b.
    fn refusal(store: &MapperFolder) -> String {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let message = Mappers::load(store, "glam", &models, &hashes("ab")).unwrap_err().to_string();
        assert!(message.contains("glam.safetensors") && !message.contains('\n'), "{message}");
        message
    }

    /// Saves a mapper called `glam`.
    fn save(store: &MapperFolder, kind: MapperKind) {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        mappers(kind, &models).save(store, "glam", &models, hashes("ab")).unwrap();
    }

    #[test]
    fn what_is_loaded_proposes_what_was_saved() {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let rows = rows(&models, &[0.3, -0.7, 1.2, 0.4, -2.0, 5.0, 4.5, 0.0], 2, &[0, 1, 0, 1]);
        let (_place, store) = shelf();
        for kind in MapperKind::ALL.into_iter().filter(|kind| !kind.is_baseline()) {
            let saved = mappers(kind, &models);
            saved.save(&store, kind.name(), &models, hashes("ab")).unwrap();
            let loaded = Mappers::load(&store, kind.name(), &models, &hashes("ab")).unwrap();
            let price = Price { lambda_x: 0.05, ..Price::default() };
            let propose =
                |mappers: &Mappers| mappers.propose(&models, &rows, &Ask::MostProbable(2), &price, "m").unwrap();
            assert_eq!(propose(&loaded), propose(&saved), "{kind:?}");
            assert_eq!((loaded.kind, loaded.fitted_under), (kind, fitted_under()));
            for (loaded, saved) in loaded.all.iter().zip(&saved.all) {
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
        let all = vec![mapper(pair.clone(), Arc::new(LatentMap::translation(vec![1.0])))];
        let saved = Mappers { kind: MapperKind::Glam, fitted_under: fitted_under(), all };
        let (_place, store) = shelf();
        saved.save(&store, "young", &models, hashes("ab")).unwrap();
        let loaded = Mappers::load(&store, "young", &models, &hashes("ab")).unwrap();
        assert_eq!(loaded.all[0].pair, pair);
    }

    #[test]
    fn a_baseline_is_not_saved_and_a_name_is_a_file_name() {
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let (_place, store) = shelf();
        let mut baseline = mappers(MapperKind::Glam, &models);
        baseline.kind = MapperKind::LatentDbm;
        let message = baseline.save(&store, "x", &models, hashes("ab")).unwrap_err().to_string();
        assert!(message.contains("`latent-dbm` needs no fitting"), "{message}");
        for name in ["", "../glam", "a b", "ä", &"x".repeat(65)] {
            let saved = mappers(MapperKind::Glam, &models).save(&store, name, &models, hashes("ab"));
            let message = saved.unwrap_err().to_string();
            assert!(message.contains(&format!("`{name}` cannot name a mapper")), "{message}");
        }
    }

    #[test]
    fn a_mapper_of_other_models_is_refused() {
        let (_place, store) = shelf();
        let (same, task) = (Same::new(2), two_classes());
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        mappers(MapperKind::Glam, &models).save(&store, "glam", &models, hashes("cd")).unwrap();
        let message = refusal(&store);
        assert!(message.contains("fitted for another predictor.safetensors"), "{message}");
        assert!(message.contains("(its SHA-256 differs); fit it again"), "{message}");
    }

    #[test]
    fn a_class_that_the_run_does_not_have_is_named() {
        let (_place, store) = shelf();
        let (same, task) = (Same::new(2), classes(&["a", "z"]));
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        mappers(MapperKind::Glam, &models).save(&store, "glam", &models, hashes("ab")).unwrap();
        let message = refusal(&store);
        assert!(message.contains("names a class `z`") && message.ends_with("fit it again"), "{message}");
    }

    #[test]
    fn a_file_that_is_missing_cut_short_or_silent_is_named_with_the_remedy() {
        let (_place, store) = shelf();
        let message = refusal(&store);
        assert!(message.contains("is not there (none is); fit a mapper"), "{message}");
        save(&store, MapperKind::Glam);
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
    fn rewrite(store: &MapperFolder, note: &str) {
        let parameters = Parameters::new(layout_of(Form::Translation), vec![1.0, 2.0]).unwrap();
        store.write("glam", &parameters, note).unwrap();
    }

    #[test]
    fn a_text_that_describes_no_mapper_is_refused() {
        let (_place, store) = shelf();
        save(&store, MapperKind::Glam);
        let (_, glam) = store.read("glam").unwrap();
        save(&store, MapperKind::Clusters);
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
