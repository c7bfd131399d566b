//! How far an evolution has come.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use batt_arc::Task;
use batt_evolve::{Evolution, Found, Round, Score, Tally, Weights};
use batt_lang::Program;
use batt_lang::card::structural_hash;

/// How a program came about that nobody made: it was there before.
pub const DONOR: &str = "donor";

/// How far an evolution has come.
pub struct Progress<'t> {
    pub tasks: &'t [Task],
    /// The best program of each task.
    pub best: Vec<Option<Best>>,
    pub tally: Tally,
    /// Generations done, those of earlier commands included.
    pub generation: u64,
    pub weights: Weights,
    /// Tasks in the order in which they were solved.
    pub solved: Vec<usize>,
    /// Tasks in the order in which they last got better.
    pub improved: Vec<usize>,
    started: Instant,
    /// The time that all this took, when it is over.
    ended: Option<Duration>,
    /// How programs came about that were there before, by their hashes.
    origins: HashMap<String, String>,
}

/// The best program of a task.
#[derive(Clone)]
pub struct Best {
    pub score: Score,
    pub program: Program,
    /// Its structural hash.
    pub hash: String,
    /// How it was made, in a word.
    pub how: String,
    /// The generation that made it, counted from 1; `None` if it was in the archive before.
    pub generation: Option<u64>,
}

/// What happened to a task.
#[derive(Clone)]
pub struct Event {
    pub task: usize,
    pub change: Change,
    /// The best program now.
    pub best: Best,
}

/// How the best program of a task has become better; the most welcome change last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It solved the task before, and is smaller or cheaper now.
    Simpler,
    /// It does not solve the task yet.
    Closer,
    /// It solves the task.
    Solved,
}

impl<'t> Progress<'t> {
    /// Nothing has happened yet.
    pub fn new(evolution: &Evolution<'t>, origins: HashMap<String, String>) -> Progress<'t> {
        Progress {
            tasks: evolution.tasks(),
            best: vec![None; evolution.tasks().len()],
            tally: Tally::default(),
            generation: evolution.generation(),
            weights: evolution.weights().clone(),
            solved: Vec::new(),
            improved: Vec::new(),
            started: Instant::now(),
            ended: None,
            origins,
        }
    }

    /// Takes note of a round. What happened comes back.
    pub fn add(&mut self, evolution: &Evolution<'t>, round: &Round) -> Vec<Event> {
        self.tally.add(&round.tally);
        self.generation = evolution.generation();
        self.weights = evolution.weights().clone();
        let changed: BTreeSet<usize> = round.found.iter().map(|found| found.task).collect();
        let mut events = Vec::new();
        for task in changed {
            let Some(score) = evolution.best(task) else {
                continue;
            };
            let before = self.best[task].as_ref().map(|best| best.score);
            if before.is_some_and(|before| score <= before) {
                continue;
            }
            let Some(program) = evolution.best_program(task) else {
                continue;
            };
            let hash = structural_hash(&program);
            let best = Best {
                how: self.how(&hash, task, score, &round.found),
                generation: (!self.origins.contains_key(&hash)).then_some(self.generation),
                score,
                program,
                hash,
            };
            let was_solved = before.is_some_and(|before| before.is_complete());
            let change = match (was_solved, score.is_complete()) {
                (true, _) => Change::Simpler,
                (false, true) => Change::Solved,
                (false, false) => Change::Closer,
            };
            self.best[task] = Some(best.clone());
            events.push(Event { task, change, best });
        }
        // What is most worth seeing comes last, and is seen first.
        events.sort_by_key(|event| (event.change, event.best.score.closeness));
        for event in &events {
            if event.change == Change::Solved {
                self.solved.push(event.task);
            }
            self.improved.retain(|other| *other != event.task);
            self.improved.push(event.task);
        }
        events
    }

    /// How a program was made.
    fn how(&self, hash: &str, task: usize, score: Score, found: &[Found]) -> String {
        let mut same = found.iter().filter(|found| {
            found.task == task && found.score == score && structural_hash(&found.program) == hash
        });
        match same.find_map(|found| found.kind) {
            Some(kind) => kind.name().to_owned(),
            None => self.origins.get(hash).map_or(DONOR, |how| how).to_owned(),
        }
    }

    /// It is over: the clock stops.
    pub fn end(&mut self) {
        self.ended = Some(self.started.elapsed());
    }

    /// The time since the beginning, until it was over.
    pub fn time(&self) -> Duration {
        self.ended.unwrap_or_else(|| self.started.elapsed())
    }

    /// Things a minute.
    pub fn a_minute(&self, count: u64) -> usize {
        (60.0 * count as f64 / self.time().as_secs_f64().max(1e-3)).round() as usize
    }

    /// A share of all offspring, in percent.
    pub fn percent(&self, count: u64) -> f64 {
        100.0 * count as f64 / self.tally.offspring.max(1) as f64
    }

    /// Offspring that ran without error, in percent.
    pub fn without_error(&self) -> f64 {
        self.percent(self.tally.offspring - self.tally.failed.min(self.tally.offspring))
    }
}

impl Best {
    /// `3 of 4 demonstrations, closeness 0.95, 12 steps`.
    pub fn describe(&self) -> String {
        let Score {
            solved,
            demos,
            closeness,
            size,
            ..
        } = self.score;
        let steps = crate::ui::counted(size as usize, "step");
        match self.score.is_complete() {
            true => format!("{steps}, {}", self.made()),
            false => format!(
                "{solved} of {demos} demonstrations, closeness {:.3}, {steps}, {}",
                f64::from(closeness) / f64::from(batt_evolve::score::WHOLE),
                self.made()
            ),
        }
    }

    fn made(&self) -> String {
        match self.generation {
            Some(generation) => format!("{} in generation {generation}", self.how),
            None => format!("{}, from the archive", self.how),
        }
    }
}
