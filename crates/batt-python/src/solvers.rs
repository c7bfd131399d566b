//! Solvers of files, and reading solvers from anything that is some in Python.

use std::path::PathBuf;

use batt::{Solver, SolverFile, Solvers};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::door::{self, Request};
use crate::errors;
use crate::findings::{PyDiagnostic, found, not_loaded, warn_of};
use crate::items::{self, Index, Items, hash_of};
use crate::solver::{PySolver, dialect as dialect_of, only, parse_text, split_name};
use crate::values::Pickled;

/// The solvers of some files, in their order.
///
/// Solvers are found by name, by number, or several of them by a slice or a list. Functions that
/// cannot be loaded are left out; `diagnostics` and `check()` say why.
///
///     >>> import batt
///     >>> solvers = batt.Solvers.load("examples/solvers.py")
///     >>> solvers
///     <Solvers | 4 solvers>
///     >>> solvers["solve_d00d1e55"], solvers[:2]
///     (<Solver solve_d00d1e55 | 6 steps | arc-dsl>, <Solvers | 2 solvers>)
///     >>> batt.Solvers(solver for solver in solvers if solver.steps < 3)
///     <Solvers | 1 solvers>
#[pyclass(frozen, module = "batt", name = "Solvers", sequence)]
#[derive(Clone)]
pub struct PySolvers(pub Solvers);

#[pymethods]
impl PySolvers {
    #[new]
    #[pyo3(signature = (solvers=None))]
    fn new(solvers: Option<&Bound<'_, PyAny>>) -> PyResult<PySolvers> {
        match solvers {
            Some(solvers) => read(solvers).map(PySolvers),
            None => Ok(PySolvers(Solvers::from_files(Vec::new()))),
        }
    }

    /// Loads solver files. Without a dialect, each file's is detected.
    ///
    ///     >>> broken = Solvers.load("examples/misspelt.py")
    ///     >>> broken
    ///     <Solvers | 0 solvers | 1 error>
    ///     >>> broken.diagnostics
    ///     [<Diagnostic examples/misspelt.py:8:10: error[unknown-name]: unknown name 'objcts'>]
    #[staticmethod]
    #[pyo3(signature = (*paths, dialect=None))]
    fn load(py: Python<'_>, paths: Vec<PathBuf>, dialect: Option<&str>) -> PyResult<PySolvers> {
        if paths.is_empty() {
            let message = "no file is named";
            return Err(errors::request(py, message, "Solvers.load('solvers.py')"));
        }
        let dialect = dialect_of(py, dialect)?;
        door::work(py, Request::default(), |_| Solvers::load(&paths, dialect)).map(PySolvers)
    }

    /// Reads a text as a solver file; `file` stands for its name in messages.
    #[staticmethod]
    #[pyo3(signature = (text, file="<text>", *, dialect=None))]
    fn parse(py: Python<'_>, text: &str, file: &str, dialect: Option<&str>) -> PyResult<PySolvers> {
        let dialect = dialect_of(py, dialect)?;
        Ok(PySolvers(py.detach(|| parse_text(text, file, dialect))))
    }

    /// Returns the solvers of the puzzles that come with the package.
    #[staticmethod]
    fn embedded() -> PySolvers {
        PySolvers(Solvers::embedded())
    }

    /// Restores pickled solvers: their files, and the names of those that were selected.
    #[staticmethod]
    fn _restore(py: Python<'_>, files: Vec<(String, String, String)>) -> PyResult<PySolvers> {
        let files = files.iter().map(|(text, name, dialect)| {
            let dialect = dialect_of(py, Some(dialect))?;
            Ok(SolverFile::parse_in(text, name, dialect))
        });
        Ok(PySolvers(Solvers::from_files(
            files.collect::<PyResult<Vec<_>>>()?,
        )))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, Bound<'py, PyTuple>>> {
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

    /// The names of all solvers.
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

    /// Returns all findings about the files: the errors, and what an analysis of the solvers finds.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<PyDiagnostic>> {
        let solvers = &self.0;
        door::work(py, Request::default(), |_| Ok(solvers.check())).map(|all| found(&all))
    }

