//! Mega-batches: batts over the samples of whole datasets, on all cores.
//!
//! A run is one batt on one sample. Workers take runs from one queue, so a slow run does not delay
//! the others, and results come out in the order of the runs, the same for every number of threads
//! and every batch size. A
//! *batch* is the number of runs that may be in progress or waiting for their turn: it bounds memory, not
//! parallelism.

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

/// How to run.
#[derive(Clone, Debug)]
pub struct MegaOptions {
    /// Limits of each solver of a batt; the clock is for a whole run.
    pub limits: Limits,
    /// Threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
    /// Runs in a batch; `None` to choose it from what runs turn out to cost.
    pub batch_size: Option<NonZeroUsize>,
    /// Whether the differs compare with the expected output where a candidate is right.
    pub compare: bool,
    /// Whether `render` looks at values. If not, devices do not send them, and `render` finds
    /// `None`.
    pub values: bool,
    /// How devices are used by [`mega_on`](crate::mega_on).
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
    /// The verdict on each candidate.
    pub verdicts: Vec<Verdict>,
    /// What `render` returned for candidates and scores, in their order.
    pub solved: Vec<T>,
    /// The same for the scores compared with the expected output, if a candidate is right.
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

/// The totals of all runs.
#[derive(Clone, Debug)]
pub struct MegaReport {
    /// Runs delivered; fewer than asked for if the work was cancelled.
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
    /// Threads that took part. There are fewer than asked for where the system gives no more.
    pub workers: usize,
    /// From start to end.
    pub elapsed: Duration,
    /// CPU time of all runs together.
    pub busy: Duration,
    /// What devices did, if any were used.
    pub device: Option<DeviceReport>,
}

/// How long a batch should take each worker: short enough for results to come out steadily, long
/// enough that one slow run seldom makes the others wait.
const BATCH_TIME: Duration = Duration::from_millis(500);

/// Batches are chosen between these: small ones while the cost of a run is unknown.
const SMALLEST_BATCH: usize = 32;
const LARGEST_BATCH: usize = 1 << 16;

/// Runs every batt on every sample: all samples on the first batt, then on the second, and so on,
/// beginning with run number `from`. `render` makes what the caller wants of each entry of a run,
/// on the thread and in the memory of that run; `sink` gets the results in order, with their
/// numbers. Cancelling ends the work early; what was delivered by then is a prefix of the whole.
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
        move |at: usize| worker.run(&mega.here(at), render)
    };
    mega.deliver(sink, |schedule, sink| schedule.run(cancel, worker, sink))
}

/// A mega-batch: its runs, how they are spread, and what they have counted so far.
pub(crate) struct Mega<'m> {
    batts: &'m [CompiledBatt],
    samples: &'m [Sample<'m>],
    from: usize,
    options: &'m MegaOptions,
    schedule: Schedule,
    /// What the steps of each batt did, as counted by the workers that have ended.
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
        let total = batts.len() * samples.len();
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

    /// What a thread needs.
    pub fn worker(&self) -> MegaWorker<'_> {
        MegaWorker {
            worker: BattWorker::default(),
            counts: no_counts(self.batts),
            habits: vec![Habits::default(); self.batts.len()],
            options: self.options,
            totals: &self.steps,
        }
    }

    /// The run at a position of the queue.
    pub fn here(&self, at: usize) -> Here<'m> {
        let run = self.from + at;
        let (number, sample) = (run / self.samples.len(), run % self.samples.len());
        let (batt, sample) = (&self.batts[number], &self.samples[sample]);
        Here {
            at,
            run,
            number,
            batt,
            sample,
            compares: self.options.compare && batt.scores() > 0 && sample.expected.is_some(),
        }
    }

    /// Has all runs done by `run`, hands the results to `sink`, and reports. The report has nothing
    /// of devices.
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
        // A panic in a worker does not reach this line: the schedule passes it on.
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

