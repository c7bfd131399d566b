//! Runs solvers on tasks and compares the results with the known outputs.

mod part;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use batt_arc::text::counted;
use batt_arc::{Grid, Pair, PairRef, Task};
use batt_dsl::{Limits, OwnedValue};
use batt_engine::device::{DeviceOptions, DeviceReport};
use batt_engine::{
    EvalOptions, FailureRecord, JobResult, RunLine, RunPlan, RunScope, RunSummary, Shard, Values,
    Verdict, evaluate_on, output_grid,
};
use serde_json::{Value as Json, json};

pub use part::RunPart;

use crate::control::Control;
use crate::devices::{DeviceBug, Devices};
use crate::error::{Error, Result};
use crate::solvers::{Solver, Solvers};
use crate::tasks::Tasks;

/// Options of [`run`].
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The tasks that solvers run on.
    pub scope: RunScope,
    /// The part of the runs to do. The default is all of them.
    pub shard: Shard,
    /// The limits of each run.
    pub limits: Limits,
    /// The number of threads; `None` uses one per core.
    pub threads: Option<NonZeroUsize>,
    /// Selects the values that are returned with the verdicts.
    pub values: Values,
    /// The share of runs, 0 to 1, that devices complete and the CPU repeats for comparison.
    pub verify: f64,
}

impl RunOptions {
    pub(crate) fn engine(&self) -> EvalOptions {
        EvalOptions {
            limits: self.limits,
            threads: self.threads,
            values: self.values,
            device: DeviceOptions {
                verify: self.verify,
                ..DeviceOptions::default()
            },
        }
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    solvers: Solvers,
    tasks: Tasks,
    solver: usize,
    task: usize,
    /// The name of the pair in its task.
    pub pair: PairRef,
    /// How the value compares with the expected output, or the fault.
    pub verdict: Verdict,
    /// The value, if [`RunOptions::values`] selects it.
    pub value: Option<OwnedValue>,
    /// The time that the run took.
    pub time: Duration,
}

impl RunResult {
    /// Returns the solver.
    pub fn solver(&self) -> &Solver {
        self.solvers.at(self.solver)
    }

    /// Returns the task.
    pub fn task(&self) -> &Task {
        &self.tasks.tasks()[self.task]
    }

    /// Returns the position of the solver among those that run.
    pub fn solver_index(&self) -> usize {
        self.solver
    }

    /// Returns the position of the task in the dataset.
    pub fn task_index(&self) -> usize {
        self.task
    }

    /// Returns the pair: the input and, if it is known, the expected output.
    pub fn input(&self) -> Option<&Pair> {
        self.task().pair(self.pair)
    }

    /// The value as a grid, if the value was asked for and is one.
    pub fn output(&self) -> Option<Grid> {
        self.value.as_ref().and_then(output_grid)
    }

    /// Where and why the run failed, if it did.
    pub fn failure(&self) -> Option<FailureRecord> {
        match &self.verdict {
            Verdict::Failed(error) => Some(FailureRecord::new(error, self.solver().program())),
            _ => None,
        }
    }

    /// Says why the run is wrong; `None` if it is right or no output is known.
    pub fn reason(&self) -> Option<String> {
        let solver = self.solver();
        let expected = self.input().and_then(|pair| pair.output.as_ref());
        let value = self.value.as_ref();
        self.verdict
            .reason(solver.program(), solver.file(), expected, value)
    }

    /// Writes the run as a JSON line: solver, task, pair, ok, value or error, and microseconds.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let program = self.solver().program();
        let (task, value) = (&self.task().id, self.value.as_ref());
        RunLine::new(program, task, self.pair, &self.verdict, value, self.time).write(out)
    }
}

