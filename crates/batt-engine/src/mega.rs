//! Mega-batches: batts over the samples of whole datasets, on all cores.
//!
//! A run is one batt on one sample. Runs are taken from one queue, so a slow one holds nothing up, and
//! results come out in the order of the runs, the same for every number of threads and every batch size. A
//! *batch* is how many runs may be under way or waiting for their turn: it bounds memory, not
//! parallelism.
//!
//! With devices, runs are done there in chunks ahead of the queue; whoever takes a run from the queue finds its values
//! ready and goes on from there, or does the run if no device has finished it. So results are the same with and without.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use batt_dsl::{Fault, Limits, Run};

use crate::batt::{BattEntry, BattWorker, CompiledBatt, Goal, StepCount};
use crate::cancel::Cancel;
use crate::compile::RunError;
use crate::device::{
    Counts, Device, DeviceOptions, DeviceReport, Feed, Load, Param, Piece, PieceAt, Programs,
    Reason, Replay, RunThere, Runs, Seen, Settings, Shapes, Subject, Taken, Tally, Verify, run_fed,
};
use crate::evaluate::{Verdict, judge};
use crate::sample::Sample;
use crate::schedule::{Schedule, Window};

/// How to run.
#[derive(Clone, Debug)]
pub struct MegaOptions {
    /// Limits of each step; the clock is for a whole run.
    pub limits: Limits,
    /// Threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
    /// Runs in a batch; `None` to choose it from what runs turn out to cost.
    pub batch_size: Option<NonZeroUsize>,
    /// Have the differs compare with the expected output where a candidate is right?
    pub compare: bool,
    /// Does anybody look at values? If not, a device need not send them, and `render` finds `None`.
    pub values: bool,
    /// How devices are used, if there are any.
    pub device: DeviceOptions,
}

