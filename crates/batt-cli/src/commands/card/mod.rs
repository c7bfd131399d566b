//! `batt card`: many solvers merged into one batt.

pub mod differs;
mod donors;
mod report;
mod write;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use batt_dsl::Dialect;
use batt_evolve::Mutant;
use batt_lang::batt::{BattFile, Form, write_batt};
use batt_lang::card::{self, CardError, CardOptions, Donor, Merged};
use batt_lang::{OnError, SolverFile};
use clap::Args;

use self::donors::Candidates;
use self::report::Report;
use crate::cli::{DialectName, Exit};
use crate::donors::{add_mutants, mutants};
use crate::error::advised;
use crate::solvers::{load_all, load_tasks};
use crate::ui::{Ui, counted, stdout};

/// Merge many solvers into one program, a batt
#[derive(Args)]
#[command(after_help = "\
Every function of the solver files is a donor. A step that several have is made once; calls of
known closures are resolved, calls of constants computed, and steps dropped that nobody needs and
that cannot fail. No answer changes. The JSON file beside FILE says which steps are whose.

A donor is named by its task: with --tasks, the task its name ends in; else what follows solve_,
solver_ or verify_; else its whole name. A second solver of a task gets a number, as in 1673c3ec.2.
Solvers take turns, a step each: with --tasks the one with the largest task first, those without a
task last, else as given. The same arguments always write the same file.

With --mutants, solvers are also changed by chance, in turns: other constants, primitives, arguments
or functions of a type that fits, calls put in or taken out, values of another solver. Those of
1673c3ec are called 1673c3ec.m1, 1673c3ec.m2 and so on.

Differs compare the input and every candidate with the known output. Four are built in.

