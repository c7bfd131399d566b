//! Measures every figure of the README on this machine, and names the command that shows the same.

mod evolve;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::{
    Batts, CompareOptions, Control, Devices, Dialect, Limits, Mega, RunOptions, Solvers, Tasks,
    bench, card, conformance,
};
use batt_reference::Ratios;
use clap::Args;
use serde_json::{Value as Json, json};

use crate::interrupt;
use crate::text::{grouped, note, print, table, table_text};

/// Measure every figure of the README
///
/// Without options, the figures of the built-in puzzles. --solvers and --tasks (arc-dsl's
/// solvers.py and ARC's training tasks) add those of real solvers, --against the comparison with
/// Python, --evolve and --evaluation those of evolution, and --vectors those of the conformance
/// vectors. Counts are the same on every machine. Times depend on the machine.
#[derive(Args)]
pub struct ReadmeArgs {
    /// Solver files, such as arc-dsl's solvers.py
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "tasks")]
    solvers: Vec<PathBuf>,

    /// The tasks of those solvers, such as ARC's training tasks
    #[arg(long, value_name = "PATH")]
    tasks: Option<PathBuf>,

    /// A checkout of arc-dsl, to compare with Python on the tasks
    #[arg(long, value_name = "DIR", requires = "tasks")]
    against: Option<PathBuf>,

    /// The Python to run [default: /usr/bin/python3, or the first on the PATH]
    #[arg(long, value_name = "PATH", requires = "against")]
    python: Option<PathBuf>,

    /// Evolve solvers of built-in puzzles, whose solvers are held out
    #[arg(long)]
    evolve: bool,

    /// With --evolve, for this many generations
    #[arg(long, value_name = "N", default_value_t = 100, requires = "evolve")]
    generations: u64,

    /// Evolve solvers of these tasks from --solvers, such as ARC's evaluation tasks
    #[arg(long, value_name = "PATH", requires = "solvers")]
    evaluation: Option<PathBuf>,

    /// With --evaluation, for this many generations
    #[arg(long, value_name = "N", default_value_t = 13, requires = "evaluation")]
    evaluation_generations: u64,

    /// A directory of conformance vectors
    #[arg(long, value_name = "DIR")]
    vectors: Option<PathBuf>,

    /// How long each measurement of throughput takes
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    seconds: f64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A figure, and the command that shows it.
struct Figure {
    name: String,
    value: Json,
    command: &'static str,
}

#[derive(Default)]
struct Figures(Vec<Figure>);

impl Figures {
    fn add(&mut self, name: impl Into<String>, value: impl Into<Json>, command: &'static str) {
        let (name, value) = (name.into(), value.into());
        note(format_args!("{name}: {}", shown(&value)));
        self.0.push(Figure {
            name,
            value,
            command,
        });
    }
}

/// Runs the measurements. Returns whether all answers agree with Python and all vectors pass.
pub fn main(args: &ReadmeArgs) -> Result<bool> {
    let mut figures = Figures::default();
    let mut good = true;
    sizes(&mut figures);
    limits(&mut figures);
    let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
    let time = Duration::from_secs_f64(args.seconds);
    of_solvers("built-in", &solvers, &tasks, time, &mut figures)?;
    if let (Some(tasks), false) = (&args.tasks, args.solvers.is_empty()) {
        let (solvers, tasks) = (Solvers::load(&args.solvers, None)?, Tasks::load(tasks)?);
        of_solvers("named", &solvers, &tasks, time, &mut figures)?;
    }
    if args.against.is_some() && !interrupt::happened() {
        good &= against(args, &mut figures)?;
    }
    if let Some(dir) = args.vectors.as_ref().filter(|_| !interrupt::happened()) {
        let report = conformance::check(dir, &[], |_, _| ())?;
        let command = "batt conformance DIR";
        figures.add("vectors passed", report.passed, command);
        figures.add("vectors failed", report.differences.len(), command);
        good &= report.differences.is_empty();
    }
    if args.evolve && !interrupt::happened() {
        evolve::held_out(args, &mut figures)?;
    }
    if let Some(tasks) = args.evaluation.as_ref().filter(|_| !interrupt::happened()) {
        evolve::unknown_tasks(args, tasks, &mut figures)?;
    }
    print(|out| {
        if args.json {
            let values = figures.0.iter();
            let values = values.map(|figure| (figure.name.clone(), figure.value.clone()));
            let values: serde_json::Map<String, Json> = values.collect();
            writeln!(out, "{}", json!({"readme": values}))?;
            return Ok(());
        }
        let mut rows = table(&["figure", "", "command"], &[1]);
        for figure in &figures.0 {
            rows.add_row([&figure.name, &shown(&figure.value), figure.command]);
        }
        Ok(write!(out, "{}", table_text(&rows))?)
    })?;
    Ok(good)
}