impl Default for MegaOptions {
    fn default() -> MegaOptions {
        MegaOptions {
            limits: Limits {
                time: Some(Duration::from_secs(60)),
                ..Limits::default()
            },
            threads: None,
            batch_size: None,
            compare: true,
            values: true,
            device: DeviceOptions::default(),
        }
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct MegaResult<T> {
    /// What each candidate came to.
    pub verdicts: Vec<Verdict>,
    /// What the caller made of the entries, in their order.
    pub solved: Vec<T>,
    /// The same of the scores once more, compared with the expected output, if a candidate was right.
    pub compared: Option<Vec<T>>,
    /// How long it took.
    pub time: Duration,
}

impl<T> MegaResult<T> {
    /// The candidates that are right.
    pub fn right(&self) -> impl Iterator<Item = usize> {
        let verdicts = self.verdicts.iter().enumerate();
        verdicts.filter(|(_, v)| v.is_right()).map(|(k, _)| k)
    }

    /// The candidates that are errors.
    pub fn errors(&self) -> impl Iterator<Item = RunError> {
        self.verdicts.iter().filter_map(|verdict| match verdict {
            Verdict::Failed(error) => Some(*error),
            _ => None,
        })
    }
}

/// What all runs together came to.
#[derive(Clone, Debug)]
pub struct MegaReport {
    /// Runs delivered; fewer than asked for if the work was stopped.
    pub runs: usize,
    /// Candidates that are right.
    pub right: u64,
    /// Candidates that have a value, right or not.
    pub values: u64,
    /// Candidates that failed, by fault.
    pub faults: Vec<(Fault, u64)>,
    /// What the steps of each batt did.
    pub steps: Vec<Vec<StepCount>>,
    /// Runs in a batch, as asked for or as chosen.
    pub batch_size: usize,
    /// Threads.
    pub workers: usize,
    /// From start to end.
    pub elapsed: Duration,
    /// Time of all runs together, as far as the CPU had to do with them.
    pub busy: Duration,
    /// What devices did, if any were used.
    pub device: Option<DeviceReport>,
}

/// How long a batch should take each worker: short enough for results to come out steadily, long
/// enough that one slow run seldom makes the others wait.
const BATCH_TIME: Duration = Duration::from_millis(500);

/// Batches are chosen between these: small ones while nothing is known.
const SMALLEST_BATCH: usize = 32;
const LARGEST_BATCH: usize = 1 << 16;

/// Runs every batt on every sample: all samples on the first batt, then on the second, and so on, beginning
/// with run number `from`. `render` makes what the caller wants of each entry of a run, on the thread and in the
/// memory of that run; `sink` gets the results in order, with their numbers. Setting `stop` ends the work
/// early; what was delivered by then is a prefix of the whole.
pub fn mega<T: Send>(
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    from: usize,
    options: &MegaOptions,
    stop: &Cancel,
    render: impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T + Sync,
    sink: impl FnMut(usize, MegaResult<T>),
) -> MegaReport {
    mega_on(&mut [], batts, samples, from, options, stop, render, sink)
}

/// As [`mega`], with the help of devices. The results are the same. Devices are not used if the limits do not
/// [allow](Settings::within) it.
#[allow(clippy::too_many_arguments)]
pub fn mega_on<T: Send>(
    devices: &mut [Box<dyn Device>],
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    from: usize,
    options: &MegaOptions,
    stop: &Cancel,
    render: impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T + Sync,
    mut sink: impl FnMut(usize, MegaResult<T>),
) -> MegaReport {
    let started = Instant::now();
    let total = batts.len() * samples.len();
    let chosen = options.batch_size.map(NonZeroUsize::get);
    let schedule = Schedule {
        count: total.saturating_sub(from),
        threads: options.threads,
        ahead: Window::fixed(chosen.unwrap_or(SMALLEST_BATCH)),
        chunk: (1, 256),
    };
    let workers = schedule.workers();
    let feed = feed(devices.len(), batts, samples, from, options);
    let totals = Mutex::new(Totals {
        steps: no_counts(batts),
        device: DeviceReport::default(),
    });
    let mut tally = Outcomes::default();
    let worker = || {
        let mut worker = Worker {
            worker: BattWorker::default(),
            counts: no_counts(batts),
            habits: vec![Habits::default(); batts.len()],
            runs: Counts::default(),
            entries: Counts::default(),
            verify: Verify::new(options.device.verify),
            options,
            totals: &totals,
        };
        let feed = feed.as_ref();
        let render = &render;
        move |at: usize, taken: Option<&Taken>| {
            let run = from + at;
            let (batt, sample) = (run / samples.len(), run % samples.len());
            let here = Here {
                at,
                run,
                number: batt,
                batt: &batts[batt],
                sample: &samples[sample],
                compares: options.compare
                    && batts[batt].scores() > 0
                    && samples[sample].expected.is_some(),
                pieces: feed.map_or(&[], |feed| feed.pieces(batt)),
            };
            worker.run(&here, taken, render)
        }
    };
    let runs = run_fed(
        devices,
        feed.as_ref(),
        &schedule,
        stop,
        worker,
        |at, result| {
            tally.add(&result);
            if chosen.is_none() {
                schedule.ahead.set(tally.batch_size(workers));
            }
            sink(from + at, result);
        },
    );
    // A worker that panicked has taken the whole program down already.
    let totals = totals.into_inner().unwrap_or_else(|e| e.into_inner());
    let device = feed.map(|feed| DeviceReport {
        devices: feed.devices(),
        ops: feed.op_counts(),
        ..totals.device
    });
    let faults = Fault::ALL.into_iter().zip(tally.faults);
    MegaReport {
        runs,
        right: tally.right,
        values: tally.values,
        faults: faults.filter(|(_, count)| *count > 0).collect(),
        steps: totals.steps,
        batch_size: schedule.ahead.get(),
        workers,
        elapsed: started.elapsed(),
        busy: tally.busy,
        device,
    }
}

fn no_counts(batts: &[CompiledBatt]) -> Vec<Vec<StepCount>> {
    let zeros = |batt: &CompiledBatt| vec![StepCount::default(); batt.len()];
    batts.iter().map(zeros).collect()
}

/// What devices are given. Nothing is if there are none, or if the limits do not allow it.
fn feed<'a>(
    devices: usize,
    batts: &[CompiledBatt],
    samples: &'a [Sample<'a>],
    from: usize,
    options: &MegaOptions,
) -> Option<Feed<'a>> {
    let settings = options.device.settings.within(&options.limits);
    let settings = Settings {
        values: options.values,
        ..settings.filter(|_| devices > 0)?
    };
    let mut programs = Programs::new();
    let mut shapes = Shapes::default();
    let subject = |batt: &CompiledBatt| {
        let pieces = Piece::all_of(batt).map(|piece| PieceAt::add(&mut programs, piece));
        let pieces: Option<Vec<PieceAt>> = pieces.collect();
        let demos = match batt.uses_samples {
            true => Param::Demos,
            false => Param::Nothing,
        };
        Subject {
            pieces: pieces.unwrap_or_default(),
            params: shapes.add(&[demos, Param::Input, Param::Nothing, Param::Expected]),
            compares: options.compare,
        }
    };
    let subjects = batts.iter().map(subject).collect();
    let load = Load {
        programs,
        subjects,
        shapes,
        samples,
        runs: Runs::From(from),
    };
    let chunk = options.device.chunk.map(NonZeroUsize::get);
    Some(Feed::new(load, settings, devices, chunk))
}

