//! Grids as text for a terminal: in colour, or as digits where colour is off.
//!
//! The functions return strings and do not examine the terminal: the caller chooses the [`Color`].
//!
//! ```
//! use batt_arc::Grid;
//! use batt_arc::render::{Color, comparison};
//!
//! let expected = Grid::from_rows(&[[1, 2], [3, 4]])?;
//! let got = Grid::from_rows(&[[1, 2], [4, 4]])?;
//! assert_eq!(
//!     comparison(&expected, &got, Color::Never),
//!     "expected 2x2  got 2x2  diff 1 of 4\n\
//!      12            12       ..\n\
//!      34            44       x.\n"
//! );
//! # Ok::<(), batt_arc::GridError>(())
//! ```

use std::fmt::Write;

use anstyle::{AnsiColor, RgbColor, Style};

use crate::text::{escaped, name};
use crate::{Grid, Pair, PairRef, Task};

/// The colours of the official ARC testing interface, by cell value.
pub const PALETTE: [[u8; 3]; 10] = [
    [0x00, 0x00, 0x00], // black
    [0x00, 0x74, 0xd9], // blue
    [0xff, 0x41, 0x36], // red
    [0x2e, 0xcc, 0x40], // green
    [0xff, 0xdc, 0x00], // yellow
    [0xaa, 0xaa, 0xaa], // grey
    [0xf0, 0x12, 0xbe], // magenta
    [0xff, 0x85, 0x1b], // orange
    [0x7f, 0xdb, 0xff], // light blue
    [0x87, 0x0c, 0x25], // maroon
];

/// Equal cells of a diff: dark, but distinct from black.
const SAME: RgbColor = RgbColor(0x33, 0x33, 0x33);
/// Different cells of a diff: white, a bright colour that no grid contains.
const DIFFERENT: RgbColor = RgbColor(0xff, 0xff, 0xff);

/// Whether to write ANSI escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Two spaces per cell on a 24-bit background, so that cells look square.
    Always,
    /// One digit per cell, without escapes.
    Never,
}

/// One column of a [`layout`]: a title and its content.
#[derive(Debug, Clone)]
pub struct Panel {
    title: String,
    body: Body,
}

#[derive(Debug, Clone)]
enum Body {
    Grid(Grid),
    Diff(Grid, Grid),
    Note(String),
    Arrow,
}

impl Panel {
    /// A grid, with its size added to the title.
    pub fn grid(title: &str, grid: &Grid) -> Panel {
        let title = format!("{title} {}x{}", grid.height(), grid.width());
        Panel {
            title,
            body: Body::Grid(grid.clone()),
        }
    }

    /// Where two grids differ: `x` or white marks the cells. Grids of different size are not
    /// compared; the panel says so.
    pub fn diff(expected: &Grid, got: &Grid) -> Panel {
        if (expected.height(), expected.width()) != (got.height(), got.width()) {
            return Panel::note("diff", "sizes differ");
        }
        let pairs = expected.cells().iter().zip(got.cells());
        let wrong = pairs.filter(|(a, b)| a != b).count();
        let title = format!("diff {wrong} of {}", expected.cells().len());
        Panel {
            title,
            body: Body::Diff(expected.clone(), got.clone()),
        }
    }

    /// Text in place of a grid: an error, or a `?` for an unknown answer.
    pub fn note(title: &str, text: &str) -> Panel {
        Panel {
            title: title.to_owned(),
            body: Body::Note(text.to_owned()),
        }
    }

    /// `->` between an input and an output.
    pub fn arrow() -> Panel {
        Panel {
            title: String::new(),
            body: Body::Arrow,
        }
    }

    /// The lines below the title, each with its width on the screen.
    fn lines(&self, height: usize, color: Color) -> Vec<(String, usize)> {
        match &self.body {
            Body::Grid(grid) => grid.rows().map(|row| grid_line(row, color)).collect(),
            Body::Diff(a, b) => a
                .rows()
                .zip(b.rows())
                .map(|(a, b)| diff_line(a, b, color))
                .collect(),
            Body::Note(text) => text
                .lines()
                .map(|line| (line.to_owned(), line.chars().count()))
                .collect(),
            Body::Arrow => {
                // The arrow points to the middle row of the tallest grid.
                let mut lines = vec![(String::new(), 0); height.saturating_sub(1) / 2];
                lines.push(("->".to_owned(), 2));
                lines
            }
        }
    }

