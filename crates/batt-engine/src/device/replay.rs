//! A run that a device has finished, as if it had been done here. The entries that it has left are done here.

use batt_dsl::{Limits, Run, Value};

use super::launch::Finished;
use super::report::Counts;
use super::results::{Entry, Reason, StepMark, entries, step_mark};
use super::wire::{self, WireError};
use crate::batt::{BattEntry, BattWorker, CompiledBatt, Pass, StepCount};
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

/// Shows the wanted entries of a finished run to `look`, with what the device said about them, and gives what that makes
/// of them, in their order. Without full values, values are `None`.
pub(crate) fn replay<T>(
    replay: &Replay<'_>,
    worker: &mut BattWorker,
    tally: &mut Tally<'_>,
    mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>, &Entry) -> T,
) -> Result<Vec<T>, Reason> {
    let batt = replay.batt;
    let count = batt.outputs() + batt.scores();
    let Finished { pass, words } = replay.finished;
    let (found, marks) = entries(words, count, replay.full)?;
    let wanted = batt.wanted(replay.pass);
    let mut counts = Counts::default();
    for entry in &found[wanted.clone()] {
        counts.add(match entry {
            Entry::Left(reason) => Err(*reason),
            _ => Ok(pass),
        });
    }
    let left: Vec<bool> = found
        .iter()
        .map(|entry| matches!(entry, Entry::Left(_)))
        .collect();
    let mut seen: Vec<Option<T>> = Vec::new();
    seen.resize_with(count, || None);
    worker.workspace.run(batt.dialect(), replay.limits, |run| {
        for number in wanted.filter(|&number| !left[number]) {
            let entry = &found[number];
            // Each has limits of its own, as if a solver had made it.
            run.apart(|run, _| {
                let value = match error_of(entry) {
                    Some(error) => Err(error),
                    None => Ok(replay.value(run, entry)?),
                };
                run.renew();
                seen[number] = Some(look(run, BattEntry { number, value }, entry));
                Ok::<_, WireError>(())
            })?;
        }
        Ok::<_, WireError>(())
    })?;
    if left.contains(&true) {
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
        batt.run_only(
            worker,
            sample,
            pass,
            &left,
            limits,
            &mut done_here,
            |run, entry| {
                let completed = replay.completed(run, &entry);
                seen[entry.number] = Some(look(run, entry, &completed));
            },
        );
        // What the device did for entries that it has left does not count: here a limit may be reached before.
        let mut counts_there = vec![false; batt.len()];
        for number in batt.wanted(pass).filter(|&number| !left[number]) {
            let steps = batt.steps_of_entry.get(number);
            steps
                .iter()
                .for_each(|&step| counts_there[step as usize] = true);
        }
        // A step that both have executed did the same in both.
        for (step, (sum, here)) in tally.steps.iter_mut().zip(&done_here).enumerate() {
            let there = match counts_there[step] {
                true => step_mark(marks, step),
                false => StepMark::default(),
            };
            sum.executed += here.executed.max(there.executed.into());
            sum.failed += here.failed.max(there.failed.into());
            sum.fallbacks += here.fallbacks.max(there.fell_back.into());
        }
    }
    tally.entries.add_all(&counts);
    Ok(seen.into_iter().flatten().collect())
}

fn error_of(entry: &Entry) -> Option<RunError> {
    match entry {
        Entry::Failed(error) => Some(*error),
        _ => None,
    }
}

impl Replay<'_> {
    /// The value that the device wrote.
    fn value<'r>(&self, run: &mut Run<'r>, entry: &Entry) -> Result<Value<'r>, WireError> {
        match entry {
            Entry::Value { at: Some(at), .. } => {
                wire::decode(run, self.finished.words, *at).map(|(value, _)| value)
            }
            _ => Ok(Value::None),
        }
    }

    /// An entry that was left, as the device would have had it.
    fn completed<'r>(&self, run: &mut Run<'r>, entry: &BattEntry<'r>) -> Entry {
        match entry.value {
            Err(error) => Entry::Failed(error),
            Ok(value) => {
                let is_output = entry.number < self.batt.outputs();
                let expected = self.sample.expected.filter(|_| is_output);
                Entry::Value {
                    verdict: judge(run, value, expected),
                    hash: run.hash(value),
                    at: None,
                }
            }
        }
    }
}
