//! The memory of a run, and which parts of it are released before the run ends.
//!
//! Values live until their run ends, with one exception. A loop that calls a function for every
//! element releases the values made by a call once none of them is needed: when the result points
//! to none of them, or when an equal result collected before replaces it. The loop takes a *mark*
//! of the memory before a call and releases memory back to that mark afterwards.
//!
//! Values never change, but facts about a set or tuple (its order, its hash, a lookup table) are
//! cached beside it as *notes*. A note may be made inside a loop about a value older than the mark,
//! and then has to stay. So there is a second arena for *lasting* notes.
//!
//! ```text
//!   main     | older than the loop | images kept so far |mark| made by this call -> released |
//!   lasting  | notes about older values, made inside loops |
//! ```
//!
//! The invariant: **nothing that stays points to released memory.** A value *stays* at a mark if it
//! was made before the mark, or if it is lasting. The invariant holds at the moment of the mark,
//! because nothing is newer. It is kept because:
//!
//! - A new value in the main arena does not stay, so its pointers do not matter.
//! - Notes are the only pointers that change in values that stay. Everything allocated for a note
//!   is allocated under [`Run::make_note`] of its owner, so it is lasting if the owner stays. It is
//!   made from values the owner points to, directly or not, and from other parts of the same note,
//!   all of which stay. The sources of the owner get notes of their own on the way, because their
//!   order is computed first. They are reachable from something that stays, so they stay, and their
//!   notes are lasting too.
//! - Making a note calls no function of the program, so no mark is taken meanwhile.
//!
//! Marks nest, and the argument holds for each of them. A value may stay at the inner mark and not
//! at the outer one; notes about it are lasting although the outer mark makes them useless. So
//! releasing a mark also releases lasting memory, unless a note was made since about an owner that
//! stays at this mark.
//!
//! The solvers of a batt share some values and own others. [`Run::scoped`] runs the unshared part
//! of one solver: its values are in a *scoped region*, which is released as a whole. Shared values
//! are made outside of it, from shared values alone, so they never point into the region. Notes
//! about
//! shared values are made outside as well, by the same rule: they stay as long as their owner.
//! These notes are free for the solver that triggers them, so that a solver's limits never depend
//! on its neighbours. Each shared value has at most one note of a kind, so their memory is bounded.
//!
//! Debug builds overwrite released memory, so tests find values that are used after their release.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::arena::{Arena, Position};
use crate::fault::Outcome;
use crate::memo::Memo;
use crate::ops::ColumnCache;
use crate::run::Run;
use crate::value::Value;

/// The memory of a workspace.
#[derive(Default)]
pub(crate) struct Memory {
    /// Values that stay to the end of the run.
    shared: Region,
    /// Values of the [scoped region](Run::scoped).
    own: Region,
    /// Whether a scoped region is active, so that values are made there.
    scoped: Cell<bool>,
    /// The bytes that may still be allocated outside while a scoped region is active, if bounded.
    shared_left: Cell<Option<usize>>,
    /// The positions of the outer arenas, values and notes, when a [computation
    /// outside](Outside::compute) began.
    computing: Cell<Option<[Position; 2]>>,
    /// Whether a shared note is being made.
    making_shared_note: Cell<bool>,
    /// The active loops, the innermost last. All of them are in the active region.
    marks: RefCell<Vec<Mark>>,
    /// The memo of closure calls. It points only to what [stays for good](Memory::stay_for_good).
    pub(crate) memo: RefCell<Memo>,
    /// The columns cached in this run.
    pub(crate) columns: ColumnCache,
}

/// Values and the lasting notes about them.
#[derive(Default)]
struct Region {
    main: Arena,
    lasting: Arena,
    /// The bytes of lasting notes. Loops do not return them to the run's budget.
    lasting_bytes: Cell<usize>,
}

/// The state of a run's memory before an iteration of a loop.
struct Mark {
    main: Position,
    lasting: Position,
    lasting_bytes: usize,
    /// The bytes that the run could still allocate.
    budget: usize,
    /// Whether a note was made since about a value that stays.
    noted: bool,
}

/// An active loop.
pub(crate) struct LoopState {
    /// The position of the main arena when this iteration began.
    start: Position,
    /// The same fields as in the mark.
    lasting_bytes: usize,
    budget: usize,
    /// Whether some call has made a value that stays. Most later calls will make one too, so
    /// nothing is released from then on: checking every iteration took a fifth of the time of such
    /// loops.
    over: bool,
}

