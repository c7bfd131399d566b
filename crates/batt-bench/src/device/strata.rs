//! Stratified estimate of a mean from few runs.
//!
//! One run in a thousand takes Python as long as all others together. A uniform sample of a few
//! thousand runs does not give a reliable mean, since it depends on whether two or five of the long
//! runs are among them. So runs are grouped by their cost in this engine, in steps, which roughly
//! predicts their cost under Python. Each group is sampled separately, the groups with the largest
//! weight most.

use std::time::Duration;

use batt_lang::SplitMix64;

use super::python::LIMIT;

/// The cost of a run in this engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub steps: u64,
    /// Whether the run has a value.
    pub finished: bool,
}

/// A group of runs of similar cost.
#[derive(Debug)]
pub struct Stratum {
    runs: Vec<u32>,
    /// The expected time of a run under Python, in seconds.
    guess: f64,
    times: Vec<Duration>,
}

/// The fewest runs of a stratum. Fewer would not show their variance.
const LEAST: usize = 16;
/// The fewest runs of a stratum whose runs are expected to take a second or more. Most of them
/// reach the time limit, and so do not vary.
const LEAST_OF_LONG: usize = 4;

/// Groups runs by the number of digits of their steps, and by whether they have a value.
pub fn strata(costs: &[Cost]) -> Vec<Stratum> {
    let mut strata: Vec<Stratum> = Vec::new();
    for (run, cost) in costs.iter().enumerate() {
        let digits = cost.steps.max(1).ilog10();
        let number = 2 * digits as usize + usize::from(cost.finished);
        while strata.len() <= number {
            let digits = strata.len() as i32 / 2;
            strata.push(Stratum {
                runs: Vec::new(),
                guess: (2e-6 * 10_f64.powi(digits)).min(LIMIT.as_secs_f64()),
                times: Vec::new(),
            });
        }
        // The number of runs fits a `u32`.
        strata[number].runs.push(run as u32);
    }
    strata.retain(|stratum| !stratum.runs.is_empty());
    strata
}

/// Chooses runs from each stratum that take about `time` together. Returns pairs of a stratum and a
/// run, in random order.
pub fn choose(strata: &[Stratum], time: Duration, random: &mut SplitMix64) -> Vec<(usize, u32)> {
    // Neyman allocation, for the least error in the time: the size of the stratum times its
    // standard deviation, divided by the square root of the cost. The deviation is taken to be the
    // mean.
    let weight = |stratum: &Stratum| stratum.runs.len() as f64 * stratum.guess.sqrt();
    let all: f64 = strata.iter().map(|s| weight(s) * s.guess).sum();
    let scale = time.as_secs_f64() / all.max(1e-9);
    let mut chosen = Vec::new();
    for (number, stratum) in strata.iter().enumerate() {
        let wanted = (scale * weight(stratum)).round() as usize;
        let least = match stratum.guess >= 1.0 {
            true => LEAST_OF_LONG,
            false => LEAST,
        };
        for _ in 0..wanted.max(least).min(stratum.runs.len()) {
            let at = random.below(stratum.runs.len() as u64) as usize;
            chosen.push((number, stratum.runs[at]));
        }
    }
    for last in (1..chosen.len()).rev() {
        chosen.swap(last, random.below(last as u64 + 1) as usize);
    }
    chosen
}

impl Stratum {
    /// Records the time of a run.
    pub fn push(&mut self, time: Duration) {
        self.times.push(time);
    }

    fn mean(&self) -> f64 {
        let all: f64 = self.times.iter().map(Duration::as_secs_f64).sum();
        all / self.times.len().max(1) as f64
    }

    /// Returns the square of the standard error of the mean.
    fn variance(&self) -> f64 {
        let mean = self.mean();
        let square = |time: &Duration| (time.as_secs_f64() - mean).powi(2);
        let squares: f64 = self.times.iter().map(square).sum();
        let n = self.times.len().max(2) as f64;
        squares / (n - 1.0) / n
    }
}

/// The estimated time of a run over all strata, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    pub median: f64,
}

impl Estimate {
    pub fn of(strata: &[Stratum]) -> Estimate {
        // After Ctrl-C some strata have no run.
        let seen = || strata.iter().filter(|stratum| !stratum.times.is_empty());
        let all: f64 = seen().map(|stratum| stratum.runs.len() as f64).sum();
        let share = |stratum: &Stratum| stratum.runs.len() as f64 / all.max(1.0);
        let mut weighted: Vec<(Duration, f64)> = seen()
            .flat_map(|stratum| {
                let weight = share(stratum) / stratum.times.len() as f64;
                stratum.times.iter().map(move |&time| (time, weight))
            })
            .collect();
        weighted.sort_unstable_by_key(|(time, _)| *time);
        let mut below = 0.0;
        let median = weighted.iter().find(|(_, weight)| {
            below += weight;
            below >= 0.5
        });
        Estimate {
            mean: seen().map(|stratum| share(stratum) * stratum.mean()).sum(),
            error: seen()
                .map(|stratum| share(stratum).powi(2) * stratum.variance())
                .sum::<f64>()
                .sqrt(),
            median: median.map_or(0.0, |(time, _)| time.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a thousand runs of 10 to 29 steps, except that every hundredth has 100,000.
    fn costs() -> Vec<Cost> {
        let cost = |run: u64| Cost {
            steps: if run.is_multiple_of(100) {
                100_000
            } else {
                10 + run % 20
            },
            finished: !run.is_multiple_of(3),
        };
        (0..1000).map(cost).collect()
    }

    #[test]
    fn every_run_is_in_one_stratum() {
        let strata = strata(&costs());
        assert_eq!(strata.len(), 4);
        let mut all: Vec<u32> = strata.iter().flat_map(|s| s.runs.clone()).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1000));
    }

    #[test]
    fn the_mean_is_that_of_all_runs() {
        let costs = costs();
        let time = |run: u32| Duration::from_micros(costs[run as usize].steps);
        let mut strata = strata(&costs);
        let mut random = SplitMix64::new(1);
        for (number, run) in choose(&strata, Duration::from_secs(1), &mut random) {
            strata[number].push(time(run));
        }
        let estimate = Estimate::of(&strata);
        let all: f64 = (0..1000).map(|run| time(run).as_secs_f64()).sum();
        assert!(
            (estimate.mean / (all / 1000.0) - 1.0).abs() < 0.01,
            "{estimate:?}"
        );
        assert!(estimate.error < 0.01 * estimate.mean);
        assert!((10e-6..30e-6).contains(&estimate.median));
    }

    #[test]
    fn the_error_is_that_of_the_samples() {
        let mut strata = strata(&[Cost::default(); 8]);
        assert_eq!(Estimate::of(&strata).mean, 0.0);
        for seconds in [1, 1, 2, 4] {
            strata[0].push(Duration::from_secs(seconds));
        }
        let estimate = Estimate::of(&strata);
        assert_eq!(estimate.mean, 2.0);
        // Squares 1, 1, 0 and 4: a variance of 2.
        assert!((estimate.error - 0.5_f64.sqrt()).abs() < 1e-12);
    }
}
