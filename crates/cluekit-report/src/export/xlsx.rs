//! A sheet as an Excel workbook: the least that Office Open XML asks for, the same bytes every time.
//!
//! Words are stored as words, so none of them is a formula. [ECMA-376, part 1, § 18]

use super::sheet::{Entry, Sheet, clean};
use cluekit::error::{Error, Result};
use std::fmt::Write as _;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Columns that a worksheet can have.
pub const MOST_COLUMNS: usize = 16_384;
/// Rows that a worksheet can have, the headings included; what is more goes on in the next one.
const MOST_ROWS: usize = 1_048_576;
/// Characters that a cell can hold.
const MOST_CHARACTERS: usize = 32_767;

const DECLARATION: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#;
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const DOCUMENT: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TYPE: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/// The sheet as the bytes of a workbook; an error for one with more than [`MOST_COLUMNS`].
pub fn xlsx(sheet: &Sheet) -> Result<Vec<u8>> {
    if sheet.headings.len() > MOST_COLUMNS {
        let columns = sheet.headings.len();
        return Err(Error::data(format!("{columns} columns are more than the {MOST_COLUMNS} of a worksheet; use CSV")));
    }
    packed(sheet).map_err(|error| Error::data(format!("the workbook cannot be packed: {error}; write fewer at once")))
}

fn packed(sheet: &Sheet) -> zip::result::ZipResult<Vec<u8>> {
    let mut parts: Vec<&[Vec<Entry>]> = sheet.rows.chunks(MOST_ROWS - 1).collect();
    if parts.is_empty() {
        parts.push(&[]);
    }
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default()); // the same every time, so that bytes can be compared
    let mut add = |name: &str, text: &str| {
        archive.start_file(name, options)?;
        archive.write_all(text.as_bytes())?;
        Ok::<(), zip::result::ZipError>(())
    };
    add("[Content_Types].xml", &content_types(parts.len()))?;
    add("_rels/.rels", &relations(&[("officeDocument", "xl/workbook.xml".into())]))?;
    add("xl/workbook.xml", &workbook(parts.len()))?;
    let targets: Vec<_> = (1..=parts.len()).map(|n| ("worksheet", format!("worksheets/sheet{n}.xml"))).collect();
    add("xl/_rels/workbook.xml.rels", &relations(&targets))?;
    for (place, rows) in parts.iter().enumerate() {
        add(&format!("xl/worksheets/sheet{}.xml", place + 1), &worksheet(&sheet.headings, rows))?;
    }
    Ok(archive.finish()?.into_inner())
}

fn content_types(sheets: usize) -> String {
    let mut text = format!(
        "{DECLARATION}<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Override \
         PartName=\"/xl/workbook.xml\" ContentType=\"{TYPE}.sheet.main+xml\"/>"
    );
    for sheet in 1..=sheets {
        let _ = write!(
            text,
            "<Override PartName=\"/xl/worksheets/sheet{sheet}.xml\" ContentType=\"{TYPE}.worksheet+xml\"/>"
        );
    }
    text + "</Types>"
}

fn relations(targets: &[(&str, String)]) -> String {
    let mut text = format!("{DECLARATION}<Relationships xmlns=\"{PACKAGE}/relationships\">");
    for (place, (kind, target)) in targets.iter().enumerate() {
        let id = place + 1;
        let _ = write!(text, "<Relationship Id=\"rId{id}\" Type=\"{DOCUMENT}/{kind}\" Target=\"{target}\"/>");
    }
    text + "</Relationships>"
}

fn workbook(sheets: usize) -> String {
    let mut text = format!("{DECLARATION}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{DOCUMENT}\"><sheets>");
    for sheet in 1..=sheets {
        let name = if sheet == 1 { "clues".to_owned() } else { format!("clues {sheet}") };
        let _ = write!(text, "<sheet name=\"{name}\" sheetId=\"{sheet}\" r:id=\"rId{sheet}\"/>");
    }
    text + "</sheets></workbook>"
}

