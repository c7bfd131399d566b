//! The archived solvers that are candidates for the tests of a task.

use std::collections::HashSet;

use batt_arc::{Dataset, Score};
use batt_lang::Program;
use batt_lang::card::structural_hash;

use crate::archive::Archive;
use crate::error::ArchiveError;

/// The largest number of candidates for a task. It is more than an archive keeps by default.
const MAX_CANDIDATES: usize = 256;

/// The archived solvers of a task.
#[derive(Clone, Debug)]
pub struct ArchivedCandidates {
    /// The position of the task.
    pub task: usize,
    /// The solvers with their archived scores, best first. The task may have changed since the
    /// scores were measured.
    pub solvers: Vec<(Program, Score)>,
    /// The number of solvers that this version of Batt cannot read.
    pub unreadable: usize,
}

impl Archive {
    /// Returns the solvers of each task that has both tests and solvers. A damaged archive is an
    /// error; otherwise its tasks would seem to have no solvers.
    pub fn candidates(&self, data: &Dataset) -> Result<Vec<ArchivedCandidates>, ArchiveError> {
        self.check_pages()?;
        let mut all = Vec::new();
        for (at, task) in data.iter().enumerate().filter(|(_, t)| !t.test.is_empty()) {
            // Solvers of all versions of the task count, because running them shows how good they
            // are now.
            let entries = self.best(&task.id, None, MAX_CANDIDATES)?;
            let mut candidates = ArchivedCandidates {
                task: at,
                solvers: Vec::new(),
                unreadable: 0,
            };
            // A solver with scores on two versions of a task gets one vote.
            let mut seen = HashSet::new();
            for entry in entries.iter().filter(|entry| seen.insert(&entry.hash)) {
                match entry.program() {
                    Some(program) if structural_hash(&program) == entry.hash => {
                        candidates.solvers.push((program, entry.score));
                    }
                    Some(_) => {
                        let hash = &entry.hash;
                        return Err(
                            self.damaged(format!("the source of solver {hash} has another hash"))
                        );
                    }
                    None => candidates.unreadable += 1,
                }
            }
            if !entries.is_empty() {
                all.push(candidates);
            }
        }
        let unreadable: usize = all.iter().map(|candidates| candidates.unreadable).sum();
        if unreadable > 0 && all.iter().all(|candidates| candidates.solvers.is_empty()) {
            let what = "no solver of these tasks can be read".to_owned();
            return Err(self.damaged(what));
        }
        Ok(all)
    }

    fn damaged(&self, what: String) -> ArchiveError {
        ArchiveError::Damaged {
            path: self.path.clone(),
            what,
        }
    }
}
