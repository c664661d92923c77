//! White on black and black on white cancel in a mean, and clusters tell them apart.
//!
//! Letters of one class, half of them inverted. A change that adds ink to the one half takes it from the other, so the
//! difference between the means of certain and uncertain letters is next to nothing, and what there is leads nowhere.
//! One translation for a whole class cannot serve both halves either; one for each cluster can.
//!
//! `cargo run --release -p cluekit-synbols --example cancelling`

use cluekit::Seed;
use cluekit::amortise::{
    Ask, Encoded, Fit, LearnFrom, Limit, MapperKind, MapperPlan, Pair, Scheme, Thresholds, cheapest_first,
};
use cluekit::data::{Constraints, Dataset, Image, Request, Samples, Schema, Target, Targets, Task};
use cluekit::distance::{Distance, Metric};
use cluekit::model::pipeline::{train_run, validation_split};
use cluekit::model::plan::{Plan, PredictorKind};
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::observer::Silent;
use cluekit::prediction::predict;
use cluekit::search::{Background, Convergence, Inputs, Models, Search, Weighted};
use cluekit::uncertainty::Uncertainty;
use cluekit_synbols::{Attributes, Generator, Set, Symbol, encoded, fonts};

const LETTERS: &str = "abdeghnpqu";
const SIDE: usize = 16;
const TRAIN: usize = 8000;
const TEST: usize = 2000;
/// Enough noise that some letters are hard to read.
const NOISE: f32 = 0.35;
const UNCERTAIN: f32 = 0.5;
const SEED: Seed = Seed(0);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[allow(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Outcome<()> {
    let symbols = upright_letters()?;
    println!("contrast of the mean letter, in shares of full intensity:");
    println!("  white on black alone     {:.3}", contrast(&symbols, |symbol| !symbol.attributes.inverse_color));
    println!("  with black on white      {:.3}\n", contrast(&symbols, |_| true));

    let dataset = dataset(&symbols);
    let place = tempfile::tempdir()?;
    let folder = train(&dataset, place.path())?;
    let (generative, predictor) = (folder.generative(&dataset.schema)?, folder.predictor(&dataset.schema)?);
    let models = Models::new(&generative, &predictor).with_schema(&dataset.schema);
    let said = predict(&predictor, &dataset.test, models.task())?;
    let unsure: Vec<usize> = (0..said.len()).filter(|&i| said[i].uncertainty.total > UNCERTAIN).collect();
    println!("{} of {TEST} test letters have H > {UNCERTAIN}; what becomes of them:", unsure.len());

    // A counterfactual costs H + 0.03 d, and takes no step of its own.
    let mut search = Search { convergence: Convergence::all_steps(0), ..Search::clue() };
    search.objective.input = Weighted(0.03, Distance::L1);
    search.threshold = 0.2 * (LETTERS.len() as f32).ln();
    let metric = Metric::fit(Distance::L1, &dataset.train.x, dataset.train.width, Some(&dataset.schema))?;
    let background = Background { metric: Some(metric), ..Background::default() };
    let share = folder.record()?.plan.map_or(0.0, |plan| plan.validation_share);
    let (train, validation) = validation_split(&dataset.train, share, SEED)?;
    let rows = [Encoded::of(&models, train)?, Encoded::of(&models, validation)?];
    let thresholds = Thresholds {
        uncertain_above: Limit::Value(UNCERTAIN),
        certain_below: Limit::Value(search.threshold / 2.0),
        kind: Uncertainty::Total,
    };
    let mut fit = Fit::new(&models, &search, &background, [&rows[0], &rows[1]], thresholds, SEED);
    let inputs = Inputs::of(&dataset.test, &unsure, models.task())?;
    let prepared = search.prepare(&models, &background, &inputs)?;
    let seen = Encoded::of(&models, dataset.test.select(&unsure))?;
    println!("{:16}{:>8}{:>8}{:>8}{:>9}", "method", "H", "d", "cost", "certain");
    let mut cost = |method: MapperKind| -> Outcome<f32> {
        let classes = Scheme::Within.pairs(LETTERS.len());
        let pairs = if method == MapperKind::Reconstruction { vec![Pair::default()] } else { classes };
        let fitted = fit.mappers(&MapperPlan::new(method, LearnFrom::Data), &pairs, &mut Silent)?;
        let proposals = fitted.propose(&models, &seen, &Ask::MostProbable(1), prepared.price(), method.name())?;
        let mut sets = prepared.certify(&proposals)?;
        cheapest_first(&mut sets);
        let best: Vec<_> = sets.iter().filter_map(|set| set.first()).collect();
        let mean = |of: &dyn Fn(usize) -> f32| (0..best.len()).map(of).sum::<f32>() / best.len() as f32;
        let certain = mean(&|i| f32::from(u8::from(best[i].accepted)));
        let [h, d] = [mean(&|i| best[i].uncertainty.total), mean(&|i| best[i].distance.input)];
        let cost = mean(&|i| best[i].cost);
        println!("{:16}{h:>8.3}{d:>8.1}{cost:>8.3}{:>8.0}%", method.name(), 100.0 * certain);
        Ok(cost)
    };
    let nothing = cost(MapperKind::Reconstruction)?;
    let means = [cost(MapperKind::InputDbm)?, cost(MapperKind::LatentDbm)?];
    cost(MapperKind::Glam)?;
    let clusters = cost(MapperKind::Clusters)?;
    assert!(means.iter().all(|cost| *cost > nothing), "differences between means are worse than doing nothing");
    assert!(clusters < nothing, "clusters mend it");
    Ok(())
}

/// Letters in the middle of the image, in all fonts, thin or thick; half of them inverted.
fn upright_letters() -> Outcome<Vec<Symbol>> {
    let letters: Vec<char> = LETTERS.chars().collect();
    let generator = Generator::new(Set::DefaultBw, &letters, fonts::embedded(&letters)?)?;
    let generator = generator.with_side(SIDE)?.in_grey(true);
    let upright = |symbol: Symbol| {
        generator.draw(Attributes {
            is_slant: false,
            rotation: 0.0,
            scale: 0.8,
            translation: [0.0, 0.0],
            pixel_noise_scale: NOISE,
            ..symbol.attributes
        })
    };
    Ok(generator.make(TRAIN + TEST, SEED)?.into_iter().map(upright).collect())
}

/// How far the brightest and the darkest pixel of the mean of some symbols are apart.
fn contrast(symbols: &[Symbol], chosen: impl Fn(&&Symbol) -> bool) -> f32 {
    let chosen: Vec<Vec<f32>> =
        symbols.iter().filter(chosen).map(|symbol| encoded(&symbol.pixels, 1).collect()).collect();
    let mean = |pixel: usize| chosen.iter().map(|image| image[pixel]).sum::<f32>() / chosen.len() as f32;
    let means: Vec<f32> = (0..SIDE * SIDE).map(mean).collect();
    means.iter().copied().fold(f32::MIN, f32::max) - means.iter().copied().fold(f32::MAX, f32::min)
}

fn dataset(symbols: &[Symbol]) -> Dataset {
    let samples = |part: &[Symbol]| Samples {
        x: part.iter().flat_map(|symbol| encoded(&symbol.pixels, 1)).collect(),
        width: SIDE * SIDE,
        y: Targets::Classes(part.iter().map(|symbol| symbol.attributes.letter as u32).collect()),
        weights: None,
    };
    let classes = LETTERS.chars().map(String::from).collect();
    let schema = Schema {
        target: Target { name: "letter".into(), task: Task::Classification { classes }, unit: None, meaning: None },
        image: Some(Image { channels: 1, height: SIDE, width: SIDE, maximum: 255.0 }),
        features: vec![],
        constraints: Constraints::default(),
    };
    let (train, test) = (samples(&symbols[..TRAIN]), samples(&symbols[TRAIN..]));
    Dataset {
        name: "upright letters".into(),
        schema,
        train,
        test,
        sources: vec![],
        notes: vec![],
        names: Default::default(),
    }
}

/// A small VAE and five small networks.
fn train(dataset: &Dataset, place: &std::path::Path) -> Outcome<RunFolder> {
    let mut plan = Plan::for_dataset(dataset).of_kind(PredictorKind::Ensemble);
    let generative = &mut plan.generative;
    (generative.latent, generative.width, generative.depth, generative.fit.epochs) = (12, 200, 2, 20);
    let predictor = &mut plan.predictor;
    (predictor.hidden, predictor.samples) = (vec![64], 5);
    (predictor.fit.epochs, predictor.fit.patience, predictor.fit.learning_rate) = (40, 0, 2e-3);
    let (folder, record) = (RunFolder::at(place), RunRecord::new(Request::new(&dataset.name), vec![], plan, SEED));
    folder.begin(&record, &dataset.schema)?;
    train_run(&folder, &record, dataset, &mut Silent)?;
    Ok(folder)
}
