//! Measures of grids and patches, and the relative position of two patches.

use super::extremes::{
    leftmost, leftmost_i, leftmost_o, lowermost, lowermost_i, lowermost_o, rightmost, rightmost_i,
    rightmost_o, uppermost, uppermost_i, uppermost_o,
};
use super::patch::{is_indices, is_nothing, is_object, is_patch, normalize, shift, toindices};
use crate::fault::Outcome;
use crate::ops::measure::{self, Axis, MAX_MOVES, Measure};
use crate::ops::segmentation;
use crate::run::Run;
use crate::table::Op;
use crate::value::{IntPair, Value};

const FAMILY: &str = "measure";

pub(super) const OPS: &[&Op] = &[
    &height_t::OP,
    &height_f::OP,
    &height_i::OP,
    &height_o::OP,
    &width_t::OP,
    &width_f::OP,
    &width_i::OP,
    &width_o::OP,
    &shape_t::OP,
    &shape_f::OP,
    &portrait_t::OP,
    &portrait_f::OP,
    &square_t::OP,
    &square_f::OP,
    &vline_i::OP,
    &vline_o::OP,
    &hline_i::OP,
    &hline_o::OP,
    &center::OP,
    &centerofmass::OP,
    &position::OP,
    &hmatching::OP,
    &vmatching::OP,
    &manhattan::OP,
    &adjacent::OP,
    &bordering::OP,
    &gravitate::OP,
    &hperiod::OP,
    &vperiod::OP,
];

/// Returns the number of rows or columns from one end of a patch to another, both included; 0 for
/// an empty patch.
#[cold]
fn extent<'r>(run: &mut Run<'r>, piece: Value<'r>, [from, to]: [Measure; 2]) -> Outcome<Value<'r>> {
    if run.len(piece)? == 0 {
        return Ok(Value::Int(0));
    }
    let to = to(run, piece)?;
    let from = from(run, piece)?;
    let distance = run.sub(to, from)?;
    run.add(distance, Value::Int(1))
}

/// Declares a measure that uses arc-dsl's code for compact patches, and counts from one end to
/// another for other values.
macro_rules! extent {
    ($doc:literal, $name:ident($param:ident: $ty:ident), $fits:ident, $same:ident, $from:ident, $to:ident) => {
        safe! {
            #[doc = $doc]
            pub $name($param: $ty) -> Integer;
            |run| {
                if $fits($param) {
                    return measure::$same(run, $param);
                }
                extent(run, $param, [$from, $to])
            }
        }
    };
}

safe! {
    /// The number of rows of a grid, or of elements of a container.
    pub height_t(piece: Tuple) -> Integer;
    |run| { Ok(Value::Int(run.len(piece)? as i64)) }
}

extent! { "The number of rows of a patch.", height_f(piece: Indices), is_patch, height, uppermost, lowermost }
extent! { "The number of rows of locations.", height_i(piece: Indices), is_indices, height, uppermost_i, lowermost_i }
extent! { "The number of rows of an object.", height_o(piece: Object), is_object, height, uppermost_o, lowermost_o }

safe! {
    /// The number of columns of a grid, taken from its first row.
    pub width_t(piece: Tuple) -> Integer;
    |run| {
        if !run.truth(piece) {
            return Ok(Value::Int(0));
        }
        Ok(Value::Int(first_len(run, piece)?))
    }
}

/// Returns the length of the first row of a grid.
fn first_len<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<i64> {
    if let Value::Grid(grid) = grid {
        return Ok(grid.width as i64);
    }
    let first = run.at(grid, 0)?;
    Ok(run.len(first)? as i64)
}

extent! { "The number of columns of a patch.", width_f(piece: Indices), is_patch, width, leftmost, rightmost }
extent! { "The number of columns of locations.", width_i(piece: Indices), is_indices, width, leftmost_i, rightmost_i }
extent! { "The number of columns of an object.", width_o(piece: Object), is_object, width, leftmost_o, rightmost_o }

safe! {
    /// Height and width of a grid.
    pub shape_t(grid: Grid) -> IJ;
    |run| {
        let (height, width) = (height_t(run, grid)?, width_t(run, grid)?);
        run.pair(height, width)
    }
}

safe! {
    /// Height and width of a patch.
    pub shape_f(patch: Patch) -> IJ;
    |run| {
        let (height, width) = (height_f(run, patch)?, width_f(run, patch)?);
        run.pair(height, width)
    }
}

safe! {
    /// Whether the grid has more rows than columns.
    pub portrait_t(grid: Grid) -> Boolean;
    |run| {
        let (height, width) = (height_t(run, grid)?, width_t(run, grid)?);
        run.lt(width, height).map(Value::bool)
    }
}

