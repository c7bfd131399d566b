//! Measures of patches and grids, and the relative position of two patches.
//!
//! Nearly all of them follow from the bounding box, which a patch in compact form caches. The
//! general code behind each fast path accepts whatever Python accepts: tuples as patches, bools as
//! coordinates, sets of mixed elements.

use std::cmp::Ordering;

use super::patch::{shift, toindices};
use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Bounds, Elems, Set};
use crate::table::Op;
use crate::value::{GridView, IntPair, Value};

const FAMILY: &str = "measure";

pub(super) const OPS: &[&Op] = &[
    &uppermost::OP,
    &lowermost::OP,
    &leftmost::OP,
    &rightmost::OP,
    &ulcorner::OP,
    &urcorner::OP,
    &llcorner::OP,
    &lrcorner::OP,
    &height::OP,
    &width::OP,
    &shape::OP,
    &portrait::OP,
    &square::OP,
    &vline::OP,
    &hline::OP,
    &center::OP,
    &centerofmass::OP,
    &hmatching::OP,
    &vmatching::OP,
    &manhattan::OP,
    &adjacent::OP,
    &bordering::OP,
    &position::OP,
    &gravitate::OP,
];

/// A coordinate of a location.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Row,
    Column,
}

impl Axis {
    #[inline(always)]
    pub(super) fn of<T>(self, i: T, j: T) -> T {
        match self {
            Axis::Row => i,
            Axis::Column => j,
        }
    }
}

/// Returns the bounding box of a non-empty patch in compact form.
#[inline(always)]
pub(super) fn bounds(patch: Value<'_>) -> Option<Bounds> {
    patch.as_set()?.bounds()
}

/// Returns the locations of a patch in compact form, in no particular order. A location of several
/// colours occurs several times.
fn locations<'r>(set: &'r Set<'r>) -> Option<impl Iterator<Item = IntPair> + Clone + 'r> {
    let (pairs, cells): (&[_], &[_]) = match set.elems {
        Elems::Pairs(pairs) => (pairs, &[]),
        Elems::Cells(cells) => (&[], cells),
        Elems::Values(_) => return None,
    };
    Some(pairs.iter().copied().chain(cells.iter().map(|c| c.at)))
}

/// Returns `next` if it is strictly better, otherwise `best`.
fn better<'r>(
    run: &mut Run<'r>,
    best: Value<'r>,
    next: Value<'r>,
    wanted: Ordering,
) -> Outcome<Value<'r>> {
    let replace = match wanted {
        Ordering::Greater => run.lt(best, next)?,
        _ => run.lt(next, best)?,
    };
    Ok(if replace { next } else { best })
}

/// Returns the smallest or largest coordinate of any patch, as Python finds it.
#[cold]
fn extreme<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    axis: Axis,
    wanted: Ordering,
) -> Outcome<Value<'r>> {
    if let Value::Grid(grid) = patch
        && grid.width > 2
    {
        // Python takes every row for a location, and the first one is not a pair.
        return Err(Fault::Value);
    }
    let locations = toindices(run, patch)?;
    extreme_of(run, locations, axis, wanted)
}

/// Returns the smallest or largest coordinate of locations of any kind.
pub(super) fn extreme_of<'r>(
    run: &mut Run<'r>,
    locations: Value<'r>,
    axis: Axis,
    wanted: Ordering,
) -> Outcome<Value<'r>> {
    let mut best = None;
    for &at in run.items(locations)? {
        let (i, j) = run.unpack2(at)?;
        let next = axis.of(i, j);
        best = Some(match best {
            None => next,
            Some(best) => better(run, best, next, wanted)?,
        });
    }
    best.ok_or(Fault::Value)
}

op! {
    /// The smallest row of a patch.
    ///
    /// Fails for an empty patch.
    pub uppermost(patch: Patch) -> Integer;
    example "uppermost(connect((2, 5), (4, 5)))" => "2";
    fails "uppermost(())";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::Int(b.top.into())),
            None => extreme(run, patch, Axis::Row, Ordering::Less),
        }
    }
}

op! {
    /// The largest row of a patch.
    ///
    /// Fails for an empty patch.
    pub lowermost(patch: Patch) -> Integer;
    example "lowermost(connect((2, 5), (4, 5)))" => "4";
    fails "lowermost(())";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::Int(b.bottom.into())),
            None => extreme(run, patch, Axis::Row, Ordering::Greater),
        }
    }
}

