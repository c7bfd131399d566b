//! `batt demo`: shows and solves the built-in puzzles.

use std::collections::HashMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Result;
use batt::render::{Panel, layout};
use batt::{Devices, RunOptions, RunResult, Solvers, Task, Tasks, Values, micros, run};
use clap::Args;
use serde_json::json;

use crate::cli::Exit;
use crate::interrupt;
use crate::ui::{BAD, GOOD, STRONG, Ui, counted, rate, stdout, table, table_text};

/// Show some puzzles, solve all of them and print the speed
#[derive(Args)]
#[command(after_help = "\
The puzzles and their solvers are built in; nothing is read or downloaded.

Examples:
  batt demo
  batt demo --json
  batt demo --color always | less -R")]
pub struct DemoArgs {
    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,
}

/// The puzzles that are shown. They are interesting and fit on a narrow terminal.
const SHOWN: [&str; 4] = ["002e3123", "59938dad", "3470f492", "f92937ab"];

/// The time of the measurement: long enough for a steady figure, short enough to wait for.
const MEASURED: Duration = Duration::from_millis(400);

/// The number of copies of the solvers in one measurement, so that starting threads does not
/// matter.
const COPIES: usize = 32;

/// Runs the command.
pub fn main(args: &DemoArgs, ui: &Ui) -> Result<Exit> {
    interrupt::watch();
    let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
    let mut results: Vec<RunResult> = Vec::new();
    runs(&solvers, &tasks, Values::All, |result| results.push(result))?;
    let timing = measure(&solvers, &tasks)?;
    let rows: Vec<Row<'_>> = results
        .chunk_by(|a, b| a.task().id == b.task().id)
        .map(|runs| Row {
            task: runs[0].task(),
            micros: timing
                .micros
                .get(&runs[0].task().id)
                .copied()
                .unwrap_or_default(),
            runs,
        })
        .collect();

    let mut out = stdout();
    if args.json {
        writeln!(out, "{}", to_json(&rows, &timing))?;
    } else {
        write_text(&mut out, &rows, &timing, ui)?;
    }
    out.flush()?;
    if interrupt::happened() {
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::findings(rows.iter().any(|row| !row.solved())))
}

/// Runs every solver on its puzzle, on one core. Returns the time that this took.
fn runs(
    solvers: &Solvers,
    tasks: &Tasks,
    values: Values,
    sink: impl FnMut(RunResult),
) -> Result<Duration> {
    let options = RunOptions {
        threads: Some(NonZeroUsize::MIN),
        values,
        ..RunOptions::default()
    };
    let control = interrupt::control();
    Ok(run(
        solvers,
        tasks,
        &options,
        &mut Devices::none(),
        &control,
        sink,
    )?
    .time)
}

/// The times of the solvers on one core.
struct Timing {
    /// Median microseconds of a run, by task.
    micros: HashMap<String, f64>,
    /// The number of runs timed.
    runs: usize,
    /// The total time of these runs.
    time: Duration,
}

/// Times all puzzles, again and again.
fn measure(solvers: &Solvers, tasks: &Tasks) -> Result<Timing> {
    let copies: Solvers = (0..COPIES).flat_map(|_| solvers).cloned().collect();
    let mut times: HashMap<String, Vec<f64>> = HashMap::new();
    let mut timing = Timing {
        micros: HashMap::new(),
        runs: 0,
        time: Duration::ZERO,
    };
    while timing.time < MEASURED && !interrupt::happened() {
        timing.time += runs(&copies, tasks, Values::None, |result| {
            timing.runs += 1;
            let micros = micros(result.time);
            match times.get_mut(&result.task().id) {
                Some(times) => times.push(micros),
                None => drop(times.insert(result.task().id.clone(), vec![micros])),
            }
        })?;
    }
    let medians = times.into_iter().map(|(task, mut times)| {
        times.sort_by(f64::total_cmp);
        (task, times[times.len() / 2])
    });
    timing.micros = medians.collect();
    Ok(timing)
}

/// A puzzle and the runs of its solver.
struct Row<'a> {
    task: &'a Task,
    runs: &'a [RunResult],
    micros: f64,
}

impl Row<'_> {
    fn right(&self) -> usize {
        self.runs
            .iter()
            .filter(|run| run.verdict.is_right())
            .count()
    }

    fn solved(&self) -> bool {
        self.right() == self.runs.len()
    }

    fn name(&self) -> &str {
        self.task.name.as_deref().unwrap_or_default()
    }

    fn steps(&self) -> usize {
        self.runs[0].solver().program().steps().len()
    }

    /// Draws the last input and the solver's output.
    fn picture(&self, ui: &Ui) -> Option<String> {
        let run = self.runs.last()?;
        let answer = run.output()?;
        let panels = [
            Panel::grid("input", &run.input()?.input),
            Panel::arrow(),
            Panel::grid("output", &answer),
        ];
        Some(layout(&panels, ui.out_color()))
    }
}

fn write_text(out: &mut impl Write, rows: &[Row<'_>], timing: &Timing, ui: &Ui) -> Result<()> {
    for id in SHOWN {
        let Some(row) = rows.iter().find(|row| row.task.id == id) else {
            continue;
        };
        let rule = row.task.description.as_deref().unwrap_or_default();
        writeln!(out, "{}: {rule}", ui.out(STRONG, row.name()))?;
        writeln!(out, "{}", row.picture(ui).unwrap_or_default())?;
    }
    let mut all = table(
        &["puzzle", "name", "steps", "pairs right", "us per run"],
        &[2, 3, 4],
    );
    for row in rows {
        all.add_row([
            row.task.id.clone(),
            row.name().to_owned(),
            row.steps().to_string(),
            format!("{} of {}", row.right(), row.runs.len()),
            format!("{:.2}", row.micros),
        ]);
    }
    writeln!(out, "{}", table_text(&all))?;
    for row in rows {
        if let Some(problem) = row.runs.iter().find_map(RunResult::reason) {
            writeln!(out, "{} {}: {problem}", ui.out(BAD, "wrong:"), row.name())?;
        }
    }
    let solved = rows.iter().filter(|row| row.solved()).count();
    let style = if solved == rows.len() { GOOD } else { BAD };
    let summary = format!(
        "solved {solved} of {} tasks, {} of {} pairs",
        rows.len(),
        rows.iter().map(Row::right).sum::<usize>(),
        rows.iter().map(|row| row.runs.len()).sum::<usize>(),
    );
    writeln!(out, "{}", ui.out(style, summary))?;
    writeln!(
        out,
        "{} in {:.2} s on one core: {} runs per second{}",
        counted(timing.runs, "run"),
        timing.time.as_secs_f64(),
        rate(timing.runs, timing.time),
        if interrupt::happened() {
            " (interrupted)"
        } else {
            ""
        },
    )?;
    Ok(())
}

fn to_json(rows: &[Row<'_>], timing: &Timing) -> serde_json::Value {
    let puzzles: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "task": row.task.id,
                "name": row.name(),
                "rule": row.task.description,
                "steps": row.steps(),
                "pairs": row.runs.len(),
                "right": row.right(),
                "us": round(row.micros),
            })
        })
        .collect();
    json!({
        "puzzles": puzzles,
        "tasks": rows.len(),
        "solved": rows.iter().filter(|row| row.solved()).count(),
        "runs": timing.runs,
        "seconds": timing.time.as_secs_f64(),
        "runs_per_second": (timing.runs as f64 / timing.time.as_secs_f64()).round(),
    })
}

fn round(micros: f64) -> f64 {
    (micros * 1000.0).round() / 1000.0
}
