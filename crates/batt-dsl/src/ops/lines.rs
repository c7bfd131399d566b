//! Lines, boxes, neighbourhoods, and the value at a location of a grid.
//!
//! Locations made here are not clipped to a grid.

use std::ops::RangeInclusive;

use super::measure::{
    Measure, bounds, leftmost, lowermost, lrcorner, rightmost, ulcorner, uppermost,
};
use super::patch::{cell_at, dims, inside, rectangle, toindices};
use crate::fault::{Fault, Outcome};
use crate::op;
use crate::run::Run;
use crate::set::{Bounds, Elems, Origin, Selection, Set};
use crate::table::Op;
use crate::value::{Cell, IntPair, Value};

const FAMILY: &str = "lines";

pub(super) const OPS: &[&Op] = &[
    &dneighbors::OP,
    &ineighbors::OP,
    &neighbors::OP,
    &connect::OP,
    &shoot::OP,
    &vfrontier::OP,
    &hfrontier::OP,
    &backdrop::OP,
    &delta::OP,
    &r#box::OP,
    &inbox::OP,
    &outbox::OP,
    &index::OP,
];

/// Returns the four direct and the four diagonal neighbours of a location, in Python's order. It is
/// meant for locations of a grid: at the ends of the 16-bit range neighbours wrap around.
pub(crate) fn neighborhood(at: IntPair) -> [IntPair; 8] {
    let IntPair { i, j } = at;
    let (up, down) = (i.wrapping_sub(1), i.wrapping_add(1));
    let (left, right) = (j.wrapping_sub(1), j.wrapping_add(1));
    [
        IntPair::new(up, j),
        IntPair::new(down, j),
        IntPair::new(i, left),
        IntPair::new(i, right),
        IntPair::new(up, left),
        IntPair::new(up, right),
        IntPair::new(down, left),
        IntPair::new(down, right),
    ]
}

/// Returns the neighbours of a location and their bounding box, if all have a compact form.
#[inline(always)]
fn compact_neighborhood(loc: Value<'_>) -> Option<([IntPair; 8], Bounds)> {
    let at = loc.as_pair()?;
    let around = Bounds {
        top: at.i.checked_sub(1)?,
        left: at.j.checked_sub(1)?,
        bottom: at.i.checked_add(1)?,
        right: at.j.checked_add(1)?,
    };
    Some((neighborhood(at), around))
}

fn compact_set<'r>(
    run: &mut Run<'r>,
    pairs: &[IntPair],
    bounds: Bounds,
    origin: Origin<'r>,
) -> Outcome<Value<'r>> {
    let pairs = run.slice(pairs)?;
    let set = run.set(Elems::Pairs(pairs), origin)?;
    set.with_bounds(Some(bounds));
    Ok(Value::Set(set))
}

op! {
    /// The four locations directly above, below and beside a location.
    ///
    /// Components after the second are ignored. Fails for anything but a tuple of integers.
    pub dneighbors(loc: Pair) -> Indices;
    example "dneighbors(ORIGIN)" => "frozenset({(-1, 0), (1, 0), (0, -1), (0, 1)})";
    fails "dneighbors(THREE)";
    |run| {
        if let Some((around, bounds)) = compact_neighborhood(loc) {
            return compact_set(run, &around[..4], bounds, Origin::Frozen);
        }
        let one = Value::Int(1);
        let i = run.at(loc, 0)?;
        let up = run.sub(i, one)?;
        let j = run.at(loc, 1)?;
        let down = run.add(i, one)?;
        let (left, right) = (run.sub(j, one)?, run.add(j, one)?);
        let around = [
            run.pair(up, j)?,
            run.pair(down, j)?,
            run.pair(i, left)?,
            run.pair(i, right)?,
        ];
        Ok(Value::Set(run.build_frozen(&around)?))
    }
}

op! {
    /// The four locations diagonally next to a location.
    ///
    /// Components after the second are ignored. Fails for anything but a tuple of integers.
    pub ineighbors(loc: Pair) -> Indices;
    example "ineighbors(ORIGIN)" => "frozenset({(-1, 1), (1, 1), (1, -1), (-1, -1)})";
    fails "ineighbors(THREE)";
    |run| {
        if let Some((around, bounds)) = compact_neighborhood(loc) {
            return compact_set(run, &around[4..], bounds, Origin::Frozen);
        }
        let one = Value::Int(1);
        let i = run.at(loc, 0)?;
        let up = run.sub(i, one)?;
        let j = run.at(loc, 1)?;
        let (left, right) = (run.sub(j, one)?, run.add(j, one)?);
        let down = run.add(i, one)?;
        let around = [
            run.pair(up, left)?,
            run.pair(up, right)?,
            run.pair(down, left)?,
            run.pair(down, right)?,
        ];
        Ok(Value::Set(run.build_frozen(&around)?))
    }
}

