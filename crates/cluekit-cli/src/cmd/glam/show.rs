//! `clue glam show`: the global explanation for a person.

use super::cost::CostArgs;
use crate::cmd::explain::inputs::class_named;
use crate::cmd::run::RunArgs;
use crate::table::json;
use anyhow::{Context, Result, bail};
use clap::Args;
use cluekit::amortise::{Encoded, Fitted, Fitting, GlobalChange, cheapest_first};
use cluekit::audit::FeatureShift;
use cluekit::data::Schema;
use cluekit::explanation::{Clue, Label};
use cluekit::measure::{MeanInterval, Outcome, Reach};
use cluekit::model::store::files::{create_folder, write_whole};
use cluekit::search::{Background, Inputs, Models, Prepared, Proposal, Search};
use cluekit::{Error, Seed};
use cluekit_report::{TranslationExample, TranslationPicture, shift_table, translation_numbers, translation_picture};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Inputs shown beside a translation.
const EXAMPLES: usize = 6;
/// Features listed for a translation.
const MOST_FEATURES: usize = 12;

/// Show what a fitted mapper changes, and how far that reaches on inputs it has never seen.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  clue glam show runs/mnist --out global          a picture for each pair of groups
  clue glam show runs/credit --method clusters    feature changes in the data's units

Every figure is a mean over uncertain test inputs of the group, with a 95 % interval from
resampling them.")]
pub struct ShowArgs {
    #[command(flatten)]
    run: RunArgs,
    /// The name of a fitted mapper.
    #[arg(long, value_name = "NAME", default_value = "glam")]
    method: String,
    /// Only mappers that lead from or to this class.
    #[arg(long, value_name = "CLASS")]
    class: Option<String>,
    /// Where resampling is drawn from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A folder for pictures, global.json and global.txt.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document instead of text.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cost: CostArgs,
}

/// The document that `--json` prints.
#[derive(Serialize)]
struct Document {
    method: String,
    threshold: f32,
    groups: Vec<GlobalExplanation>,
}

/// What one mapper does to its group.
#[derive(Serialize)]
pub struct GlobalExplanation {
    /// From whom to whom.
    pub name: String,
    /// Uncertain test inputs are those above this.
    pub uncertain_above: f32,
    /// On held-out inputs; nothing when there are none.
    pub reach: Option<Reach>,
    /// Of a table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FeatureShift>,
    /// Of images, as SVG.
    #[serde(skip)]
    pub picture: Option<String>,
    /// The numbers that are written in the picture.
    #[serde(skip)]
    pub numbers: Vec<(String, f64)>,
    /// The share that is certain when it is decoded without any change.
    #[serde(skip)]
    pub certain_unchanged: Option<f64>,
}

