//! Decomposing grids: objects, partitions, occurrences, frontiers, periods.

use std::rc::Rc;

use crate::fault::{Fault, Outcome};
use crate::hash;
use crate::op;
use crate::run::Run;
use crate::set::{Bounds, Elems, Flood, Origin, Set, Table, flood_sequence};
use crate::table::Op;
use crate::value::{Cell, GridView, IntPair, Value};

use super::color::{mostcolor, palette_set};
use super::measure::Axis;
use super::patch::{cell_at, dims, inside, normalize, shift};

const FAMILY: &str = "segmentation";

pub(super) const OPS: &[&Op] = &[
    &ofcolor::OP,
    &objects::OP,
    &partition::OP,
    &fgpartition::OP,
    &occurrences::OP,
    &frontiers::OP,
    &hperiod::OP,
    &vperiod::OP,
];

op! {
    /// The locations of a colour in a grid.
    pub ofcolor(grid: Grid, value: Integer) -> Indices;
    example "ofcolor(((1, 2), (2, 3)), TWO)" => "frozenset({(0, 1), (1, 0)})";
    fails "ofcolor(THREE, TWO)";
    |run| {
        if let Some(grid) = small_grid(run, grid) {
            let Some(wanted) = value.integral().and_then(|n| u8::try_from(n).ok()) else {
                return Ok(Value::Set(run.empty_set()?));
            };
            run.spend(grid.cells.len() / 8)?;
            let mut pairs = std::mem::take(&mut run.scratch.pairs);
            pairs.clear();
            for (i, row) in grid.rows().enumerate() {
                for (j, &c) in row.iter().enumerate() {
                    if c == wanted {
                        pairs.push(IntPair::new(i as i16, j as i16));
                    }
                }
            }
            let set = run.build_distinct_pairs(&pairs);
            run.scratch.pairs = pairs;
            return Ok(Value::Set(set?));
        }
        let mut locations = Vec::new();
        for (i, &row) in run.items(grid)?.iter().enumerate() {
            for (j, &v) in run.items(row)?.iter().enumerate() {
                if run.eq(v, value) {
                    locations.push(run.int_pair(i as i64, j as i64)?);
                }
            }
        }
        Ok(Value::Set(run.build(&locations)?))
    }
}

/// Returns the value as a grid whose locations are all compact pairs.
pub(super) fn small_grid<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Option<&'r GridView<'r>> {
    run.as_grid(grid)
        .filter(|g| IntPair::fit(g.height as i64, g.width as i64).is_some())
}

op! {
    /// The connected objects of a grid.
    ///
    /// `univalued`: an object has one colour. `diagonal`: diagonal neighbours are connected.
    /// `without_bg`: the most frequent colour is background and belongs to no object. Fails for an
    /// empty grid.
    pub objects(grid: Grid, univalued: Boolean, diagonal: Boolean, without_bg: Boolean) -> Objects;
    ordered "several colours that are equally frequent, without background";
    example "objects(((1, 0), (0, 0)), T, F, T)" => "frozenset({frozenset({(1, (0, 0))})})";
    fails "objects((), T, F, T)";
    |run| {
        let univalued = run.truth(univalued);
        let diagonal = run.truth(diagonal);
        let without_bg = run.truth(without_bg);
        let background = if without_bg { mostcolor(run, grid)? } else { Value::None };
        if let Some(grid) = small_grid(run, grid)
            && grid.cells.iter().all(|&c| c != BLOCKED)
        {
            let background = background.as_int().and_then(|c| u8::try_from(c).ok());
            return compact_objects(run, grid, univalued, diagonal, background);
        }
        general_objects(run, grid, univalued, diagonal, background)
    }
}

/// The mark of cells that a flood fill does not enter: the border, the background, and visited
/// cells.
const BLOCKED: u8 = 255;

