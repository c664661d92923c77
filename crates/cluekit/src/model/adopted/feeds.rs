//! From an encoded row to what each input of a model sees.
//!
//! Columns of a table are linear in the encoded row, pixels are shifted and scaled, so ∂L/∂x passes through both. Inputs of
//! whole numbers take a category as relaxed one-hot columns, of which the place of the 1 is the number.

use super::input::{CategoryForm, Channels, InputColumn, InputForm, Layout, ModelInput};
use super::port::{Element, Port};
use super::seen::Seen;
use crate::data::{Column, Feature, Image, Kind, Schema, Value};
use crate::error::{Error, Result};
use crate::tensor::{Tensor, tensor, values};

/// A code of a category that is larger than this would make one-hot columns of a size that nobody meant.
const LARGEST_CODE: f64 = 10_000.0;

/// What each input of a model sees, in the order of its ports.
#[derive(Clone, Debug)]
pub struct Feeds {
    features: Vec<Feature>,
    columns: Vec<Column>,
    width: usize,
    /// Whether the model answers to slopes, and not to the last bit of a number.
    smooth: bool,
    feeds: Vec<(Port, Feed)>,
}

/// What one input sees.
#[derive(Clone, Debug)]
enum Feed {
    /// The encoded row as it is.
    Whole,
    /// Columns of a table, with their linear map `x A + b`: A is `[width, columns]`, b `[1, columns]`.
    Columns { seen: Vec<Seen>, matrix: Tensor<2>, constant: Tensor<2> },
    /// One-hot columns for each category: `[width, numbers]` and `[1, numbers]` each.
    Relaxed(Vec<(Tensor<2>, Tensor<2>)>),
    /// Words of these features.
    Words(Vec<usize>),
    /// An image.
    Image(ImageFeed),
}

#[derive(Clone, Debug)]
struct ImageFeed {
    image: Image,
    layout: Layout,
    channels: Channels,
    maximum: f32,
    /// `[1, channels, 1, 1]` each.
    mean: Tensor<4>,
    deviation: Tensor<4>,
}

/// The values of one input for some rows.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one lives at a time, and a box would cost more than it saves")]
pub enum Fed {
    /// Numbers, `[rows, values of a row]`.
    Numbers(Tensor<2>),
    /// For each column of whole numbers its one-hot columns, `[rows, numbers]`.
    Relaxed(Vec<Tensor<2>>),
    /// Words, row after row.
    Words(Vec<String>),
}

impl Feeds {
    /// What a model with these ports sees of rows with this schema.
    ///
    /// `smooth` says that the model has a gradient; others see the numbers exactly as the data writes them.
    pub fn resolve(schema: &Schema, input: &ModelInput, ports: &[Port], smooth: bool) -> Result<Self> {
        let table = Table { features: &schema.features, columns: schema.columns(), input };
        let feeds = match (&schema.image, ports) {
            (_, []) => return Err(problem("the model has no input")),
            (Some(image), [port]) => vec![ImageFeed::resolve(image, input, port)?],
            (Some(_), _) => return Err(problem("the model has several inputs, and the data are images alone")),
            (None, ports) if !input.columns.is_empty() => table.listed(ports)?,
            (None, [port]) => vec![table.alone(port)?],
            (None, ports) => table.several(ports)?,
        };
        Ok(Self {
            features: schema.features.clone(),
            columns: schema.columns(),
            width: schema.width(),
            smooth,
            feeds: ports.iter().cloned().zip(feeds).collect(),
        })
    }

    /// What the inputs see of encoded rows, in the order of the ports.
    ///
    /// # Shapes
    /// - `x`: `[rows, width of the schema]`
    pub fn of(&self, x: &Tensor<2>) -> Result<Vec<(&Port, Fed)>> {
        let [rows, width] = x.dims();
        if width != self.width {
            return Err(Error::Shape {
                what: "an input".into(),
                expected: vec![rows, self.width],
                got: vec![rows, width],
            });
        }
        let needs_rows = |feed: &Feed| match feed {
            Feed::Columns { .. } => !self.smooth,
            Feed::Words(_) => true,
            Feed::Whole | Feed::Relaxed(_) | Feed::Image(_) => false,
        };
        let exact = if self.feeds.iter().any(|(_, feed)| needs_rows(feed)) { self.decoded(x) } else { vec![] };
        Ok(self.feeds.iter().map(|(port, feed)| (port, self.fed(feed, x, &exact))).collect())
    }