op! {
    /// The smallest column of a patch.
    ///
    /// Fails for an empty patch.
    pub leftmost(patch: Patch) -> Integer;
    example "leftmost(connect((2, 5), (2, 8)))" => "5";
    fails "leftmost(())";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::Int(b.left.into())),
            None => extreme(run, patch, Axis::Column, Ordering::Less),
        }
    }
}

op! {
    /// The largest column of a patch.
    ///
    /// Fails for an empty patch.
    pub rightmost(patch: Patch) -> Integer;
    example "rightmost(connect((2, 5), (2, 8)))" => "8";
    fails "rightmost(())";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::Int(b.right.into())),
            None => extreme(run, patch, Axis::Column, Ordering::Greater),
        }
    }
}

/// Returns the extremes of every column of any patch, as Python finds them. `rows` is the wanted
/// extreme of the first column, `columns` that of the second column. Further columns have an answer
/// only if the two agree.
#[cold]
fn corner<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    rows: Ordering,
    columns: Ordering,
) -> Outcome<Value<'r>> {
    if let Value::Grid(grid) = patch
        && grid.width > 1
    {
        wanted(grid.width - 1, rows, columns)?;
        return by_column(run, grid, |k, column| match wanted(k, rows, columns) {
            Ok(Ordering::Greater) => column.max(),
            _ => column.min(),
        });
    }
    let locations = toindices(run, patch)?;
    corner_of(run, locations, rows, columns)
}

/// Returns the extreme of column `k` that a corner takes.
fn wanted(k: usize, rows: Ordering, columns: Ordering) -> Outcome<Ordering> {
    match k {
        0 => Ok(rows),
        1 => Ok(columns),
        _ if rows == columns => Ok(rows),
        // Python looks a third column up in a dictionary with entries for two.
        _ => Err(Fault::Key),
    }
}

/// Returns the extremes of every column of locations of any kind.
pub(super) fn corner_of<'r>(
    run: &mut Run<'r>,
    locations: Value<'r>,
    rows: Ordering,
    columns: Ordering,
) -> Outcome<Value<'r>> {
    let mut corner = Vec::new();
    for (k, column) in run.columns(locations)?.into_iter().enumerate() {
        let wanted = wanted(k, rows, columns)?;
        let mut values = column.into_iter();
        let mut best = values.next().ok_or(Fault::Value)?;
        for next in values {
            best = better(run, best, next, wanted)?;
        }
        corner.push(best);
    }
    run.tuple(&corner)
}

/// Returns one number per column of a grid.
fn by_column<'r>(
    run: &mut Run<'r>,
    grid: &'r GridView<'r>,
    number: impl Fn(usize, &mut dyn Iterator<Item = u8>) -> Option<u8>,
) -> Outcome<Value<'r>> {
    run.spend(grid.cells.len())?;
    let numbers = run.slice_filled(grid.width, 0)?;
    for (k, place) in numbers.iter_mut().enumerate() {
        let mut column = grid.cells.iter().skip(k).step_by(grid.width).copied();
        *place = number(k, &mut column).unwrap_or_default();
    }
    run.row(numbers)
}

op! {
    /// The upper left corner of the bounding box of a patch.
    ///
    /// An empty patch gives the empty tuple. A grid of two or more columns is read as a collection
    /// of locations and gives the smallest number of every column.
    pub ulcorner(patch: Patch) -> Pair;
    example "ulcorner(connect((1, 4), (3, 2)))" => "(1, 2)";
    fails "ulcorner(THREE)";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::pair(IntPair::new(b.top, b.left))),
            None => corner(run, patch, Ordering::Less, Ordering::Less),
        }
    }
}

op! {
    /// The upper right corner of the bounding box of a patch.
    ///
    /// An empty patch gives the empty tuple. Fails for a grid of more than two columns.
    pub urcorner(patch: Patch) -> Pair;
    example "urcorner(connect((1, 4), (3, 2)))" => "(1, 4)";
    fails "urcorner(((1, 2, 3), (4, 5, 6)))";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::pair(IntPair::new(b.top, b.right))),
            None => corner(run, patch, Ordering::Less, Ordering::Greater),
        }
    }
}

op! {
    /// The lower left corner of the bounding box of a patch.
    ///
    /// An empty patch gives the empty tuple. Fails for a grid of more than two columns.
    pub llcorner(patch: Patch) -> Pair;
    example "llcorner(connect((1, 4), (3, 2)))" => "(3, 2)";
    fails "llcorner(((1, 2, 3), (4, 5, 6)))";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::pair(IntPair::new(b.bottom, b.left))),
            None => corner(run, patch, Ordering::Greater, Ordering::Less),
        }
    }
}

