//! `clue demo`: the whole story on symbols that are made on the spot.

use super::audit;
use super::measure::reconstructions;
use super::run::data_directory;
use crate::progress::Bar;
use crate::table::table;
use anyhow::{Result, bail};
use clap::Args;
use cluekit::Seed;
use cluekit::amortise::{Ask, LearnFrom, MapperKind, MapperPlan, Pair};
use cluekit::audit::{self as story, Story};
use cluekit::data::{self, Image, Request, Samples, Targets};
use cluekit::explainer::{ApplySettings, AuditSettings, CostSettings, Explainer, GroupSettings, Split};
use cluekit::explanation::Explanation;
use cluekit::measure::PredictorHealth;
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::Plan;
use cluekit::model::store::files::write_whole;
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::prediction::{Prediction, ranked};
use cluekit::search::{Delta, DiversityTerm, Inputs, LatentBall, Search, Weighted};
use cluekit::tensor::{tensor, values};
use cluekit::uncertainty::Uncertainty;
use cluekit_report::{contact_sheet, png_figure, strip, strip_numbers, svg_figure};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// The dataset, and a small part of it.
const DATASET: &str = "synbols-demo";
const QUICK: &str = "synbols-demo:1000";
/// How many of the most uncertain letters are listed, and how many of these are explained.
const TOP: usize = 8;
const EXPLAINED: usize = 3;
/// Clues for each of them by δ-CLUE and ∇-CLUE.
const CLUES: usize = 6;
/// Steps of search behind a translation.
const REFINED: usize = 5;
/// Letters on the sheet.
const SHEET: usize = 64;
/// δ of δ-CLUE and ∇-CLUE, and λ_D of ∇-CLUE.
const DELTA: f32 = 3.0;
const DIVERSITY: f32 = 1.0;

/// See the whole story on letters that are drawn on the spot: train, find where the model is unsure, explain it with
/// all four methods, and end with the page of `clue audit`. Nothing is downloaded.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  clue demo --out runs/demo")]
pub struct DemoArgs {
    /// The run folder to make; a demo that is already there is replaced.
    #[arg(long, value_name = "DIR", default_value = "runs/demo")]
    out: PathBuf,
    /// Where all randomness comes from.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Train on fewer letters: rough models, in a fraction of the time.
    #[arg(long)]
    quick: bool,
}

/// Runs `clue demo`.
pub fn run(args: DemoArgs, quiet: bool) -> Result<ExitCode> {
    let (begun, seed) = (Instant::now(), args.seed);
    let command = format!("clue demo --seed {seed}{}", if args.quick { " --quick" } else { "" });
    let folder = train(&args, quiet)?;
    let explainer = Explainer::open(folder.path(), &data_directory(None))?;
    let demo = Demo::open(&explainer, quiet)?;
    let mut out = std::io::stdout().lock();
    let mut chapters = vec![demo.introduce(&mut out)?];
    for chapter in [Chapter::Clue, Chapter::DeltaClue, Chapter::NablaClue, Chapter::GlamClue] {
        tracing::info!("{} …", chapter.name());
        chapters.push(demo.tell(chapter, &mut out)?);
    }
    tracing::info!("the audit …");
    let (top, count) = (Some(TOP), Some(CLUES));
    let settings = AuditSettings { top, count, quick: true, seed: Seed(seed), ..AuditSettings::default() };
    let mut audit = audit::make(&explainer, &settings, &audit::last_name(folder.path()), quiet)?;
    let more = next_steps(folder.path());
    // What is typed depends on where the demo lies, and the page does not.
    let commands = next_steps(Path::new("RUN"));
    let text = vec!["The same with more to see, and with your own data:".into()];
    chapters.push(story::Chapter { heading: "And now".into(), text, commands, ..story::Chapter::default() });
    audit.provenance.command = command;
    audit.story = Some(Story { title: "The methods, one by one".into(), chapters });
    let file = folder.file("report.html");
    audit::write(&audit, &file)?;
    writeln!(out, "\nThe page with everything: {} ({:.0} s)", file.display(), begun.elapsed().as_secs_f64())?;
    writeln!(out, "Next:\n  {}", more.join("\n  "))?;
    Ok(ExitCode::SUCCESS)
}