op! {
    /// The eight locations around a location.
    ///
    /// Components after the second are ignored. Fails for anything but a tuple of integers.
    pub neighbors(loc: Pair) -> Indices;
    example "neighbors(ORIGIN)" => "frozenset({(0, 1), (-1, -1), (-1, 1), (1, 1), (1, -1), (-1, 0), (1, 0), (0, -1)})";
    fails "neighbors(THREE)";
    |run| {
        if let Some((around, bounds)) = compact_neighborhood(loc) {
            return compact_set(run, &around, bounds, Origin::Neighbors);
        }
        match (dneighbors(run, loc)?, ineighbors(run, loc)?) {
            (Value::Set(direct), Value::Set(diagonal)) => {
                Ok(Value::Set(run.set_union(direct, diagonal)?))
            }
            _ => Err(Fault::Type),
        }
    }
}

op! {
    /// The straight line between two locations, both included.
    ///
    /// Locations that share neither row, column nor diagonal give the empty set. Fails for anything
    /// but two pairs of integers.
    pub connect(a: Pair, b: Pair) -> Indices;
    example "connect((3, 0), (0, 3))" => "frozenset({(1, 2), (0, 3), (2, 1), (3, 0)})";
    fails "connect(ORIGIN, THREE)";
    |run| {
        if let (Some(a), Some(b)) = (a.as_pair(), b.as_pair()) {
            return connect_pairs(run, a, b);
        }
        let (ai, aj) = run.unpack2(a)?;
        let (bi, bj) = run.unpack2(b)?;
        let number = |v: Value<'_>| v.as_int().ok_or(Fault::Type);
        let (i, to_i, j, to_j) = (number(ai)?, number(bi)?, number(aj)?, number(bj)?);
        // The difference of two 64-bit numbers needs one bit more.
        let (di, dj) = (
            i128::from(to_i) - i128::from(i),
            i128::from(to_j) - i128::from(j),
        );
        if di != 0 && dj != 0 && di.abs() != dj.abs() {
            return Ok(Value::Set(run.empty_set()?));
        }
        let steps = usize::try_from(di.abs().max(dj.abs())).map_err(|_| Fault::Size)?;
        run.check_len(steps.saturating_add(1))?;
        run.spend(steps)?;
        let (si, sj, ej) = (i.min(to_i), j.min(to_j), j.max(to_j));
        let mut line = Vec::with_capacity(steps + 1);
        for k in 0..=steps as i64 {
            // A coordinate that both ends share is passed on unchanged, even if it is a bool.
            line.push(if di == 0 {
                run.pair(ai, Value::Int(sj + k))?
            } else if dj == 0 {
                run.pair(Value::Int(si + k), aj)?
            } else if di == dj {
                run.int_pair(si + k, sj + k)?
            } else {
                run.int_pair(si + k, ej - k)?
            });
        }
        Ok(Value::Set(run.build(&line)?))
    }
}

/// Returns the numbers of rows and columns from one location to another.
#[inline(always)]
fn way(a: IntPair, b: IntPair) -> (i32, i32) {
    (
        i32::from(b.i) - i32::from(a.i),
        i32::from(b.j) - i32::from(a.j),
    )
}

/// Returns whether two locations share a row, a column or a diagonal.
#[inline(always)]
pub(super) fn are_in_line(a: IntPair, b: IntPair) -> bool {
    let (di, dj) = way(a, b);
    di == 0 || dj == 0 || di.abs() == dj.abs()
}

