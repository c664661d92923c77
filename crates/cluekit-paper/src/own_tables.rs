//! Three tables that are made here, with the rule that their targets follow, and a policy for each.
//!
//! They hold what makes counterfactuals of real tables hard: categories that never come together, amounts that are
//! mostly zero, numbers that move together, an interaction that no single change undoes, one choice that comes as several
//! binary columns. Targets are drawn from known probabilities, so that rows near the border are unsure for good reasons.

use cluekit::Seed;
use cluekit::data::Constraints;
use cluekit::error::Result;
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_distr::{Distribution, LogNormal, Normal, Poisson};
use std::fmt::Write;

/// Rows of each table.
const ROWS: usize = 6000;

/// A table with a known rule.
#[derive(Clone, Debug)]
pub struct OwnTable {
    /// Name of the table.
    pub name: &'static str,
    /// Column that is predicted.
    pub target: &'static str,
    /// What may be changed, as a table of constraints.
    pub policy: &'static str,
    /// The rows as CSV, with a header.
    pub csv: String,
}

impl OwnTable {
    /// All three tables, drawn from a seed.
    pub fn all(seed: Seed) -> [Self; 3] {
        [salaries(seed), pumps(seed), visits(seed)]
    }

    /// The policy as constraints.
    pub fn constraints(&self) -> Result<Constraints> {
        toml::from_str(self.policy).map_err(|problem| cluekit::Error::data(format!("{}: {problem}", self.name)))
    }
}

type Rng = cluekit::seed::Rng;

fn normal(rng: &mut Rng, mean: f64, deviation: f64) -> f64 {
    Normal::new(mean, deviation).expect("a positive deviation").sample(rng)
}

fn is_drawn(rng: &mut Rng, log_odds: f64) -> bool {
    rng.random::<f64>() < 1.0 / (1.0 + (-log_odds).exp())
}

/// Who earns more: schooling, hours and gains count; gains are mostly zero; a status and a role belong together.
fn salaries(seed: Seed) -> OwnTable {
    let mut rng = seed.stream("quality: salaries");
    let mut csv = "age,sex,schooling,hours,status,role,job,gain,loss,rich\n".to_owned();
    for _ in 0..ROWS {
        let age = normal(&mut rng, 40.0, 12.0).clamp(18.0, 80.0).round();
        let woman = rng.random::<f64>() < 0.45;
        let schooling = normal(&mut rng, 12.0, 2.5).clamp(4.0, 20.0).round();
        let hours = normal(&mut rng, 40.0, 9.0).clamp(5.0, 80.0).round();
        let married = rng.random::<f64>() < 0.15 + 0.6 * ((age - 18.0) / 30.0).min(1.0);
        let status =
            if married { "married" } else { ["single", "divorced", "widowed"].choose(&mut rng).expect("three") };
        let role = match (married, woman) {
            (true, true) => "wife",
            (true, false) => "husband",
            (false, _) => ["own-child", "alone", "with-others"].choose(&mut rng).expect("three"),
        };
        let (job, level) = [("clerk", 0.0), ("sales", 0.2), ("craft", -0.1), ("manager", 0.9), ("expert", 0.8)]
            [usize::from(rng.random_range(0..5_u8))];
        let amount: f64 = LogNormal::new(8.3, 0.9).expect("a positive deviation").sample(&mut rng);
        let gain = if rng.random::<f64>() < 0.1 { amount.min(60_000.0).round() } else { 0.0 };
        let loss =
            if gain == 0.0 && rng.random::<f64>() < 0.06 { normal(&mut rng, 1800.0, 300.0).round() } else { 0.0 };
        let odds = -2.2
            + 0.45 * (schooling - 12.0)
            + 0.05 * (hours - 40.0)
            + 0.03 * (age - 40.0).min(15.0)
            + 1.8 * f64::from(u8::from(married))
            + level
            + gain / 2500.0
            + loss / 1500.0;
        let rich = if is_drawn(&mut rng, 1.6 * odds) { "yes" } else { "no" };
        let sex = if woman { "female" } else { "male" };
        let _ = writeln!(csv, "{age},{sex},{schooling},{hours},{status},{role},{job},{gain},{loss},{rich}");
    }
    let policy = "immutable = ['age', 'sex', 'status']\nonly_up = ['schooling']\nmost_changed = 3\n\
                  ranges = { hours = [20, 60], gain = [0, 20000] }";
    OwnTable { name: "salaries", target: "rich", policy, csv }
}

