//! Calls of one function on many elements at once, primitive by primitive.
//!
//! `sfilter(indices, condition)` calls a closure on hundreds of locations, and each call is a dozen
//! steps on small numbers: the calls take longer than the computation. Here the closure is
//! traversed once with a [`Column`] in place of each value. A column has the values of one
//! expression for all elements, numbers side by side, so that a primitive is a loop over numbers.
//!
//! ```text
//!   sfilter(x, fork(greater, compose(first, f), last))
//!
//!   elements   (0, 4) (2, 3) ...      Two(Ints [0, 2, ...], Ints [4, 3, ...])
//!   first      0      2               Ints [0, 2, ...]
//!   greater    True   False           Truths [true, false, ...]
//! ```
//!
//! A column may also be one value for all elements, a function made for each element
//! (`lbind(astuple, location)`), or a member of a container chosen for each element (`argmin`).
//! Values that all elements share are computed once.
//!
//! Only some primitives work on columns, and only on numbers and tuples of two. Anything else, such
//! as a fault, ends the attempt. Then the attempt has no effect, and the function is called on one
//! element after the other. So a program cannot observe the difference:
//!
//! - The only side effects of functions are counters of the run. Closures that calls would have
//!   made are counted, because their numbers stand for addresses. If one of them is hashed, or a
//!   primitive falls back to a default, the attempt ends.
//! - Every column has a bound on its numbers. If the bound of a result is too large for a column,
//!   the attempt ends.
//!
//! Steps measure time, so a column costs much less than one call for each element, and a run may
//! succeed that would reach the step limit otherwise.
//!
//! An outer loop asks the same question about all elements repeatedly: "how far is each location
//! from this object?". So the result of a closure for a column is cached under the same condition
//! as in the [memo](crate::memo): closure and arguments stay.

mod calls;
mod column;
mod elements;
mod extremes;
mod known;
mod numbers;
mod remembered;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::rc::Rc;

use self::column::{Cells, Column, Ints, Two};
use self::known::is_promising;
pub(super) use self::known::{Binary, ColumnOp, Unary};
pub(crate) use self::remembered::ColumnCache;
use self::remembered::{Columns, MAX_BYTES};
use super::members::Members;
use crate::fault::{Fault, Outcome};
use crate::run::Run;
use crate::value::{Closure, Value};

/// The fewest elements for columns. With fewer, calling the closure for each element is as fast as
/// one traversal.
const MIN_ELEMENTS: usize = 24;
/// The most elements in a column. With more, the caches of a CPU cannot hold several columns.
pub(super) const BLOCK: usize = 4096;

/// The reason why there is no column.
enum End {
    /// The function has to be called on one element after the other.
    OneByOne,
    /// The run has reached a limit.
    Limit(Fault),
}

type Attempt<T> = Result<T, End>;

impl From<Fault> for End {
    /// Ends the attempt. A fault that all elements share is also the fault of the first element,
    /// which calling one by one reports.
    fn from(fault: Fault) -> End {
        match fault.is_limit() {
            true => End::Limit(fault),
            false => End::OneByOne,
        }
    }
}

impl<'r> Run<'r> {
    /// Returns the numbers of the elements that satisfy a condition, or `None` if they have to be
    /// tested one by one.
    pub(super) fn select_in_columns(
        &mut self,
        members: Members<'r>,
        condition: Value<'r>,
    ) -> Option<Outcome<Vec<u32>>> {
        let mut kept = Vec::new();
        let outcome = self.in_columns(members, condition, |column, block| {
            let numbers = block.clone().map(|k| k as u32);
            match column {
                Column::Same(Value::Bool(truth)) if truth.get() => kept.extend(numbers),
                Column::Same(Value::Bool(_)) => {}
                Column::Truths(truths) => {
                    kept.extend(
                        numbers
                            .zip(truths.iter())
                            .filter_map(|(k, &is)| is.then_some(k)),
                    );
                }
                _ => return None,
            }
            Some(())
        })?;
        Some(outcome.map(|()| kept))
    }

