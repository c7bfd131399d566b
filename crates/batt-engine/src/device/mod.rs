//! Runs on a device: whole programs, from their first instruction to their last.
//!
//! `docs/device.md` is the contract between this module and the device's own code.
//!
//! ```text
//!   Compiled, CompiledBatt ── bytecode ──> Programs ┐
//!   Sample, values ────────── wire ──────> Inputs   ├─ Batch ── Device::run ──> Launched ── results ──> values
//!   (program, inputs) ───────────────────> Jobs     ┘
//! ```

mod backend;
mod bytecode;
mod feed;
mod inputs;
mod launch;
mod piece;
mod replay;
mod report;
mod results;
mod score;
mod solo;
mod verify;
mod waves;
pub mod wire;

pub use backend::{Batch, Device, DeviceError, Launch, Launched, Times};
pub use bytecode::{BytecodeError, ProgramAt, Programs};
pub use feed::PieceAt;
pub use inputs::{Inputs, JobParam, SampleAt, Shape, Shapes};
pub use launch::{Done, Finished, JobAt, LaunchPass, LaunchSettings, Launcher, STEPS_PER_FUEL};
pub use report::{Counts, DeviceOpCount, DeviceReport, DeviceUsage, Mismatch};
pub(crate) use results::verdict as verdict_of;
pub use results::{DeviceEntry, Reason, entries, only_entry};
pub use score::{
    EncodedPrograms, Encoder, Prepared, ScoreOptions, ScoreReport, SearchBatch, SearchScores,
    Searcher, score_table,
};

pub(crate) use feed::{Feed, Load, Runs, Subject, Taken, run_fed};
pub(crate) use replay::{Replay, RunThere, Tally};
pub(crate) use solo::{Found, Solo};
pub(crate) use verify::{Seen, Verify};
pub(crate) use waves::WaveSubject;

use std::num::NonZeroUsize;

use batt_dsl::Limits;

/// How devices are used.
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    /// What one run may do on a device.
    pub settings: LaunchSettings,
    /// Runs in a chunk; `None` to choose it from the number of runs.
    pub chunk: Option<NonZeroUsize>,
    /// Whether to score programs, and to run batts, as waves on devices that can. Programs of some ops
    /// are scored many times as fast as by the VM, and arc-dsl's solvers more slowly: see
    /// docs/performance.md.
    pub waves: bool,
    /// The share of finished runs that the CPU does again, to compare them; 0 for none.
    pub verify: f64,
}

impl DeviceOptions {
    /// Returns whether a device can keep these limits.
    pub fn keep(&self, limits: &Limits) -> bool {
        self.settings.within(limits).is_some()
    }
}
