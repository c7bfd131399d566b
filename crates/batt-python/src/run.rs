//! Running solvers on tasks.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use batt::{
    Devices, FailureRecord, OwnedValue, PairRef, RunOptions, RunResult, RunScope, Solvers, Tasks,
    Values, Verdict,
};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::solvers::{PyLimits, PySolver, PySolvers};
use crate::table::{Column, Table};
use crate::tasks::{PyTask, PyTasks};
use crate::{devices, errors, grids, json, solvers, values};

/// One run of a solver on a pair.
struct Row {
    solver: u32,
    task: u32,
    pair: PairRef,
    verdict: Verdict,
    value: Option<OwnedValue>,
    time: Duration,
}

/// The results of a run of solvers on tasks.
#[pyclass(frozen, module = "batt", name = "Results", sequence)]
pub struct PyResults(Arc<Parts>);

struct Parts {
    solvers: Solvers,
    tasks: Tasks,
    rows: Vec<Row>,
    summary: Json,
}

/// The result of one run.
#[pyclass(frozen, module = "batt", name = "Result")]
pub struct PyResult1 {
    all: Arc<Parts>,
    at: usize,
}

/// Runs solvers on tasks and compares the results with the known outputs.
#[pyfunction]
#[pyo3(signature = (
    solvers, tasks, *, all_pairs=false, device="auto", jobs=None, limits=None, values="wrong",
    verify=0.0, time=None, progress=None
))]
#[allow(
    clippy::too_many_arguments,
    reason = "these are keyword arguments in Python"
)]
pub fn run(
    py: Python<'_>,
    solvers: &Bound<'_, PyAny>,
    tasks: &Bound<'_, PyTasks>,
    all_pairs: bool,
    device: &str,
    jobs: Option<usize>,
    limits: Option<&Bound<'_, PyLimits>>,
    values: &str,
    verify: f64,
    time: Option<f64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PyResults> {
    let solvers = solvers::extract(solvers)?;
    let tasks = tasks.get().0.clone();
    let choice = devices::choice(py, device)?;
    let options = RunOptions {
        scope: match all_pairs {
            true => RunScope::AllPairs,
            false => RunScope::OwnTask,
        },
        limits: solvers::limits(limits),
        threads: devices::threads(py, jobs)?,
        values: match values {
            "none" => Values::None,
            "wrong" => Values::Wrong,
            "all" => Values::All,
            other => {
                let message = format!("no choice of values '{other}'");
                return Err(errors::request(py, &message, "write none, wrong or all"));
            }
        },
        verify,
    };
    let request = Request { progress, time };
    let (rows, report, notes) = door::work(py, request, |control| {
        let runs = batt::run_count(&solvers, &tasks, options.scope);
        let mut devices = Devices::open(&choice, runs, &options.limits, options.threads)?;
        let mut rows = Vec::with_capacity(runs);
        let mut keep = |result: RunResult| {
            rows.push(Row {
                solver: result.solver_index() as u32,
                task: result.task_index() as u32,
                pair: result.pair,
                verdict: result.verdict,
                value: result.value,
                time: result.time,
            });
        };
        let report = batt::run(&solvers, &tasks, &options, &mut devices, control, &mut keep)?;
        Ok((rows, report, devices.notes().to_vec()))
    })?;
    let mut summary = report.to_json();
    summary["notes"] = json!(notes);
    summary["devices"] = json!(report.device.as_ref().map(|device| {
        let names = device.devices.iter().map(|device| device.name.clone());
        names.collect::<Vec<_>>()
    }));
    Ok(PyResults(Arc::new(Parts {
        solvers,
        tasks,
        rows,
        summary,
    })))
}

impl Parts {
    /// Says why a run is wrong; `None` if it is right or no output is known.
    fn reason(&self, row: &Row) -> Option<String> {
        let solver = self.solvers.iter().as_slice().get(row.solver as usize)?;
        let pair = self.tasks.tasks()[row.task as usize].pair(row.pair);
        let expected = pair.and_then(|pair| pair.output.as_ref());
        let (program, value) = (solver.program(), row.value.as_ref());
        row.verdict.reason(program, solver.file(), expected, value)
    }

    fn failure(&self, row: &Row) -> Option<FailureRecord> {
        match &row.verdict {
            Verdict::Failed(error) => {
                let solver = &self.solvers.iter().as_slice()[row.solver as usize];
                Some(FailureRecord::new(error, solver.program()))
            }
            _ => None,
        }
    }

    fn table(&self) -> Table {
        let solvers = self.solvers.iter().as_slice();
        let of_failure = |value: fn(FailureRecord) -> Option<String>| {
            let cells = self
                .rows
                .iter()
                .map(move |row| self.failure(row).and_then(value));
            Column::Text(cells.collect())
        };
        let text = |cell: &dyn Fn(&Row) -> String| {
            Column::Text(self.rows.iter().map(|row| Some(cell(row))).collect())
        };
        Table(vec![
            (
                "solver",
                text(&|row| solvers[row.solver as usize].name().to_owned()),
            ),
            (
                "task",
                text(&|row| self.tasks.tasks()[row.task as usize].id.clone()),
            ),
            ("pair", text(&|row| row.pair.to_string())),
            (
                "right",
                Column::Bool(self.rows.iter().map(|row| row.verdict.known()).collect()),
            ),
            ("verdict", text(&|row| row.verdict.kind().to_owned())),
            (
                "wrong_cells",
                Column::Int(
                    self.rows
                        .iter()
                        .map(|row| wrong_cells(&row.verdict))
                        .collect(),
                ),
            ),
            ("error", of_failure(|failure| Some(failure.kind.to_owned()))),
            ("op", of_failure(|failure| failure.op)),
            (
                "line",
                Column::Int(
                    self.rows
                        .iter()
                        .map(|row| Some(i64::from(self.failure(row)?.line?)))
                        .collect(),
                ),
            ),
            (
                "us",
                Column::Float(self.rows.iter().map(|row| batt::micros(row.time)).collect()),
            ),
        ])
    }
}

/// The number of wrong cells of an output of the right shape.
fn wrong_cells(verdict: &Verdict) -> Option<i64> {
    match verdict {
        Verdict::Right => Some(0),
        Verdict::WrongCells(wrong) => Some(*wrong as i64),
        _ => None,
    }
}

#[pymethods]
impl PyResults {
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.summary)
    }

    #[getter]
    fn solvers(&self) -> PySolvers {
        PySolvers(self.0.solvers.clone())
    }

    #[getter]
    fn tasks(&self) -> PyTasks {
        PyTasks(self.0.tasks.clone())
    }

    /// The results of runs that are wrong or failed.
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let wrong = self
            .0
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.verdict.is_wrong());
        let results = wrong.map(|(at, _)| self.result(at));
        PyList::new(py, results.collect::<Vec<_>>())
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        py.detach(|| self.0.table()).columns(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts the columns if it wants others.
        let _ = requested_schema;
        py.detach(|| self.0.table()).stream(py)
    }

    /// Writes the results as JSON lines, as `batt run -o` does.
    fn write_jsonl(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let parts = &self.0;
        door::work(py, Request::default(), |_| {
            let mut text = Vec::new();
            for row in &parts.rows {
                let program = parts.solvers.iter().as_slice()[row.solver as usize].program();
                let task = &parts.tasks.tasks()[row.task as usize].id;
                let value = row.value.as_ref();
                batt::RunLine::new(program, task, row.pair, &row.verdict, value, row.time)
                    .write(&mut text)
                    .and_then(|()| text.flush())
                    .map_err(|source| batt::Error::File {
                        doing: "write",
                        path: path.clone(),
                        source,
                    })?;
            }
            let text = String::from_utf8(text).expect("JSON is UTF-8");
            batt::files::replace(&path, &text)
        })
    }

    fn __len__(&self) -> usize {
        self.0.rows.len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match crate::index(index, self.0.rows.len(), "result")? {
            crate::Index::One(at) => Ok(Bound::new(py, self.result(at))?.into_any()),
            crate::Index::Many(picked) => {
                let results: Vec<PyResult1> =
                    picked.into_iter().map(|at| self.result(at)).collect();
                Ok(PyList::new(py, results)?.into_any())
            }
        }
    }

    fn __repr__(&self) -> String {
        let count = |key: &str| self.0.summary[key].as_u64().unwrap_or(0);
        format!(
            "<Results | {} of {} tasks solved | {} of {} pairs right | {} runs>",
            count("tasks_solved"),
            count("tasks"),
            count("pairs_right"),
            count("pairs"),
            self.0.rows.len()
        )
    }
}

