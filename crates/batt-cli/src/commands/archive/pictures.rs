//! Draws the work of a solver on the pairs of a task.

use batt::render::{Color, Panel, layout};
use batt::{Grid, JobResult, OwnedValue, Pair, PairRef, Program, Split, Task, Verdict, run_pair};

use crate::draw;

/// Draws each demonstration: input, expected output, the solver's output, and the wrong cells. With
/// `tests` it draws the tests as well, without their expected outputs.
pub fn pictures(program: &Program, task: &Task, tests: bool, color: Color) -> String {
    let mut out = String::new();
    let split = if tests {
        task.pair_count()
    } else {
        task.train.len()
    };
    for (name, pair) in task.pairs().take(split) {
        let is_demo = name.split == Split::Train;
        let expected = pair.output.as_ref().filter(|_| is_demo);
        let result = run_pair(program, task, pair);
        out.push('\n');
        out += &picture(name, pair, expected, &result, program, color);
    }
    out
}

fn picture(
    name: PairRef,
    pair: &Pair,
    expected: Option<&Grid>,
    result: &JobResult,
    program: &Program,
    color: Color,
) -> String {
    let got = result.value.as_ref().and_then(grid);
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
                (Verdict::Failed(error), _) => error.explain(program, "solver") + "\n",
                (_, Some(value)) => draw::value(value, color),
                (_, None) => String::new(),
            };
        }
    }
    layout(&panels, color) + &below
}

fn grid(value: &OwnedValue) -> Option<Grid> {
    Grid::from_rows(&value.as_grid()?).ok()
}
