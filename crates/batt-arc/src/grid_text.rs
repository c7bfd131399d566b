//! Grids that people write: rows of digits, or JSON.

use std::str::FromStr;

use crate::grid::{Grid, GridError};

/// The reason why a text is not a grid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GridTextError {
    /// It begins like JSON and is no list of rows of whole numbers.
    #[error("{0}")]
    Json(String),
    /// A row has something else than digits and blanks.
    #[error("line {line}: '{}' is no digit", found.escape_default())]
    NotADigit {
        /// The line, from 1.
        line: usize,
        /// What it has there.
        found: char,
    },
    /// The numbers are not a grid.
    #[error(transparent)]
    Grid(#[from] GridError),
}

/// Reads what [`Display`](std::fmt::Display) writes, a row of digits on each line, or JSON. Blanks
/// between digits do not count.
///
/// ```
/// use batt_arc::Grid;
///
/// let grid: Grid = "012\n340".parse()?;
/// assert_eq!("[[0, 1, 2], [3, 4, 0]]".parse(), Ok(grid.clone()));
/// assert_eq!(grid.to_string().parse(), Ok(grid));
/// # Ok::<(), batt_arc::GridTextError>(())
/// ```
impl FromStr for Grid {
    type Err = GridTextError;

    fn from_str(text: &str) -> Result<Grid, GridTextError> {
        let text = text.trim();
        let numbers = match text.starts_with('[') {
            true => serde_json::from_str(text)
                .map_err(|error| GridTextError::Json(error.to_string()))?,
            false => digits(text)?,
        };
        Ok(Grid::from_rows(&colours(&numbers)?)?)
    }
}

fn digits(text: &str) -> Result<Vec<Vec<i64>>, GridTextError> {
    let row = |(line, text): (usize, &str)| {
        let cells = text.chars().filter(|c| !c.is_whitespace());
        let digit = |found: char| {
            let digit = found.to_digit(10).map(i64::from);
            digit.ok_or(GridTextError::NotADigit { line, found })
        };
        cells.map(digit).collect()
    };
    (1..).zip(text.lines()).map(row).collect()
}

fn colours(numbers: &[Vec<i64>]) -> Result<Vec<Vec<u8>>, GridError> {
    let row = |(row, numbers): (usize, &Vec<i64>)| {
        let colour = |(column, &value): (usize, &i64)| {
            u8::try_from(value).map_err(|_| GridError::Colour { row, column, value })
        };
        numbers.iter().enumerate().map(colour).collect()
    };
    numbers.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_come_in_two_spellings() {
        let grid = Grid::from_rows(&[[0, 1, 2], [3, 4, 0]]).unwrap();
        assert_eq!("[[0, 1, 2], [3, 4, 0]]".parse(), Ok(grid.clone()));
        assert_eq!("012\n340\n".parse(), Ok(grid.clone()));
        assert_eq!(" 0 1 2\r\n 3 4 0\r\n".parse(), Ok(grid));
        for bad in [
            "",
            "[]",
            "01\n2",
            "0a",
            "[[0, 10]]",
            "[[-1]]",
            "[[0.5]]",
            "[",
            "[[]]",
        ] {
            assert!(bad.parse::<Grid>().is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_name_the_place() {
        let message = |text: &str| text.parse::<Grid>().unwrap_err().to_string();
        assert_eq!(message("01\n0\u{1b}"), "line 2: '\\u{1b}' is no digit");
        assert_eq!(
            message("[[0], [999]]"),
            "row 1, column 0 is 999, colours are 0 to 9"
        );
    }
}