impl PyResults {
    fn result(&self, at: usize) -> PyResult1 {
        PyResult1 {
            all: Arc::clone(&self.0),
            at,
        }
    }
}

impl PyResult1 {
    fn row(&self) -> &Row {
        &self.all.rows[self.at]
    }

    fn pair_of_task(&self) -> Option<&batt::Pair> {
        let row = self.row();
        self.all.tasks.tasks()[row.task as usize].pair(row.pair)
    }
}

#[pymethods]
impl PyResult1 {
    #[getter]
    fn solver(&self) -> PySolver {
        PySolver(self.all.solvers.iter().as_slice()[self.row().solver as usize].clone())
    }

    #[getter]
    fn task(&self) -> PyTask {
        PyTask(Arc::new(
            self.all.tasks.tasks()[self.row().task as usize].clone(),
        ))
    }

    /// The name of the pair, such as `train[0]`.
    #[getter]
    fn pair(&self) -> String {
        self.row().pair.to_string()
    }

    /// Whether the output is right; `None` if it is not known.
    #[getter]
    fn right(&self) -> Option<bool> {
        self.row().verdict.known()
    }

    /// Why the run is wrong; `None` if it is right.
    #[getter]
    fn reason(&self) -> Option<String> {
        self.all.reason(self.row())
    }

    /// The kind of error, such as `TypeError`; `None` if the run did not fail.
    #[getter]
    fn error(&self) -> Option<&'static str> {
        self.all.failure(self.row()).map(|failure| failure.kind)
    }

    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let pair = self.pair_of_task();
        pair.map(|pair| Ok(grids::to_array(py, &pair.input)?.into_any()))
            .transpose()
    }

    /// The expected output as an array; `None` if it is not known.
    #[getter]
    fn expected<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let output = self.pair_of_task().and_then(|pair| pair.output.as_ref());
        output
            .map(|output| Ok(grids::to_array(py, output)?.into_any()))
            .transpose()
    }

    /// The value; `None` if the run failed, or if values of its kind were not asked for.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.row().value.as_ref();
        value.map(|value| values::to_python(py, value)).transpose()
    }

    /// The value as an array, if it is a grid.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let grid = self.row().value.as_ref().and_then(batt::output_grid);
        grid.map(|grid| Ok(grids::to_array(py, &grid)?.into_any()))
            .transpose()
    }

    /// The time that the run took, in microseconds.
    #[getter]
    fn us(&self) -> f64 {
        batt::micros(self.row().time)
    }

    fn __repr__(&self) -> String {
        let row = self.row();
        let solver = self.all.solvers.iter().as_slice()[row.solver as usize].name();
        let reason = self.all.reason(row);
        let verdict = reason.as_deref().unwrap_or(row.verdict.kind());
        format!("<Result {solver} {} | {verdict}>", row.pair)
    }
}