    /// Returns the solvers in canonical form, as the text of one file.
    ///
    ///     >>> print(Solvers.parse("def f(I): return hmirror(vmirror(I))").format())
    ///     from dsl import *
    ///     from constants import *
    ///     <BLANKLINE>
    ///     <BLANKLINE>
    ///     def f(I):
    ///         x1 = vmirror(I)
    ///         O = hmirror(x1)
    ///         return O
    ///     <BLANKLINE>
    fn format(&self) -> String {
        self.0.format()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the solvers of a task: those whose name ends in its id.
    ///
    ///     >>> Solvers.embedded().of_task("1673c3ec").names
    ///     ['solve_1673c3ec']
    fn of_task(&self, task: &Bound<'_, PyAny>) -> PyResult<PySolvers> {
        let ids = crate::tasks::ids_or_none(task)?.unwrap_or_default();
        let is_of = |name: &str| {
            let ends = |id: &String| {
                let before = name.strip_suffix(id.as_str());
                before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
            };
            ids.iter().any(ends)
        };
        let solvers = self.0.iter().filter(|solver| is_of(solver.name()));
        Ok(PySolvers(solvers.cloned().collect()))
    }

    fn __contains__(&self, item: &Bound<'_, PyAny>) -> bool {
        match (item.cast::<PySolver>(), item.extract::<String>()) {
            (Ok(solver), _) => {
                let wanted = solver.get().0.program();
                self.0.iter().any(|solver| solver.program() == wanted)
            }
            (_, Ok(name)) => self.0.get(&name).is_some(),
            _ => false,
        }
    }

    fn __iter__(this: Bound<'_, Self>) -> Items {
        Items::of(this.as_any())
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let named = |name: &str| {
            let at = self.0.iter().position(|solver| solver.name() == name);
            at.ok_or_else(|| items::unknown("solver", name, self.0.iter().map(Solver::name)))
        };
        let all = self.0.iter().as_slice();
        match items::index(index, all.len(), "solver", Some(&named))? {
            Index::One(at) => Ok(Bound::new(py, PySolver(all[at].clone()))?.into_any()),
            Index::Many(picked) => {
                let picked = picked.into_iter().map(|at| all[at].clone()).collect();
                Ok(Bound::new(py, PySolvers(picked))?.into_any())
            }
        }
    }

    /// Returns the position of a solver; raises `ValueError` if it is not here.
    #[pyo3(signature = (solver, start=0, stop=None))]
    fn index(
        this: &Bound<'_, Self>,
        solver: &Bound<'_, PyAny>,
        start: isize,
        stop: Option<isize>,
    ) -> PyResult<usize> {
        items::position(this.as_any(), solver, start, stop)
    }

    /// Returns how often a solver is here.
    fn count(this: &Bound<'_, Self>, solver: &Bound<'_, PyAny>) -> PyResult<usize> {
        items::count(this.as_any(), solver)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        fn programs(solvers: &Solvers) -> impl Iterator<Item = &batt::Program> {
            solvers.iter().map(Solver::program)
        }
        let other = other.cast::<PySolvers>();
        other.is_ok_and(|other| programs(&self.0).eq(programs(&other.get().0)))
    }

    fn __hash__(&self) -> u64 {
        hash_of(self.0.iter().map(Solver::name).collect::<Vec<_>>())
    }

    fn _ipython_key_completions_(&self) -> Vec<String> {
        self.names()
    }

    fn __repr__(&self) -> String {
        let errors = self.0.diagnostics().filter(|found| found.is_error());
        let errors = match errors.count() {
            0 => String::new(),
            1 => " | 1 error".to_owned(),
            count => format!(" | {count} errors"),
        };
        format!("<Solvers | {} solvers{errors}>", self.0.len())
    }
}

const WHAT_SOLVERS_ARE: &str = "pass Solvers, a Solver, several of them, or paths of solver files";

/// Reads solvers that are to be used, and warns if functions were left out. If no function of the
/// files can be used, this is an error.
pub fn extract(data: &Bound<'_, PyAny>) -> PyResult<Solvers> {
    let (py, solvers) = (data.py(), read(data)?);
    let errors = || solvers.diagnostics().filter(|found| found.is_error());
    if solvers.is_empty()
        && let Some(first) = errors().next()
    {
        let message = "no solver could be loaded";
        return Err(not_loaded(py, message, "", &first.file, errors()));
    }
    warn_of(py, solvers.diagnostics())?;
    Ok(solvers)
}

/// Reads solvers: those of a [`PySolvers`], a single one, a sequence of solvers, or paths of files.
fn read(data: &Bound<'_, PyAny>) -> PyResult<Solvers> {
    let py = data.py();
    if let Ok(solvers) = data.cast::<PySolvers>() {
        return Ok(solvers.get().0.clone());
    }
    if let Ok(solver) = data.cast::<PySolver>() {
        return Ok([solver.get().0.clone()].into_iter().collect());
    }
    if let Ok(path) = data.extract::<PathBuf>() {
        return load(py, vec![path]);
    }
    let mut listed = Vec::new();
    let mut paths = Vec::new();
    let items = data.try_iter();
    for item in items.map_err(|_| errors::wrong_kind(data, "solvers", WHAT_SOLVERS_ARE))? {
        let item = item?;
        match item.cast::<PySolver>() {
            Ok(solver) => listed.push(solver.get().0.clone()),
            Err(_) => {
                let path = item.extract::<PathBuf>();
                paths.push(
                    path.map_err(|_| errors::wrong_kind(&item, "a solver", WHAT_SOLVERS_ARE))?,
                );
            }
        }
    }
    match (listed.is_empty(), paths.is_empty()) {
        (true, false) => load(py, paths),
        (_, true) => Ok(listed.into_iter().collect()),
        (false, false) => {
            let message = "solvers and paths are mixed";
            let hint = "load the files first with Solvers.load";
            Err(errors::request(py, message, hint))
        }
    }
}

/// Loads solver files. A path may end in `::name`.
fn load(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Solvers> {
    let named = |path: &PathBuf| path.to_str().is_some_and(|text| text.contains("::"));
    if !paths.iter().any(named) {
        return door::work(py, Request::default(), |_| Solvers::load(&paths, None));
    }
    let mut listed = Vec::new();
    for path in paths {
        let (path, name) = split_name(path, None);
        let solvers = door::work(py, Request::default(), |_| Solvers::load([&path], None))?;
        match name {
            Some(name) => {
                let file = path.display().to_string();
                listed.push(only(py, &solvers, Some(&name), &file)?.0);
            }
            None => {
                warn_of(py, solvers.diagnostics())?;
                listed.extend(solvers.iter().cloned());
            }
        }
    }
    Ok(listed.into_iter().collect())
}
