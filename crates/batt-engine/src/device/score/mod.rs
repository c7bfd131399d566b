//! Verdicts and hashes of many programs on many samples, without their values: what a search asks for.
//!
//! ```text
//!   Compiled ── Programs ─┐              ┌─ read: scores ───────────────────────┐
//!   Prepared ── Inputs ───┼─ launches ───┤                                      ├──> one score a run
//!   (program, sample) ────┘              └─ left: done by the CPU ───────────────┘
//! ```
//!
//! Runs are launched by the hundred thousand and their scores are read at once. Runs the devices cannot complete fall back
//! to the CPU meanwhile, in any order. Delivering scores one by one and in order would cost more than a device needs for a
//! run.
//!
//! A search has its programs in a graph. It encodes those of one task as [`EncodedPrograms`], straight from the graph, and
//! puts those of many tasks together as a [`SearchBatch`] for one launch:
//!
//! ```text
//!   Graph ── Encoder ──> EncodedPrograms ─┐
//!   Prepared ─────────────────────────────┼── SearchBatch ── Searcher::launch ──> SearchScores
//!   Graph ── Encoder ──> EncodedPrograms ─┘
//! ```

mod encode;
mod prepared;
mod search;
mod work;

use std::num::NonZeroUsize;

use batt_dsl::Limits;

use super::DeviceOptions;
use super::backend::Device;
use super::report::DeviceReport;
use crate::cancel::Cancel;
use crate::compile::Compiled;
use crate::evaluate::Judged;
use crate::sample::Sample;

pub use encode::{EncodedPrograms, Encoder};
pub use prepared::Prepared;
pub use search::{SearchBatch, SearchScores, Searcher};

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
) -> (Vec<Judged>, ScoreReport) {
    let samples = Prepared::of(samples, programs);
    let (scores, mut report) = work::score(devices, programs, &samples, options, stop);
    let scores: Vec<Judged> = scores.into_iter().map_while(|score| score).collect();
    report.scores = scores.len();
    (scores, report)
}
