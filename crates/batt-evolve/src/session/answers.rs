//! Compares solutions with the test outputs after evolution.

use batt_arc::Task;
use batt_dsl::Workspace;
use batt_engine::{Compiled, EvalOptions, Job, Sample, run_job};
use batt_lang::Program;

/// The verdict of a task's tests on its best solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestAnswer {
    /// All known outputs are right.
    Right,
    /// Some outputs are wrong.
    Wrong,
    /// No output is known.
    Unknown,
}

impl TestAnswer {
    /// Runs a solver on the tests of a task that have a known output.
    pub(super) fn of(task: &Task, program: &Program) -> TestAnswer {
        let compiled = Compiled::new(program);
        let mut workspace = Workspace::new();
        let mut answer = TestAnswer::Unknown;
        for pair in task.test.iter().filter(|pair| pair.output.is_some()) {
            let job = Job {
                program: &compiled,
                sample: Sample::new(task, pair),
            };
            let result = run_job(&mut workspace, &job, &EvalOptions::default());
            if !result.verdict.is_right() {
                return TestAnswer::Wrong;
            }
            answer = TestAnswer::Right;
        }
        answer
    }

    /// Returns the word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            TestAnswer::Right => "right",
            TestAnswer::Wrong => "wrong",
            TestAnswer::Unknown => "unknown",
        }
    }
}
