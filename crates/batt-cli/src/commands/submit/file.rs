//! The file of a submission, complete and valid from the first moment to the last.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_arc::submission::{Attempts, Submission};

use crate::files::replace;

/// Answers found within this time are written together: a file takes longer than a task.
const PAUSE: Duration = Duration::from_secs(1);

/// A submission and the file it is in.
pub struct SubmissionFile {
    path: PathBuf,
    submission: Submission,
    written: Instant,
    changed: bool,
}

impl SubmissionFile {
    /// Writes the first version, in the place of what may be there.
    pub fn create(path: &Path, submission: Submission) -> Result<SubmissionFile> {
        let mut file = SubmissionFile {
            path: path.to_owned(),
            submission,
            written: Instant::now(),
            changed: true,
        };
        file.finish()?;
        Ok(file)
    }

    /// What is in the file, or will be.
    pub fn submission(&self) -> &Submission {
        &self.submission
    }

    /// Puts in answers to a test. They are in the file after [`save`](SubmissionFile::save).
    pub fn set(&mut self, task: &str, test: usize, attempts: Attempts) {
        self.changed |= self.submission.set(task, test, attempts);
    }

    /// Writes what is new, unless that was done just now.
    pub fn save(&mut self) -> Result<()> {
        match self.written.elapsed() < PAUSE {
            true => Ok(()),
            false => self.finish(),
        }
    }

    /// Writes what is new.
    pub fn finish(&mut self) -> Result<()> {
        if self.changed {
            replace(&self.path, &self.submission.to_json())?;
            self.changed = false;
            self.written = Instant::now();
        }
        Ok(())
    }
}
