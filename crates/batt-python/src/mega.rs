//! Mega-batches: batts on every sample of every task.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use batt::mega::{Detail, Existing};
use batt::{Mega, MegaSummary};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::items::{self, Index, Items};
use crate::limits::PyLimits;
use crate::table::{self, Column, Table};
use crate::values::Pickled;
use crate::{card, devices, errors, json, numbers, parts, stored, tasks};

/// The results of `batt.mega`: one `MegaResult` for each batt and pair.
///
/// If an earlier run of the same file was resumed, `summary()` counts all of its runs; the rows are
/// those of now, and the file has all.
///
///     >>> import batt
///     >>> tasks = batt.load("examples/tasks")
///     >>> results = batt.mega(batt.card("examples/solvers.py", tasks), tasks)
///     >>> results
///     <MegaResults | 3 of 4 tasks solved | 16 of 16 runs>
///     >>> results[0]
///     <MegaResult a1c0ffee train[0] | 1 right>
///     >>> results.summary()["solved"][0]
///     {'batt': 'batt', 'donors': ['a1c0ffee'], 'task': 'a1c0ffee'}
#[pyclass(frozen, module = "batt", name = "MegaResults", sequence)]
pub struct PyMegaResults {
    summary: Json,
    rows: Vec<Row>,
}

/// The result of one batt on one pair.
///
///     >>> import batt
///     >>> tasks = batt.load("examples/tasks")
///     >>> result = batt.mega(batt.card("examples/solvers.py", tasks), tasks)[0]
///     >>> result.batt, result.task, result.pair, result.right
///     ('batt', 'a1c0ffee', 'train[0]', ['a1c0ffee'])
#[pyclass(frozen, eq, module = "batt", name = "MegaResult")]
#[derive(Clone, PartialEq)]
pub struct PyMegaResult(Row);

