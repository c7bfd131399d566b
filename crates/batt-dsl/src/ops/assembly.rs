//! Grids: cutting them up, putting them together and drawing on them.

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::python::slice_bounds;
use crate::run::Run;
use crate::set::{Bounds, Elems, Set};
use crate::table::Op;
use crate::value::{Cell, Grid, Pair, Returned, Value};

use super::color::mostcolor;
use super::measure;
use super::mirror::{dmirror, rot90, rot270};
use super::patch::{cell_at, dims as dimensions, inside, shift, toindices};

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

op! {
    /// The part of a grid that starts at a location and has given dimensions.
    ///
    /// What lies beyond the lower or right border is cut off silently. A negative start counts from
    /// the end, as in Python's slices, and a part that runs from there across the border is empty.
    /// Fails when the start or the dimensions are not pairs of integers; their second component is
    /// not looked at when no row remains.
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

/// `v[start[axis] : start[axis] + dims[axis]]`.
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

/// `crop` of a grid in compact form.
fn crop_compact<'r>(
    run: &mut Run<'r>,
    grid: &'r Grid<'r>,
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

/// The rows and columns in these half-open ranges, which lie inside the grid.
fn cut<'r>(
    run: &mut Run<'r>,
    grid: &'r Grid<'r>,
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
    /// What lies beyond the lower or right border is cut off; a box that starts above or left of the
    /// grid is read as `crop` reads a negative start and mostly gives nothing. Fails for an empty
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
    /// Surplus rows of the taller grid are dropped. Works on any two containers of tuples; where the
    /// elements are integers they are added. Fails when two elements that meet cannot be added.
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
    /// Any two tuples are joined, whether or not the rows have the same length; two integers are
    /// added. Fails for everything else, sets included.
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
        vconcat_apart(run, a, b).outcome()
    }
}

