//! Exceptions: every error of the library as an exception of the module `batt.errors`.

use batt::{Error, FailureRecord};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Returns a class or function of the module `batt.errors`.
fn of_module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || {
        py.import("batt.errors").map(|module| module.unbind())
    })?;
    module.bind(py).getattr(name)
}

/// Creates an exception of a class of `batt.errors`, with a hint.
pub fn exception(py: Python<'_>, class: &str, message: &str, hint: &str) -> PyErr {
    let made = of_module(py, class).and_then(|class| class.call1((message, hint)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Creates the exception for an error of the library.
pub fn from_library(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Tasks(_) | Error::DuplicateTask(_) => "TasksError",
        Error::Source(_) => "SolverError",
        Error::Archive(_) => "ArchiveError",
        Error::Evolve(_) => "EvolveError",
        Error::Device(_) => "DeviceError",
        Error::Results(_) => "ResultsError",
        Error::Card(_) => "CardError",
        Error::File { .. } => "FileError",
        Error::Request { .. } => "RequestError",
        _ => "BattError",
    };
    exception(py, class, &error.to_string(), &error.hint())
}

/// Creates the exception for a request that cannot be carried out.
pub fn request(py: Python<'_>, message: &str, hint: &str) -> PyErr {
    exception(py, "RequestError", message, hint)
}

/// Creates the exception for a bug of Batt: a thread that panicked.
pub fn internal(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    exception(
        py,
        "InternalError",
        &format!("Batt has a bug: {text}"),
        "please report it, with the program and the input",
    )
}

/// Creates the exception for a run that failed.
pub fn fault(py: Python<'_>, failure: &FailureRecord, message: &str) -> PyErr {
    let fields = PyDict::new(py);
    let made = (|| {
        fields.set_item("op", failure.op.as_deref())?;
        fields.set_item("line", failure.line)?;
        let class = of_module(py, "fault")?.call1((failure.kind,))?;
        class.call((message,), Some(&fields))
    })();
    made.map_or_else(|error: PyErr| error, PyErr::from_value)
}

/// Turns errors of the library into exceptions.
pub trait IntoPython<T> {
    /// Returns the value or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> IntoPython<T> for batt::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| from_library(py, &error))
    }
}

/// Creates the exception for something that only a bug of Batt can cause.
pub fn bug(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("Batt has a bug: {what}"))
}
