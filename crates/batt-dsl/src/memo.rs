//! What closures have given, so that a dear call that comes again is made once.
//!
//! Solvers have loops in loops, and the inner one often asks the same again: "which object is nearest to this location?", for
//! every location, for every object. The functions are closures, the arguments locations, objects or tuples of both, and
//! nothing has side effects: the answer is the same.
//!
//! Looking things up is not free, so it is left to calls that are worth it. A closure is *dear* once a call of it has taken
//! [`DEAR`] steps; the others pay for one comparison. Of a dear one each call that takes as long again is remembered:
//!
//! ```text
//!   closure (a number), argument (one value, or the two of a tuple)  ->  value, closures made meanwhile, depth
//! ```
//!
//! Values are told apart by their word: numbers and locations by what they are, the rest by address. That is exact as long as
//! nothing at such an address is taken back and the address used again. So only what stays to the end of the run (or of what
//! is [apart](Run::apart)) is remembered: closure, argument and value alike. A tuple of two is seen through, since it
//! is mostly made for the call.
//!
//! A program cannot tell whether a value was remembered:
//!
//! - Functions have no side effects but what the run counts. The closures that the call had made are counted again
//!   (their numbers stand for addresses); a call that fell back to a default is not remembered, so fallbacks are counted.
//! - What a call gives follows from the function and the argument. But the order of a set of functions follows from their
//!   numbers, and those from how many were made before: a call in which a function, or a nan, is hashed is not remembered. Nor is one
//!   that gives a nan: each is an object of its own.
//! - A call that succeeds might fail deeper down, with a `RecursionError`. So a value is good for calls as deep, and less
//!   deep ones.
//!
//! Steps and memory are less, so a run may succeed that would reach a limit otherwise. Which runs do is the same every time: what is
//! remembered does not follow from addresses (nothing is displaced: when the table is full, no more is stored), and
//! whoever [begins anew with the limits](Run::allow) begins with an empty memo.

use std::ptr::NonNull;

use crate::fault::Fault;
use crate::ops::astuple;
use crate::run::Run;
use crate::table::OpId;
use crate::value::{Closure, Form, Returned, Value};

/// A call that takes as many steps is worth remembering.
const DEAR: u64 = 16;

/// Steps that it takes to look something up, beside the call: they are measures of time.
const RECALL: usize = 3;

/// Calls that are remembered at the most, in 2 MiB: their numbers fit 16 bits.
const MOST: usize = (1 << 16) - 1;

/// Slots of the index when it is first used.
const FIRST_SLOTS: usize = 64;

/// What is remembered. Empty, it has no memory of its own.
#[derive(Default)]
pub(crate) struct Memo {
    /// The closures that have proved dear. A closure has its number here, from 1: see [`Closure::number`].
    closures: Vec<Dear>,
    /// Calls of them, in the order in which they were made: calls come again in about the same order, and so what is remembered
    /// of the next one is mostly in the cache already.
    entries: Vec<Entry>,
    /// Where in `entries` a call is: open addressing, a power of two of slots. An entry's number from 1 (0: no entry), and
    /// bits of the call's hash.
    index: Vec<(u16, u16)>,
    /// The entry after the one that was found last: mostly that is what comes next.
    next: usize,
    /// How often a value was hashed whose hash follows from a number that the run has given it.
    hashed: u64,
    /// Steps from which a call is dear.
    #[cfg(test)]
    pub threshold: Option<u64>,
}

// SAFETY: the addresses are compared, and followed only in the run in which they were stored.
unsafe impl Send for Memo {}

/// A closure that has proved dear.
struct Dear {
    address: NonNull<u8>,
    /// How often it was known what a call gives; once there is no more room, less how often it was not.
    hits: u64,
}

/// A call of a dear closure, told apart from all others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Call {
    words: [u64; 2],
    /// The closure's number.
    closure: u16,
    /// Of which kinds the words are, four bits each.
    kinds: u8,
}

/// A call and what it gave. The fields of the call are its own, since so it takes half a cache line.
#[derive(Clone, Copy)]
struct Entry {
    words: [u64; 2],
    value: u64,
    closure: u16,
    kinds: u8,
    /// The kind of the value.
    kind: u8,
    /// How many closures and nans the call made.
    made: u16,
    /// How deep it was.
    depth: u16,
}