op! {
    /// The lower right corner of the bounding box of a patch.
    ///
    /// An empty patch gives the empty tuple. A grid of two or more columns is read as a collection
    /// of locations and gives the largest number of every column.
    pub lrcorner(patch: Patch) -> Pair;
    example "lrcorner(connect((1, 4), (3, 2)))" => "(3, 4)";
    fails "lrcorner(THREE)";
    |run| {
        match bounds(patch) {
            Some(b) => Ok(Value::pair(IntPair::new(b.bottom, b.right))),
            None => corner(run, patch, Ordering::Greater, Ordering::Greater),
        }
    }
}

/// Returns the number of rows of a grid or of the bounding box of a patch.
fn height_of<'r>(run: &mut Run<'r>, piece: Value<'r>) -> Outcome<i64> {
    if let Some(b) = bounds(piece) {
        return Ok(b.height());
    }
    let len = run.len(piece)?;
    if len == 0 || piece.is_tuple() {
        return Ok(len as i64);
    }
    let bottom = lowermost(run, piece)?;
    let top = uppermost(run, piece)?;
    extent(run, top, bottom)
}

/// Returns the number of columns of a grid (of its first row) or of the bounding box of a patch.
fn width_of<'r>(run: &mut Run<'r>, piece: Value<'r>) -> Outcome<i64> {
    match piece {
        Value::Grid(grid) => return Ok(grid.width as i64),
        Value::Set(set) => {
            if let Some(b) = set.bounds() {
                return Ok(b.width());
            }
        }
        _ => {}
    }
    if run.len(piece)? == 0 {
        return Ok(0);
    }
    if piece.is_tuple() {
        let first = run.item(piece, 0)?;
        return Ok(run.len(first)? as i64);
    }
    let right = rightmost(run, piece)?;
    let left = leftmost(run, piece)?;
    extent(run, left, right)
}

/// Returns `to - from + 1`, or a fault if that is not an integer.
fn extent<'r>(run: &mut Run<'r>, from: Value<'r>, to: Value<'r>) -> Outcome<i64> {
    let distance = run.sub(to, from)?;
    let extent = run.add(distance, Value::Int(1))?;
    extent.as_int().ok_or(Fault::Type)
}

op! {
    /// The number of rows of a grid, or of the bounding box of a patch.
    ///
    /// An empty grid or patch gives 0.
    pub height(piece: Piece) -> Integer;
    example "height(((1, 2, 3), (4, 5, 6)))" => "2";
    fails "height(THREE)";
    |run| { height_of(run, piece).map(Value::Int) }
}

op! {
    /// The number of columns of a grid, or of the bounding box of a patch.
    ///
    /// An empty grid or patch gives 0; of a grid only the first row is measured.
    pub width(piece: Piece) -> Integer;
    example "width(((1, 2, 3), (4, 5, 6)))" => "3";
    fails "width(THREE)";
    |run| { width_of(run, piece).map(Value::Int) }
}

op! {
    /// Height and width of a grid, or of the bounding box of a patch.
    ///
    /// An empty grid or patch gives `(0, 0)`.
    pub shape(piece: Piece) -> Pair;
    example "shape(((1, 2, 3), (4, 5, 6)))" => "(2, 3)";
    fails "shape(THREE)";
    |run| {
        let height = height_of(run, piece)?;
        let width = width_of(run, piece)?;
        run.int_pair(height, width)
    }
}

op! {
    /// Whether the grid or patch has more rows than columns.
    pub portrait(piece: Piece) -> Boolean;
    example "portrait(((1, 2, 3), (4, 5, 6)))" => "False";
    fails "portrait(THREE)";
    |run| {
        let height = height_of(run, piece)?;
        Ok(Value::bool(height > width_of(run, piece)?))
    }
}

op! {
    /// Whether a grid has as many rows as columns, or a patch fills a square box.
    ///
    /// True for the empty set. Fails for the empty tuple.
    pub square(piece: Piece) -> Boolean;
    example "square(asindices(((1, 2), (3, 4))))" => "True";
    fails "square(())";
    |run| {
        if piece.is_tuple() {
            let height = run.len(piece)?;
            let width = match piece {
                Value::Grid(grid) => grid.width,
                _ => {
                    let first = run.at(piece, 0)?;
                    run.len(first)?
                }
            };
            return Ok(Value::bool(height == width));
        }
        let (height, width) = (height_of(run, piece)?, width_of(run, piece)?);
        let len = run.len(piece)? as i64;
        // A product beyond 64 bits is not the size of any patch.
        let full = height.checked_mul(width) == Some(len);
        Ok(Value::bool(full && height == width))
    }
}

