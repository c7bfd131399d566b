//! `batt evolve`: evolves new solvers from old ones.

mod picture;
mod report;
mod view;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::archive::Retention;
use batt::evolve::{Evolve, EvolveEvent, EvolveOptions, EvolveStart, HoldOut, Weights};
use batt::{DeviceChoice, Solvers, Tasks};
use clap::Args;

use self::report::Report;
use self::view::View;
use crate::cli::{DialectName, Exit, Jobs};
use crate::duration;
use crate::interrupt;
use crate::numbers;
use crate::solvers::{open_differs, open_solvers, open_tasks};
use crate::ui::{Ui, counted, stdout};

/// Breed new solvers from old ones, and keep the best
#[derive(Args)]
#[command(after_help = "\
Evolution changes solvers, runs the new programs on the demonstrations of every task, keeps the
best of each task, and repeats. It saves new solvers in an archive as it finds them, so the command
can be ended at any moment, and --resume continues. It never reads the test outputs of a task,
except at the very end with --report-tests.

Without --tasks, evolution searches for solvers of 16 embedded puzzles, and learns from the solvers
of the others. --seed selects the 16, and the report says how many got a solver. Without --archive,
nothing is saved then.

The same seed, data, archive and --generations give the same solvers, on any number of threads and
any device. Kinds of mutation: constant, op, rewire, insert, remove, function, transplant, mate,
assemble, adopt, colour, mirror. Kinds that lead to better programs are tried more often, unless
--weights fixes the shares.

Examples:
  batt evolve                                                   find solvers of embedded puzzles
  batt evolve --tasks data/training --solvers solvers.py --time 1h
  batt evolve --tasks data/training --solvers solvers.py --time 1h --resume
  batt evolve --tasks data/training --solvers solvers.py --hold-out 100 --time 30m --seed 1
  batt evolve --tasks data/evaluation --task 00576224 --generations 50 --weights assemble=3,others=1")]
pub struct EvolveArgs {
    /// A folder of tasks, a task file, or a Kaggle challenges file [default: the embedded tasks]
    #[arg(long, value_name = "PATH")]
    tasks: Option<PathBuf>,

    /// Solver files to learn from [default for the embedded tasks: their solvers]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    solvers: Vec<PathBuf>,

    /// Archive to save solvers in [default: batt.sqlite; none for the embedded tasks]
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,

    /// Continue the last run of the archive on the same tasks
    #[arg(long)]
    resume: bool,

    /// How long to evolve, such as 90s, 10m or 1h [default: 10m; no limit with --generations]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,

    /// End after this many generations
    #[arg(long, value_name = "N", value_parser = numbers::from_zero::<u64>)]
    generations: Option<u64>,

    /// Seed of the random choices [default: 0; with --resume, that of the run]
    #[arg(long, value_name = "N", value_parser = numbers::from_zero::<u64>)]
    seed: Option<u64>,

    /// Evolve only these tasks
    #[arg(long, value_name = "ID", num_args = 1..)]
    task: Vec<String>,

    /// Remove the solvers of N tasks, chosen by the seed, and evolve only those tasks
    /// [default: 16 for the embedded tasks, else 0]
    #[arg(long, value_name = "N", value_parser = numbers::from_zero::<usize>)]
    hold_out: Option<usize>,

    /// Report at the end which solvers are right on the tests
    #[arg(long)]
    report_tests: bool,

    /// Where offspring run; auto is the CPU, whose cores are faster than one GPU here
    #[arg(long, value_name = DeviceChoice::FORMS, default_value = "auto")]
    device: DeviceChoice,

    #[command(flatten)]
    jobs: Jobs,

    /// Populations of each task; they exchange their best every eight generations
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::up_to::<MOST_ISLANDS>)]
    islands: NonZeroUsize,

    /// The number of programs in a population
    #[arg(long, value_name = "N", default_value = "48", value_parser = numbers::from_one::<NonZeroUsize>)]
    population: NonZeroUsize,

    /// Offspring of each population in a generation [default: 131,072 divided by the populations]
    #[arg(long, value_name = "N", value_parser = numbers::from_one::<NonZeroUsize>)]
    offspring: Option<NonZeroUsize>,

    /// Fixed shares of the kinds of mutation: constant=2,op=1,others=0.5
    #[arg(long, value_name = "KIND=W,...")]
    weights: Option<Weights>,

    /// Files with more differs, functions of (S, I, C), which measure the closeness of outputs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    differs: Vec<PathBuf>,

    /// Solvers that the archive keeps for a task; original applies the original system's rule
    #[arg(long, value_name = "N|original", default_value = "32")]
    capacity: Retention,

    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,

    /// List all solved tasks and, without a terminal, every generation and improvement
    #[arg(short, long)]
    verbose: bool,

    /// The library for which the solvers are written
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

/// The most populations of a task. Creating more takes longer than evolving them.
const MOST_ISLANDS: usize = 1_000;

/// The default time limit.
const TIME: Duration = Duration::from_secs(600);

/// The default archive for the user's own tasks.
const ARCHIVE: &str = "batt.sqlite";

/// The default number of embedded tasks whose solvers are held out: few enough that each gets some
/// time, and enough that something is found.
const HELD_OUT: usize = 16;

impl EvolveArgs {
    /// Returns the path of the archive, if there is one.
    fn archive(&self) -> Option<&Path> {
        let default = self.tasks.is_some().then_some(Path::new(ARCHIVE));
        self.archive.as_deref().or(default)
    }