/// `vconcat` of anything. Kept apart so that small grids do not pay for its stack frame.
#[inline(never)]
fn vconcat_apart<'r>(run: &mut Run<'r>, a: Value<'r>, b: Value<'r>) -> Returned<'r> {
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
    /// When the width is not divisible, every part is taken to be followed by a separating column,
    /// which is left out; the last parts may then be narrower or have empty rows. A negative number
    /// gives the empty tuple. Fails for zero parts and for an empty grid.
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
    /// When the height is not divisible, every part is taken to be followed by a separating row,
    /// which is left out; the last parts may then be lower or empty. A negative number gives the
    /// empty tuple. Fails for zero parts and for an empty grid.
    pub vsplit(grid: Grid, n: Integer) -> Tuple;
    example "vsplit(((1, 2), (3, 4), (5, 6)), TWO)" => "(((1, 2),), ((5, 6),))";
    fails "vsplit(((1, 2),), ZERO)";
    |run| {
        // Python divides before it looks at the width, so a zero fails first.
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

/// How `hsplit` and `vsplit` divide an extent.
pub(super) struct Cuts {
    pub count: i64,
    pub len: i64,
    /// From the start of one part to that of the next.
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

/// The tuple of `count` parts.
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
    /// The result has the size of the first grid; the second may be larger. Fails when the second is
    /// smaller or the first is empty.
    pub cellwise(a: Grid, b: Grid, fallback: Integer) -> Grid;
    example "cellwise(((1, 2), (3, 4)), ((1, 0), (3, 0)), FIVE)" => "((1, 5), (3, 5))";
    fails "cellwise(((1, 2), (3, 4)), ((1, 2),), ZERO)";
    |run| {
        if let Some(fallback) = byte(fallback)
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
    /// The grid with one colour exchanged for another.
    ///
    /// Works on any container of containers and gives a tuple of tuples. Fails when an element is not
    /// a container.
    pub replace(grid: Grid, replacee: Integer, replacer: Integer) -> Grid;
    example "replace(((1, 2), (2, 1)), ONE, ZERO)" => "((0, 2), (2, 0))";
    fails "replace((1, 2), ONE, ZERO)";
    |run| {
        if let Some(compact) = run.as_grid(grid) {
            run.spend(compact.cells.len() / 8)?;
            // What a cell can equal is a number between 0 and 255, be it a bool.
            let wanted = replacee.integral().and_then(|n| u8::try_from(n).ok());
            let Some(wanted) = wanted.filter(|n| compact.cells.contains(n)) else {
                return run.grid(compact.height, compact.width, compact.cells);
            };
            if let Some(replacer) = byte(replacer) {
                let map = |c: u8| if c == wanted { replacer } else { c };
                return recolored(run, compact, map);
            }
        }
        map_cells(run, grid, |run, v| {
            Ok(if run.eq(v, replacee) { replacer } else { v })
        })
    }
}

op! {
    /// The grid with two colours exchanged for each other.
    ///
    /// Works on any container of containers and gives a tuple of tuples. Fails when an element is not
    /// a container.
    pub switch(grid: Grid, a: Integer, b: Integer) -> Grid;
    example "switch(((1, 2), (3, 1)), ONE, TWO)" => "((2, 1), (3, 2))";
    fails "switch((1, 2), ONE, TWO)";
    |run| {
        if let Some(x) = byte(a)
            && let Some(y) = byte(b)
            && let Some(compact) = run.as_grid(grid)
        {
            run.spend(compact.cells.len() / 8)?;
            let map = |c: u8| if c == y { x } else if c == x { y } else { c };
            return recolored(run, compact, map);
        }
        // Python asks a list for the value, which finds a nan by identity.
        map_cells(run, grid, |run, v| {
            Ok(if run.eq_member(v, b) {
                a
            } else if run.eq_member(v, a) {
                b
            } else {
                v
            })
        })
    }
}

/// A plain integer 0 to 255: what a compact grid can hold.
#[inline(always)]
fn byte(v: Value<'_>) -> Option<u8> {
    match v {
        Value::Int(n) => u8::try_from(n).ok(),
        _ => None,
    }
}

/// The grid with every cell mapped.
#[inline(always)]
fn recolored<'r>(
    run: &mut Run<'r>,
    grid: &'r Grid<'r>,
    map: impl Fn(u8) -> u8,
) -> Outcome<Value<'r>> {
    let cells = run.slice_filled(grid.cells.len(), 0u8)?;
    for (place, &c) in cells.iter_mut().zip(grid.cells) {
        *place = map(c);
    }
    run.grid(grid.height, grid.width, cells)
}

/// The tuple of tuples of the mapped elements of the elements.
fn map_cells<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    map: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for &row in run.items(grid)? {
        let row = run.items(row)?;
        run.spend(row.len() + 1)?;
        values.clear();
        for &v in row {
            values.push(map(run, v)?);
        }
        rows.push(run.tuple(&values)?);
    }
    run.tuple(&rows)
}

op! {
    /// A grid of given dimensions, filled with one value.
    ///
    /// The value may be anything. No rows give the empty tuple, and then the width is not looked at;
    /// no columns give empty rows. Fails when the dimensions are not a pair of integers.
    pub canvas(value: Integer, dimensions: Pair) -> Grid;
    example "canvas(THREE, (2, 3))" => "((3, 3, 3), (3, 3, 3))";
    fails "canvas(ZERO, THREE)";
    |run| {
        let extent = |v: Value<'r>| v.as_int().map(|n| n.max(0) as usize).ok_or(Fault::Type);
        let height = run.at(dimensions, 0)?;
        let height = extent(height)?;
        if height == 0 {
            return Ok(Value::EMPTY_TUPLE);
        }
        let width = run.at(dimensions, 1)?;
        let width = extent(width)?;
        let len = height.checked_mul(width.max(1)).ok_or(Fault::Size)?;
        run.check_len(len)?;
        run.spend(len / 8)?;
        if let Some(color) = byte(value) {
            let cells = run.slice_filled(height * width, color)?;
            return run.grid(height, width, cells);
        }
        let row = run.slice_filled(width, value)?;
        let row = run.tuple_of(row)?;
        let rows = run.slice_filled(height, row)?;
        run.tuple_of(rows)
    }
}

