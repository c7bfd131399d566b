//! A thread that saves, so that evolution does not wait for the disk.

use std::collections::HashSet;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use batt_archive::{Archive, ArchiveError, Checkpoint, Kept, NewEntry, Retention, RunId, Saved};

use super::error::EvolveError;
use super::progress::Improvement;

/// The number of batches that may wait, each of some megabytes. If more arrive, evolution waits for
/// the archive.
const QUEUE: usize = 32;

/// The number of attempts in a row while another process keeps the archive busy. Each attempt waits
/// for a minute.
const ATTEMPTS: u32 = 5;

/// The entries and the checkpoint of one generation, saved in one transaction.
pub(super) struct SaveBatch {
    pub found: Vec<NewEntry>,
    pub checkpoint: Option<Checkpoint>,
    /// Improvements to report once the batch is saved.
    pub improvements: Vec<Improvement>,
}

/// The result of a batch.
pub(super) enum SaveReply {
    /// The batch is on the disk.
    Saved(Receipt),
    /// Another process keeps the archive busy, with this message. The batch is retried.
    Delayed(String),
    /// The batch is not saved, and later batches will not be either.
    Failed(EvolveError),
}

/// The result of a saved batch.
pub(super) struct Receipt {
    /// The hashes of the programs that the archive keeps.
    pub kept: HashSet<String>,
    /// The number of solvers that were new to the archive.
    pub new: usize,
    /// The number of programs that cannot be stored.
    pub not_storable: usize,
    pub improvements: Vec<Improvement>,
}

/// A thread that saves batches in the order in which they arrive.
pub(super) struct SaveThread {
    batches: Option<SyncSender<SaveBatch>>,
    replies: Receiver<SaveReply>,
    thread: Option<JoinHandle<()>>,
}

impl SaveThread {
    /// Starts a thread that saves the batches of a run.
    pub fn start(
        archive: Archive,
        run: RunId,
        retention: Retention,
    ) -> Result<SaveThread, EvolveError> {
        let (batches, incoming) = mpsc::sync_channel(QUEUE);
        let (outgoing, replies) = mpsc::channel();
        let mut saver = Saver {
            archive,
            run,
            retention,
        };
        let work = move || {
            for batch in incoming {
                let last = saver.save(batch, &outgoing);
                let failed = matches!(last, SaveReply::Failed(_));
                if outgoing.send(last).is_err() || failed {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("batt-save".into()).spawn(work);
        Ok(SaveThread {
            batches: Some(batches),
            replies,
            thread: Some(thread.map_err(EvolveError::NoSaveThread)?),
        })
    }

    /// Queues a batch.
    pub fn save(&mut self, batch: SaveBatch) {
        if let Some(batches) = &self.batches {
            // A closed channel means that saving failed; the replies say why.
            let _ = batches.send(batch);
        }
    }

    /// Returns the replies that have arrived.
    pub fn replies(&self) -> Vec<SaveReply> {
        self.replies.try_iter().collect()
    }

    /// Closes the queue and waits for the next reply; `None` after the last one.
    pub fn next_reply(&mut self) -> Result<Option<SaveReply>, EvolveError> {
        self.batches = None;
        if let Ok(reply) = self.replies.recv() {
            return Ok(Some(reply));
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(EvolveError::SaveThread),
            _ => Ok(None),
        }
    }
}

/// The state of the thread.
struct Saver {
    archive: Archive,
    run: RunId,
    retention: Retention,
}

impl Saver {
    /// Saves a batch, with several attempts if necessary.
    fn save(&mut self, mut batch: SaveBatch, replies: &mpsc::Sender<SaveReply>) -> SaveReply {
        let mut not_storable = 0;
        let mut busy = 0;
        loop {
            match self.attempt(&batch) {
                Ok(saved) => {
                    let kept = saved.found.into_iter();
                    let kept = kept.filter(|(_, kept)| *kept != Kept::Refused);
                    return SaveReply::Saved(Receipt {
                        kept: kept.map(|(hash, _)| hash).collect(),
                        new: saved.solvers,
                        not_storable,
                        improvements: batch.improvements,
                    });
                }
                // If one program cannot be stored, the others are still saved.
                Err(ArchiveError::Program { .. }) if not_storable == 0 => {
                    not_storable = self.remove_not_storable(&mut batch.found);
                }
                Err(error) if error.is_busy() && busy < ATTEMPTS => {
                    busy += 1;
                    let text = format!("{error}; the solvers found will be saved later");
                    // A receiver that is gone has ended already.
                    let _ = replies.send(SaveReply::Delayed(text));
                }
                Err(error) => return SaveReply::Failed(EvolveError::Unsaved(error)),
            }
        }
    }

    fn attempt(&mut self, batch: &SaveBatch) -> Result<Saved, ArchiveError> {
        let checkpoint = batch.checkpoint.as_ref();
        self.archive
            .save(self.run, &batch.found, &self.retention, checkpoint)
    }

    /// Tries programs one by one, removes those that cannot be stored, and returns their number.
    fn remove_not_storable(&mut self, found: &mut Vec<NewEntry>) -> usize {
        let before = found.len();
        found.retain(|found| {
            let alone = std::slice::from_ref(found);
            let saved = self.archive.save(self.run, alone, &self.retention, None);
            !matches!(saved, Err(ArchiveError::Program { .. }))
        });
        before - found.len()
    }
}
