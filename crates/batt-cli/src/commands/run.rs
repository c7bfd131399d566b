//! `batt run`: runs solvers on tasks and compares the results with the known outputs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::files::check_output;
use batt::{RunPart, RunReport, RunResult, RunScope, Shard, Values, run, run_count};
use clap::Args;
use serde_json::json;

use crate::cli::{Exit, Jobs, KEPT, RunOptions, existing, note_resumed, part_file};
use crate::device::{self, DeviceFlags, report_bug};
use crate::error::bad_file;
use crate::interrupt;
use crate::solvers::{open_solvers, open_tasks};
use crate::ui::{Ui, counted, grouped, name, rate, rest, stdout, table, table_text};

/// Run solvers on tasks and compare with the known outputs
#[derive(Args)]
#[command(after_help = "\
A function named <anything>_<task id> runs on the train and test inputs of that task. A task is
solved when one solver is right on all its pairs that have a known output.

Each line of --output is one run: solver, task, pair, ok (null if no output is known), value or
error, and us, the microseconds it took. Lines are in the order of the solvers and their pairs.

--shard 3/10 does the third of ten parts of the runs and writes it to a file of its own. Runs are
dealt out one by one, so that all parts take about equally long. `batt merge` puts the parts
together: the same lines in the same order, each with the time that its run took. A part does not
know which tasks are solved. During the run, its lines are in FILE.part.

Examples:
  batt run solvers.py --tasks data/training
  batt run verifiers.py --tasks data/training --dialect re-arc
  batt run mine.py more.py --tasks arc-agi_evaluation_challenges.json -o results.jsonl
  batt run solvers.py --tasks data/evaluation --all-pairs --jobs 8
  batt run solvers.py --tasks data/evaluation --all-pairs --shard 3/10 -o part-3.jsonl --resume
  batt run solvers.py --tasks data/evaluation --all-pairs --device cuda --verify=0.01")]
pub struct RunArgs {
    /// Solver files
    #[arg(required = true, value_name = "SOLVERS")]
    solvers: Vec<PathBuf>,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// Run every solver on every task, not only on its own task
    #[arg(long)]
    all_pairs: bool,

    #[command(flatten)]
    jobs: Jobs,

    /// Write one line of JSON per run to a file, or to stdout with -
    #[arg(short, long, value_name = "FILE|-")]
    output: Option<PathBuf>,

    /// Do only the I-th of N parts; `batt merge` puts all parts together
    #[arg(long, value_name = "I/N", requires = "output")]
    shard: Option<Shard>,

    /// Continue an unfinished part
    #[arg(long, requires = "shard", conflicts_with = "overwrite")]
    resume: bool,

    /// Discard the lines of an unfinished part and start again
    #[arg(long, requires = "shard")]
    overwrite: bool,

    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,

    /// List all failures, not only the first 20
    #[arg(short, long)]
    verbose: bool,

    #[command(flatten)]
    device: DeviceFlags,

    #[command(flatten)]
    options: RunOptions,
}

/// The number of rows of a list without `--verbose`.
const LISTED: usize = 20;

