//! Findings: what is wrong with a submission, and where.

use std::fmt;
use std::path::PathBuf;

use super::ATTEMPT_KEYS;
use crate::error::Problem;
use crate::text::counted;

/// An error in a submission.
///
/// The message names the file and, where they apply, the task, the test and the attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: PathBuf,
    /// The task's id; `None` for the file as a whole.
    pub task: Option<String>,
    /// The test input, counted from 0.
    pub test: Option<usize>,
    /// The attempt, counted from 0.
    pub attempt: Option<usize>,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What is wrong with a part of a submission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A part has the wrong shape: no list, no grid.
    #[error(transparent)]
    Part(#[from] Problem),
    /// There is no answer to a task.
    #[error("no answers to this task")]
    MissingTask,
    /// There are answers to an unknown task.
    #[error("there is no such task")]
    UnknownTask,
    /// A task is answered twice.
    #[error("the task is answered more than once; the last one counts")]
    RepeatedTask,
    /// A task has more or fewer answers than test inputs.
    #[error("{} for {}", counted(*.answers, "answer"), counted(*.tests, "test input"))]
    OutputCount {
        /// The number of answers.
        answers: usize,
        /// The number of test inputs.
        tests: usize,
    },
}

impl Flaw {
    /// Returns a word that identifies the kind of flaw, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Flaw::Part(Problem::Grid(_)) => "bad-grid",
            Flaw::Part(Problem::Cell { .. }) => "bad-cell",
            Flaw::Part(Problem::Missing { .. }) => "missing-attempt",
            Flaw::Part(_) => "bad-shape",
            Flaw::MissingTask => "missing-task",
            Flaw::UnknownTask => "unknown-task",
            Flaw::RepeatedTask => "repeated-task",
            Flaw::OutputCount { .. } => "output-count",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if let Some(task) = &self.task {
            write!(f, "task {task}")?;
            if let Some(test) = self.test {
                write!(f, ", test[{test}]")?;
            }
            if let Some(key) = self.attempt.and_then(|at| ATTEMPT_KEYS.get(at)) {
                write!(f, ".{key}")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{}", self.flaw)
    }
}
