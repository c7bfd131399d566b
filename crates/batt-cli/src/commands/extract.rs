//! `batt extract`: extracts solvers from a batt.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::card::{self, ExtractedSolver};
use batt::files::{check_not_read, replace};
use batt::{Batt, Batts};
use clap::{ArgGroup, Args};
use serde_json::json;

use crate::batts;
use crate::cli::{DialectName, Exit};
use crate::error::bad_file;
use crate::ui::{Ui, counted, shown, stdout};

/// Extract a solver from a batt
#[derive(Args)]
#[command(
    group(ArgGroup::new("what").required(true).args(["step", "donor", "all"])),
    after_help = "\
The solver is printed in canonical form: only the steps that its value needs, each once, in the
order in which they are needed. Its hash depends only on what it computes, so the same solver
always has the same hash.

--all writes a file <hash>.py for each distinct solver. It also writes index.jsonl, with a line for
each candidate: the batt, the donor, the step, the hash and the file.

Examples:
  batt extract batt.py --step t120
  batt extract batt.py --donor 1673c3ec -o 1673c3ec.py
  batt extract batt.py --donor 1673c3ec --name solve_mine --json
  batt extract batt.py --all solvers/"
)]
pub struct ExtractArgs {
    /// A batt file, and the batt in it if there are several
    #[arg(value_name = "FILE[::NAME]")]
    batt: String,

    /// Cut out the solver that computes a step, such as t12
    #[arg(long, value_name = "tN", value_parser = step_number)]
    step: Option<u32>,

    /// Cut out the solver of a donor's candidate
    #[arg(long, value_name = "DONOR")]
    donor: Option<String>,

    /// Cut out the solvers of all candidates, into a folder
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    all: Option<PathBuf>,

    /// Write the solver to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The name of the function [default: solve, with --donor solve_DONOR]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Print the solver, its name and its hash as one JSON object
    #[arg(long)]
    json: bool,

    /// The library for which the batt is written
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

/// Runs the command.
pub fn main(args: &ExtractArgs, ui: &Ui) -> Result<Exit> {
    let (path, name) = match args.batt.rsplit_once("::") {
        Some((path, name)) => (path, Some(name)),
        None => (args.batt.as_str(), None),
    };
    if let Some(output) = &args.output {
        check_not_read(output, [Path::new(path)])?;
    }
    let batts = batts::load_all(&[PathBuf::from(path)], args.dialect.dialect(), ui)?;
    let batt = || name.map_or_else(|| batts.only(), |name| batts.get(name));
    let name = args.name.as_deref();
    match (&args.all, args.step, &args.donor) {
        (Some(folder), ..) if args.batt == path => write_all(&all(&batts), folder, args, ui)?,
        (Some(folder), ..) => write_all(&[batt()?], folder, args, ui)?,
        (None, Some(number), _) => {
            let cut = card::extract_step(batt()?, number, name.unwrap_or("solve"))?;
            write_one(&cut, args, ui)?;
        }
        (None, None, Some(donor)) => {
            let batt = batt()?;
            let cut = card::extract_donor(batt, donor, name)?;
            let candidates = card::candidates_of(batt, donor).count();
            if candidates > 1 {
                ui.note(format_args!(
                    "'{donor}' has {}; this is the first, and --step selects another",
                    counted(candidates, "candidate")
                ));
            }
            write_one(&cut, args, ui)?;
        }
        (None, None, None) => unreachable!("the command line asks for one of them"),
    }
    Ok(Exit::findings(!batts.is_clean()))
}

fn all(batts: &Batts) -> Vec<&Batt> {
    batts.iter().map(|(_, batt)| batt).collect()
}

/// Parses the number of a step: `t12` or `12`.
fn step_number(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix('t').unwrap_or(text);
    digits
        .parse()
        .map_err(|_| "write the number of a step, such as t12".to_owned())
}

/// Prints a note if parsing the text would detect another dialect.
fn mention_dialect(cut: &ExtractedSolver, ui: &Ui) {
    let (dialect, looks_like) = (cut.program.dialect(), cut.dialect_of_text());
    if looks_like != dialect {
        ui.note(format_args!(
            "the solver looks like {}: run it with --dialect {}",
            looks_like.name(),
            dialect.name()
        ));
    }
}

fn write_one(cut: &ExtractedSolver, args: &ExtractArgs, ui: &Ui) -> Result<()> {
    let mut out = stdout();
    let to = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    if let Some(path) = to {
        replace(path, &cut.source)?;
    }
    mention_dialect(cut, ui);
    if args.json {
        let name = cut.program.name();
        let json = json!({"hash": cut.hash, "name": name, "source": cut.source});
        writeln!(out, "{json}")?;
    } else if let Some(path) = to {
        writeln!(out, "{}  {}", cut.hash, shown(path))?;
    } else {
        write!(out, "{}", cut.source)?;
    }
    Ok(out.flush()?)
}

/// Writes a file for each distinct solver, and an index of all candidates.
fn write_all(batts: &[&Batt], folder: &Path, args: &ExtractArgs, ui: &Ui) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| bad_file("make", folder, error))?;
    let name = args.name.as_deref().unwrap_or("solve");
    let outputs: usize = batts.iter().map(|batt| batt.outputs.len()).sum();
    let bar = ui.progress(outputs, "cutting out");
    let mut index = String::new();
    let mut written = HashSet::new();
    for batt in batts {
        for output in &batt.outputs {
            let cut = card::extract_value(batt, &output.value, name)?;
            let file = format!("{}.py", cut.hash);
            if !written.contains(&cut.hash) {
                replace(&folder.join(&file), &cut.source)?;
            }
            let line = json!({
                "batt": batt.program.name(),
                "donor": output.donor,
                "step": output.number,
                "hash": cut.hash,
                "file": file,
            });
            index += &format!("{line}\n");
            written.insert(cut.hash);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    replace(&folder.join("index.jsonl"), &index)?;
    let mut out = stdout();
    if args.json {
        let folder = folder.display().to_string();
        let json = json!({"candidates": outputs, "solvers": written.len(), "folder": folder});
        writeln!(out, "{json}")?;
    } else {
        writeln!(
            out,
            "cut {} out of {} into {}",
            counted(written.len(), "distinct solver"),
            counted(outputs, "candidate"),
            shown(folder)
        )?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_numbers() {
        assert_eq!(step_number("t12"), Ok(12));
        assert_eq!(step_number("12"), Ok(12));
        for bad in ["", "t", "x1", "-1", "t99999999999"] {
            assert!(step_number(bad).is_err(), "{bad}");
        }
    }
}
