//! The errors of an evolution, with hints.

use std::io;
use std::path::PathBuf;

use batt_archive::ArchiveError;

use crate::state::StateError;

/// An error that prevents the start of an evolution or ends it. [`EvolveError::hint`] says what to
/// do.
#[derive(Debug, thiserror::Error)]
pub enum EvolveError {
    /// A requested task id is unknown.
    #[error("there is no task '{id}'")]
    UnknownTask {
        /// The id.
        id: String,
        /// A known id that is similar.
        near: Option<String>,
    },
    /// No task has a demonstration with an output.
    #[error("none of these tasks has a demonstration")]
    NoDemonstrations,
    /// The populations would not fit into memory.
    #[error("{tasks} {} with {islands} populations each are too many",
        if *.tasks == 1 { "task" } else { "tasks" })]
    TooManyPopulations {
        /// The number of tasks.
        tasks: usize,
        /// The populations of each task.
        islands: usize,
        /// The most populations that a task may have.
        most: usize,
    },
    /// Fewer tasks have solvers than should be held out.
    #[error("cannot hold out the solvers of {wanted} {}: {solved} {} here",
        if *.wanted == 1 { "task" } else { "tasks" },
        if *.solved == 1 { "task has one" } else { "tasks have one" })]
    TooFewSolvers {
        /// The number of tasks to hold out.
        wanted: usize,
        /// The number of tasks that have solvers.
        solved: usize,
    },
    /// A run is to be resumed, but no archive is named.
    #[error("there is no archive to resume from")]
    NoArchive,
    /// A checkpoint cannot be read.
    #[error("cannot resume run {run} of {}: {source}", path.display())]
    Checkpoint {
        /// The archive.
        path: PathBuf,
        /// The number of the run.
        run: i64,
        /// What is wrong with the checkpoint.
        source: StateError,
    },
    /// The archive cannot be opened or read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The archive cannot be written any more. Everything saved before is intact.
    #[error("{0} (the last solvers found could not be saved; all earlier saves are intact)")]
    Unsaved(ArchiveError),
    /// The system cannot start the thread that saves.
    #[error("cannot start the thread that saves: {0}")]
    NoSaveThread(io::Error),
    /// The thread that saves panicked.
    #[error("internal error: saving ended unexpectedly")]
    SaveThread,
}

impl EvolveError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> String {
        match self {
            EvolveError::UnknownTask {
                near: Some(near), ..
            } => format!("did you mean '{near}'?"),
            EvolveError::UnknownTask { near: None, .. } => {
                "the id of a task is the name of its file, without .json".to_owned()
            }
            EvolveError::NoDemonstrations => {
                "name tasks {\"train\": [{\"input\": ..., \"output\": ...}, ...], \"test\": [...]}"
                    .to_owned()
            }
            EvolveError::TooManyPopulations { most, .. } => {
                format!("use at most --islands {most}, or fewer tasks")
            }
            EvolveError::TooFewSolvers { .. } => {
                "ask for fewer with --hold-out, or give more with --solvers".to_owned()
            }
            EvolveError::NoArchive => "name it with --archive FILE".to_owned(),
            EvolveError::Checkpoint { .. } => {
                "leave --resume out: evolution still uses the solvers of the archive".to_owned()
            }
            EvolveError::Archive(error) | EvolveError::Unsaved(error) => error.hint().to_string(),
            EvolveError::NoSaveThread(_) => {
                "end other programs, or raise the limit of processes".into()
            }
            EvolveError::SaveThread => "please report this bug".to_owned(),
        }
    }
}
