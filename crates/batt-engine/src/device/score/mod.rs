//! Scores and hashes of many programs on many samples, without their values: what a search asks for.
//!
//! ```text
//!   Compiled ── Programs ─┐              ┌─ read: scores ───────────────────────┐
//!   Prepared ── Inputs ───┼─ launches ───┤                                      ├──> one score a run
//!   (program, sample) ────┘              └─ left: done by the CPU ───────────────┘
//! ```
//!
//! Runs are launched by the hundred thousand and their scores are read off in one go; what the devices leave is done by
//! the CPU meanwhile, in any order. Handing scores over one by one and in order would cost more than a device needs for a
//! run.
//!
//! A search has its programs in a graph. It makes a [`Sheaf`] of words of those of one task, straight from the graph, and
//! puts the sheaves of many tasks together as a [`Shipment`] for one launch:
//!
//! ```text
//!   Graph ── Encoder ──> Sheaf ─┐
//!   Prepared ───────────────────┼── Shipment ── Searcher::launch ──> Scores, read run by run
//!   Graph ── Encoder ──> Sheaf ─┘
//! ```

mod prepared;
mod search;
mod sheaf;
mod work;

use std::num::NonZeroUsize;

use batt_dsl::Limits;

use super::DeviceOptions;
use super::backend::Device;
use super::report::DeviceReport;
use crate::cancel::Cancel;
use crate::compile::Compiled;
use crate::evaluate::Verdict;
use crate::sample::Sample;

pub use prepared::Prepared;
pub use search::{Scores, Searcher, Shipment};
pub use sheaf::{Encoder, Sheaf};

/// What a program is worth on a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredRun {
    /// Right, wrong or failed.
    pub verdict: Verdict,
    /// CPython's `hash()` of the value, if there is one. Equal values have equal hashes. That of a value in which
    /// there are functions, `None` or nan is by address in CPython, and means nothing here either.
    pub hash: Option<u64>,
}

/// How to score.
#[derive(Clone, Debug, Default)]
pub struct ScoreOptions {
    /// Limits of each run.
    pub limits: Limits,
    /// Threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
    /// How devices are used, if there are any.
    pub device: DeviceOptions,
}

/// What scoring came to.
#[derive(Clone, Debug, Default)]
pub struct ScoreReport {
    /// Runs that have a score.
    pub scores: usize,
    /// What devices did, if any were used; with why they left what they left.
    pub device: Option<DeviceReport>,
}

/// Scores of every program on every sample: that of program `p` on sample `s` is number `p * samples.len() + s`. A run
/// that has no score ends the table: it is as long as what is complete.
pub fn score_table(
    devices: &mut [Box<dyn Device>],
    programs: &[Compiled],
    samples: &[Sample<'_>],
    options: &ScoreOptions,
    stop: &Cancel,
) -> (Vec<ScoredRun>, ScoreReport) {
    let samples = Prepared::of(samples, programs);
    let (scores, mut report) = work::score(devices, programs, &samples, options, stop);
    let scores: Vec<ScoredRun> = scores.into_iter().map_while(|score| score).collect();
    report.scores = scores.len();
    (scores, report)
}