impl LoopState {
    fn new(mark: &Mark) -> LoopState {
        LoopState {
            start: mark.main,
            lasting_bytes: mark.lasting_bytes,
            budget: mark.budget,
            over: false,
        }
    }
}

impl Memory {
    /// Releases everything and returns the arena in which the next run makes its values.
    #[inline(always)]
    pub fn reset(&mut self) {
        if self.shared.main.reset() {
            self.reset_rest();
        }
    }

    #[cold]
    fn reset_rest(&mut self) {
        self.shared.lasting.reset();
        self.shared.lasting_bytes.set(0);
        self.own.main.reset();
        self.own.lasting.reset();
        self.own.lasting_bytes.set(0);
        // A panic may have left these set.
        self.scoped.set(false);
        self.shared_left.set(None);
        self.computing.set(None);
        self.making_shared_note.set(false);
        self.marks.get_mut().clear();
        self.memo.get_mut().clear();
        self.columns.forget();
    }

    /// Makes the next reset clear more than the values.
    pub fn require_full_reset(&self) {
        self.shared.main.require_full_reset();
    }

    /// Returns whether a loop that releases memory is active.
    pub fn is_in_loop(&self) -> bool {
        !self.marks.borrow().is_empty()
    }

    /// Returns whether the values stay to the end of the run or scoped region, and existed before
    /// the current iteration of the outermost loop. They do if they stay at the mark of that loop:
    /// the mark only moves forward, and later loops take their marks later.
    pub fn stay_for_good<const N: usize>(&self, values: [Value<'_>; N]) -> bool {
        let (marks, region) = (self.marks.borrow(), self.region());
        let mut addresses = values.iter().filter_map(|value| value.address());
        match marks.first() {
            Some(outermost) => addresses.all(|address| region.stays(outermost, address)),
            None => addresses.next().is_none(),
        }
    }

    /// Returns the arena in which a new run makes its values.
    #[inline(always)]
    pub fn main(&self) -> &Arena {
        &self.shared.main
    }

    /// Returns the active region.
    #[inline(always)]
    fn region(&self) -> &Region {
        match self.scoped.get() {
            false => &self.shared,
            true => &self.own,
        }
    }

    /// Subtracts from the bytes that may be allocated outside.
    fn take_shared(&self, bytes: usize) {
        let left = self.shared_left.get();
        self.shared_left
            .set(left.map(|left| left.saturating_sub(bytes)));
    }

    /// Returns whether several solvers share the value at this address, so that all of them profit
    /// from a note about it.
    fn is_shared(&self, owner: NonNull<u8>) -> bool {
        match self.computing.get() {
            Some(start) => self.shared.stays_at(start, owner),
            None => self.scoped.get() && !self.own.holds(owner),
        }
    }

    /// Returns the arena for a note about the value at this address; `None` for the current arena.
    fn arena_for_note(&self, owner: NonNull<u8>) -> Option<&Arena> {
        let region = self.region();
        let mut marks = self.marks.borrow_mut();
        if self.scoped.get() && !region.holds(owner) {
            // The note stays when the scoped region is released.
            marks.iter_mut().for_each(|mark| mark.noted = true);
            return Some(&self.shared.main);
        }
        match marks.last() {
            None => return None,
            Some(innermost) if region.main.is_after(innermost.main, owner) => return None,
            Some(_) => {}
        }
        // A value that stays at an outer mark also stays at the inner ones.
        let staying = marks.iter_mut().rev();
        for mark in staying.take_while(|mark| region.stays(mark, owner)) {
            mark.noted = true;
        }
        Some(&region.lasting)
    }
}

impl Region {
    fn mark(&self, budget: usize) -> Mark {
        Mark {
            main: self.main.position(),
            lasting: self.lasting.position(),
            lasting_bytes: self.lasting_bytes.get(),
            budget,
            noted: false,
        }
    }

    /// Returns whether the value at this address stays when memory is released to a mark.
    fn stays(&self, mark: &Mark, address: NonNull<u8>) -> bool {
        self.stays_at([mark.main, mark.lasting], address)
    }

    /// Returns whether the value at this address existed when the arenas were at these positions.
    fn stays_at(&self, [main, lasting]: [Position; 2], address: NonNull<u8>) -> bool {
        !self.main.is_after(main, address) && !self.lasting.is_after(lasting, address)
    }

