//! `batt archive top`: lists the best solvers.

use std::io::Write;

use anyhow::Result;
use batt::archive::Archive;
use clap::Args;
use serde_json::json;

use super::report::{demos, entry_json, percent, short};
use crate::cli::Exit;
use crate::error::advised;
use crate::numbers;
use crate::ui::{Ui, grouped, name, stdout, table, table_text};

/// List the best solvers, of all tasks or of one
#[derive(Args)]
#[command(after_help = "\
Without --task, solvers that solve the most tasks come first. Parts of them may help with other
tasks.

Examples:
  batt archive top
  batt archive top 50 --json
  batt archive top 5 --task 1673c3ec")]
pub struct TopArgs {
    /// How many
    #[arg(value_name = "N", default_value_t = 10, value_parser = numbers::from_zero::<usize>)]
    count: usize,

    /// List the best solvers of this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// Print one JSON object per solver
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &TopArgs, archive: &Archive, _ui: &Ui) -> Result<Exit> {
    match &args.task {
        Some(task) => of_task(task, args, archive),
        None => of_all(args, archive),
    }
}

fn of_all(args: &TopArgs, archive: &Archive) -> Result<Exit> {
    let mut out = stdout();
    let header = [
        "solver",
        "tasks solved",
        "tasks tried",
        "demos solved",
        "size",
        "made by",
    ];
    let mut rows = table(&header, &[1, 2, 3, 4]);
    for standing in archive.top(args.count).map_err(batt::Error::from)? {
        if args.json {
            let line = json!({
                "hash": standing.hash,
                "dialect": standing.dialect.name(),
                "mutation": standing.mutation,
                "tasks": standing.tasks,
                "solved": standing.solved,
                "demos_solved": standing.demos_solved,
                "size": standing.size,
            });
            writeln!(out, "{line}")?;
        }
        rows.add_row([
            short(&standing.hash).to_owned(),
            grouped(standing.solved),
            grouped(standing.tasks),
            grouped(standing.demos_solved),
            standing.size.to_string(),
            name(&standing.mutation).into_owned(),
        ]);
    }
    if !args.json {
        write!(out, "{}", table_text(&rows))?;
    }
    out.flush()?;
    Ok(Exit::Good)
}

fn of_task(task: &str, args: &TopArgs, archive: &Archive) -> Result<Exit> {
    let entries = archive
        .best(task, None, args.count)
        .map_err(batt::Error::from)?;
    if entries.is_empty() {
        return Err(advised(
            format_args!("{} has no task '{task}'", archive.path().display()),
            "`batt archive ls` lists the tasks",
        ));
    }
    let mut out = stdout();
    let header = [
        "solver",
        "demos",
        "closeness",
        "size",
        "cost",
        "made by",
        "when",
    ];
    let mut rows = table(&header, &[1, 2, 3, 4]);
    for entry in &entries {
        if args.json {
            writeln!(out, "{}", entry_json(entry))?;
        }
        rows.add_row([
            short(&entry.hash).to_owned(),
            demos(&entry.score),
            percent(entry.score.closeness),
            entry.score.size.to_string(),
            grouped(entry.score.cost as usize),
            name(&entry.mutation).into_owned(),
            entry.when.clone(),
        ]);
    }
    if !args.json {
        write!(out, "{}", table_text(&rows))?;
    }
    out.flush()?;
    Ok(Exit::Good)
}
