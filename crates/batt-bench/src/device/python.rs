//! Times a random sample of the runs under Python.

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

/// The script, which follows the preamble of every script.
const SCRIPT: &str = include_str!("sample.py");

/// The time limit of a run under Python, some of which would take an hour. A run stopped at the
/// limit counts as taking that long.
pub(super) const LIMIT: Duration = Duration::from_secs(5);

/// The time limit of a run that fails in this engine, perhaps at a limit that Python does not have.
const LIMIT_OF_FAILING: Duration = Duration::from_secs(2);

/// Times of Python on one core.
pub struct Sampled {
    pub python: String,
    pub version: String,
    pub runs: usize,
    /// Runs stopped at the time limit.
    pub cut: usize,
    /// The estimated time of a run.
    pub estimate: Estimate,
}

impl Sampled {
    /// Describes the time limits.
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

/// Times randomly chosen runs, for about the time that the options name. `costs` holds the cost of
/// each program on each sample, program by program.
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
