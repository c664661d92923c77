//! The fonts that symbols are drawn in: those that come with the crate, or those of a folder.

use super::outline::Outline;
use cluekit::error::{Error, Remedy, Result};
use skrifa::attribute::{Stretch, Style, Weight};
use skrifa::raw::FileRef;
use skrifa::string::StringId;
use skrifa::{FontRef, MetadataProvider};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Faces of KaTeX that have all small letters.
const KATEX: [&str; 12] = [
    "KaTeX_Fraktur-Bold.ttf",
    "KaTeX_Fraktur-Regular.ttf",
    "KaTeX_Main-Bold.ttf",
    "KaTeX_Main-BoldItalic.ttf",
    "KaTeX_Main-Italic.ttf",
    "KaTeX_Main-Regular.ttf",
    "KaTeX_Math-BoldItalic.ttf",
    "KaTeX_Math-Italic.ttf",
    "KaTeX_SansSerif-Bold.ttf",
    "KaTeX_SansSerif-Italic.ttf",
    "KaTeX_SansSerif-Regular.ttf",
    "KaTeX_Typewriter-Regular.ttf",
];
/// Ends of the names of font files.
const EXTENSIONS: [&str; 4] = ["ttf", "otf", "ttc", "otc"];
/// Files larger than this are no fonts.
const MOST_BYTES: u64 = 200 << 20;
/// From this weight on a face is bold.
const BOLD: f32 = 600.0;

/// A font with its outlines of every letter of an alphabet.
#[derive(Clone, Debug)]
pub struct Font {
    /// Name of the family, and whether the face leans.
    pub name: String,
    /// Whether the family has a bold face; otherwise outlines are emboldened.
    pub has_bold: bool,
    /// For each letter the outline, and the bold one.
    outlines: Vec<[Outline; 2]>,
}

impl Font {
    /// The outline of a letter, by its place in the alphabet.
    pub fn outline(&self, letter: usize, is_bold: bool) -> &Outline {
        &self.outlines[letter][usize::from(is_bold)]
    }
}

/// The fonts of the crate that have all these letters, by name.
pub fn embedded(letters: &[char]) -> Result<Vec<Font>> {
    let mut faces = Faces::default();
    for data in built_in() {
        faces.add(data).expect("the crate's own fonts are whole");
    }
    faces.fonts(letters).ok_or_else(|| {
        let letters: String = letters.iter().collect();
        let problem = Error::setting("letters", format!("no font that comes along has all of `{letters}`"));
        problem.remedy(Remedy::give("fonts", "a folder of fonts that have them"))
    })
}

/// The fonts of a folder, and of those below it, that have all these letters, by name.
pub fn of_folder(folder: &Path, letters: &[char]) -> Result<Vec<Font>> {
    let mut faces = Faces::default();
    let mut files = font_files(folder)?;
    files.sort();
    let count = files.len();
    if count == 0 {
        return Err(Error::file(folder, "holds no .ttf, .otf, .ttc or .otc file; name a folder with fonts"));
    }
    for file in files {
        let data = fs::read(&file).map_err(|source| Error::Read { path: file.clone(), source })?;
        faces.add(Cow::Owned(data)).map_err(|problem| {
            Error::file(&file, format!("is no font that can be read ({problem}); remove it or mend it"))
        })?;
    }
    faces.fonts(letters).ok_or_else(|| {
        let letters: String = letters.iter().collect();
        let problem = format!(
            "none of its {count} font files has all of `{letters}`; add one that has, or ask for fewer letters"
        );
        Error::file(folder, problem)
    })
}

fn font_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = |path: &Path, source| Error::Read { path: path.to_owned(), source };
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current).map_err(|source| read(&current, source))? {
            let entry = entry.map_err(|source| read(&current, source))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(|source| read(&current, source))?);
            let is_font =
                path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end.eq_ignore_ascii_case(known)));
            if kind.is_dir() {
                folders.push(path);
            } else if is_font && fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Every font file that comes along.
