//! Profiles one batt: the time of steps that solvers share, and of steps that belong to one solver.

use std::time::{Duration, Instant};

use anyhow::Result;
use batt_dsl::Limits;
use batt_engine::Cancel;
use batt_engine::{Sample, profile};
use batt_lang::card::CardDonor;
use batt_lang::{Batt, Operand, StepId};

use crate::corpus::merged;
use crate::interrupt;

/// The number of steps listed.
const LISTED: usize = 5;

/// A group of steps, and the share of the time that they take.
#[derive(Clone, Copy, Default)]
pub struct Part {
    pub steps: usize,
    /// From 0 to 1.
    pub time: f64,
}

/// The time of a batt without differs, by groups of steps.
pub struct BattCosts {
    pub samples: usize,
    pub steps: usize,
    /// Mean microseconds that the steps of a sample take.
    pub micros: f64,
    /// Steps by the number of solvers that use them: one, two to nine, more.
    pub by_users: [Part; 3],
    /// Steps that need neither `S` nor `I` nor `C`, and so are the same on every sample.
    pub independent: Part,
    /// The most expensive steps.
    pub top: Vec<Costly>,
    /// The share of the time that the most expensive hundredth of the steps takes.
    pub hundredth: f64,
}

/// An expensive step.
pub struct Costly {
    pub number: u32,
    pub call: String,
    pub donors: u32,
    pub time: f64,
}

/// Profiles the batt of all solvers on as many samples as fit the time.
pub fn find(
    donors: &[CardDonor<'_>],
    samples: &[Sample<'_>],
    limits: &Limits,
    time: Duration,
) -> Result<BattCosts> {
    let merged = merged(donors, false)?;
    let (batt, stats) = (&merged.batt, &merged.stats);
    let started = Instant::now();
    let stop = Cancel::new();
    let profile = profile(batt, samples, limits, &stop, |_| {
        if started.elapsed() > time || interrupt::happened() {
            stop.cancel();
        }
    });
    let mut users = vec![0; batt.program.steps().len()];
    for step in &stats.uses {
        if let Some(id) = batt.step_numbered(step.number) {
            users[id.index()] = step.donors;
        }
    }
    let seconds: Vec<f64> = profile.steps.iter().map(|s| s.time.as_secs_f64()).collect();
    let total = seconds.iter().sum::<f64>().max(1e-12);
    let part = |belongs: &dyn Fn(usize) -> bool| {
        let inside = || (0..seconds.len()).filter(|&k| belongs(k));
        Part {
            steps: inside().count(),
            time: inside().map(|k| seconds[k]).sum::<f64>() / total,
        }
    };
    let independent = independent(batt);
    let mut order: Vec<usize> = (0..seconds.len()).collect();
    order.sort_by(|&a, &b| seconds[b].total_cmp(&seconds[a]));
    let hundredth = order.len().div_ceil(100);
    let costly = |&k: &usize| Costly {
        number: batt.numbers[k],
        call: batt.call_text(StepId(k as u32)),
        donors: users[k],
        time: seconds[k] / total,
    };
    Ok(BattCosts {
        samples: profile.runs,
        steps: seconds.len(),
        micros: total * 1e6 / profile.runs.max(1) as f64,
        by_users: [
            part(&|k| users[k] <= 1),
            part(&|k| (2..10).contains(&users[k])),
            part(&|k| users[k] >= 10),
        ],
        independent: part(&|k| independent[k]),
        top: order.iter().take(LISTED).map(costly).collect(),
        hundredth: order
            .iter()
            .take(hundredth)
            .map(|&k| seconds[k])
            .sum::<f64>()
            / total,
    })
}

/// Returns for each step whether it needs no input.
fn independent(batt: &Batt) -> Vec<bool> {
    let mut known: Vec<bool> = Vec::with_capacity(batt.program.steps().len());
    for step in batt.program.steps() {
        let free = step.kind.operands().all(|operand| match operand {
            Operand::Param(_) => false,
            Operand::Step(id) => known[id.index()],
            _ => true,
        });
        known.push(free);
    }
    known
}
