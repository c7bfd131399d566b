//! `batt archive merge`: merges other archives into this one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::archive::{Archive, MergeReport};
use clap::Args;
use serde_json::json;

use super::{Keep, existing};
use crate::cli::Exit;
use crate::error::advised;
use crate::ui::{Ui, counted, escaped, grouped, stdout};

/// Add the solvers of other archives
#[derive(Args)]
#[command(after_help = "\
The command adds solvers, scores, lineage and runs, and keeps the best solvers of each task. It
creates the archive if it does not exist. Merging again changes nothing. Each archive is added
completely or not at all.

Examples:
  batt archive merge other.sqlite
  batt archive merge runs/*.sqlite --archive all.sqlite
  batt archive merge kaggle.sqlite --archive all.sqlite --keep 64")]
pub struct MergeArgs {
    /// The other archives
    #[arg(required = true, value_name = "OTHER")]
    others: Vec<PathBuf>,

    #[command(flatten)]
    keep: Keep,

    /// Print one JSON object per archive
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &MergeArgs, path: &Path, ui: &Ui) -> Result<Exit> {
    let place = fs::canonicalize(path).ok();
    for other in &args.others {
        if place.is_some() && fs::canonicalize(other).ok() == place {
            return Err(advised(
                format_args!("{} cannot be merged into itself", other.display()),
                "name another archive, or the one to write with --archive",
            ));
        }
    }
    // All archives are opened before anything is written.
    let others: Vec<Archive> = args
        .others
        .iter()
        .map(|other| existing(other))
        .collect::<Result<_>>()?;
    let mut archive = Archive::open(path).map_err(batt::Error::from)?;
    let mut out = stdout();
    let mut refused = 0;
    for other in &others {
        let merged = archive
            .merge(other, &args.keep.retention())
            .map_err(batt::Error::from)?;
        let MergeReport {
            scores,
            kept,
            solvers,
            evicted,
        } = merged;
        refused += scores - kept;
        let name = other.path().display().to_string();
        if args.json {
            let line = json!({
                "archive": name,
                "scores": scores,
                "kept": kept,
                "solvers": solvers,
                "evicted": evicted,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(
                out,
                "{}: {} of {} kept, {} new, {} removed to make room",
                escaped(&name, &[]),
                grouped(kept),
                counted(scores, "score"),
                counted(solvers, "solver"),
                grouped(evicted)
            )?;
        }
        out.flush()?;
    }
    if refused > 0 {
        ui.note("a score is not kept if the archive has it already, or has better ones");
    }
    Ok(Exit::Good)
}
