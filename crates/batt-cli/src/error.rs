//! Errors for people: a message, and what to do about it.

use std::fmt;
use std::io;
use std::path::Path;

use anyhow::Error;

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
    let hint = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "check the path",
        io::ErrorKind::PermissionDenied => "check the permissions of the file",
        io::ErrorKind::IsADirectory => "name a file, not a folder",
        io::ErrorKind::StorageFull => "make room on the disk",
        _ => "check the disk and the file",
    };
    advised(
        format_args!("cannot {doing} {}: {}", path.display(), reason(error)),
        hint,
    )
}

/// The system's message without its number, which tells people nothing.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
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
