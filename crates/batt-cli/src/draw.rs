//! Draws values: grids, objects and patches as pictures, other values as Python writes them.

use std::fmt::{self, Write};

use anstyle::{RgbColor, Style};
use batt::render::{Color, PALETTE};
use batt::{MAX_SIDE, OwnedValue};

/// The most pictures of one container.
const PICTURES: usize = 12;
/// The most columns for pictures side by side.
const WIDTH: usize = 100;
/// The most characters of a value that is not a picture.
const TEXT: usize = 300;

/// Returns a value as text with pictures. Every line ends in a newline.
pub fn value(value: &OwnedValue, color: Color) -> String {
    if let Some(picture) = Picture::of(value) {
        return layout(&[picture], color);
    }
    if let Some((pictures, rest)) = gallery(value) {
        let mut out = layout(&pictures, color);
        if rest > 0 {
            let _ = writeln!(out, "... and {rest} more");
        }
        return out;
    }
    repr(value) + "\n"
}

/// Returns a value as Python's `repr` writes it, cut to a few lines.
pub fn repr(value: &OwnedValue) -> String {
    let mut out = Limited {
        text: String::new(),
        room: TEXT,
    };
    // Writing fails once the text is full, so a huge value is never written completely.
    if write!(out, "{value}").is_err() {
        out.text.push('…');
    }
    out.text
}

struct Limited {
    text: String,
    room: usize,
}

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(c);
        }
        Ok(())
    }
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
    /// Returns the picture of a grid, an object or a patch; `None` for other values and for
    /// undrawable sizes.
    fn of(value: &OwnedValue) -> Option<Picture> {
        match value {
            OwnedValue::Tuple(_) => Picture::of_grid(value),
            OwnedValue::Set(items) => Picture::of_cells(items),
            _ => None,
        }
    }

    fn of_grid(value: &OwnedValue) -> Option<Picture> {
        let rows = value.as_grid()?;
        let (height, width) = (rows.len(), rows[0].len());
        if height > MAX_SIDE || width > MAX_SIDE {
            return None;
        }
        Some(Picture {
            caption: format!("{height}x{width}"),
            rows: rows
                .into_iter()
                .map(|row| row.into_iter().map(Mark::Color).collect())
                .collect(),
        })
    }

    /// Returns the picture of an object or a patch, in its bounding box.
    fn of_cells(items: &[OwnedValue]) -> Option<Picture> {
        let cells: Vec<(i64, i64, Mark)> = items.iter().map(cell).collect::<Option<_>>()?;
        let (top, bottom) = range(cells.iter().map(|cell| cell.0))?;
        let (left, right) = range(cells.iter().map(|cell| cell.1))?;
        let side = |low: i64, high: i64| {
            let side = usize::try_from(high.checked_sub(low)?).ok()?;
            (side < MAX_SIDE).then_some(side + 1)
        };
        let (height, width) = (side(top, bottom)?, side(left, right)?);
        let mut rows = vec![vec![Mark::Absent; width]; height];
        for (i, j, mark) in cells {
            rows[(i - top) as usize][(j - left) as usize] = mark;
        }
        Some(Picture {
            caption: format!("{height}x{width} at ({top}, {left})"),
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

/// Returns a cell `(colour, (i, j))` or a location `(i, j)`.
fn cell(value: &OwnedValue) -> Option<(i64, i64, Mark)> {
    use OwnedValue::{Int, Tuple};
    let Tuple(items) = value else { return None };
    match items.as_slice() {
        [Int(i), Int(j)] => Some((*i, *j, Mark::Place)),
        [Int(c @ 0..=9), Tuple(at)] => match at.as_slice() {
            [Int(i), Int(j)] => Some((*i, *j, Mark::Color(*c as u8))),
            _ => None,
        },
        _ => None,
    }
}

fn range(numbers: impl Iterator<Item = i64> + Clone) -> Option<(i64, i64)> {
    Some((numbers.clone().min()?, numbers.max()?))
}

/// Returns the pictures of a container that contains only pictures, and the number of pictures for
/// which there is no room.
fn gallery(value: &OwnedValue) -> Option<(Vec<Picture>, usize)> {
    let (OwnedValue::Tuple(items) | OwnedValue::Set(items)) = value else {
        return None;
    };
    if items.is_empty() {
        return None;
    }
    let shown = items.iter().take(PICTURES).map(Picture::of);
    let shown: Vec<Picture> = shown.collect::<Option<_>>()?;
    let rest = items.len() - shown.len();
    Some((shown, rest))
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
