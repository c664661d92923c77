//! Translations and affine maps by Eq. 2, with the λ_θ that was given or is best on validation rows.

use super::{Examples, Fit, Validation};
use crate::amortise::kind::Learned;
use crate::amortise::translation::{self, Form, LatentMap};
use crate::amortise::{Group, Map, MapperPlan};
use crate::error::Result;
use crate::observer::{Observer, Shared};
use std::sync::Arc;

impl Fit<'_> {
    /// A map of this form for each group; `as_map` says what is made of it.
    pub(in crate::amortise) fn by_equation_2(
        &mut self,
        plan: &MapperPlan,
        groups: &[Group],
        observer: &mut dyn Observer,
        form: Form,
        as_map: fn(LatentMap) -> Arc<dyn Map>,
    ) -> Result<Vec<Learned>> {
        let (examples, notes) = self.all_examples(plan, groups, observer)?;
        let (fit, lambdas): (&Fit, _) = (self, plan.lambdas_theta());
        let map = |lambda_theta: f32, group: usize, work: &Shared| {
            let Examples { z, certain_x, .. } = &examples[group];
            let start = LatentMap::starting_at(form, examples[group].difference());
            let descent = plan.descent(lambda_theta);
            Ok(as_map(translation::fit(fit.models, start, z, certain_x, descent, &|| work.go_on())?))
        };
        let validation = Validation::new(fit, groups)?;
        let chosen = validation.best(plan.kind.name(), &lambdas, observer, map)?;
        Ok(with_notes(chosen, notes, if lambdas.len() > 1 { &validation.notes } else { &[] }))
    }
}

/// Maps with their λ_θ and what is to be said of each group: of its examples, then of its validation rows.
pub(in crate::amortise) fn with_notes(
    chosen: Vec<(f32, Arc<dyn Map>)>,
    notes: Vec<Vec<String>>,
    more: &[Vec<String>],
) -> Vec<Learned> {
    let mut more = more.iter();
    let learned = |((lambda, map), mut notes): ((f32, Arc<dyn Map>), Vec<String>)| {
        notes.extend(more.next().into_iter().flatten().cloned());
        Learned { map, lambda_theta: Some(lambda), notes }
    };
    chosen.into_iter().zip(notes).map(learned).collect()
}