impl Call {
    #[inline(always)]
    fn new(closure: u16, parts: [Value<'_>; 2]) -> Call {
        let [a, b] = parts.map(Value::identity);
        Call {
            words: [a.1, b.1],
            closure,
            kinds: a.0 << 4 | b.0,
        }
    }

    #[inline(always)]
    fn hash(&self) -> Hash {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let [a, b] = self.words;
        let rest = u64::from(self.closure) << 8 | u64::from(self.kinds);
        let mixed = (a.rotate_left(32) ^ b.wrapping_mul(ODD) ^ rest).wrapping_mul(ODD);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(ODD);
        Hash {
            slot: (mixed >> 32) as usize,
            bits: (mixed >> 16) as u16,
        }
    }
}

/// What is first known of a call.
#[derive(Clone, Copy)]
struct Hash {
    /// Where to look first.
    slot: usize,
    /// What tells it from most others that are met there.
    bits: u16,
}

/// The parts by which an argument is known: the two of a tuple of two, otherwise itself.
fn parts(argument: Value<'_>) -> [Value<'_>; 2] {
    if let Value::Tuple(tuple) = argument
        && let [a, b] = *tuple.items
    {
        return [a, b];
    }
    // No part of a tuple is a fault.
    [argument, Value::Failed(Fault::Type)]
}

impl Entry {
    #[inline(always)]
    fn call(&self) -> Call {
        Call {
            words: self.words,
            closure: self.closure,
            kinds: self.kinds,
        }
    }
}

impl Memo {
    /// Forgets everything. The room stays.
    #[inline(always)]
    pub fn clear(&mut self) {
        if !self.closures.is_empty() {
            self.closures.clear();
            self.entries.clear();
            self.index.clear();
            self.next = 0;
        }
    }

    /// Says that a value was hashed whose hash follows from a number that the run has given it.
    pub fn note_hash(&mut self) {
        self.hashed += 1;
    }

    fn is_full(&self) -> bool {
        self.entries.len() == MOST
    }

    /// A number for a closure; none when there are no more, or no room for what it gives.
    fn admit(&mut self, closure: &Closure<'_>) -> Option<u16> {
        let number = u16::try_from(self.closures.len() + 1).ok()?;
        if self.is_full() {
            return None;
        }
        self.closures.push(Dear {
            address: NonNull::from(closure).cast(),
            hits: 0,
        });
        Some(number)
    }

    /// Is it the closure of this number? It may have got the number in an earlier memo.
    #[inline(always)]
    fn knows(&self, closure: &Closure<'_>, number: u16) -> bool {
        let known = self.closures.get(usize::from(number).wrapping_sub(1));
        known.is_some_and(|known| known.address == NonNull::from(closure).cast())
    }

    /// Should calls of the closure still be looked up, after one that was not known? Without room they are worth it as long as
    /// more are known than not.
    fn is_worth_a_miss(&mut self, number: u16) -> bool {
        if !self.is_full() {
            return true;
        }
        let closure = &mut self.closures[usize::from(number) - 1];
        closure.hits = closure.hits.saturating_sub(1);
        closure.hits > 0
    }

    /// The entry of a call.
    #[inline(always)]
    fn find(&mut self, call: &Call) -> Option<&mut Entry> {
        let is_next = self
            .entries
            .get(self.next)
            .is_some_and(|next| next.call() == *call);
        let at = match is_next {
            true => self.next,
            false => self.look_up(call)?,
        };
        self.next = at + 1;
        Some(&mut self.entries[at])
    }