op! {
    /// Whether a patch is a vertical line: one column without gaps.
    ///
    /// False for an empty patch, and for an object with two colours at one location. True for a
    /// grid of a single column.
    pub vline(patch: Patch) -> Boolean;
    example "vline(connect(ORIGIN, (3, 0)))" => "True";
    fails "vline(THREE)";
    |run| {
        let height = height_of(run, patch)?;
        let full = height == run.len(patch)? as i64;
        Ok(Value::bool(full && width_of(run, patch)? == 1))
    }
}

op! {
    /// Whether a patch is a horizontal line: one row without gaps.
    ///
    /// False for an empty patch, and for an object with two colours at one location. The only grid
    /// that is a horizontal line is a single cell.
    pub hline(patch: Patch) -> Boolean;
    example "hline(connect(ORIGIN, (0, 3)))" => "True";
    fails "hline(THREE)";
    |run| {
        let width = width_of(run, patch)?;
        let full = width == run.len(patch)? as i64;
        Ok(Value::bool(full && height_of(run, patch)? == 1))
    }
}

/// Returns the middle of a box; the lower right one if there are two or four.
fn middle(b: Bounds) -> (i64, i64) {
    (
        i64::from(b.top) + b.height() / 2,
        i64::from(b.left) + b.width() / 2,
    )
}

/// Returns the centre of any patch, as numbers.
fn center_of<'r>(run: &mut Run<'r>, patch: Value<'r>) -> Outcome<(i64, i64)> {
    if let Some(b) = bounds(patch) {
        return Ok(middle(b));
    }
    let top = uppermost(run, patch)?;
    let height = height_of(run, patch)?;
    let i = run.add(top, Value::Int(height / 2))?;
    let left = leftmost(run, patch)?;
    let width = width_of(run, patch)?;
    let j = run.add(left, Value::Int(width / 2))?;
    Ok((
        i.as_int().ok_or(Fault::Type)?,
        j.as_int().ok_or(Fault::Type)?,
    ))
}

op! {
    /// The centre of the bounding box.
    ///
    /// If there are two middle rows or columns, the later one counts. Fails for an empty patch.
    pub center(patch: Patch) -> Pair;
    example "center(connect(ORIGIN, (0, 3)))" => "(0, 2)";
    fails "center(())";
    |run| {
        let (i, j) = center_of(run, patch)?;
        run.int_pair(i, j)
    }
}

op! {
    /// The mean location of a patch, rounded down.
    ///
    /// The sum runs over distinct locations but is divided by the number of elements: an object
    /// with several colours at one location drifts towards the origin. An empty patch gives the
    /// empty tuple; a grid of two or more columns gives the mean of every column.
    pub centerofmass(patch: Patch) -> Pair;
    example "centerofmass(insert((9, 9), connect(ORIGIN, RIGHT)))" => "(3, 3)";
    fails "centerofmass(THREE)";
    |run| {
        if let Value::Set(set) = patch
            && set.len() > 0
            && (matches!(set.elems, Elems::Pairs(_)) || set.one_color_each(run))
            && let Some(locations) = locations(set)
        {
            run.spend(set.len() / 8)?;
            let (i, j) = locations.fold((0, 0), |(i, j), p| {
                (i + i64::from(p.i), j + i64::from(p.j))
            });
            let len = set.len() as i64;
            return run.int_pair(i.div_euclid(len), j.div_euclid(len));
        }
        if let Value::Grid(grid) = patch
            && grid.width > 1
        {
            let len = grid.height as u64;
            return by_column(run, grid, |_, column| {
                (column.map(u64::from).sum::<u64>() / len).try_into().ok()
            });
        }
        let locations = toindices(run, patch)?;
        let len = run.len(patch)?;
        means(run, locations, len)
    }
}

/// Returns the sum of every column of locations of any kind, divided by `len`.
pub(super) fn means<'r>(run: &mut Run<'r>, locations: Value<'r>, len: usize) -> Outcome<Value<'r>> {
    let len = Value::Int(len as i64);
    let mut means = Vec::new();
    for column in run.columns(locations)? {
        let mut sum = Value::Int(0);
        for value in column {
            sum = run.add(sum, value)?;
        }
        means.push(run.fdiv(sum, len)?);
    }
    run.tuple(&means)
}

