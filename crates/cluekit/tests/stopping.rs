//! A training that is stopped leaves a checkpoint, and goes on from it to the bytes of one that was not.

use cluekit::data::{self, DataDir, Dataset, Request};
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::{Plan, PredictorKind};
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::observer::{Observer, Progress};
use cluekit::{Error, Seed};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

/// Says `Break` at every so manieth call.
struct Every {
    count: u64,
    calls: u64,
}

impl Observer for Every {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        self.calls += 1;
        if self.calls < self.count { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
    fn finished(&mut self, _: &str, _: &str) {}
}

fn small(dataset: &Dataset, kind: PredictorKind) -> Plan {
    let mut plan = Plan::for_dataset(dataset).of_kind(kind);
    let generative = &mut plan.generative;
    (generative.latent, generative.width, generative.depth, generative.fit.epochs) = (2, 8, 1, 2);
    let predictor = &mut plan.predictor;
    (predictor.hidden, predictor.samples, predictor.fit.epochs) = (vec![8], 3, 2);
    (predictor.sampler.burn_in_epochs, predictor.sampler.thinning_epochs, predictor.sampler.step) = (2, 0.6, 0.002);
    plan
}

/// Trains until it gets through, told to stop at every `count`th step; returns how often it was stopped.
fn train(path: &Path, dataset: &Dataset, plan: &Plan, count: u64) -> usize {
    let (folder, record) = (RunFolder::at(path), RunRecord::new(Request::new("moons"), vec![], plan.clone(), Seed(4)));
    folder.begin(&record, &dataset.schema).unwrap();
    for stops in 0.. {
        let mut observer = Every { count, calls: 0 };
        match train_run(&folder, &record, dataset, &mut observer) {
            Ok(()) => return stops,
            Err(error) => assert!(matches!(&error, Error::Cancelled { what } if what.starts_with("training of the"))),
        }
        assert_eq!(observer.calls, count, "it asked again after it was told to stop");
    }
    unreachable!("the loop has no end")
}

#[test]
fn a_training_stopped_at_any_step_ends_with_the_bytes_of_an_unbroken_one() {
    let dataset = data::load(&Request::new("moons"), None, &DataDir::locate(None)).unwrap();
    for kind in [PredictorKind::Bayesian, PredictorKind::Ensemble, PredictorKind::Dropout] {
        let plan = small(&dataset, kind);
        let place = tempfile::tempdir().unwrap();
        let whole = place.path().join("whole");
        assert_eq!(train(&whole, &dataset, &plan, u64::MAX), 0);
        // One step at a time, and in stretches that end within epochs, at their ends, and beyond.
        for count in [1, 3, 7, 20] {
            let broken = place.path().join(format!("broken {count}"));
            let stops = train(&broken, &dataset, &plan, count);
            assert!(stops > 2, "{kind:?}: stopped {stops} times");
            for name in ["run.toml", "schema.toml", "generative.safetensors", "predictor.safetensors"] {
                let [whole, broken] = [&whole, &broken].map(|run| fs::read(run.join(name)).unwrap());
                assert!(whole == broken, "{kind:?}: {name} differs after {stops} stops");
            }
            assert!(!broken.join("checkpoint").exists(), "a finished run keeps no checkpoint");
        }
    }
}
