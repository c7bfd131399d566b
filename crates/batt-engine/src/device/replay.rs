//! A run that a device has finished, as if it had been done here. What it has left of it is done here.

use batt_dsl::{Fault, Limits, Run, Value};
use batt_lang::StepId;

use super::feed::{PieceAt, Taken};
use super::launch::LaunchPass;
use super::report::Counts;
use super::results::{DeviceEntry, Reason, StepMark, entries, step_mark, verdict as verdict_of};
use super::verify::Seen;
use super::waves::WaveRun;
use super::wire::{self, WireError};
use crate::batt::{BattEntry, BattWorker, CompiledBatt, Goal, StepCount};
use crate::evaluate::judge;
use crate::interpret::RunError;
use crate::sample::Sample;
use crate::wave::{BattPlan, WaveEnd, decode_packed};

/// The most that the solvers of a run may have been charged together, in limits of one solver. Far less
/// is shared, and shared steps have a limit for the whole run.
const MOST_SPENT: u64 = 16;

/// A run on a device.
#[derive(Clone, Copy)]
pub(crate) struct RunThere<'a> {
    pub batt: &'a CompiledBatt,
    pub sample: &'a Sample<'a>,
    pub limits: &'a Limits,
    /// What the device knows of the batt: a piece for each solver.
    pub pieces: &'a [PieceAt],
    /// The plan by which devices run it as waves.
    pub waves: Option<&'a BattPlan>,
    /// Did it compare?
    pub compares: bool,
    /// Did it send full values?
    pub full: bool,
}

/// What came of it.
pub(crate) struct Replay<'a> {
    of: RunThere<'a>,
    /// Every entry of the batt.
    found: Vec<Found<'a>>,
    /// What the steps of each piece did, where it is finished.
    marks: Vec<Option<&'a [u32]>>,
    /// The last launch that was needed.
    pub pass: LaunchPass,
}

/// What the device said about an entry.
#[derive(Clone)]
struct Found<'a> {
    entry: DeviceEntry,
    /// The words that its value is in.
    words: &'a [u32],
    /// In which launch the piece was finished that it is in.
    pass: LaunchPass,
    /// For waves: how many of its steps were executed.
    executed: usize,
}

impl Found<'_> {
    /// Where it was finished.
    fn ended(&self) -> Result<LaunchPass, Reason> {
        match self.entry {
            DeviceEntry::Left(reason) => Err(reason),
            _ => Ok(self.pass),
        }
    }
}

/// What is counted meanwhile.
pub(crate) struct Tally<'a> {
    /// What each step did.
    pub steps: &'a mut [StepCount],
    /// Where the entries that are shown were finished.
    pub entries: &'a mut Counts,
}

