//! Values that results keep until somebody asks for them.

use std::borrow::Cow;

use batt::{Grid, OwnedValue};

/// The value of a run. Nearly all values are rectangles of small numbers, which need one byte for
/// each cell here, and 32 as an [`OwnedValue`].
pub enum Kept {
    /// A tuple of equally long tuples of integers from 0 to 255, none of them a bool.
    Rectangle {
        /// The length of a row, at least 1.
        width: usize,
        /// All rows, one after the other.
        cells: Box<[u8]>,
    },
    /// Anything else.
    Other(OwnedValue),
}

impl Kept {
    /// Keeps a value.
    pub fn new(value: OwnedValue) -> Kept {
        match rectangle(&value) {
            Some((width, cells)) => Kept::Rectangle { width, cells },
            None => Kept::Other(value),
        }
    }

    /// Returns the value.
    pub fn value(&self) -> Cow<'_, OwnedValue> {
        match self {
            Kept::Rectangle { width, cells } => Cow::Owned(OwnedValue::grid(cells.chunks(*width))),
            Kept::Other(value) => Cow::Borrowed(value),
        }
    }

    /// Returns the value as a grid, if it is one.
    pub fn grid(&self) -> Option<Grid> {
        match self {
            Kept::Rectangle { width, cells } => {
                Grid::new(cells.len() / width, *width, cells.to_vec()).ok()
            }
            Kept::Other(value) => batt::output_grid(value),
        }
    }
}

fn rectangle(value: &OwnedValue) -> Option<(usize, Box<[u8]>)> {
    let OwnedValue::Tuple(rows) = value else {
        return None;
    };
    let OwnedValue::Tuple(first) = rows.first()? else {
        return None;
    };
    let width = first.len();
    let mut cells = Vec::with_capacity(rows.len() * width);
    for row in rows {
        match row {
            OwnedValue::Tuple(row) if row.len() == width => {
                for cell in row {
                    match cell {
                        OwnedValue::Int(n) => cells.push(u8::try_from(*n).ok()?),
                        _ => return None,
                    }
                }
            }
            _ => return None,
        }
    }
    (width > 0).then_some((width, cells.into_boxed_slice()))
}
