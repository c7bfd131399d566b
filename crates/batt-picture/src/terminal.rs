//! Values as text for a terminal: grids, objects and patches as pictures, other values as Python
//! writes them. Grids alone and tasks are in [`batt_arc::render`].

use std::fmt::Write;

use anstyle::{RgbColor, Style};
use batt_arc::Grid;
use batt_arc::render::{self, Color, PALETTE, Panel};
use batt_arc::text::escaped;
use batt_dsl::OwnedValue;

use crate::cells::{Cells, parts};
use crate::run::RunOutcome;
use crate::words::repr;

/// The most pictures of one container.
const PICTURES: usize = 12;
/// The most columns for pictures side by side.
const WIDTH: usize = 100;
/// The most characters of a value that is not a picture.
const TEXT: usize = 300;

/// Returns a value as text with pictures. Every line ends in a newline.
///
/// ```
/// use batt_arc::render::Color;
/// use batt_dsl::OwnedValue;
/// use batt_picture::terminal;
///
/// let grid = OwnedValue::grid([&[0, 1][..], &[2, 3]]);
/// assert_eq!(terminal::value(&grid, Color::Never), "2x2\n01\n23\n");
/// ```
pub fn value(value: &OwnedValue, color: Color) -> String {
    if let Some(picture) = Cells::of(value).as_ref().and_then(Picture::of) {
        return layout(&[picture], color);
    }
    if let Some((shown, all)) = parts(value, PICTURES)
        && let Some(pictures) = shown.iter().map(Picture::of).collect::<Option<Vec<_>>>()
    {
        let mut out = layout(&pictures, color);
        if all > shown.len() {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "... and {} more", all - shown.len());
        }
        return out;
    }
    repr(value, TEXT) + "\n"
}

/// Returns a run as text: the input, the expected output, the output of the run, and the cells in
/// which the two differ. The last line says what is wrong. Every line ends in a newline.
pub fn run(input: &Grid, outcome: &RunOutcome<'_>, color: Color) -> String {
    let got = outcome.got();
    let mut panels = vec![Panel::grid("input", input), Panel::arrow()];
    panels.push(match outcome.expected {
        Some(expected) => Panel::grid("expected", expected),
        None => Panel::note("expected", "?"),
    });
    panels.push(match (&got, outcome.error) {
        (_, Some(_)) => Panel::note("got", "an error"),
        (Some(got), None) => Panel::grid("got", got),
        (None, None) => Panel::note("got", "no grid"),
    });
    if let (Some(expected), Some(got)) = (outcome.expected, &got)
        && expected != got
    {
        panels.push(Panel::diff(expected, got));
    }
    let mut out = render::layout(&panels, color);
    if let (Some(other), None) = (outcome.value, &got) {
        out += &value(other, color);
    }
    let verdict = outcome.verdict().map(|(text, _)| text);
    for line in outcome.error.into_iter().chain(verdict.as_deref()) {
        out += &escaped(line, &[]);
        out.push('\n');
    }
    out
}

/// A cell of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// The cell is not part of the object or patch.
    Absent,
    /// A location without a colour.
    Place,
    /// A colour, 0 to 9.
    Color(u8),
}

/// A picture of a grid, an object or a patch.
struct Picture {
    caption: String,
    rows: Vec<Vec<Mark>>,
}

impl Picture {
    /// Returns the picture of some cells, if they are close together.
    fn of(cells: &Cells) -> Option<Picture> {
        let (height, width) = cells.size()?;
        let mut rows = vec![vec![Mark::Absent; width]; height];
        for &(i, j, color) in &cells.cells {
            let (i, j) = cells.bounds.position(i, j)?;
            rows[i][j] = color.map_or(Mark::Place, Mark::Color);
        }
        Some(Picture {
            caption: cells.caption(),
            rows,
        })
    }

    fn width(&self, color: Color) -> usize {
        let cell = if color == Color::Always { 2 } else { 1 };
        let row = self.rows.first().map_or(0, Vec::len) * cell;
        row.max(self.caption.len())
    }

