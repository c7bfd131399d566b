//! Grids: cutting them up, putting them together and drawing on them.

use super::color::mostcolor_t;
use super::extremes::ulcorner;
use super::lines::index;
use super::measure::shape_f;
use super::mirror::{dmirror_t, rot90, rot270};
use super::patch::{is_empty, is_empty_tuple, is_object, is_patch, shift, toindices};
use crate::fault::Outcome;
use crate::ops::assembly::{
    self, Cuts, compact_patch, compress_general, cuts, fill_general, parts, underfilled,
    underpainted,
};
use crate::ops::patch::{cell_at, dims as dimensions};
use crate::run::Run;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "assembly";

pub(super) const OPS: &[&Op] = &[
    &crop::OP,
    &subgrid::OP,
    &hconcat::OP,
    &vconcat::OP,
    &hsplit::OP,
    &vsplit::OP,
    &cellwise::OP,
    &replace::OP,
    &switch::OP,
    &canvas::OP,
    &fill::OP,
    &paint::OP,
    &underfill::OP,
    &underpaint::OP,
    &cover::OP,
    &r#move::OP,
    &trim::OP,
    &tophalf::OP,
    &bottomhalf::OP,
    &lefthalf::OP,
    &righthalf::OP,
    &compress::OP,
];

safe! {
    /// The part of a grid that starts at a location and has given dimensions; `()` unless all of it
    /// lies inside the grid.
    pub crop(grid: Grid, start: IJ, dims: IJ) -> Grid;
    |run| {
        if is_empty_tuple(run, grid) {
            return Ok(Value::EMPTY_TUPLE);
        }
        let (height, width) = dimensions(run, grid)?;
        for (axis, extent) in [(0, height), (1, width)] {
            let from = run.at(start, axis)?;
            if run.lt(from, Value::Int(0))? || !run.lt(from, Value::Int(extent))? {
                return Ok(Value::EMPTY_TUPLE);
            }
        }
        for (axis, extent) in [(0, height), (1, width)] {
            let from = run.at(start, axis)?;
            let len = run.at(dims, axis)?;
            let to = run.add(from, len)?;
            if !at_most(run, to, extent)? {
                return Ok(Value::EMPTY_TUPLE);
            }
        }
        assembly::crop(run, grid, start, dims)
    }
}

/// Returns `v <= n`.
fn at_most<'r>(run: &mut Run<'r>, v: Value<'r>, n: i64) -> Outcome<bool> {
    Ok(run.lt(v, Value::Int(n))? || run.eq(v, Value::Int(n)))
}

safe! {
    /// The part of a grid under the bounding box of a patch; `()` unless all of it lies inside the
    /// grid.
    pub subgrid(patch: Patch, grid: Grid) -> Grid;
    |run| {
        if is_empty(run, patch) {
            return Ok(Value::EMPTY_TUPLE);
        }
        let start = ulcorner(run, patch)?;
        let dims = shape_f(run, patch)?;
        crop(run, grid, start, dims)
    }
}

safe! {
    /// Two grids side by side.
    pub hconcat(a: Grid, b: Grid) -> Grid = assembly::hconcat;
}

safe! {
    /// Two grids one above the other.
    pub vconcat(a: Grid, b: Grid) -> Grid = assembly::vconcat;
}

safe! {
    /// A grid cut into a number of equally wide parts, from left to right. A part that does not fit
    /// is `()`.
    pub hsplit(grid: Grid, n: Integer) -> Tuple;
    |run| {
        let (height, total) = dimensions(run, grid)?;
        let Cuts { count, len, step } = cuts(run, total, n)?;
        let dims = run.int_pair(height, len)?;
        parts(run, count, |run, k| {
            let start = run.int_pair(0, k * step)?;
            crop(run, grid, start, dims)
        })
    }
}

