//! A model with all that is found out about it before it is asked: how many rows it takes, which side of an answer the rows
//! are, and what its dropout draws.

use crate::Outcome;
use crate::model::{Input, Model, Output};
use crate::operators::random::Wanted;
use crate::run::Draws;
use cluekit::error::{Error, Result};
use cluekit::model::adopted::{Element, Fed, Port};
use cluekit::seed::Seed;
use cluekit::tensor::{Tensor, tensor};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A larger fixed number of rows than any exporter was shown.
const MOST_ROWS: usize = 1 << 16;

/// Makes what is fed to the inputs for this many rows of zeros.
pub(crate) type Zeros<'a> = &'a dyn Fn(usize) -> Result<Vec<Input>>;

/// A model that can be asked about rows.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) model: Model,
    /// Number of rows in each question; none for any number.
    pub(crate) rows: Option<usize>,
    /// For each output where the rows are, and how many rows of an answer belong to one.
    answers: Vec<Option<Rows>>,
    draws: Draws,
}

/// Where the rows of an output are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    axis: usize,
    each: usize,
}

/// What a trial says: the sides of the outputs, and what would be drawn.
struct Trial {
    dims: Vec<Vec<usize>>,
    wanted: BTreeMap<usize, Wanted>,
}

impl Asking {
    /// Tries a model on rows of zeros; `masks` are the samples of dropout, drawn from streams of this name.
    pub(crate) fn new(model: Model, zeros: Zeros, masks: Option<(usize, Seed, &str)>) -> Result<Self> {
        let refuse = |problem: String| Error::file(model.path(), problem);
        if masks.is_some() && model.network.random_nodes() == 0 {
            return Err(refuse(
                "has no dropout that could stay active; export it with its dropout modules in training mode: `for m in \
                 model.modules(): if isinstance(m, torch.nn.Dropout): m.train()`"
                    .into(),
            ));
        }
        let trial = |rows: usize| Self::trial(&model, zeros(rows)?);
        let fixed: Vec<usize> = model.inputs().iter().filter_map(|port| port.dims.first().copied().flatten()).collect();
        if let Some(rows) = fixed.iter().find(|rows| **rows > MOST_ROWS || **rows != fixed[0]) {
            return Err(refuse(format!("takes {rows} rows at once, which is not supported")));
        }
        let (rows, trials) = match fixed.first() {
            Some(&rows) => (Some(rows), [trial(rows)?.map_err(refuse)?, trial(rows)?.map_err(refuse)?]),
            None => match (trial(2)?, trial(3)?) {
                (Ok(two), Ok(three)) => (None, [two, three]),
                (Err(problem), _) | (_, Err(problem)) => {
                    // A reshape may speak of the rows that the exporter saw.
                    let mut found = None;
                    for rows in [1].into_iter().chain(model.spoken.iter().copied()) {
                        if let (Ok(one), Ok(again)) = (trial(rows)?, trial(rows)?) {
                            found = Some((Some(rows), [one, again]));
                            break;
                        }
                    }
                    found.ok_or_else(|| refuse(problem))?
                }
            },
        };
        let answers = trials[0].dims.iter().zip(&trials[1].dims).map(|(a, b)| place(a, b, rows)).collect();
        let draws = match masks {
            None => Draws::None,
            Some((samples, seed, name)) => {
                let [one, other] = &trials;
                draw(&one.wanted, &other.wanted, rows.is_some(), samples, seed, name).map_err(refuse)?
            }
        };
        Ok(Self { model, rows, answers, draws })
    }

    fn trial(model: &Model, zeros: Vec<Input>) -> Result<Outcome<Trial>> {
        let draws = Draws::Noted(Mutex::default());
        let outputs = match model.outcome(zeros, &draws) {
            Ok(outputs) => outputs,
            Err(problem) => return Ok(Err(problem)),
        };
        let wanted = match draws {
            Draws::Noted(noted) => noted.into_inner().unwrap_or_else(PoisonError::into_inner),
            _ => BTreeMap::new(),
        };
        Ok(Ok(Trial { dims: outputs.into_iter().map(|output| output.dims).collect(), wanted }))
    }

