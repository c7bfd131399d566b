//! Runs solvers on tasks and compares the results with the known outputs.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use batt_arc::{Grid, Pair, PairRef, Task};
use batt_dsl::{Limits, OwnedValue};
use batt_engine::device::{DeviceOptions, DeviceReport};
use batt_engine::{
    EvalOptions, FailureRecord, JobResult, RunLine, RunPlan, RunScope, RunSummary, Values, Verdict,
    evaluate_on, output_grid,
};
use serde_json::{Value as Json, json};

use crate::control::Control;
use crate::devices::{DeviceBug, Devices};
use crate::error::{Error, Result, counted};
use crate::solvers::{Solver, Solvers};
use crate::tasks::Tasks;

/// Options of [`run`].
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// The tasks that solvers run on.
    pub scope: RunScope,
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
    /// The number of planned runs. Fewer are done if the work was cancelled.
    pub planned: usize,
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

    /// Returns the counts as one JSON object, without those of devices.
    pub fn to_json(&self) -> Json {
        let summary = &self.summary;
        let ((solved, tasks), (right, pairs)) = (summary.tasks(), summary.pairs());
        let foreign = self
            .foreign()
            .map(|(task, solver)| json!({"task": task.id, "solver": solver.name()}));
        json!({
            "runs": summary.runs(),
            "planned": self.planned,
            "tasks": tasks,
            "tasks_solved": solved,
            "pairs": pairs,
            "pairs_right": right,
            "kinds": summary.kinds().into_iter().collect::<BTreeMap<_, _>>(),
            "also_solved": foreign.collect::<Vec<_>>(),
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
/// their pairs. After a cancellation it returns the results so far.
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
    mut sink: impl FnMut(RunResult),
) -> Result<RunReport> {
    let named = solvers
        .iter()
        .map(|solver| (solver.name(), solver.compiled()));
    let plan = RunPlan::new(named, tasks, options.scope);
    if plan.is_empty() {
        return Err(Error::request(
            format_args!(
                "no solver is named after a task here ({}, {})",
                counted(solvers.len(), "solver"),
                counted(tasks.len(), "task")
            ),
            "a solver belongs to the task in its name, <anything>_<task id>; --all-pairs runs every \
             solver on every task",
        ));
    }
    let mut summary = plan.summary();
    let started = Instant::now();
    let engine = options.engine();
    let mut deliver = |at: usize, result: JobResult| {
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
    let evaluated = evaluate_on(devices.as_mut(), plan.jobs(), &engine, token, &mut deliver);
    let device = evaluated.device;
    let time = started.elapsed();
    let mismatches = device.iter().flat_map(|device| &device.mismatches);
    let bugs = mismatches.map(|mismatch| {
        let run = plan.run(mismatch.run);
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
    Ok(RunReport {
        bugs: bugs.collect(),
        without_task: without_task.into_iter().map(name).collect(),
        solvers: solvers.clone(),
        tasks: tasks.clone(),
        summary,
        planned: plan.len(),
        time,
        threads: evaluated.workers,
        device,
    })
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
