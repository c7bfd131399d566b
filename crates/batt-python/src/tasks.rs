//! Tasks and sets of tasks.

use std::path::PathBuf;
use std::sync::Arc;

use batt::{Pair, Split, Task, Tasks};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::json;

use crate::door::{self, Request};
use crate::errors::IntoPython;
use crate::grids;

/// An ARC puzzle.
#[pyclass(frozen, eq, module = "batt", name = "Task")]
#[derive(Clone, PartialEq, Eq)]
pub struct PyTask(pub Arc<Task>);

/// A set of tasks.
#[pyclass(frozen, module = "batt", name = "Tasks", sequence)]
#[derive(Clone)]
pub struct PyTasks(pub Tasks);

#[pymethods]
impl PyTask {
    #[new]
    #[pyo3(signature = (id, train, test=None, name=None, description=None))]
    fn new(
        id: String,
        train: &Bound<'_, PyAny>,
        test: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        description: Option<String>,
    ) -> PyResult<PyTask> {
        let test = test.map(|test| pairs(test)).transpose()?;
        Ok(PyTask(Arc::new(Task {
            id,
            name,
            description,
            train: pairs(train)?,
            test: test.unwrap_or_default(),
        })))
    }

    /// Restores a pickled task.
    #[staticmethod]
    fn _restore(py: Python<'_>, text: &str) -> PyResult<PyTask> {
        let tasks = from_text(text).or_raise(py)?;
        let task = tasks.iter().next().cloned();
        let task = task.ok_or_else(|| crate::errors::bug("a pickled task is missing"))?;
        Ok(PyTask(Arc::new(task)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let restore = py.get_type::<PyTask>().getattr("_restore")?;
        Ok((restore, (to_text([&*self.0]),)))
    }

    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    #[getter]
    fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    #[getter]
    fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    #[getter]
    fn train<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        arrays(py, &self.0.train)
    }

    #[getter]
    fn test<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        arrays(py, &self.0.test)
    }

    #[getter]
    fn content_hash(&self) -> String {
        format!("{:016x}", self.0.content_hash())
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let task = PyDict::new(py);
        for (name, pairs) in [("train", &self.0.train), ("test", &self.0.test)] {
            let listed = PyList::empty(py);
            for pair in pairs {
                let entry = PyDict::new(py);
                entry.set_item("input", grids::to_lists(py, &pair.input)?)?;
                if let Some(output) = &pair.output {
                    entry.set_item("output", grids::to_lists(py, output)?)?;
                }
                listed.append(entry)?;
            }
            task.set_item(name, listed)?;
        }
        Ok(task)
    }

    fn __hash__(&self) -> u64 {
        self.0.content_hash()
    }

    fn __repr__(&self) -> String {
        let Task {
            id, train, test, ..
        } = &*self.0;
        format!("<Task {id} | {} train | {} test>", train.len(), test.len())
    }
}

#[pymethods]
impl PyTasks {
    #[new]
    #[pyo3(signature = (tasks=None))]
    fn new(py: Python<'_>, tasks: Option<&Bound<'_, PyAny>>) -> PyResult<PyTasks> {
        let mut listed = Vec::new();
        if let Some(tasks) = tasks {
            for task in tasks.try_iter()? {
                listed.push(Task::clone(&task?.cast::<PyTask>()?.get().0));
            }
        }
        Tasks::new(listed).map(PyTasks).or_raise(py)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyTasks> {
        door::work(py, Request::default(), |_| Tasks::load(&path)).map(PyTasks)
    }

    #[staticmethod]
    #[pyo3(signature = (text, name="tasks.json"))]
    fn parse(py: Python<'_>, text: &str, name: &str) -> PyResult<PyTasks> {
        door::work(py, Request::default(), |_| Tasks::parse(text, name)).map(PyTasks)
    }

    #[staticmethod]
    fn embedded(py: Python<'_>) -> PyTasks {
        PyTasks(py.detach(Tasks::embedded))
    }

    /// Restores pickled tasks.
    #[staticmethod]
    fn _restore(py: Python<'_>, text: &str) -> PyResult<PyTasks> {
        from_text(text).map(PyTasks).or_raise(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let restore = py.get_type::<PyTasks>().getattr("_restore")?;
        Ok((restore, (to_text(self.0.iter()),)))
    }

    #[getter]
    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|task| task.id.clone()).collect()
    }

    #[getter]
    fn pair_count(&self) -> usize {
        self.0.pair_count()
    }

    #[getter]
    fn content_hash(&self) -> String {
        format!("{:016x}", self.0.content_hash())
    }

    #[getter]
    fn shown_hash(&self) -> String {
        format!("{:016x}", self.0.shown_hash())
    }

    /// The files of the loaded folder that hold no tasks.
    #[getter]
    fn skipped(&self) -> Vec<(PathBuf, String)> {
        let skipped = self.0.skipped().iter();
        skipped
            .map(|skipped| (skipped.path.clone(), skipped.holds.clone()))
            .collect()
    }

