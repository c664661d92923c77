//! Who searches: the paper's steps, few samples a step, or all that `clue explain` does.

use super::work::Work;
use anyhow::Result;
use cluekit::search::{LatentBall, Search, SearchSettings};
use cluekit::{Delta, SearchMethod};

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// All samples at each of the paper's 30 steps.
    Paper,
    /// A few samples at each step, and nothing beside the search.
    Search,
    /// What `clue explain` does when nothing is said: a portfolio, plausibility and advice beside the search.
    Default,
}

/// What all contenders are told.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Weight of the distance to the input.
    pub lambda_x: f32,
    /// The ball of δ-CLUE and ∇-CLUE.
    pub ball: LatentBall,
    /// A clue is accepted below this uncertainty.
    pub threshold: f32,
}

impl Contender {
    /// All of them, the plainest first.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Search, Self::Default];

    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Search => "search",
            Self::Default => "default",
        }
    }

    /// What a work is called when this contender does it.
    pub fn of(self, title: &str) -> String {
        match self {
            Self::Paper => format!("{title}, paper's steps"),
            Self::Search => title.to_owned(),
            Self::Default => format!("{title}, default"),
        }
    }

    /// The search for a work, with the steps of the contender or with as many as are given.
    pub fn search(self, work: &Work, terms: &Terms, steps: Option<usize>, classes: &[String]) -> Result<Search> {
        let several = work.method != SearchMethod::Clue;
        let paper = self == Self::Paper;
        let settings = SearchSettings {
            only_paper: paper,
            all_steps: paper,
            lambda_x: Some(terms.lambda_x),
            threshold: Some(terms.threshold),
            delta: several.then_some(Delta::Fixed(terms.ball)),
            count: several.then_some(work.count),
            steps,
            ..SearchSettings::default()
        };
        let search = settings.search(work.method, classes)?;
        Ok(match self {
            Self::Default => search,
            _ => Search { portfolio: None, plausibility: false, advised: false, ..search },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluekit::search::Schedule;

    fn of(contender: Contender, method: SearchMethod, steps: Option<usize>) -> Search {
        let terms = Terms { lambda_x: 0.03, ball: LatentBall::new(3.5).unwrap(), threshold: 0.4 };
        let count = if method == SearchMethod::Clue { 1 } else { 5 };
        contender.search(&Work { method, inputs: 2, count }, &terms, steps, &[]).unwrap()
    }

    #[test]
    fn all_contenders_search_for_the_same() {
        for method in SearchMethod::ALL {
            let [paper, few, default] = Contender::ALL.map(|contender| of(contender, method, None));
            assert_eq!((&paper.objective, paper.delta, paper.count), (&few.objective, few.delta, few.count));
            assert_eq!((&few.objective, few.delta, few.count), (&default.objective, default.delta, default.count));
        }
    }

    #[test]
    fn the_paper_asks_all_samples_at_each_step_and_the_search_a_few() {
        let [paper, few] = [Contender::Paper, Contender::Search].map(|who| of(who, SearchMethod::Clue, None));
        assert_eq!((paper.schedule, paper.convergence.max_steps), (Schedule::Paper, 30));
        assert!(paper.convergence.patience > 30, "{:?}", paper.convergence);
        assert_eq!((few.schedule, few.convergence.max_steps, few.portfolio), (Schedule::Auto, 30, None));
        assert_eq!(of(Contender::Paper, SearchMethod::Clue, Some(60)).convergence.max_steps, 60);
    }
}