    /// Returns the time at which to end; `None` for no limit. A time that overflows the clock is no
    /// limit.
    fn deadline(&self) -> Option<Instant> {
        let default = self.generations.is_none().then_some(TIME);
        Instant::now().checked_add(self.time.or(default)?)
    }

    fn hold_out(&self) -> HoldOut {
        match self.hold_out {
            Some(count) => HoldOut::Exactly(count),
            None if self.tasks.is_some() || !self.solvers.is_empty() => HoldOut::AtMost(0),
            // All named tasks are held out.
            None if !self.task.is_empty() => HoldOut::AtMost(usize::MAX),
            None => HoldOut::AtMost(HELD_OUT),
        }
    }

    fn evolve(&self, ui: &Ui) -> Result<Evolve> {
        let tasks = match &self.tasks {
            Some(path) => open_tasks(path, ui)?,
            None => Tasks::embedded(),
        };
        let dialect = self.dialect.dialect();
        let solvers = match (self.solvers.is_empty(), &self.tasks) {
            (false, _) => open_solvers(&self.solvers, dialect, ui)?,
            (true, None) => Solvers::embedded(),
            (true, Some(_)) => Solvers::from_files(Vec::new()),
        };
        let first = solvers
            .files()
            .iter()
            .flat_map(|file| &file.programs)
            .next();
        let of_first = first.map(|program| program.dialect());
        let differs = match self.differs.is_empty() {
            true => Vec::new(),
            false => {
                let dialect = dialect.or(of_first).unwrap_or_default();
                open_differs(&self.differs, dialect, ui)?.0.programs
            }
        };
        let options = EvolveOptions {
            tasks: self.task.clone(),
            hold_out: self.hold_out(),
            dialect,
            differs,
            archive: self.archive().map(Path::to_owned),
            resume: self.resume,
            retention: self.capacity,
            seed: self.seed,
            generations: self.generations,
            report_tests: self.report_tests,
            islands: self.islands,
            population: self.population.get(),
            offspring: self.offspring,
            weights: self.weights.clone(),
            threads: self.jobs.threads(ui),
        };
        let evolve = Evolve::new(&tasks).solvers(&solvers).options(options);
        Ok(evolve.device(self.device.clone()))
    }
}

/// Runs the command.
pub fn main(args: &EvolveArgs, ui: &Ui) -> Result<Exit> {
    let deadline = args.deadline();
    let evolve = args.evolve(ui)?;
    interrupt::watch();
    let mut control = interrupt::control();
    if let Some(deadline) = deadline {
        control = control.deadline(deadline);
    }
    let mut view = View::new(args, deadline, ui);
    let report = evolve.run(&control, |event| match event {
        EvolveEvent::Started(start) => say(args, &start, ui),
        EvolveEvent::Note(text) => ui.note(text),
        other => view.show(&other),
    });
    view.close();
    let mut report = report?;
    let save_error = report.save_error.take();
    let mut out = stdout();
    Report {
        args,
        report: &report,
        complete: save_error.is_none(),
    }
    .write(&mut out, ui)?;
    out.flush()?;
    if let Some(error) = save_error {
        return Err(batt::Error::from(error).into());
    }
    if interrupt::happened() {
        if args.archive().is_some() {
            ui.note("the solvers found are saved; the same command with --resume continues");
        }
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Good)
}

/// Prints what the run starts with.
fn say(args: &EvolveArgs, start: &EvolveStart, ui: &Ui) {
    let dialect = start.dialect.name();
    mention(
        ui,
        "left out, because a solver takes one grid or (S, I, C)",
        &start.not_solvers,
    );
    let other = format!("left out, because the others are {dialect}");
    mention(ui, &other, &start.other_dialect);
    if args.resume && start.resumed.is_none() {
        ui.note("there is no earlier run on these tasks; starting from the beginning");
    }
    if start.archived_foreign > 0 {
        let count = counted(start.archived_foreign, "solver");
        ui.note(format_args!(
            "{count} of the archive left out, because the others are {dialect}"
        ));
    }
    if start.archived_solvers + start.archived_solutions > 0 {
        ui.note(format_args!(
            "the archive has {} of these tasks, and solvers of {} to learn from",
            counted(start.archived_solvers, "solver"),
            counted(start.archived_solutions, "task"),
        ));
    }
    let (tasks, solvers) = (
        counted(start.tasks, "task"),
        counted(start.seed_solvers, "solver"),
    );
    ui.note(match (args.tasks.is_none(), start.held_out > 0) {
        (true, true) => format!(
            "searching for solvers of {tasks} of the {} embedded ones, starting from {solvers} of the others",
            start.all_tasks
        ),
        (_, true) => format!("searching for solvers of {tasks}, starting from {solvers} of others"),
        (_, false) => format!("searching for solvers of {tasks}, starting from {solvers}"),
    });
    match &start.archive {
        Some(path) => ui.note(format_args!("saving to {}", path.display())),
        None => ui.note("nothing is saved; --archive FILE saves the solvers found"),
    }
    if let Some(resumed) = &start.resumed {
        ui.note(format_args!(
            "continuing run {} of {} at generation {}",
            resumed.run, resumed.started, resumed.generation
        ));
    }
}

fn mention(ui: &Ui, what: &str, names: &[String]) {
    ui.mention(what, &names.iter().map(String::as_str).collect::<Vec<_>>());
}
