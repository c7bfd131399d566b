//! A run that a device has finished, as if it had been done here. The entries that it has left are done here.

use batt_dsl::{Limits, MemoryBudget, Run, Value};

use super::launch::Finished;
use super::report::Counts;
use super::results::{Entry, Reason, entries, step_mark};
use super::wire::{self, WireError};
use crate::batt::{BattRun, BattWorker, CompiledBatt, MEMORY_OF_ALL, Pass, StepCount};
use crate::compile::RunError;
use crate::evaluate::judge;
use crate::sample::Sample;

/// A run that a device has finished.
pub(crate) struct Replay<'a> {
    pub batt: &'a CompiledBatt,
    pub sample: &'a Sample<'a>,
    pub pass: Pass<'a>,
    /// In which launch it was finished, and what was written.
    pub finished: Finished<'a>,
    /// Are full values there?
    pub full: bool,
    pub limits: &'a Limits,
}

/// What is counted meanwhile.
pub(crate) struct Tally<'a> {
    /// What each step did; only if entries were left, else the device has counted it.
    pub steps: &'a mut [StepCount],
    /// Where the wanted entries were finished.
    pub entries: &'a mut Counts,
}

/// Hands the values of a finished run to `finish`, with what the device said about them. Without full values, and
/// where nobody wanted one, they are `None`.
pub(crate) fn replay<T>(
    replay: &Replay<'_>,
    worker: &mut BattWorker,
    tally: &mut Tally<'_>,
    finish: impl for<'r> FnOnce(&mut Run<'r>, &BattRun<'_, 'r>, &[Entry]) -> T,
) -> Result<T, Reason> {
    let batt = replay.batt;
    let count = batt.outputs() + batt.scores();
    let Finished { pass, words } = replay.finished;
    let (found, marks) = entries(words, count, replay.full)?;
    let mut counts = Counts::default();
    for entry in &found[batt.wanted(replay.pass)] {
        counts.add(match entry {
            Entry::Left(reason) => Err(*reason),
            _ => Ok(pass),
        });
    }
    let left: Vec<bool> = found
        .iter()
        .map(|entry| matches!(entry, Entry::Left(_)))
        .collect();
    if !left.contains(&true) {
        let finished = worker.workspace.run(batt.dialect(), replay.limits, |run| {
            let values = replay.values(run, &found)?;
            let failed: Vec<_> = found.iter().map(error_of).collect();
            let done = BattRun::elsewhere(batt, &values, &failed);
            Ok::<_, Reason>(finish(run, &done, &found))
        })?;
        tally.entries.add_all(&counts);
        return Ok(finished);
    }
    if marks.len() != batt.len().div_ceil(4) {
        return Err(Reason::Broken);
    }
    let mut done_here = vec![StepCount::default(); batt.len()];
    let Replay {
        sample,
        pass,
        limits,
        ..
    } = *replay;
    let finished = batt.run_only(
        worker,
        sample,
        pass,
        &left,
        limits,
        &mut done_here,
        |run, done| {
            // All steps of a batt share some memory. With so little for these no step would have lacked any beside
            // the others: what a device has done takes the CPU at most half of it.
            if done.allocated > limits.memory {
                return Err(Reason::Arena);
            }
            let (found, own) = replay.completed(run, done, found);
            let mut values = replay.values(run, &found)?;
            for (k, value) in own {
                values[k] = value;
            }
            let failed: Vec<_> = found.iter().map(error_of).collect();
            let all = BattRun::elsewhere(batt, &values, &failed);
            Ok::<_, Reason>(finish(run, &all, &found))
        },
    )?;
    // A step that both have executed did the same in both.
    for (step, (sum, here)) in tally.steps.iter_mut().zip(&done_here).enumerate() {
        let there = step_mark(marks, step);
        sum.executed += here.executed.max(there.executed.into());
        sum.failed += here.failed.max(there.failed.into());
        sum.fallbacks += here.fallbacks.max(there.fell_back.into());
    }
    tally.entries.add_all(&counts);
    Ok(finished)
}

fn error_of(entry: &Entry) -> Option<RunError> {
    match entry {
        Entry::Failed(error) => Some(*error),
        _ => None,
    }
}

/// The values of some entries, by their numbers.
type Own<'r> = Vec<(usize, Value<'r>)>;

impl Replay<'_> {
    /// The values that the device wrote.
    fn values<'r>(&self, run: &mut Run<'r>, found: &[Entry]) -> Result<Vec<Value<'r>>, WireError> {
        // They take memory as they would if steps had made them; whoever looks has a budget of its own.
        let mut memory = MemoryBudget::new(self.limits, MEMORY_OF_ALL);
        let mut values = Vec::with_capacity(found.len());
        for entry in found {
            run.begin_step(&mut memory);
            values.push(match entry {
                Entry::Value { at: Some(at), .. } => wire::decode(run, self.finished.words, *at)?.0,
                _ => Value::None,
            });
        }
        run.begin_step(&mut memory);
        Ok(values)
    }

    /// The entries with those that were left, and the values of these.
    fn completed<'r>(
        &self,
        run: &mut Run<'r>,
        done: &BattRun<'_, 'r>,
        mut found: Vec<Entry>,
    ) -> (Vec<Entry>, Own<'r>) {
        let mut own = Vec::new();
        for (k, entry) in found.iter_mut().enumerate() {
            if !matches!(entry, Entry::Left(_)) {
                continue;
            }
            *entry = match done.entry(k) {
                Err(error) => Entry::Failed(error),
                Ok(value) => {
                    let is_output = k < self.batt.outputs();
                    let expected = self.sample.expected.filter(|_| is_output);
                    if self.full {
                        own.push((k, value));
                    }
                    Entry::Value {
                        verdict: judge(run, value, expected),
                        hash: run.hash(value),
                        at: None,
                    }
                }
            };
        }
        (found, own)
    }
}
