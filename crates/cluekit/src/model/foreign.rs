//! Models from elsewhere that speak in plain numbers: value and pull-back, or answers alone.
//!
//! | form | what it brings | what works |
//! |---|---|---|
//! | value and pull-back | y = f(x), and ∂L/∂y ↦ ∂L/∂x | everything |
//! | answers only | y = f(x) | all but what descends a gradient, which ends in [`Error::NoGradient`] |
//!
//! [`Foreign`] makes a [`Predictor`] or a [`Generative`] of either. It checks every answer, so that a model that does not
//! keep to what was agreed on ends in one error that says how.

mod answer;

pub use answer::Answer;

use super::{Generative, Predictive, Predictor};
use crate::error::{Error, Result};
use crate::seed::Rng;
use crate::tensor::{PullBack, Tensor, pulled_back, tensor, values};
use std::sync::{Arc, Mutex, PoisonError};

/// A predictor that answers in plain numbers.
///
/// The same x gives the same answer, and a row does not depend on the other rows.
pub trait AnsweringPredictor: Send + Sync {
    /// Answers for `rows` rows of x, one behind the other.
    fn answer(&self, x: &[f32], rows: usize) -> Result<Answer>;

    /// ∂L/∂x, row after row, for ∂L/∂answer at these rows; asked for only if [`Self::has_gradient`] says yes.
    fn pull_back(&self, x: &[f32], rows: usize, cotangent: &Answer) -> Result<Vec<f32>> {
        let _ = (x, rows, cotangent);
        Err(Error::NoGradient { model: "predictor" })
    }

    /// Whether the predictor has a pull-back.
    fn has_gradient(&self) -> bool {
        false
    }

    /// Number S of posterior samples; none if it is unknown before the first answer.
    fn samples(&self) -> Option<usize> {
        None
    }

    /// Largest number of rows in one question; none for any number.
    fn rows_at_once(&self) -> Option<usize> {
        None
    }

    /// Whether several threads may ask at the same time; if not, they wait for each other.
    ///
    /// A model that lets them wait must not itself wait for work on rayon's threads: they may be the ones who wait.
    fn is_concurrent(&self) -> bool {
        true
    }
}

/// A generative model that answers in plain numbers.
pub trait AnsweringGenerative: Send + Sync {
    /// Number of dimensions of the latent space.
    fn latent_dim(&self) -> usize;

    /// The encoder's mean of `rows` rows of x, one behind the other. Nothing differentiates through it.
    fn encode(&self, x: &[f32], rows: usize) -> Result<Vec<f32>>;

    /// The decoder's mean of `rows` codes, one behind the other.
    fn decode(&self, z: &[f32], rows: usize) -> Result<Vec<f32>>;

    /// ∂L/∂z, row after row, for ∂L/∂x at these codes; asked for only if [`Self::has_gradient`] says yes.
    fn pull_back(&self, z: &[f32], rows: usize, cotangent: &[f32]) -> Result<Vec<f32>> {
        let _ = (z, rows, cotangent);
        Err(Error::NoGradient { model: "decoder" })
    }

    /// An estimate of the ELBO of each row from one draw of z; a model without a likelihood has none.
    fn elbo(&self, x: &[f32], rows: usize, rng: &mut Rng) -> Result<Option<Vec<f32>>> {
        let _ = (x, rows, rng);
        Ok(None)
    }

    /// Whether the decoder has a pull-back.
    fn has_gradient(&self) -> bool {
        false
    }

    /// Whether several threads may ask at the same time; if not, they wait for each other.
    ///
    /// A model that lets them wait must not itself wait for work on rayon's threads: they may be the ones who wait.
    fn is_concurrent(&self) -> bool {
        true
    }
}

/// A model from elsewhere as this crate sees it: a [`Predictor`] of an [`AnsweringPredictor`], a [`Generative`] of an
/// [`AnsweringGenerative`].
///
/// ```
/// use cluekit::Predictor;
/// use cluekit::model::foreign::{Answer, AnsweringPredictor, Foreign};
/// use cluekit::tensor::tensor;
/// use cluekit::uncertainty::mean_prediction;
///
/// /// Two classes, of which neither is likelier.
/// struct Coin;
///
/// impl AnsweringPredictor for Coin {
///     fn answer(&self, _: &[f32], rows: usize) -> cluekit::Result<Answer> {
///         Ok(Answer::Probabilities { values: vec![0.5; 2 * rows], samples: 1, classes: 2 })
///     }
/// }
///
/// let coin = Foreign::new(Coin);
/// let answer = coin.predict(&tensor(vec![0.0; 6], [3, 2]))?;
/// assert_eq!(mean_prediction(&answer).dims(), [3, 2]);
/// assert!(!coin.has_gradient());
/// # Ok::<(), cluekit::Error>(())
/// ```
#[derive(Debug)]
pub struct Foreign<M>(Arc<Shared<M>>);

