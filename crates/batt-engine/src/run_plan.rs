//! The plan of an evaluation: which solver runs on which pair, in which order.

use batt_arc::{Dataset, Pair, PairRef, Task};

use crate::compile::Compiled;
use crate::evaluate::Job;
use crate::sample::Sample;
use crate::shard::Shard;

/// Selects the tasks that solvers run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunScope {
    /// Every solver runs on the task it is named after.
    #[default]
    OwnTask,
    /// Every solver runs on every task.
    AllPairs,
}

/// All runs, or those of a part, solver by solver. The runs of one solver on one task are adjacent.
pub struct RunPlan<'a> {
    scope: RunScope,
    shard: Shard,
    /// The number of runs of all parts.
    total: usize,
    tasks: &'a [Task],
    jobs: Vec<Job<'a>>,
    places: Vec<Place>,
    /// The position of the task that each solver is named after.
    own_tasks: Vec<Option<usize>>,
    /// By task, whether some part has a run on it.
    is_planned: Vec<bool>,
}

/// The position of a run in the dataset. It is small because a plan may have millions of runs.
#[derive(Clone, Copy)]
struct Place {
    solver: u32,
    task: u32,
    pair: u32,
}

/// One run of a plan.
pub struct PlannedRun<'a> {
    /// The position of the solver.
    pub solver: usize,
    /// The position of the task in the dataset.
    pub task_at: usize,
    /// The task.
    pub task: &'a Task,
    /// The position of the pair among all pairs of the task.
    pub pair_at: usize,
    /// The name of the pair in its task.
    pub name: PairRef,
    /// The pair.
    pub pair: &'a Pair,
    /// Whether the solver is named after this task.
    pub is_own_task: bool,
}

impl<'a> RunPlan<'a> {
    /// Plans the runs of solvers, each given by name and program. A solver that is named after no
    /// task has no runs in the scope [`RunScope::OwnTask`].
    pub fn new(
        solvers: impl IntoIterator<Item = (&'a str, &'a Compiled)>,
        data: &'a Dataset,
        scope: RunScope,
    ) -> RunPlan<'a> {
        RunPlan::of_part(solvers, data, scope, Shard::WHOLE)
    }

    /// Plans the runs of a part: those of [`RunPlan::new`] that belong to the shard.
    pub fn of_part(
        solvers: impl IntoIterator<Item = (&'a str, &'a Compiled)>,
        data: &'a Dataset,
        scope: RunScope,
        shard: Shard,
    ) -> RunPlan<'a> {
        let mut plan = RunPlan {
            scope,
            shard,
            total: 0,
            tasks: data.tasks(),
            jobs: Vec::new(),
            places: Vec::new(),
            own_tasks: Vec::new(),
            is_planned: vec![false; data.len()],
        };
        for (name, program) in solvers {
            let own = data.position_of(name);
            plan.own_tasks.push(own);
            let solver = plan.own_tasks.len() - 1;
            match (scope, own) {
                (RunScope::AllPairs, _) => {
                    (0..plan.tasks.len()).for_each(|task| plan.add(solver, program, task));
                }
                (RunScope::OwnTask, Some(own)) => plan.add(solver, program, own),
                (RunScope::OwnTask, None) => {}
            }
        }
        plan
    }

    fn add(&mut self, solver: usize, program: &'a Compiled, task_at: usize) {
        let task = &self.tasks[task_at];
        self.is_planned[task_at] |= task.pair_count() > 0;
        for (pair_at, (_, pair)) in task.pairs().enumerate() {
            self.total += 1;
            if self.shard.owner(self.total - 1) != self.shard {
                continue;
            }
            let sample = Sample::new(task, pair);
            self.jobs.push(Job { program, sample });
            self.places.push(Place {
                solver: solver as u32,
                task: task_at as u32,
                pair: pair_at as u32,
            });
        }
    }

    /// Returns the part that is planned.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// Returns the number of runs of all parts.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Returns whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns the tasks that solvers run on.
    pub fn scope(&self) -> RunScope {
        self.scope
    }

    /// Returns the runs as jobs for the engine.
    pub fn jobs(&self) -> &[Job<'a>] {
        &self.jobs
    }

    /// Returns all tasks of the dataset, including those that no solver runs on.
    pub fn tasks(&self) -> &'a [Task] {
        self.tasks
    }

    /// Returns the tasks that some solver runs on, in any part.
    pub fn planned_tasks(&self) -> impl Iterator<Item = &'a Task> {
        let tasks = self.tasks.iter().zip(&self.is_planned);
        tasks.filter_map(|(task, is_planned)| is_planned.then_some(task))
    }

    /// Returns the positions of the task and the pair of each run.
    pub(crate) fn pairs_with_runs(&self) -> impl Iterator<Item = (usize, usize)> {
        let places = self.places.iter();
        places.map(|place| (place.task as usize, place.pair as usize))
    }

    /// Returns the positions of solvers that are named after no task.
    pub fn without_task(&self) -> impl Iterator<Item = usize> {
        let solvers = self.own_tasks.iter().enumerate();
        solvers.filter_map(|(at, own)| own.is_none().then_some(at))
    }

    /// Returns the run at a position.
    pub fn run(&self, at: usize) -> PlannedRun<'a> {
        let place = self.places[at];
        let (solver, task_at) = (place.solver as usize, place.task as usize);
        let pair_at = place.pair as usize;
        let task = &self.tasks[task_at];
        let pairs = &mut task.pairs();
        let (name, pair) = pairs.nth(pair_at).expect("the plan counted these pairs");
        PlannedRun {
            solver,
            task_at,
            task,
            pair_at,
            name,
            pair,
            is_own_task: self.own_tasks[solver] == Some(task_at),
        }
    }
}
