//! Solvers, their diagnostics, and traces of single runs.

use std::path::PathBuf;
use std::time::Duration;

use batt::{
    Diagnostic, Dialect, FailureRecord, Limits, Pair, RunInput, Solver, SolverFile, Solvers,
    TracedStep, Verdict,
};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

use crate::door::{self, Request};
use crate::errors;
use crate::tasks::PyTask;
use crate::{grids, values};

/// Limits of each run.
#[pyclass(frozen, eq, module = "batt", name = "Limits")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PyLimits(pub Limits);

#[pymethods]
impl PyLimits {
    #[new]
    #[pyo3(signature = (steps=None, size=None, memory=None, time=None))]
    fn new(
        py: Python<'_>,
        steps: Option<u64>,
        size: Option<usize>,
        memory: Option<usize>,
        time: Option<f64>,
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
            time: time.map(|time| door::seconds(py, time)).transpose()?,
        }))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyAny>, (u64, usize, usize, Option<f64>)) {
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

    #[getter]
    fn steps(&self) -> u64 {
        self.0.steps
    }

    #[getter]
    fn size(&self) -> usize {
        self.0.size
    }

    #[getter]
    fn memory(&self) -> usize {
        self.0.memory
    }

    #[getter]
    fn time(&self) -> Option<f64> {
        self.0.time.as_ref().map(Duration::as_secs_f64)
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
pub fn limits(given: Option<&Bound<'_, PyLimits>>) -> Limits {
    given.map_or_else(Limits::default, |limits| limits.get().0)
}

/// Returns the dialect with a name.
pub fn dialect(py: Python<'_>, name: Option<&str>) -> PyResult<Option<Dialect>> {
    let Some(name) = name else { return Ok(None) };
    let found = Dialect::named(name);
    found.map(Some).ok_or_else(|| {
        let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        let hint = format!("write one of {}", names.join(", "));
        errors::request(py, &format!("no dialect '{name}'"), &hint)
    })
}

/// One finding in a solver file.
#[pyclass(frozen, eq, module = "batt", name = "Diagnostic")]
#[derive(Clone, PartialEq, Eq)]
pub struct PyDiagnostic(pub Diagnostic);

#[pymethods]
impl PyDiagnostic {
    #[getter]
    fn severity(&self) -> String {
        self.0.severity.to_string()
    }

    #[getter]
    fn code(&self) -> &'static str {
        self.0.code.as_str()
    }

    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    #[getter]
    fn file(&self) -> &str {
        &self.0.file
    }

    #[getter]
    fn line(&self) -> u32 {
        self.0.span.line
    }

    #[getter]
    fn column(&self) -> u32 {
        self.0.span.column
    }

    #[getter]
    fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    #[getter]
    fn function(&self) -> Option<&str> {
        self.0.function.as_deref()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Diagnostic {}>", self.0.headline())
    }
}

/// Returns diagnostics as Python objects.
fn found<'d>(diagnostics: impl IntoIterator<Item = &'d Diagnostic>) -> Vec<PyDiagnostic> {
    diagnostics.into_iter().cloned().map(PyDiagnostic).collect()
}

/// The exception for solvers that cannot be loaded.
fn not_loaded(py: Python<'_>, message: &str, diagnostics: Vec<PyDiagnostic>) -> PyErr {
    let listed: Vec<String> = diagnostics
        .iter()
        .map(|found| found.0.to_string())
        .collect();
    let text = match listed.is_empty() {
        true => message.to_owned(),
        false => format!("{message}\n{}", listed.join("\n")),
    };
    let made = (|| {
        let class = py.import("batt.errors")?.getattr("SolverError")?;
        class.call1((text, py.None(), PyTuple::new(py, diagnostics)?))
    })();
    made.map_or_else(|error: PyErr| error, PyErr::from_value)
}

/// A solver, ready to run.
#[pyclass(frozen, subclass, module = "batt", name = "Solver")]
#[derive(Clone)]
pub struct PySolver(pub Solver);

