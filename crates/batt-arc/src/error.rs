//! What can be wrong with a data file, told so that its owner can mend it.

use std::io;
use std::path::PathBuf;

use crate::GridError;

/// Why a dataset could not be loaded.
///
/// The message names the file and, where there is one, the task, the pair and the row;
/// [`hint`](LoadError::hint) says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The operating system would not let us read it.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is beyond any dataset we know of.
    #[error("{}: the file is larger than {} MiB", .path.display(), .limit >> 20)]
    FileTooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file is not JSON.
    #[error("{}: line {line}, column {column}: {message}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1; a byte position.
        column: usize,
        /// What the parser found.
        message: String,
    },
    /// The file is JSON but holds no tasks.
    #[error("{}: this is {holds}, not a file of tasks", .path.display())]
    NoTaskFile {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        holds: String,
    },
    /// Something inside a task is not as it should be.
    #[error("{}: task {task}{}: {problem}", .path.display(), inside(.place))]
    Task {
        /// The file.
        path: PathBuf,
        /// The task's id.
        task: String,
        /// Where in the task, for example `train[2].output`; empty for the task as a whole.
        place: String,
        /// What is wrong there.
        problem: Problem,
    },
    /// Two different tasks have the same id.
    #[error("task {task} is in {} and, differently, in {}", .first.display(), .second.display())]
    Duplicate {
        /// The id.
        task: String,
        /// The file it was first found in.
        first: PathBuf,
        /// The file that contradicts it.
        second: PathBuf,
    },
    /// The folder holds no task file.
    #[error("{}: no task files in this folder", .path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
        /// How many JSON files were looked at and found to be something else.
        others: usize,
    },
}

/// What is wrong with a part of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The rows are no grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A cell is not even a whole number.
    #[error("row {row}, column {column} is {found}, cells are whole numbers from 0 to 9")]
    Cell {
        /// The row of the cell.
        row: usize,
        /// The column of the cell.
        column: usize,
        /// What stands there.
        found: String,
    },
    /// A part has another JSON type than it should.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A key that must be there is not.
    #[error("there is no \"{key}\"")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A list that must hold something does not.
    #[error("the list is empty")]
    EmptyList,
    /// The solutions file has more or fewer answers than the task has tests.
    #[error("{} for {}", crate::grid::counted(*.solutions, "solution"), crate::grid::counted(*.tests, "test input"))]
    SolutionCount {
        /// How many answers there are.
        solutions: usize,
        /// How many tests there are.
        tests: usize,
    },
}

fn inside(place: &str) -> String {
    if place.is_empty() {
        String::new()
    } else {
        format!(", {place}")
    }
}

impl LoadError {
    /// What to do about it, as a sentence.
    pub fn hint(&self) -> String {
        match self {
            LoadError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path: it may be a task file, a Kaggle challenges file or a folder of either".into()
            }
            LoadError::Io { .. } => "check that the file exists and may be read".into(),
            LoadError::Json { message, .. } if message.starts_with(crate::load::TOO_MANY) => {
                "split the file: one task per file, or one folder per set".into()
            }
            LoadError::FileTooLarge { .. } => {
                "split the file: one task per file, or one folder per set".into()
            }
            LoadError::Json { message, .. } if message.starts_with("EOF") => {
                "the file ends too early: download or write it again".into()
            }
            LoadError::Json { .. } => "the file is not valid JSON: mend it at that place".into(),
            LoadError::NoTaskFile { holds, .. } if holds == crate::load::SOLUTIONS => {
                "load the challenges file instead: the solutions beside it are found by themselves"
                    .into()
            }
            LoadError::NoTaskFile { .. } => {
                "a task file is {\"train\": [...], \"test\": [...]}, a list of pairs, \
                 or an object of tasks by id"
                    .into()
            }
            LoadError::Task { problem, .. } => problem.hint().into(),
            LoadError::Duplicate { .. } => {
                "these are two versions of one set: load the folders one at a time".into()
            }
            LoadError::EmptyFolder { others: 0, .. } => {
                "name a folder that holds .json task files, directly or in its sub-folders".into()
            }
            LoadError::EmptyFolder { others, .. } => {
                format!("{} here, none with tasks", crate::grid::counted(*others, "JSON file"))
            }
        }
    }
}

impl Problem {
    fn hint(&self) -> &'static str {
        match self {
            Problem::Grid(GridError::TooLarge { .. }) => "crop the grid or leave the pair out",
            Problem::Grid(GridError::Colour { .. }) | Problem::Cell { .. } => {
                "use the ten colours 0 to 9, written as plain digits"
            }
            Problem::Grid(_) => "a grid is a list of rows of equal length, at least 1x1",
            Problem::Kind { .. } | Problem::Missing { .. } | Problem::EmptyList => {
                "a task is {\"train\": [{\"input\": grid, \"output\": grid}, ...], \
                 \"test\": [{\"input\": grid}, ...]}"
            }
            Problem::SolutionCount { .. } => {
                "the solutions belong to another version of the challenges: get both from one place"
            }
        }
    }
}
