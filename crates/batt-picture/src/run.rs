//! Pictures of runs: what was expected, what came out, and where they differ.

use batt_arc::Grid;
use batt_dsl::OwnedValue;
use batt_engine::{Verdict, output_grid};

use crate::board::Board;
use crate::layout::{Align, Arrow, Block, Font, short};
use crate::style::{Ink, PictureStyle};
use crate::svg::Svg;
use crate::task::{size, unknown};
use crate::value::value_block;

/// The result of a run, and the output that was expected.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOutcome<'a> {
    /// The expected output, if it is known.
    pub expected: Option<&'a Grid>,
    /// The value that the run returned.
    pub value: Option<&'a OwnedValue>,
    /// Why the run failed, if it did.
    pub error: Option<&'a str>,
}

impl RunOutcome<'_> {
    /// The value as a grid, if it is one.
    pub(crate) fn got(&self) -> Option<Grid> {
        self.value.and_then(output_grid)
    }

    /// Says in a few words whether the run is right; `None` if that is not known.
    pub(crate) fn verdict(&self) -> Option<(String, Ink)> {
        if self.error.is_some() {
            return Some(("failed".to_owned(), Ink::Bad));
        }
        let (expected, value) = (self.expected?, self.value?);
        let verdict = Verdict::of_value(value, expected);
        Some(match verdict.shortfall(Some(expected), Some(value)) {
            Some(why) => (why, Ink::Bad),
            None => ("right".to_owned(), Ink::Good),
        })
    }
}

/// Draws a run: the input, the expected output, the output of the run, and the cells in which the
/// two differ.
///
/// ```
/// use batt_arc::Grid;
/// use batt_dsl::OwnedValue;
/// use batt_picture::{PictureStyle, RunOutcome};
///
/// let (input, expected) = (Grid::from_rows(&[[1, 2]])?, Grid::from_rows(&[[2, 1]])?);
/// let value = OwnedValue::grid([&[2, 2][..]]);
/// let outcome = RunOutcome { expected: Some(&expected), value: Some(&value), error: None };
/// let svg = batt_picture::run("flip on train[0]", Some(&input), &outcome, &PictureStyle::default());
/// assert!(svg.as_str().contains("1 of 2 cells wrong"));
/// # Ok::<(), batt_arc::GridError>(())
/// ```
pub fn run(
    title: &str,
    input: Option<&Grid>,
    outcome: &RunOutcome<'_>,
    style: &PictureStyle,
) -> Svg {
    let verdict = outcome.verdict();
    let mut label = format!("run {}", short(title));
    let mut heading = vec![Block::title(title, Font::HEADING, style.room())];
    if let Some((text, ink)) = &verdict {
        heading.push(Block::text(text, Font::BODY.ink(*ink)));
        label = format!("{label}: {text}");
    }
    let panels = panels(input, outcome, style);
    let parts = [
        Block::flow(heading, 14, style.room(), Align::End),
        Block::flow(panels, 18, style.room(), Align::Start),
    ];
    Svg::of(&Block::column(parts, 10, Align::Start), &label, style)
}

/// Draws two grids and the cells in which they differ.
pub fn comparison(expected: &Grid, got: &Grid, style: &PictureStyle) -> Svg {
    let value = OwnedValue::grid(got.rows());
    let outcome = RunOutcome {
        expected: Some(expected),
        value: Some(&value),
        error: None,
    };
    run("comparison", None, &outcome, style)
}

/// The grids of a run, each under its name.
fn panels(input: Option<&Grid>, outcome: &RunOutcome<'_>, style: &PictureStyle) -> Vec<Block> {
    let got = outcome.got();
    let expected = outcome.expected;
    let differs = match (expected, &got) {
        (Some(expected), Some(got)) => expected != got,
        _ => false,
    };
    let grids = [input, expected, got.as_ref(), expected.filter(|_| differs)];
    let grids = grids.into_iter().flatten();
    let cells = grids.clone().map(Grid::width).sum();
    let longest = grids.map(|grid| grid.height().max(grid.width())).max();
    let most = (360 / longest.unwrap_or(1) as u32).clamp(7, 20);
    let cell = style.cell_in(cells, style.room() - 120, 7, most);
    let mut out = Vec::new();
    if let Some(input) = input {
        let block = panel("input", input, cell);
        // The arrow points to the middle of the grid, which is below its name.
        let arrow = Block::arrow(Arrow::Right).lowered(block.height / 2 + 14);
        out.push(Block::row([block, arrow], 14, Align::Start));
    }
    match expected {
        Some(expected) => out.push(panel("expected", expected, cell)),
        None if outcome.value.is_none() => out.push(titled("expected", "", unknown())),
        None => {}
    }
    out.push(match (&got, outcome) {
        (
            _,
            RunOutcome {
                error: Some(error), ..
            },
        ) => {
            let text: String = error.chars().take(600).collect();
            titled(
                "got",
                "",
                Block::paragraph(&text, Font::BODY.ink(Ink::Bad), 40),
            )
        }
        (Some(got), _) => panel("got", got, cell),
        (
            None,
            RunOutcome {
                value: Some(value), ..
            },
        ) => titled("got", "", value_block(value, input, 300, style)),
        (None, _) => titled("got", "", Block::text("not recorded", Font::DETAIL)),
    });
    if let (Some(expected), Some(got), true) = (expected, &got, differs) {
        out.push(difference(expected, got, cell));
    }
    out
}

/// Where two different grids differ.
pub(crate) fn difference(expected: &Grid, got: &Grid, cell: u32) -> Block {
    if (expected.height(), expected.width()) != (got.height(), got.width()) {
        return titled("difference", "", Block::text("sizes differ", Font::BODY));
    }
    let pairs = expected.cells().iter().zip(got.cells());
    let wrong = pairs.filter(|(a, b)| a != b).count();
    let count = format!("{wrong} of {}", expected.cells().len());
    let board = Block::board(Board::difference(expected, got, cell));
    titled("difference", &count, board)
}

/// A grid under its name and its size.
pub(crate) fn panel(name: &str, grid: &Grid, cell: u32) -> Block {
    titled(name, &size(grid), Block::board(Board::of_grid(grid, cell)))
}

/// A block under a name and a detail.
fn titled(name: &str, detail: &str, block: Block) -> Block {
    let mut title = vec![Block::text(name, Font::DETAIL.ink(Ink::Text))];
    if !detail.is_empty() {
        title.push(Block::text(detail, Font::DETAIL));
    }
    let title = Block::row(title, 6, Align::Start);
    Block::column([title, block], 4, Align::Start)
}
