//! Loads submissions and prints the findings about them.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use batt::submission::{self, Draft, Finding};
use serde_json::{Value as Json, json};

use crate::ui::{escaped, grouped, name, rest};

/// The number of findings shown without `--verbose`.
pub const SHOWN: usize = 20;

/// Loads a submission. Errors in its contents become findings.
pub fn load(path: &Path) -> Result<Draft> {
    Ok(submission::load(path)?)
}

/// Writes findings, all or the first few.
pub fn write_findings(
    out: &mut impl Write,
    findings: &[&Finding],
    verbose: bool,
) -> io::Result<()> {
    let shown = if verbose { findings.len() } else { SHOWN };
    for found in findings.iter().take(shown) {
        let task = found.task.as_deref().map(|task| name(task).into_owned());
        let found = Finding {
            task,
            ..(*found).clone()
        };
        writeln!(out, "{}", escaped(&found.to_string(), &[]))?;
    }
    rest(out, findings.len(), shown)
}

/// Returns ids in a line: all, or the first few and the number of the others.
pub fn list_ids(ids: &[&str], verbose: bool) -> String {
    let shown = if verbose {
        ids.len()
    } else {
        ids.len().min(SHOWN)
    };
    let shown_ids: Vec<_> = ids[..shown].iter().map(|id| name(id)).collect();
    let mut text = shown_ids.join(", ");
    let more = ids.len() - shown;
    if more > 0 {
        text += &format!(" and {} more (--verbose lists all)", grouped(more));
    }
    text
}

/// Returns a finding as JSON.
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
