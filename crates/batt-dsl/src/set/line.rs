//! The straight lines of a grid, laid out in a static table, because programs connect points by the
//! hundred thousand.

use crate::value::IntPair;

/// An exclusive bound of the row and column numbers of grids.
const SIDE: usize = 32;
/// The number of diagonals of one direction.
const DIAGONALS: usize = 2 * SIDE - 1;

/// All locations four times, line after line: in rows, in columns, in diagonals to the right and in
/// diagonals to the left. Diagonals have a place for every row; places off the grid belong to no
/// line.
static LOCATIONS: [IntPair; 2 * SIDE * SIDE + 2 * DIAGONALS * SIDE] = {
    let mut all = [IntPair::new(0, 0); 2 * SIDE * SIDE + 2 * DIAGONALS * SIDE];
    let mut line = 0;
    while line < DIAGONALS {
        let mut at = 0;
        while at < SIDE {
            if line < SIDE {
                all[ROWS + line * SIDE + at] = IntPair::new(line as i16, at as i16);
                all[COLUMNS + line * SIDE + at] = IntPair::new(at as i16, line as i16);
            }
            let (row, from_left) = (at as i16, line as i16);
            all[RIGHT + line * SIDE + at] = IntPair::new(row, row + from_left - (SIDE as i16 - 1));
            all[LEFT + line * SIDE + at] = IntPair::new(row, from_left - row);
            at += 1;
        }
        line += 1;
    }
    all
};

// The starts of the lines of each direction.
const ROWS: usize = 0;
const COLUMNS: usize = SIDE * SIDE;
const RIGHT: usize = 2 * SIDE * SIDE;
const LEFT: usize = RIGHT + DIAGONALS * SIDE;

/// Returns the line between two locations of a grid, downwards or along a row to the right. `start`
/// is its upper or left end, and a straight line connects the ends.
#[inline(always)]
pub(crate) fn between(start: IntPair, end: IntPair) -> Option<&'static [IntPair]> {
    let (i, j) = (start.i as usize, start.j as usize);
    let (to_i, to_j) = (end.i as usize, end.j as usize);
    // Negative coordinates become large unsigned ones.
    if i >= SIDE || j >= SIDE || to_i >= SIDE || to_j >= SIDE {
        return None;
    }
    let (first, len) = if i == to_i {
        (ROWS + i * SIDE + j, to_j.checked_sub(j)?)
    } else {
        let first = if j == to_j {
            COLUMNS + j * SIDE + i
        } else if j < to_j {
            RIGHT + (j + SIDE - 1 - i) * SIDE + i
        } else {
            LEFT + (i + j) * SIDE + i
        };
        (first, to_i.checked_sub(i)?)
    };
    LOCATIONS.get(first..=first + len)
}

/// Returns whether this is one of the lines laid out here. The locations of such a line are equally
/// spaced.
#[inline(always)]
pub(super) fn is_laid_out(pairs: &[IntPair]) -> bool {
    LOCATIONS.as_ptr_range().contains(&pairs.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_from_end_to_end() {
        let cases = [
            ((3, 4), (3, 4), 1, (0, 0)),
            ((0, 0), (0, 31), 32, (0, 1)),
            ((5, 7), (9, 7), 5, (1, 0)),
            ((0, 0), (31, 31), 32, (1, 1)),
            ((2, 9), (5, 12), 4, (1, 1)),
            ((2, 9), (11, 0), 10, (1, -1)),
            ((0, 31), (31, 0), 32, (1, -1)),
            ((30, 0), (31, 1), 2, (1, 1)),
        ];
        for (start, end, len, step) in cases {
            let (start, end) = (IntPair::new(start.0, start.1), IntPair::new(end.0, end.1));
            let line = between(start, end).expect("a line of the grid");
            assert_eq!(line.len(), len, "{start:?} {end:?}");
            assert_eq!((line[0], line[len - 1]), (start, end));
            for two in line.windows(2) {
                assert_eq!((two[1].i - two[0].i, two[1].j - two[0].j), step);
            }
            assert!(is_laid_out(line));
        }
    }

    #[test]
    fn lines_off_the_grid_are_not_laid_out() {
        assert!(between(IntPair::new(0, 0), IntPair::new(0, 32)).is_none());
        assert!(between(IntPair::new(-1, 0), IntPair::new(3, 0)).is_none());
        assert!(!is_laid_out(&[IntPair::new(0, 0)]));
        assert!(!is_laid_out(&[]));
    }
}