op! {
    /// The grid with the locations of a patch set to one value.
    ///
    /// Locations outside the grid are left out; negative ones do not wrap. Fails for an empty grid,
    /// and for a location beyond the end of a short row.
    pub fill(grid: Grid, value: Integer, patch: Patch) -> Grid;
    example "fill(((1, 2), (3, 4)), ZERO, connect(ORIGIN, UNITY))" => "((0, 2), (3, 0))";
    fails "fill((), ZERO, initset(ORIGIN))";
    |run| {
        if let Some(color) = byte(value)
            && let Some(set) = compact_patch(run, patch)?
            && let Some(grid) = run.as_grid(grid)
        {
            let cells = copy_cells(run, grid, set.len())?;
            // One value everywhere: the order of the patch cannot matter.
            visit_locations(set, |at| {
                if let Some(at) = grid.offset(at) {
                    cells[at] = color;
                }
            });
            return run.grid(grid.height, grid.width, cells);
        }
        fill_general(run, grid, value, patch, None, toindices)
    }
}

op! {
    /// The grid with the locations of a patch set to one value where the background shows.
    ///
    /// The background is the most common colour of the grid; see `mostcolor` for ties. Locations
    /// outside the grid are left out. Fails for an empty grid, and for a location beyond the end of a
    /// short row.
    pub underfill(grid: Grid, value: Integer, patch: Patch) -> Grid;
    ordered "several colours of the grid are equally common";
    example "underfill(((0, 0), (3, 4)), FIVE, connect(ORIGIN, UNITY))" => "((5, 0), (3, 4))";
    fails "underfill((), ZERO, initset(ORIGIN))";
    |run| {
        if run.as_grid(grid).is_none() {
            dimensions(run, grid)?;
        }
        let background = mostcolor(run, grid)?;
        underfilled(run, grid, value, patch, background, toindices)
    }
}

/// [`underfill`] where the background shows, with `toindices` of the dialect.
#[inline(always)]
pub(super) fn underfilled<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    value: Value<'r>,
    patch: Value<'r>,
    background: Value<'r>,
    toindices: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    if let Some(color) = byte(value)
        && let Some(under) = byte(background)
        && let Some(set) = compact_patch(run, patch)?
        && let Some(grid) = run.as_grid(grid)
    {
        let cells = copy_cells(run, grid, set.len())?;
        // A cell is changed at most once and always to the same value, in whatever order.
        visit_locations(set, |at| {
            if let Some(at) = grid.offset(at)
                && cells[at] == under
            {
                cells[at] = color;
            }
        });
        return run.grid(grid.height, grid.width, cells);
    }
    fill_general(run, grid, value, patch, Some(background), toindices)
}

op! {
    /// The grid with the cells of an object drawn on it.
    ///
    /// Cells outside the grid are left out; negative locations do not wrap. Of several cells at one
    /// location the last in iteration order stays. Fails for an empty grid, for a patch without
    /// colours, and for a location beyond the end of a short row.
    pub paint(grid: Grid, obj: Object) -> Grid;
    ordered "the object has several colours at one location";
    example "paint(((1, 2), (3, 4)), recolor(ZERO, initset(UNITY)))" => "((1, 2), (3, 0))";
    fails "paint(((1, 2), (3, 4)), initset(ORIGIN))";
    |run| {
        if let Some(set) = paintable(run, obj)?
            && let Some(grid) = run.as_grid(grid)
            && let Some(painted) = paint_compact(run, grid, set, None)?
        {
            return Ok(painted);
        }
        paint_general(run, grid, obj, None)
    }
}

op! {
    /// The grid with the cells of an object drawn on it where the background shows.
    ///
    /// The background is the most common colour of the grid; see `mostcolor` for ties. Cells outside
    /// the grid are left out. Of several cells at one location the first in iteration order that is
    /// not of the background colour stays. Fails for an empty grid, for a patch without colours, and
    /// for a location beyond the end of a short row.
    pub underpaint(grid: Grid, obj: Object) -> Grid;
    ordered "several colours of the grid are equally common, or the object has several colours at one location";
    example "underpaint(((0, 0), (3, 4)), recolor(FIVE, connect(ORIGIN, UNITY)))" => "((5, 0), (3, 4))";
    fails "underpaint(((0, 0), (3, 4)), initset(ORIGIN))";
    |run| {
        if run.as_grid(grid).is_none() {
            dimensions(run, grid)?;
        }
        let background = mostcolor(run, grid)?;
        underpainted(run, grid, obj, background)
    }
}

