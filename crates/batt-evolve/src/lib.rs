//! Evolution: solvers are mutated, run and scored, and the best are kept.
//!
//! ```text
//!             +--- Donors: solvers that are there -----+
//!             v                                        |
//!  Island: breed --> Offspring --> run --> select --> Island (one for each task and island)
//!            ^         all new programs of a             |
//!         Weights      generation in one graph        Found
//!            ^                                           v
//!            +---------------- Credit ------------- whoever keeps an archive
//! ```
//!
//! - [`Evolution`]: the populations of all tasks; [`Evolution::round`] is one generation of each
//! - [`Settings`]: seed, islands, sizes, limits
//! - [`MutationKind`]: the ways to make a program from others; [`Weights`] say how often each is tried, and adapt
//! - [`Score`]: demonstrations solved, then closeness, then size, then cost
//! - [`Donor`]: a solver to learn from
//! - [`mutants`]: solvers changed by chance, for whoever scores them elsewhere
//! - [`StageTimes`]: what the time of threads goes into
//!
//! Test outputs are never looked at.

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
