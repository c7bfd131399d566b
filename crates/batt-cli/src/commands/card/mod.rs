//! `batt card`: merges many solvers into one batt.

mod report;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::card::{self, DifferSet, DonorPool, Form};
use batt::{Control, Dialect};
use clap::Args;

use self::report::Report;
use crate::cli::{DialectName, Exit};
use crate::numbers;
use crate::solvers::{open_differs, open_solvers, open_tasks};
use crate::ui::{Ui, counted, stdout};

/// Merge many solvers into one program, a batt
#[derive(Args)]
#[command(after_help = "\
Every function of the solver files is a donor. A step that several donors share becomes one step.
Calls of known closures are resolved, calls of constants are computed, and unneeded steps that
cannot fail are dropped. No answer changes. The JSON file beside FILE says which steps belong to
which donor.

A donor is named by its task. With --tasks, that is the task that the function's name ends in.
Otherwise it is the part after solve_, solver_ or verify_, or else the whole name. A second solver
of a task gets a number, as in 1673c3ec.2. Solvers take turns, one step each. With --tasks, the
solver of the largest task goes first, and solvers without a task go last. Without --tasks, solvers
go in the order of the files. The same arguments always write the same file.

--mutants adds randomly changed solvers: another constant, primitive, argument or function of a
fitting type, an added or removed call, a value of another solver. Mutants of 1673c3ec are called
1673c3ec.m1, 1673c3ec.m2 and so on.

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

    /// Write the batt to a file, and its JSON form beside it; - prints the batt
    #[arg(short, long, value_name = "FILE|-")]
    output: PathBuf,

    /// The tasks of the solvers; the solver of the largest task goes first
    #[arg(long, value_name = "PATH")]
    tasks: Option<PathBuf>,

    /// Draw this many solvers
    #[arg(long, value_name = "N", value_parser = numbers::from_one::<NonZeroUsize>)]
    count: Option<NonZeroUsize>,

    /// Merge only the solvers of one task
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// Add this many mutants: copies of the solvers with random changes that fit the types
    #[arg(long, value_name = "N", value_parser = numbers::up_to::<MOST_MUTANTS>)]
    mutants: Option<NonZeroUsize>,

    /// Seed of the random choices of --count and --mutants
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::from_zero::<u64>)]
    seed: u64,

    /// Files with more differs, functions of (S, I, C), after the built-in ones
    #[arg(long, value_name = "FILE")]
    differs: Vec<PathBuf>,

    /// Add no differs
    #[arg(long, conflicts_with = "differs")]
    no_differs: bool,

    /// Write plain steps [default for arc-dsl and re-arc]
    #[arg(long, conflicts_with = "guarded")]
    plain: bool,

    /// Write steps that take a default value if they fail [default for tokpidjin]
    #[arg(long)]
    guarded: bool,

    /// Show the most shared steps and the most frequent primitives
    #[arg(long)]
    stats: bool,

    /// Show all rows, not only the first 20
    #[arg(short, long)]
    verbose: bool,

    /// Print the summary and all statistics as one JSON object
    #[arg(long)]
    json: bool,

    /// The library for which the solvers are written
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

/// Programs of usual size that fill a batt: no batt takes more than 50 million steps.
const MOST_MUTANTS: usize = 1_000_000;

impl CardArgs {
    fn to_stdout(&self) -> bool {
        self.output == Path::new("-")
    }

    /// Returns the form in which steps are written; `None` uses the form that suits the dialect.
    fn form(&self) -> Option<Form> {
        match (self.plain, self.guarded) {
            (true, _) => Some(Form::Plain),
            (_, true) => Some(Form::Guarded),
            _ => None,
        }
    }

    /// Loads the differs and prints the diagnostics of their files. Also returns whether all could
    /// be loaded.
    fn differs(&self, dialect: Dialect, ui: &Ui) -> Result<(DifferSet, bool)> {
        if self.no_differs {
            return Ok((DifferSet::none(), true));
        }
        open_differs(&self.differs, dialect, ui)
    }
}

/// Runs the command.
pub fn main(args: &CardArgs, ui: &Ui) -> Result<Exit> {
    if !args.to_stdout() {
        let read = args.files.iter().chain(&args.differs);
        card::check_target(&args.output, read.map(PathBuf::as_path))?;
    }
    let solvers = open_solvers(&args.files, args.dialect.dialect(), ui)?;
    let tasks = args.tasks.as_deref().map(|path| open_tasks(path, ui));
    let tasks = tasks.transpose()?;
    let pool = DonorPool::new(&solvers, tasks.as_ref())?;
    for why in &pool.left_out {
        ui.warn(format_args!("{why}; left out"));
    }
    let mention = |what, names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        ui.mention(what, &names);
    };
    mention("without a task in --tasks", &pool.without_task);
    mention(
        "got a number, because the task has another solver",
        &pool.renamed,
    );
    let complete = pool.left_out.is_empty();
    let count = args.count.map(NonZeroUsize::get);
    let mut donors = pool.pick(args.task.as_deref(), count, args.seed)?;
    // Merging will report solvers of several dialects; errors about differs would only distract
    // from that.
    let (differs, clean) = match donors.is_uniform() {
        true => args.differs(donors.dialect(), ui)?,
        false => (DifferSet::none(), true),
    };
    let wanted = args.mutants.map_or(0, NonZeroUsize::get);
    let made = donors.add_mutants(wanted, args.seed, &Control::new());
    if made < wanted && donors.is_uniform() {
        let made = counted(made, "mutant");
        ui.warn(format_args!("only {made} of {wanted} could be made"));
    }
    let merged = donors.merge(&differs, args.form())?;
    let text = merged.text();
    if !args.to_stdout() {
        merged.save(&args.output)?;
    }
    let (dialect, looks_like) = (merged.batt.dialect(), card::dialect_of_text(&text));
    if looks_like != dialect {
        ui.note(format_args!(
            "the batt looks like {}: run it with --dialect {}",
            looks_like.name(),
            dialect.name()
        ));
    }
    let report = Report {
        args,
        merged: &merged,
        donors: &donors,
        mutants: made,
    };
    let mut out = stdout();
    // If the batt goes to stdout, the summary goes to stderr.
    if args.to_stdout() {
        out.write_all(text.as_bytes())?;
        report.write(&mut io::stderr().lock())?;
    } else {
        report.write(&mut out)?;
    }
    out.flush()?;
    Ok(Exit::findings(!solvers.is_clean() || !complete || !clean))
}
