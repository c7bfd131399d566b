//! Results on disk, safe against being killed at any moment.
//!
//! Lines go to `FILE.part`, in order; `FILE.part.json` says what they are the results of. When all are
//! there, the part becomes the file. Whatever kills the run leaves a prefix of the lines, the last of them
//! perhaps torn; resuming cuts the torn one off and goes on after the whole ones.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value as Json;

use super::sink::kept;
use crate::error::{advised, bad_file};
use crate::files;

/// A file of results under way.
pub struct Journal {
    target: PathBuf,
    lines: BufWriter<File>,
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
    /// there already, and an error of it ends what is kept of them. Gives the journal and how many lines
    /// those are.
    pub fn open(
        target: &Path,
        settings: &Json,
        existing: Existing,
        seen: impl FnMut(usize, &str) -> Result<()>,
    ) -> Result<(Journal, usize)> {
        let target = place(target)?;
        let (part, about) = (part(&target), about(&target));
        let cannot = |doing: &'static str| {
            let part = part.clone();
            move |error: io::Error| bad_file(doing, &part, &error)
        };
        let opened = OpenOptions::new().read(true).write(true).open(&part);
        let (mut file, done) = match opened {
            Ok(file) => {
                lock(&file, &part)?;
                let empty = file.metadata().map_err(cannot("read"))?.len() == 0;
                match existing {
                    Existing::Resume => {
                        check(&about, settings)?;
                        let done = keep_whole_lines(&file, seen).map_err(cannot("read"))?;
                        (file, done)
                    }
                    Existing::Refuse if !empty => {
                        return Err(advised(
                            format_args!(
                                "{} holds the unfinished results of an earlier run",
                                part.display()
                            ),
                            "add --resume to go on with it, or --overwrite to start again",
                        ));
                    }
                    Existing::Refuse | Existing::Overwrite => {
                        // The lines go first: never may old ones be found with new settings.
                        file.set_len(0).map_err(cannot("write"))?;
                        describe(&about, settings)?;
                        (file, 0)
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                describe(&about, settings)?;
                let mut options = OpenOptions::new();
                let created = options.read(true).write(true).create_new(true).open(&part);
                let file = created.map_err(cannot("write"))?;
                lock(&file, &part)?;
                (file, 0)
            }
            Err(error) => return Err(cannot("write")(error)),
        };
        file.seek(SeekFrom::End(0)).map_err(cannot("write"))?;
        let lines = BufWriter::with_capacity(1 << 18, file);
        Ok((Journal { target, lines }, done))
    }

    /// Appends a line, which ends in a newline.
    pub fn write(&mut self, line: &str) -> io::Result<()> {
        self.lines.write_all(line.as_bytes())
    }

    /// Hands everything to the system.
    pub fn flush(&mut self) -> io::Result<()> {
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
        written.map_err(|error| kept(&part, &error))?;
        drop(self.lines);
        match convert {
            Some(convert) => {
                convert(&part, &self.target)?;
                let removed = fs::remove_file(&part);
                removed.map_err(|error| bad_file("remove", &part, &error))?;
            }
            None => {
                let renamed = fs::rename(&part, &self.target);
                renamed.map_err(|error| kept(&self.target, &error))?;
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

/// A path with something after its name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Where the file will be. What cannot be replaced by a file is refused now, not after hours of work.
fn place(target: &Path) -> Result<PathBuf> {
    let there = fs::metadata(target);
    let bytes = target.as_os_str().as_encoded_bytes();
    if bytes.ends_with(b"/") || there.as_ref().is_ok_and(fs::Metadata::is_dir) {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(bad_file("write", target, &error));
    }
    match there {
        Ok(there) if !there.is_file() => Err(advised(
            format_args!("cannot write {}: it is not a file", target.display()),
            "name a file, or - for stdout",
        )),
        // A link stays one: the results go where it points.
        Ok(_) if target.is_symlink() => {
            let place = fs::canonicalize(target);
            place.map_err(|error| bad_file("write", target, &error))
        }
        Ok(_) => Ok(target.to_owned()),
        Err(error) => {
            let folder = target.parent().filter(|p| !p.as_os_str().is_empty());
            let found = folder.is_none_or(Path::is_dir);
            if error.kind() == io::ErrorKind::NotFound && found {
                return Ok(target.to_owned());
            }
            Err(bad_file("write", target, &error))
        }
    }
}

/// Two runs that write the same file would ruin it for both.
fn lock(file: &File, part: &Path) -> Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(advised(
            format_args!("another run is writing {}", part.display()),
            "wait for it to end, or choose another name",
        )),
        // Some file systems know no locks; nothing else is wrong with them.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Says what the lines will be the results of.
fn describe(about: &Path, settings: &Json) -> Result<()> {
    files::replace(about, &format!("{settings}\n"))
}

/// Are these the results of the same batts on the same tasks, run in the same way?
fn check(about: &Path, settings: &Json) -> Result<()> {
    let text = fs::read_to_string(about).unwrap_or_default();
    let Ok(Json::Object(before)) = serde_json::from_str(&text) else {
        return Err(advised(
            format_args!(
                "nothing tells what the unfinished results are of: {} is missing or damaged",
                about.display()
            ),
            "add --overwrite instead of --resume to start again",
        ));
    };
    let now = settings.as_object().into_iter().flatten();
    let changed: Vec<&str> = now
        .filter(|(key, value)| before.get(*key) != Some(value))
        .map(|(key, _)| key.as_str())
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    Err(advised(
        format_args!(
            "the unfinished results are of another run: {} changed",
            changed.join(", ")
        ),
        "run with the same batts, tasks and limits as before, or with --overwrite instead of --resume \
         to start again",
    ))
}

/// Shows the whole lines of a file to `seen` and cuts off what follows them. Gives their number.
fn keep_whole_lines(
    file: &File,
    mut seen: impl FnMut(usize, &str) -> Result<()>,
) -> io::Result<usize> {
    let mut lines = BufReader::with_capacity(1 << 18, file);
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
    file.set_len(whole)?;
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
        assert_eq!(fs::read_to_string(part(&target)).unwrap(), "one\ntwo\nthr");
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
    fn two_runs_do_not_write_the_same_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.jsonl");
        let first = open(&target, Existing::Refuse).unwrap();
        for existing in [Existing::Refuse, Existing::Resume, Existing::Overwrite] {
            let message = open(&target, existing).err().map(|e| e.to_string());
            assert!(message.is_some_and(|m| m.contains("another run")));
        }
        drop(first);
        // Nothing was written yet, so nothing is lost.
        assert_eq!(open(&target, Existing::Refuse).unwrap().1, 0);
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
        fs::write(about(&target), "{\"n\"").unwrap();
        let message = open(&target, Existing::Resume).err().map(|e| e.to_string());
        assert!(message.is_some_and(|m| m.contains("missing or damaged")));
        assert_eq!(open(&target, Existing::Overwrite).unwrap().1, 0);
    }
}
