//! A run: one program on one input, with its memory and its limits.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use crate::arena::{ALIGN, Arena};
use crate::calls::SOLVER_FRAME;
use crate::dialect::Dialect;
use crate::fault::{Fault, Outcome};
use crate::memory::{Allowance, Cost, Memory};
use crate::profile::Profile;
use crate::set::{Chains, KeyIndex, NeighborOrders, Plane, Set, Table, Walk};
use crate::table::Literal;
use crate::value::{Cell, Concat, Grid, Pair, Row, Tuple, TupleKnown, Value};

/// What one run may use. Exceeding a limit ends the run with a fault of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of work: a call, or about one element touched.
    pub steps: u64,
    /// Elements in one container, cells in one grid.
    pub size: usize,
    /// Bytes of values alive together. Values live until the run ends, but for what calls in loops leave behind.
    pub memory: usize,
    /// The clock, as a last resort; `None` for none. Steps are the better limit: with them a run fails
    /// or not whatever the machine is doing.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// Generous for solvers: on its own task the heaviest of arc-dsl needs 0.3 million steps, the one that needs most
    /// memory 0.4 MiB. Tight for runaways: with 100 million steps, one run in a thousand takes more time than
    /// all others together. What a device may do by default follows from it.
    fn default() -> Limits {
        Limits {
            steps: 3_000_000,
            size: 4_000_000,
            memory: 16 << 20,
            time: None,
        }
    }
}

/// Steps between two looks at the clock: a few milliseconds.
const SLICE: u64 = 1 << 18;

/// What all steps of a batt together may allocate.
pub struct MemoryBudget {
    left: usize,
    /// What the step under way was given.
    granted: usize,
}

impl MemoryBudget {
    /// For a run with these limits: each step may allocate as much as they say, all together this many
    /// times that.
    pub fn new(limits: &Limits, steps: usize) -> MemoryBudget {
        MemoryBudget {
            left: limits.memory.saturating_mul(steps),
            granted: limits.memory,
        }
    }

    /// For a run with these limits whose steps may allocate any amount together: somebody else looks at the
    /// [sum](MemoryBudget::left).
    pub fn unlimited(limits: &Limits) -> MemoryBudget {
        MemoryBudget {
            left: usize::MAX,
            granted: limits.memory,
        }
    }

    /// What was left for all steps when the step under way began.
    pub fn left(&self) -> usize {
        self.left
    }
}

/// How deeply containers may nest: functions walk them on the stack.
pub(crate) const MAX_DEPTH: u32 = 990;

/// Buffers that operations borrow from one another; empty between operations.
#[derive(Default)]
pub(crate) struct Scratch {
    pub pairs: Vec<Pair>,
    pub cells: Vec<Cell>,
    pub bytes: Vec<u8>,
    pub numbers: Vec<u32>,
    pub index: KeyIndex,
    pub plane: Plane,
    pub chains: Chains,
    pub value_index: KeyIndex,
    pub table: Table,
    pub spare_table: Table,
    pub components: Vec<crate::ops::Component>,
    pub grid_orders: crate::ops::GridOrders,
    pub neighbor_orders: NeighborOrders,
    pub profile: Profile,
    /// Bytes that runs have given back before their end.
    pub released: u64,
    /// The least that might still be allocated, as far as loops have seen it.
    pub lowest: usize,
    /// From how many elements on functions are called on all at once.
    #[cfg(test)]
    pub least_in_columns: Option<usize>,
    /// How often they were, in all runs.
    #[cfg(test)]
    pub walks: u64,
}

/// Where runs happen, one after the other: memory and buffers that are reused.
///
/// One workspace per thread. A run's values borrow from it, so they cannot outlive the run.
#[derive(Default)]
pub struct Workspace {
    memory: Memory,
    scratch: Scratch,
}

impl Workspace {
    /// A new workspace.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// What profiled primitives have taken so far in this workspace.
    pub fn profile(&self) -> &Profile {
        &self.scratch.profile
    }

    /// From how many elements on functions are called on all at once, and how often they were.
    #[cfg(test)]
    pub(crate) fn columns(&mut self) -> (&mut Option<usize>, u64) {
        let scratch = &mut self.scratch;
        (&mut scratch.least_in_columns, scratch.walks)
    }

    /// What closures have given.
    #[cfg(test)]
    pub(crate) fn memo(&mut self) -> &mut crate::memo::Memo {
        self.memory.memo.get_mut()
    }

