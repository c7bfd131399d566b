//! Patches: sets of locations (*Indices*) and of coloured cells (*Objects*).

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Bounds, Elems, Origin, Selection, Set};
use crate::table::Op;
use crate::value::{Cell, IntPair, Value};

const FAMILY: &str = "patch";

pub(super) const OPS: &[&Op] = &[
    &toindices::OP,
    &asindices::OP,
    &asobject::OP,
    &toobject::OP,
    &recolor::OP,
    &shift::OP,
    &normalize::OP,
    &corners::OP,
];

op! {
    /// The locations of a patch, without colours.
    ///
    /// The first element decides: if its second component is a tuple, the patch holds cells and
    /// their locations are collected; otherwise the patch is returned unchanged (so is a grid with
    /// two or more columns). An empty container gives the empty set. Fails when the first element
    /// is not a tuple of at least two elements.
    pub toindices(patch: Patch) -> Indices;
    example "toindices(recolor(TWO, connect(ORIGIN, RIGHT)))" => "frozenset({(0, 1), (0, 0)})";
    fails "toindices(THREE)";
    |run| {
        if let Value::Set(set) = patch {
            return Ok(Value::Set(indices(run, set)?));
        }
        if run.len(patch)? == 0 {
            return Ok(Value::Set(run.empty_set()?));
        }
        if let Some((set, origin)) = compact(run, patch)? {
            let Elems::Cells(cells) = set.elems else {
                return Ok(patch);
            };
            if set.one_color_each(run) {
                return Ok(Value::Set(without_colors(run, set, cells, origin)?));
            }
        }
        if !holds_cells(run, patch)? {
            return Ok(patch);
        }
        Ok(Value::Set(locations_of_cells(run, patch)?))
    }
}

/// Does what `toindices` does, for a set.
pub(super) fn indices<'r>(run: &mut Run<'r>, set: &'r Set<'r>) -> Outcome<&'r Set<'r>> {
    match set.elems {
        Elems::Pairs(_) => Ok(set),
        Elems::Cells(cells) => {
            run.spend(cells.len())?;
            if set.one_color_each(run) {
                return without_colors(run, set, cells, Origin::Map(set));
            }
            let order = set.order(run)?;
            let locations =
                run.slice_from(order.iter().map(|&k| Value::pair(cells[k as usize].at)))?;
            run.build(locations)
        }
        Elems::Values(_) => {
            let patch = Value::Set(set);
            if !holds_cells(run, patch)? {
                return Ok(set);
            }
            locations_of_cells(run, patch)
        }
    }
}

/// Returns *Build* of the locations of cells in general form.
fn locations_of_cells<'r>(run: &mut Run<'r>, patch: Value<'r>) -> Outcome<&'r Set<'r>> {
    let mut locations = Vec::new();
    for &cell in run.items(patch)? {
        let at = if run.triples() {
            let [i, j, _] = run.unpack3(cell)?;
            run.pair(i, j)?
        } else {
            run.unpack2(cell)?.1
        };
        locations.push(at);
    }
    run.build(&locations)
}

fn without_colors<'r>(
    run: &mut Run<'r>,
    set: &'r Set<'r>,
    cells: &'r [Cell],
    origin: Origin<'r>,
) -> Outcome<&'r Set<'r>> {
    let pairs = run.slice_from(cells.iter().map(|c| c.at))?;
    let indices = run.set(Elems::Pairs(pairs), origin)?;
    indices.with_bounds(set.bounds());
    Ok(indices)
}

/// Returns the elements of a non-empty patch in compact form, set or tuple. Also returns the origin
/// of a set *built* of one image per element, in the order of the set or tuple.
pub(super) fn compact<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
) -> Outcome<Option<(&'r Set<'r>, Origin<'r>)>> {
    let found = match patch {
        Value::Set(set) => Some((set, Origin::Map(set))),
        tuple => run.built(tuple)?.map(|set| (set, set.origin)),
    };
    Ok(found.filter(|(set, _)| !matches!(set.elems, Elems::Values(_)) && set.len() > 0))
}