/// The most rows or columns that are compared as bit masks.
const MASK: usize = u128::BITS as usize;

/// Returns whether two patches have a row or column in common.
fn matching<'r>(run: &mut Run<'r>, a: Value<'r>, b: Value<'r>, axis: Axis) -> Outcome<bool> {
    if let (Value::Set(a), Value::Set(b)) = (a, b)
        && let (Some(box_a), Some(box_b)) = (a.bounds(), b.bounds())
        && let (Some(in_a), Some(in_b)) = (locations(a), locations(b))
    {
        let from = axis
            .of(box_a.top, box_a.left)
            .max(axis.of(box_b.top, box_b.left));
        let to = axis
            .of(box_a.bottom, box_a.right)
            .min(axis.of(box_b.bottom, box_b.right));
        if from > to {
            return Ok(false);
        }
        run.spend((a.len() + b.len()) / 8)?;
        let place = |p: IntPair| {
            let x = axis.of(p.i, p.j);
            (from <= x && x <= to).then(|| (i32::from(x) - i32::from(from)) as usize)
        };
        let (mut in_a, mut in_b) = (in_a.filter_map(place), in_b.filter_map(place));
        let span = (i32::from(to) - i32::from(from)) as usize + 1;
        if span <= MASK {
            let mask = in_a.fold(0u128, |mask, x| mask | 1 << x);
            return Ok(in_b.any(|x| mask >> x & 1 != 0));
        }
        let mut seen = vec![false; span];
        in_a.by_ref().for_each(|x| seen[x] = true);
        return Ok(in_b.any(|x| seen[x]));
    }
    let a = toindices(run, a)?;
    let a = coordinates(run, a, axis)?;
    let b = toindices(run, b)?;
    let b = coordinates(run, b, axis)?;
    Ok(run.set_inter(a, b)?.len() > 0)
}

/// Returns the rows or columns of locations of any kind.
pub(super) fn coordinates<'r>(
    run: &mut Run<'r>,
    locations: Value<'r>,
    axis: Axis,
) -> Outcome<&'r Set<'r>> {
    let mut values = Vec::new();
    for &at in run.items(locations)? {
        let (i, j) = run.unpack2(at)?;
        values.push(axis.of(i, j));
    }
    run.build(&values)
}

op! {
    /// Whether two patches have a row in common.
    ///
    /// False if one of them is empty.
    pub hmatching(a: Patch, b: Patch) -> Boolean;
    example "hmatching(initset(ORIGIN), initset((0, 5)))" => "True";
    fails "hmatching(THREE, initset(ORIGIN))";
    |run| { matching(run, a, b, Axis::Row).map(Value::bool) }
}

op! {
    /// Whether two patches have a column in common.
    ///
    /// False if one of them is empty.
    pub vmatching(a: Patch, b: Patch) -> Boolean;
    example "vmatching(initset(ORIGIN), initset((0, 5)))" => "False";
    fails "vmatching(THREE, initset(ORIGIN))";
    |run| { matching(run, a, b, Axis::Column).map(Value::bool) }
}

/// The number of points that are compared with others at a time.
const CHUNK: usize = 128;
/// Chunks are padded to a multiple of this, so that the inner loop has no remainder.
const LANES: usize = 8;

/// Returns the smallest distance between two groups of points whose common box measures less than
/// 2^15 around, so that every distance fits 16 bits; `i16::MAX` if a group is empty.
fn nearest(
    few: impl Iterator<Item = IntPair> + Clone,
    mut many: impl Iterator<Item = IntPair>,
) -> i16 {
    let mut best = i16::MAX;
    let (mut rows, mut columns) = ([0i16; CHUNK], [0i16; CHUNK]);
    loop {
        let mut len = 0usize;
        for ((i, j), p) in rows
            .iter_mut()
            .zip(&mut columns)
            .zip(many.by_ref().take(CHUNK))
        {
            (*i, *j) = (p.i, p.j);
            len += 1;
        }
        if len == 0 {
            return best;
        }
        let padded = len.next_multiple_of(LANES).min(CHUNK);
        let (first_i, first_j) = (rows[0], columns[0]);
        rows[len..padded].fill(first_i);
        columns[len..padded].fill(first_j);
        for p in few.clone() {
            let near = rows[..padded]
                .iter()
                .zip(&columns[..padded])
                .map(|(&i, &j)| {
                    let (di, dj) = (i.wrapping_sub(p.i), j.wrapping_sub(p.j));
                    di.wrapping_abs().wrapping_add(dj.wrapping_abs())
                })
                .fold(i16::MAX, i16::min);
            best = best.min(near);
            if best == 0 {
                return 0;
            }
        }
    }
}

