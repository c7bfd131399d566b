//! The memory of a run, and what of it can be taken back before the run ends.
//!
//! Values live until their run ends, with one exception: a loop that calls a function for every element takes back
//! what a call has made once nothing of it is needed, which is so when the result points to none of it. A loop
//! *marks* where the memory stands before a call, and releases it to that mark afterwards.
//!
//! Values never change, but for *notes*: what somebody has found out about a set or a tuple is kept with it
//! (its order, its hash, a table for finding elements). A note may be made late, inside a loop, about a value that
//! is older than the mark. Such a note has to stay. So there is a second arena for *lasting* notes.
//!
//! ```text
//!   main     | older than the loop | images kept so far |mark| made by this call -> taken back |
//!   lasting  | notes about older values, made inside loops |
//! ```
//!
//! Why nothing that stays points to what is taken back. A value *stays* at a mark if it was made before it, or if it is
//! lasting. Let all that stays point only to what stays (true at the moment of the mark: nothing is newer).
//!
//! - A new value in the main arena does not stay; what it points to does not matter.
//! - Notes are the only pointers that change in values that stay. Whatever is allocated while a note is made is
//!   allocated under [`Run::noting`] of its owner, and so is lasting if the owner stays. It is made from what the
//!   owner points to, directly or not, and from other parts of the same note: so all of it points to what stays.
//!   The owner's sources get notes of their own on the way (their order is worked out before that of the owner). They
//!   are owners themselves then; being reachable from something that stays they stay, and their notes are lasting.
//! - Making a note calls no function of the program, so no mark is made meanwhile.
//!
//! Marks nest, and the argument holds for each of them; but something may stay at the inner mark and not at the outer
//! one, and notes about it are lasting though they are of no use once the outer mark is released. So lasting memory is
//! released with a mark as well, unless a note has been made since about an owner that stays at this very mark.
//!
//! Where assertions are checked, released memory is overwritten: tests would find a value that is still in use.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

use crate::arena::{Arena, Position};
use crate::fault::Outcome;
use crate::run::Run;
use crate::value::Value;

/// What a run's values are in.
#[derive(Default)]
pub(crate) struct Memory {
    pub main: Arena,
    lasting: Arena,
    /// Bytes of the run's budget that are in the lasting arena.
    lasting_bytes: Cell<usize>,
    /// The loops under way, the innermost last.
    marks: RefCell<Vec<Mark>>,
}

/// Where the memory of a run stands before a turn of a loop.
struct Mark {
    main: Position,
    lasting: Position,
    lasting_bytes: usize,
    /// What the run might still allocate.
    budget: usize,
    /// Has a note been made since about something that stays?
    noted: bool,
}

/// A loop under way.
pub(crate) struct Turns {
    /// Where the main arena stood when this turn began.
    start: Position,
}

impl Memory {
    /// Takes everything back.
    #[inline(always)]
    pub fn reset(&mut self) {
        if self.main.reset() {
            self.reset_rest();
        }
    }

    #[cold]
    fn reset_rest(&mut self) {
        self.lasting.reset();
        self.lasting_bytes.set(0);
        // A panic may have left some.
        self.marks.get_mut().clear();
    }

    fn mark(&self, budget: usize) -> Mark {
        Mark {
            main: self.main.position(),
            lasting: self.lasting.position(),
            lasting_bytes: self.lasting_bytes.get(),
            budget,
            noted: false,
        }
    }

    /// Does what lies at this address stay when memory is released to a mark?
    fn stays(&self, mark: &Mark, address: NonNull<u8>) -> bool {
        !self.main.is_after(mark.main, address) && !self.lasting.is_after(mark.lasting, address)
    }

    /// Is a note about what lies at this address lasting? If so, lasting memory will stay.
    fn is_lasting(&self, owner: NonNull<u8>) -> bool {
        let mut marks = self.marks.borrow_mut();
        match marks.last() {
            None => return false,
            Some(innermost) if self.main.is_after(innermost.main, owner) => return false,
            Some(_) => {}
        }
        // What stays at an outer mark stays at the inner ones.
        let staying = marks.iter_mut().rev();
        for mark in staying.take_while(|mark| self.stays(mark, owner)) {
            mark.noted = true;
        }
        true
    }
}

