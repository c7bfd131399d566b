//! `batt mega`: batts over every sample of whole datasets.

mod journal;
mod record;
mod tally;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use batt_arc::{Dataset, PairRef};
use batt_engine::{CompiledBatt, MegaOptions, MegaReport, MegaResult, Sample, mega};
use batt_lang::batt::BattFile;
use batt_lang::{Batt, OnError};
use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use self::journal::{Existing, Journal};
use self::record::Entries;
use self::tally::{Solved, Tally};
use crate::batts;
use crate::cli::{Exit, RunOptions};
use crate::error::{advised, bad_file};
use crate::interrupt;
use crate::solvers::load_tasks;
use crate::ui::{Ui, counted, grouped, rate, stdout, table, table_text};

/// Run batts on every sample of every task
#[derive(Args)]
#[command(after_help = "\
Every sample of every task is run: the demonstrations, then the tests. Each candidate is compared with
the known output; a donor solves a task when it is right on all its pairs that have one. Where a
candidate is right, the differs run once more with the known output to compare with.

Each line of the results is one batt on one sample: batt, task, pair, o and s as the batt returns them
(an error has err and the step instead of a value), compared (s with the known output), and right, the
positions in o that are. Lines come in the order of the tasks, whatever the number of threads.
While the work goes on they are in FILE.part; --resume goes on with those after an interruption.

Examples:
  batt mega batt.py --tasks data/training
  batt mega batt.py --tasks data/training --out results.jsonl
  batt mega batt.py --tasks data/training --out results.jsonl --resume
  batt mega a.py b.py --tasks challenges.json --out results.parquet --jobs 8")]
pub struct MegaArgs {
    /// Batt files
    #[arg(required = true, value_name = "BATT")]
    batts: Vec<PathBuf>,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// Write one line of JSON per sample to a file, or to stdout with -; a .parquet file has columns
    #[arg(short, long, value_name = "FILE|-")]
    out: Option<PathBuf>,

    /// Go on with an unfinished run of the same batts and tasks
    #[arg(long, requires = "out", conflicts_with = "overwrite")]
    resume: bool,

    /// Throw the results of an unfinished run away
    #[arg(long, requires = "out")]
    overwrite: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    /// Threads [default: one per core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Samples under way or waiting for their turn [default: by what they cost]
    #[arg(long, value_name = "N")]
    batch_size: Option<NonZeroUsize>,

    /// Where to run: auto takes the fastest that is there
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: Device,

    /// What becomes of a step that fails [default: defaults for guarded files, else poison]
    #[arg(long, value_name = "MODE")]
    on_error: Option<OnErrorName>,

    /// List the steps that fell back to a default
    #[arg(long)]
    strict: bool,

    /// List every task, not only the first 20
    #[arg(short, long)]
    verbose: bool,

    /// Seconds one sample may take, as a last resort
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        help_heading = "Limits of one run"
    )]
    max_time: f64,

    #[command(flatten)]
    options: RunOptions,
}

/// Where to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Device {
    /// The fastest that is there
    Auto,
    /// The processor's cores
    Cpu,
}

/// What becomes of a step that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnErrorName {
    /// It has no value, and neither has what uses it
    Poison,
    /// Its value is the default of what was called
    Defaults,
}

impl From<OnErrorName> for OnError {
    fn from(name: OnErrorName) -> OnError {
        match name {
            OnErrorName::Poison => OnError::Poison,
            OnErrorName::Defaults => OnError::Defaults,
        }
    }
}

/// Rows listed without `--verbose`.
const LISTED: usize = 20;

