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
//! is mostly made for the call. A value that the call has made is not remembered either, unless it is all in its word: each call
//! makes another, and functions can be told apart.
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

use std::cell::Cell;
use std::ptr::NonNull;

use crate::fault::Fault;
use crate::ops::astuple;
use crate::run::Run;
use crate::table::OpId;
use crate::value::{Closure, Form, Returned, Value};

/// A call that takes as many steps is worth remembering.
const DEAR: u64 = 16;

/// As long as no call of a dear closure has come again, every so many of the dear ones are looked up, and every so many stored:
/// enough to notice that calls come again, in loops of hundreds, and no burden where they do not.
const TRY_LOOKING: u8 = 4;
const TRY_STORING: u8 = 16;

/// Steps that it takes to look something up, beside the call: they are measures of time.
const RECALL: usize = 3;

/// Calls that are remembered at the most, in 2 MiB: their numbers fit 16 bits.
const MOST: usize = (1 << 16) - 1;

/// Slots of the index when it is first used.
const FIRST_SLOTS: usize = 64;

/// What is remembered. Empty, it has no memory of its own.
#[derive(Default)]
pub(crate) struct Memo {
    /// The closures that have proved dear. A closure has its number here, from 1: see [`Standing`].
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
    /// Steps from which a call is dear, without a trial.
    #[cfg(test)]
    pub threshold: Option<u64>,
    /// How many calls were known, in all runs.
    #[cfg(test)]
    pub recalled: u64,
}

// SAFETY: the addresses are compared, and followed only in the run in which they were stored.
unsafe impl Send for Memo {}

/// A closure that has proved dear.
struct Dear {
    address: NonNull<u8>,
    /// How often it was known what a call gives; once there is no more room, less how often it was not.
    hits: u32,
}

/// What the memo knows of a closure, kept with it. Three bytes: with more, a closure would not fit a cache line.
#[derive(Default)]
pub(crate) struct Standing {
    /// The number, if calls have been dear; otherwise 0.
    number: Cell<[u8; 2]>,
    /// How many dear calls there were, modulo [`TRY_STORING`], and [`ASKED`] if the next one is to be looked up.
    tries: Cell<u8>,
}

/// A bit that is no part of the number of tries.
const ASKED: u8 = 0x80;

impl Standing {
    /// Is the next call to be looked up?
    #[inline(always)]
    pub fn is_asked(&self) -> bool {
        self.tries.get() >= ASKED
    }

    fn ask(&self, asked: bool) {
        let tries = self.tries.get() & !ASKED;
        self.tries.set(if asked { tries | ASKED } else { tries });
    }

    #[inline(always)]
    fn number(&self) -> u16 {
        u16::from_ne_bytes(self.number.get())
    }

    /// Counts a dear call: how many there were.
    fn count(&self) -> u8 {
        let tries = (self.tries.get() + 1) % TRY_STORING;
        self.tries.set(tries);
        tries
    }

    /// Is what the call under way gives to be stored, though none has come again?
    fn is_sample(&self) -> bool {
        self.tries.get() & !ASKED == 0
    }
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
    fn new(closure: &Closure<'_>, parts: [Value<'_>; 2]) -> Call {
        let closure = closure.standing.number();
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
    /// Is everything remembered that can be? Only in tests.
    #[inline(always)]
    fn is_eager(&self) -> bool {
        #[cfg(test)]
        return self.threshold.is_some();
        #[cfg(not(test))]
        false
    }

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

    /// How often such a value was hashed.
    pub fn hashed(&self) -> u64 {
        self.hashed
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

    /// What is known of a closure. It may have got its number in an earlier memo; then it is as good as none.
    #[inline(always)]
    fn known(&mut self, closure: &Closure<'_>) -> Option<&mut Dear> {
        let number = usize::from(closure.standing.number());
        let known = self.closures.get_mut(number.wrapping_sub(1))?;
        (known.address == NonNull::from(closure).cast()).then_some(known)
    }

    /// Has a call of the closure come again?
    #[inline(always)]
    fn has_hits(&mut self, closure: &Closure<'_>) -> bool {
        self.known(closure).is_some_and(|known| known.hits > 0)
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

const _: () = assert!(size_of::<Closure<'_>>() <= 64);

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

    /// Takes note of a dear call of a closure, if such calls can be remembered.
    #[cold]
    #[inline(never)]
    pub(crate) fn found_dear(&mut self, closure: &'r Closure<'r>) {
        let home = self.home;
        let mut memo = home.memo.borrow_mut();
        let standing = &closure.standing;
        if memo.known(closure).is_none() {
            // A step that calls a function does so once.
            if !home.is_in_loop() || !home.stay_for_good([Value::Closure(closure)]) {
                return;
            }
            let Some(number) = memo.admit(closure) else {
                return;
            };
            home.make_untidy();
            standing.number.set(number.to_ne_bytes());
            standing.tries.set(0);
        }
        if standing.count().is_multiple_of(TRY_LOOKING) || memo.is_eager() {
            standing.ask(true);
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
        let hits = &mut memo.closures[usize::from(call.closure) - 1].hits;
        *hits = hits.saturating_add(1);
        #[cfg(test)]
        {
            memo.recalled += 1;
        }
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
            && self.home.memo.borrow_mut().has_hits(outer)
        {
            let parts = match inner.form {
                Form::Lbind(..) => [fixed, x],
                _ => [x, fixed],
            };
            if let Some(value) = self.recall(&Call::new(outer, parts)) {
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
        let standing = &closure.standing;
        let mut memo = home.memo.borrow_mut();
        let Some(known) = memo.known(closure) else {
            drop(memo);
            standing.ask(false);
            return self.call_closure1(closure, x);
        };
        let is_trial = known.hits == 0 && !memo.is_eager();
        drop(memo);
        let call = Call::new(closure, parts(x));
        if let Some(value) = self.recall(&call) {
            return Returned::new(self.spend(RECALL).map(|()| value));
        }
        if is_trial || !home.memo.borrow_mut().is_worth_a_miss(call.closure) {
            standing.ask(false);
        }
        let stores = !is_trial || standing.is_sample();
        let (fuel, fallbacks, closures) = (self.fuel(), self.fallbacks, self.closures);
        let hashed = home.memo.borrow().hashed;
        let outcome = self.call_plainly(closure, x);
        if let Ok(value) = outcome
            && stores
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
                closure: call.closure,
                kinds: call.kinds,
                kind,
                made,
                // At most 1,000.
                depth: self.depth as u16,
            });
        }
        Returned::new(outcome)
    }
}

#[cfg(test)]
pub(crate) mod tests;