    /// Returns the values of a function on all elements, if they are numbers, bools or locations,
    /// or `None` if the function has to be called on one element after the other.
    pub(super) fn map_in_columns(
        &mut self,
        members: Members<'r>,
        function: Value<'r>,
    ) -> Option<Outcome<&'r [Value<'r>]>> {
        let mut images = Vec::new();
        let outcome = self.in_columns(members, function, |column, block| {
            images.resize(block.end, Value::None);
            column.write(&mut images[block])
        })?;
        Some(outcome.and_then(|()| self.slice(&images)))
    }

    /// Calls a function on all elements and passes its values to `take`.
    #[inline(always)]
    fn in_columns(
        &mut self,
        members: Members<'r>,
        function: Value<'r>,
        take: impl FnMut(&Column<'r>, Range<usize>) -> Option<()>,
    ) -> Option<Outcome<()>> {
        let Value::Closure(closure) = function else {
            return None;
        };
        #[cfg(test)]
        let least = self.scratch.least_in_columns.unwrap_or(MIN_ELEMENTS);
        #[cfg(not(test))]
        let least = MIN_ELEMENTS;
        if members.len() < least || !is_promising(function, 0) {
            return None;
        }
        self.walk(members, closure, take)
    }

    fn walk(
        &mut self,
        members: Members<'r>,
        closure: &'r Closure<'r>,
        mut take: impl FnMut(&Column<'r>, Range<usize>) -> Option<()>,
    ) -> Option<Outcome<()>> {
        let (depth, closures, fallbacks) = (self.depth, self.closures, self.fallbacks);
        let hashed = self.home.memo.borrow().hashed();
        self.home.require_full_reset();
        // SAFETY: `'r` is the lifetime of this run. `require_full_reset` makes the reset before the
        // next run forget the columns, and `allow` forgets them when a scoped region begins or
        // ends. So this run has stored all of the columns since then, and they refer only to memory
        // that stays until they are forgotten: see `Traversal::stays`.
        let columns: Box<Columns<'r>> = unsafe { self.home.columns.take() };
        let mut walk = Traversal {
            columns,
            run: self,
            len: 0,
            closures: 0,
            primitives: 0,
        };
        let function = Column::Same(Value::Closure(closure));
        let (mut made, mut calls) = (0u32, 0u64);
        let mut outcome = Ok(());
        for from in (0..members.len()).step_by(BLOCK) {
            let block = from..(from + BLOCK).min(members.len());
            (walk.len, walk.closures, walk.primitives) = (block.len(), 0, 0);
            let column = walk.elements(members, block.clone());
            outcome = column
                .and_then(|elements| walk.call1(&function, &elements))
                .and_then(|column| known_or_end(take(&column, block)));
            if outcome.is_err() {
                break;
            }
            made = made.wrapping_add(walk.closures.wrapping_mul(walk.len as u32));
            calls += walk.primitives * walk.len as u64;
        }
        walk.run.home.columns.keep(walk.columns);
        let is_clean = self.fallbacks == fallbacks && self.home.memo.borrow().hashed() == hashed;
        (self.depth, self.closures, self.fallbacks) = (depth, closures, fallbacks);
        match outcome {
            Err(End::Limit(fault)) => Some(Err(fault)),
            Ok(()) if is_clean => {
                #[cfg(test)]
                {
                    self.scratch.walks += 1;
                }
                self.closures = closures.wrapping_add(made);
                self.calls_at_once += calls;
                Some(Ok(()))
            }
            _ => None,
        }
    }
}

/// The traversal of a closure with columns of elements.
struct Traversal<'a, 'r> {
    run: &'a mut Run<'r>,
    columns: Box<Columns<'r>>,
    /// The number of elements.
    len: usize,
    /// The number of closures made for each element.
    closures: u32,
    /// The number of primitives called for each element.
    primitives: u64,
}

/// Returns the value, or ends the attempt if there is none.
fn known_or_end<T>(value: Option<T>) -> Attempt<T> {
    value.ok_or(End::OneByOne)
}

impl<'r> Traversal<'_, 'r> {
    /// Charges the run for a primitive and for a loop over this many numbers.
    fn spend(&mut self, numbers: usize) -> Attempt<()> {
        self.primitives += 1;
        Ok(self.run.spend(2 + numbers / 16)?)
    }

    /// Returns the form of cells in this run.
    fn cells(&self) -> Cells {
        match self.run.triples() {
            true => Cells::Triples,
            false => Cells::Twos,
        }
    }

    fn new_id(&mut self) -> u64 {
        self.columns.count += 1;
        self.columns.count
    }

    fn ints(&mut self, items: Vec<i32>, bound: i32) -> Column<'r> {
        let id = self.new_id();
        Column::Ints(Rc::new(Ints { id, items, bound }))
    }

    fn two(&mut self, a: Column<'r>, b: Column<'r>) -> Column<'r> {
        let id = self.new_id();
        Column::Two(Rc::new(Two { id, parts: [a, b] }))
    }

    fn has_room_for(&mut self, column: &Column<'r>) -> bool {
        let bytes = self.columns.bytes + column.bytes();
        let fits = bytes <= MAX_BYTES;
        if fits {
            self.columns.bytes = bytes;
        }
        fits
    }
}
