//! `batt archive`: lists, shows, imports, exports, merges and shrinks archives.

mod export;
mod gc;
mod import;
mod lineage;
mod ls;
mod merge;
mod report;
mod show;
mod top;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::archive::{Archive, Lookup, Retention, SHORTEST_PREFIX};
use batt::nearest;
use clap::{Args, Subcommand, ValueEnum};

use crate::cli::Exit;
use crate::error::advised;
use crate::numbers;
use crate::ui::Ui;

/// Show archived solvers, and move solvers in and out
#[derive(Args)]
#[command(after_help = "\
An archive is one SQLite file with solvers, their origin, and their score on each task. Several
processes can use it at the same time. While an archive FILE is open, FILE-wal and FILE-shm belong
to it.

Examples:
  batt archive import solvers.py --tasks data/training     fill an archive
  batt archive ls                                          list its tasks
  batt archive show 1673c3ec --tasks data/training         show the best solver, with pictures
  batt archive export --best -o best.py                    write solvers that Python can run
  batt archive merge other.sqlite --archive all.sqlite")]
pub struct ArchiveArgs {
    /// The archive
    #[arg(
        long,
        value_name = "FILE",
        default_value = "batt.sqlite",
        global = true
    )]
    archive: PathBuf,

    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Ls(ls::LsArgs),
    Show(show::ShowArgs),
    Top(top::TopArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Merge(merge::MergeArgs),
    Gc(gc::GcArgs),
    Lineage(lineage::LineageArgs),
}

/// Runs the command.
pub fn main(args: &ArchiveArgs, ui: &Ui) -> Result<Exit> {
    let path = args.archive.as_path();
    match &args.action {
        Action::Ls(args) => ls::main(args, &existing(path)?, ui),
        Action::Show(args) => show::main(args, &existing(path)?, ui),
        Action::Top(args) => top::main(args, &existing(path)?, ui),
        Action::Export(args) => export::main(args, &existing(path)?, ui),
        Action::Import(args) => import::main(args, path, ui),
        Action::Merge(args) => merge::main(args, path, ui),
        Action::Gc(args) => gc::main(args, &mut existing(path)?, ui),
        Action::Lineage(args) => lineage::main(args, &existing(path)?),
    }
}

fn existing(path: &Path) -> Result<Archive> {
    Ok(Archive::open_existing(path).map_err(batt::Error::from)?)
}

/// The options for the solvers that an archive keeps for each task.
#[derive(Args, Clone, Debug)]
struct Keep {
    /// The number of solvers to keep for each task
    #[arg(long, value_name = "N", default_value = "32", value_parser = numbers::from_one::<NonZeroUsize>)]
    keep: NonZeroUsize,

    /// Which solvers to keep
    #[arg(long, value_name = "RULE", default_value = "best")]
    retention: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// The best by score; of equal ones, those that differ most
    Best,
    /// The original system's rule: the worst solver makes room, unless the new one solves fewer demonstrations
    Original,
}

impl Keep {
    fn retention(&self) -> Retention {
        match self.retention {
            Rule::Best => Retention::Best {
                per_task: self.keep.get(),
            },
            Rule::Original => Retention::Original {
                capacity: self.keep.get(),
            },
        }
    }
}

/// Finds the hash of a solver by its first digits, or the best solver of a task. The second value
/// says whether the name is a task.
fn find(archive: &Archive, name: &str) -> Result<(String, bool)> {
    match archive.lookup(name).map_err(batt::Error::from)? {
        Lookup::Task(entries) => Ok((entries[0].hash.clone(), true)),
        Lookup::Solver(hash) => Ok((hash, false)),
        Lookup::Ambiguous(hashes) => Err(advised(
            format_args!("'{name}' is the beginning of several hashes"),
            format!("write more digits: {}", hashes.join(", ")),
        )),
        Lookup::Unknown => {
            let tasks = archive.tasks().map_err(batt::Error::from)?;
            let hint = match nearest(name, tasks.iter().map(|task| task.task.as_str())) {
                Some(near) => format!("did you mean the task {near}?"),
                None => format!(
                    "name a task, or a solver by the first {SHORTEST_PREFIX} or more digits of its \
                     hash; `batt archive ls` lists the tasks"
                ),
            };
            let path = archive.path().display();
            Err(advised(
                format_args!("{path} has neither a task nor a solver '{name}'"),
                hint,
            ))
        }
    }
}