    fn height(&self) -> usize {
        match &self.body {
            Body::Grid(grid) | Body::Diff(grid, _) => grid.height(),
            Body::Note(text) => text.lines().count(),
            Body::Arrow => 1,
        }
    }
}

/// Panels side by side, titles on top. Every line ends in a newline.
pub fn layout(panels: &[Panel], color: Color) -> String {
    const GAP: usize = 2;
    let height = panels.iter().map(Panel::height).max().unwrap_or(0);
    let columns: Vec<Vec<(String, usize)>> = panels
        .iter()
        .map(|panel| panel.lines(height, color))
        .collect();
    let widths: Vec<usize> = panels
        .iter()
        .zip(&columns)
        .map(|(panel, lines)| {
            let body = lines.iter().map(|(_, width)| *width).max().unwrap_or(0);
            body.max(panel.title.chars().count())
        })
        .collect();

    let mut out = String::new();
    let mut put = |cells: &mut dyn Iterator<Item = (&str, usize)>| {
        // Blanks are written only before further text, so that no line ends in blanks.
        let mut owed = 0;
        for ((text, shown), width) in cells.zip(&widths) {
            if shown > 0 {
                out.extend(std::iter::repeat_n(' ', owed));
                out.push_str(text);
                owed = 0;
            }
            owed += width - shown + GAP;
        }
        out.push('\n');
    };
    if panels.iter().any(|panel| !panel.title.is_empty()) {
        put(&mut panels
            .iter()
            .map(|panel| (&*panel.title, panel.title.chars().count())));
    }
    for i in 0..height {
        put(&mut columns.iter().map(|lines| {
            lines
                .get(i)
                .map_or(("", 0), |(text, width)| (text.as_str(), *width))
        }));
    }
    out
}

/// One grid, without a title. Every line ends in a newline.
pub fn grid(grid: &Grid, color: Color) -> String {
    grid.rows()
        .map(|row| grid_line(row, color).0 + "\n")
        .collect()
}

/// Renders a pair as `input -> output` under its name; `?` stands for an unknown output.
pub fn pair(name: PairRef, pair: &Pair, color: Color) -> String {
    let output = match &pair.output {
        Some(output) => Panel::grid("output", output),
        None => Panel::note("output", "?"),
    };
    let panels = [
        Panel::grid(&format!("{name} input"), &pair.input),
        Panel::arrow(),
        output,
    ];
    layout(&panels, color)
}

/// Renders all pairs of a task below one another, under its id, name and description.
pub fn task(task: &Task, color: Color) -> String {
    let mut out = name(&task.id).into_owned();
    if let Some(title) = &task.name {
        out += &format!("  {}", name(title));
    }
    out.push('\n');
    if let Some(description) = &task.description {
        out += &escaped(description, &['\n']);
        out.push('\n');
    }
    for (at, example) in task.pairs() {
        out.push('\n');
        out += &pair(at, example, color);
    }
    out
}

/// Renders the expected grid, the actual one and their differences side by side.
pub fn comparison(expected: &Grid, got: &Grid, color: Color) -> String {
    let panels = [
        Panel::grid("expected", expected),
        Panel::grid("got", got),
        Panel::diff(expected, got),
    ];
    layout(&panels, color)
}

fn grid_line(row: &[u8], color: Color) -> (String, usize) {
    let digit = |&cell: &u8| char::from(b'0' + cell);
    match color {
        Color::Never => (row.iter().map(digit).collect(), row.len()),
        Color::Always => {
            let background = |&cell: &u8| {
                let [r, g, b] = PALETTE[usize::from(cell)];
                (RgbColor(r, g, b), "  ")
            };
            (painted(row.iter().map(background)), 2 * row.len())
        }
    }
}

