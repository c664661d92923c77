//! A generative model of two ONNX files, an encoder and a decoder.

use crate::asking::{Asking, in_pieces, sides, zeros};
use crate::model::{Input, Model};
use crate::predictor::image;
use cluekit::data::Schema;
use cluekit::error::{Error, Result};
use cluekit::model::Generative;
use cluekit::model::adopted::AdoptedGenerative;
use cluekit::tensor::Tensor;
use std::path::Path;

/// An encoder, whose first output begins with the mean of the code, and a decoder.
#[derive(Debug)]
pub struct OnnxGenerative {
    encoder: Asking,
    decoder: Asking,
    /// Sides of a row that the encoder sees, and of a code.
    row: Vec<usize>,
    code: Vec<usize>,
    width: usize,
    latent: usize,
}

impl OnnxGenerative {
    /// The model whose files lie below `folder`.
    pub fn open(folder: &Path, adopted: &AdoptedGenerative, schema: &Schema) -> Result<Self> {
        let read = |file: &str| {
            let model = Model::read(&folder.join(file))?;
            match model.inputs() {
                [_] => Ok(model),
                inputs => {
                    let problem =
                        format!("has {} inputs; an encoder takes rows, and a decoder takes codes", inputs.len());
                    Err(Error::file(model.path(), problem))
                }
            }
        };
        let (encoder, decoder) = (read(&adopted.encoder)?, read(&adopted.decoder)?);
        let width = schema.width();
        let of_row = |model: &Model| {
            let row = sides(&model.inputs()[0], width, image(schema, None));
            row.map_err(|problem| Error::file(model.path(), problem))
        };
        let row = of_row(&encoder)?;
        let fed = |rows: usize| Ok(vec![input(zeros(rows, width), &row)]);
        let encoder = Asking::new(encoder, &fed, None)?;
        let rows = encoder.rows.unwrap_or(1);
        let said = encoder.numbers(fed(rows)?, rows, None)?[0].dims()[2];
        // Where the decoder does not say how long a code is, the encoder's answer is one.
        let latent = decoder.inputs()[0].width().filter(|_| decoder.inputs()[0].dims.len() > 1).unwrap_or(said);
        if latent == 0 || said != latent && (said % 2 != 0 || said / 2 != latent) {
            let problem = format!("answers with {said} numbers a row, and the decoder takes codes of {latent}");
            return Err(Error::file(encoder.model.path(), problem));
        }
        let code = sides(&decoder.inputs()[0], latent, None);
        let code = code.map_err(|problem| Error::file(decoder.path(), problem))?;
        let decoder = Asking::new(decoder, &|rows| Ok(vec![input(zeros(rows, latent), &code)]), None)?;
        let model = Self { encoder, decoder, row, code, width, latent };
        model.decode(&zeros(model.decoder.rows.unwrap_or(1), latent))?;
        Ok(model)
    }
}

/// Rows of numbers in the sides of an input.
fn input(x: Tensor<2>, sides: &[usize]) -> Input {
    let [rows, width] = x.dims();
    Input::Numbers([&[rows], sides].concat(), x.reshape([rows * width]))
}

/// An error unless a row has as many numbers as it should.
fn fits(x: &Tensor<2>, what: &str, width: usize) -> Result<()> {
    let [rows, got] = x.dims();
    match got == width {
        true => Ok(()),
        false => Err(Error::Shape { what: what.into(), expected: vec![rows, width], got: vec![rows, got] }),
    }
}

impl Generative for OnnxGenerative {
    fn latent_dim(&self) -> usize {
        self.latent
    }

    fn has_gradient(&self) -> bool {
        self.encoder.model.has_gradient() && self.decoder.model.has_gradient()
    }

    fn encode(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        fits(x, "an input", self.width)?;
        in_pieces(x, self.encoder.rows, 0, |x| {
            let rows = x.dims()[0];
            let mean = self.encoder.numbers(vec![input(x.clone(), &self.row)], rows, None)?.swap_remove(0);
            let [_, rows, width] = mean.dims();
            let mean: Tensor<2> = mean.narrow(0, 0, 1).reshape([rows, width]);
            Ok(mean.narrow(1, 0, self.latent))
        })
    }

    fn decode(&self, z: &Tensor<2>) -> Result<Tensor<2>> {
        fits(z, "a code", self.latent)?;
        in_pieces(z, self.decoder.rows, 0, |z| {
            let rows = z.dims()[0];
            let output = self.decoder.first(vec![input(z.clone(), &self.code)])?;
            match output.dims()[1] == rows * self.width {
                true => Ok(output.reshape([rows, self.width])),
                false => {
                    let got = output.dims()[1] / rows;
                    let problem = format!("answers with {got} numbers a row, and a row has {}", self.width);
                    Err(Error::file(self.decoder.model.path(), problem))
                }
            }
        })
    }
}
