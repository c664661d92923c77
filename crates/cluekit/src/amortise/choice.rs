//! Which mappers serve an input whose class nobody knows. [Ley2022, Proposed Method: GLAM-CLUE]
//!
//! Every mapper that leads from (or, where it leads from anything, to) a class that the input could be makes a proposal;
//! the cheapest is the explanation, and the others show what else it could become.

use super::kind::neural::{TARGETS, most_probable};
use super::{Encoded, Mapper, Mappers, Pair};
use crate::error::Result;
use crate::explanation::Clue;
use crate::search::{Models, Price, Proposal};

/// What mappers are asked for: the classes that an input could be, or those that it should become.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// The most probable classes of each input, this many of them.
    MostProbable(usize),
    /// The true class of each input, or the predicted one where the true one is unknown.
    OwnClass,
    /// These classes, for every input.
    Classes(Vec<usize>),
}

/// What one row asks for.
struct Asked {
    /// The classes that it could be.
    own: Vec<usize>,
    /// The classes that it should become; nothing if that does not matter.
    towards: Option<Vec<usize>>,
}

impl Ask {
    fn of(&self, rows: &Encoded, row: usize) -> Asked {
        let probable = |count| most_probable(&rows.predictions[row].mean, count);
        match self {
            Self::MostProbable(count) => Asked { own: probable(*count), towards: None },
            Self::OwnClass => Asked { own: vec![rows.class(row)], towards: None },
            Self::Classes(classes) => Asked { own: probable(TARGETS), towards: Some(classes.clone()) },
        }
    }
}

impl Mapper {
    /// Whether this mapper serves a row that asks for this.
    fn serves(&self, asked: &Asked, x: &[f32], models: &Models) -> bool {
        let Pair { from, to } = &self.pair;
        let fits = match (&asked.towards, from.class, to.class) {
            // A mapper within a class leads from whatever the row is to what is asked for.
            (Some(towards), start, Some(end)) => {
                towards.contains(&end) && start.is_none_or(|start| start == end || asked.own.contains(&start))
            }
            (None, None, Some(end)) => asked.own.contains(&end),
            (_, Some(start), _) => asked.own.contains(&start),
            (_, None, None) => true,
        };
        fits && from.condition_holds(x, models.schema)
    }
}

impl Mappers {
    /// Proposals of the mappers for each row, in the order of the pairs; empty for a row that no mapper serves.
    pub fn propose(
        &self,
        models: &Models,
        rows: &Encoded,
        ask: &Ask,
        price: &Price,
        name: &str,
    ) -> Result<Vec<Vec<Proposal>>> {
        let asked: Vec<Asked> = (0..rows.len()).map(|row| ask.of(rows, row)).collect();
        let served = |mapper: &Mapper| -> Vec<usize> {
            (0..rows.len()).filter(|&row| mapper.serves(&asked[row], rows.x(row), models)).collect()
        };
        let served: Vec<Vec<usize>> = self.all.iter().map(served).collect();
        let names = |mapper: &Mapper| format!("{name} {}", mapper.pair.name(models.task().classes()));
        let mut proposals = vec![Vec::new(); rows.len()];
        if let Some(network) = self.network() {
            // One network serves all pairs, so all inputs and classes go through it together.
            let places: Vec<usize> = served.concat();
            let target = |(mapper, served): (&Mapper, &Vec<usize>)| vec![mapper.pair.target(); served.len()];
            let targets: Vec<usize> = self.all.iter().zip(&served).flat_map(target).collect();
            let z = network.map(models, &rows.select(&places), &targets, price)?;
            let names = self.all.iter().zip(&served).flat_map(|(mapper, served)| vec![names(mapper); served.len()]);
            for ((row, z), name) in places.into_iter().zip(z.chunks_exact(rows.latent)).zip(names) {
                proposals[row].push(Proposal { z: z.to_vec(), x: None, mapper: name });
            }
            return Ok(proposals);
        }
        for (mapper, served) in self.all.iter().zip(served).filter(|(_, served)| !served.is_empty()) {
            let new = mapper.propose(models, &rows.select(&served), &names(mapper), price)?;
            for (row, new) in served.into_iter().zip(new) {
                proposals[row].extend(new);
            }
        }
        Ok(proposals)
    }
}

