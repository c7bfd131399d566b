//! Colours of grids (`_t`) and objects (`_f`).
//!
//! The variants differ in how they read any argument: `_t` takes every value of every member, `_f`
//! the third component of every member.

use std::cmp::Ordering;

use crate::fault::Outcome;
use crate::ops::color::{
    cell_colors, colorcount, count_among_cells, count_in_rows, grid_values, numcolors,
    quick_palette, quick_winner,
};
use crate::ops::container::most_frequent;
use crate::run::Run;
use crate::set::{Elems, Origin};
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "color";

pub(super) const OPS: &[&Op] = &[
    &mostcolor_t::OP,
    &mostcolor_f::OP,
    &leastcolor_t::OP,
    &leastcolor_f::OP,
    &colorcount_t::OP,
    &colorcount_f::OP,
    &palette_t::OP,
    &palette_f::OP,
    &numcolors_t::OP,
    &numcolors_f::OP,
];

/// Returns whether a value is a set of cells in compact form.
pub(super) fn is_object(v: Value<'_>) -> bool {
    matches!(v, Value::Set(set) if matches!(set.elems, Elems::Cells(_)))
}

/// Returns the most or least frequent of the values, or nan if there are none.
fn frequent<'r>(
    run: &mut Run<'r>,
    values: &[Value<'r>],
    direction: Ordering,
) -> Outcome<Value<'r>> {
    if values.is_empty() {
        return Ok(Value::NAN);
    }
    most_frequent(run, values, direction)
}

/// Returns the most or least frequent value of a grid.
fn frequent_in_grid<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    direction: Ordering,
) -> Outcome<Value<'r>> {
    if grid.is_tuple()
        && let Some(winner) = quick_winner(run, grid, direction)?
    {
        return Ok(winner);
    }
    let values = grid_values(run, grid)?;
    frequent(run, &values, direction)
}

/// Returns the most or least frequent colour of an object.
fn frequent_in_object<'r>(
    run: &mut Run<'r>,
    obj: Value<'r>,
    direction: Ordering,
) -> Outcome<Value<'r>> {
    if is_object(obj)
        && let Some(winner) = quick_winner(run, obj, direction)?
    {
        return Ok(winner);
    }
    let colors = cell_colors(run, obj)?;
    frequent(run, &colors, direction)
}

safe! {
    /// The most frequent value of a grid, or nan if it has none.
    pub mostcolor_t(grid: Grid) -> Integer;
    ordered "several values that are equally frequent";
    |run| { frequent_in_grid(run, grid, Ordering::Greater) }
}

safe! {
    /// The most frequent colour of an object, or nan if it has none.
    pub mostcolor_f(obj: Object) -> Integer;
    ordered "several colours that are equally frequent";
    |run| { frequent_in_object(run, obj, Ordering::Greater) }
}

safe! {
    /// The rarest value of a grid, or nan if it has none.
    pub leastcolor_t(grid: Grid) -> Integer;
    ordered "several values that are equally rare";
    |run| { frequent_in_grid(run, grid, Ordering::Less) }
}

safe! {
    /// The rarest colour of an object, or nan if it has none.
    pub leastcolor_f(obj: Object) -> Integer;
    ordered "several colours that are equally rare";
    |run| { frequent_in_object(run, obj, Ordering::Less) }
}

safe! {
    /// The number of cells of a colour in a grid.
    pub colorcount_t(grid: Grid, color: C_) -> Integer;
    |run| {
        if grid.is_tuple() {
            return colorcount(run, grid, color);
        }
        count_in_rows(run, grid, color)
    }
}

safe! {
    /// The number of cells of a colour in an object.
    pub colorcount_f(obj: Object, color: C_) -> Integer;
    |run| {
        if is_object(obj) {
            return colorcount(run, obj, color);
        }
        count_among_cells(run, obj, color)
    }
}

safe! {
    /// The set of the values of a grid.
    pub palette_t(element: Tuple) -> IntegerSet;
    |run| {
        if element.is_tuple()
            && let Some(colors) = quick_palette(run, element, Origin::Build)?
        {
            return Ok(Value::Set(colors));
        }
        let values = grid_values(run, element)?;
        Ok(Value::Set(run.build(&values)?))
    }
}

safe! {
    /// The set of the colours of an object.
    pub palette_f(element: FrozenSet) -> IntegerSet;
    |run| {
        if is_object(element)
            && let Some(colors) = quick_palette(run, element, Origin::Build)?
        {
            return Ok(Value::Set(colors));
        }
        let colors = cell_colors(run, element)?;
        Ok(Value::Set(run.build(&colors)?))
    }
}

safe! {
    /// The number of different values of a grid.
    pub numcolors_t(grid: Grid) -> Integer;
    |run| {
        let colors = palette_t(run, grid)?;
        Ok(Value::Int(run.len(colors)? as i64))
    }
}

safe! {
    /// The number of different colours of an object.
    pub numcolors_f(obj: Object) -> Integer;
    |run| {
        if is_object(obj) {
            return numcolors(run, obj);
        }
        let colors = palette_f(run, obj)?;
        Ok(Value::Int(run.len(colors)? as i64))
    }
}
