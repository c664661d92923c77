//! From the sums of leaves to answers.
//!
//! A classifier may give weights to the second of two classes alone. Its sum s is then an answer to both:
//!
//! | after it | weights | answers |
//! |---|---|---|
//! | nothing | all positive | 1 − s, s |
//! | nothing | others | −s, s |
//! | logistic | any | σ(−s), σ(s) |

use super::Trees;
use crate::Outcome;

/// What becomes of the weights of several trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Sum,
    Average,
    Least,
    Largest,
}

/// What is done to the answers at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Post {
    None,
    Softmax,
    Logistic,
    SoftmaxZero,
    Probit,
}

/// Scores nearer to 0 than this are 0 for [`Post::SoftmaxZero`].
const ZERO: f32 = 1e-7;

impl Aggregate {
    pub(super) fn of(name: &str) -> Outcome<Self> {
        Ok(match name {
            "SUM" => Self::Sum,
            "AVERAGE" => Self::Average,
            "MIN" => Self::Least,
            "MAX" => Self::Largest,
            other => return Err(format!("`aggregate_function` is `{other}`; SUM, AVERAGE, MIN and MAX are supported")),
        })
    }

    pub(super) fn numbered(number: i64) -> Outcome<Self> {
        let all = [Self::Average, Self::Sum, Self::Least, Self::Largest];
        let at = usize::try_from(number).ok().and_then(|at| all.get(at));
        at.copied().ok_or_else(|| format!("`aggregate_function` is {number}; 0 to 3 are supported"))
    }
}

impl Post {
    pub(crate) fn of(name: &str) -> Outcome<Self> {
        Ok(match name {
            "NONE" => Self::None,
            "SOFTMAX" => Self::Softmax,
            "LOGISTIC" => Self::Logistic,
            "SOFTMAX_ZERO" => Self::SoftmaxZero,
            "PROBIT" => Self::Probit,
            other => return Err(format!("`post_transform` is `{other}`, which is not supported")),
        })
    }

    pub(super) fn numbered(number: i64) -> Outcome<Self> {
        let all = [Self::None, Self::Softmax, Self::Logistic, Self::SoftmaxZero, Self::Probit];
        let at = usize::try_from(number).ok().and_then(|at| all.get(at));
        at.copied().ok_or_else(|| format!("`post_transform` is {number}; 0 to 4 are supported"))
    }

    /// Changes the answers to one row.
    fn apply(self, row: &mut [f32]) {
        match self {
            Self::None => {}
            Self::Logistic => row.iter_mut().for_each(|score| *score = logistic(*score)),
            Self::Probit => row.iter_mut().for_each(|score| *score = probit(*score)),
            Self::Softmax | Self::SoftmaxZero => {
                let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let is_zero = |score: f32| self == Self::SoftmaxZero && score.abs() <= ZERO;
                let unscaled = |score: f32| if is_zero(score) { score * (-most).exp() } else { (score - most).exp() };
                row.iter_mut().for_each(|score| *score = unscaled(*score));
                let sum: f32 = row.iter().sum();
                row.iter_mut().for_each(|score| *score /= sum);
            }
        }
    }
}

fn logistic(score: f32) -> f32 {
    let small = 1.0 / (1.0 + (-score.abs()).exp());
    if score < 0.0 { 1.0 - small } else { small }
}

/// √2 erf⁻¹(2p − 1), by the approximation of Winitzki, as ONNX Runtime has it.
fn probit(p: f32) -> f32 {
    let x = 2.0 * p - 1.0;
    let log = ((1.0 - x) * (1.0 + x)).ln();
    let half = 2.0 / (std::f32::consts::PI * 0.147) + 0.5 * log;
    let root = (-half + (half * half - log / 0.147).sqrt()).sqrt();
    std::f32::consts::SQRT_2 * root.copysign(x)
}

impl Trees {
    /// Adds to `answers` those for sums of leaves: `[rows, targets]` to `[rows, answers]`.
    pub(super) fn finish(&self, sums: &[f64], answers: &mut Vec<f32>) {
        let count = self.roots.len() as f64;
        let base = |at: usize| f64::from(self.base.get(at).copied().unwrap_or(0.0));
        let total = |(at, &sum): (usize, &f64)| {
            let sum = match self.aggregate {
                Aggregate::Average => sum / count,
                // A target that no leaf speaks of.
                Aggregate::Least | Aggregate::Largest if sum.is_infinite() => 0.0,
                _ => sum,
            };
            (sum + base(at)) as f32
        };
        for row in sums.chunks_exact(self.targets) {
            let start = answers.len();
            match self.single {
                None => {
                    answers.extend(row.iter().enumerate().map(total));
                    self.post.apply(&mut answers[start..]);
                }
                Some(all_positive) => {
                    // Of two bases the second is that of the class with weights.
                    let score = total((self.base.len().saturating_sub(1), &row[0]));
                    answers.extend(match (self.post, all_positive) {
                        (Post::Logistic, _) => [logistic(-score), logistic(score)],
                        (_, true) => [1.0 - score, score],
                        (_, false) => [-score, score],
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(post: Post, scores: &[f32]) -> Vec<f32> {
        let mut row = scores.to_vec();
        post.apply(&mut row);
        row
    }

    fn assert_near(got: &[f32], expected: &[f32]) {
        assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5), "{got:?} is not {expected:?}");
    }

    #[test]
    fn every_end_is_that_of_onnx_runtime() {
        assert_near(&after(Post::None, &[0.2, 0.8]), &[0.2, 0.8]);
        assert_near(&after(Post::Logistic, &[0.2, 0.8, 0.0]), &[0.549_834, 0.689_974_5, 0.5]);
        assert_near(&after(Post::Softmax, &[0.2, 0.8, 0.0]), &[0.274_661_15, 0.500_465_3, 0.224_873_54]);
        // A score of 0 stays 0: e^0.2 / (e^0.2 + e^0.8) and the rest.
        assert_near(&after(Post::SoftmaxZero, &[0.2, 0.8, 0.0]), &[0.354_343_68, 0.645_656_3, 0.0]);
        assert_near(&after(Post::Probit, &[0.2, 0.8, 0.6]), &[-0.841_756_1, 0.841_756_1, 0.253_353_5]);
    }
}
