//! `batt mega`: batts over every sample of whole datasets.

mod journal;
mod parquet;
mod record;
mod sink;
mod summary;
mod tally;

use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, ensure};
use batt_arc::{Dataset, PairRef};
use batt_engine::device::Mismatch;
use batt_engine::{CompiledBatt, MegaOptions, MegaReport, MegaResult, Sample, mega_on};
use batt_lang::batt::BattFile;
use batt_lang::{Batt, OnError, StepId};
use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};

use self::journal::{Existing, Journal};
use self::record::{Entries, Record};
use self::sink::Sink;
use self::summary::Summary;
use self::tally::{Earlier, PairOf, Solved, Tally};
use crate::batts;
use crate::cli::{Exit, RunOptions};
use crate::device::{self, BugReport, OldDeviceChoice};
use crate::error::advised;
use crate::files::check_not_read;
use crate::interrupt;
use crate::solvers::load_tasks;
use crate::ui::{Ui, counted, grouped, rate, stdout};

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
  batt mega a.py b.py --tasks challenges.json --out results.parquet --jobs 8
  batt mega batt.py --tasks data/training --device cuda --verify=0.01")]
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

    #[command(flatten)]
    device: OldDeviceChoice,

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
        value_parser = seconds,
        allow_negative_numbers = true,
        help_heading = "Limits of one run"
    )]
    max_time: Duration,

    #[command(flatten)]
    options: RunOptions,
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

/// `0.5`, `60`. So long a time that the clock cannot tell its end is no limit anybody means.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    if seconds > 0.0 && seconds <= 1e9 {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err("write a number of seconds above 0, such as 0.5 or 60".to_owned())
}

/// Runs the command.
pub fn main(args: &MegaArgs, ui: &Ui) -> Result<Exit> {
    let loaded = batts::load_all(&args.batts, args.options.dialect(), ui)?;
    let data = load_tasks(&args.tasks, ui)?;
    let work = Work::new(&loaded, &data, args);
    if work.samples.is_empty() {
        return Err(advised(
            format_args!("{} holds no sample to run", args.tasks.display()),
            "name tasks that have at least one pair",
        ));
    }
    let summary = Summary {
        args,
        work: &work,
        done: work.run(args, ui)?,
    };
    // With the results on stdout, the summary goes where it does not mix with them.
    if args.out.as_deref() == Some(Path::new("-")) {
        summary.write(&mut io::stderr().lock())?;
    } else {
        let mut out = stdout();
        summary.write(&mut out)?;
        out.flush()?;
    }
    let report = &summary.done.report;
    ui.remark(format_args!(
        "{} in {:.2} s on {}, batches of {}: {} samples/s",
        counted(report.runs, "run"),
        report.elapsed.as_secs_f64(),
        counted(report.workers, "thread"),
        grouped(report.batch_size),
        rate(report.runs, report.elapsed),
    ));
    let mut differing = false;
    if let Some(found) = &report.device {
        device::remark(found, ui);
        for mismatch in &found.mismatches {
            work.bug_report(mismatch).say(ui);
        }
        differing = found.differing > 0;
    }
    // Whoever was too late to interrupt has all results.
    if !summary.is_complete() {
        if args.out.as_deref().is_some_and(|out| out != Path::new("-")) {
            ui.note("what is done is kept; the same command with --resume goes on");
        }
        return Ok(Exit::Interrupted);
    }
    let unclean = loaded.iter().any(|file| !file.is_clean());
    Ok(Exit::findings(unclean || differing))
}

