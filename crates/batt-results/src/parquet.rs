//! Results as a Parquet table, with one row for each run, each candidate and each score in the
//! lines.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::json;
use serde_json::value::RawValue;

use crate::error::ResultsError;
use crate::files::{Temporary, with_suffix};
use crate::record::{MegaRecord, failure};
use crate::settings::RunSettings;
use crate::sidecar::to_text;
use crate::totals::MegaTotals;

/// The columns. `kind` is `run`, `o`, `s` or `compared`; `value` is in the encoding of the
/// conformance vectors. The value of a `run` counts its candidates:
/// `{"right":1,"values":2,"errors":{"TypeError":1}}`.
const SCHEMA: &str = "message batt {
    required binary batt (STRING);
    required binary task (STRING);
    required binary pair (STRING);
    required binary kind (STRING);
    optional int32 step (INTEGER(32, false));
    optional binary donor (STRING);
    optional boolean mutated;
    optional binary differ (STRING);
    optional binary value (STRING);
    optional binary error (STRING);
    optional boolean right;
}";

/// The limits of a row group, in rows and in bytes of values: enough to compress well, few enough
/// to keep in memory.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_BYTES: usize = 1 << 25;

/// The metadata keys of the settings and the totals.
const SETTINGS: &str = "batt.settings";
const TOTALS: &str = "batt.totals";

/// Converts a file of lines into a Parquet file, with at most one row group in memory. On success
/// it replaces `target`; on failure it leaves no file.
pub(crate) fn convert(
    lines: &Path,
    target: &Path,
    settings: &RunSettings,
    totals: &MegaTotals,
) -> Result<(), ResultsError> {
    let beside = Temporary(with_suffix(target, ".part.tmp"));
    let stopped = |error| ResultsError::stopped(target, error);
    let unreadable = |error| ResultsError::file("read", lines, error);
    let file = File::create(&beside.0).map_err(stopped)?;
    let mut table = TableWriter::new(file).map_err(stopped)?;
    let file = File::open(lines).map_err(unreadable)?;
    let numbered = (1..).zip(BufReader::with_capacity(1 << 18, file).lines());
    for (line, text) in numbered {
        let text = text.map_err(unreadable)?;
        let record = serde_json::from_str(&text).map_err(|source| ResultsError::Damaged {
            path: lines.to_owned(),
            line,
            source,
        })?;
        table.add(&record).map_err(stopped)?;
    }
    table.finish(settings, totals).map_err(stopped)?;
    fs::rename(&beside.0, target).map_err(stopped)
}

/// Returns the settings and totals in the metadata of a file; `None` if they are missing or
/// unreadable.
pub(crate) fn metadata(path: &Path) -> Option<(RunSettings, MegaTotals)> {
    let reader = SerializedFileReader::new(File::open(path).ok()?).ok()?;
    let metadata = reader.metadata().file_metadata().key_value_metadata()?;
    let text = |key| {
        let mut found = metadata.iter().filter(|entry| entry.key == key);
        found.next()?.value.as_deref()
    };
    let settings = serde_json::from_str(text(SETTINGS)?).ok()?;
    let totals = serde_json::from_str(text(TOTALS)?).ok()?;
    Some((settings, totals))
}

/// A table that is being written.
pub(crate) struct TableWriter {
    rows: Rows,
    writer: SerializedFileWriter<File>,
    file: File,
}

impl TableWriter {
    /// Begins a table in an empty file.
    pub fn new(file: File) -> io::Result<TableWriter> {
        let schema = parse_message_type(SCHEMA).expect("the schema above is well-formed");
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let (schema, properties) = (Arc::new(schema), Arc::new(properties.build()));
        let writer = SerializedFileWriter::new(file.try_clone()?, schema, properties);
        Ok(TableWriter {
            rows: Rows::default(),
            writer: writer.map_err(io_error)?,
            file,
        })
    }

    /// Adds the rows of a line.
    pub fn add(&mut self, record: &MegaRecord<'_>) -> io::Result<()> {
        self.rows.add(record);
        match self.rows.is_full() {
            true => self.rows.write(&mut self.writer).map_err(io_error),
            false => Ok(()),
        }
    }

