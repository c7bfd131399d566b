//! What the mega-batch workloads are measured on: solvers, tasks, samples.

use std::path::PathBuf;

use anyhow::Result;
use batt_arc::{Dataset, Pair, corpus};
use batt_dsl::Dialect;
use batt_engine::{Compiled, Sample};
use batt_lang::card::{CardOptions, Donor, Merged, differs, merge, select};
use batt_lang::{Batt, OnError, Program, SolverFile};

use super::super::turns::spread;
use crate::donors::{Ids, cells, id_of};
use crate::error::advised;
use crate::solvers::{load_all, load_tasks, task_of};
use crate::ui::Ui;

/// Solver files and the tasks to run them on.
pub struct Material {
    files: Vec<SolverFile>,
    pub data: Dataset,
}

impl Material {
    /// What is named, and what is built in for the rest.
    pub fn load(
        solvers: &[PathBuf],
        tasks: Option<&PathBuf>,
        dialect: Option<Dialect>,
        ui: &Ui,
    ) -> Result<Material> {
        let files = match solvers {
            [] => vec![SolverFile::parse(corpus::SOLVERS, "corpus/solvers.py")],
            paths => load_all(paths, dialect, ui)?,
        };
        let data = match tasks {
            Some(path) => load_tasks(path, ui)?,
            None => corpus::tasks(),
        };
        if data.pair_count() == 0 {
            return Err(advised(
                "there is no sample to run",
                "name tasks that have at least one pair with --tasks",
            ));
        }
        Ok(Material { files, data })
    }

    /// The solvers, named by their tasks where they have one.
    pub fn donors(&self) -> Result<Vec<Donor<'_>>> {
        let programs = self.files.iter().flat_map(|file| &file.programs);
        let found = donors(programs, &self.data);
        if found.is_empty() {
            return Err(advised(
                "none of the functions takes I, or some of S, I and C",
                "a solver is def solve_<task id>(I) or (S, I, C)",
            ));
        }
        Ok(found)
    }

    /// Every sample of every task, in an order in which any beginning is spread over all.
    pub fn samples(&self) -> Vec<Sample<'_>> {
        let all: Vec<Sample<'_>> = self
            .data
            .pairs()
            .map(|(task, _, pair)| Sample::new(task, pair))
            .collect();
        spread(all.len()).map(|k| all[k]).collect()
    }

    /// The samples of some tasks; of fewer they are repeated.
    pub fn samples_of(&self, tasks: usize) -> Vec<Sample<'_>> {
        let tasks = self.data.iter().cycle().take(tasks);
        tasks
            .flat_map(|task| task.pairs().map(|(_, pair)| Sample::new(task, pair)))
            .collect()
    }

    /// As many demonstrations as wanted, from all tasks; of fewer they are repeated.
    pub fn demos(&self, count: usize) -> Vec<Pair> {
        let all = self.data.iter().flat_map(|task| &task.train);
        all.cycle().take(count).cloned().collect()
    }
}

/// Programs as donors of a batt, named by their tasks where they have one. Those that take something else than
/// `S`, `I` and `C` are left out.
pub fn donors<'p>(programs: impl Iterator<Item = &'p Program>, data: &Dataset) -> Vec<Donor<'p>> {
    let mut donors: Vec<Donor<'p>> = Vec::new();
    let mut ids = Ids::default();
    let solvers = programs.filter(|program| Compiled::new(program).roles().is_some());
    for program in solvers {
        let task = task_of(program.name(), data);
        donors.push(Donor {
            // Several files may have a solver for the same task.
            id: ids.take(id_of(program, task)),
            program,
            size: task.map(cells),
            mutated: false,
        });
    }
    donors
}

/// So many of the solvers, by chance, or all. They are all of one dialect.
pub fn drawn<'p>(donors: &[Donor<'p>], count: Option<usize>, seed: u64) -> Result<Vec<Donor<'p>>> {
    let drawn = select(donors, count, None, seed);
    let drawn = drawn.map_err(|error| advised(error, "ask for fewer with --count"))?;
    let dialect = |donor: &Donor<'_>| donor.program.dialect();
    match drawn
        .iter()
        .find(|donor| dialect(donor) != dialect(&drawn[0]))
    {
        None => Ok(drawn),
        Some(odd) => Err(advised(
            format_args!("'{}' and '{}' are of two dialects", drawn[0].id, odd.id),
            "say which library the solvers are for with --dialect",
        )),
    }
}

/// One batt of some solvers, with the built-in differs or without.
pub fn merged(donors: &[Donor<'_>], with_differs: bool) -> Result<Merged> {
    merged_for(donors, with_differs, OnError::default())
}

/// The same, for what is to become of steps that fail.
fn merged_for(donors: &[Donor<'_>], with_differs: bool, on_error: OnError) -> Result<Merged> {
    let dialect = donors.first().map(|donor| donor.program.dialect());
    let differs = match with_differs {
        true => differs(dialect.unwrap_or_default()),
        false => Vec::new(),
    };
    let options = CardOptions {
        on_error,
        ..CardOptions::default()
    };
    merge(donors, &differs, &options).map_err(|error| {
        advised(
            error,
            "say which library the solvers are for with --dialect",
        )
    })
}

/// A batt of the first solvers with the built-in differs, of about so many steps.
pub fn near(donors: &[Donor<'_>], steps: usize, on_error: OnError) -> Result<Batt> {
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
