//! `batt run`: solvers over tasks, compared with the known outputs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::{Control, RunReport, RunResult, RunScope, Values, run, run_count};
use clap::Args;

use crate::cli::{Exit, Jobs, RunOptions};
use crate::device::{self, DeviceFlags, report_bug};
use crate::error::bad_file;
use crate::interrupt;
use crate::solvers::{open_solvers, open_tasks};
use crate::ui::{Ui, counted, grouped, name, rate, rest, stdout, table, table_text};

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

    #[command(flatten)]
    jobs: Jobs,

    /// Write one line of JSON per run to a file, or to stdout with -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,

    /// List every failure, not only the first 20
    #[arg(short, long)]
    verbose: bool,

    #[command(flatten)]
    device: DeviceFlags,

    #[command(flatten)]
    options: RunOptions,
}

/// Rows of a list printed without `--verbose`.
const LISTED: usize = 20;

/// Runs the command.
pub fn main(args: &RunArgs, ui: &Ui) -> Result<Exit> {
    let solvers = open_solvers(&args.solvers, args.options.dialect(), ui)?;
    let tasks = open_tasks(&args.tasks, ui)?;
    let mut json = args.json.as_deref().map(open).transpose()?;
    let options = batt::RunOptions {
        scope: match args.all_pairs {
            true => RunScope::AllPairs,
            false => RunScope::OwnTask,
        },
        limits: args.options.limits(),
        threads: args.jobs.threads(ui),
        values: match (&json, args.all_pairs) {
            (Some(_), _) => Values::All,
            // Nearly every value of an all-pairs run is wrong, and none is shown.
            (None, true) => Values::None,
            (None, false) => Values::Wrong,
        },
        verify: args.device.verify(),
    };
    let runs = run_count(&solvers, &tasks, options.scope);
    let mut devices = args
        .device
        .open(runs, &options.limits, options.threads, ui)?;

    interrupt::watch();
    let stop = interrupt::stop();
    let bar = ui.progress(runs, "running");
    let control = Control::new().with_cancel(stop.clone()).on_progress({
        let bar = bar.clone();
        move |at| bar.set_position(at.done as u64)
    });
    let listed = if args.verbose { usize::MAX } else { LISTED };
    let mut failures: Vec<[String; 3]> = Vec::new();
    let mut write_error = None;
    let result = run(
        &solvers,
        &tasks,
        &options,
        &mut devices,
        &control,
        |result| {
            if let Some(out) = &mut json
                && write_error.is_none()
                && let Err(error) = result.write_json(out)
            {
                // The rest could not be written either.
                write_error = Some(error);
                stop.cancel();
            }
            // Failing is the rule in an all-pairs run, so failures are not listed.
            if !args.all_pairs && failures.len() < listed {
                failures.extend(failure(&result));
            }
        },
    );
    bar.finish_and_clear();
    let report = result?;
    if let Some(error) = write_error {
        return Err(error.into());
    }
    if let Some(mut out) = json {
        out.flush()?;
    }
    let without: Vec<&str> = report.without_task.iter().map(String::as_str).collect();
    ui.mention("without a task here", &without);
    let mut out: Box<dyn Write> = match args.json.as_deref() == Some(Path::new("-")) {
        true => Box::new(io::stderr().lock()),
        false => Box::new(stdout()),
    };
    write_report(&mut out, &report, &failures, listed, args.all_pairs)?;
    out.flush()?;
    drop(out);
    ui.remark(format_args!(
        "{} in {:.2} s on {}: {} runs/s",
        counted(report.summary.runs(), "run"),
        report.time.as_secs_f64(),
        counted(report.threads, "thread"),
        rate(report.summary.runs(), report.time),
    ));
    if let Some(found) = &report.device {
        device::remark(found, ui);
    }
    report.bugs.iter().for_each(|bug| report_bug(bug, ui));
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    let differing = report
        .device
        .as_ref()
        .is_some_and(|device| device.differing > 0);
    let findings = !solvers.is_clean() || differing || report.summary.has_findings();
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
    if foreign > 0 {
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
    write!(
        out,
        "solved {solved} of {tasks} tasks, {right} of {pairs} pairs"
    )?;
    if !report.is_complete() {
        let (done, planned) = (summary.runs(), report.planned);
        write!(out, " (interrupted after {done} of {planned} runs)")?;
    }
    writeln!(out)
}