/// Puts the cheapest clue of each input first.
pub fn cheapest_first(sets: &mut [Vec<Clue>]) {
    for set in sets {
        set.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::toy::{Same, Sigmoid, classes, fitted_under, mapper, predicted, rows, table};
    use crate::amortise::{MapperKind, Members, Reconstruction, Scheme};
    use crate::data::Predicate;
    use std::sync::Arc;

    fn mappers(pairs: Vec<Pair>) -> Mappers {
        let all = pairs.into_iter().map(|pair| mapper(pair, Arc::new(Reconstruction))).collect();
        Mappers { kind: MapperKind::Reconstruction, fitted_under: fitted_under(), all }
    }

    /// Who proposes something for each row.
    fn who(pairs: Vec<Pair>, models: &Models, rows: &Encoded, ask: &Ask) -> Vec<Vec<String>> {
        let proposals = mappers(pairs).propose(models, rows, ask, &Price::default(), "map").unwrap();
        proposals.into_iter().map(|set| set.into_iter().map(|proposal| proposal.mapper).collect()).collect()
    }

    /// Who proposes something for a row that is most probably b, then c, and whose true class is a if it is known.
    fn who_of_three(scheme: Scheme, ask: &Ask, true_class: bool) -> Vec<String> {
        let (same, task) = (Same::new(1), classes(&["a", "b", "c"]));
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let row = predicted(&[&[0.1, 0.6, 0.3]], true_class.then_some(&[0]));
        who(scheme.pairs(3), &models, &row, ask).remove(0)
    }

    #[test]
    fn the_most_probable_classes_are_asked_in_the_order_of_the_pairs() {
        let ask = |count| who_of_three(Scheme::Within, &Ask::MostProbable(count), true);
        assert_eq!(ask(1), ["map b → b"]);
        assert_eq!(ask(2), ["map b → b", "map c → c"]);
        assert_eq!(ask(9), ["map a → a", "map b → b", "map c → c"]);
    }

    #[test]
    fn the_own_class_is_the_true_one_or_else_the_predicted_one() {
        assert_eq!(who_of_three(Scheme::Within, &Ask::OwnClass, true), ["map a → a"]);
        assert_eq!(who_of_three(Scheme::Within, &Ask::OwnClass, false), ["map b → b"]);
    }

    #[test]
    fn given_classes_are_asked_whatever_the_model_says() {
        assert_eq!(who_of_three(Scheme::Within, &Ask::Classes(vec![2]), true), ["map c → c"]);
        assert!(who_of_three(Scheme::Within, &Ask::Classes(vec![]), true).is_empty());
    }

    #[test]
    fn a_pair_serves_the_class_it_leads_from_or_else_the_one_it_leads_to() {
        let ask = Ask::MostProbable(1);
        assert_eq!(who_of_three(Scheme::Between, &ask, true), ["map b → a", "map b → c"]);
        assert_eq!(who_of_three(Scheme::AnyToClass, &ask, true), ["map * → b"]);
        assert_eq!(who_of_three(Scheme::Any, &ask, true), ["map * → *"]);
    }

    #[test]
    fn a_class_that_is_asked_for_is_where_a_pair_leads_to() {
        let ask = Ask::Classes(vec![1]);
        assert_eq!(who_of_three(Scheme::Between, &ask, true), ["map a → b", "map c → b"]);
        assert_eq!(who_of_three(Scheme::AnyToClass, &ask, true), ["map * → b"]);
        assert_eq!(who_of_three(Scheme::Any, &ask, true), ["map * → *"]);
    }

    #[test]
    fn a_condition_serves_only_rows_that_satisfy_it() {
        let (same, schema) = (Same::new(1), table());
        let models = Models::new(&same, &Sigmoid).with_schema(&schema);
        let all = rows(&models, &[-1.0, 1.0, 2.0], 1, &[0, 1, 1]);
        let when = |text: &str| Members { class: None, condition: Some(Predicate::parse(text, &schema).unwrap()) };
        let small = Pair { from: when("x < 0"), to: Members::any() };
        let large = Pair { from: when("x > 1.5"), to: Members { class: Some(1), condition: None } };
        let found = who(vec![small, large], &models, &all, &Ask::MostProbable(1));
        assert_eq!(found, [vec!["map x < 0 → *"], vec![], vec!["map x > 1.5 → b"]]);
    }

    #[test]
    fn each_row_gets_the_proposals_that_are_made_for_it() {
        let (same, task) = (Same::new(1), classes(&["a", "b"]));
        let models = Models::new(&same, &Sigmoid).with_task(&task);
        let rows = predicted(&[&[0.9, 0.1], &[0.2, 0.8], &[0.7, 0.3]], None);
        let proposals = mappers(Scheme::Within.pairs(2))
            .propose(&models, &rows, &Ask::MostProbable(1), &Price::default(), "map")
            .unwrap();
        let codes: Vec<Vec<f32>> = proposals.into_iter().flatten().map(|proposal| proposal.z).collect();
        assert_eq!(codes, [[0.0], [1.0], [2.0]]);
    }
}
