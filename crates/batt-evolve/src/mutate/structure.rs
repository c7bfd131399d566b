//! Mutations of a program's structure: primitives, arguments, and inserted or removed calls.

use batt_lang::graph::{Node, Ref};
use batt_lang::types::TypeId;

use super::Breeder;

/// The number of tries for a choice that may not fit.
const TRIES: usize = 8;

/// Replaces a primitive by another one with the same arguments.
pub(super) fn op(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let node = b.node_of(parent)?;
    let Node::Call { callee, args } = b.typed.graph.node(node) else {
        return None;
    };
    callee.as_op()?;
    let args = args.to_vec();
    let wanted = b.typed.type_of(Ref::node(node))?;
    for _ in 0..TRIES {
        let op = b.donors.all_ops.choose(&mut b.chance)?;
        if op.op().arity() != args.len() || Ref::op(op) == callee {
            continue;
        }
        if let Some(ty) = b.typed.type_of_call(Ref::op(op), &args)
            && b.typed.types.fits(ty, wanted)
        {
            return b.typed.replace_operand(parent, node, 0, Ref::op(op));
        }
    }
    None
}

/// Replaces an argument by another value of the same program, or by the input.
pub(super) fn rewire(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let (node, position) = b.argument_of(parent)?;
    let wanted = b.wanted(node, position)?;
    let nodes = b.typed.graph.reach(parent);
    let own = nodes.into_iter().filter(|&id| id < node).map(Ref::node);
    let mut choices: Vec<Ref> = Vec::new();
    for value in own.chain([Ref::INPUT]) {
        if let Some(ty) = b.typed.type_of(value)
            && b.typed.types.fits(ty, wanted)
        {
            choices.push(value);
        }
    }
    let &new = b.chance.one(&choices)?;
    b.typed.replace_operand(parent, node, position, new)
}

/// Inserts a call between a value and its use, or around the whole program.
pub(super) fn insert(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let (value, place) = match b.chance.is(0.35) {
        true => (parent, None),
        false => {
            let (node, position) = b.argument_of(parent)?;
            let operand = b.typed.graph.operands(node)[position];
            (operand, Some((node, position)))
        }
    };
    let ty = b.typed.type_of(value)?;
    if b.typed.types.is_function(ty) {
        return super::function::function(b, parent);
    }
    let wrapped = wrap(b, value, ty)?;
    match place {
        None => Some(wrapped),
        Some((node, position)) => b.typed.replace_operand(parent, node, position, wrapped),
    }
}

/// Makes a call of a primitive that takes a value and returns one of the same type.
fn wrap(b: &mut Breeder<'_>, value: Ref, ty: TypeId) -> Option<Ref> {
    for _ in 0..TRIES {
        let op = b.donors.value_ops.choose(&mut b.chance)?;
        let gives = b.donors.result_of(op)?;
        if !b.typed.types.fits(gives, ty) && !b.typed.types.fits(ty, gives) {
            continue;
        }
        let params = b.donors.params_of(op);
        let mut positions = Vec::new();
        for (k, &param) in params.iter().enumerate() {
            if b.typed.types.fits(ty, param) && !b.typed.types.is_function(param) {
                positions.push(k);
            }
        }
        let Some(&position) = b.chance.one(&positions) else {
            continue;
        };
        if let Some(made) = b.call(op, &[(position, value)], Some(ty)) {
            return Some(made);
        }
    }
    None
}

/// Replaces a call by one of its arguments.
pub(super) fn remove(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let (node, position) = b.argument_of(parent)?;
    let argument = b.typed.graph.operands(node)[position];
    let (old, new) = (
        b.typed.type_of(Ref::node(node))?,
        b.typed.type_of(argument)?,
    );
    match b.typed.types.fits(new, old) {
        true => b.typed.replace(parent, node, argument),
        false => None,
    }
}