#[pymethods]
impl PySolver {
    #[staticmethod]
    #[pyo3(signature = (path, name=None, dialect=None))]
    fn load(
        py: Python<'_>,
        path: &str,
        name: Option<&str>,
        dialect: Option<&str>,
    ) -> PyResult<PySolver> {
        let (path, name) = match (path.split_once("::"), name) {
            (Some((path, name)), None) => (path, Some(name)),
            (_, name) => (path, name),
        };
        let dialect = crate::solvers::dialect(py, dialect)?;
        let solvers = door::work(py, Request::default(), |_| Solvers::load([path], dialect))?;
        only(py, &solvers, name, path)
    }

    #[staticmethod]
    #[pyo3(signature = (text, name=None, dialect=None, file="<text>"))]
    fn parse(
        py: Python<'_>,
        text: &str,
        name: Option<&str>,
        dialect: Option<&str>,
        file: &str,
    ) -> PyResult<PySolver> {
        let dialect = crate::solvers::dialect(py, dialect)?;
        only(py, &parse_text(text, file, dialect), name, file)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, String, &'static str, String))> {
        let parse = py.get_type::<PySolver>().getattr("parse")?;
        let (name, source) = (self.0.name().to_owned(), self.0.source());
        let dialect = self.0.program().dialect().name();
        Ok((
            parse,
            (
                source.text().to_owned(),
                name,
                dialect,
                source.name().to_owned(),
            ),
        ))
    }

    #[getter]
    fn __name__(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn file(&self) -> &str {
        self.0.file()
    }

    #[getter]
    fn dialect(&self) -> &'static str {
        self.0.program().dialect().name()
    }

    /// The names of the parameters: one grid, or those of S, I and C that it needs.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.0.program().params().to_vec()
    }

    /// The number of steps.
    #[getter]
    fn steps(&self) -> usize {
        self.0.program().steps().len()
    }

    /// The canonical text.
    #[getter]
    fn source(&self) -> String {
        self.0.program().to_string()
    }

    /// A hash of what the program computes, whatever its variables are called.
    #[getter]
    fn hash(&self) -> String {
        batt::card::structural_hash(self.0.program())
    }

    #[pyo3(signature = (grid, demos=None, *, limits=None))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        grid: &Bound<'py, PyAny>,
        demos: Option<&Bound<'py, PyAny>>,
        limits: Option<&Bound<'py, PyLimits>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value(py, grid, demos, limits)?;
        values::to_python(py, &value)
    }

    /// Runs the solver and returns its output as an array.
    #[pyo3(signature = (grid, demos=None, *, limits=None))]
    fn output<'py>(
        &self,
        py: Python<'py>,
        grid: &Bound<'py, PyAny>,
        demos: Option<&Bound<'py, PyAny>>,
        limits: Option<&Bound<'py, PyLimits>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value(py, grid, demos, limits)?;
        match batt::output_grid(&value) {
            Some(grid) => Ok(grids::to_array(py, &grid)?.into_any()),
            None => Err(errors::request(
                py,
                &format!("{} returned {}", self.0.name(), batt::describe(&value)),
                "call the solver itself for values that are not grids",
            )),
        }
    }

    #[pyo3(signature = (grid, demos=None, *, limits=None))]
    fn trace(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        demos: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyLimits>>,
    ) -> PyResult<PyTrace> {
        let input = input(grid, demos)?;
        let limits = crate::solvers::limits(limits);
        let (steps, result) = door::work(py, Request::default(), |_| {
            let steps = self.0.trace(&input, &limits);
            Ok((steps, self.0.run_on(&input, &limits)))
        })?;
        let error = match &result.verdict {
            Verdict::Failed(error) => {
                let why = self.0.explain(error, &steps);
                let text = error.explain(self.0.program(), self.0.file());
                Some(why.map_or(text.clone(), |why| format!("{text}\n{why}")))
            }
            _ => None,
        };
        Ok(PyTrace {
            solver: self.0.clone(),
            input,
            steps,
            value: result.value,
            error,
        })
    }

    /// Returns the findings about this solver.
    fn check(&self) -> Vec<PyDiagnostic> {
        let source = self.0.source();
        let dialect = Some(self.0.program().dialect());
        let all = parse_text(source.text(), source.name(), dialect).check();
        let own = |found: &&Diagnostic| found.function.as_deref() == Some(self.0.name());
        found(all.iter().filter(own))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<PySolver>();
        other.is_ok_and(|other| other.get().0.program() == self.0.program())
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.0.program().to_string().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let steps = self.0.program().steps().len();
        format!(
            "<Solver {} | {steps} steps | {}>",
            self.0.name(),
            self.dialect()
        )
    }
}

