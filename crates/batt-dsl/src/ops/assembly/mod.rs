//! Grids: cutting them up, putting them together and drawing on them.

mod drawing;

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::python::slice_bounds;
use crate::run::Run;
use crate::table::Op;
use crate::value::{GridView, Returned, Value};

use super::measure;
use super::mirror::{dmirror, rot90, rot270};
use super::patch::{cell_at, dims as dimensions};

pub(super) use drawing::{
    canvas, compact_patch, fill, fill_general, r#move, paint, replace, switch, underfilled,
    underpainted,
};

const FAMILY: &str = "assembly";

pub(super) const OPS: &[&Op] = &[
    &crop::OP,
    &subgrid::OP,
    &hconcat::OP,
    &vconcat::OP,
    &hsplit::OP,
    &vsplit::OP,
    &cellwise::OP,
    &drawing::replace::OP,
    &drawing::switch::OP,
    &drawing::canvas::OP,
    &drawing::fill::OP,
    &drawing::paint::OP,
    &drawing::underfill::OP,
    &drawing::underpaint::OP,
    &drawing::cover::OP,
    &drawing::r#move::OP,
    &trim::OP,
    &tophalf::OP,
    &bottomhalf::OP,
    &lefthalf::OP,
    &righthalf::OP,
    &compress::OP,
];

op! {
    /// The part of a grid that starts at a location and has given dimensions.
    ///
    /// The part is cut off at the lower and right border. A negative start counts from the end, as
    /// in Python's slices, and a part that runs from there across the border is empty. Fails when
    /// the start or the dimensions are not pairs of integers; their second component is not read
    /// when no row remains.
    pub crop(grid: Grid, start: Pair, dims: Pair) -> Grid;
    example "crop(((1, 2, 3), (4, 5, 6), (7, 8, 9)), RIGHT, TWO_BY_TWO)" => "((2, 3), (5, 6))";
    fails "crop(((1, 2), (3, 4)), ORIGIN, TWO)";
    |run| {
        if let Some(start) = start.as_pair()
            && let Some(dims) = dims.as_pair()
            && let Some(grid) = run.as_grid(grid)
        {
            let start = (start.i.into(), start.j.into());
            return crop_compact(run, grid, start, (dims.i.into(), dims.j.into()));
        }
        let rows = stretch(run, grid, start, dims, 0)?;
        let mut cropped = Vec::new();
        for &row in run.items(rows)? {
            run.spend(1)?;
            cropped.push(stretch(run, row, start, dims, 1)?);
        }
        run.tuple(&cropped)
    }
}

/// Returns `v[start[axis] : start[axis] + dims[axis]]`.
fn stretch<'r>(
    run: &mut Run<'r>,
    v: Value<'r>,
    start: Value<'r>,
    dims: Value<'r>,
    axis: i64,
) -> Outcome<Value<'r>> {
    let from = run.at(start, axis)?;
    let len = run.at(dims, axis)?;
    let to = run.add(from, len)?;
    match (from.as_int(), to.as_int()) {
        (Some(from), Some(to)) => run.slice_tuple(v, Some(from), Some(to)),
        _ => Err(Fault::Type),
    }
}

/// Does what `crop` does, for a grid in compact form.
fn crop_compact<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    start: (i64, i64),
    dims: (i64, i64),
) -> Outcome<Value<'r>> {
    let span = |len: usize, from: i64, extent: i64| {
        let to = from.checked_add(extent).ok_or(Fault::Overflow)?;
        Ok(slice_bounds(len, Some(from), Some(to)))
    };
    let rows = span(grid.height, start.0, dims.0)?;
    let columns = span(grid.width, start.1, dims.1)?;
    cut(run, grid, rows, columns)
}

/// Returns the part of a grid with the rows and columns in these half-open ranges, which lie inside
/// the grid.
fn cut<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    (top, bottom): (usize, usize),
    (left, right): (usize, usize),
) -> Outcome<Value<'r>> {
    let (height, width) = (bottom - top, right - left);
    let rows = &grid.cells[top * grid.width..bottom * grid.width];
    if width == grid.width {
        return run.grid(height, width, rows);
    }
    if width == 0 {
        run.spend(height)?;
        return run.grid(height, width, &[]);
    }
    run.grid_of_rows(height, width, |i| (&grid.row(top + i)[left..right], &[]))
}

