//! `batt mega`: runs batts on every sample of whole datasets.

mod summary;

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use batt::files::check_output;
use batt::mega::{Detail, Existing};
use batt::{Limits, Mega, OnError, Shard};
use clap::{Args, ValueEnum};

use self::summary::Report;
use crate::batts;
use crate::cli::{Exit, Jobs, KEPT, RunOptions, existing, note_resumed, part_file};
use crate::device::{self, DeviceFlags, report_bug};
use crate::error::advised;
use crate::interrupt;
use crate::numbers;
use crate::solvers::open_tasks;
use crate::ui::{Ui, counted, grouped, rate, stdout};

/// Run batts on every sample of every task
#[derive(Args)]
#[command(after_help = "\
Every batt runs on every sample of every task: the demonstrations, then the tests. Each candidate
is compared with the known output. A donor solves a task when it is right on all pairs that have a
known output. Where a candidate is right, the differs run once more and compare with the known
output.

Each line of the results is a JSON object, the result of one batt on one sample:

  batt, task, pair  the run, such as \"train[0]\" of a task
  right             positions of the right candidates in the list of candidates
  values, errors    number of candidates with a value, and of failed ones by error
  o                 the right candidates as [step, mutated, donor]; their value is the known output
  s                 the scores [step, donor, differ, value] of the input (donor \"None\") and of the
                    right donors; the value of a failed score is {\"err\": ..., \"step\": ...}
  compared          the same scores computed with the known output, if a candidate is right

With --full, o holds every candidate as [step, mutated, donor, value], and s and compared hold the
scores of all donors. That is hundreds of megabytes for hundreds of solvers on hundreds of tasks.
Lines are in the order of the tasks, whatever the number of threads.

A .parquet file has a row for each run (its value is the number of candidates) and for each entry of
o, s and compared. During the run, the lines are in FILE.part and the settings in FILE.part.json.
After an interruption, --resume continues from them. FILE.meta.json stays beside a finished file of
lines; a Parquet file has the same data in its metadata. From it --resume recognises a finished run
and runs nothing.

--shard 3/10 does the third of ten parts of the runs and writes it as lines to a file of its own.
Runs are dealt out one by one, so that all parts take about equally long. `batt merge` puts the
parts together and writes the file that a run without --shard writes, also as Parquet. A part does
not know which tasks are solved.

Exit codes: 0 all samples ran, even if no candidate is right; 1 a batt file has errors or a device
gave a different result; 2 an error; 130 interrupted.

Examples:
  batt mega batt.py --tasks data/training
  batt mega batt.py --tasks data/training -o results.jsonl
  batt mega batt.py --tasks data/training -o results.jsonl --resume
  batt mega batt.py --tasks data/training --shard 3/10 -o part-3.jsonl --resume
  batt mega a.py b.py --tasks challenges.json -o results.parquet --full --jobs 8
  batt mega batt.py --tasks data/training --device cuda --verify=0.01")]
pub struct MegaArgs {
    /// Batt files
    #[arg(required = true, value_name = "BATT")]
    batts: Vec<PathBuf>,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// Write one line of JSON per sample to a file, or to stdout with -; a file named *.parquet is
    /// written as Parquet
    #[arg(short, long, value_name = "FILE|-")]
    output: Option<PathBuf>,

    /// Write every candidate with its value, and every score
    #[arg(long, requires = "output")]
    full: bool,

    /// Do only the I-th of N parts; `batt merge` puts all parts together
    #[arg(long, value_name = "I/N", requires = "output")]
    shard: Option<Shard>,

    /// Continue an unfinished run of the same batts and tasks
    #[arg(long, requires = "output", conflicts_with = "overwrite")]
    resume: bool,

    /// Discard the results of an unfinished run and start again
    #[arg(long, requires = "output")]
    overwrite: bool,

    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: Jobs,

    /// Samples under way or waiting for their turn [default: by what they cost]
    #[arg(long, value_name = "N", value_parser = numbers::from_one::<NonZeroUsize>)]
    batch_size: Option<NonZeroUsize>,

    #[command(flatten)]
    device: DeviceFlags,

    /// Result of a step that fails [default: defaults for guarded files, else poison]
    #[arg(long, value_name = "MODE")]
    on_error: Option<OnErrorName>,

    /// List the steps that fell back to a default
    #[arg(long)]
    strict: bool,

    /// List every task, not only the first 20
    #[arg(short, long)]
    verbose: bool,

    /// Seconds one sample may take before it fails with TimeLimit
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        value_parser = seconds,
        help_heading = "Limits of one run"
    )]
    max_time: Duration,

    #[command(flatten)]
    options: RunOptions,
}

