//! The journal: the results of a run on disk, unfinished and finished.
//!
//! Lines go to `FILE.part`, in order; `FILE.part.json` holds their header, which names the settings
//! they depend on. When all runs are done, the lines become FILE, unchanged or converted to Parquet.
//! A killed run leaves a prefix of the lines, and the last line may be torn. Resuming cuts off the
//! torn line and continues after the complete ones.
//!
//! The header and totals of a finished run are kept in `FILE.meta.json`, or the settings and totals
//! in the key-value metadata of a Parquet file. So resuming a finished run does nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use batt_engine::Shard;

use crate::error::{PartError, ResultsError};
use crate::files::{is_parquet, lock, resolve};
use crate::fingerprint::Checksum;
use crate::header::{LineKind, ResultsHeader};
use crate::parquet;
use crate::settings::RunSettings;
use crate::sidecar::{Record, header_file, lines_file, read_header, write_header};
use crate::totals::MegaTotals;

/// The file of an unfinished run.
#[derive(Debug)]
pub struct Journal {
    target: PathBuf,
    header: ResultsHeader,
    lines: BufWriter<File>,
    checksum: Checksum,
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

impl Journal {
    /// Opens the journal of a target file. With [`Existing::Resume`], `keep` is called with every
    /// complete line of an unfinished run. The first line for which it returns `false` is dropped,
    /// with all lines after it.
    pub fn open(
        target: &Path,
        header: &ResultsHeader,
        existing: Existing,
        keep: impl FnMut(usize, &str) -> bool,
    ) -> Result<Opened, ResultsError> {
        let target = resolve(target)?;
        match (header.lines, header.shard.is_whole()) {
            _ if !is_parquet(&target) => {}
            (LineKind::Run, true) => return Err(PartError::NoTable { path: target }.into()),
            (_, false) => return Err(PartError::Parquet { path: target }.into()),
            (LineKind::Mega, true) => {}
        }
        let part = lines_file(&target);
        let mut checksum = Checksum::default();
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
                        let Some(before) = read_header(&target) else {
                            let path = header_file(&target);
                            return Err(ResultsError::NoSettings { path });
                        };
                        header.check((&before.settings, before.shard), false)?;
                        let lines = keep_whole_lines(&file, &mut checksum, keep);
                        (file, lines.map_err(cannot("read"))?)
                    }
                    Existing::Refuse if !empty => {
                        return Err(ResultsError::Unfinished { path: part });
                    }
                    Existing::Refuse | Existing::Overwrite => {
                        // Truncates first: old lines must never be beside new settings.
                        file.set_len(0).map_err(cannot("write"))?;
                        write_header(&target, header)?;
                        (file, 0)
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if existing == Existing::Resume
                    && let Some(found) = Finished::find(&target)
                {
                    header.check((&found.settings, found.shard), true)?;
                    let Finished { totals, bytes, .. } = found;
                    return Ok(Opened::Finished { totals, bytes });
                }
                write_header(&target, header)?;
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
            header: header.clone(),
            lines: BufWriter::with_capacity(1 << 18, file),
            checksum,
        };
        Ok(Opened::Journal { journal, lines })
    }

    /// Appends a line, which must end in a newline.
    pub fn write(&mut self, line: &str) -> Result<(), ResultsError> {
        self.checksum.add(line.as_bytes());
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
        lines_file(&self.target)
    }

    /// Turns the complete lines into the target file and returns its size.
    pub fn finish(mut self, totals: &MegaTotals) -> Result<u64, ResultsError> {
        self.flush()?;
        let (part, target) = (self.part(), &self.target);
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
            parquet::convert(&part, target, &self.header.settings, totals)?;
            remove(&part)?;
            length(target)?
        } else {
            let bytes = length(&part)?;
            let record = Record {
                header: self.header.clone(),
                totals: totals.clone(),
                bytes,
                checksum: self.checksum.text(),
            };
            // The record is written first. It is ignored unless FILE exists with the recorded size.
            record.write(target)?;
            let renamed = fs::rename(&part, target);
            renamed.map_err(|error| ResultsError::stopped(target, error))?;
            bytes
        };
        remove(&header_file(target))?;
        Ok(bytes)
    }
}

/// What is known of a finished file.
struct Finished {
    settings: RunSettings,
    shard: Shard,
    totals: MegaTotals,
    bytes: u64,
}

impl Finished {
    /// Returns `None` if there is no such file, or if it was changed or made by something else.
    fn find(target: &Path) -> Option<Finished> {
        let bytes = fs::metadata(target).ok()?.len();
        if is_parquet(target) {
            let (settings, totals) = parquet::metadata(target)?;
            return Some(Finished {
                settings,
                // Parts are not written as Parquet.
                shard: Shard::WHOLE,
                totals,
                bytes,
            });
        }
        let Record { header, totals, .. } =
            Record::read(target).filter(|record| record.bytes == bytes)?;
        Some(Finished {
            settings: header.settings,
            shard: header.shard,
            totals,
            bytes,
        })
    }
}

/// Passes every line of a file to a function, with its number from 0, until that returns `false`.
pub fn each_line(
    path: &Path,
    mut each: impl FnMut(usize, &str) -> bool,
) -> Result<(), ResultsError> {
    let unreadable = |error| ResultsError::file("read", path, error);
    let file = File::open(path).map_err(unreadable)?;
    for (at, line) in BufReader::with_capacity(1 << 18, file).lines().enumerate() {
        if !each(at, &line.map_err(unreadable)?) {
            break;
        }
    }
    Ok(())
}

/// Passes the complete lines of a file to `keep`, and truncates the file after the last accepted
/// line. Returns the number of accepted lines.
fn keep_whole_lines(
    file: &File,
    checksum: &mut Checksum,
    mut keep: impl FnMut(usize, &str) -> bool,
) -> io::Result<usize> {
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
        checksum.add(&line);
        count += 1;
        whole += read as u64;
    }
    file.set_len(whole)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn header(n: u64) -> ResultsHeader {
        ResultsHeader {
            lines: LineKind::Mega,
            settings: RunSettings::new([("n", n.into())]),
            shard: Shard::WHOLE,
            runs: 3,
            tasks: 1,
            unknown: BTreeMap::new(),
        }
    }

    fn open_as(target: &Path, n: u64, existing: Existing) -> Result<Opened, ResultsError> {
        Journal::open(target, &header(n), existing, |_, line| line != "bad")
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
    fn only_whole_mega_batches_become_parquet() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("r.parquet");
        let part = Shard::new(1, 2).unwrap();
        for (lines, shard, refused) in [
            (LineKind::Run, part, "parts are lines of JSON"),
            (LineKind::Mega, part, "parts are lines of JSON"),
            (LineKind::Run, Shard::WHOLE, "only results of `batt mega`"),
        ] {
            let header = ResultsHeader {
                lines,
                shard,
                ..header(1)
            };
            let opened = Journal::open(&target, &header, Existing::Refuse, |_, _| true);
            let message = message(opened);
            assert!(message.contains(refused), "{message}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(open(&target, Existing::Refuse).is_ok());
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
        assert_eq!(
            fs::read_to_string(lines_file(&target)).unwrap(),
            "one\ntwo\nthr"
        );
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
            assert!(!lines_file(&target).exists());
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
        fs::write(header_file(&target), "{\"n\"").unwrap();
        let damaged = message(open_as(&target, 1, Existing::Resume));
        assert!(damaged.contains("missing or damaged"), "{damaged}");
        assert_eq!(open(&target, Existing::Overwrite).unwrap().1, 0);
    }
}