    /// Runs `body` with fresh memory and limits. What it returns may not borrow from the run.
    pub fn run<T>(
        &mut self,
        dialect: Dialect,
        limits: &Limits,
        body: impl for<'r> FnOnce(&mut Run<'r>) -> T,
    ) -> T {
        // A grid that nobody looks at.
        let unused = Grid {
            height: 1,
            width: 1,
            cells: &[0],
        };
        self.run_on(&unused, dialect, limits, |run, _| body(run))
    }

    /// As [`run`](Workspace::run), with a grid of the caller's as a value of the run: it is not copied.
    #[inline]
    pub fn run_on<T>(
        &mut self,
        input: &Grid<'_>,
        dialect: Dialect,
        limits: &Limits,
        body: impl for<'r> FnOnce(&mut Run<'r>, Value<'r>) -> T,
    ) -> T {
        self.memory.reset();
        let slice = limits.steps.min(SLICE);
        let mut run = Run {
            arena: self.memory.main(),
            home: &self.memory,
            scratch: &mut self.scratch,
            limits,
            fuel: slice,
            rest: limits.steps - slice,
            deadline: limits.time.map(|time| Instant::now() + time),
            memory: limits.memory,
            reached: None,
            depth: SOLVER_FRAME,
            closures: 0,
            fallbacks: 0,
            dialect,
            calls_at_once: 0,
        };
        let input = if input.height == 0 || input.width == 0 {
            // Without the hint both values are prepared and one is chosen.
            std::hint::cold_path();
            Value::EMPTY_TUPLE
        } else {
            Value::Grid(input)
        };
        body(&mut run, input)
    }
}

/// One run in progress. Primitives take it first.
pub struct Run<'r> {
    /// Where values are made.
    pub(crate) arena: &'r Arena,
    pub(crate) home: &'r Memory,
    pub(crate) scratch: &'r mut Scratch,
    /// Looked up where they are: every field that is set up is time, and the shortest runs take a dozen
    /// nanoseconds.
    limits: &'r Limits,
    /// Steps left in this slice.
    fuel: u64,
    /// Steps left after it.
    rest: u64,
    deadline: Option<Instant>,
    /// Bytes that may still be allocated. Counted here and not by the arena, which keeps room from earlier
    /// runs: what a run may use must not depend on them.
    memory: usize,
    reached: Option<Fault>,
    /// The frames that CPython would have on its stack: see `calls.rs`.
    pub(crate) depth: u32,
    /// Closures (and nans) made so far: a stable stand-in for their addresses.
    pub(crate) closures: u32,
    /// How often a primitive has fallen back to its default.
    pub(crate) fallbacks: u32,
    pub(crate) dialect: Dialect,
    pub(crate) calls_at_once: u64,
}

