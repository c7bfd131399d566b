//! Pictures of grids, pairs and tasks.

use batt_arc::text::{counted, name};
use batt_arc::{Grid, Pair, PairRef, Split, Task};

use crate::board::Board;
use crate::layout::{Align, Arrow, Block, Font, Frame, bands, short};
use crate::style::PictureStyle;
use crate::svg::Svg;

/// The space between the columns of a task.
const GAP: u32 = 28;
/// The longest side of a grid in a task, unless its cells have a given size.
const LONGEST_SIDE: u32 = 360;
/// The side of the box for an unknown output.
const UNKNOWN: u32 = 64;

/// Draws a grid with its size.
///
/// ```
/// use batt_arc::Grid;
/// use batt_picture::PictureStyle;
///
/// let grid = Grid::from_rows(&[[0, 1, 2], [3, 4, 5]])?;
/// let svg = batt_picture::grid(&grid, &PictureStyle::default());
/// assert!(svg.as_str().contains("<title>grid 2x3</title>"));
/// # Ok::<(), batt_arc::GridError>(())
/// ```
pub fn grid(grid: &Grid, style: &PictureStyle) -> Svg {
    let side = grid.height().max(grid.width());
    let cell = style.cell_in(side, 480, 8, 24);
    let size = size(grid);
    let parts = [
        Block::board(Board::of_grid(grid, cell)),
        Block::text(&size, Font::DETAIL),
    ];
    let label = format!("grid {size}");
    Svg::of(&Block::column(parts, 4, Align::Start), &label, style)
}

/// Draws a pair: the input, an arrow, and the output or a `?`.
pub fn pair(title: &str, pair: &Pair, style: &PictureStyle) -> Svg {
    let output = pair.output.as_ref();
    let cells = pair.input.width() + output.map_or(0, Grid::width);
    let cell = style.cell_in(cells, style.room() - 100, 8, 22);
    let parts = [
        captioned(&pair.input, cell, Caption::Below),
        Block::arrow(Arrow::Right),
        output_block(output, cell, Caption::Below),
    ];
    let row = Block::row(parts, 14, Align::Center);
    let heading = Block::title(title, Font::HEADING, style.room());
    let all = Block::column([heading, row], 8, Align::Start);
    Svg::of(&all, &format!("pair {}", short(title)), style)
}

/// Draws a task: a column for each pair, with the input over the output. A `?` stands for an unknown
/// output.
pub fn task(task: &Task, style: &PictureStyle) -> Svg {
    let id = name(&task.id);
    let mut parts = Vec::new();
    let title = Block::text(&id, Font::TITLE);
    let second = task.name.as_deref().map(|name_of| {
        let font = Font {
            bold: false,
            ..Font::TITLE
        };
        Block::text(&name(name_of), font)
    });
    let titles = [title].into_iter().chain(second).collect();
    parts.push(Block::flow(titles, 12, style.room(), Align::End));
    if let Some(description) = &task.description {
        let columns = Font::BODY.fitting(style.room()).min(100);
        let text: String = description.chars().take(1000).collect();
        parts.push(Block::paragraph(&text, Font::BODY, columns));
    }
    let heading = Block::column(parts, 4, Align::Start);
    let all = Block::column([heading, columns(task, style)], 14, Align::Start);
    let label = format!(
        "task {id}: {}, {}",
        counted(task.train.len(), "demonstration"),
        counted(task.test.len(), "test")
    );
    Svg::of(&all, &label, style)
}

/// The parts of a column of a task.
struct Column {
    split: Split,
    name: Block,
    input: Block,
    output: Block,
}

impl Column {
    fn new(name: PairRef, pair: &Pair, cell: u32) -> Column {
        Column {
            split: name.split,
            name: Block::text(&name.to_string(), Font::HEADING),
            input: captioned(&pair.input, cell, Caption::Above),
            output: output_block(pair.output.as_ref(), cell, Caption::Below),
        }
    }

    fn width(&self) -> u32 {
        let widths = [self.name.width, self.input.width, self.output.width];
        widths.into_iter().max().unwrap_or(0)
    }
}

