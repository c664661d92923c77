//! A jury: predictors of another kind that learned from the same rows, and are asked whether they believe a clue.
//!
//! A counterfactual that only the searched model is certain about may be an adversarial example of it. So the search asks
//! some jurors on its way, with a margin, and others judge in the end, who had no part in the search.

use super::descent::Descent;
use crate::data::{Samples, Schema, Targets, Task};
use crate::error::{Error, Result};
use crate::explanation::{Agreement, Clue, Verdict};
use crate::model::{Predictive, Predictor};
use crate::prediction::predict;
use crate::tensor::{Tensor, tensor, values};
use std::fmt;
use std::sync::Arc;

/// Clues that are judged together; it bounds the memory.
const ROWS: usize = 4096;

/// A predictor that was not explained, and its name.
#[derive(Clone)]
pub struct Juror {
    /// Name of the juror, for people.
    pub name: String,
    /// What it predicts with.
    pub predictor: Arc<dyn Predictor>,
}

/// Jurors that the search asks, and jurors that only judge.
#[derive(Clone, Debug, Default)]
pub struct Jury {
    /// Those that the search asks.
    pub asked: Vec<Juror>,
    /// Those that judge what it found.
    pub judges: Vec<Juror>,
    /// Total uncertainty below which a juror counts as certain.
    pub threshold: f32,
}

impl fmt::Debug for Juror {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Juror").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Juror {
    /// A juror of this name.
    pub fn new(name: impl Into<String>, predictor: Arc<dyn Predictor>) -> Self {
        Self { name: name.into(), predictor }
    }

    /// A juror that learned from the same columns under a schema of its own, such as that of another run.
    pub fn of_schema(
        name: impl Into<String>,
        predictor: Arc<dyn Predictor>,
        own: Schema,
        rows: &Schema,
    ) -> Result<Self> {
        let name = name.into();
        let names = |schema: &Schema| schema.features.iter().map(|feature| feature.name.clone()).collect::<Vec<_>>();
        if own.image != rows.image
            || names(&own) != names(rows)
            || own.target.task.classes() != rows.target.task.classes()
        {
            let problem = format!("{name} has other columns or classes; give a run that was made from the same data");
            return Err(Error::setting("judge", problem));
        }
        let predictor = Translated { predictor, rows: rows.clone(), own };
        Ok(Self { name, predictor: Arc::new(predictor) })
    }

    /// Total uncertainty of each row.
    pub(crate) fn uncertainty(&self, samples: &Samples, task: &Task) -> Result<Vec<f32>> {
        let says = predict(self.predictor.as_ref(), samples, task)?;
        Ok(says.into_iter().map(|prediction| prediction.uncertainty.total).collect())
    }
}

/// A predictor whose columns are encoded in another way.
struct Translated {
    predictor: Arc<dyn Predictor>,
    rows: Schema,
    own: Schema,
}

impl Predictor for Translated {
    fn predict(&self, x: &Tensor<2>) -> Result<Predictive> {
        if self.rows.image.is_some() {
            return self.predictor.predict(x);
        }
        let [rows, width] = x.dims();
        let encode = |row: &[f32]| self.own.encode_row(&self.rows.decode_row(row));
        let own = values(x.clone()).chunks_exact(width).map(encode).collect::<Result<Vec<_>>>()?;
        self.predictor.predict(&tensor(own.concat(), [rows, self.own.width()]))
    }

    fn samples(&self) -> Option<usize> {
        self.predictor.samples()
    }

    fn has_gradient(&self) -> bool {
        false
    }

    fn rows_at_once(&self) -> Option<usize> {
        self.predictor.rows_at_once()
    }

    fn is_concurrent(&self) -> bool {
        self.predictor.is_concurrent()
    }
}

/// Writes what the jury says into every certificate.
pub(super) fn judge(descent: &Descent, jury: &Jury, sets: &mut [Vec<Clue>]) -> Result<()> {
    let finite = |clue: &&mut Clue| clue.x.iter().all(|value| value.is_finite());
    let mut clues: Vec<&mut Clue> = sets.iter_mut().flatten().filter(finite).collect();
    let Some(width) = clues.first().map(|clue| clue.x.len()) else { return Ok(()) };
    for clues in clues.chunks_mut(ROWS) {
        descent.go_on()?;
        let rows: Vec<f32> = clues.iter().flat_map(|clue| clue.x.iter().copied()).collect();
        let verdicts = jury.verdicts(&rows, width, descent.models.task())?;
        clues.iter_mut().zip(verdicts).for_each(|(clue, agreement)| clue.agreement = Some(agreement));
    }
    Ok(())
}

impl Jury {
    /// The greatest uncertainty of the jurors that are asked about each row, in thresholds.
    pub(super) fn greatest(&self, samples: &Samples, task: &Task) -> Result<Vec<f32>> {
        let mut greatest = vec![0.0_f32; samples.len()];
        for juror in &self.asked {
            let says = juror.uncertainty(samples, task)?;
            greatest
                .iter_mut()
                .zip(says)
                .for_each(|(greatest, amount)| *greatest = greatest.max(amount / self.threshold));
        }
        Ok(greatest)
    }

    /// What all jurors say of each of some rows of `width` numbers.
    pub(super) fn verdicts(&self, rows: &[f32], width: usize, task: &Task) -> Result<Vec<Agreement>> {
        let count = rows.len() / width;
        let samples = Samples { x: rows.to_vec(), width, y: Targets::Unknown(count), weights: None };
        let all = self.judges.iter().map(|juror| (juror, false)).chain(self.asked.iter().map(|juror| (juror, true)));
        let mut verdicts: Vec<Vec<Verdict>> = vec![vec![]; count];
        for (juror, asked) in all {
            for (row, uncertainty) in juror.uncertainty(&samples, task)?.into_iter().enumerate() {
                let certain = uncertainty < self.threshold;
                verdicts[row].push(Verdict { juror: juror.name.clone(), asked, uncertainty, certain });
            }
        }
        Ok(verdicts.into_iter().map(Agreement::of).collect())
    }
}
