//! Mirror images, rotations and scaling.

use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Elems, Origin, Set};
use crate::table::Op;
use crate::value::{Cell, GridView, IntPair, Returned, Value};

use super::measure::{lrcorner, ulcorner};
use super::patch::{dims, holds_cells, shift, transform};

const FAMILY: &str = "mirror";

pub(super) const OPS: &[&Op] = &[
    &hmirror::OP,
    &vmirror::OP,
    &dmirror::OP,
    &cmirror::OP,
    &rot90::OP,
    &rot180::OP,
    &rot270::OP,
    &hupscale::OP,
    &vupscale::OP,
    &upscale::OP,
    &downscale::OP,
];

op! {
    /// The mirror image, top to bottom.
    ///
    /// Any tuple is treated as a grid and reversed. A patch is mirrored inside its bounding box.
    /// Fails for an empty set.
    #[inline(always)]
    pub hmirror(piece: Piece) -> Piece;
    example "hmirror(((1, 2), (3, 4)))" => "((3, 4), (1, 2))";
    fails "hmirror(ONE)";
    |run| {
        if let Value::Grid(grid) = piece
            && let Some(image) = run.quick_rows_upward(grid)
        {
            return Ok(image);
        }
        hmirror_general(run, piece).outcome()
    }
}

/// Does what `hmirror` does, for any value. It is a separate function so that a small grid does not
/// pay for its stack frame.
#[inline(never)]
fn hmirror_general<'r>(run: &mut Run<'r>, piece: Value<'r>) -> Returned<'r> {
    let image = |run: &mut Run<'r>| {
        if let Some(grid) = run.as_grid(piece) {
            let last = grid.height - 1;
            return run.grid_of_rows(grid.height, grid.width, |i| (grid.row(last - i), &[]));
        }
        if piece.is_tuple() {
            return reversed(run, piece);
        }
        if let Value::Set(set) = piece
            && let Some(b) = set.bounds()
            && let Some(image) = transform(run, Value::Set(set), |p| {
                Some(IntPair::new(mirrored(p.i, b.top, b.bottom)?, p.j))
            })?
        {
            return Ok(Value::Set(image));
        }
        let sum = edge_sum(run, piece, 0)?;
        patch_image(run, piece, |run, i, j| Ok((run.sub(sum, i)?, j)))
    };
    Returned::new(image(run))
}

op! {
    /// The mirror image, left to right.
    ///
    /// Any tuple is treated as a grid and its rows are reversed. A patch is mirrored inside its
    /// bounding box. Fails for an empty set, and for a row that is not a tuple.
    pub vmirror(piece: Piece) -> Piece;
    example "vmirror(((1, 2), (3, 4)))" => "((2, 1), (4, 3))";
    fails "vmirror((1, 2))";
    |run| {
        if let Some(grid) = run.as_grid(piece) {
            run.spend(grid.cells.len() / 8)?;
            let cells = run.slice_filled(grid.cells.len(), 0u8)?;
            cells.copy_from_slice(grid.cells);
            cells.chunks_exact_mut(grid.width).for_each(<[u8]>::reverse);
            return run.grid(grid.height, grid.width, cells);
        }
        if piece.is_tuple() {
            return flipped(run, piece);
        }
        if let Value::Set(set) = piece
            && let Some(b) = set.bounds()
            && let Some(image) = transform(run, Value::Set(set), |p| {
                Some(IntPair::new(p.i, mirrored(p.j, b.left, b.right)?))
            })?
        {
            return Ok(Value::Set(image));
        }
        let sum = edge_sum(run, piece, 1)?;
        patch_image(run, piece, |run, i, j| Ok((i, run.sub(sum, j)?)))
    }
}