/// [`underpaint`] where the background shows.
#[inline(always)]
pub(super) fn underpainted<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    obj: Value<'r>,
    background: Value<'r>,
) -> Outcome<Value<'r>> {
    if let Some(under) = byte(background)
        && let Some(set) = paintable(run, obj)?
        && let Some(grid) = run.as_grid(grid)
        && let Some(painted) = paint_compact(run, grid, set, Some(under))?
    {
        return Ok(painted);
    }
    paint_general(run, grid, obj, Some(background))
}

/// The cells to paint as a set; of a tuple only if their sequence cannot matter.
fn paintable<'r>(run: &mut Run<'r>, obj: Value<'r>) -> Outcome<Option<&'r Set<'r>>> {
    let Some(set) = compact_patch(run, obj)? else {
        return Ok(None);
    };
    let moot = matches!(obj, Value::Set(_)) || set.one_color_each(run);
    Ok(moot.then_some(set))
}

/// The elements of a patch in compact form; those of a tuple as the set *built* of them.
#[inline(always)]
pub(super) fn compact_patch<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
) -> Outcome<Option<&'r Set<'r>>> {
    Ok(match patch {
        Value::Set(set) if !matches!(set.elems, Elems::Values(_)) => Some(set),
        tuple => run.built(tuple)?,
    })
}

/// Calls `visit` with every location of a patch in compact form, in no particular order.
#[inline(always)]
fn visit_locations(set: &Set<'_>, mut visit: impl FnMut(Pair)) {
    match set.elems {
        Elems::Pairs(pairs) => pairs.iter().for_each(|&at| visit(at)),
        Elems::Cells(cells) => cells.iter().for_each(|c| visit(c.at)),
        Elems::Values(_) => {}
    }
}

/// A copy of the grid's cells to write `writes` times on.
#[inline(always)]
fn copy_cells<'r>(run: &mut Run<'r>, grid: &Grid<'r>, writes: usize) -> Outcome<&'r mut [u8]> {
    run.spend(grid.cells.len() / 8 + writes)?;
    let cells = run.slice_filled(grid.cells.len(), 0u8)?;
    cells.copy_from_slice(grid.cells);
    Ok(cells)
}

/// The cells of an object if all of its colours fit a compact grid.
fn compact_cells<'r>(set: &'r Set<'r>) -> Option<&'r [Cell]> {
    let cells = match set.elems {
        Elems::Cells(cells) => cells,
        Elems::Pairs([]) => return Some(&[]),
        _ => return None,
    };
    cells
        .iter()
        .all(|c| u8::try_from(c.color).is_ok())
        .then_some(cells)
}

/// Are there cells of different colours at one location of a grid? What lies outside is not drawn.
fn colors_meet<'r>(run: &mut Run<'r>, grid: &Grid<'_>, set: &Set<'r>, cells: &[Cell]) -> bool {
    let bounds = Bounds {
        top: 0,
        left: 0,
        bottom: (grid.height - 1).min(i16::MAX as usize) as i16,
        right: (grid.width - 1).min(i16::MAX as usize) as i16,
    };
    let Some(mut plane) = run.scratch.plane.lay_out(bounds) else {
        return !set.one_color_each(run);
    };
    let mut inside = cells.iter().filter(|c| grid.offset(c.at).is_some());
    inside.any(|c| plane.find_or_insert(c.at, c.color as u32) != c.color as u32)
}

