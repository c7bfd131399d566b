//! Selection: picks some of many solvers at random, repeatably.

use super::CardDonor;
use crate::random::SplitMix64;

/// The reason why solvers cannot be picked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// There are fewer solvers than requested.
    #[error("{wanted} solvers requested, but there {}", there_are(*found))]
    TooFew {
        /// The requested number.
        wanted: usize,
        /// The available number.
        found: usize,
    },
    /// No solver has this id.
    #[error("no solver for task '{task}'")]
    NoSuchTask {
        /// The id.
        task: String,
    },
}

fn there_are(found: usize) -> String {
    match found {
        0 => "are none".to_owned(),
        1 => "is only one".to_owned(),
        n => format!("are only {n}"),
    }
}

/// Picks a uniform random sample of `count` solvers, or all of them, from all donors or from those
/// of one task. The picked solvers keep their order.
///
/// The same seed picks the same positions in every version. Candidates are shuffled from the front
/// (Fisher and Yates) as far as needed, with SplitMix64 started at the seed. Each number below *n*
/// is the high word of the 128-bit product of one output and *n*; biased outputs are skipped
/// (Lemire).
pub fn select<'p>(
    donors: &[CardDonor<'p>],
    count: Option<usize>,
    task: Option<&str>,
    seed: u64,
) -> Result<Vec<CardDonor<'p>>, SelectError> {
    let mut picked: Vec<usize> = (0..donors.len()).collect();
    if let Some(task) = task {
        picked.retain(|&k| donors[k].id == task);
        if picked.is_empty() {
            let task = task.to_owned();
            return Err(SelectError::NoSuchTask { task });
        }
    }
    if let Some(wanted) = count {
        let found = picked.len();
        if wanted > found {
            return Err(SelectError::TooFew { wanted, found });
        }
        let mut random = SplitMix64::new(seed);
        for k in 0..wanted {
            let other = k + random.below((found - k) as u64) as usize;
            picked.swap(k, other);
        }
        picked.truncate(wanted);
        picked.sort_unstable();
    }
    Ok(picked.into_iter().map(|k| donors[k].clone()).collect())
}

#[cfg(test)]
mod tests {
    use crate::ProgramBuilder;

    use super::*;

    fn with_donors<T>(count: usize, test: impl FnOnce(&[CardDonor]) -> T) -> T {
        let builder = ProgramBuilder::new("f", ["I"]);
        let input = builder.param(0);
        let program = builder.finish(input);
        let donors: Vec<CardDonor> = (0..count)
            .map(|k| CardDonor {
                id: format!("d{k}"),
                program: &program,
                size: None,
                mutated: false,
            })
            .collect();
        test(&donors)
    }

    fn ids(donors: &[CardDonor]) -> Vec<String> {
        donors.iter().map(|d| d.id.clone()).collect()
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.number(), 6_457_827_717_110_365_317);
        assert_eq!(random.number(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn a_seed_always_picks_the_same() {
        with_donors(100, |donors| {
            let pick = |seed| ids(&select(donors, Some(5), None, seed).expect("enough"));
            assert_eq!(pick(7), pick(7));
            assert_ne!(pick(7), pick(8));
            assert_eq!(pick(42), ["d7", "d16", "d29", "d36", "d74"]);
        });
    }

    #[test]
    fn every_donor_is_equally_likely() {
        with_donors(10, |donors| {
            let mut hits = [0; 10];
            for seed in 0..2000 {
                for donor in select(donors, Some(3), None, seed).expect("enough") {
                    hits[donor.id[1..].parse::<usize>().expect("a number")] += 1;
                }
            }
            // 600 expected; the deviation is about 20.
            assert!(hits.iter().all(|h| (500..700).contains(h)), "{hits:?}");
        });
    }

    #[test]
    fn selection_by_task_and_by_count() {
        with_donors(3, |donors| {
            let all = select(donors, None, None, 0).expect("all");
            assert_eq!(ids(&all), ["d0", "d1", "d2"]);
            let one = select(donors, None, Some("d1"), 0).expect("one");
            assert_eq!(ids(&one), ["d1"]);
            let text =
                |r: Result<Vec<CardDonor>, SelectError>| r.expect_err("an error").to_string();
            assert_eq!(
                text(select(donors, Some(4), None, 0)),
                "4 solvers requested, but there are only 3"
            );
            assert_eq!(
                text(select(donors, Some(2), Some("d1"), 0)),
                "2 solvers requested, but there is only one"
            );
            assert_eq!(
                text(select(donors, None, Some("x"), 0)),
                "no solver for task 'x'"
            );
        });
    }
}
