//! `batt extract`: single solvers cut out of a batt.

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_lang::batt::{BattFile, Output};
use batt_lang::card::{self, ExtractError};
use batt_lang::{Batt, Program, SolverFile, print_file};
use clap::{ArgGroup, Args};
use serde_json::json;

use crate::batts;
use crate::cli::{DialectName, Exit};
use crate::error::{advised, bad_file};
use crate::files::{check_not_read, replace};
use crate::solvers::nearest;
use crate::ui::{Ui, counted, stdout};

/// Cut a solver out of a batt
#[derive(Args)]
#[command(
    group(ArgGroup::new("what").required(true).args(["step", "output", "all"])),
    after_help = "\
The solver is printed in canonical form: the steps its value needs, each once, in the order in which
they are needed. Its hash depends on what it computes and on nothing else, so that the same solver has
the same hash wherever it comes from. Steps that its value does not need are not part of it.

--all writes one file for each distinct solver, <hash>.py, and index.jsonl: a line for each candidate
with the batt, the donor, the step, the hash and the file.

Examples:
  batt extract batt.py --step t120
  batt extract batt.py --output 1673c3ec -o 1673c3ec.py
  batt extract batt.py --output 1673c3ec --name solve_mine --json
  batt extract batt.py --all solvers/"
)]
pub struct ExtractArgs {
    /// A batt file, and the function in it if there are several
    #[arg(value_name = "FILE[::NAME]")]
    batt: String,

    /// The solver behind a step, such as t12
    #[arg(long, value_name = "tN", value_parser = step_number)]
    step: Option<u32>,

    /// The solver behind the candidate of a donor
    #[arg(long, value_name = "DONOR")]
    output: Option<String>,

    /// The solvers behind all candidates, in a folder
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    all: Option<PathBuf>,

    /// Write the solver to a file
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// What the function is called [default: solve, with --output and the donor: solve_DONOR]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Print the solver, its name and its hash as one JSON object
    #[arg(long)]
    json: bool,

    /// Which library the batt is written for
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

/// Runs the command.
pub fn main(args: &ExtractArgs, ui: &Ui) -> Result<Exit> {
    let (path, name) = match args.batt.rsplit_once("::") {
        Some((path, name)) => (path, Some(name)),
        None => (args.batt.as_str(), None),
    };
    let paths = [PathBuf::from(path)];
    if let Some(out) = &args.out {
        check_not_read(out, [Path::new(path)])?;
    }
    let files = batts::load_all(&paths, args.dialect.dialect(), ui)?;
    let [file] = files.as_slice() else {
        unreachable!("one file was to be loaded")
    };
    match (&args.all, args.step, &args.output) {
        (Some(folder), ..) => {
            let batts: Vec<&Batt> = match name {
                Some(_) => vec![choose(file, name)?],
                None => file.batts.iter().collect(),
            };
            write_all(&batts, folder, args, ui)?;
        }
        (None, Some(number), _) => {
            let batt = choose(file, name)?;
            let program = at_step(batt, number, args.name.as_deref().unwrap_or("solve"))?;
            write_one(&Cut::new(program)?, args, ui)?;
        }
        (None, None, Some(donor)) => {
            let batt = choose(file, name)?;
            let output = output_of(batt, donor, ui)?;
            let name = args.name.clone().unwrap_or_else(|| name_for(donor));
            let program = card::extract_value(batt, &output.value, &name);
            write_one(&Cut::new(program)?, args, ui)?;
        }
        (None, None, None) => unreachable!("the command line asks for one of them"),
    }
    Ok(Exit::findings(!file.is_clean()))
}

/// `t12` or `12`.
fn step_number(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix('t').unwrap_or(text);
    digits
        .parse()
        .map_err(|_| "write the number of a step, such as t12".to_owned())
}

/// The batt asked for, or the only one there is.
fn choose<'f>(file: &'f BattFile, name: Option<&str>) -> Result<&'f Batt> {
    let names = || file.batts.iter().map(|batt| batt.program.name());
    let file_name = file.source.name();
    match (name, file.batts.as_slice()) {
        (None, [only]) => Ok(only),
        (None, batts) => Err(advised(
            format_args!("{file_name} holds {} batts", batts.len()),
            format!(
                "name one: {file_name}::{}",
                names().next().unwrap_or("NAME")
            ),
        )),
        (Some(name), _) => file.batt(name).ok_or_else(|| {
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
            };
            advised(format_args!("{file_name} has no batt '{name}'"), hint)
        }),
    }
}

