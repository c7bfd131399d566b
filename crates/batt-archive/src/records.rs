//! What goes into an archive and what comes out of it.

use std::fmt;

use batt_arc::Score;
use batt_dsl::Dialect;
use batt_lang::Program;

/// A solver that has been found, to be saved.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// The solver.
    pub program: Program,
    /// The structural hashes of the programs it was made from. They need not be in the archive.
    pub parents: Vec<String>,
    /// How it was made from them, in a word.
    pub mutation: String,
    /// The task it was tried on.
    pub task: String,
    /// Which version of the task that was: a hash of its contents.
    pub task_hash: String,
    /// How well it did.
    pub score: Score,
    /// A hash of what it gave for all demonstrations.
    pub outputs: u64,
}

/// A solver and its score on one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveEntry {
    /// The structural hash of the solver.
    pub hash: String,
    /// Its canonical source, a function `solve`.
    pub source: String,
    /// The dialect of the source.
    pub dialect: Dialect,
    /// The task.
    pub task: String,
    /// Which version of the task.
    pub task_hash: String,
    /// How well the solver does on it.
    pub score: Score,
    /// A hash of what it gives for all demonstrations.
    pub outputs: u64,
    /// The structural hashes of the programs it was made from when it was first found.
    pub parents: Vec<String>,
    /// How it was made from them.
    pub mutation: String,
    /// The run that tried it on this task.
    pub run: RunId,
    /// When that was, in UTC: `2025-10-13T12:00:00Z`.
    pub when: String,
}

impl ArchiveEntry {
    /// The program.
    pub fn program(&self) -> Option<Program> {
        crate::text::read(&self.source, self.dialect)
    }
}

/// A solver, whatever the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedSolver {
    /// The structural hash.
    pub hash: String,
    /// The canonical source, a function `solve`.
    pub source: String,
    /// The dialect of the source.
    pub dialect: Dialect,
    /// The structural hashes of the programs it was made from when it was first found.
    pub parents: Vec<String>,
    /// How it was made from them.
    pub mutation: String,
    /// The run that found it.
    pub run: RunId,
    /// When that was, in UTC.
    pub when: String,
}

impl ArchivedSolver {
    /// The program.
    pub fn program(&self) -> Option<Program> {
        crate::text::read(&self.source, self.dialect)
    }
}

/// The number of a run in its archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(crate) i64);

impl RunId {
    /// The number.
    pub fn number(self) -> i64 {
        self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a run was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// Where its random numbers began.
    pub seed: u64,
    /// Its settings, as JSON.
    pub settings: String,
    /// The version of the program.
    pub version: String,
    /// A hash of the tasks.
    pub dataset: String,
}

/// A run that has begun at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedRun {
    /// Its number.
    pub id: RunId,
    /// What it was told.
    pub info: RunInfo,
    /// When it began, in UTC.
    pub started: String,
    /// The generation of its checkpoint, if it has one.
    pub generation: Option<u64>,
}

/// Where a run stands, so that it can go on from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Generations done.
    pub generation: u64,
    /// All else; the run knows what it means.
    pub state: Vec<u8>,
}

/// What became of one [`NewEntry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kept {
    /// It is new for its task.
    New,
    /// It was there, and has a better score now.
    Better,
    /// It was there, with a score as good.
    Known,
    /// There are better ones.
    Refused,
}

/// What a save came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The structural hash of each solver found and what became of it, in the order given.
    pub found: Vec<(String, Kept)>,
    /// Solvers that were not in the archive before.
    pub solvers: usize,
    /// Entries that had to make room.
    pub evicted: usize,
}

impl Saved {
    /// How many were new or better.
    pub fn kept(&self) -> usize {
        let gained = |kept: &Kept| matches!(kept, Kept::New | Kept::Better);
        self.found.iter().filter(|(_, kept)| gained(kept)).count()
    }
}

/// What an archive has for one version of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSummary {
    /// The task.
    pub task: String,
    /// Which version of it.
    pub task_hash: String,
    /// How many solvers have a score.
    pub entries: usize,
    /// The best score.
    pub best: Score,
    /// The solver that has it.
    pub hash: String,
}

/// What a solver is good for, over all tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SolverSummary {
    /// The structural hash of the solver.
    pub hash: String,
    /// Its dialect.
    pub dialect: Dialect,
    /// How it was made.
    pub mutation: String,
    /// Tasks it has a score for.
    pub tasks: usize,
    /// Tasks of which it solves all demonstrations.
    pub solved: usize,
    /// Demonstrations it solves, of all tasks.
    pub demos_solved: usize,
    /// Steps of the program.
    pub size: u32,
}
