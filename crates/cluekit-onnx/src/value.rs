//! What flows along the edges of a network.
//!
//! Tensors have one rank inside, [`RANK`]: the members of an ensemble (or the masks of dropout) come first, then ones, then
//! the sides that the file speaks of. What all members share has one member, and broadcasting does the rest.

use crate::Outcome;
use crate::constant::{Constant, Elements, elements};
use crate::integers::{Integers, span};
use crate::words::Words;
use burn_tensor::{Bool, Device, Int, TensorData};
use cluekit::tensor::{Tensor, is_tracked, tensor, values};

/// Rank of every tensor here: that of the members, and seven that a file can use.
pub(crate) const RANK: usize = 8;

/// A tensor, members first.
pub(crate) type Block = Tensor<RANK>;

/// A value of a network.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Numbers with a gradient.
    Floats(Floats),
    /// Yes or no for each place of a tensor.
    Mask(Mask),
    /// Whole numbers that do not depend on the rows' contents.
    Integers(Integers),
    /// Whole numbers of which each is a relaxed category.
    Categories(Categories),
    /// Words.
    Words(Words),
    /// Several values.
    Sequence(Vec<Value>),
}

/// Numbers with a gradient.
#[derive(Clone, Debug)]
pub(crate) struct Floats {
    pub(crate) block: Block,
    pub(crate) rank: usize,
}

/// Yes or no for each place.
#[derive(Clone, Debug)]
pub(crate) struct Mask {
    pub(crate) block: Tensor<RANK, Bool>,
    pub(crate) rank: usize,
}

/// Categories as one-hot columns, which may be relaxed: whole numbers whose place a 1 would say.
#[derive(Clone, Debug)]
pub(crate) struct Categories {
    /// For each category its number at the first column, and the columns `[rows, numbers]`.
    pub(crate) columns: Vec<(i64, Tensor<2>)>,
    /// Which category is where: the sides are those after the rows.
    pub(crate) places: Integers,
    pub(crate) rows: usize,
}

/// The sides of a block, if they can be.
pub(crate) fn block_sides(members: usize, dims: &[usize]) -> Outcome<[usize; RANK]> {
    let Some(ones) = (RANK - 1).checked_sub(dims.len()) else {
        return Err(format!("a tensor of {} sides is not supported; {} are", dims.len(), RANK - 1));
    };
    let mut sides = [1; RANK];
    sides[0] = members;
    sides[ones + 1..].copy_from_slice(dims);
    match elements(&sides)? {
        0 => Err(format!("a tensor of shape {dims:?} has no elements")),
        _ => Ok(sides),
    }
}

/// Indices as a tensor.
pub(crate) fn indices(places: &[usize]) -> Tensor<1, Int> {
    let places: Vec<i64> = places.iter().map(|&place| place as i64).collect();
    let count = places.len();
    Tensor::from_data(TensorData::new(places, [count]), &Device::flex())
}

impl Floats {
    pub(crate) fn constant(dims: &[usize], numbers: Vec<f32>) -> Outcome<Self> {
        Ok(Self { block: tensor(numbers, block_sides(1, dims)?), rank: dims.len() })
    }

    pub(crate) fn full(dims: &[usize], number: f32) -> Outcome<Self> {
        let sides = block_sides(1, dims)?;
        Self::constant(dims, vec![number; span(&sides)])
    }

    /// A tensor of members and sides that were merged for a kernel.
    pub(crate) fn from<const D: usize>(merged: Tensor<D>, members: usize, dims: &[usize]) -> Outcome<Self> {
        Ok(Self { block: merged.reshape(block_sides(members, dims)?), rank: dims.len() })
    }

    pub(crate) fn dims(&self) -> Vec<usize> {
        self.block.dims()[RANK - self.rank..].to_vec()
    }

    pub(crate) fn members(&self) -> usize {
        self.block.dims()[0]
    }

    /// Position in the block of an axis of the file.
    pub(crate) fn inner(&self, axis: usize) -> usize {
        RANK - self.rank + axis
    }

