//! Runs on a device: whole programs, from their first instruction to their last.
//!
//! `docs/device.md` is the contract between this module and the device's own code.
//!
//! ```text
//!   Compiled, CompiledBatt ── bytecode ──> Programs ┐
//!   Sample, values ────────── wire ──────> Inputs   ├─ Batch ── Card::run ──> Launched ── results ──> values
//!   (program, inputs) ───────────────────> Jobs     ┘
//! ```

mod bytecode;
mod card;
mod feed;
mod inputs;
mod launch;
mod replay;
mod report;
mod results;
mod score;
mod solo;
mod verify;
pub mod wire;

pub use bytecode::{BytecodeError, ProgramAt, Programs};
pub use card::{Batch, Card, CardError, Launch, Launched, Times};
pub use inputs::{Inputs, Param, SampleAt, Shape, Shapes};
pub use launch::{Counting, Done, Finished, JobAt, LaunchPass, Launcher, Settings};
pub use report::{CardReport, Counts, DeviceReport, Mismatch, OpCount};
pub use results::{Entry, Reason, entries, only_entry};
pub use score::{
    Encoder, Left, Prepared, Score, ScoreOptions, ScoreReport, Scores, Searcher, Sheaf, Shipment,
    score_jobs, score_table,
};

pub(crate) use feed::{Feed, Load, Runs, Subject, Taken, run_fed};
pub(crate) use replay::{Replay, Tally, replay};
pub(crate) use solo::{Found, Solo};
pub(crate) use verify::{Seen, Verify};

use std::num::NonZeroUsize;

use batt_dsl::Limits;

/// How devices are used.
#[derive(Clone, Debug, Default)]
pub struct DeviceOptions {
    /// What one run may do there.
    pub settings: Settings,
    /// Runs in a chunk; `None` to choose it from how many there are.
    pub chunk: Option<NonZeroUsize>,
    /// The share of finished runs that the CPU does again, to compare; 0 for none.
    pub verify: f64,
}

/// Steps that the CPU is taken to need at most for what a device does with a unit of fuel. The most that was found is
/// about 220, with values far larger than solvers have; `docs/device.md` says how.
pub const STEPS_PER_FUEL: u64 = 256;

/// With less fuel than this hardly any program is finished.
const LEAST_FUEL: u64 = 500;

/// The fuel for a program on a device if the CPU has these limits: at most what is wanted, and so little that what is
/// finished there is within the limits here. `None`: a device cannot be used.
pub fn fuel_within(limits: &Limits, wanted: u64) -> Option<u64> {
    let default = Limits::default();
    let fuel = wanted.min(limits.steps / STEPS_PER_FUEL);
    let enough = fuel >= LEAST_FUEL.min(wanted);
    (enough && limits.size >= default.size && limits.memory >= default.memory).then_some(fuel)
}

/// Can a device be used for batts with these limits? It counts what a whole batt does, the CPU each solver by itself, so
/// that only the default limits, or larger ones, are certain to be kept.
pub fn is_allowed_by(limits: &Limits) -> bool {
    let default = Limits::default();
    limits.steps >= default.steps && limits.size >= default.size && limits.memory >= default.memory
}