impl<'r> Run<'r> {
    /// Takes `work` units from the step budget.
    #[inline(always)]
    pub(crate) fn spend(&mut self, work: usize) -> Outcome<()> {
        match self.fuel.checked_sub(work as u64) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => self.next_slice(work as u64),
        }
    }

    /// Takes work from the next slices of the step budget, after a look at the clock.
    #[cold]
    fn next_slice(&mut self, work: u64) -> Outcome<()> {
        if self.reached.is_none()
            && self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(self.reach(Fault::Time));
        }
        let Some(left) = (self.fuel + self.rest).checked_sub(work) else {
            return Err(self.reach(Fault::Steps));
        };
        self.fuel = left.min(SLICE);
        self.rest = left - self.fuel;
        Ok(())
    }

    /// Gives one step of a batt a budget of its own, of steps and of memory, whatever became of the steps
    /// before it. Time is for the whole run and is not renewed.
    pub fn begin_step(&mut self, budget: &mut MemoryBudget) {
        budget.left = budget.left.saturating_sub(budget.granted - self.memory);
        budget.granted = self.limits.memory.min(budget.left);
        self.memory = budget.granted;
        self.home.memo.borrow_mut().clear();
        self.home.columns.forget();
        if self.reached != Some(Fault::Time) {
            self.reached = None;
            self.fuel = self.limits.steps.min(SLICE);
            self.rest = self.limits.steps - self.fuel;
        }
    }

    /// What is left of the limits.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            steps: self.fuel + self.rest,
            memory: self.memory,
        }
    }

    /// Sets what is left of the limits, whatever became of them so far. Time is for the whole run and is not renewed.
    pub fn allow(&mut self, allowance: Allowance) {
        self.memory = allowance.memory;
        self.home.memo.borrow_mut().clear();
        self.home.columns.forget();
        if self.reached != Some(Fault::Time) {
            self.reached = None;
            self.fuel = allowance.steps.min(SLICE);
            self.rest = allowance.steps - self.fuel;
        }
    }

    /// Does something that takes nothing of what is left of the limits, but has limits of its own. Gives also how many bytes
    /// it took. If a limit is reached in it, that is the end of the run as well.
    pub(crate) fn for_free<T>(
        &mut self,
        limits: Allowance,
        body: impl FnOnce(&mut Run<'r>) -> T,
    ) -> (T, usize) {
        let (fuel, rest, memory) = (self.fuel, self.rest, self.memory);
        self.memory = limits.memory;
        if self.reached.is_none() {
            self.fuel = limits.steps.min(SLICE);
            self.rest = limits.steps - self.fuel;
        }
        let done = body(self);
        let bytes = limits.memory.saturating_sub(self.memory);
        self.memory = memory;
        if self.reached.is_none() {
            (self.fuel, self.rest) = (fuel, rest);
        }
        (done, bytes)
    }

    /// Pays for something that was done with limits of its own, as if it had been done here.
    pub fn charge(&mut self, cost: &Cost) -> Outcome<()> {
        if cost.peak > self.memory {
            return Err(self.reach(Fault::Memory));
        }
        self.memory -= cost.memory;
        self.spend(usize::try_from(cost.steps).unwrap_or(usize::MAX))
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.limits
    }

    /// The limit that the run has reached, if any. Some operations cannot fail in Python and so go on
    /// with a made-up value when they reach a limit; whoever finishes a run asks here.
    pub fn check_limits(&self) -> Outcome<()> {
        match self.reached {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    #[cold]
    fn reach(&mut self, fault: Fault) -> Fault {
        self.fuel = 0;
        self.rest = 0;
        // The first limit is the one to report.
        *self.reached.get_or_insert(fault)
    }

    /// A count of bytes that grows with every allocation within a step.
    pub(crate) fn allocated(&self) -> u64 {
        self.scratch.released.wrapping_sub(self.memory as u64)
    }

    /// Bytes that may still be allocated.
    #[inline(always)]
    pub(crate) fn budget(&self) -> usize {
        self.memory
    }

    /// Changes what may still be allocated, when memory has been given back.
    #[inline(always)]
    pub(crate) fn set_budget(&mut self, bytes: usize) {
        self.memory = bytes;
    }

    /// Are cells `(i, j, colour)`?
    #[inline(always)]
    pub(crate) fn triples(&self) -> bool {
        self.dialect.cells_are_triples()
    }

    /// How often a primitive that never fails has fallen back to its default so far.
    pub fn fallbacks(&self) -> u32 {
        self.fallbacks
    }

    /// Gives the closures (and nans) that a step of a batt makes numbers of its own, so that the order of a set of
    /// closures does not follow from which other steps were executed. A step that makes more than a quarter of a million
    /// of them goes on with the numbers of the next one: then hashes may be equal, which does no harm.
    pub fn begin_closures(&mut self, step: u32) {
        self.closures = step << 18;
    }

    /// Steps left in this slice: less with every step, but for the first one of the next slice.
    #[inline(always)]
    pub(crate) fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Calls of primitives that were made for all elements of a container at once: as if each had been made by itself.
    pub fn calls_at_once(&self) -> u64 {
        self.calls_at_once
    }

    /// Units of work spent so far.
    pub fn spent(&self) -> u64 {
        self.limits.steps - self.fuel - self.rest
    }

    /// Fails when a container would be too large. Call it before building.
    #[inline(always)]
    pub(crate) fn check_len(&self, len: usize) -> Outcome<()> {
        if len > self.limits.size {
            return Err(Fault::Size);
        }
        Ok(())
    }

    /// Fails when a tuple of so many values would be too large, or have no room. Call it while gathering them.
    pub(crate) fn check_values(&mut self, len: usize) -> Outcome<()> {
        self.check_len(len)?;
        match len.saturating_mul(size_of::<Value<'r>>()) > self.memory {
            true => Err(self.reach(Fault::Memory)),
            false => Ok(()),
        }
    }

    /// Fails when containers would nest too deeply to be walked on the stack.
    #[inline(always)]
    pub(crate) fn check_depth(&self, depth: u32) -> Outcome<()> {
        if depth > MAX_DEPTH {
            return Err(Fault::Recursion);
        }
        Ok(())
    }

    /// Takes bytes from the memory budget.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, bytes: usize) -> Outcome<()> {
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => Err(self.reach(Fault::Memory)),
        }
    }

    #[inline(always)]
    pub(crate) fn alloc<T>(&mut self, value: T) -> Outcome<&'r T> {
        const { assert!(!std::mem::needs_drop::<T>()) };
        const { assert!(align_of::<T>() <= ALIGN) };
        let place = self.room(size_of::<T>())?.cast::<T>();
        // SAFETY: the room is sized and aligned for a `T`, nobody else's, and stays as long as the
        // arena is borrowed.
        unsafe {
            place.write(value);
            Ok(place.as_ref())
        }
    }

    /// Room in the arena, paid for from the memory budget.
    #[inline(always)]
    fn room(&mut self, bytes: usize) -> Outcome<NonNull<u8>> {
        self.reserve(bytes)?;
        match self.arena.room(bytes) {
            Some(room) => Ok(room),
            None => Err(self.reach(Fault::Memory)),
        }
    }

    #[inline(always)]
    pub(crate) fn slice<T: Copy>(&mut self, items: &[T]) -> Outcome<&'r [T]> {
        let places = self.uninit(items.len())?;
        Ok(places.write_copy_of_slice(items))
    }

    /// The items of an iterator, in the arena.
    #[inline(always)]
    pub(crate) fn slice_from<T: Copy>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
    ) -> Outcome<&'r [T]> {
        let places = self.uninit(items.len())?;
        let mut written = 0;
        for (place, item) in places.iter_mut().zip(items) {
            place.write(item);
            written += 1;
        }
        let places: &'r [MaybeUninit<T>] = &places[..written];
        // SAFETY: the loop has written the first `written` places, and `MaybeUninit<T>` is laid out
        // as `T` is.
        Ok(unsafe { &*(std::ptr::from_ref(places) as *const [T]) })
    }

    /// Several slices, one after the other.
    #[inline(always)]
    pub(crate) fn concat<T: Copy>(&mut self, parts: [&[T]; 2]) -> Outcome<&'r [T]> {
        let [a, b] = parts;
        let places = self.uninit(a.len() + b.len())?;
        let (first, second) = places.split_at_mut(a.len());
        first.write_copy_of_slice(a);
        second.write_copy_of_slice(b);
        let places: &'r [MaybeUninit<T>] = places;
        // SAFETY: both halves have just been written in full.
        Ok(unsafe { &*(std::ptr::from_ref(places) as *const [T]) })
    }

    /// Room for `len` items, not yet written.
    #[inline(always)]
    fn uninit<T: Copy>(&mut self, len: usize) -> Outcome<&'r mut [MaybeUninit<T>]> {
        self.check_len(len)?;
        self.places(len)
    }

    /// As [`uninit`](Run::uninit), for a length that has been checked.
    #[inline(always)]
    fn places<T: Copy>(&mut self, len: usize) -> Outcome<&'r mut [MaybeUninit<T>]> {
        const { assert!(align_of::<T>() <= ALIGN) };
        let room = self.room(len.saturating_mul(size_of::<T>()))?;
        let room = room.cast::<MaybeUninit<T>>();
        // SAFETY: the room is sized and aligned for `len` items, nobody else's, and stays as long as
        // the arena is borrowed; `MaybeUninit` asks for no values.
        Ok(unsafe { std::slice::from_raw_parts_mut(room.as_ptr(), len) })
    }

    #[inline(always)]
    pub(crate) fn slice_filled<T: Copy>(&mut self, len: usize, item: T) -> Outcome<&'r mut [T]> {
        // Tables of a set hold up to five slots an element.
        self.check_len(len / 8)?;
        let places = self.places(len)?;
        places.fill(MaybeUninit::new(item));
        // SAFETY: all places have just been written.
        Ok(unsafe { places.assume_init_mut() })
    }

    /// A tuple of these values, in its canonical form.
    pub(crate) fn tuple(&mut self, items: &[Value<'r>]) -> Outcome<Value<'r>> {
        if let [a, b] = *items {
            return self.pair(a, b);
        }
        let items = self.slice(items)?;
        self.tuple_of(items)
    }

    /// A tuple of values that are in the arena already. Not for two values: see [`Run::pair`].
    pub(crate) fn tuple_of(&mut self, items: &'r [Value<'r>]) -> Outcome<Value<'r>> {
        if items.is_empty() {
            return Ok(Value::EMPTY_TUPLE);
        }
        if let [a, b] = *items {
            return self.pair(a, b);
        }
        self.general_tuple(items)
    }

    fn general_tuple(&mut self, items: &'r [Value<'r>]) -> Outcome<Value<'r>> {
        if let [Value::Int(i), Value::Int(j), Value::Int(color)] = *items
            && self.triples()
            && let (Some(at), Ok(color)) = (Pair::fit(i, j), color.try_into())
        {
            return Ok(Value::cell(Cell::new(color, at)));
        }
        let depth = 1 + items.iter().map(|v| v.depth()).max().unwrap_or_default();
        self.check_depth(depth)?;
        Ok(Value::Tuple(self.alloc(Tuple {
            items,
            depth,
            known: None.into(),
        })?))
    }

    /// The notes about a tuple.
    pub(crate) fn tuple_known(&mut self, tuple: &'r Tuple<'r>) -> Outcome<&'r TupleKnown<'r>> {
        if let Some(known) = tuple.known.get() {
            return Ok(known);
        }
        let known = self.noting(tuple, |run| run.alloc(TupleKnown::default()))?;
        tuple.known.set(Some(known));
        Ok(known)
    }

    /// The tuple of the elements of several patches, one patch after the other.
    pub(crate) fn concatenation(
        &mut self,
        len: usize,
        members: &'r [Value<'r>],
    ) -> Outcome<Value<'r>> {
        self.check_len(len)?;
        Ok(Value::Concat(self.alloc(Concat {
            len,
            members,
            items: None.into(),
            built: None.into(),
        })?))
    }

    /// The elements of a concatenation one by one.
    pub(crate) fn concat_items(&mut self, concat: &'r Concat<'r>) -> Outcome<&'r Tuple<'r>> {
        if let Some(items) = concat.items.get() {
            return Ok(items);
        }
        let mut gathered = Vec::with_capacity(concat.len);
        for &member in concat.members {
            gathered.extend_from_slice(self.items(member)?);
        }
        let tuple = self.noting(concat, |run| {
            let items = run.slice(&gathered)?;
            run.alloc(Tuple {
                items,
                depth: Value::Concat(concat).depth(),
                known: None.into(),
            })
        })?;
        concat.items.set(Some(tuple));
        Ok(tuple)
    }

    /// *Build* of a tuple's elements, if all are locations or all are cells.
    pub(crate) fn built(&mut self, tuple: Value<'r>) -> Outcome<Option<&'r Set<'r>>> {
        match tuple {
            Value::Concat(concat) => {
                if concat.built.get().is_none() {
                    let merge = |run: &mut Run<'r>| run.set_merge(Walk::Listed, concat.members);
                    let built = self.noting(concat, merge)?;
                    concat.built.set(Some(built));
                }
                Ok(concat.built.get())
            }
            Value::Segment(_) => {
                let (a, b) = self.unpack2(tuple)?;
                Ok(Some(self.build(&[a, b])?))
            }
            Value::Tuple(tuple) => {
                let known = self.tuple_known(tuple)?;
                if let Some(built) = known.built.get() {
                    return Ok(built);
                }
                let of_one_kind = tuple.items.iter().all(|v| matches!(v, Value::Pair(_)))
                    || tuple.items.iter().all(|v| matches!(v, Value::Cell(_)));
                let built = if of_one_kind {
                    Some(self.noting(tuple, |run| run.build(tuple.items))?)
                } else {
                    None
                };
                known.built.set(Some(built));
                Ok(built)
            }
            _ => Ok(None),
        }
    }

    /// `(a, b)`.
    #[inline(always)]
    pub(crate) fn pair(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        match (a, b) {
            (Value::Int(i), Value::Int(j)) => {
                if let Some(pair) = Pair::fit(i, j) {
                    return Ok(Value::pair(pair));
                }
            }
            (Value::Pair(a), Value::Pair(b)) => return Ok(Value::segment(a.get(), b.get())),
            (Value::Int(color), Value::Pair(at)) if !self.triples() => {
                if let Ok(color) = color.try_into() {
                    return Ok(Value::cell(Cell::new(color, at.get())));
                }
            }
            _ => {}
        }
        self.general_pair(a, b)
    }

    fn general_pair(&mut self, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        let items = self.slice(&[a, b])?;
        self.general_tuple(items)
    }

    /// `(i, j)` for any two numbers.
    #[inline]
    pub(crate) fn int_pair(&mut self, i: i64, j: i64) -> Outcome<Value<'r>> {
        match Pair::fit(i, j) {
            Some(pair) => Ok(Value::pair(pair)),
            None => self.pair(Value::Int(i), Value::Int(j)),
        }
    }

    /// A tuple of plain integers 0 to 255.
    #[inline]
    pub(crate) fn row(&mut self, cells: &'r [u8]) -> Outcome<Value<'r>> {
        if let [a, b] = *cells {
            return Ok(Value::pair(Pair::new(a.into(), b.into())));
        }
        if let [i, j, color] = *cells
            && self.triples()
        {
            let at = Pair::new(i.into(), j.into());
            return Ok(Value::cell(Cell::new(color.into(), at)));
        }
        Ok(Value::Row(self.alloc(Row { cells })?))
    }

    /// A grid of these cells, or the tuple of empty tuples that an empty one is in Python.
    #[inline(always)]
    pub(crate) fn grid(
        &mut self,
        height: usize,
        width: usize,
        cells: &'r [u8],
    ) -> Outcome<Value<'r>> {
        if height == 0 || width == 0 {
            return self.empty_rows(height);
        }
        Ok(Value::Grid(self.alloc(Grid {
            height,
            width,
            cells,
        })?))
    }

    /// A grid whose row `i` is `row(i)`: two parts side by side, `width` cells together.
    #[inline(always)]
    pub(crate) fn grid_of_rows<'a>(
        &mut self,
        height: usize,
        width: usize,
        row: impl Fn(usize) -> (&'a [u8], &'a [u8]),
    ) -> Outcome<Value<'r>> {
        let len = height.checked_mul(width).ok_or(Fault::Size)?;
        self.spend(len / 8)?;
        let places = self.uninit(len)?;
        // Split off row by row: an iterator over chunks begins with a division, which takes as long
        // as the copying.
        let mut rest = &mut *places;
        for i in 0..height {
            let (left, right) = row(i);
            let (first, others) = rest.split_at_mut(left.len());
            let (second, others) = others.split_at_mut(right.len());
            copy_row(first, left);
            copy_row(second, right);
            rest = others;
        }
        assert!(rest.is_empty(), "the rows fill the grid");
        let places: &'r [MaybeUninit<u8>] = places;
        // SAFETY: the parts of the rows were copied one after the other, and nothing is left of the
        // places, so all of them have been written.
        let cells = unsafe { &*(std::ptr::from_ref(places) as *const [u8]) };
        self.grid(height, width, cells)
    }

    /// The rows of a grid from the last to the first, if there is [quick room](Run::quick_room).
    #[inline(always)]
    pub(crate) fn quick_rows_upward(&mut self, grid: &Grid<'_>) -> Option<Value<'r>> {
        let Grid {
            height,
            width,
            cells,
        } = *grid;
        let (head, places) = self.quick_room(cells.len())?;
        // One loop per width, for rows of a length that the compiler knows.
        macro_rules! by_width {
            ($($known:literal)*) => {
                match width {
                    $($known => copy_rows_upward::<$known>(places, cells),)*
                    _ => copy_long_rows_upward(places, cells, width),
                }
            };
        }
        let cells = by_width!(
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30
        );
        Some(Value::Grid(head.write(Grid {
            height,
            width,
            cells,
        })))
    }

    /// Two grids of one width, one above the other, if there is [quick room](Run::quick_room).
    #[inline(always)]
    pub(crate) fn quick_stack(&mut self, above: &Grid<'_>, below: &Grid<'_>) -> Option<Value<'r>> {
        let height = above.height.checked_add(below.height)?;
        let (a, b) = (above.cells, below.cells);
        if a.len().max(b.len()) > SHORT {
            return None;
        }
        let (head, places) = self.quick_room(a.len() + b.len())?;
        let (first, second) = places.split_at_mut(a.len());
        copy_row(first, a);
        copy_row(second, b);
        // SAFETY: both halves have just been written in full.
        let cells = unsafe { places.assume_init_ref() };
        Some(Value::Grid(head.write(Grid {
            height,
            width: above.width,
            cells,
        })))
    }

    /// Room for a small grid, head and cells together, paid for. None, and nothing done, where a limit
    /// is near or the arena is full: without faults to raise and chunks to get, an operation needs no
    /// stack frame, and a solver of one or two steps takes a third less.
    #[inline(always)]
    fn quick_room(&mut self, cells: usize) -> Option<(GridHead<'r>, &'r mut [MaybeUninit<u8>])> {
        const HEAD: usize = size_of::<Grid<'_>>();
        if cells > QUICK || cells > self.limits.size {
            return None;
        }
        let fuel = self.fuel.checked_sub(cells as u64 / 8)?;
        let memory = self.memory.checked_sub(HEAD + cells)?;
        let room = self.arena.room_at_hand(HEAD + cells)?;
        (self.fuel, self.memory) = (fuel, memory);
        // SAFETY: the room has `HEAD + cells` bytes, is aligned for the head, nobody else's, and stays
        // as long as the arena is borrowed; `MaybeUninit` asks for no values.
        unsafe {
            let places = room.add(HEAD).cast().as_ptr();
            Some((
                room.cast().as_mut(),
                std::slice::from_raw_parts_mut(places, cells),
            ))
        }
    }

    #[cold]
    fn empty_rows(&mut self, height: usize) -> Outcome<Value<'r>> {
        self.check_len(height)?;
        let rows = self.slice_from((0..height).map(|_| Value::EMPTY_TUPLE))?;
        self.tuple_of(rows)
    }

    /// A grid whose cell at `(i, j)` is `cell(i, j)`.
    #[inline(always)]
    pub(crate) fn grid_from(
        &mut self,
        height: usize,
        width: usize,
        mut cell: impl FnMut(usize, usize) -> u8,
    ) -> Outcome<Value<'r>> {
        let len = height.checked_mul(width).ok_or(Fault::Size)?;
        self.check_len(len)?;
        self.spend(len / 8)?;
        let cells = self.slice_filled(len, 0u8)?;
        if len > 0 {
            for (i, row) in cells.chunks_exact_mut(width).enumerate() {
                for (j, place) in row.iter_mut().enumerate() {
                    *place = cell(i, j);
                }
            }
        }
        self.grid(height, width, cells)
    }

    /// Room for a program's inputs and the values of its steps.
    pub fn slots(&mut self, len: usize) -> Outcome<&'r mut [Value<'r>]> {
        self.spend(len)?;
        self.slice_filled(len, Value::None)
    }

    /// An empty list of numbers; give it back when done.
    pub(crate) fn take_numbers(&mut self) -> Vec<u32> {
        let mut numbers = std::mem::take(&mut self.scratch.numbers);
        numbers.clear();
        numbers
    }

    /// Gives a list back for the next to use.
    pub(crate) fn give_numbers(&mut self, numbers: Vec<u32>) {
        self.scratch.numbers = numbers;
    }

    /// The value of a literal in a program's text.
    pub fn literal(&mut self, literal: &Literal) -> Outcome<Value<'r>> {
        Ok(match literal {
            Literal::None => Value::None,
            Literal::Bool(b) => Value::bool(*b),
            Literal::Int(n) => Value::Int(*n),
            Literal::Tuple(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.literal(item)?);
                }
                self.tuple(&values)?
            }
        })
    }

    /// A grid of a task as a value. `cells` holds `height * width` colours, row by row.
    pub fn input(&mut self, height: usize, width: usize, cells: &[u8]) -> Outcome<Value<'r>> {
        let cells = self.slice(cells)?;
        self.grid(height, width, cells)
    }

    /// The value as a grid, if it is one.
    #[inline(always)]
    pub(crate) fn as_grid(&mut self, v: Value<'r>) -> Option<&'r Grid<'r>> {
        match v {
            Value::Grid(grid) => Some(grid),
            _ => self.other_as_grid(v),
        }
    }

    /// A grid that is not in its compact form.
    #[inline(never)]
    fn other_as_grid(&mut self, v: Value<'r>) -> Option<&'r Grid<'r>> {
        match v {
            Value::Tuple(tuple) => self.tuple_as_grid(tuple),
            Value::Segment(_) => {
                let (a, b) = self.unpack2(v).ok()?;
                self.gather_grid(&[a, b])
            }
            Value::Concat(concat) => {
                let tuple = self.concat_items(concat).ok()?;
                self.tuple_as_grid(tuple)
            }
            _ => None,
        }
    }

    fn tuple_as_grid(&mut self, tuple: &'r Tuple<'r>) -> Option<&'r Grid<'r>> {
        let known = self.tuple_known(tuple).ok()?;
        if let Some(grid) = known.grid.get() {
            return grid;
        }
        let grid = self.noting(tuple, |run| run.gather_grid(tuple.items));
        known.grid.set(Some(grid));
        grid
    }

    /// Copies rows of equal length and plain small integers together.
    fn gather_grid(&mut self, rows: &[Value<'r>]) -> Option<&'r Grid<'r>> {
        let width = self.tuple_len(*rows.first()?)?;
        if width == 0 {
            return None;
        }
        let triples = self.triples();
        let mut bytes = std::mem::take(&mut self.scratch.bytes);
        bytes.clear();
        let complete = rows.iter().all(|&row| {
            self.tuple_len(row) == Some(width) && append_bytes(&mut bytes, row, triples)
        });
        let grid = if complete {
            self.slice(&bytes).ok().and_then(|cells| {
                self.alloc(Grid {
                    height: rows.len(),
                    width,
                    cells,
                })
                .ok()
            })
        } else {
            None
        };
        self.scratch.bytes = bytes;
        grid
    }
}

