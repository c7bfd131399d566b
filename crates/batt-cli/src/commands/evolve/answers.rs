//! Are the solutions right on the tests? Asked once, when evolution is over.

use batt_arc::Task;
use batt_dsl::Workspace;
use batt_engine::{Compiled, EvalOptions, Job, Sample, run_job};
use batt_lang::Program;

use super::EvolveArgs;
use super::material::Material;
use super::progress::Progress;

/// What the tests say about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All outputs are right.
    Right,
    /// Some are not.
    Wrong,
    /// No output is known.
    Unknown,
}

/// What the tests say about each task that was solved on its demonstrations.
pub struct Answers(Vec<Option<Answer>>);

impl Answers {
    /// Looks at the tests, if that was asked for.
    pub fn of(args: &EvolveArgs, material: &Material, progress: &Progress<'_>) -> Option<Answers> {
        if !args.report_tests && material.held_out == 0 {
            return None;
        }
        let answer = |(task, best): (&Task, &Option<super::progress::Best>)| {
            let best = best.as_ref().filter(|best| best.score.is_complete())?;
            Some(answer(task, &best.program))
        };
        let both = progress.tasks.iter().zip(&progress.best);
        Some(Answers(both.map(answer).collect()))
    }

    /// What they say about a task; `None` if it is not solved.
    pub fn answer(&self, task: usize) -> Option<Answer> {
        self.0.get(task).copied().flatten()
    }

    /// Tasks that are right.
    pub fn right(&self) -> usize {
        let right = |answer: &&Option<Answer>| **answer == Some(Answer::Right);
        self.0.iter().filter(right).count()
    }
}

fn answer(task: &Task, program: &Program) -> Answer {
    let compiled = Compiled::new(program);
    let mut workspace = Workspace::new();
    let known = task.test.iter().filter(|pair| pair.output.is_some());
    let mut answer = Answer::Unknown;
    for pair in known {
        let job = Job {
            program: &compiled,
            sample: Sample::new(task, pair),
        };
        let result = run_job(&mut workspace, &job, &EvalOptions::default());
        if !result.verdict.is_right() {
            return Answer::Wrong;
        }
        answer = Answer::Right;
    }
    answer
}

impl Answer {
    /// For a table.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Right => "right",
            Answer::Wrong => "wrong",
            Answer::Unknown => "unknown",
        }
    }
}
