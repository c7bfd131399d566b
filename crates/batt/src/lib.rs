//! Runs, merges, evolves and submits ARC solvers, with the answers that CPython gives.
//!
//! This crate is the entry point of the library. It combines the other crates of the workspace and
//! adds what every user needs: owned types that can be shared between threads, one error type,
//! cancellation, deadlines and progress. It never prints and never exits.
//!
//! ```text
//!   Tasks ──┬── run ─────> RunReport: verdicts, values, errors
//!   Solvers ┼── Solver::trace ──> the value of every step of one run
//!           ├── card ────> one program, a batt ── Mega ──> MegaSummary, JSON lines or Parquet
//!           ├── Evolve ──> new solvers ── archive ──┐
//!           └── Candidates <────────────────────────┘ ──> Submission
//! ```
//!
//! A complete example with the puzzles that come with the library:
//!
//! ```
//! use batt::archive::Archive;
//! use batt::evolve::{Evolve, EvolveEvent, HoldOut};
//! use batt::mega::Existing;
//! use batt::submission::{Candidates, Submission};
//! use batt::{Batts, Control, Devices, Mega, RunOptions, Solvers, Tasks, card, run};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! // Load. For your own files use `Tasks::load("data/training")` and
//! // `Solvers::load(["solvers.py"], None)`; `None` detects the dialect of each file.
//! let (tasks, solvers) = (Tasks::embedded(), Solvers::embedded());
//! // Functions that cannot be loaded are left out. The diagnostics say why.
//! for diagnostic in solvers.diagnostics() {
//!     println!("{diagnostic}");
//! }
//! let control = Control::new().deadline_in(std::time::Duration::from_secs(300));
//!
//! // Run every solver on its task, and compare with the known outputs.
//! let options = RunOptions::default();
//! let report = run(&solvers, &tasks, &options, &mut Devices::none(), &control, |result| {
//!     if let Some(reason) = result.reason() {
//!         let (solver, task) = (result.solver().name(), &result.task().id);
//!         println!("{solver} on {task} {}: {reason}", result.pair);
//!     }
//! })?;
//! let (solved, all) = report.summary.tasks();
//! assert_eq!((solved, all), (65, 65));
//!
//! // Merge the solvers into one program, a batt, that computes shared steps once.
//! let merged = card::merge(&solvers, Some(&tasks))?;
//! assert!(merged.stats.after < merged.stats.before);
//!
//! // Run the batt on every input of every task. An interrupted run continues.
//! let results = Mega::new(&Batts::from(merged.batt), &tasks)
//!     .write_to(folder.join("results.jsonl"), Existing::Resume)
//!     .run(&control)?;
//! assert!(results.is_complete());
//!
//! // Remove the solvers of two tasks, evolve new ones, and save these in an archive.
//! let archive = folder.join("solvers.sqlite");
//! Evolve::new(&tasks)
//!     .solvers(&solvers)
//!     .archive(&archive)
//!     .hold_out(HoldOut::Exactly(2))
//!     .offspring(200)
//!     .generations(2)
//!     .run(&control, |event| {
//!         if let EvolveEvent::Improved { improvement, .. } = event {
//!             println!("a better solver of task {}", improvement.task);
//!         }
//!     })?;
//!
//! // Answer the tests with the best archived solvers, then with the given ones.
//! let mut candidates = Candidates::archived(&tasks, &Archive::open_existing(&archive)?)?;
//! candidates.add_solvers(&solvers);
//! let fillers = Submission::fillers(&tasks);
//! let (submission, summary) = candidates.answer(fillers, None, &control, |_| true);
//! assert_eq!(summary.tasks_solved, 65);
//! # let path = folder.join("submission.json");
//! std::fs::write(path, submission.to_json()).expect("the folder can be written to");
//! # Ok::<(), batt::Error>(())
//! ```
//!
//! [`Solver::trace`] returns the steps of one run, and [`Solver::explain`] says why a step failed.
//! `examples/` has a small program for each part.

pub mod archive;
mod batts;
pub mod bench;
pub mod card;
pub mod conformance;
mod control;
mod devices;
mod error;
pub mod evolve;
pub mod files;
pub mod kaggle;
pub mod mega;
pub mod ops;
pub mod profile;
mod run;
mod solvers;
pub mod submission;
mod tasks;
mod trace;

pub use batt_arc::{
    COLOURS, Dataset, DatasetError, DuplicateTask, Grid, GridError, GridTextError, MAX_SIDE, Pair,
    PairRef, PairRefError, Problem, Score, Skipped, Split, Task, corpus, render,
};
pub use batt_cuda::{Arch, Compiler, Contents, DeviceFacts, KernelFacts, Origin, Survey, Version};
pub use batt_dsl::{DecodeError, Dialect, Fault, Limits, Literal, OwnedFloat, OwnedValue};
pub use batt_engine::device::{
    Counts, DeviceError, DeviceOpCount, DeviceReport, DeviceUsage, Mismatch, Reason, Times,
};
pub use batt_engine::schedule::most_workers;
pub use batt_engine::{
    Cancel, FailureRecord, JobResult, ParamRole, RunError, RunLine, RunScope, RunSummary,
    TracedStep, Values, Verdict, describe, micros, output_grid,
};
pub use batt_lang::{
    Batt, BattFile, Diagnostic, DiagnosticCode, DifferScore, LineRange, OnError, Operand, Output,
    ParamId, Program, Severity, SolverFile, SourceError, SourceFile, Span, Step, StepId, StepKind,
    Uses, nearest,
};
pub use batt_reference::{CompareOptions, Comparison, Ratios, ReferenceError, SolverTimes};
pub use batts::Batts;
pub use control::{Control, Progress};
pub use devices::{
    DeviceBug, DeviceChoice, DeviceChoiceError, Devices, RUNS_WORTH_A_DEVICE, SelfTest,
    clear_kernels, survey,
};
pub use error::{Error, Result};
pub use mega::{Mega, MegaSummary};
pub use run::{RunOptions, RunReport, RunResult, run, run_count};
pub use solvers::{Solver, Solvers};
pub use tasks::Tasks;
pub use trace::RunInput;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_of_the_library_can_be_shared_between_threads() {
        fn shared<T: Send + Sync + 'static>() {}
        shared::<Solver>();
        shared::<Solvers>();
        shared::<Tasks>();
        shared::<Control>();
        shared::<RunResult>();
        shared::<RunReport>();
        shared::<Error>();
        shared::<Batts>();
        shared::<MegaSummary>();
        shared::<mega::MegaOutcome>();
        shared::<card::DonorPool>();
        shared::<card::MergedBatt>();
        shared::<card::ExtractedSolver>();
        shared::<evolve::Evolve>();
        shared::<evolve::EvolveRun>();
        shared::<evolve::EvolveEvent>();
        shared::<evolve::EvolveReport>();
        shared::<archive::Import>();
        shared::<submission::Candidates>();
        shared::<submission::SubmissionFile>();
        // What has a file, a device or a function of the caller's belongs to one thread at a time.
        fn sent<T: Send + 'static>() {}
        sent::<archive::Archive>();
        sent::<Devices>();
        sent::<Mega>();
        sent::<mega::MegaRun>();
    }
}