/// Runs the command.
pub fn main(args: &MegaArgs, ui: &Ui) -> Result<Exit> {
    // One device is there; the choice is made so that scripts need not change when there are more.
    let (Device::Auto | Device::Cpu) = args.device;
    let loaded = batts::load_all(&args.batts, args.options.dialect(), ui)?;
    let data = load_tasks(&args.tasks, ui)?;
    let work = Work::new(&loaded, &data, args);
    if work.samples.is_empty() {
        return Err(advised(
            format_args!("{} holds no sample to run", args.tasks.display()),
            "name tasks that have at least one pair",
        ));
    }
    let (report, solved) = work.run(args, ui)?;
    let summary = Summary {
        work: &work,
        report: &report,
        solved: &solved,
        args,
    };
    // With the results on stdout, the summary goes where it does not mix with them.
    if args.out.as_deref() == Some(Path::new("-")) {
        summary.write(&mut io::stderr().lock())?;
    } else {
        let mut out = stdout();
        summary.write(&mut out)?;
        out.flush()?;
    }
    ui.remark(format_args!(
        "{} in {:.2} s on {}, batches of {}: {} samples/s",
        counted(report.runs, "run"),
        report.elapsed.as_secs_f64(),
        counted(report.workers, "thread"),
        grouped(report.batch_size),
        rate(report.runs, report.elapsed),
    ));
    if interrupt::happened() {
        if args.out.as_deref().is_some_and(|out| out != Path::new("-")) {
            ui.note("what is done is kept; the same command with --resume goes on");
        }
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(loaded.iter().any(|file| !file.is_clean())))
}

/// What is to be run.
struct Work<'a> {
    files: Vec<&'a str>,
    batts: Vec<&'a Batt>,
    compiled: Vec<CompiledBatt>,
    entries: Vec<Entries>,
    data: &'a Dataset,
    samples: Vec<Sample<'a>>,
    /// The task and the pair that each sample is.
    places: Vec<(usize, PairRef)>,
    options: MegaOptions,
}

impl<'a> Work<'a> {
    fn new(loaded: &'a [BattFile], data: &'a Dataset, args: &MegaArgs) -> Work<'a> {
        let batts = || {
            loaded.iter().flat_map(|file| {
                let name = file.source.name();
                file.batts.iter().map(move |batt| (name, batt))
            })
        };
        let compile = |batt: &Batt| {
            let compiled = CompiledBatt::new(batt);
            match args.on_error {
                Some(mode) => compiled.on_error(mode.into()),
                None => compiled,
            }
        };
        let mut samples = Vec::new();
        let mut places = Vec::new();
        for (at, task) in data.iter().enumerate() {
            for (name, pair) in task.pairs() {
                samples.push(Sample::new(task, pair));
                places.push((at, name));
            }
        }
        let engine = args.options.engine(args.jobs);
        let mut limits = engine.limits;
        limits.time = std::time::Duration::try_from_secs_f64(args.max_time).ok();
        Work {
            files: batts().map(|(file, _)| file).collect(),
            batts: batts().map(|(_, batt)| batt).collect(),
            compiled: batts().map(|(_, batt)| compile(batt)).collect(),
            entries: batts().map(|(_, batt)| Entries::new(batt)).collect(),
            data,
            samples,
            places,
            options: MegaOptions {
                limits,
                threads: args.jobs,
                batch_size: args.batch_size,
                compare: true,
            },
        }
    }

    /// How many runs there are.
    fn len(&self) -> usize {
        self.batts.len() * self.samples.len()
    }

    /// The batt and the sample of a run.
    fn run_at(&self, at: usize) -> (usize, usize) {
        (at / self.samples.len(), at % self.samples.len())
    }

    fn count(&self, tally: &mut Tally<'_>, at: usize, right: impl Iterator<Item = usize>) {
        let (batt, sample) = self.run_at(at);
        let known = self.samples[sample].expected.is_some();
        tally.add(batt, self.places[sample].0, known, right);
    }

    fn line(&self, at: usize, result: &MegaResult<Option<String>>) -> String {
        let (batt, sample) = self.run_at(at);
        let (task, pair) = self.places[sample];
        let task = &self.data.tasks()[task];
        record::line(self.files[batt], &task.id, &pair.to_string(), result)
    }

    fn run(&self, args: &MegaArgs, ui: &Ui) -> Result<(MegaReport, Vec<Solved>)> {
        let mut tally = Tally::new(self.batts.clone());
        let existing = match (args.resume, args.overwrite) {
            (true, _) => Existing::Resume,
            (_, true) => Existing::Overwrite,
            _ => Existing::Refuse,
        };
        let mut from = 0;
        let mut sink = match args.out.as_deref() {
            None => Sink::Nowhere,
            Some(path) if path == Path::new("-") => Sink::Stdout(Box::new(stdout())),
            Some(path) => {
                let seen = |at: usize, line: &str| {
                    let record: Json = serde_json::from_str(line)?;
                    let right = record["right"].as_array().context("no 'right'")?;
                    let right = right.iter().filter_map(|k| Some(k.as_u64()? as usize));
                    self.count(&mut tally, at, right);
                    Ok(())
                };
                let (journal, done) = Journal::open(path, &self.settings(), existing, seen)?;
                from = done;
                if done > 0 {
                    ui.note(format_args!("going on after {} of {}", done, self.len()));
                }
                Sink::File(path.to_owned(), journal)
            }
        };
        interrupt::watch();
        let stop = interrupt::stop();
        let bar = ui.progress(self.len(), "running");
        bar.set_position(from as u64);
        let wanted = !matches!(sink, Sink::Nowhere);
        let mut failed = None;
        let report = mega(
            &self.compiled,
            &self.samples,
            from,
            &self.options,
            stop,
            |batt, run, done, pass| wanted.then(|| self.entries[batt].render(run, done, pass)),
            |at, result| {
                if failed.is_none()
                    && wanted
                    && let Err(error) = sink.write(&self.line(at, &result))
                {
                    // Nobody can read the rest: stop working on it.
                    failed = Some(error);
                    stop.store(true, Ordering::SeqCst);
                }
                self.count(&mut tally, at, result.right());
                bar.set_position(at as u64 + 1);
            },
        );
        bar.finish_and_clear();
        let complete = from + report.runs == self.len();
        match failed {
            Some(error) => Err(error),
            None => sink.finish(complete),
        }?;
        Ok((report, tally.finish()))
    }

    /// What the results depend on: resuming asks for the same.
    fn settings(&self) -> Json {
        let limits = &self.options.limits;
        let batts = self.batts.iter().map(|batt| batts::fingerprint(batt));
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "batts": batts.collect::<Vec<_>>(),
            "files": self.files,
            "tasks": batts::hashed(format!("{:?}", self.data.tasks())),
            "on_error": self.compiled.iter().map(|b| format!("{:?}", b.mode())).collect::<Vec<_>>(),
            "limits": [limits.steps, limits.size as u64, limits.memory as u64],
        })
    }
}

