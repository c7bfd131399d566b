//! Counts of the results of a plan.

use std::collections::BTreeMap;

use crate::evaluate::Verdict;
use crate::run_plan::{PlannedRun, RunPlan, RunScope};

/// The counted results of a [`RunPlan`]. A task is solved when one solver is right on all its pairs
/// with a known output. The plan of a part has few tasks with all their pairs, so its summary does
/// not say which tasks are solved.
#[derive(Clone, Debug)]
pub struct RunSummary {
    scope: RunScope,
    is_whole: bool,
    runs: usize,
    failed: usize,
    foreign: Vec<(usize, usize)>,
    kinds: BTreeMap<&'static str, usize>,
    /// By task: `None` if no solver ran on it.
    tasks: Vec<Option<TaskSummary>>,
    group: Option<Group>,
}

/// The result of one task.
#[derive(Clone, Debug)]
struct TaskSummary {
    solved: bool,
    /// By pair, whether some solver is right; `None` if the output is not known or no solver ran.
    pairs: Vec<Option<bool>>,
}

/// The runs of one solver on one task, which are adjacent in the plan.
#[derive(Clone, Debug)]
struct Group {
    solver: usize,
    task: usize,
    runs: usize,
    all_right: bool,
}

impl RunPlan<'_> {
    /// A summary that counts nothing yet. The tasks of the plan count as unsolved.
    pub fn summary(&self) -> RunSummary {
        let mut tasks = vec![None; self.tasks().len()];
        for (task_at, pair_at) in self.pairs_with_runs() {
            let task = &self.tasks()[task_at];
            let summary = tasks[task_at].get_or_insert_with(|| TaskSummary {
                solved: false,
                pairs: vec![None; task.pair_count()],
            });
            let pair = task.pairs().nth(pair_at);
            let is_known = pair.is_some_and(|(_, pair)| pair.output.is_some());
            summary.pairs[pair_at] = is_known.then_some(false);
        }
        RunSummary {
            scope: self.scope(),
            is_whole: self.shard().is_whole(),
            runs: 0,
            failed: 0,
            foreign: Vec::new(),
            kinds: BTreeMap::new(),
            tasks,
            group: None,
        }
    }
}

impl PlannedRun<'_> {
    /// Adds the run to the summary of its plan. Runs are added in the order of the plan.
    pub fn add_to(&self, summary: &mut RunSummary, verdict: &Verdict) {
        summary.add(self, verdict);
    }
}

impl RunSummary {
    fn add(&mut self, run: &PlannedRun<'_>, verdict: &Verdict) {
        self.runs += 1;
        *self.kinds.entry(verdict.kind()).or_default() += 1;
        self.failed += usize::from(verdict.is_wrong());
        let right = verdict.is_right();
        if let Some(task) = &mut self.tasks[run.task_at]
            && let Some(pair) = &mut task.pairs[run.pair_at]
        {
            *pair |= right;
        }
        // A run without a known output does not count against the solver.
        self.add_to_group(run, right || run.pair.output.is_none());
    }

    fn add_to_group(&mut self, run: &PlannedRun<'_>, agrees: bool) {
        let here = (run.solver, run.task_at);
        let group = match &mut self.group {
            Some(group) if (group.solver, group.task) == here => group,
            group => group.insert(Group {
                solver: run.solver,
                task: run.task_at,
                runs: 0,
                all_right: true,
            }),
        };
        group.runs += 1;
        group.all_right &= agrees;
        let complete = group.runs == run.task.pair_count();
        let judged = run.task.pairs().any(|(_, pair)| pair.output.is_some());
        if complete && judged && group.all_right {
            if let Some(task) = &mut self.tasks[run.task_at] {
                task.solved = true;
            }
            if !run.is_own_task {
                self.foreign.push((run.task_at, run.solver));
            }
        }
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Returns the number of runs that failed or gave a value other than the expected one.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// Returns the tasks solved by a solver named after another task, as positions of the task and
    /// the solver.
    pub fn foreign(&self) -> &[(usize, usize)] {
        &self.foreign
    }

    /// Returns how many runs ended with each kind of verdict, the most frequent first.
    pub fn kinds(&self) -> Vec<(&'static str, usize)> {
        let mut kinds: Vec<_> = self.kinds.iter().map(|(kind, n)| (*kind, *n)).collect();
        kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
        kinds
    }

    /// Returns the number of solved tasks and of all tasks that some solver runs on.
    pub fn tasks(&self) -> (usize, usize) {
        let tasks = || self.tasks.iter().flatten();
        (tasks().filter(|task| task.solved).count(), tasks().count())
    }

    /// Returns the positions of the solved tasks.
    pub fn solved(&self) -> impl Iterator<Item = usize> {
        let tasks = self.tasks.iter().enumerate();
        tasks.filter_map(|(at, task)| task.as_ref().filter(|task| task.solved).map(|_| at))
    }

    /// Returns the number of pairs that some solver got right and of all pairs with a known output.
    pub fn pairs(&self) -> (usize, usize) {
        let tasks = self.tasks.iter().flatten();
        let pairs = tasks.flat_map(|task| task.pairs.iter().flatten());
        pairs.fold((0, 0), |(right, all), pair| {
            (right + usize::from(*pair), all + 1)
        })
    }

    /// Returns whether a task is unsolved, or a solver is wrong on its own task. A part does not know
    /// whether tasks are solved.
    pub fn has_findings(&self) -> bool {
        let (solved, all) = self.tasks();
        (self.is_whole && solved < all) || (self.scope == RunScope::OwnTask && self.failed > 0)
    }
}
