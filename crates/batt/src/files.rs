//! Files that are written as a whole or not at all.

use std::path::Path;

pub use batt_results::{io_hint, io_message, without_numbers};

use crate::error::Result;

/// Writes a file, replacing one that may be there. A full disk or a crash leaves the old one as it
/// was.
pub fn replace(target: &Path, text: &str) -> Result<()> {
    Ok(batt_results::replace(target, text)?)
}

/// Refuses a target that is one of the input files: a typing error must not cost a file.
pub fn check_not_read<'p>(target: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    Ok(batt_results::check_not_read(target, read)?)
}
