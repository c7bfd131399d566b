//! `batt eval`: one solver, one input, everything about the run.

mod input;
mod trace;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_arc::Grid;
use batt_arc::render::comparison;
use batt_dsl::Workspace;
use batt_engine::{Compiled, Job, JobResult, ParamRole, Sample, Values, Verdict, run_job};
use batt_lang::{Program, SolverFile};
use clap::Args;
use serde_json::json;

use self::input::Input;
use self::trace::TracedStep;
use crate::cli::{Exit, RunOptions};
use crate::draw;
use crate::error::advised;
use crate::outcome::{ErrorRecord, RunRecord, failure, micros, reason};
use crate::solvers::{self, nearest};
use crate::ui::{BAD, GOOD, STRONG, Ui, stdout};

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

    /// A task, and which of its pairs to take the input from [default: train:0]
    #[arg(
        long,
        value_name = "PATH[:train:0]",
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
    let (path, name) = match args.solver.rsplit_once("::") {
        Some((path, name)) => (path, Some(name)),
        None => (args.solver.as_str(), None),
    };
    let file = solvers::load(Path::new(path), args.options.dialect())?;
    let program = choose(&file, name, ui)?;
    let compiled = Compiled::new(program);
    let roles = roles(&compiled, program)?;
    let input = match (&args.task, &args.grid) {
        (Some(task), _) => Input::of_task(task, program.name(), ui)?,
        (None, Some(grid)) => Input::of_grid(grid)?,
        (None, None) => unreachable!("the command line asks for one of them"),
    };
    if args.grid.is_some() && roles.contains(&ParamRole::Samples) {
        ui.note("a grid alone has no demonstrations, so S is empty; name a task to have some");
    }
    let mut options = args.options.engine(None);
    options.values = Values::All;
    let job = Job {
        program: &compiled,
        sample: Sample {
            demos: &input.demos,
            input: &input.grid,
            expected: input.expected.as_ref(),
        },
    };
    let result = run_job(&mut Workspace::new(), &job, &options);
    // The steps are watched in a run of their own, so that watching cannot change the result.
    let steps = match (args.trace, &result.verdict) {
        (true, _) | (_, Verdict::Failed(_)) => trace::steps(program, &job, &options),
        _ => Vec::new(),
    };
    let evaluation = Evaluation {
        file: &file,
        program,
        roles,
        input: &input,
        result: &result,
        steps: &steps,
        trace: args.trace,
    };
    let mut out = stdout();
    if args.json {
        evaluation.write_json(&mut out)?;
    } else {
        evaluation.write_text(&mut out, ui)?;
    }
    out.flush()?;
    let good = matches!(result.verdict, Verdict::Right | Verdict::Unknown);
    Ok(Exit::findings(!good))
}

/// The function asked for, or the only one there is.
fn choose<'f>(file: &'f SolverFile, name: Option<&str>, ui: &Ui) -> Result<&'f Program> {
    let names = || file.programs.iter().map(Program::name);
    let file_name = file.source.name();
    let program = match (name, file.programs.as_slice()) {
        (None, [only]) => only,
        (None, _) => {
            return Err(advised(
                format_args!("{file_name} holds {} solvers", file.programs.len()),
                format!(
                    "name one: {file_name}::{}",
                    names().next().unwrap_or("NAME")
                ),
            ));
        }
        (Some(name), _) => match file.program(name) {
            Some(program) => program,
            None => {
                let about =
                    |found: &&batt_lang::Diagnostic| found.function.as_deref() == Some(name);
                let broken: Vec<_> = file.diagnostics.iter().filter(about).collect();
                for found in &broken {
                    crate::ui::say(ui.diagnostic(found, ui.err_color()));
                }
                let hint = match nearest(name, names()) {
                    _ if !broken.is_empty() => "mend what is reported above".to_owned(),
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("`batt check {file_name}` says what the file holds"),
                };
                return Err(advised(
                    format_args!("{file_name} has no solver '{name}' that can run"),
                    hint,
                ));
            }
        },
    };
    Ok(program)
}

/// What the parameters of a solver are for.
fn roles<'p>(compiled: &'p Compiled, program: &Program) -> Result<&'p [ParamRole]> {
    compiled.roles().ok_or_else(|| {
        let params = program.params().join(", ");
        advised(
            format_args!("'{}' takes ({params})", program.name()),
            "a solver takes one grid, or those of S, I and C that it needs: the demonstrations, the input, and what \
             to compare with, None here",
        )
    })
}

/// Everything there is to tell.
struct Evaluation<'a> {
    file: &'a SolverFile,
    program: &'a Program,
    roles: &'a [ParamRole],
    input: &'a Input,
    result: &'a JobResult,
    steps: &'a [TracedStep],
    trace: bool,
}

impl Evaluation<'_> {
    fn write_text(&self, out: &mut impl Write, ui: &Ui) -> Result<()> {
        if self.trace {
            let at = self.roles.iter().position(|role| *role == ParamRole::Input);
            let input = at.map_or("I", |at| &self.program.params()[at]);
            writeln!(out, "{}", ui.out(STRONG, input))?;
            write!(
                out,
                "{}",
                batt_arc::render::grid(&self.input.grid, ui.out_color())
            )?;
            for step in self.steps {
                step.write(out, ui)?;
            }
            writeln!(out)?;
        }
        if let Verdict::Failed(error) = &self.result.verdict {
            let text = failure(error, self.program, self.file.source.name());
            writeln!(out, "{} {text}", ui.out(BAD, "failed:"))?;
            if let Some(step) = error.step {
                let at = trace::explain(self.program, step, self.steps, &self.file.source);
                write!(out, "{at}")?;
            }
            return Ok(());
        }
        let Some(value) = &self.result.value else {
            return Ok(());
        };
        let got = value.as_grid().and_then(|rows| Grid::from_rows(&rows).ok());
        match (&self.result.verdict, &self.input.expected, &got) {
            (Verdict::Unknown | Verdict::Right, _, Some(grid)) => {
                write!(out, "{}", batt_arc::render::grid(grid, ui.out_color()))?;
            }
            (_, Some(expected), Some(grid)) => {
                write!(out, "{}", comparison(expected, grid, ui.out_color()))?;
            }
            // On its own the value is the data asked for, so it is not cut short.
            (Verdict::Unknown | Verdict::Right, ..) => writeln!(out, "{value}")?,
            _ => write!(out, "{}", draw::value(value, ui.out_color()))?,
        }
        let pair = &self.input.name;
        match reason(
            &self.result.verdict,
            self.program,
            "",
            self.input.expected.as_ref(),
            Some(value),
        ) {
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
        let source = &self.file.source;
        let mut record = json!({
            "solver": self.program.name(),
            "file": source.name(),
            "input": self.input.name,
            "ok": RunRecord::ok(&self.result.verdict),
            "us": micros(self.result.time),
        });
        if let Some(value) = &self.result.value {
            record["value"] = value.to_json();
        }
        if let Verdict::Failed(error) = &self.result.verdict {
            record["error"] = serde_json::to_value(ErrorRecord::new(error, self.program))?;
        }
        if self.trace {
            record["trace"] = self.steps.iter().map(TracedStep::to_json).collect();
        }
        writeln!(out, "{record}")?;
        Ok(())
    }
}
