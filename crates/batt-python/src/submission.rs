//! Submissions: answers to the tests of tasks, and their scores.

use std::path::PathBuf;
use std::time::Duration;

use batt::archive::Archive;
use batt::submission::{self, Candidates, Draft, Submission, SubmissionFile, SubmissionScore};
use batt::{Pair, Task, Tasks};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::errors::{self, IntoPython};
use crate::values::Pickled;
use crate::{devices, grids, items, json, numbers, solvers, tasks};

/// Two answers to every test of every task, found by the id of the task: the content of Kaggle's
/// `submission.json`.
///
///     >>> import batt
///     >>> tasks = batt.load("examples/tasks")
///     >>> submission = batt.submit(tasks, "examples/solvers.py")
///     >>> submission
///     <Submission | 4 tasks | 4 outputs>
///     >>> first, second = submission["b0a710ad"][0]
///     >>> (first == tasks["b0a710ad"].test[0][1]).all()
///     np.True_
#[pyclass(frozen, mapping, module = "batt", name = "Submission")]
pub struct PySubmission {
    submission: Submission,
    /// The ids of the tasks.
    ids: Vec<String>,
    summary: Json,
}

/// Answers the tests of tasks with archived solvers and given ones.
#[pyfunction]
#[pyo3(signature = (tasks, solvers=None, archive=None, output=None, *, jobs=None, time=None, progress=None))]
#[allow(
    clippy::too_many_arguments,
    reason = "these are keyword arguments in Python"
)]
pub fn submit(
    py: Python<'_>,
    tasks: &Bound<'_, PyAny>,
    solvers: Option<&Bound<'_, PyAny>>,
    archive: Option<PathBuf>,
    output: Option<PathBuf>,
    #[pyo3(from_py_with = numbers::whole_or_none)] jobs: Option<usize>,
    #[pyo3(from_py_with = numbers::seconds_or_none)] time: Option<Duration>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PySubmission> {
    let tasks = tasks::extract(tasks)?;
    let solvers = solvers.map(solvers::extract).transpose()?;
    let threads = devices::threads(py, jobs)?;
    let (submission, summary) = door::work(py, Request { progress, time }, |control| {
        let mut candidates = match &archive {
            Some(path) => Candidates::archived(&tasks, &Archive::open_existing(path)?)?,
            None => Candidates::none(&tasks),
        };
        if let Some(solvers) = &solvers {
            candidates.add_solvers(solvers);
        }
        let fillers = Submission::fillers(&tasks);
        let mut file = match &output {
            Some(path) => Some(SubmissionFile::create(path, fillers.clone())?),
            None => None,
        };
        let mut failed = None;
        let (submission, summary) = candidates.answer(fillers, threads, control, |answers| {
            let saved = file.as_mut().map_or(Ok(()), |file| file.save(answers));
            saved.map_err(|error| failed = Some(error)).is_ok()
        });
        if let Some(error) = failed {
            return Err(error);
        }
        if let Some(file) = &mut file {
            file.finish(&submission)?;
        }
        Ok((submission, summary))
    })?;
    let summary = json!({
        "tasks": submission.tasks(),
        "outputs": submission.outputs(),
        "solvers": summary.solvers,
        "runs": summary.runs,
        "tasks_solved": summary.tasks_solved,
        "answered": summary.answered,
        "answered_twice": summary.answered_twice,
        "outputs_solved": summary.outputs_solved,
    });
    Ok(PySubmission {
        submission,
        ids: ids(&tasks),
        summary,
    })
}

/// Returns the ids of tasks.
fn ids(tasks: &Tasks) -> Vec<String> {
    tasks.iter().map(|task| task.id.clone()).collect()
}

#[pymethods]
impl PySubmission {
    /// Returns a submission of fillers: every answer is `[[0, 0], [0, 0]]`.
    #[staticmethod]
    fn fillers(tasks: &Bound<'_, PyAny>) -> PyResult<PySubmission> {
        let tasks = tasks::extract(tasks)?;
        Ok(PySubmission {
            submission: Submission::fillers(&tasks),
            ids: ids(&tasks),
            summary: Json::Null,
        })
    }

    /// Restores a pickled submission.
    #[staticmethod]
    fn _restore(py: Python<'_>, text: &str, ids: Vec<String>, summary: &str) -> PyResult<Self> {
        let damaged = || errors::request(py, "the pickled submission is damaged", "make it again");
        let draft = submission::parse("submission.json", text.as_bytes()).or_raise(py)?;
        let blank = blank(&draft, &ids).or_raise(py)?;
        let mut stored = Submission::fillers(&blank);
        for id in &ids {
            let answers = draft.get(id).ok_or_else(damaged)?;
            for (test, [first, second]) in answers.iter().enumerate() {
                let (Some(first), Some(second)) = (first, second) else {
                    return Err(damaged());
                };
                stored.set(id, test, [first.clone(), second.clone()]);
            }
        }
        Ok(PySubmission {
            submission: stored,
            ids,
            summary: serde_json::from_str(summary).map_err(|_| damaged())?,
        })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Pickled<'py, (String, Vec<String>, String)>> {
        let restore = py.get_type::<PySubmission>().getattr("_restore")?;
        let parts = (self.to_json(), self.ids.clone(), self.summary.to_string());
        Ok((restore, parts))
    }