fn shown(value: &Json) -> String {
    match (value.as_u64(), value.as_f64()) {
        (Some(count), _) => grouped(count as usize),
        (_, Some(number)) if number >= 1000.0 => grouped(number as usize),
        (_, Some(number)) => format!("{number:.2}"),
        _ => value.to_string(),
    }
}

fn control() -> Control {
    Control::new().with_cancel(interrupt::stop().clone())
}

/// Adds the numbers of primitives and constants.
fn sizes(figures: &mut Figures) {
    for dialect in [Dialect::ArcDsl, Dialect::Tokpidjin] {
        let name = dialect.name();
        figures.add(
            format!("{name}: primitives"),
            dialect.ops().len(),
            "batt ops",
        );
        figures.add(
            format!("{name}: constants"),
            dialect.constants().len(),
            "batt ops",
        );
    }
    let without = batt::ops::without_device_body().len();
    figures.add(
        "primitives without device body",
        without,
        "batt ops --device",
    );
}

/// Adds the limits of a run.
fn limits(figures: &mut Figures) {
    let limits = Limits::default();
    let command = "batt run --help";
    figures.add("limit: steps of a run", limits.steps, command);
    figures.add("limit: elements of a value", limits.size, command);
    figures.add("limit: MiB of values alive", limits.memory >> 20, command);
}

/// Measures solvers on their tasks, alone and merged.
fn of_solvers(
    whose: &str,
    solvers: &Solvers,
    tasks: &Tasks,
    time: Duration,
    figures: &mut Figures,
) -> Result<()> {
    let options = RunOptions::default();
    let mut devices = Devices::none();
    let report = batt::run(solvers, tasks, &options, &mut devices, &control(), |_| ())?;
    let (solved, of) = report.summary.tasks();
    let (right, pairs) = report.summary.pairs();
    let command = "batt run SOLVERS --tasks TASKS";
    let mut add = |name: &str, value: Json, command| {
        figures.add(format!("{whose}: {name}"), value, command);
    };
    add("solvers", json!(solvers.len()), command);
    add("tasks", json!(of), command);
    add("tasks solved", json!(solved), command);
    add("pairs", json!(pairs), command);
    add("pairs right", json!(right), command);

    let found = bench::throughput(solvers, tasks, time, &control())?;
    let command = "batt bench --solvers SOLVERS --tasks TASKS";
    add(
        "runs per second, one core",
        json!(found.one_core.round()),
        command,
    );
    add("threads", json!(found.threads), command);
    add(
        "runs per second, all cores",
        json!(found.all_cores.map(f64::round)),
        command,
    );

    let merged = card::merge(solvers, Some(tasks))?;
    let stats = &merged.stats;
    let command = "batt card SOLVERS --tasks TASKS";
    add("merged solvers", json!(stats.solvers), command);
    add("steps before merging", json!(stats.before), command);
    add("steps after sharing", json!(stats.shared), command);
    add("steps after simplification", json!(stats.after), command);

    let batts = Batts::from(merged.batt);
    let started = Instant::now();
    let summary = Mega::new(&batts, tasks).run(&control())?;
    let command = "batt mega BATT --tasks TASKS";
    add("runs of the batt", json!(summary.samples), command);
    add(
        "seconds for all of them",
        json!(started.elapsed().as_secs_f64()),
        command,
    );
    Ok(())
}

/// Compares with Python. Returns whether all answers agree.
fn against(args: &ReadmeArgs, figures: &mut Figures) -> Result<bool> {
    let Some(checkout) = &args.against else {
        return Ok(true);
    };
    let options = CompareOptions {
        python: args.python.clone(),
        time: Duration::from_secs(60),
    };
    let found = bench::against_python(checkout, args.tasks.as_deref(), &options, &control())?;
    let Ratios {
        overall,
        without,
        alone,
        median,
        smallest,
    } = found.ratios("a64e4611");
    let command = "batt bench --against ARC-DSL --tasks TASKS";
    figures.add("Python", found.version.clone(), command);
    figures.add("answers compared", found.answers, command);
    figures.add("answers the same", found.agreed, command);
    for (name, ratio) in [
        ("times faster than Python, overall", overall),
        ("times faster without a64e4611", without),
        ("times faster on a64e4611", alone),
        ("times faster, median solver", median),
        ("times faster, slowest solver", smallest),
    ] {
        figures.add(name, json!(ratio), command);
    }
    Ok(found.agreed == found.answers)
}
