//! The array format of NumPy: one `.npy` file, or several of them in the zip archive `.npz`.
//!
//! `\x93NUMPY`, two bytes of version, the header's length, the header (a Python dictionary with `descr`,
//! `fortran_order` and `shape`), then the values. See `numpy.lib.format`. Reading is here, writing in `write.rs`.

mod write;

pub use write::{NewArray, archive};

use crate::error::{Error, Result};
use std::fmt;
use std::io::{Cursor, Read};
use std::path::Path;
use zip::ZipArchive;

/// The most bytes that one packed array may unpack to.
pub(crate) const MOST_BYTES: u64 = 1 << 32;

/// An array as it is stored; values are decoded when they are asked for.
#[derive(Debug)]
pub(crate) struct Array {
    /// What to call it in a message: its key in an archive, or the file's name.
    pub name: String,
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// How far apart, in values, neighbours along each dimension are stored.
    pub strides: Vec<usize>,
    /// What each value is.
    pub element: Element,
    file: Vec<u8>,
    start: usize,
}

/// The type of an array's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    /// Boolean, signed, unsigned, or floating point.
    pub kind: Kind,
    bytes: usize,
    big_endian: bool,
}

/// The kinds of number that we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

impl Element {
    /// From NumPy's description: `|u1`, `<f4`, `>i8`.
    fn parse(text: &str) -> Option<Self> {
        let mut letters = text.chars();
        let big_endian = match letters.next()? {
            '<' | '|' | '=' => false,
            '>' => true,
            _ => return None,
        };
        let kind = match letters.next()? {
            'b' => Kind::Bool,
            'i' => Kind::Signed,
            'u' => Kind::Unsigned,
            'f' => Kind::Float,
            _ => return None,
        };
        let bytes = letters.as_str().parse().ok()?;
        let known = match kind {
            Kind::Bool => bytes == 1,
            Kind::Signed | Kind::Unsigned => matches!(bytes, 1 | 2 | 4 | 8),
            Kind::Float => matches!(bytes, 4 | 8),
        };
        known.then_some(Self { kind, bytes, big_endian })
    }

    /// Whether these are unsigned bytes, as pictures commonly are.
    pub fn is_byte(self) -> bool {
        self.kind == Kind::Unsigned && self.bytes == 1
    }

    /// From the third byte of an IDX file, whose numbers are big-endian.
    pub fn of_idx(code: u8) -> Option<Self> {
        let (kind, bytes) = match code {
            0x08 => (Kind::Unsigned, 1),
            0x09 => (Kind::Signed, 1),
            0x0b => (Kind::Signed, 2),
            0x0c => (Kind::Signed, 4),
            0x0d => (Kind::Float, 4),
            0x0e => (Kind::Float, 8),
            _ => return None,
        };
        Some(Self { kind, bytes, big_endian: true })
    }

    fn whole(self, stored: &[u8]) -> i128 {
        let significant = |index: usize| if self.big_endian { stored[index] } else { stored[self.bytes - 1 - index] };
        let bits = (0..self.bytes).fold(0i128, |bits, index| bits << 8 | i128::from(significant(index)));
        let sign = 1i128 << (8 * self.bytes - 1);
        if self.kind == Kind::Signed && bits & sign != 0 { bits - 2 * sign } else { bits }
    }

    fn value(self, stored: &[u8]) -> f64 {
        let bits = self.whole(stored);
        match (self.kind, self.bytes) {
            (Kind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Kind::Float, _) => f64::from_bits(bits as u64),
            _ => bits as f64,
        }
    }
}

impl fmt::Display for Element {
    /// As NumPy calls it: `uint8`, `float32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = 8 * self.bytes;
        match self.kind {
            Kind::Bool => write!(f, "bool"),
            Kind::Signed => write!(f, "int{bits}"),
            Kind::Unsigned => write!(f, "uint{bits}"),
            Kind::Float => write!(f, "float{bits}"),
        }
    }
}

impl Array {
    /// The array whose values begin at `start` in `file`, which came from `path`, and end with it.
    pub fn new(
        path: &Path,
        name: &str,
        element: Element,
        shape: Vec<usize>,
        fortran: bool,
        file: Vec<u8>,
        start: usize,
    ) -> Result<Self> {
        let wrong = |problem: String| Error::file(path, format!("array {name} {problem}"));
        let expected = shape.iter().try_fold(element.bytes, |product, &size| product.checked_mul(size));
        let expected = expected.ok_or_else(|| wrong(format!("declares the impossible shape {shape:?}")))?;
        let found = file.len() - start;
        if found < expected {
            let missing = expected - found;
            return Err(wrong(format!("is truncated: {missing} of {expected} bytes are missing; save it again")));
        }
        if found > expected {
            return Err(wrong(format!("has {} bytes after its last value; save it again", found - expected)));
        }
        let strides = strides(&shape, fortran);
        Ok(Self { name: name.to_owned(), shape, strides, element, file, start })
    }