op! {
    /// The part of a grid under the bounding box of a patch.
    ///
    /// The part is cut off at the lower and right border. `crop` reads a box that starts above or
    /// left of the grid as a negative start, which mostly gives an empty part. Fails for an empty
    /// patch.
    pub subgrid(patch: Patch, grid: Grid) -> Grid;
    example "subgrid(connect(ORIGIN, RIGHT), ((1, 2, 3), (4, 5, 6)))" => "((1, 2),)";
    fails "subgrid((), ((1, 2), (3, 4)))";
    |run| {
        if let Value::Set(set) = patch
            && let Some(bounds) = set.bounds()
            && let Some(grid) = run.as_grid(grid)
        {
            let start = (bounds.top.into(), bounds.left.into());
            return crop_compact(run, grid, start, (bounds.height(), bounds.width()));
        }
        let start = measure::ulcorner(run, patch)?;
        let dims = measure::shape(run, patch)?;
        crop(run, grid, start, dims)
    }
}

op! {
    /// Two grids side by side.
    ///
    /// Extra rows of the taller grid are dropped. Works on any two containers of tuples; elements
    /// that are integers are added. Fails when two elements that meet cannot be added.
    #[inline(always)]
    pub hconcat(a: Grid, b: Grid) -> Grid;
    example "hconcat(((1,), (2,)), ((3, 4), (5, 6)))" => "((1, 3, 4), (2, 5, 6))";
    fails "hconcat(ONE, ((1, 2), (3, 4)))";
    |run| {
        if let Some(a) = run.as_grid(a)
            && let Some(b) = run.as_grid(b)
        {
            let height = a.height.min(b.height);
            let width = a.width + b.width;
            return run.grid_of_rows(height, width, |i| (a.row(i), b.row(i)));
        }
        let (a, b) = (run.items(a)?, run.items(b)?);
        let mut rows = Vec::with_capacity(a.len().min(b.len()));
        for (&x, &y) in a.iter().zip(b) {
            run.spend(1)?;
            rows.push(run.add(x, y)?);
        }
        run.tuple(&rows)
    }
}

op! {
    /// Two grids one above the other.
    ///
    /// Joins any two tuples, whether or not the rows have the same length; adds two integers. Fails
    /// for everything else, sets included.
    #[inline(always)]
    pub vconcat(a: Grid, b: Grid) -> Grid;
    example "vconcat(((1, 2),), ((3, 4), (5, 6)))" => "((1, 2), (3, 4), (5, 6))";
    fails "vconcat(((1, 2), (3, 4)), ONE)";
    |run| {
        if let (Value::Grid(above), Value::Grid(below)) = (a, b)
            && above.width == below.width
            && let Some(joined) = run.quick_stack(above, below)
        {
            return Ok(joined);
        }
        vconcat_general(run, a, b).outcome()
    }
}

/// Does what `vconcat` does, for any values. It is a separate function so that small grids do not
/// pay for its stack frame.
#[inline(never)]
fn vconcat_general<'r>(run: &mut Run<'r>, a: Value<'r>, b: Value<'r>) -> Returned<'r> {
    let joined = |run: &mut Run<'r>| {
        if let (Some(x), Some(y)) = (run.as_grid(a), run.as_grid(b))
            && x.width == y.width
        {
            let len = x.cells.len() + y.cells.len();
            run.check_len(len)?;
            run.spend(len / 8)?;
            let cells = run.concat([x.cells, y.cells])?;
            return run.grid(x.height + y.height, x.width, cells);
        }
        run.add(a, b)
    };
    Returned::new(joined(run))
}

op! {
    /// A grid cut into a number of equally wide parts, from left to right.
    ///
    /// If the number does not divide the width, the column after each part is treated as a
    /// separator and dropped. The last parts may then be narrower or have empty rows. A negative
    /// number gives the empty tuple. Fails for zero parts and for an empty grid.
    pub hsplit(grid: Grid, n: Integer) -> Tuple;
    example "hsplit(((1, 2, 3, 4),), TWO)" => "(((1, 2),), ((3, 4),))";
    fails "hsplit(((1, 2),), ZERO)";
    |run| {
        let (height, total) = dimensions(run, grid)?;
        let Cuts { count, len, step } = cuts(run, total, n)?;
        if let Some(grid) = run.as_grid(grid) {
            return parts(run, count, |run, k| {
                crop_compact(run, grid, (0, k * step), (height, len))
            });
        }
        let dims = run.int_pair(height, len)?;
        parts(run, count, |run, k| {
            let start = run.int_pair(0, k * step)?;
            crop(run, grid, start, dims)
        })
    }
}