    fn task_of(&self, function: &str) -> Option<PyTask> {
        self.0
            .task_of(function)
            .map(|task| PyTask(Arc::new(task.clone())))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, id: &str) -> bool {
        self.0.get(id).is_some()
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let task = |at: usize| PyTask(Arc::new(self.0.tasks()[at].clone()));
        if let Ok(id) = index.cast::<PyString>() {
            let id = id.to_cow()?;
            let at = self.0.position(&id).ok_or_else(|| {
                let ids = self.0.iter().map(|task| task.id.as_str());
                PyKeyError::new_err(match batt::nearest(&id, ids) {
                    Some(near) => format!("no task '{id}'; did you mean '{near}'?"),
                    None => format!("no task '{id}' among {}", self.0.len()),
                })
            })?;
            return Ok(Bound::new(py, task(at))?.into_any());
        }
        match crate::index(index, self.0.len(), "task")? {
            crate::Index::One(at) => Ok(Bound::new(py, task(at))?.into_any()),
            crate::Index::Many(picked) => {
                let picked = picked.into_iter().map(|at| self.0.tasks()[at].clone());
                let picked = Tasks::new(picked).or_raise(py)?;
                Ok(Bound::new(py, PyTasks(picked))?.into_any())
            }
        }
    }

    fn _ipython_key_completions_(&self) -> Vec<String> {
        self.ids()
    }

    fn __repr__(&self) -> String {
        format!(
            "<Tasks | {} tasks | {} pairs>",
            self.0.len(),
            self.0.pair_count()
        )
    }
}

/// Reads pairs: `(input, output)` or `{"input": ..., "output": ...}`; the output may be `None`.
pub fn pairs(data: &Bound<'_, PyAny>) -> PyResult<Vec<Pair>> {
    let mut pairs = Vec::new();
    for entry in data.try_iter()? {
        let entry = entry?;
        let (input, output) = match entry.cast::<PyDict>() {
            Ok(dict) => {
                let input = dict.get_item("input")?;
                let input = input.ok_or_else(|| PyKeyError::new_err("a pair has no 'input'"))?;
                (input, dict.get_item("output")?)
            }
            Err(_) => match entry.len()? {
                1 => (entry.get_item(0)?, None),
                _ => (entry.get_item(0)?, Some(entry.get_item(1)?)),
            },
        };
        let output = output.filter(|output| !output.is_none());
        pairs.push(Pair {
            input: grids::extract(&input)?,
            output: output.map(|output| grids::extract(&output)).transpose()?,
        });
    }
    Ok(pairs)
}

/// Returns pairs as tuples of arrays.
fn arrays<'py>(py: Python<'py>, pairs: &[Pair]) -> PyResult<Bound<'py, PyList>> {
    let listed = PyList::empty(py);
    for pair in pairs {
        let output = pair.output.as_ref();
        let output = output
            .map(|output| grids::to_array(py, output))
            .transpose()?;
        listed.append((grids::to_array(py, &pair.input)?, output))?;
    }
    Ok(listed)
}

/// Writes tasks as text for a pickle: id, name, description, and the pairs.
fn to_text<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> String {
    let rows = |grid: &batt::Grid| grid.to_string();
    let task = |task: &Task| {
        let pairs = task.pairs().map(|(name, pair)| {
            let output = pair.output.as_ref().map(rows);
            json!([name.split == Split::Test, rows(&pair.input), output])
        });
        let pairs: Vec<_> = pairs.collect();
        json!([task.id, task.name, task.description, pairs])
    };
    let tasks: Vec<_> = tasks.into_iter().map(task).collect();
    json!(tasks).to_string()
}

/// Reads what [`to_text`] wrote.
fn from_text(text: &str) -> batt::Result<Tasks> {
    type Stored = (
        String,
        Option<String>,
        Option<String>,
        Vec<(bool, String, Option<String>)>,
    );
    let bad = || batt::Error::Request {
        message: "the pickled tasks are damaged".to_owned(),
        hint: "load the tasks again".to_owned(),
    };
    let stored: Vec<Stored> = serde_json::from_str(text).map_err(|_| bad())?;
    let mut tasks = Vec::new();
    for (id, name, description, pairs) in stored {
        let mut task = Task {
            id,
            name,
            description,
            train: Vec::new(),
            test: Vec::new(),
        };
        for (is_test, input, output) in pairs {
            let grid = |text: &str| text.parse::<batt::Grid>().map_err(|_| bad());
            let pair = Pair {
                input: grid(&input)?,
                output: output.as_deref().map(grid).transpose()?,
            };
            match is_test {
                true => task.test.push(pair),
                false => task.train.push(pair),
            }
        }
        tasks.push(task);
    }
    Tasks::new(tasks)
}
