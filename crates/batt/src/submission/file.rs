//! The file of a submission, complete and valid at every moment.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::submission::Submission;

use crate::files::replace;

/// Answers found within this time are written together: a file takes longer than a task.
const PAUSE: Duration = Duration::from_secs(1);

/// The file of a submission.
pub struct SubmissionFile {
    path: PathBuf,
    /// What is in the file.
    written: Submission,
    when: Instant,
}

impl SubmissionFile {
    /// Writes the first version, replacing a file that is there.
    pub fn create(path: &Path, submission: Submission) -> Result<SubmissionFile> {
        replace(path, &submission.to_json())?;
        Ok(SubmissionFile {
            path: path.to_owned(),
            written: submission,
            when: Instant::now(),
        })
    }

    /// Writes new answers, unless the file was written a moment ago.
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