/// The summary of all runs.
#[derive(Clone, Debug)]
pub struct RunReport {
    solvers: Solvers,
    tasks: Tasks,
    /// The counts.
    pub summary: RunSummary,
    /// The part of the runs.
    pub shard: Shard,
    /// The number of runs of all parts.
    pub total: usize,
    /// The number of planned runs: those of the part. Fewer are done if the work was cancelled.
    pub planned: usize,
    /// The number of runs that an earlier, interrupted run has done.
    pub resumed: usize,
    /// The elapsed time.
    pub time: Duration,
    /// The number of threads.
    pub threads: usize,
    /// What devices did; `None` if none were used.
    pub device: Option<DeviceReport>,
    /// Runs that devices got wrong.
    pub bugs: Vec<DeviceBug>,
    /// The names of solvers that did not run, because they are named after no task.
    pub without_task: Vec<String>,
}

impl RunReport {
    /// Returns whether all planned runs are done.
    pub fn is_complete(&self) -> bool {
        self.summary.runs() == self.planned
    }

    /// Returns the counts as one JSON object, without those of devices. A part does not know which
    /// tasks are solved.
    pub fn to_json(&self) -> Json {
        let summary = &self.summary;
        let ((solved, tasks), (right, pairs)) = (summary.tasks(), summary.pairs());
        let foreign = self
            .foreign()
            .map(|(task, solver)| json!({"task": task.id, "solver": solver.name()}));
        let is_whole = self.shard.is_whole();
        json!({
            "shard": (!is_whole).then_some(self.shard),
            "runs": summary.runs(),
            "planned": self.planned,
            "resumed": self.resumed,
            "tasks": tasks,
            "tasks_solved": is_whole.then_some(solved),
            "pairs": pairs,
            "pairs_right": right,
            "kinds": summary.kinds().into_iter().collect::<BTreeMap<_, _>>(),
            "also_solved": is_whole.then(|| foreign.collect::<Vec<_>>()),
            "without_task": self.without_task,
            "threads": self.threads,
            "seconds": self.time.as_secs_f64(),
        })
    }

    /// Returns the tasks solved by a solver named after another task, each with that solver.
    pub fn foreign(&self) -> impl Iterator<Item = (&Task, &Solver)> {
        let found = self.summary.foreign().iter();
        found.map(|&(task, solver)| (&self.tasks.tasks()[task], self.solvers.at(solver)))
    }
}

/// Runs solvers on tasks and passes every result to a function, in the order of the solvers and
/// their pairs. After a cancellation it returns the results so far. With [`RunOptions::shard`] it
/// does a part of the runs; [`RunPart`] writes a part to a file.
///
/// ```
/// use batt::{Control, Devices, RunOptions, Solvers, Tasks};
///
/// let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
/// let options = RunOptions::default();
/// let report = batt::run(
///     &solvers,
///     &tasks,
///     &options,
///     &mut Devices::none(),
///     &Control::new(),
///     |run| assert!(run.verdict.is_right(), "{}", run.solver().name()),
/// )?;
/// assert_eq!(report.summary.tasks(), (tasks.len(), tasks.len()));
/// # Ok::<(), batt::Error>(())
/// ```
pub fn run(
    solvers: &Solvers,
    tasks: &Tasks,
    options: &RunOptions,
    devices: &mut Devices,
    control: &Control,
    sink: impl FnMut(RunResult),
) -> Result<RunReport> {
    let plan = plan(solvers, tasks, options)?;
    let request = (solvers, tasks, options);
    Ok(run_planned(
        request,
        &plan,
        plan.summary(),
        devices,
        control,
        sink,
    ))
}

/// Returns the report of runs that are done already, such as those of other machines. The verdicts
/// are in the order in which [`run`] delivers results.
///
/// ```
/// use batt::{Control, Devices, RunOptions, Solvers, Tasks, report_of, run};
///
/// let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
/// let (options, mut verdicts) = (RunOptions::default(), Vec::new());
/// let mut keep = |result: batt::RunResult| verdicts.push(result.verdict);
/// run(&solvers, &tasks, &options, &mut Devices::none(), &Control::new(), &mut keep)?;
/// let report = report_of(&solvers, &tasks, &options, &verdicts)?;
/// assert_eq!(report.summary.tasks(), (65, 65));
/// # Ok::<(), batt::Error>(())
/// ```
pub fn report_of<'v>(
    solvers: &Solvers,
    tasks: &Tasks,
    options: &RunOptions,
    verdicts: impl IntoIterator<Item = &'v Verdict>,
) -> Result<RunReport> {
    let plan = plan(solvers, tasks, options)?;
    let mut summary = plan.summary();
    for (at, verdict) in verdicts.into_iter().take(plan.len()).enumerate() {
        plan.run(at).add_to(&mut summary, verdict);
    }
    // Runs without a verdict are not done now.
    let control = Control::new();
    control.cancel_token().cancel();
    let (request, devices) = ((solvers, tasks, options), &mut Devices::none());
    Ok(run_planned(
        request,
        &plan,
        summary,
        devices,
        &control,
        |_| {},
    ))
}

