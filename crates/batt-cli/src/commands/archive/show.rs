//! `batt archive show`: shows one solver in full.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use batt::archive::{Archive, ArchiveEntry, ArchivedSolver};
use batt::picture::answers_text;
use batt::{Dataset, Solver, Task};
use clap::Args;
use serde_json::json;

use super::find;
use super::report::{demos, entry_json, percent, short, solver_json};
use crate::cli::Exit;
use crate::error::advised;
use crate::solvers::open_tasks;
use crate::ui::{STRONG, Ui, counted, grouped, name, stdout, table, table_text};

/// Show a solver: source, scores, origin and outputs
#[derive(Args)]
#[command(after_help = "\
A task stands for its best solver. With --tasks, the solver runs on the demonstrations. Each
picture shows the input, the expected output, the solver's output, and its wrong cells.

Examples:
  batt archive show 1673c3ec
  batt archive show 1673c3ec --tasks data/training
  batt archive show 4f1a09c2 --tasks data/training --tests
  batt archive show 1673c3ec --json | jq -r .source")]
pub struct ShowArgs {
    /// A task, or the first digits of the hash of a solver
    #[arg(value_name = "HASH|TASK")]
    name: String,

    /// Draw the solver's outputs for these tasks: a folder, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH", conflicts_with = "json")]
    tasks: Option<PathBuf>,

    /// Also draw the outputs for the tests
    #[arg(long, requires = "tasks")]
    tests: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The number of tasks that are drawn if a solver has scores on many.
const DRAWN: usize = 3;

/// Runs the command.
pub fn main(args: &ShowArgs, archive: &Archive, ui: &Ui) -> Result<Exit> {
    let (hash, is_task) = find(archive, &args.name)?;
    let Some(solver) = archive.solver(&hash).map_err(batt::Error::from)? else {
        return Err(advised(
            format_args!("solver {hash} has just been removed"),
            "another process is changing the archive: try again",
        ));
    };
    let mut entries = archive.entries_of(&hash).map_err(batt::Error::from)?;
    entries.retain(|entry| !is_task || entry.task == args.name);
    let mut out = stdout();
    if args.json {
        let mut json = solver_json(&solver);
        let scores: Vec<_> = entries.iter().map(entry_json).collect();
        json["entries"] = json!(scores);
        writeln!(out, "{json}")?;
        out.flush()?;
        return Ok(Exit::Good);
    }
    write_solver(&mut out, &solver, ui)?;
    write_scores(&mut out, &entries)?;
    write!(out, "\n{}", solver.source)?;
    if let Some(path) = &args.tasks {
        let data = open_tasks(path, ui)?;
        draw(&mut out, &solver, &entries, &data, args.tests, ui)?;
    }
    out.flush()?;
    Ok(Exit::Good)
}

fn write_solver(out: &mut impl Write, solver: &ArchivedSolver, ui: &Ui) -> Result<()> {
    writeln!(out, "{}", ui.out(STRONG, &solver.hash))?;
    let parents: Vec<&str> = solver.parents.iter().map(|hash| short(hash)).collect();
    let made_from = match parents.is_empty() {
        true => String::new(),
        false => format!(" from {}", parents.join(", ")),
    };
    writeln!(
        out,
        "{}, made by {}{made_from} in run {}, {}\n",
        solver.dialect.name(),
        solver.mutation,
        solver.run,
        solver.when
    )?;
    Ok(())
}

fn write_scores(out: &mut impl Write, entries: &[ArchiveEntry]) -> Result<()> {
    if entries.is_empty() {
        writeln!(
            out,
            "no score: the archive keeps the solver for its descendants"
        )?;
        return Ok(());
    }
    let mut rows = table(
        &["task", "demos", "closeness", "size", "cost"],
        &[1, 2, 3, 4],
    );
    for entry in entries {
        rows.add_row([
            name(&entry.task).into_owned(),
            demos(&entry.score),
            percent(entry.score.closeness),
            entry.score.size.to_string(),
            grouped(entry.score.cost as usize),
        ]);
    }
    write!(out, "{}", table_text(&rows))?;
    Ok(())
}

/// Draws the solver's outputs on the tasks for which it has scores.
fn draw(
    out: &mut impl Write,
    solver: &ArchivedSolver,
    entries: &[ArchiveEntry],
    data: &Dataset,
    tests: bool,
    ui: &Ui,
) -> Result<()> {
    let Some(program) = solver.program() else {
        return Err(advised(
            format_args!("solver {} cannot be read", solver.hash),
            "the archive is damaged, or of another version of batt",
        ));
    };
    let runnable = Solver::new(&program)?;
    let mut tasks: Vec<&Task> = entries.iter().filter_map(|e| data.get(&e.task)).collect();
    tasks.dedup_by_key(|task| &task.id);
    if tasks.is_empty() {
        ui.note("nothing to draw: --tasks has none of the solver's tasks");
    }
    for task in tasks.iter().take(DRAWN) {
        let hash = format!("{:016x}", task.content_hash());
        let mut versions = entries.iter().filter(|entry| entry.task == task.id);
        if versions.all(|entry| entry.task_hash != hash) {
            ui.note(format_args!(
                "task {} has changed since the solver was scored",
                task.id
            ));
        }
        writeln!(out, "\n{}", ui.out(STRONG, name(&task.id)))?;
        write!(
            out,
            "{}",
            answers_text(&runnable, task, tests, ui.out_color())
        )?;
    }
    if tasks.len() > DRAWN {
        let rest = counted(tasks.len() - DRAWN, "more task");
        writeln!(
            out,
            "\n... and {rest}; name one with its file: --tasks FILE"
        )?;
    }
    Ok(())
}
