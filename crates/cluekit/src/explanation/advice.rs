//! What to try next for an input without an accepted clue.

use crate::error::{Remedy, alternatives};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is known of an input without an accepted clue, and what to try next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Advice {
    /// A certain point lies within reach of a search that looks for certainty alone.
    WithinReach {
        /// The search that found no clue.
        #[serde(flatten)]
        searched: Searched,
        /// The latent distance of the nearest certain point that was found.
        nearest: f64,
        /// Things to try; any one of them may help.
        remedies: Vec<Remedy>,
    },
    /// A certain point lies outside the ball.
    FartherAway {
        /// The search that found no clue.
        #[serde(flatten)]
        searched: Searched,
        /// The latent distance of the nearest certain point that was found.
        nearest: f64,
        /// Things to try, in this order: the others after the first.
        remedies: Vec<Remedy>,
    },
    /// No certain point was found, inside the ball or outside.
    NoneFound {
        /// The search that found no clue.
        #[serde(flatten)]
        searched: Searched,
        /// Things to try; any one of them may help.
        remedies: Vec<Remedy>,
    },
    /// No row of a table was found that is certain and allowed: how near the search came, and what would help.
    NearestMiss {
        /// Uncertainty below which a clue is accepted.
        threshold: f32,
        /// Least uncertainty of the rows that were found; below the threshold if they were refused for other reasons.
        reached: f32,
        /// What was looked at exhaustively; none where a scan would have been too long.
        scanned: Option<Scanned>,
        /// Constraints that were loosened alone and led to a clue; none where that was not tried.
        loosened: Option<Vec<Loosening>>,
        /// Things to try; any one of them may help.
        remedies: Vec<Remedy>,
    },
    /// The clue is accepted, and a judge doubts it: how many changes would convince all judges.
    Doubted {
        /// Largest number of changes that the constraints allow.
        most_changed: usize,
        /// Number of changes of a clue that all judges believe; none if no such clue was found with any number.
        changes: Option<usize>,
        /// Things to try; any one of them may help.
        remedies: Vec<Remedy>,
    },
    /// No mapper was fitted for the classes of the input.
    NoMapper {
        /// Things to try; any one of them may help.
        remedies: Vec<Remedy>,
    },
    /// No answer of the mappers was accepted.
    NoAnswer {
        /// Uncertainty below which an answer is accepted.
        threshold: f32,
        /// Number of steps of CLUE that started at each answer.
        refine: usize,
        /// Things to try; any one of them may help.
        remedies: Vec<Remedy>,
    },
}

/// Rows that were all looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scanned {
    /// Largest number of changes of these rows.
    pub changes: usize,
    /// Number of these rows.
    pub rows: usize,
}

/// A constraint that was loosened, and what that led to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Loosening {
    /// What was allowed, as the end of "there is one if …".
    pub allowed: String,
    /// Uncertainty of the clue that was found then.
    pub uncertainty: f32,
}

/// A search without an accepted clue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Searched {
    /// Uncertainty below which a clue is accepted.
    pub threshold: f32,
    /// Radius δ of the ball; none for an unbounded search.
    pub delta: Option<f32>,
    /// Largest number of steps of each search.
    pub steps: usize,
}

impl Advice {
    /// Things to try, as [`Remedy`] values.
    pub fn remedies(&self) -> &[Remedy] {
        match self {
            Self::WithinReach { remedies, .. }
            | Self::FartherAway { remedies, .. }
            | Self::NoneFound { remedies, .. }
            | Self::NearestMiss { remedies, .. }
            | Self::Doubted { remedies, .. }
            | Self::NoMapper { remedies }
            | Self::NoAnswer { remedies, .. } => remedies,
        }
    }

    /// The advice as a sentence; `word` puts each remedy into words.
    pub fn worded(&self, word: &dyn Fn(&Remedy) -> String) -> String {
        let any = alternatives(self.remedies(), word);
        match self {
            Self::WithinReach { searched, nearest, .. } => {
                let at = figures(*nearest);
                format!("{searched}; there is one at {at} when nothing but certainty counts: {any}")
            }
            Self::FartherAway { searched, nearest, remedies } => {
                let at = figures(*nearest);
                let (first, then) = remedies.split_at(remedies.len().min(1));
                let first = alternatives(first, word);
                match then {
                    [] => format!("{searched}; the nearest found lies at {at}: {first}"),
                    then => {
                        let then = alternatives(then, word);
                        format!("{searched}; the nearest found lies at {at}: {first}, and {then} if that is not enough")
                    }
                }
            }
            Self::NoneFound { searched, .. } => format!("{searched}; none was found beyond either: {any}"),
            Self::NearestMiss { threshold, reached, .. } if reached < threshold => {
                let surest = figures(f64::from(*reached));
                format!("rows below {threshold} were found, down to {surest}, and refused for other reasons: {any}")
            }
            Self::NearestMiss { threshold, reached, scanned, loosened, .. } => {
                let near = match reached.is_finite() {
                    true => format!("the nearest row that was found has {}", figures(f64::from(*reached))),
                    false => "no row that the constraints allow was found".into(),
                };
                let all = scanned.map(|Scanned { changes, rows }| {
                    let changes = if changes == 1 { "one change" } else { "one change or two" };
                    format!("; none of all {rows} rows with {changes} to values of the training rows is certain enough")
                });
                let helped = loosened.as_ref().map(|loosened| match loosened.as_slice() {
                    [] => "; no constraint is in the way alone".to_owned(),
                    all => {
                        let one = |Loosening { allowed, uncertainty }: &Loosening| {
                            format!("{allowed} ({})", figures(f64::from(*uncertainty)))
                        };
                        format!("; there is one if {}", all.iter().map(one).collect::<Vec<_>>().join(", or if "))
                    }
                });
                let more = [all, helped].into_iter().flatten().collect::<String>();
                format!("no clue below {threshold} was found; {near}{more}: {any}")
            }
            Self::Doubted { most_changed, changes, .. } => {
                let limit =
                    if *most_changed == 1 { "one change".into() } else { format!("at most {most_changed} changes") };
                match changes {
                    Some(changes) => {
                        format!(
                            "no clue with {limit} was found that all judges believe; there is one with {changes}: {any}"
                        )
                    }
                    None => format!("no clue that all judges believe was found, with {limit} or with more"),
                }
            }
            Self::NoMapper { .. } => format!("no mapper serves this input, none was fitted for its classes: {any}"),
            Self::NoAnswer { threshold, .. } => format!("no mapper has an accepted answer below {threshold}: {any}"),
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.worded(&Remedy::to_string))
    }
}