impl<'a> Replay<'a> {
    /// Reads what a device has sent. Fails if no piece is finished.
    pub fn new(of: RunThere<'a>, taken: &'a Taken, at: usize) -> Result<Replay<'a>, Reason> {
        if let (Some(plan), Some(run)) = (of.waves, taken.waves(at)) {
            return Replay::of_waves(of, plan, run);
        }
        let unsent = Found {
            entry: DeviceEntry::Left(Reason::Unsent),
            words: &[],
            pass: LaunchPass::First,
            executed: 0,
        };
        let mut found = vec![unsent; of.batt.entries()];
        let mut marks = Vec::with_capacity(of.pieces.len());
        let (mut pass, mut why) = (None, None);
        for (number, piece) in of.pieces.iter().enumerate() {
            let read = taken.piece(at, number).and_then(|finished| {
                let words = finished.words;
                let (entries, marks) = of.read(piece, words)?;
                pass = pass.max(Some(finished.pass));
                let found = entries.into_iter().map(move |entry| Found {
                    entry,
                    words,
                    pass: finished.pass,
                    executed: 0,
                });
                Ok((found, marks))
            });
            let numbers = piece.numbers.entries.iter().map(|&entry| entry as usize);
            marks.push(match read {
                Ok((entries, marks)) => {
                    numbers
                        .zip(entries)
                        .for_each(|(at, entry)| found[at] = entry);
                    Some(marks)
                }
                Err(reason) => {
                    why.get_or_insert(reason);
                    numbers.for_each(|at| found[at].entry = DeviceEntry::Left(reason));
                    None
                }
            });
        }
        Ok(Replay {
            of: RunThere { waves: None, ..of },
            found,
            marks,
            pass: pass.ok_or_else(|| why.unwrap_or(Reason::Unsent))?,
        })
    }

    /// Reads a run that was done as waves. Fails if no entry is finished.
    fn of_waves(
        of: RunThere<'a>,
        plan: &'a BattPlan,
        run: WaveRun<'a>,
    ) -> Result<Replay<'a>, Reason> {
        let left = |reason| Found {
            entry: DeviceEntry::Left(reason),
            words: &[],
            pass: LaunchPass::First,
            executed: 0,
        };
        let entry = |number| of.entry(plan, run, number).unwrap_or_else(left);
        let solved = of.batt.solved();
        let mut found: Vec<Found<'a>> = (0..solved).map(entry).collect();
        if of.compares && run.compared.is_some() {
            found.extend((solved..plan.entries.len()).map(entry));
        }
        let is_left = |found: &Found<'_>| found.ended().err();
        let why: Vec<Option<Reason>> = found.iter().map(is_left).collect();
        for (found, entry) in found.iter_mut().zip(&plan.entries) {
            if let Some(reason) = (entry.after.iter()).find_map(|&other| why[other as usize]) {
                *found = left(reason);
            }
        }
        // The memory of shared steps has a limit for the whole run.
        let charge = |&entry: &u32| run.records.charge(0, entry as usize, run.sample);
        let of_piece = |piece: &PieceAt| {
            let entries = piece.numbers.entries[..piece.solved].iter();
            entries.filter_map(charge).max().unwrap_or(0)
        };
        let spent: u64 = of.pieces.iter().map(of_piece).sum();
        if spent > MOST_SPENT * of.limits.steps {
            return Err(Reason::Fuel);
        }
        if found[..solved].iter().all(|found| is_left(found).is_some()) {
            let first = why.into_iter().flatten().next();
            return Err(first.unwrap_or(Reason::Unsent));
        }
        of.leave_late_faults(plan, &mut found, left(Reason::Faults));
        // Other comparisons are not wanted, or left to the CPU.
        found.resize(of.batt.entries(), left(Reason::Unsent));
        Ok(Replay {
            of,
            found,
            marks: Vec::new(),
            pass: LaunchPass::First,
        })
    }

    /// Shows entries to `look`, with what the device said about them, and gives what that makes of them: candidates and scores,
    /// and comparisons if one of the others `asks` for them. What was left is done here; solvers that are may compare `ahead`.
    /// Without full values, values are `None`, and what was left is there as the device would have had it.
    pub fn show<T>(
        &self,
        ahead: bool,
        worker: &mut BattWorker,
        tally: &mut Tally<'_>,
        asks: impl Fn(&T) -> bool,
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>, &DeviceEntry) -> T,
    ) -> Result<Vec<T>, Reason> {
        let mut seen = Vec::new();
        seen.resize_with(self.found.len(), || None);
        self.show_some(Goal::Solve, ahead, worker, tally, &mut seen, &mut look)?;
        let mut solved = seen[self.of.batt.shown(Goal::Solve)].iter().flatten();
        if self.of.compares && solved.any(asks) {
            self.show_some(Goal::Compare, false, worker, tally, &mut seen, look)?;
        }
        Ok(seen.into_iter().flatten().collect())
    }

    /// Shows candidates and scores, or comparisons, as far as they are not `seen` yet.
    fn show_some<T>(
        &self,
        goal: Goal,
        ahead: bool,
        worker: &mut BattWorker,
        tally: &mut Tally<'_>,
        seen: &mut [Option<T>],
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>, &DeviceEntry) -> T,
    ) -> Result<(), Reason> {
        let RunThere { batt, limits, .. } = self.of;
        let shown = batt.shown(goal);
        let is_left = |number: &usize| matches!(self.found[*number].entry, DeviceEntry::Left(_));
        let read = worker.workspace.run(batt.dialect(), limits, |run| {
            for number in shown.clone().filter(|number| !is_left(number)) {
                if seen[number].is_none() {
                    seen[number] = Some(self.look_at(run, number, &mut look)?);
                }
            }
            Ok::<_, WireError>(())
        });
        let solves = goal == Goal::Solve;
        if solves {
            // Who sends nonsense is not believed anything. The others are counted by now, so what cannot be read is done here.
            read?;
        }
        let pieces = self.of.pieces.iter();
        let here: Vec<bool> = pieces
            .map(|piece| {
                let numbers = piece.numbers.entries.iter().map(|&entry| entry as usize);
                let mut missing = numbers.filter(|at| shown.contains(at) && seen[*at].is_none());
                missing.next().is_some()
            })
            .collect();
        let mut counts = vec![StepCount::default(); if solves { batt.len() } else { 0 }];
        if here.contains(&true) {
            let goal = if solves && ahead { Goal::Both } else { goal };
            let sample = self.of.sample;
            batt.run_only(
                worker,
                sample,
                goal,
                &here,
                limits,
                &mut counts,
                |run, entry| {
                    // Whoever has the value needs nothing else, and finds the limits as they are without a device.
                    let looked = match self.of.full {
                        true => look(run, entry, &self.found[entry.number].entry),
                        false => {
                            let completed = self.completed(run, &entry);
                            look(run, entry, &completed)
                        }
                    };
                    seen[entry.number].get_or_insert(looked);
                },
            );
        }
        if solves {
            self.count_steps(&here, &counts, tally.steps);
        }
        self.count(goal, tally.entries);
        Ok(())
    }

    /// All entries, as far as they are compared with those of the CPU.
    pub fn seen(&self, worker: &mut BattWorker) -> Result<Vec<Seen>, Reason> {
        let RunThere {
            batt, limits, full, ..
        } = self.of;
        let all = worker.workspace.run(batt.dialect(), limits, |run| {
            let numbers = 0..self.found.len();
            let all = numbers.map(|number| {
                self.look_at(run, number, |run, entry, found| {
                    Seen::there(run, found, entry.value, full)
                })
            });
            all.collect::<Result<Vec<_>, WireError>>()
        });
        Ok(all?)
    }

    /// Counts where candidates and scores were finished, or comparisons.
    pub fn count(&self, goal: Goal, entries: &mut Counts) {
        for found in &self.found[self.of.batt.shown(goal)] {
            entries.add(found.ended());
        }
    }

    /// Shows an entry as the device has it.
    fn look_at<T>(
        &self,
        run: &mut Run<'_>,
        number: usize,
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>, &DeviceEntry) -> T,
    ) -> Result<T, WireError> {
        let Found { entry, words, .. } = &self.found[number];
        // Each has limits of its own, as if a solver had made it.
        run.scoped(|run, _| {
            let value = match entry {
                DeviceEntry::Failed(error) => Err(*error),
                _ => Ok(value(run, entry, words, self.of.waves.is_some())?),
            };
            run.renew();
            Ok(look(run, BattEntry { number, value }, entry))
        })
    }

    /// Counts what steps did: in the solvers that were done here, by what they did here; in the others there. A step that
    /// several of them have executed did the same in all.
    fn count_steps(&self, here: &[bool], done_here: &[StepCount], sums: &mut [StepCount]) {
        let mut marks: Vec<StepMark> = done_here.iter().map(StepMark::of).collect();
        if let Some(plan) = self.of.waves {
            self.mark_waves(plan, here, &mut marks);
        }
        for ((piece, words), here) in self.of.pieces.iter().zip(&self.marks).zip(here) {
            let Some(words) = words.filter(|_| !here) else {
                continue;
            };
            for (k, &step) in piece.numbers.steps.iter().enumerate() {
                // Twins are not counted.
                if let Some(mark) = marks.get_mut(step as usize) {
                    mark.add(step_mark(words, k));
                }
            }
        }
        for (sum, mark) in sums.iter_mut().zip(&marks) {
            sum.executed += u64::from(mark.executed);
            sum.failed += u64::from(mark.failed);
            sum.fallbacks += u64::from(mark.fell_back);
        }
    }

    /// Marks what the steps of solvers did that were done as waves.
    fn mark_waves(&self, plan: &BattPlan, here: &[bool], marks: &mut [StepMark]) {
        for (piece, here) in self.of.pieces.iter().zip(here) {
            if *here {
                continue;
            }
            for &number in &piece.numbers.entries[..piece.solved] {
                let found = &self.found[number as usize];
                let steps = &plan.entries[number as usize].steps[..found.executed];
                for &step in steps {
                    marks[step as usize].executed = true;
                }
                if let (DeviceEntry::Failed(_), Some(&last)) = (&found.entry, steps.last()) {
                    marks[last as usize].failed = true;
                }
            }
        }
    }

    /// An entry that was left, as the device would have had it.
    fn completed<'r>(&self, run: &mut Run<'r>, entry: &BattEntry<'r>) -> DeviceEntry {
        match entry.value {
            Err(error) => DeviceEntry::Failed(error),
            Ok(value) => {
                let RunThere { batt, sample, .. } = self.of;
                let is_output = entry.number < batt.outputs();
                let expected = sample.expected.filter(|_| is_output);
                DeviceEntry::Value {
                    verdict: judge(run, value, expected),
                    hash: run.hash(value),
                    at: None,
                }
            }
        }
    }
}

