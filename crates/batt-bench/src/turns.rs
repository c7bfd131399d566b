//! Sides of a comparison take turns on every sample, so that a busy machine disturbs all alike.

use std::time::{Duration, Instant};

use crate::interrupt;
use batt_reference::median;

/// More rounds do not improve the median.
const ROUNDS: usize = 15;

/// The times of each side.
pub struct Times {
    /// Rounds that were measured.
    pub rounds: usize,
    /// Microseconds by side and sample, the median over the rounds.
    micros: Vec<Vec<f64>>,
}

/// Runs a side on the sample of a number.
pub type Side<'s> = Box<dyn FnMut(usize) + 's>;

/// Runs the sides in turns on as many samples as fit the time, at least one. `first` runs on each of
/// them before anything is timed; it warms up and compares results.
pub fn take_turns(
    samples: usize,
    time: Duration,
    mut first: impl FnMut(usize),
    sides: &mut [Side<'_>],
) -> Times {
    let started = Instant::now();
    let mut chosen = 0;
    while chosen < samples && (chosen == 0 || started.elapsed() < time / 4) {
        first(chosen);
        chosen += 1;
        if interrupt::happened() {
            break;
        }
    }
    // The times of each side, sample by sample.
    let mut all = vec![vec![Vec::new(); sides.len()]; chosen];
    let mut rounds = 0;
    let mut longest = Duration::ZERO;
    while rounds < ROUNDS
        && (rounds == 0 || started.elapsed() + longest <= time)
        && !(rounds > 0 && interrupt::happened())
    {
        let round = Instant::now();
        for (sample, times) in all.iter_mut().enumerate() {
            for turn in 0..sides.len() {
                // Sides take turns in going first, since the first may find cold caches.
                let side = (turn + rounds) % sides.len();
                let start = Instant::now();
                sides[side](sample);
                times[side].push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
        longest = longest.max(round.elapsed());
        rounds += 1;
    }
    let mut medians = |side: usize| {
        all.iter_mut()
            .map(|times| median(&mut times[side]))
            .collect()
    };
    Times {
        rounds,
        micros: (0..sides.len()).map(&mut medians).collect(),
    }
}

impl Times {
    /// Samples that were measured.
    pub fn samples(&self) -> usize {
        self.micros.first().map_or(0, Vec::len)
    }

    /// Microseconds of all samples.
    pub fn total(&self, side: usize) -> f64 {
        self.micros[side].iter().sum()
    }

    /// Microseconds of the mean sample.
    pub fn mean(&self, side: usize) -> f64 {
        self.total(side) / self.samples().max(1) as f64
    }

    /// Microseconds of the median sample.
    pub fn median(&self, side: usize) -> f64 {
        median(&mut self.micros[side].clone())
    }

    /// The median over the samples of one side's time divided by the other's.
    pub fn median_ratio(&self, slow: usize, fast: usize) -> f64 {
        let pairs = self.micros[slow].iter().zip(&self.micros[fast]);
        let mut ratios: Vec<f64> = pairs.map(|(s, f)| s / f.max(1e-6)).collect();
        median(&mut ratios)
    }
}

/// Returns all numbers below `n` in an order of which every beginning is spread evenly.
pub fn spread(n: usize) -> impl Iterator<Item = usize> {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // Steps of the golden section leave no large gaps.
    let mut step = ((n as f64 * 0.618_034) as usize).max(1);
    while gcd(step, n) > 1 {
        step += 1;
    }
    (0..n).map(move |k| k * step % n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_a_permutation() {
        for n in [0, 1, 2, 6, 10, 260, 1718] {
            let mut all: Vec<usize> = spread(n).collect();
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_side_has_its_turn() {
        let mut seen = Vec::new();
        let (mut a, mut b) = (0, 0);
        let times = take_turns(
            3,
            Duration::from_secs(5),
            |k| seen.push(k),
            &mut [Box::new(|_| a += 1), Box::new(|_| b += 1)],
        );
        assert_eq!((times.samples(), times.rounds), (3, ROUNDS));
        assert_eq!((seen, a, b), (vec![0, 1, 2], 3 * ROUNDS, 3 * ROUNDS));
    }
}