    /// Completes the file.
    pub fn finish(mut self, settings: &RunSettings, totals: &MegaTotals) -> io::Result<()> {
        if self.rows.len() > 0 {
            self.rows.write(&mut self.writer).map_err(io_error)?;
        }
        for (key, text) in [(SETTINGS, to_text(settings)), (TOTALS, to_text(totals))] {
            let entry = KeyValue::new(key.to_owned(), text);
            self.writer.append_key_value_metadata(entry);
        }
        self.writer.close().map_err(io_error)?;
        self.file.sync_all()
    }
}

/// Returns the underlying system error, if there is one.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// A column: its values, and for each row whether it has a value.
struct Column<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Default for Column<T> {
    fn default() -> Column<T> {
        Column {
            values: Vec::new(),
            levels: Vec::new(),
        }
    }
}

impl<T> Column<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value);
    }
}

#[derive(Default)]
struct Rows {
    batt: Column<ByteArray>,
    task: Column<ByteArray>,
    pair: Column<ByteArray>,
    kind: Column<ByteArray>,
    step: Column<i32>,
    donor: Column<ByteArray>,
    mutated: Column<bool>,
    differ: Column<ByteArray>,
    value: Column<ByteArray>,
    error: Column<ByteArray>,
    right: Column<bool>,
    bytes: usize,
}

impl Rows {
    fn len(&self) -> usize {
        self.step.levels.len()
    }

    fn is_full(&self) -> bool {
        self.len() >= GROUP_ROWS || self.bytes >= GROUP_BYTES
    }

    fn add(&mut self, record: &MegaRecord<'_>) {
        let counts = json!({
            "right": record.right.len(), "values": record.values, "errors": record.errors,
        });
        self.entry(record, "run", None, Some(&counts.to_string()), None);
        self.of_candidate(None);
        for (k, output) in record.o.iter().enumerate() {
            // The compact form lists only the right candidates.
            let right = output.value.is_none() || record.right.contains(&k);
            let source = Some((output.step, output.donor.as_str()));
            self.value(record, "o", source, output.value);
            self.of_candidate(Some((output.mutated, right)));
        }
        for (kind, scores) in [("s", &record.s), ("compared", &record.compared)] {
            for (step, donor, differ, value) in scores {
                self.value(record, kind, Some((*step, donor)), Some(value));
                self.mutated.push(None);
                self.differ.push(Some(differ.as_str().into()));
                self.right.push(None);
            }
        }
    }

    /// Fills the columns of candidates, in the row of a candidate or of a run.
    fn of_candidate(&mut self, candidate: Option<(bool, bool)>) {
        self.mutated.push(candidate.map(|(mutated, _)| mutated));
        self.differ.push(None);
        self.right.push(candidate.map(|(_, right)| right));
    }

    /// Adds an entry with a value or an error.
    fn value(
        &mut self,
        record: &MegaRecord<'_>,
        kind: &str,
        source: Option<(u32, &str)>,
        value: Option<&RawValue>,
    ) {
        match value.and_then(failure) {
            Some(error) => self.entry(record, kind, source, None, Some(&error)),
            None => self.entry(record, kind, source, value.map(RawValue::get), None),
        }
    }

    fn entry(
        &mut self,
        record: &MegaRecord<'_>,
        kind: &str,
        source: Option<(u32, &str)>,
        value: Option<&str>,
        error: Option<&str>,
    ) {
        self.batt.push(Some((*record.batt).into()));
        self.task.push(Some((*record.task).into()));
        self.pair.push(Some((*record.pair).into()));
        self.kind.push(Some(kind.into()));
        // Parquet stores the bits as signed; the column's type declares them unsigned.
        self.step.push(source.map(|(step, _)| step.cast_signed()));
        self.donor.push(source.map(|(_, donor)| donor.into()));
        self.bytes += value.map_or(0, str::len);
        self.value.push(value.map(Into::into));
        self.error.push(error.map(Into::into));
    }

