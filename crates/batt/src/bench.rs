//! Throughput: runs per second on one core, on all cores, on devices, and in comparison with
//! Python.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use batt_dsl::{Dialect, Limits, Workspace};
use batt_engine::device::{ScoreOptions, score_table};
use batt_engine::{Compiled, EvalOptions, Job, Sample, evaluate, run_job};
use batt_reference::{Checkout, CompareOptions, Comparison, Original};

use crate::control::Control;
use crate::devices::Devices;
use crate::error::{Error, Result};
use crate::solvers::Solvers;
use crate::tasks::Tasks;

/// The throughput of some solvers, each on the pairs of its task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// The number of runs in one pass.
    pub runs: usize,
    /// Runs per second on one core.
    pub one_core: f64,
    /// The number of threads in the measurement on all cores.
    pub threads: usize,
    /// Runs per second on all cores; `None` if the work was cancelled before.
    pub all_cores: Option<f64>,
}

/// The throughput of every solver on every pair, on all cores and on devices.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceThroughput {
    /// The names of the devices.
    pub devices: Vec<String>,
    /// The number of runs in one pass.
    pub runs: usize,
    /// Runs per second on all cores.
    pub all_cores: f64,
    /// Runs per second on the devices, in the best of several passes. The first pass includes
    /// start-up costs.
    pub on_devices: f64,
    /// The fraction of runs that devices completed; the CPU ran the others.
    pub completed: f64,
    /// The number of runs whose verdict or hash differs between devices and cores.
    pub differing: usize,
}

/// Measures solvers on the tasks they are named after, for about the given time on one core and
/// again on all cores.
///
/// ```
/// use std::time::Duration;
///
/// let (solvers, tasks) = (batt::Solvers::embedded(), batt::Tasks::embedded());
/// let time = Duration::from_millis(100);
/// let found = batt::bench::throughput(&solvers, &tasks, time, &batt::Control::new())?;
/// assert_eq!(found.runs, 260);
/// # Ok::<(), batt::Error>(())
/// ```
pub fn throughput(
    solvers: &Solvers,
    tasks: &Tasks,
    time: Duration,
    control: &Control,
) -> Result<Throughput> {
    let jobs: Vec<Job<'_>> = solvers
        .iter()
        .filter_map(|solver| Some((solver, tasks.task_of(solver.name())?)))
        .flat_map(|(solver, task)| {
            task.pairs().map(|(_, pair)| Job {
                program: solver.compiled(),
                sample: Sample::new(task, pair),
            })
        })
        .collect();
    if jobs.is_empty() {
        return Err(Error::request(
            "none of the solvers has a task here",
            "a solver is named after its task: solve_<task id>",
        ));
    }
    let options = EvalOptions::default();
    let mut workspace = Workspace::new();
    let mut pass = || {
        for job in &jobs {
            black_box(run_job(&mut workspace, job, &options));
        }
    };
    // The first pass is a warm-up.
    pass();
    let started = Instant::now();
    let mut passes = 0;
    while passes == 0 || started.elapsed() < time && !control.is_cancelled() {
        pass();
        passes += 1;
    }
    let one_core = per_second(passes * jobs.len(), started.elapsed());
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let wanted = one_core * threads as f64 * time.as_secs_f64();
    let copies = (wanted / jobs.len() as f64).ceil().max(1.0) as usize;
    let runs = jobs.len();
    let jobs = jobs.repeat(copies);
    let started = Instant::now();
    let done = evaluate(&jobs, &options, control.token(), |_, _| {});
    Ok(Throughput {
        runs,
        one_core,
        threads,
        all_cores: (done.runs > 0).then(|| per_second(done.runs, started.elapsed())),
    })
}

/// Measures every solver on every pair, on all cores and on devices, and compares the results.
pub fn device_throughput(
    solvers: &Solvers,
    tasks: &Tasks,
    devices: &mut Devices,
    limits: &Limits,
    control: &Control,
) -> Result<DeviceThroughput> {
    /// The number of passes on the devices.
    const PASSES: usize = 3;

    if devices.is_empty() {
        return Err(Error::request(
            "there is no device to measure",
            "name one with --device; `batt device` lists what is missing",
        ));
    }
    let programs: Vec<Compiled> = solvers
        .iter()
        .map(|solver| Compiled::new(solver.program()))
        .collect();
    let samples: Vec<Sample<'_>> = tasks
        .pairs()
        .map(|(task, _, pair)| Sample::new(task, pair))
        .collect();
    let options = ScoreOptions {
        limits: *limits,
        ..ScoreOptions::default()
    };
    let stop = control.token();
    let runs = programs.len() * samples.len();
    let started = Instant::now();
    let (expected, _) = score_table(&mut [], &programs, &samples, &options, stop);
    let mut found = DeviceThroughput {
        devices: devices.names(),
        runs,
        all_cores: per_second(expected.len(), started.elapsed()),
        on_devices: 0.0,
        completed: 0.0,
        differing: 0,
    };
    for _ in 0..PASSES {
        if control.is_cancelled() {
            break;
        }
        let started = Instant::now();
        let (scores, report) = score_table(devices.as_mut(), &programs, &samples, &options, stop);
        let rate = per_second(scores.len(), started.elapsed());
        found.on_devices = found.on_devices.max(rate);
        let differing = expected.iter().zip(&scores).filter(|(a, b)| a != b).count();
        found.differing = found.differing.max(differing);
        if let Some(report) = report.device {
            found.completed = report.runs.finished() as f64 / report.runs.total().max(1) as f64;
        }
    }
    Ok(found)
}

/// Runs the solvers of an arc-dsl checkout with Python and with this library, alternating, on one
/// core each, and compares every answer. Without `tasks` it uses the training tasks next to the
/// checkout.
pub fn against_python(
    checkout: &Path,
    tasks: Option<&Path>,
    options: &CompareOptions,
    control: &Control,
) -> Result<Comparison> {
    let checkout = Checkout::open(checkout, true)?;
    if checkout.original != Original::ArcDsl {
        return Err(Error::request(
            "this is a checkout of tokpidjin",
            "name a checkout of arc-dsl",
        ));
    }
    let solvers = Solvers::load(checkout.solver_files(&[]), Some(Dialect::ArcDsl))?;
    let tasks = Tasks::load(checkout.tasks(tasks)?)?;
    let report = |done, total| control.report(done, total);
    let file = &solvers.files()[0];
    let found = batt_reference::compare(&checkout, file, &tasks, options, control.token(), report);
    Ok(found?)
}

fn per_second(runs: usize, time: Duration) -> f64 {
    runs as f64 / time.as_secs_f64().max(1e-9)
}
