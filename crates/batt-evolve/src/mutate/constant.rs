//! Mutations of constants.

use batt_lang::graph::{Graph, Ref};

use super::{Breeder, role};

/// Replaces a constant of a program by another one of its role.
pub(super) fn constant(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let places = places(&b.typed.graph, parent);
    let &(node, position) = b.chance.one(&places)?;
    let new = another(b, node, position)?;
    b.typed.replace_operand(parent, node, position, new)
}

/// Returns the positions of the constants in a program.
pub(super) fn places(graph: &Graph, program: Ref) -> Vec<(u32, usize)> {
    let nodes = graph.reach(program);
    let of_node = |node: u32| {
        let operands = graph.operands(node).iter().enumerate();
        let constants = operands.filter(|(_, operand)| operand.is_constant());
        constants.map(move |(position, _)| (node, position))
    };
    nodes.into_iter().flat_map(of_node).collect()
}

/// Chooses another constant for an operand: by its role if that is known, otherwise by its type.
fn another(b: &mut Breeder<'_>, node: u32, position: usize) -> Option<Ref> {
    if let Some(role) = role(&b.typed.graph, node, position) {
        return b.constant_for(role);
    }
    let old = b.typed.graph.operands(node)[position];
    let ty = b.typed.type_of(old)?;
    let constants: Vec<Ref> = b
        .typed
        .graph
        .dialect()
        .constants()
        .map(Ref::constant)
        .collect();
    let same: Vec<Ref> = constants
        .into_iter()
        .filter(|&constant| b.typed.type_of(constant) == Some(ty))
        .collect();
    b.chance.one(&same).copied()
}

/// Replaces several constants of a program: at least one, and each further one with this
/// probability.
pub(super) fn several(b: &mut Breeder<'_>, program: Ref, share: f64) -> Option<Ref> {
    let mut current = constant(b, program).unwrap_or(program);
    for _ in 0..3 {
        if b.chance.is(share) {
            current = constant(b, current).unwrap_or(current);
        }
    }
    (current != program).then_some(current)
}
