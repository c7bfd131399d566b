//! Mega-batches: batts over the samples of whole datasets, on all cores.
//!
//! A run is one batt on one sample. Workers take runs from one queue, so a slow run does not delay
//! the others. Results are delivered in the order of the runs, the same for every number of threads
//! and every batch size. A *batch* is the number of runs that may be in progress or waiting for
//! delivery: it bounds memory, not parallelism.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use batt_dsl::{Fault, Limits, Run};

use crate::batt::{BattEntry, BattWorker, CompiledBatt, Goal, StepCount};
use crate::cancel::Cancel;
use crate::device::{DeviceOptions, DeviceReport};
use crate::evaluate::{Verdict, judge};
use crate::interpret::RunError;
use crate::sample::Sample;
use crate::schedule::{Delivered, Schedule, Window};
use crate::shard::Shard;

/// Options of [`mega`].
#[derive(Clone, Debug)]
pub struct MegaOptions {
    /// The limits of each solver of a batt. The clock limits a whole run.
    pub limits: Limits,
    /// The number of threads; `None` uses one per core.
    pub threads: Option<NonZeroUsize>,
    /// The number of runs in a batch; `None` chooses it by the measured cost of runs.
    pub batch_size: Option<NonZeroUsize>,
    /// The part of the runs to do. The default is all of them.
    pub shard: Shard,
    /// Whether the differs compare with the expected output if a candidate is right.
    pub compare: bool,
    /// Whether `render` uses values. If not, devices do not send them, and `render` gets `None`.
    pub values: bool,
    /// Settings for devices, which [`mega_on`](crate::mega_on) uses.
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
            shard: Shard::WHOLE,
            compare: true,
            values: true,
            device: DeviceOptions::default(),
        }
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct MegaResult<T> {
    /// The verdict on each candidate.
    pub verdicts: Vec<Verdict>,
    /// The results of `render` for candidates and scores, in their order.
    pub solved: Vec<T>,
    /// The results of `render` for the comparisons, if a candidate is right.
    pub compared: Option<Vec<T>>,
    /// The time that the run took.
    pub time: Duration,
}

impl<T> MegaResult<T> {
    /// Returns the positions of the candidates that are right.
    pub fn right(&self) -> impl Iterator<Item = usize> {
        let verdicts = self.verdicts.iter().enumerate();
        verdicts.filter(|(_, v)| v.is_right()).map(|(k, _)| k)
    }

    /// Returns the errors of the candidates that failed.
    pub fn errors(&self) -> impl Iterator<Item = RunError> {
        self.verdicts.iter().filter_map(|verdict| match verdict {
            Verdict::Failed(error) => Some(*error),
            _ => None,
        })
    }
}

/// The totals of all runs.
#[derive(Clone, Debug)]
pub struct MegaReport {
    /// Runs delivered; fewer than requested if the work was cancelled.
    pub runs: usize,
    /// Candidates that are right.
    pub right: u64,
    /// Candidates that returned a value, right or not.
    pub values: u64,
    /// Candidates that failed, by fault.
    pub faults: Vec<(Fault, u64)>,
    /// The counts of each batt's steps.
    pub steps: Vec<Vec<StepCount>>,
    /// The number of runs in a batch, as requested or as chosen.
    pub batch_size: usize,
    /// Threads that took part. The system may start fewer than requested.
    pub workers: usize,
    /// The time from start to end.
    pub elapsed: Duration,
    /// The times of all runs added up.
    pub busy: Duration,
    /// What devices did; `None` if none were used.
    pub device: Option<DeviceReport>,
}

/// The time that a batch should take each worker: short enough that results come out steadily, long
/// enough that one slow run seldom makes the others wait.
const BATCH_TIME: Duration = Duration::from_millis(500);

/// The bounds of an automatic batch size. It starts small while the cost of a run is unknown.
const SMALLEST_BATCH: usize = 32;
const LARGEST_BATCH: usize = 1 << 16;