/// `paint`, or `underpaint` where `under` shows. `None` when the object is not in compact form.
fn paint_compact<'r>(
    run: &mut Run<'r>,
    grid: &'r Grid<'r>,
    set: &'r Set<'r>,
    under: Option<u8>,
) -> Outcome<Option<Value<'r>>> {
    let Some(drawn) = compact_cells(set) else {
        return Ok(None);
    };
    let cells = copy_cells(run, grid, drawn.len())?;
    let mut draw = |c: &Cell| {
        if let Some(at) = grid.offset(c.at)
            && under.is_none_or(|under| cells[at] == under)
        {
            cells[at] = c.color as u8;
        }
    };
    // An order that is known already is cheaper to follow than to prove irrelevant.
    let any_order = set.known_one_color_each() == Some(true)
        || (!set.is_ordered() && !colors_meet(run, grid, set, drawn));
    if any_order {
        drawn.iter().for_each(draw);
    } else {
        set.order(run)?
            .iter()
            .for_each(|&k| draw(&drawn[k as usize]));
    }
    run.grid(grid.height, grid.width, cells).map(Some)
}

/// `fill` of any grid with any value, or `underfill` where a value equal to `under` shows.
/// `toindices` is that of the dialect.
pub(super) fn fill_general<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    value: Value<'r>,
    patch: Value<'r>,
    under: Option<Value<'r>>,
    toindices: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    let mut sheet = Sheet::of(run, grid)?;
    let locations = toindices(run, patch)?;
    let locations = run.items(locations)?;
    run.spend(locations.len())?;
    for &at in locations {
        let (i, j) = run.unpack2(at)?;
        sheet.put(run, i, j, value, under)?;
    }
    sheet.finish(run)
}

/// `paint` of anything on any grid, or `underpaint` where a value equal to `under` shows.
fn paint_general<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    obj: Value<'r>,
    under: Option<Value<'r>>,
) -> Outcome<Value<'r>> {
    let mut sheet = Sheet::of(run, grid)?;
    let cells = run.items(obj)?;
    run.spend(cells.len())?;
    for &cell in cells {
        let (v, i, j) = run.uncell(cell)?;
        sheet.put(run, i, j, v, under)?;
    }
    sheet.finish(run)
}

/// A grid of any values, opened for writing.
struct Sheet<'r> {
    height: i64,
    width: i64,
    rows: Vec<Vec<Value<'r>>>,
}

impl<'r> Sheet<'r> {
    fn of(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<Sheet<'r>> {
        let (height, width) = dimensions(run, grid)?;
        let mut rows = Vec::new();
        // Rows may share their memory in the grid; here each has its own.
        let mut total = 0;
        for &row in run.items(grid)? {
            let row = run.items(row)?;
            total += row.len();
            run.check_len(total)?;
            run.spend(row.len() + 1)?;
            rows.push(row.to_vec());
        }
        Ok(Sheet {
            height,
            width,
            rows,
        })
    }

    /// Writes `v` at `(i, j)` if that lies inside, and if a value equal to `under` is there now.
    fn put(
        &mut self,
        run: &mut Run<'r>,
        i: Value<'r>,
        j: Value<'r>,
        v: Value<'r>,
        under: Option<Value<'r>>,
    ) -> Outcome<()> {
        let Some((i, j)) = inside(i, j, self.height, self.width)? else {
            return Ok(());
        };
        let row = self.rows.get_mut(i as usize).ok_or(Fault::Index)?;
        // The width is that of the first row; others may be shorter.
        let place = row.get_mut(j as usize).ok_or(Fault::Index)?;
        if under.is_none_or(|under| run.eq(*place, under)) {
            *place = v;
        }
        Ok(())
    }

    fn finish(self, run: &mut Run<'r>) -> Outcome<Value<'r>> {
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            rows.push(run.tuple(row)?);
        }
        run.tuple(&rows)
    }
}

op! {
    /// The grid with the locations of a patch erased: set to the background.
    ///
    /// The background is the most common colour of the grid; see `mostcolor` for ties. Locations
    /// outside the grid are left out. Fails for an empty grid, and for a location beyond the end of a
    /// short row.
    pub cover(grid: Grid, patch: Patch) -> Grid;
    ordered "several colours of the grid are equally common";
    example "cover(((0, 0), (3, 4)), initset(UNITY))" => "((0, 0), (3, 0))";
    fails "cover((), initset(ORIGIN))";
    |run| {
        let background = mostcolor(run, grid)?;
        // `fill` takes the locations of cells itself; only the general path can tell that apart
        // from taking them twice.
        let patch = match compact_patch(run, patch)? {
            Some(_) => patch,
            None => toindices(run, patch)?,
        };
        fill(run, grid, background, patch)
    }
}

