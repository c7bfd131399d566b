//! Atomic writing of files.

use std::path::{Path, PathBuf};

pub use batt_results::{io_hint, io_message, without_numbers};

use crate::error::Result;

/// Writes a file, or replaces it, atomically. A full disk or a crash leaves the old file unchanged.
pub fn replace(target: &Path, content: &(impl AsRef<[u8]> + ?Sized)) -> Result<()> {
    Ok(batt_results::replace(target, content)?)
}

/// Refuses a target that is one of the input files, so that a typing error does not destroy an
/// input.
pub fn check_not_read<'p>(target: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    Ok(batt_results::check_not_read(target, read)?)
}

/// Refuses a target that is one of the input files or of the tasks: those of a folder are all its
/// `.json` files.
pub fn check_output<'p>(
    target: &'p Path,
    read: impl IntoIterator<Item = &'p PathBuf>,
    tasks: &'p Path,
) -> Result<()> {
    let places = target.canonicalize().ok().zip(tasks.canonicalize().ok());
    let is_json = target
        .extension()
        .is_some_and(|extension| extension == "json");
    let is_task = places.is_some_and(|(target, tasks)| is_json && target.starts_with(tasks));
    let read = read.into_iter().map(PathBuf::as_path);
    check_not_read(target, read.chain([tasks]).chain(is_task.then_some(target)))
}
