//! The parts of a run: finding out whether files are all parts of one run, and reading them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use batt_engine::Shard;

use crate::error::{PartError, ResultsError};
use crate::files::with_suffix;
use crate::fingerprint::Checksum;
use crate::header::ResultsHeader;
use crate::part_error::FoundPart;
use crate::sidecar::{HEADER, LINES, RECORD, Record, lines_file, read_header};

/// The most missing parts that an error names.
const NAMED: usize = 5;

/// The memory for the lines of all parts, and the bounds of what one part reads at a time.
const BUFFERS: usize = 1 << 26;
const SMALLEST_BUFFER: usize = 1 << 14;
const LARGEST_BUFFER: usize = 1 << 20;

/// A finished part.
#[derive(Debug)]
pub(crate) struct Part {
    pub path: PathBuf,
    pub record: Record,
}

impl Part {
    fn shard(&self) -> Shard {
        self.record.header.shard
    }

    /// Reads the record of a part and checks the size of its file.
    fn open(path: &Path) -> Result<Part, ResultsError> {
        let record = Record::read(path);
        if let Some(error) = unfinished(path).filter(|_| record.is_none() || !path.exists()) {
            return Err(error.into());
        }
        let unreadable = |error| ResultsError::file("read", path, error);
        let there = fs::metadata(path).map_err(unreadable)?;
        if there.is_dir() {
            return Err(unreadable(io::ErrorKind::IsADirectory.into()));
        }
        let Some(record) = record else {
            let record = with_suffix(path, RECORD);
            let path = path.to_owned();
            return Err(PartError::NotAPart { path, record }.into());
        };
        let part = Part {
            path: path.to_owned(),
            record,
        };
        match (there.len(), part.record.bytes) {
            (now, then) if now != then => {
                let problem = format!("it has {now} bytes, and {then} were written");
                Err(part.damaged(problem).into())
            }
            _ => Ok(part),
        }
    }

    fn damaged(&self, problem: String) -> PartError {
        PartError::Damaged {
            shard: self.shard(),
            path: self.path.clone(),
            problem,
        }
    }
}

/// Returns the error about an unfinished part. Its name is that of its target or of its lines.
fn unfinished(path: &Path) -> Option<PartError> {
    let name = path.as_os_str().as_encoded_bytes();
    let target = match name.ends_with(LINES.as_bytes()) {
        true => path.with_extension(""),
        false => path.to_owned(),
    };
    Some(PartError::Unfinished {
        shard: read_header(&target)?.shard,
        lines: lines_file(&target),
        target,
    })
}

/// Checks that files are all parts of one run, and returns them in the order of their numbers.
pub(crate) fn check_parts(paths: &[PathBuf]) -> Result<Vec<Part>, ResultsError> {
    let parts = paths.iter().map(|path| Part::open(path));
    let mut parts = parts.collect::<Result<Vec<Part>, ResultsError>>()?;
    let Some(first) = parts.first() else {
        return Err(PartError::NoParts.into());
    };
    for part in &parts[1..] {
        let differing = differences(&first.record.header, &part.record.header);
        if !differing.is_empty() {
            return Err(PartError::OtherRun {
                path: first.path.clone(),
                other: part.path.clone(),
                differing,
            }
            .into());
        }
    }
    parts.sort_by_key(Part::shard);
    if let Some(twice) = parts
        .windows(2)
        .find(|two| two[0].shard() == two[1].shard())
    {
        return Err(PartError::Twice {
            shard: twice[0].shard(),
            path: twice[0].path.clone(),
            other: twice[1].path.clone(),
        }
        .into());
    }
    match missing(&parts) {
        Some(missing) => Err(missing.into()),
        None => Ok(parts),
    }
}

/// Returns the names of settings that differ between two runs.
fn differences(one: &ResultsHeader, other: &ResultsHeader) -> Vec<String> {
    if one.lines != other.lines {
        return vec!["the command".to_owned()];
    }
    let mut differing = other.settings.changed_since(&one.settings);
    if one.shard.count() != other.shard.count() {
        differing.push("the number of parts".to_owned());
    }
    differing
}

