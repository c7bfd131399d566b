//! The table of all scores of many programs on many samples, as fast as cards and cores can fill it.
//!
//! [`score`](super::score) hands scores over one by one and in order, which costs more than a card needs for a run. Here
//! runs are launched by the hundred thousand and their scores are read off in one go; what the cards leave is done by
//! the CPU meanwhile, in any order.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use batt_dsl::{Limits, Workspace};

use super::bytecode::{ProgramAt, Programs};
use super::card::Card;
use super::inputs::{Inputs, Param, SampleAt, Shape, Shapes};
use super::launch::{Counting, Done, JobAt, Launcher, Settings};
use super::report::{CardReport, Counts, DeviceReport, OpCount, op_counts};
use super::results::{Entry, Reason, only_entry};
use super::score::{Score, ScoreReport};
use super::{DeviceOptions, is_allowed_by};
use crate::compile::Compiled;
use crate::evaluate::{Job, Verdict, score_job};
use crate::sample::Sample;

/// Runs of one launch: the slowest of them holds up the others, so there should be many.
const LARGEST_CHUNK: usize = 1 << 18;

/// Fuel of a run: what is not done with so much is done sooner by a core than by a warp, which the others wait for.
const SHORT: u64 = 10_000;

/// Runs that the CPU takes at a time.
const PORTION: usize = 64;

/// The same of those that a card has left: they are the long ones.
const LISTED: usize = 4;

/// Jobs that are read at a time.
const READ: usize = 1 << 12;

/// Scores of every program on every sample: that of program `p` on sample `s` is number `p * samples.len() + s`. A run
/// that was not done because `stop` was set is missing at the end: the table is as long as what is complete.
pub fn score_table(
    cards: &mut [Box<dyn Card>],
    programs: &[Compiled],
    samples: &[Sample<'_>],
    limits: &Limits,
    threads: Option<std::num::NonZeroUsize>,
    options: &DeviceOptions,
    stop: &AtomicBool,
) -> (Vec<Score>, ScoreReport) {
    let count = programs.len() * samples.len();
    let used = !cards.is_empty() && is_allowed_by(limits) && count > 0;
    let cards = if used { cards } else { &mut [] };
    let size = options.chunk.map_or_else(
        || count.div_ceil(cards.len().max(1)).clamp(1, LARGEST_CHUNK),
        std::num::NonZeroUsize::get,
    );
    let work = Work {
        programs,
        samples,
        limits,
        stop,
        chunks: (0..count)
            .step_by(size.max(1))
            .map(|at| at..(at + size).min(count))
            .collect(),
        next: AtomicUsize::new(0),
        left: Mutex::new(Left {
            runs: VecDeque::new(),
            feeders: cards.len(),
        }),
        changed: Condvar::new(),
        table: Mutex::new(vec![None; count]),
        report: Mutex::default(),
    };
    if !used {
        work.lock_left().runs.push_back(Portion::Range(0..count));
    }
    let sent = used.then(|| Sent::new(programs, samples));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = threads.map_or(cores, std::num::NonZeroUsize::get);
    thread::scope(|scope| {
        for card in cards.iter_mut() {
            let (work, sent) = (&work, &sent);
            scope.spawn(move || {
                let _leaving = Leaving(work);
                if let Some(sent) = sent {
                    work.feed(card.as_mut(), sent, options);
                }
            });
        }
        for _ in 0..workers {
            let work = &work;
            scope.spawn(move || work.finish());
        }
    });
    let table = work
        .table
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let mut report = work
        .report
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    report.cards.sort_by(|a, b| a.name.cmp(&b.name));
    let scores: Vec<Score> = table.into_iter().map_while(|score| score).collect();
    let report = ScoreReport {
        scores: scores.len(),
        device: used.then_some(report),
    };
    (scores, report)
}

/// Programs and samples as the cards know them.
struct Sent {
    programs: Programs,
    /// Where each program is, if it can be sent at all, and which parameters it has.
    places: Vec<(Option<ProgramAt>, Shape)>,
    inputs: Inputs,
    samples: Vec<SampleAt>,
}

impl Sent {
    fn new(programs: &[Compiled], samples: &[Sample<'_>]) -> Sent {
        let mut sent = Programs::new();
        let mut shapes = Shapes::default();
        let places = programs
            .iter()
            .map(|program| {
                let roles = program.roles();
                let params: Vec<Param> = roles
                    .unwrap_or_default()
                    .iter()
                    .map(|role| Param::from(*role))
                    .collect();
                let at = roles.and_then(|_| sent.push_program(program).ok());
                (at, shapes.add(&params))
            })
            .collect();
        let mut inputs = Inputs::new();
        let samples = inputs.push_samples(samples, &shapes);
        Sent {
            programs: sent,
            places,
            inputs,
            samples,
        }
    }

    fn job(&self, run: usize) -> Option<JobAt> {
        let (program, sample) = (run / self.samples.len(), run % self.samples.len());
        let (at, shape) = self.places[program];
        let sample = &self.samples[sample];
        Some(JobAt {
            program: at?,
            params: sample.params(shape),
            expected: sample.expected,
            scores_alone: false,
        })
    }
}

/// Jobs that a card is done with, and the run of each.
struct Returned {
    runs: Vec<u32>,
    done: Done,
}

/// Something for the CPU to do.
enum Portion {
    /// Runs that no card has seen.
    Range(Range<usize>),
    /// Runs that a card has left.
    Listed(Vec<u32>),
    /// Jobs whose scores are to be read.
    Read(Arc<Returned>, Range<usize>),
}

struct Left {
    runs: VecDeque<Portion>,
    /// Cards at work: more may come from them.
    feeders: usize,
}

struct Work<'a> {
    programs: &'a [Compiled],
    samples: &'a [Sample<'a>],
    limits: &'a Limits,
    stop: &'a AtomicBool,
    chunks: Vec<Range<usize>>,
    next: AtomicUsize,
    left: Mutex<Left>,
    changed: Condvar,
    table: Mutex<Vec<Option<Score>>>,
    report: Mutex<DeviceReport>,
}

