//! The IDX format of the MNIST files.
//!
//! A big-endian `u32` magic number (0, 0, 8 for bytes, number of dimensions), one `u32` a dimension, then the bytes,
//! last dimension fastest. Files may be gzipped, whatever they are called.
//!
//! MNIST itself is read piece by piece; files of other sets become an [`Array`], and may hold other numbers than bytes.

use super::Source;
use super::dataset::{Chosen, hexadecimal};
use super::npy::{Array, Element};
use crate::error::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

/// More than any file of this kind holds; a header that declares more is wrong.
const MOST_BYTES: u64 = 1 << 31;
/// Bytes that are read at once.
const BLOCK: usize = 1 << 16;

/// An IDX file that was read to its end.
#[derive(Debug)]
pub(crate) struct Idx {
    /// Size of each dimension of the whole file, first dimension slowest.
    pub shape: Vec<usize>,
    /// The file it came from, hashed as it is stored.
    pub source: Source,
}

/// The magic number of unsigned bytes in `dimensions` dimensions: 2049 for one, 2051 for three.
pub(crate) fn magic(dimensions: u8) -> u32 {
    0x0800 | u32::from(dimensions)
}

/// How many items the IDX file `path` declares.
pub(crate) fn count(path: &Path, dimensions: u8) -> Result<usize> {
    let mut stored = open(path)?;
    let shape = parse_header(path, &mut unpacked(path, &mut stored)?, dimensions)?;
    declared_bytes(path, &shape)?;
    Ok(shape[0])
}

/// Reads the IDX file `path`, which must hold unsigned bytes in `dimensions` dimensions. Of its items, the entries along
/// the first dimension, `keep` sees those that `chosen` names, in ascending order, among so many.
pub(crate) fn read(path: &Path, dimensions: u8, chosen: Chosen, keep: &mut dyn FnMut(&[u8])) -> Result<Idx> {
    let mut stored = open(path)?;
    let shape = parse(path, &mut unpacked(path, &mut stored)?, dimensions, chosen, keep)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let sha256 = stored.finish().map_err(Error::reading(path))?;
    Ok(Idx { shape, source: Source { file, sha256 } })
}

/// The array in the unpacked bytes of an IDX file, which came from `path` and is called `name` in messages.
pub(crate) fn array(path: &Path, name: &str, file: Vec<u8>) -> Result<Array> {
    let [0, 0, code, dimensions, ..] = file[..] else {
        return Err(Error::file(path, "is no IDX file: it does not begin with two zeros; download it again"));
    };
    let element = Element::of_idx(code).ok_or_else(|| {
        Error::file(path, format!("holds IDX data of the unknown type {code}; its header is corrupt"))
    })?;
    let start = 4 + 4 * usize::from(dimensions);
    let header = file.get(4..start).ok_or_else(|| Error::file(path, "ends inside its header; download it again"))?;
    let sizes = header.as_chunks::<4>().0.iter().map(|&size| u32::from_be_bytes(size) as usize);
    Array::new(path, name, element, sizes.collect(), false, file, start)
}

fn open(path: &Path) -> Result<Hashed<BufReader<File>>> {
    let file = File::open(path).map_err(Error::reading(path))?;
    Ok(Hashed { inner: BufReader::with_capacity(BLOCK, file), hash: Sha256::new() })
}

/// What a file holds, whether it is gzipped or not.
fn unpacked<'a>(path: &Path, stored: &'a mut impl BufRead) -> Result<Box<dyn Read + 'a>> {
    let gzipped = stored.fill_buf().map_err(Error::reading(path))?.starts_with(&[0x1f, 0x8b]);
    Ok(if gzipped { Box::new(MultiGzDecoder::new(stored)) } else { Box::new(stored) })
}

/// A reader that hashes all that is read through it.
struct Hashed<R> {
    inner: R,
    hash: Sha256,
}

impl<R: BufRead> Hashed<R> {
    /// The hash of the whole, the rest of it included.
    fn finish(mut self) -> io::Result<String> {
        loop {
            let rest = self.fill_buf()?.len();
            if rest == 0 {
                return Ok(hexadecimal(&self.hash.finalize()));
            }
            self.consume(rest);
        }
    }
}

impl<R: BufRead> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Hashed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // What was filled is still there, so nothing is read here and nothing can fail.
        if let Ok(filled) = self.inner.fill_buf() {
            self.hash.update(&filled[..amount]);
        }
        self.inner.consume(amount);
    }
}

fn parse_header(path: &Path, contents: &mut dyn Read, dimensions: u8) -> Result<Vec<usize>> {
    let header = read_up_to(path, contents, 4 + 4 * u64::from(dimensions), 0)?;
    let words = header.chunks_exact(4).map(|word| u32::from_be_bytes(word.try_into().expect("chunks of four bytes")));
    let words: Vec<u32> = words.collect();
    check_magic(path, words.first().copied(), dimensions)?;
    let missing = 4 + 4 * usize::from(dimensions) - header.len();
    if missing > 0 {
        return Err(Error::file(path, format!("ends inside its header, {missing} bytes short; download it again")));
    }
    Ok(words[1..].iter().map(|&size| size as usize).collect())
}

