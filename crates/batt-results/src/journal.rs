//! The journal: the results of a run on disk, unfinished and finished.
//!
//! Lines go to `FILE.part`, in order; `FILE.part.json` holds the settings they depend on. When all
//! runs are done, the part becomes FILE, unchanged or converted to Parquet. A killed run leaves a
//! prefix of the lines, and the last line may be torn. Resuming cuts off the torn line and
//! continues after the complete ones.
//!
//! The settings and totals of a finished run are kept in `FILE.meta.json`, or in the key-value
//! metadata of a Parquet file. So resuming a finished run does nothing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ResultsError;
use crate::files::{replace, with_suffix};
use crate::parquet;
use crate::settings::RunSettings;
use crate::totals::MegaTotals;

/// The file of an unfinished run.
#[derive(Debug)]
pub struct Journal {
    target: PathBuf,
    settings: RunSettings,
    lines: BufWriter<File>,
}

/// How to treat existing results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Continues an unfinished run, and leaves a finished one as it is.
    Resume,
    /// Starts over.
    Overwrite,
    /// Starts a new run, but fails if there is an unfinished one.
    #[default]
    Refuse,
}

/// The result of [`Journal::open`].
#[derive(Debug)]
pub enum Opened {
    /// An open journal.
    Journal {
        /// The journal, which takes the following lines.
        journal: Journal,
        /// The number of lines kept from an earlier run.
        lines: usize,
    },
    /// All results with these settings are complete. Nothing was opened.
    Finished {
        /// The totals of the runs.
        totals: MegaTotals,
        /// The size of the file in bytes.
        bytes: u64,
    },
}

/// The record of a finished run.
#[derive(Serialize, Deserialize)]
struct Meta {
    settings: RunSettings,
    totals: MegaTotals,
    /// The size of the results file. A file of another size is not the one described.
    bytes: u64,
}