impl PySolver {
    /// Runs the solver on a grid.
    fn value(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        demos: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyLimits>>,
    ) -> PyResult<batt::OwnedValue> {
        let input = input(grid, demos)?;
        let limits = crate::solvers::limits(limits);
        let result = py.detach(|| self.0.run_on(&input, &limits));
        py.check_signals()?;
        match (result.verdict, result.value) {
            (Verdict::Failed(error), _) => {
                let program = self.0.program();
                let message = error.explain(program, self.0.file());
                Err(errors::fault(
                    py,
                    &FailureRecord::new(&error, program),
                    &message,
                ))
            }
            (_, Some(value)) => Ok(value),
            (_, None) => Err(errors::bug("a run without a value")),
        }
    }
}

/// Reads the input of a run: a grid, and demonstrations or the task that has them.
fn input(grid: &Bound<'_, PyAny>, demos: Option<&Bound<'_, PyAny>>) -> PyResult<RunInput> {
    let mut input = RunInput::from(grids::extract(grid)?);
    if let Some(demos) = demos {
        input.demos = match demos.cast::<PyTask>() {
            Ok(task) => task.get().0.train.clone(),
            Err(_) => crate::tasks::pairs(demos)?,
        };
        if input.demos.iter().any(|pair: &Pair| pair.output.is_none()) {
            let message = "a demonstration has no output";
            return Err(errors::request(
                grid.py(),
                message,
                "leave out pairs without one",
            ));
        }
    }
    Ok(input)
}

/// Parses a text as a solver file.
fn parse_text(text: &str, file: &str, dialect: Option<Dialect>) -> Solvers {
    Solvers::from_files(vec![SolverFile::parse_in(text, file, dialect)])
}

/// Returns the solver with a name, or the only one.
fn only(py: Python<'_>, solvers: &Solvers, name: Option<&str>, file: &str) -> PyResult<PySolver> {
    let errors = || found(solvers.diagnostics().filter(|found| found.is_error()));
    let names = || solvers.iter().map(Solver::name);
    let solver = match name {
        Some(name) => solvers.get(name).ok_or_else(|| {
            let near = batt::nearest(name, names());
            let near = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            not_loaded(
                py,
                &format!("{file} has no solver '{name}'{near}"),
                errors(),
            )
        }),
        None => match solvers.len() {
            1 => Ok(solvers.iter().next().expect("there is one")),
            0 => Err(not_loaded(py, &format!("{file} has no solver"), errors())),
            count => Err(not_loaded(
                py,
                &format!(
                    "{file} has {count} solvers; name one, such as '{}'",
                    solvers.iter().next().expect("there are some").name()
                ),
                Vec::new(),
            )),
        },
    };
    solver.cloned().map(PySolver)
}

/// The solvers of some files.
#[pyclass(frozen, module = "batt", name = "Solvers", sequence)]
#[derive(Clone)]
pub struct PySolvers(pub Solvers);

#[pymethods]
impl PySolvers {
    #[new]
    fn new(solvers: &Bound<'_, PyAny>) -> PyResult<PySolvers> {
        extract(solvers).map(PySolvers)
    }

    #[staticmethod]
    #[pyo3(signature = (*paths, dialect=None))]
    fn load(py: Python<'_>, paths: Vec<PathBuf>, dialect: Option<&str>) -> PyResult<PySolvers> {
        let dialect = crate::solvers::dialect(py, dialect)?;
        door::work(py, Request::default(), |_| Solvers::load(&paths, dialect)).map(PySolvers)
    }