fn compact_objects<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    univalued: bool,
    diagonal: bool,
    background: Option<u8>,
) -> Outcome<Value<'r>> {
    run.spend(grid.cells.len() / 4)?;
    // A border all around saves the bounds checks.
    let stride = grid.width + 2;
    let mut open = std::mem::take(&mut run.scratch.bytes);
    open.clear();
    open.resize(stride * (grid.height + 2), BLOCKED);
    for (i, row) in grid.rows().enumerate() {
        let start = (i + 1) * stride + 1;
        open[start..start + grid.width].copy_from_slice(row);
    }
    if let Some(background) = background {
        for cell in &mut open {
            *cell = if *cell == background { BLOCKED } else { *cell };
        }
    }
    let ranks = GridOrders::of(run, grid.height, grid.width).ranks;
    let mut cells = std::mem::take(&mut run.scratch.cells);
    cells.clear();
    // The innermost loop is compiled for each kind of object, because most of the time is spent
    // there.
    let find = match (univalued, diagonal) {
        (false, false) => find_components::<false, 4>,
        (false, true) => find_components::<false, 8>,
        (true, false) => find_components::<true, 4>,
        (true, true) => find_components::<true, 8>,
    };
    let mut found = std::mem::take(&mut run.scratch.components);
    find(&mut open, grid, &mut cells, &ranks, &mut found);
    // Python looks for unvisited cells in the iteration order of `asindices`.
    found.sort_unstable_by_key(|component| component.rank);
    let objects = finish_objects(run, &cells, &found, |run, objects| {
        run.alloc(Flood {
            grid,
            diagonal,
            univalued,
            background,
            objects,
        })
    });
    run.scratch.cells = cells;
    run.scratch.bytes = open;
    run.scratch.components = found;
    objects
}

/// The steps to the neighbours of a cell, direct ones first.
const STEPS: [(i16, i16); 8] = [
    (-1, 0),
    (1, 0),
    (0, -1),
    (0, 1),
    (-1, -1),
    (-1, 1),
    (1, -1),
    (1, 1),
];

/// A connected component, as a range of the list of all cells.
pub(crate) struct Component {
    start: usize,
    end: usize,
    /// The smallest rank of its cells, and the position of the cell that has it.
    rank: u32,
    first: usize,
    bounds: Bounds,
}

/// Appends the cells of all components to `cells`, component after component, and blocks them.
fn find_components<const UNIVALUED: bool, const STEP_COUNT: usize>(
    open: &mut [u8],
    grid: &GridView<'_>,
    cells: &mut Vec<Cell>,
    ranks: &[u32],
    found: &mut Vec<Component>,
) {
    let width = grid.width;
    let stride = width + 2;
    let offsets: [isize; STEP_COUNT] = std::array::from_fn(|k| {
        let (di, dj) = STEPS[k];
        di as isize * stride as isize + dj as isize
    });
    found.clear();
    for i in 0..grid.height {
        let row = (i + 1) * stride + 1;
        let mut j = 0;
        while let Some(step) = open[row + j..row + width]
            .iter()
            .position(|&c| c != BLOCKED)
        {
            j += step;
            let at = row + j;
            let value = open[at];
            open[at] = BLOCKED;
            let start = cells.len();
            let from = IntPair::new(i as i16, j as i16);
            // The list of cells is also the queue of the fill.
            cells.push(Cell::new(value.into(), from));
            let mut component = Component {
                start,
                end: 0,
                rank: u32::MAX,
                first: start,
                bounds: Bounds::at(from),
            };
            let mut next = start;
            while next < cells.len() {
                let here = cells[next].at;
                let rank = ranks[here.i as usize * width + here.j as usize];
                if rank < component.rank {
                    (component.rank, component.first) = (rank, next);
                }
                component.bounds.include(here);
                let at = (here.i as usize + 1) * stride + here.j as usize + 1;
                for (&offset, &(di, dj)) in offsets.iter().zip(&STEPS) {
                    let there = at.wrapping_add_signed(offset);
                    let color = open[there];
                    // Cells of the object's own colour are not blocked.
                    let accept = if UNIVALUED {
                        color == value
                    } else {
                        color != BLOCKED
                    };
                    if accept {
                        open[there] = BLOCKED;
                        cells.push(Cell::new(
                            color.into(),
                            IntPair::new(here.i + di, here.j + dj),
                        ));
                    }
                }
                next += 1;
            }
            component.end = cells.len();
            found.push(component);
        }
    }
}

