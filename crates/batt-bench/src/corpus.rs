//! The solvers, tasks and samples to measure on, and batts of the solvers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::{Solver, Solvers, Tasks};
use batt_arc::{Dataset, Pair};
use batt_dsl::Dialect;
use batt_engine::{Cancel, Compiled, Sample};
use batt_evolve::Mutant;
use batt_lang::card::{CardDonor, CardMerged, CardOptions, differs, merge, select};
use batt_lang::{Batt, OnError, Program};

use crate::options::advised;
use crate::text::{counted, note};
use crate::turns::spread;

/// Solvers and the tasks to run them on.
pub struct Corpus {
    pub solvers: Solvers,
    pub data: Tasks,
}

impl Corpus {
    /// Loads the named files. Built-in solvers or puzzles replace those that are not named.
    pub fn load(
        solvers: &[PathBuf],
        tasks: Option<&Path>,
        dialect: Option<Dialect>,
    ) -> Result<Corpus> {
        let solvers = match solvers {
            [] => Solvers::embedded(),
            paths => Solvers::load(paths, dialect)?,
        };
        let errors = solvers.diagnostics().filter(|d| d.is_error()).count();
        if errors > 0 {
            let errors = counted(errors, "error");
            note(format_args!(
                "{errors} in the solver files; `batt check` lists them"
            ));
        }
        if solvers.is_empty() {
            return Err(advised(
                "none of the functions takes I, or some of S, I and C",
                "a solver is def solve_<task id>(I) or (S, I, C)",
            ));
        }
        let data = match tasks {
            Some(path) => Tasks::load(path)?,
            None => Tasks::embedded(),
        };
        if data.pair_count() == 0 {
            return Err(advised(
                "there is no sample to run",
                "name tasks that have at least one pair with --tasks",
            ));
        }
        Ok(Corpus { solvers, data })
    }

    /// Returns the solvers as donors of a batt.
    pub fn donors(&self) -> Vec<CardDonor<'_>> {
        donors(self.programs(), &self.data)
    }

    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.solvers.iter().map(Solver::program)
    }

    /// Compiles the solvers.
    pub fn compiled(&self) -> Vec<Compiled> {
        self.programs().map(Compiled::new).collect()
    }

    /// Returns every sample of every task, in an order of which any prefix is spread evenly.
    pub fn samples(&self) -> Vec<Sample<'_>> {
        let all: Vec<Sample<'_>> = self
            .data
            .pairs()
            .map(|(task, _, pair)| Sample::new(task, pair))
            .collect();
        spread(all.len()).map(|k| all[k]).collect()
    }

    /// Returns the samples of a number of tasks, repeated if there are fewer.
    pub fn samples_of(&self, tasks: usize) -> Vec<Sample<'_>> {
        let tasks = self.data.iter().cycle().take(tasks);
        tasks
            .flat_map(|task| task.pairs().map(|(_, pair)| Sample::new(task, pair)))
            .collect()
    }

    /// Returns a number of demonstrations of all tasks, repeated if there are fewer.
    pub fn demos(&self, count: usize) -> Vec<Pair> {
        let all = self.data.iter().flat_map(|task| &task.train);
        all.cycle().take(count).cloned().collect()
    }
}

/// Turns programs into donors of a batt. An id is that of the task, or the name of the program,
/// with a number if it is already in use.
pub fn donors<'p>(
    programs: impl Iterator<Item = &'p Program>,
    data: &Dataset,
) -> Vec<CardDonor<'p>> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let donor = |program: &'p Program| {
        let task = data.task_of(program.name());
        let id = task.map_or(program.name(), |task| &task.id);
        let count = counts.entry(id.to_owned()).or_default();
        *count += 1;
        CardDonor {
            id: match *count {
                1 => id.to_owned(),
                n => format!("{id}.{n}"),
            },
            program,
            size: None,
            mutated: false,
        }
    };
    programs.map(donor).collect()
}

/// Makes mutants of donors of one dialect.
pub fn mutants(donors: &[CardDonor<'_>], count: usize, seed: u64) -> Vec<Mutant> {
    let programs: Vec<&Program> = donors.iter().map(|donor| donor.program).collect();
    batt_evolve::mutants(&programs, count, seed, &Cancel::new())
}

/// Adds mutants to their donors.
pub fn add_mutants<'p>(donors: &mut Vec<CardDonor<'p>>, mutants: &'p [Mutant]) {
    for (number, mutant) in mutants.iter().enumerate() {
        donors.push(CardDonor {
            id: format!("{}.m{}", donors[mutant.parent].id, number + 1),
            program: &mutant.program,
            size: None,
            mutated: true,
        });
    }
}

/// Draws a number of solvers at random, or takes all. Fails unless they share one dialect.
pub fn drawn<'p>(
    donors: &[CardDonor<'p>],
    count: Option<usize>,
    seed: u64,
) -> Result<Vec<CardDonor<'p>>> {
    let drawn = select(donors, count, None, seed);
    let drawn = drawn.map_err(|error| advised(error, "ask for fewer with --count"))?;
    let dialect = |donor: &CardDonor<'_>| donor.program.dialect();
    match drawn
        .iter()
        .find(|donor| dialect(donor) != dialect(&drawn[0]))
    {
        None => Ok(drawn),
        Some(odd) => Err(advised(
            format_args!("'{}' and '{}' are of two dialects", drawn[0].id, odd.id),
            "name solver files of one dialect",
        )),
    }
}

/// Merges solvers into one batt, with the built-in differs or without.
pub fn merged(donors: &[CardDonor<'_>], with_differs: bool) -> Result<CardMerged> {
    merged_for(donors, with_differs, OnError::default())
}

fn merged_for(
    donors: &[CardDonor<'_>],
    with_differs: bool,
    on_error: OnError,
) -> Result<CardMerged> {
    let dialect = donors.first().map(|donor| donor.program.dialect());
    let differs = match with_differs {
        true => differs(dialect.unwrap_or_default()),
        false => Vec::new(),
    };
    let options = CardOptions {
        on_error,
        ..CardOptions::default()
    };
    merge(donors, &differs, &options)
        .map_err(|error| advised(error, "name solver files of one dialect"))
}

/// Merges the first solvers with the built-in differs, as many as give about `steps` steps.
pub fn merged_to_size(donors: &[CardDonor<'_>], steps: usize, on_error: OnError) -> Result<Batt> {
    let batt =
        |count: usize| Ok::<_, anyhow::Error>(merged_for(&donors[..count], true, on_error)?.batt);
    let (mut low, mut high) = (1, donors.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match batt(middle)?.program.steps().len() < steps {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    batt(low)
}
