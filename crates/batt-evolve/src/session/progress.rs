//! The progress of an evolution: the best solver of each task, and the counts so far.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use batt_arc::{Score, Task};
use batt_lang::Program;
use batt_lang::card::structural_hash;

use crate::credit::Weights;
use crate::evolution::{EvolveTally, FoundSolver, Round};
use crate::search::Search;

/// The progress of a search.
#[derive(Clone, Debug)]
pub struct EvolveProgress {
    /// The tasks that evolve.
    pub tasks: Arc<[Task]>,
    /// The best solver of each task.
    pub best: Vec<Option<BestSolver>>,
    /// The counts of this run.
    pub tally: EvolveTally,
    /// The number of completed generations, including those before the run was resumed.
    pub generation: u64,
    /// The current weights of the kinds of mutation.
    pub weights: Weights,
    /// Tasks in the order in which they were solved.
    pub solved: Vec<usize>,
    /// Tasks in the order in which they last improved.
    pub improved: Vec<usize>,
    /// The archive, if there is one.
    pub archive: Option<PathBuf>,
    /// The number of the run in the archive.
    pub run: Option<i64>,
    /// The number of solvers that this run has added to the archive.
    pub saved: usize,
    /// The number of programs that the archive could not store.
    pub not_storable: usize,
    started: Instant,
    time: Duration,
    /// How archived programs came about, by their hashes.
    origins: HashMap<String, String>,
}

/// The best solver of a task.
#[derive(Clone, Debug)]
pub struct BestSolver {
    /// Its score.
    pub score: Score,
    /// The solver.
    pub program: Program,
    /// Its structural hash.
    pub hash: String,
    /// The kind of mutation that made it, or its origin in the archive.
    pub origin: String,
    /// The generation that made it, counted from 1; `None` if it was in the archive before.
    pub generation: Option<u64>,
}

impl BestSolver {
    /// Returns whether it is an unchanged seed solver.
    pub fn is_seed(&self) -> bool {
        self.origin == FoundSolver::SEED
    }
}

/// An improvement of a task's best solver.
#[derive(Clone, Debug)]
pub struct Improvement {
    /// The position of the task.
    pub task: usize,
    /// What has improved.
    pub change: Change,
    /// The new best solver.
    pub best: BestSolver,
}

/// The kind of an improvement; the most important kind is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The task was solved before; the new solver is smaller or cheaper.
    Simpler,
    /// The task is not solved yet.
    Closer,
    /// The task is solved now.
    Solved,
}

impl EvolveProgress {
    /// Creates the progress before the first generation.
    pub(super) fn new(
        search: &dyn Search,
        tasks: Arc<[Task]>,
        (archive, run): (Option<PathBuf>, Option<i64>),
        origins: HashMap<String, String>,
    ) -> EvolveProgress {
        EvolveProgress {
            best: vec![None; tasks.len()],
            tasks,
            tally: EvolveTally::default(),
            generation: search.generation(),
            weights: search.weights().clone(),
            solved: Vec::new(),
            improved: Vec::new(),
            archive,
            run,
            saved: 0,
            not_storable: 0,
            started: Instant::now(),
            time: Duration::ZERO,
            origins,
        }
    }

    /// Adds a round. Returns its improvements, the most important last.
    pub(super) fn add(&mut self, search: &dyn Search, round: &Round) -> Vec<Improvement> {
        self.tally.add(&round.tally);
        self.generation = search.generation();
        self.weights = search.weights().clone();
        let changed: BTreeSet<usize> = round.found.iter().map(|found| found.task).collect();
        let mut improvements: Vec<Improvement> = changed
            .into_iter()
            .filter_map(|task| self.improvement(search, round, task))
            .collect();
        improvements.sort_by_key(|found| (found.change, found.best.score.closeness));
        for Improvement { task, change, best } in &improvements {
            self.best[*task] = Some(best.clone());
            if *change == Change::Solved {
                self.solved.push(*task);
            }
            self.improved.retain(|other| other != task);
            self.improved.push(*task);
        }
        improvements
    }

    fn improvement(&self, search: &dyn Search, round: &Round, task: usize) -> Option<Improvement> {
        let score = search.best(task)?;
        let before = self.best[task].as_ref().map(|best| best.score);
        if before.is_some_and(|before| before <= score) {
            return None;
        }
        let program = search.best_program(task)?;
        let hash = structural_hash(&program);
        let was_solved = before.is_some_and(|before| before.is_solved());
        Some(Improvement {
            task,
            change: match (was_solved, score.is_solved()) {
                (true, _) => Change::Simpler,
                (false, true) => Change::Solved,
                (false, false) => Change::Closer,
            },
            best: BestSolver {
                origin: self.origin(&hash, task, score, &round.found),
                generation: (!self.origins.contains_key(&hash)).then_some(self.generation),
                score,
                program,
                hash,
            },
        })
    }

    /// Returns how a program was made.
    fn origin(&self, hash: &str, task: usize, score: Score, found: &[FoundSolver]) -> String {
        let mut made = found.iter().filter(|found| {
            found.origin != FoundSolver::SEED
                && found.task == task
                && found.score == score
                && structural_hash(&found.program) == hash
        });
        let archived = || self.origins.get(hash).map(String::as_str);
        let origin = made.next().map(|found| found.origin).or_else(archived);
        origin.unwrap_or(FoundSolver::SEED).to_owned()
    }

    /// Notes how much time has passed.
    pub(super) fn tick(&mut self) {
        self.time = self.started.elapsed();
    }

    /// Returns the time from the beginning to this generation.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Converts a count to a rate per minute.
    pub fn per_minute(&self, count: u64) -> usize {
        (60.0 * count as f64 / self.time().as_secs_f64().max(1e-3)).round() as usize
    }

    /// Returns a count as a percentage of all offspring.
    pub fn percent(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.tally.offspring.max(1) as f64
    }

    /// Returns the percentage of offspring that ran without an error.
    pub fn without_error(&self) -> f64 {
        self.percent(self.tally.offspring.saturating_sub(self.tally.failed))
    }
}
