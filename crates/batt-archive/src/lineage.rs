//! Where solvers come from.

use std::collections::HashSet;

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::records::ArchivedSolver;

/// A solver or one it descends from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// Generations back: 0 for the solver itself, 1 for its parents.
    pub depth: usize,
    /// The structural hash.
    pub hash: String,
    /// The solver; `None` if it was never kept.
    pub solver: Option<ArchivedSolver>,
    /// Has it been listed before? Then its own ancestors are not listed again.
    pub repeated: bool,
}

impl Archive {
    /// A solver and those it descends from, up to `depth` generations back. The parents of each follow it, one after the
    /// other, each with its own ancestors, as in a tree.
    pub fn lineage(&self, hash: &str, depth: usize) -> Result<Vec<Ancestor>, ArchiveError> {
        let mut listed = Vec::new();
        let mut seen = HashSet::new();
        // Lineages are long, so the stack is not the machine's. Some go in a circle: a parent that was not kept may be
        // found once more, as a descendant of its own child.
        let mut open = vec![(hash.to_owned(), 0)];
        while let Some((hash, at)) = open.pop() {
            let repeated = !seen.insert(hash.clone());
            let solver = self.solver(&hash)?;
            if let Some(solver) = &solver
                && !repeated
                && at < depth
            {
                let parents = solver.parents.iter().rev();
                open.extend(parents.map(|parent| (parent.clone(), at + 1)));
            }
            listed.push(Ancestor {
                depth: at,
                hash,
                solver,
                repeated,
            });
        }
        Ok(listed)
    }
}
