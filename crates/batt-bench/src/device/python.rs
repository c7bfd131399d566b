//! What Python takes for the same runs: some of them, chosen at random.

use std::time::Duration;

use anyhow::Result;
use batt_engine::Sample;
use batt_lang::SplitMix64;
use serde::Deserialize;
use serde_json::json;

use super::DeviceArgs;
use super::strata::{Cost, Estimate, choose, strata};
use crate::interrupt;
use batt_reference::{Checkout, Python, SCRIPT_PREAMBLE, rows};

/// Behind the preamble of every script.
const SCRIPT: &str = include_str!("sample.py");

/// A run that takes Python longer is given up, and counts as if it had taken just so long: some take an hour. What we do to the end
/// Python may go on with for a while; what fails here, at a limit of ours perhaps, may be given up there soon.
pub(super) const LIMIT: Duration = Duration::from_secs(5);
const LIMIT_OF_FAILING: Duration = Duration::from_secs(2);

/// Runs of Python on one core.
pub struct Sampled {
    pub python: String,
    pub version: String,
    pub runs: usize,
    /// Runs given up at the time limit.
    pub cut: usize,
    /// What a run takes.
    pub estimate: Estimate,
}

impl Sampled {
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

/// Times randomly chosen runs, about as long as said. The costs are those of each program on each sample, program by program.
pub fn sample(
    args: &DeviceArgs,
    checkout: &Checkout,
    solvers: &[&str],
    samples: &[Sample<'_>],
    costs: &[Cost],
) -> Result<Sampled> {
    let script = format!("{SCRIPT_PREAMBLE}{SCRIPT}");
    let mut python = Python::start_script(
        args.against.python.as_deref(),
        &script,
        &[checkout.path.as_os_str()],
    )?;
    let grids: Vec<_> = samples.iter().map(|sample| rows(sample.input)).collect();
    let Loaded { grids } = python.ask(&json!({ "grids": grids }))?;
    let mut strata = strata(costs);
    let chosen = choose(
        &strata,
        args.common.time(),
        &mut SplitMix64::new(args.common.seed),
    );
    let (mut runs, mut cut) = (0, 0);
    for (stratum, run) in chosen {
        if interrupt::happened() {
            break;
        }
        let limit = match costs[run as usize].finished {
            true => LIMIT,
            false => LIMIT_OF_FAILING,
        };
        let timed: Timed = python.ask(&json!({
            "solver": solvers[run as usize / grids],
            "grid": run as usize % grids,
            "limit": limit.as_secs_f64(),
        }))?;
        strata[stratum].push(Duration::from_nanos(timed.nanos));
        runs += 1;
        cut += usize::from(timed.ended == "time");
    }
    Ok(Sampled {
        python: python.path.display().to_string(),
        version: python.version.clone(),
        runs,
        cut,
        estimate: Estimate::of(&strata),
    })
}