op! {
    /// A grid cut into a number of equally high parts, from top to bottom.
    ///
    /// If the number does not divide the height, the row after each part is treated as a separator
    /// and dropped. The last parts may then be lower or empty. A negative number gives the empty
    /// tuple. Fails for zero parts and for an empty grid.
    pub vsplit(grid: Grid, n: Integer) -> Tuple;
    example "vsplit(((1, 2), (3, 4), (5, 6)), TWO)" => "(((1, 2),), ((5, 6),))";
    fails "vsplit(((1, 2),), ZERO)";
    |run| {
        // Python divides before it reads the width, so a zero fails first.
        let total = run.len(grid)? as i64;
        let Cuts { count, len, step } = cuts(run, total, n)?;
        let (_, width) = dimensions(run, grid)?;
        if let Some(grid) = run.as_grid(grid) {
            return parts(run, count, |run, k| {
                crop_compact(run, grid, (k * step, 0), (len, width))
            });
        }
        let dims = run.int_pair(len, width)?;
        parts(run, count, |run, k| {
            let start = run.int_pair(k * step, 0)?;
            crop(run, grid, start, dims)
        })
    }
}

/// The division of an extent by `hsplit` and `vsplit`.
pub(super) struct Cuts {
    pub count: i64,
    pub len: i64,
    /// The distance from the start of one part to the next.
    pub step: i64,
}

pub(super) fn cuts<'r>(run: &mut Run<'r>, total: i64, n: Value<'r>) -> Outcome<Cuts> {
    let count = n.as_int().ok_or(Fault::Type)?;
    let len = crate::python::floor_div(total, count)?;
    let remains = crate::python::floor_mod(total, count)? != 0;
    run.check_len(usize::try_from(count).unwrap_or_default())?;
    Ok(Cuts {
        count,
        len,
        step: len + i64::from(remains),
    })
}

/// Returns the tuple of `count` parts.
pub(super) fn parts<'r>(
    run: &mut Run<'r>,
    count: i64,
    mut part: impl FnMut(&mut Run<'r>, i64) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    let mut parts = Vec::new();
    for k in 0..count {
        run.spend(1)?;
        parts.push(part(run, k)?);
    }
    run.tuple(&parts)
}

op! {
    /// Two grids compared cell by cell: the common value where they agree, a given one elsewhere.
    ///
    /// The result has the size of the first grid; the second may be larger. Fails when the second
    /// is smaller or the first is empty.
    pub cellwise(a: Grid, b: Grid, fallback: Integer) -> Grid;
    example "cellwise(((1, 2), (3, 4)), ((1, 0), (3, 0)), FIVE)" => "((1, 5), (3, 5))";
    fails "cellwise(((1, 2), (3, 4)), ((1, 2),), ZERO)";
    |run| {
        if let Some(fallback) = drawing::byte(fallback)
            && let Some(a) = run.as_grid(a)
            && let Some(b) = run.as_grid(b)
        {
            if b.height < a.height || b.width < a.width {
                return Err(Fault::Index);
            }
            run.spend(a.cells.len() / 8)?;
            let cells = run.slice_filled(a.cells.len(), 0u8)?;
            for ((places, x), y) in cells.chunks_exact_mut(a.width).zip(a.rows()).zip(b.rows()) {
                for ((place, &x), &y) in places.iter_mut().zip(x).zip(y) {
                    *place = if x == y { x } else { fallback };
                }
            }
            return run.grid(a.height, a.width, cells);
        }
        let (height, width) = dimensions(run, a)?;
        let mut rows = Vec::new();
        let mut values = Vec::new();
        for i in 0..height {
            run.spend(width as usize + 1)?;
            values.clear();
            for j in 0..width {
                let x = cell_at(run, a, i, j)?;
                let y = cell_at(run, b, i, j)?;
                values.push(if run.eq(x, y) { x } else { fallback });
            }
            rows.push(run.tuple(&values)?);
        }
        run.tuple(&rows)
    }
}

