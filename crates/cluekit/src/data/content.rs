//! What a file is, by its contents: its name and its ending say nothing.

use crate::error::{Error, Result};
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;
use zip::ZipArchive;

/// So many bytes are looked at, of a packed file after unpacking.
const HEAD: u64 = 512;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text, plain or gzipped.
    Text,
    Parquet,
    /// An old binary Excel workbook.
    Workbook,
    /// An `.xlsx` workbook.
    NewWorkbook,
    /// A NumPy array, plain or gzipped.
    Array,
    /// A zip archive of NumPy arrays.
    Arrays,
    /// IDX data, plain or gzipped.
    Idx,
    /// Another zip archive.
    Zip,
    /// A zip archive that cannot be opened.
    DamagedZip,
    Folder,
    /// A single image.
    Png,
    /// Something that is recognised and not read: what it is, and what to do.
    Other(&'static str, &'static str),
}

/// How files begin that are recognised and not read.
const OTHERS: [(&[u8], &str, &str); 20] = [
    (b"\xff\xd8\xff", "a JPEG image", "convert images to PNG and put them into one subfolder for each class"),
    (b"GIF8", "a GIF image", "convert images to PNG and put them into one subfolder for each class"),
    (b"%PDF", "a PDF document", "save its table as .csv"),
    (b"\x89HDF", "an HDF5 file", "write its table as .csv or .parquet; files of symbols end in .h5py"),
    (b"SQLite format 3", "an SQLite database", "export the table as .csv"),
    (b"ARROW1", "a Feather or Arrow file", "write it as .parquet"),
    (b"FEA1", "a Feather file", "write it as .parquet"),
    (b"ORC", "an ORC file", "write it as .parquet"),
    (b"Obj\x01", "an Avro file", "write it as .parquet"),
    (b"RDX", "an R workspace", "write the table with write.csv"),
    (b"<stata_dta>", "a Stata file", "write it as .csv"),
    (b"$FL2", "an SPSS file", "write it as .csv"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it and give the file inside"),
    (b"\xfd7zXZ\0", "packed with xz", "unpack it with unxz"),
    (b"BZh", "packed with bzip2", "unpack it with bunzip2"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it with unzstd"),
    (b"<!DOCTYPE html", "a web page", "fetch the file itself"),
    (b"<!doctype html", "a web page", "fetch the file itself"),
    (b"<html", "a web page", "fetch the file itself"),
    (b"<?xml", "an XML document", "write its table as .csv"),
];

impl Content {
    /// Whether it is a table.
    pub(crate) fn is_table(self) -> bool {
        matches!(self, Self::Text | Self::Parquet | Self::Workbook | Self::NewWorkbook)
    }

    /// What lies at `path`.
    pub(crate) fn of_file(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Ok(Self::Folder);
        }
        File::open(path).and_then(Self::of_stream).map_err(Error::reading(path))
    }

    /// What these bytes of a whole file are.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self::of_stream(Cursor::new(bytes)).unwrap_or(Self::Text)
    }

    fn of_stream(mut file: impl Read + Seek) -> io::Result<Self> {
        let head = head_of(&mut file)?;
        file.rewind()?;
        Ok(match head {
            Head::Known(content) => content,
            Head::Zip => inside(file),
            Head::Gzip => {
                let mut unpacked = Vec::new();
                // A damaged file shows itself when it is read.
                let _ = GzDecoder::new(file).take(HEAD).read_to_end(&mut unpacked);
                match head_of(&mut unpacked.as_slice())? {
                    Head::Known(content @ (Self::Text | Self::Array | Self::Idx)) => content,
                    Head::Known(content @ Self::Other(..)) => content,
                    _ => Self::Other("gzipped, and a packed file inside", "unpack it with gunzip"),
                }
            }
        })
    }

    /// An error that says what `path` is where a table was wanted.
    pub(crate) fn no_table(self, path: &Path) -> Error {
        let (what, remedy) = match self {
            Self::Array => ("a NumPy array", "a table is a text, Parquet or Excel file"),
            Self::Arrays => ("an archive of NumPy arrays", "a table is a text, Parquet or Excel file"),
            Self::Idx => ("IDX data, as images and their labels are", "a table is a text, Parquet or Excel file"),
            Self::Zip => ("a zip archive without a workbook or NumPy arrays", "unpack it and give the file inside"),
            Self::DamagedZip => ("a damaged zip archive", "fetch or save it again"),
            Self::Folder => ("a folder", "give a file in it"),
            Self::Png => ("a PNG image", "put images into one subfolder for each class, and give the folder above"),
            Self::Other(what, remedy) => (what, remedy),
            Self::Text | Self::Parquet | Self::Workbook | Self::NewWorkbook => {
                ("a table that this build does not read", "save it as .csv")
            }
        };
        Error::file(path, format!("is {what}; {remedy}"))
    }
}

