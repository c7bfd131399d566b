//! Times several sides in turns on every sample, so that a busy machine disturbs all sides equally.

use std::time::{Duration, Instant};

use crate::interrupt;
use batt_reference::median;

/// More rounds do not improve the median.
const ROUNDS: usize = 15;

/// The times of each side.
pub struct Times {
    /// The number of rounds measured.
    pub rounds: usize,
    /// Median microseconds over the rounds, by side and sample.
    micros: Vec<Vec<f64>>,
}

/// Runs one side on the sample with a number.
pub type Side<'s> = Box<dyn FnMut(usize) + 's>;

/// Times the sides in turns on as many samples as fit the time, at least one. Before that, `first`
/// runs once on each of these samples to warm up and to compare results.
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
    /// Returns the number of samples measured.
    pub fn samples(&self) -> usize {
        self.micros.first().map_or(0, Vec::len)
    }

    /// Returns the microseconds of all samples together.
    pub fn total(&self, side: usize) -> f64 {
        self.micros[side].iter().sum()
    }

    /// Returns the mean microseconds of a sample.
    pub fn mean(&self, side: usize) -> f64 {
        self.total(side) / self.samples().max(1) as f64
    }

    /// Returns the microseconds of the median sample.
    pub fn median(&self, side: usize) -> f64 {
        median(&mut self.micros[side].clone())
    }

    /// Returns the median over the samples of the ratio of two sides' times.
    pub fn median_ratio(&self, slow: usize, fast: usize) -> f64 {
        let pairs = self.micros[slow].iter().zip(&self.micros[fast]);
        let mut ratios: Vec<f64> = pairs.map(|(s, f)| s / f.max(1e-6)).collect();
        median(&mut ratios)
    }
}

/// Returns all numbers below `n` in an order of which any prefix is spread evenly.
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
    fn sides_run_equally_often() {
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
