//! New values from parts.

use batt_lang::graph::Ref;
use batt_lang::types::TypeId;

use super::Breeder;

/// A new grid: one call of parts.
pub(super) fn assemble(b: &mut Breeder<'_>) -> Option<Ref> {
    let at = b.chance.weighted(&b.donors.grid_ops.sums)?;
    let op = b.donors.grid_ops.ops[at];
    b.call(op, &[], Some(TypeId::GRID))
}

/// A new value of any type but a function.
pub(super) fn grow(b: &mut Breeder<'_>) -> Option<Ref> {
    let at = b.chance.weighted(&b.donors.value_ops.sums)?;
    let op = b.donors.value_ops.ops[at];
    let made = b.call(op, &[], None)?;
    let ty = b.typed.type_of(made)?;
    (!b.typed.types.is_function(ty)).then_some(made)
}
