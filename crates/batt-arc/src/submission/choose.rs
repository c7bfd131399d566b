//! Chooses the two answers to a test input among the outputs of many solvers.
//!
//! Solvers with the same output support it together. Outputs are ranked by
//!
//! 1. the number of demonstrations that their best solver solves,
//! 2. the closeness of that solver on the demonstrations,
//! 3. the votes of the solvers that solve as many demonstrations as the best one. A simple solver
//!    has more weight: a rule of few steps that explains the demonstrations is less likely to do
//!    so by accident. A solver of `n` steps has the weight `1 / (1 + n)`, so one solver of 3
//!    steps outweighs one of 7 steps and equals two of them.
//!
//! Size decides ties, then the cells, so the choice never depends on the order of the guesses.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Attempts, Submission};
use crate::{Grid, Score};

/// The output of a solver for a test input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// The output.
    pub output: Grid,
    /// The score of the solver on the demonstrations.
    pub score: Score,
}

/// An output and its support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<'g> {
    /// The output.
    pub output: &'g Grid,
    /// The score of its best solver.
    pub best: Score,
    /// The number of solvers with this output.
    pub solvers: usize,
    /// The votes of the solvers that solve as many demonstrations as the best one, in millionths.
    pub votes: u64,
}

/// The answers chosen for one test input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The two attempts, the better one first.
    pub attempts: Attempts,
    /// The number of attempts that are guesses; the others are fillers.
    pub guessed: usize,
    /// Whether the first attempt comes from a solver of all demonstrations.
    pub solves_demos: bool,
}

/// Returns the score of a solver on the demonstrations as they are now. If the archived numbers of
/// demonstrations agree, the archived closeness is kept. Otherwise the task has changed, and the
/// closeness is the share of the demonstrations that are solved now.
pub fn score_now(archived: &Score, demos_solved: usize, demos: usize) -> Score {
    let (demos_solved, demos) = (demos_solved as u32, demos as u32);
    let agrees = (archived.demos_solved, archived.demos) == (demos_solved, demos);
    let least = u64::from(Score::WHOLE) * u64::from(demos_solved) / u64::from(demos.max(1));
    Score {
        demos_solved,
        demos,
        closeness: match agrees {
            true => archived.closeness,
            false => least as u32,
        },
        ..*archived
    }
}

/// Returns the two best different outputs; fillers replace missing ones.
pub fn choose(guesses: &[Guess]) -> Chosen {
    let ranked = rank(guesses);
    let attempt = |at: usize| match ranked.get(at) {
        Some(choice) => choice.output.clone(),
        None => Submission::filler(),
    };
    Chosen {
        attempts: std::array::from_fn(attempt),
        guessed: ranked.len().min(super::ATTEMPTS),
        solves_demos: ranked.first().is_some_and(|first| first.best.is_solved()),
    }
}

/// Returns the different outputs among the guesses, best first.
pub fn rank(guesses: &[Guess]) -> Vec<Choice<'_>> {
    let mut choices: BTreeMap<&Grid, Choice<'_>> = BTreeMap::new();
    for Guess { output, score } in guesses {
        let choice = choices.entry(output).or_insert(Choice {
            output,
            best: *score,
            solvers: 0,
            votes: 0,
        });
        choice.solvers += 1;
        if choice.best.demos_solved < score.demos_solved {
            // Earlier solvers solve fewer demonstrations: their votes no longer count.
            choice.votes = 0;
        }
        if choice.best.demos_solved <= score.demos_solved {
            choice.votes += vote(score);
        }
        choice.best = choice.best.min(*score);
    }
    let mut ranked: Vec<Choice<'_>> = choices.into_values().collect();
    // The map was sorted by cells, and sorting keeps that order among equals.
    ranked.sort_by_key(|choice| (choice.best.grade(), Reverse(choice.votes), choice.best.size));
    ranked
}

/// A whole vote.
const VOTE: u64 = 1_000_000;

