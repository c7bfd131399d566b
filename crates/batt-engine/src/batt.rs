//! Batts made ready to run: many solvers in one pass, what they share computed once.
//!
//! Faults stay where they happen. Every candidate and every score is an *entry* that knows its steps. When a
//! step fails, the entries it belongs to have failed, and a step is skipped once all entries that it
//! belongs to have: so a batt never does more than its solvers would do one by one, and a candidate is an
//! error exactly when its solver alone would be one.
//!
//! A run goes solver by solver. The steps that a solver shares with others stay to the end of the run; those of its own
//! are computed [apart](Run::apart), its entries are shown to the caller, and the memory is used again by the
//! next solver. Limits are for a solver: what it shares is computed on limits of its own by whoever comes first, and
//! counts for each of them.

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
    /// The steps in the order in which they are executed.
    pub(crate) order: Vec<u32>,
    /// The solvers in that order.
    solvers: Vec<Solver>,
    /// Which of the solvers each entry is from.
    solver_of_entry: Vec<u32>,
    /// Where the values of the entries are: the outputs, then the scores.
    pub(crate) values: Vec<Source>,
    outputs: usize,
    /// The entries that each step belongs to.
    pub(crate) entries_of_step: Lists,
    /// The steps of each entry.
    pub(crate) steps_of_entry: Lists,
    /// For each entry the one that its solver pays for before it, if that has steps that are not its own; else itself.
    pub(crate) leads: Vec<u32>,
    /// In how many entries each step is: when candidates and scores are wanted, and for scores alone.
    pub(crate) users: [Vec<u32>; 2],
    pub(crate) uses_samples: bool,
}

/// One solver of a batt, with the differs that look at its candidate.
struct Solver {
    /// What it does for each of its entries, one after the other.
    parts: Vec<Part>,
    /// The slots of the inputs and literals that it uses. Their values come first in the slots of its own.
    given: Vec<u32>,
    /// Values it has room for: those given, and those of its steps.
    slots: usize,
}

/// What a solver does for an entry, after what it has done for the entries before.
struct Part {
    entry: u32,
    work: Vec<Work>,
    /// Where the value of the entry is, in the slots of the solver.
    value: Source,
}