/// Runs every batt on every sample: all samples on the first batt, then on the second, and so on.
/// With [`MegaOptions::shard`] it does only the runs of that part. It begins with run `from`; runs
/// are numbered by their position in the part. The worker of a run calls `render` on each entry
/// while its value exists; `sink` gets the rendered results in order, with their run numbers.
/// Cancellation ends the work early; the delivered results are then a prefix of the whole.
pub fn mega<T: Send>(
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    from: usize,
    options: &MegaOptions,
    cancel: &Cancel,
    render: impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T + Sync,
    sink: impl FnMut(usize, MegaResult<T>),
) -> MegaReport {
    let mega = Mega::new(batts, samples, from, options);
    let worker = || {
        let mut worker = mega.worker();
        let (mega, render) = (&mega, &render);
        move |at: usize| worker.run(&mega.run_at(at), render)
    };
    mega.deliver(sink, |schedule, sink| schedule.run(cancel, worker, sink))
}

/// A mega-batch: its runs, its schedule, and the counts so far.
pub(crate) struct Mega<'m> {
    batts: &'m [CompiledBatt],
    samples: &'m [Sample<'m>],
    from: usize,
    options: &'m MegaOptions,
    schedule: Schedule,
    /// The step counts of each batt, added up over the workers that have ended.
    steps: Mutex<Vec<Vec<StepCount>>>,
    started: Instant,
}

impl<'m> Mega<'m> {
    pub fn new(
        batts: &'m [CompiledBatt],
        samples: &'m [Sample<'m>],
        from: usize,
        options: &'m MegaOptions,
    ) -> Mega<'m> {
        let total = options.shard.len(batts.len() * samples.len());
        let batch = options.batch_size.map_or(SMALLEST_BATCH, NonZeroUsize::get);
        Mega {
            batts,
            samples,
            from,
            options,
            schedule: Schedule {
                count: total.saturating_sub(from),
                threads: options.threads,
                ahead: Window::new(batch),
                chunk: (1, 256),
            },
            steps: Mutex::new(no_counts(batts)),
            started: Instant::now(),
        }
    }

    /// Creates the state of one worker thread.
    pub fn worker(&self) -> MegaWorker<'_> {
        MegaWorker {
            worker: BattWorker::default(),
            counts: no_counts(self.batts),
            compare_stats: vec![CompareStats::default(); self.batts.len()],
            options: self.options,
            totals: &self.steps,
        }
    }

    /// Returns the run at a position of the queue.
    pub fn run_at(&self, at: usize) -> CurrentRun<'m> {
        let run = self.from + at;
        let place = self.options.shard.run(run);
        let (number, sample) = (place / self.samples.len(), place % self.samples.len());
        let (batt, sample) = (&self.batts[number], &self.samples[sample]);
        CurrentRun {
            at,
            run,
            number,
            batt,
            sample,
            compares: self.options.compare && batt.scores() > 0 && sample.expected.is_some(),
        }
    }

    /// Calls `run` to do all runs, passes the results to `sink`, and returns the report without its
    /// device part.
    pub fn deliver<T>(
        &self,
        mut sink: impl FnMut(usize, MegaResult<T>),
        run: impl FnOnce(&Schedule, &mut dyn FnMut(usize, MegaResult<T>)) -> Delivered,
    ) -> MegaReport {
        let mut outcomes = Outcomes::default();
        let planned = self.schedule.workers();
        let delivered = run(&self.schedule, &mut |at, result| {
            outcomes.add(&result);
            if self.options.batch_size.is_none() {
                self.schedule.ahead.set(outcomes.batch_size(planned));
            }
            sink(self.from + at, result);
        });
        let faults = Fault::ALL.into_iter().zip(outcomes.faults);
        // If a worker panicked, the schedule has passed the panic on, so the lock is not poisoned.
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        MegaReport {
            runs: delivered.items,
            right: outcomes.right,
            values: outcomes.values,
            faults: faults.filter(|(_, count)| *count > 0).collect(),
            steps: steps.clone(),
            batch_size: self.schedule.ahead.get(),
            workers: delivered.workers,
            elapsed: self.started.elapsed(),
            busy: outcomes.busy,
            device: None,
        }
    }
}

