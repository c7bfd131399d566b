//! `batt demo`: the whole thing at work, on puzzles that are built in.

use std::io::Write;
use std::time::Duration;

use anyhow::Result;
use batt_arc::Grid;
use batt_arc::render::{Panel, layout};
use batt_dsl::{OwnedValue, Workspace};
use batt_engine::{EvalOptions, JobResult, Values};
use clap::Args;
use serde_json::json;

use crate::cli::Exit;
use crate::corpus::{Corpus, Puzzle, Timing, measure};
use crate::interrupt;
use crate::outcome::reason;
use crate::ui::{BAD, GOOD, STRONG, Ui, counted, rate, stdout, table, table_text};

/// Show some puzzles, solve all of them and say how fast that went
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

/// Puzzles worth looking at that fit on a narrow terminal.
const SHOWN: [&str; 4] = ["002e3123", "59938dad", "3470f492", "f92937ab"];

/// Long enough for a steady figure, short enough to wait for.
const MEASURED: Duration = Duration::from_millis(400);

/// Runs the command.
pub fn main(args: &DemoArgs, ui: &Ui) -> Result<Exit> {
    interrupt::watch();
    let corpus = Corpus::load();
    let puzzles = corpus.puzzles();
    let options = EvalOptions {
        values: Values::All,
        ..EvalOptions::default()
    };
    let mut workspace = Workspace::new();
    let results: Vec<Vec<JobResult>> = puzzles
        .iter()
        .map(|puzzle| puzzle.run(&mut workspace, &options))
        .collect();
    let timing = measure(&puzzles, &EvalOptions::default(), MEASURED);
    let rows: Vec<Row<'_>> = puzzles
        .iter()
        .zip(&results)
        .zip(&timing.micros)
        .map(|((puzzle, results), &micros)| Row {
            puzzle,
            results,
            micros,
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

/// A puzzle and what came of it.
struct Row<'a> {
    puzzle: &'a Puzzle<'a>,
    results: &'a [JobResult],
    micros: f64,
}

impl Row<'_> {
    fn right(&self) -> usize {
        let right = |result: &&JobResult| result.verdict.is_right();
        self.results.iter().filter(right).count()
    }

    fn solved(&self) -> bool {
        self.right() == self.results.len()
    }

    fn name(&self) -> &str {
        self.puzzle.task.name.as_deref().unwrap_or_default()
    }

    /// The test input and what the solver made of it.
    fn picture(&self, ui: &Ui) -> Option<String> {
        let (job, result) = self.puzzle.jobs.iter().zip(self.results).next_back()?;
        let answer = result.value.as_ref().and_then(as_grid)?;
        let panels = [
            Panel::grid("input", job.sample.input),
            Panel::arrow(),
            Panel::grid("output", &answer),
        ];
        Some(layout(&panels, ui.out_color()))
    }

    /// What is wrong with the first pair that is not right.
    fn problem(&self) -> Option<String> {
        let runs = self.puzzle.jobs.iter().zip(self.results);
        runs.into_iter().find_map(|(job, result)| {
            reason(
                &result.verdict,
                self.puzzle.program,
                "corpus/solvers.py",
                job.sample.expected,
                result.value.as_ref(),
            )
        })
    }
}

fn as_grid(value: &OwnedValue) -> Option<Grid> {
    Grid::from_rows(&value.as_grid()?).ok()
}

fn write_text(out: &mut impl Write, rows: &[Row<'_>], timing: &Timing, ui: &Ui) -> Result<()> {
    for id in SHOWN {
        let Some(row) = rows.iter().find(|row| row.puzzle.task.id == id) else {
            continue;
        };
        let rule = row.puzzle.task.description.as_deref().unwrap_or_default();
        writeln!(out, "{}: {rule}", ui.out(STRONG, row.name()))?;
        writeln!(out, "{}", row.picture(ui).unwrap_or_default())?;
    }
    let mut all = table(
        &["puzzle", "name", "steps", "pairs right", "us per run"],
        &[2, 3, 4],
    );
    for row in rows {
        all.add_row([
            row.puzzle.task.id.clone(),
            row.name().to_owned(),
            row.puzzle.program.steps().len().to_string(),
            format!("{} of {}", row.right(), row.results.len()),
            format!("{:.2}", row.micros),
        ]);
    }
    writeln!(out, "{}", table_text(&all))?;
    for row in rows {
        if let Some(problem) = row.problem() {
            writeln!(out, "{} {}: {problem}", ui.out(BAD, "wrong:"), row.name())?;
        }
    }
    let solved = rows.iter().filter(|row| row.solved()).count();
    let style = if solved == rows.len() { GOOD } else { BAD };
    let summary = format!(
        "solved {solved} of {} tasks, {} of {} pairs",
        rows.len(),
        rows.iter().map(Row::right).sum::<usize>(),
        rows.iter().map(|row| row.results.len()).sum::<usize>(),
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
                "task": row.puzzle.task.id,
                "name": row.name(),
                "rule": row.puzzle.task.description,
                "steps": row.puzzle.program.steps().len(),
                "pairs": row.results.len(),
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
