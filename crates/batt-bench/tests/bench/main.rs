//! The benchmarks, run as a command.

#[cfg(feature = "emulated")]
mod device;
mod mega;
mod prepare;
mod python;
mod readme;
mod support;
