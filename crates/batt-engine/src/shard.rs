//! Shards: parts of a run for several machines.
//!
//! Runs are dealt out in blocks of as many runs as there are parts, one run of a block to each
//! part. So the runs of an expensive solver or batt, which stand together, are in all parts. Each
//! block is rotated by a pseudo-random number. Without that, a part would always get the same pairs if the
//! number of pairs is a multiple of the number of parts, and its pairs might be the large ones.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One of several parts of a run, written `3/10`: the third of ten parts.
///
/// ```
/// use batt_engine::Shard;
///
/// let shard: Shard = "3/10".parse()?;
/// assert_eq!((shard.number(), shard.count(), shard.to_string()), (3, 10, "3/10".to_owned()));
/// assert_eq!(shard.runs_of(25).count(), shard.len(25));
/// assert!("11/10".parse::<Shard>().is_err());
/// # Ok::<(), batt_engine::ShardError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shard {
    count: NonZeroUsize,
    /// From 0, below `count`.
    index: usize,
}

/// A text or two numbers that are no [`Shard`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardError {
    /// The text is not two numbers.
    #[error("'{text}' is not a part such as 3/10")]
    Form {
        /// The text.
        text: String,
    },
    /// The number of the part is not from 1 to the number of parts.
    #[error("there is no part {number} of {count}; parts are numbered from 1")]
    NoSuchPart {
        /// The number of the part.
        number: usize,
        /// The number of parts.
        count: usize,
    },
}

impl ShardError {
    /// Returns what the user can do about the error.
    pub fn hint(&self) -> String {
        match self {
            ShardError::Form { .. } => "write the number of the part and of all parts".to_owned(),
            ShardError::NoSuchPart { count: 0, .. } => "make at least one part".to_owned(),
            ShardError::NoSuchPart { count, .. } => format!("name a part from 1/{count} on"),
        }
    }
}

impl Shard {
    /// The whole run: the only one of one part.
    pub const WHOLE: Shard = Shard {
        count: NonZeroUsize::MIN,
        index: 0,
    };

    /// Creates the part `number`, from 1, of `count` parts.
    pub fn new(number: usize, count: usize) -> Result<Shard, ShardError> {
        match (NonZeroUsize::new(count), number.checked_sub(1)) {
            (Some(count), Some(index)) if index < count.get() => Ok(Shard { count, index }),
            _ => Err(ShardError::NoSuchPart { number, count }),
        }
    }

    /// Returns all parts of a run, in order.
    pub fn all(count: NonZeroUsize) -> impl Iterator<Item = Shard> {
        (0..count.get()).map(move |index| Shard { count, index })
    }

    /// Returns the number of the part, from 1.
    pub fn number(self) -> usize {
        self.index + 1
    }

    /// Returns the number of parts.
    pub fn count(self) -> usize {
        self.count.get()
    }

    /// Returns whether this is the whole run.
    pub fn is_whole(self) -> bool {
        self == Shard::WHOLE
    }

    /// Returns how many of `total` runs belong to the part.
    pub fn len(self, total: usize) -> usize {
        let count = self.count();
        let (blocks, rest) = (total / count, total % count);
        blocks + usize::from(self.place_in(blocks) < rest)
    }

    /// Returns the number of a run among all runs. `at` is its position in the part.
    pub fn run(self, at: usize) -> usize {
        at * self.count() + self.place_in(at)
    }

    /// Returns the numbers of the runs that belong to the part, of `total` runs.
    pub fn runs_of(self, total: usize) -> impl Iterator<Item = usize> {
        (0..self.len(total)).map(move |at| self.run(at))
    }

    /// Returns the part to which a run belongs, of as many parts as this one is of.
    pub fn owner(self, run: usize) -> Shard {
        let (count, place) = (self.count(), run % self.count());
        let turn = rotation(run / count, count);
        // `place + count - turn` could overflow.
        let index = match place.checked_sub(turn) {
            Some(index) => index,
            None => place + (count - turn),
        };
        Shard { index, ..self }
    }

    /// Returns the position of the part's run in a block.
    fn place_in(self, block: usize) -> usize {
        let (count, turn) = (self.count(), rotation(block, self.count()));
        // `index + turn` could overflow.
        match self.index.checked_sub(count - turn) {
            Some(place) => place,
            None => self.index + turn,
        }
    }
}

/// Returns the number by which a block is rotated. Parts that were made on different machines must
/// fit together, so this depends on nothing else.
fn rotation(block: usize, count: usize) -> usize {
    // SplitMix64. Multiples of a fixed number would repeat with some numbers of pairs.
    let mut x = (block as u64)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    ((u128::from(x) * count as u128) >> 64) as usize
}