op! {
    /// The mirror image along the main diagonal: rows become columns.
    ///
    /// Any tuple is treated as a grid; rows of unequal length are cut to the shortest. A patch
    /// keeps the upper left corner of its bounding box. Fails for an empty set.
    pub dmirror(piece: Piece) -> Piece;
    example "dmirror(((1, 2), (3, 4)))" => "((1, 3), (2, 4))";
    fails "dmirror((1, 2))";
    |run| {
        if let Some(grid) = run.as_grid(piece) {
            return run.grid_from(grid.width, grid.height, |i, j| grid.get(j, i));
        }
        if piece.is_tuple() {
            return transposed(run, piece);
        }
        if let Value::Set(set) = piece
            && let Some(b) = set.bounds()
            && let Some(image) = transform(run, Value::Set(set), |p| {
                Some(IntPair::new(
                    moved(p.j, b.left, b.top)?,
                    moved(p.i, b.top, b.left)?,
                ))
            })?
        {
            return Ok(Value::Set(image));
        }
        let corner = ulcorner(run, piece)?;
        let (top, left) = run.unpack2(corner)?;
        patch_image(run, piece, |run, i, j| {
            let (row, column) = (run.sub(j, left)?, run.sub(i, top)?);
            Ok((run.add(row, top)?, run.add(column, left)?))
        })
    }
}

op! {
    /// The mirror image along the other diagonal, from lower left to upper right.
    ///
    /// Any tuple is treated as a grid; rows of unequal length lose their beginning, down to the
    /// shortest. Fails for an empty set, and for a row that is not a tuple.
    pub cmirror(piece: Piece) -> Piece;
    example "cmirror(((1, 2), (3, 4)))" => "((4, 2), (3, 1))";
    fails "cmirror((1, 2))";
    |run| {
        if let Some(grid) = run.as_grid(piece) {
            let (last, end) = (grid.height - 1, grid.width - 1);
            return run.grid_from(grid.width, grid.height, |i, j| grid.get(last - j, end - i));
        }
        if piece.is_tuple() {
            let mut rows = reversed_rows(run, piece)?;
            rows.reverse();
            let columns = columns(run, &rows)?;
            return run.tuple(&columns);
        }
        // Python builds three sets one after the other, and the order of the last depends on all of
        // them.
        let piece = vmirror(run, piece)?;
        let piece = dmirror(run, piece)?;
        vmirror(run, piece)
    }
}

/// Returns `from + to - x`: the position mirrored in the range.
#[inline(always)]
fn mirrored(x: i16, from: i16, to: i16) -> Option<i16> {
    i16::try_from(i32::from(from) + i32::from(to) - i32::from(x)).ok()
}

/// Returns `x - from + to`.
#[inline(always)]
fn moved(x: i16, from: i16, to: i16) -> Option<i16> {
    i16::try_from(i32::from(x) - i32::from(from) + i32::from(to)).ok()
}

/// Returns `ulcorner(piece)[axis] + lrcorner(piece)[axis]`.
fn edge_sum<'r>(run: &mut Run<'r>, piece: Value<'r>, axis: i64) -> Outcome<Value<'r>> {
    let corner = ulcorner(run, piece)?;
    let low = run.at(corner, axis)?;
    let corner = lrcorner(run, piece)?;
    let high = run.at(corner, axis)?;
    run.add(low, high)
}

/// Returns *Build* of the mapped locations, with their colours if the patch has any, in its order.
fn patch_image<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    map: impl Fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Outcome<(Value<'r>, Value<'r>)>,
) -> Outcome<Value<'r>> {
    let cells = holds_cells(run, patch)?;
    image_of(run, patch, cells, map)
}

/// Returns *Build* of the mapped locations, or of the cells with mapped locations, in the order of
/// the patch.
pub(super) fn image_of<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    cells: bool,
    map: impl Fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Outcome<(Value<'r>, Value<'r>)>,
) -> Outcome<Value<'r>> {
    let mut image = Vec::new();
    for &element in run.items(patch)? {
        if cells {
            let (v, i, j) = run.uncell(element)?;
            let (i, j) = map(run, i, j)?;
            image.push(run.recell(v, i, j)?);
        } else {
            let (i, j) = run.unpack2(element)?;
            let (i, j) = map(run, i, j)?;
            image.push(run.pair(i, j)?);
        }
    }
    Ok(Value::Set(run.build(&image)?))
}