/// A card that leaves, however it does: nobody is to wait for it.
struct Leaving<'w, 'a>(&'w Work<'a>);

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        let mut left = self.0.lock_left();
        left.feeders -= 1;
        // The last one hands over what no card has taken.
        if left.feeders == 0 {
            while let Some(range) = self.0.take() {
                left.runs.push_back(Portion::Range(range));
            }
        }
        drop(left);
        self.0.changed.notify_all();
    }
}

impl Work<'_> {
    fn lock_left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Range<usize>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.chunks.get(number).cloned()
    }

    /// Works for a card.
    fn feed(&self, card: &mut dyn Card, sent: &Sent, options: &DeviceOptions) {
        let settings = Settings {
            values: false,
            fuel: options.settings.fuel.min(SHORT),
            ..options.settings
        };
        let counting = match settings.ops {
            true => Counting::Steps,
            false => Counting::Nothing,
        };
        let mut launcher = Launcher::new(settings, 1);
        let mut own = CardReport {
            name: card.name(),
            ..CardReport::default()
        };
        while !own.lost && !self.stop.load(Ordering::Relaxed) {
            let Some(range) = self.take() else { break };
            own.runs += range.len() as u64;
            let mut jobs = Vec::with_capacity(range.len());
            let mut runs = Vec::with_capacity(range.len());
            let mut unsent = Vec::new();
            for run in range {
                match sent.job(run) {
                    Some(job) => {
                        jobs.push(job);
                        runs.push(run as u32);
                    }
                    None => unsent.push(run as u32),
                }
            }
            self.leave(Reason::Unsent, &unsent);
            match launcher.run(card, &sent.programs, &sent.inputs, &jobs, counting) {
                Ok(done) => {
                    own.times.add(&done.times());
                    own.errors
                        .extend(done.error.as_ref().map(ToString::to_string));
                    if settings.ops {
                        self.count(&op_counts(sent.programs.steps(), &done.counters()));
                    }
                    self.hand_over(Returned { runs, done });
                }
                Err(error) => {
                    own.errors.push(error.to_string());
                    own.lost |= error.is_final();
                    self.leave(Reason::Card, &runs);
                }
            }
        }
        self.lock_report().cards.push(own);
    }

    fn lock_report(&self) -> MutexGuard<'_, DeviceReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds up what each primitive did.
    fn count(&self, ops: &[OpCount]) {
        let mut report = self.lock_report();
        for new in ops {
            match report.ops.iter_mut().find(|old| old.op == new.op) {
                Some(old) => {
                    old.calls = old.calls.saturating_add(new.calls);
                    old.cycles = old.cycles.saturating_add(new.cycles);
                }
                None => report.ops.push(*new),
            }
        }
        report
            .ops
            .sort_by_key(|count| std::cmp::Reverse(count.cycles));
    }

    /// Hands jobs over to be read.
    fn hand_over(&self, returned: Returned) {
        let returned = Arc::new(returned);
        let mut left = self.lock_left();
        for start in (0..returned.runs.len()).step_by(READ) {
            let range = start..(start + READ).min(returned.runs.len());
            left.runs
                .push_front(Portion::Read(Arc::clone(&returned), range));
        }
        drop(left);
        self.changed.notify_all();
    }

    /// Hands runs over to the CPU, a few at a time: some of them take long.
    fn leave(&self, reason: Reason, runs: &[u32]) {
        if runs.is_empty() {
            return;
        }
        let mut counts = Counts::default();
        runs.iter().for_each(|_| counts.add(Err(reason)));
        self.lock_report().runs.add_all(&counts);
        self.list(runs);
    }

    fn list(&self, runs: &[u32]) {
        let mut left = self.lock_left();
        for portion in runs.chunks(LISTED) {
            left.runs.push_back(Portion::Listed(portion.to_vec()));
        }
        drop(left);
        self.changed.notify_all();
    }

    /// Reads the scores of finished jobs, and lists the others.
    fn read(&self, returned: &Returned, range: Range<usize>) -> Vec<(usize, Score)> {
        let mut found = Vec::with_capacity(range.len());
        let mut left = Vec::new();
        let mut counts = Counts::default();
        for k in range {
            let run = returned.runs[k];
            let entry = returned.done.job(k).and_then(|finished| {
                let entry = only_entry(finished.words, false).map_err(Reason::from)?;
                Ok((finished.pass, entry))
            });
            match entry {
                Ok((pass, entry)) => {
                    counts.add(Ok(pass));
                    found.push((run as usize, score_of(&entry)));
                }
                Err(reason) => {
                    counts.add(Err(reason));
                    left.push(run);
                }
            }
        }
        self.lock_report().runs.add_all(&counts);
        self.list(&left);
        found
    }

    /// Works for the CPU until no card can leave anything any more.
    fn finish(&self) {
        let mut workspace = Workspace::new();
        while let Some(portion) = self.next_portion() {
            let found = match portion {
                Portion::Range(range) => self.run(&mut workspace, range),
                Portion::Listed(runs) => {
                    self.run(&mut workspace, runs.iter().map(|&run| run as usize))
                }
                Portion::Read(returned, range) => self.read(&returned, range),
            };
            let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            for (run, score) in found {
                table[run] = Some(score);
            }
        }
    }

    fn run(
        &self,
        workspace: &mut Workspace,
        runs: impl Iterator<Item = usize>,
    ) -> Vec<(usize, Score)> {
        let going_on = |_: &usize| !self.stop.load(Ordering::Relaxed);
        let score = |run: usize| {
            let job = Job {
                program: &self.programs[run / self.samples.len()],
                sample: self.samples[run % self.samples.len()],
            };
            (run, score_job(workspace, &job, self.limits))
        };
        runs.take_while(going_on).map(score).collect()
    }

    fn next_portion(&self) -> Option<Portion> {
        let mut left = self.lock_left();
        loop {
            match left.runs.pop_front() {
                Some(Portion::Range(range)) if range.len() > PORTION => {
                    let rest = range.start + PORTION..range.end;
                    left.runs.push_front(Portion::Range(rest));
                    return Some(Portion::Range(range.start..range.start + PORTION));
                }
                Some(portion) => return Some(portion),
                None if left.feeders == 0 => return None,
                None => {
                    left = self
                        .changed
                        .wait(left)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

fn score_of(entry: &Entry) -> Score {
    let verdict: Verdict = entry.verdict();
    let hash = match entry {
        Entry::Value { hash, .. } => Some(*hash),
        _ => None,
    };
    Score { verdict, hash }
}
