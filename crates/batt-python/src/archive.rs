//! The archive of solvers.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use batt::archive::{self, Archive, ArchiveEntry, ExportOptions, GcOptions, Import, Retention};
use batt::{Score, Solver};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::errors;
use crate::json;
use crate::solvers::{self, PySolver, PySolvers};
use crate::tasks::PyTasks;

/// An archive of solvers, one SQLite file.
#[pyclass(frozen, module = "batt", name = "Archive")]
pub struct PyArchive {
    archive: Mutex<Archive>,
    path: PathBuf,
}

/// A solver in an archive, with its score on a task.
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
    /// Opens an archive; creates it if it is missing, unless it must exist.
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (PathBuf,)) {
        (py.get_type::<PyArchive>().into_any(), (self.path.clone(),))
    }

    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// The tasks that have solvers, each with its best score.
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

    /// The best solvers of a task, the best first.
    #[pyo3(signature = (task, limit=10))]
    fn best(&self, py: Python<'_>, task: &str, limit: usize) -> PyResult<Vec<PyArchiveEntry>> {
        let read = |archive: &mut Archive, _: &_| Ok(archive.best(task, None, limit)?);
        let entries = self.with(py, Request::default(), read)?;
        Ok(entries.into_iter().map(PyArchiveEntry).collect())
    }

    /// The solvers that solve most tasks.
    #[pyo3(signature = (limit=10))]
    fn top<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Bound<'py, PyAny>> {
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

    /// A solver by its hash, or the first digits of it.
    fn solver(&self, py: Python<'_>, hash: &str) -> PyResult<PySolver> {
        let found = self.with(py, Request::default(), |archive, _| {
            match archive.find(hash, 2)?.as_slice() {
                [one] => Ok(archive.solver(one)?.and_then(|solver| solver.program())),
                _ => Ok(None),
            }
        })?;
        let solver = found.and_then(|program| Solver::new(&program).ok());
        solver.map(PySolver).ok_or_else(|| {
            let message = format!("the archive has not exactly one solver {hash}");
            errors::request(py, &message, "name more digits of its hash")
        })
    }

    /// The ancestors of a solver, as a list in the order of a tree.
    #[pyo3(signature = (hash, depth=10))]
    fn lineage<'py>(
        &self,
        py: Python<'py>,
        hash: &str,
        depth: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let read = |archive: &mut Archive, _: &_| {
            let found = archive.find(hash, 2)?;
            // The archive says itself that it has no such solver.
            let only = found.first().filter(|_| found.len() == 1);
            Ok(archive.lineage(only.map_or(hash, String::as_str), depth)?)
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

    /// Tries solvers on the tasks they are named after and keeps them with their scores.
    #[pyo3(signature = (solvers, tasks, *, keep=None, jobs=None, progress=None))]
    fn add<'py>(
        &self,
        py: Python<'py>,
        solvers: &Bound<'py, PyAny>,
        tasks: &Bound<'py, PyTasks>,
        keep: Option<&str>,
        jobs: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let import = Import::new(&tasks.get().0, &solvers::extract(solvers)?)
            .retention(retention(py, keep)?)
            .threads(crate::devices::threads(py, jobs)?);
        let request = Request {
            progress,
            time: None,
        };
        let report = self.with(py, request, |archive, control| import.run(archive, control))?;
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

    /// The solvers of the archive, renamed after their tasks.
    #[pyo3(signature = (*, best=false, solved=false, tasks=None))]
    fn solvers(
        &self,
        py: Python<'_>,
        best: bool,
        solved: bool,
        tasks: Option<Vec<String>>,
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

    /// Adds the contents of another archive.
    #[pyo3(signature = (other, *, keep=None))]
    fn merge<'py>(
        &self,
        py: Python<'py>,
        other: PathBuf,
        keep: Option<&str>,
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

    /// Removes solvers by retention, and compacts the file.
    #[pyo3(signature = (*, keep=None, ancestors=None))]
    fn gc<'py>(
        &self,
        py: Python<'py>,
        keep: Option<&str>,
        ancestors: Option<usize>,
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

    /// Checks everything in the archive and returns the findings.
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

fn retention(py: Python<'_>, keep: Option<&str>) -> PyResult<Retention> {
    let Some(keep) = keep else {
        return Ok(Retention::default());
    };
    keep.parse().map_err(|_| {
        let message = format!("'{keep}' does not say what to keep");
        errors::request(
            py,
            &message,
            "write a number of solvers for each task, or original",
        )
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

#[pymethods]
impl PyArchiveEntry {
    #[getter]
    fn hash(&self) -> &str {
        &self.0.hash
    }

    #[getter]
    fn task(&self) -> &str {
        &self.0.task
    }

    #[getter]
    fn source(&self) -> &str {
        &self.0.source
    }

    #[getter]
    fn solved(&self) -> bool {
        self.0.score.is_solved()
    }

    #[getter]
    fn score<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &of_score(&self.0.score))
    }

    #[getter]
    fn solver(&self, py: Python<'_>) -> PyResult<PySolver> {
        let program = self.0.program();
        let solver = program.and_then(|program| Solver::new(&program).ok());
        solver.map(PySolver).ok_or_else(|| {
            let message = format!("solver {} cannot be read by this version", self.0.hash);
            errors::exception(py, "ArchiveError", &message, "")
        })
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
