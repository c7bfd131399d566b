//! `batt archive export`: archived solvers as a solver file.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_archive::{Archive, Entry};
use batt_dsl::Dialect;
use batt_lang::{Program, print_file};
use clap::Args;
use serde_json::json;

use crate::cli::{DialectName, Exit};
use crate::error::{advised, bad_archive};
use crate::files::{check_not_read, replace};
use crate::ui::{Ui, counted, stdout};

/// Write solvers to a file that Python can run
#[derive(Args)]
#[command(after_help = "\
The best solver of a task is the function solve_<task>, the others are solve2_<task>, solve3_<task> and so on. The file
imports dsl and constants, as solver files of arc-dsl do, and runs there: put it in place of solvers.py.

A file is of one dialect. Without --dialect that is the one of most solvers.

Examples:
  batt archive export --best -o solvers.py
  batt archive export --task 1673c3ec -o found.py
  batt archive export --best --solved | batt run /dev/stdin --tasks data/training
  batt archive export --dialect tokpidjin -o tokpidjin.py")]
pub struct ExportArgs {
    /// Only this task; may be given several times
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,

    /// Only the best solver of each task
    #[arg(long)]
    best: bool,

    /// Only solvers that solve all demonstrations
    #[arg(long)]
    solved: bool,

    /// The dialect of the file
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,

    /// The file to write, or - for stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,

    /// Print one JSON object per solver instead: name, task, score, hash and source
    #[arg(long, conflicts_with = "out")]
    json: bool,
}

/// Runs the command.
pub fn main(args: &ExportArgs, archive: &Archive, ui: &Ui) -> Result<Exit> {
    check_not_read(&args.out, [archive.path()])?;
    let entries = choose(args, archive)?;
    let dialect = match args.dialect.dialect() {
        Some(dialect) => dialect,
        None => most_common(&entries),
    };
    let named = named(&entries, dialect, args.best);
    if named.is_empty() {
        return Err(advised(
            format_args!("{} has no such solver", archive.path().display()),
            "`batt archive ls` lists what there is",
        ));
    }
    let others = entries.iter().filter(|e| e.dialect != dialect).count();
    if others > 0 {
        ui.note(format_args!(
            "{} of another dialect left out; --dialect chooses",
            counted(others, "solver")
        ));
    }
    let mut out = stdout();
    if args.json {
        for (entry, program) in &named {
            let mut json = super::report::entry_json(entry);
            json["name"] = json!(program.name());
            json["source"] = json!(program.to_string());
            writeln!(out, "{json}")?;
        }
        out.flush()?;
        return Ok(Exit::Good);
    }
    let with_samples = named.iter().filter(|(_, p)| p.params().len() > 1).count();
    if dialect != Dialect::Tokpidjin && with_samples > 0 {
        ui.note(format_args!(
            "{} take (S, I, C): arc-dsl itself gives its solvers the input alone",
            counted(with_samples, "solver")
        ));
    }
    let text = print_file(named.iter().map(|(_, program)| program));
    if args.out == Path::new("-") {
        write!(out, "{text}")?;
    } else {
        replace(&args.out, &text)?;
        let tasks: HashSet<&str> = named.iter().map(|(entry, _)| &*entry.task).collect();
        writeln!(
            out,
            "wrote {} of {} to {}",
            counted(named.len(), "solver"),
            counted(tasks.len(), "task"),
            args.out.display()
        )?;
    }
    out.flush()?;
    Ok(Exit::Good)
}

/// The entries asked for, task by task, best first.
fn choose(args: &ExportArgs, archive: &Archive) -> Result<Vec<Entry>> {
    let mut tasks: Vec<String> = args.tasks.clone();
    if tasks.is_empty() {
        let all = archive.tasks().map_err(bad_archive)?;
        tasks = all.into_iter().map(|task| task.task).collect();
        tasks.dedup();
    }
    let mut chosen = Vec::new();
    for task in &tasks {
        let mut entries = archive.best(task, None, usize::MAX).map_err(bad_archive)?;
        if entries.is_empty() {
            return Err(advised(
                format_args!("{} has no task '{task}'", archive.path().display()),
                "`batt archive ls` lists the tasks",
            ));
        }
        entries.retain(|entry| !args.solved || entry.score.is_solved());
        // A solver may have scores on several versions of a task.
        let mut seen = HashSet::new();
        entries.retain(|entry| seen.insert(entry.hash.clone()));
        chosen.extend(entries);
    }
    Ok(chosen)
}

/// The dialect of most solvers; of two as frequent ones the first.
fn most_common(entries: &[Entry]) -> Dialect {
    let mut counts: BTreeMap<Dialect, usize> = BTreeMap::new();
    for entry in entries {
        *counts.entry(entry.dialect).or_default() += 1;
    }
    let by_count = |(dialect, count): &(Dialect, usize)| (*count, std::cmp::Reverse(*dialect));
    counts
        .into_iter()
        .max_by_key(by_count)
        .map(|(dialect, _)| dialect)
        .unwrap_or_default()
}

/// The programs of a dialect under the names they get in a file.
fn named(entries: &[Entry], dialect: Dialect, best: bool) -> Vec<(&Entry, Program)> {
    let mut named: Vec<(&Entry, Program)> = Vec::new();
    let mut names = HashSet::new();
    for task in entries.chunk_by(|a, b| a.task == b.task) {
        let all = task.iter().filter(|entry| entry.dialect == dialect);
        let readable = all.filter_map(|entry| Some((entry, entry.program()?)));
        let count = if best { 1 } else { usize::MAX };
        for (k, (entry, program)) in readable.take(count).enumerate() {
            let number = match k {
                0 => String::new(),
                k => (k + 1).to_string(),
            };
            let mut name = format!("solve{number}_{}", identifier(&entry.task));
            // Two ids may be the same without their odd characters.
            while !names.insert(name.clone()) {
                name = name.replacen("solve", "solve_", 1);
            }
            named.push((entry, program.renamed(name)));
        }
    }
    named
}

/// The id of a task as part of a name in Python.
fn identifier(task: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    task.chars().map(word).collect()
}