/// A model with the turn that threads take where only one may ask at a time.
#[derive(Debug)]
struct Shared<M> {
    model: M,
    turn: Mutex<()>,
}

impl<M> Foreign<M> {
    /// Wraps a model, so that it is a [`Predictor`] or a [`Generative`].
    pub fn new(model: M) -> Self {
        Self(Arc::new(Shared { model, turn: Mutex::new(()) }))
    }

    /// The wrapped model.
    pub fn model(&self) -> &M {
        &self.0.model
    }
}

impl<M> Clone for Foreign<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M> Shared<M> {
    fn ask<T>(&self, is_concurrent: bool, question: impl FnOnce(&M) -> T) -> T {
        let _turn = (!is_concurrent).then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        question(&self.model)
    }
}

impl<P: AnsweringPredictor + 'static> Predictor for Foreign<P> {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let rows = x.dims()[0];
        let numbers = values(x.clone());
        let is_concurrent = self.model().is_concurrent();
        let answer = self.0.ask(is_concurrent, |model| model.answer(&numbers, rows))?;
        answer.check(rows)?;
        let form = answer.form();
        let (output, shape) = (answer.numbers(), form.shape(rows));
        let output = if self.model().has_gradient() {
            let shared = self.0.clone();
            let pull_back: PullBack = Arc::new(move |cotangent| {
                let cotangent = form.filled(cotangent);
                let gradient = shared.ask(is_concurrent, |model| model.pull_back(&numbers, rows, &cotangent))?;
                checked("the predictor's pull-back", gradient, [rows, numbers.len() / rows.max(1)])
            });
            pulled_back(x, output, shape, pull_back)
        } else {
            tensor(output, shape)
        };
        Ok(form.predictive(output))
    }

    fn samples(&self) -> Option<usize> {
        self.model().samples()
    }

    fn has_gradient(&self) -> bool {
        self.model().has_gradient()
    }

    fn rows_at_once(&self) -> Option<usize> {
        self.model().rows_at_once()
    }

    fn is_concurrent(&self) -> bool {
        self.model().is_concurrent()
    }
}

impl<G: AnsweringGenerative + 'static> Generative for Foreign<G> {
    fn latent_dim(&self) -> usize {
        self.model().latent_dim()
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        let shape = [x.dims()[0], self.model().latent_dim()];
        let numbers = values(x.clone());
        let codes = self.0.ask(self.model().is_concurrent(), |model| model.encode(&numbers, shape[0]))?;
        Ok(tensor(checked("the encoder's answer", codes, shape)?, shape))
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        let [rows, latent] = z.dims();
        let codes = values(z.clone());
        let is_concurrent = self.model().is_concurrent();
        let output = self.0.ask(is_concurrent, |model| model.decode(&codes, rows))?;
        let shape = [rows, output.len() / rows.max(1)];
        let output = checked("the decoder's answer", output, shape)?;
        if !self.model().has_gradient() {
            return Ok(tensor(output, shape));
        }
        let shared = self.0.clone();
        let pull_back: PullBack = Arc::new(move |cotangent| {
            let gradient = shared.ask(is_concurrent, |model| model.pull_back(&codes, rows, cotangent))?;
            checked("the decoder's pull-back", gradient, [rows, latent])
        });
        Ok(pulled_back(z, output, shape, pull_back))
    }

    fn elbo(&self, x: &Tensor<2>, rng: &mut Rng) -> Result<Option<Tensor<1>>> {
        let rows = x.dims()[0];
        let numbers = values(x.clone());
        let elbo = self.0.ask(self.model().is_concurrent(), |model| model.elbo(&numbers, rows, rng))?;
        elbo.map(|elbo| Ok(tensor(checked("the generative model's elbo", elbo, [rows])?, [rows]))).transpose()
    }

    fn has_gradient(&self) -> bool {
        self.model().has_gradient()
    }

    fn is_concurrent(&self) -> bool {
        self.model().is_concurrent()
    }
}

