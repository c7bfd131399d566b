//! Results on disk, safe against being killed at any moment.
//!
//! Lines go to `FILE.part`, in order; `FILE.part.json` says what they are the results of. When all are
//! there, the part becomes the file. Whatever kills the run leaves a prefix of the lines, the last of them
//! perhaps torn; resuming cuts the torn one off and goes on after the whole ones.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use crate::error::{advised, bad_file};

/// How long finished lines may wait in memory.
const FLUSH_EVERY: Duration = Duration::from_millis(500);

/// A file of results under way.
pub struct Journal {
    target: PathBuf,
    lines: BufWriter<File>,
    flushed: Instant,
}

/// What to do about results that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Go on with an unfinished run.
    Resume,
    /// Start again.
    Overwrite,
    /// Neither: an unfinished run is an error.
    Refuse,
}

impl Journal {
    /// Opens the journal for a file. `settings` says what the results are of; `seen` hears of every line that is
    /// there already. Gives the journal and how many lines those are.
    pub fn open(
        target: &Path,
        settings: &Json,
        existing: Existing,
        seen: impl FnMut(usize, &str) -> Result<()>,
    ) -> Result<(Journal, usize)> {
        let (part, about) = (part(target), about(target));
        let unfinished = part.exists();
        if unfinished && existing == Existing::Refuse {
            return Err(advised(
                format_args!(
                    "{} holds the unfinished results of an earlier run",
                    part.display()
                ),
                "add --resume to go on with it, or --overwrite to start again",
            ));
        }
        let done = if unfinished && existing == Existing::Resume {
            check(&about, settings)?;
            keep_whole_lines(&part, seen).map_err(|error| match error.downcast::<io::Error>() {
                Ok(error) => bad_file("read", &part, &error),
                Err(other) => other,
            })?
        } else {
            let written = fs::write(&about, settings.to_string() + "\n");
            written.map_err(|error| bad_file("write", &about, &error))?;
            File::create(&part).map_err(|error| bad_file("write", &part, &error))?;
            0
        };
        let lines = OpenOptions::new().append(true).open(&part);
        let lines = lines.map_err(|error| bad_file("write", &part, &error))?;
        let journal = Journal {
            target: target.to_owned(),
            lines: BufWriter::with_capacity(1 << 18, lines),
            flushed: Instant::now(),
        };
        Ok((journal, done))
    }

    /// Appends a line, which ends in a newline.
    pub fn write(&mut self, line: &str) -> io::Result<()> {
        self.lines.write_all(line.as_bytes())?;
        if self.flushed.elapsed() >= FLUSH_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    /// Hands everything to the system.
    pub fn flush(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        self.lines.flush()
    }

    /// Where the unfinished results are.
    pub fn part(&self) -> PathBuf {
        part(&self.target)
    }

    /// All lines are there: `convert` makes the file of them, or they are the file.
    pub fn finish(
        mut self,
        convert: Option<impl FnOnce(&Path, &Path) -> Result<()>>,
    ) -> Result<()> {
        let (part, about) = (part(&self.target), about(&self.target));
        let written = self.flush().and_then(|()| self.lines.get_ref().sync_all());
        written.map_err(|error| bad_file("write", &part, &error))?;
        drop(self.lines);
        match convert {
            Some(convert) => {
                convert(&part, &self.target)?;
                let removed = fs::remove_file(&part);
                removed.map_err(|error| bad_file("remove", &part, &error))?;
            }
            None => {
                let renamed = fs::rename(&part, &self.target);
                renamed.map_err(|error| bad_file("write", &self.target, &error))?;
            }
        }
        fs::remove_file(&about).map_err(|error| bad_file("remove", &about, &error))
    }
}

fn part(target: &Path) -> PathBuf {
    with_suffix(target, ".part")
}

fn about(target: &Path) -> PathBuf {
    with_suffix(target, ".part.json")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Are these the results of the same batts on the same tasks, run in the same way?
fn check(about: &Path, settings: &Json) -> Result<()> {
    let text = fs::read_to_string(about).map_err(|error| bad_file("read", about, &error))?;
    let before: Json = serde_json::from_str(&text).unwrap_or_default();
    if before == *settings {
        return Ok(());
    }
    let keys = settings.as_object().into_iter().flat_map(|o| o.keys());
    let changed: Vec<&str> = keys
        .filter(|key| before.get(key.as_str()) != settings.get(key.as_str()))
        .map(String::as_str)
        .collect();
    Err(advised(
        format_args!(
            "the unfinished results are of another run: {} changed",
            changed.join(", ")
        ),
        "run with the same batts, tasks and limits as before, or add --overwrite to start again",
    ))
}

/// Shows the whole lines of a file to `seen` and cuts off what follows them. Gives their number.
fn keep_whole_lines(path: &Path, mut seen: impl FnMut(usize, &str) -> Result<()>) -> Result<usize> {
    let mut lines = BufReader::with_capacity(1 << 18, File::open(path)?);
    let (mut count, mut whole, mut line) = (0, 0, Vec::new());
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\n").map(String::from_utf8_lossy) else {
            break;
        };
        // A machine that lost power may have left a line of anything.
        if seen(count, &text).is_err() {
            break;
        }
        count += 1;
        whole += read as u64;
    }
    OpenOptions::new().write(true).open(path)?.set_len(whole)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(target: &Path, existing: Existing) -> Result<(Journal, usize)> {
        let ok = |_: usize, line: &str| match line {
            "bad" => Err(anyhow::anyhow!("bad")),
            _ => Ok(()),
        };
        Journal::open(target, &serde_json::json!({"n": 1}), existing, ok)
    }

    type Convert = fn(&Path, &Path) -> Result<()>;

    #[test]
    fn a_torn_line_is_cut_off_and_the_rest_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.jsonl");
        let (mut journal, done) = open(&target, Existing::Refuse).unwrap();
        assert_eq!(done, 0);
        journal.write("one\n").unwrap();
        journal.write("two\n").unwrap();
        journal.write("thr").unwrap();
        drop(journal);
        assert!(open(&target, Existing::Refuse).is_err());
        let (mut journal, done) = open(&target, Existing::Resume).unwrap();
        assert_eq!(done, 2);
        journal.write("three\n").unwrap();
        journal.finish(None::<Convert>).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_line_of_rubbish_ends_what_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.jsonl");
        let (mut journal, _) = open(&target, Existing::Refuse).unwrap();
        journal.write("one\nbad\ntwo\n").unwrap();
        drop(journal);
        assert_eq!(open(&target, Existing::Resume).unwrap().1, 1);
        assert_eq!(open(&target, Existing::Overwrite).unwrap().1, 0);
    }

    #[test]
    fn other_settings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.jsonl");
        drop(open(&target, Existing::Refuse).unwrap());
        let other = serde_json::json!({"n": 2});
        let result = Journal::open(&target, &other, Existing::Resume, |_, _| Ok(()));
        let message = result.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(message.contains("n changed"), "{message}");
    }
}
