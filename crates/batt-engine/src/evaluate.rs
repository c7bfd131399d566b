//! Evaluation: many runs on all cores, with results in the order of the jobs.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use batt_arc::Grid;
use batt_dsl::{Fault, Limits, OwnedValue, Run, Value, Workspace};

use crate::cancel::Cancel;
use crate::compile::Compiled;
use crate::device::{DeviceOptions, DeviceReport};
use crate::interpret::RunError;
use crate::sample::{ParamRole, Sample, demos};
use crate::schedule::{Delivered, Schedule, Window};

/// A run to do: a program and its sample.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The program. The names of its parameters define their roles.
    pub program: &'a Compiled,
    /// The sample it runs on.
    pub sample: Sample<'a>,
}

/// The comparison of a run's result with the expected output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The expected grid.
    Right,
    /// A grid of the right shape, with this many wrong cells.
    WrongCells(usize),
    /// A grid of another shape: height and width.
    WrongShape(usize, usize),
    /// A value other than a grid of colours.
    NotAGrid,
    /// A value without an expected output to compare it with.
    Unknown,
    /// The run failed.
    Failed(RunError),
}

impl Verdict {
    /// Returns whether the run gave the expected grid.
    pub fn is_right(&self) -> bool {
        *self == Verdict::Right
    }
}

/// The result of one job.
#[derive(Clone, Debug)]
pub struct JobResult {
    /// How the value compares with the expected output, or the fault.
    pub verdict: Verdict,
    /// The value, if [`EvalOptions::values`] selects it.
    pub value: Option<OwnedValue>,
    /// The time that the run took.
    pub time: Duration,
}

/// Options of [`evaluate`].
#[derive(Clone, Debug)]
pub struct EvalOptions {
    /// Limits of each run.
    pub limits: Limits,
    /// The number of threads; `None` uses one per core.
    pub threads: Option<NonZeroUsize>,
    /// Selects the values that are returned with the verdicts.
    pub values: Values,
    /// Settings for devices, which [`evaluate_on`](crate::evaluate_on) uses.
    pub device: DeviceOptions,
}

/// Selects the values that are returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// Verdicts only.
    #[default]
    None,
    /// The values of runs that are not right.
    Wrong,
    /// All values.
    All,
}

impl Values {
    /// Returns whether to keep the value of a run with this verdict.
    pub(crate) fn wants(self, verdict: &Verdict) -> bool {
        match self {
            Values::None => false,
            Values::Wrong => !verdict.is_right(),
            Values::All => true,
        }
    }
}

impl EvalOptions {
    /// Returns the options with [`Values::All`].
    pub(crate) fn with_values(&self) -> EvalOptions {
        EvalOptions {
            values: Values::All,
            ..self.clone()
        }
    }
}

impl Default for EvalOptions {
    fn default() -> EvalOptions {
        EvalOptions {
            limits: Limits::default(),
            threads: None,
            values: Values::None,
            device: DeviceOptions::default(),
        }
    }
}

/// The totals of [`evaluate`].
#[derive(Clone, Debug)]
pub struct EvalReport {
    /// Runs delivered: one per job unless the work was cancelled.
    pub runs: usize,
    /// Threads that took part. The system may start fewer than requested.
    pub workers: usize,
    /// What devices did; `None` if none were used.
    pub device: Option<DeviceReport>,
}