/// Returns the set of objects. The first cell of each object is the first in the iteration order of
/// `asindices`, because the replay of the construction starts there.
fn finish_objects<'r>(
    run: &mut Run<'r>,
    cells: &[Cell],
    found: &[Component],
    flood: impl FnOnce(&mut Run<'r>, &'r [&'r [Cell]]) -> Outcome<&'r Flood<'r>>,
) -> Outcome<Value<'r>> {
    if found.is_empty() {
        return Ok(Value::Set(run.empty_set()?));
    }
    let lists: &'r mut [&'r [Cell]] = run.slice_filled(found.len(), &[][..])?;
    for (list, component) in lists.iter_mut().zip(found) {
        let range = component.start..component.end;
        let own = run.slice_filled(range.len(), cells[component.start])?;
        own.copy_from_slice(&cells[range]);
        own.swap(0, component.first - component.start);
        *list = own;
    }
    let flood = flood(run, lists)?;
    let objects = run.slice_filled(found.len(), Value::None)?;
    for (k, (place, component)) in objects.iter_mut().zip(found).enumerate() {
        let object = run.set(Elems::Cells(flood.objects[k]), Origin::Flood(flood))?;
        object.with_one_color_each(Some(true));
        object.with_bounds(Some(component.bounds));
        *place = Value::Set(object);
    }
    Ok(Value::Set(run.set(Elems::Values(objects), Origin::Frozen)?))
}

/// Returns the objects of any tuple of tuples, as Python finds them.
pub(super) fn general_objects<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    univalued: bool,
    diagonal: bool,
    background: Value<'r>,
) -> Outcome<Value<'r>> {
    let found = accepted_cells(run, grid, univalued, diagonal, background)?;
    let mut objects = Vec::with_capacity(found.len());
    for (start, mut cells) in found {
        if cells.is_empty() {
            // A nan differs from itself, but it is an object all the same.
            cells.push(start);
        }
        objects.push(Value::Set(run.build_frozen(&cells)?));
    }
    Ok(Value::Set(run.build_frozen(&objects)?))
}

/// Returns, for every object of a tuple of tuples in Python's order, the cell from which the search
/// starts and the cells that the flood fill accepts, in the order of the fill.
pub(super) fn accepted_cells<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    univalued: bool,
    diagonal: bool,
    background: Value<'r>,
) -> Outcome<Vec<(Value<'r>, Vec<Value<'r>>)>> {
    let (height, width) = dims(run, grid)?;
    let (height, width) = (height as usize, width as usize);
    let len = height.checked_mul(width).ok_or(Fault::Size)?;
    run.check_len(len)?;
    if len == 0 {
        return Ok(Vec::new());
    }
    if IntPair::fit(height as i64, width as i64).is_none() {
        return Err(Fault::Size);
    }
    let order = GridOrders::of(run, height, width).order;
    let mut occupied = vec![false; len];
    let mut count = 0;
    let mut found = Vec::new();
    let place = |p: u32| ((p as usize / width) as i64, (p as usize % width) as i64);
    let value_at = |run: &mut Run<'r>, p: u32| {
        let (i, j) = place(p);
        cell_at(run, grid, i, j)
    };
    let cell = |run: &mut Run<'r>, p: u32| {
        let color = value_at(run, p)?;
        let (i, j) = place(p);
        run.recell(color, Value::Int(i), Value::Int(j))
    };
    for &start in order.iter() {
        if occupied[start as usize] {
            continue;
        }
        let value = value_at(run, start)?;
        if run.eq(value, background) {
            continue;
        }
        let sequence = flood_sequence(
            run,
            (height, width),
            diagonal,
            start,
            &mut occupied,
            &mut count,
            |run, p| {
                let v = value_at(run, p)?;
                Ok(if univalued {
                    run.eq(value, v)
                } else {
                    !run.eq(v, background)
                })
            },
        )?;
        let mut cells = Vec::with_capacity(sequence.len());
        for p in sequence {
            cells.push(cell(run, p)?);
        }
        // The fill begins with the cell from which the search starts, if it accepts that cell.
        let first = match cells.first() {
            Some(&first) => first,
            None => cell(run, start)?,
        };
        found.push((first, cells));
    }
    Ok(found)
}