/// Runs `clue glam show`.
pub fn run(args: ShowArgs, _quiet: bool) -> Result<ExitCode> {
    let studio = args.run.studio()?.unconstrained();
    let fitted = studio.load(&args.method)?;
    let chosen = args.chosen(&fitted, studio.run.schema.target.task.classes())?;
    if let Some(folder) = &args.out {
        create_folder(folder)?;
    }
    let search = args.cost.search(&studio)?;
    let background = args.cost.background(&studio)?;
    tracing::info!("predicting {} test rows …", studio.dataset.test.len());
    let models = studio.models();
    let test = Encoded::of(&models, studio.dataset.test.clone())?;
    let (background, seed) = (&background, Seed(args.seed));
    let scene = Scene { models: &models, search: &search, background, test: &test, split: "test", seed };
    let groups = chosen.iter().map(|(_, fitting)| scene.explain(fitting, &args.method)).collect::<Result<Vec<_>>>()?;
    let document = Document { method: args.method.clone(), threshold: search.threshold, groups };
    if let Some(folder) = &args.out {
        let write = |name: &str, bytes: &[u8]| write_whole(&folder.join(name), bytes);
        write("global.json", &json(&document)?).context("writing the global explanation")?;
        write("global.txt", document.text().as_bytes())?;
        for ((i, _), group) in chosen.iter().zip(&document.groups) {
            if let Some(picture) = &group.picture {
                write(&format!("group-{i}.svg"), picture.as_bytes())?;
            }
        }
    }
    let mut out = std::io::stdout().lock();
    match args.json {
        true => out.write_all(&json(&document)?)?,
        false => out.write_all(document.text().as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

impl ShowArgs {
    /// The mappers that are wanted, with their places among all of them.
    fn chosen<'a>(&self, fitted: &'a Fitted, classes: &[String]) -> Result<Vec<(usize, &'a Fitting)>> {
        let all = fitted.fittings.iter().enumerate();
        let Some(name) = &self.class else { return Ok(all.collect()) };
        let class = Some(class_named(name, classes)?);
        let chosen: Vec<_> =
            all.filter(|(_, Fitting { pair, .. })| pair.from.class == class || pair.to.class == class).collect();
        if chosen.is_empty() {
            bail!(Error::setting("class", format!("`{}` has no mapper from or to `{name}`", self.method)));
        }
        Ok(chosen)
    }
}

/// What every group is looked at with.
pub struct Scene<'a> {
    /// The models.
    pub models: &'a Models<'a>,
    /// The search that judges counterfactuals.
    pub search: &'a Search,
    /// What it knows of the training rows.
    pub background: &'a Background,
    /// The rows that mappers are applied to.
    pub test: &'a Encoded,
    /// Which rows these are: test, validation or training ones.
    pub split: &'static str,
    /// Where resampling is drawn from.
    pub seed: Seed,
}

impl Scene<'_> {
    /// What a mapper called `method` does to the uncertain rows of its group.
    pub fn explain(&self, fitting: &Fitting, method: &str) -> Result<GlobalExplanation> {
        let schema = self.models.schema.expect("a run has a schema");
        let name = fitting.pair.name(self.models.task().classes());
        let kind = self.search.accept_by;
        let amount = |row: usize| self.test.predictions[row].uncertainty.get(kind);
        let belongs = |&row: &usize| {
            amount(row) > fitting.uncertain_above && fitting.pair.from.hold(self.test, row, self.models.schema)
        };
        let mut rows: Vec<usize> = (0..self.test.len()).filter(belongs).collect();
        rows.sort_by(|&a, &b| amount(b).total_cmp(&amount(a)).then(a.cmp(&b)));
        let mut explanation = GlobalExplanation {
            name,
            uncertain_above: fitting.uncertain_above,
            reach: None,
            changes: vec![],
            picture: None,
            numbers: vec![],
            certain_unchanged: None,
        };
        if rows.is_empty() {
            return Ok(explanation);
        }
        let rows = self.test.select(&rows);
        let inputs = Inputs::new(rows.x.clone(), rows.width)?;
        let prepared = self.search.prepare(self.models, self.background, &inputs)?;
        let rows = Encoded { classes: rows.classes, ..Encoded::prepared(&prepared, &inputs) };
        let proposals = fitting.mapper.propose(self.models, &rows, method, prepared.price())?;
        let mut sets = prepared.certify(&proposals)?;
        cheapest_first(&mut sets);
        let clues: Vec<Clue> = sets.into_iter().flat_map(|set| set.into_iter().take(1)).collect();
        let outcomes: Vec<Outcome> =
            clues.iter().enumerate().map(|(row, clue)| outcome(fitting, &rows, row, clue)).collect();
        explanation.reach = Reach::of(&outcomes, self.seed);
        let codes: Vec<f32> = clues.iter().flat_map(|clue| clue.z.iter().copied()).collect();
        let change = GlobalChange::of(self.models, &rows, &codes)?;
        let unchanged = unchanged(&prepared)?;
        let certain = unchanged.iter().filter(|clue| clue.accepted).count();
        explanation.certain_unchanged = Some(certain as f64 / unchanged.len() as f64);
        explanation.changes = FeatureShift::between(schema, &change.inputs, &change.changed_inputs());
        if schema.image.is_some() {
            let (picture, numbers) = self.picture(&explanation, &change, &rows, &unchanged, &clues, schema);
            (explanation.picture, explanation.numbers) = (Some(picture), numbers);
        }
        Ok(explanation)
    }

    fn picture(
        &self,
        explanation: &GlobalExplanation,
        change: &GlobalChange,
        rows: &Encoded,
        unchanged: &[Clue],
        clues: &[Clue],
        schema: &Schema,
    ) -> (String, Vec<(String, f64)>) {
        let shown: Vec<usize> = (0..clues.len()).step_by(clues.len().div_ceil(EXAMPLES).max(1)).collect();
        let example = |&row: &usize| {
            let (reconstruction, clue) = (&unchanged[row], &clues[row]);
            let totals =
                [rows.predictions[row].uncertainty.total, reconstruction.uncertainty.total, clue.uncertainty.total];
            TranslationExample {
                input: rows.x(row),
                reconstruction: &reconstruction.x,
                after: &clue.x,
                uncertainty: totals,
            }
        };
        let title = format!("Uncertain → certain: {}", explanation.name);
        let picture = TranslationPicture {
            title: &title,
            subtitle: &explanation.reach.as_ref().map_or(String::new(), |reach| one_line(reach, self.split)),
            before: &change.before,
            after: &change.after,
            examples: shown.iter().map(example).collect(),
        };
        let image = schema.image.as_ref().expect("only images are pictured");
        (translation_picture(&picture, image), translation_numbers(&picture, image))
    }
}