/// What the first bytes say.
enum Head {
    Known(Content),
    Zip,
    Gzip,
}

fn head_of(file: &mut impl Read) -> io::Result<Head> {
    let mut bytes = Vec::new();
    file.take(HEAD).read_to_end(&mut bytes)?;
    let known = |content| Ok(Head::Known(content));
    match bytes.as_slice() {
        [b'P', b'A', b'R', b'1', ..] => known(Content::Parquet),
        [0xD0, 0xCF, 0x11, 0xE0, ..] => known(Content::Workbook),
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Ok(Head::Zip),
        [0x1F, 0x8B, ..] => Ok(Head::Gzip),
        [0x89, b'P', b'N', b'G', ..] => known(Content::Png),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => known(Content::Array),
        [0, 0, 8 | 9 | 11..=14, 1..=8, ..] => known(Content::Idx),
        bytes => known(other(bytes).unwrap_or(Content::Text)),
    }
}

fn other(bytes: &[u8]) -> Option<Content> {
    let text = bytes.trim_ascii_start();
    let json = (text.starts_with(b"[{") || text.starts_with(b"{\"")).then_some(("JSON", "write its table as .csv"));
    let known = OTHERS.iter().find(|(begin, ..)| bytes.starts_with(begin)).map(|&(_, what, remedy)| (what, remedy));
    known.or(json).map(|(what, remedy)| Content::Other(what, remedy))
}

/// What a zip archive is, by the names of its members.
fn inside(file: impl Read + Seek) -> Content {
    let Ok(archive) = ZipArchive::new(file) else {
        return Content::DamagedZip;
    };
    let any = |wanted: &dyn Fn(&str) -> bool| archive.file_names().any(|name| name.is_ok_and(|name| wanted(&name)));
    match () {
        () if any(&|name| name.starts_with("xl/")) => Content::NewWorkbook,
        () if any(&|name| name.ends_with(".npy")) => Content::Arrays,
        () => Content::Zip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::idx::tests::{encode, gzip};
    use std::io::Write;

    fn zip_of(names: &[&str]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for name in names {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(b"inside").unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn contents_are_recognised_packed_or_not() {
        for (bytes, content) in [
            (b"a,b\n1,2\n".to_vec(), Content::Text),
            (vec![], Content::Text),
            (gzip(b"a,b\n1,2\n"), Content::Text),
            (b"PAR1....".to_vec(), Content::Parquet),
            (vec![0xD0, 0xCF, 0x11, 0xE0, 1], Content::Workbook),
            (zip_of(&["[Content_Types].xml", "xl/workbook.xml"]), Content::NewWorkbook),
            (zip_of(&["x.npy", "y.npy"]), Content::Arrays),
            (zip_of(&["table.csv"]), Content::Zip),
            (encode(&[1, 1, 1], &[7]), Content::Idx),
            (gzip(&encode(&[1], &[7])), Content::Idx),
            (b"\x93NUMPY\x01\x00".to_vec(), Content::Array),
            (b"\x89PNG\r\n".to_vec(), Content::Png),
        ] {
            assert_eq!(Content::of(&bytes), content, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_not_read_is_named_with_what_to_do() {
        let problem = |bytes: &[u8]| Content::of(bytes).no_table(Path::new("t.csv")).to_string();
        assert_eq!(problem(b"%PDF-1.4"), "t.csv: is a PDF document; save its table as .csv");
        assert_eq!(problem(b" [{\"a\": 1}]"), "t.csv: is JSON; write its table as .csv");
        assert_eq!(problem(&zip_of(&["x"])[..30]), "t.csv: is a damaged zip archive; fetch or save it again");
        assert!(problem(&gzip(&zip_of(&["x.npy"]))).contains("unpack it with gunzip"));
        assert!(problem(b"\x89PNG").contains("one subfolder for each class"));
    }

    #[test]
    fn a_folder_is_a_folder_and_a_file_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Content::of_file(folder.path()).unwrap(), Content::Folder);
        assert!(Content::of_file(&folder.path().join("none")).unwrap_err().to_string().contains("none"));
    }
}
