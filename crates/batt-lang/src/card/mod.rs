//! Card: merges many solvers into one [`Batt`](crate::Batt), and extracts single solvers from it.
//!
//! ```text
//!  solvers --> select --> Donors --+                                   +--> Stats
//!                                  +--> merge: simplify each, share --> Batt
//!  differs --------------> Programs +                                  +--> extract --> Program
//! ```
//!
//! Merging has two parts. First each program is simplified by itself: calls of known closures are
//! resolved, calls whose arguments are all constants are folded, and unused steps that cannot fail
//! are dropped.
//! Then the solvers take turns, one step each, and equal steps are made once.
//!
//! None of this changes an answer: a solver has the same value in the batt as on its own, or fails
//! in both. The documentation of each rule says why.
//!
//! ```
//! use batt_lang::SolverFile;
//! use batt_lang::card::{self, CardOptions, CardDonor};
//!
//! let file = SolverFile::parse("
//! def solve_a(I):
//!     x1 = compose(hmirror, vmirror)
//!     O = x1(I)
//!     return O
//!
//! def solve_b(I):
//!     x1 = vmirror(I)
//!     O = hconcat(x1, I)
//!     return O
//! ", "two.py");
//! let donors: Vec<CardDonor> = file
//!     .programs
//!     .iter()
//!     .map(|program| CardDonor { id: program.name().into(), program, size: None, mutated: false })
//!     .collect();
//! let merged = card::merge(&donors, &[], &CardOptions::default())?;
//! let steps = merged.batt.program.iter();
//! let calls: Vec<String> = steps.map(|(id, _)| merged.batt.call_text(id)).collect();
//! assert_eq!(calls, ["vmirror(I)", "hmirror(t1)", "hconcat(t1, I)"]);
//!
//! let again = card::extract(&merged.batt, 2, "solve")?;
//! assert_eq!(again.to_string(), "\
//! def solve(I):
//!     x1 = vmirror(I)
//!     O = hmirror(x1)
//!     return O
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod dead;
mod differ_set;
mod differs;
mod donors;
mod extract;
mod fold;
mod hash;
mod merge;
mod resolve;
mod script;
mod select;
mod share;
mod simplify;
mod stats;
#[cfg(test)]
mod tests;

pub use differ_set::DifferSet;
pub use differs::differs;
pub use donors::{DonorIds, donor_id, mutant_id};
pub use extract::{ExtractError, canonical, extract, extract_value};
pub use hash::structural_hash;
pub use merge::{CardMerged, merge};
pub(crate) use script::roles;
pub use select::{SelectError, select};
pub use stats::{MergeStats, OpUse, StepUse};

use batt_dsl::Dialect;

use crate::batt::OnError;
use crate::program::Program;

/// A solver to merge.
#[derive(Clone, Debug)]
pub struct CardDonor<'p> {
    /// The name of the solver in the batt, usually the id of its task; unique within a batt.
    pub id: String,
    /// The solver. It takes `I`, or any of `S`, `I` and `C`.
    pub program: &'p Program,
    /// The number of cells of its task, over all grids of all pairs.
    pub size: Option<usize>,
    /// Whether the solver is a random mutation of another solver.
    pub mutated: bool,
}

/// Options of [`merge`]. Every simplification can be switched off, to measure its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardOptions {
    /// Whether to compute calls whose arguments are all constants while merging.
    pub fold: bool,
    /// Whether to replace calls of known closures by the calls inside them.
    pub resolve: bool,
    /// Whether to drop unused steps that cannot fail.
    pub drop_dead: bool,
    /// How the batt is meant to run. A batt merged for [`OnError::Defaults`] can run either way. A
    /// batt merged for [`OnError::Poison`] should run that way only: a closure that fails half way
    /// has *one* default, but the steps into which it is resolved have several.
    pub on_error: OnError,
}

impl Default for CardOptions {
    fn default() -> CardOptions {
        CardOptions {
            fold: true,
            resolve: true,
            drop_dead: true,
            on_error: OnError::default(),
        }
    }
}

impl CardOptions {
    /// Sharing alone: every step stays as it is in its program.
    pub fn sharing_only() -> CardOptions {
        CardOptions {
            fold: false,
            resolve: false,
            drop_dead: false,
            ..CardOptions::default()
        }
    }
}

/// The reason why programs cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// The programs have different dialects.
    #[error("most programs are {}, but {} not: {}", dialect.name(), are(odd), list(odd))]
    MixedDialects {
        /// The dialect of most programs.
        dialect: Dialect,
        /// The functions of other dialects, with their dialects.
        odd: Vec<(String, Dialect)>,
    },
    /// A program takes neither a single grid nor some of `S`, `I` and `C`.
    #[error("'{function}' takes ({}); a solver takes (I) or some of (S, I, C)", params.join(", "))]
    Parameters {
        /// The function.
        function: String,
        /// Its parameters.
        params: Vec<String>,
    },
    /// Two donors have the same id, so scores could not be credited to one of them.
    #[error("two donors are called '{id}'")]
    DuplicateDonor {
        /// The id.
        id: String,
    },
    /// The batt could have so many steps that their numbers do not fit 30 bits.
    #[error("up to {steps} steps are too many for one batt")]
    TooManySteps {
        /// The greatest number of steps that merging could make.
        steps: u64,
    },
    /// A file of differs has none.
    #[error("no differ in {file}")]
    NoDiffer {
        /// The file.
        file: String,
    },
}

impl CardError {
    /// Returns advice on how to fix the error.
    pub fn hint(&self) -> &'static str {
        match self {
            CardError::MixedDialects { .. } => {
                "make a card of each, or say with --dialect which library all are written for"
            }
            CardError::Parameters { .. } => "change its parameters or leave it out",
            CardError::DuplicateDonor { .. } => "give one of them another name",
            CardError::TooManySteps { .. } => "take fewer solvers, with --count",
            CardError::NoDiffer { .. } => {
                "a differ compares two grids: def differ_<name>(S, I, C): ... return O"
            }
        }
    }
}

fn are(odd: &[(String, Dialect)]) -> &'static str {
    if odd.len() == 1 { "one is" } else { "some are" }
}

fn list(odd: &[(String, Dialect)]) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = odd
        .iter()
        .take(SHOWN)
        .map(|(name, dialect)| format!("'{name}' ({})", dialect.name()))
        .collect();
    if odd.len() > SHOWN {
        names.push(format!("and {} more", odd.len() - SHOWN));
    }
    names.join(", ")
}