    fn holds(&self, address: NonNull<u8>) -> bool {
        self.main.is_after(Position::START, address)
            || self.lasting.is_after(Position::START, address)
    }
}

impl<'r> Run<'r> {
    /// Makes a note about `owner`: everything that `make` allocates stays as long as the owner.
    #[inline]
    pub(crate) fn make_note<O, T>(&mut self, owner: &O, make: impl FnOnce(&mut Run<'r>) -> T) -> T {
        if !self.needs_arena_for_note() {
            return make(self);
        }
        self.make_note_elsewhere(NonNull::from(owner).cast(), make)
    }

    /// Returns whether a note may need an arena other than the current one.
    #[inline(always)]
    fn needs_arena_for_note(&self) -> bool {
        let home = self.home;
        home.scoped.get() || home.computing.get().is_some() || home.is_in_loop()
    }

    #[inline(never)]
    fn make_note_elsewhere<T>(
        &mut self,
        owner: NonNull<u8>,
        make: impl FnOnce(&mut Run<'r>) -> T,
    ) -> T {
        let home = self.home;
        if !home.making_shared_note.get() && home.is_shared(owner) {
            home.making_shared_note.set(true);
            let limits = self.full_allowance();
            let (made, bytes) = self.for_free(limits, |run| run.make_note_elsewhere(owner, make));
            home.making_shared_note.set(false);
            home.take_shared(bytes);
            return made;
        }
        let Some(place) = home.arena_for_note(owner) else {
            return make(self);
        };
        home.require_full_reset();
        let is_nested = !std::ptr::eq(self.arena, &home.region().main);
        let arena = std::mem::replace(&mut self.arena, place);
        let budget = self.budget();
        let made = make(self);
        self.arena = arena;
        // A shared note is free, and the outer note counts the bytes of a nested one.
        if !home.making_shared_note.get() && !is_nested {
            let lasting_bytes = &home.region().lasting_bytes;
            lasting_bytes.set(lasting_bytes.get() + budget - self.budget());
        }
        made
    }

    /// Runs a loop that releases the values made by its calls: see
    /// [`call1_in_loop`](Run::call1_in_loop).
    #[inline]
    pub(crate) fn in_loop<T>(&mut self, body: impl FnOnce(&mut Run<'r>, &mut LoopState) -> T) -> T {
        debug_assert!(std::ptr::eq(self.arena, &self.home.region().main));
        let mark = self.home.region().mark(self.budget());
        let mut state = LoopState::new(&mark);
        self.home.marks.borrow_mut().push(mark);
        let result = body(self, &mut state);
        self.home.marks.borrow_mut().pop();
        result
    }

    /// Calls a function in an iteration of a loop. Releases everything that the call has made,
    /// unless its value points to some of it.
    #[inline(always)]
    pub(crate) fn call1_in_loop(
        &mut self,
        state: &mut LoopState,
        f: Value<'r>,
        a: Value<'r>,
    ) -> Outcome<Value<'r>> {
        self.begin_iteration(state);
        let outcome = self.call1(f, a);
        // SAFETY: the iteration began before this call, nothing else was allocated in it, and
        // `outcome` is all that this function keeps of the call.
        unsafe { self.end_iteration(state, outcome) };
        outcome
    }

    /// Calls a function with two arguments, otherwise like [`call1_in_loop`](Run::call1_in_loop).
    #[inline(always)]
    pub(crate) fn call2_in_loop(
        &mut self,
        state: &mut LoopState,
        f: Value<'r>,
        a: Value<'r>,
        b: Value<'r>,
    ) -> Outcome<Value<'r>> {
        self.begin_iteration(state);
        let outcome = self.call2(f, a, b);
        // SAFETY: the iteration began before this call, nothing else was allocated in it, and
        // `outcome` is all that this function keeps of the call.
        unsafe { self.end_iteration(state, outcome) };
        outcome
    }

    /// Runs one iteration of a loop that collects values. `collect` returns the number of the
    /// call's value, and whether that value was collected before. If it was, everything that the
    /// call has made is released.
    ///
    /// # Safety
    ///
    /// When `collect` returns `true`, nothing that the caller or `collect` keeps points to memory
    /// allocated since the call began: neither the value nor any part of it.
    #[inline(always)]
    pub(crate) unsafe fn collect_in_loop(
        &mut self,
        state: &mut LoopState,
        call: impl FnOnce(&mut Run<'r>) -> Outcome<Value<'r>>,
        collect: impl FnOnce(&mut Run<'r>, Value<'r>) -> (u32, bool),
    ) -> Outcome<u32> {
        self.begin_iteration(state);
        let value = call(self)?;
        let (number, is_old) = collect(self, value);
        if is_old {
            // SAFETY: the iteration is this call and the search for its value. The value was
            // dropped in favour of an older one, and by the contract of this function neither
            // `collect` nor the caller keeps a pointer to memory allocated since the call began.
            unsafe { self.end_iteration(state, Ok(Value::None)) };
        }
        Ok(number)
    }

    /// Tests a condition in an iteration of a loop.
    #[inline(always)]
    pub(crate) fn test_in_loop(
        &mut self,
        state: &mut LoopState,
        condition: Value<'r>,
        a: Value<'r>,
    ) -> Outcome<bool> {
        self.begin_iteration(state);
        let verdict = self.call1(condition, a);
        let truth = verdict.map(|verdict| self.truth(verdict));
        // SAFETY: the iteration is this call, and only a `bool` outlives it.
        unsafe { self.end_iteration(state, Ok(Value::None)) };
        truth
    }

    /// Returns `a < b`, computed in an iteration of a loop.
    #[inline(always)]
    pub(crate) fn lt_in_loop(
        &mut self,
        state: &mut LoopState,
        a: Value<'r>,
        b: Value<'r>,
    ) -> Outcome<bool> {
        self.begin_iteration(state);
        let less = self.lt(a, b);
        // SAFETY: the iteration is this comparison, and only a `bool` outlives it.
        unsafe { self.end_iteration(state, Ok(Value::None)) };
        less
    }

    /// Begins an iteration: everything that exists now stays.
    #[inline(always)]
    fn begin_iteration(&mut self, state: &mut LoopState) {
        if !state.over && !self.arena.is_at(state.start) {
            self.move_on(state);
        }
    }

    #[cold]
    #[inline(never)]
    fn move_on(&mut self, state: &mut LoopState) {
        if let Some(mark) = self.home.marks.borrow_mut().last_mut() {
            *mark = self.home.region().mark(self.budget());
            *state = LoopState::new(mark);
        }
    }

    /// Ends an iteration. Releases everything made in it, unless the value points to some of it.
    ///
    /// # Safety
    ///
    /// Of everything allocated since [`begin_iteration`](Run::begin_iteration), the caller keeps no
    /// pointer except inside the value of `outcome`. Notes are exempt: `make_note` places them so
    /// that they stay as long as their owner.
    #[inline(always)]
    unsafe fn end_iteration(&mut self, state: &mut LoopState, outcome: Outcome<Value<'r>>) {
        if state.over || self.arena.is_at(state.start) {
            return;
        }
        if outcome.ok().and_then(Value::address).is_some() {
            state.over = true;
            return;
        }
        let is_noted = self.home.region().lasting_bytes.get() != state.lasting_bytes;
        if !is_noted {
            // The common case: nothing made in this iteration stays, and the mark serves the next
            // one as well.
            let before = self.budget();
            self.scratch.lowest = self.scratch.lowest.min(before);
            self.scratch.released += (state.budget - before) as u64;
            self.set_budget(state.budget);
            // SAFETY: `start` is the position at which this iteration began. The value has no
            // address, the caller keeps no other pointer to memory of this iteration, and by the
            // invariant of this module nothing that stays points to main memory after `start`.
            unsafe { self.arena.rewind(state.start) };
        } else {
            // SAFETY: the caller of `end_iteration` keeps no pointer to memory of this iteration
            // except inside the value, and the value has no address.
            unsafe { self.settle(state) };
        }
    }

    /// Ends an iteration in which lasting notes were made, by releasing memory back to the mark.
    ///
    /// # Safety
    ///
    /// The conditions of [`end_iteration`](Run::end_iteration) hold, and no part of the value was
    /// allocated after the mark.
    #[inline(never)]
    unsafe fn settle(&mut self, state: &mut LoopState) {
        let region = self.home.region();
        let mut marks = self.home.marks.borrow_mut();
        let Some(mark) = marks.last_mut() else {
            return;
        };
        let before = self.budget();
        self.scratch.lowest = self.scratch.lowest.min(before);
        let mut budget = mark.budget;
        if mark.noted {
            budget -= region.lasting_bytes.get() - mark.lasting_bytes;
        } else {
            // SAFETY: notes made since the mark have owners that do not stay (`mark.noted` is
            // false), so nothing that stays points to lasting memory after the mark, and the owners
            // are released below.
            unsafe { region.lasting.rewind(mark.lasting) };
            region.lasting_bytes.set(mark.lasting_bytes);
        }
        // SAFETY: the caller uses nothing made since the mark, and by the invariant of this module
        // nothing that stays points to it.
        unsafe { region.main.rewind(mark.main) };
        self.scratch.released += (budget - before) as u64;
        self.set_budget(budget);
        *mark = region.mark(self.budget());
        *state = LoopState::new(mark);
    }
}

/// The part of a run's limits that is still unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub(crate) steps: u64,
    pub(crate) memory: usize,
}

/// The cost of a computation that had limits of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Units of work.
    pub steps: u64,
    /// Bytes that stay allocated.
    pub memory: usize,
    /// The largest number of bytes in use during the computation.
    pub peak: usize,
}

/// The memory outside of a [scoped region](Run::scoped). Values there have the lifetime `'r`,
/// values in the region `'s`.
pub struct Outside<'r, 's>(Exactly<'r>, Exactly<'s>);

/// A lifetime that can be neither shortened nor extended.
type Exactly<'a> = PhantomData<fn(&'a ()) -> &'a ()>;