    /// The value that is stored at `offset`, counted in values.
    pub fn value(&self, offset: usize) -> f64 {
        self.element.value(self.stored(offset))
    }

    /// The whole number at `offset`; `None` in an array of floats.
    pub fn whole(&self, offset: usize) -> Option<i128> {
        (self.element.kind != Kind::Float).then(|| self.element.whole(self.stored(offset)))
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The place of the value at `offset`, as one would write it in Python: `x[3, 0, 7]`.
    pub fn place(&self, offset: usize) -> String {
        let place: Vec<usize> =
            self.shape.iter().zip(&self.strides).map(|(&size, &stride)| offset / stride % size).collect();
        format!("{}{place:?}", self.name)
    }

    fn stored(&self, offset: usize) -> &[u8] {
        let from = self.start + offset * self.element.bytes;
        &self.file[from..from + self.element.bytes]
    }
}

/// Reads the array called `name` from the bytes of its `.npy` file; `path` is the file that a message names.
pub(crate) fn parse(path: &Path, name: &str, file: Vec<u8>) -> Result<Array> {
    let wrong = |problem: String| Error::file(path, format!("array {name} {problem}"));
    let (header, start) = header(&file).map_err(|problem| wrong(problem.into()))?;
    let description = entry(header, "descr").unwrap_or("nothing");
    let element = description.trim_matches(['\'', '"']);
    let element = Element::parse(element).ok_or_else(|| {
        wrong(format!("holds {description}; save integers, float32 or float64: array.astype('float32')"))
    })?;
    let shape = shape(header).ok_or_else(|| wrong(format!("has no readable shape in its header {header:?}")))?;
    let fortran = entry(header, "fortran_order").is_some_and(|value| value.starts_with("True"));

    Array::new(path, name, element, shape, fortran, file, start)
}

/// The header's text and where the values begin.
fn header(file: &[u8]) -> std::result::Result<(&str, usize), &'static str> {
    if !file.starts_with(b"\x93NUMPY") {
        return Err("is not a NumPy file: it does not begin with \\x93NUMPY; save it with numpy.save or numpy.savez");
    }
    let cut = "is truncated inside its header; save it again";
    let (length, from) = match *file.get(6).ok_or(cut)? {
        1 => (bytes_at::<2>(file, 8).map(|b| usize::from(u16::from_le_bytes(b))), 10),
        2 | 3 => (bytes_at::<4>(file, 8).map(|b| u32::from_le_bytes(b) as usize), 12),
        _ => return Err("has a format version that is not 1, 2 or 3"),
    };
    let end = length.and_then(|length| length.checked_add(from)).ok_or(cut)?;
    let text = file.get(from..end).ok_or(cut)?;
    Ok((std::str::from_utf8(text).map_err(|_| "has a header that is no text")?, end))
}

fn bytes_at<const N: usize>(file: &[u8], from: usize) -> Option<[u8; N]> {
    file.get(from..from + N)?.try_into().ok()
}

/// What follows `'key':` in the header, up to the next comma outside of brackets.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = [format!("'{key}'"), format!("\"{key}\"")].iter().find_map(|key| Some(header.find(key)? + key.len()))?;
    let rest = header[at..].trim_start().strip_prefix(':')?.trim_start();
    let mut depth = 0i32;
    let end = rest.find(|letter| {
        depth += i32::from("([".contains(letter)) - i32::from(")]".contains(letter));
        depth == 0 && ",}".contains(letter)
    });
    Some(rest[..end.unwrap_or(rest.len())].trim_end())
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let sizes = entry(header, "shape")?.strip_prefix('(')?.strip_suffix(')')?.split(',');
    let sizes = sizes.map(|size| size.trim().trim_end_matches('L')).filter(|size| !size.is_empty()); // 28L: Python 2
    sizes.map(|size| size.parse().ok()).collect()
}

fn strides(shape: &[usize], fortran: bool) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    let mut step = 1usize;
    for place in 0..shape.len() {
        let axis = if fortran { place } else { shape.len() - 1 - place };
        strides[axis] = step;
        step = step.saturating_mul(shape[axis].max(1)); // an empty array has strides too, however absurd
    }
    strides
}

/// An open `.npz` archive.
pub(crate) struct Archive<'a> {
    path: &'a Path,
    zip: ZipArchive<Cursor<&'a [u8]>>,
}