/// The result of one batt on one sample.
#[derive(Clone, PartialEq)]
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
    limits=None, verify=0.0, time=None, shard=None, progress=None
))]
#[allow(
    clippy::too_many_arguments,
    reason = "these are keyword arguments in Python"
)]
pub fn mega(
    py: Python<'_>,
    batts: &Bound<'_, PyAny>,
    tasks: &Bound<'_, PyAny>,
    output: Option<PathBuf>,
    existing: &str,
    full: bool,
    device: &str,
    #[pyo3(from_py_with = numbers::whole_or_none)] jobs: Option<usize>,
    limits: Option<&Bound<'_, PyLimits>>,
    #[pyo3(from_py_with = numbers::share)] verify: f64,
    #[pyo3(from_py_with = numbers::seconds_or_none)] time: Option<Duration>,
    shard: Option<&str>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PyMegaResults> {
    let existing = match existing {
        "refuse" => Existing::Refuse,
        "resume" => Existing::Resume,
        "overwrite" => Existing::Overwrite,
        other => {
            let message = format!("no way '{other}' to treat an existing file");
            let hint = "write refuse, resume or overwrite";
            return Err(errors::request(py, &message, hint));
        }
    };
    let (batts, tasks) = (card::extract(batts)?, tasks::extract(tasks)?);
    let (sender, rows) = mpsc::channel();
    let mut mega = Mega::new(&batts, &tasks)
        .threads(devices::threads(py, jobs)?)
        .device(devices::choice(py, device)?)
        .verify(verify)
        .shard(parts::shard(py, shard)?)
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
        mega = mega.limits(limits.get().0);
    }
    if let Some(path) = &output {
        mega = mega.write_to(path, existing);
    }
    let summary = door::work(py, Request { progress, time }, |control| mega.run(control))?;
    Ok(PyMegaResults {
        summary: to_json(&summary, output),
        rows: rows.try_iter().collect(),
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

#[pymethods]
impl PyMegaResults {
    /// Restores pickled results.
    #[staticmethod]
    fn _restore(py: Python<'_>, rows: &str, summary: &str) -> PyResult<PyMegaResults> {
        let rows: Vec<Stored> = serde_json::from_str(rows).map_err(|_| stored::damaged(py))?;
        Ok(PyMegaResults {
            summary: serde_json::from_str(summary).map_err(|_| stored::damaged(py))?,
            rows: rows.into_iter().map(Row::restored).collect(),
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (String, String)>> {
        let restore = py.get_type::<PyMegaResults>().getattr("_restore")?;
        let rows: Json = self.rows.iter().map(|row| json!(row.stored())).collect();
        Ok((restore, (rows.to_string(), self.summary.to_string())))
    }

    /// Returns the counts of all runs, and the tasks that are solved with the donors that solve them.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.summary)
    }

    /// Returns the results as lists by the name of their column: `batt`, `task`, `pair`, `right`, the
    /// donors that are right, and `us`, the microseconds of the run.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        py.detach(|| self.table()).columns(py)
    }

    /// Returns the results as a pandas `DataFrame`, with columns as `columns()` has them. It needs
    /// pandas, but not pyarrow.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.detach(|| self.table()).to_pandas(py)
    }

    /// Returns the results as a polars `DataFrame`. It needs polars, but not pyarrow.
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        table::to_polars(this.as_any())
    }

    /// Returns the results as a `pyarrow.Table`. It needs pyarrow.
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        table::to_arrow(this.as_any())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts the columns if it wants others.
        let _ = requested_schema;
        py.detach(|| self.table()).stream(py)
    }

    fn __iter__(this: Bound<'_, Self>) -> Items {
        Items::of(this.as_any())
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let row = |at: usize| PyMegaResult(self.rows[at].clone());
        match items::index(index, self.rows.len(), "result", None)? {
            Index::One(at) => Ok(Bound::new(py, row(at))?.into_any()),
            Index::Many(picked) => {
                let rows: Vec<PyMegaResult> = picked.into_iter().map(row).collect();
                Ok(PyList::new(py, rows)?.into_any())
            }
        }
    }

    fn __len__(&self) -> usize {
        self.rows.len()
    }

    fn __repr__(&self) -> String {
        let count = |key: &str| self.summary[key].as_u64().unwrap_or(0);
        let resumed = match count("resumed") {
            0 => String::new(),
            resumed => format!(" | {resumed} resumed"),
        };
        format!(
            "<MegaResults | {} of {} tasks solved | {} of {} runs{resumed}>",
            count("tasks_solved"),
            count("tasks"),
            count("runs"),
            count("planned")
        )
    }
}

impl PyMegaResults {
    fn table(&self) -> Table {
        let text = |cell: fn(&Row) -> &String| {
            Column::Text(
                self.rows
                    .iter()
                    .map(|row| Some(cell(row).clone()))
                    .collect(),
            )
        };
        let right = self.rows.iter().map(|row| row.right.clone());
        Table(vec![
            ("batt", text(|row| &row.batt)),
            ("task", text(|row| &row.task)),
            ("pair", text(|row| &row.pair)),
            ("right", Column::Texts(right.collect())),
            (
                "us",
                Column::Float(self.rows.iter().map(|row| row.us).collect()),
            ),
        ])
    }
}

/// What a pickle has of a row.
type Stored = (String, String, String, Vec<String>, f64);

impl Row {
    fn stored(&self) -> Stored {
        let row = self.clone();
        (row.batt, row.task, row.pair, row.right, row.us)
    }

    fn restored((batt, task, pair, right, us): Stored) -> Row {
        Row {
            batt,
            task,
            pair,
            right,
            us,
        }
    }
}

#[pymethods]
impl PyMegaResult {
    /// Restores a pickled result.
    #[staticmethod]
    fn _restore(batt: String, task: String, pair: String, right: Vec<String>, us: f64) -> Self {
        PyMegaResult(Row::restored((batt, task, pair, right, us)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, Stored>> {
        let restore = py.get_type::<PyMegaResult>().getattr("_restore")?;
        Ok((restore, self.0.stored()))
    }

    /// The name of the batt.
    #[getter]
    fn batt(&self) -> &str {
        &self.0.batt
    }

    /// The id of the task.
    #[getter]
    fn task(&self) -> &str {
        &self.0.task
    }

    /// The name of the pair, such as `train[0]`.
    #[getter]
    fn pair(&self) -> &str {
        &self.0.pair
    }

    /// The donors whose candidate is the expected output.
    #[getter]
    fn right(&self) -> Vec<String> {
        self.0.right.clone()
    }

    /// The time that the run took, in microseconds.
    #[getter]
    fn us(&self) -> f64 {
        self.0.us
    }

    fn __hash__(&self) -> u64 {
        items::hash_of((&self.0.batt, &self.0.task, &self.0.pair))
    }

    fn __repr__(&self) -> String {
        let Row {
            task, pair, right, ..
        } = &self.0;
        format!("<MegaResult {task} {pair} | {} right>", right.len())
    }
}
