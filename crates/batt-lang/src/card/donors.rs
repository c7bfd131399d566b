//! The ids of donors, the solvers merged into a batt.

use std::collections::{HashMap, HashSet};

/// Returns the id of a solver whose task is not known: its name without the prefix `solve_`,
/// `solver_` or `verify_`.
///
/// ```
/// use batt_lang::card::donor_id;
///
/// assert_eq!(donor_id("solve_1673c3ec"), "1673c3ec");
/// assert_eq!(donor_id("my_own"), "my_own");
/// ```
pub fn donor_id(name: &str) -> &str {
    ["solve_", "solver_", "verify_"]
        .into_iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|id| !id.is_empty())
        .unwrap_or(name)
}

/// Gives every donor of a batt a unique id.
#[derive(Debug, Default)]
pub struct DonorIds {
    taken: HashSet<String>,
    /// How often each id was requested. The search for a free number continues from this count.
    asked: HashMap<String, usize>,
}

impl DonorIds {
    /// Returns the id, or the id with the first number that makes it unique: `x`, `x.2`, `x.3`.
    pub fn take(&mut self, id: &str) -> String {
        let asked = self.asked.entry(id.to_owned()).or_default();
        loop {
            *asked += 1;
            let id = match *asked {
                1 => id.to_owned(),
                n => format!("{id}.{n}"),
            };
            if self.taken.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// Returns the id of the `n`th mutant of a donor, counted from 1: `x.m1`.
pub fn mutant_id(parent: &str, n: usize) -> String {
    format!("{parent}.m{n}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_from_function_names() {
        for (name, id) in [
            ("solve_1673c3ec", "1673c3ec"),
            ("solver_1673c3ec", "1673c3ec"),
            ("verify_1673c3ec_one", "1673c3ec_one"),
            ("solve_", "solve_"),
            ("solve", "solve"),
            ("my_own", "my_own"),
        ] {
            assert_eq!(donor_id(name), id, "{name}");
        }
    }

    #[test]
    fn no_id_is_given_twice() {
        let mut ids = DonorIds::default();
        let taken = ["a", "a.2", "a", "b", "a", "a.2"].map(|id| ids.take(id));
        assert_eq!(taken, ["a", "a.2", "a.3", "b", "a.4", "a.2.2"]);
    }
}
