//! Tasks, the pairs inside them, and how a pair is named.

use std::fmt;
use std::str::FromStr;

use crate::Grid;
use crate::dataset::Fnv;

/// One example: an input and, if it is known, its output.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The grid passed to a solver.
    pub input: Grid,
    /// The grid that the solver should return; absent in the test pairs of a competition file.
    pub output: Option<Grid>,
}

/// An ARC puzzle: demonstrations and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The id: the stem of the task file, or the key in a Kaggle file.
    pub id: String,
    /// A title, if the file has one.
    pub name: Option<String>,
    /// The rule in words, if the file has it.
    pub description: Option<String>,
    /// The demonstrations. Every one has an output.
    pub train: Vec<Pair>,
    /// The tests. Empty for a bare list of pairs.
    pub test: Vec<Pair>,
}

/// The two lists of pairs of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Split {
    /// The demonstrations.
    Train,
    /// The tests.
    Test,
}

/// The name of a pair inside its task, written `train[0]` or `test[1]`. Parsing also accepts
/// `train:0` and `test:1`, the form of the command line.
///
/// ```
/// use batt_arc::{PairRef, Split};
///
/// let pair: PairRef = "test[1]".parse()?;
/// assert_eq!(pair, PairRef { split: Split::Test, index: 1 });
/// assert_eq!(pair.to_string(), "test[1]");
/// assert_eq!("test:1".parse(), Ok(pair));
/// # Ok::<(), batt_arc::PairRefError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairRef {
    /// The list.
    pub split: Split,
    /// The position in it, from 0.
    pub index: usize,
}

/// The error for a text that does not name a pair.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a pair: write train:0 or test[1]")]
pub struct PairRefError {
    text: String,
}

impl Task {
    /// Returns the pair of this name, if the task has it.
    pub fn pair(&self, pair: PairRef) -> Option<&Pair> {
        match pair.split {
            Split::Train => self.train.get(pair.index),
            Split::Test => self.test.get(pair.index),
        }
    }

    /// Iterates over all pairs with their names: the demonstrations, then the tests.
    pub fn pairs(&self) -> impl Iterator<Item = (PairRef, &Pair)> {
        let named = |split| move |(index, pair)| (PairRef { split, index }, pair);
        let train = self.train.iter().enumerate().map(named(Split::Train));
        let test = self.test.iter().enumerate().map(named(Split::Test));
        train.chain(test)
    }

    /// Returns a hash of what a solver may see: the demonstrations and the inputs of the tests. The
    /// id and the outputs of the tests do not count, so a search can store results under this hash
    /// without knowing the answers.
    ///
    /// Published copies of a task sometimes differ, and a score is valid for one copy. The hash is
    /// the same in every version and on every machine. It is not cryptographic.
    pub fn content_hash(&self) -> u64 {
        let mut hash = Fnv::new();
        hash.length(self.train.len());
        for pair in &self.train {
            hash.grid(Some(&pair.input));
            hash.grid(pair.output.as_ref());
        }
        hash.length(self.test.len());
        for pair in &self.test {
            hash.grid(Some(&pair.input));
        }
        hash.0
    }

    /// The number of pairs in both lists.
    pub fn pair_count(&self) -> usize {
        self.train.len() + self.test.len()
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Split::Train => "train",
            Split::Test => "test",
        })
    }
}

impl fmt::Display for PairRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.split, self.index)
    }
}

impl FromStr for PairRef {
    type Err = PairRefError;

    fn from_str(text: &str) -> Result<PairRef, PairRefError> {
        let parse = || {
            let (list, digits) = match text.split_once(':') {
                Some(parts) => parts,
                None => text.strip_suffix(']')?.split_once('[')?,
            };
            let split = match list {
                "train" => Split::Train,
                "test" => Split::Test,
                _ => return None,
            };
            // `usize::from_str` would also take "+1".
            let index = digits
                .bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| digits.parse().ok())??;
            Some(PairRef { split, index })
        };
        parse().ok_or_else(|| PairRefError {
            text: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(colour: u8) -> Pair {
        Pair {
            input: Grid::from_rows(&[[colour]]).unwrap(),
            output: None,
        }
    }

    #[test]
    fn pairs_are_named_in_order() {
        let task = Task {
            id: "t".into(),
            name: None,
            description: None,
            train: vec![pair(0), pair(1)],
            test: vec![pair(2)],
        };
        let names: Vec<String> = task.pairs().map(|(name, _)| name.to_string()).collect();
        assert_eq!(names, ["train[0]", "train[1]", "test[0]"]);
        assert_eq!(task.pair_count(), 3);
        for (name, pair) in task.pairs() {
            assert_eq!(task.pair(name), Some(pair));
        }
        assert_eq!(task.pair("test[1]".parse().unwrap()), None);
    }

    #[test]
    fn the_hash_covers_everything_a_solver_may_see() {
        let base = Task {
            id: "t".into(),
            name: None,
            description: None,
            train: vec![Pair {
                output: Some(pair(1).input),
                ..pair(0)
            }],
            test: vec![pair(2)],
        };
        let changed = |change: &dyn Fn(&mut Task)| {
            let mut task = base.clone();
            change(&mut task);
            task.content_hash() != base.content_hash()
        };
        assert!(changed(&|task| task.train[0].input = pair(5).input));
        assert!(changed(&|task| task.train[0].output = Some(pair(5).input)));
        assert!(changed(&|task| task.test[0].input = pair(5).input));
        assert!(changed(&|task| task.test.push(pair(2))));
        assert!(changed(&|task| task.train.extend(task.train.clone())));
        assert!(!changed(&|task| task.test[0].output = Some(pair(5).input)));
        assert!(!changed(&|task| task.id = "u".into()));
        // Pinned: stored scores are found by this hash.
        assert_eq!(base.content_hash(), 0xfa20_1b00_afc6_2502);
    }

    #[test]
    fn odd_names_are_refused() {
        for text in [
            "",
            "train",
            "train[]",
            "train[-1]",
            "train[+1]",
            "eval[0]",
            "test[0",
            "test[0]x",
            "test[:0]",
            "test:",
            "test:0]",
            "test::0",
            "test:+1",
            "eval:0",
            ":0",
        ] {
            assert!(text.parse::<PairRef>().is_err(), "{text}");
        }
        let error = "train".parse::<PairRef>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"train\" is not a pair: write train:0 or test[1]"
        );
    }
}