/// Runs all jobs and passes each result to `sink`, in the order of the jobs. Cancellation ends the
/// work early; the delivered results are then a prefix of the whole.
pub fn evaluate(
    jobs: &[Job<'_>],
    options: &EvalOptions,
    cancel: &Cancel,
    sink: impl FnMut(usize, JobResult),
) -> EvalReport {
    let worker = || {
        let mut workspace = Workspace::new();
        move |at: usize| run_job(&mut workspace, &jobs[at], options)
    };
    EvalReport::of(schedule(jobs.len(), options).run(cancel, worker, sink))
}

impl EvalReport {
    /// Reports a schedule that used no devices.
    pub(crate) fn of(delivered: Delivered) -> EvalReport {
        EvalReport {
            runs: delivered.items,
            workers: delivered.workers,
            device: None,
        }
    }
}

/// Returns the schedule of some runs.
pub(crate) fn schedule(count: usize, options: &EvalOptions) -> Schedule {
    // Values can be large, so fewer results may wait for delivery.
    let (ahead, largest_chunk) = match options.values {
        Values::None => (8192, 512),
        _ => (512, 64),
    };
    Schedule {
        count,
        threads: options.threads,
        ahead: Window::new(ahead),
        chunk: (8, largest_chunk),
    }
}

/// Runs one job in the caller's workspace.
pub fn run_job(workspace: &mut Workspace, job: &Job<'_>, options: &EvalOptions) -> JobResult {
    let started = Instant::now();
    let sample = &job.sample;
    execute_job(workspace, job, &options.limits, |run, outcome| {
        let (verdict, value) = match outcome {
            Ok(value) => (judge(run, value, sample.expected), Some(value)),
            Err(error) => (Verdict::Failed(error), None),
        };
        let time = started.elapsed();
        let wanted = options.values.wants(&verdict);
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

/// A verdict and the hash of the judged value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// How the value compares with the expected output, or the fault.
    pub verdict: Verdict,
    /// CPython's `hash()` of the value, if there is one. Equal values have equal hashes. CPython
    /// hashes functions, `None` and NaN by address, so the hash of a value that contains one of
    /// them carries no information.
    pub hash: Option<u64>,
}

/// Runs one job in the caller's workspace and returns its verdict and the hash of its value.
pub fn judge_job(workspace: &mut Workspace, job: &Job<'_>, limits: &Limits) -> Judged {
    let failed = |error| Judged {
        verdict: Verdict::Failed(error),
        hash: None,
    };
    execute_job(workspace, job, limits, |run, outcome| {
        let value = match outcome {
            Ok(value) => value,
            Err(error) => return failed(error),
        };
        let verdict = judge(run, value, job.sample.expected);
        let hash = run.hash(value);
        // Hashing cannot fail in Python, so after a limit it continues with an arbitrary number.
        match run.check_limits() {
            Ok(()) => Judged {
                verdict,
                hash: Some(hash),
            },
            Err(fault) => failed(RunError { fault, step: None }),
        }
    })
}

/// Executes the program of a job and calls `finish` with its result while the run still exists.
#[inline]
pub(crate) fn execute_job<T>(
    workspace: &mut Workspace,
    job: &Job<'_>,
    limits: &Limits,
    finish: impl for<'r> FnOnce(&mut Run<'r>, Result<Value<'r>, RunError>) -> T,
) -> T {
    let input = input_grid(job.sample.input);
    let dialect = job.program.dialect();
    workspace.run_on(&input, dialect, limits, |run, input| {
        let outcome = match job.program.roles() {
            Some([ParamRole::Input]) => job.program.execute_on(run, input),
            _ => inputs(run, job.program, &job.sample, input)
                .and_then(|inputs| job.program.execute(run, &inputs)),
        };
        finish(run, outcome)
    })
}

/// Returns the inputs of a program in the order of its parameters. `input` is the sample's input as
/// a value.
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
            ParamRole::Input => input,
            ParamRole::Samples => demos(run, sample.demos).map_err(nowhere)?,
            ParamRole::Comparison => Value::None,
        });
    }
    Ok(inputs)
}

/// Returns a grid of a task as the input of a run.
pub fn input_grid(grid: &Grid) -> batt_dsl::GridView<'_> {
    batt_dsl::GridView {
        height: grid.height(),
        width: grid.width(),
        cells: grid.cells(),
    }
}

/// Compares a value with the expected grid as Python's `==` would. If the comparison exceeds a
/// limit, the run fails.
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
    // A grid may hold bools, and Python's bools equal the integers 0 and 1.
    let wanted = run.input(expected.height(), expected.width(), expected.cells());
    let is_right = wanted.is_ok_and(|wanted| run.equal(value, wanted));
    match run.check_limits() {
        Err(fault) => Verdict::Failed(RunError { fault, step: None }),
        Ok(()) if is_right => Verdict::Right,
        Ok(()) => Verdict::NotAGrid,
    }
}
