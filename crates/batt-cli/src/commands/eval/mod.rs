//! `batt eval`: runs one solver on one input and shows the run in detail.

pub mod input;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use batt::picture::terminal;
use batt::render::{self, comparison};
use batt::{
    Diagnostic, Dialect, FailureRecord, Grid, JobResult, Limits, OwnedValue, ParamRole, Solver,
    Solvers, TracedStep, Verdict, describe, micros, nearest,
};
use clap::Args;
use serde_json::{Value as Json, json};

use self::input::Input;
use crate::cli::{Exit, RunOptions};
use crate::error::advised;
use crate::ui::{BAD, DIM, GOOD, STRONG, Ui, escaped, name, say, stdout};

/// Run one solver on one input and show the result
#[derive(Args)]
#[command(after_help = "\
Examples:
  batt eval solvers.py::solve_1673c3ec --task data/training/1673c3ec.json
  batt eval solvers.py::solve_1673c3ec --task data/training:test:0 --trace
  batt eval solvers_pre.py::solve_1673c3ec --task data/training/1673c3ec.json
  batt eval mine.py::solve --grid grid.json
  printf '012\\n340\\n' | batt eval mine.py::solve --grid -")]
pub struct EvalArgs {
    /// The solver file and the function in it
    #[arg(value_name = "FILE::NAME")]
    solver: String,

    /// A task, and the pair from which to take the input [default: train:0]
    #[arg(
        long,
        value_name = "PATH[:ID][:train:0]",
        required_unless_present = "grid",
        conflicts_with = "grid"
    )]
    task: Option<String>,

    /// A grid as JSON rows or as lines of digits, from a file or from stdin with -
    #[arg(long, value_name = "FILE|-")]
    grid: Option<PathBuf>,

    /// Show every step with its value
    #[arg(long)]
    trace: bool,

    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: RunOptions,
}

/// Runs the command.
pub fn main(args: &EvalArgs, ui: &Ui) -> Result<Exit> {
    let solver = choose(&args.solver, args.options.dialect(), ui)?;
    let input = Input::of(args.task.as_deref(), args.grid.as_deref(), &solver, ui)?;
    let input = input.unwrap_or_else(|| unreachable!("the command line asks for one"));
    let limits = args.options.limits();
    let evaluation = Evaluation::new(&solver, &input, &limits, args.trace);
    let mut out = stdout();
    if args.json {
        evaluation.write_json(&mut out)?;
    } else {
        evaluation.write_text(&mut out, ui)?;
    }
    out.flush()?;
    Ok(Exit::findings(evaluation.result.verdict.is_wrong()))
}

/// Loads a solver, given as `FILE::NAME`, or as `FILE` if it is the only one of its file.
pub fn choose(text: &str, dialect: Option<Dialect>, ui: &Ui) -> Result<Solver> {
    let (path, wanted) = match text.rsplit_once("::") {
        Some((path, name)) => (path, Some(name)),
        None => (text, None),
    };
    let solvers = Solvers::load([path], dialect)?;
    let file = &solvers.files()[0];
    let file_name = file.source.name();
    let Some(wanted) = wanted.or_else(|| match file.programs.as_slice() {
        [only] => Some(only.name()),
        _ => None,
    }) else {
        let first = file
            .programs
            .first()
            .map_or("NAME", |program| program.name());
        return Err(advised(
            format_args!("{file_name} holds {} solvers", file.programs.len()),
            format!("name one: {file_name}::{first}"),
        ));
    };
    if let Some(solver) = solvers.get(wanted) {
        return Ok(solver.clone());
    }
    if let Some(program) = file.program(wanted) {
        return Err(advised(
            format_args!("'{wanted}' takes ({})", program.params().join(", ")),
            "a solver takes one grid, or some of S, I and C: the demonstrations, the input, and the grid \
             to compare with, which is None here",
        ));
    }
    let about = |found: &&Diagnostic| found.function.as_deref() == Some(wanted);
    let broken: Vec<_> = file.diagnostics.iter().filter(about).collect();
    for found in &broken {
        say(ui.diagnostic(found, ui.err_color()));
    }
    let names = file.programs.iter().map(|program| program.name());
    let hint = match nearest(wanted, names) {
        _ if !broken.is_empty() => "correct the errors reported above".to_owned(),
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("`batt check {file_name}` lists what is wrong with the file"),
    };
    Err(advised(
        format_args!("{file_name} has no solver '{wanted}' that can run"),
        hint,
    ))
}

/// A run with its solver, input and trace.
pub struct Evaluation<'a> {
    solver: &'a Solver,
    input: &'a Input,
    result: JobResult,
    steps: Vec<TracedStep>,
    trace: bool,
}

