//! Batts compiled for running: many solvers in one pass, with shared steps computed once.
//!
//! A fault stays inside its solver. Each candidate and each score is an *entry* that knows its
//! steps. When a step of a solver fails, the solver's entries that need this step fail, and the
//! steps that only these entries need are skipped. So a batt never does more than its solvers would
//! do one by one, and each solver ends as it would alone.
//!
//! Where the output is known, the differs also compare each candidate with it. These *comparisons*
//! are the scores computed once more, with the expected grid as `C`. Scores and comparisons share
//! all steps that do not depend on `C` if the run computes both.
//!
//! A run computes one solver after the other. A step that several solvers share is computed by the
//! first solver that needs it, and its value stays until the end of the run. The other steps of a
//! solver are computed in a scoped [region](Run::scoped): the caller sees the entries, then the
//! next solver reuses the memory. Limits hold for each solver. A shared step is computed within
//! limits of its own, and its cost is charged to each solver that needs it.

mod plan;
mod twins;

use std::ops::Range;
use std::time::{Duration, Instant};

use batt_dsl::{
    Allowance, Cost, Dialect, Fault, Limits, Outcome, Outside, Profile, Run, Value, Workspace,
};
use batt_lang::{Batt, OnError, StepId, batt};

pub(crate) use self::plan::{Lists, Plan, Solver, Work};
use self::plan::{Part, PartSet, entry_values};
use crate::interpret::{RunError, STACK_SLOTS};
use crate::lower::Instruction;
use crate::sample::{Sample, demos, grid};

/// The memory limit of all shared steps of a batt together, as a multiple of a solver's memory
/// limit. It is far more than shared steps need; it bounds the memory of a run.
const MEMORY_OF_SHARED: usize = 16;

/// A batt compiled once, to run many times, on any thread.
pub struct CompiledBatt {
    dialect: Dialect,
    on_error: OnError,
    pub(crate) plan: Plan,
    outputs: usize,
    scores: usize,
    pub(crate) uses_samples: bool,
}

/// Selects the entries that a run computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Candidates and scores, without a grid to compare with: `C` is `None`.
    Solve,
    /// Comparisons only: the scores with the expected grid as `C`.
    Compare,
    /// Candidates, scores and comparisons.
    Both,
}

/// The goal of a run and the solvers to run.
#[derive(Clone, Copy)]
struct Request<'a> {
    goal: Goal,
    /// Marks the solvers to run; `None` runs all.
    solvers: Option<&'a [bool]>,
}

impl Request<'_> {
    fn wants(&self, solver: usize) -> bool {
        self.solvers.is_none_or(|solvers| solvers[solver])
    }
}

/// The buffers of one thread that runs batts, reused from run to run.
#[derive(Default)]
pub struct BattWorker {
    pub(crate) workspace: Workspace,
    failed: Vec<Option<RunError>>,
    /// Whether each slot of the current solver has its value.
    done: Vec<bool>,
    /// The shared steps that this run has computed so far.
    shared: Vec<Option<Shared>>,
    /// The time that the last run spent on comparisons.
    pub(crate) comparing: Duration,
}

/// The result of a computed shared step.
#[derive(Clone, Copy)]
struct Shared {
    /// The cost of the step, or the fault if it failed.
    cost: Outcome<Cost>,
    fell_back: bool,
    /// Whether [`StepCount`] includes it.
    counted: bool,
}

impl BattWorker {
    /// Returns what profiled primitives took in all runs so far.
    pub(crate) fn profile(&self) -> &Profile {
        self.workspace.profile()
    }
}

/// A computed entry of a batt. Candidates come first, then scores, then comparisons.
#[derive(Clone, Copy)]
pub struct BattEntry<'r> {
    /// Its position among the entries.
    pub number: usize,
    /// Its value, or the error if it failed.
    pub value: Result<Value<'r>, RunError>,
}

/// Counts of one step over many runs, for candidates and scores. Steps are always counted, which
/// takes one addition each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCount {
    /// Runs that executed the step. In the other runs, every entry that needs it had already
    /// failed.
    pub executed: u64,
    /// Runs in which the step failed.
    pub failed: u64,
    /// Runs in which the step, or a function it called, fell back to a default.
    pub fallbacks: u64,
}

