//! Limits of runs.

use std::time::Duration;

use batt::Limits;
use pyo3::prelude::*;

use crate::items::hash_of;
use crate::values::Pickled;
use crate::{errors, numbers};

/// The limits of each run: steps, elements of one value, bytes alive at a time, and seconds.
///
/// A run that reaches one fails with `StepLimit`, `SizeLimit`, `MemoryLimit` or `TimeLimit`. What
/// is left out has the default of the library. Only `time` makes results depend on the machine.
///
///     >>> import batt
///     >>> batt.Limits(steps=100_000)
///     Limits(steps=100000, size=4000000, memory=16777216, time=None)
///     >>> solve = batt.Solver.parse("def solve(I): return objects(I, T, F, F)")
///     >>> solve("012/340", limits=batt.Limits(steps=10))
///     Traceback (most recent call last):
///     batt.errors.StepLimit: StepLimit: the run spent its step budget
#[pyclass(frozen, eq, module = "batt", name = "Limits")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PyLimits(pub Limits);

#[pymethods]
impl PyLimits {
    #[new]
    #[pyo3(signature = (steps=None, size=None, memory=None, time=None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = numbers::whole_or_none)] steps: Option<u64>,
        #[pyo3(from_py_with = numbers::whole_or_none)] size: Option<usize>,
        #[pyo3(from_py_with = numbers::whole_or_none)] memory: Option<usize>,
        #[pyo3(from_py_with = numbers::seconds_or_none)] time: Option<Duration>,
    ) -> PyResult<PyLimits> {
        let default = Limits::default();
        if steps == Some(0) || size == Some(0) || memory == Some(0) {
            let message = "a limit of 0 lets no run begin";
            return Err(errors::request(py, message, "leave it out for the default"));
        }
        Ok(PyLimits(Limits {
            steps: steps.unwrap_or(default.steps),
            size: size.unwrap_or(default.size),
            memory: memory.unwrap_or(default.memory),
            time,
        }))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Pickled<'py, (u64, usize, usize, Option<f64>)> {
        let Limits {
            steps,
            size,
            memory,
            time,
        } = self.0;
        let time = time.map(|time| time.as_secs_f64());
        (
            py.get_type::<PyLimits>().into_any(),
            (steps, size, memory, time),
        )
    }

    /// The steps, about one for every call and every element that a primitive looks at.
    #[getter]
    fn steps(&self) -> u64 {
        self.0.steps
    }

    /// The elements of one value.
    #[getter]
    fn size(&self) -> usize {
        self.0.size
    }

    /// The bytes of the values that are alive at a time.
    #[getter]
    fn memory(&self) -> usize {
        self.0.memory
    }

    /// The seconds; `None` for no limit.
    #[getter]
    fn time(&self) -> Option<f64> {
        self.0.time.as_ref().map(Duration::as_secs_f64)
    }

    fn __hash__(&self) -> u64 {
        let Limits {
            steps,
            size,
            memory,
            time,
        } = self.0;
        hash_of((steps, size, memory, time))
    }

    fn __repr__(&self) -> String {
        let Limits {
            steps,
            size,
            memory,
            time,
        } = self.0;
        let time = time.map_or("None".to_owned(), |time| time.as_secs_f64().to_string());
        format!("Limits(steps={steps}, size={size}, memory={memory}, time={time})")
    }
}

/// Returns the limits, or the default ones.
pub fn or_default(given: Option<&Bound<'_, PyLimits>>) -> Limits {
    given.map_or_else(Limits::default, |limits| limits.get().0)
}
