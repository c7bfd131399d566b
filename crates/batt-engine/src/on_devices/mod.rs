//! Evaluation and mega-batches with the help of devices.
//!
//! Devices do runs in chunks ahead of the workers. A worker that takes a run finds its values ready
//! and goes on from there, or does the run on the CPU where no device has finished it. So results
//! are the same as without devices.

mod evaluate;
mod mega;

pub use evaluate::evaluate_on;
pub use mega::mega_on;