/// Returns whether a non-empty container holds cells. In arc-dsl it does if the second component of
/// its first element is a tuple. In a dialect whose cells are triples it does if its first element
/// has three components.
pub(super) fn holds_cells<'r>(run: &mut Run<'r>, patch: Value<'r>) -> Outcome<bool> {
    let first = match patch {
        Value::Set(set) => match set.elems {
            Elems::Pairs(pairs) if !pairs.is_empty() => return Ok(false),
            Elems::Cells(_) => return Ok(true),
            _ => set.first(run)?.ok_or(Fault::StopIteration)?,
        },
        tuple => match run.tuple_len(tuple) {
            None => return Err(Fault::Type),
            Some(0) => return Err(Fault::StopIteration),
            Some(_) => run.item(tuple, 0)?,
        },
    };
    if run.triples() {
        return Ok(run.len(first)? == 3);
    }
    Ok(run.at(first, 1)?.is_tuple())
}

op! {
    /// All locations of a grid.
    ///
    /// The width is the length of the first row. An empty grid gives the empty set.
    pub asindices(grid: Grid) -> Indices;
    example "asindices(((1, 2), (3, 4)))" => "frozenset({(0, 1), (1, 0), (1, 1), (0, 0)})";
    fails "asindices(THREE)";
    |run| {
        let height = run.len(grid)?;
        if height == 0 {
            return Ok(Value::Set(run.empty_set()?));
        }
        let width = match grid {
            Value::Grid(grid) => grid.width,
            _ => {
                let first = run.at(grid, 0)?;
                run.len(first)?
            }
        };
        Ok(Value::Set(rectangle(run, 0, 0, height as i64 - 1, width as i64 - 1)?))
    }
}

/// Returns *Build* of all locations of a rectangle, row by row, both ends included.
pub(super) fn rectangle<'r>(
    run: &mut Run<'r>,
    top: i64,
    left: i64,
    bottom: i64,
    right: i64,
) -> Outcome<&'r Set<'r>> {
    if top > bottom || left > right {
        return run.empty_set();
    }
    let height = bottom
        .checked_sub(top)
        .ok_or(Fault::Size)?
        .saturating_add(1);
    let width = right
        .checked_sub(left)
        .ok_or(Fault::Size)?
        .saturating_add(1);
    let len = usize::try_from(height.saturating_mul(width)).map_err(|_| Fault::Size)?;
    run.check_len(len)?;
    run.spend(len)?;
    if let (Some(from), Some(to)) = (IntPair::fit(top, left), IntPair::fit(bottom, right)) {
        let pairs = run.slice_filled(len, from)?;
        let mut next = pairs.iter_mut();
        for i in from.i..=to.i {
            for j in from.j..=to.j {
                if let Some(place) = next.next() {
                    *place = IntPair::new(i, j);
                }
            }
        }
        let set = run.set(Elems::Pairs(pairs), Origin::Build)?;
        set.with_bounds(Some(Bounds {
            top: from.i,
            left: from.j,
            bottom: to.i,
            right: to.j,
        }));
        return Ok(set);
    }
    let mut locations = Vec::with_capacity(len);
    for i in top..=bottom {
        for j in left..=right {
            locations.push(run.int_pair(i, j)?);
        }
    }
    run.build(&locations)
}

op! {
    /// All cells of a grid.
    ///
    /// Each row is read to its own end, so ragged rows are included whole.
    pub asobject(grid: Grid) -> Object;
    example "asobject(((1, 2), (3, 4)))" => "frozenset({(4, (1, 1)), (3, (1, 0)), (1, (0, 0)), (2, (0, 1))})";
    fails "asobject(THREE)";
    |run| {
        if let Some(grid) = run.as_grid(grid)
            && IntPair::fit(grid.height as i64, grid.width as i64).is_some()
        {
            run.spend(grid.cells.len())?;
            let cells = run.slice_filled(grid.cells.len(), Cell::new(0, IntPair::new(0, 0)))?;
            let mut places = cells.iter_mut();
            for (i, row) in grid.rows().enumerate() {
                for (j, &color) in row.iter().enumerate() {
                    if let Some(place) = places.next() {
                        *place = Cell::new(color.into(), IntPair::new(i as i16, j as i16));
                    }
                }
            }
            let set = run.set(Elems::Cells(cells), Origin::Build)?;
            set.with_one_color_each(Some(true));
            return Ok(Value::Set(set));
        }
        let mut cells = Vec::new();
        for (i, &row) in run.items(grid)?.iter().enumerate() {
            for (j, &v) in run.items(row)?.iter().enumerate() {
                cells.push(run.recell(v, Value::Int(i as i64), Value::Int(j as i64))?);
            }
        }
        Ok(Value::Set(run.build(&cells)?))
    }
}