op! {
    /// The grid without its outermost rows and columns.
    ///
    /// Two or fewer rows give the empty tuple, two or fewer columns give empty rows. Fails for
    /// anything but a tuple of tuples.
    pub trim(grid: Grid) -> Grid;
    example "trim(((1, 1, 1), (1, 2, 1), (1, 1, 1)))" => "((2,),)";
    fails "trim((1, 2, 3))";
    |run| {
        let inner = (Some(1), Some(-1));
        if let Some(grid) = run.as_grid(grid) {
            let rows = slice_bounds(grid.height, inner.0, inner.1);
            let columns = slice_bounds(grid.width, inner.0, inner.1);
            return cut(run, grid, rows, columns);
        }
        let middle = run.slice_tuple(grid, inner.0, inner.1)?;
        let mut rows = Vec::new();
        for &row in run.items(middle)? {
            run.spend(1)?;
            rows.push(run.slice_tuple(row, inner.0, inner.1)?);
        }
        run.tuple(&rows)
    }
}

op! {
    /// The upper half of a grid.
    ///
    /// The middle row of an odd number of rows is dropped. Works on any tuple and fails for
    /// anything else.
    pub tophalf(grid: Grid) -> Grid;
    example "tophalf(((1, 2), (3, 4), (5, 6)))" => "((1, 2),)";
    fails "tophalf(THREE)";
    |run| {
        if let Value::Grid(grid) = grid {
            return rows(run, grid, 0, grid.height / 2);
        }
        let height = run.len(grid)? as i64;
        run.slice_tuple(grid, None, Some(height / 2))
    }
}

op! {
    /// The lower half of a grid.
    ///
    /// The middle row of an odd number of rows is dropped. Works on any tuple and fails for
    /// anything else.
    pub bottomhalf(grid: Grid) -> Grid;
    example "bottomhalf(((1, 2), (3, 4), (5, 6)))" => "((5, 6),)";
    fails "bottomhalf(THREE)";
    |run| {
        if let Value::Grid(grid) = grid {
            return rows(run, grid, grid.height.div_ceil(2), grid.height);
        }
        let height = run.len(grid)? as i64;
        run.slice_tuple(grid, Some(height / 2 + height % 2), None)
    }
}

/// Returns these rows of a grid; an empty range gives the empty tuple.
#[inline(always)]
fn rows<'r>(run: &mut Run<'r>, grid: &GridView<'r>, from: usize, to: usize) -> Outcome<Value<'r>> {
    let cells = &grid.cells[from * grid.width..to * grid.width];
    run.grid(to - from, grid.width, cells)
}

op! {
    /// The left half of a grid.
    ///
    /// The middle column of an odd number of columns is dropped; a single column gives the empty
    /// tuple. Rows of unequal length are cut to the shortest. Fails for anything but a tuple of
    /// containers.
    pub lefthalf(grid: Grid) -> Grid;
    example "lefthalf(((1, 2, 3), (4, 5, 6)))" => "((1,), (4,))";
    fails "lefthalf((1, 2, 3))";
    |run| {
        if let Some(grid) = run.as_grid(grid) {
            return columns(run, grid, 0, grid.width / 2);
        }
        let turned = rot90(run, grid)?;
        let half = tophalf(run, turned)?;
        rot270(run, half)
    }
}

op! {
    /// The right half of a grid.
    ///
    /// The middle column of an odd number of columns is dropped; a single column gives the empty
    /// tuple. Rows of unequal length are cut to the shortest. Fails for anything but a tuple of
    /// containers.
    pub righthalf(grid: Grid) -> Grid;
    example "righthalf(((1, 2, 3), (4, 5, 6)))" => "((3,), (6,))";
    fails "righthalf((1, 2, 3))";
    |run| {
        if let Some(grid) = run.as_grid(grid) {
            return columns(run, grid, grid.width.div_ceil(2), grid.width);
        }
        let turned = rot90(run, grid)?;
        let half = bottomhalf(run, turned)?;
        rot270(run, half)
    }
}

/// Returns these columns of a grid. An empty range gives the empty tuple, as rotating the grid
/// twice does.
fn columns<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    from: usize,
    to: usize,
) -> Outcome<Value<'r>> {
    if from == to {
        return Ok(Value::EMPTY_TUPLE);
    }
    cut(run, grid, (0, grid.height), (from, to))
}