/// Returns `v[::-1]` of a tuple.
fn reversed<'r>(run: &mut Run<'r>, v: Value<'r>) -> Outcome<Value<'r>> {
    if !v.is_tuple() {
        return Err(Fault::Type);
    }
    let items = run.items(v)?;
    run.spend(items.len())?;
    let items = run.slice_from(items.iter().rev().copied())?;
    run.tuple_of(items)
}

/// Returns the elements of a container, each reversed.
pub(super) fn flipped<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<Value<'r>> {
    let rows = reversed_rows(run, grid)?;
    run.tuple(&rows)
}

/// Returns the columns of a container of rows.
pub(super) fn transposed<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<Value<'r>> {
    let rows = run.items(grid)?;
    let columns = columns(run, rows)?;
    run.tuple(&columns)
}

/// Returns `[row[::-1] for row in v]`.
fn reversed_rows<'r>(run: &mut Run<'r>, v: Value<'r>) -> Outcome<Vec<Value<'r>>> {
    let mut rows = Vec::new();
    for &row in run.items(v)? {
        run.spend(1)?;
        rows.push(reversed(run, row)?);
    }
    Ok(rows)
}

/// Returns `zip(*rows)`: the columns as tuples, one for each element of the shortest row.
fn columns<'r>(run: &mut Run<'r>, rows: &[Value<'r>]) -> Outcome<Vec<Value<'r>>> {
    let mut lines = Vec::with_capacity(rows.len());
    for &row in rows {
        lines.push(run.items(row)?);
    }
    let width = lines
        .iter()
        .map(|line| line.len())
        .min()
        .unwrap_or_default();
    let mut columns = Vec::new();
    let mut column = Vec::with_capacity(lines.len());
    for j in 0..width {
        // Rows may share their memory and columns do not, so the run is charged for each column.
        run.spend(lines.len())?;
        column.clear();
        column.extend(lines.iter().map(|line| line[j]));
        columns.push(run.tuple(&column)?);
    }
    Ok(columns)
}

/// Returns the rows of a tuple from the last to the first.
fn rows_upward<'r>(run: &mut Run<'r>, grid: Value<'r>) -> Outcome<Vec<Value<'r>>> {
    if !grid.is_tuple() {
        return Err(Fault::Type);
    }
    Ok(run.items(grid)?.iter().rev().copied().collect())
}

op! {
    /// The grid rotated by a quarter turn, clockwise.
    ///
    /// Rows of unequal length are cut to the shortest. Fails for anything but a tuple of
    /// containers.
    pub rot90(grid: Grid) -> Grid;
    example "rot90(((1, 2), (3, 4)))" => "((3, 1), (4, 2))";
    fails "rot90(initset(UNITY))";
    |run| {
        if let Some(grid) = run.as_grid(grid) {
            let last = grid.height - 1;
            return run.grid_from(grid.width, grid.height, |i, j| grid.get(last - j, i));
        }
        let rows = rows_upward(run, grid)?;
        let columns = columns(run, &rows)?;
        run.tuple(&columns)
    }
}

op! {
    /// The grid rotated by a half turn.
    ///
    /// Fails for anything but a tuple of tuples.
    pub rot180(grid: Grid) -> Grid;
    example "rot180(((1, 2), (3, 4)))" => "((4, 3), (2, 1))";
    fails "rot180((1, 2))";
    |run| {
        if let Some(grid) = run.as_grid(grid) {
            run.spend(grid.cells.len() / 8)?;
            let cells = run.slice_from(grid.cells.iter().rev().copied())?;
            return run.grid(grid.height, grid.width, cells);
        }
        if !grid.is_tuple() {
            return Err(Fault::Type);
        }
        let mut rows = reversed_rows(run, grid)?;
        rows.reverse();
        run.tuple(&rows)
    }
}

op! {
    /// The grid rotated by a quarter turn, anticlockwise.
    ///
    /// Rows of unequal length are cut to the shortest. Fails for anything but a tuple of
    /// containers.
    pub rot270(grid: Grid) -> Grid;
    example "rot270(((1, 2), (3, 4)))" => "((2, 4), (1, 3))";
    fails "rot270(initset(UNITY))";
    |run| {
        if let Some(grid) = run.as_grid(grid) {
            let end = grid.width - 1;
            return run.grid_from(grid.width, grid.height, |i, j| grid.get(j, end - i));
        }
        // Python reverses both the rows and the values of each column, so a column keeps its values
        // from top to bottom.
        if !grid.is_tuple() {
            return Err(Fault::Type);
        }
        let rows = run.items(grid)?;
        let mut columns = columns(run, rows)?;
        columns.reverse();
        run.tuple(&columns)
    }
}

op! {
    /// The grid with every column repeated a number of times.
    ///
    /// A factor below one leaves empty rows. Works on any container of containers and gives a tuple
    /// of tuples. Fails when the factor is needed and is not an integer.
    pub hupscale(grid: Grid, factor: Integer) -> Grid;
    example "hupscale(((1, 2), (3, 4)), TWO)" => "((1, 1, 2, 2), (3, 3, 4, 4))";
    fails "hupscale(((1, 2), (3, 4)), UNITY)";
    |run| {
        if let Some(times) = factor.as_int()
            && let Some(grid) = run.as_grid(grid)
        {
            return scaled(run, grid, 1, times);
        }
        let mut rows = Vec::new();
        for &row in run.items(grid)? {
            rows.push(widened(run, row, factor)?);
        }
        run.tuple(&rows)
    }
}

op! {
    /// The grid with every row repeated a number of times.
    ///
    /// A factor below one gives the empty tuple. Works on any container, whatever its elements, and
    /// gives a tuple. Fails when the factor is needed and is not an integer.
    pub vupscale(grid: Grid, factor: Integer) -> Grid;
    example "vupscale(((1, 2), (3, 4)), TWO)" => "((1, 2), (1, 2), (3, 4), (3, 4))";
    fails "vupscale(((1, 2), (3, 4)), UNITY)";
    |run| {
        if let Some(times) = factor.as_int()
            && let Some(grid) = run.as_grid(grid)
        {
            return scaled(run, grid, times, 1);
        }
        let mut rows = Vec::new();
        for &row in run.items(grid)? {
            repeat(run, &mut rows, row, factor)?;
        }
        run.tuple(&rows)
    }
}

op! {
    /// The grid or object enlarged: every cell becomes a square of cells.
    ///
    /// An object keeps the upper left corner of its bounding box. A factor below one leaves
    /// nothing: the empty tuple or the empty set. Fails for a set of locations without colours and
    /// when the factor is needed and is not an integer.
    pub upscale(element: Element, factor: Integer) -> Element;
    example "upscale(((1, 2),), TWO)" => "((1, 1, 2, 2), (1, 1, 2, 2))";
    fails "upscale(initset(UNITY), TWO)";
    |run| {
        if let Some(times) = factor.as_int() {
            if let Some(grid) = run.as_grid(element) {
                return scaled(run, grid, times, times);
            }
            if let Value::Set(set) = element
                && let Some(scaled) = scaled_object(run, set, times)?
            {
                return Ok(Value::Set(scaled));
            }
        }
        if element.is_tuple() {
            return upscaled_rows(run, element, factor);
        }
        upscaled_cells(run, element, factor, ulcorner, shift)
    }
}

/// Returns the rows of any container of containers, with every value and every row repeated.
pub(super) fn upscaled_rows<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    factor: Value<'r>,
) -> Outcome<Value<'r>> {
    let mut rows = Vec::new();
    for &row in run.items(grid)? {
        let row = widened(run, row, factor)?;
        repeat(run, &mut rows, row, factor)?;
    }
    run.tuple(&rows)
}