/// Returns the distance of two points that may lie anywhere.
fn distance(a: IntPair, b: IntPair) -> i64 {
    let difference = |x: i16, y: i16| (i64::from(x) - i64::from(y)).abs();
    difference(a.i, b.i) + difference(a.j, b.j)
}

/// Returns whether the common box of two boxes is small enough for [`nearest`].
fn are_close(a: Bounds, b: Bounds) -> bool {
    let span = |from: i16, to: i16| i64::from(to) - i64::from(from);
    let height = span(a.top.min(b.top), a.bottom.max(b.bottom));
    let width = span(a.left.min(b.left), a.right.max(b.right));
    height + width < i16::MAX.into()
}

/// Returns the distance of any two patches, as Python finds it. `toindices` is the primitive of the
/// dialect.
#[cold]
pub(super) fn manhattan_general<'r>(
    run: &mut Run<'r>,
    a: Value<'r>,
    b: Value<'r>,
    toindices: impl Fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>,
) -> Outcome<Value<'r>> {
    let a = toindices(run, a)?;
    let mut best: Option<Value<'r>> = None;
    for &from in run.items(a)? {
        let (ai, aj) = run.unpack2(from)?;
        let b = toindices(run, b)?;
        let b = run.items(b)?;
        run.spend(b.len())?;
        for &to in b {
            let (bi, bj) = run.unpack2(to)?;
            let rows = absolute_difference(run, ai, bi)?;
            let columns = absolute_difference(run, aj, bj)?;
            let distance = run.add(rows, columns)?;
            best = Some(match best {
                None => distance,
                Some(best) => better(run, best, distance, Ordering::Less)?,
            });
        }
    }
    best.ok_or(Fault::Value)
}

/// Returns `abs(a - b)`.
fn absolute_difference<'r>(run: &mut Run<'r>, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
    match run.sub(a, b)? {
        Value::Int(n) => n.checked_abs().map(Value::Int).ok_or(Fault::Overflow),
        Value::Float(x) => Ok(Value::float(x.get().abs())),
        _ => Err(Fault::Type),
    }
}

op! {
    /// The distance of two patches: the fewest steps up, down, left or right from one to the other.
    ///
    /// Overlapping patches have distance 0. Fails if one of them is empty.
    pub manhattan(a: Patch, b: Patch) -> Integer;
    example "manhattan(initset(ORIGIN), initset((2, 3)))" => "5";
    fails "manhattan(initset(ORIGIN), ())";
    |run| {
        if let (Value::Set(a), Value::Set(b)) = (a, b)
            && let (Some(box_a), Some(box_b)) = (a.bounds(), b.bounds())
            && let (Some(in_a), Some(in_b)) = (locations(a), locations(b))
        {
            run.spend(a.len().saturating_mul(b.len()) / 8)?;
            let steps = if a.len() == 1 && b.len() == 1 {
                let corner = |b: Bounds| IntPair::new(b.top, b.left);
                distance(corner(box_a), corner(box_b))
            } else if !are_close(box_a, box_b) {
                in_a.flat_map(|p| in_b.clone().map(move |q| distance(p, q)))
                    .min()
                    .ok_or(Fault::Value)?
            } else if a.len() < b.len() {
                nearest(in_a, in_b).into()
            } else {
                nearest(in_b, in_a).into()
            };
            return Ok(Value::Int(steps));
        }
        manhattan_general(run, a, b, toindices)
    }
}

op! {
    /// Whether two patches touch: a cell of one is directly above, below or beside a cell of the
    /// other.
    ///
    /// Overlapping patches do not touch, and diagonal contact does not count. Fails if a patch is
    /// empty.
    pub adjacent(a: Patch, b: Patch) -> Boolean;
    example "adjacent(initset(ORIGIN), initset(RIGHT))" => "True";
    fails "adjacent(initset(ORIGIN), ())";
    |run| {
        if let (Value::Set(set_a), Value::Set(set_b)) = (a, b)
            && let (Some(box_a), Some(box_b)) = (set_a.bounds(), set_b.bounds())
            && let (Some(in_a), Some(in_b)) = (locations(set_a), locations(set_b))
        {
            if !overlap_or_touch(box_a, box_b) {
                return Ok(Value::bool(false));
            }
            if are_close(box_a, box_b) {
                run.spend((set_a.len() + set_b.len()) / 8)?;
                // Only cells within one step of the other patch's box can touch it.
                let near_a = in_a.filter(|&p| within_a_step(p, box_b));
                let near_b = in_b.filter(|&p| within_a_step(p, box_a));
                let (few, many) = (near_a.clone().count(), near_b.clone().count());
                run.spend(few.saturating_mul(many) / 8)?;
                let steps = if few < many {
                    nearest(near_a, near_b)
                } else {
                    nearest(near_b, near_a)
                };
                return Ok(Value::bool(steps == 1));
            }
        }
        let steps = manhattan(run, a, b)?;
        Ok(Value::bool(run.eq(steps, Value::Int(1))))
    }
}

