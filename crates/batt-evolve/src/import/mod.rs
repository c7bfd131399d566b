//! Import: tries solvers from files on their tasks and saves them in an archive.

mod original;

use std::collections::HashMap;
use std::num::NonZeroUsize;

use batt_arc::Task;
use batt_archive::{Archive, ArchiveError, Kept, NewEntry, Retention, RunInfo};
use batt_dsl::Dialect;
use batt_engine::Cancel;
use batt_engine::schedule::Schedule;
use batt_lang::Program;

pub use original::{OriginalError, OriginalSkips, read_original};

use crate::trial::{Judge, Trial};

/// The number of solvers saved in one transaction. A cancelled import keeps the batches that were
/// saved.
const BATCH: usize = 500;

/// A solver to try on its task.
#[derive(Clone, Debug)]
pub struct ImportCandidate {
    /// The solver, in canonical form.
    pub program: Program,
    /// The position of its task.
    pub task: usize,
    /// The name of its source.
    pub origin: String,
}

/// Options of [`import`].
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The record of the import in the archive.
    pub info: RunInfo,
    /// Which solvers of a task to keep.
    pub retention: Retention,
    /// The number of threads; `None` uses one per core.
    pub threads: Option<NonZeroUsize>,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The number of solvers that were tried.
    pub tried: usize,
    /// The number of these that are new or better.
    pub kept: usize,
    /// The number of these that the archive had with a score at least as good.
    pub known: usize,
    /// The number of these that retention refused.
    pub refused: usize,
    /// The number of these that solve all demonstrations.
    pub solving: usize,
    /// The number of these that fail on a demonstration.
    pub failing: usize,
}

/// Tries candidates on all cores and saves them as a run of the archive. Calls `progress` with the
/// number of candidates done.
pub fn import(
    archive: &mut Archive,
    tasks: &[Task],
    candidates: &[ImportCandidate],
    options: &ImportOptions,
    cancel: &Cancel,
    progress: &mut dyn FnMut(usize),
) -> Result<ImportReport, ArchiveError> {
    let run = archive.begin_run(&options.info)?;
    let mut report = ImportReport::default();
    for batch in candidates.chunks(BATCH) {
        let trials = try_all(batch, tasks, options.threads, cancel);
        let tried = batch.iter().zip(&trials);
        let found: Vec<NewEntry> = tried
            .filter_map(|(candidate, trial)| Some(new_entry(candidate, tasks, trial.as_ref()?)))
            .collect();
        let saved = archive.save(run, &found, &options.retention, None)?;
        report.tried += found.len();
        for trial in trials.iter().flatten() {
            report.solving += usize::from(trial.score.is_solved());
            report.failing += usize::from(trial.failed > 0);
        }
        for (_, kept) in &saved.found {
            match kept {
                Kept::New | Kept::Better => report.kept += 1,
                Kept::Known => report.known += 1,
                Kept::Refused => report.refused += 1,
            }
        }
        progress(report.tried);
        if cancel.is_cancelled() {
            break;
        }
    }
    Ok(report)
}

fn new_entry(candidate: &ImportCandidate, tasks: &[Task], trial: &Trial) -> NewEntry {
    let task = &tasks[candidate.task];
    NewEntry {
        program: candidate.program.clone(),
        parents: Vec::new(),
        mutation: candidate.origin.clone(),
        task: task.id.clone(),
        task_hash: format!("{:016x}", task.content_hash()),
        score: trial.score,
        outputs: trial.outputs,
    }
}

/// Tries candidates on all cores. A candidate gets `None` if the work was cancelled before.
fn try_all(
    candidates: &[ImportCandidate],
    tasks: &[Task],
    threads: Option<NonZeroUsize>,
    cancel: &Cancel,
) -> Vec<Option<Trial>> {
    let worker = || {
        let mut judges: HashMap<Dialect, Judge> = HashMap::new();
        move |at: usize| {
            let candidate = &candidates[at];
            let dialect = candidate.program.dialect();
            let judge = judges.entry(dialect).or_insert_with(|| Judge::new(dialect));
            judge.try_on(&candidate.program, &tasks[candidate.task])
        }
    };
    let mut trials = vec![None; candidates.len()];
    let schedule = Schedule::one_by_one(candidates.len(), threads);
    schedule.run(cancel, worker, |at, trial| trials[at] = Some(trial));
    trials
}
