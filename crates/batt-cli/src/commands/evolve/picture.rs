//! Draws a demonstration and the output of the best program.

use batt::render::{Color, Panel, layout};
use batt::{Grid, Limits, Pair, PairRef, Program, RunInput, Solver, Split, Task};

/// The number of blanks between two pictures.
const GAP: usize = 2;

/// Draws `input -> expected, got` for the smallest demonstration that the program gets wrong, or
/// for the smallest of all if it gets all right. Returns `None` if no demonstration fits into the
/// size.
pub fn draw(
    task: &Task,
    program: &Program,
    (width, height): (usize, usize),
    color: Color,
) -> Option<(PairRef, String)> {
    let solver = Solver::new(program).ok()?;
    let mut fitting = Vec::new();
    for (index, pair) in task.train.iter().enumerate() {
        let Some(expected) = &pair.output else {
            continue;
        };
        if !fits(pair, expected, width, height, color) {
            continue;
        }
        let result = solver.run_on(&RunInput::new(task, pair), &Limits::default());
        let got = result.output();
        let cells = pair.input.cells().len() + expected.cells().len();
        fitting.push((result.verdict.is_right(), cells, index, pair, expected, got));
    }
    let (right, _, index, pair, expected, got) = fitting
        .into_iter()
        .min_by_key(|(right, cells, index, ..)| (*right, *cells, *index))?;
    let mut panels = vec![
        Panel::grid("input", &pair.input),
        Panel::arrow(),
        Panel::grid("expected", expected),
    ];
    panels.push(match &got {
        Some(got) => Panel::grid("best", got),
        None => Panel::note("best", "no grid"),
    });
    if let (Some(got), false) = (&got, right) {
        panels.push(Panel::diff(expected, got));
    }
    let name = PairRef {
        split: Split::Train,
        index,
    };
    let text = layout(&panels, color);
    let widest = text.lines().map(console::measure_text_width).max();
    let fits = text.lines().count() <= height && widest.unwrap_or(0) <= width;
    fits.then_some((name, text))
}

/// Returns whether the picture fits, assuming that the program's output has the expected size.
fn fits(pair: &Pair, expected: &Grid, width: usize, height: usize, color: Color) -> bool {
    let cell = if color == Color::Always { 2 } else { 1 };
    let columns = pair.input.width() + 2 * expected.width();
    let lines = pair.input.height().max(expected.height()) + 1;
    columns * cell + 4 * GAP <= width && lines <= height
}
