//! `batt check`: prints errors, warnings and remarks about solver files.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use batt::{Diagnostic, Severity, Solvers};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::cli::{DialectName, Exit};
use crate::ui::{Ui, counted, stdout};

/// Check solver files without running them
#[derive(Args)]
#[command(after_help = "\
A function with an error does not load. Warnings are probable mistakes: an unused step, a call that
fails on every input. --info adds remarks: repeated steps, and steps whose value can depend on the
order of a set.

Examples:
  batt check solvers.py
  batt check solvers/*.py --strict
  batt check solvers.py --info --json | jq .code")]
pub struct CheckArgs {
    /// Solver files
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Print one JSON object per finding
    #[arg(long)]
    json: bool,

    /// Also print remarks
    #[arg(long)]
    info: bool,

    /// Also exit with 1 for warnings
    #[arg(long)]
    strict: bool,

    /// Which library the solvers are written for
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

/// Runs the command.
pub fn main(args: &CheckArgs, ui: &Ui) -> Result<Exit> {
    let least = if args.info {
        Severity::Info
    } else {
        Severity::Warning
    };
    let mut out = stdout();
    let mut counts: BTreeMap<Severity, usize> = BTreeMap::new();
    let solvers = Solvers::load(&args.files, args.dialect.dialect())?;
    for found in &solvers.check() {
        *counts.entry(found.severity).or_default() += 1;
        if args.json && found.severity >= least {
            writeln!(out, "{}", to_json(found))?;
        } else if found.severity >= least {
            writeln!(out, "{}\n", ui.diagnostic(found, ui.out_color()))?;
        }
    }
    let count = |severity| counts.get(&severity).copied().unwrap_or_default();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let infos = count(Severity::Info);
    if !args.json {
        let hidden = if args.info || infos == 0 {
            ""
        } else {
            " (--info lists them)"
        };
        writeln!(
            out,
            "{} in {}: {}, {}, {}{hidden}",
            counted(
                solvers.files().iter().map(|file| file.programs.len()).sum(),
                "solver"
            ),
            counted(args.files.len(), "file"),
            counted(errors, "error"),
            counted(warnings, "warning"),
            counted(infos, "remark"),
        )?;
    }
    out.flush()?;
    Ok(Exit::findings(errors > 0 || (args.strict && warnings > 0)))
}

fn to_json(found: &Diagnostic) -> Json {
    json!({
        "file": found.file,
        "line": found.span.line,
        "column": found.span.column,
        "length": found.span.length,
        "severity": found.severity.to_string(),
        "code": found.code.as_str(),
        "message": found.message,
        "hint": found.hint,
        "function": found.function,
    })
}
