//! From bytes to text: UTF-8, UTF-16 in both byte orders, else Windows-1252, which holds Latin-1.

use crate::error::{Error, Result};
use std::path::Path;

/// The characters of Windows-1252 from 0x80 to 0x9F; the five that it leaves open are control characters.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];
/// From so many bytes it is told whether a text without a mark is UTF-16.
const LOOKED_AT: usize = 4096;

/// The text in `bytes` without a byte order mark, and a note where its encoding had to be guessed.
pub(super) fn decode(path: &Path, bytes: Vec<u8>) -> Result<(String, Option<String>)> {
    let (text, note) = match utf16(&bytes) {
        Some(from_bytes) => (decode_utf16(path, &bytes, from_bytes)?, None),
        None => match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let line =
                    1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count();
                let note = format!("line {line} is not UTF-8: the text is read as Windows-1252 (Western European)");
                (error.as_bytes().iter().map(|&byte| windows_1252(byte)).collect(), Some(note))
            }
        },
    };
    if text.contains('\0') {
        return Err(Error::file(path, "holds binary data and no table; give a text, Parquet or Excel file"));
    }
    Ok((text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text), note))
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// How two bytes make a unit of UTF-16, if that is what the bytes are: by the mark, else by where their zeros stand.
fn utf16(bytes: &[u8]) -> Option<fn([u8; 2]) -> u16> {
    match bytes {
        [0xff, 0xfe, ..] => return Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return Some(u16::from_be_bytes),
        _ => {}
    }
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    // Of Western text every second byte is 0, and no other.
    match head.len() / 2 {
        half if half > 0 && even == 0 && odd * 4 > half * 3 => Some(u16::from_le_bytes),
        half if half > 0 && odd == 0 && even * 4 > half * 3 => Some(u16::from_be_bytes),
        _ => None,
    }
}

fn decode_utf16(path: &Path, bytes: &[u8], from_bytes: fn([u8; 2]) -> u16) -> Result<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text = rest.is_empty().then(|| char::decode_utf16(pairs.iter().map(|&pair| from_bytes(pair))).collect());
    text.and_then(std::result::Result::ok)
        .ok_or_else(|| Error::file(path, "is damaged or cut off UTF-16 text; save it again, in UTF-8 if possible"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> (String, Option<String>) {
        decode(Path::new("t.csv"), bytes.to_vec()).unwrap()
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn utf_8_and_utf_16_with_and_without_a_mark_are_the_same_text() {
        let plain = "größe,€\n1,2\n3,4\n";
        let marked = format!("\u{feff}{plain}");
        let variants = [
            plain.as_bytes().to_vec(),
            marked.as_bytes().to_vec(),
            utf16(&marked, u16::to_le_bytes),
            utf16(&marked, u16::to_be_bytes),
            utf16(plain, u16::to_le_bytes),
            utf16(plain, u16::to_be_bytes),
        ];
        for bytes in variants {
            assert_eq!(text(&bytes), (plain.to_owned(), None), "{bytes:?}");
        }
    }

    #[test]
    fn other_bytes_are_windows_1252_and_the_note_names_the_line() {
        let (text, note) = text(b"a,b\n1,M\xfcnchen \x80\n");
        assert_eq!(text, "a,b\n1,München €\n");
        assert_eq!(note.unwrap(), "line 2 is not UTF-8: the text is read as Windows-1252 (Western European)");
    }

    #[test]
    fn binary_data_and_half_a_character_are_refused() {
        let problem = |bytes: &[u8]| decode(Path::new("t.csv"), bytes.to_vec()).unwrap_err().to_string();
        assert!(problem(b"a,b\n\0\x01\x02,3\n").contains("holds binary data"));
        assert!(problem(&[0xff, 0xfe, b'a', 0, b'b']).contains("cut off UTF-16"));
        assert!(problem(&[0xff, 0xfe, 0x00, 0xd8, b'b', 0]).contains("damaged"));
    }
}
