//! `batt conformance`: our results against those that Python computed.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use batt_engine::conformance::{Difference, VectorsError, run_directory};
use clap::Args;

use crate::cli::Exit;
use crate::error::{advised, bad_file};
use crate::ui::{BAD, DIM, Ui, counted, grouped, stdout};

/// Check the engine against results that CPython computed
#[derive(Args)]
#[command(after_help = "\
DIR holds ops/<function>.jsonl, calls of one primitive and their results, or programs/NNN.py
with programs/NNN.jsonl, programs and what they return. A case passes when the value is the same,
kinds and the order of sets included, or when both sides fail.

Examples:
  batt conformance vectors
  batt conformance vectors --limit 100")]
pub struct ConformanceArgs {
    /// The vectors directory
    dir: PathBuf,

    /// Differences to print in full
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Runs the command.
pub fn main(args: &ConformanceArgs, ui: &Ui) -> Result<Exit> {
    let bar = ui.spinner();
    let report = run_directory(&args.dir, |path, report| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let done = report.passed + report.differences.len();
        bar.set_message(format!("{name}, {} so far", counted(done, "case")));
    });
    bar.finish_and_clear();
    let report = report.map_err(unusable)?;

    let mut out = stdout();
    for difference in report.differences.iter().take(args.limit) {
        write_difference(&mut out, difference, ui)?;
    }
    let failed = report.differences.len();
    if failed > args.limit {
        let rest = grouped(failed - args.limit);
        writeln!(out, "... and {rest} more (--limit prints more of them)\n")?;
    }
    if report.other_class > 0 {
        ui.remark(format_args!(
            "{} on both sides with another exception class, counted as passed",
            counted(report.other_class, "failure"),
        ));
    }
    writeln!(out, "{} passed, {failed} failed", report.passed)?;
    out.flush()?;
    Ok(Exit::findings(failed > 0))
}

fn write_difference(out: &mut impl Write, difference: &Difference, ui: &Ui) -> Result<()> {
    let (file, line) = (difference.file.display(), difference.line);
    writeln!(out, "{} {file}:{line}", ui.out(BAD, "differs:"))?;
    for (label, text) in [
        ("case", &difference.what),
        ("expected", &difference.expected),
        ("got", &difference.got),
    ] {
        writeln!(out, "  {} {text}", ui.out(DIM, format_args!("{label:>8}")))?;
    }
    writeln!(out)?;
    Ok(())
}

fn unusable(error: VectorsError) -> anyhow::Error {
    match &error {
        VectorsError::Io { path, source } => bad_file("read", path, source),
        VectorsError::Empty(dir) if !dir.exists() => advised(
            format_args!("{}: no such folder", dir.display()),
            "check the path",
        ),
        VectorsError::Empty(_) => advised(&error, "name the folder that holds ops/ or programs/"),
        VectorsError::Case { .. } => advised(&error, "get the vectors again, or mend that line"),
    }
}
