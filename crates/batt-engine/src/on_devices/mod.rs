//! Evaluation and mega-batches with devices.
//!
//! Devices run chunks ahead of the workers. A worker that takes a run finds its values ready and
//! continues from them. Runs that no device has finished fall back to the CPU. So results are the
//! same as without devices.

mod evaluate;
mod mega;

pub use evaluate::evaluate_on;
pub use mega::mega_on;
