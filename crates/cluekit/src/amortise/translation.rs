//! GLAM-CLUE's own loss, for a translation and for an affine map. [Ley2022, Alg. 2, Eq. 2]
//!
//! L(θ) = λ_θ ‖θ‖₁ + 1/|Z| Σ_{z ∈ Z} min_{x ∈ X} ‖μ_θ(G(z)) − x‖₂²
//!
//! | form | G(z) | θ |
//! |---|---|---|
//! | translation | z + b | b |
//! | affine | z + A z + b | A, b |
//!
//! Both start at the latent difference of means, A = 0. Z holds codes of uncertain rows, X certain inputs: training rows
//! (GLAM 1), or the uncertain rows' own CLUEs (GLAM 2 and 3).

use super::kind::one_each;
use super::{Encoded, Map, Points};
use crate::error::Result;
use crate::model::adam::Adam;
use crate::model::parameters::{Layout, Parameters, Weights};
use crate::parallel::over_shards;
use crate::search::{Models, Price, Proposal};
use crate::tensor::{Tensor, scalar, tensor, values};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Rows of Z that one thread handles at a time.
const ROWS: usize = 128;
/// Rounds of steps at the most.
const MOST_ROUNDS: usize = 12;
/// A round that lowers the loss by less than this share of it is the last.
const LEAST_GAIN: f64 = 2e-3;
/// After a round that lowers the loss by more than this share of it there is far to go, and steps are twice as long.
const FAR: f64 = 0.3;
/// Steps of a further round that share their nearest certain inputs.
const SHARED: usize = 5;

/// The shape of a map between codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The translation G(z) = z + b.
    Translation,
    /// The affine map G(z) = z + A z + b.
    Affine,
}

/// A map G between latent codes.
#[derive(Clone, Debug, PartialEq)]
pub struct LatentMap {
    form: Form,
    parameters: Parameters,
}

impl LatentMap {
    /// The translation by `b`: G(z) = z + b.
    ///
    /// ```
    /// use cluekit::amortise::translation::LatentMap;
    ///
    /// let map = LatentMap::translation(vec![1.0, -1.0]);
    /// assert_eq!(map.apply(&[0.0, 0.0, 2.0, 3.0]), [1.0, -1.0, 3.0, 2.0]); // two codes
    /// ```
    pub fn translation(b: Vec<f32>) -> Self {
        Self::starting_at(Form::Translation, b)
    }

    /// A map of this form that is the translation by `b`.
    pub fn starting_at(form: Form, b: Vec<f32>) -> Self {
        let layout = layout(form, b.len());
        let mut numbers = vec![0.0; layout.len() - b.len()];
        numbers.extend(b);
        let parameters = Parameters::new(Arc::new(layout), numbers).expect("as many numbers as the layout has places");
        Self { form, parameters }
    }

    /// A map of this form with these parameters.
    pub fn new(form: Form, parameters: Parameters) -> Self {
        Self { form, parameters }
    }

    /// A map of this form for codes of this size, from the numbers of its arrays.
    pub(super) fn of_numbers(form: Form, latent: usize, numbers: &[f32]) -> Self {
        let layout = Arc::new(layout(form, latent));
        let parameters = Parameters::new(layout, numbers.to_vec()).expect("as many numbers as the layout has places");
        Self { form, parameters }
    }

    /// The arrays of the map: A, if it is affine, and b.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Form of the map: translation or affine.
    pub fn form(&self) -> Form {
        self.form
    }

    /// G(z) for codes that lie one behind the other.
    pub fn apply(&self, z: &[f32]) -> Vec<f32> {
        let entries = self.parameters.layout().entries();
        let b = &self.parameters.values[entries[entries.len() - 1].range()];
        let matrix = &self.parameters.values[..self.parameters.values.len() - b.len()];
        let code = |z: &[f32]| -> Vec<f32> {
            let row = |i: usize| {
                let product = matrix.get(i * b.len()..(i + 1) * b.len());
                product.map_or(0.0, |row| row.iter().zip(z).map(|(a, z)| a * z).sum::<f32>())
            };
            z.iter().enumerate().map(|(i, z)| z + row(i) + b[i]).collect()
        };
        z.chunks_exact(b.len()).flat_map(code).collect()
    }
}

