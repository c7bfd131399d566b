//! The trial of one program on one task, in more detail than the evaluation of offspring.

use batt_arc::{Score, Task};
use batt_dsl::{Dialect, Limits, Workspace};
use batt_engine::{Compiled, Job, Sample, inputs, judge, judge_job};
use batt_lang::Program;

use crate::differ::Differs;
use crate::offspring::{combine, samples};
use crate::score::{WHOLE, closeness, refinement};

/// Scores programs of one dialect as evolution does. It is for programs from other sources.
pub struct Judge {
    differs: Differs,
    workspace: Workspace,
}

/// The result of a program on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its score. A demonstration on which the program fails counts zero.
    pub score: Score,
    /// A hash of all outputs. For a program that solves all demonstrations it includes the answers
    /// to the tests, so that solutions with different answers have different hashes.
    pub outputs: u64,
    /// The number of demonstrations on which the program fails, and of tests if it solves all
    /// demonstrations.
    pub failed: u32,
    /// The closeness on each demonstration.
    pub closeness: Vec<u32>,
}

impl Judge {
    /// Creates a judge with the built-in differs. It has no way to add others, so its closeness
    /// differs from that of an evolution with differs of its own.
    pub fn new(dialect: Dialect) -> Judge {
        Judge {
            differs: Differs::new(dialect, &[]),
            workspace: Workspace::new(),
        }
    }

    /// Runs a program on the demonstrations of a task. Test outputs are not used.
    pub fn try_on(&mut self, program: &Program, task: &Task) -> Trial {
        let samples = samples(task);
        try_on(program, task, &samples, &self.differs, &mut self.workspace)
    }
}

/// Runs a program on the demonstrations of a task, with the default limits. Test outputs are not
/// used.
pub(crate) fn try_on(
    program: &Program,
    task: &Task,
    samples: &[Sample<'_>],
    differs: &Differs,
    workspace: &mut Workspace,
) -> Trial {
    let compiled = Compiled::new(program);
    let (mut cost, mut solved, mut failed, mut outputs) = (0, 0, 0, 0);
    let mut close: Vec<u32> = Vec::with_capacity(samples.len());
    for sample in samples {
        match demo(&compiled, sample, differs, workspace) {
            Some(demo) => {
                solved += u32::from(demo.closeness == WHOLE);
                close.push(demo.closeness);
                outputs = combine(outputs, demo.hash);
                cost += demo.cost;
            }
            None => {
                failed += 1;
                close.push(0);
                outputs = combine(outputs, 0);
            }
        }
    }
    let sum: u64 = close.iter().map(|&c| u64::from(c)).sum();
    let score = Score {
        demos_solved: solved,
        demos: samples.len() as u32,
        closeness: (sum / close.len().max(1) as u64) as u32,
        size: program.steps().len() as u32,
        cost,
    };
    if score.is_solved() {
        for pair in &task.test {
            let sample = Sample {
                demos: &task.train,
                input: &pair.input,
                expected: None,
            };
            let job = Job {
                program: &compiled,
                sample,
            };
            let answer = judge_job(workspace, &job, &Limits::default());
            failed += u32::from(answer.hash.is_none());
            outputs = combine(outputs, answer.hash.unwrap_or_default());
        }
    }
    Trial {
        score,
        outputs,
        failed,
        closeness: close,
    }
}

struct Demo {
    closeness: u32,
    hash: u64,
    cost: u64,
}

/// Runs a program on one demonstration. Returns `None` if it fails.
fn demo(
    compiled: &Compiled,
    sample: &Sample<'_>,
    differs: &Differs,
    workspace: &mut Workspace,
) -> Option<Demo> {
    let expected = sample.expected?;
    let input = batt_engine::input_grid(sample.input);
    let (limits, dialect) = (Limits::default(), compiled.dialect());
    workspace.run_on(&input, dialect, &limits, |run, input| {
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
            close += differs.refinement(run, sample, expected, value);
        }
        Some(Demo {
            closeness: close,
            hash,
            cost,
        })
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use batt_arc::corpus;
    use batt_engine::Cancel;
    use batt_lang::SolverFile;

    use super::*;
    use crate::{Evolution, EvolveSettings};

    #[test]
    fn only_the_own_solver_of_a_task_is_complete() {
        let file = SolverFile::parse(corpus::SOLVERS, "solvers.py");
        let data = corpus::tasks();
        let mut judge = Judge::new(file.dialect);
        let first = &file.programs[0];
        for program in &file.programs {
            let id = program.name().trim_start_matches("solve_");
            let task = data.get(id).expect("each solver has a task");
            let trial = judge.try_on(program, task);
            assert!(trial.score.is_solved(), "{id}: {trial:?}");
            assert_eq!((trial.score.closeness, trial.failed), (WHOLE, 0));
            let other = judge.try_on(first, task);
            if program.name() != first.name() {
                assert!(!other.score.is_solved() && other.score.closeness < WHOLE);
            }
        }
    }

    #[test]
    fn a_judge_scores_a_program_as_a_population_does() {
        let data = corpus::tasks();
        let tasks = &data.tasks()[..6];
        let file = SolverFile::parse("def solve(I):\n    O = hmirror(I)\n    return O\n", "a.py");
        let program = &file.programs[0];
        let mut evolution = Evolution::new(
            tasks,
            file.dialect,
            Vec::new(),
            &[],
            EvolveSettings::default(),
        );
        let all: HashMap<usize, Vec<Program>> = (0..tasks.len())
            .map(|at| (at, vec![program.clone()]))
            .collect();
        evolution.add_programs(&all, &Cancel::new());
        let round = evolution.round(&mut [], &{
            let stop = Cancel::new();
            stop.cancel();
            stop
        });
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
