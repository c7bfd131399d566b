//! Numbers from Python, with messages for those that do not fit.

use std::time::Duration;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::errors;

/// Reads a whole number that is not negative.
pub fn whole<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>) -> PyResult<T> {
    let py = value.py();
    value.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        if !error.is_instance_of::<PyOverflowError>(py) {
            return error;
        }
        let message = match value.repr() {
            Ok(text) => format!("the number {text} does not fit"),
            Err(_) => "a number does not fit".to_owned(),
        };
        errors::request(py, &message, "write a whole number that is not negative")
    })
}

/// Reads a whole number that is not negative, or `None`.
pub fn whole_or_none<'py, T: FromPyObjectOwned<'py>>(
    value: &Bound<'py, PyAny>,
) -> PyResult<Option<T>> {
    match value.is_none() {
        true => Ok(None),
        false => whole(value).map(Some),
    }
}

/// Reads a share, a number from 0 to 1.
pub fn share(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let share: f64 = value.extract()?;
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err(errors::request(
            value.py(),
            &format!("{share:?} is not a share"),
            "write a number from 0 to 1",
        )),
    }
}

/// Reads a time in seconds, or `None`.
pub fn seconds_or_none(value: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    if value.is_none() {
        return Ok(None);
    }
    let seconds: f64 = value.extract()?;
    Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| {
        errors::request(
            value.py(),
            &format!("{seconds:?} is not a time in seconds"),
            "write a number of seconds that is not negative, or None for no limit",
        )
    })
}
