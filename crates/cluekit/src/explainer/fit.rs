//! Learning mappers for groups of uncertain inputs, and keeping them in the run.

use super::Explainer;
use crate::amortise::{Fit, Limit, MapperKind, MapperPlan, Mappers, Members, Pair, Scheme, Thresholds};
use crate::data::{Predicate, Samples};
use crate::distance::Distance;
use crate::error::{Error, Remedy, Result};
use crate::observer::Observer;
use crate::search::{Background, Decoding, Search, Weighted};
use crate::seed::Seed;
use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Serialize};

/// λ_x of the cost when nothing is said.
const LAMBDA_X: f32 = 0.03;
/// The share of a group's training rows that stays below the uncertain ones when nothing is said.
const CERTAIN_SHARE: f64 = 0.95;

/// Cost of a mapper's counterfactual, and when it is accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CostSettings {
    /// Weight λ_x of the distance to the input in the cost H + λ_x d; 0.03 by default.
    pub lambda_x: f32,
    /// Kind of distance between inputs; ℓ1 by default.
    pub distance: Distance,
    /// Uncertainty below which a counterfactual is accepted; none for [`Explainer::threshold`].
    pub threshold: Option<f32>,
    /// Whether to add only what changes to the input, instead of changing its reconstruction.
    pub anchored: bool,
}

impl Default for CostSettings {
    fn default() -> Self {
        Self { lambda_x: LAMBDA_X, distance: Distance::L1, threshold: None, anchored: false }
    }
}

/// Groups that mappers lead from and to, and the limits of uncertain and certain rows.
///
/// ```
/// use cluekit::amortise::Limit;
/// use cluekit::explainer::GroupSettings;
///
/// let groups: GroupSettings = toml::from_str("by = \"AGE\"\nuncertain_above = \"95%\"").expect("known keys");
/// assert_eq!(groups.by.as_deref(), Some("AGE"));
/// assert_eq!(groups.uncertain_above, Some(Limit::Quantile(0.95)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroupSettings {
    /// How classes are paired; none for each class to itself.
    pub scheme: Option<Scheme>,
    /// Name of the class of uncertain rows, `any` for all; none to follow `scheme`.
    pub from: Option<String>,
    /// Name of the class of certain rows, `any` for all; none for the class of `from`.
    pub to: Option<String>,
    /// Name of a feature of a table: a group for each category, or for each quarter of its values, of any class.
    pub by: Option<String>,
    /// Condition on uncertain rows of a table, `where` in TOML; none for all rows.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// Condition on certain rows of a table; none for the condition of `where`.
    pub to_where: Option<String>,
    /// Limit above which a training row is uncertain; none for what 95 % of the group stay below.
    pub uncertain_above: Option<Limit>,
    /// Limit below which a training row is certain; none for the threshold of clues.
    pub certain_below: Option<Limit>,
}

impl GroupSettings {
    /// The default settings with this pairing of classes.
    pub fn of_scheme(scheme: Scheme) -> Self {
        Self { scheme: Some(scheme), ..Self::default() }
    }

    /// The default settings with a group for each part of a feature.
    pub fn of_feature(feature: &str) -> Self {
        Self { by: Some(feature.into()), ..Self::default() }
    }

    /// The thresholds of these settings with another pairing of classes.
    #[must_use]
    pub fn paired(&self, scheme: Scheme) -> Self {
        let Self { uncertain_above, certain_below, .. } = *self;
        Self { uncertain_above, certain_below, ..Self::of_scheme(scheme) }
    }

    /// The same for mappers of a kind: one network leads from anywhere to each class when nothing is said.
    #[must_use]
    pub fn for_mapper(self, method: MapperKind) -> Self {
        match method {
            MapperKind::Neural if self.pairs_are_default() => self.paired(Scheme::AnyToClass),
            _ => self,
        }
    }

    /// Whether the pairing of groups is the default one.
    pub fn pairs_are_default(&self) -> bool {
        let texts = [&self.from, &self.to, &self.by, &self.condition, &self.to_where];
        self.scheme.is_none() && texts.iter().all(|text| text.is_none())
    }

    /// Whether all settings are the default ones.
    pub fn are_default(&self) -> bool {
        *self == Self::default()
    }

