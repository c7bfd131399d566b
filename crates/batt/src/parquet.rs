//! Results as a table: one row per candidate and per score.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The columns. `kind` is `o`, `s` or `compared`; `value` is in the encoding of the conformance vectors.
const SCHEMA: &str = "message batt {
    required binary batt (STRING);
    required binary task (STRING);
    required binary pair (STRING);
    required binary kind (STRING);
    required int32 step;
    required binary donor (STRING);
    optional boolean mutated;
    optional binary differ (STRING);
    optional binary value (STRING);
    optional binary error (STRING);
    optional boolean right;
}";

/// Rows in a group: enough to compress well, few enough to keep in memory.
const GROUP: usize = 1 << 16;

/// Makes a Parquet file of a file of lines. The lines are not kept in memory.
pub fn convert(lines: &Path, target: &Path) -> Result<()> {
    let failed = || format!("cannot write {}", target.display());
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    let file = File::create(target).with_context(failed)?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
        .with_context(failed)?;
    let mut rows = Rows::default();
    for line in BufReader::with_capacity(1 << 18, File::open(lines)?).lines() {
        let line = line?;
        let record: Record<'_> = serde_json::from_str(&line).context("a line of results")?;
        rows.add(&record);
        if rows.len() >= GROUP {
            rows.write(&mut writer).with_context(failed)?;
        }
    }
    if rows.len() > 0 {
        rows.write(&mut writer).with_context(failed)?;
    }
    writer.close().with_context(failed)?;
    Ok(())
}

/// A line of results.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    batt: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    task: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    pair: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    o: Vec<(i32, bool, String, &'a RawValue)>,
    #[serde(borrow)]
    s: Vec<(i32, String, String, &'a RawValue)>,
    #[serde(borrow, default)]
    compared: Vec<(i32, String, String, &'a RawValue)>,
    right: Vec<usize>,
}

#[derive(Deserialize)]
struct Failure {
    err: String,
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
}

impl Rows {
    fn len(&self) -> usize {
        self.step.levels.len()
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

    fn entry(&mut self, record: &Record<'_>, kind: &str, step: i32, donor: &str, value: &RawValue) {
        self.batt.push(Some((*record.batt).into()));
        self.task.push(Some((*record.task).into()));
        self.pair.push(Some((*record.pair).into()));
        self.kind.push(Some(kind.into()));
        self.step.push(Some(step));
        self.donor.push(Some(donor.into()));
        let text = value.get();
        let failure = text
            .starts_with("{\"err\"")
            .then(|| serde_json::from_str(text));
        match failure {
            Some(Ok(Failure { err })) => {
                self.value.push(None);
                self.error.push(Some(err.as_str().into()));
            }
            _ => {
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
        assert_eq!(rows[1].get_int(4).unwrap(), 4);
        assert_eq!(rows[2].get_string(7).unwrap(), "differ_x");
        assert_eq!(rows[2].get_string(8).unwrap(), "null");
    }
}