/// Returns whether two boxes overlap or touch.
fn overlap_or_touch(a: Bounds, b: Bounds) -> bool {
    let gap = |a_end: i16, b_start: i16, b_end: i16, a_start: i16| {
        let after = i32::from(b_start) - i32::from(a_end);
        let before = i32::from(a_start) - i32::from(b_end);
        after.max(before).max(0)
    };
    gap(a.bottom, b.top, b.bottom, a.top) + gap(a.right, b.left, b.right, a.left) <= 1
}

/// Returns whether a point lies in a box grown by one on every side.
#[inline(always)]
fn within_a_step(p: IntPair, b: Bounds) -> bool {
    let inside = |x: i16, from: i16, to: i16| {
        let x = i32::from(x);
        i32::from(from) - 1 <= x && x <= i32::from(to) + 1
    };
    inside(p.i, b.top, b.bottom) && inside(p.j, b.left, b.right)
}

op! {
    /// Whether the bounding box of a patch touches the border of a grid from inside.
    ///
    /// True if its first row or column is 0, or its last one is the last of the grid; a patch
    /// beyond the border does not touch it. The grid is read only if the upper and the left border
    /// do not decide. Fails for an empty patch.
    pub bordering(patch: Patch, grid: Grid) -> Boolean;
    example "bordering(initset(UNITY), ((1, 2), (3, 4)))" => "True";
    fails "bordering(initset(UNITY), ())";
    |run| {
        borders(run, patch, grid, [uppermost, leftmost, lowermost, rightmost])
    }
}

/// A primitive of one argument.
pub(super) type Measure = for<'r> fn(&mut Run<'r>, Value<'r>) -> Outcome<Value<'r>>;

/// Does what [`bordering`] does, given the upper, left, lower and right end of a patch.
#[inline(always)]
pub(super) fn borders<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    grid: Value<'r>,
    [upper, left, lower, right]: [Measure; 4],
) -> Outcome<Value<'r>> {
    for measure in [upper, left] {
        let edge = measure(run, patch)?;
        if run.eq(edge, Value::Int(0)) {
            return Ok(Value::bool(true));
        }
    }
    let bottom = lower(run, patch)?;
    let height = run.len(grid)? as i64;
    if run.eq(bottom, Value::Int(height - 1)) {
        return Ok(Value::bool(true));
    }
    let right = right(run, patch)?;
    let width = match grid {
        Value::Grid(grid) => grid.width,
        _ => {
            let first = run.at(grid, 0)?;
            run.len(first)?
        }
    };
    Ok(Value::bool(run.eq(right, Value::Int(width as i64 - 1))))
}

op! {
    /// The direction from the centre of one patch to the centre of another, as one step in one of
    /// eight directions.
    ///
    /// Equal centres give `(0, -1)`. Fails if a patch is empty.
    pub position(a: Patch, b: Patch) -> Pair;
    example "position(initset(ORIGIN), initset((5, 7)))" => "(1, 1)";
    fails "position(initset(ORIGIN), ())";
    |run| {
        let (ai, aj) = center_of_indices(run, a)?;
        let (bi, bj) = center_of_indices(run, b)?;
        let towards = |from: i64, to: i64| if from < to { 1 } else { -1 };
        let i = if ai == bi { 0 } else { towards(ai, bi) };
        // Centres in the same row always get a step to the side.
        let j = if ai != bi && aj == bj { 0 } else { towards(aj, bj) };
        Ok(Value::pair(IntPair::new(i, j)))
    }
}

/// Returns the centre of the locations of a patch.
fn center_of_indices<'r>(run: &mut Run<'r>, patch: Value<'r>) -> Outcome<(i64, i64)> {
    if let Some(b) = bounds(patch) {
        return Ok(middle(b));
    }
    let indices = toindices(run, patch)?;
    center_of(run, indices)
}

