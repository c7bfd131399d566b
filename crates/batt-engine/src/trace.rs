//! The steps of a run, one by one.

use std::fmt::Write as _;

use batt_dsl::{Limits, OwnedValue, Workspace};
use batt_lang::{Operand, Program, SourceFile, StepId, StepKind};

use crate::evaluate::{Job, inputs};
use crate::outcome::describe;

/// A computed step.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedStep {
    /// The variable that holds the value.
    pub name: String,
    /// The call as it is written in the file.
    pub call: String,
    /// The line in the file; 0 if the step is in no file.
    pub line: u32,
    /// The value; `None` if it is too large to copy. [`describe`](crate::describe) shows it in a few
    /// words.
    pub value: Option<OwnedValue>,
}

/// Runs the program of a job and returns the value of every step that succeeds.
pub fn trace(program: &Program, job: &Job<'_>, limits: &Limits) -> Vec<TracedStep> {
    let mut limits = *limits;
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
        // The caller knows how the run ends; this run only collects the steps before the end.
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

/// Quotes the line of the step that failed and describes its arguments. Every line ends in a
/// newline.
pub fn explain_step(
    program: &Program,
    failed: StepId,
    steps: &[TracedStep],
    source: &SourceFile,
) -> String {
    let step = program.step(failed);
    let mut out = String::new();
    // A call may be part of a very long line.
    let line: String = source.line(step.span.line).chars().take(160).collect();
    // Writing to a String cannot fail.
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