op! {
    /// The grid with an object moved by a vector: erased where it was, drawn where it goes.
    ///
    /// What the object leaves behind is the background, the most common colour of the grid; see
    /// `mostcolor` for ties. Cells outside the grid are left out. Of several cells at one location
    /// the last in iteration order of the moved object stays. Fails for an empty grid, for a patch
    /// without colours, and for a vector that is not a pair of integers.
    pub r#move(grid: Grid, obj: Object, offset: Pair) -> Grid;
    ordered "several colours of the grid are equally common, or the object has several colours at one location";
    example "move(((0, 0), (3, 4)), recolor(FOUR, initset(UNITY)), UP)" => "((0, 4), (3, 0))";
    fails "move(((0, 0), (3, 4)), initset(ORIGIN), DOWN)";
    |run| {
        if let Some(by) = offset.as_pair()
            && let Value::Set(set) = obj
            && let Some(drawn) = compact_cells(set)
            && let Some(compact) = run.as_grid(grid)
            && set.one_color_each(run)
            && let Some(background) = byte(mostcolor(run, grid)?)
        {
            let cells = copy_cells(run, compact, 2 * drawn.len())?;
            for c in drawn {
                if let Some(at) = compact.offset(c.at) {
                    cells[at] = background;
                }
            }
            for c in drawn {
                // Beyond the range of a pair there can still be grid, so the sums are wider.
                let i = isize::from(c.at.i) + isize::from(by.i);
                let j = isize::from(c.at.j) + isize::from(by.j);
                // Negative sums become huge: they lie outside like large ones.
                let (i, j) = (i as usize, j as usize);
                if i < compact.height && j < compact.width {
                    cells[i * compact.width + j] = c.color as u8;
                }
            }
            return run.grid(compact.height, compact.width, cells);
        }
        let covered = cover(run, grid, obj)?;
        let moved = shift(run, obj, offset)?;
        paint(run, covered, moved)
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
    /// The middle row of an odd number of rows is left out. Works on any tuple and fails for anything
    /// else.
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
    /// The middle row of an odd number of rows is left out. Works on any tuple and fails for anything
    /// else.
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

/// These rows of a grid; none of them give the empty tuple.
#[inline(always)]
fn rows<'r>(run: &mut Run<'r>, grid: &Grid<'r>, from: usize, to: usize) -> Outcome<Value<'r>> {
    let cells = &grid.cells[from * grid.width..to * grid.width];
    run.grid(to - from, grid.width, cells)
}

op! {
    /// The left half of a grid.
    ///
    /// The middle column of an odd number of columns is left out; a single column gives the empty
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
    /// The middle column of an odd number of columns is left out; a single column gives the empty
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

/// These columns of a grid; none of them give the empty tuple, as turning it there and back does.
fn columns<'r>(
    run: &mut Run<'r>,
    grid: &'r Grid<'r>,
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
    /// What is left out is decided on the whole grid, rows and columns alike. A single row loses all
    /// of its columns, a single column all of its rows. Empty rows stay. Fails for anything but a
    /// container of containers.
    pub compress(grid: Grid) -> Grid;
    example "compress(((1, 1, 1), (0, 1, 2), (5, 1, 5)))" => "((0, 2), (5, 5))";
    fails "compress((1, 2, 3))";
    |run| {
        match run.as_grid(grid) {
            Some(grid) => compress_compact(run, grid),
            // The columns of a tuple; a set is mirrored as a patch, and its elements taken for columns.
            None => compress_general(run, grid, dmirror),
        }
    }
}

/// [`compress`] of any container of containers, with `dmirror` of the dialect.
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

/// Has the container exactly one distinct element?
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

fn compress_compact<'r>(run: &mut Run<'r>, grid: &'r Grid<'r>) -> Outcome<Value<'r>> {
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
