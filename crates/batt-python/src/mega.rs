//! Mega-batches: batts on every sample of every task.

use std::path::PathBuf;
use std::sync::mpsc;

use batt::mega::{Detail, Existing};
use batt::{Mega, MegaSummary};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::solvers::PyLimits;
use crate::table::{Column, Table};
use crate::tasks::PyTasks;
use crate::{card, devices, errors, json, solvers};

/// The results of a mega-batch.
#[pyclass(frozen, module = "batt", name = "MegaResults")]
pub struct PyMegaResults {
    summary: Json,
    table: Table,
}

/// The result of one batt on one sample.
struct Row {
    batt: String,
    task: String,
    pair: String,
    right: Vec<String>,
    us: f64,
}

/// Runs batts on every pair of every task.
#[pyfunction]
#[pyo3(signature = (
    batts, tasks, output=None, *, existing="refuse", full=false, device="auto", jobs=None,
    limits=None, verify=0.0, time=None, progress=None
))]
#[allow(
    clippy::too_many_arguments,
    reason = "these are keyword arguments in Python"
)]
pub fn mega(
    py: Python<'_>,
    batts: &Bound<'_, PyAny>,
    tasks: &Bound<'_, PyTasks>,
    output: Option<PathBuf>,
    existing: &str,
    full: bool,
    device: &str,
    jobs: Option<usize>,
    limits: Option<&Bound<'_, PyLimits>>,
    verify: f64,
    time: Option<f64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PyMegaResults> {
    let batts = card::extract(batts)?;
    let (sender, rows) = mpsc::channel();
    let mut mega = Mega::new(&batts, &tasks.get().0)
        .threads(devices::threads(py, jobs)?)
        .device(devices::choice(py, device)?)
        .verify(verify)
        .detail(if full { Detail::Full } else { Detail::Compact })
        .on_result(move |outcome| {
            // The receiver lives as long as the work.
            let _ = sender.send(Row {
                batt: outcome.batt().0.to_owned(),
                task: outcome.task().id.clone(),
                pair: outcome.pair.to_string(),
                right: outcome.right().map(|output| output.donor.clone()).collect(),
                us: batt::micros(outcome.time),
            });
        });
    if let Some(limits) = limits {
        mega = mega.limits(solvers::limits(Some(limits)));
    }
    if let Some(path) = &output {
        let existing = match existing {
            "refuse" => Existing::Refuse,
            "resume" => Existing::Resume,
            "overwrite" => Existing::Overwrite,
            other => {
                let message = format!("no way '{other}' to treat an existing file");
                return Err(errors::request(
                    py,
                    &message,
                    "write refuse, resume or overwrite",
                ));
            }
        };
        mega = mega.write_to(path, existing);
    }
    let summary = door::work(py, Request { progress, time }, |control| mega.run(control))?;
    let rows: Vec<Row> = rows.try_iter().collect();
    Ok(PyMegaResults {
        summary: to_json(&summary, output),
        table: table(rows),
    })
}

fn to_json(summary: &MegaSummary, output: Option<PathBuf>) -> Json {
    let totals = &summary.totals;
    let solved = totals.solved.iter();
    let solved =
        solved.map(|found| json!({"batt": found.batt, "task": found.task, "donors": found.donors}));
    json!({
        "runs": totals.runs,
        "planned": summary.planned,
        "resumed": summary.resumed,
        "samples": summary.samples,
        "tasks": summary.tasks,
        "tasks_solved": summary.tasks_solved(),
        "candidates": totals.candidates(),
        "right": totals.right,
        "errors": totals.errors,
        "solved": solved.collect::<Vec<_>>(),
        "output": output,
        "bytes": summary.bytes,
        "seconds": summary.report.as_ref().map(|report| report.elapsed.as_secs_f64()),
        "threads": summary.report.as_ref().map(|report| report.workers),
    })
}

fn table(rows: Vec<Row>) -> Table {
    let mut columns: [Vec<Option<String>>; 3] = Default::default();
    let (mut right, mut us) = (Vec::new(), Vec::new());
    for row in rows {
        columns[0].push(Some(row.batt));
        columns[1].push(Some(row.task));
        columns[2].push(Some(row.pair));
        right.push(row.right);
        us.push(row.us);
    }
    let [batt, task, pair] = columns;
    Table(vec![
        ("batt", Column::Text(batt)),
        ("task", Column::Text(task)),
        ("pair", Column::Text(pair)),
        ("right", Column::Texts(right)),
        ("us", Column::Float(us)),
    ])
}

#[pymethods]
impl PyMegaResults {
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.summary)
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.table.columns(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts the columns if it wants others.
        let _ = requested_schema;
        self.table.stream(py)
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }

    fn __repr__(&self) -> String {
        let count = |key: &str| self.summary[key].as_u64().unwrap_or(0);
        format!(
            "<MegaResults | {} of {} tasks solved | {} of {} runs>",
            count("tasks_solved"),
            count("tasks"),
            count("runs"),
            count("planned")
        )
    }
}
