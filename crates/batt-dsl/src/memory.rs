//! The memory of a run, and what of it can be taken back before the run ends.
//!
//! Values live until their run ends, with one exception: a loop that calls a function for every element takes back
//! what a call has made once nothing of it is needed, which is so when the result points to none of it, or when an equal one
//! that was collected before stands for it. A loop
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
//! Many solvers in one run have parts that are their own and parts that they share. [`Run::apart`] does the own part of one:
//! its values are in a *region* of their own, which is taken back as a whole. What is shared is made outside of it, from
//! what is shared alone, so nothing there points into the region; and notes about it are made outside as well,
//! by the same rule as above: they stay as long as their owner. Such notes are for all and cost nobody anything: otherwise what a
//! solver may do would depend on who has been there before. There is one of a kind for each value that is shared, so it
//! is not much.
//!
//! Where assertions are checked, released memory is overwritten: tests would find a value that is still in use.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::arena::{Arena, Position};
use crate::fault::Outcome;
use crate::memo::Memo;
use crate::ops::Kept;
use crate::run::Run;
use crate::value::Value;

/// What a run's values are in.
#[derive(Default)]
pub(crate) struct Memory {
    /// What stays to the end of the run.
    shared: Region,
    /// What is [apart](Run::apart).
    own: Region,
    /// Is what is made now apart?
    apart: Cell<bool>,
    /// What may still be allocated outside while something is apart, if that is bounded.
    shared_left: Cell<Option<usize>>,
    /// Where the memory outside stood, the values and the notes, when something began that is [computed](Outside::compute) there.
    computing: Cell<Option<[Position; 2]>>,
    /// Is a note being made that is for all?
    for_all: Cell<bool>,
    /// The loops under way, the innermost last. All are in the region at hand.
    marks: RefCell<Vec<Mark>>,
    /// What closures have given. Points only to what [stays for good](Memory::stay_for_good).
    pub(crate) memo: RefCell<Memo>,
    /// What functions have given for all elements of sets, in this run.
    pub(crate) columns: Kept,
}

/// Values and the lasting notes about them.
#[derive(Default)]
struct Region {
    main: Arena,
    lasting: Arena,
    /// Bytes of the run's budget that loops do not give back: those of lasting notes.
    lasting_bytes: Cell<usize>,
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
    /// As in the mark.
    lasting_bytes: usize,
    budget: usize,
    /// A call has made a value that stays. So will the others, mostly: from then on nothing is taken back, and looking whether
    /// it might be took a fifth of the time of such loops.
    over: bool,
}

impl Turns {
    fn new(mark: &Mark) -> Turns {
        Turns {
            start: mark.main,
            lasting_bytes: mark.lasting_bytes,
            budget: mark.budget,
            over: false,
        }
    }
}