    /// The numbers, which do not depend on the rows.
    pub(crate) fn known(&self, what: &str) -> Outcome<Vec<f32>> {
        match self.members() == 1 && !is_tracked(&self.block) {
            true => Ok(values(self.block.clone())),
            false => Err(format!("{what} depends on the rows or on the member")),
        }
    }

    pub(crate) fn map(self, change: impl FnOnce(Block) -> Block) -> Self {
        Self { block: change(self.block), rank: self.rank }
    }

    pub(crate) fn reshaped(self, dims: &[usize]) -> Outcome<Self> {
        let (members, own) = (self.members(), self.dims());
        if span(&own) != elements(dims)? {
            return Err(format!("{own:?} cannot take the shape {dims:?}"));
        }
        Self::from(self.block, members, dims)
    }

    pub(crate) fn permuted(self, axes: &[usize]) -> Self {
        let start = RANK - self.rank;
        let order: [isize; RANK] =
            std::array::from_fn(|at| if at < start { at as isize } else { (start + axes[at - start]) as isize });
        self.map(|block| block.permute(order))
    }

    pub(crate) fn expanded(self, dims: &[usize]) -> Outcome<Self> {
        let sides = block_sides(self.members(), dims)?;
        Ok(Self { block: self.block.expand(sides), rank: dims.len() })
    }

    pub(crate) fn narrowed(self, axis: usize, start: usize, length: usize) -> Self {
        let inner = self.inner(axis);
        match self.block.dims()[inner] == length {
            true => self,
            false => self.map(|block| block.narrow(inner, start, length)),
        }
    }

    pub(crate) fn selected(self, axis: usize, places: &[usize]) -> Outcome<Self> {
        let mut dims = self.dims();
        dims[axis] = places.len();
        block_sides(self.members(), &dims)?;
        let inner = self.inner(axis);
        Ok(self.map(|block| block.select(inner, indices(places))))
    }

    /// The same numbers for `members` members.
    pub(crate) fn of_members(self, members: usize) -> Outcome<Self> {
        if self.members() == members {
            return Ok(self);
        }
        let sides = block_sides(members, &self.dims())?;
        Ok(self.map(|block| block.expand(sides)))
    }

    pub(crate) fn joined(all: Vec<Self>, axis: usize) -> Outcome<Self> {
        let members = all.iter().map(Self::members).max().unwrap_or(1);
        let mut dims = all[0].dims();
        dims[axis] = all.iter().map(|part| part.dims()[axis]).sum();
        block_sides(members, &dims)?;
        let (inner, rank) = (all[0].inner(axis), all[0].rank);
        let parts = all.into_iter().map(|part| Ok(part.of_members(members)?.block));
        Ok(Self { block: Tensor::cat(parts.collect::<Outcome<Vec<_>>>()?, inner), rank })
    }
}

impl Mask {
    pub(crate) fn floats(self) -> Floats {
        Floats { block: self.block.float(), rank: self.rank }
    }

    pub(crate) fn of(floats: Floats) -> Self {
        Self { block: floats.block.not_equal_scalar(0.0), rank: floats.rank }
    }
}

impl Categories {
    /// Every category is in a column of its own, side by side.
    pub(crate) fn new(columns: Vec<Tensor<2>>) -> Self {
        let rows = columns.first().map_or(0, |column| column.dims()[0]);
        let places = Integers::list((0..columns.len() as i64).collect());
        Self { columns: columns.into_iter().map(|column| (0, column)).collect(), places, rows }
    }

    pub(crate) fn dims(&self) -> Vec<usize> {
        [&[self.rows], self.places.dims.as_slice()].concat()
    }

    /// The column of each place.
    pub(crate) fn each(&self) -> impl Iterator<Item = &(i64, Tensor<2>)> {
        self.places.data.iter().map(|&place| &self.columns[place as usize])
    }

    fn moved(self, change: impl FnOnce(&Integers) -> Outcome<Integers>) -> Outcome<Self> {
        Ok(Self { places: change(&self.places)?, ..self })
    }

