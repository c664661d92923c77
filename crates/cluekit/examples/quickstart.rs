//! From data to explanations: train on two moons, take the least certain point, ask what would make the model sure.
//!
//! `cargo run --release -p cluekit --example quickstart`

use cluekit::Seed;
use cluekit::data::{DataDir, Request, load};
use cluekit::explanation::Change;
use cluekit::model::pipeline::train_run;
use cluekit::model::plan::Plan;
use cluekit::model::store::run::{RunFolder, RunRecord};
use cluekit::observer::Silent;
use cluekit::prediction::predict;
use cluekit::search::{Background, Delta, DiversityTerm, Inputs, LatentBall, Models, Search, Weighted};

#[allow(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A run folder with a Bayesian network and a VAE; `clue train moons --out RUN` makes the same.
    let (request, seed) = (Request::new("moons"), Seed(0));
    let moons = load(&request, None, &DataDir::locate(None))?;
    let place = tempfile::tempdir()?;
    let folder = RunFolder::at(place.path());
    let record = RunRecord::new(request, vec![], Plan::for_data(&moons.schema, moons.train.len()), seed);
    folder.begin(&record, &moons.schema)?;
    train_run(&folder, &record, &moons, &mut Silent)?;
    let (generative, predictor) = (folder.generative(&moons.schema)?, folder.predictor(&moons.schema)?);

    // The input that the model is least sure about.
    let task = &moons.schema.target.task;
    let predictions = predict(&predictor, &moons.test, task)?;
    let total = |i: &usize| predictions[*i].uncertainty.total;
    let unsure = (0..predictions.len()).max_by(|a, b| total(a).total_cmp(&total(b))).expect("there are test points");
    let inputs = Inputs::of(&moons.test, &[unsure], task)?;
    let models = Models::new(&generative, &predictor).with_schema(&moons.schema);

    // The three methods, one loop.
    let ball = Delta::Fixed(LatentBall::new(1.5)?);
    let methods = [
        ("CLUE", Search::clue()),
        ("δ-CLUE", Search::delta_clue(ball, 4)),
        ("∇-CLUE", Search::nabla_clue(ball, 4, Weighted(1.0, DiversityTerm::default()))),
    ];
    for (name, search) in methods {
        let explanations = search.explain(&models, &Background::default(), &inputs, seed, &mut Silent)?;
        println!("{name}: uncertainty {:.2}", explanations[0].input.uncertainty.total);
        for clue in &explanations[0].clues {
            let change = |change: &Change| format!("{} {} → {}", change.feature, change.from, change.to);
            let changes: Vec<String> = clue.changes.iter().map(change).collect();
            println!("  {:.2} after {}", clue.uncertainty.total, changes.join(", "));
        }
    }
    Ok(())
}
