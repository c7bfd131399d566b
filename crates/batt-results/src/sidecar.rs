//! The files beside results: their names, and the record of finished results.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ResultsError;
use crate::files::{replace, with_suffix};
use crate::header::ResultsHeader;
use crate::totals::MegaTotals;

/// The endings of the files beside `FILE`: the lines of unfinished results, their header, and the
/// record of finished results.
pub(crate) const LINES: &str = ".part";
pub(crate) const HEADER: &str = ".part.json";
pub(crate) const RECORD: &str = ".meta.json";

/// The record of finished results.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    pub header: ResultsHeader,
    pub totals: MegaTotals,
    /// The size of the results file. A file of another size is not the one described.
    pub bytes: u64,
    /// The checksum of the results file.
    pub checksum: String,
}

impl Record {
    /// Reads the record of a file; `None` if it is missing or damaged.
    pub fn read(target: &Path) -> Option<Record> {
        let text = fs::read_to_string(with_suffix(target, RECORD)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes the record of a file.
    pub fn write(&self, target: &Path) -> Result<(), ResultsError> {
        write(&with_suffix(target, RECORD), self)
    }
}

/// Returns the file of the unfinished lines of a target.
pub(crate) fn lines_file(target: &Path) -> PathBuf {
    with_suffix(target, LINES)
}

/// Returns the file of the header of the unfinished lines.
pub(crate) fn header_file(target: &Path) -> PathBuf {
    with_suffix(target, HEADER)
}

/// Reads the header of unfinished lines; `None` if it is missing or damaged.
pub(crate) fn read_header(target: &Path) -> Option<ResultsHeader> {
    let text = fs::read_to_string(header_file(target)).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes the header of unfinished lines.
pub(crate) fn write_header(target: &Path, header: &ResultsHeader) -> Result<(), ResultsError> {
    write(&header_file(target), header)
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), ResultsError> {
    replace(path, &format!("{}\n", to_text(value)))
}

/// Returns a value as JSON text.
pub(crate) fn to_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps with keys that are strings can be written as JSON")
}
