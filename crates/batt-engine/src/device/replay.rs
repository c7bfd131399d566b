//! A run that a device has finished, as if it had been done here. The entries that it has left are done here.

use batt_dsl::{Limits, Run, Value};

use super::feed::PieceAt;
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
    /// Its pieces, and what became of each.
    pub pieces: &'a [PieceAt],
    pub finished: Vec<Result<Finished<'a>, Reason>>,
    /// Are full values there?
    pub full: bool,
    pub limits: &'a Limits,
}

/// What is counted meanwhile.
pub(crate) struct Tally<'a> {
    /// What each step did.
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
    let there = There::of(replay)?;
    let wanted = batt.wanted(replay.pass);
    let left: Vec<bool> = there
        .entries
        .iter()
        .map(|(entry, _)| matches!(entry, Entry::Left(_)))
        .collect();
    let mut seen: Vec<Option<T>> = Vec::new();
    seen.resize_with(left.len(), || None);
    worker.workspace.run(batt.dialect(), replay.limits, |run| {
        for number in wanted.clone().filter(|&number| !left[number]) {
            let (entry, words) = &there.entries[number];
            // Each has limits of its own, as if a solver had made it.
            run.apart(|run, _| {
                let value = match error_of(entry) {
                    Some(error) => Err(error),
                    None => Ok(value(run, entry, words)?),
                };
                run.renew();
                seen[number] = Some(look(run, BattEntry { number, value }, entry));
                Ok::<_, WireError>(())
            })?;
        }
        Ok::<_, WireError>(())
    })?;
    let mut marks = there.marks;
    if left[wanted.clone()].contains(&true) {
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
        for number in wanted.filter(|&number| !left[number]) {
            let steps = batt.steps_of_entry.get(number);
            steps
                .iter()
                .for_each(|&step| counts_there[step as usize] = true);
        }
        // A step that both have executed did the same in both.
        for ((mark, here), counts) in marks.iter_mut().zip(&done_here).zip(counts_there) {
            if !counts {
                *mark = StepMark::default();
            }
            mark.add(StepMark {
                executed: here.executed > 0,
                failed: here.failed > 0,
                fell_back: here.fallbacks > 0,
            });
        }
    }
    for (sum, mark) in tally.steps.iter_mut().zip(&marks) {
        sum.executed += u64::from(mark.executed);
        sum.failed += u64::from(mark.failed);
        sum.fallbacks += u64::from(mark.fell_back);
    }
    tally.entries.add_all(&there.counts);
    Ok(seen.into_iter().flatten().collect())
}

/// What the device said about all pieces of a run.
struct There<'a> {
    /// Every entry of the batt, and the words that its value is in.
    entries: Vec<(Entry, &'a [u32])>,
    /// What each step did in any of the pieces. A step of several did the same in all who came to it.
    marks: Vec<StepMark>,
    /// Where the wanted entries were finished.
    counts: Counts,
}

impl<'a> There<'a> {
    /// Fails if no piece is finished.
    fn of(replay: &Replay<'a>) -> Result<There<'a>, Reason> {
        let batt = replay.batt;
        let wanted = batt.wanted(replay.pass);
        let mut there = There {
            entries: vec![(Entry::Unwanted, &[]); batt.outputs() + batt.scores()],
            marks: vec![StepMark::default(); batt.len()],
            counts: Counts::default(),
        };
        let (mut any, mut why) = (false, None);
        for (piece, finished) in replay.pieces.iter().zip(&replay.finished) {
            let numbers = &piece.numbers;
            let found = finished.and_then(|finished| {
                let count = numbers.entries.len();
                let (mut found, marks) = entries(finished.words, count, replay.full)?;
                found
                    .iter_mut()
                    .try_for_each(|entry| numbers.rename_step(entry))?;
                match marks.len() == numbers.steps.len().div_ceil(4) {
                    true => Ok((finished, found, marks)),
                    false => Err(Reason::Broken),
                }
            });
            let (found, words, pass) = match found {
                Ok((finished, found, marks)) => {
                    for (k, &step) in numbers.steps.iter().enumerate() {
                        there.marks[step as usize].add(step_mark(marks, k));
                    }
                    any = true;
                    (found, finished.words, Ok(finished.pass))
                }
                Err(reason) => {
                    why.get_or_insert(reason);
                    let left = vec![Entry::Left(reason); numbers.entries.len()];
                    (left, &[][..], Err(reason))
                }
            };
            for (entry, &number) in found.into_iter().zip(&numbers.entries) {
                let number = number as usize;
                if wanted.contains(&number) {
                    there.counts.add(match entry {
                        Entry::Left(reason) => Err(reason),
                        _ => pass,
                    });
                    there.entries[number] = (entry, words);
                }
            }
        }
        match any {
            true => Ok(there),
            false => Err(why.unwrap_or(Reason::Unsent)),
        }
    }
}

fn error_of(entry: &Entry) -> Option<RunError> {
    match entry {
        Entry::Failed(error) => Some(*error),
        _ => None,
    }
}

/// The value that the device wrote.
fn value<'r>(run: &mut Run<'r>, entry: &Entry, words: &[u32]) -> Result<Value<'r>, WireError> {
    match entry {
        Entry::Value { at: Some(at), .. } => wire::decode(run, words, *at).map(|(value, _)| value),
        _ => Ok(Value::None),
    }
}

impl Replay<'_> {
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
