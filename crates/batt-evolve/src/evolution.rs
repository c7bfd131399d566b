//! The loop: breed, run, select, again, for all tasks at once.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use batt_arc::{Score, Task};
use batt_dsl::{Dialect, Limits};
use batt_engine::Cancel;
use batt_engine::Role;
use batt_engine::device::{Device, Prepared};
use batt_lang::Program;

use crate::brood::samples;
use crate::colony::{Colony, Generation, Individual, Shared};
use crate::credit::{Credit, Weights};
use crate::differ::Differs;
use crate::donors::{Donors, SeedSolver};
use crate::mutate::Kind;
use crate::stages::{Busy, Stage};
use crate::work::{DeviceWork, Tools, generation, in_parallel, lock};

/// Offspring of all colonies in a generation, if nobody says otherwise.
const OFFSPRING: usize = 1 << 17;

/// Generations between two exchanges: of the best between islands, and of solutions between tasks.
const EXCHANGE: u64 = 8;

/// Programs of a population that are told of, those that solve their task apart.
const TOLD: usize = 8;

/// How to evolve. The same settings, data and seed give the same run, on any number of threads and any device.
#[derive(Clone, Debug)]
pub struct EvolveSettings {
    /// What chance starts from.
    pub seed: u64,
    /// Populations of each task.
    pub islands: NonZeroUsize,
    /// Programs in a population.
    pub population: usize,
    /// Offspring of each colony in a generation; `None` for as many as make a good generation together.
    pub offspring: Option<NonZeroUsize>,
    /// How often each kind of change is tried.
    pub weights: Weights,
    /// Limits of a program on a demonstration. Steps, not time: the same everywhere.
    pub limits: Limits,
    /// Threads; `None` for one per core.
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

/// A program that has come into a population.
#[derive(Clone, Debug)]
pub struct FoundSolver {
    /// The task, by its position.
    pub task: usize,
    /// The program, called `solve`.
    pub program: Program,
    /// What it is worth.
    pub score: Score,
    /// A hash of its outputs on all demonstrations.
    pub outputs: u64,
    /// How it was made; none for a donor's own program.
    pub kind: Option<Kind>,
    /// What it was made from.
    pub parent: Option<Program>,
}

/// What some generations came to.
#[derive(Clone, Debug, Default)]
pub struct EvolveTally {
    /// Generations.
    pub generations: u64,
    /// Distinct programs that were run.
    pub offspring: u64,
    /// Runs: of each program on each demonstration, until it failed.
    pub runs: u64,
    /// Programs that failed on some demonstration.
    pub failed: u64,
    /// Programs with the outputs of another one.
    pub equal: u64,
    /// Programs that were made again, and not run again.
    pub repeated: u64,
    /// Programs that devices have run on all demonstrations; the others were run by cores.
    pub on_devices: u64,
    /// What the devices took.
    pub devices: DeviceWork,
    /// What the time of all threads went into.
    pub busy: Busy,
    /// Values that were computed to make programs from.
    pub parts: u64,
    /// What each kind of change did.
    pub credit: Credit,
    /// The time all this took.
    pub time: Duration,
}

impl EvolveTally {
    /// Adds what other generations came to.
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

/// One generation of all colonies.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// What it came to.
    pub tally: EvolveTally,
    /// Programs that are new among the best of a population, or solve their task; task by task, the best first.
    pub found: Vec<FoundSolver>,
    /// Was it cut short?
    pub stopped: bool,
}

/// Populations of many tasks.
pub struct Evolution<'t> {
    tasks: &'t [Task],
    dialect: Dialect,
    /// The donors that were given; solutions join them.
    given: Vec<SeedSolver>,
    /// Solutions that have joined them.
    solutions: Vec<SeedSolver>,
    shared: Shared,
    /// Those of all tasks, for devices, which keep them.
    samples: Prepared<'t>,
    colonies: Vec<Colony<'t>>,
}

/// The parameters that programs may have.
const PARAMS: [&[Role]; 3] = [
    &[Role::Input],
    &[Role::Samples, Role::Input],
    &[Role::Samples, Role::Input, Role::Comparison],
];

impl<'t> Evolution<'t> {
    /// Colonies for these tasks. Donors and differs of another dialect are left out.
    pub fn new(
        tasks: &'t [Task],
        dialect: Dialect,
        donors: Vec<SeedSolver>,
        differs: &[Program],
        settings: EvolveSettings,
    ) -> Evolution<'t> {
        let islands = settings.islands.get();
        let first = Donors::new(dialect, &donors, 0);
        let mut all_samples = Vec::new();
        let mut colonies = Vec::new();
        for task in tasks {
            let at = all_samples.len();
            all_samples.extend(samples(task));
            colonies.extend((0..islands).map(|island| Colony::new(task, at, island, &first)));
        }
        Evolution {
            tasks,
            dialect,
            samples: Prepared::new(&all_samples, PARAMS),
            colonies,
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

    /// The generation that comes next.
    pub fn generation(&self) -> u64 {
        self.shared.generation
    }

    /// How often each kind of change is tried now.
    pub fn weights(&self) -> &Weights {
        &self.shared.weights
    }

    /// From now on each kind of change is tried so often, whatever was learnt before.
    pub fn set_weights(&mut self, weights: Weights) {
        self.shared.weights = weights;
    }

    /// The best score of a task so far, by its position.
    pub fn best(&self, task: usize) -> Option<Score> {
        let scores = self.of_task(task).filter_map(|colony| colony.best());
        scores.map(|best| best.score).min()
    }

    /// The tasks.
    pub fn tasks(&self) -> &'t [Task] {
        self.tasks
    }

