//! What a translation of a whole group of rows does to the features of a table, as text.

use cluekit::audit::{FeatureShift, ShiftKind};
use cluekit::wording::grouped;
use serde::Serialize;

/// Figures that tell changes apart; further ones of a mean would say nothing.
const FIGURES: i32 = 2;
/// Decimals of a mean beyond those of the data.
const FINER: u32 = 2;
const MOST_DECIMALS: u32 = 8;

/// A line a shift, the largest first; after `most` of them, how many are left.
pub fn shift_table(shifts: &[FeatureShift], most: usize) -> String {
    let rows = shift_rows(shifts, most);
    let width = |of: fn(&ShiftRow) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let [name, before, after] = [width(|row| &row.name), width(|row| &row.before), width(|row| &row.after)];
    let change = width(|row| &row.change);
    let mut text = String::new();
    for row in &rows {
        let line = format!(
            "  {:<name$}  {:>before$} → {:<after$}  {:>change$} {}",
            row.name, row.before, row.after, row.change, row.unit
        );
        text += line.trim_end();
        text.push('\n');
    }
    if shifts.len() > rows.len() {
        text += &format!("  and {} more that change less\n", shifts.len() - rows.len());
    }
    text
}

/// The largest shifts in words.
pub(crate) fn shift_rows(shifts: &[FeatureShift], most: usize) -> Vec<ShiftRow> {
    let mut ordered: Vec<&FeatureShift> = shifts.iter().collect();
    // What is no number comes last.
    let size = |shift: &FeatureShift| if shift.size().is_nan() { -1.0 } else { shift.size() };
    ordered.sort_by(|a, b| size(b).total_cmp(&size(a)));
    ordered.into_iter().take(most).map(ShiftRow::of).collect()
}

/// A shift in words.
#[derive(Serialize)]
pub(crate) struct ShiftRow {
    name: String,
    before: String,
    after: String,
    change: String,
    unit: String,
}

impl ShiftRow {
    fn of(shift: &FeatureShift) -> Self {
        let FeatureShift { feature, before, after, .. } = shift;
        match &shift.kind {
            ShiftKind::Number { decimals, .. } => {
                let most = decimals.map_or(MOST_DECIMALS, |d| d.saturating_add(FINER).min(MOST_DECIMALS));
                let unit = shift.unit.clone().unwrap_or_default();
                Self::written(feature.clone(), [*before, *after], decimals_for(shift.change).min(most), "", unit)
            }
            ShiftKind::Share { category } => {
                let points = [100.0 * before, 100.0 * after];
                let decimals = if shift.change.abs() < 0.01 { 1 } else { 0 };
                let row = Self::written(format!("{feature} = {category}"), points, decimals, "%", "points".into());
                let single = ["+1", "-1"].contains(&row.change.as_str());
                if single { Self { unit: "point".into(), ..row } } else { row }
            }
        }
    }

    /// Both ends with so many decimals, and the difference between what is written.
    fn written(name: String, ends: [f64; 2], decimals: u32, sign: &str, unit: String) -> Self {
        let places = decimals as usize;
        let power = 10_f64.powi(decimals as i32);
        let [before, after] = ends.map(|value| (value * power).round() / power + 0.0);
        let number = |value: f64| grouped(&format!("{value:.places$}"));
        let change = after - before;
        let change = if change.abs() <= 0.0 { number(0.0) } else { grouped(&format!("{change:+.places$}")) };
        Self { name, before: number(before) + sign, after: number(after) + sign, change, unit }
    }
}

/// So many decimals that `change` has [`FIGURES`] figures.
fn decimals_for(change: f64) -> u32 {
    let magnitude = change.abs().log10().floor();
    if magnitude.is_finite() { (FIGURES - 1 - magnitude as i32).clamp(0, MOST_DECIMALS as i32) as u32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(
        feature: &str,
        unit: Option<&str>,
        ends: [f64; 2],
        decimals: Option<u32>,
        deviation: f64,
    ) -> FeatureShift {
        let kind = ShiftKind::Number { decimals, deviation };
        FeatureShift::new(feature, unit.map(Into::into), ends[0], ends[1], kind)
    }

    fn share(feature: &str, category: &str, before: f64, after: f64) -> FeatureShift {
        FeatureShift::new(feature, None, before, after, ShiftKind::Share { category: category.into() })
    }

    fn shown(shifts: &[FeatureShift], most: usize) -> String {
        shift_table(shifts, most).replace('\u{202f}', "_")
    }

    fn clients() -> Vec<FeatureShift> {
        vec![
            share("SEX", "female", 0.544, 0.606),
            number("LIMIT_BAL", Some("NT$"), [167_484.3, 212_310.1], Some(0), 129_747.0),
            number("AGE", Some("years"), [35.486, 35.91], Some(0), 9.2),
            number("PAY_0", None, [1.24, -0.02], Some(0), 1.1),
            share("MARRIAGE", "married", 0.455, 0.4512),
        ]
    }

    #[test]
    fn the_largest_changes_come_first_in_the_units_of_the_data() {
        let expected = "  \
  PAY_0                   1.2 → 0.0         -1.2
  LIMIT_BAL           167_484 → 212_310  +44_826 NT$
  SEX = female            54% → 61%           +7 points
  AGE                   35.49 → 35.91      +0.42 years
  MARRIAGE = married    45.5% → 45.1%       -0.4 points
";
        assert_eq!(shown(&clients(), 10), expected);
    }

    #[test]
    fn at_most_so_many_rows_and_then_how_many_are_left() {
        let text = shown(&clients(), 2);
        assert_eq!(text.lines().count(), 3);
        assert!(text.ends_with("  and 3 more that change less\n"), "{text}");
        assert!(!shown(&clients(), 5).contains("more"));
        assert_eq!(shown(&[], 5), "");
    }

    #[test]
    fn the_change_is_the_difference_between_what_is_written() {
        // 54.4 and 60.6 are 6.2 apart, but 54 and 61 are 7.
        assert!(shown(&clients(), 5).contains("54% → 61%           +7 points"));
        assert_eq!(shown(&[share("SEX", "female", 0.544, 0.556)], 1), "  SEX = female  54% → 56%  +2 points\n");
        assert_eq!(shown(&[share("SEX", "female", 0.541, 0.529)], 1), "  SEX = female  54% → 53%  -1 point\n");
    }

    #[test]
    fn nothing_changes_without_a_sign_and_what_is_no_number_comes_last() {
        let shifts = [
            number("a", None, [f64::NAN, 1.0], None, 1.0),
            number("b", None, [2.0, 2.0], None, 0.0),
            number("c", None, [0.0, 1e-12], None, 1.0),
        ];
        let text = shown(&shifts, 5);
        let names: Vec<&str> = text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
        assert_eq!(names, ["c", "b", "a"], "{text}");
        assert!(text.contains("2 → 2") && !text.contains("+0\n") && text.ends_with("NaN\n"), "{text}");
    }

    #[test]
    fn a_shift_is_saved_with_its_kind_by_name() {
        let saved = serde_json::to_value(&clients()[..2]).unwrap();
        assert_eq!(saved[0]["kind"]["share"]["category"], "female");
        assert_eq!(saved[1]["kind"]["number"]["deviation"], 129_747.0);
        assert_eq!(saved[1]["unit"], "NT$");
        assert!(saved[0].get("unit").is_none());
    }
}
