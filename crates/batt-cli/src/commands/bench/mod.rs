//! `batt bench`: how fast we are, alone and against Python.

mod against;
mod checkout;
mod device;
mod mega;
mod memory;
mod mutants;
mod python;
mod report;
mod soak;
mod targets;
mod tokpidjin;
mod turns;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_engine::{EvalOptions, Job, evaluate};
use clap::{ArgGroup, Args};
use serde_json::json;

use self::against::compare;
use self::checkout::Kind;
use crate::cli::{Exit, RunOptions};
use crate::corpus::{Corpus, Puzzle, measure};
use crate::device::{DeviceName, Devices, VALUES, fraction};
use crate::duration;
use crate::error::advised;
use crate::interrupt;
use crate::ui::{Ui, grouped, stdout};

/// Measure throughput, alone or against a Python checkout
#[derive(Args)]
#[command(group = ArgGroup::new("subject").args(["against", "mega", "device"]).multiple(true))]
#[command(after_help = "\
The built-in puzzles are timed on one core and on all. With --against, the solvers of an arc-dsl
checkout also run on the inputs of their tasks, by Python and by batt in turns. Only the call of
a solver is timed on either side; of several rounds the median counts. A run with few
--seconds has fewer rounds.

With --mutants as well, solvers changed by chance run on the inputs of their tasks instead, once on either side,
and every value and every error is compared.

Of a tokpidjin checkout, which has a safe_dsl.py, some solvers are merged into a batt with the built-in
differs. It runs under the checkout's own library and here, in turns, and both lists it returns are compared. The
library needs numpy.

With --mega, solvers are run one by one and merged into one batt, on one core and on all, on the
built-in puzzles or on --solvers and --tasks. What is compared takes turns on every sample, and the results
of both sides are compared. With --mutants, solvers changed by chance are among them, as in the batts of a search.

With --device, every solver runs on every input, several times: on the devices, on all cores without them, and with
--against some of the runs by Python, for about --seconds. All scores and hashes are compared.

With --targets, every target of the original's documents is measured on one core, on all and on the device, in
turns, with what limits the device. All results are compared. With --against a tokpidjin checkout, Python runs the
batt of 650 steps as well.

With --soak, mega-batches run on the device over and over, some of the results are verified, and memory is looked at
every second. It is a finding if a result differs, if a device is lost, or if memory grows by more than 2 % from the
second fifth of the time to the last.

Examples:
  batt bench
  batt bench --device cuda --targets --solvers solvers.py --tasks data --json
  batt bench --device cuda --targets --against ../tokpidjin --tasks data --markdown
  batt bench --device cuda --soak 5m --solvers solvers.py --tasks data
  batt bench --device cuda --against ../arc-dsl --tasks data
  batt bench --against ../tokpidjin --tasks data/training --python venv/bin/python --count 32
  batt bench --mega
  batt bench --mega --solvers solvers.py --tasks data/training --seconds 300
  batt bench --mega --solvers solvers.py --tasks data/training --count 20 --mutants 380
  batt bench --against ../arc-dsl --tasks data/training
  batt bench --against ../arc-dsl --tasks data/training --mutants 5000
  batt bench --against ../tokpidjin --tasks data/training --mutants 5000 --python venv/bin/python
  batt bench --against ../arc-dsl --tasks data/training --python /usr/bin/python3.12 --json")]
pub struct BenchArgs {
    /// A checkout of arc-dsl or of tokpidjin
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,

    /// Measure mega-batches: what sharing steps and using all cores is worth
    #[arg(long, conflicts_with = "against")]
    mega: bool,

    /// Measure every solver on every input on this device, on all cores and, with --against, by Python
    #[arg(long, value_name = VALUES, conflicts_with = "mega")]
    device: Option<DeviceName>,

    /// Measure the targets of the original's documents, one by one
    #[arg(long, requires = "device", conflicts_with_all = ["mega", "soak"])]
    targets: bool,

    /// Run mega-batches on the device for so long, such as 5m, and see whether memory grows or a result differs
    #[arg(long, value_name = "TIME", requires = "device", conflicts_with = "mega", value_parser = duration::parse)]
    soak: Option<Duration>,

    /// With --soak, the fraction of runs that the processor does again to compare
    #[arg(long, value_name = "FRACTION", default_value_t = 0.05, requires = "soak", value_parser = fraction)]
    verify: f64,

    /// The Python to compare with [default: /usr/bin/python3, or the first on the PATH]
    #[arg(long, value_name = "PATH", requires = "against")]
    python: Option<PathBuf>,

    /// The tasks to run on [default: DIR/../data/training; with --mega the built-in puzzles]
    #[arg(long, value_name = "PATH", requires = "subject")]
    tasks: Option<PathBuf>,

