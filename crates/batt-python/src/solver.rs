//! One solver: loading it, running it.

use std::path::PathBuf;

use batt::{
    Diagnostic, Dialect, FailureRecord, Pair, RunInput, Solver, SolverFile, Solvers, Verdict,
};
use pyo3::prelude::*;

use crate::door::{self, Request};
use crate::findings::{PyDiagnostic, found, not_loaded};
use crate::items::hash_of;
use crate::limits::{self, PyLimits};
use crate::tasks::PyTask;
use crate::trace::PyTrace;
use crate::values::Pickled;
use crate::{errors, grids, pictures, values};

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

/// A solver, ready to run: call it with a grid.
///
/// The call returns what the function returns in Python: for a grid, a tuple of tuples. `output`
/// returns an array instead. Solvers that need the demonstrations of the task, as those with the
/// parameters `S, I, C` do, get them as the second argument: the task or its pairs.
///
///     >>> import batt
///     >>> solve = batt.Solver.parse("def solve(I):\n    return hmirror(I)\n")
///     >>> solve
///     <Solver solve | 1 steps | arc-dsl>
///     >>> solve([[1, 2], [3, 4]])
///     ((3, 4), (1, 2))
///     >>> solve.output("12/34")
///     array([[3, 4],
///            [1, 2]], dtype=uint8)
#[pyclass(frozen, subclass, module = "batt", name = "Solver")]
#[derive(Clone)]
pub struct PySolver(pub Solver);