impl<'r> Run<'r> {
    /// Restores the full limits.
    pub fn renew(&mut self) {
        self.allow(self.full_allowance());
    }

    /// Bounds the bytes allocated outside while a [scoped region](Run::scoped) is active, for all
    /// regions together.
    pub fn bound_shared(&mut self, bytes: usize) {
        self.home.require_full_reset();
        self.home.shared_left.set(Some(bytes));
    }

    /// Runs `body` with limits of its own and in a region of its own, whose values are released
    /// when it is done.
    ///
    /// A scoped region inside another one belongs to the outer one, and so does its memory.
    ///
    /// Values of the region cannot be kept:
    ///
    /// ```compile_fail
    /// # use batt_dsl::{Dialect, Limits, Workspace};
    /// Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
    ///     let mut kept = None;
    ///     run.scoped(|run, _| kept = run.make_row(&[1, 2, 3, 4]).ok());
    /// });
    /// ```
    pub fn scoped<T>(
        &mut self,
        body: impl for<'s> FnOnce(&mut Run<'s>, &Outside<'r, 's>) -> T,
    ) -> T {
        let home = self.home;
        if home.scoped.get() {
            return body(self, &Outside(PhantomData, PhantomData));
        }
        assert!(home.marks.borrow().is_empty(), "not inside a loop");
        home.require_full_reset();
        let rest = self.allowance();
        home.scoped.set(true);
        self.arena = &home.own.main;
        self.allow(self.full_allowance());
        let result = body(self, &Outside(PhantomData, PhantomData));
        self.arena = &home.shared.main;
        home.scoped.set(false);
        // SAFETY: values of the region have a lifetime that exists only inside `body`, so neither
        // `body` nor its result can keep one. By the invariant of this module no shared value
        // points into the region. The memo and the remembered columns may; `allow` clears them
        // below, before anything reads them.
        unsafe {
            home.own.main.rewind(Position::START);
            home.own.lasting.rewind(Position::START);
        }
        home.own.lasting_bytes.set(0);
        self.allow(rest);
        result
    }
}

