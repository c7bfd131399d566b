//! Compares solutions with the test outputs, once evolution is over.

use batt_arc::Task;
use batt_dsl::Workspace;
use batt_engine::{Compiled, Job, Options, Sample, run_job};
use batt_lang::Program;

/// What the tests of a task say about its best solver.
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
    /// Runs a solver on the tests of a task whose outputs are known.
    pub(super) fn of(task: &Task, program: &Program) -> TestAnswer {
        let compiled = Compiled::new(program);
        let mut workspace = Workspace::new();
        let mut answer = TestAnswer::Unknown;
        for pair in task.test.iter().filter(|pair| pair.output.is_some()) {
            let job = Job {
                program: &compiled,
                sample: Sample::new(task, pair),
            };
            let result = run_job(&mut workspace, &job, &Options::default());
            if !result.verdict.is_right() {
                return TestAnswer::Wrong;
            }
            answer = TestAnswer::Right;
        }
        answer
    }

    /// Returns the word for reports.
    pub fn name(self) -> &'static str {
        match self {
            TestAnswer::Right => "right",
            TestAnswer::Wrong => "wrong",
            TestAnswer::Unknown => "unknown",
        }
    }
}
