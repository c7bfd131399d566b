//! `batt archive import`: tries solvers from files on their tasks and saves them.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::Tasks;
use batt::archive::{Archive, Import, OriginalSkips};
use clap::{ArgGroup, Args};
use serde_json::json;

use super::Keep;
use crate::cli::{DialectName, Exit, Jobs};
use crate::error::advised;
use crate::interrupt;
use crate::solvers::{open_solvers, open_tasks};
use crate::ui::{Ui, counted, grouped, stdout};

/// Add solvers from files
#[derive(Args)]
#[command(
    group(ArgGroup::new("from").required(true).args(["files", "original"])),
    after_help = "\
A function named <anything>_<task id> runs on the demonstrations of that task and is kept with its
score.

--original reads the folder of the original system, with
solver_dir/solve_<task>/<score>/<time>/<md5>.py and solver_md5/<md5>.py. Links are not followed:
the solvers come from solver_md5. The original scores are not used, because they also count tests:
every solver runs again.

Examples:
  batt archive import solvers.py --tasks data/training
  batt archive import found/*.py --tasks data/training --archive all.sqlite --keep 64
  batt archive import --original ../tokpidjin --tasks data/training --retention original"
)]
pub struct ImportArgs {
    /// Solver files
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,

    /// The folder of the original system
    #[arg(long, value_name = "DIR", conflicts_with = "files")]
    original: Option<PathBuf>,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// The library for which the solvers are written
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        conflicts_with = "original"
    )]
    dialect: DialectName,

    #[command(flatten)]
    keep: Keep,

    #[command(flatten)]
    jobs: Jobs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &ImportArgs, path: &Path, ui: &Ui) -> Result<Exit> {
    let tasks = open_tasks(&args.tasks, ui)?;
    let (import, is_clean) = match &args.original {
        Some(folder) => original(folder, &tasks, ui)?,
        None => from_files(args, &tasks, ui)?,
    };
    let import = import
        .retention(args.keep.retention())
        .threads(args.jobs.threads(ui));
    let mut archive = Archive::open(path).map_err(batt::Error::from)?;
    interrupt::watch();
    let bar = ui.progress(import.len(), "trying");
    let control = interrupt::control_with(&bar);
    let report = import.run(&mut archive, &control)?;
    bar.finish_and_clear();
    let mut out = stdout();
    if args.json {
        let json = json!({
            "solvers": import.len(),
            "tried": report.tried,
            "kept": report.kept,
            "known": report.known,
            "refused": report.refused,
            "solving": report.solving,
            "failing": report.failing,
            "archive": path.display().to_string(),
        });
        writeln!(out, "{json}")?;
    } else {
        writeln!(
            out,
            "tried {}: {} {} all demonstrations, {} {} on some; {} kept, {} known, {} refused",
            counted(report.tried, "solver"),
            grouped(report.solving),
            if report.solving == 1 {
                "solves"
            } else {
                "solve"
            },
            grouped(report.failing),
            if report.failing == 1 { "fails" } else { "fail" },
            grouped(report.kept),
            grouped(report.known),
            grouped(report.refused),
        )?;
    }
    out.flush()?;
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(!is_clean))
}

/// Returns the solvers of files, and whether all of them could be read.
fn from_files(args: &ImportArgs, tasks: &Tasks, ui: &Ui) -> Result<(Import, bool)> {
    let solvers = open_solvers(&args.files, args.dialect.dialect(), ui)?;
    let import = Import::new(tasks, &solvers);
    let mention = |what: &str, names: &[String]| {
        ui.mention(what, &names.iter().map(String::as_str).collect::<Vec<_>>());
    };
    mention(
        "left out, because a solver takes one grid or (S, I, C)",
        import.not_solvers(),
    );
    if import.is_empty() {
        return Err(advised(
            format_args!(
                "no solver has a task here ({})",
                counted(tasks.len(), "task")
            ),
            "name a solver after its task, <anything>_<task id>",
        ));
    }
    mention("without a task in --tasks", import.without_task());
    Ok((import, solvers.is_clean()))
}

/// Returns the solvers of the original system, and whether all of them could be read.
fn original(folder: &Path, tasks: &Tasks, ui: &Ui) -> Result<(Import, bool)> {
    let (import, skips) = Import::original(tasks, folder)?;
    say(&skips, ui);
    if import.is_empty() {
        return Err(advised(
            format_args!(
                "{} has no solver for a task here ({})",
                folder.display(),
                counted(tasks.len(), "task")
            ),
            "check that the tasks are those of the solvers, and that solver_md5 exists",
        ));
    }
    Ok((import, skips.is_complete()))
}

/// Prints what was skipped.
fn say(skips: &OriginalSkips, ui: &Ui) {
    if !skips.tasks.is_empty() {
        let first: Vec<&str> = skips.tasks.iter().take(5).map(String::as_str).collect();
        let count = counted(skips.tasks.len(), "task");
        ui.note(format_args!(
            "{count} not among these tasks: {}",
            first.join(", ")
        ));
    }
    if skips.names > 0 {
        let count = counted(skips.names, "name");
        ui.note(format_args!(
            "{count} skipped: the original system does not write such names"
        ));
    }
    if skips.missing > 0 {
        let count = counted(skips.missing, "link");
        ui.warn(format_args!("{count} without a file in solver_md5"));
    }
    if skips.unreadable > 0 {
        let count = counted(skips.unreadable, "file");
        ui.warn(format_args!(
            "{count} left out: each must have one function of (S, I, C) in tokpidjin"
        ));
    }
}