/// Enlarges any container of cells, with `ulcorner` and `shift` of the dialect.
pub(super) fn upscaled_cells<'r>(
    run: &mut Run<'r>,
    object: Value<'r>,
    factor: Value<'r>,
    ulcorner: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
    shift: impl Fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    if run.len(object)? == 0 {
        return Ok(Value::Set(run.empty_set()?));
    }
    let corner = ulcorner(run, object)?;
    let (top, left) = run.unpack2(corner)?;
    let (up, back) = (run.neg(top)?, run.neg(left)?);
    let offset = run.pair(up, back)?;
    let normal = shift(run, object, offset)?;
    let mut cells = Vec::new();
    for &cell in run.items(normal)? {
        let (v, i, j) = run.uncell(cell)?;
        let times = factor.as_int().ok_or(Fault::Type)?;
        let side = side(times);
        let more = side.checked_mul(side).ok_or(Fault::Size)?;
        run.check_len(more.saturating_add(cells.len()))?;
        run.spend(more)?;
        if more == 0 {
            continue;
        }
        let (i, j) = (run.mul(i, factor)?, run.mul(j, factor)?);
        for p in 0..times {
            for q in 0..times {
                let i = run.add(i, Value::Int(p))?;
                let j = run.add(j, Value::Int(q))?;
                cells.push(run.recell(v, i, j)?);
            }
        }
    }
    let scaled = run.build_frozen(&cells)?;
    let corner = run.pair(top, left)?;
    shift(run, Value::Set(scaled), corner)
}

