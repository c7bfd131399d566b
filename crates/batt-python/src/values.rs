//! Values of the DSL as Python values.

use batt::OwnedValue;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PyTuple};

/// What `__reduce__` returns for a pickle: what restores the object, and its arguments.
pub type Pickled<'py, Arguments> = (Bound<'py, PyAny>, Arguments);

/// A function that a solver returned. It cannot be called, because the run that made it has ended.
///
///     >>> import batt
///     >>> batt.Solver.parse("def f(I): return hmirror")("12/34")
///     <function>
#[pyclass(frozen, module = "batt", name = "ReturnedFunction")]
pub struct ReturnedFunction;

#[pymethods]
impl ReturnedFunction {
    /// Restores a pickled function.
    #[staticmethod]
    fn _restore() -> ReturnedFunction {
        ReturnedFunction
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, ()>> {
        Ok((py.get_type::<ReturnedFunction>().getattr("_restore")?, ()))
    }

    fn __repr__(&self) -> &'static str {
        "<function>"
    }
}

/// Returns a value as a Python value: an int, a tuple, a frozenset and so on.
pub fn to_python<'py>(py: Python<'py>, value: &OwnedValue) -> PyResult<Bound<'py, PyAny>> {
    let all = |items: &[OwnedValue]| -> PyResult<Vec<Bound<'py, PyAny>>> {
        items.iter().map(|item| to_python(py, item)).collect()
    };
    match value {
        OwnedValue::None => Ok(py.None().into_bound(py)),
        OwnedValue::Bool(b) => b.into_bound_py_any(py),
        OwnedValue::Int(n) => n.into_bound_py_any(py),
        OwnedValue::Float(x) => x.get().into_bound_py_any(py),
        OwnedValue::Tuple(items) => Ok(PyTuple::new(py, all(items)?)?.into_any()),
        OwnedValue::Set(items) => Ok(PyFrozenSet::new(py, all(items)?)?.into_any()),
        OwnedValue::Function => Ok(Bound::new(py, ReturnedFunction)?.into_any()),
    }
}