/// What all workers have counted.
struct Totals {
    steps: Vec<Vec<StepCount>>,
    device: DeviceReport,
}

/// One thread at work. What it has counted is added up when it is done.
struct Worker<'m> {
    worker: BattWorker,
    counts: Vec<Vec<StepCount>>,
    habits: Vec<Habits>,
    runs: Counts,
    entries: Counts,
    verify: Verify,
    options: &'m MegaOptions,
    totals: &'m Mutex<Totals>,
}

/// The run at hand.
struct Here<'h> {
    /// Its position in the queue.
    at: usize,
    /// Its number.
    run: usize,
    /// The number of its batt.
    number: usize,
    batt: &'h CompiledBatt,
    sample: &'h Sample<'h>,
    /// Are comparisons wanted if a candidate is right?
    compares: bool,
    /// What devices know of the batt.
    pieces: &'h [PieceAt],
}

/// What came of the entries of a run: the verdicts on candidates, and what the caller made of all.
type Entries<T> = Vec<(Option<Verdict>, T)>;

/// What is known about the runs of a batt. When a run knows that a candidate is right, values are gone: to compare then is to solve
/// once more. To compare before anybody knows is in vain where none is right.
#[derive(Clone, Copy)]
struct Habits {
    /// In how many of the runs a candidate is right, of the last ones above all.
    right: f64,
    /// What runs took that compared, and how much of it they took to compare.
    whole: f64,
    comparing: f64,
}

impl Default for Habits {
    /// To compare takes half of it: there may be more or less.
    fn default() -> Habits {
        Habits {
            right: 0.0,
            whole: 1e-6,
            comparing: 0.5e-6,
        }
    }
}

impl Habits {
    /// Does it pay to compare ahead? Then every run takes what has to be compared longer, and else those take all of it longer
    /// in which a candidate is right.
    fn pays_ahead(&self) -> bool {
        self.right * self.whole > self.comparing
    }

    /// Takes note of what a run took that compared.
    fn pay(&mut self, whole: Duration, comparing: Duration) {
        self.whole += whole.as_secs_f64();
        self.comparing += comparing.as_secs_f64();
    }

    /// Takes note of a run.
    fn learn(&mut self, right: bool) {
        const SHARE: f64 = 1.0 / 16.0;
        self.right += SHARE * (f64::from(u8::from(right)) - self.right);
    }
}