safe! {
    /// A grid cut into a number of equally high parts, from top to bottom. A part that does not fit
    /// is `()`.
    pub vsplit(grid: Grid, n: Integer) -> Tuple;
    |run| {
        let (total, width) = dimensions(run, grid)?;
        let Cuts { count, len, step } = cuts(run, total, n)?;
        let dims = run.int_pair(len, width)?;
        parts(run, count, |run, k| {
            let start = run.int_pair(k * step, 0)?;
            crop(run, grid, start, dims)
        })
    }
}

safe! {
    /// Two grids compared cell by cell: the common value where they agree, a given one elsewhere.
    pub cellwise(a: Grid, b: Grid, fallback: Integer) -> Grid;
    |run| {
        if let Some(x) = run.as_grid(a)
            && let Some(y) = run.as_grid(b)
            && x.height <= y.height
            && x.width <= y.width
        {
            return assembly::cellwise(run, a, b, fallback);
        }
        let (height, width) = dimensions(run, a)?;
        let mut rows = Vec::new();
        let mut values = Vec::new();
        for i in 0..height {
            run.spend(width as usize + 1)?;
            values.clear();
            for j in 0..width {
                let x = cell_at(run, a, i, j)?;
                let at = run.int_pair(i, j)?;
                let y = index(run, b, at)?;
                values.push(if run.eq(x, y) { x } else { fallback });
            }
            rows.push(run.tuple(&values)?);
        }
        run.tuple(&rows)
    }
}

safe! {
    /// The grid with one colour replaced by another.
    pub replace(grid: Grid, replacee: C_, replacer: C_) -> Grid = assembly::replace;
}

safe! {
    /// The grid with two colours exchanged for each other.
    pub switch(grid: Grid, a: C_, b: C_) -> Grid = assembly::switch;
}

safe! {
    /// A grid of given dimensions, filled with one value.
    pub canvas(color: C_, dimensions: IJ) -> Grid = assembly::canvas;
}

safe! {
    /// The grid with the locations of a patch set to one value.
    pub fill(grid: Grid, color: C_, patch: Patch) -> Grid;
    |run| {
        if is_patch(patch) || is_empty(run, patch) {
            return assembly::fill(run, grid, color, patch);
        }
        fill_general(run, grid, color, patch, None, toindices)
    }
}

safe! {
    /// The grid with the cells of an object drawn on it.
    pub paint(grid: Grid, obj: Object) -> Grid = assembly::paint;
    ordered "the object has several colours at one location";
}

safe! {
    /// The grid with the locations of a patch set to one value where the most frequent colour
    /// shows.
    pub underfill(grid: Grid, color: C_, patch: Patch) -> Grid;
    ordered "several colours of the grid are equally common";
    |run| {
        let background = mostcolor_t(run, grid)?;
        underfilled(run, grid, color, patch, background, toindices)
    }
}

safe! {
    /// The grid with the cells of an object drawn on it where the most frequent colour shows.
    pub underpaint(grid: Grid, obj: Object) -> Grid;
    ordered "several colours of the grid are equally common, or the object has several colours at one location";
    |run| {
        let background = mostcolor_t(run, grid)?;
        underpainted(run, grid, obj, background)
    }
}

safe! {
    /// The grid with the locations of a patch set to the most frequent colour.
    pub cover(grid: Grid, patch: Patch) -> Grid;
    ordered "several colours of the grid are equally common";
    |run| {
        let background = mostcolor_t(run, grid)?;
        if compact_patch(run, patch)?.is_some() {
            return fill(run, grid, background, patch);
        }
        let locations = toindices(run, patch)?;
        fill(run, grid, background, locations)
    }
}

safe! {
    /// The grid with an object moved by a vector: erased at its old place and drawn at the new one.
    pub r#move(grid: Grid, obj: Object, offset: IJ) -> Grid;
    ordered "several colours of the grid are equally common, or the object has several colours at one location";
    |run| {
        if is_object(obj) && offset.as_pair().is_some() && run.as_grid(grid).is_some() {
            return assembly::r#move(run, grid, obj, offset);
        }
        let covered = cover(run, grid, obj)?;
        let moved = shift(run, obj, offset)?;
        paint(run, covered, moved)
    }
}