/// A step, and in which slot of the solver its value belongs.
struct Work {
    step: u32,
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
    /// In how many entries that have not failed each step is.
    live: Vec<u32>,
    failed: Vec<Option<RunError>>,
    /// What the shared steps took that have been computed.
    costs: Vec<Option<Cost>>,
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
        let (solvers, solver_of_entry) = grouped(batt);
        let mut placed = vec![false; count];
        let mut order = Vec::with_capacity(count);
        let entry_steps = solvers.iter().flatten();
        for &step in entry_steps.flat_map(|&entry| steps_of_entry.get(entry as usize)) {
            // Steps that belong to no entry are left out: nobody would see what they do.
            if !std::mem::replace(&mut placed[step as usize], true) {
                order.push(step);
            }
        }
        let shared: Vec<bool> = (0..count)
            .map(|step| {
                let solvers = entries_of_step.get(step).iter();
                let mut solvers = solvers.map(|&entry| solver_of_entry[entry as usize]);
                let first = solvers.next();
                solvers.any(|solver| Some(solver) != first)
            })
            .collect();
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
            users: [users(0), users(outputs as u32)],
            order,
            solvers,
            solver_of_entry,
            leads,
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
            costs,
        } = worker;
        failed.clear();
        failed.resize(self.values.len(), None);
        costs.clear();
        costs.resize(self.len(), None);
        live.clear();
        match entries {
            Entries::Wanted(Wanted::All) => live.extend_from_slice(&self.users[0]),
            Entries::Wanted(Wanted::Scores) => live.extend_from_slice(&self.users[1]),
            Entries::Only(marked) => {
                live.resize(self.len(), 0);
                for (entry, _) in marked.iter().enumerate().filter(|(_, marked)| **marked) {
                    let steps = self.steps_of_entry.get(entry);
                    steps.iter().for_each(|&step| live[step as usize] += 1);
                }
            }
        }
        let mut state = State {
            batt: self,
            entries,
            live,
            failed,
            costs,
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
            for (number, solver) in self.solvers.iter().enumerate() {
                run.apart(|run, outside| {
                    let mut few = [Value::None; SOME];
                    let own = match few.get_mut(..solver.slots) {
                        Some(few) => few,
                        None => match run.slots(solver.slots) {
                            Ok(slots) => slots,
                            Err(fault) => {
                                state.fail_solver(number as u32, fault);
                                &mut []
                            }
                        },
                    };
                    state.solve(run, outside, (number as u32, solver), &mut slots, own);
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
        let mut lists = Vec::with_capacity(entries.len());
        for &entry in entries {
            let mut list = steps_of_entry.get(entry as usize).to_vec();
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
        let work = |step: u32| Work {
            step,
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
                work: list.into_iter().map(work).collect(),
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
/// each solver, but a value that is used soon after it is made is still in the cache. Gives also which solver each
/// entry is from. What is said about the input itself is nobody's: each of those entries stands alone.
fn grouped(batt: &Batt) -> (Vec<Vec<u32>>, Vec<u32>) {
    let outputs = batt.outputs.iter();
    let outputs = outputs.map(|o| (o.after, 0, Some(o.donor.as_str())));
    let scores = batt.scores.iter();
    let scores = scores.map(|s| (s.after, 1, s.donor.as_deref()));
    let mut entries: Vec<_> = outputs.chain(scores).zip(0u32..).collect();
    entries.sort_by_key(|((after, kind, _), _)| (*after, *kind));
    let mut solvers: Vec<Vec<u32>> = Vec::new();
    let mut solver_of_entry = vec![0; entries.len()];
    let mut known: HashMap<&str, usize> = HashMap::new();
    for ((_, _, donor), entry) in entries {
        let next = solvers.len();
        let solver = donor.map_or(next, |donor| *known.entry(donor).or_insert(next));
        if solver == next {
            solvers.push(Vec::new());
        }
        solvers[solver].push(entry);
        solver_of_entry[entry as usize] = solver as u32;
    }
    (solvers, solver_of_entry)
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
    entries: Entries<'a>,
    live: &'a mut [u32],
    failed: &'a mut [Option<RunError>],
    costs: &'a mut [Option<Cost>],
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
        (number, solver): (u32, &Solver),
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
                let step = work.step as usize;
                if self.live[step] == 0 {
                    continue;
                }
                let Some(instruction) = &work.own else {
                    self.share(run, outside, step, shared);
                    let is_needed = solver.parts.iter().any(|part| self.is_live(part.entry));
                    if let (Some(cost), true) = (self.costs[step], is_needed) {
                        match run.charge(&cost) {
                            Ok(()) => {
                                let first = self.batt.steps.first();
                                own[work.slot] = outside.bring(shared[first + step]);
                            }
                            Err(fault) => self.fail(step, fault, Some(number)),
                        }
                    }
                    continue;
                };
                match self.execute(run, instruction, step, own) {
                    Ok(value) => own[work.slot] = value,
                    Err(fault) => self.fail(step, fault, None),
                }
            }
        }
    }

    /// Computes a shared step, unless that has been done.
    fn share<'r, 's>(
        &mut self,
        run: &mut Run<'s>,
        outside: &Outside<'r, 's>,
        step: usize,
        shared: &mut [Value<'r>],
    ) {
        if self.costs[step].is_some() {
            return;
        }
        let batt = self.batt;
        let instruction = &batt.steps.instructions[step];
        let (outcome, cost) =
            outside.compute(run, |run| self.execute(run, instruction, step, shared));
        match outcome {
            Ok(value) => {
                shared[batt.steps.first() + step] = value;
                self.costs[step] = Some(cost);
            }
            Err(fault) => self.fail(step, fault, None),
        }
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

    /// Is an entry wanted, and has not failed?
    fn is_live(&self, entry: u32) -> bool {
        let entry = entry as usize;
        self.failed[entry].is_none() && self.entries.want(self.batt, entry)
    }

    /// The entries that a failing step belongs to have failed: nobody needs the rest of their steps for them. If it fails
    /// for one solver alone, those of that solver.
    #[cold]
    fn fail(&mut self, step: usize, fault: Fault, solver: Option<u32>) {
        let error = RunError {
            fault,
            step: Some(StepId(step as u32)),
        };
        for &entry in self.batt.entries_of_step.get(step) {
            let of_solver = self.batt.solver_of_entry[entry as usize];
            if solver.is_none_or(|solver| solver == of_solver) {
                self.give_up(entry, error);
            }
        }
    }

    /// A solver cannot even begin.
    #[cold]
    fn fail_solver(&mut self, solver: u32, fault: Fault) {
        for part in &self.batt.solvers[solver as usize].parts {
            self.give_up(part.entry, RunError { fault, step: None });
        }
    }

    fn give_up(&mut self, entry: u32, error: RunError) {
        // The first failure is the one to report; the steps were given up then.
        if !self.is_live(entry) {
            return;
        }
        self.failed[entry as usize] = Some(error);
        for &step in self.batt.steps_of_entry.get(entry as usize) {
            self.live[step as usize] -= 1;
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

    pub fn get(&self, k: usize) -> &[u32] {
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

#[cfg(test)]
mod tests;
