//! Grids: from anything that is one in Python, and to numpy arrays.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PySet, PyString, PyTuple};

use crate::values::Pickled;
use crate::{errors, pictures, show};

/// A rectangle of colours from 0 to 9, with 1 to 30 rows and columns.
///
/// Everything that takes a grid also takes an array, nested lists or tuples, and digits with `/`
/// between the rows; everything that returns one returns an array of `uint8`. A `Grid` is for
/// what arrays cannot do: it can be compared, hashed, printed and shown.
///
///     >>> import batt
///     >>> grid = batt.Grid([[0, 1], [2, 3]])
///     >>> grid
///     Grid('01/23')
///     >>> grid == batt.Grid("01/23"), grid.shape, grid[1, 0].item()
///     (True, (2, 2), 2)
///     >>> grid.array
///     array([[0, 1],
///            [2, 3]], dtype=uint8)
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
        grid.map(PyGrid)
            .map_err(|error| BadGrid::Value(error.to_string()).raise(py, ""))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Pickled<'py, (usize, usize, Bound<'py, PyBytes>)>> {
        let restore = py.get_type::<PyGrid>().getattr("_restore")?;
        let cells = PyBytes::new(py, self.0.cells());
        Ok((restore, (self.0.height(), self.0.width(), cells)))
    }

    /// The number of rows.
    #[getter]
    fn height(&self) -> usize {
        self.0.height()
    }

    /// The number of columns.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    /// The number of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.0.height(), self.0.width())
    }

    /// The cells as a new array of `uint8`.
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
        if copy == Some(false) {
            let message = "a Grid has no array to share: leave copy=False out";
            return Err(PyValueError::new_err(message));
        }
        let array = to_array(py, &self.0)?.into_any();
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// Returns the cells as a list of lists, as in a task file.
    ///
    ///     >>> Grid("01/23").to_list()
    ///     [[0, 1], [2, 3]]
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        to_lists(py, &self.0)
    }

    /// Returns the cells as a tuple of tuples, the form in which solvers see a grid.
    ///
    ///     >>> Grid("01/23").to_tuple()
    ///     ((0, 1), (2, 3))
    fn to_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        to_tuples(py, &self.0)
    }

    /// Returns the grid as text: one digit for each cell, or two coloured blanks for a terminal.
    ///
    ///     >>> print(Grid("01/23").render())
    ///     01
    ///     23
    #[pyo3(signature = (*, color=false))]
    fn render(&self, color: bool) -> String {
        show::grid(&self.0, color)
    }

    /// Shows the grid: as a picture in a notebook, in colour in a terminal, as digits elsewhere.
    /// `color` chooses text with or without colour.
    ///
    ///     >>> Grid("01/23").show()
    ///     01
    ///     23
    #[pyo3(signature = (*, color=None))]
    fn show(this: &Bound<'_, Self>, color: Option<bool>) -> PyResult<()> {
        show::show(this.as_any(), color)
    }

    fn __len__(&self) -> usize {
        self.0.height()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_array(py, &self.0)?.call_method0("__iter__")
    }

    fn __contains__(&self, colour: &Bound<'_, PyAny>) -> bool {
        let colour = colour.extract::<u8>();
        colour.is_ok_and(|colour| self.0.cells().contains(&colour))
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

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
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

/// The reason why a value is not a grid.
enum BadGrid {
    /// It is of another type.
    Kind(String),
    /// Its contents do not fit.
    Value(String),
    /// Python raised an exception.
    Raised(PyErr),
}

impl From<PyErr> for BadGrid {
    fn from(error: PyErr) -> BadGrid {
        BadGrid::Raised(error)
    }
}

impl BadGrid {
    /// Creates the exception; `place` says which grid, and is empty for the only one.
    fn raise(self, py: Python<'_>, place: &str) -> PyErr {
        const HINT: &str = "a grid has 1 to 30 rows of 1 to 30 colours from 0 to 9";
        let before = match place.is_empty() {
            true => String::new(),
            false => format!("{place}: "),
        };
        match self {
            BadGrid::Kind(kind) => pyo3::exceptions::PyTypeError::new_err(format!(
                "{before}{kind} is not a grid\nhint: {HINT}, as an array, lists or digits"
            )),
            BadGrid::Value(message) => errors::request(py, &format!("{before}{message}"), HINT),
            BadGrid::Raised(error) => error,
        }
    }
}

/// Reads a grid: a [`PyGrid`], an array, nested sequences, or a text such as `"012/210"`.
pub fn extract(data: &Bound<'_, PyAny>) -> PyResult<batt::Grid> {
    extract_at(data, "")
}

/// Reads a grid as [`extract`] does. Messages say that it is at `place`.
pub fn extract_at(data: &Bound<'_, PyAny>, place: &str) -> PyResult<batt::Grid> {
    read(data).map_err(|bad| bad.raise(data.py(), place))
}

fn read(data: &Bound<'_, PyAny>) -> Result<batt::Grid, BadGrid> {
    let value = |error: &dyn std::fmt::Display| BadGrid::Value(error.to_string());
    if let Ok(grid) = data.cast::<PyGrid>() {
        return Ok(grid.get().0.clone());
    }
    if let Ok(text) = data.cast::<PyString>() {
        let text = text.to_cow()?;
        let grid = text.replace('/', "\n").parse::<batt::Grid>();
        return grid.map_err(|error| value(&error));
    }
    if let Ok(array) = data.extract::<PyReadonlyArray2<'_, u8>>() {
        let (height, width) = array.as_array().dim();
        let cells = array.as_array().iter().copied().collect();
        return batt::Grid::new(height, width, cells).map_err(|error| value(&error));
    }
    // Arrays and tensors of other numbers become lists.
    if data.hasattr("tolist")? && data.hasattr("shape")? {
        let shape = data.getattr("shape")?;
        let Ok((height, width)) = shape.extract::<(usize, usize)>() else {
            let message = format!("an array of shape {} is not a grid", shape.str()?);
            return Err(BadGrid::Value(message));
        };
        if height.max(width) > batt::MAX_SIDE {
            let most = batt::MAX_SIDE;
            return Err(value(&format_args!(
                "the grid is {height}x{width}, the largest allowed is {most}x{most}"
            )));
        }
        let name = errors::kind_of(data);
        return from_rows(&data.call_method0("tolist")?, &name);
    }
    from_rows(data, &errors::kind_of(data))
}

