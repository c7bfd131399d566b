//! Evolution: solvers are mutated, run and scored, and the best are kept.
//!
//! ```text
//!             +--- Donors: solvers that are there -----+
//!             v                                        |
//!  Colony: breed --> Brood --> run --> select --> Colony (one for each task and island)
//!            ^         all new programs of a             |
//!         Weights      generation in one graph        FoundSolver
//!            ^                                           v
//!            +---------------- Credit ------------- whoever keeps an archive
//! ```
//!
//! - [`Evolution`]: the populations of all tasks; [`Evolution::round`] is one generation of each
//! - [`EvolveSettings`]: seed, islands, sizes, limits
//! - [`Kind`]: the ways to make a program from others; [`Weights`] say how often each is tried, and adapt
//! - [`Score`](batt_arc::Score): demonstrations solved, then closeness, then size, then cost
//! - [`SeedSolver`]: a solver to learn from
//! - [`EvolveSetup`]: a whole evolution, with an archive, events and a report
//! - [`import`]: solvers from files, tried on their tasks
//! - [`mutants`]: solvers changed by chance, for whoever scores them elsewhere
//! - [`Busy`]: what the time of threads goes into
//!
//! Test outputs are never looked at.

mod brood;
mod colony;
mod credit;
mod differ;
mod donors;
mod evolution;
mod ground;
mod import;
mod mutants;
mod mutate;
mod parts;
mod random;
mod score;
mod session;
mod stages;
mod state;
mod trial;
mod typed;
mod work;

pub use credit::{Credit, Weights};
pub use donors::SeedSolver;
pub use evolution::{Evolution, EvolveSettings, EvolveTally, FoundSolver, Round};
pub use import::{
    ImportCandidate, ImportOptions, ImportReport, OriginalError, OriginalSkips, import,
    read_original,
};
pub use mutants::{Mutant, mutants};
pub use mutate::Kind;
pub use session::{
    BestSolver, Change, EvolveError, EvolveEvent, EvolveOptions, EvolveProgress, EvolveReport,
    EvolveSetup, EvolveStart, HoldOut, Improvement, ResumedRun, StopReason, TestAnswer,
};
pub use stages::{Busy, Stage};
pub use state::{StateError, check_checkpoint};
pub use trial::{Judge, Trial};
pub use work::DeviceWork;
