//! Mutants: solvers changed at random, without a task that would select good changes.

use batt_engine::Cancel;
use batt_lang::Program;
use batt_lang::graph::Ref;
use rustc_hash::FxHashSet;

use crate::credit::Weights;
use crate::donors::{Donors, SeedSolver};
use crate::mutate::{Assembly, Breeder, LARGEST, MutationKind};
use crate::parts::{Part, PartIndex};
use crate::random::Chance;

/// A changed solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// The position of its parent among the programs.
    pub parent: usize,
    /// The kind of its first mutation.
    pub kind: MutationKind,
    /// The changed program. It has the name of its parent.
    pub program: Program,
}

/// The number of steps by which a mutant may be longer than a long parent.
const GROWTH: usize = 8;

/// The probability of another mutation after each one.
const AGAIN: f64 = 0.25;

/// The most tries per mutant, over all parents. Many tries fail or make a known program.
const TRIES: usize = 32;

/// All colours: without a task, no colour is more likely than another.
const COLOURS: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// Makes mutants of programs, one parent after the other in turn. All mutants differ from each
/// other and from every parent.
///
/// There may be fewer mutants than `count`: an ill-typed parent has none, nor does a parent of
/// another dialect than the first one, and short parents have few. The same programs and the same
/// seed give the same mutants. After a cancellation there are those so far.
pub fn mutants(programs: &[&Program], count: usize, seed: u64, cancel: &Cancel) -> Vec<Mutant> {
    let Some(first) = programs.first() else {
        return Vec::new();
    };
    let dialect = first.dialect();
    let parents = || {
        let numbered = programs.iter().enumerate();
        numbered.filter(|(_, program)| program.dialect() == dialect)
    };
    let as_donor = |(_, program): (usize, &&Program)| SeedSolver {
        task: program.name().to_owned(),
        program: (*program).clone(),
    };
    let donors: Vec<SeedSolver> = parents().map(as_donor).collect();
    let donors = Donors::new(dialect, &donors, 0);
    let mut pool = (*donors.pool).clone();
    let typed = &mut pool.typed;
    let parents: Vec<(usize, Ref)> = parents()
        .filter_map(|(at, program)| Some((at, typed.add_program(program)?)))
        .collect();
    let part = |value: Ref| Part {
        value,
        cost: typed.graph.reach(value).len() as u32,
        expanded: 0,
    };
    let mut parts: Vec<Part> = donors.all_values().into_iter().map(part).collect();
    parts.sort_by_key(|part| part.cost);
    let mut made: FxHashSet<u64> = parents
        .iter()
        .map(|(_, root)| typed.graph.hash(*root))
        .collect();
    let mut breeder = Breeder {
        parts: PartIndex::new(typed, &parts),
        assembly: Assembly::new(&[], 0, &donors),
        typed,
        functions: &mut pool.functions,
        chance: Chance::new(&[seed]),
        donors: &donors,
        population: parents.iter().map(|(_, root)| *root).collect(),
        colours: &COLOURS,
        largest: LARGEST,
        nodes: Vec::new(),
    };
    let sums = weights().sums();
    let mut mutants = Vec::new();
    for &(parent, root) in parents.iter().cycle().take(count.saturating_mul(TRIES)) {
        if mutants.len() == count || cancel.is_cancelled() {
            break;
        }
        breeder.largest = LARGEST.max(breeder.size(root) + GROWTH);
        let kind = Weights::choose(&sums, &mut breeder.chance);
        let Some(child) = breeder.change(kind, root, &sums, AGAIN) else {
            continue;
        };
        if made.insert(breeder.typed.graph.hash(child)) {
            let name = programs[parent].name();
            mutants.push(Mutant {
                parent,
                kind,
                program: breeder.typed.graph.program(child, name),
            });
        }
    }
    mutants
}

/// Returns the first weights of evolution, without the kinds that need no parent.
fn weights() -> Weights {
    let weight = |kind: MutationKind| match kind.has_parent() {
        true => kind.first_weight(),
        false => 0.0,
    };
    Weights::new(MutationKind::ALL.map(weight), true)
}

#[cfg(test)]
mod tests {
    use batt_arc::corpus;
    use batt_lang::SolverFile;
    use batt_lang::card::structural_hash;

    use super::*;

    fn programs() -> Vec<Program> {
        SolverFile::parse(corpus::SOLVERS, "solvers.py").programs
    }

    fn of(programs: &[Program], count: usize, seed: u64) -> Vec<Mutant> {
        mutants(
            &programs.iter().collect::<Vec<_>>(),
            count,
            seed,
            &Cancel::new(),
        )
    }

    #[test]
    fn all_are_different_and_parents_take_turns() {
        let programs = &programs()[..20];
        let mutants = of(programs, 200, 1);
        assert_eq!(mutants.len(), 200);
        let mutated = mutants.iter().map(|mutant| &mutant.program);
        let hashes: FxHashSet<String> = programs
            .iter()
            .chain(mutated)
            .map(structural_hash)
            .collect();
        // Two mutants are seldom equivalent.
        assert!(hashes.len() > 210, "{}", hashes.len());
        for parent in 0..programs.len() {
            let own = mutants.iter().filter(|mutant| mutant.parent == parent);
            assert!((1..=20).contains(&own.count()), "parent {parent}");
        }
    }

    #[test]
    fn the_seed_decides() {
        let programs = &programs()[..5];
        assert_eq!(of(programs, 40, 7), of(programs, 40, 7));
        assert_ne!(of(programs, 40, 7), of(programs, 40, 8));
    }

    #[test]
    fn mutants_can_be_written_and_read_again() {
        for mutant in of(&programs(), 300, 3) {
            let text = mutant.program.to_string();
            let file = SolverFile::parse(&text, "mutant.py");
            assert!(file.is_clean(), "{text}\n{:?}", file.diagnostics);
        }
    }

    #[test]
    fn no_programs_have_no_mutants() {
        assert_eq!(of(&[], 10, 0), []);
        assert_eq!(of(&programs(), 0, 0), []);
    }
}