    /// Limits of uncertain and certain rows, where clues are accepted below `accepted_below`.
    pub fn thresholds(&self, accepted_below: f32, kind: Uncertainty) -> Thresholds {
        Thresholds {
            uncertain_above: self.uncertain_above.unwrap_or(Limit::Quantile(CERTAIN_SHARE)),
            certain_below: self.certain_below.unwrap_or(Limit::Value(accepted_below)),
            kind,
        }
    }
}

impl Explainer {
    /// The search that judges the counterfactuals of mappers; it takes no steps.
    pub fn judging(&self, cost: &CostSettings) -> Result<Search> {
        let mut search = Search::judging();
        search.decoding = if cost.anchored { Decoding::Anchored } else { Decoding::Mean };
        search.objective.input = Weighted(cost.lambda_x, cost.distance);
        search.threshold = match cost.threshold {
            Some(threshold) => threshold,
            None => self.threshold(search.accepted_by())?,
        };
        search.validate()?;
        Ok(search)
    }

    /// The pairs of groups that these settings ask for.
    pub fn pairs(&self, groups: &GroupSettings) -> Result<Vec<Pair>> {
        let of_classes = groups.from.is_some() || groups.to.is_some();
        if groups.by.is_some() && (of_classes || groups.scheme.is_some()) {
            let problem = "makes a group for each part of a feature, of any class";
            return Err(Error::setting("by", problem).remedy(Remedy::leave_out(["scheme", "from", "to"])));
        }
        if of_classes && groups.scheme.is_some() {
            let problem = "pairs all classes, and `from` and `to` name one pair";
            return Err(Error::setting("scheme", problem).remedy(Remedy::leave_out(["scheme"])));
        }
        let condition = |text: &Option<String>| -> Result<Option<Predicate>> {
            text.as_deref().map(|text| Predicate::parse(text, self.known_schema()?)).transpose()
        };
        let (from_condition, to_condition) = (condition(&groups.condition)?, condition(&groups.to_where)?);
        let to_condition = to_condition.or_else(|| from_condition.clone());
        let class = |name: &Option<String>| match name.as_deref() {
            None | Some("any") => Ok(None),
            Some(name) => self.class_named(name).map(Some),
        };
        let mut pairs = match (&groups.by, &groups.from, &groups.to) {
            (Some(feature), ..) => {
                if groups.condition.is_some() || groups.to_where.is_some() {
                    return Err(Error::setting("by", "makes its own conditions")
                        .remedy(Remedy::leave_out(["where", "to_where"])));
                }
                return self.parts_of(feature);
            }
            (None, None, None) => groups.scheme.unwrap_or_default().pairs(self.classes().len()),
            (None, from, to) => {
                let (start, end) = (class(from)?, class(to)?);
                vec![Pair::of_classes(start, if to.is_some() { end } else { start })]
            }
        };
        for pair in &mut pairs {
            pair.from.condition.clone_from(&from_condition);
            pair.to.condition.clone_from(&to_condition);
        }
        Ok(pairs)
    }

    /// Each part of a feature to itself.
    fn parts_of(&self, feature: &str) -> Result<Vec<Pair>> {
        let (schema, train): (_, &Samples) = (self.known_schema()?, &self.rows()?.train);
        let rows: Vec<_> = (0..train.len()).map(|row| schema.decode_row(train.row(row))).collect();
        let parts = Predicate::partition(feature, schema, &rows)
            .map_err(|problem| Error::setting("by", problem.to_string()))?;
        let members = |part| Members { class: None, condition: Some(part) };
        Ok(parts.into_iter().map(|part| Pair { from: members(part.clone()), to: members(part) }).collect())
    }