/// Draws the pairs of a task side by side, in several rows if they are too wide.
fn columns(task: &Task, style: &PictureStyle) -> Block {
    let cell = cell_of(task, style);
    let columns = task
        .pairs()
        .map(|(name, pair)| Column::new(name, pair, cell));
    let columns: Vec<Column> = columns.collect();
    let mut widths: Vec<u32> = columns.iter().map(Column::width).collect();
    if let (true, Some(first_test)) = (!task.train.is_empty(), widths.get_mut(task.train.len())) {
        // The line before it.
        *first_test += GAP + 1;
    }
    let mut columns = columns.into_iter();
    let rows = bands(&widths, GAP, style.room()).into_iter().map(|band| {
        let band: Vec<Column> = columns.by_ref().take(band.len()).collect();
        row(band)
    });
    Block::column(rows.collect::<Vec<_>>(), 24, Align::Start)
}

/// Draws some columns, with all arrows at the same height and a line before the tests.
fn row(columns: Vec<Column>) -> Block {
    let highest = columns.iter().map(|column| column.input.height).max();
    let mut blocks: Vec<Block> = Vec::new();
    let mut last = None;
    let mut rules = Vec::new();
    for column in columns {
        if last.is_some_and(|last| last != column.split) {
            rules.push(blocks.len());
            blocks.push(Block::default());
        }
        last = Some(column.split);
        let parts = [
            column.name,
            column.input.lowered(highest.unwrap_or(0)),
            Block::arrow(Arrow::Down),
            column.output,
        ];
        blocks.push(Block::column(parts, 8, Align::Center));
    }
    let height = blocks.iter().map(|block| block.height).max().unwrap_or(0);
    for at in rules {
        blocks[at] = Block::rule(height);
    }
    Block::row(blocks, GAP, Align::Start)
}

/// The side of a cell for a task: as large as one row of columns allows, within limits.
fn cell_of(task: &Task, style: &PictureStyle) -> u32 {
    let widest = |pair: &Pair| {
        let output = pair.output.as_ref().map_or(0, Grid::width);
        pair.input.width().max(output)
    };
    let columns = task.pairs().map(|(_, pair)| widest(pair));
    let (cells, count) = columns.fold((0, 0), |(cells, count), width| (cells + width, count + 1));
    let grids = task
        .pairs()
        .flat_map(|(_, pair)| [Some(&pair.input), pair.output.as_ref()]);
    let longest = grids.flatten().map(|grid| grid.height().max(grid.width()));
    let longest = longest.max().unwrap_or(1) as u32;
    // Two more gaps for the line before the tests.
    let room = style.room().saturating_sub(GAP * (count + 1));
    // If the columns need several rows anyway, cells need not be that small.
    let least = match room / cells.max(1) as u32 {
        6 => 6,
        _ => 7,
    };
    let most = (LONGEST_SIDE / longest).clamp(7, 20);
    style.cell_in(cells, room, least, most)
}

/// Where the size of a grid stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caption {
    Above,
    Below,
}

/// A grid with its size.
fn captioned(grid: &Grid, cell: u32, caption: Caption) -> Block {
    let board = Block::board(Board::of_grid(grid, cell));
    let size = Block::text(&size(grid), Font::DETAIL);
    let parts = match caption {
        Caption::Above => [size, board],
        Caption::Below => [board, size],
    };
    Block::column(parts, 3, Align::Center)
}

fn output_block(output: Option<&Grid>, cell: u32, caption: Caption) -> Block {
    match output {
        Some(grid) => captioned(grid, cell, caption),
        None => unknown(),
    }
}

/// A `?` in a box, for an output that is not known.
pub(crate) fn unknown() -> Block {
    let font = Font {
        size: 28,
        ..Font::DETAIL
    };
    Block::text("?", font)
        .centered(UNKNOWN, UNKNOWN)
        .framed(Frame::Missing, 0)
}

/// The size of a grid in words: height, then width.
pub(crate) fn size(grid: &Grid) -> String {
    format!("{}x{}", grid.height(), grid.width())
}
