//! Statistics of a merge: steps before and after, the most shared steps, primitives by frequency.

use std::collections::HashMap;

use batt_dsl::OpId;

use crate::batt::Batt;
use crate::program::{Operand, StepKind};

/// Statistics of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeStats {
    /// The number of merged solvers.
    pub solvers: usize,
    /// The number of differs; each is used on the input and on every candidate.
    pub differs: usize,
    /// The steps of all solvers before merging.
    pub solver_steps: usize,
    /// The steps of all solvers, and the steps of all differs once for each use.
    pub before: usize,
    /// The steps after sharing alone.
    pub shared: usize,
    /// The steps of the batt, simplified and shared.
    pub after: usize,
    /// How many solvers use each step, the most used first. Steps that only differs use are not
    /// listed.
    pub uses: Vec<StepUse>,
    /// How often each primitive occurs in the batt, the most frequent first.
    pub ops: Vec<OpUse>,
}

/// How many solvers use a step. [`Batt::call_text`] gives its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepUse {
    /// The number of the step.
    pub number: u32,
    /// The number of solvers that use the step.
    pub donors: u32,
}

/// How often a primitive occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpUse {
    /// The primitive.
    pub op: OpId,
    /// The number of steps that call it.
    pub called: usize,
    /// How often it is passed to another primitive as a function.
    pub passed: usize,
}

impl MergeStats {
    pub(super) fn of(batt: &Batt, solver_steps: usize, before: usize, shared: usize) -> MergeStats {
        let steps = batt.program.steps();
        let initial = batt.scores.iter().filter(|score| score.donor.is_none());
        MergeStats {
            solvers: batt.outputs.len(),
            differs: initial.count(),
            solver_steps,
            before,
            shared,
            after: steps.len(),
            uses: uses(batt),
            ops: frequencies(batt),
        }
    }
}

fn uses(batt: &Batt) -> Vec<StepUse> {
    let mut donors = vec![0u32; batt.numbers.len()];
    for step in batt.outputs.iter().flat_map(|output| &output.steps) {
        donors[step.index()] += 1;
    }
    let numbered = batt.numbers.iter().zip(donors);
    let mut uses: Vec<StepUse> = numbered
        .map(|(&number, donors)| StepUse { number, donors })
        .filter(|step| step.donors > 0)
        .collect();
    uses.sort_by_key(|step| (std::cmp::Reverse(step.donors), step.number));
    uses
}

fn frequencies(batt: &Batt) -> Vec<OpUse> {
    let mut counts: HashMap<OpId, OpUse> = HashMap::new();
    for step in batt.program.steps() {
        let callee = match &step.kind {
            StepKind::Call { callee, .. } => Some(callee),
            StepKind::Tuple(_) => None,
        };
        for operand in step.kind.operands() {
            let Operand::Op(op) = operand else { continue };
            let count = counts.entry(*op).or_insert(OpUse {
                op: *op,
                called: 0,
                passed: 0,
            });
            match callee {
                Some(callee) if std::ptr::eq(callee, operand) => count.called += 1,
                _ => count.passed += 1,
            }
        }
    }
    let mut counts: Vec<OpUse> = counts.into_values().collect();
    counts.sort_by_key(|c| {
        let total = c.called + c.passed;
        (std::cmp::Reverse((total, c.called)), c.op.op().name)
    });
    counts
}