/// Returns a factor as a number of repetitions.
fn side(times: i64) -> usize {
    usize::try_from(times).unwrap_or_default()
}

/// Returns a grid with rows and columns repeated.
fn scaled<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    down: i64,
    across: i64,
) -> Outcome<Value<'r>> {
    let (down, across) = (side(down), side(across));
    let height = grid.height.checked_mul(down).ok_or(Fault::Size)?;
    let width = grid.width.checked_mul(across).ok_or(Fault::Size)?;
    let len = height.checked_mul(width).ok_or(Fault::Size)?;
    run.check_len(len)?;
    run.spend(len / 8 + 1)?;
    if len == 0 {
        return run.grid(height, width, &[]);
    }
    let cells = run.slice_filled(len, 0u8)?;
    for (places, row) in cells.chunks_exact_mut(width * down).zip(grid.rows()) {
        let (first, others) = places.split_at_mut(width);
        if across == 1 {
            first.copy_from_slice(row);
        } else {
            for (place, &c) in first.chunks_exact_mut(across).zip(row) {
                place.fill(c);
            }
        }
        for other in others.chunks_exact_mut(width) {
            other.copy_from_slice(first);
        }
    }
    run.grid(height, width, cells)
}

/// Returns the row with every value repeated. An empty row does not read the factor.
fn widened<'r>(run: &mut Run<'r>, row: Value<'r>, factor: Value<'r>) -> Outcome<Value<'r>> {
    let mut wide = Vec::new();
    for &v in run.items(row)? {
        repeat(run, &mut wide, v, factor)?;
    }
    run.tuple(&wide)
}

/// Appends a value `factor` times.
fn repeat<'r>(
    run: &mut Run<'r>,
    values: &mut Vec<Value<'r>>,
    v: Value<'r>,
    factor: Value<'r>,
) -> Outcome<()> {
    let times = side(factor.as_int().ok_or(Fault::Type)?);
    let len = values.len().checked_add(times).ok_or(Fault::Size)?;
    run.check_len(len)?;
    run.spend(times + 1)?;
    values.resize(len, v);
    Ok(())
}

/// Enlarges an object in compact form. Returns `None` if the object or the result is not in that
/// form.
fn scaled_object<'r>(
    run: &mut Run<'r>,
    set: &'r Set<'r>,
    times: i64,
) -> Outcome<Option<&'r Set<'r>>> {
    let (Elems::Cells(_), Some(bounds)) = (set.elems, set.bounds()) else {
        return Ok(None);
    };
    let side = side(times);
    let len = side
        .checked_mul(side)
        .and_then(|square| square.checked_mul(set.len()))
        .ok_or(Fault::Size)?;
    if len == 0 {
        return run.empty_set().map(Some);
    }
    run.check_len(len)?;
    run.spend(len)?;
    let back = |p: IntPair| {
        Some(IntPair::new(
            p.i.checked_sub(bounds.top)?,
            p.j.checked_sub(bounds.left)?,
        ))
    };
    let Some(normal) = transform(run, Value::Set(set), back)? else {
        return Ok(None);
    };
    let Elems::Cells(cells) = normal.elems else {
        return Ok(None);
    };
    let (height, width) = (bounds.height() * times, bounds.width() * times);
    let Some(extent) = IntPair::fit(height, width) else {
        return Ok(None);
    };
    // The extent bounds every coordinate and fits 16 bits, so the factor does too.
    let times = times as i16;
    let order = normal.order(run)?;
    let squares = run.slice_filled(len, Cell::new(0, extent))?;
    let mut places = squares.iter_mut();
    for &k in order {
        let Cell { color, at } = cells[k as usize];
        for p in 0..times {
            for q in 0..times {
                if let Some(place) = places.next() {
                    let at = IntPair::new(at.i * times + p, at.j * times + q);
                    *place = Cell::new(color, at);
                }
            }
        }
    }
    // Different cells have different squares, so all of these cells are distinct.
    let frozen = run.set(Elems::Cells(squares), Origin::Frozen)?;
    frozen.with_one_color_each(set.known_one_color_each());
    transform(run, Value::Set(frozen), |p| {
        Some(IntPair::new(
            p.i.checked_add(bounds.top)?,
            p.j.checked_add(bounds.left)?,
        ))
    })
}