fn next_steps(run: &Path) -> Vec<String> {
    let run = run.display();
    vec![
        format!("clue explain {run} --method nabla --top 4 --out clues"),
        format!("clue glam compare {run}"),
        "clue train --help".into(),
    ]
}

/// Makes the letters and trains both models on them.
fn train(args: &DemoArgs, quiet: bool) -> Result<RunFolder> {
    let seed = Seed(args.seed);
    let request = Request { seed, ..Request::new(if args.quick { QUICK } else { DATASET }) };
    let folder = RunFolder::at(&args.out);
    if folder.occupied_by().is_some() && !folder.file("demo.svg").exists() && !is_begun(&folder) {
        bail!("{} holds something else than a demo; choose another folder with --out", args.out.display());
    }
    let dataset = data::load(&request, None, &data_directory(None))?;
    let letters = dataset.schema.target.task.classes().join(" ");
    tracing::info!(
        "{} letters drawn: {letters}, turned and moved, in many fonts, black on white or white on black",
        dataset.train.len() + dataset.test.len()
    );
    let plan = Plan::for_dataset(&dataset);
    let record = RunRecord::new(request, vec![], plan.clone(), seed);
    folder.clear()?;
    folder.begin(&record, &dataset.schema)?;
    tracing::info!(
        "training a VAE, in whose latent space clues are searched, and {} residual networks, whose \
         disagreement is uncertainty …",
        plan.predictor.samples
    );
    train_run(&folder, &record, &dataset, &mut Bar::new(quiet))?;
    Ok(folder)
}

/// Whether a demo was begun here and did not come to its first picture.
fn is_begun(folder: &RunFolder) -> bool {
    folder.record().is_ok_and(|old| {
        let name = old.dataset.name.as_str();
        [DATASET, QUICK].contains(&name) && Plan::named(name).is_ok_and(|plan| old.plan == Some(plan))
    })
}

/// The methods, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chapter {
    Clue,
    DeltaClue,
    NablaClue,
    GlamClue,
}

impl Chapter {
    fn name(self) -> &'static str {
        match self {
            Self::Clue => "CLUE",
            Self::DeltaClue => "δ-CLUE",
            Self::NablaClue => "∇-CLUE",
            Self::GlamClue => "GLAM-CLUE",
        }
    }

    /// What it does, for the page.
    fn story(self) -> &'static str {
        match self {
            Self::Clue => {
                "One search in the latent space from the letter itself: the least change after which the ensemble is sure. \
                 Red was added, blue was taken away."
            }
            Self::DeltaClue => {
                "Many searches that stay within a ball around the letter's latent code: several ways to become certain, \
                 often as different letters."
            }
            Self::NablaClue => {
                "The same, but the clues are held apart from each other while they are searched, so that fewer of them \
                 repeat what another says."
            }
            Self::GlamClue => {
                "Learned once, for a whole class: one change of the latent code for each cluster of its uncertain training \
                 letters, since what helps white on black does not help black on white. Added to the codes of letters that \
                 the models have not seen, it is where five steps of search begin, instead of thirty."
            }
        }
    }
}

/// A trained demo with what its chapters share.
struct Demo<'a> {
    explainer: &'a Explainer,
    test: Arc<Samples>,
    predictions: Arc<Vec<Prediction>>,
    top: Vec<usize>,
    judging: Search,
    seed: Seed,
    quiet: bool,
}

impl<'a> Demo<'a> {
    fn open(explainer: &'a Explainer, quiet: bool) -> Result<Self> {
        let (test, predictions) = (explainer.samples(Split::Test)?, explainer.predictions(Split::Test)?);
        let top = ranked(&predictions, Uncertainty::Total).into_iter().take(TOP).collect();
        let judging = explainer.judging(&CostSettings::default())?;
        Ok(Self { explainer, test, predictions, top, judging, seed: explainer.training_seed(), quiet })
    }

    fn image(&self) -> &Image {
        self.explainer.schema().and_then(|schema| schema.image.as_ref()).expect("symbols are images")
    }

    fn classes(&self) -> &[String] {
        self.explainer.classes()
    }

    fn test(&self) -> &Samples {
        &self.test
    }

