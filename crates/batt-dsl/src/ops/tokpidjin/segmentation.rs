//! Decomposing grids: objects, partitions, occurrences, frontiers.

use super::color::{mostcolor_t, palette_t};
use super::measure::shape_f;
use super::patch::{
    first_of, is_empty, is_empty_tuple, is_object, is_patch, normalize, nothing, shift, toindices,
};
use crate::fault::{Fault, Outcome};
use crate::ops::patch::{cells_under, dims};
use crate::ops::segmentation::{
    self, accepted_cells, general_objects, general_occurrences, partition_by, small_grid,
};
use crate::ops::{color as arc_color, patch};
use crate::run::Run;
use crate::set::Set;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "segmentation";

pub(super) const OPS: &[&Op] = &[
    &objects::OP,
    &objects_t::OP,
    &objects_g::OP,
    &o_g::OP,
    &o_g_t::OP,
    &o_g_tuple::OP,
    &partition::OP,
    &fgpartition::OP,
    &colorfilter::OP,
    &colorfilter_t::OP,
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
    /// The connected objects of a grid: of one colour if `univalued`, diagonally connected if
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
        let background = background(run, grid, without_bg)?;
        let (univalued, diagonal) = (run.truth(univalued), run.truth(diagonal));
        general_objects(run, grid, univalued, diagonal, background)
    }
}

/// Returns the colour that belongs to no object; `None` if every colour may.
fn background<'r>(run: &mut Run<'r>, grid: Value<'r>, without_bg: Value<'r>) -> Outcome<Value<'r>> {
    match run.truth(without_bg) {
        true => mostcolor_t(run, grid),
        false => Ok(Value::None),
    }
}

safe! {
    /// The connected objects of a grid as a tuple of tuples of cells, in the order in which they
    /// are found; see `objects`.
    pub objects_t(grid: Grid, univalued: Boolean, diagonal: Boolean, without_bg: Boolean) -> TTT_iii;
    ordered "more than one cell";
    |run| {
        if is_empty_tuple(run, grid) {
            return Ok(grid);
        }
        let background = background(run, grid, without_bg)?;
        let (univalued, diagonal) = (run.truth(univalued), run.truth(diagonal));
        let found = accepted_cells(run, grid, univalued, diagonal, background)?;
        let mut objects = Vec::with_capacity(found.len());
        for (_, cells) in found {
            objects.push(run.tuple(&cells)?);
        }
        run.tuple(&objects)
    }
}

safe! {
    /// The same function as `objects_t`.
    pub objects_g(grid: Grid, univalued: Boolean, diagonal: Boolean, without_bg: Boolean) -> TTT_iii = objects_t;
    ordered "more than one cell";
}

/// Returns the flags in a code of `o_g`: objects of one colour, diagonally connected, without
/// background. Returns `None` if the value is not a code.
fn flags<'r>(code: Value<'r>) -> Option<[Value<'r>; 3]> {
    let code = code.integral().filter(|code| (0..8).contains(code))?;
    Some([4, 2, 1].map(|bit| Value::bool(code & bit != 0)))
}

