//! Merging: the parts of a run become the file that one machine would have written.
//!
//! All parts are read at the same time, a line of each in turn, and written to `FILE.merging`.
//! When everything is right, that becomes FILE. So memory does not grow with the files, and FILE is
//! complete or not there.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use batt_engine::RunFields;

use crate::error::{PartError, ResultsError};
use crate::files::{Temporary, check_not_read, is_parquet, lock, resolve, with_suffix};
use crate::fingerprint::Checksum;
use crate::header::{LineKind, ResultsHeader};
use crate::parquet::TableWriter;
use crate::part::{PartReader, check_parts};
use crate::record::MegaRecord;
use crate::sidecar::{RECORD, Record};
use crate::tally::DonorTally;
use crate::totals::MegaTotals;

/// The number of runs between two reports of progress.
const REPORT_EVERY: usize = 256;

/// The result of [`merge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedResults {
    /// The kind of lines.
    pub lines: LineKind,
    /// The number of parts.
    pub parts: usize,
    /// The number of tasks.
    pub tasks: usize,
    /// The number of tasks that a donor or a solver solves.
    pub tasks_solved: usize,
    /// The totals of all runs. Each run of a solver counts as one candidate, and the solved tasks
    /// are listed for batts only.
    pub totals: MegaTotals,
    /// The size of the file.
    pub bytes: u64,
}

/// Puts all parts of a run together. The file has the same bytes as the file that one machine
/// writes, as lines or, if its name ends in `.parquet`, as a table. Only the times in the lines of
/// [`LineKind::Run`] are those of the parts.
///
/// `progress` gets the number of merged runs and of all runs. If it returns `false`, the work ends,
/// no file is written, and the result is `None`.
pub fn merge(
    parts: &[PathBuf],
    target: &Path,
    mut progress: impl FnMut(usize, usize) -> bool,
) -> Result<Option<MergedResults>, ResultsError> {
    let parts = check_parts(parts)?;
    let records = parts.iter().map(|part| with_suffix(&part.path, RECORD));
    let records: Vec<PathBuf> = records.collect();
    let inputs = parts.iter().map(|part| &part.path).chain(&records);
    check_not_read(target, inputs.map(PathBuf::as_path))?;
    let header = parts[0].record.header.whole();
    let target = resolve(target)?;
    if header.lines == LineKind::Run && is_parquet(&target) {
        return Err(PartError::NoTable { path: target }.into());
    }
    let shard = parts[0].record.header.shard;
    let count = parts.len();
    let mut readers: Vec<PartReader> = parts
        .into_iter()
        .map(|part| PartReader::new(part, count))
        .collect();
    let mut output = Output::create(&target)?;
    let mut counts = Counts::new(&header);
    for run in 0..header.runs {
        if run % REPORT_EVERY == 0 && !progress(run, header.runs) {
            return Ok(None);
        }
        let reader = &mut readers[shard.owner(run).number() - 1];
        let line = reader.next_line()?;
        let added = counts.add(line, |record| output.write(line, record));
        match added {
            Ok(written) => written?,
            Err(error) => return Err(reader.damaged(&error.to_string()).into()),
        }
    }
    for reader in &mut readers {
        reader.end()?;
    }
    let (totals, tasks_solved) = counts.finish();
    let merged = MergedResults {
        lines: header.lines,
        parts: count,
        tasks: header.tasks,
        tasks_solved,
        bytes: output.finish(&header, &totals)?,
        totals,
    };
    progress(header.runs, header.runs);
    Ok(Some(merged))
}

/// The file that is written beside the target.
struct Output<'t> {
    target: &'t Path,
    beside: Temporary,
    form: OutputForm,
}

enum OutputForm {
    Lines(BufWriter<File>, Checksum),
    Table(Box<TableWriter>),
}

