//! The native part of the Python package `batt`.
//!
//! ```text
//!   batt (Python): documentation, conversions, progress bars, notebooks
//!     └─ batt._native (this crate): classes around the types of the library
//!          └─ door: long work on a thread of its own, without the GIL
//!               └─ batt (Rust)
//! ```

mod door;
mod dsl;
mod errors;
mod grids;
mod solvers;
mod tasks;
mod values;

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PySlice;

/// The positions that an index selects.
enum Index {
    One(usize),
    Many(Vec<usize>),
}

/// Resolves a number or a slice; `what` names the items.
fn index(index: &Bound<'_, PyAny>, length: usize, what: &str) -> PyResult<Index> {
    if let Ok(slice) = index.cast::<PySlice>() {
        let range = slice.indices(length as isize)?;
        let at = |k: usize| (range.start + k as isize * range.step) as usize;
        return Ok(Index::Many((0..range.slicelength as usize).map(at).collect()));
    }
    let Ok(number) = index.extract::<isize>() else {
        return Err(PyTypeError::new_err(format!(
            "a {what} is found by name, number or slice"
        )));
    };
    let at = if number < 0 { number + length as isize } else { number };
    match usize::try_from(at).ok().filter(|&at| at < length) {
        Some(at) => Ok(Index::One(at)),
        None => Err(PyIndexError::new_err(format!("{what} {number} of {length}"))),
    }
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::dsl::{Function, Primitive};
    #[pymodule_export]
    use crate::grids::PyGrid;
    #[pymodule_export]
    use crate::solvers::{
        PyDiagnostic, PyLimits, PySolver, PySolvers, PyTrace, PyTraceStep,
    };
    #[pymodule_export]
    use crate::tasks::{PyTask, PyTasks};
    #[pymodule_export]
    use crate::values::ReturnedFunction;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