impl<'m> Worker<'m> {
    fn run<T>(
        &mut self,
        here: &Here<'_>,
        taken: Option<&Taken>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> MegaResult<T> {
        let started = Instant::now();
        let done = taken.and_then(|taken| {
            let done = self.finished(here, taken, render);
            if let Err(reason) = &done {
                self.runs.add(Err(*reason));
                let entries = here.batt.solved() as u64;
                self.entries.add_many(Err(*reason), entries);
            }
            done.ok()
        });
        let mut entries = done.unwrap_or_else(|| {
            self.done_here(here, |run, entry| {
                let verdict = here.verdict(run, &entry);
                (verdict, render(here.number, run, entry))
            })
        });
        let right = is_any_right(&entries);
        if here.compares {
            self.habits[here.number].learn(right);
        }
        let made = |entries: Entries<T>| entries.into_iter().unzip::<_, _, Vec<_>, _>();
        let compared = made(entries.split_off(here.batt.solved())).1;
        let (verdicts, solved) = made(entries);
        MegaResult {
            verdicts: verdicts.into_iter().flatten().collect(),
            solved,
            compared: (here.compares && right).then_some(compared),
            time: started.elapsed(),
        }
    }

    /// Does a run here. Comparisons are among the entries if a candidate is right, and may be anyway.
    fn done_here<T>(
        &mut self,
        here: &Here<'_>,
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> (Option<Verdict>, T),
    ) -> Entries<T> {
        let ahead = self.compares_ahead(here);
        let mut run = |goal: Goal, counts: &mut [StepCount]| {
            let (worker, limits) = (&mut self.worker, &self.options.limits);
            let started = Instant::now();
            let entries = here
                .batt
                .run(worker, here.sample, goal, limits, counts, &mut look);
            if goal != Goal::Solve {
                self.habits[here.number].pay(started.elapsed(), worker.comparing);
            }
            entries
        };
        let goal = if ahead { Goal::Both } else { Goal::Solve };
        let mut entries = run(goal, &mut self.counts[here.number]);
        if here.compares && !ahead && is_any_right(&entries) {
            entries.extend(run(Goal::Compare, &mut []));
        }
        entries
    }

    /// Are solvers to compare before it is known whether a candidate is right?
    fn compares_ahead(&self, here: &Here<'_>) -> bool {
        here.compares && self.habits[here.number].pays_ahead()
    }

    /// A run that a device has finished, if what it sent makes sense.
    fn finished<T>(
        &mut self,
        here: &Here<'_>,
        taken: &Taken,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Result<Entries<T>, Reason> {
        let there = RunThere {
            batt: here.batt,
            sample: here.sample,
            limits: &self.options.limits,
            pieces: here.pieces,
            compares: here.compares,
            full: self.options.values,
        };
        let replay = Replay::new(there, taken, here.at)?;
        let entries = match self.verify.chooses(here.run) {
            true => self.verified(here, &replay, render),
            false => self.replayed(here, &replay, render),
        }?;
        self.runs.add(Ok(replay.pass));
        Ok(entries)
    }

    fn replayed<T>(
        &mut self,
        here: &Here<'_>,
        replay: &Replay<'_>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Result<Entries<T>, Reason> {
        let ahead = self.compares_ahead(here);
        let full = self.options.values;
        let mut tally = Tally {
            steps: &mut self.counts[here.number],
            entries: &mut self.entries,
        };
        let worker = &mut self.worker;
        replay.show(ahead, worker, &mut tally, is_right, |run, entry, found| {
            let verdict = match full {
                true => here.verdict(run, &entry),
                false => here.judges(&entry).then(|| found.verdict()),
            };
            (verdict, render(here.number, run, entry))
        })
    }

    /// The same, done again here and compared. What is done here is what counts.
    fn verified<T>(
        &mut self,
        here: &Here<'_>,
        replay: &Replay<'_>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Result<Entries<T>, Reason> {
        let there = replay.seen(&mut self.worker)?;
        let (full, outputs) = (self.options.values, here.batt.outputs());
        let done = self.done_here(here, |run, entry| {
            let verdict = here.verdict(run, &entry);
            let made = render(here.number, run, entry);
            // A second look has limits of its own: the first is what it would have been without.
            run.renew();
            let expected = here.sample.expected.filter(|_| entry.number < outputs);
            let seen = Seen::here(run, entry.value, full, expected);
            (verdict, (seen, made))
        });
        let (seen, done): (Vec<Seen>, Entries<T>) = done
            .into_iter()
            .map(|(verdict, (seen, made))| (seen, (verdict, made)))
            .unzip();
        replay.count(Goal::Solve, &mut self.entries);
        self.verify.compare(here.run, &seen, &there);
        Ok(done)
    }
}

impl Here<'_> {
    /// Is there a verdict on an entry?
    fn judges(&self, entry: &BattEntry<'_>) -> bool {
        entry.number < self.batt.outputs()
    }

    /// The verdict on an entry, if there is one.
    fn verdict<'r>(&self, run: &mut Run<'r>, entry: &BattEntry<'r>) -> Option<Verdict> {
        self.judges(entry).then(|| match entry.value {
            Ok(value) => judge(run, value, self.sample.expected),
            Err(error) => Verdict::Failed(error),
        })
    }
}

