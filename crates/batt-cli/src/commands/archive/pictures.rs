//! What a solver does with the pairs of a task, in pictures.

use batt_arc::render::{Color, Panel, layout};
use batt_arc::{Grid, Pair, PairRef, Task};
use batt_dsl::{OwnedValue, Workspace};
use batt_engine::{Compiled, Job, JobResult, Options, Sample, Values, Verdict, run_job};
use batt_lang::Program;

use crate::draw;

/// Each demonstration: input, expected output, what the solver gives, and where that is wrong. With `tests`, also what
/// it gives for the tests; what is expected there is not shown.
pub fn pictures(program: &Program, task: &Task, tests: bool, color: Color) -> String {
    let compiled = Compiled::new(program);
    let options = Options {
        values: Values::All,
        ..Options::default()
    };
    let mut workspace = Workspace::new();
    let mut out = String::new();
    let split = if tests {
        task.pair_count()
    } else {
        task.train.len()
    };
    for (name, pair) in task.pairs().take(split) {
        let is_demo = name.split == batt_arc::Split::Train;
        let expected = pair.output.as_ref().filter(|_| is_demo);
        let sample = Sample {
            expected,
            ..Sample::new(task, pair)
        };
        let job = Job {
            program: &compiled,
            sample,
        };
        let result = run_job(&mut workspace, &job, &options);
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
    // What is no grid stands below: it may be wide.
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
