//! A memo of closure calls: an expensive call that recurs is computed once.
//!
//! Solvers have loops in loops, and the inner loop often asks the same question again: "which
//! object is nearest to this location?", for every location, for every object. The functions are
//! closures without side effects, and the arguments are locations, objects or tuples of both, so
//! the answer is the same each time.
//!
//! A lookup has a cost, so only expensive calls are looked up. A closure is *expensive* once a call
//! of it has taken [`EXPENSIVE`] steps; calls of other closures pay for one comparison. Each later
//! call of an expensive closure that takes that many steps is stored:
//!
//! ```text
//!   closure (a number), argument (one value, or the two of a tuple)
//!       ->  value, number of closures made by the call, depth of the call
//! ```
//!
//! A key identifies values by their word: numbers and locations by content, all others by address.
//! That is exact as long as no address is released and used again. So an entry is stored only if
//! its closure, its argument and its value stay to the end of the run, or of the [scoped
//! region](Run::scoped). A tuple of two is identified by its two parts, because it is usually made
//! for the call. A value that the call itself has made is not stored unless its word is its
//! content: every call makes another object, and functions are compared by identity.
//!
//! A program cannot observe the memo:
//!
//! - The only side effects of functions are counters of the run. A hit adds the number of closures
//!   that the call had made, because these numbers stand for addresses. A call that fell back to a
//!   default is not stored.
//! - The value of a call follows from the function and the argument, with one exception: the order
//!   of a set of functions follows from their numbers. So a call in which a function or a nan is
//!   hashed is not stored. Nor is one that returns a nan, because each nan is an object of its own.
//! - A call that succeeds may fail with `RecursionError` at a greater depth. So an entry is valid
//!   for calls at its depth and above.
//!
//! A hit saves steps and memory, so a run may succeed that would reach a limit without the memo.
//! The set of hits is deterministic: it does not depend on addresses (a full table stores no more
//! and evicts nothing), and [a new allowance](Run::allow) clears the memo.

use std::cell::Cell;
use std::ptr::NonNull;

use crate::fault::Fault;
use crate::ops::astuple;
use crate::run::Run;
use crate::table::OpId;
use crate::value::{Closure, ClosureForm, Returned, Value};

/// A call of at least this many steps is worth storing.
const EXPENSIVE: u64 = 16;

/// The interval of lookups while no call of an expensive closure has recurred: only every fourth of
/// its expensive calls is looked up. That is enough to detect recurring calls in loops of hundreds,
/// and costs little if none recur.
const LOOKUP_INTERVAL: u8 = 4;
/// The interval of stored calls while no call of an expensive closure has recurred.
const STORE_INTERVAL: u8 = 16;

/// The steps charged for a hit, in addition to those of the call itself. Steps measure time.
const RECALL: usize = 3;

/// The maximum number of entries, in 2 MiB: their numbers fit 16 bits.
const MAX_ENTRIES: usize = (1 << 16) - 1;

/// The number of slots of the index when it is first used.
const FIRST_SLOTS: usize = 64;

/// The stored calls. An empty memo owns no memory.
#[derive(Default)]
pub(crate) struct Memo {
    /// The closures found to be expensive. [`MemoState`] holds a closure's number here, counted
    /// from 1.
    closures: Vec<Expensive>,
    /// The stored calls, in the order in which they were made. Calls recur in about the same order,
    /// so the next entry is mostly in the cache already.
    entries: Vec<Entry>,
    /// The index into `entries`: open addressing over a power of two of slots. A slot has the
    /// number of an entry, counted from 1 (0 is an empty slot), and bits of the call's hash.
    index: Vec<(u16, u16)>,
    /// The entry after the last one found, which is usually the next one to be looked up.
    next: usize,
    /// The number of hashes taken of values whose hash follows from a number assigned by the run.
    hashed: u64,
    /// The steps from which a call is expensive, without sampling.
    #[cfg(test)]
    pub threshold: Option<u64>,
    /// The number of hits, in all runs.
    #[cfg(test)]
    pub recalled: u64,
}

// SAFETY: the addresses in a memo are compared, and followed only in the run that stored them. A
// run stays on its thread, and the memo is cleared together with the memory the addresses point to.
unsafe impl Send for Memo {}

/// A closure found to be expensive.
struct Expensive {
    address: NonNull<u8>,
    /// The number of hits. Once the memo is full, misses are subtracted.
    hits: u32,
}

/// The state of a closure in the memo, stored in the closure. It has three bytes, because a larger
/// one would not let a closure fit a cache line.
#[derive(Default)]
pub(crate) struct MemoState {
    /// The closure's number if it is expensive, otherwise 0.
    number: Cell<[u8; 2]>,
    /// The number of expensive calls modulo [`STORE_INTERVAL`], and the bit [`LOOKUP_DUE`] if the
    /// next call is to be looked up.
    tries: Cell<u8>,
}

/// The bit of `tries` that is set if the next call is to be looked up. It is not part of the count.
const LOOKUP_DUE: u8 = 0x80;

