//! Reading submissions, and talking about what is wrong with them.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Error, Result};
use batt_arc::DatasetError;
use batt_arc::submission::{Draft, Finding};
use serde_json::{Value as Json, json};

use crate::error::{advised, bad_file};
use crate::ui::{grouped, rest};

/// Findings that are shown where not all are asked for.
pub const SHOWN: usize = 20;

/// Reads a submission, whatever is wrong inside.
pub fn load(path: &Path) -> Result<Draft> {
    Draft::load(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &DatasetError) -> Error {
    match error {
        DatasetError::Io { source, .. } => bad_file("read", path, source),
        DatasetError::FileTooLarge { .. } => {
            advised(error, "a submission has a few megabytes at most")
        }
        other => advised(other, other.hint()),
    }
}

/// Writes findings, all or the first few.
pub fn write_findings(
    out: &mut impl Write,
    findings: &[&Finding],
    verbose: bool,
) -> io::Result<()> {
    let shown = if verbose { findings.len() } else { SHOWN };
    for found in findings.iter().take(shown) {
        writeln!(out, "{found}")?;
    }
    rest(out, findings.len(), shown)
}

/// Some ids in a line: all, or the first few and how many more there are.
pub fn list_ids(ids: &[&str], verbose: bool) -> String {
    let shown = if verbose {
        ids.len()
    } else {
        ids.len().min(SHOWN)
    };
    let mut text = ids[..shown].join(", ");
    let more = ids.len() - shown;
    if more > 0 {
        text += &format!(" and {} more (--verbose lists all)", grouped(more));
    }
    text
}

/// A finding, for JSON.
pub fn to_json(found: &Finding) -> Json {
    json!({
        "task": found.task,
        "test": found.test,
        "attempt": found.attempt.map(|at| at + 1),
        "code": found.flaw.code(),
        "message": found.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let ids: Vec<String> = (0..23).map(|k| format!("t{k}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(list_ids(&ids[..2], false), "t0, t1");
        assert!(list_ids(&ids, false).ends_with("t19 and 3 more (--verbose lists all)"));
        assert!(list_ids(&ids, true).ends_with("t22"));
    }
}
