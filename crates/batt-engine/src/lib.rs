//! Runs programs over samples: compiled once, run many times, within limits.
//!
//! ```text
//!   Program ── Compiled::new ──> Compiled ──┐
//!                                           ├─ Job ── evaluate ──> JobResult, in job order
//!   Grid: input, expected output ───────────┘
//! ```
//!
//! The types to know:
//!
//! - [`Compiled`]: a program made ready to run, on any thread; [`CompiledBatt`]: many programs
//!   merged
//! - [`Sample`]: an input grid with the demonstrations of its task
//! - [`Job`]: a run to do; [`evaluate`] runs many on all cores, [`mega`] runs batts over datasets
//! - [`JobResult`] and [`Verdict`]: the result of a run
//! - [`EvalOptions`]: limits, threads, values; [`Cancel`]: ends work early
//! - [`GraphWorker`]: values of many programs, with shared parts computed once
//! - [`RunPlan`] and [`RunSummary`]: which solver runs on which pair, and the counts of the results
//! - [`Shard`]: a part of a run, for several machines
//! - [`trace`]: the value of every step of a run
//! - [`schedule`]: worker threads, and results in order
//! - [`device`]: runs on a device; [`evaluate_on`] and [`mega_on`] use it
//! - [`wave`]: runs on a device, one op at a time for all of them
//!
//! ```
//! use batt_arc::Grid;
//! use batt_engine::{Cancel, Compiled, EvalOptions, Job, Sample, Verdict, evaluate};
//! use batt_lang::SolverFile;
//!
//! let file = SolverFile::parse("def solve(I):\n    O = hmirror(I)\n    return O\n", "solver.py");
//! let program = Compiled::new(&file.programs[0]);
//! let input = Grid::from_rows(&[[1, 2], [3, 4]])?;
//! let output = Grid::from_rows(&[[3, 4], [1, 2]])?;
//! let sample = Sample { demos: &[], input: &input, expected: Some(&output) };
//! let job = Job { program: &program, sample };
//!
//! let mut verdicts = Vec::new();
//! evaluate(&[job], &EvalOptions::default(), &Cancel::new(), |_, result| {
//!     verdicts.push(result.verdict);
//! });
//! assert_eq!(verdicts, [Verdict::Right]);
//! # Ok::<(), batt_arc::GridError>(())
//! ```

mod batt;
mod cancel;
mod compile;
pub mod device;
mod evaluate;
mod graph;
mod interpret;
mod lower;
mod mega;
mod on_devices;
mod outcome;
mod profile;
mod run_fields;
mod run_line;
mod run_plan;
mod run_summary;
mod sample;
pub mod schedule;
mod shard;
mod trace;
pub mod wave;

pub use batt::{BattEntry, BattWorker, CompiledBatt, Goal, StepCount};
pub use cancel::Cancel;
pub use compile::Compiled;
pub use evaluate::{
    EvalOptions, EvalReport, Job, JobResult, Judged, Values, Verdict, evaluate, input_grid, inputs,
    judge, judge_job, run_job,
};
pub use graph::GraphWorker;
pub use interpret::RunError;
pub use mega::{MegaOptions, MegaReport, MegaResult, mega};
pub use on_devices::{evaluate_on, mega_on};
pub use outcome::{describe, output_grid};
pub use profile::{BattProfile, StepProfile, profile};
pub use run_fields::{RunFault, RunFields};
pub use run_line::{EncodedValue, FailureRecord, RunLine, RunRecord, RunRecordError, micros};
pub use run_plan::{PlannedRun, RunPlan, RunScope};
pub use run_summary::RunSummary;
pub use sample::{ParamRole, Sample};
pub use shard::{Shard, ShardError};
pub use trace::{TracedStep, explain_step, trace};
