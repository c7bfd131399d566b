//! Batts made ready to run: many solvers in one pass, what they share computed once.
//!
//! Faults stay where they happen. Every candidate and every score is an *entry* that knows its steps. When a
//! step fails, the entries it belongs to have failed, and a step is skipped once all entries that it
//! belongs to have: so a batt never does more than its solvers would do one by one, and a candidate is an
//! error exactly when its solver alone would be one.

use std::ops::Range;
use std::time::{Duration, Instant};

use batt_arc::Grid;
use batt_dsl::{Dialect, Fault, Limits, MemoryBudget, Outcome, Profile, Run, Value, Workspace};
use batt_lang::{Batt, OnError, Operand, StepId, batt};

use crate::compile::{RunError, Source, Steps};
use crate::sample::{Sample, demos, grid};

/// What all steps of a batt together may allocate, in units of what one step may.
pub(crate) const MEMORY_OF_ALL: usize = 4;

/// A batt compiled once, to be run many times, on any thread.
pub struct CompiledBatt {
    dialect: Dialect,
    on_error: OnError,
    pub(crate) steps: Steps,
    /// The steps in the order in which they are executed.
    pub(crate) order: Vec<u32>,
    /// Where the values of the entries are: the outputs, then the scores.
    pub(crate) values: Vec<Source>,
    outputs: usize,
    /// The entries that each step belongs to.
    pub(crate) entries_of_step: Lists,
    /// The steps of each entry.
    pub(crate) steps_of_entry: Lists,
    /// In how many entries each step is: when candidates and scores are wanted, and for scores alone.
    pub(crate) users: [Vec<u32>; 2],
    pub(crate) uses_samples: bool,
}

/// What is wanted of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass<'a> {
    /// Candidates and scores, with nothing to compare with: `C` is `None`.
    Solve,
    /// Scores alone, against the grid that was to be found: `C` is that grid.
    Compare(&'a Grid),
}

/// Which entries are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Candidates and scores.
    All,
    /// Scores alone; candidates are computed only where they are compared.
    Scores,
}

/// The entries that a run is for.
#[derive(Clone, Copy)]
enum Entries<'a> {
    Wanted(Wanted),
    /// Those marked.
    Only(&'a [bool]),
}

/// What a thread needs to run batts, reused from run to run.
#[derive(Default)]
pub struct BattWorker {
    pub(crate) workspace: Workspace,
    /// In how many entries that have not failed each step is.
    live: Vec<u32>,
    failed: Vec<Option<RunError>>,
}

impl BattWorker {
    /// What profiled primitives have taken so far.
    pub(crate) fn profile(&self) -> &Profile {
        self.workspace.profile()
    }
}

/// A batt that has run: its values, as long as they live.
pub struct BattRun<'a, 'r> {
    batt: &'a CompiledBatt,
    values: Values<'a, 'r>,
    failed: &'a [Option<RunError>],
    /// Bytes that all steps together have allocated.
    pub(crate) allocated: usize,
}

/// Where the values of a run are.
enum Values<'a, 'r> {
    /// Among those of all steps.
    Slots(&'a [Value<'r>]),
    /// One for each entry: they come from elsewhere.
    Entries(&'a [Value<'r>]),
}

/// What one step did over many runs. Counted always: it is one addition a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCount {
    /// Runs in which it was executed; in the others nobody needed it any more.
    pub executed: u64,
    /// Runs in which it failed.
    pub failed: u64,
    /// Runs in which it, or something it called, fell back to a default.
    pub fallbacks: u64,
}