/// The solver behind a step.
fn at_step(batt: &Batt, number: u32, name: &str) -> Result<Program> {
    card::extract(batt, number, name).map_err(|error| {
        let ExtractError::NoSuchStep { .. } = error;
        let after = batt.numbers.partition_point(|&n| n < number);
        let before = after.checked_sub(1).map(|k| batt.numbers[k]);
        let hint = match (before, batt.numbers.get(after)) {
            (Some(a), Some(b)) => format!("the nearest are t{a} and t{b}"),
            (Some(only), None) => format!("the nearest is t{only}"),
            (None, Some(only)) => format!("the nearest is t{only}"),
            (None, None) => "it has none; --output takes the candidate of a donor".to_owned(),
        };
        advised(format_args!("the batt has no step t{number}"), hint)
    })
}

/// The candidate of a donor.
fn output_of<'b>(batt: &'b Batt, donor: &str, ui: &Ui) -> Result<&'b Output> {
    let mut outputs = batt.outputs.iter().filter(|output| output.donor == donor);
    let Some(first) = outputs.next() else {
        let donors = || batt.outputs.iter().map(|output| output.donor.as_str());
        let hint = match (nearest(donor, donors()), donors().next()) {
            (Some(near), _) => format!("did you mean '{near}'?"),
            (None, Some(first)) => format!(
                "it has {}, the first of '{first}'",
                counted(batt.outputs.len(), "candidate")
            ),
            (None, None) => "it has no candidates; --step takes any step".to_owned(),
        };
        return Err(advised(
            format_args!("the batt has no candidate of '{donor}'"),
            hint,
        ));
    };
    let others = outputs.count();
    if others > 0 {
        ui.note(format_args!(
            "'{donor}' has {}; this is the first, and --step takes any other",
            counted(others + 1, "candidate")
        ));
    }
    Ok(first)
}

/// A function name for the solver of a donor, by which `batt run` finds its task.
fn name_for(donor: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let donor: String = donor.chars().map(word).collect();
    format!("solve_{donor}")
}

/// A solver that has been cut out.
struct Cut {
    program: Program,
    hash: String,
    source: String,
}

impl Cut {
    /// Writes the solver out. That it can be read again says that its name is one.
    fn new(program: Program) -> Result<Cut> {
        let hash = card::structural_hash(&program);
        let source = format!("# hash {hash}\n{}", print_file([&program]));
        let again = SolverFile::parse_in(&source, "", Some(program.dialect()));
        if !again.is_clean() || again.program(program.name()).is_none() {
            return Err(advised(
                format_args!("'{}' cannot be the name of a solver", program.name()),
                "choose a name that Python and the library do not use, of letters, digits and _",
            ));
        }
        Ok(Cut {
            program,
            hash,
            source,
        })
    }

    /// Mentions a dialect that the text alone does not give away.
    fn mention_dialect(&self, ui: &Ui) {
        let dialect = self.program.dialect();
        let taken_for = SolverFile::parse(&self.source, "").dialect;
        if taken_for != dialect {
            ui.note(format_args!(
                "the solver looks like {}: run it with --dialect {}",
                taken_for.name(),
                dialect.name()
            ));
        }
    }
}

fn write_one(cut: &Cut, args: &ExtractArgs, ui: &Ui) -> Result<()> {
    let mut out = stdout();
    let to = args.out.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = to {
        replace(path, &cut.source)?;
    }
    cut.mention_dialect(ui);
    if args.json {
        let name = cut.program.name();
        let json = json!({"hash": cut.hash, "name": name, "source": cut.source});
        writeln!(out, "{json}")?;
    } else if let Some(path) = to {
        writeln!(out, "{}  {}", cut.hash, path.display())?;
    } else {
        write!(out, "{}", cut.source)?;
    }
    Ok(out.flush()?)
}

/// Writes a file for each distinct solver, and an index of all candidates.
fn write_all(batts: &[&Batt], folder: &Path, args: &ExtractArgs, ui: &Ui) -> Result<()> {
    fs::create_dir_all(folder).map_err(|error| bad_file("make", folder, &error))?;
    let name = args.name.as_deref().unwrap_or("solve");
    let outputs: usize = batts.iter().map(|batt| batt.outputs.len()).sum();
    let bar = ui.progress(outputs, "cutting out");
    let mut index = String::new();
    let mut written = HashSet::new();
    for batt in batts {
        for output in &batt.outputs {
            let cut = Cut::new(card::extract_value(batt, &output.value, name))?;
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
            "cut {} out of {}, into {}",
            counted(written.len(), "distinct solver"),
            counted(outputs, "candidate"),
            folder.display()
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

    #[test]
    fn donors_make_function_names() {
        assert_eq!(name_for("1673c3ec"), "solve_1673c3ec");
        assert_eq!(name_for("a.2 é"), "solve_a_2__");
    }
}
