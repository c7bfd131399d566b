//! Tasks: loaded once, shared between threads.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use batt_arc::{Dataset, corpus};

use crate::error::Result;

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

    /// Returns the puzzles that come with the library.
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
