//! Evolution: mutates, runs and scores solvers, and keeps the best.
//!
//! ```text
//!             +--- Donors: solvers that exist ----------+
//!             v                                         |
//!  Island: breed --> Offspring --> run --> select --> Island (one for each task and island number)
//!            ^          all new programs of a             |
//!         Weights       generation in one graph         FoundSolver
//!            ^                                            v
//!            +---------------- Credit --------------- the caller's archive
//! ```
//!
//! - [`Evolution`]: the populations of all tasks; [`Evolution::round`] is one generation of each
//! - [`EvolveSettings`]: seed, islands, sizes, limits
//! - [`MutationKind`]: the ways to make a program from others; [`Weights`] set how often each is
//!   tried, and adapt
//! - [`Score`](batt_arc::Score): demonstrations solved, then closeness, then size, then cost
//! - [`SeedSolver`]: a solver from which evolution learns
//! - [`Search`]: what a session needs of a search; [`Evolution`] is one
//! - [`EvolveSetup`]: a whole evolution, with an archive, events and a report
//! - [`import`]: tries solvers from files on their tasks
//! - [`mutants`]: solvers changed at random, for scoring outside evolution
//! - [`StageTimes`]: the time of the threads by stage
//!
//! Evolution never uses test outputs. `docs/evolution.md` explains the design.
//!
//! To add a kind of mutation, add it to [`MutationKind`], and a function to `mutate/`.

mod credit;
mod devices;
mod differ;
mod donors;
mod evolution;
mod gene_pool;
mod generation;
mod import;
mod island;
mod mutants;
mod mutate;
mod offspring;
mod parts;
mod random;
mod score;
mod search;
mod session;
mod state;
mod timing;
mod trial;
mod typed;

pub use credit::{Credit, Weights};
pub use devices::DeviceWork;
pub use donors::SeedSolver;
pub use evolution::{Evolution, EvolveSettings, EvolveTally, FoundSolver, Round};
pub use import::{
    ImportCandidate, ImportOptions, ImportReport, OriginalError, OriginalSkips, import,
    read_original,
};
pub use mutants::{Mutant, mutants};
pub use mutate::MutationKind;
pub use search::Search;
pub use session::{
    BestSolver, Change, EvolveError, EvolveEvent, EvolveOptions, EvolveProgress, EvolveReport,
    EvolveSetup, EvolveStart, HoldOut, Improvement, ResumedRun, StopReason, TestAnswer,
};
pub use state::{StateError, check_checkpoint};
pub use timing::{Stage, StageTimes};
pub use trial::{Judge, Trial};