    /// The dialect of all programs.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The best programs of a task, of all islands.
    pub(crate) fn best_programs(&self, task: usize, count: usize) -> Vec<Program> {
        let colonies = self.of_task(task);
        let mut all: Vec<_> = colonies
            .flat_map(|colony| colony.population.iter().map(move |i| (i.score, colony, i)))
            .collect();
        all.sort_by_key(|(score, ..)| *score);
        let best = all.into_iter().take(count);
        best.map(|(_, colony, individual)| colony.program(individual))
            .collect()
    }

    /// Goes on at a generation.
    pub(crate) fn go_on(&mut self, generation: u64, weights: Weights) {
        self.shared.generation = generation;
        self.shared.weights = weights;
        self.share_solutions();
    }

    /// The best program of a task so far.
    pub fn best_program(&self, task: usize) -> Option<Program> {
        let bests = self.of_task(task).filter_map(|c| Some((c, c.best()?)));
        let (colony, best) = bests.max_by_key(|(_, best)| std::cmp::Reverse(best.score))?;
        Some(colony.program(best))
    }

    fn of_task(&self, task: usize) -> impl Iterator<Item = &Colony<'t>> {
        let islands = self.shared.settings.islands.get();
        self.colonies.iter().skip(task * islands).take(islands)
    }

    /// Are all tasks solved, and nothing simpler in sight?
    pub fn is_done(&self) -> bool {
        self.colonies.iter().all(Colony::is_done)
    }

    /// Takes programs into the populations of tasks, which are given by their positions.
    pub fn settle(&mut self, programs: &HashMap<usize, Vec<Program>>) {
        let islands = self.shared.settings.islands.get();
        let colonies: Vec<Mutex<&mut Colony<'t>>> =
            self.colonies.iter_mut().map(Mutex::new).collect();
        in_parallel(
            self.shared.settings.threads,
            colonies.len(),
            &Cancel::new(),
            |at, tools| {
                if let Some(programs) = programs.get(&(at / islands)) {
                    lock(&colonies[at]).settle(programs, &self.shared, tools);
                }
            },
        );
    }

    /// One more generation of all tasks that are not done, with the help of devices if there are any. Setting `stop` cuts it
    /// short: colonies that have not had their turn wait for the next one.
    pub fn round(&mut self, devices: &mut [Box<dyn Device>], stop: &Cancel) -> Round {
        let started = Instant::now();
        let mut active: Vec<&mut Colony<'t>> = self
            .colonies
            .iter_mut()
            .filter(|colony| !colony.is_done())
            .collect();
        // Whoever takes long begins first, so that the others do not wait for it in the end.
        active.sort_by_key(|colony| std::cmp::Reverse(colony.took));
        let count = self.shared.settings.offspring.map_or_else(
            || (OFFSPRING / active.len().max(1)).clamp(1024, 8192),
            NonZeroUsize::get,
        );
        let (generations, on_devices, busy) =
            generation(devices, &self.samples, active, count, &self.shared, stop);
        let ended = Instant::now();
        let mut round = Round::default();
        round.tally.devices = on_devices;
        round.tally.busy = busy;
        for generation in generations {
            match generation {
                Some(generation) => round.tally.add_generation(&generation),
                None => round.stopped = true,
            }
        }
        self.finish(&mut round);
        round.tally.busy.since(Stage::Between, ended);
        round.tally.generations = 1;
        round.tally.time = started.elapsed();
        round
    }

    /// Collects what was found, learns what paid, and lets islands and tasks learn from each other.
    fn finish(&mut self, round: &mut Round) {
        let islands = self.shared.settings.islands.get();
        for (at, colony) in self.colonies.iter_mut().enumerate() {
            let worth_telling = |(k, individual): (usize, &Individual)| {
                let told = individual.is_new && (k < TOLD || individual.score.is_solved());
                told.then_some(k)
            };
            let population = colony.population.iter().enumerate();
            let new: Vec<usize> = population.filter_map(worth_telling).collect();
            for k in new {
                colony.population[k].is_new = false;
                let individual = &colony.population[k];
                round.found.push(FoundSolver {
                    task: at / islands,
                    program: colony.program(individual),
                    score: individual.score,
                    outputs: individual.outputs,
                    kind: individual.kind,
                    parent: individual.parent.clone(),
                });
            }
        }
        self.shared.weights.learn(&round.tally.credit);
        self.shared.generation += 1;
        if self.shared.generation.is_multiple_of(EXCHANGE) {
            self.migrate();
            self.share_solutions();
        }
    }

    /// The best of each island go to the next one.
    fn migrate(&mut self) {
        let islands = self.shared.settings.islands.get();
        if islands < 2 {
            return;
        }
        for task in 0..self.tasks.len() {
            let best: Vec<Vec<Program>> = self
                .of_task(task)
                .map(|colony| {
                    let best = colony.population.iter().take(2);
                    best.map(|individual| colony.program(individual)).collect()
                })
                .collect();
            let mut tools = Tools::default();
            for (island, programs) in best.iter().enumerate() {
                let next = task * islands + (island + 1) % islands;
                self.colonies[next].settle(programs, &self.shared, &mut tools);
            }
        }
    }

    /// Solutions of tasks become donors for the others.
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
        // Whoever has learnt from them already need not begin again.
        if solutions == self.solutions {
            return;
        }
        let all: Vec<SeedSolver> = self.given.iter().chain(&solutions).cloned().collect();
        let edition = self.shared.donors.ground.edition() + 1;
        self.shared.donors = Donors::new(self.dialect, &all, edition);
        self.solutions = solutions;
    }
}