/// One thread at work. Its counts are added to the totals when it is dropped.
pub(crate) struct MegaWorker<'m> {
    pub worker: BattWorker,
    pub counts: Vec<Vec<StepCount>>,
    habits: Vec<Habits>,
    pub options: &'m MegaOptions,
    totals: &'m Mutex<Vec<Vec<StepCount>>>,
}

/// The run at hand.
pub(crate) struct Here<'h> {
    /// Its position in the queue.
    pub at: usize,
    /// Its number.
    pub run: usize,
    /// The number of its batt.
    pub number: usize,
    pub batt: &'h CompiledBatt,
    pub sample: &'h Sample<'h>,
    /// Whether comparisons are wanted if a candidate is right.
    pub compares: bool,
}

/// The entries of a run: the verdict on each candidate, and what the caller made of each entry.
pub(crate) type Entries<T> = Vec<(Option<Verdict>, T)>;

/// What a worker knows about the runs of a batt. Once a run knows that a candidate is right, its
/// values are gone, so comparing then means solving again. Comparing ahead is wasted where no
/// candidate is right.
#[derive(Clone, Copy)]
struct Habits {
    /// The share of runs in which a candidate is right; recent runs count most.
    right: f64,
    /// The time of runs that compared.
    whole: f64,
    /// How much of it they spent comparing.
    comparing: f64,
}

impl Default for Habits {
    /// Comparing takes half of the time until measurements say otherwise.
    fn default() -> Habits {
        Habits {
            right: 0.0,
            whole: 1e-6,
            comparing: 0.5e-6,
        }
    }
}

impl Habits {
    /// Whether comparing ahead is cheaper. It costs every run the time to compare; comparing
    /// afterwards costs the runs in which a candidate is right the time to solve again.
    fn pays_ahead(&self) -> bool {
        self.right * self.whole > self.comparing
    }

    /// Notes the time of a run that compared.
    fn pay(&mut self, whole: Duration, comparing: Duration) {
        self.whole += whole.as_secs_f64();
        self.comparing += comparing.as_secs_f64();
    }

    /// Notes a run.
    fn learn(&mut self, right: bool) {
        const SHARE: f64 = 1.0 / 16.0;
        self.right += SHARE * (f64::from(u8::from(right)) - self.right);
    }
}

impl MegaWorker<'_> {
    /// Does a run on the CPU.
    fn run<T>(
        &mut self,
        here: &Here<'_>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> MegaResult<T> {
        let started = Instant::now();
        let entries = self.on_cpu(here, |run, entry| {
            let verdict = here.verdict(run, &entry);
            (verdict, render(here.number, run, entry))
        });
        self.result(here, started, entries)
    }

    /// The result of a run from its entries.
    pub fn result<T>(
        &mut self,
        here: &Here<'_>,
        started: Instant,
        mut entries: Entries<T>,
    ) -> MegaResult<T> {
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

    /// The entries of a run, computed here. They include comparisons if a candidate is right, and
    /// may include them otherwise.
    pub fn on_cpu<T>(
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

    /// Whether to compare before it is known if a candidate is right.
    pub fn compares_ahead(&self, here: &Here<'_>) -> bool {
        here.compares && self.habits[here.number].pays_ahead()
    }
}

impl Here<'_> {
    /// Whether there is a verdict on an entry: there is one on each candidate.
    pub fn judges(&self, entry: &BattEntry<'_>) -> bool {
        entry.number < self.batt.outputs()
    }

    /// The verdict on an entry, if there is one.
    pub fn verdict<'r>(&self, run: &mut Run<'r>, entry: &BattEntry<'r>) -> Option<Verdict> {
        self.judges(entry).then(|| match entry.value {
            Ok(value) => judge(run, value, self.sample.expected),
            Err(error) => Verdict::Failed(error),
        })
    }
}

/// Whether an entry is a candidate and right.
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

    /// The number of runs that take the workers about [`BATCH_TIME`], at the average cost so far.
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