safe! {
    /// Whether the patch has more rows than columns.
    pub portrait_f(patch: Patch) -> Boolean;
    |run| {
        let (height, width) = (height_f(run, patch)?, width_f(run, patch)?);
        run.lt(width, height).map(Value::bool)
    }
}

safe! {
    /// Whether the grid has as many rows as columns.
    pub square_t(grid: Grid) -> Boolean;
    |run| {
        let height = run.len(grid)? as i64;
        Ok(Value::bool(height == first_len(run, grid)?))
    }
}

safe! {
    /// Whether the patch fills a square box. True for an empty one.
    pub square_f(patch: Patch) -> Boolean;
    |run| {
        if is_patch(patch) {
            return measure::square(run, patch);
        }
        let (height, width) = (height_f(run, patch)?, width_f(run, patch)?);
        let area = run.mul(height, width)?;
        let len = Value::Int(run.len(patch)? as i64);
        Ok(Value::bool(run.eq(area, len) && run.eq(height, width)))
    }
}

/// Returns whether a patch is a line: as long along one axis as its number of elements, and 1 wide
/// across.
fn is_line<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    [along, across]: [Measure; 2],
) -> Outcome<Value<'r>> {
    let along = along(run, patch)?;
    let len = Value::Int(run.len(patch)? as i64);
    if !run.eq(along, len) {
        return Ok(Value::bool(false));
    }
    let across = across(run, patch)?;
    Ok(Value::bool(run.eq(across, Value::Int(1))))
}

safe! {
    /// Whether the locations are a vertical line without gaps.
    pub vline_i(patch: Indices) -> Boolean;
    |run| { is_line(run, patch, [height_i, width_i]) }
}

safe! {
    /// Whether the object is a vertical line without gaps.
    pub vline_o(patch: Object) -> Boolean;
    |run| { is_line(run, patch, [height_o, width_o]) }
}

safe! {
    /// Whether the locations are a horizontal line without gaps.
    pub hline_i(patch: Indices) -> Boolean;
    |run| { is_line(run, patch, [width_i, height_i]) }
}

safe! {
    /// Whether the object is a horizontal line without gaps.
    pub hline_o(patch: Object) -> Boolean;
    |run| { is_line(run, patch, [width_o, height_o]) }
}

safe! {
    /// The centre of the bounding box of a patch, `()` for an empty one.
    pub center(patch: Patch) -> IJ;
    |run| {
        if is_patch(patch) {
            return measure::center(run, patch);
        }
        let (top, left) = (uppermost(run, patch)?, leftmost(run, patch)?);
        if is_missing(top) || is_missing(left) {
            return Ok(Value::EMPTY_TUPLE);
        }
        let (height, width) = (height_f(run, patch)?, width_f(run, patch)?);
        let down = run.fdiv(height, Value::Int(2))?;
        let across = run.fdiv(width, Value::Int(2))?;
        let (i, j) = (run.add(top, down)?, run.add(left, across)?);
        run.pair(i, j)
    }
}

/// Returns whether a value is the nan that stands for a missing number. A nan made by arithmetic is
/// another object.
fn is_missing(v: Value<'_>) -> bool {
    matches!((v, Value::NAN), (Value::Float(x), Value::Float(nan)) if x.is(nan))
}

safe! {
    /// The mean location of a patch, rounded down.
    pub centerofmass(patch: Patch) -> IJ;
    |run| {
        if is_patch(patch) {
            return measure::centerofmass(run, patch);
        }
        let locations = toindices(run, patch)?;
        let len = run.len(patch)?;
        measure::means(run, locations, len)
    }
}

safe! {
    /// The direction from the centre of one patch to the centre of another, as one step in one of
    /// eight directions.
    pub position(a: Patch, b: Patch) -> IJ;
    |run| {
        if is_patch(a) && is_patch(b) {
            return measure::position(run, a, b);
        }
        let (ai, aj) = center_of_indices(run, a)?;
        let (bi, bj) = center_of_indices(run, b)?;
        if run.eq(ai, bi) {
            let j = towards(run, aj, bj)?;
            return Ok(Value::pair(IntPair::new(0, j)));
        }
        let i = towards(run, ai, bi)?;
        if run.eq(aj, bj) {
            return Ok(Value::pair(IntPair::new(i, 0)));
        }
        if i < 0 && !run.lt(bi, ai)? {
            // A nan has no direction.
            return Ok(Value::None);
        }
        let j = towards(run, aj, bj)?;
        Ok(Value::pair(IntPair::new(i, j)))
    }
}