    /// Solver files for the batts [default: the checkout's; with --mega the built-in ones]
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "subject")]
    solvers: Vec<PathBuf>,

    /// How many solvers make a batt [default: 20 against tokpidjin; with --mega all]
    #[arg(
        long,
        value_name = "N",
        requires = "subject",
        conflicts_with = "device"
    )]
    count: Option<NonZeroUsize>,

    /// With --mega, so many mutants of the solvers as well; with --against, compare the results of so many
    /// with Python's
    #[arg(
        long,
        value_name = "N",
        requires = "subject",
        conflicts_with = "device"
    )]
    mutants: Option<NonZeroUsize>,

    /// Which solvers make a batt, and how mutants differ from them
    #[arg(long, value_name = "N", default_value_t = 0, requires = "subject")]
    seed: u64,

    /// About how long to measure [default: 60; with --targets 120]
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<f64>,

    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,

    /// With --targets, print the table as Markdown, as in docs/performance.md
    #[arg(long, requires = "targets", conflicts_with = "json")]
    markdown: bool,

    #[command(flatten)]
    options: RunOptions,
}

/// Solvers of the batt that is compared with tokpidjin.
const COUNT: usize = 20;

/// A figure for the corpus is steady after this.
const CORPUS: Duration = Duration::from_secs(2);

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("write a number of seconds, such as 10 or 0.5".to_owned()),
    }
}

impl BenchArgs {
    /// About how long to measure.
    fn time(&self) -> Duration {
        let default = match self.targets {
            true => 120.0,
            false => 60.0,
        };
        Duration::from_secs_f64(self.seconds.unwrap_or(default))
    }
}

/// Runs the command.
pub fn main(args: &BenchArgs, ui: &Ui) -> Result<Exit> {
    interrupt::watch();
    if args.mega {
        return measure_mega(args, ui);
    }
    if let Some(device) = &args.device {
        return match args.soak {
            Some(time) => soak_device(device, time, args, ui),
            None if args.targets => measure_targets(device, args, ui),
            None => measure_device(device, args, ui),
        };
    }
    if let Some(checkout) = &args.against {
        match (Kind::of(checkout, !args.solvers.is_empty())?, args.mutants) {
            (Kind::Tokpidjin, None) => return against_tokpidjin(checkout, args, ui),
            (kind, Some(count)) => return compare_mutants(checkout, kind, count, args, ui),
            (Kind::ArcDsl, None) => {}
        }
    }
    let corpus = Corpus::load();
    let puzzles = corpus.puzzles();
    let time = args.time().min(CORPUS);
    let one = measure(&puzzles, &EvalOptions::default(), time);
    let one = one.runs as f64 / one.time.as_secs_f64();
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let all = on_all_cores(&puzzles, one, threads, time);

    let comparison = match &args.against {
        Some(checkout) if !interrupt::happened() => Some(compare(
            checkout,
            args.python.as_deref(),
            args.tasks.as_deref(),
            args.time(),
            ui,
        )?),
        _ => None,
    };
    let mut out = stdout();
    if args.json {
        let corpus = json!({
            "one_core_runs_per_second": one.round(),
            "threads": threads,
            "all_cores_runs_per_second": all.round(),
        });
        let against = comparison.as_ref().map(report::to_json);
        writeln!(out, "{}", json!({"corpus": corpus, "against": against}))?;
    } else {
        writeln!(
            out,
            "built-in puzzles: {} runs/s on one core, {} runs/s on {threads} threads",
            grouped(one as usize),
            grouped(all as usize),
        )?;
        if let Some(comparison) = &comparison {
            writeln!(out)?;
            report::write(&mut out, comparison, ui)?;
        }
    }
    out.flush()?;
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    let differ = comparison.is_some_and(|found| found.agreed < found.answers);
    Ok(Exit::findings(differ))
}

/// A batt by us and by a tokpidjin checkout.
fn against_tokpidjin(checkout: &Path, args: &BenchArgs, ui: &Ui) -> Result<Exit> {
    let wanted = tokpidjin::Wanted {
        checkout,
        python: args.python.as_deref(),
        solvers: &args.solvers,
        tasks: args.tasks.as_deref(),
        count: args.count.map_or(COUNT, NonZeroUsize::get),
        seed: args.seed,
        limits: args.options.engine(None).limits,
        time: args.time(),
    };
    let comparison = tokpidjin::compare(&wanted, ui)?;
    let mut out = stdout();
    match args.json {
        true => writeln!(
            out,
            "{}",
            json!({"against": tokpidjin::to_json(&comparison)})
        )?,
        false => tokpidjin::write(&mut out, &comparison, ui)?,
    }
    out.flush()?;
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(comparison.agreement.differ() > 0))
}

/// Mutants of a checkout's solvers, by Python and by us.
fn compare_mutants(
    checkout: &Path,
    kind: Kind,
    count: NonZeroUsize,
    args: &BenchArgs,
    ui: &Ui,
) -> Result<Exit> {
    let wanted = mutants::Wanted {
        checkout,
        kind,
        python: args.python.as_deref(),
        solvers: &args.solvers,
        tasks: args.tasks.as_deref(),
        count: count.get(),
        seed: args.seed,
        limits: args.options.engine(None).limits,
    };
    let comparison = mutants::compare(&wanted, ui)?;
    let mut out = stdout();
    match args.json {
        true => writeln!(out, "{}", json!({"mutants": mutants::to_json(&comparison)}))?,
        false => mutants::write(&mut out, &comparison, ui)?,
    }
    out.flush()?;
    if comparison.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(comparison.differ > 0))
}