fn diff_line(a: &[u8], b: &[u8], color: Color) -> (String, usize) {
    let same = a.iter().zip(b).map(|(a, b)| a == b);
    match color {
        Color::Never => (
            same.map(|same| if same { '.' } else { 'x' }).collect(),
            a.len(),
        ),
        Color::Always => {
            let mark = |same| {
                if same {
                    (SAME, "  ")
                } else {
                    (DIFFERENT, "><")
                }
            };
            (painted(same.map(mark)), 2 * a.len())
        }
    }
}

/// Writes cells on their backgrounds. Neighbours of one colour share an escape sequence, because
/// slow terminals take noticeably longer with one per cell.
fn painted(cells: impl Iterator<Item = (RgbColor, &'static str)>) -> String {
    let mut out = String::new();
    let mut current = None;
    for (background, text) in cells {
        if current != Some(background) {
            let style = Style::new()
                .bg_color(Some(background.into()))
                .fg_color(Some(AnsiColor::Black.into()));
            // Writing to a String cannot fail.
            let _ = write!(out, "{style}");
            current = Some(background);
        }
        out += text;
    }
    let _ = write!(out, "{}", anstyle::Reset);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Grid, Grid) {
        let small = Grid::from_rows(&[[1, 2]]).unwrap();
        let tall = Grid::from_rows(&[[1, 2, 0], [1, 2, 3], [9, 9, 9]]).unwrap();
        (small, tall)
    }

    #[test]
    fn a_task_in_plain_text() {
        let (small, tall) = sample();
        let task_of = Task {
            id: "0badcafe".into(),
            name: Some("sample".into()),
            description: Some("Grow.".into()),
            train: vec![Pair {
                input: small.clone(),
                output: Some(tall.clone()),
            }],
            test: vec![Pair {
                input: tall,
                output: None,
            }],
        };
        let expected = "\
0badcafe  sample
Grow.

train[0] input 1x2      output 3x3
12                      120
                    ->  123
                        999

test[0] input 3x3      output
120                    ?
123                ->
999
";
        assert_eq!(task(&task_of, Color::Never), expected);
    }

    #[test]
    fn different_sizes_are_not_compared() {
        let (small, tall) = sample();
        let expected = "\
expected 1x2  got 3x3  diff
12            120      sizes differ
              123
              999
";
        assert_eq!(comparison(&small, &tall, Color::Never), expected);
    }

    #[test]
    fn notes_take_the_place_of_a_grid() {
        let (small, _) = sample();
        let panels = [
            Panel::grid("expected", &small),
            Panel::note("got", "error: x3\nno such cell"),
        ];
        let expected = "\
expected 1x2  got
12            error: x3
              no such cell
";
        assert_eq!(layout(&panels, Color::Never), expected);
        assert_eq!(layout(&[], Color::Never), "");
    }

    #[test]
    fn colours_are_the_official_ones() {
        let row = Grid::from_rows(&[[1, 1, 2]]).unwrap();
        assert_eq!(
            grid(&row, Color::Always),
            "\x1b[30m\x1b[48;2;0;116;217m    \x1b[30m\x1b[48;2;255;65;54m  \x1b[0m\n"
        );
        assert_eq!(grid(&row, Color::Never), "112\n");
    }

    #[test]
    fn columns_line_up_in_colour_too() {
        let (small, tall) = sample();
        let strip = |text: &str| {
            let mut out = String::new();
            let mut rest = text;
            while let Some((plain, escape)) = rest.split_once('\x1b') {
                out += plain;
                rest = escape.split_once('m').unwrap().1;
            }
            out + rest
        };
        let text = layout(
            &[Panel::grid("a", &small), Panel::grid("b", &tall)],
            Color::Always,
        );
        let lines: Vec<usize> = strip(&text).lines().map(str::len).collect();
        // "a 1x2" is 5 wide and so is the column; a gap of 2; three cells of 2.
        assert_eq!(lines, [12, 13, 13, 13]);
    }
}