impl Default for Shard {
    fn default() -> Shard {
        Shard::WHOLE
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number(), self.count)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let number = |text: &str| {
            // `parse` would take a sign.
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| is_plain)
        };
        let halves = text.split_once('/');
        match halves.map(|(part, count)| (number(part), number(count))) {
            Some((Some(part), Some(count))) => Shard::new(part, count),
            _ => Err(ShardError::Form {
                text: text.to_owned(),
            }),
        }
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shard, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(count: usize) -> impl Iterator<Item = Shard> {
        Shard::all(NonZeroUsize::new(count).unwrap())
    }

    #[test]
    fn every_run_belongs_to_one_part() {
        for count in [1, 2, 3, 7, 10, 64, 1000] {
            for total in [0, 1, 2, 6, 7, 8, 63, 260, 999, 1000, 1001, 4096] {
                let mut owners = vec![None; total];
                for shard in shards(count) {
                    let runs: Vec<usize> = shard.runs_of(total).collect();
                    assert!(runs.is_sorted(), "{shard} of {total}");
                    for run in runs {
                        assert_eq!(owners[run], None, "run {run} of {total} in {count} parts");
                        owners[run] = Some(shard);
                        assert_eq!(Shard { index: 0, ..shard }.owner(run), shard);
                    }
                    // No part has more than one run more than another.
                    assert!(shard.len(total).abs_diff(total / count) <= 1);
                }
                assert!(
                    owners.iter().all(Option::is_some),
                    "{total} in {count} parts"
                );
            }
        }
        assert!(Shard::WHOLE.runs_of(5).eq(0..5));
        // Numbers as large as they get do not overflow.
        let first = Shard::new(1, usize::MAX).unwrap();
        let owner = first.owner(11);
        assert!(owner.runs_of(12).eq([11]) && first.len(0) == 0);
        assert_eq!(
            Shard::new(usize::MAX, usize::MAX).unwrap().len(usize::MAX),
            1
        );
    }

    /// Returns the cost of the most expensive part, compared with the mean.
    fn imbalance(count: usize, runs: usize, cost: impl Fn(usize) -> f64) -> f64 {
        let parts = shards(count).map(|shard| shard.runs_of(runs).map(&cost).sum::<f64>());
        let costs: Vec<f64> = parts.collect();
        let mean = costs.iter().sum::<f64>() / count as f64;
        costs.into_iter().fold(0.0, f64::max) / mean
    }

    /// One run in ten is on a large grid, the same for every solver, and takes 30 times as long.
    #[test]
    fn large_grids_are_in_all_parts() {
        for count in [2, 7, 10, 40] {
            for pairs in [9, 10, 11, 20, 70, 233, 260, 400, 1600] {
                let cost = |run: usize| if run % pairs % 10 == 3 { 30.0 } else { 1.0 };
                let most = imbalance(count, 400 * pairs, cost);
                // As even as if large grids were dealt out at random.
                let large = 400.0 * (pairs as f64 / 10.0).ceil();
                let deviation = (count as f64 / large).sqrt();
                assert!(
                    most < 1.0 + 3.5 * deviation,
                    "{pairs} pairs, {count} parts: {most:.2}"
                );
            }
        }
    }

    /// One solver of 400 takes as long as all others.
    #[test]
    fn an_expensive_solver_is_in_all_parts() {
        for count in [2, 7, 10, 40] {
            let cost = |run: usize| if run / 400 == 17 { 400.0 } else { 1.0 };
            let most = imbalance(count, 400 * 400, cost);
            assert!(most < 1.05, "{count} parts: {most:.2}");
        }
    }

    /// Parts that different versions make must fit together, or the version must differ.
    #[test]
    fn the_dealing_never_changes() {
        let dealt = |shard: &str| -> Vec<usize> {
            let shard: Shard = shard.parse().unwrap();
            shard.runs_of(12).collect()
        };
        assert_eq!(dealt("1/3"), [2, 4, 6, 11]);
        assert_eq!(dealt("2/3"), [0, 5, 7, 9]);
        assert_eq!(dealt("3/3"), [1, 3, 8, 10]);
    }

    #[test]
    fn texts_are_two_numbers() {
        let shard: Shard = "3/10".parse().unwrap();
        assert_eq!((shard.number(), shard.count()), (3, 10));
        assert_eq!(shard.to_string(), "3/10");
        assert_eq!("01/1".parse(), Ok(Shard::WHOLE));
        for bad in [
            "", "3", "/", "3/", "/3", "a/b", "-1/3", "+1/3", "1/3/3", "1 / 3", "1.0/3",
        ] {
            let error = bad.parse::<Shard>().unwrap_err();
            assert!(matches!(error, ShardError::Form { .. }), "{bad}: {error}");
        }
        for bad in ["0/3", "4/3", "1/0", "0/0"] {
            let error = bad.parse::<Shard>().unwrap_err();
            assert!(
                matches!(error, ShardError::NoSuchPart { .. }),
                "{bad}: {error}"
            );
        }
    }

    #[test]
    fn json_is_the_text() {
        let shard: Shard = "3/10".parse().unwrap();
        let json = serde_json::to_string(&shard).unwrap();
        assert_eq!(json, "\"3/10\"");
        assert_eq!(serde_json::from_str::<Shard>(&json).unwrap(), shard);
        assert!(serde_json::from_str::<Shard>("\"4/3\"").is_err());
    }
}
