//! The loop of evolution: breed, run and select, for all tasks at once.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use batt_arc::{Score, Task};
use batt_dsl::{Dialect, Limits};
use batt_engine::Cancel;
use batt_engine::Sample;
use batt_engine::device::{Device, Prepared};
use batt_lang::Program;

use crate::credit::{Credit, Weights};
use crate::devices::{DeviceWork, Devices, prepare};
use crate::differ::Differs;
use crate::donors::{Donors, SeedSolver};
use crate::generation::{Tools, generation, in_parallel, lock};
use crate::island::{Generation, Individual, Island, Shared};
use crate::mutate::MutationKind;
use crate::offspring::samples;
use crate::timing::{Stage, StageTimes};

/// The default number of offspring in a generation, over all islands.
const OFFSPRING: usize = 1 << 17;

/// Returns the default number of offspring of each of some islands in a generation.
pub(crate) fn offspring_by_default(islands: usize) -> usize {
    (OFFSPRING / islands.max(1)).clamp(1024, 8192)
}

/// The number of generations between two exchanges. An exchange copies the best programs between
/// islands and solutions between tasks.
const EXCHANGE_EVERY: u64 = 8;

/// The number of programs of a population that are reported, in addition to solutions.
const REPORTED: usize = 8;

/// Settings of evolution. The same settings, data and seed give the same results on any number of
/// threads and any device.
#[derive(Clone, Debug)]
pub struct EvolveSettings {
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of populations of each task.
    pub islands: NonZeroUsize,
    /// The number of programs in a population.
    pub population: usize,
    /// The number of offspring of each island in a generation; `None` divides 131,072 among the
    /// islands.
    pub offspring: Option<NonZeroUsize>,
    /// The weights of the kinds of mutation.
    pub weights: Weights,
    /// The limits of a program on a demonstration. They count steps, not time, so results are the
    /// same on every machine.
    pub limits: Limits,
    /// The number of threads; `None` uses one per core.
    pub threads: Option<NonZeroUsize>,
}

impl Default for EvolveSettings {
    fn default() -> EvolveSettings {
        EvolveSettings {
            seed: 0,
            islands: NonZeroUsize::MIN,
            population: 48,
            offspring: None,
            weights: Weights::default(),
            limits: Limits {
                steps: 1_000_000,
                ..Limits::default()
            },
            threads: None,
        }
    }
}

/// A program that entered a population.
#[derive(Clone, Debug)]
pub struct FoundSolver {
    /// The position of the task.
    pub task: usize,
    /// The program, named `solve`.
    pub program: Program,
    /// Its score.
    pub score: Score,
    /// A hash of its outputs on all demonstrations.
    pub outputs: u64,
    /// How the program was made: the name of a mutation, or [`FoundSolver::SEED`].
    pub origin: &'static str,
    /// The program from which it was made.
    pub parent: Option<Program>,
}

impl FoundSolver {
    /// The origin of a seed solver that was not changed.
    pub const SEED: &'static str = "donor";
}

/// Counts over some generations.
#[derive(Clone, Debug, Default)]
pub struct EvolveTally {
    /// The number of generations.
    pub generations: u64,
    /// The number of distinct programs that were run.
    pub offspring: u64,
    /// The number of runs: a program runs on each demonstration until it fails.
    pub runs: u64,
    /// The number of programs that failed on a demonstration.
    pub failed: u64,
    /// The number of programs with the same outputs as another one.
    pub equal: u64,
    /// The number of programs that had been made before, and were not run again.
    pub repeated: u64,
    /// The number of programs that devices ran on all demonstrations. The CPU ran the others.
    pub on_devices: u64,
    /// The work of the devices.
    pub devices: DeviceWork,
    /// The time of all threads by stage.
    pub busy: StageTimes,
    /// The number of values that were computed as parts for programs.
    pub parts: u64,
    /// The credit of each kind of mutation.
    pub credit: Credit,
    /// The elapsed time.
    pub time: Duration,
}

impl EvolveTally {
    /// Adds the counts of other generations.
    pub fn add(&mut self, other: &EvolveTally) {
        self.generations += other.generations;
        self.offspring += other.offspring;
        self.runs += other.runs;
        self.failed += other.failed;
        self.equal += other.equal;
        self.repeated += other.repeated;
        self.on_devices += other.on_devices;
        self.devices.add(&other.devices);
        self.busy.add(&other.busy);
        self.parts += other.parts;
        self.credit.add(&other.credit);
        self.time += other.time;
    }

    fn add_generation(&mut self, generation: &Generation) {
        self.offspring += generation.evaluated;
        self.runs += generation.runs;
        self.failed += generation.failed;
        self.equal += generation.equal;
        self.repeated += generation.repeated;
        self.on_devices += generation.on_devices;
        self.parts += generation.parts;
        self.credit.add(&generation.credit);
    }
}

