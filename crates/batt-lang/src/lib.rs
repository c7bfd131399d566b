//! Solver files: reading, writing and checking the programs in them.
//!
//! A *solver* is a short Python function over the primitives of the ARC DSL: straight-line code,
//! one call after the other. This crate turns the text into a [`Program`] and back, and reports
//! what is wrong with either.
//!
//! ```text
//!  solvers.py ---> SolverFile::parse ----> Program ----> print_file ---> solvers.py
//!                        |                    |
//!                   (per function)       check::program
//!                        v                    v
//!                   Diagnostic           Diagnostic
//!                  errors, with         warnings: unused, repeated,
//!                 place and hint        always failing, order-dependent
//! ```
//!
//! The types to know:
//!
//! - [`SolverFile`]: a parsed file, with the programs that loaded and a [`Diagnostic`] for
//!   everything that did not. A bad function does not affect the others.
//! - [`Program`]: parameters, [`Step`]s in Python's order of evaluation, and the result.
//! - [`Operand`]: something a step refers to: a parameter, an earlier step, a primitive, a constant
//!   or a literal.
//! - [`ProgramBuilder`]: makes programs without text.
//! - [`BattFile`] and [`Batt`]: many solvers as one program, see [`batt`].
//! - [`card::merge`]: merges many programs into one [`Batt`] that computes common steps once.
//! - [`graph::Graph`]: many programs with shared nodes, from which a search makes new ones.
//! - [`check`]: what is certain about a program before it runs.
//! - [`types::Types`]: the intended types of the values of a program.
//!
//! ```
//! use batt_lang::{SolverFile, print_file};
//!
//! let file = SolverFile::parse("
//! from dsl import *
//!
//! def solve_corner(I):
//!     size_of = shape(I)
//!     return crop(I, ORIGIN, halve(size_of))
//!
//! def solve_typo(I):
//!     return hmiror(I)
//! ", "solvers.py");
//!
//! assert_eq!(file.programs.len(), 1);
//! assert_eq!(file.programs[0].to_string(), "\
//! def solve_corner(I):
//!     x1 = shape(I)
//!     x2 = halve(x1)
//!     O = crop(I, ORIGIN, x2)
//!     return O
//! ");
//! assert_eq!(file.diagnostics[0].to_string(), "\
//! solvers.py:9:12: error[unknown-name]: unknown name 'hmiror'
//!   |
//! 9 |     return hmiror(I)
//!   |            ^^^^^^
//!   = hint: did you mean 'hmirror'?");
//!
//! let again = SolverFile::parse(&print_file(&file.programs), "canonical.py");
//! assert_eq!(again.programs, file.programs);
//! ```

pub mod batt;
pub mod card;
pub mod check;
mod diagnostic;
pub mod graph;
mod parse;
pub mod print;
mod program;
mod random;
mod source;
pub mod types;

pub use batt::{Batt, BattFile, DifferScore, OnError, Output};
pub use diagnostic::{Diagnostic, DiagnosticCode, Severity};
pub use parse::{SolverFile, SourceError, nearest};
pub use print::print_file;
pub use program::{Operand, ParamId, Program, ProgramBuilder, Step, StepId, StepKind, Uses};
pub use random::SplitMix64;
pub use source::{LineRange, SourceFile, Span};
