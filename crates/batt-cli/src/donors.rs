//! Solvers as donors of a batt: what they are called, how large their tasks are, and what can be made of them by chance.

use std::collections::{HashMap, HashSet};

use batt_arc::Task;
use batt_evolve::Mutant;
use batt_lang::Program;
use batt_lang::card::CardDonor;

use crate::ui::counted;

/// What a solver is called in a batt, if nobody else is: by its task, or by its name.
pub fn id_of<'a>(program: &'a Program, task: Option<&'a Task>) -> &'a str {
    match task {
        Some(task) => &task.id,
        None => id_in(program.name()),
    }
}

/// The id of a task in the name of its solver.
fn id_in(name: &str) -> &str {
    ["solve_", "solver_", "verify_"]
        .into_iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|id| !id.is_empty())
        .unwrap_or(name)
}

/// Ids given away so far: each once.
#[derive(Default)]
pub struct Ids {
    taken: HashSet<String>,
    /// How many of each asked for; the search for a free number goes on from there.
    asked: HashMap<String, usize>,
}

impl Ids {
    /// The id, or the id with the first number that makes it another one: `x`, `x.2`, `x.3`.
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

/// The size of a task: the cells of all its grids.
pub fn cells(task: &Task) -> usize {
    let pairs = task.pairs().map(|(_, pair)| {
        let output = pair.output.as_ref().map_or(0, |grid| grid.cells().len());
        pair.input.cells().len() + output
    });
    pairs.sum()
}

/// Mutants of donors of one dialect, made by chance.
pub fn mutants(donors: &[CardDonor<'_>], count: usize, seed: u64) -> Vec<Mutant> {
    let programs: Vec<&Program> = donors.iter().map(|donor| donor.program).collect();
    batt_evolve::mutants(&programs, count, seed)
}

/// How many solvers there are, and how many of them are mutants, in words.
pub fn in_words(solvers: usize, mutants: usize) -> String {
    let solvers = counted(solvers, "solver");
    match mutants {
        0 => solvers,
        mutants => format!("{solvers} ({})", counted(mutants, "mutant")),
    }
}

/// Adds the mutants of donors to them. Those of `x` are called `x.m1`, `x.m2`, and so on.
pub fn add_mutants<'p>(donors: &mut Vec<CardDonor<'p>>, mutants: &'p [Mutant]) {
    let mut counts = vec![0; donors.len()];
    for mutant in mutants {
        let count = &mut counts[mutant.parent];
        *count += 1;
        let parent = &donors[mutant.parent];
        donors.push(CardDonor {
            id: format!("{}.m{count}", parent.id),
            program: &mutant.program,
            size: parent.size,
            mutated: true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_task() {
        for (name, id) in [
            ("solve_1673c3ec", "1673c3ec"),
            ("solver_1673c3ec", "1673c3ec"),
            ("verify_1673c3ec_one", "1673c3ec_one"),
            ("solve_", "solve_"),
            ("solve", "solve"),
            ("my_own", "my_own"),
        ] {
            assert_eq!(id_in(name), id, "{name}");
        }
    }

    #[test]
    fn no_id_is_given_twice() {
        let mut ids = Ids::default();
        let taken = ["a", "a.2", "a", "b", "a", "a.2"].map(|id| ids.take(id));
        assert_eq!(taken, ["a", "a.2", "a.3", "b", "a.4", "a.2.2"]);
    }
}
