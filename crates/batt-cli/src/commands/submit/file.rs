//! The submission file, which is complete and valid at every moment.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::submission::Submission;

use crate::files::replace;

/// The least time between two writes. Writing a file takes longer than answering a task, so answers
/// found in this time are written together.
const PAUSE: Duration = Duration::from_secs(1);

/// A submission file on disk.
pub struct SubmissionFile {
    path: PathBuf,
    /// The contents of the file.
    written: Submission,
    when: Instant,
}

impl SubmissionFile {
    /// Creates or replaces the file.
    pub fn create(path: &Path, submission: Submission) -> Result<SubmissionFile> {
        replace(path, &submission.to_json())?;
        Ok(SubmissionFile {
            path: path.to_owned(),
            written: submission,
            when: Instant::now(),
        })
    }

    /// Writes new answers, unless the file was just written.
    pub fn save(&mut self, submission: &Submission) -> Result<()> {
        match self.when.elapsed() < PAUSE {
            true => Ok(()),
            false => self.finish(submission),
        }
    }

    /// Writes new answers.
    pub fn finish(&mut self, submission: &Submission) -> Result<()> {
        if *submission != self.written {
            replace(&self.path, &submission.to_json())?;
            self.written = submission.clone();
            self.when = Instant::now();
        }
        Ok(())
    }
}