/// Plans the runs of a request. Fails if no part has any.
fn plan<'a>(solvers: &'a Solvers, tasks: &'a Tasks, options: &RunOptions) -> Result<RunPlan<'a>> {
    let named = solvers
        .iter()
        .map(|solver| (solver.name(), solver.compiled()));
    let plan = RunPlan::of_part(named, tasks, options.scope, options.shard);
    match plan.total() {
        0 => Err(Error::request(
            format_args!(
                "no solver is named after a task here ({}, {})",
                counted(solvers.len(), "solver"),
                counted(tasks.len(), "task")
            ),
            "a solver belongs to the task in its name, <anything>_<task id>; --all-pairs runs every \
             solver on every task",
        )),
        _ => Ok(plan),
    }
}

/// Does the runs of a plan that the summary does not count yet.
fn run_planned(
    (solvers, tasks, options): (&Solvers, &Tasks, &RunOptions),
    plan: &RunPlan<'_>,
    mut summary: RunSummary,
    devices: &mut Devices,
    control: &Control,
    mut sink: impl FnMut(RunResult),
) -> RunReport {
    let resumed = summary.runs();
    let started = Instant::now();
    let engine = options.engine();
    let mut deliver = |at: usize, result: JobResult| {
        let at = resumed + at;
        let planned = plan.run(at);
        planned.add_to(&mut summary, &result.verdict);
        sink(RunResult {
            solvers: solvers.clone(),
            tasks: tasks.clone(),
            solver: planned.solver,
            task: planned.task_at,
            pair: planned.name,
            verdict: result.verdict,
            value: result.value,
            time: result.time,
        });
        // A progress report costs more than a small run.
        if at.is_multiple_of(256) {
            control.report(at, plan.len());
        }
    };
    let token = control.token();
    let jobs = &plan.jobs()[resumed..];
    let evaluated = evaluate_on(devices.as_mut(), jobs, &engine, token, &mut deliver);
    let device = evaluated.device;
    let time = started.elapsed();
    let mismatches = device.iter().flat_map(|device| &device.mismatches);
    let bugs = mismatches.map(|mismatch| {
        let run = plan.run(resumed + mismatch.run);
        let program = solvers.at(run.solver).program();
        DeviceBug {
            place: format!("{} on {} {}", program.name(), run.task.id, run.name),
            program: program.to_string(),
            input: run.pair.input.to_string(),
            cpu: mismatch.cpu.clone(),
            device: mismatch.device.clone(),
        }
    });
    let without_task = match options.scope {
        RunScope::OwnTask => plan.without_task().collect(),
        RunScope::AllPairs => Vec::new(),
    };
    let name = |at: usize| solvers.at(at).name().to_owned();
    RunReport {
        bugs: bugs.collect(),
        without_task: without_task.into_iter().map(name).collect(),
        solvers: solvers.clone(),
        tasks: tasks.clone(),
        summary,
        shard: plan.shard(),
        total: plan.total(),
        planned: plan.len(),
        resumed,
        time,
        threads: evaluated.workers,
        device,
    }
}

/// Returns the number of runs that [`run`] would do. It helps to choose devices.
pub fn run_count(solvers: &Solvers, tasks: &Tasks, scope: RunScope) -> usize {
    match scope {
        RunScope::AllPairs => solvers.len() * tasks.pair_count(),
        RunScope::OwnTask => {
            let own = solvers
                .iter()
                .filter_map(|solver| tasks.task_of(solver.name()));
            own.map(Task::pair_count).sum()
        }
    }
}
