//! Finds what a user means by a task id or the first digits of a hash.

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::records::ArchiveEntry;

/// Digits of a hash that are the least to be taken for one.
pub const SHORTEST_PREFIX: usize = 4;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// A task, with its entries, the best one first.
    Task(Vec<ArchiveEntry>),
    /// A solver, by its hash.
    Solver(String),
    /// Several solvers have hashes that begin this way; the first few of them.
    Ambiguous(Vec<String>),
    /// Neither a task nor a solver.
    Unknown,
}

impl Archive {
    /// Finds the task of an id, or the solver whose hash begins with these digits.
    pub fn lookup(&self, name: &str) -> Result<Lookup, ArchiveError> {
        let entries = self.best(name, None, usize::MAX)?;
        if !entries.is_empty() {
            return Ok(Lookup::Task(entries));
        }
        let digits = name.to_ascii_lowercase();
        let mut found = match digits.len() < SHORTEST_PREFIX {
            true => Vec::new(),
            false => self.find(&digits, 4)?,
        };
        Ok(match found.len() {
            0 => Lookup::Unknown,
            1 => Lookup::Solver(found.remove(0)),
            _ => Lookup::Ambiguous(found),
        })
    }
}
