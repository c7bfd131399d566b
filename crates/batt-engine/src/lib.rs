//! Runs programs over samples: compiled once, run many times, within limits.

mod compile;
pub mod conformance;
mod evaluate;

pub use compile::{Compiled, RunError};
pub use evaluate::{Job, JobResult, Options, Values, Verdict, evaluate, input_grid, run_job};
