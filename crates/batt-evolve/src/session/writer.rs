//! Saves the programs that a run finds, and reports improvements once they are saved.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use batt_arc::{Score, Task};
use batt_archive::{Archive, Checkpoint, NewEntry, Retention, RunId};
use batt_lang::card::structural_hash;

use super::EvolveEvent;
use super::error::EvolveError;
use super::progress::{EvolveProgress, Improvement};
use super::save_thread::{SaveBatch, SaveReply, SaveThread};
use crate::evolution::FoundSolver;
use crate::search::Search;

/// The least time between two checkpoints. With hundreds of tasks, a checkpoint has megabytes.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(60);

/// Saves the programs that a run finds. Without an archive it only reports improvements.
pub(super) struct ArchiveWriter {
    thread: Option<SaveThread>,
    retention: Retention,
    /// Programs that were found but not yet queued for saving.
    waiting: Vec<NewEntry>,
    /// The best saved scores of each task, with the hashes of their outputs.
    best: HashMap<usize, BTreeSet<(Score, u64)>>,
    last_checkpoint: Option<Instant>,
}

impl ArchiveWriter {
    /// Creates a writer for a run of an archive, or one without an archive.
    pub fn new(
        archive: Option<(Archive, RunId)>,
        retention: Retention,
    ) -> Result<ArchiveWriter, EvolveError> {
        let start = |(archive, run)| SaveThread::start(archive, run, retention);
        Ok(ArchiveWriter {
            thread: archive.map(start).transpose()?,
            retention,
            waiting: Vec::new(),
            best: HashMap::new(),
            last_checkpoint: None,
        })
    }

    /// Selects the programs to save: solutions, and programs that are among the best of their task.
    pub fn take(&mut self, tasks: &[Task], found: Vec<FoundSolver>) {
        if self.thread.is_none() {
            return;
        }
        let room = match self.retention {
            Retention::Best { per_task } => per_task,
            Retention::Original { capacity } => capacity + 1,
        };
        for found in found {
            let Some(task) = tasks.get(found.task) else {
                continue;
            };
            let best = self.best.entry(found.task).or_default();
            let last = best.iter().next_back();
            let is_good = best.len() < room || last.is_none_or(|(last, _)| found.score < *last);
            if !is_good && !found.score.is_solved() {
                continue;
            }
            best.insert((found.score, found.outputs));
            while best.len() > room {
                best.pop_last();
            }
            self.waiting.push(NewEntry {
                parents: found.parent.iter().map(structural_hash).collect(),
                mutation: found.origin.to_owned(),
                task: task.id.clone(),
                task_hash: format!("{:016x}", task.content_hash()),
                score: found.score,
                outputs: found.outputs,
                program: found.program,
            });
        }
    }

    /// Saves the selected programs in one transaction, with a checkpoint if one is due. The
    /// listener hears of improvements once they are saved, in this call or a later one.
    pub fn save(
        &mut self,
        search: &dyn Search,
        improvements: Vec<Improvement>,
        progress: &mut EvolveProgress,
        listener: &mut dyn FnMut(EvolveEvent),
    ) -> Result<(), EvolveError> {
        let due = |last: Instant| last.elapsed() >= BETWEEN_CHECKPOINTS;
        let due = self.last_checkpoint.is_none_or(due);
        let Some(thread) = &mut self.thread else {
            for improvement in improvements {
                let saved = None;
                listener(EvolveEvent::Improved { improvement, saved });
            }
            return Ok(());
        };
        let found = std::mem::take(&mut self.waiting);
        if due || !found.is_empty() || !improvements.is_empty() {
            thread.save(SaveBatch {
                found,
                checkpoint: due.then(|| Checkpoint {
                    generation: search.generation(),
                    state: search.state(),
                }),
                improvements,
            });
        }
        if due {
            self.last_checkpoint = Some(Instant::now());
        }
        let replies = thread.replies();
        replies
            .into_iter()
            .try_for_each(|reply| handle_reply(reply, progress, listener))
    }

    /// Saves the last programs with a checkpoint, and waits until everything is on the disk.
    pub fn finish(
        &mut self,
        search: &dyn Search,
        progress: &mut EvolveProgress,
        listener: &mut dyn FnMut(EvolveEvent),
    ) -> Result<(), EvolveError> {
        self.last_checkpoint = None;
        self.save(search, Vec::new(), progress, listener)?;
        while let Some(thread) = &mut self.thread {
            match thread.next_reply()? {
                Some(reply) => handle_reply(reply, progress, listener)?,
                None => self.thread = None,
            }
        }
        Ok(())
    }
}

fn handle_reply(
    reply: SaveReply,
    progress: &mut EvolveProgress,
    listener: &mut dyn FnMut(EvolveEvent),
) -> Result<(), EvolveError> {
    match reply {
        SaveReply::Saved(receipt) => {
            progress.saved += receipt.new;
            progress.not_storable += receipt.not_storable;
            for improvement in receipt.improvements {
                let saved = Some(receipt.kept.contains(&improvement.best.hash));
                listener(EvolveEvent::Improved { improvement, saved });
            }
        }
        SaveReply::Delayed(why) => listener(EvolveEvent::SaveDelayed(why)),
        SaveReply::Failed(error) => return Err(error),
    }
    Ok(())
}