    /// What there is before anything is explained: letters, models, uncertain letters.
    fn introduce(&self, out: &mut dyn Write) -> Result<story::Chapter> {
        let (explainer, test) = (self.explainer, self.test());
        let PredictorHealth::Classifier(health) = explainer.measure(Split::Test)?.health.predictor else {
            unreachable!("letters are classes")
        };
        let count = health.samples;
        let accuracy = format!("{:.1} %", 100.0 * (1.0 - health.error));
        let spots = health.auroc_errors.map_or("–".into(), |auroc| format!("{auroc:.3}"));
        writeln!(
            out,
            "{} letters that the models have not seen: {accuracy} right; uncertainty spots errors with AUROC {spots} \
             (0.5 blind, 1 perfect).\n",
            test.len()
        )?;
        writeln!(out, "The {TOP} letters that the ensemble is least sure about (nats):\n")?;
        let (headings, rows) = self.ranking();
        out.write_all(table(&headings, &rows).as_bytes())?;
        writeln!(out)?;
        let sheet: Vec<&[f32]> = (0..test.len().min(SHEET)).map(|row| test.row(row)).collect();
        let drawn = format!(
            "A small ensemble of neural networks reads letters. They were drawn a moment ago: {} to learn from, {} to test on, \
             in many fonts, turned and moved, white on black or black on white.",
            explainer.rows()?.train.len(),
            test.len()
        );
        let models = format!(
            "{count} residual networks vote. Together they are right about {accuracy} of the letters to test on. A VAE knows \
             what letters look like. Below, those three of the {TOP} most uncertain letters are explained that it knows best, \
             by each method in turn."
        );
        let made = reconstructions(explainer.generative()?, test, self.image())?;
        let figures = vec![
            png_figure(&contact_sheet(&sheet, self.image(), 16, 2), "Letters of the test set."),
            png_figure(&made, "Rows of letters, each above the row of what the VAE makes of them."),
        ];
        Ok(story::Chapter {
            heading: "The letters and the models".into(),
            text: vec![drawn, models],
            figures,
            commands: vec![],
        })
    }

