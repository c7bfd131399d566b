//! Pictures of values of the DSL.

use batt_arc::text::{counted, grouped};
use batt_arc::{Grid, MAX_SIDE};
use batt_dsl::OwnedValue;
use batt_engine::describe;

use crate::board::{Board, Mark};
use crate::cells::{Bounds, Cells, parts};
use crate::layout::{Align, Block, Font};
use crate::style::PictureStyle;
use crate::svg::Svg;
use crate::words::repr;

/// The most objects and patches on one board.
const COMPONENTS: usize = 1000;
/// The most boards of a container of grids.
const BOARDS: usize = 12;
/// The longest side of a board with a background and objects that are partly outside of it.
const LONGEST: usize = 40;
/// The most characters of a value that is not a picture.
const TEXT: usize = 400;

/// Draws a value. Objects and patches appear at their place on the background, a set of them on one
/// board with an outline around each. Grids are pictures too. Other values are text.
///
/// ```
/// use batt_dsl::OwnedValue;
/// use batt_picture::PictureStyle;
///
/// let at = |i, j| OwnedValue::Tuple(vec![OwnedValue::Int(i), OwnedValue::Int(j)]);
/// let patch = OwnedValue::Set(vec![at(2, 3), at(2, 4)]);
/// let svg = batt_picture::value(&patch, None, &PictureStyle::default());
/// assert!(svg.as_str().contains("1x2 at (2, 3)"));
/// ```
pub fn value(value: &OwnedValue, background: Option<&Grid>, style: &PictureStyle) -> Svg {
    let block = value_block(value, background, style.room().min(480), style);
    Svg::of(&block, &describe(value), style)
}

/// Draws a value in about this much room.
pub(crate) fn value_block(
    value: &OwnedValue,
    background: Option<&Grid>,
    room: u32,
    style: &PictureStyle,
) -> Block {
    let picture = cells_block(value, background, room, style);
    picture.unwrap_or_else(|| text_block(value, room))
}

/// Writes a value as text.
pub(crate) fn text_block(value: &OwnedValue, room: u32) -> Block {
    let columns = Font::BODY.fitting(room);
    Block::paragraph(&repr(value, TEXT.min(columns * 6)), Font::BODY, columns)
}

/// Draws a value that consists of cells.
pub(crate) fn cells_block(
    value: &OwnedValue,
    background: Option<&Grid>,
    room: u32,
    style: &PictureStyle,
) -> Option<Block> {
    let cell = |side: usize| style.cell_in(side, room, 4, 18);
    if let Some(cells) = Cells::of(value) {
        let caption = cells.caption();
        let found = std::slice::from_ref(&cells);
        return match cells.is_grid {
            true => Some(captioned(alone(&cells, &cell)?, &caption)),
            false => on_board(found, background, &caption, &cell),
        };
    }
    let (found, all) = parts(value, COMPONENTS)?;
    if found.iter().any(|cells| cells.is_grid) {
        return side_by_side(&found, all, room, style);
    }
    let caption = match all > found.len() {
        true => format!("the first {} of {}", found.len(), grouped(all)),
        false => describe(value),
    };
    let on_one = on_board(&found, background, &caption, &cell);
    on_one.or_else(|| side_by_side(&found, all, room, style))
}

fn captioned(board: Board, caption: &str) -> Block {
    let caption = Block::text(caption, Font::DETAIL);
    Block::column([Block::board(board), caption], 4, Align::Start)
}

/// Draws a grid, an object or a patch on a board of its size, if it is not too large.
fn alone(cells: &Cells, cell: &impl Fn(usize) -> u32) -> Option<Board> {
    let (height, width) = cells.size()?;
    let mut board = Board::new(height, width, Mark::Absent, cell(height.max(width)));
    for &(i, j, color) in &cells.cells {
        let (i, j) = cells.bounds.position(i, j)?;
        board.set(i, j, mark(color));
    }
    Some(board)
}

/// Draws objects and patches at their places, each with an outline. Cells far outside of the
/// background are left out. Returns `None` if there is nothing to draw.
fn on_board(
    parts: &[Cells],
    background: Option<&Grid>,
    caption: &str,
    cell: &impl Fn(usize) -> u32,
) -> Option<Block> {
    let all = parts.iter().map(|part| part.bounds);
    let around = all.reduce(Bounds::union)?;
    let behind = background.map(|grid| Bounds {
        top: 0,
        left: 0,
        bottom: grid.height() as i64 - 1,
        right: grid.width() as i64 - 1,
    });
    let bounds = behind.map_or(around, |behind| behind.union(around));
    let fits = |bounds: Bounds| {
        let (height, width) = bounds.size();
        let most = if behind.is_some() { LONGEST } else { MAX_SIDE };
        height.max(width) <= most as u64
    };
    let bounds = match fits(bounds) {
        true => bounds,
        false => behind?,
    };
    let (height, width) = bounds.size();
    let (height, width) = (height as usize, width as usize);
    let mut board = Board::new(height, width, Mark::Absent, cell(height.max(width)));
    for (row, i) in background.iter().flat_map(|grid| grid.rows()).zip(0..) {
        for (&color, j) in row.iter().zip(0..) {
            let (i, j) = bounds.position(i, j)?;
            board.set(i, j, Mark::Behind(color));
        }
    }
    let mut outside = 0;
    for part in parts {
        let mut places = Vec::with_capacity(part.cells.len());
        for &(i, j, color) in &part.cells {
            let Some((i, j)) = bounds.position(i, j) else {
                outside += 1;
                continue;
            };
            board.set(i, j, mark(color));
            places.push((i, j));
        }
        // One object on its own board needs no outline.
        if parts.len() > 1 || background.is_some() {
            board.outline(places);
        }
    }
    let mut lines = vec![Block::board(board), Block::text(caption, Font::DETAIL)];
    if outside > 0 {
        let outside = format!("{} outside", counted(outside, "cell"));
        lines.push(Block::text(&outside, Font::DETAIL));
    }
    Some(Block::column(lines, 4, Align::Start))
}

/// Draws the first few grids, objects and patches of a container, each on its own board.
fn side_by_side(found: &[Cells], all: usize, room: u32, style: &PictureStyle) -> Option<Block> {
    let cell = |side: usize| style.cell_in(side, room / 3, 4, 12);
    let shown = &found[..found.len().min(BOARDS)];
    let boards = shown
        .iter()
        .map(|cells| Some(captioned(alone(cells, &cell)?, &cells.caption())));
    let mut blocks: Vec<Block> = boards.collect::<Option<_>>()?;
    if all > shown.len() {
        let more = format!("… and {} more", grouped(all - shown.len()));
        blocks.push(Block::text(&more, Font::DETAIL));
    }
    Some(Block::flow(blocks, 12, room, Align::Start))
}

fn mark(color: Option<u8>) -> Mark {
    color.map_or(Mark::Place, Mark::Color)
}