impl CompiledBatt {
    /// Compiles a batt.
    pub fn new(batt: &Batt) -> CompiledBatt {
        let (steps, values) = Steps::new(&batt.program, entry_values(batt));
        let count = batt.program.steps().len();
        let of_outputs = batt.outputs.iter().map(|output| output.steps.as_slice());
        let of_scores = batt.scores.iter().map(|score| score.steps.as_slice());
        let steps_of_entry = Lists::new(
            of_outputs
                .chain(of_scores)
                .map(|steps| steps.iter().map(|id| id.0)),
        );
        let entries_of_step = steps_of_entry.inverted(count);
        let outputs = batt.outputs.len();
        let users = |from: u32| {
            let of_step = |step| entries_of_step.get(step).iter();
            let wanted = |step| of_step(step).filter(|&&entry| entry >= from).count() as u32;
            (0..count).map(wanted).collect()
        };
        let mut operands = batt.program.operands().chain(entry_values(batt));
        CompiledBatt {
            dialect: batt.dialect(),
            on_error: batt.on_error,
            users: [users(0), users(outputs as u32)],
            order: solver_by_solver(batt),
            steps,
            values,
            outputs,
            entries_of_step,
            steps_of_entry,
            uses_samples: operands.any(|operand| *operand == batt::SAMPLES),
        }
    }

    /// The same with another way to treat failing steps.
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> CompiledBatt {
        self.on_error = on_error;
        self
    }

    /// How failing steps are treated.
    pub fn mode(&self) -> OnError {
        self.on_error
    }

    /// The dialect of the batt.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.instructions.len()
    }

    /// Has it no steps?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of candidates.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of scores.
    pub fn scores(&self) -> usize {
        self.values.len() - self.outputs
    }

    /// The entries that are wanted in a pass.
    pub(crate) fn wanted(&self, pass: Pass<'_>) -> Range<usize> {
        match pass.wanted() {
            Wanted::All => 0..self.values.len(),
            Wanted::Scores => self.outputs..self.values.len(),
        }
    }

    /// Runs the batt on a sample and hands its values to `finish`. `limits` hold for each step: what one solver
    /// does to itself is no loss to the others. Only the clock is for the run as a whole. `counts` has one
    /// entry for each step.
    pub fn run<T>(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        pass: Pass<'_>,
        limits: &Limits,
        counts: &mut [StepCount],
        finish: impl for<'r> FnOnce(&mut Run<'r>, &BattRun<'_, 'r>) -> T,
    ) -> T {
        let inputs = Inputs {
            batt: self,
            sample,
            pass,
        };
        self.run_with(
            worker,
            pass.wanted(),
            |run| inputs.make(run),
            limits,
            counts,
            finish,
        )
    }

    /// As [`run`](CompiledBatt::run), for the marked entries alone: the steps of no others are executed. Those have
    /// failed, as far as `finish` can tell.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn run_only<T>(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        pass: Pass<'_>,
        entries: &[bool],
        limits: &Limits,
        counts: &mut [StepCount],
        finish: impl for<'r> FnOnce(&mut Run<'r>, &BattRun<'_, 'r>) -> T,
    ) -> T {
        let inputs = Inputs {
            batt: self,
            sample,
            pass,
        };
        self.run_watched(
            worker,
            Entries::Only(entries),
            |run| inputs.make(run),
            limits,
            counts,
            &mut (),
            finish,
        )
    }

    /// As [`run`](CompiledBatt::run), with the time of every step.
    pub(crate) fn run_timed(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        limits: &Limits,
        times: &mut [Duration],
        counts: &mut [StepCount],
    ) {
        let mut watch = Stopwatch {
            times,
            started: Instant::now(),
        };
        self.run_for_watch(worker, sample, limits, counts, &mut watch);
    }

    /// As [`run`](CompiledBatt::run), without counting: only to find out what counting costs.
    pub(crate) fn run_uncounted(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        limits: &Limits,
    ) {
        self.run_for_watch(worker, sample, limits, &mut [], &mut Uncounted);
    }

    /// A run of which nobody wants the values.
    fn run_for_watch(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        limits: &Limits,
        counts: &mut [StepCount],
        watch: &mut impl Watch,
    ) {
        let inputs = Inputs {
            batt: self,
            sample,
            pass: Pass::Solve,
        };
        self.run_watched(
            worker,
            Entries::Wanted(Wanted::All),
            |run| inputs.make(run),
            limits,
            counts,
            watch,
            |_, _| (),
        );
    }

    /// As [`run`](CompiledBatt::run), on any values for `S`, `I` and `C`.
    pub fn run_with<T>(
        &self,
        worker: &mut BattWorker,
        wanted: Wanted,
        inputs: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; 3]>,
        limits: &Limits,
        counts: &mut [StepCount],
        finish: impl for<'r> FnOnce(&mut Run<'r>, &BattRun<'_, 'r>) -> T,
    ) -> T {
        let entries = Entries::Wanted(wanted);
        self.run_watched(worker, entries, inputs, limits, counts, &mut (), finish)
    }

    #[allow(clippy::too_many_arguments)]
    fn run_watched<T, W: Watch>(
        &self,
        worker: &mut BattWorker,
        entries: Entries<'_>,
        inputs: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; 3]>,
        limits: &Limits,
        counts: &mut [StepCount],
        watch: &mut W,
        finish: impl for<'r> FnOnce(&mut Run<'r>, &BattRun<'_, 'r>) -> T,
    ) -> T {
        let BattWorker {
            workspace,
            live,
            failed,
        } = worker;
        live.clear();
        failed.clear();
        failed.resize(self.values.len(), None);
        let wanted_from = match entries {
            Entries::Wanted(Wanted::All) => {
                live.extend_from_slice(&self.users[0]);
                0
            }
            Entries::Wanted(Wanted::Scores) => {
                live.extend_from_slice(&self.users[1]);
                self.outputs as u32
            }
            Entries::Only(marked) => {
                live.resize(self.len(), 0);
                for (entry, _) in marked.iter().enumerate().filter(|(_, marked)| **marked) {
                    let steps = self.steps_of_entry.get(entry);
                    steps.iter().for_each(|&step| live[step as usize] += 1);
                }
                for (failed, _) in failed
                    .iter_mut()
                    .zip(marked)
                    .filter(|(_, marked)| !**marked)
                {
                    *failed = Some(NOT_ASKED_FOR);
                }
                0
            }
        };
        workspace.run(self.dialect, limits, |run| {
            let mut state = State {
                batt: self,
                wanted_from,
                live,
                failed,
                memory: MemoryBudget::new(limits, MEMORY_OF_ALL),
            };
            let mut none = [];
            let slots = match state.prepare(run, inputs) {
                Ok(slots) => {
                    state.execute(run, slots, counts, watch);
                    slots
                }
                Err(fault) => {
                    state.failed.fill(Some(RunError { fault, step: None }));
                    &mut none
                }
            };
            // Whoever looks at the values does so on a budget of its own.
            run.begin_step(&mut state.memory);
            let done = BattRun {
                batt: self,
                values: Values::Slots(slots),
                failed: state.failed,
                allocated: limits.memory.saturating_mul(MEMORY_OF_ALL) - state.memory.left(),
            };
            finish(run, &done)
        })
    }
}

