//! Batts made ready to run: many solvers in one pass, what they share computed once.
//!
//! Faults stay where they happen. Every candidate and every score is an *entry* that knows its steps. When a solver comes to
//! a step that fails, those of its entries have failed that need it, and it passes by what only they need. So a batt never does
//! more than its solvers would do one by one, and each of them ends as it would alone.
//!
//! A run goes solver by solver. The steps that a solver shares with others are computed by the first who comes to them, and stay
//! to the end of the run; those of its own are computed [apart](Run::apart), its entries are shown to the caller, and the
//! memory is used again by the next solver. Limits are for a solver: what it shares is computed on limits of its own, and counts
//! for each who needs it.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use batt_arc::Grid;
use batt_dsl::{Cost, Dialect, Fault, Limits, Outcome, Outside, Profile, Run, Value, Workspace};
use batt_lang::{Batt, OnError, Operand, StepId, batt};

use crate::compile::{CONSTANT, Instruction, RunError, SOME, Source, Steps};
use crate::sample::{Sample, demos, grid};

/// What all shared steps of a batt together may allocate, in units of what a solver may. Far more than they need: it is
/// there to bound the memory of a run.
const MEMORY_OF_SHARED: usize = 16;

/// A batt compiled once, to be run many times, on any thread.
pub struct CompiledBatt {
    dialect: Dialect,
    on_error: OnError,
    pub(crate) steps: Steps,
    /// The solvers in the order in which they take their turns.
    pub(crate) solvers: Vec<Solver>,
    /// Where the values of the entries are: the outputs, then the scores.
    pub(crate) values: Vec<Source>,
    outputs: usize,
    /// The steps of each entry.
    pub(crate) steps_of_entry: Lists,
    /// For each entry the one that its solver pays for before it, if that has steps that are not its own; else itself.
    pub(crate) leads: Vec<u32>,
    pub(crate) uses_samples: bool,
}

/// One solver of a batt, with the differs that look at its candidate.
pub(crate) struct Solver {
    /// What it does for each of its entries, one after the other.
    pub parts: Vec<Part>,
    /// The slots of the inputs and literals that it uses. Their values come first in the slots of its own.
    given: Vec<u32>,
    /// Values it has room for: those given, and those of its steps.
    slots: usize,
}

/// What a solver does for an entry, after what it has done for the entries before.
pub(crate) struct Part {
    pub entry: u32,
    pub work: Vec<Work>,
    /// Where the value of the entry is, in the slots of the solver.
    value: Source,
}

/// A step, and in which slot of the solver its value belongs.
pub(crate) struct Work {
    pub step: u32,
    /// The entries of the solver that need it.
    pub users: Vec<u32>,
    slot: usize,
    /// The instruction in terms of the solver's slots; none if others share the step.
    own: Option<Instruction>,
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
    /// Is each entry wanted, and has not failed?
    live: Vec<bool>,
    failed: Vec<Option<RunError>>,
    /// What the shared steps took that have been computed, or why they have no value.
    shared: Vec<Option<Result<Cost, Fault>>>,
}

impl BattWorker {
    /// What profiled primitives have taken so far.
    pub(crate) fn profile(&self) -> &Profile {
        self.workspace.profile()
    }
}

/// An entry of a batt that has been computed: a candidate, or behind those a score.
#[derive(Clone, Copy)]
pub struct BattEntry<'r> {
    /// Its number among the entries.
    pub number: usize,
    /// Its value, or why it has none.
    pub value: Result<Value<'r>, RunError>,
}