/// Where lines go.
enum Sink {
    Nowhere,
    Stdout(Box<dyn Write>),
    File(PathBuf, Journal),
}

impl Sink {
    fn write(&mut self, line: &str) -> Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::Stdout(out) => Ok(out.write_all(line.as_bytes())?),
            Sink::File(_, journal) => {
                let part = journal.part();
                journal.write(line).map_err(|error| kept(&part, &error))
            }
        }
    }

    fn finish(self, complete: bool) -> Result<()> {
        match self {
            Sink::Nowhere => Ok(()),
            Sink::Stdout(mut out) => Ok(out.flush()?),
            Sink::File(path, journal) if complete => {
                let parquet = path.extension().is_some_and(|e| e == "parquet");
                journal.finish(parquet.then_some(crate::parquet::convert))
            }
            Sink::File(_, mut journal) => {
                let part = journal.part();
                journal.flush().map_err(|error| kept(&part, &error))
            }
        }
    }
}

/// Results that cannot be written; those before are on disk.
fn kept(part: &Path, error: &io::Error) -> anyhow::Error {
    advised(
        bad_file("write", part, error),
        "make room or choose another place; what was written so far is kept, and the same command \
         with --resume goes on",
    )
}

/// What it all came to.
struct Summary<'s, 'a> {
    work: &'s Work<'a>,
    report: &'s MegaReport,
    solved: &'s [Solved],
    args: &'s MegaArgs,
}