    /// Returns the counts of the answers; `None` for fillers.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.summary)
    }

    /// Returns the text of `submission.json`.
    fn to_json(&self) -> String {
        self.submission.to_json()
    }

    /// Writes the file for Kaggle. It replaces an old file only when it is complete.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let submission = self.submission.clone();
        door::work(py, Request::default(), |_| {
            SubmissionFile::create(&path, submission).map(drop)
        })
    }

    /// Returns the ids of the tasks.
    fn keys<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        view(this, "KeysView")
    }

    /// Returns the answers to each task.
    fn values<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        view(this, "ValuesView")
    }

    /// Returns the ids of the tasks, each with the answers.
    fn items<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        view(this, "ItemsView")
    }

    /// Returns the answers to a task, or `default` if there are none.
    #[pyo3(signature = (key, default=None, /))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match key.extract::<String>() {
            Ok(id) if self.submission.get(&id).is_some() => {
                Ok(Some(self.__getitem__(py, &id)?.into_any()))
            }
            _ => Ok(default),
        }
    }

    fn __contains__(&self, task: &Bound<'_, PyAny>) -> bool {
        let id = task.extract::<String>();
        id.is_ok_and(|id| self.submission.get(&id).is_some())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, &self.ids)?.try_iter()?.into_any())
    }

    fn __getitem__<'py>(&self, py: Python<'py>, task: &str) -> PyResult<Bound<'py, PyList>> {
        let answers = self.submission.get(task);
        let ids = || self.ids.iter().map(String::as_str);
        let answers = answers.ok_or_else(|| items::unknown("task", task, ids()))?;
        let listed = PyList::empty(py);
        for attempts in answers {
            let grids = attempts.iter().map(|grid| grids::to_array(py, grid));
            listed.append(PyTuple::new(py, grids.collect::<PyResult<Vec<_>>>()?)?)?;
        }
        Ok(listed)
    }

    fn __len__(&self) -> usize {
        self.submission.tasks()
    }

    fn __repr__(&self) -> String {
        let (tasks, outputs) = (self.submission.tasks(), self.submission.outputs());
        format!("<Submission | {tasks} tasks | {outputs} outputs>")
    }
}

/// Scores a submission, or the file of one, by the three rules in use, and checks it.
#[pyfunction]
pub fn score<'py>(
    py: Python<'py>,
    submission: &Bound<'py, PyAny>,
    tasks: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let tasks = tasks::extract(tasks)?;
    let draft = match submission.cast::<PySubmission>() {
        Ok(submission) => Draft::from(&submission.get().submission),
        Err(_) => {
            let Ok(path) = submission.extract::<PathBuf>() else {
                let hint = "pass a Submission or the path of its file";
                return Err(errors::wrong_kind(submission, "a submission", hint));
            };
            let draft = py.detach(|| submission::load(&path)).or_raise(py)?;
            if let Some(foreign) = draft.foreign() {
                let file = path.display().to_string();
                let message = format!("{file}: this is {foreign}, not a submission");
                let hint = "a submission is \
                    {id: [{\"attempt_1\": grid, \"attempt_2\": grid}, ...], ...}";
                return Err(errors::located(
                    py,
                    "TasksError",
                    &message,
                    hint,
                    |fields| fields.set_item("file", file),
                ));
            }
            draft
        }
    };
    let score = SubmissionScore::new(&draft, &tasks);
    if score.tasks.is_empty() {
        let message = "none of these tasks has a known test output";
        let hint = "score with tasks that have the outputs of their tests";
        return Err(errors::request(py, message, hint));
    }
    let solved = score.tasks.iter().filter(|task| task.is_solved());
    let found = json!({
        "outputs": score.outputs(),
        "outputs_right": score.right(),
        "by_output": score.by_output(),
        "by_task_share": score.by_task_share(),
        "by_task": score.by_task(),
        "tasks": score.tasks.len(),
        "tasks_solved": score.solved(),
        "solved": solved.map(|task| &task.id).collect::<Vec<_>>(),
        "missing": score.missing().collect::<Vec<_>>(),
        "unknown": score.unknown,
        "findings": draft.check(&tasks).iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    json::to_python(py, &found)
}

/// Returns a view of a mapping.
fn view<'py>(mapping: &Bound<'py, PySubmission>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
    let kinds = mapping.py().import("collections.abc")?;
    kinds.getattr(kind)?.call1((mapping,))
}

/// Makes tasks that have as many tests as a draft has answers.
fn blank(draft: &Draft, ids: &[String]) -> batt::Result<Tasks> {
    let test = || Pair {
        input: Submission::filler(),
        output: None,
    };
    let task = |id: &String| {
        let tests = draft.get(id).map_or(0, <[_]>::len);
        Task {
            id: id.clone(),
            name: None,
            description: None,
            train: Vec::new(),
            test: (0..tests).map(|_| test()).collect(),
        }
    };
    Tasks::new(ids.iter().map(task))
}
