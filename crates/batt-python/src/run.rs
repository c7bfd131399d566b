//! Running solvers on tasks.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use batt::picture::{self, PictureStyle, RunOutcome, Svg};
use batt::{
    Devices, FailureRecord, OwnedValue, PairRef, RunOptions, RunReport, RunResult, RunScope,
    Solvers, Tasks, Values, Verdict,
};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::items::{self, Index, Items};
use crate::kept::Kept;
use crate::limits::{self, PyLimits};
use crate::solver::PySolver;
use crate::solvers::PySolvers;
use crate::table::{self, Column, Table};
use crate::tasks::{PyTask, PyTasks};
use crate::values::Pickled;
use crate::{
    devices, errors, grids, json, numbers, parts, pictures, show, solvers, stored, tasks, values,
};

/// One run of a solver on a pair.
pub struct Row {
    pub solver: u32,
    pub task: u32,
    pub pair: PairRef,
    pub verdict: Verdict,
    pub value: Option<Kept>,
    pub time: Duration,
}

impl Row {
    /// Returns the value, if it is kept.
    pub fn value(&self) -> Option<Cow<'_, OwnedValue>> {
        self.value.as_ref().map(Kept::value)
    }
}

/// The results of `batt.run`: one `Result` for each run, in the order of solvers and pairs.
///
/// Results become a table with `to_pandas()`, `to_polars()` or `to_arrow()`, or in any library that
/// reads the Arrow PyCapsule interface. `columns()` returns plain lists.
///
///     >>> import batt
///     >>> results = batt.run("examples/solvers.py", "examples/tasks")
///     >>> results
///     <Results | 3 of 4 tasks solved | 15 of 16 pairs right | 16 runs>
///     >>> results.failures()
///     [<Result solve_d00d1e55 test[0] | 2 of 42 cells wrong>]
///     >>> results.summary()["solved"]
///     ['a1c0ffee', 'b0a710ad', 'c0de5eed']
#[pyclass(frozen, module = "batt", name = "Results", sequence)]
pub struct PyResults(Arc<Parts>);

struct Parts {
    solvers: Solvers,
    tasks: Tasks,
    rows: Vec<Row>,
    summary: Json,
}

/// The result of one run of a solver on a pair.
///
///     >>> import batt
///     >>> result = batt.run("examples/solvers.py", "examples/tasks").failures()[0]
///     >>> result.solver.name, result.task.id, result.pair, result.reason
///     ('solve_d00d1e55', 'd00d1e55', 'test[0]', '2 of 42 cells wrong')
///     >>> (result.output != result.expected).sum()
///     np.int64(2)
#[pyclass(frozen, module = "batt", name = "Result")]
pub struct PyResult1 {
    all: Arc<Parts>,
    at: usize,
}

/// Runs solvers on tasks and compares the results with the known outputs.
#[pyfunction]
#[pyo3(signature = (
    solvers, tasks, *, all_pairs=false, device="auto", jobs=None, limits=None, values="wrong",
    verify=0.0, time=None, shard=None, progress=None
))]
#[allow(
    clippy::too_many_arguments,
    reason = "these are keyword arguments in Python"
)]
pub fn run(
    py: Python<'_>,
    solvers: &Bound<'_, PyAny>,
    tasks: &Bound<'_, PyAny>,
    all_pairs: bool,
    device: &str,
    #[pyo3(from_py_with = numbers::whole_or_none)] jobs: Option<usize>,
    limits: Option<&Bound<'_, PyLimits>>,
    values: &str,
    #[pyo3(from_py_with = numbers::share)] verify: f64,
    #[pyo3(from_py_with = numbers::seconds_or_none)] time: Option<Duration>,
    shard: Option<&str>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PyResults> {
    let solvers = solvers::extract(solvers)?;
    let tasks = tasks::extract(tasks)?;
    let choice = devices::choice(py, device)?;
    let options = RunOptions {
        scope: scope(all_pairs),
        limits: limits::or_default(limits),
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
        shard: parts::shard(py, shard)?,
    };
    let told = progress.clone();
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
                value: result.value.map(Kept::new),
                time: result.time,
            });
        };
        let report = batt::run(&solvers, &tasks, &options, &mut devices, control, &mut keep)?;
        Ok((rows, report, devices.notes().to_vec()))
    })?;
    if let Some(progress) = told {
        // The engine reports only now and then.
        progress.call1((rows.len(), report.planned))?;
    }
    let mut summary = summary(&report, &tasks);
    summary["notes"] = json!(notes);
    Ok(PyResults::new(solvers, tasks, rows, summary))
}