/// What one step did over many runs. Counted always: it is one addition a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepCount {
    /// Runs in which it was executed; in the others nobody came to it.
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
        let mut operands = batt.program.operands().chain(entry_values(batt));
        let solvers = grouped(batt);
        let mut first_solver = vec![u32::MAX; count];
        let mut shared = vec![false; count];
        for (number, entries) in (0u32..).zip(&solvers) {
            let steps = entries
                .iter()
                .flat_map(|&entry| steps_of_entry.get(entry as usize));
            for &step in steps {
                let first = &mut first_solver[step as usize];
                *first = number.min(*first);
                shared[step as usize] |= *first != number;
            }
        }
        let mut leads = vec![0; values.len()];
        for entries in &solvers {
            let first = steps_of_entry.get(entries[0] as usize);
            for &entry in entries {
                let own = steps_of_entry.get(entry as usize);
                let has_all = first.iter().all(|step| own.binary_search(step).is_ok());
                leads[entry as usize] = if has_all { entry } else { entries[0] };
            }
        }
        let solver =
            |entries: &Vec<u32>| Solver::new(entries, &steps, &values, &steps_of_entry, &shared);
        let solvers = solvers.iter().map(solver).collect();
        CompiledBatt {
            dialect: batt.dialect(),
            on_error: batt.on_error,
            solvers,
            leads,
            steps,
            values,
            outputs: batt.outputs.len(),
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

    /// Runs the batt on a sample, shows each wanted entry to `look`, and gives what that makes of them, in the order of the
    /// entries. They are shown solver by solver, and are gone afterwards. `limits` hold for each solver, and once more
    /// for each look: what one does to itself is no loss to the others. Only the clock is for the run as a whole.
    /// `counts` has one entry for each step.
    pub fn run<T>(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        pass: Pass<'_>,
        limits: &Limits,
        counts: &mut [StepCount],
        look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Vec<T> {
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
            look,
        )
    }

    /// As [`run`](CompiledBatt::run), for the marked entries alone: the steps of no others are executed.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn run_only(
        &self,
        worker: &mut BattWorker,
        sample: &Sample<'_>,
        pass: Pass<'_>,
        entries: &[bool],
        limits: &Limits,
        counts: &mut [StepCount],
        look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>),
    ) {
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
            look,
        );
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
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Vec<T> {
        let mut seen: Vec<Option<T>> = Vec::new();
        seen.resize_with(self.values.len(), || None);
        let entries = Entries::Wanted(wanted);
        self.run_watched(
            worker,
            entries,
            inputs,
            limits,
            counts,
            &mut (),
            |run, entry| seen[entry.number] = Some(look(run, entry)),
        );
        seen.into_iter().flatten().collect()
    }

    #[allow(clippy::too_many_arguments)]
    fn run_watched<W: Watch>(
        &self,
        worker: &mut BattWorker,
        entries: Entries<'_>,
        inputs: impl for<'r> FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; 3]>,
        limits: &Limits,
        counts: &mut [StepCount],
        watch: &mut W,
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>),
    ) {
        let BattWorker {
            workspace,
            live,
            failed,
            shared,
        } = worker;
        failed.clear();
        failed.resize(self.values.len(), None);
        shared.clear();
        shared.resize(self.len(), None);
        live.clear();
        live.extend((0..self.values.len()).map(|entry| entries.want(self, entry)));
        let mut state = State {
            batt: self,
            live,
            failed,
            shared,
            counts,
            watch,
        };
        workspace.run(self.dialect, limits, |run| {
            // The slots are not counted as memory: each solver pays for its own.
            let mut slots = vec![Value::None; self.steps.slots()];
            if let Err(fault) = self.prepare(run, &mut slots, inputs) {
                state.failed.fill(Some(RunError { fault, step: None }));
                for number in (0..self.values.len()).filter(|&entry| entries.want(self, entry)) {
                    let value = Err(RunError { fault, step: None });
                    look(run, BattEntry { number, value });
                }
                return;
            }
            run.bound_shared(limits.memory.saturating_mul(MEMORY_OF_SHARED));
            for solver in &self.solvers {
                run.apart(|run, outside| {
                    let mut few = [Value::None; SOME];
                    let own = match few.get_mut(..solver.slots) {
                        Some(few) => few,
                        None => match run.slots(solver.slots) {
                            Ok(slots) => slots,
                            Err(fault) => {
                                state.fail_solver(solver, fault);
                                &mut []
                            }
                        },
                    };
                    state.solve(run, outside, solver, &mut slots, own);
                    for part in &solver.parts {
                        let number = part.entry as usize;
                        if !entries.want(self, number) {
                            continue;
                        }
                        let value = match state.failed[number] {
                            Some(error) => Err(error),
                            None => Ok(part.value.get(own)),
                        };
                        run.renew();
                        look(run, BattEntry { number, value });
                    }
                });
            }
        });
    }

    /// Puts inputs and literals in place.
    fn prepare<'r>(
        &self,
        run: &mut Run<'r>,
        slots: &mut [Value<'r>],
        inputs: impl FnOnce(&mut Run<'r>) -> Outcome<[Value<'r>; 3]>,
    ) -> Outcome<()> {
        slots[..self.steps.params].copy_from_slice(&inputs(run)?);
        self.steps.place_literals(run, slots)
    }
}

