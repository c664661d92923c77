//! The parameters of a network: named arrays that lie one behind the other in a single vector.
//!
//! Optimisers and samplers see the vector, files and layers see the names.

use crate::error::{Error, Result};
use crate::seed::Rng;
use crate::tensor::{self, Tensor};
use rand_distr::{Distribution, StandardNormal};
use std::sync::Arc;

/// Names, shapes and places of the arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    entries: Vec<Entry>,
}

/// One named array.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name of the array in the file.
    pub name: String,
    /// Shape of the array.
    pub shape: Vec<usize>,
    /// Position of the array's first number in the vector.
    pub start: usize,
    /// Spread of the array's initial values, as a share of He's initialisation.
    pub spread: f32,
    /// Initial value of every number, for an array that is no weight.
    pub first: f32,
    /// Whether the array follows what is observed in training, instead of being learned.
    pub is_statistic: bool,
}

impl Entry {
    /// Number of values in the array.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the array has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Range of the array in the vector.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len()
    }
}

impl Layout {
    /// Adds an array behind the others.
    pub fn push(&mut self, name: impl Into<String>, shape: &[usize]) {
        self.push_spread(name, shape, 1.0);
    }

    /// Adds an array whose first values spread as far as this share of He's initialisation.
    pub fn push_spread(&mut self, name: impl Into<String>, shape: &[usize], spread: f32) {
        let (name, shape, start) = (name.into(), shape.to_vec(), self.len());
        self.entries.push(Entry { name, shape, start, spread, first: 0.0, is_statistic: false });
    }

    /// Adds an array that starts at one number.
    pub fn push_filled(&mut self, name: impl Into<String>, shape: &[usize], first: f32) {
        self.push(name, shape);
        self.entries.last_mut().expect("it was added").first = first;
    }

    /// Adds an array that follows what is observed in training, from one number on.
    pub fn push_statistic(&mut self, name: impl Into<String>, shape: &[usize], first: f32) {
        self.push_filled(name, shape, first);
        self.entries.last_mut().expect("it was added").is_statistic = true;
    }

    /// Adds `<name>.weight [out, in]` and `<name>.bias [out]`.
    pub fn push_linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.push_linear_spread(name, inputs, outputs, 1.0);
    }

    /// Adds a linear layer whose weight starts at this share of He's initialisation.
    pub fn push_linear_spread(&mut self, name: &str, inputs: usize, outputs: usize, spread: f32) {
        self.push_spread(format!("{name}.weight"), &[outputs, inputs], spread);
        self.push(format!("{name}.bias"), &[outputs]);
    }

    /// The arrays, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of values of all arrays.
    pub fn len(&self) -> usize {
        self.entries.last().map_or(0, |entry| entry.start + entry.len())
    }

    /// Whether there are no arrays.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The values of a [`Layout`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    layout: Arc<Layout>,
    /// All values, in the order of the layout.
    pub values: Vec<f32>,
}

impl Parameters {
    /// Values for a layout.
    pub fn new(layout: Arc<Layout>, values: Vec<f32>) -> Result<Self> {
        if values.len() != layout.len() {
            return Err(Error::Shape {
                what: "the parameter vector".into(),
                expected: vec![layout.len()],
                got: vec![values.len()],
            });
        }
        Ok(Self { layout, values })
    }

    /// He's initialisation: weights from N(0, 2 / fan-in) times the array's spread², everything else as it says itself.
    ///
    /// An array counts as a weight when it has more than one axis; its fan-in is the product of all but the first.
    pub fn initial(layout: Arc<Layout>, rng: &mut Rng) -> Self {
        let mut values = Vec::with_capacity(layout.len());
        layout.entries().iter().for_each(|entry| values.extend(std::iter::repeat_n(entry.first, entry.len())));
        for entry in layout.entries().iter().filter(|entry| entry.shape.len() > 1) {
            let fan_in: usize = entry.shape[1..].iter().product();
            let deviation = entry.spread * (2.0 / fan_in as f32).sqrt();
            for value in &mut values[entry.range()] {
                let draw: f32 = StandardNormal.sample(rng);
                *value = deviation * draw;
            }
        }
        Self { layout, values }
    }

    /// Names, shapes and places.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The numbers of the array called `name`.
    ///
    /// # Panics
    /// When the layout has no such array.
    pub fn array(&self, name: &str) -> &[f32] {
        &self.values[self.place(name)]
    }

