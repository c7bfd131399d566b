//! Exceptions: every error of the library as an exception of the module `batt.errors`.

use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use batt::mega::ResultsError;
use batt::{DatasetError, Error, FailureRecord};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::hints;

/// Returns a class or function of the module `batt.errors`.
pub fn of_module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || {
        py.import("batt.errors").map(|module| module.unbind())
    })?;
    module.bind(py).getattr(name)
}

/// Creates an exception of a class of `batt.errors`, with a hint.
pub fn exception(py: Python<'_>, class: &str, message: &str, hint: &str) -> PyErr {
    located(py, class, message, hint, |_| Ok(()))
}

/// Creates an exception that also has what a function adds by name: the file, the line and so on.
pub fn located<'py>(
    py: Python<'py>,
    class: &str,
    message: &str,
    hint: &str,
    add: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = (|| {
        let fields = PyDict::new(py);
        add(&fields)?;
        of_module(py, class)?.call((message, hint), Some(&fields))
    })();
    made.map_or_else(|error: PyErr| error, PyErr::from_value)
}

/// Creates the exception for a file that cannot be read or written.
fn of_file(py: Python<'_>, message: &str, hint: &str, path: &Path, error: &io::Error) -> PyErr {
    let class = match error.kind() {
        ErrorKind::NotFound => "MissingFileError",
        _ => "FileError",
    };
    located(py, class, message, hint, |fields| {
        fields.set_item("file", path.display().to_string())?;
        fields.set_item("errno", error.raw_os_error())
    })
}

/// Creates the exception for an error of the library.
pub fn from_library(py: Python<'_>, error: &Error) -> PyErr {
    let message = batt::files::without_numbers(&error.to_string());
    let hint = hints::in_python(error);
    let class = match error {
        Error::Tasks(DatasetError::Io { path, source })
        | Error::Results(
            ResultsError::File { path, source, .. } | ResultsError::Stopped { path, source },
        )
        | Error::File { path, source, .. } => return of_file(py, &message, &hint, path, source),
        Error::Tasks(_) | Error::DuplicateTask(_) => "TasksError",
        Error::Source(_) => "SolverError",
        Error::Archive(_) => "ArchiveError",
        Error::Evolve(_) => "EvolveError",
        Error::Device(_) => "DeviceError",
        Error::Results(_) => "ResultsError",
        Error::Card(_) => "CardError",
        Error::Request { .. } => return request(py, &message, &hint),
        _ => return exception(py, "BattError", &message, &hint),
    };
    let (file, line) = hints::place(error);
    located(py, class, &message, &hint, |fields| {
        if let Some(file) = file {
            fields.set_item("file", file.display().to_string())?;
        }
        match line {
            Some(line) => fields.set_item("line", line),
            None => Ok(()),
        }
    })
}

/// Creates the exception for a request that cannot be carried out.
pub fn request(py: Python<'_>, message: &str, hint: &str) -> PyErr {
    exception(py, "RequestError", message, hint)
}

/// Creates the exception for an argument of the wrong type.
pub fn wrong_kind(found: &Bound<'_, PyAny>, wanted: &str, hint: &str) -> PyErr {
    let kind = kind_of(found);
    PyTypeError::new_err(format!("{wanted} cannot be made of {kind}\nhint: {hint}"))
}

/// Returns the name of the type of a value, with an article.
pub fn kind_of(value: &Bound<'_, PyAny>) -> String {
    if value.is_none() {
        return "None".to_owned();
    }
    let name = value.get_type().name();
    let name = name.map_or("value".to_owned(), |name| name.to_string());
    match name.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) {
        true => format!("an {name}"),
        false => format!("a {name}"),
    }
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

/// Does something without the GIL, and turns a panic into an exception.
pub fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // What the work leaves half-done is only seen through locks, which notice a panic.
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|panic| internal(py, &*panic))
}

/// Creates the exception for a run that failed.
pub fn fault(py: Python<'_>, failure: &FailureRecord, message: &str, file: &str) -> PyErr {
    let fields = PyDict::new(py);
    let made = (|| {
        fields.set_item("op", failure.op.as_deref())?;
        fields.set_item("file", file)?;
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