fn no_counts(batts: &[CompiledBatt]) -> Vec<Vec<StepCount>> {
    let zeros = |batt: &CompiledBatt| vec![StepCount::default(); batt.len()];
    batts.iter().map(zeros).collect()
}

/// The state of one worker thread. Dropping it adds its counts to the totals.
pub(crate) struct MegaWorker<'m> {
    pub worker: BattWorker,
    pub counts: Vec<Vec<StepCount>>,
    compare_stats: Vec<CompareStats>,
    pub options: &'m MegaOptions,
    totals: &'m Mutex<Vec<Vec<StepCount>>>,
}

/// The run that a worker is doing.
pub(crate) struct CurrentRun<'h> {
    /// Its position in the queue.
    pub at: usize,
    /// Its position in the part.
    pub run: usize,
    /// The number of its batt.
    pub number: usize,
    pub batt: &'h CompiledBatt,
    pub sample: &'h Sample<'h>,
    /// Whether to compare if a candidate is right.
    pub compares: bool,
}

/// The entries of a run: the verdict on each candidate, and the result of `render` for each entry.
pub(crate) type Entries<T> = Vec<(Option<Verdict>, T)>;

/// Measurements of a batt's runs that decide when to compare. A run can compare ahead, together
/// with solving, or afterwards, once a candidate turns out to be right. The values of the run are
/// gone by then, so comparing afterwards means solving again. Comparing ahead is wasted if no
/// candidate is right.
#[derive(Clone, Copy)]
struct CompareStats {
    /// The share of runs in which a candidate is right, as a moving average.
    right: f64,
    /// The total time of runs that compared, in seconds.
    whole: f64,
    /// The part of that time that comparing took.
    comparing: f64,
}

impl Default for CompareStats {
    /// Assumes that comparing takes half of the time until measurements say otherwise.
    fn default() -> CompareStats {
        CompareStats {
            right: 0.0,
            whole: 1e-6,
            comparing: 0.5e-6,
        }
    }
}

impl CompareStats {
    /// Returns whether comparing ahead is cheaper. It costs every run the time to compare;
    /// comparing afterwards costs the runs with a right candidate the time to solve again.
    fn ahead_is_cheaper(&self) -> bool {
        self.right * self.whole > self.comparing
    }

    /// Records the time of a run that compared.
    fn add_time(&mut self, whole: Duration, comparing: Duration) {
        self.whole += whole.as_secs_f64();
        self.comparing += comparing.as_secs_f64();
    }

    /// Records whether a candidate of a run was right.
    fn add_run(&mut self, right: bool) {
        const SHARE: f64 = 1.0 / 16.0;
        self.right += SHARE * (f64::from(u8::from(right)) - self.right);
    }
}

