//! An evolution from setup to report.
//!
//! ```text
//!   tasks, solvers, archive --> EvolveSetup --> run: Search, round after round --> EvolveReport
//!                                                |           |
//!                                          EvolveEvent   ArchiveWriter --> archive
//! ```

mod answers;
mod error;
mod progress;
mod save_thread;
mod setup;
mod weights;
mod writer;

use std::sync::Arc;

use batt_arc::Task;
use batt_archive::{Archive, RunId};
use batt_engine::Cancel;
use batt_engine::device::Device;

pub use answers::TestAnswer;
pub use error::EvolveError;
pub use progress::{BestSolver, Change, EvolveProgress, Improvement};
pub use setup::{EvolveOptions, EvolveSetup, EvolveStart, HoldOut, ResumedRun};

use crate::evolution::Evolution;
use crate::search::Search;
use writer::ArchiveWriter;

/// An event of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EvolveEvent {
    /// Tasks and solvers are chosen, and the archive is read.
    Started(EvolveStart),
    /// Something the user should know, such as why the CPU runs everything.
    Note(String),
    /// A generation is done; the first one of these events comes before the first generation. The
    /// progress is copied only if the listener keeps it.
    Generation(Arc<EvolveProgress>),
    /// A task has a better solver. With an archive the event comes when the solver is saved.
    Improved {
        /// The task and its solver.
        improvement: Improvement,
        /// Whether the archive keeps the solver; `None` without an archive.
        saved: Option<bool>,
    },
    /// Another process keeps the archive busy; saving is tried again.
    SaveDelayed(String),
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All tasks are solved, and simpler solvers are unlikely.
    Done,
    /// The requested number of generations is done.
    Generations,
    /// The deadline passed.
    Deadline,
    /// The run was cancelled.
    Cancelled,
    /// Saving to the archive failed.
    SaveFailed,
}

/// The result of a run.
#[derive(Debug)]
pub struct EvolveReport {
    /// The tasks and solvers with which the run started.
    pub start: EvolveStart,
    /// The best solvers and all counts.
    pub progress: EvolveProgress,
    /// The test verdict on each solved task, if the tests were run.
    pub answers: Option<Vec<Option<TestAnswer>>>,
    /// The number of logical devices that ran offspring.
    pub devices: usize,
    /// Why the run ended.
    pub stop: StopReason,
    /// The error because of which the last solvers are not in the archive. Solvers saved before
    /// are.
    pub save_error: Option<EvolveError>,
}

impl EvolveReport {
    /// Returns the solved tasks with their position and best solver, in the order of the tasks.
    pub fn solved(&self) -> impl Iterator<Item = (usize, &Task, &BestSolver)> {
        let tasks = self.progress.tasks.iter().zip(&self.progress.best);
        tasks.enumerate().filter_map(|(at, (task, best))| {
            let best = best.as_ref().filter(|best| best.score.is_solved())?;
            Some((at, task, best))
        })
    }

    /// Returns the test verdict on a task; `None` if it is not solved or the tests were not run.
    pub fn answer(&self, task: usize) -> Option<TestAnswer> {
        *self.answers.as_ref()?.get(task)?
    }

    /// Returns the number of tasks whose solver is right on the tests; `None` if the tests were not
    /// run.
    pub fn right_on_tests(&self) -> Option<usize> {
        let answers = self.answers.as_ref()?.iter();
        Some(answers.filter(|a| **a == Some(TestAnswer::Right)).count())
    }
}

impl EvolveSetup {
    /// Evolves until all tasks are done, the generations are done, or `cancel` ends the run. Then
    /// everything found is saved. A failing archive also ends the run, and the report contains the
    /// error.
    pub fn run(
        mut self,
        devices: &mut [Box<dyn Device>],
        cancel: &Cancel,
        listener: &mut dyn FnMut(EvolveEvent),
    ) -> Result<EvolveReport, EvolveError> {
        let tasks = self.tasks.clone();
        // Another search is chosen here.
        let search: &mut dyn Search = &mut Evolution::new(
            &tasks,
            self.start.dialect,
            std::mem::take(&mut self.seeds),
            &self.options.differs,
            self.options.settings(self.start.seed),
        );
        let archive = self.begin(search)?;
        search.add_programs(&self.archived, cancel);

        let origins = std::mem::take(&mut self.origins);
        let path = self.start.archive.clone();
        let run = archive.as_ref().map(|(_, run)| run.number());
        let progress = EvolveProgress::new(search, tasks.clone(), (path, run), origins);
        let mut progress = Arc::new(progress);
        let mut writer = ArchiveWriter::new(archive, self.options.retention)?;
        listener(EvolveEvent::Generation(Arc::clone(&progress)));
        let mut left = self.options.generations.unwrap_or(u64::MAX);
        let ended = loop {
            if let Some(stop) = stop_reason(left, search, cancel) {
                break Ok(stop);
            }
            let round = search.round(devices, cancel);
            let now = Arc::make_mut(&mut progress);
            let improvements = now.add(search, &round);
            writer.take(&tasks, round.found);
            if let Err(error) = writer.save(search, improvements, now, listener) {
                break Err(error);
            }
            now.tick();
            listener(EvolveEvent::Generation(Arc::clone(&progress)));
            left -= 1;
        };
        let mut progress = Arc::unwrap_or_clone(progress);
        progress.tick();
        let ended = ended.and_then(|stop| {
            writer.finish(search, &mut progress, listener)?;
            Ok(stop)
        });
        let (stop, save_error) = match ended {
            Ok(stop) => (stop, None),
            Err(error) => (StopReason::SaveFailed, Some(error)),
        };
        let answers = (self.options.report_tests || self.start.held_out > 0).then(|| {
            let answer = |(task, best): (&Task, &Option<BestSolver>)| {
                let best = best.as_ref().filter(|best| best.score.is_solved())?;
                Some(TestAnswer::of(task, &best.program))
            };
            tasks.iter().zip(&progress.best).map(answer).collect()
        });
        Ok(EvolveReport {
            start: self.start,
            progress,
            answers,
            devices: devices.len(),
            stop,
            save_error,
        })
    }

    /// Starts a run of the archive, or resumes one.
    fn begin(&mut self, search: &mut dyn Search) -> Result<Option<(Archive, RunId)>, EvolveError> {
        let info = self.run_info();
        let Some(mut archive) = self.archive.take() else {
            return Ok(None);
        };
        let run = match &self.resumed {
            None => archive.begin_run(&info)?,
            Some(run) => {
                if let Some(checkpoint) = archive.checkpoint(run.id)? {
                    let restored = search.restore(&checkpoint.state);
                    restored.map_err(|source| EvolveError::Checkpoint {
                        path: archive.path().to_owned(),
                        run: run.id.number(),
                        source,
                    })?;
                }
                // Weights given by the caller override those the run has learnt.
                if let Some(weights) = &self.options.weights {
                    search.set_weights(weights.clone());
                }
                run.id
            }
        };
        Ok(Some((archive, run)))
    }
}

fn stop_reason(left: u64, search: &dyn Search, cancel: &Cancel) -> Option<StopReason> {
    if search.is_done() {
        Some(StopReason::Done)
    } else if left == 0 {
        Some(StopReason::Generations)
    } else if cancel.is_late() {
        Some(StopReason::Deadline)
    } else {
        cancel.is_cancelled().then_some(StopReason::Cancelled)
    }
}
