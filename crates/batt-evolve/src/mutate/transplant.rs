//! Mutations that take values from other programs.

use batt_lang::graph::Ref;
use batt_lang::types::TypeId;

use super::{Breeder, constant};

/// Replaces a value by one that a donor computes, of the same type.
pub(super) fn transplant(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let (node, position) = b.argument_of(parent)?;
    let old = b.typed.graph.operands(node)[position];
    let ty = b.typed.type_of(old)?;
    let new = if b.typed.types.is_function(ty) {
        let wanted = b.wanted(node, position)?;
        b.function(wanted)?
    } else if b.chance.is(0.5) {
        *b.chance.one(b.donors.values(ty))?
    } else {
        let wanted = b.wanted(node, position)?;
        b.value(wanted)?
    };
    b.typed.replace_operand(parent, node, position, new)
}

/// Replaces a value by one of another program of the population.
pub(super) fn mate(b: &mut Breeder<'_>, parent: Ref) -> Option<Ref> {
    let at = b.chance.low(b.population.len());
    let &other = b.population.get(at)?;
    let (node, position) = b.argument_of(parent)?;
    let wanted = b.wanted(node, position)?;
    let mut choices = Vec::new();
    for id in b.typed.graph.reach(other) {
        if let Some(ty) = b.typed.type_of(Ref::node(id))
            && b.typed.types.fits(ty, wanted)
        {
            choices.push(Ref::node(id));
        }
    }
    let &new = b.chance.one(&choices)?;
    b.typed.replace_operand(parent, node, position, new)
}

/// Takes a donor's program, or a grid that it computes, with other constants.
pub(super) fn adopt(b: &mut Breeder<'_>) -> Option<Ref> {
    let program = match b.chance.is(0.7) {
        true => *b.chance.one(&b.donors.programs)?,
        false => *b.chance.one(b.donors.values(TypeId::GRID))?,
    };
    constant::several(b, program, 0.5)
}
