//! The records that an archive takes and returns.

use std::fmt;

use batt_arc::Score;
use batt_dsl::Dialect;
use batt_lang::Program;

/// A solver to save, with its score on one task.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// The solver.
    pub program: Program,
    /// The structural hashes of its parents. They need not be in the archive.
    pub parents: Vec<String>,
    /// The name of the mutation that made it.
    pub mutation: String,
    /// The task on which it was tried.
    pub task: String,
    /// The version of the task: a hash of its contents.
    pub task_hash: String,
    /// Its score.
    pub score: Score,
    /// A hash of its outputs for all demonstrations.
    pub outputs: u64,
}

/// A stored solver with its score on one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// The structural hash of the solver.
    pub hash: String,
    /// The canonical source, a function `solve`.
    pub source: String,
    /// The dialect of the source.
    pub dialect: Dialect,
    /// The task.
    pub task: String,
    /// The version of the task: a hash of its contents.
    pub task_hash: String,
    /// The score of the solver on the task.
    pub score: Score,
    /// A hash of its outputs for all demonstrations.
    pub outputs: u64,
    /// The structural hashes of its parents when it was first found.
    pub parents: Vec<String>,
    /// The name of the mutation that made it.
    pub mutation: String,
    /// The run that tried it on this task.
    pub run: RunId,
    /// When the run tried it, in UTC: `2025-10-13T12:00:00Z`.
    pub when: String,
}

impl ArchiveEntry {
    /// Returns the program; `None` if this version of Batt cannot read it.
    pub fn program(&self) -> Option<Program> {
        crate::text::read(&self.source, self.dialect)
    }
}

/// A stored solver, independent of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedSolver {
    /// The structural hash.
    pub hash: String,
    /// The canonical source, a function `solve`.
    pub source: String,
    /// The dialect of the source.
    pub dialect: Dialect,
    /// The structural hashes of its parents when it was first found.
    pub parents: Vec<String>,
    /// The name of the mutation that made it.
    pub mutation: String,
    /// The run that found it.
    pub run: RunId,
    /// When the run found it, in UTC.
    pub when: String,
}

impl ArchivedSolver {
    /// Returns the program; `None` if this version of Batt cannot read it.
    pub fn program(&self) -> Option<Program> {
        crate::text::read(&self.source, self.dialect)
    }
}

/// The number of a run in its archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(crate) i64);

impl RunId {
    /// Returns the number.
    pub fn number(self) -> i64 {
        self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The parameters of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// The seed of its random numbers.
    pub seed: u64,
    /// Its settings, as JSON.
    pub settings: String,
    /// The version of Batt.
    pub version: String,
    /// A hash of the tasks.
    pub dataset: String,
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedRun {
    /// Its number.
    pub id: RunId,
    /// Its parameters.
    pub info: RunInfo,
    /// When it began, in UTC.
    pub started: String,
    /// The generation of its checkpoint, if it has one.
    pub generation: Option<u64>,
}

/// The progress of a run, from which it can be resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The number of completed generations.
    pub generation: u64,
    /// All other state, in the run's own encoding.
    pub state: Vec<u8>,
}

/// What a save did with one [`NewEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kept {
    /// The solver is new for its task.
    New,
    /// The solver was there, and its score has improved.
    Better,
    /// The solver was there, with a score at least as good.
    Known,
    /// Retention prefers other solvers.
    Refused,
}

/// The result of a save.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The structural hash of each new entry and what was done with it, in the order given.
    pub found: Vec<(String, Kept)>,
    /// The number of solvers that were not in the archive before.
    pub solvers: usize,
    /// The number of entries that retention removed.
    pub evicted: usize,
}

impl Saved {
    /// Returns how many entries were new or better.
    pub fn kept(&self) -> usize {
        let gained = |kept: &Kept| matches!(kept, Kept::New | Kept::Better);
        self.found.iter().filter(|(_, kept)| gained(kept)).count()
    }
}

/// The summary of one version of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSummary {
    /// The task.
    pub task: String,
    /// The version of the task: a hash of its contents.
    pub task_hash: String,
    /// The number of solvers with a score.
    pub entries: usize,
    /// The best score.
    pub best: Score,
    /// The solver with the best score.
    pub hash: String,
}

/// The summary of a solver over all tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverSummary {
    /// The structural hash of the solver.
    pub hash: String,
    /// Its dialect.
    pub dialect: Dialect,
    /// The name of the mutation that made it.
    pub mutation: String,
    /// The number of tasks on which it has a score.
    pub tasks: usize,
    /// The number of tasks of which it solves all demonstrations.
    pub solved: usize,
    /// The number of demonstrations that it solves, over all tasks.
    pub demos_solved: usize,
    /// The number of steps of the program.
    pub size: u32,
}
