//! The setup of an evolution: tasks, seed solvers, held-out solvers, and archived solvers.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use batt_arc::{Dataset, Task};
use batt_archive::{Archive, ArchivedRun, Retention, RunInfo};
use batt_dsl::Dialect;
use batt_engine::ParamRole;
use batt_lang::{Program, SplitMix64, nearest};
use serde_json::{Value as Json, json};

use super::error::EvolveError;
use crate::credit::Weights;
use crate::donors::SeedSolver;
use crate::evolution::EvolveSettings;

/// The number of solvers of each task that are read from the archive.
const FROM_ARCHIVE: usize = 32;

/// The most populations of all tasks together. Creating one takes some kilobytes, and time
/// that neither a deadline nor a cancellation cuts short.
const MOST_POPULATIONS: usize = 100_000;

/// Options of an evolution.
#[derive(Clone, Debug)]
pub struct EvolveOptions {
    /// The ids of the tasks to evolve; empty for all tasks.
    pub tasks: Vec<String>,
    /// The tasks whose solvers are held out. If there are any, only those tasks evolve.
    pub hold_out: HoldOut,
    /// The dialect of all programs; `None` uses that of the first solver.
    pub dialect: Option<Dialect>,
    /// Differs in addition to the built-in ones.
    pub differs: Vec<Program>,
    /// The archive to read from and save to.
    pub archive: Option<PathBuf>,
    /// Whether to resume the last run of the archive on the same tasks.
    pub resume: bool,
    /// Which solvers of a task the archive keeps.
    pub retention: Retention,
    /// The seed of all random choices; `None` uses 0, or the seed of the resumed run.
    pub seed: Option<u64>,
    /// The number of generations; `None` for no limit.
    pub generations: Option<u64>,
    /// Whether to compare the solutions with the test outputs at the end.
    pub report_tests: bool,
    /// The number of populations of each task.
    pub islands: NonZeroUsize,
    /// The number of programs in a population.
    pub population: usize,
    /// The number of offspring of each population in a generation; `None` uses the default.
    pub offspring: Option<NonZeroUsize>,
    /// The weights of the kinds of mutation; `None` to adapt them.
    pub weights: Option<Weights>,
    /// The number of threads; `None` uses one per core.
    pub threads: Option<NonZeroUsize>,
}

impl Default for EvolveOptions {
    fn default() -> EvolveOptions {
        let settings = EvolveSettings::default();
        EvolveOptions {
            tasks: Vec::new(),
            hold_out: HoldOut::default(),
            dialect: None,
            differs: Vec::new(),
            archive: None,
            resume: false,
            retention: Retention::default(),
            seed: None,
            generations: None,
            report_tests: false,
            islands: settings.islands,
            population: settings.population,
            offspring: settings.offspring,
            weights: None,
            threads: None,
        }
    }
}

impl EvolveOptions {
    /// Returns the settings of the populations.
    pub(super) fn settings(&self, seed: u64) -> EvolveSettings {
        EvolveSettings {
            seed,
            islands: self.islands,
            population: self.population,
            offspring: self.offspring,
            weights: self.weights.clone().unwrap_or_default(),
            threads: self.threads,
            ..EvolveSettings::default()
        }
    }
}

/// The number of tasks whose solvers are held out. The seed chooses the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldOut {
    /// Exactly this number. It is an error if fewer tasks have solvers.
    Exactly(usize),
    /// This number, or all tasks with solvers if there are fewer.
    AtMost(usize),
}

impl Default for HoldOut {
    fn default() -> HoldOut {
        HoldOut::AtMost(0)
    }
}

/// The tasks and solvers with which a run starts, for reports.
#[derive(Clone, Debug, Default)]
pub struct EvolveStart {
    /// The number of tasks that evolve.
    pub tasks: usize,
    /// The number of tasks in the dataset.
    pub all_tasks: usize,
    /// The number of tasks whose solvers are held out: all that evolve, or none.
    pub held_out: usize,
    /// The number of solvers from which the run learns.
    pub seed_solvers: usize,
    /// The dialect of all programs.
    pub dialect: Dialect,
    /// The seed of all random choices.
    pub seed: u64,
    /// The names of functions that were skipped because they take neither a grid nor `(S, I, C)`.
    pub not_solvers: Vec<String>,
    /// The names of solvers that were skipped because of their dialect.
    pub other_dialect: Vec<String>,
    /// The archive.
    pub archive: Option<PathBuf>,
    /// The number of archived solvers of these tasks.
    pub archived_solvers: usize,
    /// The number of tasks with an archived solution. The best solution of each is a seed solver.
    pub archived_solutions: usize,
    /// The number of archived solvers that were skipped because of their dialect.
    pub archived_foreign: usize,
    /// The resumed run.
    pub resumed: Option<ResumedRun>,
}