    /// Where the numbers of the array called `name` lie.
    ///
    /// # Panics
    /// When the layout has no such array.
    pub fn place(&self, name: &str) -> std::ops::Range<usize> {
        let entry = self.layout.entries().iter().find(|entry| entry.name == name);
        entry.unwrap_or_else(|| panic!("the layout has no array `{name}`")).range()
    }
}

/// Parameters as tensors, ready for a forward pass.
#[derive(Clone, Debug)]
pub struct Weights {
    layout: Arc<Layout>,
    leaves: Vec<Tensor<1>>,
}

impl Weights {
    /// Constants: gradients flow through the network, never into it.
    pub fn frozen(parameters: &Parameters) -> Self {
        Self::build(parameters, tensor::tensor)
    }

    /// Leaves of the graph: [`Weights::gradient`] gives the derivative by each.
    pub fn tracked(parameters: &Parameters) -> Self {
        Self::build(parameters, tensor::leaf)
    }

    fn build(parameters: &Parameters, make: fn(Vec<f32>, [usize; 1]) -> Tensor<1>) -> Self {
        let of = |entry: &Entry| make(parameters.values[entry.range()].to_vec(), [entry.len()]);
        let leaves = parameters.layout.entries().iter().map(of).collect();
        Self { layout: parameters.layout.clone(), leaves }
    }

    /// Whether gradients flow into the weights.
    pub fn are_tracked(&self) -> bool {
        self.leaves.first().is_some_and(tensor::is_tracked)
    }

    /// The weights as plain numbers.
    pub fn parameters(&self) -> Parameters {
        let values = self.leaves.iter().flat_map(|leaf| tensor::values(leaf.clone())).collect();
        Parameters { layout: self.layout.clone(), values }
    }

    /// The array called `name`.
    ///
    /// # Panics
    /// When the layout has no such array or it has another rank: a network asks only for what its own layout lists.
    pub fn get<const D: usize>(&self, name: &str) -> Tensor<D> {
        let position = self.layout.entries().iter().position(|entry| entry.name == name);
        let position = position.unwrap_or_else(|| panic!("the layout has no array `{name}`"));
        let shape: [usize; D] = self.layout.entries()[position]
            .shape
            .as_slice()
            .try_into()
            .expect("a network knows the rank of its arrays");
        self.leaves[position].clone().reshape(shape)
    }

    /// The layer `<name>.weight`, `<name>.bias` applied to `x`.
    pub fn linear(&self, name: &str, x: Tensor<2>) -> Tensor<2> {
        tensor::linear(x, self.get(&format!("{name}.weight")), self.get(&format!("{name}.bias")))
    }

    /// ∂loss/∂parameters as one vector in the order of the layout.
    pub fn gradient(&self, loss: &Tensor<1>) -> Result<Vec<f32>> {
        Ok(tensor::gradients(loss, &self.leaves)?.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn layout() -> Arc<Layout> {
        let mut layout = Layout::default();
        layout.push_linear("layer", 2, 3);
        Arc::new(layout)
    }

    #[test]
    fn arrays_lie_one_behind_the_other() {
        let layout = layout();
        assert_eq!(layout.entries()[1].range(), 6..9);
        assert_eq!(layout.len(), 9);
    }

    #[test]
    fn biases_start_at_zero_and_weights_do_not() {
        let parameters = Parameters::initial(layout(), &mut Seed(0).stream("init"));
        assert!(parameters.values[..6].iter().all(|&w| w.abs() > 0.0));
        assert!(parameters.values[6..].iter().all(|&b| b.abs() < f32::MIN_POSITIVE));
    }

    #[test]
    fn a_linear_layer_multiplies_by_the_transposed_weight() {
        let parameters = Parameters::new(layout(), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.5, 0.0, -1.0]).unwrap();
        let y = Weights::frozen(&parameters).linear("layer", tensor::tensor(vec![1.0, 10.0], [1, 2]));
        assert_eq!(tensor::values(y), vec![21.5, 43.0, 64.0]);
    }

    #[test]
    fn the_gradient_follows_the_layout() {
        // Σ (x Wᵀ + b) has the gradient x for every row of W and 1 for b.
        let weights = Weights::tracked(&Parameters::new(layout(), vec![0.0; 9]).unwrap());
        let loss = weights.linear("layer", tensor::tensor(vec![1.0, 10.0], [1, 2])).sum();
        assert_eq!(weights.gradient(&loss).unwrap(), vec![1.0, 10.0, 1.0, 10.0, 1.0, 10.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_vector_of_the_wrong_length_is_refused() {
        let error = Parameters::new(layout(), vec![0.0; 4]).unwrap_err();
        assert_eq!(error.to_string(), "the parameter vector has shape [4], expected [9]");
    }
}
