//! Donors: existing solvers from which new programs are made.

use std::sync::Arc;

use batt_dsl::{Dialect, OpId};
use batt_lang::Program;
use batt_lang::graph::{Node, Ref};
use batt_lang::types::TypeId;
use rustc_hash::FxHashMap;

use crate::gene_pool::GenePool;
use crate::random::Chance;
use crate::typed::Typed;

/// A solver from which evolution learns.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedSolver {
    /// The id of the task that it solves, or was found for.
    pub task: String,
    /// The solver.
    pub program: Program,
}

/// All donors in one graph, with facts about them: how common each primitive is, and which values
/// and functions are useful.
pub(crate) struct Donors {
    /// The graph. Each island starts with a copy.
    pub pool: Arc<GenePool>,
    /// The results of the donors' programs.
    pub programs: Vec<Ref>,
    /// Values other than functions, by type.
    values: FxHashMap<TypeId, Vec<Ref>>,
    /// Functions by type, including primitives.
    functions: Vec<(TypeId, Vec<Ref>)>,
    /// The primitives that do not return functions.
    pub value_ops: WeightedOps,
    /// All primitives.
    pub all_ops: WeightedOps,
    of_op: FxHashMap<OpId, OpFacts>,
    /// The primitives that do not return functions, in groups of similar cost, the cheapest group
    /// first.
    pub op_groups: Vec<OpGroup>,
}

/// Primitives of similar cost.
pub(crate) struct OpGroup {
    pub ops: Vec<OpId>,
    /// The cost of the cheapest primitive in the group.
    pub cost: u32,
}

/// The number of groups. More groups separate likely from unlikely primitives better; with fewer,
/// parts are expanded in fewer rounds.
const OP_GROUPS: usize = 4;

/// Cached facts about a primitive.
struct OpFacts {
    params: Vec<TypeId>,
    result: Option<TypeId>,
    cost: u32,
}

/// Primitives with weights: a primitive is as likely as it is common among the donors.
pub(crate) struct WeightedOps {
    ops: Vec<OpId>,
    sums: Vec<f64>,
}

impl WeightedOps {
    /// Chooses a primitive.
    pub fn choose(&self, chance: &mut Chance) -> Option<OpId> {
        let at = chance.weighted(&self.sums)?;
        self.ops.get(at).copied()
    }

    fn new(weights: impl Iterator<Item = (OpId, f64)>) -> WeightedOps {
        let mut sum = 0.0;
        let (ops, sums) = weights
            .map(|(op, weight)| {
                sum += weight;
                (op, sum)
            })
            .unzip();
        WeightedOps { ops, sums }
    }
}

/// Added to the number of uses of each primitive, so that primitives that no donor uses stay
/// possible.
const EXTRA_USES: f64 = 0.5;

impl Donors {
    /// Learns from donors. Each set of donors has its own edition number.
    pub fn new(dialect: Dialect, donors: &[SeedSolver], edition: u64) -> Donors {
        let mut typed = Typed::new(dialect);
        let programs = donors.iter();
        let programs = programs.filter_map(|donor| typed.add_program(&donor.program));
        let programs: Vec<Ref> = programs.collect();
        let mut counts: FxHashMap<OpId, f64> = FxHashMap::default();
        let mut values: FxHashMap<TypeId, Vec<Ref>> = FxHashMap::default();
        let mut functions: FxHashMap<TypeId, Vec<Ref>> = FxHashMap::default();
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
        // Sorts by popularity, then by a stable order: map iteration has none, and choices must be
        // reproducible.
        let uses = uses(&typed);
        let popularity =
            |function: &Ref| std::cmp::Reverse(uses.get(function).copied().unwrap_or(0));
        let mut functions: Vec<_> = functions.into_iter().collect();
        for (_, list) in &mut functions {
            list.sort_by_key(|function| (popularity(function), *function));
        }
        functions.sort_by_key(|(_, list)| (popularity(&list[0]), list[0]));
        let weight = |op: OpId| counts.get(&op).copied().unwrap_or_default() + EXTRA_USES;
        let gives = |typed: &mut Typed, op: OpId| {
            let ty = typed.types.op(op);
            typed.types.result_of(ty)
        };
        let of_value = |typed: &mut Typed, op: OpId| {
            let result = gives(typed, op)?;
            (!typed.types.is_function(result)).then(|| (op, weight(op)))
        };
        let value_ops = WeightedOps::new(ops.iter().filter_map(|&op| of_value(&mut typed, op)));
        let all_ops = WeightedOps::new(ops.iter().map(|&op| (op, weight(op))));
        let most = counts.values().copied().fold(1.0, f64::max);
        let mut of_op = FxHashMap::default();
        for &op in &ops {
            let ty = typed.types.op(op);
            let rarity = (most / weight(op)).log2().max(0.0);
            let about = OpFacts {
                params: typed.types.params_of(ty),
                result: typed.types.result_of(ty),
                cost: 4 + rarity.round() as u32,
            };
            of_op.insert(op, about);
        }
        let op_groups = groups(&value_ops.ops, |op| {
            of_op.get(&op).map_or(0, |about| about.cost)
        });
        Donors {
            pool: Arc::new(GenePool::new(typed, edition)),
            programs,
            values,
            functions,
            value_ops,
            all_ops,
            of_op,
            op_groups,
        }
    }

    /// Returns the values of exactly this type.
    pub fn values(&self, ty: TypeId) -> &[Ref] {
        self.values.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// Returns all values other than functions.
    pub fn all_values(&self) -> Vec<Ref> {
        let mut all: Vec<Ref> = self.values.values().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// Returns the types of the parameters of a primitive.
    pub fn params_of(&self, op: OpId) -> &[TypeId] {
        self.of_op.get(&op).map_or(&[], |about| &about.params)
    }

    /// Returns the type of the result of a primitive.
    pub fn result_of(&self, op: OpId) -> Option<TypeId> {
        self.of_op.get(&op).and_then(|about| about.result)
    }

    /// Returns the cost of a call of a primitive: the rarer, the higher.
    pub fn cost_of(&self, op: OpId) -> u32 {
        self.of_op.get(&op).map_or(10, |about| about.cost)
    }

    /// Returns the functions by type.
    pub fn functions(&self) -> &[(TypeId, Vec<Ref>)] {
        &self.functions
    }
}

/// Counts how often each value is an argument.
fn uses(typed: &Typed) -> FxHashMap<Ref, usize> {
    let mut uses = FxHashMap::default();
    for node in 0..typed.graph.len() as u32 {
        for &operand in &typed.graph.operands(node)[1..] {
            *uses.entry(operand).or_default() += 1;
        }
    }
    uses
}

/// Splits primitives into groups of similar cost.
fn groups(ops: &[OpId], cost: impl Fn(OpId) -> u32) -> Vec<OpGroup> {
    let mut ops = ops.to_vec();
    ops.sort_by_key(|&op| (cost(op), op.op().name));
    let size = ops.len().div_ceil(OP_GROUPS).max(1);
    let group = |ops: &[OpId]| OpGroup {
        ops: ops.to_vec(),
        cost: cost(ops[0]),
    };
    ops.chunks(size).map(group).collect()
}
