//! `clue data make synbols`: symbols into a file.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use cluekit::Seed;
use cluekit::model::store::files::{create_parent, write_whole};
use cluekit_report::contact_sheet;
use cluekit_synbols::{Generator, GeneratorSettings, Published, Set, Symbol, encoded};
use std::path::{Path, PathBuf};

/// Images in a row of a contact sheet, and how many pixels each of theirs becomes.
const COLUMNS: usize = 10;
const TIMES: usize = 2;
/// More pixels than these would make a sheet that nobody looks at.
const MOST_ON_A_SHEET: usize = 1 << 24;

/// What to make, and where to put it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue data make synbols --count 20000 --out symbols.h5py
  clue data make synbols --set camouflage --count 100 --out sheet.png
  clue data make synbols --letters abcde --fonts ~/fonts --resolution 64 --grey --count 5000 --out mine.h5py

Sets: plain, default, default-bw, non-camou-bw, non-camou-shade, camouflage, less-variations, tiny.
A name that ends in .png becomes a contact sheet; any other a file in the layout of the published
ones, with images, masks, attributes and splits (docs/symbols.md). `clue train FILE` learns from it.")]
pub struct MakeArgs {
    /// What to make.
    what: What,
    /// From which laws images are drawn.
    #[arg(long, value_name = "SET", default_value = "non-camou-bw")]
    set: Set,
    /// How many images.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// The file to write: .h5py (or .h5, .hdf5), or .png for a contact sheet.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Which letters [default: a to z].
    #[arg(long, value_name = "LETTERS", conflicts_with = "accents")]
    letters: Option<String>,
    /// The letters a to z and 23 with accents; the published files have 22 of these.
    #[arg(long)]
    accents: bool,
    /// A folder of .ttf and .otf files instead of the fonts that come along.
    #[arg(long, value_name = "DIR")]
    fonts: Option<PathBuf>,
    /// Pixels a side [default: 32, tiny 8].
    #[arg(long, value_name = "PIXELS")]
    resolution: Option<usize>,
    /// One channel instead of three.
    #[arg(long)]
    grey: bool,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
}

/// What can be made.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Letters in many fonts.
    Synbols,
}

/// Runs `clue data make …`; returns the file that was made.
pub fn run(args: &MakeArgs) -> Result<&Path> {
    let What::Synbols = args.what;
    let extension = args.out.extension().and_then(|end| end.to_str()).unwrap_or("").to_ascii_lowercase();
    if !["png", "h5py", "h5", "hdf5"].contains(&extension.as_str()) {
        bail!("{} ends in neither .h5py nor .png; choose one of them", args.out.display());
    }
    if args.out.is_dir() {
        bail!("{} is a folder; name a file in it", args.out.display());
    }
    create_parent(&args.out)?;
    let (generator, count) = (Generator::from_settings(&args.settings()?)?, args.count as usize);
    let (image, seed) = (generator.image(), Seed(args.seed));
    if extension == "png" && count.saturating_mul(image.height.pow(2)) > MOST_ON_A_SHEET {
        bail!("a sheet of {count} such images is more than anybody looks at; ask for fewer, or for a .h5py file");
    }
    let symbols = generator.make(count, seed)?;
    let bytes = match extension.as_str() {
        "png" => {
            let pixels = |symbol: &Symbol| encoded(&symbol.pixels, image.channels).collect();
            let images: Vec<Vec<f32>> = symbols.iter().map(pixels).collect();
            contact_sheet(&images.iter().map(Vec::as_slice).collect::<Vec<_>>(), &image, COLUMNS, TIMES)
        }
        _ => Published::of(&generator, &symbols, seed).to_hdf5(seed)?,
    };
    write_whole(&args.out, &bytes)?;
    let (letters, fonts) = (generator.letters().len(), generator.fonts().len());
    tracing::info!("{count} images of {letters} letters in {fonts} fonts, set {}", args.set.name());
    Ok(&args.out)
}

impl MakeArgs {
    fn settings(&self) -> Result<GeneratorSettings> {
        if self.letters.as_ref().is_some_and(|letters| letters.trim().is_empty()) {
            bail!("--letters names no letter; write them one after the other, such as --letters abc");
        }
        let Self { set, accents, resolution, grey, .. } = *self;
        let (letters, fonts) = (self.letters.clone(), self.fonts.clone());
        Ok(GeneratorSettings { set, letters, accents, fonts, resolution, grey })
    }
}