/// Returns the vote of a solver. Simpler solvers have more weight.
fn vote(score: &Score) -> u64 {
    VOTE / (u64::from(score.size) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(colour: u8) -> Grid {
        Grid::from_rows(&[[colour]]).unwrap()
    }

    /// A guess of one colour by a solver of three demonstrations.
    fn guess(colour: u8, demos_solved: u32, percent: u32, size: u32) -> Guess {
        Guess {
            output: grid(colour),
            score: Score {
                demos_solved,
                demos: 3,
                closeness: percent * 10_000,
                size,
                cost: 0,
            },
        }
    }

    fn colours(guesses: &[Guess]) -> Vec<u8> {
        let first = |choice: &Choice<'_>| choice.output.cells()[0];
        let ranked: Vec<u8> = rank(guesses).iter().map(first).collect();
        // The order of the guesses must not matter.
        let mut turned = guesses.to_vec();
        for _ in 0..guesses.len() {
            turned.rotate_left(1);
            assert_eq!(rank(&turned).iter().map(first).collect::<Vec<_>>(), ranked);
        }
        turned.reverse();
        assert_eq!(rank(&turned).iter().map(first).collect::<Vec<_>>(), ranked);
        ranked
    }

    #[test]
    fn solved_demonstrations_come_first() {
        // The other guesses are closer, simpler and more numerous.
        let guesses = [
            guess(1, 2, 99, 1),
            guess(1, 2, 99, 2),
            guess(1, 2, 99, 3),
            guess(2, 3, 100, 30),
        ];
        assert_eq!(colours(&guesses), [2, 1]);
    }

    #[test]
    fn then_closeness_then_votes_then_size() {
        assert_eq!(colours(&[guess(1, 1, 80, 2), guess(2, 1, 90, 9)]), [2, 1]);
        // 1/4 against 1/8, then against 1/8 + 1/8 and a bit.
        let mut votes = vec![guess(1, 3, 100, 3), guess(2, 3, 100, 7)];
        assert_eq!(colours(&votes), [1, 2]);
        votes.push(guess(2, 3, 100, 6));
        assert_eq!(colours(&votes), [2, 1]);
        // Equal votes: the smallest solver decides.
        let even = [
            guess(2, 3, 100, 3),
            guess(1, 3, 100, 7),
            guess(1, 3, 100, 7),
        ];
        assert_eq!(colours(&even), [2, 1]);
        // Only the cells differ.
        assert_eq!(colours(&[guess(4, 3, 100, 3), guess(3, 3, 100, 3)]), [3, 4]);
    }

    #[test]
    fn solvers_of_fewer_demonstrations_have_no_vote() {
        let guesses = [
            guess(1, 3, 100, 5),
            guess(2, 3, 100, 6),
            guess(2, 2, 90, 1),
            guess(2, 0, 10, 1),
        ];
        assert_eq!(colours(&guesses), [1, 2]);
        let ranked = rank(&guesses);
        assert_eq!((ranked[1].solvers, ranked[1].votes), (3, VOTE / 7));
    }

    #[test]
    fn two_different_answers_where_possible() {
        let chosen = choose(&[
            guess(1, 3, 100, 2),
            guess(1, 3, 100, 3),
            guess(1, 3, 100, 4),
            guess(5, 0, 20, 4),
        ]);
        assert_eq!(chosen.attempts, [grid(1), grid(5)]);
        assert_eq!((chosen.guessed, chosen.solves_demos), (2, true));
    }

    #[test]
    fn fillers_where_there_are_no_guesses() {
        let one = choose(&[guess(1, 2, 90, 2)]);
        assert_eq!(one.attempts, [grid(1), Submission::filler()]);
        assert_eq!((one.guessed, one.solves_demos), (1, false));
        let none = choose(&[]);
        assert_eq!(none.attempts, [Submission::filler(), Submission::filler()]);
        assert_eq!((none.guessed, none.solves_demos), (0, false));
    }

    #[test]
    fn an_archived_score_that_disagrees_is_not_trusted() {
        let archived = Score {
            demos_solved: 3,
            demos: 3,
            closeness: Score::WHOLE,
            size: 4,
            cost: 1,
        };
        let now = score_now(&archived, 3, 3);
        assert_eq!((now.closeness, now.is_solved()), (Score::WHOLE, true));
        let now = score_now(&archived, 1, 4);
        assert_eq!((now.demos_solved, now.closeness, now.size), (1, 250_000, 4));
        assert!(!score_now(&archived, 0, 0).is_solved());
    }

    #[test]
    fn extreme_sizes_do_not_overflow() {
        let odd = [
            guess(2, 1, 0, u32::MAX),
            guess(1, 1, 0, 2),
            guess(3, 1, 1, u32::MAX),
        ];
        assert_eq!(colours(&odd), [3, 1, 2]);
    }
}