/// Does what [`connect`] does, for locations in compact form.
fn connect_pairs<'r>(run: &mut Run<'r>, a: IntPair, b: IntPair) -> Outcome<Value<'r>> {
    let (di, dj) = way(a, b);
    if !are_in_line(a, b) {
        return Ok(Value::Set(run.empty_set()?));
    }
    let steps = di.abs().max(dj.abs());
    run.spend(steps as usize / 8)?;
    // The line runs downwards, or along a row to the right.
    let start = if di < 0 || (di == 0 && dj < 0) { b } else { a };
    let end = if start == a { b } else { a };
    let pairs = match crate::set::between(start, end) {
        Some(line) => line,
        None => {
            let step_i = di.signum().abs();
            let step_j = if di == 0 {
                dj.signum().abs()
            } else {
                (di * dj).signum()
            };
            run.slice_from((0..steps as usize + 1).map(|k| {
                let k = k as i32;
                // The location lies between two compact ones, so the casts cut nothing off.
                IntPair::new(
                    (i32::from(start.i) + k * step_i) as i16,
                    (i32::from(start.j) + k * step_j) as i16,
                )
            }))?
        }
    };
    let set = run.set(Elems::Pairs(pairs), Origin::Build)?;
    set.with_bounds(Some(Bounds {
        top: a.i.min(b.i),
        left: a.j.min(b.j),
        bottom: a.i.max(b.i),
        right: a.j.max(b.j),
    }));
    Ok(Value::Set(set))
}

/// The length of a shot, in multiples of its direction.
const SHOT: i16 = 42;

op! {
    /// The line that starts at a location and is 42 times the direction long.
    ///
    /// The start is included. The direction `(0, 0)` gives only the start. A direction that is
    /// neither straight nor exactly diagonal gives the empty set. Fails unless the start is a pair
    /// of integers and the direction begins with two.
    pub shoot(start: Pair, direction: Pair) -> Indices;
    example "size(shoot(ORIGIN, DOWN))" => "43";
    fails "shoot(ORIGIN, THREE)";
    |run| {
        if let (Some(from), Some(d)) = (start.as_pair(), direction.as_pair())
            && let (Some(di), Some(dj)) = (d.i.checked_mul(SHOT), d.j.checked_mul(SHOT))
            && let (Some(i), Some(j)) = (from.i.checked_add(di), from.j.checked_add(dj))
        {
            return connect_pairs(run, from, IntPair::new(i, j));
        }
        let end = shot_end(run, start, direction)?;
        connect(run, start, end)
    }
}

/// Returns the end of a shot, for a start and a direction of any kind.
pub(super) fn shot_end<'r>(
    run: &mut Run<'r>,
    start: Value<'r>,
    direction: Value<'r>,
) -> Outcome<Value<'r>> {
    let mut end = [Value::None; 2];
    for (k, place) in end.iter_mut().enumerate() {
        let from = run.at(start, k as i64)?;
        let step = run.at(direction, k as i64)?;
        let way = run.mul(Value::Int(SHOT.into()), step)?;
        *place = run.add(from, way)?;
    }
    run.pair(end[0], end[1])
}

/// The side of the largest grid, which is the length of frontiers.
const GRID: i16 = 30;

op! {
    /// The vertical line through a location, rows 0 to 29.
    ///
    /// The row of the location is not read, and its column may be any value. Fails for anything but
    /// a tuple of at least two elements.
    pub vfrontier(location: Pair) -> Indices;
    example "shape(vfrontier((9, 1)))" => "(30, 1)";
    fails "vfrontier(THREE)";
    |run| {
        if let Some(at) = location.as_pair() {
            let bounds = Bounds { top: 0, left: at.j, bottom: GRID - 1, right: at.j };
            let line: [IntPair; GRID as usize] = std::array::from_fn(|i| IntPair::new(i as i16, at.j));
            return compact_set(run, &line, bounds, Origin::Build);
        }
        let j = run.at(location, 1)?;
        let mut line = [Value::None; GRID as usize];
        for (i, place) in line.iter_mut().enumerate() {
            *place = run.pair(Value::Int(i as i64), j)?;
        }
        Ok(Value::Set(run.build(&line)?))
    }
}

op! {
    /// The horizontal line through a location, columns 0 to 29.
    ///
    /// The column of the location is not read and may be missing; its row may be any value. Fails
    /// for anything but a tuple of at least one element.
    pub hfrontier(location: Pair) -> Indices;
    example "shape(hfrontier((9, 1)))" => "(1, 30)";
    fails "hfrontier(THREE)";
    |run| {
        if let Some(at) = location.as_pair() {
            let bounds = Bounds { top: at.i, left: 0, bottom: at.i, right: GRID - 1 };
            let line: [IntPair; GRID as usize] = std::array::from_fn(|j| IntPair::new(at.i, j as i16));
            return compact_set(run, &line, bounds, Origin::Build);
        }
        let i = run.at(location, 0)?;
        let mut line = [Value::None; GRID as usize];
        for (j, place) in line.iter_mut().enumerate() {
            *place = run.pair(i, Value::Int(j as i64))?;
        }
        Ok(Value::Set(run.build(&line)?))
    }
}

