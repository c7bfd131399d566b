//! `batt archive gc`: removes solvers and scores that are no longer needed, and checks the archive.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use anyhow::Result;
use batt::archive::{self, Archive, ArchiveFinding, GcOptions, Retention};
use clap::Args;
use serde_json::json;

use crate::cli::Exit;
use crate::numbers;
use crate::ui::{Ui, counted, grouped, stdout};

/// Remove solvers that are no longer needed, and shrink the file
#[derive(Args)]
#[command(after_help = "\
A solver without a score is removed if none of its descendants has a score. --keep first removes
the scores of all but the best solvers. --ancestors removes older ancestors. --check first checks
the pages of the file and every solver, score and checkpoint. If it finds damage or impossible
values, it prints them, removes nothing, and exits with 1.

Examples:
  batt archive gc
  batt archive gc --check
  batt archive gc --keep 8 --ancestors 3")]
pub struct GcArgs {
    /// Keep only the best N solvers of each task [default: all]
    #[arg(long, value_name = "N", value_parser = numbers::from_one::<NonZeroUsize>)]
    keep: Option<NonZeroUsize>,

    /// The generations of ancestors to keep [default: all]
    #[arg(long, value_name = "N", value_parser = numbers::from_zero::<usize>)]
    ancestors: Option<usize>,

    /// Check everything in the archive first
    #[arg(long)]
    check: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &GcArgs, archive: &mut Archive, ui: &Ui) -> Result<Exit> {
    let mut out = stdout();
    if args.check {
        let findings = archive::check(archive)?;
        if !findings.is_empty() {
            report(&mut out, &findings, args.json)?;
            ui.note(format_args!(
                "{} is damaged, and nothing was removed; restore a copy, or recover the readable part: \
                 sqlite3 OLD .recover | sqlite3 NEW",
                archive.path().display()
            ));
            return Ok(Exit::Findings);
        }
        ui.note(format_args!("{} has no damage", archive.path().display()));
    }
    let options = GcOptions {
        retention: args.keep.map(|keep| Retention::Best {
            per_task: keep.get(),
        }),
        ancestors: args.ancestors,
    };
    let done = archive.gc(&options).map_err(batt::Error::from)?;
    if !done.shrunk {
        ui.warn("the file could not be shrunk: another process is writing, or the disk has no room for a copy");
    }
    if args.json {
        let json = json!({
            "scores": done.scores,
            "solvers": done.solvers,
            "bytes_before": done.before,
            "bytes_after": done.after,
            "shrunk": done.shrunk,
        });
        writeln!(out, "{json}")?;
    } else {
        writeln!(
            out,
            "removed {} and {}; {} bytes, before {}",
            counted(done.scores, "score"),
            counted(done.solvers, "solver"),
            grouped(done.after as usize),
            grouped(done.before as usize),
        )?;
    }
    out.flush()?;
    Ok(Exit::Good)
}

fn report(out: &mut impl Write, findings: &[ArchiveFinding], as_json: bool) -> io::Result<()> {
    if as_json {
        let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        writeln!(out, "{}", json!({"findings": findings}))?;
    } else {
        for finding in findings {
            writeln!(out, "{finding}")?;
        }
        writeln!(out, "{}", counted(findings.len(), "finding"))?;
    }
    out.flush()
}
