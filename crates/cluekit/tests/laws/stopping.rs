//! Whatever is being done, an observer that says `Break` ends it there, and one that does not changes nothing.

use super::amortise::fit_watched;
use super::*;
use cluekit::amortise::{LearnFrom, MapperKind};
use cluekit::observer::{Observer, Progress};
use cluekit::search::Proposal;
use std::ops::ControlFlow;

/// Says `Break` from this call on.
struct Until {
    last: u64,
    calls: u64,
}

impl Observer for Until {
    fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
        self.calls += 1;
        if self.calls < self.last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
    fn finished(&mut self, _: &str, _: &str) {}
}

/// Does some work again and again, and has it ended at calls that are spread over all of them.
fn assert_stops(name: &str, work: impl Fn(&mut dyn Observer) -> Result<()>) {
    let mut patient = Until { last: u64::MAX, calls: 0 };
    work(&mut patient).unwrap();
    let all = patient.calls;
    assert!(all > 2, "{name} was watched only {all} times");
    for last in [1, 2, all / 3, all / 2, all - 1].into_iter().filter(|last| *last > 0) {
        let mut observer = Until { last, calls: 0 };
        let error = work(&mut observer).unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{name}: {error}");
        assert!(error.to_string().ends_with(" was stopped"), "{name}: {error}");
        assert_eq!(observer.calls, last, "{name} asked again after it was told to end");
    }
}

#[test]
fn every_search_ends_when_it_is_told_to() {
    let world = World::classes();
    let (inputs, background) = (world.inputs(6), world.background());
    for (name, search) in searches() {
        assert_stops(&name, |observer| {
            search.explain(&world.models(), &background, &inputs, Seed(1), observer).map(|_| ())
        });
    }
}

#[test]
fn a_sweep_and_a_search_of_few_changes_end_when_they_are_told_to() {
    let table = World::table("most_changed = 2");
    let (inputs, background) = (table.inputs(4), table.background());
    let search = Search { threshold: 1e-6, ..Search::delta_clue(ball(1.0), 3) };
    assert_stops("few changes", |observer| {
        search.explain(&table.models(), &background, &inputs, Seed(1), observer).map(|_| ())
    });
    let world = World::classes();
    let (inputs, background) = (world.inputs(4), world.background());
    assert_stops("sweep", |observer| {
        let deltas = [ball(0.5), ball(1.0)];
        search.sweep(&deltas, &world.models(), &background, &inputs, Seed(1), observer).map(|_| ())
    });
}

#[test]
fn refining_ends_when_it_is_told_to() {
    let world = World::classes();
    let (models, background, inputs) = (world.models(), world.background(), world.inputs(5));
    let prepared = Search::clue().prepare(&models, &background, &inputs).unwrap();
    let start = |input| vec![Proposal { z: prepared.z(input).to_vec(), x: None, mapper: "start".into() }];
    let proposals: Vec<_> = (0..prepared.len()).map(start).collect();
    assert_stops("refining", |observer| prepared.refine(&proposals, observer).map(|_| ()));
}

#[test]
fn every_fit_of_mappers_ends_when_it_is_told_to() {
    let world = World::classes();
    let learned = [MapperKind::Glam, MapperKind::Clusters, MapperKind::Scaled, MapperKind::Affine, MapperKind::Neural];
    for kind in
        learned.map(|method| (method, LearnFrom::Data)).into_iter().chain([(MapperKind::Glam, LearnFrom::Clues(0.0))])
    {
        assert_stops(&format!("{kind:?}"), |observer| fit_watched(&world, kind, 1, observer).map(|_| ()));
    }
}

#[test]
fn advice_that_is_not_asked_for_is_not_looked_for() {
    let world = World::classes();
    let (inputs, background) = (world.inputs(3), world.background());
    let search = Search { threshold: 1e-6, ..Search::delta_clue(ball(0.1), 2) };
    let explain = |search: &Search| {
        let mut observer = Until { last: u64::MAX, calls: 0 };
        (search.explain(&world.models(), &background, &inputs, Seed(1), &mut observer).unwrap(), observer.calls)
    };
    let (with, steps) = explain(&search);
    let (without, fewer) = explain(&Search { advised: false, ..search });
    assert!(with.iter().all(|explanation| explanation.advice.is_some()));
    assert!(without.iter().all(|explanation| explanation.advice.is_none()));
    assert!(with.iter().zip(&without).all(|(with, without)| with.clues == without.clues) && fewer < steps);
}