impl MegaWorker<'_> {
    /// Does a run on the CPU.
    fn run<T>(
        &mut self,
        current: &CurrentRun<'_>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> MegaResult<T> {
        let started = Instant::now();
        let entries = self.on_cpu(current, |run, entry| {
            let verdict = current.verdict(run, &entry);
            (verdict, render(current.number, run, entry))
        });
        self.result(current, started, entries)
    }

    /// Makes the result of a run from its entries.
    pub fn result<T>(
        &mut self,
        current: &CurrentRun<'_>,
        started: Instant,
        mut entries: Entries<T>,
    ) -> MegaResult<T> {
        let right = is_any_right(&entries);
        if current.compares {
            self.compare_stats[current.number].add_run(right);
        }
        let made = |entries: Entries<T>| entries.into_iter().unzip::<_, _, Vec<_>, _>();
        let compared = made(entries.split_off(current.batt.solved())).1;
        let (verdicts, solved) = made(entries);
        MegaResult {
            verdicts: verdicts.into_iter().flatten().collect(),
            solved,
            compared: (current.compares && right).then_some(compared),
            time: started.elapsed(),
        }
    }

    /// Computes the entries of a run on this thread. They include comparisons if a candidate is
    /// right, and may include them otherwise.
    pub fn on_cpu<T>(
        &mut self,
        current: &CurrentRun<'_>,
        mut look: impl for<'r> FnMut(&mut Run<'r>, BattEntry<'r>) -> (Option<Verdict>, T),
    ) -> Entries<T> {
        let ahead = self.compares_ahead(current);
        let mut run = |goal: Goal, counts: &mut [StepCount]| {
            let (worker, limits) = (&mut self.worker, &self.options.limits);
            let started = Instant::now();
            let entries = current
                .batt
                .run(worker, current.sample, goal, limits, counts, &mut look);
            if goal != Goal::Solve {
                self.compare_stats[current.number].add_time(started.elapsed(), worker.comparing);
            }
            entries
        };
        let goal = if ahead { Goal::Both } else { Goal::Solve };
        let mut entries = run(goal, &mut self.counts[current.number]);
        if current.compares && !ahead && is_any_right(&entries) {
            entries.extend(run(Goal::Compare, &mut []));
        }
        entries
    }

    /// Returns whether to compare before it is known that a candidate is right.
    pub fn compares_ahead(&self, current: &CurrentRun<'_>) -> bool {
        current.compares && self.compare_stats[current.number].ahead_is_cheaper()
    }
}

impl CurrentRun<'_> {
    /// Returns whether an entry is a candidate, and so gets a verdict.
    pub fn judges(&self, entry: &BattEntry<'_>) -> bool {
        entry.number < self.batt.outputs()
    }

    /// Returns the verdict on an entry if it is a candidate.
    pub fn verdict<'r>(&self, run: &mut Run<'r>, entry: &BattEntry<'r>) -> Option<Verdict> {
        self.judges(entry).then(|| match entry.value {
            Ok(value) => judge(run, value, self.sample.expected),
            Err(error) => Verdict::Failed(error),
        })
    }
}

/// Returns whether an entry is a candidate and right.
pub(crate) fn is_right<T>((verdict, _): &(Option<Verdict>, T)) -> bool {
    verdict.as_ref().is_some_and(Verdict::is_right)
}

fn is_any_right<T>(entries: &Entries<T>) -> bool {
    entries.iter().any(is_right)
}

impl Drop for MegaWorker<'_> {
    fn drop(&mut self) {
        if let Ok(mut totals) = self.totals.lock() {
            let pairs = totals.iter_mut().zip(&self.counts);
            for (total, counts) in pairs.flat_map(|(total, counts)| total.iter_mut().zip(counts)) {
                total.add(counts);
            }
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

    /// Returns the number of runs that take the workers about [`BATCH_TIME`] at the average cost so
    /// far.
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
    fn comparing_ahead_must_be_cheaper() {
        let mut compare_stats = CompareStats::default();
        assert!(!compare_stats.ahead_is_cheaper());
        (0..100).for_each(|_| compare_stats.add_run(true));
        assert!(compare_stats.ahead_is_cheaper());
        // Comparing takes half of the time, so one right run in five is not enough.
        (0..100).for_each(|k| compare_stats.add_run(k % 5 == 4));
        assert!(!compare_stats.ahead_is_cheaper());
        (compare_stats.whole, compare_stats.comparing) = (10.0, 1.0);
        assert!(compare_stats.ahead_is_cheaper());
        // Comparing takes nearly all of the time, so even nine right runs in ten are not enough.
        (compare_stats.whole, compare_stats.comparing) = (10.0, 9.5);
        (0..100).for_each(|k| compare_stats.add_run(k % 10 != 9));
        assert!(!compare_stats.ahead_is_cheaper());
        (0..100).for_each(|_| compare_stats.add_run(true));
        assert!(compare_stats.ahead_is_cheaper());
    }
}