impl MemoState {
    /// Returns whether the next call is to be looked up.
    #[inline(always)]
    pub fn is_lookup_due(&self) -> bool {
        self.tries.get() >= LOOKUP_DUE
    }

    fn set_lookup_due(&self, is_due: bool) {
        let tries = self.tries.get() & !LOOKUP_DUE;
        self.tries
            .set(if is_due { tries | LOOKUP_DUE } else { tries });
    }

    #[inline(always)]
    fn number(&self) -> u16 {
        u16::from_ne_bytes(self.number.get())
    }

    /// Counts an expensive call and returns the count.
    fn count(&self) -> u8 {
        let tries = (self.tries.get() + 1) % STORE_INTERVAL;
        self.tries.set(tries);
        tries
    }

    /// Returns whether the value of the current call is stored although no call has recurred yet.
    fn is_sample(&self) -> bool {
        self.tries.get() & !LOOKUP_DUE == 0
    }
}

/// The key of a call of an expensive closure.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Call {
    words: [u64; 2],
    /// The closure's number.
    closure: u16,
    /// The kinds of the two words, four bits each.
    kinds: u8,
}

/// A call and its value. It repeats the fields of the call, which keeps it at half a cache line.
#[derive(Clone, Copy)]
struct Entry {
    words: [u64; 2],
    value: u64,
    closure: u16,
    kinds: u8,
    /// The kind of the value.
    kind: u8,
    /// The number of closures and nans that the call made.
    made: u16,
    /// The depth of the call.
    depth: u16,
}

impl Call {
    #[inline(always)]
    fn new(closure: &Closure<'_>, parts: [Value<'_>; 2]) -> Call {
        let closure = closure.memo_state.number();
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

/// The hash of a call.
#[derive(Clone, Copy)]
struct Hash {
    /// The slot to look at first.
    slot: usize,
    /// The bits that distinguish the call from most others in nearby slots.
    bits: u16,
}

/// Returns the parts that identify an argument: both parts of a tuple of two, otherwise the value
/// itself.
fn parts(argument: Value<'_>) -> [Value<'_>; 2] {
    if let Value::Tuple(tuple) = argument
        && let [a, b] = *tuple.items
    {
        return [a, b];
    }
    // A fault is never a part of a tuple, so this key matches no tuple.
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
    /// Returns whether every possible call is stored, which only tests request.
    #[inline(always)]
    fn is_eager(&self) -> bool {
        #[cfg(test)]
        return self.threshold.is_some();
        #[cfg(not(test))]
        false
    }

    /// Removes all entries and keeps the allocated memory.
    #[inline(always)]
    pub fn clear(&mut self) {
        if !self.closures.is_empty() {
            self.closures.clear();
            self.entries.clear();
            self.index.clear();
            self.next = 0;
        }
    }

    /// Counts a hash of a value whose hash follows from a number assigned by the run.
    pub fn note_hash(&mut self) {
        self.hashed += 1;
    }

    /// Returns the number of hashes counted by [`note_hash`](Memo::note_hash).
    pub fn hashed(&self) -> u64 {
        self.hashed
    }

    fn is_full(&self) -> bool {
        self.entries.len() == MAX_ENTRIES
    }

    /// Assigns a number to a closure. Returns `None` if no number is left or the memo is full.
    fn admit(&mut self, closure: &Closure<'_>) -> Option<u16> {
        let number = u16::try_from(self.closures.len() + 1).ok()?;
        if self.is_full() {
            return None;
        }
        self.closures.push(Expensive {
            address: NonNull::from(closure).cast(),
            hits: 0,
        });
        Some(number)
    }

    /// Returns the record of a closure. A number assigned before the memo was cleared is ignored.
    #[inline(always)]
    fn known(&mut self, closure: &Closure<'_>) -> Option<&mut Expensive> {
        let number = usize::from(closure.memo_state.number());
        let known = self.closures.get_mut(number.wrapping_sub(1))?;
        (known.address == NonNull::from(closure).cast()).then_some(known)
    }

    /// Returns whether any call of the closure has recurred.
    #[inline(always)]
    fn has_hits(&mut self, closure: &Closure<'_>) -> bool {
        self.known(closure).is_some_and(|known| known.hits > 0)
    }

    /// Returns whether calls of the closure are still looked up after a miss. A full memo continues
    /// as long as there are more hits than misses.
    fn is_worth_a_miss(&mut self, number: u16) -> bool {
        if !self.is_full() {
            return true;
        }
        let closure = &mut self.closures[usize::from(number) - 1];
        closure.hits = closure.hits.saturating_sub(1);
        closure.hits > 0
    }

    /// Returns the entry of a call.
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

    /// Returns the position of a call's entry.
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

    /// Stores an entry if there is room.
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
            true => self.rebuild_index(),
            false => self.enter(self.entries.len()),
        }
    }

    /// Doubles the index.
    #[cold]
    fn rebuild_index(&mut self) {
        let slots = (2 * self.index.len()).max(FIRST_SLOTS);
        self.index.clear();
        self.index.resize(slots, (0, 0));
        (1..=self.entries.len()).for_each(|number| self.enter(number));
    }

    /// Adds the entry of this number, counted from 1, to the index.
    fn enter(&mut self, number: usize) {
        let hash = self.entries[number - 1].call().hash();
        let mask = self.index.len() - 1;
        let mut slot = hash.slot & mask;
        while self.index[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        // There are at most `MAX_ENTRIES` entries, so the number fits.
        self.index[slot] = (number as u16, hash.bits);
    }
}