/// The iteration order of `asindices` for grids of one size, in which `objects` looks for unvisited
/// cells. It is computed once per size and thread.
#[derive(Clone)]
struct GridOrder {
    /// Positions, row by row, in iteration order.
    order: Rc<[u32]>,
    /// The rank of every position in that order.
    ranks: Rc<[u32]>,
}

/// The orders computed so far, for the sizes of ARC and their doubles.
#[derive(Default)]
pub(crate) struct GridOrders {
    known: Vec<Option<GridOrder>>,
    /// The orders of larger grids, the last one used first.
    large: Vec<((usize, usize), GridOrder)>,
}

/// The most cells, over all larger grids, whose order is cached. A cell takes eight bytes.
const LARGE_REMEMBERED: usize = 1 << 19;

/// The most rows and columns of a grid whose order is always cached.
const REMEMBERED_SIDE: usize = 64;

impl GridOrders {
    fn of(run: &mut Run<'_>, height: usize, width: usize) -> GridOrder {
        if height.max(width) > REMEMBERED_SIDE {
            let large = &mut run.scratch.grid_orders.large;
            if let Some(at) = large.iter().position(|(size, _)| *size == (height, width)) {
                large[..=at].rotate_right(1);
                return large[0].1.clone();
            }
            let order = GridOrder::new(height, width);
            large.insert(0, ((height, width), order.clone()));
            let mut cells = 0;
            large.retain(|((height, width), _)| {
                cells += height * width;
                cells <= LARGE_REMEMBERED
            });
            return order;
        }
        let known = &mut run.scratch.grid_orders.known;
        let at = (height * (REMEMBERED_SIDE + 1)) + width;
        if known.len() <= at {
            known.resize((REMEMBERED_SIDE + 1) * (REMEMBERED_SIDE + 1), None);
        }
        known[at]
            .get_or_insert_with(|| GridOrder::new(height, width))
            .clone()
    }
}

/// Returns, for every position of a grid, row by row, its rank in the iteration order of the set of
/// all locations. `objects` looks for cells that belong to no object yet in this order.
pub fn grid_ranks(height: usize, width: usize) -> Vec<u32> {
    GridOrder::new(height, width).ranks.to_vec()
}

impl GridOrder {
    fn new(height: usize, width: usize) -> GridOrder {
        let mut hashes = Vec::with_capacity(height * width);
        for i in 0..height {
            hashes.extend((0..width).map(|j| hash::pair(i as i16, j as i16)));
        }
        let mut table = Table::default();
        table.clear();
        table.add_new(&hashes, 0..hashes.len() as u32);
        let order: Rc<[u32]> = table.iter().collect();
        let mut ranks = vec![0; order.len()];
        for (rank, &p) in order.iter().enumerate() {
            ranks[p as usize] = rank as u32;
        }
        GridOrder {
            order,
            ranks: ranks.into(),
        }
    }
}

op! {
    /// The cells of a grid by colour: one object per colour.
    pub partition(grid: Grid) -> Objects;
    example "partition(((1, 0), (0, 0)))" => "frozenset({frozenset({(0, (0, 1)), (0, (1, 1)), (0, (1, 0))}), frozenset({(1, (0, 0))})})";
    fails "partition(THREE)";
    |run| {
        let colors = palette_set(run, grid)?;
        partition_by(run, grid, colors)
    }
}

