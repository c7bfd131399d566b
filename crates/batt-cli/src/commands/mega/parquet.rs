//! Results as a table: one row per candidate and per score.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::value::RawValue;

use super::record::{Record, failure};
use super::sink::kept;

/// The columns. `kind` is `o`, `s` or `compared`; `value` is in the encoding of the conformance vectors.
const SCHEMA: &str = "message batt {
    required binary batt (STRING);
    required binary task (STRING);
    required binary pair (STRING);
    required binary kind (STRING);
    required int32 step (INTEGER(32, false));
    required binary donor (STRING);
    optional boolean mutated;
    optional binary differ (STRING);
    optional binary value (STRING);
    optional binary error (STRING);
    optional boolean right;
}";

/// Rows and bytes of values in a group: enough to compress well, few enough to keep in memory.
const GROUP: usize = 1 << 16;
const GROUP_BYTES: usize = 1 << 25;

/// Makes a Parquet file of a file of lines, which are not kept in memory. It takes the place of `target`
/// when it is complete, and leaves nothing behind when it cannot be.
pub fn convert(lines: &Path, target: &Path) -> Result<()> {
    let beside = Beside(super::journal::with_suffix(target, ".part.tmp"));
    write(lines, &beside.0)?;
    let put = fs::rename(&beside.0, target);
    put.map_err(|error| kept(target, &error))
}

/// A file that is gone when this is, unless it was renamed.
struct Beside(PathBuf);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn write(lines: &Path, target: &Path) -> Result<()> {
    let failed = |error: ParquetError| kept(target, &io_error(error));
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let file = File::create(target).map_err(|error| kept(target, &error))?;
    let synced = file.try_clone();
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties.build())).map_err(failed)?;
    let mut rows = Rows::default();
    let read = || format!("cannot read {}", lines.display());
    let file = File::open(lines).with_context(read)?;
    for line in BufReader::with_capacity(1 << 18, file).lines() {
        let line = line.with_context(read)?;
        let record: Record<'_> = serde_json::from_str(&line).context("a line of results")?;
        rows.add(&record);
        if rows.is_full() {
            rows.write(&mut writer).map_err(failed)?;
        }
    }
    if rows.len() > 0 {
        rows.write(&mut writer).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    let synced = synced.and_then(|file| file.sync_all());
    synced.map_err(|error| kept(target, &error))
}

/// What the system said, where it is that.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// A column: its values, and for each row whether it has one.
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
        self.len() >= GROUP || self.bytes >= GROUP_BYTES
    }

    fn add(&mut self, record: &Record<'_>) {
        for (k, (step, mutated, donor, value)) in record.o.iter().enumerate() {
            self.entry(record, "o", *step, donor, value);
            self.mutated.push(Some(*mutated));
            self.differ.push(None);
            self.right.push(Some(record.right.contains(&k)));
        }
        for (kind, scores) in [("s", &record.s), ("compared", &record.compared)] {
            for (step, donor, differ, value) in scores {
                self.entry(record, kind, *step, donor, value);
                self.mutated.push(None);
                self.differ.push(Some(differ.as_str().into()));
                self.right.push(None);
            }
        }
    }

    fn entry(&mut self, record: &Record<'_>, kind: &str, step: u32, donor: &str, value: &RawValue) {
        self.batt.push(Some((*record.batt).into()));
        self.task.push(Some((*record.task).into()));
        self.pair.push(Some((*record.pair).into()));
        self.kind.push(Some(kind.into()));
        // The column holds the bits; its type says that they are unsigned.
        self.step.push(Some(step.cast_signed()));
        self.donor.push(Some(donor.into()));
        let text = value.get();
        self.bytes += text.len();
        match failure(value) {
            Some(err) => {
                self.value.push(None);
                self.error.push(Some(err.as_str().into()));
            }
            None => {
                self.value.push(Some(text.into()));
                self.error.push(None);
            }
        }
    }

    /// Writes all rows as a group, and begins anew.
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
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    #[test]
    fn rows_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, target) = (folder.path().join("l"), folder.path().join("t.parquet"));
        let line = r#"{"batt":"b.py","task":"t","pair":"train[0]","o":[[3,false,"d",{"g":["1"]}],
            [4,true,"e",{"err":"TypeError","step":4}]],"s":[[1,"None","differ_x",null]],"right":[0]}"#;
        std::fs::write(&lines, line.replace('\n', "") + "\n").unwrap();
        convert(&lines, &target).unwrap();
        let reader = SerializedFileReader::new(File::open(&target).unwrap()).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0].get_string(8).unwrap(), r#"{"g":["1"]}"#);
        assert!(rows[0].get_bool(10).unwrap());
        assert_eq!(rows[1].get_string(9).unwrap(), "TypeError");
        assert_eq!(rows[1].get_uint(4).unwrap(), 4);
        assert_eq!(rows[2].get_string(7).unwrap(), "differ_x");
        assert_eq!(rows[2].get_string(8).unwrap(), "null");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_is_there_stays_when_the_lines_are_bad() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, target) = (folder.path().join("l"), folder.path().join("t.parquet"));
        fs::write(&lines, "{}\n").unwrap();
        fs::write(&target, "old").unwrap();
        assert!(convert(&lines, &target).is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