op! {
    /// Every n-th row and column of a grid, beginning with the first.
    ///
    /// A negative factor counts like a positive one. Rows are read up to the width of the first.
    /// Fails for a factor of zero, for an empty grid, and when any row is too short, even one that
    /// is dropped.
    pub downscale(grid: Grid, factor: Integer) -> Grid;
    example "downscale(((1, 1, 2), (1, 1, 2), (3, 3, 4)), TWO)" => "((1, 2), (3, 4))";
    fails "downscale(((1, 2), (3, 4)), ZERO)";
    |run| {
        let (height, width) = dims(run, grid)?;
        let step = match factor {
            // Divided by an infinity, only zero has the remainder zero. Divided by a nan, no number
            // has it.
            Value::Float(x) if x.get().is_infinite() => usize::MAX,
            Value::Float(x) if x.get().is_nan() => return Ok(Value::EMPTY_TUPLE),
            _ => match factor.integral().ok_or(Fault::Type)?.unsigned_abs() {
                0 => return Err(Fault::ZeroDivision),
                step => usize::try_from(step).unwrap_or(usize::MAX),
            },
        };
        if let Some(grid) = run.as_grid(grid) {
            return run.grid_from(
                grid.height.div_ceil(step),
                grid.width.div_ceil(step),
                |i, j| grid.get(i * step, j * step),
            );
        }
        let mut rows = Vec::new();
        let mut values = Vec::new();
        for i in 0..height as usize {
            run.spend(width as usize / step + 1)?;
            values.clear();
            if width > 0 {
                let row = run.item(grid, i)?;
                for j in (0..width).step_by(step) {
                    values.push(run.at(row, j)?);
                }
            }
            if i % step == 0 {
                rows.push(run.tuple(&values)?);
            }
        }
        run.tuple(&rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::run::{Limits, Workspace};

    #[test]
    fn factors_that_grow_past_the_limit_fail_at_once() {
        Workspace::new()
            .run(Dialect::ArcDsl, &Limits::default(), |run| {
                let grid = run.input(1, 2, &[1, 2])?;
                let ragged =
                    run.tuple(&[Value::EMPTY_TUPLE, Value::pair(IntPair::new(1, 1)), grid])?;
                let cell = Value::cell(Cell::new(1, IntPair::new(0, 0)));
                let object = Value::Set(run.build(&[cell])?);
                let odd = run.pair(Value::bool(true), Value::pair(IntPair::new(0, 0)))?;
                let odd = Value::Set(run.build(&[odd])?);
                for factor in [1_000_000_000, i64::MAX] {
                    let factor = Value::Int(factor);
                    for v in [grid, ragged] {
                        assert_eq!(hupscale(run, v, factor).err(), Some(Fault::Size));
                        assert_eq!(vupscale(run, v, factor).err(), Some(Fault::Size));
                    }
                    for v in [grid, ragged, object, odd] {
                        assert_eq!(upscale(run, v, factor).err(), Some(Fault::Size));
                    }
                }
                Ok::<_, Fault>(())
            })
            .expect("the values fit");
    }
}