/// The mega-batch workloads.
fn measure_mega(args: &BenchArgs, ui: &Ui) -> Result<Exit> {
    let wanted = mega::Wanted {
        solvers: &args.solvers,
        tasks: args.tasks.as_ref(),
        dialect: args.options.dialect(),
        count: args.count.map(NonZeroUsize::get),
        mutants: args.mutants.map_or(0, NonZeroUsize::get),
        seed: args.seed,
        options: &args.options.engine(None),
        time: args.time(),
    };
    let bench = mega::measure(&wanted, ui)?;
    let mut out = stdout();
    match args.json {
        true => writeln!(out, "{}", json!({"mega": mega::to_json(&bench)}))?,
        false => mega::write(&mut out, &bench, ui)?,
    }
    out.flush()?;
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(bench.agreement.differ > 0))
}

/// What to measure on a device.
fn wanted<'a>(device: &'a DeviceName, args: &'a BenchArgs) -> device::Wanted<'a> {
    device::Wanted {
        device,
        checkout: args.against.as_deref(),
        python: args.python.as_deref(),
        solvers: &args.solvers,
        tasks: args.tasks.as_deref(),
        dialect: args.options.dialect(),
        limits: args.options.engine(None).limits,
        time: args.time(),
        seed: args.seed,
    }
}

/// Every solver on every input, on a device.
fn measure_device(device: &DeviceName, args: &BenchArgs, ui: &Ui) -> Result<Exit> {
    let bench = device::measure(&wanted(device, args), ui)?;
    let mut out = stdout();
    match args.json {
        true => writeln!(out, "{}", json!({"device": device::to_json(&bench)}))?,
        false => device::write(&mut out, &bench)?,
    }
    out.flush()?;
    if bench.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(bench.differing > 0))
}

/// The targets of the original's documents.
fn measure_targets(device: &DeviceName, args: &BenchArgs, ui: &Ui) -> Result<Exit> {
    let table = targets::measure(&wanted(device, args), ui)?;
    let mut out = stdout();
    if args.json {
        writeln!(out, "{}", json!({"targets": targets::to_json(&table)}))?;
    } else if args.markdown {
        targets::write_markdown(&mut out, &table)?;
    } else {
        targets::write(&mut out, &table, ui)?;
    }
    out.flush()?;
    if table.interrupted {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(table.agreement.differing > 0))
}

/// Mega-batches over and over.
fn soak_device(device: &DeviceName, time: Duration, args: &BenchArgs, ui: &Ui) -> Result<Exit> {
    let wanted = soak::Wanted {
        device,
        checkout: args.against.as_deref(),
        solvers: &args.solvers,
        tasks: args.tasks.as_deref(),
        dialect: args.options.dialect(),
        limits: args.options.engine(None).limits,
        time,
        verify: args.verify,
        seed: args.seed,
    };
    let soak = soak::run(&wanted, ui)?;
    let mut out = stdout();
    match args.json {
        true => writeln!(out, "{}", json!({"soak": soak::to_json(&soak)}))?,
        false => soak::write(&mut out, &soak, ui)?,
    }
    out.flush()?;
    match (soak.is_bad(), soak.interrupted) {
        (true, _) => Ok(Exit::Findings),
        (false, true) => Ok(Exit::Interrupted),
        (false, false) => Ok(Exit::Good),
    }
}

/// Solver files and tasks: those that are named, or a checkout's. None are the built-in ones.
fn files_of(
    checkout: Option<&Path>,
    solvers: &[PathBuf],
    tasks: Option<&Path>,
) -> Result<(Vec<PathBuf>, Option<PathBuf>)> {
    let Some(checkout) = checkout else {
        return Ok((solvers.to_vec(), tasks.map(Path::to_owned)));
    };
    let files = Kind::of(checkout, !solvers.is_empty())?.files(checkout, solvers);
    Ok((files, Some(against::task_folder(checkout, tasks)?)))
}

/// The devices of a device; there is at least one. Each has so many logical devices if none is named.
fn open(device: &DeviceName, per_device: usize, ui: &Ui) -> Result<Devices> {
    let devices = device.open(None, per_device, ui)?;
    match devices.is_empty() {
        false => Ok(devices),
        true => Err(advised(
            "there is no device to measure",
            "say which with --device, or see what is missing with `batt device`",
        )),
    }
}

/// Runs per second of the corpus on every core.
fn on_all_cores(puzzles: &[Puzzle<'_>], one: f64, threads: usize, time: Duration) -> f64 {
    let once: Vec<Job<'_>> = puzzles
        .iter()
        .flat_map(|puzzle| puzzle.jobs.iter().copied())
        .collect();
    let wanted = one * threads as f64 * time.as_secs_f64();
    let copies = (wanted / once.len() as f64).ceil().max(1.0) as usize;
    let jobs = once.repeat(copies);
    let started = Instant::now();
    let done = evaluate(&jobs, &EvalOptions::default(), interrupt::stop(), |_, _| {});
    done.runs as f64 / started.elapsed().as_secs_f64()
}