/// A run that continues from its checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumedRun {
    /// The number of the run in the archive.
    pub run: i64,
    /// When it began, in UTC.
    pub started: String,
    /// The generation of its checkpoint.
    pub generation: u64,
}

/// An evolution that is ready to run.
pub struct EvolveSetup {
    pub(super) options: EvolveOptions,
    pub(super) start: EvolveStart,
    pub(super) tasks: Arc<[Task]>,
    pub(super) seeds: Vec<SeedSolver>,
    pub(super) archive: Option<Archive>,
    pub(super) resumed: Option<ArchivedRun>,
    /// The archived solvers by the position of their task.
    pub(super) archived: HashMap<usize, Vec<Program>>,
    /// The origin of each archived solver, by hash.
    pub(super) origins: HashMap<String, String>,
    dataset: String,
}

impl EvolveSetup {
    /// Chooses tasks and seed solvers, and reads the archive. `solvers` are all functions of the
    /// solver files. A new archive is created last, once everything else is valid.
    pub fn new(
        data: &Dataset,
        solvers: &[Program],
        options: EvolveOptions,
    ) -> Result<EvolveSetup, EvolveError> {
        let first = solvers.first().map(Program::dialect);
        let dialect = options.dialect.or(first).unwrap_or_default();
        let mut start = EvolveStart {
            all_tasks: data.len(),
            dialect,
            seed: options.seed.unwrap_or_default(),
            archive: options.archive.clone(),
            ..EvolveStart::default()
        };
        let mut usable = Vec::new();
        for program in solvers {
            if ParamRole::of(program.params()).is_none() {
                start.not_solvers.push(program.name().to_owned());
            } else if program.dialect() != dialect {
                start.other_dialect.push(program.name().to_owned());
            } else {
                usable.push((data.task_of(program.name()), program));
            }
        }
        let mut selection = Selection::new(data, &usable, &options, start.seed)?;
        if options.resume && options.archive.is_none() {
            return Err(EvolveError::NoArchive);
        }
        let archive = options.archive.as_deref().map(Archive::open).transpose()?;
        let mut setup = EvolveSetup {
            dataset: format!("{:016x}", data.shown_hash()),
            options,
            start,
            tasks: Arc::default(),
            seeds: Vec::new(),
            archive,
            resumed: None,
            archived: HashMap::new(),
            origins: HashMap::new(),
        };
        setup.resumed = setup.run_to_resume()?;
        if let Some(run) = &setup.resumed {
            setup.start.seed = run.info.seed;
            setup.start.resumed = Some(ResumedRun {
                run: run.id.number(),
                started: run.started.clone(),
                generation: run.generation.unwrap_or_default(),
            });
            selection = Selection::new(data, &usable, &setup.options, run.info.seed)?;
        }
        (setup.tasks, setup.seeds) = (selection.tasks.into(), selection.seeds);
        setup.start.held_out = selection.held_out;
        setup.start.tasks = setup.tasks.len();
        setup.read_archive()?;
        setup.start.seed_solvers = setup.seeds.len();
        Ok(setup)
    }

    /// Returns the tasks and solvers with which the run starts.
    pub fn start(&self) -> &EvolveStart {
        &self.start
    }

    /// Returns the last run with a checkpoint that had the same tasks and options.
    fn run_to_resume(&self) -> Result<Option<ArchivedRun>, EvolveError> {
        let Some(archive) = self.archive.as_ref().filter(|_| self.options.resume) else {
            return Ok(None);
        };
        let is_same = |run: &ArchivedRun| {
            let settings: Json = serde_json::from_str(&run.info.settings).unwrap_or_default();
            run.generation.is_some()
                && run.info.dataset == self.dataset
                && self.options.seed.is_none_or(|seed| seed == run.info.seed)
                && settings["choice"] == self.resume_key()
        };
        Ok(archive.runs()?.into_iter().find(is_same))
    }

    /// Returns what a resumed run must share: the selected tasks, the held-out solvers and the
    /// dialect. The keys are compared as they are, so a new key stops older runs from being resumed.
    fn resume_key(&self) -> Json {
        let mut tasks = self.options.tasks.clone();
        tasks.sort_unstable();
        tasks.dedup();
        let hold_out = match self.options.hold_out {
            HoldOut::Exactly(count) => Some(count),
            HoldOut::AtMost(_) => None,
        };
        json!({
            "tasks": tasks,
            "hold_out": hold_out,
            "dialect": self.start.dialect.name(),
        })
    }

    /// Returns the record of the run in the archive.
    pub(super) fn run_info(&self) -> RunInfo {
        let settings = json!({
            "command": "evolve",
            "choice": self.resume_key(),
            "islands": self.options.islands,
            "population": self.options.population,
            "offspring": self.options.offspring,
            "weights": self.options.weights,
        });
        RunInfo {
            seed: self.start.seed,
            settings: settings.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: self.dataset.clone(),
        }
    }