    /// The expected number of each, which is the number itself where nothing is relaxed.
    pub(crate) fn floats(&self) -> Outcome<Floats> {
        let expected = self.each().map(|(first, column)| {
            let count = column.dims()[1];
            let numbers: Vec<f32> = (0..count).map(|at| (*first + at as i64) as f32).collect();
            column.clone().matmul(tensor(numbers, [count, 1]))
        });
        let expected: Vec<Tensor<2>> = expected.collect();
        match expected.is_empty() {
            true => Err("there are no categories".into()),
            false => Floats::from(Tensor::cat(expected, 1), 1, &self.dims()),
        }
    }
}

fn on_rows() -> String {
    "moves rows of categories, which is not supported".into()
}

impl Value {
    pub(crate) fn constant(constant: &Constant) -> Outcome<Self> {
        match &constant.elements {
            // Nothing has no type: an input that is left out, such as the region of interest of Resize.
            Elements::Floats(numbers) if numbers.is_empty() => {
                Ok(Self::Integers(Integers::new(constant.dims.clone(), vec![])))
            }
            Elements::Floats(numbers) => Ok(Self::Floats(Floats::constant(&constant.dims, numbers.clone())?)),
            Elements::Integers(numbers) => Ok(Self::Integers(Integers::new(constant.dims.clone(), numbers.clone()))),
            Elements::Words(words) => Ok(Self::Words(Words::new(constant.dims.clone(), words.clone()))),
        }
    }

    pub(crate) fn dims(&self) -> Outcome<Vec<usize>> {
        Ok(match self {
            Self::Floats(floats) => floats.dims(),
            Self::Mask(mask) => mask.block.dims()[RANK - mask.rank..].to_vec(),
            Self::Integers(integers) => integers.dims.clone(),
            Self::Categories(categories) => categories.dims(),
            Self::Words(words) => words.dims().to_vec(),
            Self::Sequence(_) => return Err("a tensor is expected, not a sequence".into()),
        })
    }

    pub(crate) fn floats(self) -> Outcome<Floats> {
        match self {
            Self::Floats(floats) => Ok(floats),
            Self::Mask(mask) => Ok(mask.floats()),
            Self::Integers(integers) => {
                Floats::constant(&integers.dims, integers.data.iter().map(|&number| number as f32).collect())
            }
            Self::Categories(categories) => categories.floats(),
            Self::Words(_) => Err("numbers are expected, not words".into()),
            Self::Sequence(_) => Err("a tensor is expected, not a sequence".into()),
        }
    }

    /// Whole numbers that are known without the rows, or read off them where that costs no gradient.
    pub(crate) fn integers(self) -> Outcome<Integers> {
        match self {
            Self::Integers(integers) => Ok(integers),
            Self::Floats(floats) => {
                let numbers = floats.known("a whole number")?;
                Ok(Integers::new(floats.dims(), numbers.into_iter().map(|number| number as i64).collect()))
            }
            Self::Mask(mask) => Self::Floats(mask.floats()).integers(),
            Self::Categories(_) => Err("a category, which may be relaxed, is no plain whole number here".into()),
            Self::Words(_) => Err("numbers are expected, not words".into()),
            Self::Sequence(_) => Err("a tensor is expected, not a sequence".into()),
        }
    }

    pub(crate) fn mask(self) -> Outcome<Mask> {
        match self {
            Self::Mask(mask) => Ok(mask),
            other => Ok(Mask::of(other.floats()?)),
        }
    }

    /// The same change to whatever kind of tensor this is: `floats` for those with a gradient, `integers` for others.
    fn moved(
        self,
        floats: impl FnOnce(Floats) -> Outcome<Floats>,
        integers: impl FnOnce(&Integers) -> Outcome<Integers>,
        categories: impl FnOnce(Categories) -> Outcome<Categories>,
    ) -> Outcome<Self> {
        Ok(match self {
            Self::Floats(own) => Self::Floats(floats(own)?),
            Self::Mask(own) => Self::Mask(Mask::of(floats(own.floats())?)),
            Self::Integers(own) => Self::Integers(integers(&own)?),
            Self::Categories(own) => Self::Categories(categories(own)?),
            Self::Words(own) => Self::Words(own.moved(integers)?),
            Self::Sequence(_) => return Err("a tensor is expected, not a sequence".into()),
        })
    }