/// What each input is when its own code is decoded.
fn unchanged(prepared: &Prepared) -> Result<Vec<Clue>> {
    let nothing = |row: usize| vec![Proposal { z: prepared.z(row).to_vec(), x: None, mapper: String::new() }];
    let sets = prepared.certify(&(0..prepared.len()).map(nothing).collect::<Vec<_>>())?;
    Ok(sets.into_iter().flatten().collect())
}

fn outcome(fitting: &Fitting, rows: &Encoded, row: usize, clue: &Clue) -> Outcome {
    let asked = fitting.pair.to.class.unwrap_or_else(|| rows.class(row));
    Outcome {
        before: rows.predictions[row].uncertainty.total,
        after: clue.uncertainty.total,
        distance: clue.distance.input,
        certain: clue.accepted,
        class_kept: match clue.label {
            Label::Class(label) => Some(label == asked),
            Label::Value(_) => None,
        },
    }
}

fn one_line(reach: &Reach, split: &str) -> String {
    let inputs = if reach.inputs == 1 { "input" } else { "inputs" };
    format!(
        "{} {split} {inputs}: mean H {:.2} before, {:.2} after; mean distance d {:.1}; {:.0}% become certain",
        reach.inputs,
        reach.before.mean,
        reach.after.mean,
        reach.distance.mean,
        100.0 * reach.certain.mean
    )
}

impl Document {
    fn text(&self) -> String {
        let mut text = String::new();
        for group in &self.groups {
            let _ = writeln!(text, "{}", group.name);
            let Some(reach) = &group.reach else {
                let _ = writeln!(
                    text,
                    "  no test input of this group is more uncertain than {:.3}\n",
                    group.uncertain_above
                );
                continue;
            };
            let percent =
                |i: &MeanInterval| format!("{:.0}% ({:.0} to {:.0}%)", 100.0 * i.mean, 100.0 * i.low, 100.0 * i.high);
            let number = |i: &MeanInterval| format!("{:.2} ({:.2} to {:.2})", i.mean, i.low, i.high);
            let inputs = if reach.inputs == 1 { "input" } else { "inputs" };
            let _ = writeln!(
                text,
                "  on {} held-out {inputs} with an uncertainty above {:.3}:",
                reach.inputs, group.uncertain_above
            );
            let _ = writeln!(text, "  uncertainty {} before, {} after", number(&reach.before), number(&reach.after));
            let _ = writeln!(text, "  {} become certain (below {})", percent(&reach.certain), self.threshold);
            if let Some(kept) = &reach.class_kept {
                let _ = writeln!(text, "  {} have the class that was asked for", percent(kept));
            }
            let _ = writeln!(text, "  distance {}", number(&reach.distance));
            if !group.changes.is_empty() {
                let _ = writeln!(text, "  what changes, on average:");
                text += &shift_table(&group.changes, MOST_FEATURES);
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_which_inputs_it_shows() {
        let outcome = Outcome { before: 0.6, after: 0.1, distance: 2.0, certain: true, class_kept: None };
        let reach = Reach::of(&[outcome], Seed(0)).unwrap();
        assert!(one_line(&reach, "training").starts_with("1 training input: mean H 0.60 before"));
    }
}
