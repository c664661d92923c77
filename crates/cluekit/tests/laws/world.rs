//! Small worlds: a curved surface of inputs, predictors on it, and the rows that they know.

use super::*;

pub const LATENT: usize = 3;
pub const WIDTH: usize = 5;
pub const CLASSES: usize = 3;
pub const SAMPLES: usize = 4;
/// Rows that a world knows.
pub const ROWS: usize = 240;

/// Draws from N(0, scale²), the same ones for the same seed.
pub fn normals(len: usize, seed: u64, scale: f32) -> Vec<f32> {
    let draws = StandardNormal.sample_iter(Seed(seed).stream("laws"));
    draws.take(len).map(|draw: f32| scale * draw).collect()
}

pub fn matrix(shape: [usize; 2], seed: u64, scale: f32) -> Tensor<2> {
    tensor(normals(shape[0] * shape[1], seed, scale), shape)
}

/// A curved surface: μ_θ(z) = z A + tanh(z B) C, and a linear encoder that comes near to its inverse.
pub struct Curved {
    pub encoder: Tensor<2>,
    pub straight: Tensor<2>,
    pub hidden: Tensor<2>,
    pub bent: Tensor<2>,
}

impl Curved {
    pub fn new(width: usize) -> Self {
        let straight = matrix([LATENT, width], 1, 0.6);
        Self {
            encoder: straight.clone().transpose() * 0.5,
            straight,
            hidden: matrix([LATENT, 6], 2, 1.0),
            bent: matrix([6, width], 3, 0.3),
        }
    }
}

impl Generative for Curved {
    fn latent_dim(&self) -> usize {
        LATENT
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(x.clone().matmul(self.encoder.clone()))
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        let bent = z.clone().matmul(self.hidden.clone()).tanh().matmul(self.bent.clone());
        Ok(z.clone().matmul(self.straight.clone()) + bent)
    }
}

/// Four posterior samples of a network with one smooth layer; they agree in the large and differ in the small.
pub struct Members {
    pub networks: Vec<[Tensor<2>; 2]>,
    pub regression: bool,
}

impl Members {
    pub fn new(width: usize, regression: bool) -> Self {
        let near = |shape: [usize; 2], seed: u64, scale: f32, member: u64| {
            matrix(shape, seed, scale) + matrix(shape, 100 * (member + 1) + seed, 0.3 * scale)
        };
        let network = |s: u64| [near([width, 8], 4, 0.8, s), near([8, CLASSES], 5, 1.5, s)];
        Self { networks: (0..SAMPLES as u64).map(network).collect(), regression }
    }
}

impl Members {
    fn ask(&self, networks: &[&[Tensor<2>; 2]], x: &Tensor<2>) -> Predictive {
        let output = |[hidden, last]: &[Tensor<2>; 2]| x.clone().matmul(hidden.clone()).tanh().matmul(last.clone());
        if !self.regression {
            let logs = networks.iter().map(|n| log_softmax(output(n), 1).unsqueeze_dim::<3>(0)).collect();
            return Predictive::Classes { log_probabilities: Tensor::cat(logs, 0) };
        }
        let column = |c: usize| {
            Tensor::cat(networks.iter().map(|n| output(n).narrow(1, c, 1).swap_dims(0, 1)).collect::<Vec<_>>(), 0)
        };
        Predictive::Gaussian { mean: column(0), variance: softplus(column(1), 1.0) * 0.1 + 0.001 }
    }
}

impl Predictor for Members {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        Ok(self.ask(&self.networks.iter().collect::<Vec<_>>(), x))
    }

    fn predict_by(&self, x: &Tensor<2>, samples: &[usize]) -> Result<Predictive> {
        Ok(self.ask(&samples.iter().map(|&sample| &self.networks[sample]).collect::<Vec<_>>(), x))
    }

    fn can_choose(&self) -> bool {
        true
    }

    fn samples(&self) -> Option<usize> {
        Some(SAMPLES)
    }
}

/// Two models, what is known of their data, and rows that serve as training rows and as inputs.
pub struct World {
    pub generative: Curved,
    pub predictor: Members,
    pub task: Task,
    pub schema: Option<Schema>,
    pub samples: Samples,
}

impl World {
    pub fn new(task: Task, schema: Option<Schema>) -> Self {
        let width = schema.as_ref().map_or(WIDTH, Schema::width);
        let generative = Curved::new(width);
        let predictor = Members::new(width, task.is_regression());
        let noise = matrix([ROWS, width], 7, 0.05);
        let mut x = values(generative.decode(&matrix([ROWS, LATENT], 6, 1.2)).unwrap() + noise);
        if let Some(schema) = &schema {
            x = x.chunks(width).flat_map(|row| as_data(schema, row)).collect();
        }
        let mut samples = Samples { x, width, y: Targets::Classes(vec![0; ROWS]), weights: None };
        let predictions = predict(&predictor, &samples, &task).unwrap();
        samples.y = match task {
            Task::Classification { .. } => Targets::Classes(predictions.iter().map(|p| p.label() as u32).collect()),
            Task::Regression(scaling) => {
                Targets::Values(predictions.iter().map(|p| scaling.encode(f64::from(p.mean[0]))).collect())
            }
        };
        Self { generative, predictor, task, schema, samples }
    }

    pub fn classes() -> Self {
        Self::new(Task::Classification { classes: names(&["a", "b", "c"]) }, None)
    }

