//! What is remembered of columns in a run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::column::Column;
use crate::value::{Closure, Value};

/// Bytes of remembered columns. When they are used up, no more is remembered.
pub(super) const ROOM: usize = 8 << 20;

/// What has been remembered in a run.
#[derive(Default)]
pub(crate) struct Columns<'r> {
    /// The elements of sets.
    pub(super) elements: HashMap<u64, Column<'r>, BuildHasherDefault<Mixer>>,
    pub(super) calls: HashMap<Call, Remembered<'r>, BuildHasherDefault<Mixer>>,
    /// Functions by how they were made.
    pub(super) made: HashMap<[(u8, u64); 4], u64, BuildHasherDefault<Mixer>>,
    /// What functions say of all members of a set but one.
    pub(super) others: HashMap<[u64; 3], Option<Rc<Others>>, BuildHasherDefault<Mixer>>,
    pub(super) bytes: usize,
    /// How many columns there have been: each has a number.
    pub(super) count: u64,
}

/// Where columns are kept between the loops of a run. Not in the run itself: one that has something to drop takes a tenth longer
/// if it is of two steps.
#[derive(Default)]
pub(crate) struct Kept(RefCell<Option<Box<Columns<'static>>>>);

// SAFETY: everything in it that is counted (`Rc`) is counted in it alone, and what it refers to is followed only in the run in
// which it was kept.
unsafe impl Send for Kept {}

impl Kept {
    /// What this run has kept so far.
    ///
    /// # Safety
    ///
    /// `'r` is the lifetime of the run, and [`forget`](Kept::forget) was called when it began.
    pub(super) unsafe fn take<'r>(&self) -> Box<Columns<'r>> {
        let kept = self.0.take().unwrap_or_default();
        // SAFETY: as said above, only this run can have kept it; `'static` stands for its lifetime.
        unsafe { std::mem::transmute::<Box<Columns<'static>>, Box<Columns<'r>>>(kept) }
    }

    /// Keeps columns up to the next [`take`](Kept::take).
    pub(super) fn keep(&self, columns: Box<Columns<'_>>) {
        // SAFETY: nobody but the same run gets at it, and dropping it follows no reference.
        let columns =
            unsafe { std::mem::transmute::<Box<Columns<'_>>, Box<Columns<'static>>>(columns) };
        self.0.replace(Some(columns));
    }

    /// Keeps nothing any more.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}

pub(super) struct Remembered<'r> {
    pub(super) column: Column<'r>,
    /// Closures that the call makes for each element.
    pub(super) closures: u32,
    /// Primitives that it calls for each element.
    pub(super) primitives: u64,
    /// How deep it was: deeper down it might have failed.
    pub(super) depth: u32,
}

/// The extreme of what a function says of the members of a set, whichever of them is left out.
pub(super) struct Others {
    pub(super) best: Vec<i32>,
    /// Of which member.
    pub(super) number: Vec<u32>,
    pub(super) second: Vec<i32>,
    pub(super) bound: i32,
    /// Closures that are made for each member, and primitives that are called; and those for all.
    pub(super) costs: Vec<(u32, u64)>,
    pub(super) total: (u32, u64),
}

/// A call of a closure on a column: the closure's address, and kinds and words of the argument or its two parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) closure: u64,
    pub(super) kinds: u64,
    pub(super) words: [u64; 2],
}

/// A hash for words that are well spread already.
#[derive(Default)]
pub(super) struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

impl Call {
    pub(super) fn new<'r>(closure: &'r Closure<'r>, x: &Column<'r>) -> Option<Call> {
        let (_, address) = Value::Closure(closure).identity();
        let (a, b) = match x {
            Column::Two(two) => (two.parts[0].identity()?, two.parts[1].identity()?),
            // No part of a tuple is of this kind.
            _ => (x.identity()?, (16, 0)),
        };
        Some(Call {
            closure: address,
            kinds: u64::from(a.0) << 8 | u64::from(b.0),
            words: [a.1, b.1],
        })
    }
}