/// Where a grid is to be written, without its cells.
type GridHead<'r> = &'r mut MaybeUninit<Grid<'r>>;

/// More cells than any grid of ARC has; with so few, no sum can overflow.
const QUICK: usize = 1024;

/// A copy of more bytes becomes a call.
const SHORT: usize = 32;

/// Copies rows of `W` cells, the last one first.
#[inline(always)]
fn copy_rows_upward<'r, const W: usize>(to: &'r mut [MaybeUninit<u8>], from: &[u8]) -> &'r [u8] {
    let (places, rest) = to.as_chunks_mut::<W>();
    let rows = from.as_chunks::<W>().0;
    assert!(rest.is_empty() && places.len() == rows.len());
    for (place, row) in places.iter_mut().zip(rows.iter().rev()) {
        *place = row.map(MaybeUninit::new);
    }
    // SAFETY: there is a row for each of the places, and there are no others.
    unsafe { to.assume_init_ref() }
}

/// As [`copy_rows_upward`], for rows of any length.
#[inline(never)]
fn copy_long_rows_upward<'r>(to: &'r mut [MaybeUninit<u8>], from: &[u8], width: usize) -> &'r [u8] {
    let mut rest = &mut *to;
    for row in from.rchunks_exact(width) {
        let (place, below) = rest.split_at_mut(width);
        place.write_copy_of_slice(row);
        rest = below;
    }
    assert!(rest.is_empty());
    // SAFETY: rows were copied one after the other until no place was left.
    unsafe { to.assume_init_ref() }
}

