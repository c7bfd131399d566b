//! The errors of results on disk, with hints.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use crate::part_error::PartError;

/// An error while writing or resuming results. [`ResultsError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
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
    /// Writing failed during the run. The lines written before are on disk.
    #[error("cannot write {}: {}", path.display(), io_message(source))]
    Stopped {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The caller's writer failed.
    #[error("cannot write the results: {}", io_message(source))]
    Writer {
        /// The writer's error.
        source: io::Error,
    },
    /// The target is a device or a pipe.
    #[error("cannot write {}: it is not a file", path.display())]
    NotAFile {
        /// The target.
        path: PathBuf,
    },
    /// The target is one of the inputs.
    #[error("cannot write {}: it is one of the files to read", path.display())]
    IsAnInput {
        /// The target.
        path: PathBuf,
    },
    /// An earlier run of the same target is not complete.
    #[error("{} holds the unfinished results of an earlier run", path.display())]
    Unfinished {
        /// The unfinished lines.
        path: PathBuf,
    },
    /// Another process writes the same target.
    #[error("another run is writing {}", path.display())]
    Busy {
        /// The unfinished lines.
        path: PathBuf,
    },
    /// The settings of an unfinished run cannot be read.
    #[error(
        "cannot tell which run the unfinished results belong to: {} is missing or damaged",
        path.display()
    )]
    NoSettings {
        /// The file with the settings.
        path: PathBuf,
    },
    /// The results belong to a run with other settings.
    #[error(
        "the {} results belong to another run: {} changed",
        if *finished { "finished" } else { "unfinished" },
        changed.join(", ")
    )]
    OtherRun {
        /// Whether the results are complete.
        finished: bool,
        /// The settings that differ.
        changed: Vec<String>,
    },
    /// A line of results is damaged.
    #[error("line {line} of {} is damaged: {source}", path.display())]
    Damaged {
        /// The file of lines.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// Parts of a run cannot be merged, or a part cannot be written.
    #[error(transparent)]
    Part(#[from] PartError),
}

impl ResultsError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> Cow<'static, str> {
        let hint = match self {
            ResultsError::Part(error) => return error.hint(),
            ResultsError::File { source, .. } => io_hint(source),
            ResultsError::Stopped { .. } => {
                "make room or choose another place; what was written so far is kept, and the same \
                 run goes on with --resume"
            }
            ResultsError::Writer { .. } => {
                "check where the output goes, or name a file with --output"
            }
            ResultsError::NotAFile { .. } => "name a file, or - for stdout",
            ResultsError::IsAnInput { .. } => "choose another name",
            ResultsError::Unfinished { .. } => {
                "add --resume to continue it, or --overwrite to start again"
            }
            ResultsError::Busy { .. } => "wait for it to end, or choose another name",
            ResultsError::NoSettings { .. } => "add --overwrite instead of --resume to start again",
            ResultsError::OtherRun { .. } => {
                "run with the same files, options and limits as before, or with --overwrite instead \
                 of --resume to start again"
            }
            ResultsError::Damaged { .. } => "run with --overwrite to start again",
        };
        hint.into()
    }

    pub(crate) fn file(doing: &'static str, path: &Path, source: io::Error) -> ResultsError {
        let path = path.to_owned();
        ResultsError::File {
            doing,
            path,
            source,
        }
    }

    pub(crate) fn stopped(path: &Path, source: io::Error) -> ResultsError {
        let path = path.to_owned();
        ResultsError::Stopped { path, source }
    }
}

/// Returns what to do about a file that cannot be read or written.
pub fn io_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "check the path",
        io::ErrorKind::PermissionDenied => "check the permissions of the file and its folder",
        io::ErrorKind::IsADirectory => "name a file, not a folder",
        // Only making a folder fails like this.
        io::ErrorKind::AlreadyExists => "name a folder, not a file",
        io::ErrorKind::StorageFull => "make room on the disk",
        _ => "check the disk and the file",
    }
}

/// Returns the system's message without the error number.
pub fn io_message(error: &io::Error) -> String {
    without_numbers(&error.to_string())
}

/// A message without the numbers of the system's errors that it quotes.
pub fn without_numbers(message: &str) -> String {
    const START: &str = " (os error ";
    let mut text = message.to_owned();
    while let Some(start) = text.find(START)
        && let Some(length) = text[start..].find(')')
    {
        text.replace_range(start..=start + length, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_the_numbers_of_errors() {
        let error = io::Error::from_raw_os_error(2);
        assert_eq!(io_message(&error), "No such file or directory");
        assert_eq!(
            without_numbers("a: bad (os error 5): worse (os error 28), the end"),
            "a: bad: worse, the end"
        );
        assert_eq!(without_numbers("a (os error 5"), "a (os error 5");
    }
}
