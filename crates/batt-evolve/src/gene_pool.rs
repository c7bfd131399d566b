//! The gene pool of an island: the donors' graph and all nodes that the island has added.

use batt_lang::graph::{Importer, Ref};
use batt_lang::types::TypeId;
use rustc_hash::FxHashMap;

use crate::typed::Typed;

/// The number of new nodes after which a pool is renewed.
const MAX_GROWTH: usize = 1 << 16;

/// The most types that a renewed pool takes over. With more, it starts with the donors' types.
const MAX_TYPES: usize = 1 << 14;

/// A typed graph and cached facts about it. It is kept from generation to generation, so that each
/// type is inferred once and programs stay in place.
#[derive(Clone)]
pub(crate) struct GenePool {
    pub typed: Typed,
    /// The functions that fit each wanted type.
    pub functions: FxHashMap<TypeId, Vec<Ref>>,
    /// The edition of the donors in the pool.
    edition: u64,
    /// The number of nodes of the new pool.
    fresh: usize,
}

impl GenePool {
    /// Creates a pool that contains only donors. Each set of donors has its own edition number.
    pub fn new(typed: Typed, edition: u64) -> GenePool {
        GenePool {
            fresh: typed.graph.len(),
            typed,
            functions: FxHashMap::default(),
            edition,
        }
    }

    /// Returns the edition of the donors.
    pub fn edition(&self) -> u64 {
        self.edition
    }

    /// Returns whether the pool may be kept. If not, it must be [renewed](GenePool::renewed).
    pub fn is_current(&self, donors: &GenePool) -> bool {
        self.edition == donors.edition && self.typed.graph.len() <= self.fresh + MAX_GROWTH
    }

    /// Returns a new pool with these donors. `import` copies the values that are still needed.
    pub fn renewed(
        &self,
        donors: &GenePool,
        import: impl FnOnce(&mut dyn FnMut(Ref) -> Ref),
    ) -> GenePool {
        let mut pool = donors.clone();
        // With the same donors, all facts about types stay valid.
        if self.edition == donors.edition && self.typed.types.len() <= MAX_TYPES {
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
    fn a_renewed_pool_keeps_what_is_imported() {
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
        assert!(own.is_current(&donors) && !own.is_current(&others));
        for donors in [&donors, &others] {
            let mut moved = root;
            let mut renewed = own.renewed(donors, |import| moved = import(root));
            assert_eq!(renewed.typed.graph.program(moved, "solve"), before);
            assert_eq!(renewed.typed.type_of(moved), Some(ty));
            assert!(renewed.is_current(donors));
            assert!(renewed.typed.graph.len() < own.typed.graph.len());
            // Facts about another edition of donors are dropped.
            assert_eq!(renewed.functions.is_empty(), donors.edition() == 1);
        }
    }
}