/// Reads a sequence of sequences of numbers; `kind` is the type that the caller passed.
fn from_rows(data: &Bound<'_, PyAny>, kind: &str) -> Result<batt::Grid, BadGrid> {
    // Digits and keys are not rows. Anything with a length comes to an end.
    let is_list = |data: &Bound<'_, PyAny>| -> bool {
        !data.is_instance_of::<PyString>()
            && !data.is_instance_of::<PyDict>()
            && !data.is_instance_of::<PySet>()
            && data.len().is_ok()
    };
    if !is_list(data) {
        return Err(BadGrid::Kind(kind.to_owned()));
    }
    let mut rows = Vec::new();
    for (row, cells) in data.try_iter()?.enumerate() {
        let cells = cells?;
        if !is_list(&cells) {
            let kind = errors::kind_of(&cells);
            return Err(BadGrid::Value(format!(
                "row {row} is {kind}, not a list of colours"
            )));
        }
        let mut colours = Vec::new();
        for (column, cell) in cells.try_iter()?.enumerate() {
            let cell = cell?;
            colours.push(cell.extract::<u8>().map_err(|_| {
                let found = cell.repr().map_or(String::new(), |text| text.to_string());
                BadGrid::Value(format!(
                    "row {row}, column {column} is {found}, colours are whole numbers from 0 to 9"
                ))
            })?);
        }
        rows.push(colours);
    }
    batt::Grid::from_rows(&rows).map_err(|error| BadGrid::Value(error.to_string()))
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