impl CompiledBatt {
    /// Compiles a batt.
    pub fn new(batt: &Batt) -> CompiledBatt {
        let plan = Plan::new(batt);
        let (outputs, scores) = (batt.outputs.len(), batt.scores.len());
        let mut operands = batt.program.operands().chain(entry_values(batt));
        CompiledBatt {
            dialect: batt.dialect(),
            on_error: batt.on_error,
            plan,
            outputs,
            scores,
            uses_samples: operands.any(|operand| *operand == batt::SAMPLES),
        }
    }

    /// Returns the batt with another mode for failing steps.
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> CompiledBatt {
        self.on_error = on_error;
        self
    }

    /// Returns the mode for failing steps.
    pub fn mode(&self) -> OnError {
        self.on_error
    }

    /// Returns the dialect of the batt.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.plan.steps.instructions.len() - self.plan.twins.of.len()
    }

    /// Returns whether it has no steps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of candidates.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the number of scores.
    pub fn scores(&self) -> usize {
        self.scores
    }

    /// Returns the number of candidates and scores.
    pub(crate) fn solved(&self) -> usize {
        self.outputs + self.scores
    }

    /// Returns the number of all entries: candidates, scores and comparisons.
    pub(crate) fn entries(&self) -> usize {
        self.solved() + self.scores
    }

    /// Returns the range of entries that a goal asks for.
    pub(crate) fn shown(&self, goal: Goal) -> Range<usize> {
        match goal {
            Goal::Solve => 0..self.solved(),
            Goal::Compare => self.solved()..self.entries(),
            Goal::Both => 0..self.entries(),
        }
    }

    /// Returns the step itself, or the original of a twin.
    pub(crate) fn original(&self, step: u32) -> u32 {
        let twin = (step as usize).checked_sub(self.len());
        twin.map_or(step, |twin| self.plan.twins.of[twin])
    }

    /// Runs the batt on a sample, passes each entry to `look`, and returns the results of `look`
    /// for the entries that `goal` asks for, in the order of the entries.
    ///
    /// Entries are passed solver by solver and are only valid during the call. Comparing solves
    /// first, and inspecting a value caches facts about it. So `look` sees all entries that the run
    /// computes, and the result for one entry does not depend on the goal. `limits` hold for each
    /// solver, and once more for each call of `look`, so no solver uses up the limits of another.
    /// Only the clock limits the run as a whole. `counts` has one element per step, or is empty.
    pub fn run<T>(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        goal: Goal,
        limits: &Limits,
        counts: &mut [StepCount],
        look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Vec<T> {
        self.collect(
            worker,
            goal,
            |run| self.inputs(run, sample, goal),
            limits,
            counts,
            look,
        )
    }

    /// Runs the marked solvers only, otherwise as [`run`](CompiledBatt::run) does. `look` sees all
    /// entries that the run computes, not only those of the goal.
    #[allow(
        clippy::too_many_arguments,
        reason = "those of `run`, and the marked solvers"
    )]
    pub(crate) fn run_only(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        goal: Goal,
        solvers: &[bool],
        limits: &Limits,
        counts: &mut [StepCount],
        look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>),
    ) {
        let request = Request {
            goal,
            solvers: Some(solvers),
        };
        self.run_watched(
            worker,
            request,
            |run| self.inputs(run, sample, goal),
            limits,
            counts,
            &mut (),
            look,
        );
    }

    /// Runs as [`run`](CompiledBatt::run) does, and measures the time of every step.
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
        let request = Request {
            goal: Goal::Solve,
            solvers: None,
        };
        self.run_watched(
            worker,
            request,
            |run| self.inputs(run, sample, Goal::Solve),
            limits,
            counts,
            &mut watch,
            |_, _| (),
        );
    }

    /// Computes candidates and scores as [`run`](CompiledBatt::run) does, with any values for `S`,
    /// `I` and `C`.
    pub fn run_with<T>(
        &self,
        worker: &mut BattWorker,
        inputs: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; 3]>,
        limits: &Limits,
        counts: &mut [StepCount],
        look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Vec<T> {
        self.collect(
            worker,
            Goal::Solve,
            |run| {
                let [samples, input, comparison] = inputs(run)?;
                Ok([samples, input, comparison, Value::None])
            },
            limits,
            counts,
            look,
        )
    }

    /// Runs the batt and returns the results of `look`, in the order of the entries.
    fn collect<T>(
        &self,
        worker: &mut BattWorker,
        goal: Goal,
        inputs: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; PARAMS]>,
        limits: &Limits,
        counts: &mut [StepCount],
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Vec<T> {
        let mut seen: Vec<Option<T>> = Vec::new();
        seen.resize_with(self.entries(), || None);
        let request = Request {
            goal,
            solvers: None,
        };
        self.run_watched(
            worker,
            request,
            inputs,
            limits,
            counts,
            &mut (),
            |run, entry| seen[entry.number] = Some(look(run, entry)),
        );
        seen.drain(self.shown(goal)).flatten().collect()
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "what differs between the kinds of run"
    )]
    fn run_watched<W: Watch>(
        &self,
        worker: &mut BattWorker,
        request: Request<'_>,
        inputs: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; PARAMS]>,
        limits: &Limits,
        counts: &mut [StepCount],
        watch: &mut W,
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>),
    ) {
        let BattWorker {
            workspace,
            failed,
            done,
            shared,
            comparing,
        } = worker;
        let plan = &self.plan;
        failed.clear();
        failed.resize(self.entries(), None);
        shared.clear();
        shared.resize(plan.steps.instructions.len(), None);
        *comparing = Duration::ZERO;
        let compares = request.goal != Goal::Solve;
        let mut state = State {
            batt: self,
            failed,
            done,
            shared,
            counts,
            watch,
        };
        let solvers = || (0..).zip(&plan.solvers);
        let solvers = || solvers().filter(|(number, _)| request.wants(*number));
        workspace.run(self.dialect, limits, |run| {
            // These slots do not count as memory, since each solver pays for its own slots.
            let mut slots = vec![Value::None; plan.steps.slots()];
            if let Err(fault) = self.prepare(run, &mut slots, inputs) {
                let value = Err(RunError { fault, step: None });
                for part in solvers().flat_map(|(_, solver)| solver.parts(compares)) {
                    let number = part.entry as usize;
                    look(run, BattEntry { number, value });
                }
                return;
            }
            run.bound_shared(limits.memory.saturating_mul(MEMORY_OF_SHARED));
            for (_, solver) in solvers() {
                run.scoped(|run, outside| {
                    let mut few = [Value::None; STACK_SLOTS];
                    let own = match few.get_mut(..solver.slots) {
                        Some(few) => Ok(few),
                        None => run.slots(solver.slots),
                    };
                    let own = own.unwrap_or_else(|fault| {
                        let error = RunError { fault, step: None };
                        let all = solver.parts.iter();
                        all.for_each(|part| state.failed[part.entry as usize] = Some(error));
                        &mut []
                    });
                    let (solving, compared) = solver.parts.split_at(solver.solving);
                    let rest = state.solve(run, outside, solver, &mut slots, own);
                    state.show(run, solving, own, &mut look);
                    if compares {
                        let started = Instant::now();
                        state.compare(run, outside, solver, rest, &mut slots, own);
                        state.show(run, compared, own, &mut look);
                        *comparing += started.elapsed();
                    }
                });
            }
        });
    }

    /// Puts inputs and literals into their slots.
    fn prepare<'r>(
        &self,
        run: &mut Run<'r>,
        slots: &mut [Value<'r>],
        inputs: impl FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; PARAMS]>,
    ) -> Outcome<()> {
        let steps = &self.plan.steps;
        slots[..steps.params].copy_from_slice(&inputs(run)?);
        steps.place_literals(run, slots)
    }

    /// Makes the values of `S`, `I`, `C`, and of `C` in comparisons.
    fn inputs<'r>(
        &self,
        run: &mut Run<'r>,
        sample: &Sample<'_>,
        goal: Goal,
    ) -> Outcome<[Value<'r>; PARAMS]> {
        let samples = match self.uses_samples {
            true => demos(run, sample.demos)?,
            false => Value::None,
        };
        let expected = match sample.expected {
            Some(expected) if goal != Goal::Solve => grid(run, expected)?,
            _ => Value::None,
        };
        Ok([samples, grid(run, sample.input)?, Value::None, expected])
    }
}

