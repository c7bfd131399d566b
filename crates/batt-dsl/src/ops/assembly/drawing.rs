//! Drawing: recolouring a whole grid, or the part under a patch.

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::ops::color::mostcolor;
use crate::ops::patch::{dims as dimensions, inside, shift, toindices};
use crate::run::Run;
use crate::set::{Bounds, Elems, Set};
use crate::value::{Cell, GridView, IntPair, Value};

use super::FAMILY;

op! {
    /// The grid with one colour replaced by another.
    ///
    /// Works on any container of containers and gives a tuple of tuples. Fails when an element is
    /// not a container.
    pub replace(grid: Grid, replacee: Integer, replacer: Integer) -> Grid;
    example "replace(((1, 2), (2, 1)), ONE, ZERO)" => "((0, 2), (2, 0))";
    fails "replace((1, 2), ONE, ZERO)";
    |run| {
        if let Some(compact) = run.as_grid(grid) {
            run.spend(compact.cells.len() / 8)?;
            // A cell can equal only a number between 0 and 255; a bool counts as one.
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
    /// Works on any container of containers and gives a tuple of tuples. Fails when an element is
    /// not a container.
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
        // Python tests `v in [a, b]`, which finds a nan by identity.
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

/// Returns a plain integer 0 to 255 as a cell of a compact grid; `None` for any other value.
#[inline(always)]
pub(super) fn byte(v: Value<'_>) -> Option<u8> {
    match v {
        Value::Int(n) => u8::try_from(n).ok(),
        _ => None,
    }
}

/// Returns the grid with every cell mapped.
#[inline(always)]
fn recolored<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    map: impl Fn(u8) -> u8,
) -> Outcome<Value<'r>> {
    let cells = run.slice_filled(grid.cells.len(), 0u8)?;
    for (place, &c) in cells.iter_mut().zip(grid.cells) {
        *place = map(c);
    }
    run.grid(grid.height, grid.width, cells)
}

/// Returns the tuple of tuples of mapped values, for any container of containers.
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
    /// The value may be anything. Zero rows give the empty tuple, and then the width is not read;
    /// zero columns give empty rows. Fails when the dimensions are not a pair of integers.
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
    /// Locations outside the grid are ignored; negative ones do not wrap around. Fails for an empty
    /// grid, and for a location beyond the end of a short row.
    pub fill(grid: Grid, value: Integer, patch: Patch) -> Grid;
    example "fill(((1, 2), (3, 4)), ZERO, connect(ORIGIN, UNITY))" => "((0, 2), (3, 0))";
    fails "fill((), ZERO, initset(ORIGIN))";
    |run| {
        if let Some(color) = byte(value)
            && let Some(set) = compact_patch(run, patch)?
            && let Some(grid) = run.as_grid(grid)
        {
            let cells = copy_cells(run, grid, set.len())?;
            // All locations get the same value, so the order of the patch cannot matter.
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
    /// outside the grid are ignored. Fails for an empty grid, and for a location beyond the end of
    /// a short row.
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

/// Does what [`underfill`] does, for a given background and the `toindices` of the dialect.
#[inline(always)]
pub(in crate::ops) fn underfilled<'r>(
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
        // A cell changes at most once and always to the same value, so the order cannot matter.
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
    /// Cells outside the grid are ignored; negative locations do not wrap around. If several cells
    /// have the same location, the last one in iteration order stays. Fails for an empty grid, for
    /// a patch without colours, and for a location beyond the end of a short row.
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
    /// The background is the most common colour of the grid; see `mostcolor` for ties. Cells
    /// outside the grid are ignored. If several cells have the same location, the first one in
    /// iteration order whose colour is not the background stays. Fails for an empty grid, for a
    /// patch without colours, and for a location beyond the end of a short row.
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

/// Does what [`underpaint`] does, for a given background.
#[inline(always)]
pub(in crate::ops) fn underpainted<'r>(
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

/// Returns the cells to paint as a set. The cells of a tuple are returned only if their order
/// cannot matter.
fn paintable<'r>(run: &mut Run<'r>, obj: Value<'r>) -> Outcome<Option<&'r Set<'r>>> {
    let Some(set) = compact_patch(run, obj)? else {
        return Ok(None);
    };
    let is_any_order = matches!(obj, Value::Set(_)) || set.one_color_each(run);
    Ok(is_any_order.then_some(set))
}

/// Returns the elements of a patch in compact form. A tuple gives the set built of its elements.
#[inline(always)]
pub(in crate::ops) fn compact_patch<'r>(
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
fn visit_locations(set: &Set<'_>, mut visit: impl FnMut(IntPair)) {
    match set.elems {
        Elems::Pairs(pairs) => pairs.iter().for_each(|&at| visit(at)),
        Elems::Cells(cells) => cells.iter().for_each(|c| visit(c.at)),
        Elems::Values(_) => {}
    }
}

/// Returns a copy of the grid's cells, and charges the run for the copy and for `writes` later
/// writes.
#[inline(always)]
fn copy_cells<'r>(run: &mut Run<'r>, grid: &GridView<'r>, writes: usize) -> Outcome<&'r mut [u8]> {
    run.spend(grid.cells.len() / 8 + writes)?;
    let cells = run.slice_filled(grid.cells.len(), 0u8)?;
    cells.copy_from_slice(grid.cells);
    Ok(cells)
}

/// Returns the cells of an object if all of its colours fit a compact grid.
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

/// Returns whether cells of different colours share a location of a grid. Cells outside the grid do
/// not count, because they are not drawn.
fn colors_meet<'r>(run: &mut Run<'r>, grid: &GridView<'_>, set: &Set<'r>, cells: &[Cell]) -> bool {
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

/// Does what `paint` does, or what `underpaint` does where `under` shows. Returns `None` when the
/// object is not in compact form.
fn paint_compact<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
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
    // A known order is cheaper to follow than to prove irrelevant.
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

/// Does what `fill` does for any grid and any value, or what `underfill` does where a value equal
/// to `under` shows. `toindices` is the primitive of the dialect.
pub(in crate::ops) fn fill_general<'r>(
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

/// Does what `paint` does for any object and any grid, or what `underpaint` does where a value
/// equal to `under` shows.
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

/// A grid of any values that can be written to.
struct Sheet<'r> {
    height: i64,
    width: i64,
    rows: Vec<Vec<Value<'r>>>,
}

impl<'r> Sheet<'r> {
    fn of(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<Sheet<'r>> {
        let (height, width) = dimensions(run, grid)?;
        let mut rows = Vec::new();
        // The rows of the grid may share memory; here each has its own copy.
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

    /// Writes `v` at `(i, j)` if that lies inside. With `under`, the old value there must be equal
    /// to it.
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
        // The width is the length of the first row, and other rows may be shorter.
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
    /// outside the grid are ignored. Fails for an empty grid, and for a location beyond the end of
    /// a short row.
    pub cover(grid: Grid, patch: Patch) -> Grid;
    ordered "several colours of the grid are equally common";
    example "cover(((0, 0), (3, 4)), initset(UNITY))" => "((0, 0), (3, 0))";
    fails "cover((), initset(ORIGIN))";
    |run| {
        let background = mostcolor(run, grid)?;
        // `fill` extracts the locations of cells itself. Only the general path can tell whether
        // they were extracted twice.
        let patch = match compact_patch(run, patch)? {
            Some(_) => patch,
            None => toindices(run, patch)?,
        };
        fill(run, grid, background, patch)
    }
}

op! {
    /// The grid with an object moved by a vector: erased at its old place and drawn at the new one.
    ///
    /// The object leaves background behind, the most common colour of the grid; see `mostcolor` for
    /// ties. Cells outside the grid are ignored. If several cells have the same location, the last
    /// one in iteration order of the moved object stays. Fails for an empty grid, for a patch
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
                // A location beyond the range of a pair may still lie on the grid, so the sums are
                // wider.
                let i = isize::from(c.at.i) + isize::from(by.i);
                let j = isize::from(c.at.j) + isize::from(by.j);
                // Negative sums become huge numbers, which lie outside the grid as well.
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
