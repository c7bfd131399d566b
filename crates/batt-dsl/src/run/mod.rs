//! A run: one program on one input, with its memory and its limits.

mod grids;
mod make;

use std::time::{Duration, Instant};

use crate::arena::Arena;
use crate::calls::SOLVER_FRAME;
use crate::dialect::Dialect;
use crate::fault::{Fault, Outcome};
use crate::memory::{Allowance, Cost, Memory};
use crate::profile::Profile;
use crate::set::{Chains, KeyIndex, NeighborOrders, Plane, Table};
use crate::value::{Cell, GridView, IntPair, Value};

/// The limits of one run. Exceeding one ends the run with a fault of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Units of work: a call, or about one element touched.
    pub steps: u64,
    /// Elements in one container, cells in one grid.
    pub size: usize,
    /// Bytes of values alive together. Values live until the run ends, except for those that calls
    /// in loops leave behind.
    pub memory: usize,
    /// The clock, as a last resort; `None` for no limit. Steps are the better limit: with them the
    /// outcome of a run does not depend on the machine.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// Returns limits that are generous for solvers: on its own task, the heaviest solver of
    /// arc-dsl takes 0.3 million steps, and the one that needs most memory takes 0.4 MiB. They are
    /// tight for runaways: with 100 million steps, one run in a thousand takes more time than all
    /// others together. The default limits of a device follow from these.
    fn default() -> Limits {
        Limits {
            steps: 3_000_000,
            size: 4_000_000,
            memory: 16 << 20,
            time: None,
        }
    }
}

/// The number of steps between two looks at the clock: a few milliseconds.
const SLICE: u64 = 1 << 18;

/// The memory budget of all steps of a batt together.
pub struct MemoryBudget {
    left: usize,
    /// The budget of the current step.
    granted: usize,
}

impl MemoryBudget {
    /// Makes the budget of a run with these limits: each step may allocate `limits.memory` bytes,
    /// and all steps together `steps` times as many.
    pub fn new(limits: &Limits, steps: usize) -> MemoryBudget {
        MemoryBudget {
            left: limits.memory.saturating_mul(steps),
            granted: limits.memory,
        }
    }

    /// Makes the budget of a run with these limits whose steps may allocate any amount together;
    /// the caller bounds the [sum](MemoryBudget::left).
    pub fn unlimited(limits: &Limits) -> MemoryBudget {
        MemoryBudget {
            left: usize::MAX,
            granted: limits.memory,
        }
    }

    /// Returns the bytes that were left for all steps when the current step began.
    pub fn left(&self) -> usize {
        self.left
    }
}

/// The depth to which containers may nest. Recursive functions walk them.
pub(crate) const MAX_DEPTH: u32 = 990;

/// Buffers that operations borrow; empty between operations.
#[derive(Default)]
pub(crate) struct Scratch {
    pub pairs: Vec<IntPair>,
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
    /// Bytes that runs have released before their end.
    pub released: u64,
    /// The smallest memory budget just before a loop released memory.
    pub lowest: usize,
    /// The number of elements from which functions are called in columns.
    #[cfg(test)]
    pub least_in_columns: Option<usize>,
    /// The number of calls in columns, in all runs.
    #[cfg(test)]
    pub walks: u64,
}

/// Memory and buffers for runs, one after the other.
///
/// Each thread uses its own workspace. A run's values borrow from it, so they cannot outlive the
/// run.
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

    /// Returns the times of profiled primitives in this workspace so far.
    pub fn profile(&self) -> &Profile {
        &self.scratch.profile
    }

    /// Returns the number of elements from which functions are called in columns, and the number of
    /// such calls so far.
    #[cfg(test)]
    pub(crate) fn columns(&mut self) -> (&mut Option<usize>, u64) {
        let scratch = &mut self.scratch;
        (&mut scratch.least_in_columns, scratch.walks)
    }

    /// Returns the memo of closure calls.
    #[cfg(test)]
    pub(crate) fn memo(&mut self) -> &mut crate::memo::Memo {
        self.memory.memo.get_mut()
    }

    /// Runs `body` with fresh memory and limits. Its result may not borrow from the run.
    pub fn run<T>(
        &mut self,
        dialect: Dialect,
        limits: &Limits,
        body: impl for<'r> FnOnce(&mut Run<'r>) -> T,
    ) -> T {
        // This input is only a placeholder that the body cannot see.
        let unused = GridView {
            height: 1,
            width: 1,
            cells: &[0],
        };
        self.run_on(&unused, dialect, limits, |run, _| body(run))
    }

    /// Does what [`run`](Workspace::run) does, and passes a grid of the caller to the body as a
    /// value of the run, without copying it.
    #[inline]
    pub fn run_on<T>(
        &mut self,
        input: &GridView<'_>,
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
            lacks_table: false,
        };
        let input = if input.height == 0 || input.width == 0 {
            // Without the hint the compiler prepares both values and chooses one.
            std::hint::cold_path();
            Value::EMPTY_TUPLE
        } else {
            Value::Grid(input)
        };
        body(&mut run, input)
    }
}