impl<'a> RunThere<'a> {
    /// Leaves comparisons that may end with another fault than the first one of their steps. The CPU
    /// executes the steps of candidates and scores first, if one of these gets so far, and then what
    /// is missing.
    fn leave_late_faults(&self, plan: &BattPlan, found: &mut [Found<'a>], left: Found<'a>) {
        let solved = self.batt.solved();
        if found.len() == solved {
            return;
        }
        for piece in self.pieces {
            let (solving, compared) = piece.numbers.entries.split_at(piece.solved);
            for &number in compared {
                let planned = &plan.entries[number as usize];
                let Found {
                    entry, executed, ..
                } = &found[number as usize];
                let is_early = *executed > 0 && *executed <= planned.early;
                if !is_early || !matches!(entry, DeviceEntry::Failed(_)) {
                    continue;
                }
                let step = planned.steps[executed - 1];
                let is_done = solving.iter().any(|&other| {
                    let steps = &plan.entries[other as usize].steps;
                    steps[..found[other as usize].executed].contains(&step)
                });
                if !is_done {
                    found[number as usize] = left.clone();
                }
            }
        }
    }

    /// Returns an entry of a run that was done as waves, or why it is left.
    fn entry(
        &self,
        plan: &'a BattPlan,
        run: WaveRun<'a>,
        number: usize,
    ) -> Result<Found<'a>, Reason> {
        let planned = &plan.entries[number];
        let solved = self.batt.solved();
        let (records, program, sample) = match number.checked_sub(solved) {
            None => (run.records, number, run.sample),
            Some(comparison) => {
                let (records, sample) = run.compared.ok_or(Reason::Unsent)?;
                (records, comparison, sample)
            }
        };
        let mut words: &[u32] = &[];
        let (entry, executed) = match records.end(0, program, sample) {
            WaveEnd::Left(reason) => return Err(reason.into()),
            WaveEnd::Value { verdict, hash } => {
                if self.full {
                    let value = planned.value.ok_or(Reason::Broken)?;
                    words = records.value(0, value, sample)?;
                }
                let entry = DeviceEntry::Value {
                    verdict: verdict_of(verdict),
                    hash,
                    at: self.full.then_some(0),
                };
                (entry, planned.steps.len())
            }
            WaveEnd::Fault { fault, step } => {
                let fault = *Fault::ALL.get(usize::from(fault)).ok_or(Reason::Broken)?;
                let number = *planned.steps.get(step as usize).ok_or(Reason::Broken)?;
                let step_id = Some(StepId(self.batt.original(number)));
                let error = RunError {
                    fault,
                    step: step_id,
                };
                (DeviceEntry::Failed(error), step as usize + 1)
            }
        };
        Ok(Found {
            entry,
            words,
            pass: LaunchPass::First,
            executed,
        })
    }
}

