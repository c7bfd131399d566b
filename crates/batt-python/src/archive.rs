//! The archive of solvers.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use batt::archive::{self, Archive, ArchiveEntry, ExportOptions, GcOptions, Import, Retention};
use batt::{Score, Solver};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::solver::PySolver;
use crate::solvers::{self, PySolvers};
use crate::tasks::{self, PyTask};
use crate::values::Pickled;
use crate::{errors, json, numbers, pictures};

/// An archive of solvers with their scores: one SQLite file.
///
/// It keeps the best solvers of each task, 32 if nothing else is said. `evolve` fills it, `submit`
/// reads it. Several processes may use one file.
///
///     >>> import batt
///     >>> archive = batt.Archive("solvers.sqlite")
///     >>> report = archive.add("examples/solvers.py", "examples/tasks")
///     >>> report["kept"], len(archive)
///     (4, 4)
///     >>> archive.best("b0a710ad")[0].solver
///     <Solver solve | 3 steps | arc-dsl>
#[pyclass(frozen, module = "batt", name = "Archive")]
pub struct PyArchive {
    archive: Mutex<Archive>,
    path: PathBuf,
}

/// A solver in an archive, with its score on a task.
///
///     >>> import batt
///     >>> archive = batt.Archive("solvers.sqlite")
///     >>> _ = archive.add("examples/solvers.py", "examples/tasks")
///     >>> entry = archive.best("b0a710ad")[0]
///     >>> entry.task, entry.solved, entry.score["demos_solved"]
///     ('b0a710ad', True, 3)
#[pyclass(frozen, module = "batt", name = "ArchiveEntry")]
pub struct PyArchiveEntry(ArchiveEntry);

impl PyArchive {
    /// Works on the archive without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        request: Request<'_>,
        work: impl FnOnce(&mut Archive, &batt::Control) -> batt::Result<T> + Send,
    ) -> PyResult<T> {
        door::work(py, request, |control| {
            let mut archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut archive, control)
        })
    }
}