    /// Reads the solvers of the archive. The best solution of each task becomes a seed solver.
    fn read_archive(&mut self) -> Result<(), EvolveError> {
        let Some(archive) = &self.archive else {
            return Ok(());
        };
        let ids = self.tasks.iter().map(|task| task.id.as_str());
        let places: HashMap<&str, usize> = ids.enumerate().map(|(at, id)| (id, at)).collect();
        let mut seen = HashSet::new();
        for summary in archive.tasks()? {
            let place = places.get(summary.task.as_str());
            // A held-out solver must not return through the archive. Only solvers that the resumed
            // run has found itself count.
            if place.is_some() && self.start.held_out > 0 && self.resumed.is_none() {
                continue;
            }
            let mut has_seed = false;
            for entry in archive.best(&summary.task, Some(&summary.task_hash), FROM_ARCHIVE)? {
                if has_seed && place.is_none() {
                    break;
                }
                let program = entry.program();
                let Some(program) = program.filter(|p| p.dialect() == self.start.dialect) else {
                    self.start.archived_foreign += 1;
                    continue;
                };
                if !seen.insert((entry.task.clone(), entry.hash.clone())) {
                    continue;
                }
                if !has_seed && entry.score.is_solved() {
                    has_seed = true;
                    self.start.archived_solutions += 1;
                    self.seeds.push(SeedSolver {
                        task: entry.task,
                        program: program.clone(),
                    });
                }
                if let Some(&at) = place {
                    self.start.archived_solvers += 1;
                    self.archived.entry(at).or_default().push(program);
                    self.origins.insert(entry.hash, entry.mutation);
                }
            }
        }
        Ok(())
    }
}

/// The tasks to evolve and the seed solvers.
struct Selection {
    tasks: Vec<Task>,
    seeds: Vec<SeedSolver>,
    held_out: usize,
}

impl Selection {
    fn new(
        data: &Dataset,
        solvers: &[(Option<&Task>, &Program)],
        options: &EvolveOptions,
        seed: u64,
    ) -> Result<Selection, EvolveError> {
        for id in &options.tasks {
            if data.get(id).is_none() {
                return Err(EvolveError::UnknownTask {
                    near: nearest(id, data.iter().map(|task| &*task.id)).map(str::to_owned),
                    id: id.clone(),
                });
            }
        }
        let is_wanted = |task: &Task| options.tasks.is_empty() || options.tasks.contains(&task.id);
        let held_out = held_out(solvers, options.hold_out, is_wanted, seed)?;
        let evolves = |task: &&Task| {
            is_wanted(task)
                && (held_out.is_empty() || held_out.contains(task.id.as_str()))
                && task.train.iter().any(|pair| pair.output.is_some())
        };
        let tasks: Vec<Task> = data.iter().filter(evolves).cloned().collect();
        if tasks.is_empty() {
            return Err(EvolveError::NoDemonstrations);
        }
        let (count, islands) = (tasks.len(), options.islands.get());
        if count.saturating_mul(islands) > MOST_POPULATIONS.max(count) {
            return Err(EvolveError::TooManyPopulations {
                tasks: count,
                islands,
                most: (MOST_POPULATIONS / count).max(1),
            });
        }
        let seeds = solvers
            .iter()
            .filter(|(task, _)| task.is_none_or(|task| !held_out.contains(task.id.as_str())))
            .map(|(task, program)| SeedSolver {
                task: task.map_or(program.name(), |task| &task.id).to_owned(),
                program: (*program).clone(),
            });
        Ok(Selection {
            seeds: seeds.collect(),
            held_out: held_out.len(),
            tasks,
        })
    }
}

/// Chooses the tasks whose solvers are held out.
fn held_out<'d>(
    solvers: &[(Option<&'d Task>, &Program)],
    hold_out: HoldOut,
    is_wanted: impl Fn(&Task) -> bool,
    seed: u64,
) -> Result<HashSet<&'d str>, EvolveError> {
    let mut seen = HashSet::new();
    // In the order of the solvers, so that the choice depends only on the seed.
    let mut solved: Vec<&str> = solvers
        .iter()
        .filter_map(|(task, _)| *task)
        .filter(|task| is_wanted(task) && seen.insert(task.id.as_str()))
        .map(|task| task.id.as_str())
        .collect();
    let count = match hold_out {
        HoldOut::Exactly(wanted) if wanted > solved.len() => {
            return Err(EvolveError::TooFewSolvers {
                wanted,
                solved: solved.len(),
            });
        }
        HoldOut::Exactly(count) => count,
        HoldOut::AtMost(count) => count.min(solved.len()),
    };
    let mut chance = SplitMix64::new(seed);
    for at in (1..solved.len()).rev() {
        solved.swap(at, chance.below(at as u64 + 1) as usize);
    }
    Ok(solved.into_iter().take(count).collect())
}
