//! `batt evolve`: new solvers from old ones.
//!
//! ```text
//!   tasks, solvers, archive --> Material --> Evolution <---+
//!                                               |          | round by round, until somebody stops it
//!                                            Progress -----+
//!                                            |      |
//!                      Keeper, Saver (archive)      View (stderr), then Report (stdout)
//! ```

mod answers;
mod course;
mod keeper;
mod material;
mod options;
mod picture;
mod progress;
mod report;
mod saver;
mod view;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_archive::Retention;
use batt_evolve::{Evolution, Settings, Weights};
use clap::Args;

use self::answers::Answers;
use self::course::Course;
use self::keeper::Keeper;
pub use self::keeper::stored;
use self::material::Material;
use self::report::Report;
use crate::cli::{DialectName, Exit};
use crate::duration;
use crate::interrupt;
use crate::ui::{Ui, stdout};
use batt::{DeviceChoice, Devices, Limits};

/// Breed new solvers from old ones, and keep the best
#[derive(Args)]
#[command(after_help = "\
Solvers are changed, run on the demonstrations of every task, and the best of each task bred again. What is
found is saved in an archive as it is found: the command can be ended at any moment, and goes on with
--resume. The tests of a task are never looked at; with --report-tests they are, at the very end.

Without --tasks the embedded puzzles are evolved, with the solvers of 16 of them held out. They are chosen
by --seed, and the report says how many were found again. Nothing is saved then without --archive.

The same seed, data, archive and --generations give the same solvers, on any number of threads and any device.
Kinds of change: constant, op, rewire, insert, remove, function, transplant, mate, assemble, adopt, colour,
mirror. How often each is tried follows what pays, unless --weights says it.

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

    /// Solver files to learn from [default: with the embedded tasks, their solvers]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    solvers: Vec<PathBuf>,

    /// Where to save what is found [default: batt.sqlite; for embedded tasks, nowhere]
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,

    /// Go on with the last run of the archive on the same tasks
    #[arg(long)]
    resume: bool,

    /// How long to go on: 90s, 10m, 1h [default: 10m, or no end with --generations]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,

    /// How many generations to go on for
    #[arg(long, value_name = "N")]
    generations: Option<u64>,

    /// What chance starts from [default: 0, or that of the run that goes on]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Evolve only these tasks
    #[arg(long, value_name = "ID", num_args = 1..)]
    task: Vec<String>,

    /// Leave out the solvers of N tasks, chosen by the seed, and evolve only those tasks
    /// [default: 16 for the embedded tasks, else 0]
    #[arg(long, value_name = "N")]
    hold_out: Option<usize>,

    /// Say in the end whether what was found is right on the tests
    #[arg(long)]
    report_tests: bool,

    /// Where offspring run; auto uses devices if there are any and it is worth it
    #[arg(long, value_name = DeviceChoice::FORMS, default_value = "auto")]
    device: DeviceChoice,

    /// Threads [default: one per core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Populations of each task, which exchange their best now and then
    #[arg(long, value_name = "N", default_value = "1")]
    islands: NonZeroUsize,

    /// Programs in a population
    #[arg(long, value_name = "N", default_value = "48")]
    population: NonZeroUsize,

    /// Offspring of each population in a generation [default: as many as make a good generation]
    #[arg(long, value_name = "N")]
    offspring: Option<NonZeroUsize>,

    /// How often each kind of change is tried, fixed: constant=2,op=1,others=0.5
    #[arg(long, value_name = "KIND=W,...", value_parser = options::weights)]
    weights: Option<Weights>,

    /// More differs, functions of (S, I, C), for the closeness of outputs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    differs: Vec<PathBuf>,

    /// Solvers the archive keeps for a task; original for the rule of the original system
    #[arg(long, value_name = "N|original", default_value = "32", value_parser = options::capacity)]
    capacity: Retention,

    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,

    /// Say more: all solved tasks, and without a terminal every generation and improvement
    #[arg(short, long)]
    verbose: bool,

    /// Which library the solvers are written for
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

/// How long to evolve if nobody says.
const TIME: Duration = Duration::from_secs(600);

/// The archive of tasks that the user names.
const ARCHIVE: &str = "batt.sqlite";

impl EvolveArgs {
    /// Does the user bring tasks?
    fn embedded(&self) -> bool {
        self.tasks.is_none()
    }

    /// The archive, if there is to be one.
    fn archive(&self) -> Option<&Path> {
        let default = (!self.embedded()).then_some(Path::new(ARCHIVE));
        self.archive.as_deref().or(default)
    }

    /// How long to go on; `None` for no end.
    fn time(&self) -> Option<Duration> {
        let default = self.generations.is_none().then_some(TIME);
        self.time.or(default)
    }

    fn settings(&self, seed: u64) -> Settings {
        Settings {
            seed,
            islands: self.islands,
            population: self.population.get(),
            offspring: self.offspring,
            weights: self.weights.clone().unwrap_or_default(),
            threads: self.jobs,
            ..Settings::default()
        }
    }

    fn devices(&self, material: &Material, ui: &Ui) -> Result<Devices> {
        // What counts is what a device gets at a time.
        let runs = material.runs_at_once(self);
        let devices = Devices::open(&self.device, runs, &Limits::default(), self.jobs)?;
        ui.device_notes(&devices);
        Ok(devices)
    }
}

/// Runs the command.
pub fn main(args: &EvolveArgs, ui: &Ui) -> Result<Exit> {
    let started = Instant::now();
    let mut material = Material::load(args, ui)?;
    let mut seed = args.seed.unwrap_or_default();
    material.choose(args, seed)?;
    // Only now that all else is in order: this may make a file.
    let mut keeper = Keeper::open(args)?;
    let earlier = keeper.earlier_run(args, &material, ui)?;
    if let Some(run) = &earlier {
        seed = run.info.seed;
        material.choose(args, seed)?;
    }
    let known = keeper.known(&mut material, earlier.is_some(), ui)?;
    keeper.begin(args, &material, seed, earlier.as_ref())?;
    material.say(args, &keeper, ui);

    interrupt::watch();
    let mut devices = args.devices(&material, ui)?;
    let mut evolution = Evolution::new(
        &material.tasks,
        material.dialect,
        std::mem::take(&mut material.donors),
        &material.differs,
        args.settings(seed),
    );
    if let Some(run) = &earlier {
        keeper.restore(run, &mut evolution, ui)?;
        // What is said now counts more than what was said then.
        if let Some(weights) = &args.weights {
            evolution.set_weights(weights.clone());
        }
    }
    evolution.settle(&known.programs);

    // A time beyond all clocks is no limit.
    let deadline = args.time().and_then(|time| started.checked_add(time));
    let mut course = Course::new(args, evolution, &mut keeper, known.origins, ui);
    let ended = course.run(&mut devices, deadline);
    let progress = course.finish();
    let report = Report {
        args,
        material: &material,
        keeper: &keeper,
        progress: &progress,
        answers: Answers::of(args, &material, &progress),
        seed,
        devices: devices.len(),
        saved: ended.is_ok(),
    };
    let mut out = stdout();
    report.write(&mut out, ui)?;
    out.flush()?;
    ended?;
    if interrupt::happened() {
        if keeper.is_open() {
            ui.note("what was found is saved; the same command with --resume goes on");
        }
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Good)
}