/// The number of parameters of a batt's steps: those in its text, and the expected grid.
const PARAMS: usize = batt::PARAMS.len() + 1;

/// Observes every step. The implementation for `()` does nothing, at no cost.
trait Watch {
    fn before(&mut self, step: usize);
    fn after(&mut self, step: usize);
}

impl Watch for () {
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
struct State<'a, W> {
    batt: &'a CompiledBatt,
    failed: &'a mut [Option<RunError>],
    done: &'a mut Vec<bool>,
    shared: &'a mut [Option<Shared>],
    counts: &'a mut [StepCount],
    watch: &'a mut W,
}

impl<W: Watch> State<'_, W> {
    /// Computes the candidate and the scores of a solver. Values of the solver's own steps go into
    /// `own`; shared steps that are not computed yet go into `shared`. Returns the limits that
    /// remain after the candidate.
    fn solve<'r, 's>(
        &mut self,
        run: &mut Run<'s>,
        outside: &Outside<'r, 's>,
        solver: &Solver,
        shared: &mut [Value<'r>],
        own: &mut [Value<'s>],
    ) -> Allowance {
        for (place, &slot) in own.iter_mut().zip(&solver.given) {
            *place = outside.bring(shared[slot as usize]);
        }
        self.done.clear();
        self.done.resize(solver.slots, false);
        let parts = &solver.parts[..solver.solving];
        let mut live = self.live(solver, 0..solver.solving);
        let mut rest = run.allowance();
        for (k, part) in parts.iter().enumerate() {
            // Each differ starts from what the candidate left, so differs do not use up each
            // other's limits.
            run.allow(rest);
            self.work(run, outside, solver, part, &mut live, true, shared, own);
            if k == 0 {
                rest = run.allowance();
            }
            if live.is_empty() {
                break;
            }
        }
        rest
    }

    /// Computes the missing steps of the comparisons. Each comparison may use the limits that
    /// remain after the candidate, so solving gives the same results with and without comparisons.
    fn compare<'r, 's>(
        &mut self,
        run: &mut Run<'s>,
        outside: &Outside<'r, 's>,
        solver: &Solver,
        rest: Allowance,
        shared: &mut [Value<'r>],
        own: &mut [Value<'s>],
    ) {
        let mut live = self.live(solver, solver.solving..solver.parts.len());
        for part in &solver.parts {
            if live.is_empty() {
                break;
            }
            run.allow(rest);
            self.work(run, outside, solver, part, &mut live, false, shared, own);
        }
    }

    /// Passes the entries of some parts to `look`.
    fn show<'s>(
        &self,
        run: &mut Run<'s>,
        parts: &[Part],
        own: &[Value<'s>],
        look: &mut impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>),
    ) {
        for part in parts {
            let number = part.entry as usize;
            let value = match self.failed[number] {
                Some(error) => Err(error),
                None => Ok(part.value.get(own)),
            };
            run.renew();
            look(run, BattEntry { number, value });
        }
    }

    /// Returns the parts in a range that have not failed.
    fn live(&self, solver: &Solver, parts: Range<usize>) -> PartSet {
        parts
            .filter(|&part| self.failed[solver.parts[part].entry as usize].is_none())
            .collect()
    }

    /// Executes the steps of a part that at least one `live` part needs.
    #[allow(
        clippy::too_many_arguments,
        reason = "inlined: these are variables of the caller"
    )]
    #[inline(always)]
    fn work<'r, 's>(
        &mut self,
        run: &mut Run<'s>,
        outside: &Outside<'r, 's>,
        solver: &Solver,
        part: &Part,
        live: &mut PartSet,
        counts: bool,
        shared: &mut [Value<'r>],
        own: &mut [Value<'s>],
    ) {
        for work in &part.work {
            if self.done[work.slot] || !work.users.intersects(live) {
                continue;
            }
            let step = work.step as usize;
            let outcome = match &work.own {
                Some(instruction) => {
                    let (outcome, fell_back) = self.execute(run, instruction, step, own);
                    if counts {
                        self.count(step, outcome.is_err(), fell_back);
                    }
                    outcome
                }
                None => {
                    let cost = self.share(run, outside, step, counts, shared);
                    let paid = cost.and_then(|cost| run.charge(&cost));
                    paid.map(|()| outside.bring(shared[self.batt.plan.steps.first() + step]))
                }
            };
            match outcome {
                Ok(value) => {
                    own[work.slot] = value;
                    self.done[work.slot] = true;
                }
                Err(fault) => {
                    self.fail(solver, work, fault);
                    live.remove_all(&work.users);
                    if live.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    /// Computes a shared step unless an earlier solver has done so. Returns its cost.
    fn share<'r, 's>(
        &mut self,
        run: &mut Run<'s>,
        outside: &Outside<'r, 's>,
        step: usize,
        counts: bool,
        shared: &mut [Value<'r>],
    ) -> Outcome<Cost> {
        let steps = &self.batt.plan.steps;
        let mut known = match self.shared[step] {
            // The usual case: the step is computed and counted already.
            Some(known) if known.counted || !counts => return known.cost,
            Some(known) => known,
            None => {
                let instruction = &steps.instructions[step];
                let ((outcome, fell_back), cost) =
                    outside.compute(run, |run| self.execute(run, instruction, step, shared));
                let cost = outcome.map(|value| {
                    shared[steps.first() + step] = value;
                    cost
                });
                Shared {
                    cost,
                    fell_back,
                    counted: false,
                }
            }
        };
        if counts {
            self.count(step, known.cost.is_err(), known.fell_back);
            known.counted = true;
        }
        self.shared[step] = Some(known);
        known.cost
    }

    /// Executes a step. Also returns whether it, or something it called, fell back to a default.
    #[inline]
    fn execute<'r>(
        &mut self,
        run: &mut Run<'r>,
        instruction: &Instruction,
        step: usize,
        slots: &[Value<'r>],
    ) -> (Outcome<Value<'r>>, bool) {
        let fallbacks = run.fallbacks();
        // No entry needs both a step and its twin, so both may use the step's number.
        let original = self.batt.original(step as u32);
        run.begin_closures(original);
        self.watch.before(original as usize);
        let outcome = instruction.execute(run, slots).outcome();
        self.watch.after(original as usize);
        // Some operations cannot fail in Python. They continue past a limit, so check here.
        let outcome = outcome.and_then(|value| run.check_limits().map(|()| value));
        let outcome = outcome.or_else(|fault| self.default(run, instruction, slots, fault));
        (outcome, run.fallbacks() != fallbacks)
    }

    /// Counts a step that was executed.
    #[inline]
    fn count(&mut self, step: usize, failed: bool, fell_back: bool) {
        if let Some(count) = self.counts.get_mut(step) {
            count.executed += 1;
            count.failed += u64::from(failed);
            count.fallbacks += u64::from(fell_back);
        }
    }

    /// Returns the default of a failing step if the batt continues with defaults. As in the guards
    /// of generated programs, three exceptions have a default. After other faults and after limits,
    /// the step has no value.
    #[inline]
    fn default<'r>(
        &self,
        run: &mut Run<'r>,
        instruction: &Instruction,
        slots: &[Value<'r>],
        fault: Fault,
    ) -> Outcome<Value<'r>> {
        let guarded = matches!(fault, Fault::Type | Fault::Attribute | Fault::Value);
        if self.batt.on_error == OnError::Poison || !guarded {
            return Err(fault);
        }
        let callee = instruction.dynamic_callee(slots);
        run.default_of(callee.unwrap_or(Value::None))
    }

    /// Marks the entries that need a failing step as failed. An entry keeps its first failure.
    #[cold]
    fn fail(&mut self, solver: &Solver, work: &Work, fault: Fault) {
        let step = Some(StepId(self.batt.original(work.step)));
        for part in work.users.iter() {
            let entry = solver.parts[part].entry as usize;
            self.failed[entry].get_or_insert(RunError { fault, step });
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

#[cfg(test)]
mod tests;
