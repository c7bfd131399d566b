//! Credit for kinds of mutation: the more a kind pays off, the more often it is tried.

use serde::{Deserialize, Serialize};

use crate::mutate::MutationKind;
use crate::random::Chance;

/// The shares in which kinds of mutation are tried, and the evidence for them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "StoredWeights")]
pub struct Weights {
    weights: Vec<f64>,
    /// The offspring and the credit of recent generations, by kind. Older generations count less.
    tried: Vec<f64>,
    paid: Vec<f64>,
    /// Whether the weights are fixed instead of adapted.
    fixed: bool,
}

/// The results of each kind of mutation over some generations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// Offspring that were better than the median of their population, by kind. A new best score of
    /// a population counts ten times.
    pub tried: [u64; MutationKind::ALL.len()],
    /// Credit earned, by kind. Offspring that are better than the median of their population earn
    /// one, and a new best of a task earns ten.
    pub paid: [u64; MutationKind::ALL.len()],
}

impl Credit {
    /// Adds the credit of other generations.
    pub fn add(&mut self, other: &Credit) {
        for k in 0..MutationKind::ALL.len() {
            self.tried[k] += other.tried[k];
            self.paid[k] += other.paid[k];
        }
    }
}

/// The factor by which the past is scaled down after each generation.
const DECAY: f64 = 0.9;

/// The share of all tries that follows the first weights, so that every kind keeps being tried.
const FIRST_SHARE: f64 = 0.4;

impl Default for Weights {
    fn default() -> Weights {
        Weights::new(MutationKind::ALL.map(MutationKind::first_weight), false)
    }
}

impl Weights {
    /// Creates weights by kind. Fixed weights do not adapt.
    pub fn new(weights: [f64; MutationKind::ALL.len()], fixed: bool) -> Weights {
        let total: f64 = weights.iter().sum();
        Weights {
            weights: weights.map(|w| w / total.max(f64::MIN_POSITIVE)).to_vec(),
            tried: vec![0.0; MutationKind::ALL.len()],
            paid: vec![0.0; MutationKind::ALL.len()],
            fixed,
        }
    }

    /// Returns the share of all tries that a kind gets.
    pub fn share(&self, kind: MutationKind) -> f64 {
        self.weights.get(kind.index()).copied().unwrap_or_default()
    }

    /// Returns the running sums of the weights, for [`choose`](Weights::choose).
    pub(crate) fn sums(&self) -> Vec<f64> {
        let mut sum = 0.0;
        let add = |weight: &f64| {
            sum += weight;
            sum
        };
        self.weights.iter().map(add).collect()
    }

    /// Chooses a kind with the probability of its weight.
    pub(crate) fn choose(sums: &[f64], chance: &mut Chance) -> MutationKind {
        let at = chance.weighted(sums).unwrap_or_default();
        MutationKind::ALL[at.min(MutationKind::ALL.len() - 1)]
    }

    /// Adapts the weights to the credit of a generation.
    pub fn learn(&mut self, credit: &Credit) {
        let count = MutationKind::ALL.len();
        for k in 0..count {
            self.tried[k] = self.tried[k] * DECAY + credit.tried[k] as f64;
            self.paid[k] = self.paid[k] * DECAY + credit.paid[k] as f64;
        }
        if self.fixed {
            return;
        }
        let all_tried: f64 = self.tried.iter().sum();
        let all_paid: f64 = self.paid.iter().sum();
        if all_tried == 0.0 || all_paid == 0.0 {
            return;
        }
        // A kind with few tries is assumed to pay as much as the average.
        let average = all_paid / all_tried;
        let caution = 10.0 / average;
        let rates: Vec<f64> = (0..count)
            .map(|k| (self.paid[k] + 10.0) / (self.tried[k] + caution))
            .collect();
        let total: f64 = rates.iter().sum();
        let first = Weights::default_shares();
        for k in 0..count {
            self.weights[k] = FIRST_SHARE * first[k] + (1.0 - FIRST_SHARE) * rates[k] / total;
        }
    }

    fn default_shares() -> [f64; MutationKind::ALL.len()] {
        let weights = MutationKind::ALL.map(MutationKind::first_weight);
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    }
}

/// The weights as a checkpoint stores them. A program with fewer or more kinds of mutation may have
/// written them.
#[derive(Deserialize)]
struct StoredWeights {
    weights: Vec<f64>,
    tried: Vec<f64>,
    paid: Vec<f64>,
    fixed: bool,
}

impl TryFrom<StoredWeights> for Weights {
    type Error = &'static str;

