//! Atomic writing of files.

use std::path::Path;

pub use batt_results::{io_hint, io_message, without_numbers};

use crate::error::Result;

/// Writes a file, or replaces it, atomically. A full disk or a crash leaves the old file unchanged.
pub fn replace(target: &Path, text: &str) -> Result<()> {
    Ok(batt_results::replace(target, text)?)
}

/// Refuses a target that is one of the input files, so that a typing error does not destroy an
/// input.
pub fn check_not_read<'p>(target: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    Ok(batt_results::check_not_read(target, read)?)
}
