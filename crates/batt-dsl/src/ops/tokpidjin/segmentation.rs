//! Taking grids apart: objects, partitions, occurrences, frontiers.

use super::color::{mostcolor_t, palette_t};
use super::measure::shape_f;
use super::patch::{
    first_of, is_empty, is_empty_tuple, is_object, is_patch, normalize, nothing, shift, toindices,
};
use crate::fault::{Fault, Outcome};
use crate::ops::patch::{cells_under, dims};
use crate::ops::segmentation::{
    self, general_objects, general_occurrences, partition_by, small_grid,
};
use crate::ops::{color as arc_color, patch};
use crate::run::Run;
use crate::set::Set;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "segmentation";

pub(super) const OPS: &[&Op] = &[
    &objects::OP,
    &o_g::OP,
    &partition::OP,
    &fgpartition::OP,
    &colorfilter::OP,
    &occurrences::OP,
    &frontiers::OP,
    &f_ofcolor::OP,
    &asindices::OP,
    &asobject::OP,
    &is_no_grid::OP,
    &toobject::OP,
    &color::OP,
];

safe! {
    /// The connected objects of a grid: of one colour if `univalued`, also connected diagonally if
    /// `diagonal`, without the most frequent colour if `without_bg`.
    pub objects(grid: Grid, univalued: Boolean, diagonal: Boolean, without_bg: Boolean) -> Objects;
    ordered "several colours that are equally frequent, without background";
    |run| {
        if is_empty_tuple(run, grid) {
            return nothing(run);
        }
        if small_grid(run, grid).is_some() {
            return segmentation::objects(run, grid, univalued, diagonal, without_bg);
        }
        let background = match run.truth(without_bg) {
            true => mostcolor_t(run, grid)?,
            false => Value::None,
        };
        let (univalued, diagonal) = (run.truth(univalued), run.truth(diagonal));
        general_objects(run, grid, univalued, diagonal, background)
    }
}

safe! {
    /// The connected objects of a grid, by a code of three bits: of one colour, diagonally connected, without
    /// background; `None` for another code.
    pub o_g(grid: Grid, r#type: R8) -> Objects;
    ordered "several colours that are equally frequent, without background";
    |run| {
        let Some(code @ 0..8) = r#type.integral() else {
            return Ok(Value::None);
        };
        let flag = |bit: i64| Value::bool(code & bit != 0);
        objects(run, grid, flag(4), flag(2), flag(1))
    }
}

/// The set of the colours of a grid.
fn palette<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<&'r Set<'r>> {
    palette_t(run, grid)?.as_set().ok_or(Fault::Type)
}

safe! {
    /// The cells of a grid by colour: one object per colour.
    pub partition(grid: Grid) -> Objects;
    |run| {
        let colors = palette(run, grid)?;
        partition_by(run, grid, colors)
    }
}

safe! {
    /// The cells of a grid by colour, without the most frequent one.
    pub fgpartition(grid: Grid) -> Objects;
    ordered "several colours that are equally frequent";
    |run| {
        let colors = palette(run, grid)?;
        let background = mostcolor_t(run, grid)?;
        let background = run.build(&[background])?;
        let colors = run.set_minus(colors, background)?;
        partition_by(run, grid, colors)
    }
}

safe! {
    /// The objects of a colour: of those whose first cell has it.
    pub colorfilter(objs: Objects, color: C_) -> Objects = arc_color::colorfilter;
    ordered "an object of several colours";
}

safe! {
    /// Where an object occurs in a grid: the top left corners of its bounding box.
    pub occurrences(grid: Grid, obj: Object) -> Indices;
    |run| {
        if is_object(obj) && small_grid(run, grid).is_some() {
            return segmentation::occurrences(run, grid, obj);
        }
        let normed = normalize(run, obj)?;
        let dims = dims(run, grid)?;
        let shape = shape_f(run, obj)?;
        general_occurrences(run, grid, dims, normed, shape, shift)
    }
}

safe! {
    /// The rows and columns of a single colour, each as an object.
    pub frontiers(grid: Grid) -> Objects = segmentation::frontiers;
}

safe! {
    /// The locations of a colour in a grid.
    pub f_ofcolor(grid: Grid, color: C_) -> Indices = segmentation::ofcolor;
}

safe! {
    /// All locations of a grid.
    pub asindices(grid: Grid) -> Indices = patch::asindices;
}

safe! {
    /// All cells of a grid; nothing comes of something that is no grid.
    pub asobject(grid: Grid) -> Object;
    |run| {
        if is_grid(run, grid)? {
            return patch::asobject(run, grid);
        }
        nothing(run)
    }
}

safe! {
    /// Is it anything but a tuple of tuples of integers?
    pub is_no_grid(x: Any) -> Any;
    |run| { Ok(Value::bool(!is_grid(run, x)?)) }
}

/// Is it a tuple of tuples of integers?
fn is_grid<'r>(run: &mut Run<'r>, v: Value<'r>) -> Outcome<bool> {
    if !v.is_tuple() {
        return Ok(false);
    }
    if run.as_grid(v).is_some() {
        return Ok(true);
    }
    for &row in run.items(v)? {
        if !row.is_tuple() || !run.items(row)?.iter().all(|v| v.as_int().is_some()) {
            return Ok(false);
        }
    }
    Ok(true)
}

safe! {
    /// The cells of a grid at the locations of a patch.
    pub toobject(patch: Patch, grid: Grid) -> Object;
    |run| {
        if is_patch(patch) {
            return patch::toobject(run, patch, grid);
        }
        let dims = dims(run, grid)?;
        let locations = toindices(run, patch)?;
        cells_under(run, locations, grid, dims)
    }
}

safe! {
    /// The colour of an object: that of its first cell; minus infinity without one.
    pub color(obj: Object) -> Integer;
    ordered "an object of several colours";
    |run| {
        if is_object(obj) {
            return arc_color::first_color(run, obj);
        }
        if is_empty(run, obj) {
            return Ok(Value::float(f64::NEG_INFINITY));
        }
        let first = first_of(run, obj)?;
        if !first.is_tuple() {
            return Ok(Value::float(f64::NEG_INFINITY));
        }
        run.at(first, 2)
    }
}
