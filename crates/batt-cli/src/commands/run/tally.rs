//! Counting what the runs came to.

use std::collections::BTreeMap;

use batt_arc::{Dataset, PairRef};
use batt_engine::Verdict;

use super::plan::{Plan, PlannedRun};
use crate::solvers::task_of;
use crate::ui::grouped;

/// Which tasks the solvers run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each on its own.
    OwnTask,
    /// Each on all.
    AllPairs,
}

/// A run that is not right.
pub struct Failure<'a> {
    pub solver: &'a str,
    pub pair: PairRef,
    pub reason: String,
}

/// The counts so far. Runs are added in the order of the plan.
pub struct Tally<'a> {
    data: &'a Dataset,
    scope: Scope,
    /// How many rows of a list are kept.
    pub keep: usize,
    /// Runs added.
    pub runs: usize,
    /// Runs that failed or gave something wrong.
    pub failed: usize,
    /// The first of them; none for an all-pairs run, where failing is the rule.
    pub failures: Vec<Failure<'a>>,
    /// Tasks solved by a solver made for another one, and that solver.
    pub foreign: Vec<(&'a str, &'a str)>,
    kinds: BTreeMap<&'static str, usize>,
    /// By task: `None` if no solver runs on it.
    tasks: Vec<Option<TaskTally>>,
    group: Option<Group<'a>>,
}

/// One task.
#[derive(Clone, Default)]
struct TaskTally {
    solved: bool,
    /// By pair: right by some solver; `None` if no output is known.
    pairs: Vec<Option<bool>>,
}

/// The runs of one solver on one task, which come one after the other.
struct Group<'a> {
    solver_at: usize,
    task_at: usize,
    name: &'a str,
    runs: usize,
    all_right: bool,
}

impl<'a> Tally<'a> {
    /// Nothing counted yet.
    pub fn new(plan: &Plan<'a>, data: &'a Dataset, scope: Scope, keep: usize) -> Tally<'a> {
        let mut tasks = vec![None; data.len()];
        for at in plan.tasks() {
            let pairs = data.tasks()[at].pairs();
            tasks[at] = Some(TaskTally {
                solved: false,
                pairs: pairs
                    .map(|(_, pair)| pair.output.as_ref().map(|_| false))
                    .collect(),
            });
        }
        Tally {
            data,
            scope,
            keep,
            runs: 0,
            failed: 0,
            failures: Vec::new(),
            foreign: Vec::new(),
            kinds: BTreeMap::new(),
            tasks,
            group: None,
        }
    }

    /// Counts one run; `reason` says what is wrong with it, if anything is.
    pub fn add(&mut self, run: &PlannedRun<'a>, verdict: &Verdict, reason: Option<String>) {
        self.runs += 1;
        *self.kinds.entry(kind(verdict)).or_default() += 1;
        if let Some(reason) = reason {
            self.failed += 1;
            if self.scope == Scope::OwnTask && self.failures.len() < self.keep {
                self.failures.push(Failure {
                    solver: run.solver.program.name(),
                    pair: run.name,
                    reason,
                });
            }
        }
        let right = verdict.is_right();
        if let Some(task) = &mut self.tasks[run.task_at]
            && let Some(pair) = &mut task.pairs[run.pair_at]
        {
            *pair |= right;
        }
        // Where no output is known the run says nothing about the task.
        let agrees = right || run.pair.output.is_none();
        self.add_to_group(run, agrees);
    }

    fn add_to_group(&mut self, run: &PlannedRun<'a>, agrees: bool) {
        let here = (run.solver_at, run.task_at);
        let group = match &mut self.group {
            Some(group) if (group.solver_at, group.task_at) == here => group,
            group => group.insert(Group {
                solver_at: run.solver_at,
                task_at: run.task_at,
                name: run.solver.program.name(),
                runs: 0,
                all_right: true,
            }),
        };
        group.runs += 1;
        group.all_right &= agrees;
        let complete = group.runs == run.task.pair_count();
        let judged = run.task.pairs().any(|(_, pair)| pair.output.is_some());
        if complete && judged && group.all_right {
            let name = group.name;
            if let Some(task) = &mut self.tasks[run.task_at] {
                task.solved = true;
            }
            let own = task_of(name, self.data).is_some_and(|own| own.id == run.task.id);
            if !own {
                self.foreign.push((&run.task.id, name));
            }
        }
    }

    /// Is there anything that is not right?
    pub fn has_findings(&self) -> bool {
        let unsolved = self.tasks.iter().flatten().any(|task| !task.solved);
        unsolved || (self.scope == Scope::OwnTask && self.failed > 0)
    }

    /// How many runs ended in which way, for an all-pairs run.
    pub fn kinds(&self) -> Option<String> {
        if self.scope == Scope::OwnTask {
            return None;
        }
        let mut kinds: Vec<_> = self.kinds.iter().collect();
        kinds.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
        let text: Vec<String> = kinds
            .iter()
            .map(|(name, count)| format!("{} {name}", grouped(**count)))
            .collect();
        Some(text.join(", "))
    }

    /// `solved 399 of 400 tasks, 1715 of 1718 pairs`.
    pub fn summary(&self) -> String {
        let tasks = || self.tasks.iter().flatten();
        let pairs = || tasks().flat_map(|task| task.pairs.iter().flatten());
        format!(
            "solved {} of {} tasks, {} of {} pairs",
            tasks().filter(|task| task.solved).count(),
            tasks().count(),
            pairs().filter(|right| **right).count(),
            pairs().count(),
        )
    }
}

/// A verdict as it is counted.
fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "right",
        Verdict::WrongCells(_) => "with wrong cells",
        Verdict::WrongShape(..) => "of a wrong shape",
        Verdict::NotAGrid => "not a grid",
        Verdict::Unknown => "without a known output",
        Verdict::Failed(error) => error.fault.name(),
    }
}