/// How worn a pump is: five readings follow one load, and much vibration is a fault only where the load is low.
fn pumps(seed: Seed) -> OwnTable {
    let mut rng = seed.stream("quality: pumps");
    let mut csv = "site,kind,age,since_service,load,power,flow,temperature,vibration,pressure,state\n".to_owned();
    for _ in 0..ROWS {
        let site = ["north", "south", "harbour"].choose(&mut rng).expect("three");
        let kind = ["gear", "screw", "piston"].choose(&mut rng).expect("three");
        let age = rng.random_range(0.0_f64..20.0);
        let since = rng.random_range(0..730_i32);
        let load = rng.random_range(0.2_f64..1.0);
        let power = 40.0 * load + normal(&mut rng, 5.0, 1.2);
        let flow = 90.0 * load + normal(&mut rng, 0.0, 4.0) - if *kind == "piston" { 8.0 } else { 0.0 };
        let wear = 0.05 * age + f64::from(since) / 600.0 + normal(&mut rng, 0.0, 0.35);
        let temperature = 45.0 + 25.0 * load + 9.0 * wear + normal(&mut rng, 0.0, 3.0);
        let vibration = (0.8 + 1.4 * load + 0.9 * wear * (1.2 - load) + normal(&mut rng, 0.0, 0.25)).max(0.05);
        let pressure = 6.0 - 1.1 * wear + 0.8 * load + normal(&mut rng, 0.0, 0.4);
        let fault = 3.2 * (vibration - 1.4 * load - 1.3) + 0.12 * (temperature - 25.0 * load - 56.0) - (pressure - 5.2);
        let state = match (is_drawn(&mut rng, 2.2 * fault - 0.5), is_drawn(&mut rng, 2.2 * (fault - 1.2))) {
            (_, true) => "failing",
            (true, false) => "worn",
            (false, false) => "fine",
        };
        let _ = writeln!(
            csv,
            "{site},{kind},{age:.1},{since},{load:.2},{power:.1},{flow:.1},{temperature:.1},{vibration:.2},{pressure:.2},{state}"
        );
    }
    let policy = "immutable = ['site', 'kind', 'age']\nonly_down = ['since_service']\nmost_changed = 3";
    OwnTable { name: "pumps", target: "state", policy, csv }
}

/// Who comes back to a hospital: counts, skewed measurements, and a ward that comes as four binary columns.
fn visits(seed: Seed) -> OwnTable {
    let mut rng = seed.stream("quality: visits");
    let mut csv = "age,sex,ward_a,ward_b,ward_c,ward_d,days,drugs,tests,earlier,protein,sugar,back\n".to_owned();
    for _ in 0..ROWS {
        let age = normal(&mut rng, 62.0, 15.0).clamp(18.0, 98.0).round();
        let sex = ["f", "m"].choose(&mut rng).expect("two");
        let ward = usize::from(rng.random_range(0..4_u8));
        let one = |place: usize| u8::from(place == ward);
        let ill = normal(&mut rng, 0.02 * (age - 62.0), 1.0);
        let days = (4.0 + 2.0 * ill + normal(&mut rng, 0.0, 1.5)).clamp(1.0, 14.0).round();
        let drugs = Poisson::new((10.0 + 4.0 * ill).max(1.0)).expect("a positive mean").sample(&mut rng);
        let tests = Poisson::new((30.0 + 6.0 * days).max(1.0)).expect("a positive mean").sample(&mut rng);
        let earlier =
            Poisson::new((0.2 * (1.4 * ill).exp()).clamp(0.02, 6.0)).expect("a positive mean").sample(&mut rng);
        let protein: f64 = LogNormal::new(1.5 + 0.5 * ill, 0.8).expect("a positive deviation").sample(&mut rng);
        let sugar = normal(&mut rng, 6.0 + 0.7 * f64::from(one(2)), 1.4).max(2.5);
        let odds = -0.9
            + 0.7 * earlier.min(5.0)
            + 0.55 * (protein.ln() - 1.5)
            + 0.09 * (drugs - 10.0)
            + 0.5 * (sugar - 6.2).abs()
            + [0.0, -0.7, 0.6, 0.2][ward];
        let back = if is_drawn(&mut rng, 1.8 * odds) { "yes" } else { "no" };
        let [a, b, c, d] = [0, 1, 2, 3].map(one);
        let _ = writeln!(
            csv,
            "{age},{sex},{a},{b},{c},{d},{days},{drugs},{tests},{earlier},{protein:.1},{sugar:.1},{back}"
        );
    }
    let policy = "immutable = ['age', 'sex']\nonly_down = ['earlier']\nmost_changed = 3";
    OwnTable { name: "visits", target: "back", policy, csv }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(table: &OwnTable) -> (Vec<&str>, Vec<Vec<&str>>) {
        let mut lines = table.csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        (lines.next().expect("a header"), lines.collect())
    }

    #[test]
    fn tables_are_full_and_name_their_target_and_the_features_of_their_policy() {
        for table in OwnTable::all(Seed(0)) {
            let (header, rows) = cells(&table);
            assert_eq!((header.last(), rows.len()), (Some(&table.target), ROWS));
            assert!(rows.iter().all(|row| row.len() == header.len()));
            let policy = table.constraints().expect("a policy that can be read");
            let named = policy.immutable.iter().chain(&policy.only_up).chain(&policy.only_down);
            assert!(named.chain(policy.ranges.keys()).all(|name| header.contains(&name.as_str())), "{}", table.name);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_rows_and_another_others() {
        let csv = |seed| OwnTable::all(Seed(seed)).map(|table| table.csv);
        assert_eq!(csv(3), csv(3));
        assert_ne!(csv(3), csv(4));
    }

    #[test]
    fn no_husband_is_single_and_each_visit_has_one_ward() {
        let [salaries, _, visits] = OwnTable::all(Seed(0));
        let married =
            cells(&salaries).1.iter().all(|row| (row[4] == "married") == ["husband", "wife"].contains(&row[5]));
        assert!(married);
        assert!(cells(&visits).1.iter().all(|row| row[2..6].iter().filter(|&&one| one == "1").count() == 1));
    }
}
