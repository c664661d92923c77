//! When rows count as uncertain, and when as certain.

use crate::uncertainty::Uncertainty;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::str::FromStr;

/// A threshold on the uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// An uncertainty in nats, or for a regression in the target's unit.
    Value(f32),
    /// The uncertainty that this share of a group's rows stays below, between 0 and 1.
    Quantile(f64),
}

impl Limit {
    /// The threshold for a group with these uncertainties, in rising order.
    pub(super) fn among(self, sorted: &[f32]) -> f32 {
        match self {
            Self::Value(value) => value,
            Self::Quantile(share) => {
                let place = (share * (sorted.len() - 1) as f64).round() as usize;
                sorted[place.min(sorted.len() - 1)]
            }
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is no threshold; give an uncertainty such as 0.5, or a share of rows such as 95%");
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
        match text.strip_suffix('%') {
            Some(percent) => match number(percent).filter(|percent| *percent <= 100.0) {
                Some(percent) => Ok(Self::Quantile(percent / 100.0)),
                None => Err(wrong()),
            },
            None => number(text).map(|value| value as f32).filter(|v| v.is_finite()).map(Self::Value).ok_or_else(wrong),
        }
    }
}

/// A number, a share as `"95%"`, or what is written: `{ quantile = 0.95 }`.
impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f32),
            Text(String),
            Value { value: f32 },
            Quantile { quantile: f64 },
        }
        match Written::deserialize(deserializer)? {
            Written::Number(value) | Written::Value { value } => Ok(Self::Value(value)),
            Written::Quantile { quantile } => Ok(Self::Quantile(quantile)),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Quantile(share) => write!(f, "{}%", 100.0 * share),
        }
    }
}

/// Limits above which a row counts as uncertain, and below which it counts as certain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Limit above which a row counts as uncertain.
    pub uncertain_above: Limit,
    /// Limit below which a row counts as certain.
    pub certain_below: Limit,
    /// Kind of uncertainty that both limits are for.
    pub kind: Uncertainty,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_reads_as_an_option_says_it_and_as_it_is_written() {
        for (text, limit) in [
            ("0.5", Limit::Value(0.5)),
            ("\"95%\"", Limit::Quantile(0.95)),
            ("{\"value\":0.5}", Limit::Value(0.5)),
            ("{\"quantile\":0.95}", Limit::Quantile(0.95)),
        ] {
            assert_eq!(serde_json::from_str::<Limit>(text).unwrap(), limit, "{text}");
        }
        assert!(serde_json::from_str::<Limit>("\"much\"").is_err());
    }

    #[test]
    fn a_threshold_is_an_uncertainty_or_a_share() {
        for (text, limit) in [
            ("0.5", Limit::Value(0.5)),
            ("0", Limit::Value(0.0)),
            ("95%", Limit::Quantile(0.95)),
            ("5 %", Limit::Quantile(0.05)),
            ("100%", Limit::Quantile(1.0)),
        ] {
            assert_eq!(text.parse::<Limit>().unwrap(), limit, "{text}");
            assert_eq!(limit.to_string().parse::<Limit>().unwrap(), limit, "{limit} is read as it is written");
        }
        for text in ["", "%", "many", "-1", "-5%", "101%", "nan", "inf", "0,5", "1e39"] {
            let message = text.parse::<Limit>().unwrap_err();
            assert!(message.contains(&format!("`{text}`")) && message.contains("95%"), "{message}");
        }
    }

    #[test]
    fn thresholds_read_back_as_they_were_written() {
        let [uncertain_above, certain_below] = [Limit::Quantile(0.95), Limit::Value(0.1)];
        let thresholds = Thresholds { uncertain_above, certain_below, kind: Uncertainty::Total };
        let json = serde_json::to_string(&thresholds).unwrap();
        assert_eq!(serde_json::from_str::<Thresholds>(&json).unwrap(), thresholds);
        let message = serde_json::from_str::<Thresholds>("{\"colour\":3}").unwrap_err().to_string();
        assert!(message.contains("unknown field `colour`"), "{message}");
    }
}
