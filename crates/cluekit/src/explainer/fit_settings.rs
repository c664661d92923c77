//! What a fit is asked for, as one flat table: the mapper, its groups, and what its counterfactuals cost.

use super::fit::{CostSettings, GroupSettings};
use crate::amortise::{LearnFrom, Limit, MapperKind, MapperPlan, NeuralPlan, Scheme};
use crate::distance::Distance;
use crate::error::{Error, Result};
use crate::named;
use serde::{Deserialize, Serialize};

named! {
    "learn_from", "a source of certain examples";
    /// Where the certain examples of Eq. 2 come from, by name.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum ExampleSource {
        /// Certain training rows: GLAM 1.
        #[default]
        Data = "data",
        /// The CLUEs of uncertain training rows: GLAM 2 and 3.
        Clues = "clues",
    }
}

/// The settings of a fit; what is left out has its usual value.
///
/// ```
/// use cluekit::amortise::MapperKind;
/// use cluekit::explainer::FitSettings;
///
/// let settings: FitSettings = toml::from_str("mapper = 'clusters'\nclusters = 3\nscheme = 'any'\nlambda_x = 0.1")?;
/// assert_eq!(settings.plan()?.kind, MapperKind::Clusters);
/// assert_eq!(settings.plan()?.most_clusters, 3);
/// assert_eq!(settings.cost().lambda_x, 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitSettings {
    /// The kind of mapper to learn: `glam` when nothing is said.
    pub mapper: Option<MapperKind>,
    /// Where certain examples come from: training rows when nothing is said.
    pub learn_from: Option<ExampleSource>,
    /// Weight of the distance in the search of CLUEs to learn from: that of `lambda_x` when nothing is said.
    pub clues_lambda_x: Option<f32>,
    /// Weight of the size of a translation in Eq. 2: the best of several on validation rows when nothing is said.
    pub lambda_theta: Option<f32>,
    /// How many clusters a group has at the most: 5 when nothing is said.
    pub clusters: Option<usize>,
    /// Settings of the network that differ from the usual ones, for `neural`.
    pub neural: Option<toml::Table>,
    /// How classes are paired: each to itself when nothing is said.
    pub scheme: Option<Scheme>,
    /// Uncertain rows of this class only, by its name; `any` for all.
    pub from: Option<String>,
    /// Certain rows of this class only, by its name; `any` for all. The class of `from` when nothing is said.
    pub to: Option<String>,
    /// A group for each category of this feature of a table, or for each quarter of its values, of any class.
    pub by: Option<String>,
    /// Only uncertain rows of a table that satisfy this.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// Only certain rows of a table that satisfy this; what `where` says when nothing is said.
    pub to_where: Option<String>,
    /// Training rows above this are uncertain; what 95 % of the group stay below when nothing is said.
    pub uncertain_above: Option<Limit>,
    /// Training rows below this are certain; what clues are accepted below when nothing is said.
    pub certain_below: Option<Limit>,
    /// Weight of the distance to the input in the cost H + λ_x d: 0.03 when nothing is said.
    pub lambda_x: Option<f32>,
    /// The distance between inputs: `l1` when nothing is said.
    pub distance: Option<Distance>,
    /// A counterfactual is accepted below this uncertainty; the usual threshold when nothing is said.
    pub threshold: Option<f32>,
    /// Whether only what changes is added to the input; its reconstruction is changed when nothing is said.
    pub anchored: Option<bool>,
}

impl FitSettings {
    /// Which groups the mappers lead from and to.
    pub fn groups(&self) -> GroupSettings {
        let Self { scheme, uncertain_above, certain_below, .. } = *self;
        let Self { from, to, by, condition, to_where, .. } = self.clone();
        GroupSettings { scheme, from, to, by, condition, to_where, uncertain_above, certain_below }
            .for_mapper(self.mapper.unwrap_or_default())
    }

