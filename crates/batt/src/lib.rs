//! Runs, merges, evolves and submits ARC solvers, with the answers CPython gives.
//!
//! This crate is the entrance to the library. It composes the other crates of the workspace and adds
//! what every user of them needs: owned types that can be shared between threads, one error type,
//! cancellation, deadlines and progress. It never prints and never exits.

mod control;
mod devices;
mod error;
mod solvers;
mod tasks;

pub use batt_cuda::Survey;
pub use batt_engine::Cancel;
pub use control::{Control, Progress};
pub use devices::{DeviceChoice, DeviceChoiceError, Devices, RUNS_WORTH_A_DEVICE, survey};
pub use error::{Error, Result};
pub use solvers::{Solver, Solvers};
pub use tasks::Tasks;
