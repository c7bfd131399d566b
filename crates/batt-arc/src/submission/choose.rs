//! Which two answers to give, of all that solvers came to.
//!
//! Solvers that come to the same grid stand for it together. Grids are ranked
//!
//! 1. by how many demonstrations their best solver solves,
//! 2. by how close it comes on the others,
//! 3. by the votes of the solvers that solve as many demonstrations as the best one. A vote weighs the
//!    more the simpler the solver is: a rule of few steps that explains the demonstrations is
//!    less likely to do so by accident. A solver of `n` steps has the weight `1 / (1 + n)`, so that one of
//!    3 steps outweighs one of 7, and two of 7 make up for it.
//!
//! Then by size, then by the cells: the choice never depends on the order of the guesses.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Attempts, Submission};
use crate::Grid;

/// How good a solver is on the demonstrations of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// How many demonstrations it solves.
    pub demos_solved: usize,
    /// How many there are.
    pub demos: usize,
    /// How close it comes on all of them, in parts per million.
    pub closeness: u32,
    /// How many steps it has.
    pub size: usize,
}

/// What a solver makes of a test input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// Its output.
    pub output: Grid,
    /// How good it is on the demonstrations.
    pub standing: Standing,
}

/// An output, and what speaks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<'g> {
    /// The output.
    pub output: &'g Grid,
    /// The best of its solvers.
    pub best: Standing,
    /// How many solvers come to it, good and bad.
    pub solvers: usize,
    /// The votes of those that solve as many demonstrations as the best: a whole vote is a million.
    pub votes: u64,
}

/// The answers to give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The attempts, the better one first.
    pub attempts: Attempts,
    /// How many of them are guesses; the others are fillers.
    pub guessed: usize,
    /// Does the first one come from a solver that solves all demonstrations?
    pub solves_demos: bool,
}

/// The best two of some guesses; fillers where there are fewer.
pub fn choose(guesses: &[Guess]) -> Chosen {
    let ranked = rank(guesses);
    let attempt = |at: usize| match ranked.get(at) {
        Some(choice) => choice.output.clone(),
        None => Submission::filler(),
    };
    Chosen {
        attempts: std::array::from_fn(attempt),
        guessed: ranked.len().min(super::ATTEMPTS),
        solves_demos: ranked.first().is_some_and(|first| first.best.is_complete()),
    }
}

/// The different outputs among some guesses, best first.
pub fn rank(guesses: &[Guess]) -> Vec<Choice<'_>> {
    let mut choices: BTreeMap<&Grid, Choice<'_>> = BTreeMap::new();
    for Guess { output, standing } in guesses {
        let choice = choices.entry(output).or_insert(Choice {
            output,
            best: *standing,
            solvers: 0,
            votes: 0,
        });
        choice.solvers += 1;
        if choice.best.demos_solved < standing.demos_solved {
            // Those who voted so far are not good enough any more.
            choice.votes = 0;
        }
        if choice.best.demos_solved <= standing.demos_solved {
            choice.votes += standing.vote();
        }
        if standing.key() > choice.best.key() {
            choice.best = *standing;
        }
    }
    let mut ranked: Vec<Choice<'_>> = choices.into_values().collect();
    // The map was sorted by cells, and sorting keeps that order among equals.
    ranked.sort_by_key(|choice| {
        let (solved, closeness, size) = choice.best.key();
        Reverse((solved, closeness, choice.votes, size))
    });
    ranked
}

/// A whole vote.
const VOTE: u64 = 1_000_000;

impl Standing {
    /// Does it solve all demonstrations?
    pub fn is_complete(&self) -> bool {
        self.demos > 0 && self.demos_solved >= self.demos
    }

    /// The larger the better.
    fn key(&self) -> (usize, u32, Reverse<usize>) {
        (self.demos_solved, self.closeness, Reverse(self.size))
    }

    fn vote(&self) -> u64 {
        VOTE / (self.size as u64).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(colour: u8) -> Grid {
        Grid::from_rows(&[[colour]]).unwrap()
    }

    /// A solver that makes this colour, solves so many of three demonstrations, and has so many steps.
    fn guess(colour: u8, demos_solved: usize, percent: u32, size: usize) -> Guess {
        Guess {
            output: grid(colour),
            standing: Standing {
                demos_solved,
                demos: 3,
                closeness: percent * 10_000,
                size,
            },
        }
    }

    fn colours(guesses: &[Guess]) -> Vec<u8> {
        let first = |choice: &Choice<'_>| choice.output.cells()[0];
        let ranked: Vec<u8> = rank(guesses).iter().map(first).collect();
        // Never by the order of the guesses.
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
        // However close, simple and many the others are.
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
        // As many votes: the smallest solver decides.
        let even = [
            guess(2, 3, 100, 3),
            guess(1, 3, 100, 7),
            guess(1, 3, 100, 7),
        ];
        assert_eq!(colours(&even), [2, 1]);
        // Nothing to tell them apart but the cells.
        assert_eq!(colours(&[guess(4, 3, 100, 3), guess(3, 3, 100, 3)]), [3, 4]);
    }

    #[test]
    fn those_who_solve_less_have_no_vote() {
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
    fn odd_numbers_do_no_harm() {
        let odd = [
            guess(2, 1, 0, usize::MAX),
            guess(1, 1, 0, 2),
            guess(3, 1, 1, usize::MAX),
        ];
        assert_eq!(colours(&odd), [3, 1, 2]);
        let nothing_to_solve = Standing {
            demos_solved: 0,
            demos: 0,
            closeness: 0,
            size: 0,
        };
        assert!(!nothing_to_solve.is_complete());
    }
}
