//! Pairs of categories that training rows hold together: a counterfactual has no other.

use crate::data::{Kind, Samples, Schema};

/// For every two features with categories the pairs that some training row holds.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Features with categories: position, first column and number of categories (a binary one has a single column).
    features: Vec<Categories>,
    /// For each two of them, whether a row holds the pair, second category by second category.
    held: Vec<Vec<bool>>,
}

#[derive(Clone, Copy, Debug)]
struct Categories {
    feature: usize,
    start: usize,
    count: usize,
    one_hot: bool,
}

impl Categories {
    /// Position of the category that a row has.
    fn of(&self, row: &[f32]) -> usize {
        match self.one_hot {
            true => {
                let columns = &row[self.start..self.start + self.count];
                (0..self.count).max_by(|&a, &b| columns[a].total_cmp(&columns[b])).unwrap_or(0)
            }
            false => usize::from(row[self.start] > 0.5),
        }
    }
}

impl Pairs {
    /// The pairs that these rows hold.
    pub fn of(schema: &Schema, rows: &Samples) -> Self {
        let columns = schema.columns();
        let with_categories = |(feature, kind): (usize, &Kind)| {
            let (start, one_hot) = (columns[feature].start, kind.is_one_hot());
            let count = kind.categories().len();
            (count > 0).then_some(Categories { feature, start, count, one_hot })
        };
        let features: Vec<Categories> =
            schema.features.iter().map(|feature| &feature.kind).enumerate().filter_map(with_categories).collect();
        let mut held: Vec<Vec<bool>> = two_of(&features).map(|(a, b)| vec![false; a.count * b.count]).collect();
        for row in 0..rows.len() {
            for (held, (a, b)) in held.iter_mut().zip(two_of(&features)) {
                held[a.of(rows.row(row)) * b.count + b.of(rows.row(row))] = true;
            }
        }
        Self { features, held }
    }

    /// The first two features whose categories no training row holds together and that are not both the input's own.
    pub fn unseen(&self, x0: &[f32], x: &[f32]) -> Option<(usize, usize)> {
        let now: Vec<(usize, bool)> = self.features.iter().map(|f| (f.of(x), f.of(x) != f.of(x0))).collect();
        if now.iter().all(|(_, changed)| !changed) {
            return None;
        }
        let mut places = (0..now.len()).flat_map(|a| (a + 1..now.len()).map(move |b| (a, b))).zip(&self.held);
        let odd = places
            .find(|((a, b), held)| (now[*a].1 || now[*b].1) && !held[now[*a].0 * self.features[*b].count + now[*b].0]);
        odd.map(|((a, b), _)| (self.features[a].feature, self.features[b].feature))
    }
}

fn two_of(features: &[Categories]) -> impl Iterator<Item = (Categories, Categories)> {
    (0..features.len()).flat_map(move |a| (a + 1..features.len()).map(move |b| (features[a], features[b])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Targets;

    #[test]
    fn a_pair_that_no_row_holds_is_named_unless_it_was_there_before() {
        let schema: Schema = toml::from_str(
            "target = { name = 'y', task = 'classification', classes = ['a', 'b'] }\n\
             features = [{ name = 'married', kind = 'binary', categories = ['no', 'yes'] },\n\
             { name = 'n', kind = 'continuous', mean = 0.0, deviation = 1.0, least = 0.0, greatest = 9.0 },\n\
             { name = 'role', kind = 'categorical', categories = ['husband', 'child', 'other'] }]",
        )
        .unwrap();
        let rows = [[1.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]];
        let pairs = Pairs::of(&schema, &Samples { x: rows.concat(), width: 5, y: Targets::Unknown(3), weights: None });
        let (husband, child) = ([1.0, 2.0, 1.0, 0.0, 0.0], [0.0, 3.0, 0.0, 1.0, 0.0]);
        assert_eq!(pairs.unseen(&husband, &child), None, "both pairs are held");
        let odd = [0.0, 2.0, 1.0, 0.0, 0.0];
        assert_eq!(pairs.unseen(&husband, &odd), Some((0, 2)), "unmarried and a husband");
        assert_eq!(pairs.unseen(&odd, &[0.0, 7.0, 1.0, 0.0, 0.0]), None, "the input has it itself");
        assert_eq!(pairs.unseen(&odd, &[1.0, 7.0, 0.0, 1.0, 0.0]), Some((0, 2)), "married and a child");
    }
}
