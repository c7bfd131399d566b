//! The archive of solvers in one SQLite file.
//!
//! ```text
//!   NewEntry (program, parents, task, score) ---> Archive::save ---> one transaction:
//!                                                |                  solvers, lineage, scores,
//!                                            Retention              the checkpoint of the run
//!                                                                        |
//!       ArchiveEntry, ArchivedSolver, TaskSummary <--- best, solver, tasks <------------+
//! ```
//!
//! The types to know:
//!
//! - [`Archive`]: the file
//! - [`NewEntry`]: a solver with its score on a task, to be saved; [`ArchiveEntry`]: the same once
//!   it is stored
//! - [`Score`](batt_arc::Score): how well a solver does; the better one sorts first
//! - [`Retention`]: which solvers of a task to keep
//! - [`RunInfo`] and [`Checkpoint`]: the run that found them, and its progress
//!
//! A solver is identified by its [structural hash](batt_lang::card::structural_hash) and stored in
//! canonical form as a function `solve`. It has a score for each task that it was tried on, and for
//! each version of that task.
//!
//! ```
//! use batt_arc::Score;
//! use batt_archive::{Archive, NewEntry, Retention, RunInfo};
//! use batt_lang::SolverFile;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("batt.sqlite");
//! let mut archive = Archive::open(&path)?;
//! let run = archive.begin_run(&RunInfo { seed: 1, ..RunInfo::default() })?;
//!
//! let file = SolverFile::parse("def solve_a(I):\n    x1 = hmirror(I)\n    return x1\n", "a.py");
//! let found = NewEntry {
//!     program: file.programs[0].clone(),
//!     parents: vec![],
//!     mutation: "seed".into(),
//!     task: "a".into(),
//!     task_hash: "0123456789abcdef".into(),
//!     score: Score { demos_solved: 2, demos: 2, closeness: 1_000_000, size: 1, cost: 4 },
//!     outputs: 99,
//! };
//! let saved = archive.save(run, &[found], &Retention::default(), None)?;
//! assert_eq!(saved.kept(), 1);
//!
//! let best = archive.best("a", None, 1)?;
//! assert_eq!(best[0].source, "def solve(I):\n    O = hmirror(I)\n    return O\n");
//! assert!(best[0].score.is_solved());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod candidates;
mod check;
mod connect;
mod error;
mod export;
mod gc;
mod lineage;
mod lookup;
mod merge;
mod records;
mod retention;
mod save;
mod schema;
mod text;

pub use archive::Archive;
pub use candidates::ArchivedCandidates;
pub use check::ArchiveFinding;
pub use error::ArchiveError;
pub use export::{Export, ExportOptions};
pub use gc::{GcOptions, GcReport};
pub use lineage::Ancestor;
pub use lookup::{Lookup, SHORTEST_PREFIX};
pub use merge::MergeReport;
pub use records::{
    ArchiveEntry, ArchivedRun, ArchivedSolver, Checkpoint, Kept, NewEntry, RunId, RunInfo, Saved,
    SolverSummary, TaskSummary,
};
pub use retention::Retention;
