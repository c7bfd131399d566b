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
mod inputs;
mod launch;
mod results;
pub mod wire;

pub use bytecode::{BytecodeError, ProgramAt, Programs};
pub use card::{Batch, Card, CardError, Launched, Times};
pub use inputs::{Inputs, SampleAt};
pub use launch::{Counting, Done, Finished, JobAt, LaunchPass, Launcher, Settings};
pub use results::{Entry, Reason, entries};
