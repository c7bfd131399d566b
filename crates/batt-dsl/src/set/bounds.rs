//! Bounding boxes, and sets of locations as bits of a bounding box.

use crate::value::IntPair;

/// The bounding box of a patch, all ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The smallest row.
    pub top: i16,
    /// The smallest column.
    pub left: i16,
    /// The largest row.
    pub bottom: i16,
    /// The largest column.
    pub right: i16,
}

impl Bounds {
    pub(super) fn of(mut pairs: impl Iterator<Item = IntPair>) -> Option<Bounds> {
        let first = pairs.next()?;
        // The four bounds are local variables, so that they stay in registers.
        let (mut top, mut left, mut bottom, mut right) = (first.i, first.j, first.i, first.j);
        for p in pairs {
            top = top.min(p.i);
            left = left.min(p.j);
            bottom = bottom.max(p.i);
            right = right.max(p.j);
        }
        Some(Bounds {
            top,
            left,
            bottom,
            right,
        })
    }

    /// Returns the bounds of one location.
    pub(crate) fn at(p: IntPair) -> Bounds {
        Bounds {
            top: p.i,
            left: p.j,
            bottom: p.i,
            right: p.j,
        }
    }

    /// Grows the bounds to include a location.
    #[inline(always)]
    pub(crate) fn include(&mut self, p: IntPair) {
        self.top = self.top.min(p.i);
        self.left = self.left.min(p.j);
        self.bottom = self.bottom.max(p.i);
        self.right = self.right.max(p.j);
    }

    /// Returns the bounds moved by a vector, if they stay in range.
    pub(crate) fn translated(self, by: IntPair) -> Option<Bounds> {
        Some(Bounds {
            top: self.top.checked_add(by.i)?,
            left: self.left.checked_add(by.j)?,
            bottom: self.bottom.checked_add(by.i)?,
            right: self.right.checked_add(by.j)?,
        })
    }

    /// Returns the bounds of two boxes together.
    pub(crate) fn union(self, other: Bounds) -> Bounds {
        Bounds {
            top: self.top.min(other.top),
            left: self.left.min(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.max(other.right),
        }
    }

    /// Returns the position of a location inside the box, counted row by row.
    #[inline(always)]
    pub(super) fn position(self, p: IntPair) -> usize {
        let row = (i32::from(p.i) - i32::from(self.top)) as usize;
        row * self.width() as usize + (i32::from(p.j) - i32::from(self.left)) as usize
    }

    /// The number of rows.
    pub fn height(self) -> i64 {
        i64::from(self.bottom) - i64::from(self.top) + 1
    }

    /// The number of columns.
    pub fn width(self) -> i64 {
        i64::from(self.right) - i64::from(self.left) + 1
    }
}

/// Locations as bits, one for each location of their bounding box.
#[derive(Clone, Copy)]
pub(crate) struct Locations<'r> {
    pub(super) bounds: Bounds,
    pub(super) bits: &'r [u64],
}

impl Locations<'_> {
    /// Returns whether a location is in the set.
    #[inline(always)]
    pub fn contain(&self, p: IntPair) -> bool {
        let b = self.bounds;
        let inside = p.i >= b.top && p.i <= b.bottom && p.j >= b.left && p.j <= b.right;
        // Membership is unpredictable, so this avoids a branch.
        inside && {
            let at = b.position(p);
            self.bits[at / 64] >> (at % 64) & 1 == 1
        }
    }
}