impl<'a> Evaluation<'a> {
    /// Runs a solver.
    pub fn new(solver: &'a Solver, input: &'a Input, limits: &Limits, trace: bool) -> Self {
        let result = solver.run_on(&input.run, limits);
        let steps = match (trace, &result.verdict) {
            (true, _) | (_, Verdict::Failed(_)) => solver.trace(&input.run, limits),
            _ => Vec::new(),
        };
        Evaluation {
            solver,
            input,
            result,
            steps,
            trace,
        }
    }

    /// Writes the steps, if they are wanted, and the result.
    pub fn write_text(&self, out: &mut impl Write, ui: &Ui) -> Result<()> {
        if self.trace {
            let at = self
                .solver
                .roles()
                .iter()
                .position(|role| *role == ParamRole::Input);
            let input = at.map_or("I", |at| &self.solver.program().params()[at]);
            writeln!(out, "{}", ui.out(STRONG, input))?;
            write!(
                out,
                "{}",
                render::grid(&self.input.run.grid, ui.out_color())
            )?;
            for step in &self.steps {
                write_step(out, step, ui)?;
            }
            writeln!(out)?;
        }
        if let Verdict::Failed(error) = &self.result.verdict {
            let text = error.explain(self.solver.program(), self.solver.file());
            writeln!(out, "{} {text}", ui.out(BAD, "failed:"))?;
            if let Some(text) = self.solver.explain(error, &self.steps) {
                write!(out, "{}", escaped(&text, &['\n', '\t']))?;
            }
            return Ok(());
        }
        let Some(value) = &self.result.value else {
            return Ok(());
        };
        let got = value.as_grid().and_then(|rows| Grid::from_rows(&rows).ok());
        let expected = self.input.run.expected.as_ref();
        match (&self.result.verdict, expected, &got) {
            (Verdict::Unknown | Verdict::Right, _, Some(grid)) => {
                write!(out, "{}", render::grid(grid, ui.out_color()))?;
            }
            (_, Some(expected), Some(grid)) => {
                write!(out, "{}", comparison(expected, grid, ui.out_color()))?;
            }
            // A value alone is the requested data, so it is not cut short.
            (Verdict::Unknown | Verdict::Right, ..) => writeln!(out, "{value}")?,
            _ => write!(out, "{}", terminal::value(value, ui.out_color()))?,
        }
        let pair = name(&self.input.name);
        let program = self.solver.program();
        match self
            .result
            .verdict
            .reason(program, self.solver.file(), expected, Some(value))
        {
            Some(why) => writeln!(out, "{} on {pair}: {why}", ui.out(BAD, "wrong"))?,
            None if self.result.verdict.is_right() => {
                writeln!(out, "{} on {pair}", ui.out(GOOD, "right"))?;
            }
            None => {}
        }
        ui.remark(format_args!("{:.1} us", micros(self.result.time)));
        Ok(())
    }

    fn write_json(&self, out: &mut impl Write) -> Result<()> {
        let mut record = json!({
            "solver": self.solver.name(),
            "file": self.solver.file(),
            "input": self.input.name,
            "ok": self.result.verdict.known(),
            "us": micros(self.result.time),
        });
        if let Some(value) = &self.result.value {
            record["value"] = value.to_json();
        }
        if let Verdict::Failed(error) = &self.result.verdict {
            let failure = FailureRecord::new(error, self.solver.program());
            record["error"] = serde_json::to_value(failure)?;
        }
        if self.trace {
            record["trace"] = self.steps.iter().map(step_json).collect();
        }
        writeln!(out, "{record}")?;
        Ok(())
    }
}

/// Writes a call and a description of its value, and below them the value.
fn write_step(out: &mut impl Write, step: &TracedStep, ui: &Ui) -> Result<()> {
    let (what, picture) = match &step.value {
        Some(OwnedValue::Function) => ("a function".to_owned(), String::new()),
        Some(value) => (describe(value), terminal::value(value, ui.out_color())),
        None => ("a value too large to show".to_owned(), String::new()),
    };
    let place = ui.out(DIM, format_args!("line {}, {what}", step.line));
    let name = ui.out(STRONG, name(&step.name));
    writeln!(out, "\n{name} = {}  {place}", step.call)?;
    write!(out, "{picture}")?;
    Ok(())
}

fn step_json(step: &TracedStep) -> Json {
    json!({
        "name": step.name,
        "line": step.line,
        "call": step.call,
        "value": step.value.as_ref().map(OwnedValue::to_json),
    })
}
