//! `batt run`: solvers over tasks, compared with the known outputs.

mod plan;
mod tally;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_engine::device::{DeviceReport, Mismatch};
use batt_engine::{EvalOptions, JobResult, Values, Verdict, evaluate_on};
use batt_lang::SolverFile;
use clap::Args;

use self::plan::{Plan, Solver};
use self::tally::{Scope, Tally};
use crate::cli::{Exit, RunOptions};
use crate::device::{self, BugReport, DeviceChoice, Devices};
use crate::error::bad_file;
use crate::interrupt;
use crate::outcome::{Encoded, ErrorRecord, RunRecord, micros, reason};
use crate::solvers::{load_all, load_tasks};
use crate::ui::{Ui, counted, grouped, rate, stdout, table, table_text};

/// Run solvers on tasks and compare with the known outputs
#[derive(Args)]
#[command(after_help = "\
A function named <anything>_<task id> runs on the train and test inputs of that task. A task is
solved when one solver gets all its pairs right that have an output.

Each JSON line is one run: solver, task, pair, ok (null where no output is known), value or
error, and us, the microseconds it took. Lines come in the order of the solvers and their pairs.

Examples:
  batt run solvers.py --tasks data/training
  batt run verifiers.py --tasks data/training --dialect re-arc
  batt run mine.py more.py --tasks arc-agi_evaluation_challenges.json --json results.jsonl
  batt run solvers.py --tasks data/evaluation --all-pairs --jobs 8
  batt run solvers.py --tasks data/evaluation --all-pairs --device cuda --verify=0.01")]
pub struct RunArgs {
    /// Solver files
    #[arg(required = true, value_name = "SOLVERS")]
    solvers: Vec<PathBuf>,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// Run every solver on every task, not only on its own
    #[arg(long)]
    all_pairs: bool,

    /// Threads [default: one per core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Write one line of JSON per run to a file, or to stdout with -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,

    /// List every failure, not only the first 20
    #[arg(short, long)]
    verbose: bool,

    #[command(flatten)]
    device: DeviceChoice,

    #[command(flatten)]
    options: RunOptions,
}

/// Failures listed without `--verbose`.
const LISTED: usize = 20;

/// Runs the command.
pub fn main(args: &RunArgs, ui: &Ui) -> Result<Exit> {
    let files = load_all(&args.solvers, args.options.dialect(), ui)?;
    let data = load_tasks(&args.tasks, ui)?;
    let solvers = Solver::of_files(&files, ui);
    let plan = Plan::new(&solvers, &data, args.all_pairs, ui)?;
    let json_on_stdout = args.json.as_deref() == Some(Path::new("-"));
    let json = args.json.as_deref().map(open).transpose()?;

    let mut options = args.options.engine(args.jobs);
    options.device = args.device.options();
    let devices = args
        .device
        .open(plan.len(), &options.limits, args.jobs, ui)?;
    options.values = match (&json, args.all_pairs) {
        (Some(_), _) => Values::All,
        // Nearly every value of an all-pairs run is wrong, and nobody looks at them.
        (None, true) => Values::None,
        (None, false) => Values::Wrong,
    };
    let scope = if args.all_pairs {
        Scope::AllPairs
    } else {
        Scope::OwnTask
    };
    let keep = if args.verbose { usize::MAX } else { LISTED };
    let mut tally = Tally::new(&plan, &data, scope, keep);
    let (time, device) = execute(&plan, devices, &options, json, &mut tally, ui)?;

    let report = Report {
        tally: &tally,
        total: plan.len(),
        interrupted: interrupt::happened(),
    };
    if json_on_stdout {
        report.write(&mut io::stderr().lock())?;
    } else {
        let mut out = stdout();
        report.write(&mut out)?;
        out.flush()?;
    }
    let threads = args.jobs.or_else(|| thread::available_parallelism().ok());
    ui.remark(format_args!(
        "{} in {:.2} s on {}: {} runs/s",
        counted(tally.runs, "run"),
        time.as_secs_f64(),
        counted(threads.map_or(1, NonZeroUsize::get), "thread"),
        rate(tally.runs, time),
    ));
    let mut differing = false;
    if let Some(found) = &device {
        device::remark(found, ui);
        for mismatch in &found.mismatches {
            bug_report(&plan, mismatch).say(ui);
        }
        differing = found.differing > 0;
    }
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    let unloaded = !files.iter().all(SolverFile::is_clean);
    let findings = unloaded || differing || tally.has_findings();
    Ok(Exit::findings(findings))
}

