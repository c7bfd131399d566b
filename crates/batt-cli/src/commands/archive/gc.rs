//! `batt archive gc`: what nobody needs is removed.

use std::io::Write;

use anyhow::Result;
use batt_archive::{Archive, GcOptions, Retention};
use clap::Args;
use serde_json::json;

use super::at_least_one;
use crate::cli::Exit;
use crate::error::bad_archive;
use crate::ui::{Ui, counted, grouped, stdout};

/// Remove what nobody needs, and make the file smaller
#[derive(Args)]
#[command(after_help = "\
A solver without a score is removed if none with a score descends from it. --keep removes scores first,
--ancestors forgets lineage.

Examples:
  batt archive gc
  batt archive gc --keep 8 --ancestors 3")]
pub struct GcArgs {
    /// Keep only the best N of each task [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    keep: Option<usize>,

    /// Generations of ancestors to keep [default: all]
    #[arg(long, value_name = "N")]
    ancestors: Option<usize>,

    /// Look at everything in the archive, and say if it is damaged
    #[arg(long)]
    check: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &GcArgs, archive: &mut Archive, ui: &Ui) -> Result<Exit> {
    if args.check {
        archive.check().map_err(bad_archive)?;
        ui.note(format_args!("{} is in order", archive.path().display()));
    }
    let options = GcOptions {
        retention: args.keep.map(|per_task| Retention::Best { per_task }),
        ancestors: args.ancestors,
    };
    let done = archive.gc(&options).map_err(bad_archive)?;
    if !done.shrunk {
        ui.warn("the file could not be made smaller: another process is writing, or the disk has no room for a copy");
    }
    let mut out = stdout();
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