const _: () = assert!(size_of::<Closure<'_>>() <= 64);

impl<'r> Run<'r> {
    /// Returns whether a call was expensive, given the steps left in the slice when it began. A
    /// call that crosses into the next slice counts as cheap.
    #[inline(always)]
    pub(crate) fn was_expensive(&self, fuel_before: u64) -> bool {
        #[cfg(test)]
        let expensive = self.home.memo.borrow().threshold.unwrap_or(EXPENSIVE);
        #[cfg(not(test))]
        let expensive = EXPENSIVE;
        fuel_before >= self.fuel() + expensive
    }

    /// Records an expensive call of a closure, if its calls can be stored.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_expensive_call(&mut self, closure: &'r Closure<'r>) {
        let home = self.home;
        let mut memo = home.memo.borrow_mut();
        let memo_state = &closure.memo_state;
        if memo.known(closure).is_none() {
            // Outside loops, a step calls its function only once, so no call recurs.
            if !home.is_in_loop() || !home.stay_for_good([Value::Closure(closure)]) {
                return;
            }
            let Some(number) = memo.admit(closure) else {
                return;
            };
            home.require_full_reset();
            memo_state.number.set(number.to_ne_bytes());
            memo_state.tries.set(0);
        }
        if memo_state.count().is_multiple_of(LOOKUP_INTERVAL) || memo.is_eager() {
            memo_state.set_lookup_due(true);
        }
    }

    /// Returns the stored value of a call.
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
        // SAFETY: the entry was stored in this run, or in the current scoped region of it, because
        // the memo is cleared together with the memory. Only values that stay to the end of either
        // are stored (`Memory::stay_for_good`), so the address is still that of the value.
        Some(unsafe { Value::from_identity(entry.kind, entry.value) })
    }

    /// Calls `outer(inner(x))` for an expensive `outer`. If `inner` makes a tuple of two, the parts
    /// of the tuple are enough for a lookup, so a hit does not make the tuple.
    #[inline(never)]
    pub(crate) fn compose_memoised(
        &mut self,
        outer: &'r Closure<'r>,
        inner: Value<'r>,
        x: Value<'r>,
    ) -> Returned<'r> {
        if let Value::Closure(inner) = inner
            && let ClosureForm::Lbind(Value::Op(op), fixed)
            | ClosureForm::Rbind(Value::Op(op), fixed) = inner.form
            && op == OpId::of(&astuple::OP)
            && self.home.memo.borrow_mut().has_hits(outer)
        {
            let parts = match inner.form {
                ClosureForm::Lbind(..) => [fixed, x],
                _ => [x, fixed],
            };
            if let Some(value) = self.recall(&Call::new(outer, parts)) {
                return Returned::new(self.spend(RECALL).map(|()| value));
            }
        }
        let outcome = self.call1(inner, x);
        Returned::new(outcome.and_then(|y| self.call1(Value::Closure(outer), y)))
    }

    /// Calls an expensive closure, unless the memo has the value.
    #[inline(never)]
    pub(crate) fn call_memoised(&mut self, closure: &'r Closure<'r>, x: Value<'r>) -> Returned<'r> {
        let home = self.home;
        let memo_state = &closure.memo_state;
        let mut memo = home.memo.borrow_mut();
        let Some(known) = memo.known(closure) else {
            drop(memo);
            memo_state.set_lookup_due(false);
            return self.call_closure1(closure, x);
        };
        let is_trial = known.hits == 0 && !memo.is_eager();
        drop(memo);
        let call = Call::new(closure, parts(x));
        if let Some(value) = self.recall(&call) {
            return Returned::new(self.spend(RECALL).map(|()| value));
        }
        if is_trial || !home.memo.borrow_mut().is_worth_a_miss(call.closure) {
            memo_state.set_lookup_due(false);
        }
        let stores = !is_trial || memo_state.is_sample();
        let (fuel, fallbacks, closures) = (self.fuel(), self.fallbacks, self.closures);
        let hashed = home.memo.borrow().hashed;
        let outcome = self.call_without_memo(closure, x);
        if let Ok(value) = outcome
            && stores
            && self.was_expensive(fuel)
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
                // The depth is at most 1,000, so it fits.
                depth: self.depth as u16,
            });
        }
        Returned::new(outcome)
    }
}

#[cfg(test)]
pub(crate) mod tests;
