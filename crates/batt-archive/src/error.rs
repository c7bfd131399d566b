//! The errors of an archive, with hints.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;
use rusqlite::ffi;

/// An error of an archive. The file is unchanged.
///
/// The message names the file; [`hint`](ArchiveError::hint) says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// There is no file of that name.
    #[error("{}: there is no such archive", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be made, because its folder is not there.
    #[error("{}: the folder of the archive does not exist", .path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be created, because its folder is read-only.
    #[error("{}: the archive cannot be created", .path.display())]
    NotMade {
        /// The file.
        path: PathBuf,
    },
    /// The path names a folder, a device or a pipe.
    #[error("{}: this is not a file", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is not an archive.
    #[error("{}: this is not an archive of solvers{}", .path.display(), found(.holds))]
    NotAnArchive {
        /// The file.
        path: PathBuf,
        /// What the file holds instead; empty if unknown.
        holds: String,
    },
    /// A later version of Batt wrote the file.
    #[error("{}: the archive has schema {found}, this program knows {known}", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that this version knows.
        known: i64,
    },
    /// An earlier version of Batt wrote the file, and it cannot be migrated because it is
    /// read-only.
    #[error("{}: the archive has the old schema {found} and cannot be written", .path.display())]
    OldAndReadOnly {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
    },
    /// The contents are damaged.
    #[error("{}: the archive is damaged: {what}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Another process holds the lock on the file.
    #[error("{}: another process has been writing for {} seconds", .path.display(), .waited.as_secs())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long this process waited.
        waited: Duration,
    },
    /// The disk has no room for the change.
    #[error("{}: the disk is full; nothing was changed", .path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// There is not enough memory.
    #[error("{}: out of memory", .path.display())]
    OutOfMemory {
        /// The file.
        path: PathBuf,
    },
    /// The file can be read but not written.
    #[error("{}: the archive cannot be written", .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The operating system reports an error.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// SQLite reports another error.
    #[error("{}: {source}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// A program is not a solver, so it cannot be stored.
    #[error("a program cannot be stored: {why}")]
    Program {
        /// What is wrong with it.
        why: String,
    },
    /// The archive has no solver for a task.
    #[error("{} has no task '{task}'", .path.display())]
    NoTask {
        /// The file.
        path: PathBuf,
        /// The requested task.
        task: String,
    },
    /// The archive has no run of this number.
    #[error("{}: the archive has no run {run}", .path.display())]
    NoRun {
        /// The file.
        path: PathBuf,
        /// The requested number.
        run: i64,
    },
}

fn found(holds: &str) -> String {
    match holds {
        "" => String::new(),
        holds => format!(" but {holds}"),
    }
}

impl ArchiveError {
    /// Returns what to do about the error, as a sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            ArchiveError::Missing { .. } => {
                "check the path; `batt evolve` and `batt archive import` make archives"
            }
            ArchiveError::NoFolder { .. } => "make the folder first, or check the path",
            ArchiveError::NotMade { .. } => "check the permissions of the folder",
            ArchiveError::NotAFile { .. } => {
                "name a file; if it does not exist, a new archive is created"
            }
            ArchiveError::NotAnArchive { .. } => "name another file; this one was not changed",
            ArchiveError::Newer { .. } => "use the version of batt that wrote it, or a later one",
            ArchiveError::OldAndReadOnly { .. } => {
                "copy the file to a folder that can be written, and use the copy"
            }
            ArchiveError::Damaged { .. } => {
                "restore a copy, or recover the readable part: sqlite3 OLD .recover | sqlite3 NEW"
            }
            ArchiveError::Busy { .. } => {
                "wait until the other process is done, or give each process an archive of its own and \
                 merge them: batt archive merge"
            }
            ArchiveError::DiskFull { .. } => {
                "make room on the disk and go on; `batt archive gc` makes an archive smaller"
            }
            ArchiveError::OutOfMemory { .. } => {
                "free some memory, or raise its limit (`ulimit -v`)"
            }
            ArchiveError::ReadOnly { .. } => {
                "check the permissions of the file and its folder, or copy it"
            }
            ArchiveError::Io { .. } | ArchiveError::Sqlite { .. } => {
                "check the permissions of the file and its folder, and check the disk"
            }
            ArchiveError::Program { .. } => "a solver takes one grid, (I), or some of (S, I, C)",
            ArchiveError::NoTask { .. } => "`batt archive ls` lists the tasks",
            ArchiveError::NoRun { .. } => "begin a run first",
        }
    }

    /// Returns whether another process holds the file. A later attempt may succeed.
    pub fn is_busy(&self) -> bool {
        matches!(self, ArchiveError::Busy { .. })
    }

    /// Converts an error of SQLite about a file.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> ArchiveError {
        ArchiveError::after(crate::connect::BUSY_TIMEOUT, path, source)
    }

    /// Converts an error of SQLite as [`of`](ArchiveError::of) does, for a connection that waits
    /// this long for other processes.
    pub(crate) fn after(waited: Duration, path: &Path, source: rusqlite::Error) -> ArchiveError {
        let path = path.to_owned();
        let rusqlite::Error::SqliteFailure(failure, message) = &source else {
            // The column holds a value of another type than an archive writes.
            return match source {
                // A column that holds something else than we wrote.
                rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..) => ArchiveError::Damaged {
                    path,
                    what: source.to_string(),
                },
                // The tables are not those of the schema. The query is always the same, and long.
                rusqlite::Error::SqlInputError { msg, .. } => {
                    ArchiveError::Damaged { path, what: msg }
                }
                source => ArchiveError::Sqlite { path, source },
            };
        };
        match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                ArchiveError::Busy { path, waited }
            }
            ErrorCode::DiskFull => ArchiveError::DiskFull { path },
            // SQLite reports this when the disk is full and it cannot grow the shared-memory file
            // of the log.
            _ if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                ArchiveError::DiskFull { path }
            }
            // Some of these have the path for a message.
            ErrorCode::OutOfMemory => ArchiveError::OutOfMemory { path },
            _ if failure.extended_code == ffi::SQLITE_IOERR_NOMEM => {
                ArchiveError::OutOfMemory { path }
            }
            ErrorCode::ReadOnly => ArchiveError::ReadOnly { path },
            ErrorCode::NotADatabase => ArchiveError::NotAnArchive {
                path,
                holds: "something that is not SQLite".into(),
            },
            ErrorCode::DatabaseCorrupt => ArchiveError::Damaged {
                path,
                what: message.clone().unwrap_or_else(|| failure.to_string()),
            },
            // `no such table`: our queries are always the same.
            _ if failure.extended_code == ffi::SQLITE_ERROR => ArchiveError::Damaged {
                path,
                what: message.clone().unwrap_or_else(|| failure.to_string()),
            },
            _ => ArchiveError::Sqlite { path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a file that it has no memory to open SQLite's only message is the path.
    #[test]
    fn out_of_memory_is_said_in_words() {
        let path = Path::new("a.sqlite");
        for code in [ffi::SQLITE_NOMEM, ffi::SQLITE_IOERR_NOMEM] {
            let failure =
                rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some("a.sqlite".into()));
            let error = ArchiveError::of(path, failure);
            assert_eq!(error.to_string(), "a.sqlite: out of memory");
        }
    }
}
