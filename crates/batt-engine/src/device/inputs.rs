//! What jobs are run on, as words: grids, demonstrations, and the lists of parameters that name them.

use std::collections::HashMap;

use batt_arc::{Grid, Pair};
use batt_dsl::{Dialect, Outcome, OwnedValue, Workspace};

use super::bytecode::next_id;
use super::wire::{self, NOTHING};
use crate::sample::{Role, Sample};

/// Inputs for the device, one after the other.
pub struct Inputs {
    words: Vec<u32>,
    id: u64,
    workspace: Workspace,
}

/// A sample among the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleAt {
    /// The demonstrations; [`NOTHING`] if they were not wanted.
    pub demos: u32,
    /// The input grid.
    pub input: u32,
    /// The expected grid, [`NOTHING`] if it is not known.
    pub expected: u32,
    /// The list of `S`, `I` and no `C`; the list of `I` alone is one word behind.
    solve: u32,
    /// The list of `S`, `I` and `C`.
    compare: u32,
}

impl SampleAt {
    /// The list of a batt's parameters while it solves.
    pub fn solve(&self) -> u32 {
        self.solve
    }

    /// The list of a batt's parameters while it compares.
    pub fn compare(&self) -> u32 {
        self.compare
    }

    /// The list of the input grid alone.
    pub fn input_alone(&self) -> u32 {
        self.solve + 1
    }
}

impl Default for Inputs {
    fn default() -> Inputs {
        Inputs::new()
    }
}

impl Inputs {
    /// No inputs yet.
    pub fn new() -> Inputs {
        Inputs {
            words: Vec::new(),
            id: next_id(),
            workspace: Workspace::new(),
        }
    }

    /// All words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// A number that no other words of inputs have.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Adds the samples of tasks. Those of one task share the demonstrations, which are only sent if somebody
    /// wants them.
    pub fn push_samples(&mut self, samples: &[Sample<'_>], demos: bool) -> Vec<SampleAt> {
        let mut known: HashMap<*const [Pair], u32> = HashMap::new();
        let mut places = Vec::with_capacity(samples.len());
        for sample in samples {
            let demos = match demos {
                true => *known
                    .entry(sample.demos)
                    .or_insert_with(|| self.push_demos(sample.demos)),
                false => NOTHING,
            };
            let input = self.push_grid(sample.input);
            let expected = sample.expected.map_or(NOTHING, |grid| self.push_grid(grid));
            places.push(SampleAt {
                demos,
                input,
                expected,
                solve: self.push_list(&[demos, input, NOTHING]),
                compare: self.push_list(&[demos, input, expected]),
            });
        }
        places
    }

    /// Adds a grid; gives its place.
    pub fn push_grid(&mut self, grid: &Grid) -> u32 {
        let at = self.next();
        wire::encode_grid(grid, &mut self.words);
        at
    }

    /// Adds demonstrations; gives their place.
    pub fn push_demos(&mut self, demos: &[Pair]) -> u32 {
        let at = self.next();
        wire::encode_demos(demos, &mut self.words);
        at
    }

    /// Adds a value; gives its place. A set is built by inserting its elements in the order given.
    pub fn push_value(&mut self, value: &OwnedValue, dialect: Dialect) -> Outcome<u32> {
        if *value == OwnedValue::None {
            return Ok(NOTHING);
        }
        let at = self.next();
        let done = wire::encode_owned(&mut self.workspace, dialect, value, &mut self.words);
        if done.is_err() {
            self.words.truncate(at as usize);
        }
        done.map(|()| at)
    }

    /// Adds a list of parameters by their places; gives its own.
    pub fn push_list(&mut self, places: &[u32]) -> u32 {
        let at = self.next();
        self.words.extend_from_slice(places);
        at
    }

    /// The list of parameters of a program with these roles. The usual ones are there already.
    pub fn list_of(&mut self, roles: &[Role], sample: &SampleAt) -> u32 {
        match roles {
            [Role::Input] => sample.input_alone(),
            [Role::Samples, Role::Input, Role::Comparison] | [Role::Samples, Role::Input] => {
                sample.solve
            }
            _ => {
                let place = |role: &Role| match role {
                    Role::Samples => sample.demos,
                    Role::Input => sample.input,
                    Role::Comparison => NOTHING,
                };
                let places: Vec<u32> = roles.iter().map(place).collect();
                self.push_list(&places)
            }
        }
    }

    /// Where the next word comes; from now on they are other words than before.
    fn next(&mut self) -> u32 {
        self.id = next_id();
        // Four billion words are more than any card has room for: a launch of so many fails before it is sent.
        u32::try_from(self.words.len()).unwrap_or(NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_share_demonstrations() {
        let grid = |cell: u8| Grid::from_rows(&[[cell, 0, 0]]).expect("a grid");
        let demos = vec![
            Pair {
                input: grid(1),
                output: Some(grid(2)),
            },
            Pair {
                input: grid(3),
                output: None,
            },
        ];
        let input = grid(4);
        let sample = |expected| Sample {
            demos: &demos,
            input: &input,
            expected,
        };
        let mut inputs = Inputs::new();
        let expected = grid(5);
        let places = inputs.push_samples(&[sample(None), sample(Some(&expected))], true);
        let words = inputs.words();
        assert_eq!(words[..4], [8, 1, 8, 2]);
        assert_eq!(words[4..12], [7, 1, 3, 1, 7, 1, 3, 2]);
        let [first, second] = places[..] else {
            panic!("two samples")
        };
        assert_eq!((first.demos, second.demos), (0, 0));
        assert_eq!((first.input, first.expected), (12, NOTHING));
        let list = |at: u32, len: usize| &words[at as usize..at as usize + len];
        assert_eq!(list(first.solve(), 3), [0, 12, NOTHING]);
        assert_eq!(list(first.input_alone(), 1), [12]);
        assert_eq!(
            list(second.compare(), 3),
            [0, second.input, second.expected]
        );
        assert_eq!(list(second.expected, 4), [7, 1, 3, 5]);
        let before = inputs.id();
        let roles = [Role::Comparison, Role::Input];
        let list = inputs.list_of(&roles, &second);
        assert_eq!(inputs.words()[list as usize..], [NOTHING, second.input]);
        assert_ne!(inputs.id(), before);
    }
}