op! {
    /// The cells of a grid at the locations of a patch.
    ///
    /// Locations outside the grid are ignored; negative ones do not wrap around. Fails for an empty
    /// grid, and for a location beyond the end of a short row.
    pub toobject(patch: Patch, grid: Grid) -> Object;
    example "toobject(connect(ORIGIN, RIGHT), ((1, 2), (3, 4)))" => "frozenset({(1, (0, 0)), (2, (0, 1))})";
    fails "toobject(initset(ORIGIN), ())";
    |run| {
        if let Some(grid) = run.as_grid(grid)
            && let Value::Set(set) = patch
            && !matches!(set.elems, Elems::Values(_))
        {
            let set = indices(run, set)?;
            let Elems::Pairs(pairs) = set.elems else {
                return Err(Fault::Type);
            };
            run.spend(pairs.len())?;
            let mut cells = std::mem::take(&mut run.scratch.cells);
            let mut kept = run.take_numbers();
            cells.clear();
            for (k, &at) in pairs.iter().enumerate() {
                if let Some(p) = grid.offset(at) {
                    cells.push(Cell::new(grid.cells[p].into(), at));
                    kept.push(k as u32);
                }
            }
            let object = object_from(run, set, &cells, &kept);
            run.give_numbers(kept);
            run.scratch.cells = cells;
            return Ok(Value::Set(object?));
        }
        let dims = dims(run, grid)?;
        let indices = toindices(run, patch)?;
        cells_under(run, indices, grid, dims)
    }
}

/// Returns the cells of any grid at locations of any kind.
pub(super) fn cells_under<'r>(
    run: &mut Run<'r>,
    locations: Value<'r>,
    grid: Value<'r>,
    (height, width): (i64, i64),
) -> Outcome<Value<'r>> {
    let mut cells = Vec::new();
    for &at in run.items(locations)? {
        let (i, j) = run.unpack2(at)?;
        if let Some((row, column)) = inside(i, j, height, width)? {
            let v = cell_at(run, grid, row, column)?;
            cells.push(run.recell(v, i, j)?);
        }
    }
    Ok(Value::Set(run.build(&cells)?))
}

/// Returns the cells for the elements `kept` of `source`.
fn object_from<'r>(
    run: &mut Run<'r>,
    source: &'r Set<'r>,
    cells: &[Cell],
    kept: &[u32],
) -> Outcome<&'r Set<'r>> {
    if cells.is_empty() {
        return run.empty_set();
    }
    let cells = run.slice(cells)?;
    let origin = if kept.len() == source.len() {
        Origin::Map(source)
    } else {
        let kept = run.slice(kept)?;
        Origin::Filter(run.alloc(Selection { source, kept })?)
    };
    let set = run.set(Elems::Cells(cells), origin)?;
    set.with_one_color_each(Some(true));
    Ok(set)
}

/// Returns the height, and the width of the first row. An empty tuple, a set, or a first row that
/// is not a container is an error.
pub(super) fn dims<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<(i64, i64)> {
    if let Value::Grid(grid) = grid {
        return Ok((grid.height as i64, grid.width as i64));
    }
    let height = run.len(grid)?;
    let first = run.at(grid, 0)?;
    Ok((height as i64, run.len(first)? as i64))
}

