//! Compares this library with the original one in Python: starts Python on a checkout, times
//! solvers on both sides, alternating, and compares every answer.
//!
//! - [`Checkout`]: a folder with the original library, arc-dsl or tokpidjin
//! - [`Python`]: a child process that has loaded the checkout
//! - [`compare`]: runs the solvers of an arc-dsl checkout on both sides
//!
//! Benchmarks with other scripts start them with [`Python::start_script`].

mod checkout;
mod compare;
mod error;
mod python;

pub use checkout::{Checkout, Original};
pub use compare::{CompareOptions, Comparison, Ratios, SolverTimes, compare, median};
pub use error::ReferenceError;
pub use python::{Python, SCRIPT_PREAMBLE, rows};
