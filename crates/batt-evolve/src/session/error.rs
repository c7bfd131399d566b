//! Why an evolution cannot begin or go on.

use std::io;
use std::path::PathBuf;

use batt_archive::ArchiveError;

use crate::state::StateError;

/// Why an evolution cannot begin or go on. [`EvolveError::hint`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum EvolveError {
    /// A task was asked for by an unknown id.
    #[error("there is no task '{id}'")]
    UnknownTask {
        /// The id.
        id: String,
        /// A known id that resembles it.
        near: Option<String>,
    },
    /// No task has a demonstration with an output.
    #[error("none of these tasks has a demonstration")]
    NoDemonstrations,
    /// There are more populations than fit into memory.
    #[error("{tasks} {} with {islands} populations each are too many",
        if *.tasks == 1 { "task" } else { "tasks" })]
    TooManyPopulations {
        /// The number of tasks.
        tasks: usize,
        /// The populations of each task.
        islands: usize,
        /// The most populations of a task.
        most: usize,
    },
    /// There are fewer solvers than are to be held out.
    #[error("cannot hold out the solvers of {wanted} {}: {solved} {} here",
        if *.wanted == 1 { "task" } else { "tasks" },
        if *.solved == 1 { "task has one" } else { "tasks have one" })]
    TooFewSolvers {
        /// The number of tasks whose solvers are to be held out.
        wanted: usize,
        /// The number of tasks that have solvers.
        solved: usize,
    },
    /// A run is to be resumed, but no archive is named.
    #[error("there is no archive to go on with")]
    NoArchive,
    /// A checkpoint cannot be read.
    #[error("cannot go on with run {run} of {}: {source}", path.display())]
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
    #[error("{0} (what was found last could not be saved; what was saved before is in order)")]
    Unsaved(ArchiveError),
    /// The system gives no thread to save with.
    #[error("cannot start the thread that saves: {0}")]
    NoSaveThread(io::Error),
    /// The thread that saves has panicked.
    #[error("internal error: saving ended unexpectedly")]
    SaveThread,
}

impl EvolveError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            EvolveError::UnknownTask {
                near: Some(near), ..
            } => format!("did you mean '{near}'?"),
            EvolveError::UnknownTask { near: None, .. } => "check the id".to_owned(),
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
                "leave --resume out: the solvers of the archive are used all the same".to_owned()
            }
            EvolveError::Archive(error) | EvolveError::Unsaved(error) => error.hint().to_string(),
            EvolveError::NoSaveThread(_) => {
                "end other programs, or raise the limit of processes".into()
            }
            EvolveError::SaveThread => "please report this bug".to_owned(),
        }
    }
}
