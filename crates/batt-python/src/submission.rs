//! Submissions: answers to the tests of tasks, and their scores.

use std::path::PathBuf;

use batt::archive::Archive;
use batt::submission::{self, Candidates, Draft, Submission, SubmissionFile, SubmissionScore};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use serde_json::{Value as Json, json};

use crate::door::{self, Request};
use crate::errors::{self, IntoPython};
use crate::tasks::PyTasks;
use crate::{devices, grids, json, solvers};

/// Two answers for every test of every task.
#[pyclass(frozen, module = "batt", name = "Submission")]
pub struct PySubmission {
    submission: Submission,
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
    tasks: &Bound<'_, PyTasks>,
    solvers: Option<&Bound<'_, PyAny>>,
    archive: Option<PathBuf>,
    output: Option<PathBuf>,
    jobs: Option<usize>,
    time: Option<f64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PySubmission> {
    let tasks = tasks.get().0.clone();
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
        summary,
    })
}

#[pymethods]
impl PySubmission {
    /// Answers that are all fillers.
    #[staticmethod]
    fn fillers(tasks: &Bound<'_, PyTasks>) -> PySubmission {
        let submission = Submission::fillers(&tasks.get().0);
        PySubmission {
            submission,
            summary: Json::Null,
        }
    }

    /// The counts of the answers; `None` for fillers.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.summary)
    }

    fn to_json(&self) -> String {
        self.submission.to_json()
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let submission = self.submission.clone();
        door::work(py, Request::default(), |_| {
            SubmissionFile::create(&path, submission).map(drop)
        })
    }

    /// The two answers to each test of a task.
    fn __getitem__<'py>(&self, py: Python<'py>, task: &str) -> PyResult<Bound<'py, PyList>> {
        let answers = self.submission.get(task);
        let answers = answers.ok_or_else(|| PyKeyError::new_err(format!("no task '{task}'")))?;
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
    tasks: &Bound<'py, PyTasks>,
) -> PyResult<Bound<'py, PyAny>> {
    let tasks = tasks.get().0.clone();
    let draft = match submission.cast::<PySubmission>() {
        Ok(submission) => Draft::from(&submission.get().submission),
        Err(_) => {
            let Ok(path) = submission.extract::<PathBuf>() else {
                let message = format!("{} is not a submission", submission.repr()?);
                let hint = "pass a Submission or the path of its file";
                return Err(errors::request(py, &message, hint));
            };
            submission::load(path).or_raise(py)?
        }
    };
    let score = SubmissionScore::new(&draft, &tasks);
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