op! {
    /// The cells of a grid by colour, without the most frequent one.
    ///
    /// Fails for an empty grid.
    pub fgpartition(grid: Grid) -> Objects;
    ordered "several colours that are equally frequent";
    example "fgpartition(((1, 0), (0, 0)))" => "frozenset({frozenset({(1, (0, 0))})})";
    fails "fgpartition(())";
    |run| {
        let colors = palette_set(run, grid)?;
        let background = mostcolor(run, grid)?;
        let background = run.build(&[background])?;
        let colors = run.set_minus(colors, background)?;
        partition_by(run, grid, colors)
    }
}

/// Returns *Build* of one object per colour, in the order of the set of colours.
pub(super) fn partition_by<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    colors: &'r Set<'r>,
) -> Outcome<Value<'r>> {
    let images = run.slice_filled(colors.len(), Value::None)?;
    if let Some(grid) = small_grid(run, grid) {
        run.spend(grid.cells.len() * colors.len() / 8)?;
        for (k, image) in images.iter_mut().enumerate() {
            let color = colors.elems.get(k).as_int().unwrap_or(-1);
            let mut cells = std::mem::take(&mut run.scratch.cells);
            cells.clear();
            for (i, row) in grid.rows().enumerate() {
                for (j, &c) in row.iter().enumerate() {
                    if i64::from(c) == color {
                        cells.push(Cell::new(c.into(), IntPair::new(i as i16, j as i16)));
                    }
                }
            }
            let object = run.build_distinct_cells(&cells);
            run.scratch.cells = cells;
            let object = object?;
            object.with_one_color_each(Some(true));
            *image = Value::Set(object);
        }
        // There is one object per colour, so all of them differ.
        let elems = run.compact(images)?;
        return Ok(Value::Set(run.set(elems, Origin::Map(colors))?));
    }
    for (k, image) in images.iter_mut().enumerate() {
        let color = colors.elems.get(k);
        let mut cells = Vec::new();
        for (i, &row) in run.items(grid)?.iter().enumerate() {
            for (j, &v) in run.items(row)?.iter().enumerate() {
                if run.eq(v, color) {
                    cells.push(run.recell(v, Value::Int(i as i64), Value::Int(j as i64))?);
                }
            }
        }
        *image = Value::Set(run.build(&cells)?);
    }
    Ok(Value::Set(run.set_map(colors, images)?))
}

op! {
    /// The places where an object occurs in a grid: the top left corners of its bounding box.
    ///
    /// Only the object's own cells are compared. An empty object occurs everywhere, up to one step
    /// beyond the last row and column. Fails for an empty grid, and for locations without colours.
    pub occurrences(grid: Grid, obj: Object) -> Indices;
    example "occurrences(((1, 2), (1, 2)), recolor(TWO, initset(ORIGIN)))" => "frozenset({(0, 1), (1, 1)})";
    fails "occurrences((), initset(ORIGIN))";
    |run| {
        if let Some(grid) = small_grid(run, grid)
            && let Value::Set(set) = obj
            && let Elems::Cells(cells) = set.elems
            && let Some(bounds) = set.bounds()
        {
            return compact_occurrences(run, grid, cells, bounds);
        }
        let normed = normalize(run, obj)?;
        let dims = dims(run, grid)?;
        let shape = super::measure::shape(run, obj)?;
        general_occurrences(run, grid, dims, normed, shape, shift)
    }
}

/// Returns the places where any object occurs in any grid. `normed` has been moved to the origin;
/// `shift` is the primitive of the dialect.
pub(super) fn general_occurrences<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    (height, width): (i64, i64),
    normed: Value<'r>,
    shape: Value<'r>,
    shift: impl Fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    let (tall, wide) = run.unpack2(shape)?;
    let (tall, wide) = (
        tall.as_int().ok_or(Fault::Type)?,
        wide.as_int().ok_or(Fault::Type)?,
    );
    let mut found = Vec::new();
    for i in 0..height.saturating_sub(tall).saturating_add(1) {
        for j in 0..width.saturating_sub(wide).saturating_add(1) {
            run.spend(1)?;
            let offset = run.int_pair(i, j)?;
            let placed = shift(run, normed, offset)?;
            let mut occurs = true;
            for &cell in run.items(placed)? {
                let (v, a, b) = run.uncell(cell)?;
                let same = match inside(a, b, height, width)? {
                    Some((a, b)) => {
                        let there = cell_at(run, grid, a, b)?;
                        run.eq(there, v)
                    }
                    None => false,
                };
                if !same {
                    occurs = false;
                    break;
                }
            }
            if occurs {
                found.push(offset);
            }
        }
    }
    Ok(Value::Set(run.build_frozen(&found)?))
}