    #[staticmethod]
    #[pyo3(signature = (text, file="<text>", dialect=None))]
    fn parse(py: Python<'_>, text: &str, file: &str, dialect: Option<&str>) -> PyResult<PySolvers> {
        let dialect = crate::solvers::dialect(py, dialect)?;
        Ok(PySolvers(parse_text(text, file, dialect)))
    }

    #[staticmethod]
    fn embedded() -> PySolvers {
        PySolvers(Solvers::embedded())
    }

    /// Restores pickled solvers: their files, and the names of those that were selected.
    #[staticmethod]
    fn _restore(py: Python<'_>, files: Vec<(String, String, String)>) -> PyResult<PySolvers> {
        let files = files.iter().map(|(text, name, dialect)| {
            let dialect = crate::solvers::dialect(py, Some(dialect))?;
            Ok(SolverFile::parse_in(text, name, dialect))
        });
        Ok(PySolvers(Solvers::from_files(
            files.collect::<PyResult<Vec<_>>>()?,
        )))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        if self.0.files().is_empty() {
            let solvers: Vec<PySolver> = self.0.iter().cloned().map(PySolver).collect();
            let listed = PyList::new(py, solvers)?;
            return Ok((
                py.get_type::<PySolvers>().into_any(),
                PyTuple::new(py, [listed])?,
            ));
        }
        let files = self.0.files().iter().map(|file| {
            let (text, name) = (file.source.text().to_owned(), file.source.name().to_owned());
            (text, name, file.dialect.name())
        });
        let restore = py.get_type::<PySolvers>().getattr("_restore")?;
        Ok((restore, PyTuple::new(py, [PyList::new(py, files)?])?))
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|solver| solver.name().to_owned())
            .collect()
    }

    /// The reasons why functions could not be loaded, and warnings about the files.
    #[getter]
    fn diagnostics(&self) -> Vec<PyDiagnostic> {
        found(self.0.diagnostics())
    }

    fn check(&self, py: Python<'_>) -> PyResult<Vec<PyDiagnostic>> {
        let solvers = &self.0;
        door::work(py, Request::default(), |_| Ok(solvers.check())).map(|all| found(&all))
    }

    fn format(&self) -> String {
        self.0.format()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.0.get(name).is_some()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(name) = index.cast::<PyString>() {
            let name = name.to_cow()?;
            let found = self.0.get(&name).cloned().ok_or_else(|| {
                let names = self.0.iter().map(Solver::name);
                PyKeyError::new_err(match batt::nearest(&name, names) {
                    Some(near) => format!("no solver '{name}'; did you mean '{near}'?"),
                    None => format!("no solver '{name}' among {}", self.0.len()),
                })
            })?;
            return Ok(Bound::new(py, PySolver(found))?.into_any());
        }
        match crate::index(index, self.0.len(), "solver")? {
            crate::Index::One(at) => {
                let solver = self.0.iter().nth(at).cloned();
                let solver = solver.ok_or_else(|| PyIndexError::new_err("no such solver"))?;
                Ok(Bound::new(py, PySolver(solver))?.into_any())
            }
            crate::Index::Many(picked) => {
                let all: Vec<&Solver> = self.0.iter().collect();
                let picked = picked.into_iter().map(|at| all[at].clone()).collect();
                Ok(Bound::new(py, PySolvers(picked))?.into_any())
            }
        }
    }

    fn _ipython_key_completions_(&self) -> Vec<String> {
        self.names()
    }

    fn __repr__(&self) -> String {
        format!("<Solvers | {} solvers>", self.0.len())
    }
}

