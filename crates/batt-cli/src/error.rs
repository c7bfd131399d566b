//! Errors with hints.

use std::fmt;
use std::io;
use std::path::Path;

use anyhow::Error;
use batt::files::io_message;

/// An error with a hint.
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

/// Creates an error with a hint.
pub fn advised(message: impl fmt::Display, hint: impl Into<String>) -> Error {
    Error::new(Advised {
        message: message.to_string(),
        hint: hint.into(),
    })
}

/// A file that cannot be read or written.
pub fn bad_file(doing: &'static str, path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    Error::new(batt::Error::File {
        doing,
        path,
        source,
    })
}

/// Adds a message and a hint to an error of writing to stdout or stderr. All other errors have
/// their own, which name the file.
pub fn named(error: Error) -> Error {
    match error.downcast_ref::<io::Error>() {
        Some(cause) if error.chain().len() == 1 => advised(
            format_args!("cannot write the output: {}", io_message(cause)),
            "check where stdout and stderr go",
        ),
        _ => error,
    }
}

/// Returns the hint of an error, if there is one.
pub fn hint(error: &Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let advised = cause.downcast_ref::<Advised>();
        let advised = advised.map(|advised| advised.hint.clone());
        advised.or_else(|| Some(cause.downcast_ref::<batt::Error>()?.hint()))
    })
}

/// Returns whether the reader of the output has closed the pipe.
pub fn is_broken_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