    /// The numbers of the outputs that say some for each row, `[members, rows, numbers]` each.
    ///
    /// `samples` are those that an answer of several rows a row has, one behind the other.
    pub(crate) fn numbers(&self, inputs: Vec<Input>, rows: usize, samples: Option<usize>) -> Result<Vec<Tensor<3>>> {
        let outputs = self.model.answer(inputs, &self.draws)?;
        let refuse = |problem: String| Error::file(self.model.path(), problem);
        let mut all = Vec::new();
        for ((output, place), port) in outputs.into_iter().zip(&self.answers).zip(self.model.outputs()) {
            if let (Some(place), Element::Float) = (place, port.element) {
                let of_row = by_rows(output, *place, rows, samples);
                all.push(of_row.map_err(|problem| refuse(format!("output `{}`: {problem}", port.name)))?);
            }
        }
        match all.is_empty() {
            true => Err(refuse("has no output that says numbers for each row".into())),
            false => Ok(all),
        }
    }
}

impl Asking {
    /// All numbers of the first output, `[1, numbers]`.
    pub(crate) fn first(&self, inputs: Vec<Input>) -> Result<Tensor<2>> {
        let outputs = self.model.answer(inputs, &self.draws)?;
        match outputs.into_iter().next() {
            Some(output) if output.numbers.dims()[0] == 1 => Ok(output.numbers),
            _ => Err(Error::file(self.model.path(), "has no output that could be a row")),
        }
    }
}

/// Where the rows are, from the sides for two and three rows, or twice for the rows that are fixed.
fn place(a: &[usize], b: &[usize], fixed: Option<usize>) -> Option<Rows> {
    if a.len() != b.len() || a.contains(&0) {
        return None;
    }
    match fixed {
        None => {
            let mut moving = (0..a.len()).filter(|&axis| a[axis] != b[axis]);
            let axis = moving.next()?;
            let each = a[axis] / 2;
            (moving.next().is_none() && (a[axis], b[axis]) == (2 * each, 3 * each)).then_some(Rows { axis, each })
        }
        Some(rows) => {
            let exact = |axis: usize| (a.get(axis) == Some(&rows)).then_some(Rows { axis, each: 1 });
            let several = || {
                let first = *a.first()?;
                (a.len() <= 2 && first.is_multiple_of(rows)).then_some(Rows { axis: 0, each: first / rows })
            };
            // Samples in front come before rows in front where both would do.
            match a.len() {
                3 if a[0] != rows => exact(1).or_else(several),
                _ => exact(0).or_else(several),
            }
        }
    }
}

/// What every node draws: the same for all rows.
fn draw(
    two: &BTreeMap<usize, Wanted>,
    three: &BTreeMap<usize, Wanted>,
    fixed: bool,
    samples: usize,
    seed: Seed,
    name: &str,
) -> Outcome<Draws> {
    let mut drawn = BTreeMap::new();
    for (at, wanted) in two {
        let other = three.get(at).map_or(&wanted.dims, |other| &other.dims);
        let by_rows = |axis: usize| wanted.dims[axis] != other[axis] || fixed && axis == 0;
        let dims = (0..wanted.dims.len()).map(|axis| if by_rows(axis) { 1 } else { wanted.dims[axis] }).collect();
        let stream = format!("{name}, node {at}");
        drawn.insert(*at, Wanted { dims, law: wanted.law }.draw(samples, seed, &stream)?);
    }
    Ok(Draws::Fixed(drawn))
}

/// `[members · samples, rows, numbers]` of an output.
fn by_rows(output: Output, place: Rows, rows: usize, samples: Option<usize>) -> Outcome<Tensor<3>> {
    let Output { mut dims, numbers } = output;
    let members = numbers.dims()[0];
    // What ends in sides of 1 is an image of one pixel.
    if dims.len() > 3 && dims[2..].iter().all(|&side| side == 1) {
        dims.truncate(2);
    }
    if dims.get(place.axis) != Some(&(rows * place.each)) {
        return Err(format!("its shape {dims:?} does not follow from {rows} rows"));
    }
    let each = place.each;
    if each != 1 && samples != Some(each) {
        return Err(format!("it has {each} rows for each row; if they are posterior samples, give samples = {each}"));
    }
    let unclear = || format!("its shape {dims:?} is not of rows and numbers, nor of samples, rows and numbers");
    Ok(match (dims.len(), place.axis) {
        (1, 0) => numbers.reshape([members * each, rows, 1]),
        (2, 0) => numbers.reshape([members * each, rows, dims[1]]),
        (2, 1) if each == 1 => numbers.reshape([members * dims[0], rows, 1]),
        (3, 1) if each == 1 => numbers.reshape([members * dims[0], rows, dims[2]]),
        (3, 0) if each == 1 => {
            let apart: Tensor<4> = numbers.reshape([members, rows, dims[1], dims[2]]);
            apart.swap_dims(1, 2).reshape([members * dims[1], rows, dims[2]])
        }
        _ => return Err(unclear()),
    })
}