/// Reads solvers: those of a [`PySolvers`], a single one, a sequence of solvers, or paths of files.
pub fn extract(data: &Bound<'_, PyAny>) -> PyResult<Solvers> {
    let py = data.py();
    if let Ok(solvers) = data.cast::<PySolvers>() {
        return Ok(solvers.get().0.clone());
    }
    if let Ok(solver) = data.cast::<PySolver>() {
        return Ok([solver.get().0.clone()].into_iter().collect());
    }
    if let Ok(path) = data.extract::<PathBuf>() {
        return door::work(py, Request::default(), |_| Solvers::load([&path], None));
    }
    let mut listed = Vec::new();
    let mut paths = Vec::new();
    for item in data.try_iter()? {
        let item = item?;
        match item.cast::<PySolver>() {
            Ok(solver) => listed.push(solver.get().0.clone()),
            Err(_) => match item.extract::<PathBuf>() {
                Ok(path) => paths.push(path),
                Err(_) => {
                    let message = format!("{} is not a solver", item.repr()?);
                    let hint = "pass Solver objects, a Solvers object or paths of solver files";
                    return Err(errors::request(py, &message, hint));
                }
            },
        }
    }
    match (listed.is_empty(), paths.is_empty()) {
        (true, false) => door::work(py, Request::default(), |_| Solvers::load(&paths, None)),
        (_, true) => Ok(listed.into_iter().collect()),
        (false, false) => {
            let message = "solvers and paths are mixed";
            Err(errors::request(
                py,
                message,
                "load the files first with Solvers.load",
            ))
        }
    }
}

/// The steps of one run.
#[pyclass(frozen, module = "batt", name = "Trace", sequence)]
pub struct PyTrace {
    pub solver: Solver,
    pub input: RunInput,
    pub steps: Vec<TracedStep>,
    pub value: Option<batt::OwnedValue>,
    pub error: Option<String>,
}

/// One step of a run.
#[pyclass(frozen, module = "batt", name = "TraceStep")]
pub struct PyTraceStep(pub TracedStep);

#[pymethods]
impl PyTrace {
    #[getter]
    fn solver(&self) -> PySolver {
        PySolver(self.solver.clone())
    }

    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(grids::to_array(py, &self.input.grid)?.into_any())
    }

    /// The value that the solver returned; `None` if it failed.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.value.as_ref();
        value.map(|value| values::to_python(py, value)).transpose()
    }

    /// Where and why the run failed; `None` if it did not.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn __len__(&self) -> usize {
        self.steps.len()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let step = |at: usize| Bound::new(py, PyTraceStep(self.steps[at].clone()));
        if let Ok(name) = index.cast::<PyString>() {
            let name = name.to_cow()?;
            let at = self.steps.iter().position(|step| step.name == name);
            let at = at.ok_or_else(|| PyKeyError::new_err(format!("no step '{name}'")))?;
            return Ok(step(at)?.into_any());
        }
        match crate::index(index, self.steps.len(), "step")? {
            crate::Index::One(at) => Ok(step(at)?.into_any()),
            crate::Index::Many(picked) => {
                let steps = picked.into_iter().map(step).collect::<PyResult<Vec<_>>>()?;
                Ok(PyList::new(py, steps)?.into_any())
            }
        }
    }

    fn __str__(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let value = step.value.as_ref();
            let value = value.map_or("a value too large to copy".to_owned(), batt::describe);
            text += &format!("{} = {}  # {value}\n", step.name, step.call);
        }
        if let Some(error) = &self.error {
            text += error;
        }
        text.trim_end().to_owned()
    }

    fn __repr__(&self) -> String {
        let failed = if self.error.is_some() {
            " | failed"
        } else {
            ""
        };
        format!(
            "<Trace {} | {} steps{failed}>",
            self.solver.name(),
            self.steps.len()
        )
    }
}

#[pymethods]
impl PyTraceStep {
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn call(&self) -> &str {
        &self.0.call
    }

    #[getter]
    fn line(&self) -> u32 {
        self.0.line
    }

    /// The value; `None` if it is too large to copy.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.value.as_ref();
        value.map(|value| values::to_python(py, value)).transpose()
    }

    fn __repr__(&self) -> String {
        let value = self.0.value.as_ref();
        let value = value.map_or("a value too large to copy".to_owned(), batt::describe);
        format!("<TraceStep {} = {} | {value}>", self.0.name, self.0.call)
    }
}
