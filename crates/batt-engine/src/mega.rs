//! Mega-batches: batts over the samples of whole datasets, on all cores.
//!
//! A run is one batt on one sample. Runs are taken from one queue, so a slow one holds nothing up, and
//! results come out in the order of the runs, the same for every number of threads and every batch size. A
//! *batch* is how many runs may be under way or waiting for their turn: it bounds memory, not
//! parallelism.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use batt_dsl::{Fault, Limits, Run};

use crate::batt::{BattRun, BattWorker, CompiledBatt, Pass, StepCount};
use crate::compile::RunError;
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
    /// Run the differs against the expected output where a candidate is right?
    pub compare: bool,
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
        }
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct MegaResult<T> {
    /// What each candidate came to.
    pub verdicts: Vec<Verdict>,
    /// What the caller made of the values.
    pub solved: T,
    /// The same of the pass that compares with the expected output, if a candidate was right.
    pub compared: Option<T>,
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
    /// Time of all runs together.
    pub busy: Duration,
}

/// How long a batch should take each worker: short enough for results to come out steadily, long
/// enough that one slow run seldom makes the others wait.
const BATCH_TIME: Duration = Duration::from_millis(500);

/// Batches are chosen between these: small ones while nothing is known.
const SMALLEST_BATCH: usize = 32;
const LARGEST_BATCH: usize = 1 << 16;

/// Runs every batt on every sample: all samples on the first batt, then on the second, and so on, beginning
/// with run number `from`. `render` makes what the caller wants of the values of a run, on the thread and in the
/// memory of that run; `sink` gets the results in order, with their numbers. Setting `stop` ends the work
/// early; what was delivered by then is a prefix of the whole.
pub fn mega<T: Send>(
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    from: usize,
    options: &MegaOptions,
    stop: &AtomicBool,
    render: impl for<'r> Fn(usize, &mut Run<'r>, &BattRun<'_, 'r>, Pass<'_>) -> T + Sync,
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
    let no_counts = || -> Vec<Vec<StepCount>> {
        let zeros = |batt: &CompiledBatt| vec![StepCount::default(); batt.len()];
        batts.iter().map(zeros).collect()
    };
    let steps = Mutex::new(no_counts());
    let mut tally = Tally::default();
    let worker = || {
        let mut worker = Worker {
            worker: BattWorker::default(),
            counts: no_counts(),
            total: &steps,
        };
        let render = &render;
        move |at: usize| {
            let (batt, sample) = ((from + at) / samples.len(), (from + at) % samples.len());
            worker.run(batt, &batts[batt], &samples[sample], options, render)
        }
    };
    let runs = schedule.run(stop, worker, |at, result| {
        tally.add(&result);
        if chosen.is_none() {
            schedule.ahead.set(tally.batch_size(workers));
        }
        sink(from + at, result);
    });
    let faults = Fault::ALL.into_iter().zip(tally.faults);
    MegaReport {
        runs,
        right: tally.right,
        values: tally.values,
        faults: faults.filter(|(_, count)| *count > 0).collect(),
        // A worker that panicked has taken the whole program down already.
        steps: steps.into_inner().unwrap_or_default(),
        batch_size: schedule.ahead.get(),
        workers,
        elapsed: started.elapsed(),
        busy: tally.busy,
    }
}

/// One thread at work. What it has counted is added up when it is done.
struct Worker<'m> {
    worker: BattWorker,
    counts: Vec<Vec<StepCount>>,
    total: &'m Mutex<Vec<Vec<StepCount>>>,
}

impl Worker<'_> {
    fn run<T>(
        &mut self,
        number: usize,
        batt: &CompiledBatt,
        sample: &Sample<'_>,
        options: &MegaOptions,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, &BattRun<'_, 'r>, Pass<'_>) -> T,
    ) -> MegaResult<T> {
        let started = Instant::now();
        let counts = &mut self.counts[number];
        let (worker, limits) = (&mut self.worker, &options.limits);
        let (verdicts, solved) =
            batt.run(worker, sample, Pass::Solve, limits, counts, |run, done| {
                let verdict = |outcome| match outcome {
                    Ok(value) => judge(run, value, sample.expected),
                    Err(error) => Verdict::Failed(error),
                };
                let verdicts: Vec<Verdict> = done.outputs().map(verdict).collect();
                (verdicts, render(number, run, done, Pass::Solve))
            });
        let wanted = options.compare && batt.scores() > 0 && verdicts.iter().any(Verdict::is_right);
        let compared = sample.expected.filter(|_| wanted).map(|expected| {
            let pass = Pass::Compare(expected);
            batt.run(worker, sample, pass, limits, counts, |run, done| {
                render(number, run, done, pass)
            })
        });
        MegaResult {
            verdicts,
            solved,
            compared,
            time: started.elapsed(),
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Ok(mut total) = self.total.lock() {
            let pairs = total.iter_mut().zip(&self.counts);
            for (total, counts) in pairs.flat_map(|(total, counts)| total.iter_mut().zip(counts)) {
                total.add(counts);
            }
        }
    }
}

#[derive(Default)]
struct Tally {
    runs: u32,
    right: u64,
    values: u64,
    faults: [u64; Fault::ALL.len()],
    busy: Duration,
}

impl Tally {
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