op! {
    /// All locations of the bounding box of a patch.
    ///
    /// An empty patch gives the empty set. Fails for a grid unless it has two columns.
    pub backdrop(patch: Patch) -> Indices;
    example "backdrop(connect(UNITY, TWO_BY_TWO))" => "frozenset({(1, 1), (1, 2), (2, 1), (2, 2)})";
    fails "backdrop(THREE)";
    |run| { Ok(Value::Set(full_box(run, patch)?)) }
}

/// Does what [`backdrop`] does.
fn full_box<'r>(run: &mut Run<'r>, patch: Value<'r>) -> Outcome<&'r Set<'r>> {
    if let Some(b) = bounds(patch) {
        return rectangle(
            run,
            b.top.into(),
            b.left.into(),
            b.bottom.into(),
            b.right.into(),
        );
    }
    if run.len(patch)? == 0 {
        return run.empty_set();
    }
    // Python takes one corner of the indices and the other corner of the patch itself. Indices and
    // patch may differ if locations are nested in locations.
    let indices = toindices(run, patch)?;
    let from = ulcorner(run, indices)?;
    let from = run.unpack2(from)?;
    let to = lrcorner(run, patch)?;
    let to = run.unpack2(to)?;
    box_between(run, from, to)
}

/// Returns all locations between two corners of any kind, both included.
pub(super) fn box_between<'r>(
    run: &mut Run<'r>,
    (top, left): (Value<'r>, Value<'r>),
    (bottom, right): (Value<'r>, Value<'r>),
) -> Outcome<&'r Set<'r>> {
    let number = |v: Value<'_>| v.as_int().ok_or(Fault::Type);
    let (top, bottom) = (number(top)?, number(bottom)?);
    if top > bottom {
        // Without rows Python never reads the columns.
        return run.empty_set();
    }
    rectangle(run, top, number(left)?, bottom, number(right)?)
}

op! {
    /// The locations of the bounding box that a patch does not cover.
    ///
    /// An empty patch gives the empty set. Fails for tuples, unless they hold cells.
    pub delta(patch: Patch) -> Indices;
    example "delta(connect(UNITY, TWO_BY_TWO))" => "frozenset({(1, 2), (2, 1)})";
    fails "delta(((1, 2), (3, 4)))";
    |run| {
        if let Value::Set(set) = patch
            && let Some(b) = set.bounds()
        {
            let full = full_box(run, patch)?;
            return Ok(Value::Set(uncovered(run, full, set, b)?));
        }
        if run.len(patch)? == 0 {
            return Ok(Value::Set(run.empty_set()?));
        }
        let full = full_box(run, patch)?;
        let indices = toindices(run, patch)?;
        run.sub(Value::Set(full), indices)
    }
}

/// Returns the locations of the bounding box that a compact patch does not cover. The result is the
/// set that Python's difference makes of `full`, the locations of the box row by row, and the
/// locations of the patch. The function marks locations instead of looking them up.
fn uncovered<'r>(
    run: &mut Run<'r>,
    full: &'r Set<'r>,
    patch: &'r Set<'r>,
    b: Bounds,
) -> Outcome<&'r Set<'r>> {
    let Elems::Pairs(places) = full.elems else {
        return Err(Fault::Type);
    };
    run.spend(places.len() + patch.len())?;
    let mut bytes = std::mem::take(&mut run.scratch.bytes);
    bytes.clear();
    bytes.resize(places.len(), 0);
    let width = b.width();
    let mut covered = 0;
    let mut cover = |p: IntPair| {
        let (i, j) = (
            i64::from(p.i) - i64::from(b.top),
            i64::from(p.j) - i64::from(b.left),
        );
        if let Some(mark) = bytes.get_mut((i * width + j) as usize) {
            covered += usize::from(*mark == 0);
            *mark = 1;
        }
    };
    match patch.elems {
        Elems::Pairs(pairs) => pairs.iter().for_each(|&p| cover(p)),
        Elems::Cells(cells) => cells.iter().for_each(|&Cell { at, .. }| cover(at)),
        Elems::Values(_) => {}
    }
    let kept: Vec<u32> = bytes
        .iter()
        .zip(0..)
        .filter(|&(&mark, _)| mark == 0)
        .map(|(_, k)| k)
        .collect();
    run.scratch.bytes = bytes;
    let kept = run.slice(&kept)?;
    let left = run.slice_from(kept.iter().map(|&k| places[k as usize]))?;
    let selection = run.alloc(Selection { source: full, kept })?;
    // CPython copies the set and deletes elements when there are few to delete.
    let origin = if full.len() / 4 > covered {
        Origin::Minus(selection)
    } else {
        Origin::Filter(selection)
    };
    run.set(Elems::Pairs(left), origin)
}

