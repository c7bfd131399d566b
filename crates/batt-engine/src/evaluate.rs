//! Many runs at once: every core busy, results in input order, faults contained.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use batt_arc::Grid;
use batt_dsl::{Fault, Limits, OwnedValue, Run, Value, Workspace};

use crate::compile::{Compiled, RunError};
use crate::sample::{Role, Sample, demos};
use crate::schedule::{Schedule, Window};

/// One run to do: a program and what it is run on.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The program; the names of its parameters say what they are for.
    pub program: &'a Compiled,
    /// What it is run on.
    pub sample: Sample<'a>,
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
            limits: Limits::default(),
            threads: None,
            values: Values::None,
        }
    }
}

/// Runs all jobs and hands each result to `sink`, in the order of the jobs. Setting `stop` ends the
/// work early; what was delivered by then is a prefix of the whole. Returns how many were delivered.
pub fn evaluate(
    jobs: &[Job<'_>],
    options: &Options,
    stop: &AtomicBool,
    sink: impl FnMut(usize, JobResult),
) -> usize {
    // Values can be large, so fewer of them may wait.
    let (ahead, largest_chunk) = match options.values {
        Values::None => (8192, 512),
        _ => (512, 64),
    };
    let schedule = Schedule {
        count: jobs.len(),
        threads: options.threads,
        ahead: Window::fixed(ahead),
        chunk: (8, largest_chunk),
    };
    let work = || {
        let mut workspace = Workspace::new();
        move |at: usize| run_job(&mut workspace, &jobs[at], options)
    };
    schedule.run(stop, work, sink)
}

/// Runs one job in a workspace of the caller's.
pub fn run_job(workspace: &mut Workspace, job: &Job<'_>, options: &Options) -> JobResult {
    let started = Instant::now();
    let sample = &job.sample;
    let input = input_grid(sample.input);
    let dialect = job.program.dialect();
    workspace.run_on(&input, dialect, &options.limits, |run, input| {
        let outcome = match job.program.roles() {
            Some([Role::Input]) => job.program.execute_on(run, input),
            _ => inputs(run, job.program, sample, input)
                .and_then(|inputs| job.program.execute(run, &inputs)),
        };
        let (verdict, value) = match outcome {
            Ok(value) => (judge(run, value, sample.expected), Some(value)),
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

/// What a program is given, parameter by parameter; `input` is the sample's input as a value.
pub fn inputs<'r>(
    run: &mut Run<'r>,
    program: &Compiled,
    sample: &Sample<'_>,
    input: Value<'r>,
) -> Result<Vec<Value<'r>>, RunError> {
    let nowhere = |fault| RunError { fault, step: None };
    let roles = program.roles().ok_or(nowhere(Fault::Type))?;
    let mut inputs = Vec::with_capacity(roles.len());
    for role in roles {
        inputs.push(match role {
            Role::Input => input,
            Role::Samples => demos(run, sample.demos).map_err(nowhere)?,
            Role::Comparison => Value::None,
        });
    }
    Ok(inputs)
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
pub fn judge<'r>(run: &mut Run<'r>, value: Value<'r>, expected: Option<&Grid>) -> Verdict {
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