/// The result of one generation of all islands.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// The counts of this generation.
    pub tally: EvolveTally,
    /// New programs that are among the best of a population or solve their task; task by task, the
    /// best first.
    pub found: Vec<FoundSolver>,
    /// Whether the generation was cut short.
    pub stopped: bool,
}

/// Populations of many tasks.
pub struct Evolution<'t> {
    tasks: &'t [Task],
    dialect: Dialect,
    /// The donors that the caller gave. Solutions of tasks are added to them.
    given: Vec<SeedSolver>,
    /// The solutions that were added as donors.
    solutions: Vec<SeedSolver>,
    shared: Shared,
    /// The demonstrations of all tasks, one after the other.
    samples: Vec<Sample<'t>>,
    /// The demonstrations encoded for devices, since the first use of a device. Devices keep them.
    prepared: Option<Prepared<'t>>,
    islands: Vec<Island<'t>>,
}

impl<'t> Evolution<'t> {
    /// Creates islands for these tasks. Donors and differs of another dialect are ignored.
    pub fn new(
        tasks: &'t [Task],
        dialect: Dialect,
        donors: Vec<SeedSolver>,
        differs: &[Program],
        settings: EvolveSettings,
    ) -> Evolution<'t> {
        let per_task = settings.islands.get();
        let first = Donors::new(dialect, &donors, 0);
        let mut all_samples = Vec::new();
        let mut islands = Vec::new();
        for task in tasks {
            let at = all_samples.len();
            all_samples.extend(samples(task));
            islands.extend((0..per_task).map(|island| Island::new(task, at, island, &first)));
        }
        Evolution {
            tasks,
            dialect,
            samples: all_samples,
            prepared: None,
            islands,
            shared: Shared {
                donors: first,
                differs: Differs::new(dialect, differs),
                weights: settings.weights.clone(),
                settings,
                generation: 0,
            },
            given: donors,
            solutions: Vec::new(),
        }
    }

    /// Returns the number of the next generation.
    pub fn generation(&self) -> u64 {
        self.shared.generation
    }

    /// Returns the current weights of the kinds of mutation.
    pub fn weights(&self) -> &Weights {
        &self.shared.weights
    }

    /// Replaces the weights of mutations, and forgets the credit so far.
    pub fn set_weights(&mut self, weights: Weights) {
        self.shared.weights = weights;
    }

    /// Returns the best score so far of the task at a position.
    pub fn best(&self, task: usize) -> Option<Score> {
        let scores = self.of_task(task).filter_map(|island| island.best());
        scores.map(|best| best.score).min()
    }

    /// Returns the tasks.
    pub fn tasks(&self) -> &'t [Task] {
        self.tasks
    }

    /// Returns the dialect of all programs.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the best programs of a task over all islands.
    pub(crate) fn best_programs(&self, task: usize, count: usize) -> Vec<Program> {
        let islands = self.of_task(task);
        let mut all: Vec<_> = islands
            .flat_map(|island| island.population.iter().map(move |i| (i.score, island, i)))
            .collect();
        all.sort_by_key(|(score, ..)| *score);
        let best = all.into_iter().take(count);
        best.map(|(_, island, individual)| island.program(individual))
            .collect()
    }

    /// Continues from a generation.
    pub(crate) fn continue_from(&mut self, generation: u64, weights: Weights) {
        self.shared.generation = generation;
        self.shared.weights = weights;
        self.share_solutions();
    }

    /// Returns the best program so far of the task at a position.
    pub fn best_program(&self, task: usize) -> Option<Program> {
        let bests = self.of_task(task).filter_map(|c| Some((c, c.best()?)));
        let (island, best) = bests.max_by_key(|(_, best)| std::cmp::Reverse(best.score))?;
        Some(island.program(best))
    }

    fn of_task(&self, task: usize) -> impl Iterator<Item = &Island<'t>> {
        let per_task = self.shared.settings.islands.get();
        self.islands.iter().skip(task * per_task).take(per_task)
    }

    /// Returns whether all tasks are solved and the search for simpler solutions has ended.
    pub fn is_done(&self) -> bool {
        self.islands.iter().all(Island::is_done)
    }

    /// Runs programs and takes the best into the populations of tasks, which are given by position.
    /// Cancelling leaves out the populations whose turn has not come.
    pub fn add_programs(&mut self, programs: &HashMap<usize, Vec<Program>>, cancel: &Cancel) {
        let per_task = self.shared.settings.islands.get();
        let islands: Vec<Mutex<&mut Island<'t>>> =
            self.islands.iter_mut().map(Mutex::new).collect();
        in_parallel(
            self.shared.settings.threads,
            islands.len(),
            cancel,
            |at, tools| {
                if let Some(programs) = programs.get(&(at / per_task)) {
                    lock(&islands[at]).add_programs(programs, &self.shared, tools);
                }
            },
        );
    }

    /// Evolves all tasks that are not done by one generation. Cancellation cuts the generation
    /// short at once; offspring that were not selected are bred again in the next one.
    pub fn round(&mut self, devices: &mut [Box<dyn Device>], stop: &Cancel) -> Round {
        let started = Instant::now();
        let mut active: Vec<&mut Island<'t>> = self
            .islands
            .iter_mut()
            .filter(|island| !island.is_done())
            .collect();
        // Slow islands start first, so that none of them runs alone at the end.
        active.sort_by_key(|island| std::cmp::Reverse(island.took));
        let count = self
            .shared
            .settings
            .offspring
            .map_or_else(|| offspring_by_default(active.len()), NonZeroUsize::get);
        let devices = match devices {
            [] => None,
            devices => {
                let samples = &self.samples;
                let prepared = self.prepared.get_or_insert_with(|| prepare(samples));
                Devices::new(
                    devices,
                    prepared,
                    active.len(),
                    &self.shared.settings.limits,
                )
            }
        };
        let bred = generation(devices.as_ref(), active, count, &self.shared, stop);
        let ended = Instant::now();
        let mut round = Round {
            stopped: bred.stopped,
            ..Round::default()
        };
        round.tally.devices = devices.map(|devices| devices.spent()).unwrap_or_default();
        round.tally.busy = bred.times;
        for generation in bred.generations.iter().flatten() {
            round.tally.add_generation(generation);
        }
        self.finish(&mut round, stop);
        round.tally.busy.since(Stage::Between, ended);
        round.tally.generations = 1;
        round.tally.time = started.elapsed();
        round
    }

    /// Collects the programs found, adapts the weights, and exchanges programs between islands and
    /// tasks.
    fn finish(&mut self, round: &mut Round, stop: &Cancel) {
        let islands = self.shared.settings.islands.get();
        for (at, island) in self.islands.iter_mut().enumerate() {
            let worth_telling = |(k, individual): (usize, &Individual)| {
                let told = individual.is_new && (k < REPORTED || individual.score.is_solved());
                told.then_some(k)
            };
            let population = island.population.iter().enumerate();
            let new: Vec<usize> = population.filter_map(worth_telling).collect();
            for k in new {
                island.population[k].is_new = false;
                let individual = &island.population[k];
                round.found.push(FoundSolver {
                    task: at / islands,
                    program: island.program(individual),
                    score: individual.score,
                    outputs: individual.outputs,
                    origin: individual
                        .kind
                        .map_or(FoundSolver::SEED, MutationKind::name),
                    parent: individual.parent.clone(),
                });
            }
        }
        self.shared.weights.learn(&round.tally.credit);
        self.shared.generation += 1;
        if self.shared.generation.is_multiple_of(EXCHANGE_EVERY) {
            self.migrate(stop);
            self.share_solutions();
        }
    }

    /// Copies the best programs of each island to the next island.
    fn migrate(&mut self, stop: &Cancel) {
        let islands = self.shared.settings.islands.get();
        if islands < 2 {
            return;
        }
        for task in 0..self.tasks.len() {
            let best: Vec<Vec<Program>> = self
                .of_task(task)
                .map(|island| {
                    let best = island.population.iter().take(2);
                    best.map(|individual| island.program(individual)).collect()
                })
                .collect();
            let mut tools = Tools::default();
            for (island, programs) in best.iter().enumerate() {
                if stop.is_cancelled() {
                    return;
                }
                let next = task * islands + (island + 1) % islands;
                self.islands[next].add_programs(programs, &self.shared, &mut tools);
            }
        }
    }

    /// Adds the solutions of all tasks to the donors.
    fn share_solutions(&mut self) {
        let mut solutions: Vec<SeedSolver> = Vec::new();
        for (at, task) in self.tasks.iter().enumerate() {
            let complete = self.best(at).is_some_and(|best| best.is_solved());
            if let Some(program) = complete.then(|| self.best_program(at)).flatten() {
                solutions.push(SeedSolver {
                    task: task.id.clone(),
                    program,
                });
            }
        }
        // A new edition of donors renews all gene pools, so it is only made if the solutions have
        // changed.
        if solutions == self.solutions {
            return;
        }
        let all: Vec<SeedSolver> = self.given.iter().chain(&solutions).cloned().collect();
        let edition = self.shared.donors.pool.edition() + 1;
        self.shared.donors = Donors::new(self.dialect, &all, edition);
        self.solutions = solutions;
    }
}