    /// Writes all rows as a group and clears them.
    fn write(&mut self, writer: &mut SerializedFileWriter<File>) -> parquet::errors::Result<()> {
        let rows = std::mem::take(self);
        let mut group = writer.next_row_group()?;
        column::<ByteArrayType>(&mut group, rows.batt)?;
        column::<ByteArrayType>(&mut group, rows.task)?;
        column::<ByteArrayType>(&mut group, rows.pair)?;
        column::<ByteArrayType>(&mut group, rows.kind)?;
        column::<Int32Type>(&mut group, rows.step)?;
        column::<ByteArrayType>(&mut group, rows.donor)?;
        column::<BoolType>(&mut group, rows.mutated)?;
        column::<ByteArrayType>(&mut group, rows.differ)?;
        column::<ByteArrayType>(&mut group, rows.value)?;
        column::<ByteArrayType>(&mut group, rows.error)?;
        column::<BoolType>(&mut group, rows.right)?;
        group.close()?;
        Ok(())
    }
}

/// Writes the next column of the schema.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    column: Column<T::T>,
) -> parquet::errors::Result<()> {
    if let Some(mut writer) = group.next_column()? {
        writer
            .typed::<T>()
            .write_batch(&column.values, Some(&column.levels), None)?;
        writer.close()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::record::RowAccessor;

    use super::*;

    fn convert(lines: &Path, target: &Path) -> Result<(), ResultsError> {
        let settings = RunSettings::new([("n", 1.into())]);
        super::convert(lines, target, &settings, &MegaTotals::default())
    }

    #[test]
    fn rows_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, target) = (folder.path().join("l"), folder.path().join("t.parquet"));
        let line = r#"{"batt":"b.py","task":"t","pair":"train[0]","right":[0],"values":1,
            "errors":{"TypeError":1},"o":[[3,false,"d",{"g":["1"]}],
            [4,true,"e",{"err":"TypeError","step":4}]],"s":[[1,"None","differ_x",null]]}"#;
        let compact = r#"{"batt":"b.py","task":"t","pair":"train[1]","right":[1],"values":2,
            "errors":{},"o":[[4,true,"e"]],"s":[]}"#;
        let both = [line, compact].map(|line| line.replace('\n', "") + "\n");
        fs::write(&lines, both.concat()).unwrap();
        convert(&lines, &target).unwrap();
        let reader = SerializedFileReader::new(File::open(&target).unwrap()).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let kinds: Vec<_> = rows.iter().map(|row| row.get_string(3).unwrap()).collect();
        assert_eq!(kinds, ["run", "o", "o", "s", "run", "o"]);
        let counts = r#"{"errors":{"TypeError":1},"right":1,"values":1}"#;
        assert_eq!(rows[0].get_string(8).unwrap(), counts);
        assert!(rows[0].get_uint(4).is_err(), "a run has no step");
        assert_eq!(rows[1].get_string(8).unwrap(), r#"{"g":["1"]}"#);
        assert!(rows[1].get_bool(10).unwrap());
        assert_eq!(rows[2].get_string(9).unwrap(), "TypeError");
        assert_eq!(rows[2].get_uint(4).unwrap(), 4);
        assert!(!rows[2].get_bool(10).unwrap());
        assert_eq!(rows[3].get_string(7).unwrap(), "differ_x");
        assert_eq!(rows[3].get_string(8).unwrap(), "null");
        assert!(rows[5].get_bool(10).unwrap());
        assert!(
            rows[5].get_string(8).is_err(),
            "the value is the known output"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        let (settings, totals) = metadata(&target).unwrap();
        assert_eq!(settings, RunSettings::new([("n", 1.into())]));
        assert_eq!(totals, MegaTotals::default());
        assert!(metadata(&lines).is_none());
    }

    #[test]
    fn the_old_file_stays_when_the_lines_are_bad() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, target) = (folder.path().join("l"), folder.path().join("t.parquet"));
        fs::write(&lines, "{}\n").unwrap();
        fs::write(&target, "old").unwrap();
        let error = convert(&lines, &target).unwrap_err().to_string();
        assert!(error.starts_with("line 1 of "), "{error}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