/// Copies the first and the last `N` bytes, which overlap.
#[inline(always)]
fn copy_ends<const N: usize>(to: &mut [MaybeUninit<u8>], from: &[u8]) {
    let len = from.len();
    to[..N].write_copy_of_slice(&from[..N]);
    to[len - N..].write_copy_of_slice(&from[len - N..]);
}

/// Copies a row of a grid, without the call that a copy of unknown length becomes: rows are short.
#[inline(always)]
fn copy_row(to: &mut [MaybeUninit<u8>], from: &[u8]) {
    assert_eq!(to.len(), from.len());
    match from.len() {
        16..=SHORT => copy_ends::<16>(to, from),
        8..16 => copy_ends::<8>(to, from),
        4..8 => copy_ends::<4>(to, from),
        2..4 => copy_ends::<2>(to, from),
        _ => {
            to.write_copy_of_slice(from);
        }
    }
}

/// Appends the elements of a tuple if all are plain integers 0 to 255.
fn append_bytes(bytes: &mut Vec<u8>, tuple: Value<'_>, triples: bool) -> bool {
    let mut push = |n: i64| u8::try_from(n).map(|b| bytes.push(b)).is_ok();
    match tuple {
        Value::Pair(p) => push(p.get().i.into()) && push(p.get().j.into()),
        Value::Cell(c) if triples => {
            let c = c.get();
            push(c.at.i.into()) && push(c.at.j.into()) && push(c.color.into())
        }
        Value::Row(row) => {
            bytes.extend_from_slice(row.cells);
            true
        }
        Value::Tuple(tuple) => tuple.items.iter().all(|v| match v {
            Value::Int(n) => push(*n),
            _ => false,
        }),
        _ => false,
    }
}