/// Returns the position if `0 <= i < height and 0 <= j < width`, evaluated with Python's short
/// circuit. A float may lie outside, but inside it is not a position and fails.
pub(super) fn inside<'r>(
    i: Value<'r>,
    j: Value<'r>,
    height: i64,
    width: i64,
) -> Outcome<Option<(i64, i64)>> {
    if !within(i, height)? || !within(j, width)? {
        return Ok(None);
    }
    match (i.as_int(), j.as_int()) {
        (Some(i), Some(j)) => Ok(Some((i, j))),
        _ => Err(Fault::Type),
    }
}

/// Returns `0 <= x < end`.
fn within(x: Value<'_>, end: i64) -> Outcome<bool> {
    match x {
        Value::Float(x) => Ok((0.0..end as f64).contains(&x.get())),
        _ => Ok((0..end).contains(&x.as_int().ok_or(Fault::Type)?)),
    }
}

/// Returns `grid[i][j]`.
pub(super) fn cell_at<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    i: i64,
    j: i64,
) -> Outcome<Value<'r>> {
    let row = run.at(grid, i)?;
    run.at(row, j)
}

op! {
    /// The patch in one colour: every location becomes a cell of that colour.
    ///
    /// The colour may be any value. An empty patch gives the empty set.
    pub recolor(value: Integer, patch: Patch) -> Object;
    example "recolor(THREE, connect(ORIGIN, RIGHT))" => "frozenset({(3, (0, 1)), (3, (0, 0))})";
    fails "recolor(THREE, FOUR)";
    |run| {
        let locations = toindices(run, patch)?;
        recolored(run, value, locations)
    }
}

/// Returns *Build* of a cell of this colour for each of the locations, set or tuple.
#[inline]
pub(super) fn recolored<'r>(
    run: &mut Run<'r>,
    value: Value<'r>,
    locations: Value<'r>,
) -> Outcome<Value<'r>> {
    if let Value::Set(set) = locations
        && set.len() == 0
    {
        return Ok(Value::Set(run.empty_set()?));
    }
    if let Value::Int(color) = value
        && let Ok(color) = i32::try_from(color)
        && let Some((set, origin)) = compact(run, locations)?
        && let Elems::Pairs(pairs) = set.elems
    {
        run.spend(pairs.len())?;
        let cells = run.slice_from(pairs.iter().map(|&at| Cell::new(color, at)))?;
        let object = run.set(Elems::Cells(cells), origin)?;
        object.with_one_color_each(Some(true));
        object.with_bounds(set.bounds());
        return Ok(Value::Set(object));
    }
    let mut cells = Vec::new();
    for &at in run.items(locations)? {
        let cell = if run.triples() {
            let (i, j) = run.unpack2(at)?;
            run.recell(value, i, j)?
        } else {
            run.pair(value, at)?
        };
        cells.push(cell);
    }
    Ok(Value::Set(run.build(&cells)?))
}

op! {
    /// The patch moved by a vector.
    ///
    /// An empty patch is returned unchanged, whatever the vector. The result is a set even for a
    /// tuple of cells. Fails for a vector that is not a pair of integers.
    pub shift(patch: Patch, directions: Pair) -> Patch;
    example "shift(connect(ORIGIN, RIGHT), DOWN)" => "frozenset({(1, 0), (1, 1)})";
    fails "shift(initset(ORIGIN), THREE)";
    |run| {
        if let Some(d) = directions.as_pair()
            && let Some(moved) = translate(run, patch, d)?
        {
            return Ok(Value::Set(moved));
        }
        if run.len(patch)? == 0 {
            return Ok(patch);
        }
        let (di, dj) = run.unpack2(directions)?;
        let cells = holds_cells(run, patch)?;
        let mut moved = Vec::new();
        for &element in run.items(patch)? {
            if cells {
                let (v, i, j) = run.uncell(element)?;
                let (i, j) = (run.add(i, di)?, run.add(j, dj)?);
                moved.push(run.recell(v, i, j)?);
            } else {
                let (i, j) = run.unpack2(element)?;
                let (i, j) = (run.add(i, di)?, run.add(j, dj)?);
                moved.push(run.pair(i, j)?);
            }
        }
        Ok(Value::Set(run.build(&moved)?))
    }
}