op! {
    /// The outline of the bounding box of a patch.
    ///
    /// An empty patch is returned unchanged. Fails for a grid unless it has two columns.
    pub r#box(patch: Patch) -> Indices;
    example "box(connect(UNITY, TWO_BY_TWO))" => "frozenset({(1, 1), (1, 2), (2, 1), (2, 2)})";
    fails "box(((1, 2, 3), (4, 5, 6)))";
    |run| {
        if let Some(b) = bounds(patch) {
            return frame(run, b);
        }
        if run.len(patch)? == 0 {
            return Ok(patch);
        }
        let from = ulcorner(run, patch)?;
        let from = run.unpack2(from)?;
        let to = lrcorner(run, patch)?;
        let to = run.unpack2(to)?;
        frame_between(run, from, to)
    }
}

op! {
    /// The outline one step inside the bounding box of a patch.
    ///
    /// A box one row high has no inside. Its outline has the rows above and below it. Likewise, the
    /// outline of a box one column wide has the columns beside it. A single location gives the
    /// result of `outbox`. Fails for an empty patch.
    pub inbox(patch: Patch) -> Indices;
    example "inbox(connect(ORIGIN, TWO_BY_TWO))" => "frozenset({(1, 1)})";
    fails "inbox(())";
    |run| { resized_box(run, patch, -1) }
}

op! {
    /// The outline one step outside the bounding box of a patch.
    ///
    /// Fails for an empty patch.
    pub outbox(patch: Patch) -> Indices;
    example "outbox(initset(UNITY))" => "frozenset({(0, 1), (1, 2), (2, 1), (0, 0), (2, 0), (0, 2), (2, 2), (1, 0)})";
    fails "outbox(())";
    |run| { resized_box(run, patch, 1) }
}

/// Returns the outline of the bounding box grown by `by` on every side.
fn resized_box<'r>(run: &mut Run<'r>, patch: Value<'r>, by: i16) -> Outcome<Value<'r>> {
    if let Some(b) = bounds(patch)
        && let (Some(ai), Some(aj)) = (b.top.checked_sub(by), b.left.checked_sub(by))
        && let (Some(bi), Some(bj)) = (b.bottom.checked_add(by), b.right.checked_add(by))
    {
        return frame(
            run,
            Bounds {
                top: ai.min(bi),
                left: aj.min(bj),
                bottom: ai.max(bi),
                right: aj.max(bj),
            },
        );
    }
    let ends = [uppermost, leftmost, lowermost, rightmost];
    frame_around(run, patch, Value::Int(by.into()), ends)
}

/// Returns the outline of the box given by the upper, left, lower and right end of a patch, grown
/// by `by`.
pub(super) fn frame_around<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    by: Value<'r>,
    [upper, left, lower, right]: [Measure; 4],
) -> Outcome<Value<'r>> {
    let top = upper(run, patch)?;
    let top = run.sub(top, by)?;
    let left = left(run, patch)?;
    let left = run.sub(left, by)?;
    let bottom = lower(run, patch)?;
    let bottom = run.add(bottom, by)?;
    let right = right(run, patch)?;
    let right = run.add(right, by)?;
    frame_between(run, (top, left), (bottom, right))
}

/// Returns the outline of a box.
fn frame<'r>(run: &mut Run<'r>, b: Bounds) -> Outcome<Value<'r>> {
    let (height, width) = (b.height() as usize, b.width() as usize);
    let sides = height.saturating_sub(2) * width.min(2);
    let len = width * height.min(2) + sides;
    run.check_len(len)?;
    run.spend(len)?;
    let mut pairs = std::mem::take(&mut run.scratch.pairs);
    pairs.clear();
    pairs.extend((b.left..=b.right).map(|j| IntPair::new(b.top, j)));
    if b.top < b.bottom {
        for i in b.top + 1..b.bottom {
            pairs.push(IntPair::new(i, b.left));
            if b.left < b.right {
                pairs.push(IntPair::new(i, b.right));
            }
        }
        pairs.extend((b.left..=b.right).map(|j| IntPair::new(b.bottom, j)));
    }
    let origin = Origin::Frame {
        from: IntPair::new(b.top, b.left),
        to: IntPair::new(b.bottom, b.right),
    };
    let set = compact_set(run, &pairs, b, origin);
    run.scratch.pairs = pairs;
    set
}