/// Returns which tasks a solver runs on.
pub fn scope(all_pairs: bool) -> RunScope {
    match all_pairs {
        true => RunScope::AllPairs,
        false => RunScope::OwnTask,
    }
}

/// Returns the counts of a report by name.
pub fn summary(report: &RunReport, tasks: &Tasks) -> Json {
    let mut summary = report.to_json();
    let solved = report.summary.solved();
    let solved = solved.map(|at| tasks.tasks()[at].id.as_str());
    summary["solved"] = json!(solved.collect::<Vec<_>>());
    summary["notes"] = json!([]);
    summary["devices"] = json!(report.device.as_ref().map(|device| {
        let names = device.devices.iter().map(|device| device.name.clone());
        names.collect::<Vec<_>>()
    }));
    summary
}

impl Parts {
    /// Says why a run is wrong; `None` if it is right or no output is known.
    fn reason(&self, row: &Row) -> Option<String> {
        let solver = self.solvers.iter().as_slice().get(row.solver as usize)?;
        let pair = self.tasks.tasks()[row.task as usize].pair(row.pair);
        let expected = pair.and_then(|pair| pair.output.as_ref());
        let (program, value) = (solver.program(), row.value());
        row.verdict
            .reason(program, solver.file(), expected, value.as_deref())
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

/// Returns the number of wrong cells of an output of the right shape.
fn wrong_cells(verdict: &Verdict) -> Option<i64> {
    match verdict {
        Verdict::Right => Some(0),
        Verdict::WrongCells(wrong) => Some(*wrong as i64),
        _ => None,
    }
}

#[pymethods]
impl PyResults {
    /// Restores pickled results.
    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        solvers: &PySolvers,
        tasks: &PyTasks,
        rows: &str,
        summary: &str,
    ) -> PyResult<PyResults> {
        let rows = stored::from_text(rows).ok_or_else(|| stored::damaged(py))?;
        let is_known = |row: &Row| PyResults::can_have(&solvers.0, &tasks.0, row);
        if !rows.iter().all(is_known) {
            return Err(stored::damaged(py));
        }
        let summary = serde_json::from_str(summary).map_err(|_| stored::damaged(py))?;
        Ok(PyResults::new(
            solvers.0.clone(),
            tasks.0.clone(),
            rows,
            summary,
        ))
    }

    #[allow(
        clippy::type_complexity,
        reason = "the arguments are those of _restore"
    )]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Pickled<'py, (PySolvers, PyTasks, String, String)>> {
        let restore = py.get_type::<PyResults>().getattr("_restore")?;
        let rows = py.detach(|| stored::to_text(&self.0.rows));
        let parts = (
            self.solvers(),
            self.tasks(),
            rows,
            self.0.summary.to_string(),
        );
        Ok((restore, parts))
    }

    /// Returns the counts of all runs.
    ///
    ///     >>> import batt
    ///     >>> counts = batt.run("examples/solvers.py", "examples/tasks").summary()
    ///     >>> counts["tasks_solved"], counts["tasks"], counts["kinds"]
    ///     (3, 4, {'right': 15, 'with wrong cells': 1})
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.0.summary)
    }

    /// The solvers that ran.
    #[getter]
    fn solvers(&self) -> PySolvers {
        PySolvers(self.0.solvers.clone())
    }

    /// The tasks.
    #[getter]
    fn tasks(&self) -> PyTasks {
        PyTasks(self.0.tasks.clone())
    }

    /// Returns the results of runs that are wrong or failed.
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

    /// Returns the results as lists by the name of their column: `solver`, `task`, `pair`, `right`,
    /// `verdict`, `wrong_cells`, `error`, `op`, `line` and `us`, the microseconds of the run.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        py.detach(|| self.0.table()).columns(py)
    }

    /// Returns the results as a pandas `DataFrame`, with columns as `columns()` has them. It needs
    /// pandas, but not pyarrow.
    ///
    ///     >>> import batt
    ///     >>> frame = batt.run("examples/solvers.py", "examples/tasks").to_pandas()
    ///     >>> frame[~frame.right][["solver", "pair", "wrong_cells"]]
    ///                 solver     pair  wrong_cells
    ///     15  solve_d00d1e55  test[0]            2
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.detach(|| self.0.table()).to_pandas(py)
    }

    /// Returns the results as a polars `DataFrame`. It needs polars, but not pyarrow.
    ///
    ///     >>> import batt
    ///     >>> frame = batt.run("examples/solvers.py", "examples/tasks").to_polars()
    ///     >>> frame.filter(right=False).select("solver", "pair", "wrong_cells").rows()
    ///     [('solve_d00d1e55', 'test[0]', 2)]
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        table::to_polars(this.as_any())
    }

    /// Returns the results as a `pyarrow.Table`. It needs pyarrow.
    ///
    ///     >>> import batt
    ///     >>> batt.run("examples/solvers.py", "examples/tasks").to_arrow().shape
    ///     (16, 10)
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
                let value = row.value();
                let value = value.as_deref();
                batt::RunLine::new(program, task, row.pair, &row.verdict, value, row.time)
                    .write(&mut text)
                    .and_then(|()| text.flush())
                    .map_err(|source| batt::Error::File {
                        doing: "write",
                        path: path.clone(),
                        source,
                    })?;
            }
            batt::files::replace(&path, &text)
        })
    }

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
    }

    fn __len__(&self) -> usize {
        self.0.rows.len()
    }

    fn __iter__(this: Bound<'_, Self>) -> Items {
        Items::of(this.as_any())
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match items::index(index, self.0.rows.len(), "result", None)? {
            Index::One(at) => Ok(Bound::new(py, self.result(at))?.into_any()),
            Index::Many(picked) => {
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
    /// Creates results of rows that are in the order of the runs.
    pub fn new(solvers: Solvers, tasks: Tasks, rows: Vec<Row>, summary: Json) -> PyResults {
        PyResults(Arc::new(Parts {
            solvers,
            tasks,
            rows,
            summary,
        }))
    }

    /// Returns the rows, in the order of the runs.
    pub fn rows(&self) -> &[Row] {
        &self.0.rows
    }

    /// Returns whether a row can be one of these solvers and tasks.
    pub fn can_have(solvers: &Solvers, tasks: &Tasks, row: &Row) -> bool {
        let task = tasks.tasks().get(row.task as usize);
        let solver = solvers.iter().as_slice().get(row.solver as usize);
        let step = match &row.verdict {
            Verdict::Failed(error) => error.step,
            _ => None,
        };
        let steps = solver.map_or(0, |solver| solver.program().steps().len());
        task.is_some_and(|task| task.pair(row.pair).is_some())
            && solver.is_some()
            && step.is_none_or(|step| step.index() < steps)
    }

    /// Draws the failures: a title, and a picture of each with its own title, at most `most`.
    pub fn pictures(&self, most: usize, style: &PictureStyle) -> (String, Vec<(String, Svg)>) {
        let rows = self.0.rows.iter().enumerate();
        let wrong: Vec<usize> = rows
            .filter(|(_, row)| row.verdict.is_wrong())
            .map(|(at, _)| at)
            .collect();
        let failures = match wrong.len() {
            0 => "no failures".to_owned(),
            1 => "1 failure".to_owned(),
            count if count > most => format!("the first {most} of {count} failures"),
            count => format!("{count} failures"),
        };
        let count = |key: &str| self.0.summary[key].as_u64().unwrap_or(0);
        let title = format!(
            "{} of {} tasks solved, {} of {} pairs right: {failures}",
            count("tasks_solved"),
            count("tasks"),
            count("pairs_right"),
            count("pairs"),
        );
        let pictures = wrong.into_iter().take(most).map(|at| {
            let result = self.result(at);
            (String::new(), result.picture(style))
        });
        (title, pictures.collect())
    }

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

    fn pair_of_task(&self) -> PyResult<&batt::Pair> {
        let row = self.row();
        let pair = self.all.tasks.tasks()[row.task as usize].pair(row.pair);
        pair.ok_or_else(|| errors::bug("a run of a pair that is not there"))
    }

    fn solver_name(&self) -> &str {
        self.all.solvers.iter().as_slice()[self.row().solver as usize].name()
    }

    /// Draws the run: the input, the expected output, the output, and where they differ.
    pub fn picture(&self, style: &PictureStyle) -> Svg {
        let (row, pair) = (self.row(), self.pair_of_task().ok());
        let error = self.all.failure(row).map(|_| self.said());
        let value = row.value();
        let outcome = RunOutcome {
            expected: pair.and_then(|pair| pair.output.as_ref()),
            value: value.as_deref(),
            error: error.as_deref(),
        };
        let title = format!("{} {}", self.solver_name(), row.pair);
        picture::run(&title, pair.map(|pair| &pair.input), &outcome, style)
    }

    /// What the run gave, in words.
    fn said(&self) -> String {
        let row = self.row();
        let reason = self.all.reason(row);
        reason.unwrap_or_else(|| row.verdict.kind().to_owned())
    }
}

#[pymethods]
impl PyResult1 {
    /// A result is an item of its results, also in a pickle.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (PyResults, usize)>> {
        let item = py.import("operator")?.getattr("getitem")?;
        Ok((item, (PyResults(Arc::clone(&self.all)), self.at)))
    }

    /// The solver.
    #[getter]
    fn solver(&self) -> PySolver {
        PySolver(self.all.solvers.iter().as_slice()[self.row().solver as usize].clone())
    }

    /// The task.
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

    /// Whether the output is right; `None` if the expected output is not known.
    #[getter]
    fn right(&self) -> Option<bool> {
        self.row().verdict.known()
    }

    /// The kind of result: `right`, `with wrong cells`, `of a wrong shape`, `not a grid`,
    /// `without a known output`, or the name of the error.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.row().verdict.kind()
    }

    /// Why the run is wrong, in words; `None` if it is not.
    #[getter]
    fn reason(&self) -> Option<String> {
        self.all.reason(self.row())
    }

    /// The number of wrong cells; `None` if the output has another shape or is not known.
    #[getter]
    fn wrong_cells(&self) -> Option<i64> {
        wrong_cells(&self.row().verdict)
    }

    /// The name of the error, such as `TypeError` or `StepLimit`; `None` if the run did not fail.
    #[getter]
    fn error(&self) -> Option<&'static str> {
        self.all.failure(self.row()).map(|failure| failure.kind)
    }

    /// The primitive that failed, or the variable whose function did.
    #[getter]
    fn op(&self) -> Option<String> {
        self.all.failure(self.row()).and_then(|failure| failure.op)
    }

    /// The line of the step that failed.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.all
            .failure(self.row())
            .and_then(|failure| failure.line)
    }

    /// The input as an array.
    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(grids::to_array(py, &self.pair_of_task()?.input)?.into_any())
    }

    /// The expected output as an array; `None` if it is not known.
    #[getter]
    fn expected<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let output = self.pair_of_task()?.output.as_ref();
        output
            .map(|output| Ok(grids::to_array(py, output)?.into_any()))
            .transpose()
    }

    /// The value that the solver returned; `None` if the run failed, or if `values` of `batt.run`
    /// leaves it out.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.row().value();
        value.map(|value| values::to_python(py, &value)).transpose()
    }

    /// The value as an array, if it is a grid.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let grid = self.row().value.as_ref().and_then(Kept::grid);
        grid.map(|grid| Ok(grids::to_array(py, &grid)?.into_any()))
            .transpose()
    }

    /// The time that the run took, in microseconds.
    #[getter]
    fn us(&self) -> f64 {
        batt::micros(self.row().time)
    }

    /// Returns the run as text: the input, the expected output, the output, and where they differ.
    ///
    ///     >>> import batt
    ///     >>> result = batt.run("examples/solvers.py", "examples/tasks").failures()[0]
    ///     >>> print(result.render())
    ///     solve_d00d1e55 on d00d1e55 test[0]: 2 of 42 cells wrong
    ///     input 6x7  expected 6x7  got 6x7  diff 2 of 42
    ///     0000000    0000000       0000000  .......
    ///     0080000    0080000       0080000  .......
    ///     0000010    0080010       0080010  .......
    ///     0000800    0080810       0080810  .......
    ///     0000000    0080810       0080010  ....x..
    ///     0000000    0080810       0080010  ....x..
    #[pyo3(signature = (*, color=false))]
    fn render(&self, color: bool) -> PyResult<String> {
        let (row, pair) = (self.row(), self.pair_of_task()?);
        let output = row.value.as_ref().and_then(Kept::grid);
        let grids = show::run(&pair.input, pair.output.as_ref(), output.as_ref(), color);
        let task = &self.all.tasks.tasks()[row.task as usize].id;
        Ok(format!(
            "{} on {task} {}: {}\n{grids}",
            self.solver_name(),
            row.pair,
            self.said()
        ))
    }

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
    }

    /// Shows the run: as a picture in a notebook, in colour in a terminal, as digits elsewhere.
    /// `color` chooses text with or without colour.
    #[pyo3(signature = (*, color=None))]
    fn show(this: &Bound<'_, Self>, color: Option<bool>) -> PyResult<()> {
        show::show(this.as_any(), color)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<PyResult1>();
        other.is_ok_and(|other| {
            let other = other.get();
            Arc::ptr_eq(&self.all, &other.all) && self.at == other.at
        })
    }

    fn __hash__(&self) -> u64 {
        self.at as u64
    }

    fn __repr__(&self) -> String {
        let (solver, pair) = (self.solver_name(), self.row().pair);
        format!("<Result {solver} {pair} | {}>", self.said())
    }
}