    fn ranking(&self) -> ([&'static str; 6], Vec<Vec<String>>) {
        let classes = self.classes();
        let target = |i: usize| match &self.test().y {
            Targets::Classes(labels) => classes[labels[i] as usize].clone(),
            Targets::Values(_) | Targets::Unknown(_) => String::new(),
        };
        let row = |&i: &usize| {
            let (says, amounts) = (&self.predictions[i], self.predictions[i].uncertainty);
            let amounts = [amounts.total, amounts.aleatoric, amounts.epistemic].map(|amount| format!("{amount:.3}"));
            [vec![i.to_string()], amounts.to_vec(), vec![classes[says.label()].clone(), target(i)]].concat()
        };
        (["index", "total", "aleatoric", "epistemic", "predicted", "is"], self.top.iter().map(row).collect())
    }

    /// A method's chapter; prints what it found.
    fn tell(&self, chapter: Chapter, out: &mut dyn Write) -> Result<story::Chapter> {
        let begun = Instant::now();
        let (explanations, remark) = match chapter {
            Chapter::GlamClue => self.apply_translations()?,
            _ => (self.search(chapter)?, String::new()),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let found = summary(&explanations);
        writeln!(out, "{:<10}{found} ({seconds:.1} s){remark}", chapter.name())?;
        let mut figures = Vec::new();
        for (place, explanation) in explanations.iter().take(EXPLAINED).enumerate() {
            let picture = strip(explanation, self.image(), self.classes(), CLUES);
            if chapter == Chapter::NablaClue && place == 0 {
                write_whole(&self.explainer.opened()?.folder.file("demo.svg"), picture.as_bytes())?;
            }
            let caption = format!("letter {} and its clues", explanation.input.index);
            figures.push(svg_figure(&picture, &caption).with(strip_numbers(explanation, CLUES)));
        }
        let text = vec![chapter.story().into(), format!("{found}{remark}.")];
        Ok(story::Chapter { heading: chapter.name().into(), text, figures, commands: vec![] })
    }

    fn search(&self, chapter: Chapter) -> Result<Vec<Explanation>> {
        let diversity = Weighted(DIVERSITY, DiversityTerm::default());
        let delta = Delta::Fixed(LatentBall::new(DELTA)?);
        let mut search = match chapter {
            Chapter::DeltaClue => Search::delta_clue(delta, CLUES),
            Chapter::NablaClue => Search::nabla_clue(delta, CLUES, diversity),
            _ => Search::clue(),
        };
        search.threshold = self.judging.threshold;
        search.objective.input = self.judging.objective.input;
        let inputs = Inputs::of(self.test(), &self.explained()?, self.explainer.task())?;
        Ok(self.explainer.explain(&search, &inputs, self.seed, &mut Bar::new(self.quiet))?)
    }

    /// Those of the most uncertain letters that the generative model knows best.
    fn explained(&self) -> Result<Vec<usize>> {
        let (test, generative) = (self.test(), self.explainer.generative()?);
        let rows = test.select(&self.top);
        let x = tensor(rows.x.clone(), [rows.len(), rows.width]);
        let made = values(generative.decode(&generative.encode(&x)?)?);
        let away = |place: usize| -> f32 {
            let made = &made[place * rows.width..(place + 1) * rows.width];
            rows.row(place).iter().zip(made).map(|(a, b)| (a - b).abs()).sum()
        };
        let mut places: Vec<usize> = (0..rows.len()).collect();
        places.sort_by(|&a, &b| away(a).total_cmp(&away(b)));
        Ok(places.into_iter().take(EXPLAINED).map(|place| self.top[place]).collect())
    }

    /// Learns translations for the class with the most uncertain letters, and applies them to those of the test set.
    fn apply_translations(&self) -> Result<(Vec<Explanation>, String)> {
        let explainer = self.explainer;
        let uncertain = |class: usize| -> Vec<usize> {
            let says = |i: &usize| &self.predictions[*i];
            let unsure = |i: &usize| says(i).label() == class && says(i).uncertainty.total > self.judging.threshold;
            ranked(&self.predictions, Uncertainty::Total).into_iter().filter(unsure).collect()
        };
        let classes = 0..self.classes().len();
        let class = classes.max_by_key(|&class| uncertain(class).len()).expect("there are letters");
        let thresholds = GroupSettings::default().thresholds(self.judging.threshold, self.judging.accept_by);
        let plan = MapperPlan::new(MapperKind::Clusters, LearnFrom::Data);
        let pairs = [Pair::of_classes(Some(class), Some(class))];
        let mut bar = Bar::new(self.quiet);
        let fitted = explainer.fit(&plan, &pairs, &self.judging, thresholds, self.seed, &mut bar)?;
        let rows = match uncertain(class) {
            rows if rows.is_empty() => self.top[..1].to_vec(),
            rows => rows,
        };
        let inputs = Inputs::of(self.test(), &rows, explainer.task())?;
        let mappers = [("clusters".to_owned(), fitted)];
        let ask = Ask::Classes(vec![class]);
        let mut apply = |refine: usize| {
            let settings = ApplySettings { refine, ..ApplySettings::default() };
            let search = Search { advised: false, ..Explainer::refining(&self.judging, &settings) };
            explainer.apply(&mappers, &ask, &search, &inputs, self.seed, &mut bar)
        };
        let alone = apply(0)?;
        let alone: Vec<f32> = alone.iter().flat_map(|e| &e.clues).map(|clue| clue.uncertainty.total).collect();
        let explanations = apply(REFINED)?;
        let (letter, alone) = (&self.classes()[class], mean(&alone));
        let remark =
            format!("; translations towards a certain {letter} alone give {alone:.2}, {REFINED} steps the rest");
        Ok((explanations, remark))
    }
}

/// Not a number where there is none.
fn mean(values: &[f32]) -> f32 {
    values.iter().sum::<f32>() / values.len() as f32
}

/// What became of the uncertainty, and how much was accepted.
fn summary(explanations: &[Explanation]) -> String {
    let before: Vec<f32> = explanations.iter().map(|e| e.input.uncertainty.total).collect();
    let after: Vec<f32> = explanations.iter().flat_map(|e| &e.clues).map(|clue| clue.uncertainty.total).collect();
    let (before, after) = (mean(&before), mean(&after));
    let change = if after.is_nan() { String::new() } else { format!("mean uncertainty {before:.2} → {after:.2}, ") };
    change + &Explanation::tally(explanations)
}