fn parse(
    path: &Path,
    contents: &mut dyn Read,
    dimensions: u8,
    chosen: Chosen,
    keep: &mut dyn FnMut(&[u8]),
) -> Result<Vec<usize>> {
    let shape = parse_header(path, contents, dimensions)?;
    let expected = declared_bytes(path, &shape)?;
    let item = shape[1..].iter().product::<usize>().max(1);
    let block = (BLOCK / item).max(1) * item;
    let (mut found, mut chosen) = (0, chosen(shape[0]).peekable());
    loop {
        // One byte more than there should be, to notice what does not belong.
        let limit = (expected + 1 - found).min(block as u64);
        let bytes = read_up_to(path, contents, limit, found)?;
        let first = found as usize / item;
        for (place, bytes) in bytes.chunks_exact(item).enumerate() {
            if chosen.next_if_eq(&(first + place)).is_some() {
                keep(bytes);
            }
        }
        found += bytes.len() as u64;
        if (bytes.len() as u64) < limit || found > expected {
            check_length(path, &shape, expected, found)?;
            return Ok(shape);
        }
    }
}

/// At most `limit` bytes; fewer where the file ends or is cut off. The buffer grows with what is really there.
fn read_up_to(path: &Path, contents: &mut dyn Read, limit: u64, before: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match contents.take(limit).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(bytes),
        Err(e) => {
            let read = before + bytes.len() as u64;
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
    use crate::data::sha256_hex;
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

    /// The chosen items of a file, and what is known of it.
    fn kept(path: &Path, dimensions: u8, chosen: Chosen) -> Result<(Vec<u8>, Idx)> {
        let mut kept = Vec::new();
        let idx = read(path, dimensions, chosen, &mut |bytes| kept.extend_from_slice(bytes))?;
        Ok((kept, idx))
    }

    fn read_bytes(contents: &[u8], dimensions: u8) -> Result<(Vec<u8>, Idx)> {
        let mut file = tempfile::Builder::new().prefix("labels").tempfile().unwrap();
        file.write_all(contents).unwrap();
        kept(file.path(), dimensions, &|count| Box::new(0..count))
    }

    fn complaint(contents: &[u8], dimensions: u8) -> String {
        read_bytes(contents, dimensions).unwrap_err().to_string()
    }

    #[test]
    fn plain_and_gzipped_files_hold_the_same() {
        let plain = encode(&[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
        for stored in [plain.clone(), gzip(&plain)] {
            let (bytes, idx) = read_bytes(&stored, 3).unwrap();
            assert_eq!(idx.shape, [2, 1, 3]);
            assert_eq!(bytes, [1, 2, 3, 4, 5, 6]);
            assert_eq!(idx.source.sha256, sha256_hex(&stored));
        }
    }

    #[test]
    fn chosen_items_are_kept_wherever_blocks_end_and_the_whole_file_is_hashed() {
        // Items of 3 bytes, more of them than one block holds.
        let items = BLOCK as u32 / 2;
        let bytes: Vec<u8> = (0..3 * items).map(|i| (i % 251) as u8).collect();
        let stored = gzip(&encode(&[items, 3], &bytes));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&stored).unwrap();
        assert_eq!(count(file.path(), 2).unwrap(), items as usize);
        let numbers = [0, 1, BLOCK / 3 - 1, BLOCK / 3, BLOCK / 3 + 1, items as usize - 1];
        let (some, idx) = kept(file.path(), 2, &|_| Box::new(numbers.into_iter())).unwrap();
        let expected: Vec<u8> = numbers.iter().flat_map(|&item| bytes[3 * item..3 * item + 3].to_vec()).collect();
        assert_eq!(some, expected);
        assert_eq!(idx.source.sha256, sha256_hex(&stored));
        assert!(kept(file.path(), 2, &|_| Box::new(std::iter::empty())).unwrap().0.is_empty());
    }

    #[test]
    fn numbers_of_any_type_become_an_array() {
        let file = |code: u8, values: &[u8]| [&[0, 0, code, 1, 0, 0, 0, 2], values].concat();
        let values = |file: Vec<u8>| {
            let array = array(Path::new("t"), "t", file).unwrap();
            assert_eq!(array.shape, [2]);
            [array.value(0), array.value(1)]
        };
        assert_eq!(values(file(0x08, &[1, 255])), [1.0, 255.0]);
        assert_eq!(values(file(0x09, &[1, 255])), [1.0, -1.0]);
        assert_eq!(values(file(0x0b, &[1, 0, 255, 255])), [256.0, -1.0]);
        assert_eq!(values(file(0x0c, &[0, 0, 0, 7, 0, 0, 1, 0])), [7.0, 256.0]);
        assert_eq!(values(file(0x0d, &[[0x3f, 0, 0, 0], [0xbf, 0x80, 0, 0]].concat())), [0.5, -1.0]);
        let problem = |file: Vec<u8>| array(Path::new("t"), "t", file).unwrap_err().to_string();
        assert!(problem(file(0x08, &[1])).contains("1 of 2 bytes are missing"));
        assert!(problem(file(0x0a, &[1, 2])).contains("unknown type 10"));
        assert!(problem(vec![0, 0, 8, 3, 0]).contains("ends inside its header"));
        assert!(problem(vec![1]).contains("is no IDX file"));
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
