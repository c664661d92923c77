//! `clusters`: μ_θ(z₀ + θ_c), a translation for each cluster c of a group's uncertain codes, each from Eq. 2.
//!
//! λ_θ is chosen first, with as many clusters as are allowed; then how many clusters there are.

use super::{Functions, Learned, Saved, added, proposal};
use crate::amortise::fit::{Examples, Validation, stacked, with_notes};
use crate::amortise::record::GroupRecord;
use crate::amortise::translation::{self, Descent, LatentMap};
use crate::amortise::{Encoded, Fit, Group, Map, MapperPlan};
use crate::error::Result;
use crate::mixture::{Component, Mixture};
use crate::model::parameters::Layout;
use crate::observer::{Observer, Shared};
use crate::search::{Models, Price, Proposal};
use std::sync::Arc;

pub(super) const FUNCTIONS: Functions = Functions { fit, saved: Saved::EachGroup { layout, read } };

/// A map with one translation for each cluster of codes.
#[derive(Clone, Debug)]
pub struct Clusters {
    /// The clusters of uncertain codes.
    pub mixture: Mixture,
    /// The translation of each cluster, in the order of the components.
    pub translations: Vec<Vec<f32>>,
}

impl Map for Clusters {
    fn propose(&self, _: &Models, rows: &Encoded, name: &str, _: &Price) -> Result<Vec<Vec<Proposal>>> {
        let moved = |z: &[f32]| added(z, &self.translations[self.mixture.assign(z)], 1.0);
        Ok(rows.z.chunks_exact(rows.latent).map(|z| vec![proposal(&moved(z), name)]).collect())
    }

    fn numbers(&self) -> Vec<f32> {
        let components = &self.mixture.components;
        let weights = components.iter().map(|component| component.weight as f32);
        let means = components.iter().flat_map(|component| component.mean.iter().map(|&value| value as f32));
        let variances = components.iter().map(|component| component.variance as f32);
        weights.chain(means).chain(variances).chain(self.translations.concat()).collect()
    }

    fn clusters(&self) -> Option<usize> {
        Some(self.translations.len())
    }
}

fn layout(latent: usize, group: &GroupRecord) -> Layout {
    let count = group.clusters.unwrap_or(0);
    let mut layout = Layout::default();
    layout.push("weights", &[count]);
    layout.push("means", &[count, latent]);
    layout.push("variances", &[count]);
    layout.push("translations", &[count, latent]);
    layout
}

fn read(numbers: &[f32], latent: usize, group: &GroupRecord) -> Arc<dyn Map> {
    let count = group.clusters.unwrap_or(0);
    let (weights, rest) = numbers.split_at(count);
    let (means, rest) = rest.split_at(count * latent);
    let (variances, translations) = rest.split_at(count);
    let component = |k: usize| Component {
        weight: f64::from(weights[k]),
        mean: means[k * latent..(k + 1) * latent].iter().copied().map(f64::from).collect(),
        variance: f64::from(variances[k]),
    };
    let mixture = Mixture { components: (0..count).map(component).collect(), bic: 0.0 };
    let translations = translations.chunks_exact(latent).map(<[f32]>::to_vec).collect();
    Arc::new(Clusters { mixture, translations })
}

fn fit(fit: &mut Fit, plan: &MapperPlan, groups: &[Group], observer: &mut dyn Observer) -> Result<Vec<Learned>> {
    let (examples, notes) = fit.all_examples(plan, groups, observer)?;
    let (fit, lambdas): (&Fit, _) = (fit, plan.lambdas_theta());
    let map_of = |count: usize, lambda_theta: f32, group: usize, work: &Shared| -> Result<Arc<dyn Map>> {
        Ok(Arc::new(clustered(fit, &examples[group], group, count, plan.descent(lambda_theta), work)?))
    };
    // Where one translation serves nobody it is best kept short; that would tie several of them too.
    let most = |lambda_theta: f32, group: usize, work: &Shared| map_of(plan.most_clusters, lambda_theta, group, work);
    let validation = Validation::new(fit, groups)?;
    let what = plan.kind.name();
    let chosen = validation.best(what, &lambdas, observer, most)?;
    let chooses = lambdas.len() > 1 || plan.most_clusters > 1;
    let lambdas: Vec<f32> = chosen.into_iter().map(|(lambda, _)| lambda).collect();
    let counts: Vec<usize> = (1..=plan.most_clusters).collect();
    let counted = |count: usize, group: usize, work: &Shared| map_of(count, lambdas[group], group, work);
    let maps = validation.best(what, &counts, observer, counted)?;
    let chosen = lambdas.iter().zip(maps).map(|(&lambda, (_, map))| (lambda, map)).collect();
    Ok(with_notes(chosen, notes, if chooses { &validation.notes } else { &[] }))
}

/// `count` clusters of a group's uncertain codes, each with a translation of its own.
fn clustered(
    fit: &Fit,
    examples: &Examples,
    group: usize,
    count: usize,
    descent: Descent,
    work: &Shared,
) -> Result<Clusters> {
    let latent = fit.train.latent;
    let Examples { z, certain_x, .. } = examples;
    // As a file holds it, so that a mapper is the same before and after it was saved.
    let mixture = Mixture::fit(z, latent, count, &mut fit.seed.numbered("clusters", group as u64)).in_f32();
    let translation = |cluster: usize| -> Result<Vec<f32>> {
        let mut members = stacked(z.chunks_exact(latent).filter(|z| mixture.assign(z) == cluster));
        if members.is_empty() {
            members.clone_from(z);
        }
        let own = Examples { z: members, ..examples.clone() };
        // The mean of all certain codes may lie behind another cluster, so there is a second start: towards the
        // certain codes nearest to the members.
        let mut best: Option<(f64, LatentMap)> = None;
        for start in [own.difference(), own.to_the_nearest()] {
            let start = LatentMap::translation(start);
            let map = translation::fit(fit.models, start, &own.z, certain_x, descent, &|| work.go_on())?;
            let loss = translation::loss(fit.models, &map, &own.z, certain_x, descent.lambda_theta)?.0;
            if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                best = Some((loss, map));
            }
        }
        Ok(best.map_or_else(|| own.difference(), |(_, map)| map.parameters().values.clone()))
    };
    let translations = (0..mixture.components.len()).map(translation).collect::<Result<Vec<_>>>()?;
    Ok(Clusters { mixture, translations })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::kind::codes_of;
    use crate::amortise::toy::{Same, Sigmoid};

    #[test]
    fn each_cluster_has_a_translation_of_its_own() {
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let component = |mean: f64| Component { weight: 0.5, mean: vec![mean], variance: 1.0 };
        let map = Clusters {
            mixture: Mixture { components: vec![component(-5.0), component(5.0)], bic: 0.0 },
            translations: vec![vec![1.0], vec![-2.0]],
        };
        assert_eq!(codes_of(&map, &models, &[-4.0, 6.0, 0.5], 1), [[[-3.0]], [[4.0]], [[-1.5]]]);
    }
}
