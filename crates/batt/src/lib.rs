//! Runs, merges, evolves and submits ARC solvers, with the answers CPython gives.
//!
//! This crate is the entrance to the library. It composes the other crates of the workspace and adds
//! what every user of them needs: owned types that can be shared between threads, one error type,
//! cancellation, deadlines and progress. It never prints and never exits.

mod batts;
pub mod bench;
pub mod card;
mod control;
mod devices;
mod error;
pub mod files;
pub mod mega;
pub mod ops;
pub mod profile;
mod run;
mod solvers;
mod tasks;
mod trace;

pub use batt_arc::{
    COLOURS, Dataset, Grid, GridError, MAX_SIDE, Pair, PairRef, Skipped, Split, Task, render,
};
pub use batt_conformance as conformance;
pub use batt_cuda::{Compiler, DeviceFacts, KernelFacts, Origin, Survey};
pub use batt_dsl::{Dialect, Fault, Limits, OwnedValue};
pub use batt_engine::device::{Counts, DeviceReport};
pub use batt_engine::{
    Cancel, FailureRecord, JobResult, Role, RunError, RunScope, RunSummary, TracedStep, Values,
    Verdict, describe, micros,
};
pub use batt_lang::{
    Batt, BattFile, Diagnostic, OnError, Program, Severity, SolverFile, SourceFile, StepId, nearest,
};
pub use batt_reference::{CompareOptions, Comparison, ReferenceError, SolverTimes};
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
        fn shared<T: Send + Sync>() {}
        shared::<Solver>();
        shared::<Solvers>();
        shared::<Tasks>();
        shared::<Control>();
        shared::<RunResult>();
        shared::<RunReport>();
        shared::<Error>();
        shared::<Batts>();
        shared::<MegaSummary>();
        shared::<card::MergedBatt>();
    }
}
