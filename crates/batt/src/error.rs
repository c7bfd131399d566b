//! The error type of the library.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use batt_archive::ArchiveError;
use batt_conformance::VectorsError;
use batt_engine::device::DeviceError;
use batt_evolve::EvolveError;
use batt_lang::SourceError;
use batt_lang::card::CardError;
use batt_reference::ReferenceError;
use batt_results::{ResultsError, io_hint, io_message};

/// The result type of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the library. [`Error::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A dataset cannot be loaded.
    #[error(transparent)]
    Tasks(#[from] batt_arc::DatasetError),
    /// Tasks contradict each other.
    #[error(transparent)]
    DuplicateTask(#[from] batt_arc::DuplicateTask),
    /// A solver or batt file cannot be loaded.
    #[error(transparent)]
    Source(SourceError),
    /// The archive cannot be opened, read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// An evolution cannot start or continue.
    #[error(transparent)]
    Evolve(EvolveError),
    /// A device cannot be opened.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A comparison with Python cannot run.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// Recorded results cannot be read.
    #[error(transparent)]
    Vectors(VectorsError),
    /// Results cannot be written or resumed.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// Solvers cannot be merged.
    #[error(transparent)]
    Card(#[from] CardError),
    /// A file cannot be read or written.
    #[error("cannot {doing} {}: {}", path.display(), io_message(source))]
    File {
        /// The attempted action: "read", "write".
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system gives no thread.
    #[error("cannot start a thread: {}", io_message(.0))]
    Thread(#[source] io::Error),
    /// The request cannot be carried out as it was made.
    #[error("{message}")]
    Request {
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        hint: String,
    },
}

impl Error {
    /// Creates an error about an invalid request.
    pub(crate) fn request(message: impl fmt::Display, hint: impl Into<String>) -> Error {
        Error::Request {
            message: message.to_string(),
            hint: hint.into(),
        }
    }

    /// Creates an error about a file that cannot be read or written.
    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> Error {
        Error::File {
            doing,
            path: path.to_owned(),
            source,
        }
    }

    /// Returns what the user can do about the error.
    pub fn hint(&self) -> String {
        match self {
            Error::Tasks(error) => error.hint().to_string(),
            Error::DuplicateTask(_) => "give each task an id of its own".to_owned(),
            Error::Source(SourceError::Read { source, .. }) => io_hint(source).to_owned(),
            Error::Source(SourceError::NotUtf8 { .. }) => "save the file as UTF-8".to_owned(),
            Error::Archive(ArchiveError::Io { source, .. }) | Error::File { source, .. } => {
                io_hint(source).to_owned()
            }
            Error::Archive(error) => error.hint().to_string(),
            Error::Evolve(error) => error.hint(),
            Error::Device(_) => {
                "`batt device` lists what is missing; --device cpu runs on the CPU".to_owned()
            }
            Error::Reference(error) => error.hint(),
            Error::Vectors(error) => error.hint().to_owned(),
            Error::Results(error) => error.hint().into_owned(),
            Error::Card(error) => error.hint().to_owned(),
            Error::Thread(_) => "end other programs, or raise the limit of processes".to_owned(),
            Error::Request { hint, .. } => hint.clone(),
        }
    }
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Error {
        match error {
            SourceError::Read { path, source } => Error::file("read", &path, source),
            other => Error::Source(other),
        }
    }
}

impl From<VectorsError> for Error {
    fn from(error: VectorsError) -> Error {
        match error {
            VectorsError::Io { path, source } => Error::file("read", &path, source),
            other => Error::Vectors(other),
        }
    }
}

impl From<EvolveError> for Error {
    fn from(error: EvolveError) -> Error {
        match error {
            EvolveError::Archive(error) => Error::Archive(error),
            other => Error::Evolve(other),
        }
    }
}
