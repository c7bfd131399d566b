//! Assembly: makes new values from parts, the cheap ones first.
//!
//! Parts wait to be *expanded*: every primitive that accepts a part is called with it, together
//! with the input, constants of the right role, functions of the right type and a few other cheap
//! parts. A new grid is a program; other new values become parts. Cheap combinations come first: a
//! cheap part is tried with the common primitives before it is tried with rare ones. So programs
//! are found in the order of their cost, and none is made twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use batt_dsl::OpId;
use batt_lang::graph::Ref;
use batt_lang::types::{ConstantRole, TypeId};

use super::Breeder;
use crate::donors::Donors;
use crate::parts::Part;

/// The most calls of one primitive with one part. If more are possible, random ones are made.
const MAX_CALLS: usize = 96;

/// The number of other parts with which a part is combined.
const OTHER_PARTS: usize = 6;

/// The entry in `costs` of a value that is not a part.
const NO_PART: u32 = u32::MAX;

/// The parts that wait to be expanded, and the results of expansion.
pub(crate) struct Assembly {
    /// The possible expansions: the least cost of a result, the part, and the group of primitives.
    waiting: BinaryHeap<Reverse<(u32, u32, u8)>>,
    parts: Vec<Part>,
    /// The cost of each node if it is a part.
    costs: Vec<u32>,
    /// New grids that were not returned yet.
    grids: Vec<(Ref, u32)>,
    /// New values other than grids.
    pub values: Vec<(Ref, u32)>,
    /// The positions of the expanded parts, each with the number of groups tried so far.
    pub expanded: Vec<(usize, u8)>,
}

impl Assembly {
    /// Creates an assembly of these parts, in a graph with `nodes` nodes.
    pub fn new(parts: &[Part], nodes: usize, donors: &Donors) -> Assembly {
        let mut costs = vec![NO_PART; nodes];
        for part in parts {
            if let Some(node) = part.value.as_node() {
                costs[node as usize] = part.cost;
            }
        }
        let numbered = parts.iter().enumerate();
        let waiting = numbered.filter_map(|(at, part)| {
            let group = donors.op_groups.get(usize::from(part.expanded))?;
            Some(Reverse((part.cost + group.cost, at as u32, part.expanded)))
        });
        Assembly {
            waiting: waiting.collect(),
            costs,
            parts: parts.to_vec(),
            grids: Vec::new(),
            values: Vec::new(),
            expanded: Vec::new(),
        }
    }

    /// Returns the cost of a value: known for a part, zero for the input, low for anything else.
    fn cost(&self, value: Ref) -> u32 {
        match self.part_cost(value) {
            Some(cost) => cost,
            None if value == Ref::INPUT => 0,
            None if value.is_constant() => 2,
            None => 3,
        }
    }

    /// Returns the cost of a part; `None` for any other value.
    fn part_cost(&self, value: Ref) -> Option<u32> {
        let cost = *self.costs.get(value.as_node()? as usize)?;
        (cost != NO_PART).then_some(cost)
    }
}

/// Returns the next grid and its cost.
pub(super) fn assemble(b: &mut Breeder<'_>) -> Option<(Ref, u32)> {
    loop {
        if let Some(grid) = b.assembly.grids.pop() {
            return Some(grid);
        }
        let Reverse((_, at, group)) = b.assembly.waiting.pop()?;
        let part = b.assembly.parts[at as usize];
        b.assembly.expanded.push((at as usize, group + 1));
        if let Some(next) = b.donors.op_groups.get(usize::from(group) + 1) {
            let later = Reverse((part.cost + next.cost, at, group + 1));
            b.assembly.waiting.push(later);
        }
        expand(b, part.value, group);
    }
}

/// Calls every primitive of a group that accepts a part.
fn expand(b: &mut Breeder<'_>, part: Ref, group: u8) {
    let Some(ty) = b.typed.type_of(part) else {
        return;
    };
    // The values from which the part was made are the likeliest to go with it.
    let mut near: Vec<Ref> = b
        .typed
        .graph
        .reach(part)
        .into_iter()
        .map(Ref::node)
        .collect();
    near.reverse();
    near.truncate(8);
    near.push(Ref::INPUT);
    for &op in &b.donors.op_groups[usize::from(group)].ops {
        for (position, &param) in b.donors.params_of(op).iter().enumerate() {
            if !b.typed.types.is_function(param) && b.typed.types.fits(ty, param) {
                call_with(b, op, position, (part, ty), &near);
            }
        }
    }
}

/// Calls a primitive with a part in one position and every combination of fitting values in the
/// others.
fn call_with(b: &mut Breeder<'_>, op: OpId, position: usize, part: (Ref, TypeId), near: &[Ref]) {
    let (part, ty) = part;
    let arity = op.op().arity();
    let own = b.typed.types.op(op);
    let mut types = vec![TypeId::ANY; arity];
    types[position] = ty;
    let mut options: Vec<Vec<Ref>> = Vec::with_capacity(arity);
    for k in 0..arity {
        if k == position {
            options.push(vec![part]);
            continue;
        }
        let wanted = b.typed.types.wanted_in(own, &types, k, None);
        let list = choices(b, op, k, wanted, near);
        if list.is_empty() {
            return;
        }
        options.push(list);
    }
    let all: usize = options.iter().map(Vec::len).product();
    let mut args = vec![part; arity];
    for number in 0..all.min(MAX_CALLS) {
        let mut number = number;
        for (arg, list) in args.iter_mut().zip(&options) {
            // Every combination, or random ones that prefer the first values of each list.
            *arg = match all > MAX_CALLS {
                true => list[b.chance.low(list.len())],
                false => list[number % list.len()],
            };
            number /= list.len();
        }
        let Some(made) = b.typed.call(Ref::op(op), &args) else {
            continue;
        };
        let Some(made_type) = b.typed.type_of(made) else {
            continue;
        };
        if b.typed.types.is_function(made_type) || b.assembly.part_cost(made).is_some() {
            continue;
        }
        let costs = args.iter().map(|&arg| b.assembly.cost(arg));
        let cost = costs.sum::<u32>() + b.donors.cost_of(op);
        let is_grid = b.typed.types.fits(made_type, TypeId::GRID);
        match is_grid {
            true => b.assembly.grids.push((made, cost)),
            false => b.assembly.values.push((made, cost)),
        }
    }
}

/// Returns the values to try in a position.
fn choices(
    b: &mut Breeder<'_>,
    op: OpId,
    position: usize,
    wanted: TypeId,
    near: &[Ref],
) -> Vec<Ref> {
    if b.typed.types.is_function(wanted) {
        return b.functions_for(wanted).to_vec();
    }
    let mut list: Vec<Ref> = Vec::new();
    if let Some(role) = ConstantRole::of_param(op, position) {
        let dialect = b.typed.graph.dialect();
        let constants = role.choices(dialect).iter().enumerate();
        for (at, &constant) in constants {
            // Colours that are in no demonstration do not help.
            if role != ConstantRole::Colour || b.colours.contains(&(at as u8)) {
                list.push(Ref::constant(constant));
            }
        }
        if role == ConstantRole::Flag {
            return list;
        }
    }
    for &value in near {
        if let Some(ty) = b.typed.type_of(value)
            && b.typed.types.fits(ty, wanted)
        {
            list.push(value);
        }
    }
    let parts = b.parts.fitting(b.typed, wanted);
    for &part in parts.iter().take(OTHER_PARTS) {
        if !list.contains(&part) {
            list.push(part);
        }
    }
    list
}
