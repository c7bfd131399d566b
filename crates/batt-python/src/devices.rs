//! Devices: choosing them, and what there is on this machine.

use std::num::NonZeroUsize;

use batt::{DeviceChoice, survey};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::{errors, json};

/// Reads the name of a device choice.
pub fn choice(py: Python<'_>, device: &str) -> PyResult<DeviceChoice> {
    device.parse().map_err(|_| {
        let message = format!("no device '{device}'");
        errors::request(py, &message, &format!("write {}", DeviceChoice::FORMS))
    })
}

/// Reads a number of threads; `None` stands for one per core.
pub fn threads(py: Python<'_>, jobs: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    let Some(jobs) = jobs else { return Ok(None) };
    let jobs = NonZeroUsize::new(jobs.min(batt::most_workers()));
    jobs.map(Some).ok_or_else(|| {
        errors::request(
            py,
            "0 threads do no work",
            "leave jobs out for one thread per core",
        )
    })
}

/// Lists the GPUs of this machine, and what is missing to use them.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let survey = door::work(py, Request::default(), |_| Ok(survey()))?;
    let gpus = survey.devices.iter().map(|(facts, free)| {
        json!({
            "device": format!("cuda:{}", facts.ordinal),
            "name": facts.name,
            "free_memory": free.as_ref().ok(),
        })
    });
    let all = json!({
        "cores": std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        "gpus": gpus.collect::<Vec<Json>>(),
        "driver": survey.driver.as_ref().ok().map(ToString::to_string),
        "compiler": survey.compiler.as_ref().ok().map(|found| found.version.to_string()),
        "advice": survey.advice(),
    });
    json::to_python(py, &all)
}