impl Summary<'_, '_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.args.json {
            return writeln!(out, "{}", self.json());
        }
        let shown = if self.args.verbose {
            usize::MAX
        } else {
            LISTED
        };
        let (work, report) = (self.work, self.report);
        if !self.solved.is_empty() {
            let mut rows = table(&["task", "solved by"], &[]);
            for solved in self.solved.iter().take(shown) {
                let task = &work.data.tasks()[solved.task].id;
                rows.add_row([task, &solved.donors.join(", ")]);
            }
            write!(out, "{}", table_text(&rows))?;
            rest(out, self.solved.len(), shown)?;
            writeln!(out)?;
        }
        if self.args.strict {
            self.write_defaults(out, shown)?;
        }
        let candidates = report.values + report.faults.iter().map(|(_, n)| n).sum::<u64>();
        writeln!(
            out,
            "{} of {} on {}: {} candidates, {} right",
            counted(
                work.batts.iter().map(|b| b.program.steps().len()).sum(),
                "step"
            ),
            counted(work.batts.len(), "batt"),
            counted(report.runs / work.batts.len().max(1), "sample"),
            grouped(candidates as usize),
            grouped(report.right as usize),
        )?;
        if !report.faults.is_empty() {
            let faults = report.faults.iter();
            let faults: Vec<String> = faults
                .map(|(fault, n)| format!("{} {}", grouped(*n as usize), fault.name()))
                .collect();
            writeln!(out, "errors: {}", faults.join(", "))?;
        }
        let tasks: std::collections::BTreeSet<usize> = self.solved.iter().map(|s| s.task).collect();
        write!(out, "solved {} of {} tasks", tasks.len(), work.data.len())?;
        if interrupt::happened() {
            write!(out, " (interrupted after {} runs)", report.runs)?;
        }
        writeln!(out)
    }

    /// The steps that fell back to a default, the most frequent first.
    fn write_defaults(&self, out: &mut impl Write, shown: usize) -> io::Result<()> {
        let mut found = Vec::new();
        for (batt, counts) in self.work.batts.iter().zip(&self.report.steps) {
            for (id, step) in batt.program.iter() {
                let count = counts[id.index()];
                if count.fallbacks > 0 {
                    found.push((count, step.name.clone(), batts::call_text(batt, id)));
                }
            }
        }
        found.sort_by_key(|(count, ..)| std::cmp::Reverse(count.fallbacks));
        if found.is_empty() {
            return writeln!(out, "no step fell back to a default\n");
        }
        let mut rows = table(&["step", "fell back", "of", "call"], &[1, 2]);
        for (count, name, call) in found.iter().take(shown) {
            let numbers = [count.fallbacks, count.executed].map(|n| grouped(n as usize));
            let [fallbacks, executed] = numbers;
            rows.add_row([name.clone(), fallbacks, executed, call.clone()]);
        }
        write!(out, "{}", table_text(&rows))?;
        rest(out, found.len(), shown)?;
        writeln!(out)
    }

    fn json(&self) -> Json {
        let (work, report) = (self.work, self.report);
        let faults = report.faults.iter();
        let faults: serde_json::Map<String, Json> = faults
            .map(|(fault, n)| (fault.name().to_owned(), json!(n)))
            .collect();
        let solved: Vec<Json> = self
            .solved
            .iter()
            .map(|solved| {
                json!({
                    "batt": work.files[solved.batt],
                    "task": work.data.tasks()[solved.task].id,
                    "donors": solved.donors,
                })
            })
            .collect();
        let sum = |of: fn(&batt_engine::StepCount) -> u64| -> u64 {
            report.steps.iter().flatten().map(of).sum()
        };
        json!({
            "runs": report.runs,
            "samples": work.samples.len(),
            "tasks": work.data.len(),
            "right": report.right,
            "values": report.values,
            "errors": faults,
            "solved": solved,
            "steps": {
                "executed": sum(|s| s.executed),
                "failed": sum(|s| s.failed),
                "fallbacks": sum(|s| s.fallbacks),
            },
            "batch_size": report.batch_size,
            "threads": report.workers,
            "seconds": report.elapsed.as_secs_f64(),
            "samples_per_second": report.runs as f64 / report.elapsed.as_secs_f64().max(1e-9),
            "interrupted": interrupt::happened(),
        })
    }
}

fn rest(out: &mut impl Write, all: usize, shown: usize) -> io::Result<()> {
    match all.saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, " ... and {} more (--verbose lists all)", grouped(more)),
    }
}
