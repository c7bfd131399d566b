//! Boards: rectangles of cells, drawn with few and short paths.
//!
//! A run of equal cells in a row is one line as thick as a cell, and all runs of a colour are one
//! path. A grid of 30x30 takes a few kilobytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use batt_arc::Grid;

use crate::style::Ink;
use crate::svg::{Pen, Role};

/// The lines between cells, as in the official interface.
const BORDER: &str = "#555555";

/// The outlines of components, in turn. No palette has these colours; each is drawn on white, so it
/// is visible on cells of any colour.
const OUTLINES: [&str; 6] = [
    "#d6006c", "#0050c8", "#007a33", "#8f4700", "#6a1fb0", "#00708a",
];

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Not part of the object or patch.
    Absent,
    /// A colour of the grid behind objects.
    Behind(u8),
    /// A location without a colour.
    Place,
    /// A colour, 0 to 9.
    Color(u8),
    /// Equal in both grids.
    Same,
    /// Different in two grids.
    Different,
}

impl Mark {
    /// Whether the cell has a border of its own.
    fn is_bordered(self) -> bool {
        matches!(self, Mark::Place | Mark::Color(_) | Mark::Different)
    }
}

/// A rectangle of cells, some of them outlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Board {
    height: usize,
    width: usize,
    marks: Vec<Mark>,
    /// Cells by their positions, row by row.
    outlines: Vec<BTreeSet<usize>>,
    /// The side of a cell in pixels.
    cell: u32,
}

impl Board {
    /// A board of equal cells.
    pub fn new(height: usize, width: usize, mark: Mark, cell: u32) -> Board {
        Board {
            height,
            width,
            marks: vec![mark; height * width],
            outlines: Vec::new(),
            cell,
        }
    }

    /// A grid.
    pub fn of_grid(grid: &Grid, cell: u32) -> Board {
        let mut board = Board::new(grid.height(), grid.width(), Mark::Absent, cell);
        board.marks = grid.cells().iter().map(|&c| Mark::Color(c)).collect();
        board
    }

    /// Where two grids of the same size differ.
    pub fn difference(expected: &Grid, got: &Grid, cell: u32) -> Board {
        let mut board = Board::new(expected.height(), expected.width(), Mark::Same, cell);
        let pairs = expected.cells().iter().zip(got.cells());
        for (mark, (a, b)) in board.marks.iter_mut().zip(pairs) {
            if a != b {
                *mark = Mark::Different;
            }
        }
        board
    }

    /// Sets a cell, which must be on the board.
    pub fn set(&mut self, i: usize, j: usize, mark: Mark) {
        self.marks[i * self.width + j] = mark;
    }

    /// Draws a line around some cells, which must be on the board.
    pub fn outline(&mut self, cells: impl IntoIterator<Item = (usize, usize)>) {
        let width = self.width;
        let cells = cells.into_iter().map(|(i, j)| i * width + j);
        self.outlines.push(cells.collect());
    }

    /// The width and the height in pixels, with the lines on all sides.
    pub fn size(&self) -> (u32, u32) {
        let side = |cells: usize| cells as u32 * self.cell + 1;
        (side(self.width), side(self.height))
    }

    /// Draws the board at a place.
    pub fn draw(&self, x: u32, y: u32, pen: &mut Pen<'_>) {
        // Lines run through the middle of pixels, so that they are sharp.
        pen.put(format_args!("<g transform=\"translate({x}.5 {y}.5)\">\n"));
        self.draw_cells(pen);
        // Wide lines would hide small cells.
        let line = if self.cell < 6 { "0.5" } else { "1" };
        let faint = self.borders(|a, b| !a && !b);
        if !faint.is_empty() {
            let paint = pen.paint(Role::Stroke, Ink::Line);
            pen.put(format_args!(
                "<path d=\"{faint}\" stroke-width=\"{line}\"{paint}/>\n"
            ));
        }
        let strong = self.borders(|a, b| a || b);
        if !strong.is_empty() {
            pen.put(format_args!(
                "<path d=\"{strong}\" stroke=\"{BORDER}\" stroke-width=\"{line}\" \
                 stroke-linecap=\"square\"/>\n"
            ));
        }
        self.draw_crosses(pen);
        self.draw_outlines(pen);
        pen.put(format_args!("</g>\n"));
    }

