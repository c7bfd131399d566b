//! `batt archive ls`: what there is for which task.

use std::io::Write;

use anyhow::Result;
use batt::archive::Archive;
use clap::Args;
use serde_json::json;

use super::report::{demos, percent, score_json, short};
use crate::cli::Exit;
use crate::ui::{GOOD, Ui, counted, grouped, name, stdout, table, table_text};

/// List the tasks with their best scores
#[derive(Args)]
#[command(after_help = "\
A task that changed has a line for each of its versions. Closeness says how close the outputs are to
the expected ones; cost is the work of running the solver.

Examples:
  batt archive ls
  batt archive ls --archive runs/batt.sqlite --unsolved
  batt archive ls --json | jq -r 'select(.best.solved) | .task'")]
pub struct LsArgs {
    /// Only tasks without a solver of all demonstrations
    #[arg(long)]
    unsolved: bool,

    /// Print one JSON object per task
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn main(args: &LsArgs, archive: &Archive, ui: &Ui) -> Result<Exit> {
    let tasks = archive.tasks().map_err(batt::Error::from)?;
    let shown = || {
        let all = tasks.iter();
        all.filter(|task| !args.unsolved || !task.best.is_solved())
    };
    let mut out = stdout();
    if args.json {
        for task in shown() {
            let line = json!({
                "task": task.task,
                "task_hash": task.task_hash,
                "entries": task.entries,
                "best": score_json(&task.best),
                "hash": task.hash,
            });
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        return Ok(Exit::Good);
    }
    let header = [
        "task",
        "solvers",
        "demos",
        "closeness",
        "size",
        "cost",
        "best solver",
    ];
    let mut rows = table(&header, &[1, 2, 3, 4, 5]);
    for task in shown() {
        let best = &task.best;
        let mut solved = demos(best);
        if best.is_solved() {
            solved = ui.out(GOOD, solved);
        }
        rows.add_row([
            name(&task.task).into_owned(),
            grouped(task.entries),
            solved,
            percent(best.closeness),
            best.size.to_string(),
            grouped(best.cost as usize),
            short(&task.hash).to_owned(),
        ]);
    }
    if rows.row_count() > 0 {
        writeln!(out, "{}", table_text(&rows))?;
    }
    let solved = tasks.iter().filter(|task| task.best.is_solved()).count();
    writeln!(
        out,
        "{}, {} solved on the demonstrations; {}",
        counted(tasks.len(), "task"),
        grouped(solved),
        counted(archive.solver_count().map_err(batt::Error::from)?, "solver"),
    )?;
    out.flush()?;
    Ok(Exit::Good)
}