/// The sides of a row of an input, where the free ones follow from the number of values.
///
/// `image` are the sides of an image, for inputs whose sides are all free.
pub(crate) fn sides(port: &Port, width: usize, image: Option<[usize; 3]>) -> Outcome<Vec<usize>> {
    let own = port.dims.get(1..).unwrap_or(&[]);
    let misfit = || format!("its input is {port}, and a row has {width} values");
    let known = own.iter().flatten().try_fold(1_usize, |known, side| known.checked_mul(*side)).ok_or_else(misfit)?;
    let free = own.iter().filter(|side| side.is_none()).count();
    if width == 0 {
        return Err(format!("its input is {port}, and no feature is of this kind"));
    }
    match (port.dims.len(), free, image) {
        (0, _, Some(image)) => Ok(image.to_vec()),
        (0, _, None) => Ok(vec![width]),
        (_, 0, _) if known == width => Ok(own.iter().flatten().copied().collect()),
        (_, 1, _) if known > 0 && width.is_multiple_of(known) => {
            Ok(own.iter().map(|side| side.unwrap_or(width / known)).collect())
        }
        (4, _, Some(image)) if own.iter().zip(image).all(|(own, side)| own.is_none_or(|own| own == side)) => {
            Ok(image.to_vec())
        }
        _ => Err(misfit()),
    }
}

/// What is fed, as inputs of the network for this many rows; `image` are the sides of an image.
pub(crate) fn inputs(fed: Vec<(&Port, Fed)>, rows: usize, image: Option<[usize; 3]>) -> Outcome<Vec<Input>> {
    let input = |(port, fed): (&Port, Fed)| match fed {
        Fed::Numbers(numbers) => {
            let [rows, width] = numbers.dims();
            let dims = [vec![rows], sides(port, width, image)?].concat();
            Ok(Input::Numbers(dims, numbers.reshape([rows * width])))
        }
        Fed::Relaxed(columns) => Ok(Input::Categories(columns)),
        Fed::Words(words) => {
            let dims = [vec![rows], sides(port, words.len() / rows.max(1), image)?].concat();
            Ok(Input::Words(dims, words))
        }
    };
    fed.into_iter().map(input).collect()
}

/// Rows of an encoded table, filled up to `rows` with the last one.
pub(crate) fn filled_up(x: Tensor<2>, rows: usize) -> Tensor<2> {
    let [own, width] = x.dims();
    match own < rows {
        false => x,
        true => {
            let last = x.clone().narrow(0, own - 1, 1).expand([rows - own, width]);
            Tensor::cat(vec![x, last], 0)
        }
    }
}

/// `answer` for pieces of `size` rows each, put together along `axis`.
pub(crate) fn in_pieces<const D: usize>(
    x: &Tensor<2>,
    size: Option<usize>,
    axis: usize,
    answer: impl Fn(&Tensor<2>) -> Result<Tensor<D>>,
) -> Result<Tensor<D>> {
    let rows = x.dims()[0];
    if rows == 0 {
        return Err(Error::data("there are no rows to ask a model about"));
    }
    let Some(size) = size.filter(|&size| size != rows) else { return answer(x) };
    let piece = |start: usize| {
        let count = size.min(rows - start);
        let piece = filled_up(x.clone().narrow(0, start, count), size);
        Ok(answer(&piece)?.narrow(axis, 0, count))
    };
    let pieces = (0..rows).step_by(size).map(piece).collect::<Result<Vec<_>>>()?;
    Ok(Tensor::cat(pieces, axis))
}

/// Rows of zeros.
pub(crate) fn zeros(rows: usize, width: usize) -> Tensor<2> {
    tensor(vec![0.0; rows * width], [rows, width])
}