impl<'t> Output<'t> {
    fn create(target: &'t Path) -> Result<Output<'t>, ResultsError> {
        let path = with_suffix(target, ".merging");
        let failed = |error| ResultsError::file("write", &path, error);
        let mut options = OpenOptions::new();
        let file = options.create(true).write(true).truncate(false).open(&path);
        let file = file.map_err(failed)?;
        lock(&file, &path)?;
        // Another merge may have renamed it to the target just before it was locked.
        if !path.exists() {
            return Err(ResultsError::Busy { path });
        }
        // The file of a merge that was killed.
        file.set_len(0).map_err(failed)?;
        let form = match is_parquet(target) {
            true => OutputForm::Table(Box::new(TableWriter::new(file).map_err(failed)?)),
            false => {
                let file = BufWriter::with_capacity(1 << 18, file);
                OutputForm::Lines(file, Checksum::default())
            }
        };
        Ok(Output {
            target,
            beside: Temporary(path),
            form,
        })
    }

    /// Writes a line. A table needs the record in it.
    fn write(&mut self, line: &str, record: Option<&MegaRecord<'_>>) -> Result<(), ResultsError> {
        let written = match (&mut self.form, record) {
            (OutputForm::Lines(file, checksum), _) => {
                checksum.add(line.as_bytes());
                file.write_all(line.as_bytes())
            }
            (OutputForm::Table(table), Some(record)) => table.add(record),
            (OutputForm::Table(_), None) => Ok(()),
        };
        written.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> ResultsError {
        ResultsError::file("write", self.target, error)
    }

    /// Completes the file, renames it to the target and returns its size.
    fn finish(self, header: &ResultsHeader, totals: &MegaTotals) -> Result<u64, ResultsError> {
        let failed = |error| ResultsError::file("write", self.target, error);
        let beside = &self.beside.0;
        let size = || fs::metadata(beside).map(|file| file.len()).map_err(failed);
        let bytes = match self.form {
            OutputForm::Table(table) => {
                let finished = table.finish(&header.settings, totals);
                finished.map_err(failed)?;
                size()?
            }
            OutputForm::Lines(mut file, checksum) => {
                let synced = file.flush().and_then(|()| file.get_ref().sync_all());
                synced.map_err(failed)?;
                let record = Record {
                    header: header.clone(),
                    totals: totals.clone(),
                    bytes: size()?,
                    checksum: checksum.text(),
                };
                // As in a journal, the record is written first.
                record.write(self.target)?;
                record.bytes
            }
        };
        fs::rename(beside, self.target).map_err(failed)?;
        Ok(bytes)
    }
}

/// Counts the lines of all parts.
struct Counts<'h> {
    lines: LineKind,
    /// The tasks and pairs without a known output.
    unknown: HashSet<(&'h str, &'h str)>,
    totals: MegaTotals,
    tally: DonorTally,
    group: Option<Group>,
}

/// The lines of one batt or solver on one task, which are adjacent.
struct Group {
    name: String,
    task: String,
    /// The first pair. If it comes again, another batt of the same name begins.
    pair: String,
    /// The donors of candidates that were right, by position.
    donors: HashMap<usize, String>,
}

impl<'h> Counts<'h> {
    fn new(header: &'h ResultsHeader) -> Counts<'h> {
        let unknown = header.unknown.iter();
        Counts {
            lines: header.lines,
            unknown: unknown
                .flat_map(|(task, pairs)| pairs.iter().map(|pair| (task.as_str(), pair.as_str())))
                .collect(),
            totals: MegaTotals::default(),
            tally: DonorTally::default(),
            group: None,
        }
    }

    /// Counts a line and passes its record on, if it is of a mega-batch.
    fn add<T>(
        &mut self,
        line: &str,
        pass: impl FnOnce(Option<&MegaRecord<'_>>) -> T,
    ) -> Result<T, serde_json::Error> {
        match self.lines {
            LineKind::Mega => {
                let record: MegaRecord<'_> = serde_json::from_str(line)?;
                let missing = || serde::de::Error::custom("a right candidate is missing");
                let right = record.right_donors().ok_or_else(missing)?;
                record.add_to(&mut self.totals);
                self.count((&record.batt, &record.task, &record.pair), &right);
                Ok(pass(Some(&record)))
            }
            LineKind::Run => {
                let record: RunFields<'_> = serde_json::from_str(line)?;
                let fault = record.error.as_ref().map(|error| &*error.kind);
                self.totals.add_run(record.is_right(), fault);
                let right = [(0, &*record.solver)];
                let right = if record.is_right() { &right[..] } else { &[] };
                self.count((&record.solver, &record.task, &record.pair), right);
                Ok(pass(None))
            }
        }
    }

    fn count(&mut self, (name, task, pair): (&str, &str, &str), right: &[(usize, &str)]) {
        let is_next = |group: &Group| {
            (group.name.as_str(), group.task.as_str()) == (name, task) && group.pair != pair
        };
        if !self.group.as_ref().is_some_and(is_next) {
            self.end_group();
        }
        let group = self.group.get_or_insert_with(|| Group {
            name: name.to_owned(),
            task: task.to_owned(),
            pair: pair.to_owned(),
            donors: HashMap::new(),
        });
        for (at, donor) in right {
            let donors = group.donors.entry(*at);
            donors.or_insert_with(|| (*donor).to_owned());
        }
        let known = !self.unknown.contains(&(task, pair));
        self.tally.add(known, right.iter().map(|(at, _)| *at));
    }

    fn end_group(&mut self) {
        if let Some(Group {
            name, task, donors, ..
        }) = self.group.take()
        {
            // Every candidate that was right has a donor.
            let donor = |at| donors.get(&at).map_or("", String::as_str);
            self.tally.end_task(&name, &task, donor);
        }
    }

    /// Returns the totals and the number of solved tasks.
    fn finish(mut self) -> (MegaTotals, usize) {
        self.end_group();
        let solved = self.tally.finish();
        let tasks: HashSet<&str> = solved.iter().map(|solved| solved.task.as_str()).collect();
        let tasks = tasks.len();
        if self.lines == LineKind::Mega {
            self.totals.solved = solved;
        }
        (self.totals, tasks)
    }
}
