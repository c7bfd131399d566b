//! Datasets: many tasks, in an order that does not depend on the file system.

use std::path::PathBuf;

use crate::Grid;
use crate::task::{Pair, PairRef, Task};

/// Tasks sorted by id, each id once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dataset {
    tasks: Vec<Task>,
    skipped: Vec<Skipped>,
}

/// A JSON file of a folder that was left out because it holds no tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// What it holds instead, for example `a submission file`.
    pub holds: String,
}

/// Two different tasks with the same id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two different tasks are called {id}")]
pub struct DuplicateTask {
    /// Their id.
    pub id: String,
}

impl Dataset {
    /// Makes a dataset of these tasks, sorted by id.
    ///
    /// Tasks with the same id are merged if they agree. A competition's test file repeats tasks of
    /// its evaluation file without the answers; merging keeps the answers.
    pub fn new(mut tasks: Vec<Task>) -> Result<Dataset, DuplicateTask> {
        tasks.sort_by(|a, b| a.id.cmp(&b.id));
        let mut merged: Vec<Task> = Vec::with_capacity(tasks.len());
        for task in tasks {
            match merged.last_mut() {
                Some(last) if last.id == task.id => {
                    if !merge(last, task) {
                        return Err(DuplicateTask {
                            id: last.id.clone(),
                        });
                    }
                }
                _ => merged.push(task),
            }
        }
        Ok(Dataset {
            tasks: merged,
            skipped: Vec::new(),
        })
    }

    /// Makes a dataset of tasks that the loader has already merged.
    pub(crate) fn sorted(mut tasks: Vec<Task>, skipped: Vec<Skipped>) -> Dataset {
        tasks.sort_by(|a, b| a.id.cmp(&b.id));
        Dataset { tasks, skipped }
    }

    /// The tasks, sorted by id.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Returns the tasks.
    pub fn into_tasks(self) -> Vec<Task> {
        self.tasks
    }

    /// The task of that id.
    pub fn get(&self, id: &str) -> Option<&Task> {
        Some(&self.tasks[self.position(id)?])
    }

    /// The position of the task of that id.
    pub fn position(&self, id: &str) -> Option<usize> {
        let found = self.tasks.binary_search_by(|task| task.id.as_str().cmp(id));
        found.ok()
    }

    /// Returns the task that a function solves. The function's name is the id of the task, or ends
    /// in `_` and the id. Ids may contain `_`; the longest id that fits counts.
    ///
    /// ```
    /// let tasks = batt_arc::corpus::tasks();
    /// assert_eq!(tasks.task_of("solve_1673c3ec").unwrap().id, "1673c3ec");
    /// assert!(tasks.task_of("solve").is_none());
    /// ```
    pub fn task_of(&self, function: &str) -> Option<&Task> {
        Some(&self.tasks[self.position_of(function)?])
    }

    /// The position of the [task a function is for](Dataset::task_of).
    pub fn position_of(&self, function: &str) -> Option<usize> {
        let ends = function
            .match_indices('_')
            .map(|(at, _)| &function[at + 1..]);
        std::iter::once(function)
            .chain(ends)
            .find_map(|id| self.position(id))
    }

    /// The number of tasks.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The tasks, sorted by id.
    pub fn iter(&self) -> std::slice::Iter<'_, Task> {
        self.tasks.iter()
    }

    /// Every pair of every task, in task order, demonstrations before tests.
    pub fn pairs(&self) -> impl Iterator<Item = (&Task, PairRef, &Pair)> {
        self.tasks
            .iter()
            .flat_map(|task| task.pairs().map(move |(name, pair)| (task, name, pair)))
    }

    /// The number of pairs of all tasks.
    pub fn pair_count(&self) -> usize {
        self.tasks.iter().map(Task::pair_count).sum()
    }

    /// The JSON files of the loaded folder that hold no tasks. They are worth a warning, but are
    /// not errors.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Keeps the tasks for whose id `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.tasks.retain(|task| keep(&task.id));
    }

    /// Returns a hash of all ids and grids.
    ///
    /// Published copies of a dataset differ in a few tasks, so results should record which copy
    /// they are about. The hash is the same in every version and on every machine. It is not
    /// cryptographic.
    pub fn content_hash(&self) -> u64 {
        let mut hash = Fnv::new();
        for task in &self.tasks {
            hash.id(&task.id);
            for list in [&task.train, &task.test] {
                hash.length(list.len());
                for pair in list {
                    hash.grid(Some(&pair.input));
                    hash.grid(pair.output.as_ref());
                }
            }
        }
        hash.0
    }

    /// Returns a hash of all ids and grids except the answers to the tests, so a dataset has the
    /// same hash with and without its solutions. See also [`content_hash`](Dataset::content_hash).
    pub fn shown_hash(&self) -> u64 {
        let mut hash = Fnv::new();
        for task in &self.tasks {
            hash.id(&task.id);
            hash.bytes(&task.content_hash().to_le_bytes());
        }
        hash.0
    }
}

