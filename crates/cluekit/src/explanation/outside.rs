//! Numbers of an input that are unlike the training rows: doubt that comes from the input itself.

use serde::{Deserialize, Serialize};

/// A number of an input that stands out from the training rows, alone or beside the input's other values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outside {
    /// Name of the feature.
    pub feature: String,
    /// Value of the feature in the input.
    pub value: f64,
    /// Whether the value lies outside of the range that the training rows hold.
    pub beyond: bool,
    /// The least and the greatest value of the training rows.
    pub range: [f64; 2],
    /// Between which values nine of ten training rows lie that are otherwise like the input.
    pub usual: [f64; 2],
    /// How many deviations of these rows the value lies off.
    pub score: f32,
    /// Unit of all values; none if the schema names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl Outside {
    /// The fact as a sentence; `show` writes a number as the data does.
    pub fn worded(&self, show: &dyn Fn(f64) -> String) -> String {
        let Self { feature, range: [least, greatest], usual: [low, high], .. } = self;
        let unit = self.unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
        let between = |low: &f64, high: &f64| match (show(*low), show(*high)) {
            (low, high) if low == high => format!("{low}{unit}"),
            (low, high) => format!("{low} to {high}{unit}"),
        };
        let value = show(self.value);
        match self.beyond {
            true => {
                let held = between(least, greatest);
                format!("{feature} = {value}{unit} lies outside of what training rows hold ({held})")
            }
            false => {
                let held = between(low, high);
                format!(
                    "{feature} = {value}{unit} is unusual beside the other values: similar training rows hold {held}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_stands_out_is_said_with_what_training_rows_hold() {
        let age = Outside {
            feature: "AGE".into(),
            value: 460.0,
            beyond: true,
            range: [21.0, 79.0],
            usual: [25.0, 52.0],
            score: 7.5,
            unit: Some("years".into()),
        };
        let show = |value: f64| format!("{value}");
        assert_eq!(age.worded(&show), "AGE = 460 years lies outside of what training rows hold (21 to 79 years)");
        let old = Outside { value: 75.0, beyond: false, unit: None, ..age.clone() };
        assert_eq!(
            old.worded(&show),
            "AGE = 75 is unusual beside the other values: similar training rows hold 25 to 52"
        );
        let same = Outside { usual: [30.0, 30.0], ..old };
        assert!(same.worded(&show).ends_with("similar training rows hold 30"));
        let written = serde_json::to_string(&age).unwrap();
        assert_eq!(serde_json::from_str::<Outside>(&written).unwrap(), age);
    }
}