    fn line(&self, i: usize, color: Color) -> (String, usize) {
        let row: &[Mark] = self.rows.get(i).map_or(&[], Vec::as_slice);
        let mut out = String::new();
        for &mark in row {
            match color {
                Color::Never => out.push(match mark {
                    Mark::Absent => '.',
                    Mark::Place => 'x',
                    Mark::Color(c) => char::from(b'0' + c),
                }),
                Color::Always => paint(&mut out, mark),
            }
        }
        let cell = if color == Color::Always { 2 } else { 1 };
        (out, row.len() * cell)
    }
}

fn paint(out: &mut String, mark: Mark) {
    let on = |r, g, b| Style::new().bg_color(Some(RgbColor(r, g, b).into()));
    let dim = Style::new().dimmed();
    // Writing to a String cannot fail.
    let _ = match mark {
        Mark::Absent => write!(out, "{dim}··{dim:#}"),
        Mark::Place => {
            let style = on(0xff, 0xff, 0xff);
            write!(out, "{style}  {style:#}")
        }
        Mark::Color(c) => {
            let [r, g, b] = PALETTE[usize::from(c)];
            let style = on(r, g, b);
            write!(out, "{style}  {style:#}")
        }
    };
}

/// Places pictures side by side under their captions, in as many rows as needed.
fn layout(pictures: &[Picture], color: Color) -> String {
    const GAP: usize = 2;
    let mut out = String::new();
    let mut rest = pictures;
    while !rest.is_empty() {
        let mut used = 0;
        let fitting = rest.iter().take_while(|picture| {
            used += picture.width(color) + GAP;
            used <= WIDTH + GAP
        });
        let (band, later) = rest.split_at(fitting.count().max(1));
        rest = later;
        let height = band.iter().map(|picture| picture.rows.len()).max();
        put_line(&mut out, band, color, |picture| {
            (picture.caption.clone(), picture.caption.len())
        });
        for i in 0..height.unwrap_or(0) {
            put_line(&mut out, band, color, |picture| picture.line(i, color));
        }
    }
    out
}

/// Adds one line across some pictures, without blanks at the end.
fn put_line(
    out: &mut String,
    band: &[Picture],
    color: Color,
    line: impl Fn(&Picture) -> (String, usize),
) {
    let mut owed = 0;
    for picture in band {
        let (text, shown) = line(picture);
        if shown > 0 {
            out.extend(std::iter::repeat_n(' ', owed));
            out.push_str(&text);
            owed = 0;
        }
        owed += picture.width(color) - shown + 2;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: serde_json::Value) -> OwnedValue {
        OwnedValue::from_json(&json).unwrap()
    }

    #[test]
    fn grids_objects_and_patches_are_drawn() {
        let grid = parse(serde_json::json!({"g": ["01", "23"]}));
        assert_eq!(value(&grid, Color::Never), "2x2\n01\n23\n");
        let object = serde_json::json!({"s": [
            {"t": [3, {"t": [4, 7]}]}, {"t": [5, {"t": [5, 8]}]}
        ]});
        assert_eq!(
            value(&parse(object.clone()), Color::Never),
            "2x2 at (4, 7)\n3.\n.5\n"
        );
        let patch = serde_json::json!({"s": [{"t": [0, 0]}, {"t": [0, 2]}]});
        assert_eq!(
            value(&parse(patch.clone()), Color::Never),
            "1x3 at (0, 0)\nx.x\n"
        );
        let both = parse(serde_json::json!({"t": [object, patch]}));
        assert_eq!(
            value(&both, Color::Never),
            "2x2 at (4, 7)  1x3 at (0, 0)\n3.             x.x\n.5\n"
        );
    }

    #[test]
    fn the_rest_is_written_as_python_does() {
        for (json, text) in [
            (serde_json::json!(null), "None\n"),
            (serde_json::json!({"s": []}), "frozenset()\n"),
            (serde_json::json!({"t": [1, true]}), "(1, True)\n"),
        ] {
            assert_eq!(value(&parse(json), Color::Never), text);
        }
    }

    #[test]
    fn large_values_are_cut_short() {
        let long = OwnedValue::Tuple(vec![OwnedValue::Int(12345); 100_000]);
        assert!(value(&long, Color::Never).chars().count() < 400);
        let far = parse(serde_json::json!({"s": [{"t": [0, 0]}, {"t": [9999, 9]}]}));
        assert_eq!(
            value(&far, Color::Never),
            "frozenset({(0, 0), (9999, 9)})\n"
        );
    }
}
