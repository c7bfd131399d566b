//! Pictures of traces: every step of a run with its value.

use batt_arc::Grid;
use batt_arc::text::{grouped, name};
use batt_dsl::OwnedValue;
use batt_engine::{ParamRole, TracedStep, describe, output_grid};
use batt_lang::{Operand, Program};

use crate::board::Board;
use crate::layout::{Align, Block, Font, Frame, short};
use crate::run::{RunOutcome, difference, panel};
use crate::style::{Ink, PictureStyle};
use crate::svg::Svg;
use crate::value::{cells_block, text_block};

/// The most steps of a picture. A solver has a dozen, a batt has thousands.
const STEPS: usize = 300;
/// The side of the value of a step in pixels.
const ROOM: u32 = 190;
/// The space between panels.
const GAP: u32 = 10;
/// The columns of a call before it wraps.
const COLUMNS: usize = 30;

/// Draws the steps of a run in panels: the variable, the call, and the value. Objects and patches
/// appear on the grid that they come from. If the result is wrong, the last panel says why.
///
/// `steps` are those that [`trace`](batt_engine::trace) returns for the program on this input.
pub fn trace(
    title: &str,
    program: &Program,
    input: &Grid,
    steps: &[TracedStep],
    outcome: &RunOutcome<'_>,
    style: &PictureStyle,
) -> Svg {
    let mut panels = vec![input_panel(program, input, style)];
    let grids: Vec<Option<Grid>> = steps.iter().take(STEPS).map(grid_of).collect();
    let backgrounds = backgrounds(program, input, &grids);
    for (step, background) in steps.iter().zip(&backgrounds) {
        panels.push(step_panel(step, *background, style));
    }
    if steps.len() > STEPS {
        let more = format!("… and {} more steps", grouped(steps.len() - STEPS));
        panels.push(Block::text(&more, Font::DETAIL));
    }
    panels.extend(end_panel(outcome, style));
    let panels = stacked(panels);
    let verdict = outcome.verdict();
    let label = match &verdict {
        Some((text, _)) => format!("trace of {}: {text}", short(title)),
        None => format!("trace of {}", short(title)),
    };
    let mut heading = vec![Block::title(title, Font::TITLE, style.room())];
    if let Some((text, ink)) = &verdict {
        heading.push(Block::text(text, Font::BODY.ink(*ink)));
    }
    let parts = [
        Block::flow(heading, 14, style.room(), Align::End),
        Block::flow(panels, GAP, style.room(), Align::Start),
    ];
    Svg::of(&Block::column(parts, 10, Align::Start), &label, style)
}

fn grid_of(step: &TracedStep) -> Option<Grid> {
    step.value.as_ref().and_then(output_grid)
}

/// Returns for each step the grid that its value probably belongs to: the first grid among its
/// arguments, or the grid of its first argument that has one.
fn backgrounds<'g>(
    program: &Program,
    input: &'g Grid,
    grids: &'g [Option<Grid>],
) -> Vec<Option<&'g Grid>> {
    let roles = ParamRole::of(program.params()).unwrap_or_default();
    let mut out: Vec<Option<&Grid>> = Vec::with_capacity(grids.len());
    for (id, step) in program.iter().take(grids.len()) {
        debug_assert_eq!(id.index(), out.len(), "steps are traced in order");
        let grid = |operand: &Operand| match operand {
            Operand::Param(param) if roles.get(param.index()) == Some(&ParamRole::Input) => {
                Some(input)
            }
            Operand::Step(id) => grids.get(id.index())?.as_ref(),
            _ => None,
        };
        let inherited = |operand: &Operand| match operand {
            Operand::Step(id) => *out.get(id.index())?,
            _ => None,
        };
        let mut operands = step.kind.operands();
        let found = operands.clone().find_map(grid);
        out.push(found.or_else(|| operands.find_map(inherited)));
    }
    // Without a program to look at, there is no background.
    out.resize(grids.len(), None);
    out
}

