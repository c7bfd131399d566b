//! JSON values as Python values, for summaries.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value as Json;

/// Returns a JSON value as dicts, lists, strings and numbers.
pub fn to_python<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyAny>> {
    match json {
        Json::Null => Ok(py.None().into_bound(py)),
        Json::Bool(b) => b.into_bound_py_any(py),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(n), _) => n.into_bound_py_any(py),
            (None, Some(n)) => n.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Json::String(text) => text.into_bound_py_any(py),
        Json::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        Json::Object(entries) => {
            let dict = PyDict::new(py);
            for (key, value) in entries {
                dict.set_item(key, to_python(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