impl<'r, 's> Outside<'r, 's> {
    /// Converts a value from outside to one that the region can use.
    #[inline(always)]
    pub fn bring(&self, value: Value<'r>) -> Value<'s> {
        // SAFETY: memory outside lives longer than the region, so the shorter lifetime is sound.
        // `'s` is invariant, and notes about the value are made outside (`arena_for_note`), so no
        // pointer into the region gets into it.
        unsafe { std::mem::transmute::<Value<'r>, Value<'s>>(value) }
    }

    /// Runs `body` outside, with limits of its own, and returns what it cost.
    pub fn compute<T>(&self, run: &mut Run<'s>, body: impl FnOnce(&mut Run<'r>) -> T) -> (T, Cost) {
        // SAFETY: `Run<'r>` and `Run<'s>` differ only in a lifetime. Until `body` ends the run
        // allocates outside (`scoped` is off and `arena` is the shared one), so the values it makes
        // live for `'r`. `body` cannot reach a value of the region: it has none of its lifetime,
        // and `allow` has cleared the memo and the columns. The region's own borrow of the run is
        // suspended meanwhile.
        let run = unsafe { &mut *std::ptr::from_mut(run).cast::<Run<'r>>() };
        let home = run.home;
        assert!(home.marks.borrow().is_empty(), "not inside a loop");
        let rest = run.allowance();
        let arena = std::mem::replace(&mut run.arena, &home.shared.main);
        let was_scoped = home.scoped.replace(false);
        let Region { main, lasting, .. } = &home.shared;
        let positions = [main.position(), lasting.position()];
        home.computing.set(Some(positions));
        let full = run.full_allowance();
        run.allow(full);
        run.scratch.lowest = usize::MAX;
        let result = body(run);
        let left = run.allowance();
        let cost = Cost {
            steps: full.steps - left.steps,
            memory: full.memory - left.memory,
            peak: full.memory - left.memory.min(run.scratch.lowest),
        };
        home.take_shared(cost.memory);
        home.computing.set(None);
        home.scoped.set(was_scoped);
        run.arena = arena;
        run.allow(rest);
        (result, cost)
    }
}

impl Run<'_> {
    /// Returns the allowance of a computation with its own limits, bounded by the bytes that may
    /// still be allocated outside.
    fn full_allowance(&self) -> Allowance {
        let limits = self.limits();
        Allowance {
            steps: limits.steps,
            memory: limits
                .memory
                .min(self.home.shared_left.get().unwrap_or(usize::MAX)),
        }
    }
}