fn compact_occurrences<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    cells: &'r [Cell],
    bounds: Bounds,
) -> Outcome<Value<'r>> {
    let (tall, wide) = (bounds.height() as usize, bounds.width() as usize);
    let mut found = std::mem::take(&mut run.scratch.pairs);
    found.clear();
    let mut work = cells.len() / 4;
    if tall <= grid.height && wide <= grid.width && grid.height.max(grid.width) <= MOST_PLACES {
        work += (grid.height - tall + 1) * (grid.width - wide + 1);
        for (i, mut places) in corners(grid, cells, bounds).into_iter().enumerate() {
            while places != 0 {
                found.push(IntPair::new(i as i16, places.trailing_zeros() as i16));
                places &= places - 1;
            }
        }
    } else if tall <= grid.height && wide <= grid.width {
        // Cells become offsets from the corner; a colour beyond a byte occurs nowhere.
        let offsets: Option<Vec<(u32, u8)>> = cells
            .iter()
            .map(|c| {
                let a = (i32::from(c.at.i) - i32::from(bounds.top)) as usize;
                let b = (i32::from(c.at.j) - i32::from(bounds.left)) as usize;
                Some(((a * grid.width + b) as u32, u8::try_from(c.color).ok()?))
            })
            .collect();
        if let Some(offsets) = offsets {
            for i in 0..=grid.height - tall {
                for j in 0..=grid.width - wide {
                    let corner = &grid.cells[i * grid.width + j..];
                    let miss = offsets.iter().position(|&(at, c)| corner[at as usize] != c);
                    work += miss.unwrap_or(offsets.len()) / 4 + 1;
                    if miss.is_none() {
                        found.push(IntPair::new(i as i16, j as i16));
                    }
                }
            }
        }
    }
    let pairs = run.slice(&found);
    run.scratch.pairs = found;
    run.spend(work)?;
    Ok(Value::Set(run.set(Elems::Pairs(pairs?), Origin::Frozen)?))
}

/// The most rows and columns of a grid whose rows are stored as one word each.
const MOST_PLACES: usize = 64;

/// A bit for each location of a grid, row by row.
type Places = [u64; MOST_PLACES];

/// Returns the locations where the upper left corner of an object may lie so that all of its cells
/// occur in the grid. The object is no larger than the grid. Each cell rules out corners, a whole
/// row of them at a time.
fn corners(grid: &GridView<'_>, cells: &[Cell], bounds: Bounds) -> Places {
    let rows = grid.height - bounds.height() as usize + 1;
    let columns = grid.width - bounds.width() as usize + 1;
    let mut corners = [0; MOST_PLACES];
    corners[..rows].fill(u64::MAX >> (64 - columns));
    // The places of the previous cell's colour, which is usually the next cell's colour too.
    let mut places = [0; MOST_PLACES];
    let mut color = None;
    for cell in cells {
        if color != Some(cell.color) {
            color = Some(cell.color);
            places = match u8::try_from(cell.color) {
                Ok(color) => places_of(grid, color),
                // A colour beyond a byte occurs nowhere.
                Err(_) => [0; MOST_PLACES],
            };
        }
        let down = (i32::from(cell.at.i) - i32::from(bounds.top)) as usize;
        let right = (i32::from(cell.at.j) - i32::from(bounds.left)) as usize;
        let mut left = 0;
        for (corners, places) in corners[..rows].iter_mut().zip(&places[down..]) {
            *corners &= places >> right;
            left |= *corners;
        }
        if left == 0 {
            break;
        }
    }
    corners
}

