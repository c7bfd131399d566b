//! Which solver runs on which pair, in which order.

use anyhow::Result;
use batt_arc::{Dataset, Pair, PairRef, Task};
use batt_engine::{Compiled, Job, ParamRole, Sample};
use batt_lang::{Program, SolverFile};

use crate::error::advised;
use crate::solvers::task_of;
use crate::ui::{Ui, counted};

/// A solver, compiled, and the file it is from.
pub struct Solver<'a> {
    pub program: &'a Program,
    pub file: &'a str,
    compiled: Compiled,
}

impl<'a> Solver<'a> {
    /// The solvers of some files. Functions that take neither a grid nor (S, I, C) are left out.
    pub fn of_files(files: &'a [SolverFile], ui: &Ui) -> Vec<Solver<'a>> {
        let all = || {
            files.iter().flat_map(|file| {
                let name = file.source.name();
                file.programs.iter().map(move |program| (name, program))
            })
        };
        let runs = |program: &Program| ParamRole::of(program.params()).is_some();
        let others: Vec<&str> = all()
            .filter(|(_, program)| !runs(program))
            .map(|(_, program)| program.name())
            .collect();
        ui.mention(
            "left out, not a function of one grid or of (S, I, C)",
            &others,
        );
        all()
            .filter(|(_, program)| runs(program))
            .map(|(file, program)| Solver {
                program,
                file,
                compiled: Compiled::new(program),
            })
            .collect()
    }
}

/// All runs, solver by solver; the runs of one solver on one task stand together.
pub struct Plan<'a> {
    solvers: &'a [Solver<'a>],
    data: &'a Dataset,
    jobs: Vec<Job<'a>>,
    places: Vec<Place>,
}

/// Where a run belongs. Small, since there may be millions.
#[derive(Clone, Copy)]
struct Place {
    solver: u32,
    task: u32,
    pair: u32,
}

/// One run of the plan.
pub struct PlannedRun<'a> {
    pub solver: &'a Solver<'a>,
    pub task: &'a Task,
    pub pair: &'a Pair,
    /// What the pair is called in its task.
    pub name: PairRef,
    /// The position of the solver.
    pub solver_at: usize,
    /// The position of the task in the dataset.
    pub task_at: usize,
    /// The position of the pair among all pairs of the task.
    pub pair_at: usize,
}

impl<'a> Plan<'a> {
    /// Plans every solver for its own task, or for all tasks.
    pub fn new(
        solvers: &'a [Solver<'a>],
        data: &'a Dataset,
        all_pairs: bool,
        ui: &Ui,
    ) -> Result<Plan<'a>> {
        let mut plan = Plan {
            solvers,
            data,
            jobs: Vec::new(),
            places: Vec::new(),
        };
        let mut without_task = Vec::new();
        for (at, solver) in solvers.iter().enumerate() {
            if all_pairs {
                for (task_at, task) in data.iter().enumerate() {
                    plan.add(at, task_at, task);
                }
            } else if let Some(task) = task_of(solver.program.name(), data) {
                let task_at = data.tasks().partition_point(|other| other.id < task.id);
                plan.add(at, task_at, task);
            } else {
                without_task.push(solver.program.name());
            }
        }
        if plan.jobs.is_empty() {
            return Err(advised(
                format_args!(
                    "none of {} has a task among these {}",
                    counted(solvers.len(), "solver"),
                    counted(data.len(), "task")
                ),
                "a solver is matched by name, <anything>_<task id>; --all-pairs runs every solver \
                 on every task",
            ));
        }
        ui.mention("without a task here", &without_task);
        Ok(plan)
    }

    fn add(&mut self, solver_at: usize, task_at: usize, task: &'a Task) {
        for (pair_at, (_, pair)) in task.pairs().enumerate() {
            self.jobs.push(Job {
                program: &self.solvers[solver_at].compiled,
                sample: Sample::new(task, pair),
            });
            self.places.push(Place {
                solver: solver_at as u32,
                task: task_at as u32,
                pair: pair_at as u32,
            });
        }
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The runs for the engine.
    pub fn jobs(&self) -> &[Job<'a>] {
        &self.jobs
    }

    /// The tasks that have a solver here, as positions in the dataset.
    pub fn tasks(&self) -> Vec<usize> {
        let mut tasks: Vec<usize> = self
            .places
            .iter()
            .map(|place| place.task as usize)
            .collect();
        tasks.sort_unstable();
        tasks.dedup();
        tasks
    }

    /// What the run at a position is about.
    pub fn run(&self, at: usize) -> PlannedRun<'a> {
        let place = self.places[at];
        let (solver_at, task_at) = (place.solver as usize, place.task as usize);
        let pair_at = place.pair as usize;
        let task = &self.data.tasks()[task_at];
        let (name, pair) = task.pairs().nth(pair_at).expect("planned from this task");
        PlannedRun {
            solver: &self.solvers[solver_at],
            task,
            pair,
            name,
            solver_at,
            task_at,
            pair_at,
        }
    }
}