    fn fed(&self, feed: &Feed, x: &Tensor<2>, exact: &[(Vec<f32>, Vec<Value>)]) -> Fed {
        match feed {
            Feed::Whole => Fed::Numbers(x.clone()),
            Feed::Columns { matrix, constant, .. } if self.smooth => Fed::Numbers(linear(x, matrix, constant)),
            Feed::Columns { seen, .. } => {
                let numbers = exact.iter().flat_map(|(encoded, row)| {
                    seen.iter().map(|seen| seen.exact(&self.features, encoded, row)).collect::<Vec<_>>()
                });
                Fed::Numbers(tensor(numbers.collect(), [exact.len(), seen.len()]))
            }
            Feed::Relaxed(columns) => {
                Fed::Relaxed(columns.iter().map(|(matrix, constant)| linear(x, matrix, constant)).collect())
            }
            Feed::Words(features) => {
                let word = |row: &[Value], feature: usize| match &row[feature] {
                    Value::Missing => String::new(),
                    value => self.features[feature].show(value),
                };
                Fed::Words(
                    exact.iter().flat_map(|(_, row)| features.iter().map(|&feature| word(row, feature))).collect(),
                )
            }
            Feed::Image(feed) => Fed::Numbers(feed.of(x)),
        }
    }

    /// Each row as it is encoded, and in the data's units.
    fn decoded(&self, x: &Tensor<2>) -> Vec<(Vec<f32>, Vec<Value>)> {
        let numbers = values(x.clone());
        let row = |encoded: &[f32]| {
            let row = self.features.iter().zip(&self.columns);
            let row = row.map(|(feature, column)| feature.decode(&encoded[column.range()])).collect();
            (encoded.to_vec(), row)
        };
        numbers.chunks_exact(self.width.max(1)).map(row).collect()
    }
}

fn linear(x: &Tensor<2>, matrix: &Tensor<2>, constant: &Tensor<2>) -> Tensor<2> {
    x.clone().matmul(matrix.clone()) + constant.clone()
}

/// What is known where the inputs of a model of a table are resolved.
struct Table<'a> {
    features: &'a [Feature],
    columns: Vec<Column>,
    input: &'a ModelInput,
}

