//! Errors of the loader: what is wrong with a data file, where, and how to fix it.

use std::io;
use std::path::PathBuf;

use crate::GridError;

/// The reason why a dataset could not be loaded.
///
/// The message names the file and, where there is one, the task, the pair and the row;
/// [`hint`](DatasetError::hint) says how to fix it.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The operating system reported an error.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file is larger than any known dataset.
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
        /// The message of the JSON parser.
        message: String,
    },
    /// The file is JSON but holds no tasks.
    #[error("{}: this is {holds}, not a file of tasks", .path.display())]
    NoTaskFile {
        /// The file.
        path: PathBuf,
        /// Its actual content.
        holds: String,
    },
    /// A task is malformed.
    #[error("{}: task {task}{}: {problem}", .path.display(), inside(.place))]
    Task {
        /// The file.
        path: PathBuf,
        /// The task's id.
        task: String,
        /// The place in the task, for example `train[2].output`; empty for the task as a whole.
        place: String,
        /// The problem at that place.
        problem: Problem,
    },
    /// Two different tasks have the same id.
    #[error("task {task} is in {} and, differently, in {}", .first.display(), .second.display())]
    Duplicate {
        /// The id.
        task: String,
        /// The file that has it first.
        first: PathBuf,
        /// The file that contradicts it.
        second: PathBuf,
    },
    /// The folder holds no task file.
    #[error("{}: no task files in this folder", .path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
        /// The number of JSON files with other content.
        others: usize,
    },
}

/// A problem with a part of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The rows are not a grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A cell is not a whole number.
    #[error("row {row}, column {column} is {found}, cells are whole numbers from 0 to 9")]
    Cell {
        /// The row of the cell.
        row: usize,
        /// The column of the cell.
        column: usize,
        /// The value found there.
        found: String,
    },
    /// A part has the wrong JSON type.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// The expected value.
        expected: &'static str,
        /// The value found.
        found: String,
    },
    /// A required key is missing.
    #[error("there is no \"{key}\"")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A list must not be empty.
    #[error("the list is empty")]
    EmptyList,
    /// The solutions file has more or fewer answers than the task has tests.
    #[error("{} for {}", crate::text::counted(*.solutions, "solution"), crate::text::counted(*.tests, "test input"))]
    SolutionCount {
        /// The number of answers.
        solutions: usize,
        /// The number of tests.
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

impl DatasetError {
    /// Returns advice on how to fix the error.
    pub fn hint(&self) -> String {
        match self {
            DatasetError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path: it may be a task file, a Kaggle challenges file or a folder of either".into()
            }
            DatasetError::Io { .. } => "check that the file exists and may be read".into(),
            DatasetError::Json { message, .. } if message.starts_with(crate::load::TOO_MANY) => {
                "split the file: one task per file, or one folder per set".into()
            }
            DatasetError::FileTooLarge { .. } => {
                "split the file: one task per file, or one folder per set".into()
            }
            DatasetError::Json { message, .. } if message.starts_with("EOF") => {
                "the file ends too early: download or write it again".into()
            }
            DatasetError::Json { .. } => "the file is not valid JSON: correct it at that place".into(),
            DatasetError::NoTaskFile { holds, .. } if holds == crate::load::SOLUTIONS => {
                "load the challenges file instead: it finds the solutions beside it"
                    .into()
            }
            DatasetError::NoTaskFile { .. } => {
                "a task file is {\"train\": [...], \"test\": [...]}, a list of pairs, \
                 or an object of tasks by id"
                    .into()
            }
            DatasetError::Task { problem, .. } => problem.hint().into(),
            DatasetError::Duplicate { .. } => {
                "these are two versions of one set: load the folders one at a time".into()
            }
            DatasetError::EmptyFolder { others: 0, .. } => {
                "name a folder that holds .json task files, directly or in its sub-folders".into()
            }
            DatasetError::EmptyFolder { others, .. } => {
                format!("{} here, none with tasks", crate::text::counted(*others, "JSON file"))
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
