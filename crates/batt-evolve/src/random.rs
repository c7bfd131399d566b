//! Reproducible random choices.

use batt_lang::SplitMix64;

/// A source of random choices, determined by its seed.
pub(crate) struct Chance(SplitMix64);

impl Chance {
    /// Creates a source for one purpose, which is identified by numbers. Choices for one purpose do
    /// not depend on those for others.
    pub fn new(purpose: &[u64]) -> Chance {
        let seed = purpose.iter().fold(0, |seed, &number| {
            SplitMix64::new(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93)).number()
        });
        Chance(SplitMix64::new(seed))
    }

    /// Returns a number below `n`, or 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        match n {
            0 | 1 => 0,
            n => self.0.below(n as u64) as usize,
        }
    }

    /// Returns a number below `n`, with a preference for low numbers: half of all results are in
    /// the lowest quarter.
    pub fn low(&mut self, n: usize) -> usize {
        let u = self.unit();
        ((u * u * n as f64) as usize).min(n.saturating_sub(1))
    }

    /// Returns `true` with this probability.
    pub fn is(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns one of some items, each with the same probability.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// Returns a position with a probability proportional to its weight. `sums` are the running
    /// sums of the weights.
    pub fn weighted(&mut self, sums: &[f64]) -> Option<usize> {
        let total = *sums.last()?;
        let at = self.unit() * total;
        Some(sums.partition_point(|&sum| sum <= at).min(sums.len() - 1))
    }

    /// Returns a number from 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.0.number() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_have_their_own_choices() {
        let first = |purpose: &[u64]| Chance::new(purpose).below(1 << 30);
        assert_eq!(first(&[1, 2, 3]), first(&[1, 2, 3]));
        assert_ne!(first(&[1, 2, 3]), first(&[1, 2, 4]));
        assert_ne!(first(&[1, 2, 3]), first(&[2, 1, 3]));
    }

    #[test]
    fn weights_count() {
        let mut chance = Chance::new(&[7]);
        let mut hits = [0; 3];
        for _ in 0..10_000 {
            hits[chance.weighted(&[1.0, 1.0, 4.0]).expect("three")] += 1;
        }
        assert_eq!(hits[1], 0);
        assert!((2_200..2_800).contains(&hits[0]), "{hits:?}");
        assert_eq!(chance.weighted(&[]), None);
    }
}