/// Why there is no value of an entry that a run is not for.
const NOT_ASKED_FOR: RunError = RunError {
    fault: Fault::Type,
    step: None,
};

impl Pass<'_> {
    /// The entries that are wanted.
    pub(crate) fn wanted(self) -> Wanted {
        match self {
            Pass::Solve => Wanted::All,
            Pass::Compare(_) => Wanted::Scores,
        }
    }
}

/// What to make the inputs of a run from.
struct Inputs<'a> {
    batt: &'a CompiledBatt,
    sample: &'a Sample<'a>,
    pass: Pass<'a>,
}

impl Inputs<'_> {
    fn make<'r>(&self, run: &mut Run<'r>) -> Outcome<[Value<'r>; 3]> {
        let samples = match self.batt.uses_samples {
            true => demos(run, self.sample.demos)?,
            false => Value::None,
        };
        let comparison = match self.pass {
            Pass::Solve => Value::None,
            Pass::Compare(expected) => grid(run, expected)?,
        };
        Ok([samples, grid(run, self.sample.input)?, comparison])
    }
}

/// The steps one solver after the other, each followed by the differs that look at its candidate. The text has
/// them in turns, one step of each solver, but a value that is used soon after it is made is still
/// in the cache. Steps that belong to no entry are left out: nobody would see what they do.
fn solver_by_solver(batt: &Batt) -> Vec<u32> {
    let outputs = batt
        .outputs
        .iter()
        .map(|o| (o.after, 0, o.steps.as_slice()));
    let scores = batt.scores.iter().map(|s| (s.after, 1, s.steps.as_slice()));
    let mut entries: Vec<_> = outputs.chain(scores).collect();
    entries.sort_by_key(|(after, kind, _)| (*after, *kind));
    let mut placed = vec![false; batt.program.steps().len()];
    let mut order = Vec::with_capacity(placed.len());
    for id in entries.iter().flat_map(|(_, _, steps)| steps.iter()) {
        if !std::mem::replace(&mut placed[id.index()], true) {
            order.push(id.0);
        }
    }
    order
}