    /// What a counterfactual costs, and when it is accepted.
    pub fn cost(&self) -> CostSettings {
        let usual = CostSettings::default();
        CostSettings {
            lambda_x: self.lambda_x.unwrap_or(usual.lambda_x),
            distance: self.distance.unwrap_or(usual.distance),
            threshold: self.threshold,
            anchored: self.anchored.unwrap_or(usual.anchored),
        }
    }

    /// What to fit, and how; settings that do not go together are refused.
    pub fn plan(&self) -> Result<MapperPlan> {
        let (kind, lambda_x) = (self.mapper.unwrap_or_default(), self.cost().lambda_x);
        let from_clues = self.learn_from.unwrap_or_default() == ExampleSource::Clues;
        if kind == MapperKind::Neural && (from_clues || self.lambda_theta.is_some()) {
            let problem = "neural learns without CLUEs and without lambda_theta; leave these settings out";
            return Err(Error::setting("mapper", problem));
        }
        if self.neural.is_some() && kind != MapperKind::Neural {
            return Err(Error::setting("neural", "is for the mapper `neural`; choose it, or leave this out"));
        }
        if self.clues_lambda_x.is_some() && !from_clues {
            let problem = "is for learning from `clues`; choose that, or leave this out";
            return Err(Error::setting("clues_lambda_x", problem));
        }
        let learn_from = match from_clues {
            true => LearnFrom::Clues(self.clues_lambda_x.unwrap_or(lambda_x)),
            false => LearnFrom::Data,
        };
        let mut plan = MapperPlan { lambda_theta: self.lambda_theta, ..MapperPlan::new(kind, learn_from) };
        plan.most_clusters = self.clusters.unwrap_or(plan.most_clusters);
        if kind == MapperKind::Neural {
            let usual = NeuralPlan { lambda_x, ..plan.neural };
            plan.neural = usual.with(self.neural.as_ref().unwrap_or(&toml::Table::new()))?;
        }
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> FitSettings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn settings_read_back_as_they_were_written() {
        let text = "mapper = 'neural'\nneural = { width = 7 }\nwhere = 'AGE < 30'\nuncertain_above = { quantile = 0.9 }\n\
                    lambda_x = 0.5\nanchored = true";
        let settings = read(text);
        assert_eq!(read(&toml::to_string(&settings).unwrap()), settings);
        let plan = settings.plan().unwrap();
        assert_eq!((plan.neural.width, plan.neural.lambda_x), (7, 0.5));
        assert_eq!(settings.groups().condition.as_deref(), Some("AGE < 30"));
        assert!(settings.cost().anchored);
        let unknown = toml::from_str::<FitSettings>("mappers = 'glam'").unwrap_err().to_string();
        assert!(unknown.contains("unknown field `mappers`"), "{unknown}");
    }

    #[test]
    fn nothing_said_is_the_usual_fit() {
        let usual = FitSettings::default();
        assert_eq!(usual.plan().unwrap(), MapperPlan::default());
        assert_eq!((usual.groups(), usual.cost()), (GroupSettings::default(), CostSettings::default()));
        let neural = read("mapper = 'neural'").groups();
        assert_eq!(neural.scheme, Some(Scheme::AnyToClass), "one network leads from anywhere to each class");
    }

    #[test]
    fn clues_are_searched_with_the_weight_of_the_cost_or_their_own() {
        let learned = |text: &str| read(text).plan().unwrap().learn_from;
        assert_eq!(learned("learn_from = 'clues'"), LearnFrom::Clues(0.03));
        assert_eq!(learned("learn_from = 'clues'\nlambda_x = 0.5"), LearnFrom::Clues(0.5));
        assert_eq!(learned("learn_from = 'clues'\nclues_lambda_x = 0.0"), LearnFrom::Clues(0.0));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let problem = |text: &str| read(text).plan().unwrap_err().to_string();
        assert!(problem("mapper = 'neural'\nlambda_theta = 1.0").contains("setting `mapper`: neural learns without"));
        assert!(problem("neural = { width = 7 }").contains("setting `neural`: is for the mapper `neural`"));
        assert!(problem("clues_lambda_x = 0.0").contains("setting `clues_lambda_x`: is for learning from `clues`"));
    }
}
