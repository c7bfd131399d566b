//! How well a program does on the demonstrations of a task.

use std::cmp::{Ordering, Reverse};

/// The score of a program on the demonstrations of a task.
///
/// Better scores sort first: more demonstrations solved, then closer outputs, then fewer steps,
/// then lower cost.
///
/// ```
/// use batt_arc::Score;
///
/// let close = Score { demos_solved: 1, demos: 3, closeness: 900_000, size: 4, cost: 100 };
/// let closer = Score { closeness: 950_000, size: 9, ..close };
/// let right = Score { demos_solved: 3, closeness: Score::WHOLE, size: 20, ..close };
/// let mut scores = vec![close, right, closer];
/// scores.sort();
/// assert_eq!(scores, [right, closer, close]);
/// assert!(right.is_solved());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Score {
    /// The number of demonstrations for which the program gives the expected output.
    pub demos_solved: u32,
    /// The number of demonstrations.
    pub demos: u32,
    /// The average closeness of the outputs to the expected ones, in parts per million.
    pub closeness: u32,
    /// The number of steps of the program.
    pub size: u32,
    /// The units of work that all demonstrations take together.
    pub cost: u64,
}

impl Score {
    /// The closeness of an output that is the expected one.
    pub const WHOLE: u32 = 1_000_000;

    /// Returns whether the program solves every demonstration.
    pub fn is_solved(&self) -> bool {
        self.demos > 0 && self.demos_solved >= self.demos
    }

    /// Returns the part of the score that depends on the outputs alone, not on the size or the cost
    /// of the program. Better grades sort first.
    pub fn grade(&self) -> impl Ord + use<> {
        Reverse((self.demos_solved, self.closeness))
    }

    /// Returns why no program can have this score, or `None` if one can.
    pub fn contradiction(&self) -> Option<&'static str> {
        let Score {
            demos_solved,
            demos,
            closeness,
            ..
        } = *self;
        if demos_solved > demos {
            return Some("more demonstrations solved than there are");
        }
        if closeness > Score::WHOLE {
            return Some("a closeness above 1,000,000");
        }
        if self.is_solved() && closeness < Score::WHOLE {
            return Some("all demonstrations solved, but a closeness below 1,000,000");
        }
        if demos_solved < demos && closeness == Score::WHOLE {
            return Some("a closeness of 1,000,000, but not all demonstrations solved");
        }
        // Each solved demonstration counts its share of the average, which is rounded down.
        let least = u64::from(Score::WHOLE) * u64::from(demos_solved) / u64::from(demos.max(1));
        (u64::from(closeness) < least)
            .then_some("a closeness below that of its solved demonstrations")
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Score) -> Ordering {
        let rank = |score: &Score| (score.size, score.cost, score.demos);
        let grades = self.grade().cmp(&other.grade());
        grades.then_with(|| rank(self).cmp(&rank(other)))
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Score) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(demos_solved: u32, closeness: u32, size: u32, cost: u64) -> Score {
        Score {
            demos_solved,
            demos: 3,
            closeness,
            size,
            cost,
        }
    }

    #[test]
    fn the_better_score_sorts_first() {
        let sorted = [
            score(3, 0, 99, 99),
            score(1, 200, 8, 90),
            score(1, 200, 9, 10),
            score(1, 200, 9, 20),
            score(1, 100, 9, 10),
            score(0, 900, 3, 10),
        ];
        assert!(sorted.is_sorted());
        assert!(sorted[0].is_solved());
        assert!(!Score::default().is_solved());
    }

    #[test]
    fn impossible_scores_are_named() {
        for (solved, closeness, why) in [
            (4, Score::WHOLE, "more demonstrations"),
            (0, Score::WHOLE + 1, "above"),
            (3, Score::WHOLE - 1, "all demonstrations solved"),
            (2, Score::WHOLE, "not all"),
            (2, 666_665, "below that"),
        ] {
            let found = score(solved, closeness, 1, 1).contradiction();
            assert!(found.is_some_and(|text| text.contains(why)), "{found:?}");
        }
        for (solved, closeness) in [(3, Score::WHOLE), (2, 666_666), (2, 999_999), (0, 0)] {
            assert_eq!(score(solved, closeness, 1, 1).contradiction(), None);
        }
    }
}