impl<'a> IntoIterator for &'a Dataset {
    type Item = &'a Task;
    type IntoIter = std::slice::Iter<'a, Task>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Adds to `kept` the outputs that only `other` has. Returns false if the two contradict each
/// other.
pub(crate) fn merge(kept: &mut Task, other: Task) -> bool {
    let same_shape = kept.train == other.train && kept.test.len() == other.test.len();
    let agree = |a: &Pair, b: &Pair| {
        a.input == b.input && (a.output == b.output || a.output.is_none() || b.output.is_none())
    };
    if !same_shape || !kept.test.iter().zip(&other.test).all(|(a, b)| agree(a, b)) {
        return false;
    }
    for (a, b) in kept.test.iter_mut().zip(other.test) {
        a.output = a.output.take().or(b.output);
    }
    kept.name = kept.name.take().or(other.name);
    kept.description = kept.description.take().or(other.description);
    true
}

/// 64-bit FNV-1a. Unlike the hasher of std, it never changes.
pub(crate) struct Fnv(pub(crate) u64);

impl Fnv {
    pub(crate) fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn length(&mut self, n: usize) {
        self.bytes(&(n as u64).to_le_bytes());
    }

    fn id(&mut self, id: &str) {
        self.length(id.len());
        self.bytes(id.as_bytes());
    }

    /// A grid that may be missing.
    pub(crate) fn grid(&mut self, grid: Option<&Grid>) {
        let Some(grid) = grid else {
            return self.bytes(&[0]);
        };
        self.bytes(&[grid.height() as u8, grid.width() as u8]);
        self.bytes(grid.cells());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, output: Option<u8>) -> Task {
        let grid = |colour: u8| Grid::from_rows(&[[colour]]).unwrap();
        Task {
            id: id.into(),
            name: None,
            description: None,
            train: vec![Pair {
                input: grid(0),
                output: Some(grid(1)),
            }],
            test: vec![Pair {
                input: grid(0),
                output: output.map(grid),
            }],
        }
    }

    #[test]
    fn a_solver_belongs_to_the_task_with_the_longest_id() {
        let ids = ["ab12", "x_ab12", "solve"];
        let data = Dataset::new(ids.map(|id| task(id, None)).to_vec()).unwrap();
        let found = |name| data.task_of(name).map(|task| task.id.as_str());
        assert_eq!(found("solve_ab12"), Some("ab12"));
        assert_eq!(found("solve_x_ab12"), Some("x_ab12"));
        assert_eq!(found("solve"), Some("solve"));
        assert_eq!(found("solveab12"), None);
        assert_eq!(found("solve_ab1"), None);
    }

    #[test]
    fn tasks_are_sorted_and_found() {
        let data = Dataset::new(vec![task("b", None), task("a", None), task("c", None)]).unwrap();
        let ids: Vec<&str> = data.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(data.get("b").unwrap().id, "b");
        assert_eq!(data.get("bb"), None);
        assert_eq!(
            (data.len(), data.pair_count(), data.pairs().count()),
            (3, 6, 6)
        );
    }

    #[test]
    fn agreeing_duplicates_keep_the_answer() {
        for pair in [[None, Some(1)], [Some(1), None], [Some(1), Some(1)]] {
            let data = Dataset::new(pair.map(|output| task("a", output)).into()).unwrap();
            assert_eq!(data.tasks(), [task("a", Some(1))]);
        }
    }

    #[test]
    fn contradicting_duplicates_are_refused() {
        let error = Dataset::new(vec![task("a", Some(1)), task("a", Some(2))]).unwrap_err();
        assert_eq!(error.to_string(), "two different tasks are called a");
    }

    #[test]
    fn the_hash_sees_every_grid() {
        let hash = |output| {
            Dataset::new(vec![task("a", output)])
                .unwrap()
                .content_hash()
        };
        assert_ne!(hash(Some(1)), hash(Some(2)));
        assert_ne!(hash(Some(1)), hash(None));
        // Pinned: stored results are found by this hash.
        assert_eq!(Dataset::default().content_hash(), 0xcbf2_9ce4_8422_2325);
        let data = Dataset::new(vec![task("a", Some(1))]).unwrap();
        assert_eq!(data.content_hash(), 0x59f5_a5f9_dc33_4963);
    }

    #[test]
    fn the_shown_hash_ignores_the_answers() {
        let shown = |output| Dataset::new(vec![task("a", output)]).unwrap().shown_hash();
        assert_eq!(shown(Some(1)), shown(Some(2)));
        assert_eq!(shown(Some(1)), shown(None));
        assert_ne!(shown(None), Dataset::default().shown_hash());
    }
}