op! {
    /// The grid without the rows and columns that have only one colour.
    ///
    /// All rows and columns are judged on the whole grid. A single row loses all of its columns, a
    /// single column all of its rows. Empty rows stay. Fails for anything but a container of
    /// containers.
    pub compress(grid: Grid) -> Grid;
    example "compress(((1, 1, 1), (0, 1, 2), (5, 1, 5)))" => "((0, 2), (5, 5))";
    fails "compress((1, 2, 3))";
    |run| {
        match run.as_grid(grid) {
            Some(grid) => compress_compact(run, grid),
            // The general path takes the columns of a tuple. It mirrors a set as a patch and takes
            // its elements for columns.
            None => compress_general(run, grid, dmirror),
        }
    }
}

/// Does what [`compress`] does for any container of containers, with the `dmirror` of the dialect.
pub(super) fn compress_general<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    dmirror: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    let rows = run.items(grid)?;
    let mut uniform_rows = Vec::with_capacity(rows.len());
    for &row in rows {
        uniform_rows.push(uniform(run, row)?);
    }
    let mirrored = dmirror(run, grid)?;
    let mut uniform_columns = Vec::new();
    for &column in run.items(mirrored)? {
        uniform_columns.push(uniform(run, column)?);
    }
    let mut kept_rows = Vec::new();
    for (&row, dropped) in rows.iter().zip(uniform_rows) {
        if dropped {
            continue;
        }
        let values = run.items(row)?;
        run.spend(values.len() + 1)?;
        let kept: Vec<_> = values
            .iter()
            .enumerate()
            .filter(|(j, _)| !uniform_columns.get(*j).is_some_and(|&dropped| dropped))
            .map(|(_, &v)| v)
            .collect();
        kept_rows.push(run.tuple(&kept)?);
    }
    run.tuple(&kept_rows)
}

/// Returns whether the container has exactly one distinct element.
fn uniform<'r>(run: &mut Run<'r>, container: Value<'r>) -> Outcome<bool> {
    if let Value::Set(set) = container {
        return Ok(set.len() == 1);
    }
    let items = run.items(container)?;
    run.spend(items.len() + 1)?;
    let Some((&first, others)) = items.split_first() else {
        return Ok(false);
    };
    Ok(others.iter().all(|&v| run.eq_member(v, first)))
}

fn compress_compact<'r>(run: &mut Run<'r>, grid: &'r GridView<'r>) -> Outcome<Value<'r>> {
    run.spend(grid.cells.len() / 8)?;
    let top = grid.row(0);
    let mut varied_columns = vec![false; grid.width];
    let mut varied_rows = Vec::with_capacity(grid.height);
    for row in grid.rows() {
        varied_rows.push(row.iter().any(|&c| c != row[0]));
        for ((varied, &c), &t) in varied_columns.iter_mut().zip(row).zip(top) {
            *varied |= c != t;
        }
    }
    let height = varied_rows.iter().filter(|&&varied| varied).count();
    let width = varied_columns.iter().filter(|&&varied| varied).count();
    let cells = run.slice_filled(height * width, 0u8)?;
    let mut places = cells.iter_mut();
    for (row, _) in grid.rows().zip(&varied_rows).filter(|(_, varied)| **varied) {
        for (&c, _) in row
            .iter()
            .zip(&varied_columns)
            .filter(|(_, varied)| **varied)
        {
            if let Some(place) = places.next() {
                *place = c;
            }
        }
    }
    run.grid(height, width, cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::run::{Limits, Workspace};

    fn fault(body: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<Value<'r>>) -> Option<Fault> {
        Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| body(run).err())
    }

    #[test]
    fn sizes_are_checked_before_anything_is_built() {
        let huge = 1_000_000_000;
        for color in [0, -1] {
            let size = fault(|run| {
                let dims = run.int_pair(huge, huge)?;
                canvas(run, Value::Int(color), dims)
            });
            assert_eq!(size, Some(Fault::Size));
        }
        for split in [hsplit, vsplit] {
            assert_eq!(
                fault(|run| {
                    let grid = run.input(1, 2, &[1, 2])?;
                    split(run, grid, Value::Int(huge))
                }),
                Some(Fault::Size)
            );
        }
    }

    #[test]
    fn crop_reports_an_overflow() {
        let overflow = fault(|run| {
            let grid = run.input(1, 2, &[1, 2])?;
            let far = run.int_pair(i64::MAX, 0)?;
            crop(run, grid, far, far)
        });
        assert_eq!(overflow, Some(Fault::Overflow));
    }
}