safe! {
    /// The connected objects of a grid, by a code of three bits: of one colour, diagonally
    /// connected, without background. `None` for another code.
    pub o_g(grid: Grid, r#type: R8) -> Objects;
    ordered "several colours that are equally frequent, without background";
    |run| {
        match flags(r#type) {
            Some([univalued, diagonal, without_bg]) => objects(run, grid, univalued, diagonal, without_bg),
            None => Ok(Value::None),
        }
    }
}

safe! {
    /// The connected objects of a grid as a tuple of tuples of cells, by a code of three bits; see
    /// `o_g`.
    pub o_g_t(grid: Grid, r#type: R8) -> TTT_iii;
    ordered "more than one cell";
    |run| {
        match flags(r#type) {
            Some([univalued, diagonal, without_bg]) => objects_t(run, grid, univalued, diagonal, without_bg),
            None => Ok(Value::None),
        }
    }
}

safe! {
    /// The same function as `o_g_t`.
    pub o_g_tuple(grid: Grid, r#type: R8) -> TTT_iii = o_g_t;
    ordered "more than one cell";
}

/// Returns the set of the colours of a grid.
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
    /// The objects of a colour. Only the first cell of each object is read.
    pub colorfilter(objs: Objects, color: C_) -> Objects = arc_color::colorfilter;
    ordered "an object of several colours";
}

safe! {
    /// The objects of a colour as a tuple. Objects are tuples of cells here, and only the first
    /// cell of each is read.
    pub colorfilter_t(objs: TTT_iii, color: Integer) -> TTT_iii;
    ordered "a set of several elements";
    |run| {
        let mut kept = Vec::new();
        for &object in run.items(objs)? {
            let cell = run.at(object, 0)?;
            let value = run.at(cell, 2)?;
            if run.eq(value, color) {
                kept.push(object);
            }
        }
        run.tuple(&kept)
    }
}

safe! {
    /// The places where an object occurs in a grid: the top left corners of its bounding box.
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
    /// All cells of a grid; the empty set for a value that is not a grid.
    pub asobject(grid: Grid) -> Object;
    |run| {
        if is_grid(run, grid)? {
            return patch::asobject(run, grid);
        }
        nothing(run)
    }
}

safe! {
    /// Whether a value is anything but a tuple of tuples of integers.
    pub is_no_grid(x: Any) -> Any;
    |run| { Ok(Value::bool(!is_grid(run, x)?)) }
}

/// Returns whether a value is a tuple of tuples of integers.
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
    /// The colour of an object, which is the colour of its first cell; minus infinity for an empty
    /// object.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::ops::tokpidjin::container::{difference_t, sizefilter_t};
    use crate::ops::tokpidjin::ranked::get_nth_t;
    use crate::run::{Limits, Workspace};

    /// Returns a value as Python writes it.
    fn written<'r>(run: &mut Run<'r>, value: Value<'r>) -> Outcome<String> {
        Ok(run.to_owned(value)?.to_string())
    }

    fn in_a_run(test: impl FnOnce(&mut Run<'_>) -> Outcome<()>) {
        let done = Workspace::new().run(Dialect::Tokpidjin, &Limits::default(), test);
        assert_eq!(done, Ok(()));
    }

    /// The results of CPython 3.11.
    const AS_TUPLES: [(i64, &str); 5] = [
        (
            0,
            "(((0, 1, 1), (0, 2, 0), (1, 1, 2), (0, 0, 1), (1, 0, 0), (1, 2, 2), (2, 1, 0), (2, 0, 3), (2, 2, 2)),)",
        ),
        (
            3,
            "(((0, 1, 1), (1, 2, 2), (0, 0, 1), (1, 1, 2), (2, 0, 3), (2, 2, 2)),)",
        ),
        (
            5,
            "(((0, 1, 1), (0, 0, 1)), ((1, 2, 2), (1, 1, 2), (2, 2, 2)), ((2, 0, 3),))",
        ),
        (
            6,
            "(((0, 1, 1), (0, 0, 1)), ((1, 2, 2), (1, 1, 2), (2, 2, 2)), ((2, 1, 0), (1, 0, 0)), ((2, 0, 3),), ((0, 2, 0),))",
        ),
        (8, "None"),
    ];

    #[test]
    fn objects_as_tuples_are_in_the_order_of_the_search() {
        in_a_run(|run| {
            let rows = [[1, 1, 0], [0, 2, 2], [3, 0, 2]];
            let rows = rows.map(|row| row.map(Value::Int));
            let rows = [
                run.tuple(&rows[0])?,
                run.tuple(&rows[1])?,
                run.tuple(&rows[2])?,
            ];
            let grid = run.tuple(&rows)?;
            for (code, expected) in AS_TUPLES {
                let objects = o_g_t(run, grid, Value::Int(code))?;
                assert_eq!(written(run, objects)?, expected, "{code}");
            }
            let objects = o_g_tuple(run, grid, Value::Int(5))?;
            let red = colorfilter_t(run, objects, Value::Int(2))?;
            assert_eq!(written(run, red)?, "(((1, 2, 2), (1, 1, 2), (2, 2, 2)),)");
            let single = sizefilter_t(run, objects, Value::Int(1))?;
            assert_eq!(written(run, single)?, "(((2, 0, 3),),)");
            let rest = difference_t(run, objects, single)?;
            assert_eq!(
                written(run, rest)?,
                "(((0, 1, 1), (0, 0, 1)), ((1, 2, 2), (1, 1, 2), (2, 2, 2)))"
            );
            // An object without a first cell has no colour, and a number has no size.
            let empty = run.tuple(&[Value::EMPTY_TUPLE])?;
            for nothing in [
                colorfilter_t(run, empty, Value::Int(2))?,
                sizefilter_t(run, rows[0], Value::Int(1))?,
                objects_g(
                    run,
                    Value::None,
                    Value::Int(1),
                    Value::Int(1),
                    Value::Int(1),
                )?,
            ] {
                assert_eq!(written(run, nothing)?, "()");
            }
            Ok(())
        });
    }

    /// A nan equals nothing. So the set variant returns an object with the cell from which the
    /// search started, and the tuple variant returns an empty object.
    #[test]
    fn an_object_that_does_not_equal_itself_is_empty() {
        in_a_run(|run| {
            let nan = get_nth_t(run, Value::EMPTY_TUPLE, Value::Int(0))?;
            let rows = [[nan, Value::Int(1)], [Value::Int(1), Value::Int(2)]];
            let rows = [run.tuple(&rows[0])?, run.tuple(&rows[1])?];
            let grid = run.tuple(&rows)?;
            for (code, expected) in [
                (4, "(((0, 1, 1),), ((1, 0, 1),), ((1, 1, 2),), ())"),
                (0, "(((0, 1, 1), (1, 1, 2), (0, 0, nan), (1, 0, 1)),)"),
                (5, "(((1, 1, 2),), ())"),
            ] {
                let objects = o_g_t(run, grid, Value::Int(code))?;
                assert_eq!(written(run, objects)?, expected, "{code}");
            }
            let found = o_g(run, grid, Value::Int(5))?;
            assert_eq!(run.len(found)?, 2);
            Ok(())
        });
    }
}
