//! Many runs at once: every core busy, results in input order, faults contained.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use batt_arc::Grid;
use batt_dsl::{Dialect, Limits, OwnedValue, Run, Value, Workspace};

use crate::compile::{Compiled, RunError};

/// One run to do: a program, its input and, where known, the output it should give.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The program; it takes one grid.
    pub program: &'a Compiled,
    /// The input grid.
    pub input: &'a Grid,
    /// The expected output.
    pub expected: Option<&'a Grid>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The expected grid.
    Right,
    /// A grid of the right shape, with this many wrong cells.
    WrongCells(usize),
    /// A grid of another shape: height and width.
    WrongShape(usize, usize),
    /// A value that is no grid of colours.
    NotAGrid,
    /// A value, but nothing to compare it with.
    Unknown,
    /// The run failed.
    Failed(RunError),
}

impl Verdict {
    /// Did the run give the expected grid?
    pub fn is_right(&self) -> bool {
        *self == Verdict::Right
    }
}

/// The result of one job.
#[derive(Clone, Debug)]
pub struct JobResult {
    /// Right, wrong or failed.
    pub verdict: Verdict,
    /// The value, if [`Options::values`] asked for it.
    pub value: Option<OwnedValue>,
    /// How long the run took.
    pub time: Duration,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The dialect of the programs.
    pub dialect: Dialect,
    /// Limits of each run.
    pub limits: Limits,
    /// Threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
    /// Keep the values, or only the verdicts?
    pub values: Values,
}

/// Which values to hand back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// Verdicts only.
    #[default]
    None,
    /// The values of runs that went wrong.
    Wrong,
    /// All values.
    All,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            dialect: Dialect::ArcDsl,
            limits: Limits::default(),
            threads: None,
            values: Values::None,
        }
    }
}

/// Native stack of a worker. Calls and containers nest at most a thousand deep, which fits in an
/// eighth of this.
const STACK: usize = 16 << 20;

/// Jobs a worker takes at a time, to begin with and at the most. In between it goes by the clock.
const FIRST_CHUNK: usize = 8;
const LARGEST_CHUNK: usize = 512;

/// How long a chunk should take: long enough to make the queue cheap, short enough that a slow run
/// holds little else back.
const CHUNK_TIME: Duration = Duration::from_micros(500);

/// Jobs that may be finished ahead of the next one to be delivered: with verdicts only, and with
/// values, which can be large.
const AHEAD: usize = 8192;
const AHEAD_WITH_VALUES: usize = 512;

/// Runs all jobs and hands each result to `sink`, in the order of the jobs. Setting `stop` ends the
/// work early; what was delivered by then is a prefix of the whole. Returns how many were delivered.
pub fn evaluate(
    jobs: &[Job<'_>],
    options: &Options,
    stop: &AtomicBool,
    mut sink: impl FnMut(usize, JobResult),
) -> usize {
    let threads = options
        .threads
        .or_else(|| thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get)
        .min(jobs.len().div_ceil(FIRST_CHUNK).max(1));
    let (ahead, largest_chunk) = match options.values {
        Values::None => (AHEAD, LARGEST_CHUNK),
        _ => (AHEAD_WITH_VALUES, LARGEST_CHUNK / 8),
    };
    let next = AtomicUsize::new(0);
    let delivered = AtomicUsize::new(0);
    let mut done = 0;
    thread::scope(|scope| {
        // Bounded: workers wait for a sink that is slower than they are.
        let (sender, receiver) = mpsc::sync_channel::<(usize, Vec<JobResult>)>(threads * 4);
        for _ in 0..threads {
            let (sender, next, delivered) = (sender.clone(), &next, &delivered);
            let work = move || {
                let mut workspace = Workspace::new();
                let mut chunk = FIRST_CHUNK;
                loop {
                    let start = next.fetch_add(chunk, Ordering::Relaxed);
                    // One slow run must not let the others pile up results without end.
                    while start > delivered.load(Ordering::Relaxed) + ahead
                        && !stop.load(Ordering::Relaxed)
                    {
                        thread::sleep(Duration::from_millis(1));
                    }
                    if start >= jobs.len() || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let end = (start + chunk).min(jobs.len());
                    let started = Instant::now();
                    let results = jobs[start..end]
                        .iter()
                        .map(|job| run_job(&mut workspace, job, options))
                        .collect();
                    chunk = match started.elapsed() {
                        time if time * 2 < CHUNK_TIME => (chunk * 2).min(largest_chunk),
                        time if time > CHUNK_TIME * 2 => (chunk / 2).max(1),
                        _ => chunk,
                    };
                    if sender.send((start, results)).is_err() {
                        return;
                    }
                }
            };
            thread::Builder::new()
                .name("batt-worker".into())
                .stack_size(STACK)
                .spawn_scoped(scope, work)
                .expect("the system gives us a thread");
        }
        drop(sender);
        // Chunks come in any order; each goes out when all before it have.
        let mut waiting = BTreeMap::new();
        for (start, results) in receiver {
            waiting.insert(start, results);
            while let Some(results) = waiting.remove(&done) {
                for result in results {
                    sink(done, result);
                    done += 1;
                }
                delivered.store(done, Ordering::Relaxed);
            }
        }
    });
    done
}

/// Runs one job in a workspace of the caller's.
pub fn run_job(workspace: &mut Workspace, job: &Job<'_>, options: &Options) -> JobResult {
    let started = Instant::now();
    let input = input_grid(job.input);
    workspace.run_on(&input, options.dialect, &options.limits, |run, input| {
        let outcome = job.program.execute_on(run, input);
        let (verdict, value) = match outcome {
            Ok(value) => (judge(run, value, job.expected), Some(value)),
            Err(error) => (Verdict::Failed(error), None),
        };
        let time = started.elapsed();
        let wanted = match options.values {
            Values::None => false,
            Values::Wrong => !verdict.is_right(),
            Values::All => true,
        };
        let owned = value.filter(|_| wanted).map(|value| {
            run.to_owned(value)
                .map_err(|fault| RunError { fault, step: None })
        });
        match owned {
            Some(Err(error)) => JobResult {
                verdict: Verdict::Failed(error),
                value: None,
                time,
            },
            Some(Ok(value)) => JobResult {
                verdict,
                value: Some(value),
                time,
            },
            None => JobResult {
                verdict,
                value: None,
                time,
            },
        }
    })
}

/// A grid of a task as the input of a run.
pub fn input_grid(grid: &Grid) -> batt_dsl::Grid<'_> {
    batt_dsl::Grid {
        height: grid.height(),
        width: grid.width(),
        cells: grid.cells(),
    }
}

/// Compares a value with the expected grid, as Python's `==` would.
fn judge<'r>(run: &mut Run<'r>, value: Value<'r>, expected: Option<&Grid>) -> Verdict {
    let Some(expected) = expected else {
        return Verdict::Unknown;
    };
    if let Some(grid) = run.view_grid(value) {
        if (grid.height, grid.width) != (expected.height(), expected.width()) {
            return Verdict::WrongShape(grid.height, grid.width);
        }
        let pairs = grid.cells.iter().zip(expected.cells());
        return match pairs.filter(|(a, b)| a != b).count() {
            0 => Verdict::Right,
            wrong => Verdict::WrongCells(wrong),
        };
    }
    // A grid may hold bools, which equal the integers 0 and 1.
    let wanted = run.input(expected.height(), expected.width(), expected.cells());
    match wanted {
        Ok(wanted) if run.equal(value, wanted) => Verdict::Right,
        _ => Verdict::NotAGrid,
    }
}