/// Returns the locations of a colour in a grid.
fn places_of(grid: &GridView<'_>, color: u8) -> Places {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    // Multiplication gathers the lowest bits of eight bytes.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let wanted = ONES * u64::from(color);
    let mut all = [0; MOST_PLACES];
    for (places, row) in all.iter_mut().zip(grid.rows()) {
        let (eights, rest) = row.as_chunks::<8>();
        for (k, eight) in eights.iter().enumerate() {
            let differ = u64::from_le_bytes(*eight) ^ wanted;
            // The highest bit of each byte that is zero.
            let equal = !((differ & !HIGH).wrapping_add(!HIGH) | differ) & HIGH;
            *places |= ((equal >> 7).wrapping_mul(GATHER) >> 56) << (8 * k);
        }
        for (j, &c) in (8 * eights.len()..).zip(rest) {
            *places |= u64::from(c == color) << j;
        }
    }
    all
}

op! {
    /// The rows and columns of a single colour, each as an object.
    ///
    /// Fails for an empty grid.
    pub frontiers(grid: Grid) -> Objects;
    example "frontiers(((1, 1), (0, 2)))" => "frozenset({frozenset({(1, (0, 1)), (1, (0, 0))})})";
    fails "frontiers(())";
    |run| {
        let (height, width) = dims(run, grid)?;
        let mut rows = Vec::new();
        for (i, &row) in run.items(grid)?.iter().enumerate() {
            if uniform(run, row)? {
                rows.push(line(run, grid, (0..width).map(|j| (i as i64, j)))?);
            }
        }
        let mut columns = Vec::new();
        let turned = super::mirror::dmirror(run, grid)?;
        for (j, &column) in run.items(turned)?.iter().enumerate() {
            if uniform(run, column)? {
                columns.push(line(run, grid, (0..height).map(|i| (i, j as i64)))?);
            }
        }
        let (rows, columns) = (run.build_frozen(&rows)?, run.build_frozen(&columns)?);
        Ok(Value::Set(run.set_union(rows, columns)?))
    }
}

/// Returns whether all elements are equal and there is at least one.
fn uniform<'r>(run: &mut Run<'r>, container: Value<'r>) -> Outcome<bool> {
    if let Value::Row(row) = container {
        return Ok(row
            .cells
            .first()
            .is_some_and(|f| row.cells.iter().all(|c| c == f)));
    }
    let items = run.items(container)?;
    Ok(match items.first() {
        Some(&first) => items.iter().all(|&item| run.eq_member(first, item)),
        None => false,
    })
}

/// Returns the cells of a grid at these locations, as Python builds them through a mutable set.
fn line<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    places: impl Iterator<Item = (i64, i64)>,
) -> Outcome<Value<'r>> {
    let mut cells = Vec::new();
    for (i, j) in places {
        let v = cell_at(run, grid, i, j)?;
        cells.push(run.recell(v, Value::Int(i), Value::Int(j))?);
    }
    Ok(Value::Set(run.build_frozen(&cells)?))
}

op! {
    /// The horizontal period of an object: the smallest shift to the left that maps it into itself.
    ///
    /// Cells that leave on the left are ignored. An object without a period gives its width.
    pub hperiod(obj: Object) -> Integer;
    example "hperiod(asobject(((1, 2, 1, 2, 1),)))" => "2";
    fails "hperiod(THREE)";
    |run| {
        let normed = normalize(run, obj)?;
        period(run, normed, Axis::Column, super::measure::width, shift)
    }
}

op! {
    /// The vertical period of an object: the smallest shift upward that maps it into itself.
    ///
    /// Cells that leave at the top are ignored. An object without a period gives its height.
    pub vperiod(obj: Object) -> Integer;
    example "vperiod(asobject(((1,), (1,))))" => "1";
    fails "vperiod(THREE)";
    |run| {
        let normed = normalize(run, obj)?;
        period(run, normed, Axis::Row, super::measure::height, shift)
    }
}

