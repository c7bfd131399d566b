//! Values as cells: which values are pictures.

use batt_arc::MAX_SIDE;
use batt_dsl::OwnedValue;

/// A grid, an object or a patch.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    /// Whether the cells are a grid. It has no place.
    pub is_grid: bool,
    /// The smallest rectangle around the cells.
    pub bounds: Bounds,
    /// Row, column and colour; `None` for a location without a colour.
    pub cells: Vec<(i64, i64, Option<u8>)>,
}

/// A rectangle: the first and the last row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub top: i64,
    pub left: i64,
    pub bottom: i64,
    pub right: i64,
}

impl Bounds {
    /// The smallest rectangle around some places; `None` if there are none.
    fn around(places: impl Iterator<Item = (i64, i64)>) -> Option<Bounds> {
        let each = places.map(|(i, j)| Bounds {
            top: i,
            left: j,
            bottom: i,
            right: j,
        });
        each.reduce(Bounds::union)
    }

    /// The smallest rectangle around two.
    pub fn union(self, other: Bounds) -> Bounds {
        Bounds {
            top: self.top.min(other.top),
            left: self.left.min(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.max(other.right),
        }
    }

    /// The height and the width. Values may contain any numbers, so these may be huge.
    pub fn size(self) -> (u64, u64) {
        (
            self.top.abs_diff(self.bottom).saturating_add(1),
            self.left.abs_diff(self.right).saturating_add(1),
        )
    }

    /// The position of a place in the rectangle, if it is inside.
    pub fn position(self, i: i64, j: i64) -> Option<(usize, usize)> {
        let is_inside =
            (self.top..=self.bottom).contains(&i) && (self.left..=self.right).contains(&j);
        is_inside.then(|| {
            (
                self.top.abs_diff(i) as usize,
                self.left.abs_diff(j) as usize,
            )
        })
    }
}

impl Cells {
    /// Returns the cells of a grid, an object or a patch; `None` for other values.
    pub fn of(value: &OwnedValue) -> Option<Cells> {
        match value {
            OwnedValue::Tuple(_) => Cells::of_grid(value),
            OwnedValue::Set(items) => Cells::of_set(items),
            _ => None,
        }
    }

    fn of_grid(value: &OwnedValue) -> Option<Cells> {
        let rows = value.as_grid()?;
        if rows.len() > MAX_SIDE || rows[0].len() > MAX_SIDE {
            return None;
        }
        let cells = rows.iter().zip(0..).flat_map(|(row, i)| {
            let row = row.iter().zip(0..);
            row.map(move |(&color, j)| (i, j, Some(color)))
        });
        Cells::new(true, cells.collect())
    }

    fn of_set(items: &[OwnedValue]) -> Option<Cells> {
        Cells::new(false, items.iter().map(cell).collect::<Option<_>>()?)
    }

    fn new(is_grid: bool, cells: Vec<(i64, i64, Option<u8>)>) -> Option<Cells> {
        let bounds = Bounds::around(cells.iter().map(|&(i, j, _)| (i, j)))?;
        Some(Cells {
            is_grid,
            bounds,
            cells,
        })
    }

    /// The height and the width, if the cells can be drawn on a board of their own.
    pub fn size(&self) -> Option<(usize, usize)> {
        let (height, width) = self.bounds.size();
        let most = MAX_SIDE as u64;
        (height <= most && width <= most).then_some((height as usize, width as usize))
    }

    /// The size, and the place if it has one.
    pub fn caption(&self) -> String {
        let (height, width) = self.bounds.size();
        match self.is_grid {
            true => format!("{height}x{width}"),
            false => format!(
                "{height}x{width} at ({}, {})",
                self.bounds.top, self.bounds.left
            ),
        }
    }
}

/// Returns the parts of a container that contains only grids, objects and patches: the first few,
/// and how many there are.
pub(crate) fn parts(value: &OwnedValue, most: usize) -> Option<(Vec<Cells>, usize)> {
    let (OwnedValue::Tuple(items) | OwnedValue::Set(items)) = value else {
        return None;
    };
    if items.is_empty() {
        return None;
    }
    let shown = items.iter().take(most).map(Cells::of);
    Some((shown.collect::<Option<_>>()?, items.len()))
}

/// Reads a cell `(colour, (i, j))`, one of tokpidjin `(i, j, colour)`, or a location `(i, j)`.
fn cell(value: &OwnedValue) -> Option<(i64, i64, Option<u8>)> {
    use OwnedValue::{Int, Tuple};
    let Tuple(items) = value else { return None };
    match items.as_slice() {
        [Int(i), Int(j)] => Some((*i, *j, None)),
        [Int(i), Int(j), Int(c @ 0..=9)] => Some((*i, *j, Some(*c as u8))),
        [Int(c @ 0..=9), Tuple(at)] => match at.as_slice() {
            [Int(i), Int(j)] => Some((*i, *j, Some(*c as u8))),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cells(json: serde_json::Value) -> Option<Cells> {
        Cells::of(&OwnedValue::from_json(&json).unwrap())
    }

    #[test]
    fn both_kinds_of_cells_are_read() {
        let of_arc_dsl = cells(json!({"s": [{"t": [3, {"t": [4, 7]}]}]})).unwrap();
        let of_tokpidjin = cells(json!({"s": [{"t": [4, 7, 3]}]})).unwrap();
        assert_eq!(of_arc_dsl.caption(), "1x1 at (4, 7)");
        assert_eq!(of_arc_dsl.cells, of_tokpidjin.cells);
    }

    #[test]
    fn far_cells_are_no_picture() {
        let (least, most) = (i64::MIN, i64::MAX);
        let far = cells(json!({"s": [{"t": [least, 0]}, {"t": [most, 0]}]})).unwrap();
        assert_eq!(far.size(), None);
        assert_eq!(far.bounds.position(0, 0), Some((1 << 63, 0)));
        assert_eq!(far.bounds.position(0, 1), None);
        assert!(cells(json!({"s": []})).is_none());
        let one = cells(json!({"s": [{"t": [most, least]}]})).unwrap();
        assert_eq!(one.size(), Some((1, 1)));
    }
}
