//! Evolution: solvers are mutated, run and scored, and the best are kept.
//!
//! ```text
//!             +--- Donors: solvers that exist ----------+
//!             v                                         |
//!  Island: breed --> Offspring --> run --> select --> Island (one for each task and island number)
//!            ^          all new programs of a             |
//!         Weights       generation in one graph         Found
//!            ^                                            v
//!            +---------------- Credit --------------- the caller's archive
//! ```
//!
//! - [`Evolution`]: the populations of all tasks; [`Evolution::round`] is one generation of each
//! - [`Settings`]: seed, islands, sizes, limits
//! - [`MutationKind`]: the ways to make a program from others; [`Weights`] say how often each is tried, and adapt
//! - [`Score`]: demonstrations solved, then closeness, then size, then cost
//! - [`Donor`]: a solver to learn from
//! - [`mutants`]: solvers changed at random, to be scored elsewhere
//! - [`StageTimes`]: what the threads spend their time on
//!
//! Test outputs are never looked at. `docs/evolution.md` says why things are done as they are.
//!
//! To add a kind of mutation, add it to [`MutationKind`] and to `mutate/`, one strategy per function.

mod credit;
mod devices;
mod differ;
mod donors;
mod evolution;
mod gene_pool;
mod generation;
mod island;
mod mutants;
mod mutate;
mod offspring;
mod parts;
mod random;
pub mod score;
mod state;
mod timing;
mod trial;
mod typed;

pub use credit::{Credit, Weights};
pub use devices::DeviceWork;
pub use donors::Donor;
pub use evolution::{Evolution, Found, Round, Settings, Tally};
pub use mutants::{Mutant, mutants};
pub use mutate::MutationKind;
pub use score::Score;
pub use state::StateError;
pub use timing::{Stage, StageTimes};
pub use trial::{Judge, Trial};
