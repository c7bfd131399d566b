//! The file of a submission, complete and valid at every moment.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use batt_arc::submission::Submission;

use crate::error::{Error, Result};
use crate::files::replace;

/// Answers found within this time are written together: a file takes longer than a task.
const PAUSE: Duration = Duration::from_secs(1);

/// The file of a submission. It is replaced as a whole, so it is valid whenever the program ends.
///
/// ```
/// use batt::submission::{Candidates, Submission, SubmissionFile};
/// use batt::{Control, Solvers, Tasks};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("submission.json");
/// let tasks = Tasks::embedded();
/// let mut candidates = Candidates::none(&tasks);
/// candidates.add_solvers(&Solvers::embedded());
/// let fillers = Submission::fillers(&tasks);
/// let mut file = SubmissionFile::create(&path, fillers.clone())?;
/// let control = Control::new();
/// let (submission, _) = candidates.answer(fillers, None, &control, |answers| file.save(answers).is_ok());
/// file.finish(&submission)?;
/// # Ok::<(), batt::Error>(())
/// ```
#[derive(Debug)]
pub struct SubmissionFile {
    path: PathBuf,
    /// What is in the file.
    written: Submission,
    when: Instant,
}

impl SubmissionFile {
    /// Writes the first version, replacing a file that is there.
    pub fn create(path: impl AsRef<Path>, submission: Submission) -> Result<SubmissionFile> {
        let path = path.as_ref();
        SubmissionFile::check_place(path)?;
        replace(path, &submission.to_json())?;
        Ok(SubmissionFile {
            path: path.to_owned(),
            written: submission,
            when: Instant::now(),
        })
    }

    /// Refuses streams and devices: only a file can be replaced as a whole.
    pub fn check_place(path: &Path) -> Result<()> {
        let is_stream = path == Path::new("-");
        match is_stream || path.exists() && !path.is_file() && !path.is_dir() {
            false => Ok(()),
            true => Err(Error::request(
                format_args!("cannot write {}: it is not a file", path.display()),
                "name a file: it is replaced as a whole whenever there are new answers",
            )),
        }
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
