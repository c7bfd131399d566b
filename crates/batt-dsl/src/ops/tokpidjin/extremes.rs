//! The ends and corners of patches.
//!
//! The plain names take both kinds of patch, names with `_i` locations, and names with `_o`
//! objects. They differ in how they find the locations. A patch of the right kind in compact form
//! caches its bounding box; for any other argument the locations are visited one by one.

use std::cmp::Ordering::{self, Greater, Less};

use super::patch::{is_indices, is_object, is_patch, toindices, toindices_i, toindices_o};
use crate::fault::Outcome;
use crate::ops::measure::{self, Axis, Measure, corner_of, extreme_of};
use crate::run::Run;
use crate::table::Op;
use crate::value::Value;

const FAMILY: &str = "extremes";

pub(super) const OPS: &[&Op] = &[
    &lowermost::OP,
    &lowermost_i::OP,
    &lowermost_o::OP,
    &uppermost::OP,
    &uppermost_i::OP,
    &uppermost_o::OP,
    &leftmost::OP,
    &leftmost_i::OP,
    &leftmost_o::OP,
    &rightmost::OP,
    &rightmost_i::OP,
    &rightmost_o::OP,
    &col_row::OP,
    &ulcorner::OP,
    &ulcorner_i::OP,
    &ulcorner_o::OP,
    &urcorner::OP,
    &urcorner_i::OP,
    &urcorner_o::OP,
    &llcorner::OP,
    &llcorner_i::OP,
    &llcorner_o::OP,
    &lrcorner::OP,
    &lrcorner_i::OP,
    &lrcorner_o::OP,
    &corner::OP,
    &corners::OP,
];

/// The way in which the primitives of one kind (plain, `_i` or `_o`) read a patch.
struct Reading {
    /// Tests whether a value is a patch of the right kind, in compact form.
    fits: fn(Value<'_>) -> bool,
    toindices: Measure,
}

const PLAIN: Reading = Reading {
    fits: is_patch,
    toindices,
};
const INDICES: Reading = Reading {
    fits: is_indices,
    toindices: toindices_i,
};
const OBJECT: Reading = Reading {
    fits: is_object,
    toindices: toindices_o,
};

/// Returns an end of any value that is not a patch of the right kind. If `guarded`, the result is
/// nan for a value that counts as false.
#[cold]
fn general_end<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    reading: &Reading,
    (axis, wanted): (Axis, Ordering),
    guarded: bool,
) -> Outcome<Value<'r>> {
    if guarded && !run.truth(patch) {
        return Ok(Value::NAN);
    }
    let locations = (reading.toindices)(run, patch)?;
    extreme_of(run, locations, axis, wanted)
}

/// Returns a corner of any value that is not a patch of the right kind.
#[cold]
fn general_corner<'r>(
    run: &mut Run<'r>,
    patch: Value<'r>,
    reading: &Reading,
    (rows, columns): (Ordering, Ordering),
) -> Outcome<Value<'r>> {
    let locations = (reading.toindices)(run, patch)?;
    corner_of(run, locations, rows, columns)
}

/// Declares the three variants of an end.
macro_rules! end {
    (
        $what:literal, $same:ident, $axis:expr, $wanted:expr;
        $plain:ident, $indices:ident, $object:ident, $guarded:expr, $others_guarded:expr
    ) => {
        end!(@ $what, " of a patch.", $plain(patch: Patch), PLAIN, $same, $axis, $wanted, $guarded);
        end!(@ $what, " of locations.", $indices(indices: Indices), INDICES, $same, $axis, $wanted, $others_guarded);
        end!(@ $what, " of an object.", $object(obj: Object), OBJECT, $same, $axis, $wanted, $others_guarded);
    };
    (
        @ $what:literal, $of:literal, $name:ident($param:ident: $ty:ident),
        $reading:expr, $same:ident, $axis:expr, $wanted:expr, $guarded:expr
    ) => {
        safe! {
            #[doc = $what]
            #[doc = $of]
            pub $name($param: $ty) -> Integer;
            |run| {
                if ($reading.fits)($param) {
                    return measure::$same(run, $param);
                }
                general_end(run, $param, &$reading, ($axis, $wanted), $guarded)
            }
        }
    };
}

end! { "The largest row", lowermost, Axis::Row, Greater; lowermost, lowermost_i, lowermost_o, true, true }
end! { "The smallest row", uppermost, Axis::Row, Less; uppermost, uppermost_i, uppermost_o, true, true }
end! { "The smallest column", leftmost, Axis::Column, Less; leftmost, leftmost_i, leftmost_o, true, true }
end! { "The largest column", rightmost, Axis::Column, Greater; rightmost, rightmost_i, rightmost_o, true, false }

safe! {
    /// An end of a patch by its code: lowest row, highest row, first column, last column. `None`
    /// for another code.
    pub col_row(patch: Patch, r#type: R4) -> Integer;
    |run| {
        match r#type.integral() {
            Some(0) => lowermost(run, patch),
            Some(1) => uppermost(run, patch),
            Some(2) => leftmost(run, patch),
            Some(3) => rightmost(run, patch),
            _ => Ok(Value::None),
        }
    }
}

/// Declares the three variants of a corner.
macro_rules! corner {
    (
        $what:literal, $same:ident, $rows:expr, $columns:expr;
        $plain:ident, $indices:ident, $object:ident
    ) => {
        corner!(@ $what, " of a patch.", $plain(patch: Patch), PLAIN, $same, $rows, $columns);
        corner!(@ $what, " of locations.", $indices(indices: Indices), INDICES, $same, $rows, $columns);
        corner!(@ $what, " of an object.", $object(obj: Object), OBJECT, $same, $rows, $columns);
    };
    (
        @ $what:literal, $of:literal, $name:ident($param:ident: $ty:ident),
        $reading:expr, $same:ident, $rows:expr, $columns:expr
    ) => {
        safe! {
            #[doc = $what]
            #[doc = $of]
            pub $name($param: $ty) -> IJ;
            |run| {
                if ($reading.fits)($param) {
                    return measure::$same(run, $param);
                }
                general_corner(run, $param, &$reading, ($rows, $columns))
            }
        }
    };
}

corner! { "The upper left corner", ulcorner, Less, Less; ulcorner, ulcorner_i, ulcorner_o }
corner! { "The upper right corner", urcorner, Less, Greater; urcorner, urcorner_i, urcorner_o }
corner! { "The lower left corner", llcorner, Greater, Less; llcorner, llcorner_i, llcorner_o }
corner! { "The lower right corner", lrcorner, Greater, Greater; lrcorner, lrcorner_i, lrcorner_o }

safe! {
    /// A corner of a patch by its code: upper left, upper right, lower left, lower right. Another
    /// code gives the upper left corner.
    pub corner(patch: Patch, r#type: R4) -> IJ;
    |run| {
        match r#type.integral() {
            Some(1) => urcorner(run, patch),
            Some(2) => llcorner(run, patch),
            Some(3) => lrcorner(run, patch),
            _ => ulcorner(run, patch),
        }
    }
}

safe! {
    /// The four corners of a patch.
    pub corners(patch: Patch) -> Indices;
    |run| {
        let corners = [
            ulcorner(run, patch)?,
            urcorner(run, patch)?,
            llcorner(run, patch)?,
            lrcorner(run, patch)?,
        ];
        Ok(Value::Set(run.build_frozen(&corners)?))
    }
}