impl Table<'_> {
    fn width(&self) -> usize {
        self.columns.last().map_or(0, |column| column.range().end)
    }

    /// One input for all features.
    fn alone(&self, port: &Port) -> Result<Feed> {
        if port.element == Element::Text {
            return self.words((0..self.features.len()).collect(), port);
        }
        match self.input.form.unwrap_or_default() {
            InputForm::Encoded if port.width().is_none_or(|width| width == self.width()) => Ok(Feed::Whole),
            InputForm::Encoded => Err(self.misfit(port, "encoded", self.width())),
            InputForm::Raw => {
                let all = self.raw((0..self.features.len()).collect(), port.width())?;
                self.fitting(all, port, "in the data's units")
            }
        }
    }

    /// An input for each feature by its name, or numbers and categories apart.
    fn several(&self, ports: &[Port]) -> Result<Vec<Feed>> {
        let named: Option<Vec<usize>> = ports.iter().map(|port| self.called(&port.name)).collect();
        match (named, ports) {
            (Some(features), _) => {
                let feed = |(port, feature): (&Port, usize)| match port.element {
                    Element::Text => self.words(vec![feature], port),
                    _ => self.numbers_of(vec![feature], port),
                };
                ports.iter().zip(features).map(feed).collect()
            }
            (None, [_, _]) => {
                let is_number = |&feature: &usize| self.features[feature].kind.scaling().is_some();
                let (numbers, categories): (Vec<_>, Vec<_>) = (0..self.features.len()).partition(is_number);
                // Floats are numbers; where both are floats, the first are.
                let first_holds_numbers = ports[0].element == Element::Float;
                let feed = |(at, port): (usize, &Port)| match (at == 0) == first_holds_numbers {
                    true => self.numbers_of(numbers.clone(), port),
                    false if port.element == Element::Text => self.words(categories.clone(), port),
                    false => self.numbers_of(categories.clone(), port),
                };
                ports.iter().enumerate().map(feed).collect()
            }
            _ => {
                let names: Vec<String> = ports.iter().map(ToString::to_string).collect();
                Err(problem(format!(
                    "the model's inputs are {}, and not each of them is called like a feature; list the columns under \
                     [predictor.input] with the `input` that they belong to",
                    names.join("; ")
                )))
            }
        }
    }

    /// The columns that were listed, for each input.
    fn listed(&self, ports: &[Port]) -> Result<Vec<Feed>> {
        let belongs = |column: &&InputColumn, port: &Port| match &column.input {
            Some(name) => *name == port.name,
            None => ports.len() == 1,
        };
        if let Some(lost) = self.input.columns.iter().find(|column| !ports.iter().any(|port| belongs(column, port))) {
            let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            let what = lost.input.as_ref().map_or("names no input".into(), |name| format!("is for the input `{name}`"));
            return Err(setting(format!(
                "column `{}` {what}, and the model's inputs are {}",
                lost.feature,
                names.join(", ")
            )));
        }
        let feed = |port: &Port| {
            let columns: Vec<&InputColumn> = self.input.columns.iter().filter(|column| belongs(column, port)).collect();
            if port.element == Element::Text {
                let features = columns.iter().map(|column| self.feature(&column.feature)).collect::<Result<_>>()?;
                return self.words(features, port);
            }
            let seen = columns.into_iter().map(|column| self.column(column)).collect::<Result<Vec<_>>>()?.concat();
            self.fitting(seen, port, "that are listed")
        };
        ports.iter().map(feed).collect()
    }

    /// What a listed column sees.
    fn column(&self, column: &InputColumn) -> Result<Vec<Seen>> {
        let feature = self.feature(&column.feature)?;
        let (name, kind) = (&column.feature, &self.features[feature].kind);
        if !(column.scale.is_finite() && column.scale.abs() > 0.0 && column.offset.is_finite()) {
            return Err(setting(format!("column `{name}` has offset {} and scale {}", column.offset, column.scale)));
        }
        if column.indicator {
            return match self.columns[feature].indicator() {
                Some(_) => Ok(vec![Seen::Indicator { feature }]),
                None => Err(setting(format!("column `{name}` asks for an indicator, and no training row lacks it"))),
            };
        }
        if kind.scaling().is_some() {
            return Ok(vec![Seen::Number { feature, offset: column.offset, scale: column.scale }]);
        }
        let order = self.order(feature, &column.categories)?;
        Ok(match column.form.unwrap_or(CategoryForm::Values) {
            CategoryForm::OneHot => self.one_hot(feature, &order),
            CategoryForm::Index => vec![self.indexed(feature, &order, column)],
            CategoryForm::Values | CategoryForm::Text => vec![self.valued(feature, &order, column)?],
        })
    }

    /// Place in the model's order of each category of the schema, or of all in their own order.
    fn order(&self, feature: usize, wanted: &[String]) -> Result<Vec<usize>> {
        let categories = self.features[feature].kind.categories();
        if wanted.is_empty() {
            return Ok((0..categories.len()).collect());
        }
        let place = |category: &String| wanted.iter().position(|word| word == category);
        let order: Option<Vec<usize>> = categories.iter().map(place).collect();
        order.filter(|_| wanted.len() == categories.len()).ok_or_else(|| {
            setting(format!(
                "column `{}` lists the categories {}; they must be those of the data in another order: {}",
                self.features[feature].name,
                wanted.join(", "),
                categories.join(", ")
            ))
        })
    }

    fn one_hot(&self, feature: usize, order: &[usize]) -> Vec<Seen> {
        let column = |k: usize| {
            let numbers = order.iter().map(|&place| f64::from(u8::from(place == k))).collect();
            Seen::Category { feature, numbers }
        };
        (0..order.len()).map(column).collect()
    }

    fn indexed(&self, feature: usize, order: &[usize], column: &InputColumn) -> Seen {
        let number = |&place: &usize| (place as f64 - column.offset) / column.scale;
        Seen::Category { feature, numbers: order.iter().map(number).collect() }
    }

    /// The numbers that the categories are written as; their places where one of them is no number.
    fn valued(&self, feature: usize, order: &[usize], column: &InputColumn) -> Result<Seen> {
        let Feature { name, kind, .. } = &self.features[feature];
        if matches!(kind, Kind::Grouped { .. }) {
            return Err(problem(format!(
                "`{name}` has a group of rare categories, which is no value that the model could see; list all of its \
                 categories in the schema as kind = \"categorical\""
            )));
        }
        let numbers: Option<Vec<f64>> = kind.categories().iter().map(|word| word.trim().parse().ok()).collect();
        match numbers.filter(|numbers| numbers.iter().all(|number: &f64| number.is_finite())) {
            Some(numbers) => {
                let numbers = numbers.into_iter().map(|number| (number - column.offset) / column.scale).collect();
                Ok(Seen::Category { feature, numbers })
            }
            None => Ok(self.indexed(feature, order, column)),
        }
    }

    /// Features in the data's units, categories in the form that makes up `width` columns.
    fn raw(&self, features: Vec<usize>, width: Option<usize>) -> Result<Vec<Seen>> {
        let form = |form: CategoryForm| -> Result<Vec<Seen>> {
            let seen = |&feature: &usize| match &self.features[feature].kind {
                // The table itself holds such a category in one column each.
                Kind::OneHot { columns } => Ok(self.one_hot(feature, &(0..columns.len()).collect::<Vec<_>>())),
                _ => self.column(&InputColumn { form: Some(form), ..InputColumn::of(&self.features[feature].name) }),
            };
            Ok(features.iter().map(seen).collect::<Result<Vec<_>>>()?.concat())
        };
        match self.input.categories {
            Some(wanted) => form(wanted),
            None => match form(CategoryForm::Values) {
                Ok(seen) if width.is_none_or(|width| width == seen.len()) => Ok(seen),
                values => {
                    let columns = form(CategoryForm::OneHot)?;
                    if Some(columns.len()) == width { Ok(columns) } else { values }
                }
            },
        }
    }

    /// Numbers of some features in the form that was chosen for all.
    fn numbers_of(&self, features: Vec<usize>, port: &Port) -> Result<Feed> {
        let seen = match self.input.form.unwrap_or(InputForm::Raw) {
            InputForm::Encoded if port.element == Element::Float => {
                let columns = features.iter().flat_map(|&feature| self.columns[feature].range());
                columns.map(|column| Seen::Encoded { column }).collect()
            }
            _ => self.raw(features, port.width())?,
        };
        self.fitting(seen, port, "of these features")
    }

    fn fitting(&self, seen: Vec<Seen>, port: &Port, what: &str) -> Result<Feed> {
        if port.width().is_some_and(|width| width != seen.len()) {
            return Err(self.misfit(port, what, seen.len()));
        }
        match port.element {
            Element::Float | Element::Boolean => {
                let (matrix, constant) = self.matrix(&seen);
                Ok(Feed::Columns { seen, matrix, constant })
            }
            Element::Integer => self.whole_numbers(seen),
            Element::Text => Err(problem(format!("the input `{}` takes words, not numbers", port.name))),
        }
    }

    /// Categories of an input of whole numbers as relaxed one-hot columns; other numbers as they are.
    fn whole_numbers(&self, seen: Vec<Seen>) -> Result<Feed> {
        let is_category = |seen: &Seen| matches!(seen, Seen::Category { .. });
        if !seen.iter().all(is_category) {
            let (matrix, constant) = self.matrix(&seen);
            return Ok(Feed::Columns { seen, matrix, constant });
        }
        let relaxed = |seen: &Seen| {
            let Seen::Category { feature, numbers } = seen else { unreachable!("all of them are categories") };
            let fits = |number: &f64| (0.0..=LARGEST_CODE).contains(number) && number.fract().abs() <= 0.0;
            if let Some(number) = numbers.iter().find(|number| !fits(number)) {
                return Err(problem(format!(
                    "`{}` has a category that the model would see as {number}; whole numbers from 0 to {LARGEST_CODE} can \
                     be seen, so choose categories = \"index\"",
                    self.features[*feature].name
                )));
            }
            let largest = numbers.iter().copied().fold(0.0, f64::max) as usize;
            let columns: Vec<Seen> = (0..=largest)
                .map(|code| {
                    let holds = |number: &f64| f64::from(u8::from((number - code as f64).abs() <= 0.0));
                    Seen::Category { feature: *feature, numbers: numbers.iter().map(holds).collect() }
                })
                .collect();
            Ok(self.matrix(&columns))
        };
        Ok(Feed::Relaxed(seen.iter().map(relaxed).collect::<Result<_>>()?))
    }

    fn words(&self, features: Vec<usize>, port: &Port) -> Result<Feed> {
        let grouped = |feature: &&usize| matches!(self.features[**feature].kind, Kind::Grouped { .. });
        if let Some(&feature) = features.iter().find(grouped) {
            let name = &self.features[feature].name;
            let column = InputColumn::of(name);
            self.valued(feature, &[], &column)?;
        }
        match port.width().is_some_and(|width| width != features.len()) {
            true => Err(self.misfit(port, "in words", features.len())),
            false => Ok(Feed::Words(features)),
        }
    }

    /// The linear map of some columns: `[width, columns]` and `[1, columns]`.
    fn matrix(&self, seen: &[Seen]) -> (Tensor<2>, Tensor<2>) {
        let (width, count) = (self.width(), seen.len());
        let mut matrix = vec![0.0; width * count];
        let mut constant = vec![0.0; count];
        for (at, seen) in seen.iter().enumerate() {
            let linear = seen.linear(self.features, &self.columns);
            constant[at] = linear.constant as f32;
            for (column, factor) in linear.factors {
                matrix[column * count + at] += factor as f32;
            }
        }
        (tensor(matrix, [width, count]), tensor(constant, [1, count]))
    }

    fn called(&self, name: &str) -> Option<usize> {
        self.features.iter().position(|feature| feature.name == name)
    }

    fn feature(&self, name: &str) -> Result<usize> {
        self.called(name).ok_or_else(|| {
            let names: Vec<&str> = self.features.iter().map(|feature| feature.name.as_str()).collect();
            let closest = crate::data::closest(name, names.into_iter());
            let hint = closest.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
            setting(format!("column `{name}` is no feature of the data{hint}"))
        })
    }

    fn misfit(&self, port: &Port, what: &str, columns: usize) -> Error {
        problem(format!(
            "the model's input is {port}, and the features make {columns} columns {what}; say what the model sees under \
             [predictor.input] of the schema"
        ))
    }
}

