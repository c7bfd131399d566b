//! What jobs are run on, as words: grids, demonstrations, and the lists of parameters that name them.

use std::collections::HashMap;

use batt_arc::{Grid, Pair};
use batt_dsl::{Dialect, Outcome, OwnedValue, Workspace};

use super::bytecode::next_id;
use super::wire::{self, NOTHING};
use crate::sample::{ParamRole, Sample};

/// Inputs for the device, one after the other.
pub struct Inputs {
    words: Vec<u32>,
    id: u64,
}

/// What a parameter of a program is given of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobParam {
    /// The demonstrations.
    Demos,
    /// The input grid.
    Input,
    /// The expected grid.
    Expected,
    /// `None`.
    Nothing,
}

impl From<ParamRole> for JobParam {
    /// What a program is given while it solves.
    fn from(role: ParamRole) -> JobParam {
        match role {
            ParamRole::Samples => JobParam::Demos,
            ParamRole::Input => JobParam::Input,
            ParamRole::Comparison => JobParam::Nothing,
        }
    }
}

/// The lists of parameters that the programs of a batch take. Every sample has all of them.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    params: Vec<JobParam>,
    known: HashMap<Vec<JobParam>, Shape>,
}

/// A list of parameters among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(u32);

impl Shapes {
    /// The list of these parameters.
    pub fn add(&mut self, params: &[JobParam]) -> Shape {
        if let Some(shape) = self.known.get(params) {
            return *shape;
        }
        let shape = Shape(self.params.len() as u32);
        self.params.extend_from_slice(params);
        self.known.insert(params.to_vec(), shape);
        shape
    }
}

/// A sample among the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleAt {
    /// The expected grid, [`NOTHING`] if it is not known.
    pub expected: u32,
    lists: u32,
}

impl SampleAt {
    /// The parameters of a program that takes this list.
    pub fn params(&self, shape: Shape) -> u32 {
        self.lists + shape.0
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

    /// Adds samples with lists of parameters. Those of one task share the demonstrations, which are only sent if
    /// somebody wants them.
    pub fn push_samples<'s>(
        &mut self,
        samples: impl IntoIterator<Item = &'s Sample<'s>>,
        shapes: &Shapes,
    ) -> Vec<SampleAt> {
        let mut known: HashMap<*const [Pair], u32> = HashMap::new();
        let wanted = shapes.params.contains(&JobParam::Demos);
        let mut places = Vec::new();
        for sample in samples {
            let demos = match wanted {
                true => *known
                    .entry(sample.demos)
                    .or_insert_with(|| self.push_demos(sample.demos)),
                false => NOTHING,
            };
            let input = self.push_grid(sample.input);
            let expected = sample.expected.map_or(NOTHING, |grid| self.push_grid(grid));
            let place = |param: &JobParam| match param {
                JobParam::Demos => demos,
                JobParam::Input => input,
                JobParam::Expected => expected,
                JobParam::Nothing => NOTHING,
            };
            let lists: Vec<u32> = shapes.params.iter().map(place).collect();
            places.push(SampleAt {
                expected,
                lists: self.push_list(&lists),
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

    /// Adds a value, which is made in a workspace; gives its place. A set is built by inserting its elements in the
    /// order given.
    pub fn push_value(
        &mut self,
        workspace: &mut Workspace,
        dialect: Dialect,
        value: &OwnedValue,
    ) -> Outcome<u32> {
        if *value == OwnedValue::None {
            return Ok(NOTHING);
        }
        let at = self.next();
        let done = wire::encode_owned(workspace, dialect, value, &mut self.words);
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

    /// Where the next word comes; from now on they are other words than before.
    fn next(&mut self) -> u32 {
        self.id = next_id();
        // Four billion words are more than any device has room for: a launch of so many fails before it is sent.
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
        let mut shapes = Shapes::default();
        let alone = shapes.add(&[JobParam::Input]);
        let compare = shapes.add(&[JobParam::Demos, JobParam::Input, JobParam::Expected]);
        assert_eq!(shapes.add(&[JobParam::Input]), alone);
        let mut inputs = Inputs::new();
        let expected = grid(5);
        let samples = [sample(None), sample(Some(&expected))];
        let places = inputs.push_samples(&samples, &shapes);
        let words = inputs.words();
        assert_eq!(words[..4], [8, 1, 8, 2]);
        assert_eq!(words[4..12], [7, 1, 3, 1, 7, 1, 3, 2]);
        let [first, second] = places[..] else {
            panic!("two samples")
        };
        let list = |at: u32, len: usize| &words[at as usize..at as usize + len];
        assert_eq!(first.expected, NOTHING);
        assert_eq!(list(first.params(alone), 1), [12]);
        assert_eq!(list(first.params(compare), 3), [0, 12, NOTHING]);
        assert_eq!(list(second.params(compare), 3), [0, 20, second.expected]);
        assert_eq!(list(second.expected, 4), [7, 1, 3, 5]);
    }

    #[test]
    fn demonstrations_that_nobody_wants_are_not_sent() {
        let input = Grid::from_rows(&[[1]]).expect("a grid");
        let demos = vec![Pair {
            input: input.clone(),
            output: Some(input.clone()),
        }];
        let sample = Sample {
            demos: &demos,
            input: &input,
            expected: None,
        };
        let mut shapes = Shapes::default();
        shapes.add(&[JobParam::Nothing, JobParam::Input]);
        let mut inputs = Inputs::new();
        let before = inputs.id();
        inputs.push_samples(&[sample], &shapes);
        assert_eq!(inputs.words(), [7, 1, 1, 1, NOTHING, 0]);
        assert_ne!(inputs.id(), before);
    }
}
