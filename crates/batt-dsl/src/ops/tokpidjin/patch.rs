//! Patches: sets of locations (*Indices*, `_i`) and of coloured cells (*Objects*, `_o`).

use super::extremes::{leftmost, leftmost_i, leftmost_o, uppermost, uppermost_i, uppermost_o};
use crate::fault::{Fault, Outcome};
use crate::ops::{lines, patch};
use crate::run::Run;
use crate::set::Elems;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "patch";

pub(super) const OPS: &[&Op] = &[
    &toindices::OP,
    &toindices_i::OP,
    &toindices_o::OP,
    &recolor_i::OP,
    &recolor_o::OP,
    &shift::OP,
    &normalize::OP,
    &normalize_i::OP,
    &normalize_o::OP,
    &normalize_t::OP,
    &dneighbors::OP,
    &ineighbors::OP,
    &neighbors::OP,
];

/// Returns whether a value is `()`.
pub(super) fn is_empty_tuple<'r>(run: &Run<'r>, v: Value<'r>) -> bool {
    run.tuple_len(v) == Some(0)
}

/// Returns whether a value is a container without elements.
pub(super) fn is_empty<'r>(run: &Run<'r>, v: Value<'r>) -> bool {
    run.len(v) == Ok(0)
}

/// Returns whether a value is not a container or has no elements.
pub(super) fn is_nothing<'r>(run: &Run<'r>, v: Value<'r>) -> bool {
    run.len(v).map_or(true, |len| len == 0)
}

/// Returns the empty set as a value.
pub(super) fn nothing<'r>(run: &mut Run<'r>) -> Outcome<Value<'r>> {
    Ok(Value::Set(run.empty_set()?))
}

/// Returns whether a value is a non-empty set of locations in compact form.
pub(super) fn is_indices(v: Value<'_>) -> bool {
    matches!(v, Value::Set(set) if matches!(set.elems, Elems::Pairs([_, ..])))
}

pub(super) use super::color::is_object;

/// Returns whether a value is a non-empty patch in compact form.
pub(super) fn is_patch(v: Value<'_>) -> bool {
    is_indices(v) || is_object(v)
}

/// Returns the first element of a non-empty container.
pub(super) fn first_of<'r>(run: &mut Run<'r>, v: Value<'r>) -> Outcome<Value<'r>> {
    match v {
        Value::Set(set) => set.first(run)?.ok_or(Fault::StopIteration),
        tuple => run.at(tuple, 0),
    }
}

safe! {
    /// The locations of a patch, without colours. If the first element has three components, all
    /// elements are read as cells; otherwise the patch is returned unchanged. A value without
    /// elements, or whose first element is not a container, gives the empty set.
    pub toindices(patch: Patch) -> Indices;
    |run| {
        if is_patch(patch) {
            return patch::toindices(run, patch);
        }
        if is_nothing(run, patch) {
            return nothing(run);
        }
        let first = first_of(run, patch)?;
        match run.len(first) {
            Ok(3) => patch::toindices(run, patch),
            Ok(_) => Ok(patch),
            Err(_) => nothing(run),
        }
    }
}

safe! {
    /// The argument itself: the locations of a set of locations.
    pub toindices_i(indices: Indices) -> Indices;
    |_run| { Ok(indices) }
}

safe! {
    /// The locations of an object.
    pub toindices_o(obj: Object) -> Indices;
    |run| {
        if is_object(obj) {
            return patch::toindices(run, obj);
        }
        if is_nothing(run, obj) {
            return nothing(run);
        }
        if !patch::holds_cells(run, obj)? {
            return Err(Fault::Value);
        }
        patch::toindices(run, obj)
    }
}

safe! {
    /// Locations in one colour: each becomes a cell.
    pub recolor_i(color: C_, indices: Indices) -> Object = patch::recolored;
}

safe! {
    /// An object in one colour.
    pub recolor_o(color: C_, obj: Object) -> Object;
    |run| {
        let locations = toindices_o(run, obj)?;
        patch::recolored(run, color, locations)
    }
}

safe! {
    /// The patch moved by a vector. The vector `()` leaves it in place.
    pub shift(patch: Patch, directions: IJ) -> Patch;
    |run| {
        if !run.truth(patch) {
            return nothing(run);
        }
        if is_empty_tuple(run, directions) {
            return Ok(patch);
        }
        patch::shift(run, patch, directions)
    }
}

/// Moves the patch by the negative values of two measures.
fn moved_back<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    [top, left]: [crate::ops::measure::Measure; 2],
) -> Outcome<Value<'r>> {
    if run.len(patch)? == 0 {
        return Ok(patch);
    }
    let top = top(run, patch)?;
    let top = run.neg(top)?;
    let left = left(run, patch)?;
    let left = run.neg(left)?;
    let offset = run.pair(top, left)?;
    shift(run, patch, offset)
}

safe! {
    /// The patch moved so that its bounding box starts at the origin.
    pub normalize(indices: Indices) -> Indices;
    |run| {
        if is_patch(indices) {
            return patch::normalize(run, indices);
        }
        moved_back(run, indices, [uppermost, leftmost])
    }
}

safe! {
    /// Locations moved so that their bounding box starts at the origin; an object stays where it
    /// is.
    pub normalize_i(indices: Indices) -> Indices;
    |run| {
        if is_indices(indices) {
            return patch::normalize(run, indices);
        }
        moved_back(run, indices, [uppermost_i, leftmost_i])
    }
}

safe! {
    /// The object moved so that its bounding box starts at the origin; locations stay where they
    /// are.
    pub normalize_o(obj: Object) -> Object;
    |run| {
        if is_object(obj) {
            return patch::normalize(run, obj);
        }
        moved_back(run, obj, [uppermost_o, leftmost_o])
    }
}

safe! {
    /// The argument itself: a grid starts at the origin.
    pub normalize_t(piece: Tuple) -> Tuple;
    |_run| { Ok(piece) }
}

safe! {
    /// The four locations directly above, below and beside a location.
    pub dneighbors(loc: IJ) -> Indices = lines::dneighbors;
}

safe! {
    /// The four locations diagonally next to a location.
    pub ineighbors(loc: IJ) -> Indices = lines::ineighbors;
}

safe! {
    /// The eight locations around a location.
    pub neighbors(loc: IJ) -> Indices = lines::neighbors;
}
