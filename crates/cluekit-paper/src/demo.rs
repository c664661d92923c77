//! The whole story on symbols that are drawn on the spot: what is trained, what is searched, and what is told of it.

use cluekit::Seed;
use cluekit::amortise::{Ask, LearnFrom, MapperKind, MapperPlan, Pair};
use cluekit::audit as story;
use cluekit::data::{self, DataDir, Image, Request, Samples, Targets};
use cluekit::error::Result;
use cluekit::explainer::{ApplySettings, AuditSettings, CostSettings, Explainer, GroupSettings, Split};
use cluekit::explanation::Explanation;
use cluekit::measure::PredictorHealth;
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::Plan;
use cluekit::model::store::files::write_whole;
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::observer::Observer;
use cluekit::prediction::{Prediction, ranked};
use cluekit::search::{Delta, DiversityTerm, Inputs, LatentBall, Search, Weighted};
use cluekit::uncertainty::Uncertainty;
use cluekit_report::{
    RECONSTRUCTED, TextTable, contact_sheet, png_figure, reconstruction_sheet, strip, strip_numbers, svg_figure,
};
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
/// The picture of a letter and its clues, by which the folder of a demo is known.
const PICTURE: &str = "demo.svg";
/// δ of δ-CLUE and ∇-CLUE, and λ_D of ∇-CLUE.
const DELTA: f32 = 3.0;
const DIVERSITY: f32 = 1.0;

/// Whether a demo may be made here: nothing is there, or a demo.
pub fn may_begin(folder: &RunFolder) -> bool {
    folder.occupied_by().is_none() || folder.file(PICTURE).exists() || is_begun(folder)
}

/// Whether a demo was begun here and did not come to its first picture.
fn is_begun(folder: &RunFolder) -> bool {
    folder.record().is_ok_and(|old| {
        let name = old.dataset.name.as_str();
        [DATASET, QUICK].contains(&name) && Plan::named(name).is_ok_and(|plan| old.plan == Some(plan))
    })
}

/// Makes the letters and trains both models on them; `say` hears what happens.
pub fn train(
    folder: &RunFolder,
    quick: bool,
    seed: Seed,
    directory: &DataDir,
    say: &dyn Fn(&str),
    observer: &mut dyn Observer,
) -> Result<()> {
    let request = Request { seed, ..Request::new(if quick { QUICK } else { DATASET }) };
    let dataset = data::load(&request, None, directory)?;
    let letters = dataset.schema.target.task.classes().join(" ");
    say(&format!(
        "{} letters drawn: {letters}, turned and moved, in many fonts, black on white or white on black",
        dataset.train.len() + dataset.test.len()
    ));
    let plan = Plan::for_dataset(&dataset);
    let record = RunRecord::new(request, vec![], plan.clone(), seed);
    folder.clear()?;
    folder.begin(&record, &dataset.schema)?;
    say(&format!(
        "training a VAE, in whose latent space clues are searched, and {} residual networks, whose disagreement is \
         uncertainty …",
        plan.predictor.samples
    ));
    train_run(folder, &record, &dataset, observer)
}

/// What the audit at the end of the story looks at.
pub fn audit_settings(seed: Seed) -> AuditSettings {
    AuditSettings { top: Some(TOP), count: Some(CLUES), quick: true, seed, ..AuditSettings::default() }
}

/// The last chapter, and all of them as the story of an audit; `commands` are what to type next.
pub fn story_of(mut chapters: Vec<story::Chapter>, commands: Vec<String>) -> story::Story {
    let text = vec!["The same with more to see, and with your own data:".into()];
    chapters.push(story::Chapter { heading: "And now".into(), text, commands, ..story::Chapter::default() });
    story::Story { title: "The methods, one by one".into(), chapters }
}

/// The methods, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chapter {
    /// One search from the letter itself.
    Clue,
    /// Many searches within a ball.
    DeltaClue,
    /// The same, held apart.
    NablaClue,
    /// One change for a whole class.
    GlamClue,
}

impl Chapter {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Clue, Self::DeltaClue, Self::NablaClue, Self::GlamClue];

    /// What people call the method.
    pub fn name(self) -> &'static str {
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

/// A chapter as it is told twice: at once, and on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// What was found, for a terminal.
    pub line: String,
    /// The chapter of the page.
    pub chapter: story::Chapter,
}

/// A trained demo with what its chapters share.
pub struct Demo<'a> {
    explainer: &'a Explainer,
    test: Arc<Samples>,
    predictions: Arc<Vec<Prediction>>,
    top: Vec<usize>,
    judging: Search,
    seed: Seed,
}