/// The values of the entries: the outputs, then the scores.
fn entry_values(batt: &Batt) -> impl Iterator<Item = &Operand> + Clone {
    let outputs = batt.outputs.iter().map(|output| &output.value);
    outputs.chain(batt.scores.iter().map(|score| &score.value))
}

/// Somebody who hears of every step. Nobody does by default, at no cost.
trait Watch {
    /// Are steps counted? Always, but for measuring what it costs.
    const COUNTS: bool = true;

    fn before(&mut self, step: usize);
    fn after(&mut self, step: usize);
}

impl Watch for () {
    fn before(&mut self, _: usize) {}
    fn after(&mut self, _: usize) {}
}

/// Nobody listens, and nothing is counted.
struct Uncounted;

impl Watch for Uncounted {
    const COUNTS: bool = false;

    fn before(&mut self, _: usize) {}
    fn after(&mut self, _: usize) {}
}

/// Adds up the time of each step.
impl Watch for Stopwatch<'_> {
    fn before(&mut self, _: usize) {
        self.started = Instant::now();
    }

    fn after(&mut self, step: usize) {
        self.times[step] += self.started.elapsed();
    }
}

struct Stopwatch<'a> {
    times: &'a mut [Duration],
    started: Instant,
}

/// A run in progress.
struct State<'a> {
    batt: &'a CompiledBatt,
    /// The first entry that counts in this pass.
    wanted_from: u32,
    live: &'a mut [u32],
    failed: &'a mut [Option<RunError>],
    /// What all steps together may still allocate.
    memory: MemoryBudget,
}

impl State<'_> {
    /// The slots, with inputs and literals in place.
    fn prepare<'r>(
        &self,
        run: &mut Run<'r>,
        inputs: impl FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; 3]>,
    ) -> Outcome<&'r mut [Value<'r>]> {
        let steps = &self.batt.steps;
        let slots = run.slots(steps.slots())?;
        slots[..steps.params].copy_from_slice(&inputs(run)?);
        steps.place_literals(run, slots)?;
        Ok(slots)
    }

    fn execute<'r, W: Watch>(
        &mut self,
        run: &mut Run<'r>,
        slots: &mut [Value<'r>],
        counts: &mut [StepCount],
        watch: &mut W,
    ) {
        let first = self.batt.steps.first();
        let mut fallbacks = run.fallbacks();
        for &k in &self.batt.order {
            let k = k as usize;
            if self.live[k] == 0 {
                continue;
            }
            let instruction = &self.batt.steps.instructions[k];
            run.begin_step(&mut self.memory);
            run.begin_closures(k as u32);
            watch.before(k);
            let outcome = instruction.execute(run, slots).outcome();
            watch.after(k);
            // Some operations cannot fail in Python and go on when they reach a limit.
            let outcome = outcome.and_then(|value| run.check_limits().map(|()| value));
            if W::COUNTS {
                counts[k].executed += 1;
            }
            match outcome.or_else(|fault| self.default(run, slots, k, fault)) {
                Ok(value) => slots[first + k] = value,
                Err(fault) => {
                    if W::COUNTS {
                        counts[k].failed += 1;
                    }
                    self.fail(k, fault);
                }
            }
            if W::COUNTS && run.fallbacks() != fallbacks {
                fallbacks = run.fallbacks();
                counts[k].fallbacks += 1;
            }
        }
    }

    /// What a failing step gives instead, if the batt goes on with defaults. As in the guards of generated
    /// programs, three exceptions count; others, and limits, leave the step without a value.
    #[cold]
    fn default<'r>(
        &self,
        run: &mut Run<'r>,
        slots: &[Value<'r>],
        k: usize,
        fault: Fault,
    ) -> Outcome<Value<'r>> {
        let guarded = matches!(fault, Fault::Type | Fault::Attribute | Fault::Value);
        if self.batt.on_error == OnError::Poison || !guarded {
            return Err(fault);
        }
        let callee = self.batt.steps.instructions[k].dynamic_callee(slots);
        run.default_of(callee.unwrap_or(Value::None))
    }

    /// The entries that a failing step belongs to have failed: nobody needs the rest of their steps for them.
    #[cold]
    fn fail(&mut self, k: usize, fault: Fault) {
        let error = RunError {
            fault,
            step: Some(StepId(k as u32)),
        };
        for &entry in self.batt.entries_of_step.get(k) {
            // The first failure is the one to report; the steps were given up then.
            if entry < self.wanted_from || self.failed[entry as usize].is_some() {
                continue;
            }
            self.failed[entry as usize] = Some(error);
            for &step in self.batt.steps_of_entry.get(entry as usize) {
                self.live[step as usize] -= 1;
            }
        }
    }
}