safe! {
    /// The grid without its outermost rows and columns.
    pub trim(grid: Grid) -> Grid = assembly::trim;
}

safe! {
    /// The upper half of a grid, without the middle row.
    pub tophalf(grid: Grid) -> Grid = assembly::tophalf;
}

safe! {
    /// The lower half of a grid, without the middle row.
    pub bottomhalf(grid: Grid) -> Grid = assembly::bottomhalf;
}

/// Returns a half of a grid: rotates it, halves it with `half`, and rotates the result back.
fn turned_half<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    half: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    let turned = rot90(run, grid)?;
    let half = half(run, turned)?;
    rot270(run, half)
}

safe! {
    /// The left half of a grid, without the middle column.
    pub lefthalf(grid: Grid) -> Grid;
    |run| {
        match run.as_grid(grid) {
            Some(_) => assembly::lefthalf(run, grid),
            None => turned_half(run, grid, tophalf),
        }
    }
}

safe! {
    /// The right half of a grid, without the middle column.
    pub righthalf(grid: Grid) -> Grid;
    |run| {
        match run.as_grid(grid) {
            Some(_) => assembly::righthalf(run, grid),
            None => turned_half(run, grid, bottomhalf),
        }
    }
}

safe! {
    /// The grid without the rows and columns that have only one colour.
    pub compress(grid: Grid) -> Grid;
    |run| {
        match run.as_grid(grid) {
            Some(_) => assembly::compress(run, grid),
            None => compress_general(run, grid, dmirror_t),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::fault::Fault;
    use crate::run::{Limits, Workspace};

    #[test]
    fn limits_are_not_replaced_by_a_fallback() {
        Workspace::new()
            .run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let huge = run.int_pair(1_000_000_000, 1_000_000_000)?;
                let fault = canvas(run, Value::Int(0), huge).err();
                assert_eq!(fault, Some(Fault::Size));
                let grid = run.input(1, 3, &[1, 2, 3])?;
                let many = Value::Int(1_000_000_000);
                let fault = hsplit(run, grid, many).err();
                assert_eq!(fault, Some(Fault::Size));
                assert_eq!(run.fallbacks(), 0);
                let nothing = hsplit(run, grid, Value::Int(0))?;
                assert!(is_empty_tuple(run, nothing));
                assert_eq!(run.fallbacks(), 1);
                Ok::<_, Fault>(())
            })
            .expect("the values fit");
    }

    #[test]
    fn a_nan_painted_into_a_grid_is_a_separate_color() {
        Workspace::new()
            .run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let grid = run.input(1, 3, &[0, 0, 1])?;
                let nan = Value::NAN;
                let spotted = replace(run, grid, Value::Int(0), nan)?;
                // Containers find the nan, `==` does not.
                let most = mostcolor_t(run, spotted)?;
                assert!(run.eq_member(most, nan) && !run.eq(most, nan));
                let same = replace(run, spotted, nan, Value::Int(5))?;
                assert!(run.eq(same, spotted));
                // `switch` finds the nan as a list does, by identity.
                for (a, b) in [(nan, Value::Int(1)), (Value::Int(1), nan)] {
                    let switched = switch(run, spotted, a, b)?;
                    let row = run.make_tuple(&[Value::Int(1), Value::Int(1), nan])?;
                    let expected = run.make_tuple(&[row])?;
                    assert!(run.eq_member(switched, expected));
                }
                // Among univalued objects, every nan is a separate object.
                for (code, count) in [(4, 3), (0, 1)] {
                    let code = Value::Int(code);
                    let objects = super::super::segmentation::o_g(run, spotted, code)?;
                    assert_eq!(run.len(objects)?, count);
                }
                Ok::<_, Fault>(())
            })
            .expect("the values fit");
    }
}