/// The largest number of steps `gravitate` takes.
pub(super) const MAX_MOVES: u32 = 42;

op! {
    /// The vector that moves a patch until it touches another.
    ///
    /// The first patch moves towards the other: vertically if they have a column in common,
    /// otherwise horizontally, and up or left if their centres are equal. Patches that already
    /// touch give `(0, 0)`. Overlapping patches move until they only touch. The search ends after
    /// 42 steps. Fails if a patch is empty.
    pub gravitate(source: Patch, destination: Patch) -> Pair;
    example "gravitate(initset(ORIGIN), initset((5, 0)))" => "(4, 0)";
    fails "gravitate(initset(ORIGIN), ())";
    |run| {
        let (si, sj) = center_of(run, source)?;
        let (di, dj) = center_of(run, destination)?;
        let towards = |from: i64, to: i64| if from < to { 1i16 } else { -1 };
        let axis = if matching(run, source, destination, Axis::Column)? {
            Axis::Row
        } else {
            Axis::Column
        };
        let sense = axis.of(towards(si, di), towards(sj, dj));
        let step = axis.of(IntPair::new(sense, 0), IntPair::new(0, sense));
        let moves = match (source, destination) {
            (Value::Set(from), Value::Set(to)) => moves_to_touch(run, from, to, axis, sense)?,
            _ => None,
        };
        let moves = match moves {
            Some(moves) => moves,
            None => {
                let (mut source, mut moves) = (source, 0);
                while moves < MAX_MOVES {
                    let touch = adjacent(run, source, destination)?;
                    if run.truth(touch) {
                        break;
                    }
                    moves += 1;
                    source = shift(run, source, Value::pair(step))?;
                }
                moves
            }
        };
        Ok(Value::pair(IntPair::new(
            step.i * moves as i16,
            step.j * moves as i16,
        )))
    }
}

/// The most tracks that [`moves_to_touch`] handles, including a free one on each side. A track is a
/// row or column along the movement.
const TRACKS: usize = 64;

/// Returns the number of steps along the axis after which two patches first touch without
/// overlapping, at most [`MAX_MOVES`]. Returns `None` unless both are in compact form and the
/// destination is of moderate size.
fn moves_to_touch<'r>(
    run: &mut Run<'r>,
    source: &'r Set<'r>,
    destination: &'r Set<'r>,
    axis: Axis,
    sense: i16,
) -> Outcome<Option<u32>> {
    let (Some(from), Some(to)) = (locations(source), locations(destination)) else {
        return Ok(None);
    };
    let Some(b) = destination.bounds() else {
        return Ok(None);
    };
    let length = axis.of(b.height(), b.width());
    let tracks = axis.of(b.width(), b.height());
    if length > MASK as i64 || tracks + 2 > TRACKS as i64 {
        return Ok(None);
    }
    run.spend((source.len() + destination.len()) / 2)?;
    // Positions count in the direction of movement, from the first cell of the destination. Tracks
    // count from the one before its first track.
    let sense = i32::from(sense);
    let start = (i32::from(axis.of(b.top, b.left)) * sense)
        .min(i32::from(axis.of(b.bottom, b.right)) * sense);
    let first_track = i32::from(axis.of(b.left, b.top)) - 1;
    let place = |p: IntPair| {
        let (i, j) = (i32::from(p.i), i32::from(p.j));
        (axis.of(i, j) * sense - start, axis.of(j, i) - first_track)
    };
    let mut cells = [0u128; TRACKS];
    for (position, track) in to.map(place) {
        if let Some(mask) = cells.get_mut(track as usize) {
            *mask |= 1 << position;
        }
    }
    let on_track = |track: i32| {
        let mask = usize::try_from(track).ok().and_then(|k| cells.get(k));
        mask.copied().unwrap_or_default()
    };
    // Bit k + 1: after k steps a cell of the source meets a cell of the destination, or passes
    // beside one.
    let (mut met, mut passed) = (0u128, 0u128);
    for (position, track) in from.map(place) {
        let ahead = |mask: u128| {
            let distance = (position - 1).unsigned_abs();
            let seen = if position > 0 {
                mask.checked_shr(distance)
            } else {
                mask.checked_shl(distance)
            };
            seen.unwrap_or_default()
        };
        met |= ahead(on_track(track));
        passed |= ahead(on_track(track - 1) | on_track(track + 1));
    }
    let touching = met << 1 | met >> 1 | passed;
    let moves = ((touching & !met) >> 1).trailing_zeros();
    Ok(Some(moves.min(MAX_MOVES)))
}