#[pymethods]
impl PyArchive {
    #[new]
    #[pyo3(signature = (path, *, must_exist=false))]
    fn new(py: Python<'_>, path: PathBuf, must_exist: bool) -> PyResult<PyArchive> {
        let archive = door::work(py, Request::default(), |_| {
            Ok(match must_exist {
                true => Archive::open_existing(&path)?,
                false => Archive::open(&path)?,
            })
        })?;
        Ok(PyArchive {
            archive: Mutex::new(archive),
            path,
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Pickled<'py, (PathBuf,)> {
        (py.get_type::<PyArchive>().into_any(), (self.path.clone(),))
    }

    /// The path of the file.
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the tasks that have solvers, each with the number of its solvers, and the best one
    /// with its score.
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tasks = self.with(py, Request::default(), |archive, _| Ok(archive.tasks()?))?;
        let tasks = tasks.iter().map(|task| {
            json!({
                "task": task.task,
                "solvers": task.entries,
                "hash": task.hash,
                "solved": task.best.is_solved(),
                "score": of_score(&task.best),
            })
        });
        json::to_python(py, &tasks.collect())
    }

    /// Returns the best solvers of a task, the best first.
    #[pyo3(signature = (task, limit=10))]
    fn best(
        &self,
        py: Python<'_>,
        task: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = numbers::whole)] limit: usize,
    ) -> PyResult<Vec<PyArchiveEntry>> {
        let task = match task.cast::<PyTask>() {
            Ok(task) => task.get().0.id.clone(),
            Err(_) => task.extract()?,
        };
        let read = |archive: &mut Archive, _: &_| Ok(archive.best(&task, None, limit)?);
        let entries = self.with(py, Request::default(), read)?;
        Ok(entries.into_iter().map(PyArchiveEntry).collect())
    }

    /// Returns the solvers that solve most tasks, each with its counts.
    #[pyo3(signature = (limit=10))]
    fn top<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = numbers::whole)] limit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let read = |archive: &mut Archive, _: &_| Ok(archive.top(limit)?);
        let top = self.with(py, Request::default(), read)?;
        let top = top.iter().map(|solver| {
            json!({
                "hash": solver.hash,
                "mutation": solver.mutation,
                "tasks": solver.tasks,
                "solved": solver.solved,
                "demos_solved": solver.demos_solved,
                "size": solver.size,
            })
        });
        json::to_python(py, &top.collect())
    }

    /// Returns a solver by its hash, or by the first digits of it.
    fn solver(&self, py: Python<'_>, hash: &str) -> PyResult<PySolver> {
        let read = |archive: &mut Archive, _: &_| {
            let hash = only(archive, hash)?;
            Ok(archive.solver(&hash)?.and_then(|solver| solver.program()))
        };
        let program = self.with(py, Request::default(), read)?;
        let solver = program.and_then(|program| Solver::new(&program).ok());
        let solver = solver.map(PySolver);
        solver.ok_or_else(|| unreadable(py, hash))
    }

    /// Returns a solver and its ancestors, up to `depth` generations back. Each solver is followed by
    /// its parents, as in a printed tree.
    #[pyo3(signature = (hash, depth=10))]
    fn lineage<'py>(
        &self,
        py: Python<'py>,
        hash: &str,
        #[pyo3(from_py_with = numbers::whole)] depth: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let read = |archive: &mut Archive, _: &_| {
            let hash = only(archive, hash)?;
            Ok(archive.lineage(&hash, depth)?)
        };
        let lineage = self.with(py, Request::default(), read)?;
        let lineage = lineage.iter().map(|ancestor| {
            let solver = ancestor.solver.as_ref();
            json!({
                "depth": ancestor.depth,
                "hash": ancestor.hash,
                "mutation": solver.map(|solver| &solver.mutation),
                "source": solver.map(|solver| &solver.source),
                "repeated": ancestor.repeated,
            })
        });
        json::to_python(py, &lineage.collect())
    }

    /// Tries solvers on the tasks they are named after, and keeps them with their scores. `keep` is
    /// the number of solvers of each task to keep, or `"original"` for the rule of the original
    /// system.
    #[pyo3(signature = (solvers, tasks, *, keep=None, jobs=None, progress=None))]
    fn add<'py>(
        &self,
        py: Python<'py>,
        solvers: &Bound<'py, PyAny>,
        tasks: &Bound<'py, PyAny>,
        keep: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = numbers::whole_or_none)] jobs: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let import = Import::new(&tasks::extract(tasks)?, &solvers::extract(solvers)?)
            .retention(retention(py, keep)?)
            .threads(crate::devices::threads(py, jobs)?);
        let bar = py.import("batt._progress")?.getattr("bar")?;
        let bar = bar.call1(("trying", progress))?;
        let request = Request {
            progress: Some(bar.clone()),
            time: None,
        };
        let report = self.with(py, request, |archive, control| import.run(archive, control));
        bar.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
        let report = report?;
        let report = json!({
            "tried": report.tried,
            "kept": report.kept,
            "known": report.known,
            "refused": report.refused,
            "solving": report.solving,
            "failing": report.failing,
            "without_task": import.without_task(),
        });
        json::to_python(py, &report)
    }

    /// Returns the solvers of the archive, named after their tasks: all, the `best` of each task, those
    /// that have `solved` all demonstrations, those of some `tasks`.
    #[pyo3(signature = (*, best=false, solved=false, tasks=None))]
    fn solvers(
        &self,
        py: Python<'_>,
        best: bool,
        solved: bool,
        #[pyo3(from_py_with = tasks::ids_or_none)] tasks: Option<Vec<String>>,
    ) -> PyResult<PySolvers> {
        let options = ExportOptions {
            tasks: tasks.unwrap_or_default(),
            best,
            solved,
            ..ExportOptions::default()
        };
        let export = self.with(py, Request::default(), |archive, _| {
            Ok(archive.export(&options)?)
        })?;
        let name = self.path.display().to_string();
        let file = batt::SolverFile::parse_in(&export.to_source(), &name, Some(export.dialect));
        Ok(PySolvers(batt::Solvers::from_files(vec![file])))
    }

    /// Adds the contents of another archive, given by its path.
    #[pyo3(signature = (other, *, keep=None))]
    fn merge<'py>(
        &self,
        py: Python<'py>,
        other: PathBuf,
        keep: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let retention = retention(py, keep)?;
        let merge = |archive: &mut Archive, _: &_| {
            Ok(archive.merge(&Archive::open_existing(&other)?, &retention)?)
        };
        let report = self.with(py, Request::default(), merge)?;
        let report = json!({
            "scores": report.scores,
            "kept": report.kept,
            "solvers": report.solvers,
            "evicted": report.evicted,
        });
        json::to_python(py, &report)
    }

    /// Removes solvers that lost their place, and compacts the file. `ancestors` is the number of
    /// generations of ancestors to keep; all, if it is left out.
    #[pyo3(signature = (*, keep=None, ancestors=None))]
    fn gc<'py>(
        &self,
        py: Python<'py>,
        keep: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = numbers::whole_or_none)] ancestors: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let retention = keep.map(|keep| retention(py, Some(keep))).transpose()?;
        let options = GcOptions {
            retention,
            ancestors,
        };
        let report = self.with(py, Request::default(), |archive, _| {
            Ok(archive.gc(&options)?)
        })?;
        let report = json!({
            "scores": report.scores,
            "solvers": report.solvers,
            "bytes_before": report.before,
            "bytes_after": report.after,
        });
        json::to_python(py, &report)
    }

    /// Checks everything in the archive, and returns what is wrong: nothing, as a rule.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = self.with(py, Request::default(), |archive, _| archive::check(archive))?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, Request::default(), |archive, _| {
            Ok(archive.solver_count()?)
        })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let solvers = self.__len__(py)?;
        Ok(format!(
            "<Archive {} | {solvers} solvers>",
            self.path.display()
        ))
    }
}