impl<'a> Archive<'a> {
    /// Opens the archive that is in `bytes`.
    pub fn open(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|e| {
            Error::file(path, format!("is not a readable .npz archive ({e}); save it with numpy.savez"))
        })?;
        Ok(Self { path, zip })
    }

    /// The names of its arrays, sorted.
    pub fn keys(&self) -> Vec<String> {
        let names = self.zip.file_names().filter_map(std::result::Result::ok);
        let mut keys: Vec<String> = names.filter_map(|name| Some(name.strip_suffix(".npy")?.to_owned())).collect();
        keys.sort();
        keys
    }

    /// The array called `key`.
    pub fn array(&mut self, key: &str) -> Result<Array> {
        let path = self.path;
        let wrong = |problem: String| Error::file(path, format!("array {key} {problem}"));
        let entry = self.zip.by_name(&format!("{key}.npy")).map_err(|e| wrong(format!("cannot be read: {e}")))?;
        let declared = entry.size();
        if declared > MOST_BYTES {
            return Err(wrong(format!("unpacks to {declared} bytes; the most is {MOST_BYTES}")));
        }
        let mut bytes = Vec::new(); // grows with what is really there, not with what is declared
        let read = entry.take(declared + 1).read_to_end(&mut bytes);
        read.map_err(|e| wrong(format!("is corrupt after {} bytes ({e}); save it again", bytes.len())))?;
        parse(path, key, bytes)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An `.npy` file in memory.
    pub(crate) fn encode(description: &str, fortran: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{description}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.bytes());
        file.extend(values);
        file
    }

    fn read(file: Vec<u8>) -> Result<Array> {
        parse(Path::new("a.npy"), "x", file)
    }

    fn complaint(file: Vec<u8>) -> String {
        read(file).unwrap_err().to_string()
    }

    #[test]
    fn every_number_type_is_decoded_in_both_byte_orders() {
        for (description, stored, value) in [
            ("|u1", vec![200], 200.0),
            ("|i1", vec![0xff], -1.0),
            ("|b1", vec![1], 1.0),
            ("<i2", vec![0xfe, 0xff], -2.0),
            (">u2", vec![1, 2], 258.0),
            ("<i8", vec![3, 0, 0, 0, 0, 0, 0, 0], 3.0),
            ("<f4", 1.5f32.to_le_bytes().to_vec(), 1.5),
            (">f4", 1.5f32.to_be_bytes().to_vec(), 1.5),
            ("<f8", (-0.25f64).to_le_bytes().to_vec(), -0.25),
        ] {
            let array = read(encode(description, "False", "(1,)", &stored)).unwrap();
            assert_eq!(array.value(0).to_bits(), f64::to_bits(value), "{description}");
        }
    }

    #[test]
    fn whole_numbers_are_exact_and_floats_are_none() {
        let greatest = read(encode("<u8", "False", "(1,)", &[0xff; 8])).unwrap();
        assert_eq!(greatest.whole(0), Some(i128::from(u64::MAX)));
        let float = read(encode("<f4", "False", "(1,)", &[0; 4])).unwrap();
        assert_eq!(float.whole(0), None);
    }

    #[test]
    fn strides_follow_the_order_of_storage() {
        let c = read(encode("|u1", "False", "(2, 3)", &[0; 6])).unwrap();
        assert_eq!((c.strides.as_slice(), c.place(5).as_str()), ([3, 1].as_slice(), "x[1, 2]"));
        let fortran = read(encode("|u1", "True", "(2, 3)", &[0; 6])).unwrap();
        assert_eq!((fortran.strides.as_slice(), fortran.place(1).as_str()), ([1, 2].as_slice(), "x[1, 0]"));
    }

    #[test]
    fn a_truncated_array_is_named_with_its_missing_bytes() {
        assert!(complaint(encode("<f4", "False", "(2, 2)", &[0; 10])).contains("6 of 16 bytes are missing"));
        assert!(complaint(encode("|u1", "False", "(2,)", &[0; 3])).contains("1 bytes after its last value"));
        let whole = encode("|u1", "False", "(2,)", &[0; 2]);
        for length in 6..whole.len() - 2 {
            assert!(complaint(whole[..length].to_vec()).contains("truncated inside its header"), "{length}");
        }
    }

    #[test]
    fn absurd_shapes_are_refused() {
        assert!(complaint(encode("<f8", "False", "(4294967296, 4294967296)", &[])).contains("impossible shape"));
        assert!(complaint(encode("<f8", "False", "(4294967296,)", &[])).contains("34359738368 bytes are missing"));
        assert!(complaint(encode("<f8", "False", "(-1,)", &[])).contains("no readable shape"));
        assert!(complaint(encode("<f8", "False", "3", &[])).contains("no readable shape"));
    }

    #[test]
    fn other_types_and_other_files_are_refused() {
        assert!(complaint(encode("<f2", "False", "(1,)", &[0; 2])).contains("holds '<f2'; save integers"));
        assert!(complaint(encode("|O", "False", "(1,)", &[0; 8])).contains("holds '|O'"));
        assert!(complaint(b"PK".to_vec()).contains("is not a NumPy file"));
    }

    #[test]
    fn whatever_byte_of_the_header_is_damaged_what_is_read_lies_in_the_file() {
        let whole = encode("<i2", "False", "(2, 3)", &[1; 12]);
        for place in 0..whole.len() - 12 {
            for byte in [0, b'9', b'(', b',', b'\'', 0xff] {
                let mut damaged = whole.clone();
                damaged[place] = byte;
                if let Ok(array) = read(damaged) {
                    assert!((0..array.len()).all(|offset| array.whole(offset).is_some() && array.len() <= 12));
                }
            }
        }
    }
}