impl<'a> Demo<'a> {
    /// Looks which letters of the test set the models are least sure about.
    pub fn open(explainer: &'a Explainer) -> Result<Self> {
        let (test, predictions) = (explainer.samples(Split::Test)?, explainer.predictions(Split::Test)?);
        let top = ranked(&predictions, Uncertainty::Total).into_iter().take(TOP).collect();
        let judging = explainer.judging(&CostSettings::default())?;
        Ok(Self { explainer, test, predictions, top, judging, seed: explainer.training_seed() })
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
    pub fn introduce(&self) -> Result<Told> {
        let (explainer, test) = (self.explainer, self.test());
        let PredictorHealth::Classifier(health) = explainer.measure(Split::Test)?.health.predictor else {
            unreachable!("letters are classes")
        };
        let count = health.samples;
        let accuracy = format!("{:.1} %", 100.0 * (1.0 - health.error));
        let spots = health.auroc_errors.map_or("–".into(), |auroc| format!("{auroc:.3}"));
        let line = format!(
            "{} letters that the models have not seen: {accuracy} right; uncertainty spots errors with AUROC {spots} \
             (0.5 blind, 1 perfect).\n\nThe {TOP} letters that the ensemble is least sure about (nats):\n\n{}\n",
            test.len(),
            self.ranking().text()
        );
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
        let first = test.select(&(0..test.len().min(RECONSTRUCTED)).collect::<Vec<_>>());
        let made = reconstruction_sheet(&first, &explainer.reconstructed(&first)?, self.image());
        let figures = vec![
            png_figure(&contact_sheet(&sheet, self.image(), 16, 2), "Letters of the test set."),
            png_figure(&made, "Rows of letters, each above the row of what the VAE makes of them."),
        ];
        let heading = "The letters and the models".into();
        Ok(Told { line, chapter: story::Chapter { heading, text: vec![drawn, models], figures, commands: vec![] } })
    }

    fn ranking(&self) -> TextTable {
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
        let headings = ["index", "total", "aleatoric", "epistemic", "predicted", "is"];
        TextTable::new(&headings, self.top.iter().map(row).collect())
    }

    /// A method's chapter. The picture that a demo is known by goes into its folder.
    pub fn tell(&self, chapter: Chapter, observer: &mut dyn Observer) -> Result<Told> {
        let begun = Instant::now();
        let (explanations, remark) = match chapter {
            Chapter::GlamClue => self.apply_translations(observer)?,
            _ => (self.search(chapter, observer)?, String::new()),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let found = summary(&explanations);
        let line = format!("{:<10}{found} ({seconds:.1} s){remark}\n", chapter.name());
        let mut figures = Vec::new();
        for (place, explanation) in explanations.iter().take(EXPLAINED).enumerate() {
            let picture = strip(explanation, self.image(), self.classes(), CLUES);
            if chapter == Chapter::NablaClue && place == 0 {
                write_whole(&self.explainer.opened()?.folder.file(PICTURE), picture.as_bytes())?;
            }
            let caption = format!("letter {} and its clues", explanation.input.index);
            figures.push(svg_figure(&picture, &caption).with(strip_numbers(explanation, CLUES)));
        }
        let text = vec![chapter.story().into(), format!("{found}{remark}.")];
        Ok(Told { line, chapter: story::Chapter { heading: chapter.name().into(), text, figures, commands: vec![] } })
    }

    fn search(&self, chapter: Chapter, observer: &mut dyn Observer) -> Result<Vec<Explanation>> {
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
        self.explainer.explain(&search, &inputs, self.seed, observer)
    }

    /// Those of the most uncertain letters that the generative model knows best.
    fn explained(&self) -> Result<Vec<usize>> {
        let rows = self.test().select(&self.top);
        let made = self.explainer.reconstructed(&rows)?;
        let away = |place: usize| -> f32 {
            let made = &made[place * rows.width..(place + 1) * rows.width];
            rows.row(place).iter().zip(made).map(|(a, b)| (a - b).abs()).sum()
        };
        let mut places: Vec<usize> = (0..rows.len()).collect();
        places.sort_by(|&a, &b| away(a).total_cmp(&away(b)));
        Ok(places.into_iter().take(EXPLAINED).map(|place| self.top[place]).collect())
    }

    /// Learns translations for the class with the most uncertain letters, and applies them to those of the test set.
    fn apply_translations(&self, observer: &mut dyn Observer) -> Result<(Vec<Explanation>, String)> {
        let explainer = self.explainer;
        let uncertain = |class: usize| -> Vec<usize> {
            let says = |i: &usize| &self.predictions[*i];
            let unsure = |i: &usize| says(i).label() == class && says(i).uncertainty.total > self.judging.threshold;
            ranked(&self.predictions, Uncertainty::Total).into_iter().filter(unsure).collect()
        };
        let classes = 0..self.classes().len();
        let class = classes.max_by_key(|&class| uncertain(class).len()).expect("there are letters");
        let thresholds = GroupSettings::default().thresholds(self.judging.threshold, self.judging.accepted_by());
        let plan = MapperPlan::new(MapperKind::Clusters, LearnFrom::Data);
        let pairs = [Pair::of_classes(Some(class), Some(class))];
        let fitted = explainer.fit(&plan, &pairs, &self.judging, thresholds, self.seed, observer)?;
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
            explainer.apply(&mappers, &ask, &search, &inputs, self.seed, observer)
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
