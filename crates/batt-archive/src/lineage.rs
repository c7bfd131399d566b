//! The ancestors of a solver.

use std::collections::HashSet;

use crate::archive::Archive;
use crate::error::ArchiveError;
use crate::records::ArchivedSolver;

/// A solver or one of its ancestors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// The number of generations back: 0 for the solver itself, 1 for its parents.
    pub depth: usize,
    /// The structural hash.
    pub hash: String,
    /// The solver; `None` if the archive never kept it.
    pub solver: Option<ArchivedSolver>,
    /// Whether it was listed before. If so, its own ancestors are not listed again.
    pub repeated: bool,
}

impl Archive {
    /// Returns a solver and its ancestors, up to `depth` generations back. As in a printed tree,
    /// each solver is followed by its parents, each with its own ancestors.
    pub fn lineage(&self, hash: &str, depth: usize) -> Result<Vec<Ancestor>, ArchiveError> {
        let mut listed = Vec::new();
        let mut seen = HashSet::new();
        // An explicit stack, because lineages are long. Some are circular: a parent that was not
        // kept may be found again as a descendant of its own child.
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
