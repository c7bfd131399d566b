//! Errors for people: a message, and what to do about it.

use std::fmt;
use std::io;
use std::path::Path;

use anyhow::Error;
use batt::files::{io_hint, io_message};

/// An error with advice.
#[derive(Debug)]
pub struct Advised {
    message: String,
    hint: String,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Advised {}

/// An error and what to do about it.
pub fn advised(message: impl fmt::Display, hint: impl Into<String>) -> Error {
    Error::new(Advised {
        message: message.to_string(),
        hint: hint.into(),
    })
}

/// A file that cannot be read or written.
pub fn bad_file(doing: &str, path: &Path, error: &io::Error) -> Error {
    advised(
        format_args!("cannot {doing} {}: {}", path.display(), io_message(error)),
        io_hint(error),
    )
}

/// An error of a write to stdout or stderr with a message and advice. All other errors have their
/// own, which name the file.
pub fn named(error: Error) -> Error {
    match error.downcast_ref::<io::Error>() {
        Some(cause) if error.chain().len() == 1 => advised(
            format_args!("cannot write the output: {}", io_message(cause)),
            "check where stdout and stderr go",
        ),
        _ => error,
    }
}

/// The advice that comes with an error, if any.
pub fn hint(error: &Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let advised = cause.downcast_ref::<Advised>();
        let advised = advised.map(|advised| advised.hint.clone());
        advised.or_else(|| Some(cause.downcast_ref::<batt::Error>()?.hint()))
    })
}

/// Returns whether the reader of our output has closed it.
pub fn is_broken_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
