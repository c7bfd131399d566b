//! Runs the original library in Python beside this one: starts Python on a checkout, times solvers
//! on both sides in turns, and compares every answer.
//!
//! - [`Checkout`]: a folder with the original library, arc-dsl or tokpidjin
//! - [`Python`]: a child process that has loaded it
//! - [`compare`]: the solvers of an arc-dsl checkout on both sides
//!
//! Benchmarks with scripts of their own start them by [`Python::start_script`].

mod checkout;
mod compare;
mod error;
mod python;

pub use checkout::{Checkout, Original};
pub use compare::{CompareOptions, Comparison, Ratios, SolverTimes, compare, median};
pub use error::ReferenceError;
pub use python::{Python, SCRIPT_PREAMBLE, rows};