/// Returns the centre of the locations of any value.
fn center_of_indices<'r>(run: &mut Run<'r>, patch: Value<'r>) -> Outcome<(Value<'r>, Value<'r>)> {
    let locations = toindices(run, patch)?;
    let center = center(run, locations)?;
    run.unpack2(center)
}

/// Returns a step forward if the first number is less than the second, otherwise a step back.
fn towards<'r>(run: &mut Run<'r>, from: Value<'r>, to: Value<'r>) -> Outcome<i16> {
    Ok(if run.lt(from, to)? { 1 } else { -1 })
}

/// Returns whether two patches of any kind have a row or column in common.
fn matching<'r>(run: &mut Run<'r>, a: Value<'r>, b: Value<'r>, axis: Axis) -> Outcome<Value<'r>> {
    let a = toindices(run, a)?;
    let a = measure::coordinates(run, a, axis)?;
    let b = toindices(run, b)?;
    let b = measure::coordinates(run, b, axis)?;
    Ok(Value::bool(run.set_inter(a, b)?.len() > 0))
}

safe! {
    /// Whether two patches have a row in common.
    pub hmatching(a: Patch, b: Patch) -> Boolean;
    |run| {
        if is_patch(a) && is_patch(b) {
            return measure::hmatching(run, a, b);
        }
        matching(run, a, b, Axis::Row)
    }
}

safe! {
    /// Whether two patches have a column in common.
    pub vmatching(a: Patch, b: Patch) -> Boolean;
    |run| {
        if is_patch(a) && is_patch(b) {
            return measure::vmatching(run, a, b);
        }
        matching(run, a, b, Axis::Column)
    }
}

safe! {
    /// The distance of two patches; infinite if one has no elements or is not a container.
    pub manhattan(a: Patch, b: Patch) -> Integer;
    |run| {
        if is_patch(a) && is_patch(b) {
            return measure::manhattan(run, a, b);
        }
        if is_nothing(run, a) || is_nothing(run, b) {
            return Ok(Value::float(f64::INFINITY));
        }
        measure::manhattan_general(run, a, b, toindices)
    }
}

safe! {
    /// Whether two patches touch: their distance is 1.
    pub adjacent(a: Patch, b: Patch) -> Boolean;
    |run| {
        if is_patch(a) && is_patch(b) {
            return measure::adjacent(run, a, b);
        }
        let steps = manhattan(run, a, b)?;
        Ok(Value::bool(run.eq(steps, Value::Int(1))))
    }
}

safe! {
    /// Whether the bounding box of a patch touches the border of a grid from inside.
    pub bordering(patch: Patch, grid: Grid) -> Boolean;
    |run| { measure::borders(run, patch, grid, [uppermost, leftmost, lowermost, rightmost]) }
}

safe! {
    /// The vector that moves a patch until it touches another. Without a destination, the result is
    /// the source itself.
    pub gravitate(source: Patch, destination: Patch) -> IJ;
    |run| {
        if is_patch(source) && is_patch(destination) {
            return measure::gravitate(run, source, destination);
        }
        if !run.truth(destination) {
            return Ok(source);
        }
        let from = center(run, source)?;
        let (from_i, from_j) = run.unpack2(from)?;
        let to = center(run, destination)?;
        let (to_i, to_j) = run.unpack2(to)?;
        let vertical = vmatching(run, source, destination)?;
        let step = if run.truth(vertical) {
            IntPair::new(towards(run, from_i, to_i)?, 0)
        } else {
            IntPair::new(0, towards(run, from_j, to_j)?)
        };
        let (mut moved, mut moves) = (source, 0);
        while (moves as u32) < MAX_MOVES {
            let touch = adjacent(run, moved, destination)?;
            if run.truth(touch) {
                break;
            }
            moves += 1;
            moved = shift(run, moved, Value::pair(step))?;
        }
        Ok(Value::pair(IntPair::new(step.i * moves, step.j * moves)))
    }
}

safe! {
    /// The smallest shift to the left that maps the remaining part of an object into itself, or
    /// else its width.
    pub hperiod(obj: Object) -> Integer;
    |run| {
        let normed = normalize(run, obj)?;
        segmentation::period(run, normed, Axis::Column, width_f, shift)
    }
}

safe! {
    /// The smallest shift upward that maps the remaining part of an object into itself, or else its
    /// height.
    pub vperiod(obj: Object) -> Integer;
    |run| {
        let normed = normalize(run, obj)?;
        segmentation::period(run, normed, Axis::Row, height_f, shift)
    }
}
