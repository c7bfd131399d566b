//! The steps of a run, one by one.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use batt_dsl::{OwnedValue, Workspace};
use batt_engine::{EvalOptions, Job, inputs};
use batt_lang::{Operand, Program, SourceFile, StepId, StepKind};
use serde_json::{Value as Json, json};

use crate::draw;
use crate::outcome::describe;
use crate::ui::{DIM, STRONG, Ui};

/// A step that has been computed.
pub struct TracedStep {
    name: String,
    /// The call as it stands in the file.
    call: String,
    line: u32,
    /// The value; none if it is too large to copy out of the run.
    value: Option<OwnedValue>,
}

impl TracedStep {
    /// Writes the call and what it gave, below it the value.
    pub fn write(&self, out: &mut impl Write, ui: &Ui) -> Result<()> {
        let (what, picture) = match &self.value {
            Some(OwnedValue::Function) => ("a function".to_owned(), String::new()),
            Some(value) => (describe(value), draw::value(value, ui.out_color())),
            None => ("a value too large to show".to_owned(), String::new()),
        };
        let place = ui.out(DIM, format_args!("line {}, {what}", self.line));
        let name = ui.out(STRONG, &self.name);
        writeln!(out, "\n{name} = {}  {place}", self.call)?;
        write!(out, "{picture}")?;
        Ok(())
    }

    /// The step for JSON.
    pub fn to_json(&self) -> Json {
        json!({
            "name": self.name,
            "line": self.line,
            "call": self.call,
            "value": self.value.as_ref().map(OwnedValue::to_json),
        })
    }
}

/// Runs the program and keeps the value of every step that succeeds.
pub fn steps(program: &Program, job: &Job<'_>, options: &EvalOptions) -> Vec<TracedStep> {
    let mut limits = options.limits;
    // Copying values out takes steps and memory of its own.
    limits.steps = limits.steps.saturating_mul(4);
    limits.memory = limits.memory.saturating_mul(2);
    let mut steps = Vec::new();
    Workspace::new().run(job.program.dialect(), &limits, |run| {
        let grid = job.sample.input;
        let Ok(input) = run.input(grid.height(), grid.width(), grid.cells()) else {
            return;
        };
        let Ok(inputs) = inputs(run, job.program, &job.sample, input) else {
            return;
        };
        // How the run ends is known already; this one is for the steps before that.
        let _ = job.program.execute_watched(run, &inputs, |run, id, value| {
            let step = program.step(id);
            steps.push(TracedStep {
                name: step.name.clone(),
                call: program.call_text(id),
                line: step.span.line,
                value: run.to_owned(value).ok(),
            });
        });
    });
    steps
}

/// The line of the step that failed, and what its arguments were.
pub fn explain(
    program: &Program,
    failed: StepId,
    steps: &[TracedStep],
    source: &SourceFile,
) -> String {
    let step = program.step(failed);
    let mut out = String::new();
    let line = source.line(step.span.line);
    // One call may stand on a very long line.
    let line: String = line.chars().take(160).collect();
    let _ = writeln!(out, "{:>5} | {line}", step.span.line);
    let (params, args): (Vec<&str>, _) = match &step.kind {
        StepKind::Call { callee, args } => match callee {
            Operand::Op(op) => (op.op().params.iter().map(|p| p.name).collect(), args),
            _ => (Vec::new(), args),
        },
        StepKind::Tuple(items) => (Vec::new(), items),
    };
    for (k, arg) in args.iter().enumerate() {
        let param = params.get(k).copied().unwrap_or("argument");
        let text = program.operand_text(arg);
        let what = match arg {
            Operand::Step(id) => match steps.get(id.index()) {
                Some(TracedStep {
                    value: Some(value), ..
                }) => describe(value),
                _ => "a large value".to_owned(),
            },
            Operand::Param(_) => "the input grid".to_owned(),
            Operand::Op(_) => "a function".to_owned(),
            Operand::Const(constant) => constant.value().to_string(),
            Operand::Literal(_) => "a literal".to_owned(),
        };
        let _ = writeln!(out, "      | {param}: {text} is {what}");
    }
    out
}
