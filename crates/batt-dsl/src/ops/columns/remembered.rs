//! The cache of columns in a run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::column::Column;
use crate::value::{Closure, Value};

/// The most bytes of cached columns. When they are used up, no more columns are cached.
pub(super) const MAX_BYTES: usize = 8 << 20;

/// The columns and functions cached in a run.
#[derive(Default)]
pub(crate) struct Columns<'r> {
    /// The elements of sets.
    pub(super) elements: HashMap<u64, Column<'r>, BuildHasherDefault<Mixer>>,
    pub(super) calls: HashMap<Call, CachedCall<'r>, BuildHasherDefault<Mixer>>,
    /// The numbers of functions, by the way in which they were made.
    pub(super) made: HashMap<[(u8, u64); 4], u64, BuildHasherDefault<Mixer>>,
    /// The extreme values of functions on all members of a set but one.
    pub(super) left_out: HashMap<[u64; 3], Option<Rc<LeaveOneOut>>, BuildHasherDefault<Mixer>>,
    pub(super) bytes: usize,
    /// The last number given to a column or function.
    pub(super) count: u64,
}

/// The owner of the cached columns between the loops of a run. They are not a field of the run,
/// because a run of two steps takes a tenth longer if it has something to drop.
#[derive(Default)]
pub(crate) struct ColumnCache(RefCell<Option<Box<Columns<'static>>>>);

// SAFETY: `keep` is called when a traversal has ended and all its other columns are dropped, so
// every `Rc` inside is owned through this value alone and moves with it. The references inside are
// followed only by the run that kept them, on the thread of that run.
unsafe impl Send for ColumnCache {}

impl ColumnCache {
    /// Takes the columns that this run has cached so far.
    ///
    /// # Safety
    ///
    /// `'r` is the lifetime of the current run, and [`forget`](ColumnCache::forget) was called
    /// since the memory that older columns refer to was released.
    pub(super) unsafe fn take<'r>(&self) -> Box<Columns<'r>> {
        let kept = self.0.take().unwrap_or_default();
        // SAFETY: only the lifetime changes. By the contract of this function the columns were kept
        // by the current run, so they refer to memory that lives for `'r`.
        unsafe { std::mem::transmute::<Box<Columns<'static>>, Box<Columns<'r>>>(kept) }
    }

    /// Stores columns until the next [`take`](ColumnCache::take).
    pub(super) fn keep(&self, columns: Box<Columns<'_>>) {
        // SAFETY: only the lifetime changes. Nothing reads the columns before `take` gives them the
        // lifetime of the run again, and dropping them dereferences nothing that they borrow.
        let columns =
            unsafe { std::mem::transmute::<Box<Columns<'_>>, Box<Columns<'static>>>(columns) };
        self.0.replace(Some(columns));
    }

    /// Drops the columns.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}

pub(super) struct CachedCall<'r> {
    pub(super) column: Column<'r>,
    /// The number of closures that the call makes for each element.
    pub(super) closures: u32,
    /// The number of primitives that the call uses for each element.
    pub(super) primitives: u64,
    /// The depth of the call. A deeper call might fail.
    pub(super) depth: u32,
}

/// The best values of a function on the members of a set when any one member is left out.
pub(super) struct LeaveOneOut {
    pub(super) best: Vec<i32>,
    /// The member to which each best value belongs.
    pub(super) number: Vec<u32>,
    pub(super) second: Vec<i32>,
    pub(super) bound: i32,
    /// The numbers of closures made and of primitives called for each member.
    pub(super) costs: Vec<(u32, u64)>,
    /// The sum of `costs`.
    pub(super) total: (u32, u64),
}

/// The key of a closure's call on a column: the closure's address, and kinds and words of the
/// argument or of its two parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Call {
    pub(super) closure: u64,
    pub(super) kinds: u64,
    pub(super) words: [u64; 2],
}

/// A hash for words that are well distributed already.
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
            // No part of a tuple has this kind.
            _ => (x.identity()?, (16, 0)),
        };
        Some(Call {
            closure: address,
            kinds: u64::from(a.0) << 8 | u64::from(b.0),
            words: [a.1, b.1],
        })
    }
}