    /// Draws the outlines of all components, in turn in one of a few colours, on white lines.
    fn draw_outlines(&self, pen: &mut Pen<'_>) {
        let mut halos = String::new();
        let mut lines = vec![String::new(); OUTLINES.len().min(self.outlines.len())];
        for (k, cells) in self.outlines.iter().enumerate() {
            let path = self.edges(|at| cells.contains(&at), |a, b| a != b);
            halos += &path;
            lines[k % OUTLINES.len()] += &path;
        }
        let (wide, narrow) = if self.cell < 8 {
            ("2.5", "1.2")
        } else {
            ("4", "2")
        };
        let halos = (&halos, "#fff", wide);
        let lines = lines.iter().zip(OUTLINES);
        let lines = lines.map(|(path, color)| (path, color, narrow));
        let paths = std::iter::once(halos).chain(lines);
        for (path, color, width) in paths.filter(|(path, ..)| !path.is_empty()) {
            pen.put(format_args!(
                "<path d=\"{path}\" stroke=\"{color}\" stroke-width=\"{width}\" \
                 stroke-linecap=\"square\"/>\n"
            ));
        }
    }

    /// Draws the inside of all cells: the most frequent content as one rectangle, and on it the runs
    /// of the others, along rows or columns, whichever are fewer.
    fn draw_cells(&self, pen: &mut Pen<'_>) {
        let (height, width, cell) = (self.height, self.width, self.cell);
        let mut counts: BTreeMap<Mark, usize> = BTreeMap::new();
        for mark in &self.marks {
            *counts.entry(*mark).or_default() += 1;
        }
        let Some((&most, _)) = counts.iter().max_by_key(|(_, count)| **count) else {
            return;
        };
        pen.put(format_args!("<g transform=\"scale({cell})\">\n"));
        // Behind cells that let the page through there must be no others.
        let base = counts.keys().all(|mark| !matches!(mark, Mark::Behind(_)));
        let base = base.then_some(most);
        if let Some(mark) = base {
            let paint = paint(mark, Role::Fill, pen);
            pen.put(format_args!(
                "<path d=\"M0 0h{width}v{height}h-{width}z\"{paint}/>\n"
            ));
        }
        let row = |i: usize, j: usize| self.marks[i * width + j];
        let rows = Runs::of(height, width, row);
        let columns = Runs::of(width, height, |j, i| row(i, j));
        let (runs, step) = match columns.count < rows.count {
            true => (columns, 'v'),
            false => (rows, 'h'),
        };
        // A run is a line as thick as a cell, through the middle of its cells.
        let middle = if step == 'v' { ".5 0" } else { "0 .5" };
        pen.put(format_args!("<g transform=\"translate({middle})\">\n"));
        for (mark, runs) in runs.of_mark {
            if base == Some(mark) {
                continue;
            }
            let mut path = String::new();
            for (line, at, length) in runs {
                let (x, y) = if step == 'v' { (line, at) } else { (at, line) };
                // Writing to a string cannot fail.
                let _ = write!(path, "M{x} {y}{step}{length}");
            }
            let paint = paint(mark, Role::Stroke, pen);
            pen.put(format_args!("<path d=\"{path}\"{paint}/>\n"));
        }
        pen.put(format_args!("</g>\n</g>\n"));
    }

    /// Draws a cross in every different cell, so that the colour is not needed.
    fn draw_crosses(&self, pen: &mut Pen<'_>) {
        let (cell, rim) = (self.cell, self.cell / 4);
        let long = cell - 2 * rim;
        let mut path = String::new();
        for (at, _) in self.positions(Mark::Different) {
            let (i, j) = (at / self.width, at % self.width);
            let (x, y) = (j as u32 * cell + rim, i as u32 * cell + rim);
            let _ = write!(path, "M{x} {y}l{long} {long}m0 -{long}l-{long} {long}");
        }
        if !path.is_empty() && cell >= 6 {
            let width = (cell / 8).max(1);
            pen.put(format_args!(
                "<path d=\"{path}\" stroke=\"#fff\" stroke-width=\"{width}\"/>\n"
            ));
        }
    }