Examples:
  batt card solvers.py -o batt.py
  batt card solvers.py -o batt.py --tasks data/training --stats
  batt card mine/*.py -o batt.py --count 50 --seed 7
  batt card solvers.py -o batt.py --count 40 --mutants 360
  batt card solvers.py -o - --task 1673c3ec --no-differs
  batt card solvers.py -o batt.py --differs differs.py --json")]
pub struct CardArgs {
    /// Solver files
    #[arg(required = true, value_name = "SOLVERS")]
    files: Vec<PathBuf>,

    /// Write the batt to a file, and a .json beside it; or print it with -
    #[arg(short, long, value_name = "FILE|-")]
    out: PathBuf,

    /// The tasks of the solvers: the largest goes first
    #[arg(long, value_name = "PATH")]
    tasks: Option<PathBuf>,

    /// Draw this many solvers
    #[arg(long, value_name = "N")]
    count: Option<NonZeroUsize>,

    /// Only the solvers of one task
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// Add so many mutants of the solvers drawn: typed changes by chance, as evolution makes them
    #[arg(long, value_name = "N")]
    mutants: Option<NonZeroUsize>,

    /// Which solvers --count draws, and what --mutants changes: the same number, the same ones
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// More differs, functions of (S, I, C), after those built in
    #[arg(long, value_name = "FILE")]
    differs: Vec<PathBuf>,

    /// No differs at all
    #[arg(long, conflicts_with = "differs")]
    no_differs: bool,

    /// Mutate nothing, as without --mutants
    #[arg(long, conflicts_with = "mutants")]
    freeze: bool,

    /// Write plain steps [default for arc-dsl and re-arc]
    #[arg(long, conflicts_with = "guarded")]
    plain: bool,

    /// Write steps that fall back to a default where they fail [default for tokpidjin]
    #[arg(long)]
    guarded: bool,

    /// Show the most shared steps and the most frequent primitives
    #[arg(long)]
    stats: bool,

    /// Show all of them, not only the first 20
    #[arg(short, long)]
    verbose: bool,

    /// Print the summary and all statistics as one JSON object
    #[arg(long)]
    json: bool,

    /// Which library the solvers are written for
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

impl CardArgs {
    fn to_stdout(&self) -> bool {
        self.out == Path::new("-")
    }

    /// How steps are written.
    fn form(&self, dialect: Dialect) -> Result<Form> {
        match dialect {
            _ if self.plain => Ok(Form::Plain),
            Dialect::Tokpidjin => Ok(Form::Guarded),
            _ if self.guarded => Err(advised(
                format_args!("{} has no guarded form", dialect.name()),
                "guards need the defaults of tokpidjin; leave --guarded out",
            )),
            _ => Ok(Form::Plain),
        }
    }
}

/// Runs the command.
pub fn main(args: &CardArgs, ui: &Ui) -> Result<Exit> {
    if !args.to_stdout() {
        let read = args.files.iter().chain(&args.differs);
        write::check(&args.out, read.map(PathBuf::as_path))?;
    }
    let files = load_all(&args.files, args.dialect.dialect(), ui)?;
    let data = args.tasks.as_deref().map(|path| load_tasks(path, ui));
    let data = data.transpose()?;
    let candidates = Candidates::new(&files, data.as_ref(), ui)?;
    let mut picked = candidates.pick(args.count, args.task.as_deref(), args.seed)?;
    let dialect = picked[0].program.dialect();
    let form = args.form(dialect)?;
    // Else merging says which solvers are of another dialect.
    let uniform = picked.iter().all(|d| d.program.dialect() == dialect);
    let differs = match args.no_differs || !uniform {
        true => differs::Differs::default(),
        false => differs::collect(&args.differs, dialect, ui)?,
    };
    let mutants = match args.mutants {
        Some(count) if uniform => made_by_chance(&picked, count.get(), args.seed, ui),
        _ => Vec::new(),
    };
    add_mutants(&mut picked, &mutants);
    let options = CardOptions {
        on_error: match form {
            Form::Guarded => OnError::Defaults,
            Form::Plain => OnError::Poison,
        },
        ..CardOptions::default()
    };
    let merged = card::merge(&picked, &differs.programs, &options).map_err(bad_card)?;
    let text = write_batt(&merged.batt, form);
    if !args.to_stdout() {
        write::both(&args.out, &text, &merged.batt)?;
    }
    mention_dialect(&text, &merged, ui);
    let report = Report {
        args,
        merged: &merged,
        form,
        candidates: &candidates,
        picked: &picked,
        mutants: &mutants,
    };
    let mut out = stdout();
    // With the batt on stdout, the summary goes where it does not mix with it.
    if args.to_stdout() {
        out.write_all(text.as_bytes())?;
        report.write(&mut io::stderr().lock())?;
    } else {
        report.write(&mut out)?;
    }
    out.flush()?;
    let clean = files.iter().all(SolverFile::is_clean);
    let all = candidates.complete && differs.complete;
    Ok(Exit::findings(!clean || !all))
}

/// Mutants of solvers, and a word if there are not as many as wanted.
fn made_by_chance(picked: &[Donor<'_>], wanted: usize, seed: u64, ui: &Ui) -> Vec<Mutant> {
    let mutants = mutants(picked, wanted, seed);
    if mutants.len() < wanted {
        let made = counted(mutants.len(), "mutant");
        ui.warn(format_args!("only {made} of {wanted} could be made"));
    }
    mutants
}

/// Mentions a dialect that the text alone does not give away: whoever reads it has to be told.
fn mention_dialect(text: &str, merged: &Merged, ui: &Ui) {
    let dialect = merged.batt.dialect();
    let taken_for = BattFile::parse(text, "batt", None).dialect;
    if taken_for != dialect {
        ui.note(format_args!(
            "the batt looks like {}: run it with --dialect {}",
            taken_for.name(),
            dialect.name()
        ));
    }
}

fn bad_card(error: CardError) -> Error {
    let hint = match &error {
        CardError::MixedDialects { .. } => {
            "make a card of each, or say with --dialect which library all are written for"
        }
        CardError::Parameters { .. } => "change its parameters or leave it out",
        CardError::DuplicateDonor { .. } => "give one of them another name",
        CardError::TooManySteps { .. } => "take fewer solvers, with --count",
    };
    advised(&error, hint)
}