/// Runs the command.
pub fn main(args: &RunArgs, ui: &Ui) -> Result<Exit> {
    let solvers = open_solvers(&args.solvers, args.options.dialect(), ui)?;
    let tasks = open_tasks(&args.tasks, ui)?;
    let mut lines = args.open_output()?;
    let options = batt::RunOptions {
        shard: args.shard.unwrap_or_default(),
        scope: match args.all_pairs {
            true => RunScope::AllPairs,
            false => RunScope::OwnTask,
        },
        limits: args.options.limits(),
        threads: args.jobs.threads(ui),
        values: match (&lines, args.all_pairs) {
            (Some(_), _) => Values::All,
            // Nearly every value of an all-pairs run is wrong, and none of them is shown.
            (None, true) => Values::None,
            (None, false) => Values::Wrong,
        },
        verify: args.device.verify(),
    };
    let part = match (args.shard, args.file()) {
        (Some(_), Some(path)) => {
            let existing = existing(args.resume, args.overwrite);
            Some(RunPart::open(&solvers, &tasks, &options, path, existing)?)
        }
        _ => None,
    };
    let all = run_count(&solvers, &tasks, options.scope);
    let (runs, resumed) = part.as_ref().map_or((all, 0), |part| {
        if args.resume {
            note_resumed(part.planned(), part.resumed(), part.was_finished(), ui);
        }
        (part.planned(), part.resumed())
    });
    let mut devices = args
        .device
        .open(runs - resumed, &options.limits, options.threads, ui)?;

    interrupt::watch();
    let bar = ui.progress(runs, "running");
    let control = interrupt::control_with(&bar);
    let listed = if args.verbose { usize::MAX } else { LISTED };
    let mut failures: Vec<[String; 3]> = Vec::new();
    let mut write_error = None;
    let each = |result: RunResult| {
        if let Some(out) = &mut lines
            && write_error.is_none()
            && let Err(error) = result.write_json(out)
        {
            // The remaining lines could not be written either.
            write_error = Some(error);
            interrupt::stop().cancel();
        }
        // Most runs of an all-pairs run fail, so failures are not listed.
        if !args.all_pairs && failures.len() < listed {
            failures.extend(failure(&result));
        }
    };
    let result = match part {
        Some(part) => part.finish(&mut devices, &control, each),
        None => run(&solvers, &tasks, &options, &mut devices, &control, each),
    };
    bar.finish_and_clear();
    let report = result?;
    let flushed = lines.map_or(Ok(()), |mut out| out.flush());
    if let Err(error) = write_error.map_or(flushed, Err) {
        return Err(match args.file() {
            Some(path) => bad_file("write", path, error),
            None => error.into(),
        });
    }
    let without: Vec<&str> = report.without_task.iter().map(String::as_str).collect();
    ui.mention("without a task in --tasks", &without);
    let mut out: Box<dyn Write> = match args.output.is_some() && args.file().is_none() {
        true => Box::new(io::stderr().lock()),
        false => Box::new(stdout()),
    };
    match args.json {
        true => {
            let mut json = report.to_json();
            json["device"] = json!(report.device.as_ref().map(device::to_json));
            writeln!(out, "{json}")?;
        }
        false => write_report(&mut out, &report, &failures, listed, args.all_pairs)?,
    }
    out.flush()?;
    drop(out);
    ui.remark(format_args!(
        "{} in {:.2} s on {}: {} runs/s",
        counted(report.summary.runs() - resumed, "run"),
        report.time.as_secs_f64(),
        counted(report.threads, "thread"),
        rate(report.summary.runs() - resumed, report.time),
    ));
    if let Some(found) = &report.device {
        device::remark(found, ui);
    }
    report.bugs.iter().for_each(|bug| report_bug(bug, ui));
    if interrupt::happened() {
        if args.shard.is_some() && !report.is_complete() {
            ui.note(KEPT);
        }
        return Ok(Exit::Interrupted);
    }
    let differing = report
        .device
        .as_ref()
        .is_some_and(|device| device.differing > 0);
    let findings = !solvers.is_clean() || differing || report.summary.has_findings();
    Ok(Exit::findings(findings))
}

impl RunArgs {
    /// The file to write lines to, if it is one.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|out| *out != Path::new("-"))
    }

    fn open_output(&self) -> Result<Option<JsonLines>> {
        let target: Box<dyn Write> = match (self.file(), &self.output) {
            (file, _) if self.shard.is_some() => {
                check_output(part_file(file)?, &self.solvers, &self.tasks)?;
                // The part writes its lines itself.
                return Ok(None);
            }
            (Some(path), _) => {
                check_output(path, &self.solvers, &self.tasks)?;
                Box::new(File::create(path).map_err(|error| bad_file("write", path, error))?)
            }
            (None, Some(_)) => Box::new(io::stdout().lock()),
            (None, None) => return Ok(None),
        };
        Ok(Some(BufWriter::with_capacity(1 << 16, target)))
    }
}

type JsonLines = BufWriter<Box<dyn Write>>;

/// The row of a run that is wrong.
fn failure(result: &RunResult) -> Option<[String; 3]> {
    let reason = result.reason()?;
    let solver = name(result.solver().name()).into_owned();
    Some([solver, result.pair.to_string(), reason])
}

fn write_report(
    out: &mut impl Write,
    report: &RunReport,
    failures: &[[String; 3]],
    listed: usize,
    all_pairs: bool,
) -> io::Result<()> {
    let summary = &report.summary;
    if !failures.is_empty() {
        let mut rows = table(&["solver", "pair", "what is wrong"], &[]);
        rows.add_rows(failures);
        write!(out, "{}", table_text(&rows))?;
        rest(out, summary.failed(), failures.len())?;
        writeln!(out)?;
    }
    let foreign = summary.foreign().len();
    if foreign > 0 && report.shard.is_whole() {
        let mut rows = table(&["task", "also solved by"], &[]);
        for (task, solver) in report.foreign().take(listed) {
            rows.add_row([name(&task.id), name(solver.name())]);
        }
        write!(out, "{}", table_text(&rows))?;
        rest(out, foreign, listed)?;
        writeln!(out)?;
    }
    if all_pairs {
        let kinds = summary.kinds().into_iter();
        let kinds: Vec<String> = kinds
            .map(|(kind, n)| format!("{} {kind}", grouped(n)))
            .collect();
        let runs = counted(summary.runs(), "run");
        writeln!(out, "{runs}: {}", kinds.join(", "))?;
    }
    let ((solved, tasks), (right, pairs)) = (summary.tasks(), summary.pairs());
    match report.shard.is_whole() {
        true => write!(
            out,
            "solved {solved} of {tasks} tasks, {right} of {pairs} pairs"
        )?,
        false => {
            let (runs, total) = (grouped(report.planned), counted(report.total, "run"));
            let shard = report.shard;
            write!(
                out,
                "part {shard}, {runs} of {total}: {right} of {pairs} pairs right"
            )?;
        }
    }
    if !report.is_complete() {
        let (done, planned) = (summary.runs(), report.planned);
        write!(out, " (interrupted after {done} of {planned} runs)")?;
    }
    writeln!(out)
}