impl fmt::Display for Searched {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "the search found no clue below {} ", self.threshold)?;
        match self.delta {
            Some(radius) => write!(f, "within δ = {}", figures(radius.into())),
            None => write!(f, "after {} steps", self.steps),
        }
    }
}

/// Three digits that say something.
fn figures(value: f64) -> String {
    let decimals = (2 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The number of three digits that say something next to `value`.
pub(crate) fn rounded(value: f64) -> f64 {
    figures(value).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn farther() -> Advice {
        let searched = Searched { threshold: 0.2, delta: Some(2.0), steps: 100 };
        let remedies = vec![Remedy::set([("delta", 4.2)]), Remedy::raise("steps")];
        Advice::FartherAway { searched, nearest: 4.0, remedies }
    }

    #[test]
    fn advice_is_a_sentence_in_plain_language() {
        assert_eq!(
            farther().to_string(),
            "the search found no clue below 0.2 within δ = 2; the nearest found lies at 4: try delta = 4.2, and raise \
             `steps` if that is not enough"
        );
    }

    #[test]
    fn a_nearest_miss_names_what_was_searched_and_what_would_help() {
        let loosening = |allowed: &str, uncertainty| Loosening { allowed: allowed.into(), uncertainty };
        let miss = Advice::NearestMiss {
            threshold: 0.32,
            reached: 0.41,
            scanned: Some(Scanned { changes: 2, rows: 12_345 }),
            loosened: Some(vec![loosening("4 features may change", 0.3), loosening("`AGE` may change", 0.25)]),
            remedies: vec![Remedy::set([("most_changed", 4_usize)]), Remedy::set([("threshold", 0.42)])],
        };
        assert_eq!(
            miss.to_string(),
            "no clue below 0.32 was found; the nearest row that was found has 0.41; none of all 12345 rows with one \
             change or two to values of the training rows is certain enough; there is one if 4 features may change \
             (0.3), or if `AGE` may change (0.25): try most_changed = 4, or try threshold = 0.42"
        );
        assert_eq!(serde_json::from_value::<Advice>(serde_json::to_value(&miss).unwrap()).unwrap(), miss);
        let remedies = vec![Remedy::lower("plausible")];
        let odd = Advice::NearestMiss { threshold: 0.32, reached: 0.2, scanned: None, loosened: None, remedies };
        assert_eq!(
            odd.to_string(),
            "rows below 0.32 were found, down to 0.2, and refused for other reasons: lower `plausible`"
        );
    }

    #[test]
    fn a_doubted_clue_is_told_how_many_changes_would_convince_all_judges() {
        let said = |most_changed, changes: Option<usize>| {
            let remedies = changes.map(|changes| Remedy::set([("most_changed", changes)])).into_iter().collect();
            Advice::Doubted { most_changed, changes, remedies }.to_string()
        };
        assert_eq!(
            said(3, Some(5)),
            "no clue with at most 3 changes was found that all judges believe; there is one with 5: try most_changed = 5"
        );
        assert_eq!(said(1, None), "no clue that all judges believe was found, with one change or with more");
    }

    #[test]
    fn every_number_of_the_sentence_is_a_field() {
        let written = serde_json::to_value(farther()).unwrap();
        let expected = serde_json::json!({
            "kind": "farther-away", "threshold": 0.2_f32, "delta": 2.0, "steps": 100, "nearest": 4.0,
            "remedies": [{"kind": "set", "settings": {"delta": 4.2}}, {"kind": "raise", "setting": "steps"}],
        });
        assert_eq!(written, expected);
        assert_eq!(serde_json::from_value::<Advice>(written).unwrap(), farther());
    }

    #[test]
    fn radii_have_three_digits_that_say_something() {
        assert_eq!([0.27006918, 2.0, 0.0004, 1234.5, 3.2178].map(figures), ["0.27", "2", "0.0004", "1234", "3.22"]);
        assert_eq!([0.27006918, 3.2178].map(rounded), [0.27, 3.22]);
    }
}