/// Numbers of a model, if they are as many as was agreed on, and finite.
fn checked<const D: usize>(what: &str, numbers: Vec<f32>, expected: [usize; D]) -> Result<Vec<f32>> {
    counted(what, &numbers, expected)?;
    match numbers.iter().position(|number| !number.is_finite()) {
        None => Ok(numbers),
        Some(place) => {
            let row = place / (numbers.len() / expected[0]);
            let problem = format!("{what} has {} in row {row}; it must be finite", numbers[place]);
            Err(Error::data(problem))
        }
    }
}

/// Refuses numbers that are more or fewer than was agreed on.
fn counted<const D: usize>(what: &str, numbers: &[f32], expected: [usize; D]) -> Result<()> {
    match numbers.len() == expected.iter().product::<usize>() {
        true => Ok(()),
        false => Err(Error::Shape { what: what.into(), expected: expected.to_vec(), got: vec![numbers.len()] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{gradients, leaf};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Says what it is told to say.
    struct Told {
        answer: Answer,
        pull_back: Vec<f32>,
    }

    impl AnsweringPredictor for Told {
        fn answer(&self, _: &[f32], _: usize) -> Result<Answer> {
            Ok(self.answer.clone())
        }

        fn pull_back(&self, _: &[f32], _: usize, _: &Answer) -> Result<Vec<f32>> {
            Ok(self.pull_back.clone())
        }

        fn has_gradient(&self) -> bool {
            true
        }
    }

    impl AnsweringGenerative for Told {
        fn latent_dim(&self) -> usize {
            1
        }

        fn encode(&self, _: &[f32], _: usize) -> Result<Vec<f32>> {
            Ok(self.answer.numbers())
        }

        fn decode(&self, _: &[f32], _: usize) -> Result<Vec<f32>> {
            Ok(self.answer.numbers())
        }

        fn pull_back(&self, _: &[f32], _: usize, _: &[f32]) -> Result<Vec<f32>> {
            Ok(self.pull_back.clone())
        }

        fn elbo(&self, _: &[f32], _: usize, _: &mut Rng) -> Result<Option<Vec<f32>>> {
            Ok(Some(self.answer.numbers()))
        }

        fn has_gradient(&self) -> bool {
            true
        }
    }

    fn told(answer: Answer, pull_back: &[f32]) -> Foreign<Told> {
        Foreign::new(Told { answer, pull_back: pull_back.to_vec() })
    }

    fn probabilities(values: &[f32]) -> Answer {
        Answer::Probabilities { values: values.to_vec(), samples: 1, classes: 2 }
    }

    fn logs(values: &[f32]) -> Answer {
        Answer::LogProbabilities { values: values.to_vec(), samples: 1, classes: 2 }
    }

    fn gaussian(mean: &[f32], variance: &[f32]) -> Answer {
        Answer::Gaussian { mean: mean.to_vec(), variance: variance.to_vec(), samples: 1 }
    }

    fn two_rows() -> Tensor<2> {
        leaf(vec![0.0, 1.0], [2, 1])
    }

    #[test]
    fn an_answer_that_is_no_distribution_is_refused_by_what_is_wrong_with_it() {
        let infinite = f32::NEG_INFINITY;
        for (answer, expected) in [
            (probabilities(&[0.5; 3]), "the predictor's array of probabilities has shape [3], expected [1, 2, 2]"),
            (logs(&[0.0; 5]), "the predictor's array of log-probabilities has shape [5], expected [1, 2, 2]"),
            (
                probabilities(&[0.5, 0.5, f32::NAN, 0.5]),
                "the predictor's answer for class 0 of row 1 (sample 0) is NaN; that is no probability",
            ),
            (
                probabilities(&[0.5, 0.5, 0.9, 0.9]),
                "the predictor's sum of probabilities of row 1 (sample 0) is 1.8000; it must be 1: apply a softmax to scores",
            ),
            (
                probabilities(&[1.5, -0.5, 0.5, 0.5]),
                "the predictor's answer for class 0 of row 0 (sample 0) is 1.5; that is no probability",
            ),
            (
                logs(&[2.0, -1.0, 0.0, infinite]),
                "the predictor's answer for class 0 of row 0 (sample 0) is 2; that is no probability",
            ),
            (gaussian(&[0.0], &[1.0, 1.0]), "the predictor's mean has shape [1], expected [1, 2]"),
            (gaussian(&[0.0; 2], &[1.0]), "the predictor's variance has shape [1], expected [1, 2]"),
            (
                gaussian(&[0.0, f32::INFINITY], &[1.0, 1.0]),
                "the predictor's mean of row 1 (sample 0) is inf; it must be finite",
            ),
            (
                gaussian(&[0.0, 0.0], &[-1.0, 1.0]),
                "the predictor's variance of row 0 (sample 0) is -1; it must be 0 or more, and finite",
            ),
            (
                Answer::Probabilities { values: vec![], samples: 0, classes: 2 },
                "the predictor answered with no sample or no class; give at least one of each",
            ),
        ] {
            assert_eq!(told(answer, &[]).predict(&two_rows()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_generative_model_that_does_not_keep_to_its_shape_is_refused() {
        let odd = told(gaussian(&[0.0], &[0.0, 1.0]), &[]);
        let nan = told(gaussian(&[0.0], &[f32::NAN]), &[]);
        let problems = |model: &Foreign<Told>| {
            let x = two_rows();
            [model.encode(&x).unwrap_err(), model.decode(&x).unwrap_err()].map(|error| error.to_string())
        };
        assert_eq!(
            problems(&odd),
            [
                "the encoder's answer has shape [3], expected [2, 1]",
                "the decoder's answer has shape [3], expected [2, 1]"
            ]
        );
        assert_eq!(
            problems(&nan),
            [
                "the encoder's answer has NaN in row 1; it must be finite",
                "the decoder's answer has NaN in row 1; it must be finite"
            ]
        );
        let elbo = odd.elbo(&two_rows(), &mut crate::seed::Seed(0).stream("test"));
        assert_eq!(elbo.unwrap_err().to_string(), "the generative model's elbo has shape [3], expected [2]");
    }

    #[test]
    fn a_pull_back_that_does_not_keep_to_its_shape_is_refused() {
        for (pull_back, expected) in [
            (vec![1.0; 3], "pull-back has shape [3], expected [2, 1]"),
            (vec![1.0, f32::NAN], "pull-back has NaN in row 1; it must be finite"),
        ] {
            let x = two_rows();
            let model = told(logs(&[0.5f32.ln(); 4]), &pull_back);
            let Predictive::Classes { log_probabilities } = model.predict(&x).unwrap() else { panic!("classes") };
            let problem = gradients(&log_probabilities.sum(), &[x]).unwrap_err().to_string();
            assert_eq!(problem, format!("the predictor's {expected}"));
            let z = two_rows();
            let decoded = told(gaussian(&[0.0], &[1.0]), &pull_back).decode(&z).unwrap();
            let problem = gradients(&decoded.sum(), &[z]).unwrap_err().to_string();
            assert_eq!(problem, format!("the decoder's {expected}"));
        }
    }

    #[test]
    fn a_class_without_any_probability_has_finite_logarithms_and_gradients() {
        /// p = (1, 0) whatever x is; the gradient by x is the sum of the cotangents.
        struct Sure;
        impl AnsweringPredictor for Sure {
            fn answer(&self, _: &[f32], _: usize) -> Result<Answer> {
                Ok(Answer::Probabilities { values: vec![1.0, 0.0], samples: 1, classes: 2 })
            }
            fn pull_back(&self, _: &[f32], _: usize, cotangent: &Answer) -> Result<Vec<f32>> {
                Ok(vec![cotangent.numbers().iter().sum()])
            }
            fn has_gradient(&self) -> bool {
                true
            }
        }
        let x = leaf(vec![0.0], [1, 1]);
        let Predictive::Classes { log_probabilities } = Foreign::new(Sure).predict(&x).unwrap() else {
            panic!("classes")
        };
        assert!(values(log_probabilities.clone()).iter().all(|log| log.is_finite()));
        assert!(gradients(&log_probabilities.sum(), &[x]).unwrap()[0][0].is_finite());
    }

    #[test]
    fn a_model_that_is_not_concurrent_is_asked_by_one_thread_at_a_time() {
        #[derive(Default)]
        struct Alone {
            inside: AtomicUsize,
            most: AtomicUsize,
        }
        impl AnsweringGenerative for Alone {
            fn latent_dim(&self) -> usize {
                1
            }
            fn encode(&self, x: &[f32], _: usize) -> Result<Vec<f32>> {
                self.most.fetch_max(1 + self.inside.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                std::thread::yield_now();
                self.inside.fetch_sub(1, Ordering::SeqCst);
                Ok(x.to_vec())
            }
            fn decode(&self, z: &[f32], rows: usize) -> Result<Vec<f32>> {
                self.encode(z, rows)
            }
            fn is_concurrent(&self) -> bool {
                false
            }
        }
        let model = Foreign::new(Alone::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| drop(model.encode(&tensor(vec![1.0], [1, 1])).unwrap())));
            }
        });
        assert_eq!(model.model().most.load(Ordering::SeqCst), 1);
    }
}