    /// Fits the weights to the kinds that this program has. A kind that is not stored gets its
    /// first share, or none if the weights are fixed. A kind that this program lacks is dropped.
    fn try_from(stored: StoredWeights) -> Result<Weights, &'static str> {
        let StoredWeights {
            mut weights,
            mut tried,
            mut paid,
            fixed,
        } = stored;
        let is_valid = |list: &[f64]| {
            let sum: f64 = list.iter().sum();
            sum.is_finite() && list.iter().all(|value| *value >= 0.0)
        };
        if ![&weights, &tried, &paid].into_iter().all(|l| is_valid(l)) {
            return Err("the weights contain a number that cannot be a weight");
        }
        let known = weights.len();
        if [tried.len(), paid.len()] != [known; 2] {
            return Err("the weights, the tries and the credit differ in length");
        }
        let count = MutationKind::ALL.len();
        if known < count {
            let first = Weights::default_shares();
            let share = |k: usize| if fixed { 0.0 } else { first[k] };
            weights.extend((known..count).map(share));
        }
        weights.truncate(count);
        tried.resize(count, 0.0);
        paid.resize(count, 0.0);
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Err("all weights are 0");
        }
        if known != count {
            weights.iter_mut().for_each(|weight| *weight /= total);
        }
        Ok(Weights {
            weights,
            tried,
            paid,
            fixed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_pay_off_are_tried_more() {
        let mut weights = Weights::default();
        let before = weights.share(MutationKind::Rewire);
        let mut credit = Credit {
            tried: [1_000; MutationKind::ALL.len()],
            ..Credit::default()
        };
        credit.paid[MutationKind::Rewire.index()] = 100;
        weights.learn(&credit);
        assert!(weights.share(MutationKind::Rewire) > 2.0 * before);
        for kind in MutationKind::ALL {
            assert!(weights.share(kind) > 0.0, "{kind:?}");
        }
        let total: f64 = MutationKind::ALL
            .into_iter()
            .map(|kind| weights.share(kind))
            .sum();
        assert!((total - 1.0).abs() < 1e-9);
    }

    #[test]
    fn fixed_weights_stay() {
        let mut only = [0.0; MutationKind::ALL.len()];
        only[MutationKind::Op.index()] = 3.0;
        let mut weights = Weights::new(only, true);
        let credit = Credit {
            tried: [10; MutationKind::ALL.len()],
            paid: [5; MutationKind::ALL.len()],
        };
        weights.learn(&credit);
        assert_eq!(weights.share(MutationKind::Op), 1.0);
        let mut chance = Chance::new(&[1]);
        assert_eq!(
            Weights::choose(&weights.sums(), &mut chance),
            MutationKind::Op
        );
    }

    /// Reads weights in which each list has some number of entries.
    fn stored(lengths: [usize; 3], value: f64, fixed: bool) -> Result<Weights, String> {
        let [weights, tried, paid] = lengths.map(|length| vec![value; length]);
        let stored = serde_json::json!({
            "weights": weights, "tried": tried, "paid": paid, "fixed": fixed,
        });
        serde_json::from_value(stored).map_err(|error| error.to_string())
    }

    #[test]
    fn stored_weights_fit_the_kinds_of_this_program() {
        let count = MutationKind::ALL.len();
        let credit = Credit {
            tried: [10; MutationKind::ALL.len()],
            paid: [5; MutationKind::ALL.len()],
        };
        for fixed in [false, true] {
            for known in [1, count - 1, count, count + 1, 3 * count] {
                let mut weights = stored([known; 3], 0.5, fixed).unwrap();
                for _ in 0..2 {
                    let shares = MutationKind::ALL.map(|kind| weights.share(kind));
                    let total: f64 = shares.iter().sum();
                    assert!(
                        known == count || (total - 1.0).abs() < 1e-9,
                        "{known}: {total}"
                    );
                    for (k, share) in shares.into_iter().enumerate() {
                        assert_eq!(share > 0.0, !fixed || k < known, "{known}, kind {k}");
                    }
                    weights.learn(&credit);
                }
            }
        }
    }

    #[test]
    fn damaged_weights_are_an_error() {
        let count = MutationKind::ALL.len();
        for (lengths, value) in [
            ([count, count - 1, count], 0.5),
            ([count, count, 0], 0.5),
            ([0, count, count], 0.5),
            ([count; 3], -0.5),
            ([count; 3], 0.0),
            ([count; 3], f64::MAX),
        ] {
            assert!(
                stored(lengths, value, false).is_err(),
                "{lengths:?} of {value}"
            );
        }
        assert!(stored([0; 3], 0.5, true).is_err());
    }
}