/// The modes for failing steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnErrorName {
    /// The step has no value, and every entry that uses it fails
    Poison,
    /// The step takes the default value of the called function
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

/// Parses a time in seconds: `0.5`, `60`. Refuses a time that overflows the clock.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    if seconds > 0.0 && seconds <= 1e9 {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err("write a number of seconds above 0, such as 0.5 or 60".to_owned())
}

impl MegaArgs {
    /// Returns the file to write, if the output is a file.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|out| *out != Path::new("-"))
    }

    fn to_stdout(&self) -> bool {
        self.output.is_some() && self.file().is_none()
    }

    /// Sets the destination of the results.
    fn send(&self, mega: Mega) -> Result<Mega> {
        let existing = existing(self.resume, self.overwrite);
        if self.shard.is_some() {
            part_file(self.file())?;
        }
        if let Some(file) = self.file() {
            check_output(file, &self.batts, &self.tasks)?;
            return Ok(mega.write_to(file, existing));
        }
        if self.to_stdout() && existing != Existing::Refuse {
            return Err(advised(
                "--resume and --overwrite need a file, and the results go to stdout",
                "name a file with --output, or leave --resume and --overwrite out",
            ));
        }
        Ok(match self.to_stdout() {
            true => mega.lines_to(BufWriter::with_capacity(1 << 16, io::stdout())),
            false => mega,
        })
    }
}

/// Runs the command.
pub fn main(args: &MegaArgs, ui: &Ui) -> Result<Exit> {
    let batts = batts::load_all(&args.batts, args.options.dialect(), ui)?;
    let tasks = open_tasks(&args.tasks, ui)?;
    let limits = Limits {
        time: Some(args.max_time),
        ..args.options.limits()
    };
    let threads = args.jobs.threads(ui);
    let mega = Mega::new(&batts, &tasks)
        .limits(limits)
        .threads(threads)
        .batch_size(args.batch_size)
        .on_error(args.on_error.map(OnError::from))
        .verify(args.device.verify())
        .shard(args.shard.unwrap_or_default())
        .detail(if args.full {
            Detail::Full
        } else {
            Detail::Compact
        });
    let run = args.send(mega)?.begin()?;
    if args.resume {
        note_resumed(run.planned(), run.resumed(), run.was_finished(), ui);
    }
    let mut devices = args.device.open(run.remaining(), &limits, threads, ui)?;
    interrupt::watch();
    let bar = ui.progress(run.planned(), "running");
    bar.set_position(run.resumed() as u64);
    let control = interrupt::control_with(&bar);
    let summary = run.finish(&mut devices, &control);
    bar.finish_and_clear();
    let summary = summary?;
    let report = Report {
        args,
        batts: &batts,
        summary: &summary,
    };
    // If the results go to stdout, the summary goes to stderr.
    if args.to_stdout() {
        report.write(&mut io::stderr().lock())?;
    } else {
        let mut out = stdout();
        report.write(&mut out)?;
        out.flush()?;
    }
    if let Some(report) = &summary.report {
        ui.remark(format_args!(
            "{} in {:.2} s on {}, batches of {}: {} samples/s",
            counted(report.runs, "run"),
            report.elapsed.as_secs_f64(),
            counted(report.workers, "thread"),
            grouped(report.batch_size),
            rate(report.runs, report.elapsed),
        ));
    }
    let device = summary
        .report
        .as_ref()
        .and_then(|report| report.device.as_ref());
    if let Some(found) = device {
        device::remark(found, ui);
    }
    summary.bugs.iter().for_each(|bug| report_bug(bug, ui));
    // A Ctrl-C after the last run changes nothing.
    if !summary.is_complete() {
        if args.file().is_some() {
            ui.note(KEPT);
        }
        return Ok(Exit::Interrupted);
    }
    let differing = device.is_some_and(|device| device.differing > 0);
    Ok(Exit::findings(!batts.is_clean() || differing))
}
