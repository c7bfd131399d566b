//! Pieces of batts: what one job on a device does of a batt.
//!
//! That is one solver with its differs. What solvers share is done by each of them: a warp takes the steps of its job one after
//! the other, and a device has thousands of warps, so a batt as a whole would take longer. See
//! `docs/experiments/2026-11-16-gpu-one-solver-per-job.md`.

use std::collections::HashMap;

use batt_dsl::Dialect;
use batt_lang::OnError;

use crate::batt::{CompiledBatt, Lists, Plan, Solver};
use crate::lower::{Source, Steps};

/// A solver of a batt, with its differs.
pub(crate) struct Piece {
    pub dialect: Dialect,
    pub defaults: bool,
    /// In the order in which they are executed.
    pub steps: Steps,
    /// The entries that need each step.
    pub users: Lists,
    /// Where the values of the entries are: the outputs, the scores, and as many comparisons.
    pub values: Vec<Source>,
    pub outputs: usize,
    pub scores: usize,
    pub steps_of_entry: Lists,
    /// As those of a batt.
    pub leads: Vec<u32>,
    pub numbers: Numbers,
}

/// What the entries and steps of a piece are in the batt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub entries: Vec<u32>,
    pub steps: Vec<u32>,
}

impl Piece {
    /// All pieces of a batt.
    pub fn all_of(batt: &CompiledBatt) -> impl Iterator<Item = Piece> {
        let solvers = batt.plan.solvers.iter();
        solvers.map(|solver| Piece::new(batt, solver))
    }

    fn new(batt: &CompiledBatt, solver: &Solver) -> Piece {
        let Plan {
            steps: all,
            values,
            steps_of_entry,
            leads,
            ..
        } = &batt.plan;
        let work = || solver.parts.iter().flat_map(|part| &part.work);
        let steps: Vec<u32> = work().map(|work| work.step).collect();
        let mut entries: Vec<u32> = solver.parts.iter().map(|part| part.entry).collect();
        // Those of the batt are in the same order: outputs, scores, comparisons.
        entries.sort_unstable();
        let places: HashMap<u32, u32> = steps.iter().copied().zip(0..).collect();
        // All that are looked for are there.
        let entry = |number: u32| entries.partition_point(|&entry| entry < number) as u32;
        let mut values: Vec<Source> = entries
            .iter()
            .map(|&entry| values[entry as usize])
            .collect();
        let steps_of_entry = Lists::new(entries.iter().map(|&entry| {
            let steps = steps_of_entry.get(entry as usize);
            steps.iter().map(|step| places[step])
        }));
        let outputs = entry(batt.outputs() as u32) as usize;
        Piece {
            dialect: batt.dialect(),
            defaults: batt.mode() == OnError::Defaults,
            steps: all.only(&steps, &mut values),
            users: Lists::new(work().map(|work| {
                let users = work.users.iter();
                users.map(|part| entry(solver.parts[part].entry))
            })),
            outputs,
            scores: entry(batt.solved() as u32) as usize - outputs,
            steps_of_entry,
            leads: entries
                .iter()
                .map(|&number| entry(leads[number as usize]))
                .collect(),
            values,
            numbers: Numbers { entries, steps },
        }
    }
}
