//! Grids: checked rectangles of colours.

use std::fmt;

use crate::text::counted;

/// The longest side an ARC grid may have.
pub const MAX_SIDE: usize = 30;

/// The number of colours: cells hold `0..COLOURS`.
pub const COLOURS: u8 = 10;

/// A rectangle of colours: both sides are 1 to 30, every cell is 0 to 9. Constructors check this.
///
/// ```
/// use batt_arc::Grid;
///
/// let grid = Grid::from_rows(&[[0, 1, 2], [3, 4, 5]])?;
/// assert_eq!((grid.height(), grid.width()), (2, 3));
/// assert_eq!(grid.get(1, 2), Some(5));
/// assert_eq!(grid.to_string(), "012\n345");
/// # Ok::<(), batt_arc::GridError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grid {
    // A side is at most 30, so a byte is enough, and the struct has four words.
    height: u8,
    width: u8,
    cells: Vec<u8>,
}

/// The reason why some rows are not a grid. Rows and columns count from 0, as in the DSL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// There are no rows.
    #[error("the grid has no rows")]
    NoRows,
    /// A row is empty.
    #[error("row {row} has no cells")]
    EmptyRow {
        /// The row in question.
        row: usize,
    },
    /// A row is longer or shorter than the first one.
    #[error(
        "row {row} has {}, row 0 has {expected}", counted(*.cells, "cell")
    )]
    Ragged {
        /// The row in question.
        row: usize,
        /// The number of its cells.
        cells: usize,
        /// The number of cells of row 0.
        expected: usize,
    },
    /// A side is longer than [`MAX_SIDE`].
    #[error("the grid is {height}x{width}, the largest allowed is 30x30")]
    TooLarge {
        /// The number of rows.
        height: usize,
        /// The number of columns.
        width: usize,
    },
    /// A cell is a number, but not a colour.
    #[error("row {row}, column {column} is {value}, colours are 0 to 9")]
    Colour {
        /// The row of the cell.
        row: usize,
        /// The column of the cell.
        column: usize,
        /// The value of the cell.
        value: i64,
    },
    /// The number of cells does not match the size.
    #[error("{cells} cells do not fill a grid of {height}x{width}")]
    CellCount {
        /// The number of rows.
        height: usize,
        /// The number of columns.
        width: usize,
        /// The number of cells.
        cells: usize,
    },
}

impl Grid {
    /// Makes a grid from its cells, row by row.
    pub fn new(height: usize, width: usize, cells: Vec<u8>) -> Result<Grid, GridError> {
        if height == 0 {
            return Err(GridError::NoRows);
        }
        if width == 0 {
            return Err(GridError::EmptyRow { row: 0 });
        }
        if height > MAX_SIDE || width > MAX_SIDE {
            return Err(GridError::TooLarge { height, width });
        }
        if cells.len() != height * width {
            return Err(GridError::CellCount {
                height,
                width,
                cells: cells.len(),
            });
        }
        if let Some(at) = cells.iter().position(|&cell| cell >= COLOURS) {
            return Err(GridError::Colour {
                row: at / width,
                column: at % width,
                value: i64::from(cells[at]),
            });
        }
        Ok(Grid {
            height: height as u8,
            width: width as u8,
            cells,
        })
    }

    /// Makes a grid from its rows: slices, arrays or vectors of colours.
    pub fn from_rows<R: AsRef<[u8]>>(rows: &[R]) -> Result<Grid, GridError> {
        let expected = rows.first().ok_or(GridError::NoRows)?.as_ref().len();
        if expected == 0 {
            return Err(GridError::EmptyRow { row: 0 });
        }
        if let Some((row, cells)) = rows
            .iter()
            .map(|row| row.as_ref().len())
            .enumerate()
            .find(|&(_, n)| n != expected)
        {
            return Err(GridError::Ragged {
                row,
                cells,
                expected,
            });
        }
        if rows.len() > MAX_SIDE || expected > MAX_SIDE {
            return Err(GridError::TooLarge {
                height: rows.len(),
                width: expected,
            });
        }
        let cells = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
        Grid::new(rows.len(), expected, cells)
    }

    /// The number of rows, 1 to 30.
    pub fn height(&self) -> usize {
        usize::from(self.height)
    }

    /// The number of columns, 1 to 30.
    pub fn width(&self) -> usize {
        usize::from(self.width)
    }

    /// All cells, row by row.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// Row `i`.
    ///
    /// # Panics
    ///
    /// If there is no row `i`.
    pub fn row(&self, i: usize) -> &[u8] {
        &self.cells[i * self.width()..(i + 1) * self.width()]
    }

    /// The rows from top to bottom.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.cells.chunks_exact(self.width())
    }

    /// The colour at row `i`, column `j`; `None` outside the grid.
    pub fn get(&self, i: usize, j: usize) -> Option<u8> {
        // Without this check, a `j` that is too large would read from the next row.
        if j >= self.width() {
            return None;
        }
        self.cells.get(i * self.width() + j).copied()
    }
}

/// One digit per cell, one line per row, no newline at the end.
impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, row) in self.rows().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            for cell in row {
                write!(f, "{cell}")?;
            }
        }
        Ok(())
    }
}

/// Rows of digits on one line, so that a failing assertion stays readable.
impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.to_string().replace('\n', "/");
        write!(f, "Grid({}x{} {rows})", self.height, self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_returns_its_cells() {
        let grid = Grid::new(2, 3, vec![0, 1, 2, 3, 4, 5]).unwrap();
        assert_eq!(
            grid,
            Grid::from_rows(&[vec![0, 1, 2], vec![3, 4, 5]]).unwrap()
        );
        assert_eq!(grid.row(1), [3, 4, 5]);
        assert_eq!(grid.rows().len(), 2);
        assert_eq!(grid.get(0, 3), None);
        assert_eq!(grid.get(2, 0), None);
        assert_eq!(format!("{grid:?}"), "Grid(2x3 012/345)");
    }

    #[test]
    fn malformed_grids_are_refused() {
        let message = |grid: Result<Grid, GridError>| grid.unwrap_err().to_string();
        let none: [[u8; 0]; 0] = [];
        assert_eq!(message(Grid::from_rows(&none)), "the grid has no rows");
        assert_eq!(message(Grid::from_rows(&[[0u8; 0]])), "row 0 has no cells");
        assert_eq!(
            message(Grid::from_rows(&[vec![1, 2], vec![1]])),
            "row 1 has 1 cell, row 0 has 2"
        );
        assert_eq!(
            message(Grid::from_rows(&[[0u8; 31]])),
            "the grid is 1x31, the largest allowed is 30x30"
        );
        assert_eq!(
            message(Grid::new(1, 2, vec![0, 10])),
            "row 0, column 1 is 10, colours are 0 to 9"
        );
        assert_eq!(
            message(Grid::new(2, 2, vec![0])),
            "1 cells do not fill a grid of 2x2"
        );
        assert_eq!(message(Grid::new(0, 2, vec![])), "the grid has no rows");
        // The product of the sides would overflow here; the limit must come first.
        assert!(Grid::new(usize::MAX, usize::MAX, vec![]).is_err());
    }

    #[test]
    fn the_largest_grid_is_allowed() {
        assert!(Grid::from_rows(&[[9u8; 30]; 30]).is_ok());
    }
}