    pub fn regression() -> Self {
        Self::new(Task::Regression(scaling(10.0, 2.5, None, [0.0, 20.0])), None)
    }

    pub fn table(constraints: &str) -> Self {
        let schema = Schema { constraints: toml::from_str(constraints).unwrap(), ..people() };
        schema.validate().unwrap();
        Self::new(schema.target.task.clone(), Some(schema))
    }

    /// A table in which every kind of feature but one may be missing.
    pub fn with_gaps(constraints: &str) -> Self {
        let mut schema = Schema { constraints: toml::from_str(constraints).unwrap(), ..people() };
        for feature in &mut schema.features {
            let median = feature.kind.scaling().map(|scaling| (scaling.mean + 1.0).floor());
            feature.missing = (feature.name != "DEBT").then_some(Missing { sentinels: vec![], median });
            match &mut feature.kind {
                Kind::Binary { categories } => categories[0] = "missing".into(),
                Kind::Categorical { categories } => categories.push("missing".into()),
                _ => {}
            }
        }
        schema.validate().unwrap();
        Self::new(schema.target.task.clone(), Some(schema))
    }

    pub fn images() -> Self {
        let image = Some(Image { channels: 1, height: 1, width: WIDTH, maximum: 1.0 });
        let schema = Schema { image, features: vec![], ..people() };
        schema.validate().unwrap();
        Self::new(schema.target.task.clone(), Some(schema))
    }

    pub fn models(&self) -> Models<'_> {
        let models = Models::new(&self.generative, &self.predictor);
        match &self.schema {
            Some(schema) => models.with_schema(schema),
            None => models.with_task(&self.task),
        }
    }

    pub fn background(&self) -> Background {
        let (models, below) = (self.models(), if self.task.is_regression() { 2.0 } else { 0.5 });
        Background {
            metric: None,
            certain: Some(Certain::among(&models, self.samples.clone(), Uncertainty::Total, below).unwrap()),
            plausible: Some(Plausible::among(&models, &self.samples.x, self.samples.width, Seed(0)).unwrap()),
            rows: None,
            jury: None,
            usual: None,
            by_heart: false,
        }
    }

    pub fn predictions(&self) -> Vec<Prediction> {
        predict(&self.predictor, &self.samples, &self.task).unwrap()
    }

    /// The rows about which the model is least certain, among those that `keep`.
    pub fn uncertain(&self, count: usize, keep: impl Fn(usize) -> bool) -> Inputs {
        let amounts: Vec<f32> = self.predictions().iter().map(|p| p.uncertainty.total).collect();
        let mut rows: Vec<usize> = (0..ROWS).filter(|&row| keep(row)).collect();
        rows.sort_by(|&a, &b| amounts[b].total_cmp(&amounts[a]));
        assert!(rows.len() >= count, "only {} rows are left", rows.len());
        Inputs::of(&self.samples, &rows[..count], &self.task).unwrap()
    }

    pub fn inputs(&self, count: usize) -> Inputs {
        self.uncertain(count, |_| true)
    }

    pub fn explain(&self, search: &Search, inputs: &Inputs, seed: u64) -> Vec<Explanation> {
        search.explain(&self.models(), &self.background(), inputs, Seed(seed), &mut Silent).unwrap()
    }
}

pub fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

pub fn scaling(mean: f64, deviation: f64, decimals: Option<u32>, [least, greatest]: [f64; 2]) -> Scaling {
    Scaling { mean, deviation, decimals, least, greatest }
}

/// A table with every kind of feature: nine columns.
pub fn people() -> Schema {
    let features = vec![
        ("AGE", Kind::Continuous(scaling(45.0, 12.0, Some(0), [18.0, 90.0]))),
        ("INCOME", Kind::Continuous(scaling(3000.0, 1200.0, Some(2), [0.0, 9000.0]))),
        ("DEBT", Kind::Continuous(scaling(1500.0, 1000.0, Some(0), [0.0, 8000.0]))),
        ("GRADE", Kind::Ordinal(scaling(3.0, 1.5, Some(0), [0.0, 6.0]))),
        ("RATE", Kind::Continuous(scaling(3.3, 1.7, None, [0.5, 12.0]))),
        ("MEMBER", Kind::Binary { categories: names(&["no", "yes"]) }),
        ("JOB", Kind::Categorical { categories: names(&["none", "office", "field"]) }),
    ];
    let feature =
        |(name, kind): (&str, Kind)| Feature { name: name.into(), kind, unit: None, meaning: None, missing: None };
    Schema {
        target: Target {
            name: "risk".into(),
            task: Task::Classification { classes: names(&["low", "middle", "high"]) },
            unit: None,
            meaning: None,
        },
        image: None,
        features: features.into_iter().map(feature).collect(),
        constraints: Constraints::default(),
    }
}

/// Encoded numbers as a row of the data could have them: within the ranges, rounded, with valid categories.
pub fn as_data(schema: &Schema, row: &[f32]) -> Vec<f32> {
    if schema.image.is_some() {
        return row.iter().map(|v| v.clamp(0.0, 1.0)).collect();
    }
    let inside = |(feature, value): (&Feature, Value)| match (feature.kind.scaling(), value) {
        (Some(scaling), Value::Number(number)) => Value::Number(number.clamp(scaling.least, scaling.greatest)),
        (_, category) => category,
    };
    let row: Vec<Value> = schema.features.iter().zip(schema.decode_row(row)).map(inside).collect();
    schema.encode_row(&row).unwrap()
}