fn input_panel(program: &Program, input: &Grid, style: &PictureStyle) -> Block {
    let roles = ParamRole::of(program.params()).unwrap_or_default();
    let at = roles.iter().position(|role| *role == ParamRole::Input);
    let variable = at.map_or("I", |at| program.params()[at].as_str());
    let side = input.height().max(input.width());
    let board = Board::of_grid(input, style.cell_in(side, ROOM, 4, 18));
    let parts = [
        Block::text(&name(variable), Font::HEADING),
        Block::text("the input", Font::BODY),
        Block::board(board),
        Block::text(&crate::task::size(input), Font::DETAIL),
    ];
    Block::column(parts, 5, Align::Start).framed(Frame::Panel, 10)
}

fn step_panel(step: &TracedStep, background: Option<&Grid>, style: &PictureStyle) -> Block {
    let mut heading = vec![Block::text(&name(&step.name), Font::HEADING)];
    if step.line > 0 {
        let line = format!("line {}", step.line);
        heading.push(Block::text(&line, Font::DETAIL));
    }
    let call: String = step.call.chars().take(400).collect();
    let mut parts = vec![
        Block::row(heading, 8, Align::End),
        Block::paragraph(&call, Font::BODY.ink(Ink::Call), COLUMNS),
    ];
    match &step.value {
        Some(OwnedValue::Function) => parts.push(Block::text("a function", Font::DETAIL)),
        Some(value) => match cells_block(value, background, ROOM, style) {
            Some(picture) => parts.push(picture),
            None => {
                parts.push(text_block(value, ROOM));
                // The text of a container may be cut, so its size helps.
                if matches!(value, OwnedValue::Tuple(_) | OwnedValue::Set(_)) {
                    parts.push(Block::text(&describe(value), Font::DETAIL));
                }
            }
        },
        None => parts.push(Block::text("a value too large to show", Font::DETAIL)),
    }
    let block = Block::column(parts, 5, Align::Start).at_least(90);
    block.framed(Frame::Panel, 10)
}

/// Puts low panels that follow each other below each other, up to the height of a high one.
fn stacked(panels: Vec<Block>) -> Vec<Block> {
    const LOW: u32 = 100;
    let mut out: Vec<Block> = Vec::with_capacity(panels.len());
    let mut is_open = false;
    for panel in panels {
        let is_low = panel.height <= LOW;
        match out.last_mut() {
            Some(last) if is_open && is_low && last.height + GAP + panel.height <= ROOM + 90 => {
                let upper = std::mem::take(last);
                *last = Block::column([upper, panel], GAP, Align::Start);
            }
            _ => out.push(panel),
        }
        is_open = is_low;
    }
    out
}

/// What is wrong with the result: the error, or the expected output and the difference.
fn end_panel(outcome: &RunOutcome<'_>, style: &PictureStyle) -> Option<Block> {
    let (_, ink) = outcome.verdict().filter(|(_, ink)| *ink == Ink::Bad)?;
    // What exactly is wrong stands beside the title.
    let heading = match outcome.error {
        Some(_) => "failed",
        None => "wrong",
    };
    let mut parts = vec![Block::text(heading, Font::HEADING.ink(ink))];
    if let Some(error) = outcome.error {
        let error: String = error.chars().take(600).collect();
        parts.push(Block::paragraph(&error, Font::BODY, 40));
    }
    if let Some(expected) = outcome.expected {
        let side = expected.height().max(expected.width());
        let cell = style.cell_in(side, ROOM, 4, 18);
        let mut boards = vec![panel("expected", expected, cell)];
        if let Some(got) = outcome.value.and_then(output_grid) {
            boards.push(difference(expected, &got, cell));
        }
        parts.push(Block::row(boards, 14, Align::Start));
    }
    let block = Block::column(parts, 6, Align::Start);
    Some(block.framed(Frame::Marked(ink), 10))
}