/// Returns the hash of the only solver whose hash begins with some digits.
fn only(archive: &Archive, digits: &str) -> batt::Result<String> {
    let request = |message: String, hint: &str| batt::Error::Request {
        message,
        hint: hint.to_owned(),
    };
    match archive.find(digits, 2)?.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(request(
            format!("the archive has no solver '{digits}'"),
            "a solver is found by its hash, or the first digits of it",
        )),
        _ => Err(request(
            format!("several solvers begin with '{digits}'"),
            "name more digits of the hash",
        )),
    }
}

/// Creates the exception for a solver of another version.
fn unreadable(py: Python<'_>, hash: &str) -> PyErr {
    let message = format!("solver {hash} cannot be read by this version");
    let hint = "another version of Batt wrote it";
    errors::exception(py, "ArchiveError", &message, hint)
}

/// Reads which solvers an archive keeps: a number, or a text.
fn retention(py: Python<'_>, keep: Option<&Bound<'_, PyAny>>) -> PyResult<Retention> {
    let Some(keep) = keep else {
        return Ok(Retention::default());
    };
    let keep = keep.str()?.to_string();
    keep.parse().map_err(|_| {
        let message = format!("'{keep}' does not say what to keep");
        let hint = "write the number of solvers for each task, or 'original'";
        errors::request(py, &message, hint)
    })
}

/// A score by the names of its parts.
pub fn of_score(score: &Score) -> Json {
    json!({
        "demos_solved": score.demos_solved,
        "demos": score.demos,
        "closeness": f64::from(score.closeness) / f64::from(Score::WHOLE),
        "size": score.size,
        "cost": score.cost,
    })
}

impl PyArchiveEntry {
    /// Returns a title with the score, and the source.
    pub fn title_and_source(&self) -> (String, &str) {
        let ArchiveEntry {
            task, hash, score, ..
        } = &self.0;
        let Score {
            demos_solved,
            demos,
            ..
        } = score;
        let title = format!("{task} | {hash} | {demos_solved} of {demos}");
        (title, &self.0.source)
    }
}

#[pymethods]
impl PyArchiveEntry {
    /// The hash of the solver.
    #[getter]
    fn hash(&self) -> &str {
        &self.0.hash
    }

    /// The id of the task.
    #[getter]
    fn task(&self) -> &str {
        &self.0.task
    }

    /// The text of the solver.
    #[getter]
    fn source(&self) -> &str {
        &self.0.source
    }

    /// Whether it is right on all demonstrations.
    #[getter]
    fn solved(&self) -> bool {
        self.0.score.is_solved()
    }

    /// The score: the demonstrations that it solves, how close its outputs are, its size and cost.
    #[getter]
    fn score<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &of_score(&self.0.score))
    }

    /// The solver, ready to run.
    #[getter]
    fn solver(&self, py: Python<'_>) -> PyResult<PySolver> {
        let program = self.0.program();
        let solver = program.and_then(|program| Solver::new(&program).ok());
        let solver = solver.map(PySolver);
        solver.ok_or_else(|| unreadable(py, &self.0.hash))
    }

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
    }

    fn __repr__(&self) -> String {
        let Score {
            demos_solved,
            demos,
            ..
        } = self.0.score;
        format!(
            "<ArchiveEntry {} | {} | {demos_solved} of {demos}>",
            self.0.task, self.0.hash
        )
    }
}