/// Returns the outline of the box between two corners of any kind, by the unions that Python makes.
pub(super) fn frame_between<'r>(
    run: &mut Run<'r>,
    (ai, aj): (Value<'r>, Value<'r>),
    (bi, bj): (Value<'r>, Value<'r>),
) -> Outcome<Value<'r>> {
    // The corner values themselves become part of the outline, bools included.
    let (top, bottom) = sorted(run, ai, bi)?;
    let (left, right) = sorted(run, aj, bj)?;
    let (rows, height) = range(top, bottom)?;
    let (columns, width) = range(left, right)?;
    for len in [height, width] {
        run.check_len(len)?;
        run.spend(len * 4)?;
    }
    let column = |run: &mut Run<'r>, j: Value<'r>| -> Outcome<&'r Set<'r>> {
        let mut line = Vec::with_capacity(height);
        for i in rows.clone() {
            line.push(run.pair(Value::Int(i), j)?);
        }
        run.build(&line)
    };
    let (first, second) = (column(run, left)?, column(run, right)?);
    let vertical = run.set_union(first, second)?;
    let row = |run: &mut Run<'r>, i: Value<'r>| -> Outcome<&'r Set<'r>> {
        let mut line = Vec::with_capacity(width);
        for j in columns.clone() {
            line.push(run.pair(i, Value::Int(j))?);
        }
        run.build(&line)
    };
    let (first, second) = (row(run, top)?, row(run, bottom)?);
    let horizontal = run.set_union(first, second)?;
    let outline = run.set_union(vertical, horizontal)?;
    Ok(Value::Set(run.set_copy(outline)?))
}

/// Returns `min(a, b)` and `max(a, b)`: the first if they are equal, or if the second is a nan.
pub(super) fn sorted<'r>(
    run: &mut Run<'r>,
    a: Value<'r>,
    b: Value<'r>,
) -> Outcome<(Value<'r>, Value<'r>)> {
    let least = if run.lt(b, a)? { b } else { a };
    let most = if run.lt(a, b)? { b } else { a };
    Ok((least, most))
}

/// Returns all numbers from one to the other, and their count.
pub(super) fn range(from: Value<'_>, to: Value<'_>) -> Outcome<(RangeInclusive<i64>, usize)> {
    let (from, to) = (
        from.as_int().ok_or(Fault::Type)?,
        to.as_int().ok_or(Fault::Type)?,
    );
    let steps = to.checked_sub(from).and_then(|n| usize::try_from(n).ok());
    Ok((from..=to, steps.ok_or(Fault::Size)?.saturating_add(1)))
}

op! {
    /// The value of a grid at a location.
    ///
    /// A location outside the grid gives `None`; negative ones do not count from the end. Fails for
    /// an empty grid, for a location beyond the end of a short row, and for a location that is not
    /// a pair of integers.
    pub index(grid: Grid, loc: Pair) -> Integer;
    example "index(((1, 2), (3, 4)), DOWN)" => "3";
    fails "index((), ORIGIN)";
    |run| { Ok(cell_inside(run, grid, loc)?.unwrap_or(Value::None)) }
}

/// Returns the value of a grid at a location, unless that lies outside.
#[inline(always)]
pub(super) fn cell_inside<'r>(
    run: &mut Run<'r>,
    grid: Value<'r>,
    loc: Value<'r>,
) -> Outcome<Option<Value<'r>>> {
    if let (Value::Grid(grid), Some(at)) = (grid, loc.as_pair()) {
        let place = grid.offset(at).and_then(|k| grid.cells.get(k));
        return Ok(place.map(|&v| Value::Int(v.into())));
    }
    let (i, j) = run.unpack2(loc)?;
    let (height, width) = dims(run, grid)?;
    match inside(i, j, height, width)? {
        None => Ok(None),
        // A set of two numbers can be unpacked but not indexed.
        Some(_) if !loc.is_tuple() => Err(Fault::Type),
        Some((i, j)) => cell_at(run, grid, i, j).map(Some),
    }
}
