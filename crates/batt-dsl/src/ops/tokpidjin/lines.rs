//! Lines, boxes, and the value at a location of a grid.

use super::extremes::{leftmost, lowermost, lrcorner, rightmost, ulcorner, uppermost};
use super::patch::{is_empty, is_empty_tuple, is_nothing, is_patch, nothing, toindices};
use crate::fault::{Fault, Outcome};
use crate::ops::lines::{self, box_between, cell_inside, frame_between, range, sorted};
use crate::run::Run;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "lines";

pub(super) const OPS: &[&Op] = &[
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

safe! {
    /// The straight line between two locations, both included, or the empty set if there is none.
    pub connect(a: IJ, b: IJ) -> Indices;
    |run| {
        match (a, b) {
            (Value::Pair(_), Value::Pair(_)) => lines::connect(run, a, b),
            _ => general_line(run, a, b),
        }
    }
}

/// Returns the line between two locations of any kind. Floats have no successors, so a line cannot
/// run along them, but two locations may share one as a coordinate. A nan loses every comparison.
fn general_line<'r>(run: &mut Run<'r>, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
    let (ai, aj) = run.unpack2(a)?;
    let (bi, bj) = run.unpack2(b)?;
    let is_float = |v: Value<'_>| matches!(v, Value::Float(_));
    if ![ai, aj, bi, bj].into_iter().any(is_float) {
        return lines::connect(run, a, b);
    }
    if [ai, aj].into_iter().any(|v| v.as_f64().is_none()) {
        return Err(Fault::Type);
    }
    let same_row = run.eq(ai, bi);
    let (from, to) = if same_row {
        sorted(run, aj, bj)?
    } else if run.eq(aj, bj) {
        sorted(run, ai, bi)?
    } else {
        return nothing(run);
    };
    let (numbers, len) = range(from, to)?;
    run.check_len(len)?;
    run.spend(len)?;
    let mut line = Vec::with_capacity(len);
    for k in numbers {
        line.push(if same_row {
            run.pair(ai, Value::Int(k))?
        } else {
            run.pair(Value::Int(k), aj)?
        });
    }
    Ok(Value::Set(run.build(&line)?))
}

safe! {
    /// The line that starts at a location and is 42 times the direction long.
    pub shoot(start: IJ, direction: IJ) -> Indices;
    |run| {
        if let (Value::Pair(_), Value::Pair(_)) = (start, direction) {
            return lines::shoot(run, start, direction);
        }
        if is_empty(run, start) || is_empty(run, direction) {
            return nothing(run);
        }
        let end = lines::shot_end(run, start, direction)?;
        connect(run, start, end)
    }
}

safe! {
    /// The vertical line through a location, rows 0 to 29.
    pub vfrontier(location: IJ) -> Indices = lines::vfrontier;
}

safe! {
    /// The horizontal line through a location, columns 0 to 29.
    pub hfrontier(location: IJ) -> Indices = lines::hfrontier;
}

safe! {
    /// All locations of the bounding box of a patch.
    pub backdrop(patch: Patch) -> Indices;
    |run| {
        if is_patch(patch) {
            return lines::backdrop(run, patch);
        }
        if is_nothing(run, patch) {
            return nothing(run);
        }
        let (from, to) = corners_of(run, patch)?;
        Ok(Value::Set(box_between(run, from, to)?))
    }
}

/// Two values.
type Two<'r> = (Value<'r>, Value<'r>);

/// Returns the upper left and the lower right corner.
fn corners_of<'r>(run: &mut Run<'r>, patch: Value<'r>) -> Outcome<(Two<'r>, Two<'r>)> {
    let from = ulcorner(run, patch)?;
    let from = run.unpack2(from)?;
    let to = lrcorner(run, patch)?;
    let to = run.unpack2(to)?;
    Ok((from, to))
}

safe! {
    /// The locations of the bounding box that the patch does not cover.
    pub delta(patch: Patch) -> Indices;
    |run| {
        if is_patch(patch) {
            return lines::delta(run, patch);
        }
        if is_nothing(run, patch) {
            return nothing(run);
        }
        let full = backdrop(run, patch)?;
        let taken = toindices(run, patch)?;
        run.sub(full, taken)
    }
}

safe! {
    /// The outline of the bounding box of a patch.
    pub r#box(patch: Patch) -> Indices;
    |run| {
        if is_patch(patch) {
            return lines::r#box(run, patch);
        }
        if is_empty(run, patch) {
            return nothing(run);
        }
        let (from, to) = corners_of(run, patch)?;
        frame_between(run, from, to)
    }
}

safe! {
    /// The outline one step inside the bounding box of a patch.
    pub inbox(patch: Patch) -> Indices;
    |run| {
        if is_patch(patch) {
            return lines::inbox(run, patch);
        }
        resized_box(run, patch, -1)
    }
}

safe! {
    /// The outline one step outside the bounding box of a patch.
    pub outbox(patch: Patch) -> Indices;
    |run| {
        if is_patch(patch) {
            return lines::outbox(run, patch);
        }
        resized_box(run, patch, 1)
    }
}

/// Returns the outline of the bounding box of anything, grown by `by` on every side. A value
/// without a bounding box counts as lying at the origin.
fn resized_box<'r>(run: &mut Run<'r>, patch: Value<'r>, by: i64) -> Outcome<Value<'r>> {
    if is_empty(run, patch) {
        return nothing(run);
    }
    lines::frame_around(
        run,
        patch,
        Value::Int(by),
        [uppermost, leftmost, lowermost, rightmost],
    )
}

safe! {
    /// The value of a grid at a location, or minus infinity outside the grid.
    pub index(grid: Grid, loc: IJ) -> Integer;
    |run| {
        let outside = Value::float(f64::NEG_INFINITY);
        if is_empty_tuple(run, loc) {
            return Ok(outside);
        }
        Ok(cell_inside(run, grid, loc)?.unwrap_or(outside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::run::{Limits, Workspace};

    #[test]
    fn a_line_without_direction_ends_at_its_start() {
        Workspace::new()
            .run(Dialect::Tokpidjin, &Limits::default(), |run| {
                let here = run.int_pair(1, 4)?;
                let there = run.pair(Value::NAN, Value::Int(4))?;
                let back = connect(run, there, here)?;
                assert!(is_empty(run, back));
                let line = connect(run, here, there)?;
                let point = Value::Set(run.build(&[here])?);
                assert!(run.eq(line, point));
                Ok::<_, Fault>(())
            })
            .expect("the values fit");
    }
}