/// Moves every location of a patch by a vector: a form of `transform` that is fast for many cells.
fn translate<'r>(run: &mut Run<'r>, patch: Value<'r>, by: IntPair) -> Outcome<Option<&'r Set<'r>>> {
    let Some((set, origin)) = compact(run, patch)? else {
        return Ok(None);
    };
    let Some(bounds) = set.bounds().and_then(|b| b.translated(by)) else {
        return Ok(None);
    };
    // The bounds show that nothing leaves the range, so nothing wraps.
    let image = |p: IntPair| IntPair::new(p.i.wrapping_add(by.i), p.j.wrapping_add(by.j));
    moved(run, set, origin, bounds, image)
}

/// Applies a one-to-one map to every location of a patch, *building* in the order of the patch.
/// Returns `None` when the patch is not in compact form or a location leaves the compact range.
pub(super) fn transform<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    map: impl Fn(IntPair) -> Option<IntPair>,
) -> Outcome<Option<&'r Set<'r>>> {
    let Some((set, origin)) = compact(run, patch)? else {
        return Ok(None);
    };
    // The maps are affine: if the corners stay in range, everything between them does.
    let corners = set.bounds().and_then(|b| {
        let (a, b) = (
            map(IntPair::new(b.top, b.left))?,
            map(IntPair::new(b.bottom, b.right))?,
        );
        Some(Bounds::at(a).union(Bounds::at(b)))
    });
    match corners {
        Some(bounds) => moved(run, set, origin, bounds, |p| map(p).unwrap_or(p)),
        None => Ok(None),
    }
}

/// Returns the patch with every location replaced by its image, which lies within `bounds`.
#[inline(always)]
fn moved<'r>(
    run: &mut Run<'r>,
    set: &'r Set<'r>,
    origin: Origin<'r>,
    bounds: Bounds,
    image: impl Fn(IntPair) -> IntPair,
) -> Outcome<Option<&'r Set<'r>>> {
    run.spend(set.len() / 4)?;
    let moved = match set.elems {
        Elems::Pairs(pairs) => {
            let pairs = run.slice_from(pairs.iter().map(|&p| image(p)))?;
            run.set(Elems::Pairs(pairs), origin)?
        }
        Elems::Cells(cells) => {
            let cells = run.slice_from(cells.iter().map(|c| Cell::new(c.color, image(c.at))))?;
            let moved = run.set(Elems::Cells(cells), origin)?;
            moved.with_one_color_each(set.known_one_color_each());
            moved
        }
        Elems::Values(_) => return Ok(None),
    };
    moved.with_bounds(Some(bounds));
    Ok(Some(moved))
}

op! {
    /// The patch moved so that its bounding box starts at the origin.
    ///
    /// An empty patch is returned unchanged.
    pub normalize(patch: Patch) -> Patch;
    example "normalize(initset((3, 4)))" => "frozenset({(0, 0)})";
    fails "normalize(THREE)";
    |run| {
        if let Value::Set(set) = patch
            && let Some(b) = set.bounds()
            && let (Some(di), Some(dj)) = (b.top.checked_neg(), b.left.checked_neg())
            && let Some(moved) = translate(run, patch, IntPair::new(di, dj))?
        {
            return Ok(Value::Set(moved));
        }
        if run.len(patch)? == 0 {
            return Ok(patch);
        }
        let top = super::measure::uppermost(run, patch)?;
        let left = super::measure::leftmost(run, patch)?;
        let (top, left) = (run.neg(top)?, run.neg(left)?);
        let offset = run.pair(top, left)?;
        shift(run, patch, offset)
    }
}

op! {
    /// The four corners of the bounding box.
    ///
    /// An empty patch gives the set that holds the empty tuple.
    pub corners(patch: Patch) -> Indices;
    example "corners(connect(ORIGIN, TWO_BY_TWO))" => "frozenset({(2, 2), (0, 2), (2, 0), (0, 0)})";
    fails "corners(THREE)";
    |run| {
        let corners = [
            super::measure::ulcorner(run, patch)?,
            super::measure::urcorner(run, patch)?,
            super::measure::llcorner(run, patch)?,
            super::measure::lrcorner(run, patch)?,
        ];
        Ok(Value::Set(run.build_frozen(&corners)?))
    }
}