fn built_in() -> Vec<Cow<'static, [u8]>> {
    use dejavu::{sans, sans_condensed, sans_mono, serif, serif_condensed};
    let dejavu = [
        sans::regular(),
        sans::bold(),
        sans::oblique(),
        sans::bold_oblique(),
        sans::extra_light(),
        sans_condensed::regular(),
        sans_condensed::bold(),
        sans_condensed::oblique(),
        sans_condensed::bold_oblique(),
        sans_mono::regular(),
        sans_mono::bold(),
        sans_mono::oblique(),
        sans_mono::bold_oblique(),
        serif::regular(),
        serif::bold(),
        serif::italic(),
        serif::bold_italic(),
        serif_condensed::regular(),
        serif_condensed::bold(),
        serif_condensed::italic(),
        serif_condensed::bold_italic(),
    ];
    let noto = [notosans::REGULAR_TTF, notosans::BOLD_TTF, notosans::ITALIC_TTF, notosans::BOLD_ITALIC_TTF];
    let constant = dejavu.into_iter().chain(noto).chain(typst_assets::fonts()).map(Cow::Borrowed);
    constant.chain(KATEX.into_iter().filter_map(ratex_katex_fonts::ttf_bytes)).collect()
}

/// One face of a font file.
struct Face {
    weight: f32,
    data: Cow<'static, [u8]>,
    index: u32,
}

/// Faces by the family that they belong to.
#[derive(Default)]
struct Faces {
    families: BTreeMap<String, Vec<Face>>,
}

impl Faces {
    /// Adds every face of a file.
    fn add(&mut self, data: Cow<'static, [u8]>) -> std::result::Result<(), String> {
        let file = FileRef::new(&data).map_err(|problem| problem.to_string())?;
        for (index, font) in file.fonts().enumerate() {
            let font = font.map_err(|problem| problem.to_string())?;
            let Some(family) = family(&font) else { continue };
            // Fonts for formulas hold the letters of the family they go with.
            if family.contains("Math") && !family.starts_with("KaTeX") {
                continue;
            }
            let weight = font.attributes().weight.value();
            let faces = self.families.entry(family).or_default();
            if !faces.iter().any(|face| face.weight.to_bits() == weight.to_bits()) {
                faces.push(Face { weight, data: data.clone(), index: index as u32 });
            }
        }
        Ok(())
    }

    /// A font for each family that has all the letters; nothing if none has.
    fn fonts(self, letters: &[char]) -> Option<Vec<Font>> {
        let fonts: Vec<Font> =
            self.families.into_iter().filter_map(|(name, faces)| font(name, &faces, letters)).collect();
        (!fonts.is_empty()).then_some(fonts)
    }
}

/// The family of a face, with what tells it from others of the same weight.
fn family(font: &FontRef) -> Option<String> {
    let named = |id: StringId| font.localized_strings(id).english_or_first().map(|name| name.to_string());
    let mut name = named(StringId::TYPOGRAPHIC_FAMILY_NAME).or_else(|| named(StringId::FAMILY_NAME))?;
    let style = named(StringId::SUBFAMILY_NAME).unwrap_or_default();
    let attributes = font.attributes();
    let leans = attributes.style != Style::Normal || style.contains("Italic") || style.contains("Oblique");
    let marks = [
        ("Condensed", attributes.stretch < Stretch::NORMAL),
        ("Expanded", attributes.stretch > Stretch::NORMAL),
        ("Light", attributes.weight <= Weight::LIGHT),
        ("Italic", leans),
    ];
    for (mark, _) in marks.into_iter().filter(|(_, holds)| *holds) {
        if !name.contains(mark) {
            name = format!("{name} {mark}");
        }
    }
    Some(name)
}

/// The face nearest to the usual weight, with the bold one nearest to the usual bold weight.
fn font(name: String, faces: &[Face], letters: &[char]) -> Option<Font> {
    let nearest = |wanted: f32, least: f32| {
        let away = |face: &Face| (face.weight - wanted).abs();
        faces.iter().filter(|face| face.weight >= least).min_by(|a, b| away(a).total_cmp(&away(b)))
    };
    let outlines = |face: &Face| -> Option<Vec<Outline>> {
        let font = FontRef::from_index(&face.data, face.index).ok()?;
        letters.iter().map(|&letter| Outline::of(&font, letter)).collect()
    };
    let regular = outlines(nearest(Weight::NORMAL.value(), 0.0)?)?;
    let bold = nearest(Weight::BOLD.value(), BOLD).and_then(outlines);
    let has_bold = bold.is_some();
    let bold = bold.unwrap_or_else(|| regular.iter().map(Outline::emboldened).collect());
    Some(Font {
        name,
        has_bold,
        outlines: regular.into_iter().zip(bold).map(|(regular, bold)| [regular, bold]).collect(),
    })
}