#[pymethods]
impl PySolver {
    /// Loads the only solver of a file, or the one with a name; the path may end in `::name`.
    ///
    ///     >>> Solver.load("examples/solvers.py::solve_d00d1e55")
    ///     <Solver solve_d00d1e55 | 6 steps | arc-dsl>
    #[staticmethod]
    #[pyo3(signature = (path, name=None, *, dialect=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        name: Option<String>,
        dialect: Option<&str>,
    ) -> PyResult<PySolver> {
        let (path, name) = split_name(path, name);
        let dialect = crate::solver::dialect(py, dialect)?;
        let solvers = door::work(py, Request::default(), |_| Solvers::load([&path], dialect))?;
        only(py, &solvers, name.as_deref(), &path.display().to_string())
    }

    /// Reads a text with one solver, or takes the solver with a name from it. `file` stands for the
    /// name of the file in messages.
    #[staticmethod]
    #[pyo3(signature = (text, name=None, *, dialect=None, file="<text>"))]
    fn parse(
        py: Python<'_>,
        text: &str,
        name: Option<&str>,
        dialect: Option<&str>,
        file: &str,
    ) -> PyResult<PySolver> {
        let dialect = crate::solver::dialect(py, dialect)?;
        let solvers = py.detach(|| parse_text(text, file, dialect));
        only(py, &solvers, name, file)
    }

    /// Restores a pickled solver.
    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        text: &str,
        name: &str,
        dialect: &str,
        file: &str,
    ) -> PyResult<PySolver> {
        PySolver::parse(py, text, Some(name), Some(dialect), file)
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Pickled<'py, (String, String, &'static str, String)>> {
        let restore = py.get_type::<PySolver>().getattr("_restore")?;
        let (name, source) = (self.0.name().to_owned(), self.0.source());
        let dialect = self.0.program().dialect().name();
        Ok((
            restore,
            (
                source.text().to_owned(),
                name,
                dialect,
                source.name().to_owned(),
            ),
        ))
    }

    /// The name of the function.
    #[getter]
    fn __name__(&self) -> &str {
        self.0.name()
    }

    /// The name of the function.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The name of the file.
    #[getter]
    fn file(&self) -> &str {
        self.0.file()
    }

    /// The first line of the function in its file, from 1.
    #[getter]
    fn line(&self) -> u32 {
        self.0.program().lines().first
    }

    /// The library it is written for: `arc-dsl`, `re-arc` or `tokpidjin`.
    #[getter]
    fn dialect(&self) -> &'static str {
        self.0.program().dialect().name()
    }

    /// The names of the parameters: one grid, or those of `S`, `I` and `C` that it needs.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.0.program().params().to_vec()
    }

    /// The number of steps, which are its calls.
    #[getter]
    fn steps(&self) -> usize {
        self.0.program().steps().len()
    }

    /// The canonical text: one call in each line, without comments.
    ///
    ///     >>> print(Solver.parse("def f(I): return hmirror(vmirror(I))").source, end="")
    ///     def f(I):
    ///         x1 = vmirror(I)
    ///         O = hmirror(x1)
    ///         return O
    #[getter]
    fn source(&self) -> String {
        self.0.program().to_string()
    }

    /// A hash of what it computes, whatever its name and its variables are. Archives find solvers
    /// by it.
    #[getter]
    fn hash(&self) -> String {
        batt::card::structural_hash(self.0.program())
    }

    /// Runs the solver and returns its value; a failed run raises a `RunFault`.
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

    /// Runs the solver and returns its output as an array of `uint8`.
    ///
    ///     >>> Solver.parse("def f(I): return crop(I, ORIGIN, UNITY)").output("12/34")
    ///     array([[1]], dtype=uint8)
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

    /// Runs the solver and returns the value of every step.
    ///
    ///     >>> solve = Solver.parse("def f(I):\n    x1 = hmirror(I)\n    O = first(x1)\n    return O")
    ///     >>> print(solve.trace("12/34"))
    ///     x1 = hmirror(I)  # a 2x2 grid
    ///     O = first(x1)  # a tuple of 2
    #[pyo3(signature = (grid, demos=None, *, limits=None))]
    fn trace(
        &self,
        py: Python<'_>,
        grid: &Bound<'_, PyAny>,
        demos: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyLimits>>,
    ) -> PyResult<PyTrace> {
        let input = input(grid, demos)?;
        let limits = limits::or_default(limits);
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

    /// Returns the findings about this solver: unused and repeated steps, calls that always fail,
    /// results that depend on the order of a set.
    fn check(&self, py: Python<'_>) -> Vec<PyDiagnostic> {
        let source = self.0.source();
        let dialect = Some(self.0.program().dialect());
        let all = py.detach(|| parse_text(source.text(), source.name(), dialect).check());
        let own = |found: &&Diagnostic| found.function.as_deref() == Some(self.0.name());
        found(all.iter().filter(own))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<PySolver>();
        other.is_ok_and(|other| other.get().0.program() == self.0.program())
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.0.program().to_string())
    }

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
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
        let limits = limits::or_default(limits);
        let result = errors::guarded(py, || self.0.run_on(&input, &limits))?;
        py.check_signals()?;
        match (result.verdict, result.value) {
            (Verdict::Failed(error), _) => {
                let program = self.0.program();
                let message = error.explain(program, self.0.file());
                let failure = FailureRecord::new(&error, program);
                Err(errors::fault(py, &failure, &message, self.0.file()))
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
            Err(_) => crate::tasks::pairs(demos, "demos")?,
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
pub fn parse_text(text: &str, file: &str, dialect: Option<Dialect>) -> Solvers {
    Solvers::from_files(vec![SolverFile::parse_in(text, file, dialect)])
}

/// Splits `path::name`, unless a name is given.
pub fn split_name(path: PathBuf, name: Option<String>) -> (PathBuf, Option<String>) {
    let split = path.to_str().and_then(|text| text.split_once("::"));
    match (split, name) {
        (Some((path, name)), None) => (PathBuf::from(path), Some(name.to_owned())),
        (_, name) => (path, name),
    }
}

/// Returns the solver with a name, or the only one.
pub fn only(
    py: Python<'_>,
    solvers: &Solvers,
    name: Option<&str>,
    file: &str,
) -> PyResult<PySolver> {
    let errors = || solvers.diagnostics().filter(|found| found.is_error());
    let names = || solvers.iter().map(Solver::name);
    let solver = match (name, names().next()) {
        (Some(name), _) => solvers.get(name).ok_or_else(|| {
            let hint = match batt::nearest(name, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => String::new(),
            };
            let message = format!("{file} has no solver '{name}'");
            // Errors of other functions do not matter.
            let own = errors().filter(|found| found.function.as_deref().is_none_or(|f| f == name));
            not_loaded(py, &message, &hint, file, own)
        }),
        (None, Some(first)) if solvers.len() > 1 => {
            let message = format!("{file} has {} solvers", solvers.len());
            let hint = format!("name one, such as '{first}'");
            Err(not_loaded(py, &message, &hint, file, []))
        }
        (None, _) => solvers.iter().next().ok_or_else(|| {
            let message = format!("{file} has no solver");
            let hint = match errors().next() {
                Some(_) => "",
                None => "a solver is a function: def solve(I): ... return O",
            };
            not_loaded(py, &message, hint, file, errors())
        }),
    };
    solver.cloned().map(PySolver)
}