impl Memory {
    /// Takes everything back. Gives where the values of the next run are made.
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
        // A panic may have left these.
        self.apart.set(false);
        self.shared_left.set(None);
        self.computing.set(None);
        self.for_all.set(false);
        self.marks.get_mut().clear();
        self.memo.get_mut().clear();
        self.columns.forget();
    }

    /// Makes the next reset look at more than the values.
    pub fn make_untidy(&self) {
        self.shared.main.make_untidy();
    }

    /// Is a loop under way that takes memory back?
    pub fn is_in_loop(&self) -> bool {
        !self.marks.borrow().is_empty()
    }

    /// Do the values stay to the end of the run, or of what is apart, and were they there before the turn of the outermost loop
    /// began? So it is if they stay at its mark: that mark only moves on, and the loops after this one make theirs later.
    pub fn stay_for_good<const N: usize>(&self, values: [Value<'_>; N]) -> bool {
        let (marks, region) = (self.marks.borrow(), self.region());
        let mut addresses = values.iter().filter_map(|value| value.address());
        match marks.first() {
            Some(outermost) => addresses.all(|address| region.stays(outermost, address)),
            None => addresses.next().is_none(),
        }
    }

    /// Where the values of a new run are made.
    #[inline(always)]
    pub fn main(&self) -> &Arena {
        &self.shared.main
    }

    /// The region at hand.
    #[inline(always)]
    fn region(&self) -> &Region {
        match self.apart.get() {
            false => &self.shared,
            true => &self.own,
        }
    }

    /// Takes from what may be allocated outside.
    fn take_shared(&self, bytes: usize) {
        let left = self.shared_left.get();
        self.shared_left
            .set(left.map(|left| left.saturating_sub(bytes)));
    }

    /// Is what lies at this address shared by several, who all may have use for a note about it?
    fn is_for_all(&self, owner: NonNull<u8>) -> bool {
        match self.computing.get() {
            Some(start) => self.shared.stays_at(start, owner),
            None => self.apart.get() && !self.own.holds(owner),
        }
    }

    /// Where a note about what lies at this address is made, if not where everything is made now.
    fn place_of_note(&self, owner: NonNull<u8>) -> Option<&Arena> {
        let region = self.region();
        let mut marks = self.marks.borrow_mut();
        if self.apart.get() && !region.holds(owner) {
            // It stays whatever becomes of the region.
            marks.iter_mut().for_each(|mark| mark.noted = true);
            return Some(&self.shared.main);
        }
        match marks.last() {
            None => return None,
            Some(innermost) if region.main.is_after(innermost.main, owner) => return None,
            Some(_) => {}
        }
        // What stays at an outer mark stays at the inner ones.
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

    /// Does what lies at this address stay when memory is released to a mark?
    fn stays(&self, mark: &Mark, address: NonNull<u8>) -> bool {
        self.stays_at([mark.main, mark.lasting], address)
    }

    /// Was what lies at this address there when values and notes stood like this?
    fn stays_at(&self, [main, lasting]: [Position; 2], address: NonNull<u8>) -> bool {
        !self.main.is_after(main, address) && !self.lasting.is_after(lasting, address)
    }

    fn holds(&self, address: NonNull<u8>) -> bool {
        self.main.is_after(Position::START, address)
            || self.lasting.is_after(Position::START, address)
    }
}

impl<'r> Run<'r> {
    /// Makes a note about `owner`: whatever is allocated for it stays as long as the owner does.
    #[inline]
    pub(crate) fn noting<O, T>(&mut self, owner: &O, make: impl FnOnce(&mut Run<'r>) -> T) -> T {
        if !self.is_watched() {
            return make(self);
        }
        self.noting_elsewhere(NonNull::from(owner).cast(), make)
    }

    #[inline(always)]
    fn is_watched(&self) -> bool {
        let home = self.home;
        home.apart.get() || home.computing.get().is_some() || home.is_in_loop()
    }

    #[inline(never)]
    fn noting_elsewhere<T>(
        &mut self,
        owner: NonNull<u8>,
        make: impl FnOnce(&mut Run<'r>) -> T,
    ) -> T {
        let home = self.home;
        if !home.for_all.get() && home.is_for_all(owner) {
            home.for_all.set(true);
            let limits = self.full_allowance();
            let (made, bytes) = self.for_free(limits, |run| run.noting_elsewhere(owner, make));
            home.for_all.set(false);
            home.take_shared(bytes);
            return made;
        }
        let Some(place) = home.place_of_note(owner) else {
            return make(self);
        };
        home.make_untidy();
        let is_nested = !std::ptr::eq(self.arena, &home.region().main);
        let arena = std::mem::replace(&mut self.arena, place);
        let budget = self.budget();
        let made = make(self);
        self.arena = arena;
        // If it is not for all, nor for another note, which counts it.
        if !home.for_all.get() && !is_nested {
            let lasting_bytes = &home.region().lasting_bytes;
            lasting_bytes.set(lasting_bytes.get() + budget - self.budget());
        }
        made
    }

    /// A loop whose calls leave nothing behind: see [`turn1`](Run::turn1).
    #[inline]
    pub(crate) fn in_turns<T>(&mut self, body: impl FnOnce(&mut Run<'r>, &mut Turns) -> T) -> T {
        debug_assert!(std::ptr::eq(self.arena, &self.home.region().main));
        let mark = self.home.region().mark(self.budget());
        let mut turns = Turns::new(&mark);
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

    /// A turn of a loop that collects values. `collect` gives the number of the value that a call has made, and whether it
    /// is one that was collected before: then what the call has made is taken back.
    ///
    /// # Safety
    ///
    /// A value that was collected before is not kept.
    #[inline(always)]
    pub(crate) unsafe fn turn_to_collect(
        &mut self,
        turns: &mut Turns,
        call: impl FnOnce(&mut Run<'r>) -> Outcome<Value<'r>>,
        collect: impl FnOnce(&mut Run<'r>, Value<'r>) -> (u32, bool),
    ) -> Outcome<u32> {
        self.begin_turn(turns);
        let value = call(self)?;
        let (number, is_old) = collect(self, value);
        if is_old {
            // SAFETY: the turn is this call and the search for its value, and nothing of it is used any more.
            unsafe { self.end_turn(turns, Ok(Value::None)) };
        }
        Ok(number)
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
        if !turns.over && !self.arena.is_at(turns.start) {
            self.move_on(turns);
        }
    }

    #[cold]
    #[inline(never)]
    fn move_on(&mut self, turns: &mut Turns) {
        if let Some(mark) = self.home.marks.borrow_mut().last_mut() {
            *mark = self.home.region().mark(self.budget());
            *turns = Turns::new(mark);
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
        if turns.over || self.arena.is_at(turns.start) {
            return;
        }
        if outcome.ok().and_then(Value::address).is_some() {
            turns.over = true;
            return;
        }
        let is_noted = self.home.region().lasting_bytes.get() != turns.lasting_bytes;
        if !is_noted {
            // What most turns come to: nothing that was made in it stays, and the mark is as good for the next turn.
            let before = self.budget();
            self.scratch.lowest = self.scratch.lowest.min(before);
            self.scratch.released += (turns.budget - before) as u64;
            self.set_budget(turns.budget);
            // SAFETY: as for the general way.
            unsafe { self.arena.rewind(turns.start) };
        } else {
            // SAFETY: as promised by the caller.
            unsafe { self.settle(turns) };
        }
    }

    /// # Safety
    ///
    /// As for [`end_turn`](Run::end_turn), and the value is nowhere in memory.
    #[inline(never)]
    unsafe fn settle(&mut self, turns: &mut Turns) {
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
            // SAFETY: nothing that stays points to what is lasting and newer than the mark: only notes about
            // owners that do not stay were made since.
            unsafe { region.lasting.rewind(mark.lasting) };
            region.lasting_bytes.set(mark.lasting_bytes);
        }
        // SAFETY: nothing that was made since the mark is used, and nothing that stays points to any of it: see the
        // head of this module.
        unsafe { region.main.rewind(mark.main) };
        self.scratch.released += (budget - before) as u64;
        self.set_budget(budget);
        *mark = region.mark(self.budget());
        *turns = Turns::new(mark);
    }
}

/// What is left of the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub(crate) steps: u64,
    pub(crate) memory: usize,
}

/// What something took that was done with limits of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Units of work.
    pub steps: u64,
    /// Bytes that stay.
    pub memory: usize,
    /// The most bytes in use meanwhile.
    pub peak: usize,
}

/// What is outside of something [apart](Run::apart). The values there have the lifetime `'r`, those apart `'s`.
pub struct Outside<'r, 's>(Exactly<'r>, Exactly<'s>);

/// A lifetime that can be neither shortened nor extended.
type Exactly<'a> = PhantomData<fn(&'a ()) -> &'a ()>;

impl<'r> Run<'r> {
    /// Begins anew with the limits.
    pub fn renew(&mut self) {
        self.allow(self.full_allowance());
    }

    /// Bounds what is made outside while something is [apart](Run::apart), all together.
    pub fn bound_shared(&mut self, bytes: usize) {
        self.home.make_untidy();
        self.home.shared_left.set(Some(bytes));
    }

    /// Does something on its own: with limits of its own, and with values that are taken back when it is done.
    ///
    /// What is apart in something apart belongs to the whole, and so does what it allocates.
    ///
    /// Nothing of it can be kept:
    ///
    /// ```compile_fail
    /// # use batt_dsl::{Dialect, Limits, Workspace};
    /// Workspace::new().run(Dialect::ArcDsl, &Limits::default(), |run| {
    ///     let mut kept = None;
    ///     run.apart(|run, _| kept = run.make_row(&[1, 2, 3, 4]).ok());
    /// });
    /// ```
    pub fn apart<T>(
        &mut self,
        body: impl for<'s> FnOnce(&mut Run<'s>, &Outside<'r, 's>) -> T,
    ) -> T {
        let home = self.home;
        if home.apart.get() {
            return body(self, &Outside(PhantomData, PhantomData));
        }
        assert!(home.marks.borrow().is_empty(), "not inside a loop");
        home.make_untidy();
        let rest = self.allowance();
        home.apart.set(true);
        self.arena = &home.own.main;
        self.allow(self.full_allowance());
        let result = body(self, &Outside(PhantomData, PhantomData));
        self.arena = &home.shared.main;
        home.apart.set(false);
        // SAFETY: the values apart have a lifetime that is known inside `body` alone, so it has left none
        // of them anywhere; and nothing outside points to any of them: see the head of this module.
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
    /// A value of outside as one that can be used apart.
    #[inline(always)]
    pub fn bring(&self, value: Value<'r>) -> Value<'s> {
        // SAFETY: what is outside lives longer than what is apart, and notes about it are made outside: nothing in it
        // will point to what is apart.
        unsafe { std::mem::transmute::<Value<'r>, Value<'s>>(value) }
    }

    /// Does something outside, with limits of its own, and gives what it took.
    pub fn compute<T>(&self, run: &mut Run<'s>, body: impl FnOnce(&mut Run<'r>) -> T) -> (T, Cost) {
        // SAFETY: both are lifetimes of parts of the same run, which makes values of either, depending on where it is
        // at: outside from here on, to the end of `body`.
        let run = unsafe { &mut *std::ptr::from_mut(run).cast::<Run<'r>>() };
        let home = run.home;
        assert!(home.marks.borrow().is_empty(), "not inside a loop");
        let rest = run.allowance();
        let arena = std::mem::replace(&mut run.arena, &home.shared.main);
        let was_apart = home.apart.replace(false);
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
        home.apart.set(was_apart);
        run.arena = arena;
        run.allow(rest);
        (result, cost)
    }
}

impl Run<'_> {
    /// What the limits allow something done on its own: not more than there is room for.
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
    /// Where the value is, unless it is all in its word.
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
    fn what_is_apart_is_taken_back_and_notes_about_the_rest_stay() {
        Workspace::new().run(Dialect::ArcDsl, &LIMITS, |run| {
            let shared = numbers(run, 300);
            let left = run.allowance();
            let mut orders = Vec::new();
            // More than fits at a time, and each has all that the limits allow.
            for round in 0..20 {
                let order = run.apart(|run, outside| {
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
    fn what_is_computed_outside_costs_what_it_takes() {
        Workspace::new().run(Dialect::ArcDsl, &LIMITS, |run| {
            run.bound_shared(200 << 10);
            let mut kept = Vec::new();
            for round in 0..3 {
                run.apart(|run, outside| {
                    let (made, cost) = outside.compute(run, |run| {
                        let items = [Value::Int(round); 2000];
                        run.make_tuple(&items)
                    });
                    match made {
                        Ok(made) => {
                            assert!((32_000..33_000).contains(&cost.memory), "{cost:?}");
                            assert!(cost.peak >= cost.memory);
                            // The solver itself has not paid yet.
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
            // There is a bound for all that is outside together.
            run.bound_shared(10 << 10);
            run.apart(|run, outside| {
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
