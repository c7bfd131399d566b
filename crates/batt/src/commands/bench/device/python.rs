//! What Python takes for the same runs: some of them, chosen at random.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use batt_engine::Sample;
use batt_lang::SplitMix64;
use serde::Deserialize;
use serde_json::json;

use super::super::python::{Python, rows};
use super::Wanted;
use crate::interrupt;
use crate::ui::Ui;

const SCRIPT: &str = concat!(include_str!("../answers.py"), include_str!("sample.py"));

/// A run that takes Python longer is given up, and counts as if it had taken just so long. What we do to the end Python may do to
/// the end as well, if it does not take for ever; what fails here, at a limit of ours perhaps, may be given up there soon.
const LIMIT: Duration = Duration::from_secs(60);
const LIMIT_OF_FAILING: Duration = Duration::from_secs(2);

/// Runs for each second that it is to take about. How many there are must not follow from how long they take: to end after
/// a time is to end with a long run more often than not, and the mean is made by few of those.
const PER_SECOND: f64 = 250.0;

/// Runs of Python on one core.
pub struct Sampled {
    pub python: String,
    pub version: String,
    pub runs: usize,
    /// Runs given up at the time limit.
    pub cut: usize,
    /// Of each, in ascending order.
    times: Vec<Duration>,
}

impl Sampled {
    /// Seconds that one run takes on average.
    pub fn mean(&self) -> f64 {
        let all: f64 = self.times.iter().map(Duration::as_secs_f64).sum();
        all / self.runs.max(1) as f64
    }

    /// The standard error of the mean, in seconds.
    pub fn error(&self) -> f64 {
        let mean = self.mean();
        let square = |time: &Duration| (time.as_secs_f64() - mean).powi(2);
        let squares: f64 = self.times.iter().map(square).sum();
        let n = self.runs.max(2) as f64;
        (squares / (n - 1.0) / n).sqrt()
    }

    /// The median run.
    pub fn median(&self) -> Duration {
        let middle = self.times.get(self.times.len() / 2);
        middle.copied().unwrap_or_default()
    }

    /// When runs were given up, in words.
    pub fn limits() -> String {
        format!(
            "after {} s, {} s if they fail here",
            LIMIT.as_secs(),
            LIMIT_OF_FAILING.as_secs()
        )
    }
}

#[derive(Deserialize)]
struct Loaded {
    grids: usize,
}

#[derive(Deserialize)]
struct Timed {
    nanos: u64,
    ended: String,
}

/// Times randomly chosen runs, as many as take about as long as said. `finished` says for each program and sample, program by
/// program, whether we have a value.
pub fn sample(
    wanted: &Wanted<'_>,
    checkout: &Path,
    solvers: &[&str],
    samples: &[Sample<'_>],
    finished: impl Fn(usize) -> bool,
    ui: &Ui,
) -> Result<Sampled> {
    let mut python = Python::start_script(wanted.python, SCRIPT, &[checkout.as_os_str()])?;
    let grids: Vec<_> = samples.iter().map(|sample| rows(sample.input)).collect();
    let loaded: Loaded = python.ask(&json!({ "grids": grids }))?;
    let wanted_runs = (wanted.time.as_secs_f64() * PER_SECOND).ceil() as usize;
    let bar = ui.progress(wanted_runs, "Python");
    let mut random = SplitMix64::new(wanted.seed);
    let mut times = Vec::new();
    let mut cut = 0;
    while times.len() < wanted_runs && !interrupt::happened() {
        let solver = random.below(solvers.len() as u64) as usize;
        let grid = random.below(loaded.grids as u64) as usize;
        let limit = match finished(solver * samples.len() + grid) {
            true => LIMIT,
            false => LIMIT_OF_FAILING,
        };
        let timed: Timed = python.ask(&json!({
            "solver": solvers[solver],
            "grid": grid,
            "limit": limit.as_secs_f64(),
        }))?;
        times.push(Duration::from_nanos(timed.nanos));
        cut += usize::from(timed.ended == "time");
        bar.inc(1);
    }
    bar.finish_and_clear();
    times.sort_unstable();
    Ok(Sampled {
        python: python.path.display().to_string(),
        version: python.version.clone(),
        runs: times.len(),
        cut,
        times,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_its_error() {
        let sampled = Sampled {
            python: String::new(),
            version: String::new(),
            runs: 4,
            cut: 0,
            times: [1, 1, 2, 4].map(Duration::from_secs).to_vec(),
        };
        assert_eq!(sampled.mean(), 2.0);
        // Squares 1, 1, 0 and 4: a variance of 2.
        assert!((sampled.error() - 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(sampled.median(), Duration::from_secs(2));
    }
}
