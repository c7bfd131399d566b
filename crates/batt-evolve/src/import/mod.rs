//! Import: solvers from files are tried on their tasks and saved in an archive.

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

/// Solvers saved at a time. An import that is cut short keeps the batches that are saved.
const BATCH: usize = 500;

/// A solver to be tried on its task.
#[derive(Clone, Debug)]
pub struct ImportCandidate {
    /// The solver, in canonical form.
    pub program: Program,
    /// The position of its task.
    pub task: usize,
    /// Where it is from, in a word.
    pub origin: String,
}

/// How to import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The import, as the archive records it.
    pub info: RunInfo,
    /// Which solvers of a task stay.
    pub retention: Retention,
    /// Threads; `None` for one per core.
    pub threads: Option<NonZeroUsize>,
}

/// What an import came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Solvers that were tried.
    pub tried: usize,
    /// Of these, new or better ones.
    pub kept: usize,
    /// Of these, those the archive had with a score as good.
    pub known: usize,
    /// Of these, those the archive has better ones of.
    pub refused: usize,
    /// Of these, those that solve all demonstrations.
    pub solving: usize,
    /// Of these, those that fail on a demonstration.
    pub failing: usize,
}

/// Tries candidates on all cores and saves them as a run of the archive. `progress` hears how many
/// are done.
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

/// Tries candidates on all cores; `None` for those that were not tried because the work was
/// cancelled.
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