    /// Where the entry of a call is.
    fn look_up(&self, call: &Call) -> Option<usize> {
        let hash = call.hash();
        let mask = self.index.len().checked_sub(1)?;
        let mut slot = hash.slot & mask;
        loop {
            let (number, bits) = self.index[slot];
            let at = usize::from(number).checked_sub(1)?;
            if bits == hash.bits && self.entries[at].call() == *call {
                return Some(at);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Stores an entry, unless there is no more room.
    fn store(&mut self, entry: Entry) {
        if let Some(known) = self.find(&entry.call()) {
            *known = entry;
            return;
        }
        if self.is_full() {
            return;
        }
        self.entries.push(entry);
        match self.entries.len() > self.index.len() / 2 {
            true => self.index_anew(),
            false => self.enter(self.entries.len()),
        }
    }

    /// Makes the index larger.
    #[cold]
    fn index_anew(&mut self) {
        let slots = (2 * self.index.len()).max(FIRST_SLOTS);
        self.index.clear();
        self.index.resize(slots, (0, 0));
        (1..=self.entries.len()).for_each(|number| self.enter(number));
    }

    /// Puts the entry of this number, from 1, into the index.
    fn enter(&mut self, number: usize) {
        let hash = self.entries[number - 1].call().hash();
        let mask = self.index.len() - 1;
        let mut slot = hash.slot & mask;
        while self.index[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        // No more than `MOST`.
        self.index[slot] = (number as u16, hash.bits);
    }
}

impl<'r> Run<'r> {
    /// Has a call been dear that began with so many steps left in the slice? Of one in which the next slice began it is not
    /// known.
    #[inline(always)]
    pub(crate) fn was_dear(&self, fuel_before: u64) -> bool {
        #[cfg(test)]
        let dear = self.home.memo.borrow().threshold.unwrap_or(DEAR);
        #[cfg(not(test))]
        let dear = DEAR;
        fuel_before >= self.fuel() + dear
    }

    /// Takes note of a dear closure, if its calls can be remembered.
    #[cold]
    #[inline(never)]
    pub(crate) fn found_dear(&mut self, closure: &'r Closure<'r>) {
        // A step that calls a function does so once.
        if !self.home.is_in_loop() || !self.home.stay_for_good([Value::Closure(closure)]) {
            return;
        }
        self.home.make_untidy();
        if let Some(number) = self.home.memo.borrow_mut().admit(closure) {
            closure.number.set(number);
        }
    }

    /// What a call has given, if that is known.
    #[inline(always)]
    fn recall(&mut self, call: &Call) -> Option<Value<'r>> {
        let mut memo = self.home.memo.borrow_mut();
        let entry = *memo.find(call)?;
        if self.depth > entry.depth.into() {
            return None;
        }
        memo.closures[usize::from(call.closure) - 1].hits += 1;
        self.closures = self.closures.wrapping_add(entry.made.into());
        // SAFETY: it was stored in this run (or what is apart in it), since the memo is cleared with the memory, and it stays.
        Some(unsafe { Value::from_identity(entry.kind, entry.value) })
    }

    /// `outer(inner(x))` for a dear closure. Where the inner function makes a tuple of two, they are enough to find out whether the
    /// call is known.
    #[inline(never)]
    pub(crate) fn compose_dear(
        &mut self,
        outer: &'r Closure<'r>,
        inner: Value<'r>,
        x: Value<'r>,
    ) -> Returned<'r> {
        if let Value::Closure(inner) = inner
            && let Form::Lbind(Value::Op(op), fixed) | Form::Rbind(Value::Op(op), fixed) =
                inner.form
            && op == OpId::of(&astuple::OP)
            && let number = outer.number.get()
            && self.home.memo.borrow().knows(outer, number)
        {
            let parts = match inner.form {
                Form::Lbind(..) => [fixed, x],
                _ => [x, fixed],
            };
            if let Some(value) = self.recall(&Call::new(number, parts)) {
                return Returned::new(self.spend(RECALL).map(|()| value));
            }
        }
        let outcome = self.call1(inner, x);
        Returned::new(outcome.and_then(|y| self.call1(Value::Closure(outer), y)))
    }

    /// Calls a dear closure, unless it is known what the call gives.
    #[inline(never)]
    pub(crate) fn call_dear(&mut self, closure: &'r Closure<'r>, x: Value<'r>) -> Returned<'r> {
        let home = self.home;
        let number = closure.number.get();
        if !home.memo.borrow().knows(closure, number) {
            closure.number.set(0);
            return self.call_closure1(closure, x);
        }
        let call = Call::new(number, parts(x));
        if let Some(value) = self.recall(&call) {
            return Returned::new(self.spend(RECALL).map(|()| value));
        }
        if !home.memo.borrow_mut().is_worth_a_miss(number) {
            closure.number.set(0);
        }
        let (fuel, fallbacks, closures) = (self.fuel(), self.fallbacks, self.closures);
        let hashed = home.memo.borrow().hashed;
        let outcome = self.call_plainly(closure, x);
        if let Ok(value) = outcome
            && self.was_dear(fuel)
            && self.fallbacks == fallbacks
            && self.check_limits().is_ok()
            && let Ok(made) = u16::try_from(self.closures.wrapping_sub(closures))
            && !value.is_nan()
            && let [a, b] = parts(x)
            && home.stay_for_good([a, b, value])
            && home.memo.borrow().hashed == hashed
        {
            let (kind, value) = value.identity();
            home.memo.borrow_mut().store(Entry {
                words: call.words,
                value,
                closure: number,
                kinds: call.kinds,
                kind,
                made,
                // No deeper than `MAX_DEPTH`.
                depth: self.depth as u16,
            });
        }
        Returned::new(outcome)
    }
}
