//! Pictures of runs as text for a terminal.

use batt_arc::render::{Color, Panel, layout};
use batt_arc::{Grid, Pair, PairRef, Split, Task};
use batt_dsl::Limits;
use batt_engine::{JobResult, RunRecord, Verdict};
use batt_picture::terminal;

use super::outcome_of;
use crate::error::Result;
use crate::solvers::Solver;
use crate::tasks::Tasks;
use crate::trace::RunInput;

/// Draws a run that was read from a file, without a title. Fails if its task or pair is not among
/// the tasks.
pub fn record_text(record: &RunRecord, tasks: &Tasks, color: Color) -> Result<String> {
    let pair = tasks.pair_of(record)?;
    let outcome = outcome_of(record, pair);
    Ok(terminal::run(&pair.input, &outcome, color))
}

/// Runs a solver on the demonstrations of a task and draws each: the input, the expected output, the
/// solver's output, and the cells that are wrong. With `tests` the tests too, without their
/// expected outputs.
pub fn answers_text(solver: &Solver, task: &Task, tests: bool, color: Color) -> String {
    let mut out = String::new();
    let split = if tests {
        task.pair_count()
    } else {
        task.train.len()
    };
    for (name, pair) in task.pairs().take(split) {
        let is_demo = name.split == Split::Train;
        let expected = pair.output.as_ref().filter(|_| is_demo);
        let input = RunInput::new(task, pair);
        let result = solver.run_on(&input, &Limits::default());
        out.push('\n');
        out += &picture(name, pair, expected, &result, solver, color);
    }
    out
}

fn picture(
    name: PairRef,
    pair: &Pair,
    expected: Option<&Grid>,
    result: &JobResult,
    solver: &Solver,
    color: Color,
) -> String {
    let got = result.output();
    let mut panels = vec![
        Panel::grid(&format!("{name} input"), &pair.input),
        Panel::arrow(),
    ];
    if let Some(expected) = expected {
        panels.push(Panel::grid("output", expected));
    }
    // A value that is not a grid may be wide, so it is drawn below.
    let mut below = String::new();
    match (&got, expected) {
        (Some(got), Some(expected)) if got == expected => {
            panels.push(Panel::note("solver", "right"))
        }
        (Some(got), Some(expected)) => {
            panels.push(Panel::grid("solver", got));
            panels.push(Panel::diff(expected, got));
        }
        (Some(got), None) => panels.push(Panel::grid("solver", got)),
        (None, _) => {
            panels.push(Panel::note("solver", "no grid"));
            below = match (&result.verdict, &result.value) {
                (Verdict::Failed(error), _) => error.explain(solver.program(), "solver") + "\n",
                (_, Some(value)) => terminal::value(value, color),
                (_, None) => String::new(),
            };
        }
    }
    layout(&panels, color) + &below
}