impl Entries<'_> {
    /// Is the run for this entry?
    fn want(&self, batt: &CompiledBatt, entry: usize) -> bool {
        match self {
            Entries::Wanted(Wanted::All) => true,
            Entries::Wanted(Wanted::Scores) => entry >= batt.outputs,
            Entries::Only(marked) => marked[entry],
        }
    }
}

impl Solver {
    /// Plans what to do for some entries.
    fn new(
        entries: &[u32],
        steps: &Steps,
        values: &[Source],
        steps_of_entry: &Lists,
        shared: &[bool],
    ) -> Solver {
        let first = steps.first() as u32;
        // The steps that are executed for each entry, once each.
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut users: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut lists = Vec::with_capacity(entries.len());
        for &entry in entries {
            let mut list = steps_of_entry.get(entry as usize).to_vec();
            for &step in &list {
                users.entry(step).or_default().push(entry);
            }
            list.retain(|&step| {
                let next = places.len() as u32;
                *places.entry(step).or_insert(next) == next
            });
            lists.push(list);
        }
        let mut given: Vec<u32> = Vec::new();
        let mut outer = |source: &Source| {
            if source.slot < first && !given.contains(&source.slot) {
                given.push(source.slot);
            }
        };
        for step in lists
            .iter()
            .flatten()
            .filter(|&&step| !shared[step as usize])
        {
            steps.instructions[*step as usize].sources(&mut outer);
        }
        entries
            .iter()
            .for_each(|&entry| outer(&values[entry as usize]));
        let local = |source: &mut Source| {
            if source.slot == CONSTANT {
                return;
            }
            source.slot = match source.slot.checked_sub(first) {
                Some(step) => given.len() as u32 + places[&step],
                None => {
                    let at = given.iter().position(|&slot| slot == source.slot);
                    at.unwrap_or_default() as u32
                }
            };
        };
        let mut work = |step: u32| Work {
            step,
            // Each step is in one list.
            users: users.remove(&step).unwrap_or_default(),
            slot: given.len() + places[&step] as usize,
            own: (!shared[step as usize]).then(|| {
                let mut own = steps.instructions[step as usize].clone();
                own.sources_mut(local);
                own
            }),
        };
        let parts = entries.iter().zip(lists).map(|(&entry, list)| {
            let mut value = values[entry as usize];
            local(&mut value);
            Part {
                entry,
                work: list.into_iter().map(&mut work).collect(),
                value,
            }
        });
        Solver {
            parts: parts.collect(),
            slots: given.len() + places.len(),
            given,
        }
    }
}

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

/// The entries solver by solver: a candidate, then the differs that look at it. The text has their steps in turns, one of
/// each solver, but a value that is used soon after it is made is still in the cache. What is said about the input itself is
/// nobody's: each of those entries stands alone.
fn grouped(batt: &Batt) -> Vec<Vec<u32>> {
    let outputs = batt.outputs.iter();
    let outputs = outputs.map(|o| (o.after, 0, Some(o.donor.as_str())));
    let scores = batt.scores.iter();
    let scores = scores.map(|s| (s.after, 1, s.donor.as_deref()));
    let mut entries: Vec<_> = outputs.chain(scores).zip(0u32..).collect();
    entries.sort_by_key(|((after, kind, _), _)| (*after, *kind));
    let mut solvers: Vec<Vec<u32>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for ((_, _, donor), entry) in entries {
        let next = solvers.len();
        let solver = donor.map_or(next, |donor| *known.entry(donor).or_insert(next));
        if solver == next {
            solvers.push(Vec::new());
        }
        solvers[solver].push(entry);
    }
    solvers
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
struct State<'a, W> {
    batt: &'a CompiledBatt,
    live: &'a mut [bool],
    failed: &'a mut [Option<RunError>],
    shared: &'a mut [Option<Result<Cost, Fault>>],
    counts: &'a mut [StepCount],
    watch: &'a mut W,
}

