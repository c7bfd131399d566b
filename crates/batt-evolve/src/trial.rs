//! One program on one task, scored as evolution scores: for programs that come from elsewhere.

use batt_arc::Task;
use batt_dsl::{Dialect, Limits, Workspace};
use batt_engine::{Compiled, Job, Sample, inputs, judge, score_job};
use batt_lang::Program;

use crate::brood::{Outcome, combine, samples};
use crate::differ::Differs;
use crate::score::{Score, WHOLE, closeness, refinement};

/// Scores programs of one dialect.
pub struct Judge {
    differs: Differs,
    workspace: Workspace,
}

/// What a program came to on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// What it is worth. A demonstration on which it fails counts nothing.
    pub score: Score,
    /// A hash of all outputs. Of a program that solves all demonstrations its answers to the tests count, too, so that
    /// solutions that answer differently differ.
    pub outputs: u64,
    /// Demonstrations on which it fails.
    pub failed: u32,
}

impl Judge {
    /// With the built-in differs.
    pub fn new(dialect: Dialect) -> Judge {
        Judge {
            differs: Differs::new(dialect, &[]),
            workspace: Workspace::new(),
        }
    }

    /// Runs a program on the demonstrations of a task. Test outputs are not looked at.
    pub fn try_on(&mut self, program: &Program, task: &Task) -> Trial {
        let compiled = Compiled::new(program);
        let samples = samples(task);
        let mut outcome = Outcome::default();
        let (mut cost, mut failed) = (0, 0);
        for sample in &samples {
            match self.demo(&compiled, sample) {
                Some(demo) => {
                    outcome.solved += u32::from(demo.closeness == WHOLE);
                    outcome.closeness.push(demo.closeness);
                    outcome.outputs = combine(outcome.outputs, demo.hash);
                    cost += demo.cost;
                }
                None => {
                    failed += 1;
                    outcome.closeness.push(0);
                    outcome.outputs = combine(outcome.outputs, 0);
                }
            }
        }
        let score = Score {
            solved: outcome.solved,
            demos: samples.len() as u32,
            closeness: outcome.mean(),
            size: program.steps().len() as u32,
            cost,
        };
        let outputs = match score.is_complete() {
            true => self.answers(&compiled, task, outcome.outputs),
            false => outcome.outputs,
        };
        Trial {
            score,
            outputs,
            failed,
        }
    }

    /// One demonstration; none if the program fails on it.
    fn demo(&mut self, compiled: &Compiled, sample: &Sample<'_>) -> Option<Demo> {
        let expected = sample.expected?;
        let input = batt_engine::input_grid(sample.input);
        let (limits, dialect) = (Limits::default(), compiled.dialect());
        let mut demo = self
            .workspace
            .run_on(&input, dialect, &limits, |run, input| {
                let given = inputs(run, compiled, sample, input).ok()?;
                let value = compiled.execute(run, &given).ok()?;
                let cost = run.spent();
                let verdict = judge(run, value, Some(expected));
                let hash = run.hash(value);
                run.check_limits().ok()?;
                let mut close = closeness(&verdict, expected);
                if !verdict.is_right() {
                    let cells = run.view_grid(value).map(|grid| grid.cells.to_vec());
                    close += cells.map_or(0, |cells| refinement(&cells, expected));
                }
                Some(Demo {
                    closeness: close,
                    hash,
                    cost,
                })
            })?;
        if demo.closeness != WHOLE {
            demo.closeness += self
                .differs
                .refinement(compiled, sample, &mut self.workspace);
        }
        Some(demo)
    }

    /// The hash of the outputs of a solution, its answers to the tests included.
    fn answers(&mut self, program: &Compiled, task: &Task, outputs: u64) -> u64 {
        let mut all = outputs;
        for pair in &task.test {
            let sample = Sample {
                demos: &task.train,
                input: &pair.input,
                expected: None,
            };
            let score = score_job(
                &mut self.workspace,
                &Job { program, sample },
                &Limits::default(),
            );
            all = combine(all, score.hash.unwrap_or_default());
        }
        all
    }
}

struct Demo {
    closeness: u32,
    hash: u64,
    cost: u64,
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::atomic::AtomicBool;

    use batt_arc::corpus;
    use batt_lang::SolverFile;

    use super::*;
    use crate::{Evolution, Settings};

    #[test]
    fn the_solvers_of_the_corpus_solve_and_others_do_not() {
        let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
        let data = corpus::tasks();
        let mut judge = Judge::new(file.dialect);
        let first = &file.programs[0];
        for program in &file.programs {
            let id = program.name().trim_start_matches("solve_");
            let task = data.get(id).expect("each solver has a task");
            let trial = judge.try_on(program, task);
            assert!(trial.score.is_complete(), "{id}: {trial:?}");
            assert_eq!((trial.score.closeness, trial.failed), (WHOLE, 0));
            let other = judge.try_on(first, task);
            if program.name() != first.name() {
                assert!(!other.score.is_complete() && other.score.closeness < WHOLE);
            }
        }
    }

    /// The same program gets the same score here as in a population.
    #[test]
    fn scores_are_those_of_evolution() {
        let data = corpus::tasks();
        let tasks = &data.tasks()[..6];
        let file = SolverFile::parse("def solve(I):\n    O = hmirror(I)\n    return O\n", "a.py");
        let program = &file.programs[0];
        let mut evolution =
            Evolution::new(tasks, file.dialect, Vec::new(), &[], Settings::default());
        let all: HashMap<usize, Vec<Program>> = (0..tasks.len())
            .map(|at| (at, vec![program.clone()]))
            .collect();
        evolution.settle(&all);
        let round = evolution.round(&mut [], &AtomicBool::new(true));
        let mut judge = Judge::new(file.dialect);
        let mut compared = 0;
        for found in round.found.iter().filter(|f| f.program == *program) {
            let trial = judge.try_on(program, &tasks[found.task]);
            assert_eq!((trial.score, trial.outputs), (found.score, found.outputs));
            compared += 1;
        }
        assert!(compared > 0);
    }
}
