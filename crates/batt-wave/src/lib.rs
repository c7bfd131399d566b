//! The device engine that runs one op for many programs and samples at a time.
//!
//! ```text
//!   Program ── Graph ──> Plan: calls by level and op ─┐
//!                                                     ├─ WaveEngine ── a launch an op ──> WaveRecords
//!   Sample ── pack ──> WaveSamples, on the device ────┘
//! ```
//!
//! The types to know:
//!
//! - [`WaveEngine`]: a device with resident tables and buffers
//! - [`WaveSamples`]: samples on the device
//! - [`WaveRecords`] and [`WaveEnd`]: how each run ended
//! - [`WaveDevice`]: memory and kernels; `EmulatedWaves` and `CudaWaves` implement it
//!
//! `docs/waves.md` explains the design.

mod closure;
mod device;
mod engine;
mod execute;
#[cfg(feature = "emulated")]
mod host;
mod layout;
pub mod ops;
mod plan;
mod report;
pub mod source;
mod wire;

pub use device::{Buffer, WaveDevice};
pub use engine::{WaveArg, WaveEnd, WaveEngine, WavePart, WaveRecords, WaveSamples};
#[cfg(feature = "emulated")]
pub use host::EmulatedWaves;
pub use layout::Wave;
pub use report::{Reason, WaveReport};
