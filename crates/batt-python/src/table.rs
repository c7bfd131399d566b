//! Tables: columns for pandas and numpy, and for Arrow without a copy of the rows in Python.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::errors;

/// A column.
pub enum Column {
    Text(Vec<Option<String>>),
    Bool(Vec<Option<bool>>),
    Int(Vec<Option<i64>>),
    Float(Vec<f64>),
    Texts(Vec<Vec<String>>),
}

/// Columns of equal length, each with its name.
pub struct Table(pub Vec<(&'static str, Column)>);

impl Table {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.0.first().map_or(0, |(_, column)| match column {
            Column::Text(cells) => cells.len(),
            Column::Bool(cells) => cells.len(),
            Column::Int(cells) => cells.len(),
            Column::Float(cells) => cells.len(),
            Column::Texts(cells) => cells.len(),
        })
    }

    /// Returns the columns as lists by name.
    pub fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, column) in &self.0 {
            let list = match column {
                Column::Text(cells) => PyList::new(py, cells)?,
                Column::Bool(cells) => PyList::new(py, cells)?,
                Column::Int(cells) => PyList::new(py, cells)?,
                Column::Float(cells) => PyList::new(py, cells)?,
                Column::Texts(cells) => PyList::new(py, cells)?,
            };
            columns.set_item(name, list)?;
        }
        Ok(columns)
    }

    /// Returns the table as a capsule with an Arrow stream, as `__arrow_c_stream__` does.
    pub fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let arrays: Vec<ArrayRef> = self.0.iter().map(|(_, column)| column.array()).collect();
        let fields = self.0.iter().zip(&arrays).map(|((name, column), array)| {
            let nullable = !matches!(column, Column::Float(_) | Column::Texts(_));
            Field::new(*name, array.data_type().clone(), nullable)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
            .map_err(|error| errors::bug(&error.to_string()))?;
        let batches = RecordBatchIterator::new([Ok(batch)], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

impl Column {
    fn array(&self) -> ArrayRef {
        match self {
            Column::Text(cells) => Arc::new(StringArray::from_iter(cells)),
            Column::Bool(cells) => Arc::new(BooleanArray::from(cells.clone())),
            Column::Int(cells) => Arc::new(Int64Array::from(cells.clone())),
            Column::Float(cells) => Arc::new(Float64Array::from(cells.clone())),
            Column::Texts(cells) => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for texts in cells {
                    lists.append_value(texts.iter().map(Some));
                }
                Arc::new(lists.finish())
            }
        }
    }
}