/// One run in progress, the first argument of every primitive.
pub struct Run<'r> {
    /// The arena in which values are made.
    pub(crate) arena: &'r Arena,
    pub(crate) home: &'r Memory,
    pub(crate) scratch: &'r mut Scratch,
    /// The limits of the run. They are a reference and not a copy, because copying takes time, and
    /// the shortest runs take a dozen nanoseconds.
    limits: &'r Limits,
    /// Steps left in this slice.
    fuel: u64,
    /// Steps left after it.
    rest: u64,
    deadline: Option<Instant>,
    /// The bytes that may still be allocated. The run counts them, not the arena, because the arena
    /// keeps chunks from earlier runs, and the outcome of a run must not depend on those.
    memory: usize,
    reached: Option<Fault>,
    /// The number of frames that CPython would have on its stack: see `calls.rs`.
    pub(crate) depth: u32,
    /// The number of closures and nans made so far, a stable stand-in for their addresses.
    pub(crate) closures: u32,
    /// The number of times a primitive has fallen back to its default.
    pub(crate) fallbacks: u32,
    pub(crate) dialect: Dialect,
    pub(crate) calls_at_once: u64,
    /// Whether the size of a table was needed that the caller had left out.
    pub(crate) lacks_table: bool,
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

    /// Checks the clock and takes work from the next slices of the step budget.
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

    /// Gives the next step of a batt its own budget of steps and memory, independent of earlier
    /// steps. The time limit is for the whole run and is not renewed.
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

    /// Returns the unused part of the limits.
    pub fn allowance(&self) -> Allowance {
        Allowance {
            steps: self.fuel + self.rest,
            memory: self.memory,
        }
    }

    /// Sets the unused part of the limits, whatever was used so far. The time limit is for the
    /// whole run and is not renewed.
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

    /// Runs `body` with limits of its own, without using up the remaining ones. Returns its result
    /// and the bytes it took. If it reaches a limit, the whole run ends.
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

    /// Charges this run for a computation that had limits of its own, as if it had run under the
    /// limits of this run.
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

    /// Fails with the limit that the run has reached, if any. Some operations cannot fail in Python
    /// and continue with a made-up value when they reach a limit, so the end of every run has to
    /// check this.
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
        // The first limit that was reached is reported.
        *self.reached.get_or_insert(fault)
    }

    /// Returns a count of bytes that grows with every allocation within a step.
    pub(crate) fn allocated(&self) -> u64 {
        self.scratch.released.wrapping_sub(self.memory as u64)
    }

    /// Returns the bytes that may still be allocated.
    #[inline(always)]
    pub(crate) fn budget(&self) -> usize {
        self.memory
    }

    /// Changes the bytes that may still be allocated, after memory has been released.
    #[inline(always)]
    pub(crate) fn set_budget(&mut self, bytes: usize) {
        self.memory = bytes;
    }

    /// Returns whether cells are `(i, j, colour)`.
    #[inline(always)]
    pub(crate) fn triples(&self) -> bool {
        self.dialect.cells_are_triples()
    }

    /// Returns the number of times that a primitive has returned its default instead of failing.
    pub fn fallbacks(&self) -> u32 {
        self.fallbacks
    }

    /// Gives the closures and nans that a step of a batt makes a range of numbers of their own, so
    /// that the order of a set of closures does not depend on which other steps ran. A step that
    /// makes more than a quarter of a million of them continues into the next range. Then hashes
    /// may collide, which is harmless.
    pub fn begin_closures(&mut self, step: u32) {
        self.closures = step << 18;
    }

    /// Returns the steps left in this slice. It decreases with every step, except at the start of
    /// the next slice.
    #[inline(always)]
    pub(crate) fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Returns the number of calls of primitives made in columns, counted as if each had been made
    /// separately.
    pub fn calls_at_once(&self) -> u64 {
        self.calls_at_once
    }

    /// Returns the units of work spent so far.
    pub fn spent(&self) -> u64 {
        self.limits.steps - self.fuel - self.rest
    }

    /// Fails when a container would be too large. Callers check this before they build it.
    #[inline(always)]
    pub(crate) fn check_len(&self, len: usize) -> Outcome<()> {
        if len > self.limits.size {
            return Err(Fault::Size);
        }
        Ok(())
    }

    /// Fails when a tuple of this many values would be too large or exceed the memory limit.
    /// Callers check this while they gather the values.
    pub(crate) fn check_values(&mut self, len: usize) -> Outcome<()> {
        self.check_len(len)?;
        match len.saturating_mul(size_of::<Value<'r>>()) > self.memory {
            true => Err(self.reach(Fault::Memory)),
            false => Ok(()),
        }
    }

    /// Fails when containers would nest too deeply to be walked recursively.
    #[inline(always)]
    pub(crate) fn check_depth(&self, depth: u32) -> Outcome<()> {
        if depth > MAX_DEPTH {
            return Err(Fault::Recursion);
        }
        Ok(())
    }
}
