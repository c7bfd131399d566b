//! Tasks: loaded once, shared between threads.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use batt_arc::text::name;
use batt_arc::{Dataset, Pair, Task, corpus};
use batt_engine::RunRecord;

use crate::error::{Error, Result};
use crate::task_path::no_pair;

/// A set of tasks. Clones share the data. It dereferences to [`Dataset`].
///
/// ```
/// let tasks = batt::Tasks::embedded();
/// assert_eq!(tasks.get("1673c3ec").unwrap().train.len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tasks(Arc<Dataset>);

impl Tasks {
    /// Loads a folder of tasks, a task file, Kaggle challenges or another known format.
    pub fn load(path: impl AsRef<Path>) -> Result<Tasks> {
        Ok(Dataset::load(path.as_ref())?.into())
    }

    /// Reads a text as a file of tasks of any known format. Messages call it `name`; for a single
    /// task this, without its ending, is the id.
    pub fn parse(text: &str, name: &str) -> Result<Tasks> {
        Ok(Dataset::from_json(name, text.as_bytes())?.into())
    }

    /// A set of tasks that the caller has. Two different tasks of one id are an error.
    ///
    /// ```
    /// use batt::{Grid, Pair, Task, Tasks};
    ///
    /// let pair = |input: &str, output: &str| -> Result<Pair, batt::GridTextError> {
    ///     Ok(Pair { input: input.parse()?, output: Some(output.parse()?) })
    /// };
    /// let task = Task {
    ///     id: "flip".to_owned(),
    ///     name: None,
    ///     description: None,
    ///     train: vec![pair("12", "21")?],
    ///     test: vec![pair("30", "03")?],
    /// };
    /// assert_eq!(Tasks::new([task])?.pair_count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(tasks: impl IntoIterator<Item = Task>) -> Result<Tasks> {
        Ok(Dataset::new(tasks.into_iter().collect())?.into())
    }

    /// Returns the pair of a run that was read from a file.
    pub fn pair_of(&self, run: &RunRecord) -> Result<&Pair> {
        let task = self.get(&run.task).ok_or_else(|| {
            let id = name(&run.task);
            Error::request(
                format_args!("the runs are on task {id}, which is not among the tasks"),
                "name the tasks that the solvers ran on",
            )
        })?;
        task.pair(run.pair).ok_or_else(|| no_pair(task, run.pair))
    }

    /// The puzzles that come with the library.
    pub fn embedded() -> Tasks {
        corpus::tasks().into()
    }
}

impl From<Dataset> for Tasks {
    fn from(data: Dataset) -> Tasks {
        Tasks(Arc::new(data))
    }
}

impl Deref for Tasks {
    type Target = Dataset;

    fn deref(&self) -> &Dataset {
        &self.0
    }
}