impl RunThere<'_> {
    /// The entries of a piece, with the steps that failed as the batt has them, and what its steps did.
    fn read<'w>(
        &self,
        piece: &PieceAt,
        words: &'w [u32],
    ) -> Result<(Vec<DeviceEntry>, &'w [u32]), Reason> {
        let numbers = &piece.numbers;
        let count = match self.compares {
            true => numbers.entries.len(),
            false => piece.solved,
        };
        let (mut found, marks) = entries(words, count, self.full)?;
        for entry in &mut found {
            if let DeviceEntry::Failed(RunError {
                step: Some(step), ..
            }) = entry
            {
                let number = numbers.steps.get(step.index()).ok_or(Reason::Broken)?;
                step.0 = self.batt.original(*number);
            }
        }
        match marks.len() == numbers.steps.len().div_ceil(4) {
            true => Ok((found, marks)),
            false => Err(Reason::Broken),
        }
    }
}

/// The value that the device wrote.
fn value<'r>(
    run: &mut Run<'r>,
    entry: &DeviceEntry,
    words: &[u32],
    packed: bool,
) -> Result<Value<'r>, WireError> {
    match entry {
        DeviceEntry::Value { at: Some(_), .. } if packed => decode_packed(run, words),
        DeviceEntry::Value { at: Some(at), .. } => {
            wire::decode(run, words, *at).map(|(value, _)| value)
        }
        _ => Ok(Value::None),
    }
}