/// Returns the period of a patch that has been moved to the origin. `extent` measures it along the
/// axis; `extent` and `shift` are primitives of the dialect.
pub(super) fn period<'r>(
    run: &mut Run<'r>,
    normed: Value<'r>,
    axis: Axis,
    extent: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
    shift: impl Fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    if let Value::Set(set) = normed
        && let Elems::Cells(cells) = set.elems
        && let Some(bounds) = set.bounds()
    {
        let extent = axis.of(bounds.height(), bounds.width()) as i16;
        for p in 1..extent {
            run.spend(cells.len() / 2)?;
            let moved = |c: &Cell| match axis {
                Axis::Column => Cell::new(c.color, IntPair::new(c.at.i, c.at.j - p)),
                Axis::Row => Cell::new(c.color, IntPair::new(c.at.i - p, c.at.j)),
            };
            let fits = cells
                .iter()
                .map(moved)
                .all(|c| c.at.i < 0 || c.at.j < 0 || set.contains(run, Value::cell(c)));
            if fits {
                return Ok(Value::Int(p.into()));
            }
        }
        return Ok(Value::Int(extent.into()));
    }
    let extent = extent(run, normed)?;
    let extent_number = extent.as_int().ok_or(Fault::Type)?;
    for p in 1..extent_number {
        let offset = match axis {
            Axis::Column => run.int_pair(0, -p)?,
            Axis::Row => run.int_pair(-p, 0)?,
        };
        let moved = shift(run, normed, offset)?;
        let mut pruned = Vec::new();
        for &cell in run.items(moved)? {
            let (_, i, j) = run.uncell(cell)?;
            // `along >= 0`, which is false for a nan.
            let along = axis.of(i, j);
            if run.eq(along, Value::Int(0)) || run.lt(Value::Int(0), along)? {
                pruned.push(cell);
            }
        }
        let pruned = run.build(&pruned)?;
        let fits = match normed {
            Value::Set(set) => pruned.is_subset(run, set),
            _ => {
                let whole = run.items(normed)?;
                let whole = run.build(whole)?;
                pruned.is_subset(run, whole)
            }
        };
        if fits {
            return Ok(Value::Int(p));
        }
    }
    Ok(extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::run::{Limits, Workspace};

    #[test]
    fn rows_of_bits_find_the_same_occurrences() {
        let cells: Vec<u8> = (0..13 * 19).map(|k: u32| (k * k / 7 % 3) as u8).collect();
        let mut workspace = Workspace::new();
        let mut found = 0;
        for corner in 0..100u32 {
            // Parts of the grid with holes, and sometimes a colour that does not fit.
            let (i, j) = ((corner / 17 % 11) as i16, (corner % 17) as i16);
            let part = [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)].map(|(a, b)| {
                let at = IntPair::new(i + a, j + b);
                let color = cells[at.i as usize * 19 + at.j as usize];
                Cell::new(i32::from(color) + i32::from(corner % 5 == 4), at)
            });
            let outcome = workspace.run(Dialect::ArcDsl, &Limits::default(), |run| {
                let grid = run.input(13, 19, &cells)?;
                let object = Value::Set(run.build_distinct_cells(&part)?);
                let by_bits = occurrences(run, grid, object)?;
                let normed = normalize(run, object)?;
                let shape = crate::ops::measure::shape(run, object)?;
                let one_by_one = general_occurrences(run, grid, (13, 19), normed, shape, shift)?;
                assert_eq!(run.to_owned(by_bits)?, run.to_owned(one_by_one)?);
                run.len(by_bits)
            });
            found += outcome.expect("a set of places");
        }
        assert!(found > 100, "{found}");
    }

    /// A grid of more rows than a location can number, but without locations.
    #[test]
    fn rows_without_cells_have_no_objects() {
        let found = Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
            let rows = run.tuple(&[Value::EMPTY_TUPLE; 40_000])?;
            let (t, f) = (Value::bool(true), Value::bool(false));
            let objects = objects(run, rows, t, t, f)?;
            run.len(objects)
        });
        assert_eq!(found, Ok(0));
    }
}