/// Returns the error about parts that are not among these. There is at least one part.
fn missing(parts: &[Part]) -> Option<PartError> {
    let header = &parts[0].record.header;
    let count = NonZeroUsize::new(header.shard.count())?;
    let there: BTreeSet<Shard> = parts.iter().map(Part::shard).collect();
    let all = count.get() - there.len();
    let absent = Shard::all(count).filter(|shard| !there.contains(shard));
    let shards: Vec<Shard> = absent.take(NAMED).collect();
    let first = *shards.first()?;
    Some(PartError::Missing {
        more: all - shards.len(),
        found: find(parts, first),
        shards,
    })
}

/// Looks for a part in the folders of the others.
fn find(parts: &[Part], wanted: Shard) -> Option<FoundPart> {
    let header = &parts[0].record.header;
    let fits =
        |other: &ResultsHeader| other.shard == wanted && differences(header, other).is_empty();
    let folders: BTreeSet<&Path> = parts.iter().filter_map(|part| part.path.parent()).collect();
    for folder in folders {
        let here = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        for entry in fs::read_dir(here).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let target = |ending: &str| Some(folder.join(name.strip_suffix(ending)?));
            if let Some(target) = target(HEADER)
                && read_header(&target).is_some_and(|header| fits(&header))
            {
                let finished = false;
                return Some(FoundPart { target, finished });
            }
            if let Some(target) = target(RECORD)
                && Record::read(&target).is_some_and(|record| fits(&record.header))
                && target.exists()
            {
                let finished = true;
                return Some(FoundPart { target, finished });
            }
        }
    }
    None
}

/// Reads the lines of a part. The file is opened for each piece that is read, because systems
/// limit the number of open files, and there may be thousands of parts.
#[derive(Debug)]
pub(crate) struct PartReader {
    part: Part,
    /// How much is read at a time.
    size: usize,
    /// How much of the file was read.
    read: u64,
    buffer: Vec<u8>,
    /// The start of the next line in the buffer.
    start: usize,
    lines: usize,
    checksum: Checksum,
}

impl PartReader {
    /// Creates a reader for one of `parts` parts.
    pub fn new(part: Part, parts: usize) -> PartReader {
        PartReader {
            part,
            size: (BUFFERS / parts).clamp(SMALLEST_BUFFER, LARGEST_BUFFER),
            read: 0,
            buffer: Vec::new(),
            start: 0,
            lines: 0,
            checksum: Checksum::default(),
        }
    }

    /// Returns the next line, with its newline.
    pub fn next_line(&mut self) -> Result<&str, ResultsError> {
        let mut searched = self.start;
        let end = loop {
            let mut rest = &self.buffer[searched..];
            // Reading from memory cannot fail.
            searched += rest.skip_until(b'\n').unwrap_or_default();
            if searched > self.start && self.buffer[searched - 1] == b'\n' {
                break searched;
            }
            searched -= self.start;
            if !self.fill()? {
                return Err(self.damaged("a line is missing").into());
            }
        };
        let line = self.start..end;
        self.start = end;
        self.lines += 1;
        self.checksum.add(&self.buffer[line.clone()]);
        match str::from_utf8(&self.buffer[line]) {
            Ok(line) => Ok(line),
            Err(_) => Err(self
                .part
                .damaged(format!("line {} is not UTF-8", self.lines))
                .into()),
        }
    }

    /// Moves the next line to the start of the buffer and reads more of it. Returns whether there
    /// was more.
    fn fill(&mut self) -> Result<bool, ResultsError> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let read = self.read_more();
        read.map_err(|error| ResultsError::file("read", &self.part.path, error))
    }

    fn read_more(&mut self) -> io::Result<bool> {
        let mut file = File::open(&self.part.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let count = file.take(self.size as u64).read_to_end(&mut self.buffer)?;
        self.read += count as u64;
        Ok(count > 0)
    }

    /// Checks that nothing is left and that the file is the one that was written.
    pub fn end(&mut self) -> Result<(), ResultsError> {
        if self.start < self.buffer.len() || self.fill()? {
            return Err(self.damaged("there are too many lines").into());
        }
        match self.checksum.text() == self.part.record.checksum {
            true => Ok(()),
            false => Err(self.part.damaged("its checksum is wrong".to_owned()).into()),
        }
    }

    /// Returns the error about the line that was read last.
    pub fn damaged(&self, problem: &str) -> PartError {
        self.part.damaged(format!("line {}: {problem}", self.lines))
    }
}