impl Map for LatentMap {
    fn propose(&self, _: &Models, rows: &Encoded, name: &str, _: &Price) -> Result<Vec<Vec<Proposal>>> {
        Ok(one_each(&self.apply(&rows.z), rows.latent, name))
    }

    fn numbers(&self) -> Vec<f32> {
        self.parameters.values.clone()
    }

    fn translation(&self) -> Option<&[f32]> {
        (self.form == Form::Translation).then_some(&self.parameters.values)
    }
}

/// The arrays of a form for codes of this size.
pub fn layout(form: Form, latent: usize) -> Layout {
    let mut layout = Layout::default();
    if form == Form::Affine {
        layout.push("matrix", &[latent, latent]);
    }
    layout.push("translation", &[latent]);
    layout
}

/// Settings of the descent on Eq. 2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Descent {
    /// Weight λ_θ of ‖θ‖₁.
    pub lambda_theta: f32,
    /// Number of steps of Adam in each round.
    pub steps: usize,
    /// Learning rate of Adam at the start of the first round; it falls to 0 in each.
    pub learning_rate: f64,
}

/// Minimises Eq. 2 from `start` and returns the best map that was seen; `go_on` ends it with an error.
///
/// Rounds of Adam, each from the best map so far and with a rate that falls to nothing, go on until one of them gains
/// next to nothing. A single round goes no further than half of its steps at the full rate, wherever the minimum lies.
///
/// # Shapes
/// - `z`: `n × latent`, row by row, n and the number of certain points at least 1
pub fn fit(
    models: &Models,
    start: LatentMap,
    z: &[f32],
    certain: &Points,
    settings: Descent,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<LatentMap> {
    let mut best = Best { loss: f64::INFINITY, map: start };
    let mut rate = settings.learning_rate;
    for round in 0..MOST_ROUNDS {
        go_on()?;
        let before = best.loss;
        let shared = if round == 0 { 1 } else { SHARED };
        best.descend(models, z, certain, Descent { learning_rate: rate, ..settings }, shared, go_on)?;
        let gain = if before.is_finite() { (before - best.loss) / before.max(f64::MIN_POSITIVE) } else { 0.5 * FAR };
        if gain > FAR {
            rate *= 2.0;
        } else if gain < LEAST_GAIN {
            if rate <= settings.learning_rate {
                break;
            }
            rate = settings.learning_rate;
        }
    }
    Ok(best.map)
}

/// The best map that was seen, and its loss.
struct Best {
    loss: f64,
    map: LatentMap,
}

impl Best {
    /// One round of Adam from here; so many steps share their nearest inputs. Those of another step are no nearer, so
    /// what they give is at least the loss.
    fn descend(
        &mut self,
        models: &Models,
        z: &[f32],
        certain: &Points,
        settings: Descent,
        shared: usize,
        go_on: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let mut map = self.map.clone();
        let mut adam = Adam::new(map.parameters.values.len());
        let mut places: Option<Vec<usize>> = None;
        for step in 0..=settings.steps {
            go_on()?;
            let known = places.as_deref().filter(|_| step % shared > 0 && step < settings.steps);
            let seen = evaluate(models, &map, z, certain, settings.lambda_theta, known)?;
            if seen.loss < self.loss {
                *self = Self { loss: seen.loss, map: map.clone() };
            }
            if step < settings.steps {
                // Falling to nothing, so that ‖θ‖₁ does not leave coordinates trembling around 0.
                let left = 1.0 - step as f64 / settings.steps as f64;
                adam.step(&mut map.parameters.values, &seen.gradient, settings.learning_rate * left, 0.0);
            }
            places = Some(seen.places);
        }
        Ok(())
    }
}

/// The loss L(θ) of Eq. 2 and its gradient.
pub fn loss(
    models: &Models,
    map: &LatentMap,
    z: &[f32],
    certain: &Points,
    lambda_theta: f32,
) -> Result<(f64, Vec<f32>)> {
    let seen = evaluate(models, map, z, certain, lambda_theta, None)?;
    Ok((seen.loss, seen.gradient))
}

/// The loss of a map, its gradient, and for each row the place of the certain input that it is compared with.
struct Evaluated {
    loss: f64,
    gradient: Vec<f32>,
    places: Vec<usize>,
}

/// The loss with certain inputs that are known, or else with the nearest.
fn evaluate(
    models: &Models,
    map: &LatentMap,
    z: &[f32],
    certain: &Points,
    lambda_theta: f32,
    known: Option<&[usize]>,
) -> Result<Evaluated> {
    models.need_gradient_of_decoder()?;
    let (latent, width) = (models.generative.latent_dim(), certain.width());
    let count = z.len() / latent;
    let parts = over_shards(count, ROWS, |rows: Range<usize>| -> Result<Evaluated> {
        let weights = Weights::tracked(&map.parameters);
        let z = tensor(z[rows.start * latent..rows.end * latent].to_vec(), [rows.len(), latent]);
        let x = models.decode(&forward(map.form, &weights, z), width)?;
        let places = match known {
            Some(known) => known[rows.clone()].to_vec(),
            None => certain.nearest(&values(x.clone())),
        };
        let chosen = places.iter().flat_map(|&place| certain.point(place)).collect();
        let loss = (x - tensor(chosen, [rows.len(), width])).powi_scalar(2).sum();
        let gradient = weights.gradient(&loss)?;
        Ok(Evaluated { loss: f64::from(scalar(loss)), gradient, places })
    });
    let theta = &map.parameters.values;
    let mut all = Evaluated { loss: 0.0, gradient: vec![0.0; theta.len()], places: Vec::with_capacity(count) };
    for part in parts {
        let part = part?;
        all.loss += part.loss / count as f64;
        all.gradient.iter_mut().zip(part.gradient).for_each(|(sum, g)| *sum += g / count as f32);
        all.places.extend(part.places);
    }
    for (g, &value) in all.gradient.iter_mut().zip(theta) {
        all.loss += f64::from(lambda_theta * value.abs());
        *g += lambda_theta * if value.abs() > 0.0 { value.signum() } else { 0.0 };
    }
    Ok(all)
}

fn forward(form: Form, weights: &Weights, z: Tensor<2>) -> Tensor<2> {
    let shift: Tensor<2> = weights.get::<1>("translation").unsqueeze();
    match form {
        Form::Translation => z + shift,
        Form::Affine => z.clone() + z.matmul(weights.get::<2>("matrix").transpose()) + shift,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amortise::kind::codes_of;
    use crate::amortise::toy::{Same, Sigmoid};
    use crate::model::Generative;

    fn affine(matrix: &[f32], b: &[f32]) -> LatentMap {
        let layout = Arc::new(layout(Form::Affine, b.len()));
        LatentMap::new(Form::Affine, Parameters::new(layout, [matrix, b].concat()).unwrap())
    }

    fn assert_near(got: &[f32], expected: &[f32], tolerance: f32) {
        assert_eq!(got.len(), expected.len());
        let near = got.iter().zip(expected).all(|(got, expected)| (got - expected).abs() <= tolerance);
        assert!(near, "{got:?}, expected {expected:?}");
    }

    #[test]
    fn the_loss_is_that_of_the_nearest_certain_inputs_and_of_the_length() {
        // 0 and 1 go to 0.5 and 1.5, each 0.5 from the nearest of 0 and 2: (0.25 + 0.25) / 2 + 0.2 · 0.5.
        // The pulls (0.5 − 0) · 2 / 2 and (1.5 − 2) · 2 / 2 cancel, and λ_θ = 0.2 is left.
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let map = LatentMap::translation(vec![0.5]);
        let (value, gradient) = loss(&models, &map, &[0.0, 1.0], &Points::new(&[2.0, 0.0], 1), 0.2).unwrap();
        assert!((value - 0.35).abs() < 1e-6, "{value}");
        assert_near(&gradient, &[0.2], 1e-6);
    }

    #[test]
    fn the_loss_of_an_affine_map_counts_its_matrix_too() {
        // 2 goes to 2 + 0.5 · 2 − 1 = 2, which is 1 from 3: 1 + 0.1 · (0.5 + 1); ∂/∂A = 2 (2 − 3) · 2 + 0.1 and
        // ∂/∂b = 2 (2 − 3) − 0.1.
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let (value, gradient) = loss(&models, &affine(&[0.5], &[-1.0]), &[2.0], &Points::new(&[3.0], 1), 0.1).unwrap();
        assert!((value - 1.15).abs() < 1e-6, "{value}");
        assert_near(&gradient, &[-3.9, -2.1], 1e-5);
    }

    #[test]
    fn rows_beyond_one_piece_of_work_count_as_much_as_the_first() {
        // Half of 300 rows are 1 away, the others 3: (1 + 9) / 2.
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let z: Vec<f32> = (0..300).map(|row| if row < 150 { 1.0 } else { 3.0 }).collect();
        let (value, gradient) =
            loss(&models, &LatentMap::translation(vec![0.0]), &z, &Points::new(&[0.0], 1), 1.0).unwrap();
        assert!((value - 5.0).abs() < 1e-5, "{value}");
        // At 0 the length has no direction.
        assert_near(&gradient, &[4.0], 1e-5);
    }

    #[test]
    fn a_translation_adds_and_an_affine_map_multiplies_first() {
        let translation = LatentMap::translation(vec![1.0, -2.0]);
        assert_near(&translation.apply(&[0.0, 0.0, 3.0, 4.0]), &[1.0, -2.0, 4.0, 2.0], 0.0);
        // (3, 4) + (0 · 3 + 1 · 4, 2 · 3 + 0 · 4) + (1, 0)
        let map = affine(&[0.0, 1.0, 2.0, 0.0], &[1.0, 0.0]);
        assert_near(&map.apply(&[3.0, 4.0]), &[8.0, 10.0], 0.0);
        let start = LatentMap::starting_at(Form::Affine, vec![1.0, -2.0]);
        assert_eq!(start.form(), Form::Affine);
        assert_near(&start.apply(&[3.0, 4.0]), &[4.0, 2.0], 0.0);
    }

    #[test]
    fn maps_between_codes_are_applied_to_each_row() {
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let translation = LatentMap::translation(vec![1.5]);
        assert_eq!(codes_of(&translation, &models, &[3.0, -1.0], 1), [[[4.5]], [[0.5]]]);
        assert_eq!(codes_of(&affine(&[2.0], &[1.0]), &models, &[3.0, -1.0], 1), [[[10.0]], [[-2.0]]]);
    }

    #[test]
    fn what_is_learned_and_what_is_applied_are_the_same_map() {
        let map = affine(&[0.1, -0.2, 0.3, 0.4], &[0.5, -0.6]);
        let z = [1.0, 2.0, -3.0, 0.5];
        let learned = values(forward(Form::Affine, &Weights::frozen(map.parameters()), tensor(z.to_vec(), [2, 2])));
        assert_near(&map.apply(&z), &learned, 1e-6);
    }

    #[test]
    fn the_shift_between_two_clouds_is_found_from_the_difference_of_means() {
        // Each point has its image by (2, −1); one image counts twice, so the difference of means is not the shift.
        let same = Same::new(2);
        let models = Models::new(&same, &Sigmoid);
        let z = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0];
        let certain = [2.0, -1.0, 2.0, -1.0, 3.0, -1.0, 2.0, 0.0];
        let start = LatentMap::translation(vec![2.25 - 1.0 / 3.0, -0.75 - 1.0 / 3.0]);
        let settings = Descent { lambda_theta: 0.0, steps: 30, learning_rate: 0.1 };
        let found = fit(&models, start, &z, &Points::new(&certain, 2), settings, &|| Ok(())).unwrap();
        assert_near(&found.parameters().values, &[2.0, -1.0], 0.01);
    }

    #[test]
    fn a_minimum_far_from_the_start_is_reached() {
        // (θ − 9)² + λ |θ| has its minimum where 2 (θ − 9) = −λ; 30 falling steps of 0.1 go 1.55 at the most.
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        for (lambda_theta, minimum) in [(0.0, 9.0), (0.02, 8.99), (2.0, 8.0)] {
            let settings = Descent { lambda_theta, steps: 30, learning_rate: 0.1 };
            let start = LatentMap::translation(vec![0.0]);
            let found = fit(&models, start, &[0.0], &Points::new(&[9.0], 1), settings, &|| Ok(())).unwrap();
            assert_near(&found.parameters().values, &[minimum], 0.02);
        }
    }

    /// x = (z₁, z₁ + z₂ / 5): what z₂ does to x is small beside what z₁ does.
    struct Narrow;

    impl Generative for Narrow {
        fn latent_dim(&self) -> usize {
            2
        }
        fn encode(&self, _: &Tensor<2>) -> Result<Tensor<2>> {
            unreachable!("Eq. 2 encodes nothing")
        }
        fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
            let (first, second) = (z.clone().narrow(1, 0, 1), z.clone().narrow(1, 1, 1));
            Ok(Tensor::cat(vec![first.clone(), first + second * 0.2], 1))
        }
    }

    #[test]
    fn the_minimum_of_a_narrow_valley_is_reached() {
        // x = (−1, 0) is θ = (−1, 5). With λ_θ = 0.03 the loss is (θ₁ + 1)² + (θ₁ + θ₂ / 5)² + 0.03 (−θ₁ + θ₂): its slope
        // vanishes where θ₁ + θ₂ / 5 = −0.075 and θ₁ + 1 = 0.09, at θ₁ = −0.91 and θ₂ = 4.175.
        let models = Models::new(&Narrow, &Sigmoid);
        let certain = Points::new(&[-1.0, 0.0], 2);
        let settings = Descent { lambda_theta: 0.03, steps: 30, learning_rate: 0.1 };
        let found =
            fit(&models, LatentMap::translation(vec![0.0, 0.0]), &[0.0, 0.0], &certain, settings, &|| Ok(())).unwrap();
        let value = |map: &LatentMap| loss(&models, map, &[0.0, 0.0], &certain, 0.03).unwrap().0;
        let least = value(&LatentMap::translation(vec![-0.91, 4.175]));
        assert!(value(&found) < 1.01 * least, "{} at {:?}, least {least}", value(&found), found.parameters().values);
    }

    #[test]
    fn a_huge_weight_on_the_length_leaves_no_translation() {
        let same = Same::new(2);
        let models = Models::new(&same, &Sigmoid);
        for form in [Form::Translation, Form::Affine] {
            let start = LatentMap::starting_at(form, vec![1.0, -0.7]);
            let settings = Descent { lambda_theta: 1e4, steps: 100, learning_rate: 0.1 };
            let found = fit(&models, start, &[0.0, 0.0], &Points::new(&[1.0, -0.7], 2), settings, &|| Ok(())).unwrap();
            let length: f32 = found.parameters().values.iter().map(|value| value.abs()).sum();
            assert!(length < 0.05, "{length}");
        }
    }

    #[test]
    fn the_best_map_that_was_seen_is_returned() {
        // A step of 5 overshoots the shift of 1 at once; the start, 0.1 from it, is better than what follows.
        let same = Same::new(1);
        let models = Models::new(&same, &Sigmoid);
        let settings = Descent { lambda_theta: 0.0, steps: 1, learning_rate: 5.0 };
        let found =
            fit(&models, LatentMap::translation(vec![0.9]), &[0.0], &Points::new(&[1.0], 1), settings, &|| Ok(()))
                .unwrap();
        assert_near(&found.parameters().values, &[0.9], 0.0);
    }
}