    fn positions(&self, mark: Mark) -> impl Iterator<Item = (usize, Mark)> {
        let all = self.marks.iter().copied().enumerate();
        all.filter(move |(_, found)| *found == mark)
    }

    /// The lines between cells for whose two sides `wanted` is true. It gets whether each side has
    /// a border of its own.
    fn borders(&self, wanted: impl Fn(bool, bool) -> bool) -> String {
        self.edges(|at| self.marks[at].is_bordered(), wanted)
    }

    /// A path of the edges between cells for whose two sides `wanted` is true. It gets whether each
    /// side `is_in`; outside of the board nothing is.
    fn edges(&self, is_in: impl Fn(usize) -> bool, wanted: impl Fn(bool, bool) -> bool) -> String {
        let (height, width, cell) = (self.height, self.width, self.cell as usize);
        let at = |i: usize, j: usize| i < height && j < width && is_in(i * width + j);
        let mut path = String::new();
        for i in 0..=height {
            let edge = |j: usize| wanted(i > 0 && at(i - 1, j), at(i, j));
            for (from, to) in runs(width, edge) {
                let _ = write!(path, "M{} {}h{}", from * cell, i * cell, (to - from) * cell);
            }
        }
        for j in 0..=width {
            let edge = |i: usize| wanted(j > 0 && at(i, j - 1), at(i, j));
            for (from, to) in runs(height, edge) {
                let _ = write!(path, "M{} {}v{}", j * cell, from * cell, (to - from) * cell);
            }
        }
        path
    }
}

/// The runs of positions below `end` for which a predicate is true.
fn runs(end: usize, is: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = None;
    for at in 0..=end {
        match (at < end && is(at), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                out.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    out
}

/// The attributes of cells with some content.
fn paint(mark: Mark, role: Role, pen: &mut Pen<'_>) -> String {
    let name = role.name();
    match mark {
        Mark::Absent => pen.paint(role, Ink::Panel),
        Mark::Behind(c) => format!(" {name}=\"{}\" opacity=\".3\"", hex(pen, c)),
        Mark::Place => format!(" {name}=\"#fff\""),
        Mark::Color(c) => format!(" {name}=\"{}\"", hex(pen, c)),
        Mark::Same => pen.paint(role, Ink::Quiet),
        Mark::Different => pen.paint(role, Ink::Bad),
    }
}

/// The runs of equal cells along lines.
struct Runs {
    count: usize,
    /// The line, the position in it, and the length of each run.
    of_mark: BTreeMap<Mark, Vec<(usize, usize, usize)>>,
}

impl Runs {
    fn of(lines: usize, length: usize, at: impl Fn(usize, usize) -> Mark) -> Runs {
        let mut runs = Runs {
            count: 0,
            of_mark: BTreeMap::new(),
        };
        for line in 0..lines {
            let mut start = 0;
            for end in 1..=length {
                if end == length || at(line, end) != at(line, start) {
                    let found = runs.of_mark.entry(at(line, start)).or_default();
                    found.push((line, start, end - start));
                    runs.count += 1;
                    start = end;
                }
            }
        }
        runs
    }
}

fn hex(pen: &Pen<'_>, color: u8) -> String {
    let [r, g, b] = pen.style.palette.colors()[usize::from(color)];
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_surround_cells() {
        let mut board = Board::new(2, 3, Mark::Absent, 10);
        board.set(0, 0, Mark::Color(1));
        board.set(0, 1, Mark::Color(2));
        assert_eq!(
            board.borders(|a, b| a || b),
            "M0 0h20M0 10h20M0 0v10M10 0v10M20 0v10"
        );
        assert_eq!(
            board.edges(|at| at < 2, |a, b| a != b),
            "M0 0h20M0 10h20M0 0v10M20 0v10"
        );
    }

    #[test]
    fn runs_are_the_longest_ones() {
        assert_eq!(runs(5, |k| k != 2), [(0, 2), (3, 5)]);
        assert_eq!(runs(3, |_| false), []);
        assert_eq!(runs(0, |_| true), []);
    }
}