impl ImageFeed {
    fn resolve(image: &Image, input: &ModelInput, port: &Port) -> Result<Feed> {
        let Image { channels, height, width, .. } = *image;
        let first = [channels, height, width];
        let last = [height, width, channels];
        let sides = &port.dims[1.min(port.dims.len())..];
        let fits = |shape: &[usize; 3]| {
            let matches = |shape: &[usize]| {
                shape.len() == sides.len() && shape.iter().zip(sides).all(|(a, b)| b.is_none_or(|b| *a == b))
            };
            // A grey image may come without its channel, and any image as one row of numbers.
            matches(shape) || channels == 1 && matches(&[height, width]) || matches(&[channels * height * width])
        };
        let layout = match input.layout {
            Some(Layout::ChannelsLast) if fits(&last) => Layout::ChannelsLast,
            Some(Layout::ChannelsFirst) | None if fits(&first) => Layout::ChannelsFirst,
            None if fits(&last) => Layout::ChannelsLast,
            _ => {
                let layout = input.layout.map_or("nchw or nhwc", Layout::name);
                return Err(problem(format!(
                    "the model's input is {port}, and the images are {channels} × {height} × {width} (channels, height, \
                     width); they do not fit as {layout}"
                )));
            }
        };
        let each = |key: &str, given: &[f64], default: f64| -> Result<Tensor<4>> {
            let numbers = match given {
                [] => vec![default; channels],
                [one] => vec![*one; channels],
                all if all.len() == channels => all.to_vec(),
                all => {
                    let what =
                        format!("has {} numbers for images of {channels} channels; give one, or one each", all.len());
                    return Err(Error::setting(format!("predictor.input.{key}"), what));
                }
            };
            if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(Error::setting(
                    format!("predictor.input.{key}"),
                    format!("is {number}; it must be finite"),
                ));
            }
            Ok(tensor(numbers.into_iter().map(|number| number as f32).collect(), [1, channels, 1, 1]))
        };
        let maximum = input.maximum.unwrap_or(1.0) as f32;
        let (mean, deviation) = (each("mean", &input.mean, 0.0)?, each("deviation", &input.deviation, 1.0)?);
        if !(maximum > 0.0 && maximum.is_finite()) || input.deviation.iter().any(|deviation| *deviation <= 0.0) {
            return Err(setting("`maximum` and every `deviation` must be above 0"));
        }
        let channels = input.channels.unwrap_or_default();
        if channels == Channels::Bgr && image.channels != 3 {
            let problem = format!("is bgr, and the images have {} channels", image.channels);
            return Err(Error::setting("predictor.input.channels", problem));
        }
        Ok(Feed::Image(Self { image: *image, layout, channels, maximum, mean, deviation }))
    }

    fn of(&self, x: &Tensor<2>) -> Tensor<2> {
        let Image { channels, height, width, .. } = self.image;
        let rows = x.dims()[0];
        let pixels = x.clone().reshape([rows, channels, height, width]) * self.maximum;
        let pixels = match self.channels {
            Channels::Rgb => pixels,
            Channels::Bgr => pixels.flip([1]),
        };
        let pixels = (pixels - self.mean.clone()) / self.deviation.clone();
        let pixels = match self.layout {
            Layout::ChannelsFirst => pixels,
            Layout::ChannelsLast => pixels.permute([0, 2, 3, 1]),
        };
        pixels.reshape([rows, channels * height * width])
    }
}

fn problem(what: impl Into<String>) -> Error {
    Error::data(what)
}

fn setting(what: impl Into<String>) -> Error {
    Error::setting("predictor.input", what)
}
