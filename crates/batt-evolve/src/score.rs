//! How good a program is for a task.

use std::cmp::Ordering;

use batt_arc::Grid;
use batt_engine::Verdict;
use serde::{Deserialize, Serialize};

/// The closeness of the expected output. Closeness is counted in parts of this.
pub const WHOLE: u32 = 1_000_000;

/// The score of a program on the demonstrations of a task. Better is greater: more demonstrations solved, then closer to
/// them, then smaller, then cheaper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Score {
    /// The number of demonstrations it solves.
    pub solved: u32,
    /// The number of demonstrations.
    pub demos: u32,
    /// The average closeness to the expected outputs, in parts of a [million](WHOLE).
    pub closeness: u32,
    /// The number of steps of the program.
    pub size: u32,
    /// Units of work it takes on all demonstrations together.
    pub cost: u64,
}

impl Score {
    /// Returns whether it solves all demonstrations.
    pub fn is_complete(&self) -> bool {
        self.demos > 0 && self.solved == self.demos
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        self.solved
            .cmp(&other.solved)
            .then(self.closeness.cmp(&other.closeness))
            .then(other.size.cmp(&self.size))
            .then(other.cost.cmp(&self.cost))
            .then(other.demos.cmp(&self.demos))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns how close an output is as far as its verdict tells: this much is known of every program, on any device.
///
/// A grid of the right shape is closer than any other, and one that is wrong in half of its cells is no closer than a
/// blank one would be.
pub fn closeness(verdict: &Verdict, expected: &Grid) -> u32 {
    let (height, width) = (expected.height(), expected.width());
    match *verdict {
        Verdict::Right => WHOLE,
        Verdict::WrongCells(wrong) => {
            let right = (height * width).saturating_sub(wrong) as u64;
            let share = right * 680_000 / (height * width).max(1) as u64;
            200_000 + share as u32
        }
        Verdict::WrongShape(h, w) => {
            let near = |a: usize, b: usize| (a.min(b) * 1000 / a.max(b).max(1)) as u32;
            let sides = near(h, height) + near(w, width);
            sides * 50 + 20_000 * u32::from(h == height || w == width)
        }
        Verdict::NotAGrid | Verdict::Unknown | Verdict::Failed(_) => 0,
    }
}

/// Returns what is added to the closeness of a wrong output for its colours. Differs add a little more.
pub fn refinement(got: &[u8], expected: &Grid) -> u32 {
    let palette = |cells: &[u8]| {
        let cells = cells.iter().filter(|&&color| color < 10);
        cells.fold(0u16, |palette, &color| palette | 1 << color)
    };
    let (got, wanted) = (palette(got), palette(expected.cells()));
    let all = (got | wanted).count_ones().max(1);
    (got & wanted).count_ones() * 90_000 / all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(solved: u32, closeness: u32, size: u32, cost: u64) -> Score {
        Score {
            solved,
            demos: 3,
            closeness,
            size,
            cost,
        }
    }

    #[test]
    fn better_is_greater() {
        let sorted = [
            score(0, 900, 3, 10),
            score(1, 100, 9, 10),
            score(1, 200, 9, 20),
            score(1, 200, 9, 10),
            score(1, 200, 8, 90),
            score(3, 0, 99, 99),
        ];
        assert!(sorted.is_sorted());
        assert!(sorted[5].is_complete());
        assert!(!Score::default().is_complete());
    }

    #[test]
    fn closer_is_more() {
        let expected = Grid::from_rows(&[[1, 2], [3, 4]]).expect("a grid");
        let of = |verdict| closeness(&verdict, &expected);
        let rising = [
            of(Verdict::NotAGrid),
            of(Verdict::WrongShape(30, 30)),
            of(Verdict::WrongShape(2, 30)),
            of(Verdict::WrongShape(2, 3)),
            of(Verdict::WrongCells(4)),
            of(Verdict::WrongCells(1)),
            of(Verdict::Right),
        ];
        assert!(rising.is_sorted_by(|a, b| a < b), "{rising:?}");
        let refined = of(Verdict::WrongCells(1)) + refinement(&[1, 2, 3, 4], &expected);
        assert!(refined < WHOLE);
        assert!(refinement(&[1, 2, 3, 3], &expected) < refinement(&[1, 2, 3, 4], &expected));
    }
}