    /// Fits a mapper of the plan's kind for every pair of groups.
    ///
    /// ```
    /// # use cluekit::model::{Generative, Predictive, Predictor};
    /// # use cluekit::tensor::{Tensor, log_softmax};
    /// # struct Logistic;
    /// # impl Predictor for Logistic {
    /// #     fn predict(&self, x: &Tensor<2>) -> cluekit::Result<Predictive> {
    /// #         let first = x.clone().narrow(1, 0, 1);
    /// #         let logits = Tensor::cat(vec![first.clone() * -0.5, first * 0.5], 1);
    /// #         Ok(Predictive::Classes { log_probabilities: log_softmax(logits, 1).unsqueeze() })
    /// #     }
    /// # }
    /// # struct Same;
    /// # impl Generative for Same {
    /// #     fn latent_dim(&self) -> usize { 2 }
    /// #     fn encode(&self, x: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(x.clone()) }
    /// #     fn decode(&self, z: &Tensor<2>) -> cluekit::Result<Tensor<2>> { Ok(z.clone()) }
    /// # }
    /// use cluekit::amortise::{LearnFrom, MapperKind, MapperPlan, Scheme};
    /// use cluekit::data::{DataDir, Request, load};
    /// use cluekit::explainer::{CostSettings, GroupSettings};
    /// use cluekit::observer::Silent;
    /// use cluekit::{Explainer, Seed, Uncertainty};
    /// use std::sync::Arc;
    ///
    /// let moons = load(&Request::new("moons"), None, &DataDir::locate(None))?;
    /// let explainer = Explainer::new(Arc::new(Logistic), Arc::new(Same)).with_rows(moons);
    /// let groups = GroupSettings::of_scheme(Scheme::Within);
    /// let (pairs, search) = (explainer.pairs(&groups)?, explainer.judging(&CostSettings::default())?);
    /// let thresholds = groups.thresholds(search.threshold, Uncertainty::Total);
    /// let plan = MapperPlan::new(MapperKind::LatentDbm, LearnFrom::Data);
    /// let mappers = explainer.fit(&plan, &pairs, &search, thresholds, Seed(0), &mut Silent)?;
    /// assert_eq!(mappers.all.len(), 2); // each of the two classes to itself
    /// # Ok::<(), cluekit::Error>(())
    /// ```
    pub fn fit(
        &self,
        plan: &MapperPlan,
        pairs: &[Pair],
        search: &Search,
        thresholds: Thresholds,
        seed: Seed,
        observer: &mut dyn Observer,
    ) -> Result<Mappers> {
        // One network serves all classes, so it learns from all of them.
        let classes = match plan.kind {
            MapperKind::Neural => None,
            _ => classes_of(pairs, self.classes().len()),
        };
        let rows = self.encoded(classes.as_deref(), observer)?;
        let (models, background) = (self.unconstrained()?, self.plain_background(search)?);
        let [train, validation] = &*rows;
        Fit::new(&models, search, &background, [train, validation], thresholds, seed).mappers(plan, pairs, observer)
    }

    /// What judging needs of the training rows: the distance alone.
    pub(super) fn plain_background(&self, search: &Search) -> Result<Background> {
        Ok(Background { metric: Some(self.metric(search.objective.input.1)?), ..Background::default() })
    }

    /// Loads the mappers saved under `name` in the run.
    pub fn load(&self, name: &str) -> Result<Mappers> {
        let run = self.opened()?;
        Mappers::load(&run.folder.mappers(), name, &self.unconstrained()?, &run.hashes)
    }

    /// Saves mappers under `name` in the run.
    pub fn save(&self, mappers: &Mappers, name: &str) -> Result<()> {
        let run = self.opened()?;
        mappers.save(&run.folder.mappers(), name, &self.unconstrained()?, run.hashes.clone())
    }
}

/// Training rows of which classes are needed, of so many; nothing if all are.
fn classes_of(pairs: &[Pair], of: usize) -> Option<Vec<usize>> {
    let sides = pairs.iter().flat_map(|pair| [pair.from.class, pair.to.class]);
    let mut classes = sides.collect::<Option<Vec<usize>>>()?;
    classes.sort_unstable();
    classes.dedup();
    (classes.len() < of).then_some(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_settings_read_back_as_they_were_written() {
        let settings = GroupSettings {
            from: Some("4".into()),
            condition: Some("AGE < 30".into()),
            uncertain_above: Some(Limit::Quantile(0.9)),
            certain_below: Some(Limit::Value(0.1)),
            ..GroupSettings::of_scheme(Scheme::Between)
        };
        let json = serde_json::to_string(&settings).unwrap();
        assert!(json.contains("\"where\":\"AGE < 30\""), "{json}");
        assert_eq!(serde_json::from_str::<GroupSettings>(&json).unwrap(), settings);
        assert_eq!(serde_json::from_str::<GroupSettings>("{}").unwrap(), GroupSettings::default());
        let message = serde_json::from_str::<GroupSettings>("{\"colour\":3}").unwrap_err().to_string();
        assert!(message.contains("unknown field `colour`"), "{message}");
    }
}
