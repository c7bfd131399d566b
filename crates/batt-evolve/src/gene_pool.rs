//! Where programs grow: the donors' graph, and in it what a island has made since.

use batt_lang::graph::{Importer, Ref};
use batt_lang::types::TypeId;
use rustc_hash::FxHashMap;

use crate::typed::Typed;

/// Nodes that may be made before those that nobody needs any more are left behind.
const GROWTH: usize = 1 << 16;

/// Types that are remembered with all that was found out about them; then they are forgotten.
const TYPES: usize = 1 << 14;

/// A graph with its types, and what was found out about them. It is kept from generation to generation: types are worked
/// out once, and nothing has to be moved.
#[derive(Clone)]
pub(crate) struct GenePool {
    pub typed: Typed,
    /// Functions that can stand where a type is wanted.
    pub functions: FxHashMap<TypeId, Vec<Ref>>,
    /// Which donors it was made with.
    edition: u64,
    /// Nodes it had when it was made.
    fresh: usize,
}

impl GenePool {
    /// With nothing in it but donors. Other donors are another edition.
    pub fn new(typed: Typed, edition: u64) -> GenePool {
        GenePool {
            fresh: typed.graph.len(),
            typed,
            functions: FxHashMap::default(),
            edition,
        }
    }

    /// The edition of its donors.
    pub fn edition(&self) -> u64 {
        self.edition
    }

    /// Can it be gone on with, or is it time for a [new](GenePool::renewed) one?
    pub fn is_good(&self, donors: &GenePool) -> bool {
        self.edition == donors.edition && self.typed.graph.len() <= self.fresh + GROWTH
    }

    /// A new pool with these donors, to which `import` brings what is still needed.
    pub fn renewed(
        &self,
        donors: &GenePool,
        import: impl FnOnce(&mut dyn FnMut(Ref) -> Ref),
    ) -> GenePool {
        let mut pool = donors.clone();
        // Of the same donors, all that is known about types stays true.
        if self.edition == donors.edition && self.typed.types.len() <= TYPES {
            pool.typed.types.clone_from(&self.typed.types);
            pool.functions.clone_from(&self.functions);
        }
        let mut importer = Importer::new(&self.typed.graph);
        import(&mut |value| pool.typed.import(&mut importer, value));
        pool.fresh = pool.typed.graph.len();
        pool
    }
}

#[cfg(test)]
mod tests {
    use batt_arc::corpus;
    use batt_lang::{Program, SolverFile};

    use super::*;

    fn pool(donors: &[Program], edition: u64) -> GenePool {
        let mut typed = Typed::new(donors[0].dialect());
        for donor in donors {
            typed.add_program(donor);
        }
        GenePool::new(typed, edition)
    }

    #[test]
    fn what_is_needed_comes_along() {
        let programs = SolverFile::parse(corpus::SOLVERS, "solvers.py").programs;
        let donors = pool(&programs[..10], 0);
        let others = pool(&programs[5..12], 1);
        let mut own = donors.clone();
        for unneeded in &programs[20..30] {
            own.typed.add_program(unneeded);
        }
        let root = own.typed.add_program(&programs[15]).expect("takes I");
        let (before, ty) = (own.typed.graph.program(root, "solve"), TypeId::GRID);
        own.functions.insert(ty, vec![root]);
        assert!(own.is_good(&donors) && !own.is_good(&others));
        for donors in [&donors, &others] {
            let mut moved = root;
            let mut renewed = own.renewed(donors, |import| moved = import(root));
            assert_eq!(renewed.typed.graph.program(moved, "solve"), before);
            assert_eq!(renewed.typed.type_of(moved), Some(ty));
            assert!(renewed.is_good(donors));
            assert!(renewed.typed.graph.len() < own.typed.graph.len());
            // What was found out with other donors means nothing here.
            assert_eq!(renewed.functions.is_empty(), donors.edition() == 1);
        }
    }
}
