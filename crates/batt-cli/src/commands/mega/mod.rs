//! `batt mega`: batts on every sample of whole datasets.

mod summary;

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use batt::files::check_output;
use batt::mega::{Detail, Existing};
use batt::{Limits, Mega, OnError};
use clap::{Args, ValueEnum};

use self::summary::Report;
use crate::batts;
use crate::cli::{Exit, Jobs, RunOptions};
use crate::device::{self, DeviceFlags, report_bug};
use crate::error::advised;
use crate::interrupt;
use crate::numbers;
use crate::solvers::open_tasks;
use crate::ui::{Ui, counted, grouped, rate, stdout};

/// Run batts on every sample of every task
#[derive(Args)]
#[command(after_help = "\
Every sample of every task runs: the demonstrations, then the tests. Each candidate is compared with
the known output; a donor solves a task when it is right on all its pairs that have one. Where a
candidate is right, the differs run once more with the known output to compare with.

Each line of the results is one batt on one sample, a JSON object with these fields:

  batt, task, pair  the run, such as \"train[0]\" of a task
  right             the positions of the right candidates among those of the batt
  values, errors    how many candidates have a value, and how many failed, by error
  o                 the right candidates as [step, mutated, donor]; their value is the known output
  s                 the scores [step, donor, differ, value] of the input (donor \"None\") and of the
                    donors that are right; a failed one has {\"err\": ..., \"step\": ...} as value
  compared          the same scores computed with the known output, where a candidate is right

With --full, o holds every candidate as [step, mutated, donor, value], and s and compared hold the
scores of all donors. That is hundreds of megabytes for hundreds of solvers on hundreds of tasks.
Lines come in the order of the tasks, whatever the number of threads.

A .parquet file has a row for each run (its value counts the candidates) and for each entry of o, s
and compared. During the run, lines are in FILE.part and settings in FILE.part.json; after an
interruption, --resume goes on with them. FILE.meta.json stays beside a finished file of lines, and
a Parquet file has the same in its metadata. By it, --resume recognises a finished run and runs
nothing.

Exit codes: 0 all samples ran, whether or not candidates are right: most are not; 1 a batt file has
errors or a device gave a different result; 2 an error; 130 interrupted.

Examples:
  batt mega batt.py --tasks data/training
  batt mega batt.py --tasks data/training -o results.jsonl
  batt mega batt.py --tasks data/training -o results.jsonl --resume
  batt mega a.py b.py --tasks challenges.json -o results.parquet --full --jobs 8
  batt mega batt.py --tasks data/training --device cuda --verify=0.01")]
pub struct MegaArgs {
    /// Batt files
    #[arg(required = true, value_name = "BATT")]
    batts: Vec<PathBuf>,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// Write one line of JSON per sample to a file, or to stdout with -; a .parquet file has
    /// columns
    #[arg(short, long, value_name = "FILE|-")]
    output: Option<PathBuf>,

    /// Write every candidate with its value, and every score
    #[arg(long, requires = "output")]
    full: bool,

    /// Go on with an unfinished run of the same batts and tasks
    #[arg(long, requires = "output", conflicts_with = "overwrite")]
    resume: bool,

    /// Throw the results of an unfinished run away
    #[arg(long, requires = "output")]
    overwrite: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    jobs: Jobs,

    /// Samples under way or waiting for their turn [default: by what they cost]
    #[arg(long, value_name = "N", value_parser = numbers::from_one)]
    batch_size: Option<NonZeroUsize>,

    #[command(flatten)]
    device: DeviceFlags,

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

/// `0.5`, `60`. A time that no clock can measure is refused.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    if seconds > 0.0 && seconds <= 1e9 {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err("write a number of seconds above 0, such as 0.5 or 60".to_owned())
}

impl MegaArgs {
    /// The file to write, if it is one.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|out| *out != Path::new("-"))
    }

    fn to_stdout(&self) -> bool {
        self.output.is_some() && self.file().is_none()
    }

    /// Sends the results where the user wants them.
    fn send(&self, mega: Mega) -> Result<Mega> {
        let existing = match (self.resume, self.overwrite) {
            (true, _) => Existing::Resume,
            (_, true) => Existing::Overwrite,
            _ => Existing::Refuse,
        };
        if let Some(file) = self.file() {
            check_output(file, &self.batts, &self.tasks)?;
            return Ok(mega.write_to(file, existing));
        }
        if self.to_stdout() && existing != Existing::Refuse {
            return Err(advised(
                "nothing of an earlier run is known on stdout",
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
        .detail(if args.full {
            Detail::Full
        } else {
            Detail::Compact
        });
    let run = args.send(mega)?.begin()?;
    let runs = counted(run.planned(), "run");
    if args.resume {
        ui.note(match (run.was_finished(), run.resumed()) {
            (true, _) => format!("the results of all {runs} are there already; nothing to do"),
            (false, 0) => "there are no unfinished results; this begins at the beginning".into(),
            (false, done) => format!("going on after {} of {runs}", grouped(done)),
        });
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
    // With the results on stdout, the summary goes where it does not mix with them.
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
            ui.note("what is done is kept; the same command with --resume goes on");
        }
        return Ok(Exit::Interrupted);
    }
    let differing = device.is_some_and(|device| device.differing > 0);
    Ok(Exit::findings(!batts.is_clean() || differing))
}