/// Is it a candidate, and right?
fn is_right<T>((verdict, _): &(Option<Verdict>, T)) -> bool {
    verdict.as_ref().is_some_and(Verdict::is_right)
}

fn is_any_right<T>(entries: &Entries<T>) -> bool {
    entries.iter().any(is_right)
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Ok(mut totals) = self.totals.lock() {
            let pairs = totals.steps.iter_mut().zip(&self.counts);
            for (total, counts) in pairs.flat_map(|(total, counts)| total.iter_mut().zip(counts)) {
                total.add(counts);
            }
            let device = &mut totals.device;
            device.runs.add_all(&self.runs);
            device.entries.add_all(&self.entries);
            let verify = &mut self.verify;
            let mismatches = std::mem::take(&mut verify.mismatches);
            device.note(verify.verified, verify.differing, mismatches);
        }
    }
}

#[derive(Default)]
struct Outcomes {
    runs: u32,
    right: u64,
    values: u64,
    faults: [u64; Fault::ALL.len()],
    busy: Duration,
}

impl Outcomes {
    fn add<T>(&mut self, result: &MegaResult<T>) {
        self.runs = self.runs.saturating_add(1);
        self.busy += result.time;
        for verdict in &result.verdicts {
            match verdict {
                Verdict::Failed(error) => {
                    let at = Fault::ALL.iter().position(|fault| *fault == error.fault);
                    self.faults[at.unwrap_or_default()] += 1;
                }
                verdict => {
                    self.values += 1;
                    self.right += u64::from(verdict.is_right());
                }
            }
        }
    }

    /// As many runs as take the workers about [`BATCH_TIME`], by what they cost so far.
    fn batch_size(&self, workers: usize) -> usize {
        let cost = (self.busy / self.runs.max(1)).max(Duration::from_nanos(100));
        let wanted = BATCH_TIME.as_nanos() * workers as u128 / cost.as_nanos();
        (wanted as usize).clamp(SMALLEST_BATCH, LARGEST_BATCH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparing_ahead_has_to_pay() {
        let mut habits = Habits::default();
        assert!(!habits.pays_ahead());
        (0..100).for_each(|_| habits.learn(true));
        assert!(habits.pays_ahead());
        // There is little to compare: one in five is often enough.
        (0..100).for_each(|k| habits.learn(k % 5 == 4));
        assert!(!habits.pays_ahead());
        (habits.whole, habits.comparing) = (10.0, 1.0);
        assert!(habits.pays_ahead());
        // There is much: nine in ten are not.
        (habits.whole, habits.comparing) = (10.0, 9.5);
        (0..100).for_each(|k| habits.learn(k % 10 != 9));
        assert!(!habits.pays_ahead());
        (0..100).for_each(|_| habits.learn(true));
        assert!(habits.pays_ahead());
    }
}
