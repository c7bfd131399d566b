//! Many runs at once: every core busy, results in input order, faults contained.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use batt_arc::Grid;
use batt_dsl::{Fault, Limits, OwnedValue, Run, Value, Workspace};

use crate::cancel::Cancel;
use crate::compile::{Compiled, RunError};
use crate::device::{
    Device, DeviceOptions, DeviceReport, Entry, Found, Reason, Runs, ScoredRun, Seen, Solo, Taken,
    run_fed, wire,
};
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
    /// How devices are used, if there are any.
    pub device: DeviceOptions,
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

impl Values {
    /// Is the value of a run with this verdict to be handed back?
    fn wants(self, verdict: &Verdict) -> bool {
        match self {
            Values::None => false,
            Values::Wrong => !verdict.is_right(),
            Values::All => true,
        }
    }
}

impl Options {
    /// The same with all values.
    fn with_values(&self) -> Options {
        Options {
            values: Values::All,
            ..self.clone()
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            limits: Limits::default(),
            threads: None,
            values: Values::None,
            device: DeviceOptions::default(),
        }
    }
}

/// Runs all jobs and hands each result to `sink`, in the order of the jobs. Setting `stop` ends the
/// work early; what was delivered by then is a prefix of the whole. Returns how many were delivered.
pub fn evaluate(
    jobs: &[Job<'_>],
    options: &Options,
    stop: &Cancel,
    sink: impl FnMut(usize, JobResult),
) -> usize {
    evaluate_on(&mut [], jobs, options, stop, sink).0
}

/// As [`evaluate`], with the help of devices. The results are the same. Gives also what the devices did, if they were used:
/// they are not if the limits do not [allow](crate::device::Settings::within) it.
pub fn evaluate_on(
    devices: &mut [Box<dyn Device>],
    jobs: &[Job<'_>],
    options: &Options,
    stop: &Cancel,
    sink: impl FnMut(usize, JobResult),
) -> (usize, Option<DeviceReport>) {
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
    let listed = match devices.is_empty() {
        true => Listed::default(),
        false => Listed::of(jobs),
    };
    let solo = Solo::new(
        devices,
        listed.programs.iter().copied(),
        &listed.samples,
        Runs::Listed(&listed.runs),
        options.values != Values::None,
        &options.limits,
        &options.device,
    );
    let worker = || {
        let mut workspace = Workspace::new();
        let mut helper = solo.worker();
        move |at: usize, taken: Option<&Taken>| {
            let job = &jobs[at];
            let Some(found) = helper.found(at, taken) else {
                return run_job(&mut workspace, job, options);
            };
            let again = helper.is_done_again(at);
            match job_result(job, &found, options, again) {
                Err(reason) => {
                    helper.count(Err(reason));
                    run_job(&mut workspace, job, options)
                }
                Ok(result) => {
                    helper.count(Ok(found.pass));
                    if !again {
                        return result;
                    }
                    let (cpu, seen) = done_again(&mut workspace, job, options);
                    let device = match (&found.entry, options.values) {
                        (Entry::Value { hash, .. }, Values::None) => {
                            Seen::Judged(result.verdict, Some(*hash))
                        }
                        _ => seen_of(&result),
                    };
                    helper.compare(at, &seen, &device);
                    cpu
                }
            }
        }
    };
    let done = run_fed(devices, solo.feed(), &schedule, stop, worker, sink);
    (done, solo.report())
}

/// Jobs as devices are given them: every program and every sample once.
#[derive(Default)]
struct Listed<'a> {
    programs: Vec<&'a Compiled>,
    samples: Vec<Sample<'a>>,
    runs: Vec<(u32, u32)>,
}

impl<'a> Listed<'a> {
    fn of(jobs: &[Job<'a>]) -> Listed<'a> {
        let mut listed = Listed::default();
        let mut programs = HashMap::new();
        let mut samples = HashMap::new();
        for job in jobs {
            let program = *programs
                .entry(std::ptr::from_ref(job.program))
                .or_insert_with(|| {
                    listed.programs.push(job.program);
                    listed.programs.len() as u32 - 1
                });
            let Sample {
                demos,
                input,
                expected,
            } = job.sample;
            let key = (
                std::ptr::from_ref(demos),
                std::ptr::from_ref(input),
                expected.map(std::ptr::from_ref),
            );
            let sample = *samples.entry(key).or_insert_with(|| {
                listed.samples.push(job.sample);
                listed.samples.len() as u32 - 1
            });
            listed.runs.push((program, sample));
        }
        listed
    }
}

/// The result of a job that a device has finished. Its value is there if it is wanted, or if `always` says so.
fn job_result(
    job: &Job<'_>,
    found: &Found<'_>,
    options: &Options,
    always: bool,
) -> Result<JobResult, Reason> {
    let started = Instant::now();
    let verdict = found.entry.verdict();
    let value = match found.entry {
        Entry::Value { at: Some(at), .. } if always || options.values.wants(&verdict) => {
            let dialect = job.program.dialect();
            Some(wire::decode_owned(found.words, at, dialect)?.0)
        }
        _ => None,
    };
    Ok(JobResult {
        verdict,
        value,
        time: started.elapsed(),
    })
}

/// A job that a device has finished, done again here, and what of it is compared.
fn done_again(workspace: &mut Workspace, job: &Job<'_>, options: &Options) -> (JobResult, Seen) {
    let started = Instant::now();
    if options.values == Values::None {
        let (score, seen) = Seen::scored(workspace, job, &options.limits);
        let result = JobResult {
            verdict: score.verdict,
            value: None,
            time: started.elapsed(),
        };
        return (result, seen);
    }
    let mut result = run_job(workspace, job, &options.with_values());
    let seen = seen_of(&result);
    if !options.values.wants(&result.verdict) {
        result.value = None;
    }
    (result, seen)
}

/// What of a result is compared: its value, or why there is none.
fn seen_of(result: &JobResult) -> Seen {
    match (&result.verdict, &result.value) {
        (Verdict::Failed(error), _) => Seen::Failed(*error),
        (_, Some(value)) => Seen::Value(value.clone()),
        (verdict, None) => Seen::Judged(verdict.clone(), None),
    }
}

/// Runs one job in a workspace of the caller's.
pub fn run_job(workspace: &mut Workspace, job: &Job<'_>, options: &Options) -> JobResult {
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

/// The verdict on one job and the hash of its value, in a workspace of the caller's.
pub fn score_job(workspace: &mut Workspace, job: &Job<'_>, limits: &Limits) -> ScoredRun {
    let failed = |error| ScoredRun {
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
        // Hashing cannot fail in Python, and goes on with a made-up number when it reaches a limit.
        match run.check_limits() {
            Ok(()) => ScoredRun {
                verdict,
                hash: Some(hash),
            },
            Err(fault) => failed(RunError { fault, step: None }),
        }
    })
}

/// Executes the program of a job.
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
            Some([Role::Input]) => job.program.execute_on(run, input),
            _ => inputs(run, job.program, &job.sample, input)
                .and_then(|inputs| job.program.execute(run, &inputs)),
        };
        finish(run, outcome)
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

/// Compares a value with the expected grid, as Python's `==` would. Where a limit is in the way of that, the run has failed.
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
    let is_right = wanted.is_ok_and(|wanted| run.equal(value, wanted));
    match run.check_limits() {
        Err(fault) => Verdict::Failed(RunError { fault, step: None }),
        Ok(()) if is_right => Verdict::Right,
        Ok(()) => Verdict::NotAGrid,
    }
}
