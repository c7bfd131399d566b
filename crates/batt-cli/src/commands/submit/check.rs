//! `batt submit --check`: checks a submission.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use batt::Dataset;
use batt::submission::Finding;
use serde_json::json;

use crate::cli::Exit;
use crate::submissions::{self, write_findings};
use crate::ui::{counted, shown, stdout};

/// Prints the findings about a submission, on its own or as answers to tasks.
pub fn check(file: &Path, data: Option<&Dataset>, as_json: bool, verbose: bool) -> Result<Exit> {
    let draft = submissions::load(file)?;
    let findings = match data {
        Some(data) => draft.check(data),
        None => draft.findings().to_vec(),
    };
    let mut out = stdout();
    if as_json {
        let summary = json!({
            "file": file.display().to_string(),
            "valid": findings.is_empty(),
            "tasks": draft.tasks(),
            "outputs": draft.outputs(),
            "findings": findings.iter().map(submissions::to_json).collect::<Vec<_>>(),
        });
        writeln!(out, "{summary}")?;
    } else {
        write_findings(
            &mut out,
            &findings.iter().collect::<Vec<&Finding>>(),
            verbose,
        )?;
        let (tasks, outputs) = (draft.tasks(), draft.outputs());
        let answers = format!("{}, {}", counted(tasks, "task"), counted(outputs, "output"));
        match (draft.foreign(), findings.len()) {
            (Some(foreign), _) => {
                writeln!(out, "not a submission: {} is {foreign}", shown(file))?;
            }
            (None, 0) => writeln!(out, "valid: {answers}")?,
            (None, found) => writeln!(out, "not valid: {}, {answers}", counted(found, "finding"))?,
        }
    }
    out.flush()?;
    Ok(Exit::findings(!findings.is_empty()))
}
