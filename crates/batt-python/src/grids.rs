//! Grids: from anything that is one in Python, and to numpy arrays.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};

use crate::errors;

/// A grid of colours.
#[pyclass(frozen, eq, module = "batt", name = "Grid")]
#[derive(Clone, PartialEq, Eq)]
pub struct PyGrid(pub batt::Grid);

#[pymethods]
impl PyGrid {
    #[new]
    fn new(data: &Bound<'_, PyAny>) -> PyResult<PyGrid> {
        extract(data).map(PyGrid)
    }

    /// Restores a pickled grid.
    #[staticmethod]
    fn _restore(py: Python<'_>, height: usize, width: usize, cells: Vec<u8>) -> PyResult<PyGrid> {
        let grid = batt::Grid::new(height, width, cells);
        grid.map(PyGrid).map_err(|error| bad_grid(py, &error))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (usize, usize, Bound<'py, PyBytes>))> {
        let restore = py.get_type::<PyGrid>().getattr("_restore")?;
        let cells = PyBytes::new(py, self.0.cells());
        Ok((restore, (self.0.height(), self.0.width(), cells)))
    }

    #[getter]
    fn height(&self) -> usize {
        self.0.height()
    }

    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.height(), self.0.width())
    }

    #[getter]
    fn array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        to_array(py, &self.0)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A grid has no array, so every array is a copy.
        let _ = copy;
        let array = to_array(py, &self.0)?.into_any();
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_lists(py, &self.0)
    }

    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        to_tuples(py, &self.0)
    }

    fn __len__(&self) -> usize {
        self.0.height()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        to_array(py, &self.0)?.get_item(index)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let rows: Vec<String> = self.0.rows().map(digits).collect();
        format!("Grid('{}')", rows.join("/"))
    }
}

/// A row as digits.
fn digits(row: &[u8]) -> String {
    row.iter().map(|&cell| char::from(b'0' + cell)).collect()
}

fn bad_grid(py: Python<'_>, error: &dyn std::fmt::Display) -> PyErr {
    errors::request(
        py,
        &error.to_string(),
        "a grid has 1 to 30 rows of 1 to 30 colours 0 to 9",
    )
}

/// Reads a grid: a [`PyGrid`], an array, nested sequences, or a text such as `"012/210"`.
pub fn extract(data: &Bound<'_, PyAny>) -> PyResult<batt::Grid> {
    let py = data.py();
    if let Ok(grid) = data.cast::<PyGrid>() {
        return Ok(grid.get().0.clone());
    }
    if let Ok(text) = data.cast::<PyString>() {
        let text = text.to_cow()?;
        let grid = text.replace('/', "\n").parse::<batt::Grid>();
        return grid.map_err(|error| bad_grid(py, &error));
    }
    if let Ok(array) = data.extract::<PyReadonlyArray2<'_, u8>>() {
        let (height, width) = array.as_array().dim();
        let cells = array.as_array().iter().copied().collect();
        return batt::Grid::new(height, width, cells).map_err(|error| bad_grid(py, &error));
    }
    // Arrays of other numbers become lists.
    let listed = match data.hasattr("tolist")? {
        true => data.call_method0("tolist")?,
        false => data.clone(),
    };
    let rows: Vec<Vec<i64>> = listed.extract().map_err(|_| {
        let kind = data.get_type();
        let what = kind
            .name()
            .map_or("a value".to_owned(), |name| name.to_string());
        bad_grid(py, &format_args!("{what} is not a grid"))
    })?;
    let row = |row: Vec<i64>| -> Option<Vec<u8>> {
        row.into_iter()
            .map(|cell| u8::try_from(cell).ok())
            .collect()
    };
    let rows: Option<Vec<Vec<u8>>> = rows.into_iter().map(row).collect();
    let rows = rows.ok_or_else(|| bad_grid(py, &"a colour is not 0 to 9"))?;
    batt::Grid::from_rows(&rows).map_err(|error| bad_grid(py, &error))
}

/// Returns a grid as an array of `uint8`.
pub fn to_array<'py>(py: Python<'py>, grid: &batt::Grid) -> PyResult<Bound<'py, PyArray2<u8>>> {
    let flat = numpy::PyArray1::from_slice(py, grid.cells());
    flat.reshape([grid.height(), grid.width()])
}

/// Returns a grid as a list of lists.
pub fn to_lists<'py>(py: Python<'py>, grid: &batt::Grid) -> PyResult<Bound<'py, PyList>> {
    let rows = grid.rows().map(|row| PyList::new(py, row));
    PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}

/// Returns a grid as a tuple of tuples, the form in which solvers see it.
pub fn to_tuples<'py>(py: Python<'py>, grid: &batt::Grid) -> PyResult<Bound<'py, PyTuple>> {
    let rows = grid.rows().map(|row| PyTuple::new(py, row));
    PyTuple::new(py, rows.collect::<PyResult<Vec<_>>>()?)
}
