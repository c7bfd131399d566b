//! The benchmarks, run as a command.

#[cfg(feature = "emulated")]
mod device;
mod mega;
mod python;
mod readme;
mod support;
