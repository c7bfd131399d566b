//! Tables: columns for pandas and numpy, and for Arrow without a copy of the rows in Python.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::{Field, Schema};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyString};

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
    /// Returns the columns as lists by name.
    pub fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, column) in &self.0 {
            columns.set_item(name, column.list(py)?)?;
        }
        Ok(columns)
    }

    /// Returns the table as a pandas data frame.
    pub fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let columns = PyDict::new(py);
        for (name, column) in &self.0 {
            columns.set_item(name, column.parts(py)?)?;
        }
        tables(py)?.getattr("to_pandas")?.call1((columns,))
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

/// Returns the Python module that makes data frames.
fn tables(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("batt._tables")
}

/// Returns the polars data frame of an object with an Arrow stream.
pub fn to_polars<'py>(streams: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    tables(streams.py())?
        .getattr("to_polars")?
        .call1((streams,))
}

/// Returns the pyarrow table of an object with an Arrow stream.
pub fn to_arrow<'py>(streams: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    tables(streams.py())?.getattr("to_arrow")?.call1((streams,))
}

/// Python strings, each made once: columns repeat few texts.
struct Interned<'py> {
    py: Python<'py>,
    known: HashMap<String, Bound<'py, PyString>>,
}

impl<'py> Interned<'py> {
    fn new(py: Python<'py>) -> Interned<'py> {
        let known = HashMap::new();
        Interned { py, known }
    }

    fn get(&mut self, text: &str) -> Bound<'py, PyString> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let made = PyString::new(self.py, text);
        self.known.insert(text.to_owned(), made.clone());
        made
    }
}

impl Column {
    /// Returns the cells as a list.
    fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut interned = Interned::new(py);
        match self {
            Column::Text(cells) => {
                let cells = cells
                    .iter()
                    .map(|cell| cell.as_deref().map(|cell| interned.get(cell)));
                PyList::new(py, cells.collect::<Vec<_>>())
            }
            Column::Bool(cells) => PyList::new(py, cells),
            Column::Int(cells) => PyList::new(py, cells),
            Column::Float(cells) => PyList::new(py, cells),
            Column::Texts(cells) => {
                let mut texts = Vec::with_capacity(cells.len());
                for cell in cells {
                    let cell: Vec<_> = cell.iter().map(|text| interned.get(text)).collect();
                    texts.push(PyList::new(py, cell)?);
                }
                PyList::new(py, texts)
            }
        }
    }

    /// Returns the kind of the column, its cells, and an array that says which are missing; `None`
    /// if the cells say so or none are.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        fn missing<'py, T>(py: Python<'py>, cells: &[Option<T>]) -> Bound<'py, PyArray1<bool>> {
            let missing: Vec<bool> = cells.iter().map(Option::is_none).collect();
            missing.into_pyarray(py)
        }
        fn present<T: Copy + Default>(cells: &[Option<T>]) -> Vec<T> {
            cells.iter().map(|cell| cell.unwrap_or_default()).collect()
        }
        let parts = match self {
            Column::Text(_) => ("text", self.list(py)?, py.None()).into_pyobject(py)?,
            Column::Texts(_) => ("texts", self.list(py)?, py.None()).into_pyobject(py)?,
            Column::Bool(cells) => {
                ("bool", present(cells).into_pyarray(py), missing(py, cells)).into_pyobject(py)?
            }
            Column::Int(cells) => {
                ("int", present(cells).into_pyarray(py), missing(py, cells)).into_pyobject(py)?
            }
            Column::Float(cells) => {
                ("float", cells.clone().into_pyarray(py), py.None()).into_pyobject(py)?
            }
        };
        Ok(parts.into_any())
    }

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
