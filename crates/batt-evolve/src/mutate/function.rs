//! Mutations of functions that are passed as arguments.

use batt_lang::graph::Ref;
use batt_lang::types::TypeId;

use super::Breeder;

/// Replaces a function that is passed, or composes it with another one.
pub(super) fn function(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let nodes = b.typed.graph.reach(parent);
    let mut places: Vec<(u32, usize)> = Vec::new();
    for node in nodes {
        for position in 1..b.typed.graph.operands(node).len() {
            let operand = b.typed.graph.operands(node)[position];
            if let Some(ty) = b.typed.type_of(operand)
                && b.typed.types.is_function(ty)
            {
                places.push((node, position));
            }
        }
    }
    let &(node, position) = b.chance.one(&places)?;
    let wanted = b.wanted(node, position)?;
    let new = match b.chance.is(0.75) {
        true => b.function(wanted)?,
        false => {
            let old = b.typed.graph.operands(node)[position];
            around(b, old, wanted)?
        }
    };
    b.typed.replace_operand(parent, node, position, new)
}

/// Makes a composition that contains a function.
fn around(b: &mut Breeder<'_>, function: Ref, wanted: TypeId) -> Option<Ref> {
    let compose = Ref::op(b.typed.graph.dialect().op("compose")?);
    let ty = b.typed.type_of(function)?;
    let (takes, gives) = (b.typed.types.params_of(ty), b.typed.types.result_of(ty)?);
    let made = if b.chance.is(0.5) {
        let after = b.typed.types.function(&[gives], TypeId::ANY);
        let outer = some_function(b, after)?;
        b.typed.call(compose, &[outer, function])?
    } else {
        let before = b.typed.types.function(&[TypeId::ANY], *takes.first()?);
        let inner = some_function(b, before)?;
        b.typed.call(compose, &[function, inner])?
    };
    let made_type = b.typed.type_of(made)?;
    b.typed.types.fits(made_type, wanted).then_some(made)
}

/// Chooses a donor's function, or a primitive with one parameter.
fn some_function(b: &mut Breeder<'_>, wanted: TypeId) -> Option<Ref> {
    for _ in 0..8 {
        let (ty, list) = b.chance.one(b.donors.functions())?;
        if b.typed.types.fits(*ty, wanted) {
            return b.chance.one(list).copied();
        }
    }
    None
}

/// Makes a new function of a type: a composition of two, or a primitive with one bound argument.
pub(super) fn compose(b: &mut Breeder<'_>, wanted: TypeId) -> Option<Ref> {
    let dialect = b.typed.graph.dialect();
    if b.typed.types.arity(wanted) != Some(1) {
        return None;
    }
    let made = if b.chance.is(0.5) {
        let params = b.typed.types.params_of(wanted);
        let inner = b.typed.types.function(&params, TypeId::ANY);
        let inner = some_function(b, inner)?;
        let ty = b.typed.type_of(inner)?;
        let gives = b.typed.types.result_of(ty)?;
        let result = b.typed.types.result_of(wanted)?;
        let outer = b.typed.types.function(&[gives], result);
        let outer = some_function(b, outer)?;
        let compose = Ref::op(dialect.op("compose")?);
        b.typed.call(compose, &[outer, inner])?
    } else {
        let op = b.donors.value_ops.choose(&mut b.chance)?;
        if op.op().arity() != 2 {
            return None;
        }
        let params = b.donors.params_of(op);
        let (binder, position) = match b.chance.is(0.5) {
            true => ("lbind", 0),
            false => ("rbind", 1),
        };
        let value = b.argument(op, position, *params.get(position)?)?;
        b.typed
            .call(Ref::op(dialect.op(binder)?), &[Ref::op(op), value])?
    };
    let ty = b.typed.type_of(made)?;
    b.typed.types.fits(ty, wanted).then_some(made)
}