/// The headings, which stay in sight, and the rows.
fn worksheet(headings: &[String], rows: &[Vec<Entry>]) -> String {
    let mut text = format!(
        "{DECLARATION}<worksheet xmlns=\"{MAIN}\"><sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"1\" \
         topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews><sheetData>"
    );
    let letters: Vec<String> = (0..headings.len()).map(letters).collect();
    let headings: Vec<Entry> = headings.iter().map(|heading| Entry::Text(heading.clone())).collect();
    for (number, row) in std::iter::once(&headings).chain(rows).enumerate() {
        let _ = write!(text, "<row r=\"{}\">", number + 1);
        for (entry, letters) in row.iter().zip(&letters) {
            text += &cell(entry, &format!("{letters}{}", number + 1));
        }
        text += "</row>";
    }
    text + "</sheetData></worksheet>"
}

fn cell(entry: &Entry, place: &str) -> String {
    match entry {
        Entry::Number(number) if number.is_finite() => format!("<c r=\"{place}\"><v>{number}</v></c>"),
        Entry::Empty | Entry::Number(_) => String::new(),
        Entry::Truth(holds) => format!("<c r=\"{place}\" t=\"b\"><v>{}</v></c>", u8::from(*holds)),
        Entry::Text(text) => {
            let text: String = clean(text).chars().take(MOST_CHARACTERS).collect();
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let text = text.replace(['\u{fffe}', '\u{ffff}'], " ");
            format!("<c r=\"{place}\" t=\"inlineStr\"><is><t xml:space=\"preserve\">{text}</t></is></c>")
        }
    }
}

/// What a column is called in a spreadsheet: A to Z, then AA.
fn letters(column: usize) -> String {
    let letter = char::from(b'A' + (column % 26) as u8);
    match column / 26 {
        0 => letter.to_string(),
        before => letters(before - 1) + &letter.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn part(bytes: &[u8], name: &str) -> String {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut text = String::new();
        archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn columns_are_counted_in_letters() {
        assert_eq!([0, 25, 26, 51, 701, 702].map(letters), ["A", "Z", "AA", "AZ", "ZZ", "AAA"]);
    }

    #[test]
    fn every_part_is_well_formed_and_words_stay_words() {
        let row = vec![Entry::Number(0.5), Entry::Text("=1+1 <&>\u{1}".into()), Entry::Truth(true), Entry::Empty];
        let sheet = Sheet { headings: ["a", "b", "c", "d"].map(str::to_owned).to_vec(), rows: vec![row] };
        let bytes = xlsx(&sheet).unwrap();
        assert_eq!(bytes, xlsx(&sheet).unwrap());
        let names = ["[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"];
        names.iter().for_each(|name| drop(roxmltree::Document::parse(&part(&bytes, name)).unwrap()));
        let text = part(&bytes, "xl/worksheets/sheet1.xml");
        let document = roxmltree::Document::parse(&text).unwrap();
        let cells: Vec<_> = document.descendants().filter(|node| node.has_tag_name((MAIN, "c"))).collect();
        let place = |at: usize| cells[at].attribute("r").unwrap();
        assert_eq!((cells.len(), place(4), place(5), place(6)), (7, "A2", "B2", "C2"));
        assert_eq!(
            (cells[5].attribute("t"), cells[5].descendants().next_back().unwrap().text()),
            (Some("inlineStr"), Some("=1+1 <&> "))
        );
        assert!(!text.contains("<f>"));
    }

    #[test]
    fn a_workbook_without_rows_has_its_headings_and_too_many_columns_are_refused() {
        let sheet = |columns: usize| Sheet { headings: vec!["x".into(); columns], rows: vec![] };
        assert!(part(&xlsx(&sheet(1)).unwrap(), "xl/worksheets/sheet1.xml").contains(">x</t>"));
        assert!(xlsx(&sheet(MOST_COLUMNS + 1)).unwrap_err().to_string().contains("16385 columns"));
    }
}
