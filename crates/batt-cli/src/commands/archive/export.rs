//! `batt archive export`: writes archived solvers to a solver file.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::Dialect;
use batt::archive::{Archive, ExportOptions};
use clap::Args;
use serde_json::json;

use crate::cli::{DialectName, Exit};
use crate::error::advised;
use crate::files::{check_not_read, replace};
use crate::ui::{Ui, counted, shown, stdout};

/// Write solvers to a file that Python can run
#[derive(Args)]
#[command(after_help = "\
The best solver of a task becomes the function solve_<task>. The others become solve2_<task>,
solve3_<task> and so on. The file imports dsl and constants and runs in arc-dsl: put it in place of
solvers.py.

A file has one dialect. Without --dialect, that is the dialect of most solvers.

Examples:
  batt archive export --best -o solvers.py
  batt archive export --task 1673c3ec -o found.py
  batt archive export --best --solved | batt run /dev/stdin --tasks data/training
  batt archive export --dialect tokpidjin -o tokpidjin.py")]
pub struct ExportArgs {
    /// Export only solvers of this task; may be given several times
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,

    /// Export only the best solver of each task
    #[arg(long)]
    best: bool,

    /// Export only solvers that solve all demonstrations
    #[arg(long)]
    solved: bool,

    /// The dialect of the file
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,

    /// The file to write, or - for stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Print one JSON object per solver instead: name, task, score, hash and source
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

/// Runs the command.
pub fn main(args: &ExportArgs, archive: &Archive, ui: &Ui) -> Result<Exit> {
    check_not_read(&args.output, [archive.path()])?;
    let options = ExportOptions {
        tasks: args.tasks.clone(),
        best: args.best,
        solved: args.solved,
        dialect: args.dialect.dialect(),
    };
    let export = archive.export(&options).map_err(batt::Error::from)?;
    let solvers = &export.solvers;
    if solvers.is_empty() {
        return Err(advised(
            format_args!("{} has no such solver", archive.path().display()),
            "`batt archive ls` lists the tasks",
        ));
    }
    if export.other_dialect > 0 {
        ui.note(format_args!(
            "{} of another dialect left out; --dialect selects the dialect",
            counted(export.other_dialect, "solver")
        ));
    }
    let mut out = stdout();
    if args.json {
        for (entry, program) in solvers {
            let mut json = super::report::entry_json(entry);
            json["name"] = json!(program.name());
            json["source"] = json!(program.to_string());
            writeln!(out, "{json}")?;
        }
        out.flush()?;
        return Ok(Exit::Good);
    }
    let with_samples = solvers.iter().filter(|(_, p)| p.params().len() > 1).count();
    if export.dialect != Dialect::Tokpidjin && with_samples > 0 {
        ui.note(format_args!(
            "arc-dsl gives a solver only the input, so it cannot run {} with the parameters (S, I, C)",
            counted(with_samples, "solver")
        ));
    }
    let text = export.to_source();
    if args.output == Path::new("-") {
        write!(out, "{text}")?;
    } else {
        replace(&args.output, &text)?;
        let tasks: HashSet<&str> = solvers.iter().map(|(entry, _)| &*entry.task).collect();
        writeln!(
            out,
            "wrote {} of {} to {}",
            counted(solvers.len(), "solver"),
            counted(tasks.len(), "task"),
            shown(&args.output)
        )?;
    }
    out.flush()?;
    Ok(Exit::Good)
}
