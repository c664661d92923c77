//! The IDX format of the MNIST files.
//!
//! A big-endian `u32` magic number (0, 0, 8 for bytes, number of dimensions), one `u32` a dimension, then the bytes,
//! last dimension fastest. Files may be gzipped, whatever they are called.

use super::Source;
use super::dataset::sha256_hex;
use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// More than any file of this kind holds; a header that declares more is wrong.
const MOST_BYTES: u64 = 1 << 31;

/// The bytes of an IDX file with their shape.
#[derive(Debug)]
pub(crate) struct Idx {
    /// Size of each dimension, first dimension slowest.
    pub shape: Vec<usize>,
    /// One byte a value: as many as the product of the shape.
    pub bytes: Vec<u8>,
    /// The file it came from, hashed as it is stored.
    pub source: Source,
}

/// The magic number of unsigned bytes in `dimensions` dimensions: 2049 for one, 2051 for three.
pub(crate) fn magic(dimensions: u8) -> u32 {
    0x0800 | u32::from(dimensions)
}

/// Reads the IDX file `path`, which must hold unsigned bytes in `dimensions` dimensions.
pub(crate) fn read(path: &Path, dimensions: u8) -> Result<Idx> {
    let stored = std::fs::read(path).map_err(Error::reading(path))?;
    let (shape, bytes) = if stored.starts_with(&[0x1f, 0x8b]) {
        parse(path, MultiGzDecoder::new(stored.as_slice()), dimensions)?
    } else {
        parse(path, stored.as_slice(), dimensions)?
    };
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Idx { shape, bytes, source: Source { file, sha256: sha256_hex(&stored) } })
}

fn parse(path: &Path, mut contents: impl Read, dimensions: u8) -> Result<(Vec<usize>, Vec<u8>)> {
    let header = read_up_to(path, &mut contents, 4 + 4 * u64::from(dimensions))?;
    let words = header.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().expect("chunks of four bytes")));
    let words: Vec<u32> = words.collect();
    check_magic(path, words.first().copied(), dimensions)?;
    let missing = 4 + 4 * usize::from(dimensions) - header.len();
    if missing > 0 {
        return Err(Error::file(path, format!("ends inside its header, {missing} bytes short; download it again")));
    }
    let shape: Vec<usize> = words[1..].iter().map(|&size| size as usize).collect();
    let expected = declared_bytes(path, &shape)?;
    let bytes = read_up_to(path, &mut contents, expected + 1)?; // one more, to notice what does not belong
    check_length(path, &shape, expected, bytes.len() as u64)?;
    Ok((shape, bytes))
}

/// At most `limit` bytes; fewer where the file ends or is cut off. The buffer grows with what is really there.
fn read_up_to(path: &Path, contents: &mut impl Read, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match contents.take(limit).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(bytes),
        Err(e) => {
            let read = bytes.len();
            Err(Error::file(path, format!("its gzip data is corrupt after {read} bytes ({e}); download it again")))
        }
    }
}

fn check_magic(path: &Path, found: Option<u32>, dimensions: u8) -> Result<()> {
    let expected = magic(dimensions);
    match found {
        Some(found) if found == expected => Ok(()),
        Some(found) => Err(Error::file(
            path,
            format!("begins with the magic number {found}, not {expected}; it is not the file that its name promises"),
        )),
        None => Err(Error::file(path, "is empty or cut off before its magic number; download it again")),
    }
}

fn declared_bytes(path: &Path, shape: &[usize]) -> Result<u64> {
    let product = shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size as u64));
    product.filter(|&bytes| bytes <= MOST_BYTES).ok_or_else(|| {
        Error::file(path, format!("declares the shape {shape:?}, more than {MOST_BYTES} bytes; its header is corrupt"))
    })
}

fn check_length(path: &Path, shape: &[usize], expected: u64, found: u64) -> Result<()> {
    if found < expected {
        let missing = expected - found;
        let problem = format!("is truncated: {missing} of {expected} bytes of its shape {shape:?} are missing");
        return Err(Error::file(path, format!("{problem}; download it again")));
    }
    if found > expected {
        let problem = format!("goes on after the {expected} bytes of its shape {shape:?}; download it again");
        return Err(Error::file(path, problem));
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::io::Write;

    /// An IDX file in memory.
    pub(crate) fn encode(shape: &[u32], bytes: &[u8]) -> Vec<u8> {
        let mut file = magic(shape.len() as u8).to_be_bytes().to_vec();
        file.extend(shape.iter().flat_map(|size| size.to_be_bytes()));
        file.extend(bytes);
        file
    }

    /// `bytes`, gzipped.
    pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read_bytes(contents: &[u8], dimensions: u8) -> Result<Idx> {
        let mut file = tempfile::Builder::new().prefix("labels").tempfile().unwrap();
        file.write_all(contents).unwrap();
        read(file.path(), dimensions)
    }

    fn complaint(contents: &[u8], dimensions: u8) -> String {
        read_bytes(contents, dimensions).unwrap_err().to_string()
    }

    #[test]
    fn plain_and_gzipped_files_hold_the_same() {
        let plain = encode(&[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
        for stored in [plain.clone(), gzip(&plain)] {
            let idx = read_bytes(&stored, 3).unwrap();
            assert_eq!(idx.shape, [2, 1, 3]);
            assert_eq!(idx.bytes, [1, 2, 3, 4, 5, 6]);
            assert_eq!(idx.source.sha256, sha256_hex(&stored));
        }
    }

    #[test]
    fn a_wrong_magic_number_is_named() {
        let message = complaint(&encode(&[2, 1, 1], &[1, 2]), 1);
        assert!(message.contains("magic number 2051, not 2049"), "{message}");
    }

    #[test]
    fn a_truncated_file_is_named_with_its_missing_bytes() {
        let message = complaint(&encode(&[5], &[1, 2]), 1);
        assert!(message.contains("3 of 5 bytes"), "{message}");
        let message = complaint(&magic(1).to_be_bytes(), 1);
        assert!(message.contains("4 bytes short"), "{message}");
        assert!(complaint(&[], 1).contains("is empty"));
    }

    #[test]
    fn extra_bytes_are_refused() {
        let message = complaint(&encode(&[2], &[1, 2, 3]), 1);
        assert!(message.contains("goes on after the 2 bytes"), "{message}");
    }

    #[test]
    fn absurd_dimensions_are_refused_before_anything_is_allocated() {
        let message = complaint(&encode(&[u32::MAX, u32::MAX, u32::MAX], &[]), 3);
        assert!(message.contains("its header is corrupt"), "{message}");
    }

    #[test]
    fn a_cut_gzip_file_is_truncated_and_a_damaged_one_corrupt() {
        let bytes: Vec<u8> = (0..2000u32).map(|i| (i * i % 251) as u8).collect();
        let stored = gzip(&encode(&[2000], &bytes));
        let cut = complaint(&stored[..stored.len() / 2], 1);
        assert!(cut.contains("is truncated"), "{cut}");

        let mut damaged = stored.clone();
        let checksum = damaged.len() - 8;
        damaged[checksum] ^= 1;
        let message = complaint(&damaged, 1);
        assert!(message.contains("gzip data is corrupt"), "{message}");
    }
}