impl Journal {
    /// Opens the journal of a target file. With [`Existing::Resume`], `keep` is called with every
    /// complete line of an unfinished run. The first line for which it returns `false` is dropped,
    /// with all lines after it.
    pub fn open(
        target: &Path,
        settings: &RunSettings,
        existing: Existing,
        keep: impl FnMut(usize, &str) -> bool,
    ) -> Result<Opened, ResultsError> {
        let target = resolve(target)?;
        let (part, settings_file) = (part(&target), settings_file(&target));
        let cannot = |doing| {
            let part = &part;
            move |error| ResultsError::file(doing, part, error)
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let (mut file, lines) = match options.open(&part) {
            Ok(file) => {
                lock(&file, &part)?;
                let empty = file.metadata().map_err(cannot("read"))?.len() == 0;
                match existing {
                    Existing::Resume => {
                        check(&settings_file, settings)?;
                        let lines = keep_whole_lines(&file, keep).map_err(cannot("read"))?;
                        (file, lines)
                    }
                    Existing::Refuse if !empty => {
                        return Err(ResultsError::Unfinished { path: part });
                    }
                    Existing::Refuse | Existing::Overwrite => {
                        // Truncates first: old lines must never be beside new settings.
                        file.set_len(0).map_err(cannot("write"))?;
                        record_settings(&settings_file, settings)?;
                        (file, 0)
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if existing == Existing::Resume
                    && let Some(meta) = finished(&target)
                {
                    compare(settings, &meta.settings, true)?;
                    let Meta { totals, bytes, .. } = meta;
                    return Ok(Opened::Finished { totals, bytes });
                }
                record_settings(&settings_file, settings)?;
                let file = options.create_new(true).open(&part);
                let file = file.map_err(cannot("write"))?;
                lock(&file, &part)?;
                (file, 0)
            }
            Err(error) => return Err(cannot("write")(error)),
        };
        file.seek(SeekFrom::End(0)).map_err(cannot("write"))?;
        let journal = Journal {
            target,
            settings: settings.clone(),
            lines: BufWriter::with_capacity(1 << 18, file),
        };
        Ok(Opened::Journal { journal, lines })
    }

    /// Appends a line, which must end in a newline.
    pub fn write(&mut self, line: &str) -> Result<(), ResultsError> {
        let written = self.lines.write_all(line.as_bytes());
        written.map_err(|error| ResultsError::stopped(&self.part(), error))
    }

    /// Passes all buffered lines to the system.
    pub fn flush(&mut self) -> Result<(), ResultsError> {
        let flushed = self.lines.flush();
        flushed.map_err(|error| ResultsError::stopped(&self.part(), error))
    }

    /// Returns the path of the unfinished results.
    pub fn part(&self) -> PathBuf {
        part(&self.target)
    }

    /// Turns the complete lines into the target file and returns its size.
    pub fn finish(mut self, totals: &MegaTotals) -> Result<u64, ResultsError> {
        self.flush()?;
        let (part, settings_file, target) =
            (self.part(), settings_file(&self.target), &self.target);
        let synced = self.lines.get_ref().sync_all();
        synced.map_err(|error| ResultsError::stopped(&part, error))?;
        let length = |path: &Path| {
            let meta = fs::metadata(path);
            meta.map(|meta| meta.len())
                .map_err(|error| ResultsError::file("read", path, error))
        };
        let remove = |path: &Path| {
            fs::remove_file(path).map_err(|error| ResultsError::file("remove", path, error))
        };
        let bytes = if is_parquet(target) {
            parquet::convert(&part, target, &self.settings, totals)?;
            remove(&part)?;
            length(target)?
        } else {
            let bytes = length(&part)?;
            let meta = Meta {
                settings: self.settings.clone(),
                totals: totals.clone(),
                bytes,
            };
            // The record is written first. It is ignored unless FILE exists with the recorded size.
            replace(&meta_file(target), &format!("{}\n", to_text(&meta)))?;
            let renamed = fs::rename(&part, target);
            renamed.map_err(|error| ResultsError::stopped(target, error))?;
            bytes
        };
        remove(&settings_file)?;
        Ok(bytes)
    }
}

fn is_parquet(target: &Path) -> bool {
    let extension = target.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

fn part(target: &Path) -> PathBuf {
    with_suffix(target, ".part")
}

fn settings_file(target: &Path) -> PathBuf {
    with_suffix(target, ".part.json")
}

fn meta_file(target: &Path) -> PathBuf {
    with_suffix(target, ".meta.json")
}

/// Returns settings or totals as JSON text.
pub(crate) fn to_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps with keys that are strings can be written as JSON")
}

/// Returns the record of a finished file; `None` if there is no such file, or if it was changed or
/// made by something else.
fn finished(target: &Path) -> Option<Meta> {
    let bytes = fs::metadata(target).ok()?.len();
    if is_parquet(target) {
        let (settings, totals) = parquet::metadata(target)?;
        return Some(Meta {
            settings,
            totals,
            bytes,
        });
    }
    let text = fs::read_to_string(meta_file(target)).ok()?;
    let meta: Meta = serde_json::from_str(&text).ok()?;
    (meta.bytes == bytes).then_some(meta)
}

/// Returns the path of the final file. Refuses a target that cannot become a file now, not after
/// hours of work.
fn resolve(target: &Path) -> Result<PathBuf, ResultsError> {
    let there = fs::metadata(target);
    let bytes = target.as_os_str().as_encoded_bytes();
    if bytes.ends_with(b"/") || there.as_ref().is_ok_and(fs::Metadata::is_dir) {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(ResultsError::file("write", target, error));
    }
    match there {
        Ok(there) if !there.is_file() => Err(ResultsError::NotAFile {
            path: target.to_owned(),
        }),
        // The results replace the file that the link points to, not the link.
        Ok(_) if target.is_symlink() => {
            let place = fs::canonicalize(target);
            place.map_err(|error| ResultsError::file("write", target, error))
        }
        Ok(_) => Ok(target.to_owned()),
        Err(error) => {
            let folder = target.parent().filter(|p| !p.as_os_str().is_empty());
            let found = folder.is_none_or(Path::is_dir);
            if error.kind() == io::ErrorKind::NotFound && found {
                return Ok(target.to_owned());
            }
            Err(ResultsError::file("write", target, error))
        }
    }
}

/// Locks the file, so that no two processes write to it.
fn lock(file: &File, part: &Path) -> Result<(), ResultsError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(ResultsError::Busy {
            path: part.to_owned(),
        }),
        // Some file systems have no locks. Runs still work there, but without this protection.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Records the settings of the lines that follow.
fn record_settings(settings_file: &Path, settings: &RunSettings) -> Result<(), ResultsError> {
    replace(settings_file, &format!("{}\n", to_text(settings)))
}

/// Checks that unfinished results have these settings.
fn check(settings_file: &Path, settings: &RunSettings) -> Result<(), ResultsError> {
    let text = fs::read_to_string(settings_file).unwrap_or_default();
    match serde_json::from_str(&text) {
        Ok(before) => compare(settings, &before, false),
        Err(_) => Err(ResultsError::NoSettings {
            path: settings_file.to_owned(),
        }),
    }
}

fn compare(
    settings: &RunSettings,
    before: &RunSettings,
    finished: bool,
) -> Result<(), ResultsError> {
    let changed = settings.changed_since(before);
    match changed.is_empty() {
        true => Ok(()),
        false => Err(ResultsError::OtherRun { finished, changed }),
    }
}

/// Passes the complete lines of a file to `keep`, and truncates the file after the last accepted
/// line. Returns the number of accepted lines.
fn keep_whole_lines(file: &File, mut keep: impl FnMut(usize, &str) -> bool) -> io::Result<usize> {
    let mut lines = BufReader::with_capacity(1 << 18, file);
    let (mut count, mut whole, mut line) = (0, 0, Vec::new());
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\n").map(String::from_utf8_lossy) else {
            break;
        };
        // After a power failure a line may hold anything.
        if !keep(count, &text) {
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

    fn settings(n: u64) -> RunSettings {
        RunSettings::new([("n", n.into())])
    }

    fn open_as(target: &Path, n: u64, existing: Existing) -> Result<Opened, ResultsError> {
        Journal::open(target, &settings(n), existing, |_, line| line != "bad")
    }

    fn open(target: &Path, existing: Existing) -> Result<(Journal, usize), ResultsError> {
        match open_as(target, 1, existing)? {
            Opened::Journal { journal, lines } => Ok((journal, lines)),
            Opened::Finished { .. } => panic!("nothing is finished"),
        }
    }

    fn message(result: Result<Opened, ResultsError>) -> String {
        result
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_torn_line_is_cut_off_and_the_rest_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.jsonl");
        let (mut journal, done) = open(&target, Existing::Refuse).unwrap();
        assert_eq!(done, 0);
        journal.write("one\ntwo\nthr").unwrap();
        drop(journal);
        assert!(open(&target, Existing::Refuse).is_err());
        assert_eq!(fs::read_to_string(part(&target)).unwrap(), "one\ntwo\nthr");
        let (mut journal, done) = open(&target, Existing::Resume).unwrap();
        assert_eq!(done, 2);
        journal.write("three\n").unwrap();
        let bytes = journal.finish(&MegaTotals::default()).unwrap();
        assert_eq!(bytes, 14);
        assert_eq!(fs::read_to_string(&target).unwrap(), "one\ntwo\nthree\n");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "the results and what they are of");
    }

    #[test]
    fn a_finished_run_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let totals = MegaTotals {
            runs: 1,
            right: 7,
            ..MegaTotals::default()
        };
        let run = r#"{"batt":"b","task":"t","pair":"test[0]","right":[],"values":0,"errors":{},"o":[],"s":[]}"#;
        for name in ["r.jsonl", "r.parquet"] {
            let target = folder.path().join(name);
            let (mut journal, _) = open(&target, Existing::Resume).unwrap();
            journal.write(&format!("{run}\n")).unwrap();
            let bytes = journal.finish(&totals).unwrap();
            let before = fs::read(&target).unwrap();
            let Ok(Opened::Finished {
                totals: found,
                bytes: size,
            }) = open_as(&target, 1, Existing::Resume)
            else {
                panic!("{name} is finished")
            };
            assert_eq!((found, size), (totals.clone(), bytes));
            assert_eq!(fs::read(&target).unwrap(), before);
            assert!(!part(&target).exists());
            let other = message(open_as(&target, 2, Existing::Resume));
            assert!(
                other.contains("finished results belong to another run: n changed"),
                "{other}"
            );
            // A file that has changed since is not the finished one.
            fs::write(&target, "other").unwrap();
            assert_eq!(open(&target, Existing::Resume).unwrap().1, 0);
        }
    }

    #[test]
    fn an_invalid_line_ends_the_kept_lines() {
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
            assert!(message(open_as(&target, 1, existing)).contains("another run"));
        }
        drop(first);
        // The other run has written nothing, so nothing is lost.
        assert_eq!(open(&target, Existing::Refuse).unwrap().1, 0);
    }

    #[test]
    fn other_settings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.jsonl");
        drop(open(&target, Existing::Refuse).unwrap());
        let other = message(open_as(&target, 2, Existing::Resume));
        assert!(other.contains("n changed"), "{other}");
        fs::write(settings_file(&target), "{\"n\"").unwrap();
        let damaged = message(open_as(&target, 1, Existing::Resume));
        assert!(damaged.contains("missing or damaged"), "{damaged}");
        assert_eq!(open(&target, Existing::Overwrite).unwrap().1, 0);
    }
}
