//! Runs on a device as waves: one op at a time, for all runs.
//!
//! ```text
//!   Graph ── WavePlanner ──> WavePlan: calls by level and op ─┐
//!                                                             ├─ WaveEngine ── a launch an op ──> WaveRecords
//!   Sample ── WaveEngine::load ──> WaveSamples, on the device ┘
//! ```
//!
//! A plan has the calls of many programs, and shares what they have in common. Functions are known
//! when a plan is made, so `apply(f, xs)` becomes calls for all elements of all `xs`. The engine
//! launches the calls of a level by op, and at the end judges all runs. A run that the device cannot
//! finish falls back to the CPU, with a [`WaveReason`].
//!
//! `docs/waves.md` explains the design. The crate `batt-wave` has the device source.

mod batt;
mod closure;
mod device;
mod engine;
mod execute;
mod layout;
mod plan;
mod records;
mod report;
mod table;
mod values;
mod wire;

pub(crate) use batt::BattPlan;
pub use device::{WaveBuffer, WaveDevice, WaveLaunch};
pub use engine::{WaveBatch, WaveEngine, WaveSamples};
pub use layout::Wave;
pub use plan::{WaveArg, WavePlan, WavePlanner};
pub use records::{WaveEnd, WaveRecords};
pub use report::{KernelWork, WaveReason, WaveReport};
pub use table::{KernelTable, WaveKernel, WaveMapping};
pub(crate) use values::decode as decode_packed;