    pub(crate) fn reshaped(self, dims: &[usize]) -> Outcome<Self> {
        self.moved(
            |own| own.reshaped(dims),
            |own| own.reshaped(dims.to_vec()),
            |own| match dims.split_first() {
                Some((rows, rest)) if *rows == own.rows => own.moved(|places| places.reshaped(rest.to_vec())),
                _ => Err(on_rows()),
            },
        )
    }

    /// `axes` are a permutation.
    pub(crate) fn permuted(self, axes: &[usize]) -> Outcome<Self> {
        self.moved(
            |own| Ok(own.permuted(axes)),
            |own| own.permuted(axes),
            |own| match axes.split_first() {
                Some((0, rest)) => {
                    let rest: Vec<usize> = rest.iter().map(|axis| axis - 1).collect();
                    own.moved(|places| places.permuted(&rest))
                }
                _ => Err(on_rows()),
            },
        )
    }

    /// `dims` are what the own ones broadcast to.
    pub(crate) fn expanded(self, dims: &[usize]) -> Outcome<Self> {
        self.moved(
            |own| own.expanded(dims),
            |own| own.expanded(dims),
            |own| match dims.split_first() {
                Some((rows, rest)) if *rows == own.rows && dims.len() == own.dims().len() => {
                    own.moved(|places| places.expanded(rest))
                }
                _ => Err(on_rows()),
            },
        )
    }

    /// `places` lie within the axis.
    pub(crate) fn selected(self, axis: usize, places: &[usize]) -> Outcome<Self> {
        let side = self.dims()?[axis];
        let consecutive = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
        match (places.first(), consecutive) {
            (Some(0), true) if places.len() == side => return Ok(self),
            _ => {}
        }
        self.moved(
            |own| match (places.first(), consecutive) {
                (Some(&start), true) => Ok(own.narrowed(axis, start, places.len())),
                _ => own.selected(axis, places),
            },
            |own| own.selected(axis, places),
            |own| match axis.checked_sub(1) {
                Some(axis) => own.moved(|own| own.selected(axis, places)),
                None => Err(on_rows()),
            },
        )
    }

    /// Tensors of equal sides, except for `axis`.
    pub(crate) fn joined(all: Vec<Self>, axis: usize) -> Outcome<Self> {
        let dims = all.iter().map(Self::dims).collect::<Outcome<Vec<_>>>()?;
        let Some(first) = dims.first() else { return Err("nothing is put together".into()) };
        for dims in &dims {
            let equal = |(at, (a, b)): (usize, (&usize, &usize))| at == axis || a == b;
            if dims.len() != first.len() || axis >= dims.len() || !dims.iter().zip(first).enumerate().all(equal) {
                return Err(format!("{first:?} and {dims:?} cannot be put together along axis {axis}"));
            }
        }
        if all.iter().all(|part| matches!(part, Self::Integers(_))) {
            let parts = all.into_iter().map(Self::integers).collect::<Outcome<Vec<_>>>()?;
            return Ok(Self::Integers(Integers::joined(&parts, axis)?));
        }
        if all.iter().all(|part| matches!(part, Self::Words(_))) {
            let words = |part| if let Self::Words(words) = part { Some(words) } else { None };
            return Ok(Self::Words(Words::joined(&all.into_iter().filter_map(words).collect::<Vec<_>>(), axis)?));
        }
        if all.iter().all(|part| matches!(part, Self::Categories(_))) && axis > 0 {
            return Self::joined_categories(all, axis);
        }
        // Nothing, as some exporters put in front, is nothing.
        let filled = all.into_iter().zip(dims).filter(|(_, dims)| !dims.contains(&0)).map(|(part, _)| part);
        Ok(Self::Floats(Floats::joined(filled.map(Self::floats).collect::<Outcome<Vec<_>>>()?, axis)?))
    }

    fn joined_categories(all: Vec<Self>, axis: usize) -> Outcome<Self> {
        let (mut columns, mut places, mut rows) = (Vec::new(), Vec::new(), 0);
        for part in all {
            if let Self::Categories(part) = part {
                let before = columns.len() as i64;
                places.push(part.places.map(|place| place + before));
                columns.extend(part.columns);
                rows = part.rows;
            }
        }
        Ok(Self::Categories(Categories { columns, places: Integers::joined(&places, axis - 1)?, rows }))
    }
}