impl Value<'_> {
    /// Returns the address of a value whose word is a pointer; `None` if the word is the content.
    pub(crate) fn address(self) -> Option<NonNull<u8>> {
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

#[cfg(test)]
mod tests {
    use crate::dialect::Dialect;
    use crate::fault::Fault;
    use crate::run::{Limits, Run, Workspace};
    use crate::value::Value;

    const LIMITS: Limits = Limits {
        steps: 10_000,
        size: 10_000,
        memory: 64 << 10,
        time: None,
    };

    fn numbers<'r>(run: &mut Run<'r>, count: i64) -> Value<'r> {
        let numbers: Vec<_> = (0..count).map(|n| Value::Int(n * n)).collect();
        run.make_set(&numbers).expect("room")
    }

    #[test]
    fn a_scoped_region_is_released_and_notes_outside_stay() {
        Workspace::new().run(Dialect::ArcDsl, &LIMITS, |run| {
            let shared = numbers(run, 300);
            let left = run.allowance();
            let mut orders = Vec::new();
            // Together they need more than the memory limit, and each may use the full limit.
            for round in 0..20 {
                let order = run.scoped(|run, outside| {
                    let shared = outside.bring(shared);
                    let own = numbers(run, 1000 + round);
                    assert!(!run.equal(own, shared));
                    run.to_owned(shared)
                });
                orders.push(order.expect("room"));
            }
            assert_eq!(run.allowance(), left);
            assert!(orders.iter().all(|order| *order == orders[0]));
            assert_eq!(run.to_owned(shared), Ok(orders[0].clone()));
        });
    }

    #[test]
    fn a_computation_outside_is_charged() {
        Workspace::new().run(Dialect::ArcDsl, &LIMITS, |run| {
            run.bound_shared(200 << 10);
            let mut kept = Vec::new();
            for round in 0..3 {
                run.scoped(|run, outside| {
                    let (made, cost) = outside.compute(run, |run| {
                        let items = [Value::Int(round); 2000];
                        run.make_tuple(&items)
                    });
                    match made {
                        Ok(made) => {
                            assert!((32_000..33_000).contains(&cost.memory), "{cost:?}");
                            assert!(cost.peak >= cost.memory);
                            // The solver itself has not been charged yet.
                            let before = run.allowance();
                            assert_eq!(run.charge(&cost), Ok(()));
                            assert_eq!(before.memory - run.allowance().memory, cost.memory);
                            assert_eq!(run.charge(&cost), Ok(()));
                            assert_eq!(run.charge(&cost), Err(Fault::Memory));
                            kept.push(made);
                        }
                        Err(fault) => panic!("{}", fault.name()),
                    }
                });
            }
            // Everything outside has one common bound.
            run.bound_shared(10 << 10);
            run.scoped(|run, outside| {
                let (made, _) = outside.compute(run, |run| {
                    let items = [Value::None; 2000];
                    run.make_tuple(&items).map(|_| ())
                });
                assert_eq!(made, Err(Fault::Memory));
            });
            for (round, tuple) in (0..).zip(kept) {
                let items = run.items(tuple).expect("a tuple");
                assert!(items.iter().all(|item| item.as_int() == Some(round)));
            }
        });
    }
}