/// What is to be run.
struct Work<'a> {
    /// What the results call each batt.
    names: Vec<String>,
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
        let batts = || loaded.iter().flat_map(|file| &file.batts);
        let names = loaded.iter().flat_map(|file| {
            let name = file.source.name();
            let alone = file.batts.len() == 1;
            file.batts.iter().map(move |batt| match alone {
                true => name.to_owned(),
                false => format!("{name}::{}", batt.program.name()),
            })
        });
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
        limits.time = Some(args.max_time);
        Work {
            names: names.collect(),
            batts: batts().collect(),
            compiled: batts().map(compile).collect(),
            entries: batts().map(Entries::new).collect(),
            data,
            samples,
            places,
            options: MegaOptions {
                limits,
                threads: args.jobs,
                batch_size: args.batch_size,
                device: args.device.options(),
                ..MegaOptions::default()
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
        let task = self.places[sample].0;
        let pair = PairOf {
            known: self.samples[sample].expected.is_some(),
            last: self
                .places
                .get(sample + 1)
                .is_none_or(|next| next.0 != task),
        };
        tally.add(batt, task, pair, right);
    }

    fn line(&self, at: usize, result: &MegaResult<Option<String>>) -> String {
        let (batt, sample) = self.run_at(at);
        let (task, pair) = self.places[sample];
        let task = &self.data.tasks()[task];
        record::line(&self.names[batt], &task.id, &pair.to_string(), result)
    }

    /// Reads a line of an earlier run again. It is an error if it is not the line of that number.
    fn take_over(
        &self,
        at: usize,
        line: &str,
        tally: &mut Tally<'_>,
        earlier: &mut Earlier,
    ) -> Result<()> {
        ensure!(at < self.len(), "there are more lines than runs");
        let record: Record<'_> = serde_json::from_str(line)?;
        let (batt, sample) = self.run_at(at);
        let (task, pair) = self.places[sample];
        let place = (
            self.names[batt].as_str(),
            self.data.tasks()[task].id.as_str(),
        );
        ensure!(
            (&*record.batt, &*record.task) == place && record.pair == pair.to_string(),
            "this is another run's line"
        );
        let batt = self.batts[batt];
        let lengths = (record.o.len(), record.s.len());
        ensure!(
            lengths == (batt.outputs.len(), batt.scores.len())
                && record.right.iter().all(|k| *k < batt.outputs.len()),
            "the line has other entries than the batt"
        );
        earlier.add(&record);
        self.count(tally, at, record.right.iter().copied());
        Ok(())
    }

    fn run(&self, args: &MegaArgs, ui: &Ui) -> Result<Done> {
        let mut tally = Tally::new(self.batts.clone());
        let existing = match (args.resume, args.overwrite) {
            (true, _) => Existing::Resume,
            (_, true) => Existing::Overwrite,
            _ => Existing::Refuse,
        };
        let mut earlier = Earlier::default();
        let mut sink = match args.out.as_deref() {
            None => Sink::nowhere(),
            Some(path) if path == Path::new("-") => {
                if args.resume || args.overwrite {
                    return Err(advised(
                        "nothing of an earlier run is known on stdout",
                        "name a file with --out, or leave --resume and --overwrite out",
                    ));
                }
                Sink::stdout()
            }
            Some(path) => {
                let read = args.batts.iter().chain([&args.tasks]);
                let read = read.map(PathBuf::as_path);
                check_not_read(path, read.chain(task_file(path, &args.tasks)))?;
                let seen =
                    |at: usize, line: &str| self.take_over(at, line, &mut tally, &mut earlier);
                let (journal, done) = Journal::open(path, &self.settings(), existing, seen)?;
                if args.resume {
                    ui.note(match done {
                        0 => "there are no unfinished results; this begins at the beginning".into(),
                        _ => format!("going on after {done} of {}", counted(self.len(), "run")),
                    });
                }
                Sink::file(path, journal)
            }
        };
        let from = earlier.runs;
        let left = self.len() - from.min(self.len());
        let limits = &self.options.limits;
        let mut devices = args.device.open(left, limits, args.jobs, ui)?;
        interrupt::watch();
        let stop = interrupt::stop();
        let bar = ui.progress(self.len(), "running");
        bar.set_position(from as u64);
        let wanted = sink.is_wanted();
        let options = MegaOptions {
            values: wanted,
            ..self.options.clone()
        };
        let mut failed = None;
        let report = mega_on(
            &mut devices,
            &self.compiled,
            &self.samples,
            from,
            &options,
            stop,
            |batt, run, entry| wanted.then(|| self.entries[batt].render(run, entry)),
            |at, result| {
                if failed.is_none()
                    && wanted
                    && let Err(error) = sink.write(&self.line(at, &result))
                {
                    // Nobody can read the rest: stop working on it.
                    failed = Some(error);
                    stop.cancel();
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
        Ok(Done {
            report,
            earlier,
            solved: tally.finish(),
        })
    }

    /// A run that a device got wrong.
    fn bug_report<'m>(&self, mismatch: &'m Mismatch) -> BugReport<'m> {
        let (batt, sample) = self.run_at(mismatch.run);
        let (task, pair) = self.places[sample];
        let task = &self.data.tasks()[task].id;
        let name = &self.names[batt];
        let batt = self.batts[batt];
        let (outputs, scores) = (batt.outputs.len(), batt.scores.len());
        let (entry, steps, value) = match mismatch.entry.checked_sub(outputs) {
            None => {
                let output = &batt.outputs[mismatch.entry];
                let entry = format!("candidate {} ({})", mismatch.entry, output.donor);
                (entry, &output.steps, &output.value)
            }
            Some(k) => {
                let score = &batt.scores[k % scores];
                let kind = if k < scores { "score" } else { "comparison" };
                let entry = format!("{kind} {} ({})", k % scores, score.differ);
                (entry, &score.steps, &score.value)
            }
        };
        let line = |id: &StepId| format!("t{} = {}", batt.numbers[id.index()], batt.call_text(*id));
        let mut program: Vec<String> = steps.iter().map(line).collect();
        program.push(format!("value: {}", batt.program.operand_text(value)));
        BugReport {
            mismatch,
            place: format!("{entry} of {name} on {task} {pair}"),
            program: program.join("\n"),
            input: self.samples[sample].input.to_string(),
        }
    }

    /// What the results depend on, by the names people know: resuming asks for the same.
    fn settings(&self) -> Json {
        let limits = &self.options.limits;
        let batts = self.batts.iter().map(|batt| batts::fingerprint(batt));
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "batts": batts.collect::<Vec<_>>(),
            "names": self.names,
            "tasks": batts::hashed(Pairs(self)),
            "on-error": self.compiled.iter().map(|b| format!("{:?}", b.mode())).collect::<Vec<_>>(),
            "max-steps": limits.steps,
            "max-size": limits.size,
            "max-memory": limits.memory,
            "max-time": limits.time.map(|time| time.as_secs_f64()),
        })
    }
}

/// The path itself, if it is one of the files that are read with a folder of tasks.
fn task_file<'p>(path: &'p Path, tasks: &Path) -> Option<&'p Path> {
    let place = path.canonicalize().ok()?;
    let inside = place.starts_with(tasks.canonicalize().ok()?);
    (inside && place.extension().is_some_and(|e| e == "json")).then_some(path)
}

/// All pairs with their names, for a number that changes with them.
struct Pairs<'w>(&'w Work<'w>);

impl Hash for Pairs<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for task in self.0.data.iter() {
            task.id.hash(state);
            task.train.hash(state);
            task.test.hash(state);
        }
    }
}

/// What was done.
struct Done {
    report: MegaReport,
    earlier: Earlier,
    solved: Vec<Solved>,
}
