//! The archived solvers that may answer a task.

use std::collections::HashSet;

use anyhow::Result;
use batt_arc::{Dataset, Task};
use batt_archive::{Archive, Entry, Score};
use batt_engine::Compiled;

use crate::error::bad_archive;

/// Solvers of one task that are asked: more than an archive keeps by default.
const ASKED: usize = 256;

/// A task and the solvers that may answer it.
pub struct Entrant<'d> {
    pub task: &'d Task,
    pub candidates: Vec<Candidate>,
    /// Solvers of the archive that this version of the program does not load.
    pub unloaded: usize,
}

/// An archived solver.
pub struct Candidate {
    pub program: Compiled,
    /// What the archive says about it. The task may have been another version then.
    pub recorded: Score,
}

/// The solvers of all tasks that have any.
pub fn candidates<'d>(archive: &Archive, data: &'d Dataset) -> Result<Vec<Entrant<'d>>> {
    let mut entrants = Vec::new();
    for task in data.iter().filter(|task| !task.test.is_empty()) {
        // Of any version of the task: what a solver is worth on this one will show.
        let entries = archive.best(&task.id, None, ASKED).map_err(bad_archive)?;
        if !entries.is_empty() {
            entrants.push(Entrant::new(task, &entries));
        }
    }
    Ok(entrants)
}

impl<'d> Entrant<'d> {
    fn new(task: &'d Task, entries: &[Entry]) -> Entrant<'d> {
        let mut entrant = Entrant {
            task,
            candidates: Vec::new(),
            unloaded: 0,
        };
        // A solver with scores on two versions of a task has one vote.
        let mut seen = HashSet::new();
        for entry in entries {
            if !seen.insert(&entry.hash) {
                continue;
            }
            match entry.program() {
                Some(program) => entrant.candidates.push(Candidate {
                    program: Compiled::new(&program),
                    recorded: entry.score,
                }),
                None => entrant.unloaded += 1,
            }
        }
        entrant
    }
}
