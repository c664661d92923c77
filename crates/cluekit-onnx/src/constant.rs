//! Constants of a file: numbers of every type, in the file itself or in one beside it.

use crate::proto::{EntryProto, TensorProto};
use crate::{MOST_ELEMENTS, Outcome};
use half::{bf16, f16};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

/// The elements of a constant, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Floating-point numbers of any width.
    Floats(Vec<f32>),
    /// Whole numbers of any width, and 0 and 1 for no and yes.
    Integers(Vec<i64>),
    /// Words.
    Words(Vec<String>),
}

/// Numbers or words that are part of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Sides; none for a single element.
    pub dims: Vec<usize>,
    /// As many elements as the sides span.
    pub elements: Elements,
}

/// Number of elements of a tensor, or why there cannot be so many.
pub fn elements(dims: &[usize]) -> Outcome<usize> {
    let count = dims.iter().try_fold(1_usize, |count, &side| count.checked_mul(side));
    count.filter(|count| *count <= MOST_ELEMENTS).ok_or_else(|| {
        format!("a tensor of {dims:?} would take more than {} MB", MOST_ELEMENTS * size_of::<f32>() / 1_000_000)
    })
}

/// The numbers of a constant of 64 bits that lies in the file itself; its sides are not looked at.
pub(crate) fn doubles(proto: &TensorProto) -> Option<Vec<f64>> {
    if proto.data_type != 11 || proto.data_location != 0 {
        return None;
    }
    Some(match proto.raw_data.as_chunks() {
        ([], _) => proto.double_data.clone(),
        (raw, _) => raw.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
    })
}

/// The folder of a model, from which constants in other files are read.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Without symbolic links.
    root: PathBuf,
    /// Files that were read, from the folder.
    pub(crate) parts: Vec<PathBuf>,
}

impl Folder {
    /// The folder that a model file lies in.
    pub fn of(model: &Path) -> Outcome<Self> {
        let parent = model.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let root = parent.canonicalize().map_err(|problem| format!("its folder cannot be read: {problem}"))?;
        Ok(Self { root, parts: vec![] })
    }

    /// `expected` bytes that lie where the entries say.
    fn read(&mut self, entries: &[EntryProto], expected: usize) -> Outcome<Vec<u8>> {
        let entry = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str());
        let number = |key: &str| match entry(key) {
            None => Ok(None),
            Some(text) => text.trim().parse::<u64>().map(Some).map_err(|_| format!("its {key} is `{text}`")),
        };
        let location = entry("location").ok_or("it names no file")?;
        let relative = Path::new(location);
        let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside || location.is_empty() {
            return Err(format!("it lies in `{location}`; only files in the folder of the model are read"));
        }
        let failed = |problem| format!("`{location}`, which holds it, cannot be read: {problem}");
        let path = self.root.join(relative).canonicalize().map_err(failed)?;
        if !path.starts_with(&self.root) {
            return Err(format!("`{location}` leads out of the folder of the model; copy the file there"));
        }
        let about = path.metadata().map_err(failed)?;
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?.unwrap_or(expected as u64));
        if length != expected as u64 {
            return Err(format!("it takes {expected} bytes, and {length} are said to lie in `{location}`"));
        }
        if !about.is_file() || offset.checked_add(length).is_none_or(|end| end > about.len()) {
            return Err(format!(
                "`{location}` holds {} bytes, and it lies at {offset} to {offset} + {length}",
                about.len()
            ));
        }
        let mut file = File::open(&path).map_err(failed)?;
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut bytes = vec![0; expected];
        file.read_exact(&mut bytes).map_err(failed)?;
        let part = relative.components().filter(|part| *part != Component::CurDir).collect();
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
        Ok(bytes)
    }
}

impl Constant {
    /// A single whole number or a list of them.
    pub fn integers(dims: Vec<usize>, numbers: Vec<i64>) -> Self {
        Self { dims, elements: Elements::Integers(numbers) }
    }

    /// What a message holds; other files than the model's own lie in `folder`.
    pub fn read(proto: &TensorProto, folder: &mut Folder) -> Outcome<Self> {
        Self::decode(proto, folder).map_err(|problem| format!("constant `{}`: {problem}", proto.name))
    }

    fn decode(proto: &TensorProto, folder: &mut Folder) -> Outcome<Self> {
        let sides = proto.dims.iter().map(|&side| usize::try_from(side).map_err(|_| format!("a side is {side}")));
        let dims: Vec<usize> = sides.collect::<Outcome<_>>()?;
        let count = elements(&dims)?;
        let kind = Kind::of(proto.data_type)?;
        let raw = match proto.data_location {
            0 if proto.raw_data.is_empty() => None,
            0 => Some(&proto.raw_data),
            _ => Some(&folder.read(&proto.external_data, count * kind.width()?)?),
        };
        let read = match raw {
            Some(bytes) if bytes.len() == count * kind.width()? => kind.of_bytes(bytes),
            Some(bytes) => return Err(format!("{dims:?} is {count} elements, and it holds {} bytes", bytes.len())),
            None => kind.of_fields(proto)?,
        };
        let held = match &read {
            Elements::Floats(all) => all.len(),
            Elements::Integers(all) => all.len(),
            Elements::Words(all) => all.len(),
        };
        match held == count {
            true => Ok(Self { dims, elements: read }),
            false => Err(format!("{dims:?} is {count} elements, and it holds {held}")),
        }
    }
}