type JsonLines = BufWriter<Box<dyn Write>>;

fn open(path: &Path) -> Result<JsonLines> {
    let target: Box<dyn Write> = if path == Path::new("-") {
        Box::new(io::stdout().lock())
    } else {
        Box::new(File::create(path).map_err(|error| bad_file("write", path, &error))?)
    };
    Ok(BufWriter::with_capacity(1 << 16, target))
}

/// A run that a device got wrong.
fn bug_report<'m>(plan: &Plan<'_>, mismatch: &'m Mismatch) -> BugReport<'m> {
    let run = plan.run(mismatch.run);
    let program = run.solver.program;
    BugReport {
        mismatch,
        place: format!("{} on {} {}", program.name(), run.task.id, run.name),
        program: program.to_string(),
        input: run.pair.input.to_string(),
    }
}

/// Runs the plan, writing and counting results as they come. Returns the time it took, and what devices did.
fn execute<'a>(
    plan: &Plan<'a>,
    mut devices: Devices,
    options: &EvalOptions,
    mut json: Option<JsonLines>,
    tally: &mut Tally<'a>,
    ui: &Ui,
) -> Result<(Duration, Option<DeviceReport>)> {
    interrupt::watch();
    let stop = interrupt::stop();
    let bar = ui.progress(plan.len(), "running");
    let mut write_error = None;
    let started = Instant::now();
    let report = evaluate_on(&mut devices, plan.jobs(), options, stop, |at, result| {
        if let Some(out) = &mut json
            && write_error.is_none()
            && let Err(error) = write_line(out, plan, at, &result)
        {
            // Nobody can read the rest: stop working on it.
            write_error = Some(error);
            stop.cancel();
        }
        let run = plan.run(at);
        let why = reason(
            &result.verdict,
            run.solver.program,
            run.solver.file,
            run.pair.output.as_ref(),
            result.value.as_ref(),
        );
        tally.add(&run, &result.verdict, why);
        // The bar costs more than a small run.
        if at % 256 == 0 {
            bar.set_position(at as u64);
        }
    });
    let time = started.elapsed();
    bar.finish_and_clear();
    if let Some(error) = write_error {
        return Err(error.into());
    }
    if let Some(mut out) = json {
        out.flush()?;
    }
    Ok((time, report.device))
}

fn write_line(
    out: &mut impl Write,
    plan: &Plan<'_>,
    at: usize,
    result: &JobResult,
) -> io::Result<()> {
    let run = plan.run(at);
    let record = RunRecord {
        solver: run.solver.program.name(),
        task: &run.task.id,
        pair: run.name.to_string(),
        ok: RunRecord::ok(&result.verdict),
        value: result.value.as_ref().map(Encoded),
        error: match &result.verdict {
            Verdict::Failed(error) => Some(ErrorRecord::new(error, run.solver.program)),
            _ => None,
        },
        us: micros(result.time),
    };
    serde_json::to_writer(&mut *out, &record)?;
    out.write_all(b"\n")
}

/// The text for people.
struct Report<'t, 'a> {
    tally: &'t Tally<'a>,
    total: usize,
    interrupted: bool,
}

impl Report<'_, '_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let tally = self.tally;
        if !tally.failures.is_empty() {
            let mut failures = table(&["solver", "pair", "what is wrong"], &[]);
            for failure in &tally.failures {
                failures.add_row([failure.solver, &failure.pair.to_string(), &failure.reason]);
            }
            write!(out, "{}", table_text(&failures))?;
            let rest = tally.failed - tally.failures.len();
            if rest > 0 {
                writeln!(out, " ... and {} more (--verbose lists all)", grouped(rest))?;
            }
            writeln!(out)?;
        }
        if !tally.foreign.is_empty() {
            let mut foreign = table(&["task", "also solved by"], &[]);
            for (task, solver) in tally.foreign.iter().take(tally.keep) {
                foreign.add_row([task, solver]);
            }
            write!(out, "{}", table_text(&foreign))?;
            let rest = tally.foreign.len().saturating_sub(tally.keep);
            if rest > 0 {
                writeln!(out, " ... and {} more (--verbose lists all)", grouped(rest))?;
            }
            writeln!(out)?;
        }
        if let Some(kinds) = tally.kinds() {
            writeln!(out, "{} runs: {kinds}", tally.runs)?;
        }
        write!(out, "{}", tally.summary())?;
        if self.interrupted {
            write!(
                out,
                " (interrupted after {} of {} runs)",
                tally.runs, self.total
            )?;
        }
        writeln!(out)
    }
}
