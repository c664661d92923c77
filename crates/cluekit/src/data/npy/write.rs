//! Writing NumPy's arrays: version 1.0, in C order, the same bytes every time.

use crate::error::{Error, Result};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// The header of an array, from its first byte on, fills a multiple of this.
const ALIGNMENT: usize = 64;

/// An array to be written as a NumPy file.
#[derive(Clone, Debug, PartialEq)]
pub struct NewArray {
    name: String,
    element: &'static str,
    shape: Vec<usize>,
    values: Vec<u8>,
}

impl NewArray {
    /// An array of one-byte numbers, whose type NumPy calls `element`: `|u1`, `|b1`.
    pub fn bytes(name: &str, element: &'static str, shape: Vec<usize>, values: Vec<u8>) -> Self {
        Self { name: name.to_owned(), element, shape, values }
    }

    /// An array of 64-bit integers in one dimension.
    pub fn integers(name: &str, values: impl Iterator<Item = i64>) -> Self {
        let values: Vec<u8> = values.flat_map(i64::to_le_bytes).collect();
        Self::bytes(name, "<i8", vec![values.len() / size_of::<i64>()], values)
    }

    /// An array of 32-bit floats in row-major order.
    pub fn floats(name: &str, shape: Vec<usize>, values: impl Iterator<Item = f32>) -> Self {
        Self::bytes(name, "<f4", shape, values.flat_map(f32::to_le_bytes).collect())
    }

    /// Bytes of the array as an `.npy` file.
    pub fn file(&self) -> Vec<u8> {
        [self.header(), self.values.clone()].concat()
    }

    /// What stands before the values, padded to [`ALIGNMENT`]. See `numpy.lib.format`, version 1.0.
    fn header(&self) -> Vec<u8> {
        let sizes: String = self.shape.iter().map(|size| format!("{size},")).collect();
        let text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({sizes}), }}", self.element);
        let mut header = b"\x93NUMPY\x01\x00".to_vec();
        let before = header.len() + 2;
        let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
        header.extend((length as u16).to_le_bytes());
        header.extend(format!("{text:<width$}\n", width = length - 1).bytes());
        header
    }
}

/// Bytes of an `.npz` file with these arrays.
pub fn archive(arrays: &[NewArray]) -> Result<Vec<u8>> {
    packed(arrays).map_err(|error| Error::data(format!("the arrays cannot be packed: {error}; write fewer at once")))
}

fn packed(arrays: &[NewArray]) -> zip::result::ZipResult<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for array in arrays {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default()) // the same every time, so that bytes can be compared
            .large_file(array.values.len() > i32::MAX as usize);
        archive.start_file(format!("{}.npy", array.name), options)?;
        archive.write_all(&array.header())?;
        archive.write_all(&array.values)?;
    }
    Ok(archive.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::super::{Archive, parse};
    use super::*;
    use std::path::Path;

    #[test]
    fn a_file_is_aligned_and_reads_back() {
        let written = NewArray::floats("x", vec![2, 3], (0..6).map(|i| i as f32 / 4.0)).file();
        assert_eq!(written.len(), 128 + 6 * 4);
        let read = parse(Path::new("x.npy"), "x", written).unwrap();
        assert_eq!((read.shape.as_slice(), read.strides.as_slice()), ([2, 3].as_slice(), [3, 1].as_slice()));
        assert_eq!((0..6).map(|i| read.value(i)).collect::<Vec<_>>(), [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]);
    }

    #[test]
    fn an_archive_reads_back_whatever_its_arrays_hold() {
        let integers = NewArray::integers("i", [-1, i64::MAX].into_iter());
        let bytes = archive(&[integers, NewArray::bytes("empty", "|u1", vec![0, 4], vec![])]).unwrap();
        let mut read = Archive::open(Path::new("a.npz"), &bytes).unwrap();
        assert_eq!(read.keys(), ["empty", "i"]);
        assert_eq!(read.array("i").unwrap().whole(1), Some(i128::from(i64::MAX)));
        assert_eq!(read.array("empty").unwrap().shape, [0, 4]);
    }
}
