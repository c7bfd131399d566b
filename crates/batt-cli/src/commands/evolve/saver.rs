//! A thread that saves, so that evolution does not wait for the disk.

use std::collections::HashSet;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use anyhow::{Error, Result, anyhow};
use batt_archive::{Archive, ArchiveError, Checkpoint, Found, Kept, Retention, RunId, Saved};

use super::progress::Event;
use crate::error::advised;

/// Batches that may wait, of some megabytes each. With more the archive is too slow for us, and we wait for it.
const QUEUE: usize = 32;

/// How often in a row another process may keep us from saving. Each time we have waited for a minute.
const PATIENCE: u32 = 5;

/// What one generation has to save: one transaction.
pub struct Batch {
    pub found: Vec<Found>,
    pub checkpoint: Option<Checkpoint>,
    /// What is to be told when it is saved.
    pub events: Vec<Event>,
}

/// What became of a batch.
pub enum Reply {
    /// It is on the disk.
    Saved(Receipt),
    /// Another process has the archive, as this says. It is tried again.
    Later(String),
    /// It is not saved, and nothing after it will be.
    Failed(Error),
}

/// A batch that is saved.
pub struct Receipt {
    /// The hashes of the programs that the archive keeps.
    pub kept: HashSet<String>,
    /// Solvers that were new to the archive.
    pub new: usize,
    /// Programs that cannot be stored.
    pub left_out: usize,
    pub events: Vec<Event>,
}

/// A thread that saves batches in the order in which they come, so that the archive is the same however long each takes.
pub struct Saver {
    batches: Option<SyncSender<Batch>>,
    replies: Receiver<Reply>,
    thread: Option<JoinHandle<()>>,
}

impl Saver {
    /// Begins to save what a run finds.
    pub fn start(archive: Archive, run: RunId, retention: Retention) -> Saver {
        let (batches, from_us) = mpsc::sync_channel(QUEUE);
        let (to_us, replies) = mpsc::channel();
        let mut desk = Desk {
            archive,
            run,
            retention,
        };
        let work = move || {
            for batch in from_us {
                let last = desk.save(batch, &to_us);
                let failed = matches!(last, Reply::Failed(_));
                if to_us.send(last).is_err() || failed {
                    return;
                }
            }
        };
        Saver {
            batches: Some(batches),
            replies,
            thread: Some(thread::spawn(work)),
        }
    }

    /// Hands over a batch. What has become of earlier ones comes back.
    pub fn save(&mut self, batch: Batch) -> Vec<Reply> {
        if let Some(batches) = &self.batches {
            // If nobody takes it any more, the replies say why.
            let _ = batches.send(batch);
        }
        self.replies.try_iter().collect()
    }

    /// What has become of earlier batches.
    pub fn replies(&self) -> Vec<Reply> {
        self.replies.try_iter().collect()
    }

    /// No batch comes any more. Waits for the next reply; none if there are no more.
    pub fn next_reply(&mut self) -> Result<Option<Reply>> {
        self.batches = None;
        if let Ok(reply) = self.replies.recv() {
            return Ok(Some(reply));
        }
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(anyhow!("saving broke down: this is a bug of ours")),
            _ => Ok(None),
        }
    }
}

/// Who saves.
struct Desk {
    archive: Archive,
    run: RunId,
    retention: Retention,
}

impl Desk {
    /// Saves a batch, if need be in several attempts.
    fn save(&mut self, mut batch: Batch, replies: &mpsc::Sender<Reply>) -> Reply {
        let mut left_out = 0;
        let mut refused = 0;
        loop {
            match self.attempt(&batch) {
                Ok(saved) => {
                    let kept = saved.found.into_iter();
                    let kept = kept.filter(|(_, kept)| *kept != Kept::Refused);
                    return Reply::Saved(Receipt {
                        kept: kept.map(|(hash, _)| hash).collect(),
                        new: saved.solvers,
                        left_out,
                        events: batch.events,
                    });
                }
                // One that cannot be stored must not cost the others.
                Err(ArchiveError::Program { .. }) if left_out == 0 => {
                    left_out = self.sort_out(&mut batch.found);
                }
                Err(error) if error.is_busy() && refused < PATIENCE => {
                    refused += 1;
                    let text = format!("{error}; what was found is saved later");
                    // Whoever does not listen any more finds all else out soon enough.
                    let _ = replies.send(Reply::Later(text));
                }
                Err(error) => return Reply::Failed(not_saved(&error)),
            }
        }
    }

    fn attempt(&mut self, batch: &Batch) -> Result<Saved, ArchiveError> {
        let checkpoint = batch.checkpoint.as_ref();
        self.archive
            .save(self.run, &batch.found, &self.retention, checkpoint)
    }

    /// Removes what cannot be stored, and says how much that is. The rest is saved on the way.
    fn sort_out(&mut self, found: &mut Vec<Found>) -> usize {
        let before = found.len();
        found.retain(|found| {
            let alone = std::slice::from_ref(found);
            let saved = self.archive.save(self.run, alone, &self.retention, None);
            !matches!(saved, Err(ArchiveError::Program { .. }))
        });
        before - found.len()
    }
}

fn not_saved(error: &ArchiveError) -> Error {
    let message = format!(
        "{error} (what was found last could not be saved; what was saved before is in order)"
    );
    advised(message, error.hint())
}
