//! Draws the work of a solver on the pairs of a task.

use batt::render::{Color, Panel, layout};
use batt::{Grid, JobResult, Limits, Pair, PairRef, RunInput, Solver, Split, Task, Verdict};

use crate::draw;

/// Draws each demonstration: input, expected output, the solver's output, and the cells that are
/// wrong. With `tests` the tests too, without their expected outputs.
pub fn pictures(solver: &Solver, task: &Task, tests: bool, color: Color) -> String {
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
                (_, Some(value)) => draw::value(value, color),
                (_, None) => String::new(),
            };
        }
    }
    layout(&panels, color) + &below
}