impl<'a, 'r> BattRun<'a, 'r> {
    /// A run that happened elsewhere: a value for each entry that has not failed.
    pub(crate) fn elsewhere(
        batt: &'a CompiledBatt,
        entries: &'a [Value<'r>],
        failed: &'a [Option<RunError>],
    ) -> BattRun<'a, 'r> {
        BattRun {
            batt,
            values: Values::Entries(entries),
            failed,
            allocated: 0,
        }
    }

    /// A candidate.
    pub fn output(&self, k: usize) -> Result<Value<'r>, RunError> {
        self.entry(k)
    }

    /// All candidates.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Result<Value<'r>, RunError>> {
        (0..self.batt.outputs).map(|k| self.entry(k))
    }

    /// All scores.
    pub fn scores(&self) -> impl ExactSizeIterator<Item = Result<Value<'r>, RunError>> {
        (self.batt.outputs..self.batt.values.len()).map(|k| self.entry(k))
    }

    /// An output, or behind those a score.
    pub(crate) fn entry(&self, k: usize) -> Result<Value<'r>, RunError> {
        match self.failed[k] {
            Some(error) => Err(error),
            None => Ok(match self.values {
                Values::Slots(slots) => self.batt.values[k].get(slots),
                Values::Entries(entries) => entries[k],
            }),
        }
    }
}

impl StepCount {
    /// Adds the counts of other runs of the same step.
    pub fn add(&mut self, other: &StepCount) {
        self.executed += other.executed;
        self.failed += other.failed;
        self.fallbacks += other.fallbacks;
    }
}

/// Lists of numbers, one after the other in one piece of memory.
pub(crate) struct Lists {
    pub starts: Vec<u32>,
    pub numbers: Vec<u32>,
}

impl Lists {
    fn new(lists: impl Iterator<Item = impl Iterator<Item = u32>>) -> Lists {
        let mut all = Lists {
            starts: vec![0],
            numbers: Vec::new(),
        };
        for list in lists {
            all.numbers.extend(list);
            all.starts.push(all.numbers.len() as u32);
        }
        all
    }

    fn get(&self, k: usize) -> &[u32] {
        &self.numbers[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// For each number below `count`, the lists it is in.
    fn inverted(&self, count: usize) -> Lists {
        let mut starts = vec![0u32; count + 1];
        for &number in &self.numbers {
            starts[number as usize + 1] += 1;
        }
        for k in 0..count {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; self.numbers.len()];
        for list in 0..self.starts.len() - 1 {
            for &number in self.get(list) {
                let place = &mut next[number as usize];
                numbers[*place as usize] = list as u32;
                *place += 1;
            }
        }
        Lists { starts, numbers }
    }
}
