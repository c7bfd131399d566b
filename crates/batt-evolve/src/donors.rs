//! What new programs are made from: solvers that are there already.

use std::collections::HashMap;

use batt_dsl::{Dialect, OpId};
use batt_lang::Program;
use batt_lang::graph::{Node, Ref};
use batt_lang::types::TypeId;

use crate::typed::Typed;

/// A solver that others learn from.
#[derive(Clone, Debug)]
pub struct Donor {
    /// The task it was written for or found for.
    pub task: String,
    /// The solver.
    pub program: Program,
}

/// All donors in one graph, and what can be learnt from them: which primitives matter, and which values and functions
/// people compute.
pub(crate) struct Donors {
    pub typed: Typed,
    /// The results of the programs, with their tasks.
    pub programs: Vec<(String, Ref)>,
    /// Values that are no functions, by type.
    values: HashMap<TypeId, Vec<Ref>>,
    /// Functions by type, primitives included.
    functions: Vec<(TypeId, Vec<Ref>)>,
    /// Primitives that give a grid, those that give any value, and all, each with the sums of their weights.
    pub grid_ops: Weighted,
    pub value_ops: Weighted,
    pub all_ops: Weighted,
}

/// Primitives, each as likely as it is among the donors.
pub(crate) struct Weighted {
    pub ops: Vec<OpId>,
    pub sums: Vec<f64>,
}

impl Weighted {
    fn new(weights: impl Iterator<Item = (OpId, f64)>) -> Weighted {
        let mut sum = 0.0;
        let (ops, sums) = weights
            .map(|(op, weight)| {
                sum += weight;
                (op, sum)
            })
            .unzip();
        Weighted { ops, sums }
    }
}

/// What a primitive counts that no donor uses.
const UNSEEN: f64 = 0.5;

impl Donors {
    pub fn new(dialect: Dialect, donors: &[Donor]) -> Donors {
        let mut typed = Typed::new(dialect);
        let mut programs = Vec::new();
        for donor in donors {
            if let Some(root) = typed.add_program(&donor.program) {
                programs.push((donor.task.clone(), root));
            }
        }
        let mut counts: HashMap<OpId, f64> = HashMap::new();
        let mut values: HashMap<TypeId, Vec<Ref>> = HashMap::new();
        let mut functions: HashMap<TypeId, Vec<Ref>> = HashMap::new();
        for node in 0..typed.graph.len() as u32 {
            if let Node::Call { callee, .. } = typed.graph.node(node)
                && let Some(op) = callee.as_op()
            {
                *counts.entry(op).or_default() += 1.0;
            }
            if let Some(ty) = typed.type_of(Ref::node(node)) {
                let list = match typed.types.is_function(ty) {
                    true => &mut functions,
                    false => &mut values,
                };
                list.entry(ty).or_default().push(Ref::node(node));
            }
        }
        let ops: Vec<OpId> = dialect
            .ops()
            .iter()
            .filter_map(|op| dialect.op(op.name))
            .collect();
        for &op in &ops {
            let ty = typed.types.op(op);
            functions.entry(ty).or_default().push(Ref::op(op));
        }
        // A map has no order of its own, and choices are to be the same every time.
        let mut functions: Vec<_> = functions.into_iter().collect();
        functions.sort_by_key(|(_, refs)| refs[0]);
        let weight = |op: OpId| counts.get(&op).copied().unwrap_or_default() + UNSEEN;
        let gives = |typed: &mut Typed, op: OpId| {
            let ty = typed.types.op(op);
            typed.types.result_of(ty)
        };
        let of_grid = |typed: &mut Typed, op: OpId| {
            let result = gives(typed, op)?;
            let grid = typed.types.fits(result, TypeId::GRID) && !typed.types.is_function(result);
            // What may give anything seldom gives a grid.
            let rare = if result == TypeId::ANY { 0.25 } else { 1.0 };
            grid.then(|| (op, weight(op) * rare))
        };
        let grid_ops = Weighted::new(ops.iter().filter_map(|&op| of_grid(&mut typed, op)));
        let of_value = |typed: &mut Typed, op: OpId| {
            let result = gives(typed, op)?;
            (!typed.types.is_function(result)).then(|| (op, weight(op)))
        };
        let value_ops = Weighted::new(ops.iter().filter_map(|&op| of_value(&mut typed, op)));
        let all_ops = Weighted::new(ops.iter().map(|&op| (op, weight(op))));
        Donors {
            typed,
            programs,
            values,
            functions,
            grid_ops,
            value_ops,
            all_ops,
        }
    }

    /// Values of exactly this type.
    pub fn values(&self, ty: TypeId) -> &[Ref] {
        self.values.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// All values that are no functions.
    pub fn all_values(&self) -> Vec<Ref> {
        let mut all: Vec<Ref> = self.values.values().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// Functions by type.
    pub fn functions(&self) -> &[(TypeId, Vec<Ref>)] {
        &self.functions
    }
}
