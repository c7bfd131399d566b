//! Looks up a task id or the first digits of a hash.

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::records::ArchiveEntry;

/// The smallest number of digits that may stand for a hash.
pub const SHORTEST_PREFIX: usize = 4;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// A task, with its entries, the best one first.
    Task(Vec<ArchiveEntry>),
    /// A solver, by its hash.
    Solver(String),
    /// Several solvers whose hashes begin with these digits; the first few of them.
    Ambiguous(Vec<String>),
    /// Neither a task nor a solver.
    Unknown,
}

impl Archive {
    /// Looks up a task by its id, or a solver by the first digits of its hash.
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