impl<'r> Run<'r> {
    /// Makes a note about `owner`: whatever is allocated for it stays as long as the owner does.
    #[inline]
    pub(crate) fn noting<O, T>(&mut self, owner: &O, make: impl FnOnce(&mut Run<'r>) -> T) -> T {
        if !self.in_loop() {
            return make(self);
        }
        self.noting_in_loop(NonNull::from(owner).cast(), make)
    }

    #[inline(always)]
    fn in_loop(&self) -> bool {
        !self.home.marks.borrow().is_empty()
    }

    #[inline(never)]
    fn noting_in_loop<T>(&mut self, owner: NonNull<u8>, make: impl FnOnce(&mut Run<'r>) -> T) -> T {
        let home = self.home;
        if !home.is_lasting(owner) || std::ptr::eq(self.arena, &home.lasting) {
            return make(self);
        }
        home.main.make_untidy();
        let arena = std::mem::replace(&mut self.arena, &home.lasting);
        let budget = self.budget();
        let made = make(self);
        let bytes = budget - self.budget();
        home.lasting_bytes.set(home.lasting_bytes.get() + bytes);
        self.arena = arena;
        made
    }

    /// A loop whose calls leave nothing behind: see [`turn1`](Run::turn1).
    #[inline]
    pub(crate) fn in_turns<T>(&mut self, body: impl FnOnce(&mut Run<'r>, &mut Turns) -> T) -> T {
        debug_assert!(std::ptr::eq(self.arena, &self.home.main));
        let mark = self.home.mark(self.budget());
        let mut turns = Turns { start: mark.main };
        self.home.marks.borrow_mut().push(mark);
        let result = body(self, &mut turns);
        self.home.marks.borrow_mut().pop();
        result
    }

    /// Calls a function in a turn of a loop. What the call has made is taken back, unless its value is part of that.
    #[inline(always)]
    pub(crate) fn turn1(
        &mut self,
        turns: &mut Turns,
        f: Value<'r>,
        a: Value<'r>,
    ) -> Outcome<Value<'r>> {
        self.begin_turn(turns);
        let outcome = self.call1(f, a);
        // SAFETY: the turn is this call, and of what it has made we have the value alone.
        unsafe { self.end_turn(turns, outcome) };
        outcome
    }

    /// The same with two arguments.
    #[inline(always)]
    pub(crate) fn turn2(
        &mut self,
        turns: &mut Turns,
        f: Value<'r>,
        a: Value<'r>,
        b: Value<'r>,
    ) -> Outcome<Value<'r>> {
        self.begin_turn(turns);
        let outcome = self.call2(f, a, b);
        // SAFETY: the turn is this call, and of what it has made we have the value alone.
        unsafe { self.end_turn(turns, outcome) };
        outcome
    }

    /// Asks whether a condition holds, in a turn of a loop.
    #[inline(always)]
    pub(crate) fn test(
        &mut self,
        turns: &mut Turns,
        condition: Value<'r>,
        a: Value<'r>,
    ) -> Outcome<bool> {
        self.begin_turn(turns);
        let verdict = self.call1(condition, a);
        let truth = verdict.map(|verdict| self.truth(verdict));
        // SAFETY: the turn is this call, and nothing of it is used any more.
        unsafe { self.end_turn(turns, Ok(Value::None)) };
        truth
    }

    /// `a < b`, in a turn of a loop.
    #[inline(always)]
    pub(crate) fn lt_in_turn(
        &mut self,
        turns: &mut Turns,
        a: Value<'r>,
        b: Value<'r>,
    ) -> Outcome<bool> {
        self.begin_turn(turns);
        let less = self.lt(a, b);
        // SAFETY: the turn is this comparison, and nothing of it is used any more.
        unsafe { self.end_turn(turns, Ok(Value::None)) };
        less
    }

    /// Begins a turn: what is there now stays.
    #[inline(always)]
    fn begin_turn(&mut self, turns: &mut Turns) {
        if !self.home.main.is_at(turns.start) {
            self.move_on(turns);
        }
    }

    #[cold]
    #[inline(never)]
    fn move_on(&mut self, turns: &mut Turns) {
        if let Some(mark) = self.home.marks.borrow_mut().last_mut() {
            *mark = self.home.mark(self.budget());
            turns.start = mark.main;
        }
    }

    /// Ends a turn. What was made in it is taken back, unless the value is part of that.
    ///
    /// # Safety
    ///
    /// Of what was made in this turn nothing is used any more but the value. Notes are not meant: they know
    /// themselves how long to stay.
    #[inline(always)]
    unsafe fn end_turn(&mut self, turns: &mut Turns, outcome: Outcome<Value<'r>>) {
        if !self.home.main.is_at(turns.start) {
            let address = outcome.ok().and_then(Value::address);
            // SAFETY: as promised by the caller.
            unsafe { self.settle(turns, address) };
        }
    }

    /// # Safety
    ///
    /// As for [`end_turn`](Run::end_turn); `value` is where the value is.
    #[inline(never)]
    unsafe fn settle(&mut self, turns: &mut Turns, value: Option<NonNull<u8>>) {
        let home = self.home;
        let mut marks = home.marks.borrow_mut();
        let Some(mark) = marks.last_mut() else {
            return;
        };
        if value.is_none_or(|address| home.stays(mark, address)) {
            let before = self.budget();
            let mut budget = mark.budget;
            if mark.noted {
                budget -= home.lasting_bytes.get() - mark.lasting_bytes;
            } else {
                // SAFETY: nothing that stays points to what is lasting and newer than the mark: only notes about
                // owners that do not stay were made since.
                unsafe { home.lasting.rewind(mark.lasting) };
                home.lasting_bytes.set(mark.lasting_bytes);
            }
            // SAFETY: the value stays, nothing else that was made since the mark is used, and nothing that stays
            // points to any of it: see the head of this module.
            unsafe { home.main.rewind(mark.main) };
            self.scratch.released += (budget - before) as u64;
            self.set_budget(budget);
        }
        *mark = home.mark(self.budget());
        turns.start = mark.main;
    }
}

impl Value<'_> {
    /// Where the value is, unless it is all in its word.
    fn address(self) -> Option<NonNull<u8>> {
        Some(match self {
            Value::Failed(_)
            | Value::None
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Pair(_)
            | Value::Cell(_)
            | Value::Segment(_)
            | Value::Op(_) => return None,
            Value::Row(row) => NonNull::from(row).cast(),
            Value::Grid(grid) => NonNull::from(grid).cast(),
            Value::Concat(concat) => NonNull::from(concat).cast(),
            Value::Tuple(tuple) => NonNull::from(tuple).cast(),
            Value::Set(set) => NonNull::from(set).cast(),
            Value::Closure(closure) => NonNull::from(closure).cast(),
        })
    }
}
