//! Runs on a device: whole programs, from their first instruction to their last.
//!
//! `docs/device.md` is the contract between this module and the device's own code.
//!
//! ```text
//!   Compiled, CompiledBatt ── bytecode ──> Programs ┐
//!   Sample, values ────────── wire ──────> Inputs   ├─ Batch ── Card::run ──> Launched ── results ──> values
//!   (program, inputs) ───────────────────> jobs     ┘
//! ```

mod bytecode;
mod card;
pub mod wire;

pub use bytecode::{BytecodeError, ProgramAt, Programs};
pub use card::{Batch, Card, CardError, Launched, Times};
