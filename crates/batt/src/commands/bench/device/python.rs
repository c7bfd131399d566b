//! What Python takes for the same runs: some of them, chosen at random.

use std::path::Path;
use std::time::{Duration, Instant};

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

/// A run that takes Python longer is given up, and counts as if it had taken just so long.
const LIMIT: Duration = Duration::from_secs(2);

/// Runs of Python on one core.
pub struct Sampled {
    pub python: String,
    pub version: String,
    pub runs: usize,
    /// Runs given up at the time limit.
    pub cut: usize,
    pub limit: Duration,
    /// All of them together.
    pub time: Duration,
    /// The median run.
    pub median: Duration,
}

impl Sampled {
    /// What one run takes on average.
    pub fn mean(&self) -> Duration {
        self.time / self.runs.max(1) as u32
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

/// Times randomly chosen runs for about as long as said.
pub fn sample(
    wanted: &Wanted<'_>,
    checkout: &Path,
    solvers: &[&str],
    samples: &[Sample<'_>],
    ui: &Ui,
) -> Result<Sampled> {
    let mut python = Python::start_script(wanted.python, SCRIPT, &[checkout.as_os_str()])?;
    let grids: Vec<_> = samples.iter().map(|sample| rows(sample.input)).collect();
    let loaded: Loaded = python.ask(&json!({ "grids": grids }))?;
    let bar = ui.progress(0, "Python");
    let mut random = SplitMix64::new(wanted.seed);
    let mut times = Vec::new();
    let mut cut = 0;
    let started = Instant::now();
    while started.elapsed() < wanted.time && !interrupt::happened() {
        let solver = solvers[random.below(solvers.len() as u64) as usize];
        let grid = random.below(loaded.grids as u64);
        let timed: Timed = python.ask(&json!({
            "solver": solver,
            "grid": grid,
            "limit": LIMIT.as_secs_f64(),
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
        limit: LIMIT,
        time: times.iter().sum(),
        median: times.get(times.len() / 2).copied().unwrap_or_default(),
    })
}