impl<W: Watch> State<'_, W> {
    /// Does what a solver does: its own steps with the values in `own`, and those that it shares, unless that has been done,
    /// with the values in `shared`.
    fn solve<'r, 's>(
        &mut self,
        run: &mut Run<'s>,
        outside: &Outside<'r, 's>,
        solver: &Solver,
        shared: &mut [Value<'r>],
        own: &mut [Value<'s>],
    ) {
        for (place, &slot) in own.iter_mut().zip(&solver.given) {
            *place = outside.bring(shared[slot as usize]);
        }
        let mut rest = run.allowance();
        for (k, part) in solver.parts.iter().enumerate() {
            // What the solver took is spent for all its differs, but none takes anything from another.
            if k == 1 {
                rest = run.allowance();
            }
            run.allow(rest);
            for work in &part.work {
                if !work.users.iter().any(|&entry| self.live[entry as usize]) {
                    continue;
                }
                let step = work.step as usize;
                let outcome = match &work.own {
                    Some(instruction) => self.execute(run, instruction, step, own),
                    None => {
                        let cost = self.share(run, outside, step, shared);
                        let paid = cost.and_then(|cost| run.charge(&cost));
                        paid.map(|()| outside.bring(shared[self.batt.steps.first() + step]))
                    }
                };
                match outcome {
                    Ok(value) => own[work.slot] = value,
                    Err(fault) => self.fail(work, fault),
                }
            }
        }
    }

    /// Computes a shared step, unless that has been done. Gives what it took.
    fn share<'r, 's>(
        &mut self,
        run: &mut Run<'s>,
        outside: &Outside<'r, 's>,
        step: usize,
        shared: &mut [Value<'r>],
    ) -> Outcome<Cost> {
        if let Some(known) = self.shared[step] {
            return known;
        }
        let batt = self.batt;
        let instruction = &batt.steps.instructions[step];
        let (outcome, cost) =
            outside.compute(run, |run| self.execute(run, instruction, step, shared));
        let known = outcome.map(|value| {
            shared[batt.steps.first() + step] = value;
            cost
        });
        self.shared[step] = Some(known);
        known
    }

    /// Executes a step.
    #[inline]
    fn execute<'r>(
        &mut self,
        run: &mut Run<'r>,
        instruction: &Instruction,
        step: usize,
        slots: &[Value<'r>],
    ) -> Outcome<Value<'r>> {
        let fallbacks = run.fallbacks();
        run.begin_closures(step as u32);
        self.watch.before(step);
        let outcome = instruction.execute(run, slots).outcome();
        self.watch.after(step);
        // Some operations cannot fail in Python and go on when they reach a limit.
        let outcome = outcome.and_then(|value| run.check_limits().map(|()| value));
        let outcome = outcome.or_else(|fault| self.default(run, instruction, slots, fault));
        if W::COUNTS {
            let count = &mut self.counts[step];
            count.executed += 1;
            count.failed += u64::from(outcome.is_err());
            count.fallbacks += u64::from(run.fallbacks() != fallbacks);
        }
        outcome
    }

    /// What a failing step gives instead, if the batt goes on with defaults. As in the guards of generated
    /// programs, three exceptions count; others, and limits, leave the step without a value.
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

    /// The entries that need a failing step have failed.
    #[cold]
    fn fail(&mut self, work: &Work, fault: Fault) {
        let step = Some(StepId(work.step));
        for &entry in &work.users {
            self.give_up(entry, RunError { fault, step });
        }
    }

    /// A solver cannot even begin.
    #[cold]
    fn fail_solver(&mut self, solver: &Solver, fault: Fault) {
        for part in &solver.parts {
            self.give_up(part.entry, RunError { fault, step: None });
        }
    }

    fn give_up(&mut self, entry: u32, error: RunError) {
        // The first failure is the one to report.
        if std::mem::take(&mut self.live[entry as usize]) {
            self.failed[entry as usize] = Some(error);
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
    pub fn new(lists: impl Iterator<Item = impl Iterator<Item = u32>>) -> Lists {
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

    pub fn get(&self, k: usize) -> &[u32] {
        &self.numbers[self.starts[k] as usize..self.starts[k + 1] as usize]
    }
}

#[cfg(test)]
mod tests;
