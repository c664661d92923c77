//! The work that is measured: so many clues for each of some inputs, by one method.

use cluekit::SearchMethod;

/// Inputs and clues for each of δ-CLUE, and of ∇-CLUE.
const MANY: [usize; 2] = [8, 100];
const APART: [usize; 2] = [8, 10];

/// A search of some inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The method.
    pub method: SearchMethod,
    /// Number of inputs.
    pub inputs: usize,
    /// Number of clues for each input.
    pub count: usize,
}

impl Work {
    /// The works of some methods: CLUE for each number of inputs, the others for a few; as many as there are at the most.
    pub fn all(methods: &[SearchMethod], inputs: &[usize], available: usize) -> Vec<Self> {
        let mut works = Vec::new();
        for method in SearchMethod::ALL.into_iter().filter(|method| methods.contains(method)) {
            let sizes: Vec<[usize; 2]> = match method {
                SearchMethod::Clue => inputs.iter().map(|&inputs| [inputs, 1]).collect(),
                SearchMethod::Delta => vec![MANY],
                SearchMethod::Nabla => vec![APART],
            };
            for [inputs, count] in sizes {
                let work = Self { method, inputs: inputs.min(available), count };
                if !works.contains(&work) {
                    works.push(work);
                }
            }
        }
        works
    }

    /// `CLUE`, or `δ-CLUE 8 × 100` with inputs and clues for each.
    pub fn title(&self) -> String {
        match self.method {
            SearchMethod::Clue => self.method.title().to_owned(),
            _ => format!("{} {} × {}", self.method.title(), self.inputs, self.count),
        }
    }

    /// Clues in all.
    pub fn clues(&self) -> usize {
        self.inputs * self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_work_takes_more_inputs_than_there_are_and_none_is_done_twice() {
        let works = Work::all(&SearchMethod::ALL, &[1, 8, 100, 400], 6);
        let sizes: Vec<(String, usize)> = works.iter().map(|work| (work.title(), work.clues())).collect();
        let expected = [("CLUE", 1), ("CLUE", 6), ("δ-CLUE 6 × 100", 600), ("∇-CLUE 6 × 10", 60)];
        assert_eq!(sizes, expected.map(|(title, clues)| (title.to_owned(), clues)));
    }

    #[test]
    fn only_the_methods_that_are_wanted_are_measured() {
        let works = Work::all(&[SearchMethod::Nabla], &[1], 100);
        assert_eq!(works, [Work { method: SearchMethod::Nabla, inputs: 8, count: 10 }]);
    }
}
