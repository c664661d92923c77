//! A predictor of one or several ONNX files.

use crate::asking::{Asking, in_pieces, inputs, zeros};
use crate::model::Model;
use cluekit::data::{Schema, Task};
use cluekit::error::{Error, Result};
use cluekit::model::adopted::{AdoptedPredictor, Feeds, Layout, ModelOutput};
use cluekit::model::{Predictive, Predictor};
use cluekit::seed::Seed;
use cluekit::tensor::Tensor;
use std::path::{Path, PathBuf};

/// Networks whose answers are those of posterior samples.
#[derive(Debug)]
pub struct OnnxPredictor {
    parts: Vec<Asking>,
    feeds: Feeds,
    image: Option<[usize; 3]>,
    output: ModelOutput,
    levels: Vec<f64>,
    repeated: Option<usize>,
    task: Task,
    order: Option<Vec<usize>>,
    samples: usize,
    has_gradient: bool,
    path: PathBuf,
}

impl OnnxPredictor {
    /// The predictor whose files lie below `folder`, with its masks of dropout drawn from `seed`.
    pub fn open(folder: &Path, adopted: &AdoptedPredictor, schema: &Schema, seed: Seed) -> Result<Self> {
        adopted.validate()?;
        let paths: Vec<PathBuf> = adopted.files.iter().map(|file| folder.join(file)).collect();
        let models = match adopted.mc_dropout {
            // Members with masks of their own run one after the other.
            Some(_) => paths.iter().map(|path| Model::read(path)).collect::<Result<Vec<_>>>()?,
            None => Model::ensemble(&paths, adopted.groups)?,
        };
        let path = paths[0].clone();
        let ports = models.first().map_or(&[][..], Model::inputs);
        if let Some(other) = models.iter().find(|model| model.inputs().len() != ports.len()) {
            return Err(Error::file(other.path(), format!("has other inputs than {}", path.display())));
        }
        let has_gradient = models.iter().all(Model::has_gradient);
        let feeds =
            Feeds::resolve(schema, &adopted.input, ports, has_gradient).map_err(|problem| named(&path, problem))?;
        let image = image(schema, adopted.input.layout);
        let fed = |rows: usize| {
            let x = zeros(rows, schema.width());
            inputs(feeds.of(&x)?, rows, image).map_err(|problem| Error::file(&path, problem))
        };
        let part = |(at, model): (usize, Model)| {
            let name = format!("dropout of file {at}");
            Asking::new(model, &fed, adopted.mc_dropout.map(|samples| (samples, seed, name.as_str())))
        };
        let parts = models.into_iter().enumerate().map(part).collect::<Result<Vec<_>>>()?;
        let mut predictor = Self {
            parts,
            image,
            output: adopted.output,
            levels: adopted.quantiles.clone(),
            repeated: adopted.samples,
            task: schema.target.task.clone(),
            order: adopted.class_order(schema)?,
            samples: 0,
            has_gradient,
            path,
            feeds,
        };
        let rows = predictor.rows_at_once().unwrap_or(1);
        let x = zeros(rows, schema.width());
        predictor.samples = match predictor.predict(&x)? {
            Predictive::Classes { log_probabilities } => log_probabilities.dims()[0],
            Predictive::Gaussian { mean, .. } => mean.dims()[0],
        };
        Ok(predictor)
    }

    /// `[S, rows, numbers]` of all parts, for rows of which there are as many as they take.
    fn numbers(&self, x: &Tensor<2>) -> Result<Tensor<3>> {
        let mut all = Vec::new();
        for part in &self.parts {
            let rows = x.dims()[0];
            let fed =
                inputs(self.feeds.of(x)?, rows, self.image).map_err(|problem| Error::file(&self.path, problem))?;
            all.push(self.joined(part.numbers(fed, rows, self.repeated)?, part)?);
        }
        match all.iter().all(|one| one.dims()[2] == all[0].dims()[2]) {
            true => Ok(if all.len() == 1 { all.swap_remove(0) } else { Tensor::cat(all, 0) }),
            false => {
                Err(Error::file(&self.path, "the members of the ensemble answer with different numbers of values"))
            }
        }
    }

    /// The outputs of a network as one: columns such as mean and variance, or members.
    fn joined(&self, outputs: Vec<Tensor<3>>, part: &Asking) -> Result<Tensor<3>> {
        let columns = match self.output {
            ModelOutput::MeanVariance | ModelOutput::MeanLogVariance | ModelOutput::MeanDeviation => 2,
            ModelOutput::Quantiles => self.levels.len(),
            _ => 1,
        };
        let samples = outputs[0].dims()[0];
        let single = |one: &Tensor<3>| one.dims()[2] == 1 && one.dims()[0] == samples;
        if outputs.len() == columns && columns > 1 && outputs.iter().all(single) {
            return Ok(Tensor::cat(outputs, 2));
        }
        let classes = self.task.classes().len();
        // One output for each class that the file names.
        if classes > 1 && [outputs.len(), part.model.classes] == [classes; 2] && outputs.iter().all(single) {
            return Ok(Tensor::cat(outputs, 2));
        }
        let fits = |one: &Tensor<3>| match (classes, one.dims()[2]) {
            (0, width) => width == columns,
            (2, 1) => true,
            (classes, width) => width == classes,
        };
        let widths: Vec<usize> = outputs.iter().map(|one| one.dims()[2]).collect();
        if widths.iter().all(|width| *width == widths[0]) {
            return Ok(Tensor::cat(outputs, 0));
        }
        let fitting: Vec<Tensor<3>> = outputs.into_iter().filter(fits).collect();
        match fitting.iter().all(|one| one.dims()[2] == fitting[0].dims()[2]) && !fitting.is_empty() {
            true => Ok(Tensor::cat(fitting, 0)),
            false => {
                let problem =
                    format!("its outputs have {widths:?} numbers a row, of which none is the one that is meant");
                Err(Error::file(part.model.path(), problem))
            }
        }
    }

    /// The classes in the order of the schema.
    fn ordered(&self, numbers: Tensor<3>) -> Tensor<3> {
        match &self.order {
            None => numbers,
            Some(order) if numbers.dims()[2] == order.len() => {
                let column = |&place: &usize| numbers.clone().narrow(2, place, 1);
                Tensor::cat(order.iter().map(column).collect(), 2)
            }
            // One number for the second of two classes, which is the first here.
            Some(_) if self.output == ModelOutput::Probabilities => -numbers + 1.0,
            Some(_) => -numbers,
        }
    }
}

impl Predictor for OnnxPredictor {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        let numbers = in_pieces(x, self.rows_at_once(), 1, |piece| self.numbers(piece))?;
        let said = self.output.predictive(self.ordered(numbers), &self.levels, &self.task);
        said.map_err(|problem| named(&self.path, problem))
    }

    fn samples(&self) -> Option<usize> {
        Some(self.samples)
    }

    fn has_gradient(&self) -> bool {
        self.has_gradient
    }

    fn rows_at_once(&self) -> Option<usize> {
        self.parts.iter().filter_map(|part| part.rows).max()
    }
}

/// A problem of the model, with the name of its file.
fn named(path: &Path, problem: Error) -> Error {
    match problem {
        Error::Data { problem } => Error::file(path, problem),
        other => other,
    }
}

/// The sides of an image as a network sees it.
pub(crate) fn image(schema: &Schema, layout: Option<Layout>) -> Option<[usize; 3]> {
    let image = schema.image?;
    Some(match layout {
        Some(Layout::ChannelsLast) => [image.height, image.width, image.channels],
        _ => [image.channels, image.height, image.width],
    })
}
