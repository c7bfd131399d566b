//! `batt merge`: puts the parts of a run together.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::{LineKind, merge_results};
use clap::Args;
use serde_json::json;

use crate::cli::Exit;
use crate::error::advised;
use crate::interrupt;
use crate::ui::{Ui, counted, grouped, shown, stdout};
use crate::units::bytes;

/// Put the parts of a run together
#[derive(Args)]
#[command(after_help = "\
A part is a file that `batt mega --shard I/N` or `batt run --shard I/N` has written, with its
.meta.json beside it. All parts of one run must be named, in any order. The result is the file that
a run without --shard writes, byte for byte; lines of `batt run` have the times of the parts. A
name that ends in .parquet writes the results of `batt mega` as Parquet.

Each part is checked: it must be complete, unchanged, and of the same files, options and limits. If
something is wrong, no file is written. Memory does not grow with the files.

Exit codes: 0 the file is complete; 2 an error; 130 interrupted, nothing written.

Examples:
  batt merge part-*.jsonl -o results.jsonl
  batt merge part-*.jsonl -o results.parquet")]
pub struct MergeArgs {
    /// The files of all parts
    #[arg(required = true, value_name = "PART")]
    parts: Vec<PathBuf>,

    /// The file to write; a file named *.parquet is written as Parquet
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &MergeArgs, ui: &Ui) -> Result<Exit> {
    if args.output == Path::new("-") {
        return Err(advised(
            "merged results cannot be written to stdout",
            "name a file with --output",
        ));
    }
    interrupt::watch();
    let bar = ui.progress(0, "merging");
    let progress = bar.clone();
    let control = interrupt::control().on_progress(move |at| {
        progress.set_length(at.total as u64);
        progress.set_position(at.done as u64);
    });
    let merged = merge_results(&args.parts, &args.output, &control);
    bar.finish_and_clear();
    let Some(merged) = merged? else {
        ui.note("nothing was written");
        return Ok(Exit::Interrupted);
    };
    let totals = &merged.totals;
    let mut out = stdout();
    if args.json {
        let json = json!({
            "parts": merged.parts,
            "runs": totals.runs,
            "tasks": merged.tasks,
            "tasks_solved": merged.tasks_solved,
            "right": totals.right,
            "values": totals.values,
            "errors": totals.errors,
            "bytes": merged.bytes,
        });
        writeln!(out, "{json}")?;
        out.flush()?;
        return Ok(Exit::Good);
    }
    let right = grouped(totals.right as usize);
    write!(
        out,
        "merged {}: {}, ",
        counted(merged.parts, "part"),
        counted(totals.runs, "run")
    )?;
    match merged.lines {
        LineKind::Mega => {
            let candidates = counted(totals.candidates() as usize, "candidate");
            writeln!(out, "{candidates}, {right} right")?;
        }
        LineKind::Run => writeln!(out, "{right} right")?,
    }
    let file = shown(&args.output);
    writeln!(out, "results in {file}: {}", bytes(merged.bytes))?;
    writeln!(
        out,
        "solved {} of {}",
        grouped(merged.tasks_solved),
        counted(merged.tasks, "task")
    )?;
    out.flush()?;
    Ok(Exit::Good)
}