/// Types of elements, as `TensorProto.DataType` numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Float,
    Double,
    Half,
    Brain,
    Signed(usize),
    Unsigned(usize),
    Boolean,
    Text,
}

impl Kind {
    pub(crate) fn of(number: i32) -> Outcome<Self> {
        Ok(match number {
            1 => Self::Float,
            2 => Self::Unsigned(1),
            3 => Self::Signed(1),
            4 => Self::Unsigned(2),
            5 => Self::Signed(2),
            6 => Self::Signed(4),
            7 => Self::Signed(8),
            8 => Self::Text,
            9 => Self::Boolean,
            10 => Self::Half,
            11 => Self::Double,
            12 => Self::Unsigned(4),
            13 => Self::Unsigned(8),
            16 => Self::Brain,
            0 => return Err("the type of its elements is not given".into()),
            14 | 15 => return Err("it holds complex numbers".into()),
            other => return Err(format!("elements of the type numbered {other} (quantised ones?) are not supported")),
        })
    }

    /// Bytes of an element.
    fn width(self) -> Outcome<usize> {
        Ok(match self {
            Self::Float => 4,
            Self::Double => 8,
            Self::Half | Self::Brain => 2,
            Self::Signed(width) | Self::Unsigned(width) => width,
            Self::Boolean => 1,
            Self::Text => return Err("words cannot lie there as bytes".into()),
        })
    }

    fn of_bytes(self, bytes: &[u8]) -> Elements {
        fn each<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
            bytes.as_chunks().0.iter().map(|chunk| read(*chunk)).collect()
        }
        let integers = |numbers| Elements::Integers(numbers);
        match self {
            Self::Float => Elements::Floats(each(bytes, f32::from_le_bytes)),
            Self::Double => Elements::Floats(each(bytes, |bytes| f64::from_le_bytes(bytes) as f32)),
            Self::Half => Elements::Floats(each(bytes, |bytes| f16::from_le_bytes(bytes).to_f32())),
            Self::Brain => Elements::Floats(each(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32())),
            Self::Signed(1) => integers(each(bytes, |bytes| i64::from(i8::from_le_bytes(bytes)))),
            Self::Signed(2) => integers(each(bytes, |bytes| i64::from(i16::from_le_bytes(bytes)))),
            Self::Signed(4) => integers(each(bytes, |bytes| i64::from(i32::from_le_bytes(bytes)))),
            Self::Signed(_) => integers(each(bytes, i64::from_le_bytes)),
            Self::Unsigned(2) => integers(each(bytes, |bytes| i64::from(u16::from_le_bytes(bytes)))),
            Self::Unsigned(4) => integers(each(bytes, |bytes| i64::from(u32::from_le_bytes(bytes)))),
            Self::Unsigned(8) => integers(each(bytes, |bytes| clipped(u64::from_le_bytes(bytes)))),
            Self::Boolean => integers(bytes.iter().map(|&byte| i64::from(byte != 0)).collect()),
            Self::Unsigned(_) | Self::Text => integers(bytes.iter().map(|&byte| i64::from(byte)).collect()),
        }
    }

    fn of_fields(self, proto: &TensorProto) -> Outcome<Elements> {
        let small = |read: &dyn Fn(u16) -> f32| {
            Elements::Floats(proto.int32_data.iter().map(|&bits| read(bits as u16)).collect())
        };
        Ok(match self {
            Self::Float => Elements::Floats(proto.float_data.clone()),
            Self::Double => Elements::Floats(proto.double_data.iter().map(|&number| number as f32).collect()),
            Self::Half => small(&|bits| f16::from_bits(bits).to_f32()),
            Self::Brain => small(&|bits| bf16::from_bits(bits).to_f32()),
            Self::Signed(8) => Elements::Integers(proto.int64_data.clone()),
            Self::Unsigned(4 | 8) => Elements::Integers(proto.uint64_data.iter().map(|&n| clipped(n)).collect()),
            Self::Boolean => Elements::Integers(proto.int32_data.iter().map(|&n| i64::from(n != 0)).collect()),
            Self::Signed(_) | Self::Unsigned(_) => {
                Elements::Integers(proto.int32_data.iter().map(|&n| i64::from(n)).collect())
            }
            Self::Text => {
                let word = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).map_err(|_| "a word is not UTF-8".into());
                Elements::Words(proto.string_data.iter().map(word).collect::<Outcome<_>>()?)
            }
        })
    }
}

/// Nothing here counts further than 2⁶³.
fn clipped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
