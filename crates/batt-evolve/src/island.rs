//! The population of one task on one island.

use std::sync::Arc;
use std::time::{Duration, Instant};

use batt_arc::{Score, Task};
use batt_dsl::Workspace;
use batt_engine::{Cancel, Sample};
use batt_lang::Program;
use batt_lang::graph::Ref;
use batt_lang::types::TypeId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::credit::{Credit, Weights};
use crate::differ::Differs;
use crate::donors::Donors;
use crate::evolution::EvolveSettings;
use crate::gene_pool::GenePool;
use crate::generation::Tools;
use crate::mutate::{Assembly, Breeder, LARGEST, MutationKind};
use crate::offspring::{Child, Evaluation, Offspring, run_programs, samples};
use crate::parts::{OFFSPRING_PER_PART, PartIndex, Parts};
use crate::random::Chance;
use crate::score::WHOLE;
use crate::timing::Stage;
use crate::trial::try_on;

/// The cost of a donor's value as a part: the base, and the addition for each call in it. Both are
/// low, because the value has proved useful.
const DONOR_PART_COST: (u32, u32) = (4, 1);

/// The most steps that a program of a population may take on all demonstrations together, unless it
/// is a solution. Half of arc-dsl's solvers take 600 steps, and 98 of 100 take less than this. The
/// limit exists because offspring of expensive programs are expensive.
const EXPENSIVE: u64 = 64_000;

/// The number of hashes of tried programs that an island remembers, so that programs are not run
/// again.
const REMEMBERED: usize = 1 << 20;

/// The number of generations without progress after which most of a population is dropped.
const STAGNATION: u32 = 24;

/// A program of a population.
#[derive(Clone, Debug)]
pub(crate) struct Individual {
    pub root: Ref,
    pub outputs: u64,
    pub score: Score,
    /// Closeness on each demonstration.
    pub closeness: Vec<u32>,
    /// The mutation that made it, and the program from which it was made.
    pub kind: Option<MutationKind>,
    pub parent: Option<Program>,
    /// Whether it has not been reported yet.
    pub is_new: bool,
}

/// The counts of a generation of an island.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generation {
    pub evaluated: u64,
    pub runs: u64,
    pub failed: u64,
    /// Offspring with the same outputs as another program.
    pub equal: u64,
    pub repeated: u64,
    pub on_devices: u64,
    pub parts: u64,
    pub credit: Credit,
    pub improved: bool,
    /// Whether a cancellation prevented the refinement of some of the best offspring.
    pub is_cut_short: bool,
}

impl Generation {
    /// Adds the counts of the next pass of the same generation.
    pub fn add(&mut self, next: &Generation) {
        self.evaluated += next.evaluated;
        self.runs += next.runs;
        self.failed += next.failed;
        self.equal += next.equal;
        self.repeated += next.repeated;
        self.on_devices += next.on_devices;
        self.parts += next.parts;
        self.credit.add(&next.credit);
        self.improved |= next.improved;
        self.is_cut_short |= next.is_cut_short;
    }
}

/// The population of one task on one island.
pub(crate) struct Island<'t> {
    pub task: &'t Task,
    pub island: usize,
    samples: Vec<Sample<'t>>,
    /// The position of its first sample among those of all tasks.
    pub first_sample: usize,
    colours: Vec<u8>,
    /// The graph of the island's programs and parts.
    pool: Arc<GenePool>,
    pub population: Vec<Individual>,
    parts: Parts,
    seen: FxHashSet<u64>,
    /// The number of generations since the last progress.
    pub stagnant: u32,
    started: bool,
    /// The duration of the last generation. It only decides the order in which islands start.
    pub took: Duration,
}

/// The state that all islands share.
pub(crate) struct Shared {
    pub donors: Donors,
    pub differs: Differs,
    pub weights: Weights,
    pub settings: EvolveSettings,
    /// The number of the next generation.
    pub generation: u64,
}

impl<'t> Island<'t> {
    /// Creates an empty population of a task whose samples begin at position `first_sample`.
    pub fn new(task: &'t Task, first_sample: usize, island: usize, donors: &Donors) -> Island<'t> {
        let samples = samples(task);
        let mut colours: Vec<u8> = Vec::new();
        let grids = samples
            .iter()
            .flat_map(|s| [Some(s.input), s.expected, s.expected]);
        let mut counts = [0usize; 10];
        for grid in grids.flatten() {
            let mut here = [0usize; 10];
            for &cell in grid.cells() {
                here[usize::from(cell.min(9))] = 1;
            }
            (0..10).for_each(|c| counts[c] += here[c]);
        }
        for (colour, count) in counts.into_iter().enumerate() {
            colours.extend(std::iter::repeat_n(colour as u8, count));
        }
        Island {
            task,
            island,
            samples,
            first_sample,
            colours,
            pool: Arc::clone(&donors.pool),
            population: Vec::new(),
            parts: Parts::default(),
            seen: FxHashSet::default(),
            stagnant: 0,
            started: false,
            took: Duration::ZERO,
        }
    }

    /// Returns the demonstrations.
    pub fn samples(&self) -> &[Sample<'t>] {
        &self.samples
    }

    /// Returns the best program so far.
    pub fn best(&self) -> Option<&Individual> {
        self.population.first()
    }

    /// Returns whether the search has ended. After the first solution, the search for simpler ones
    /// continues for longer the larger the solution is, because a large program that fits a few
    /// demonstrations seldom generalises.
    pub fn is_done(&self) -> bool {
        let needed = |best: &Individual| (best.score.size * best.score.size / 2).clamp(2, 400);
        let complete = |best: &Individual| best.score.is_solved();
        let mut best = self.best().into_iter();
        self.samples.is_empty() || best.any(|b| complete(b) && self.stagnant >= needed(b))
    }

    /// Makes the offspring of a generation, or of one of its passes. The first offspring ever are
    /// the donors' programs, unchanged. Returns `None` if `cancel` is set meanwhile.
    pub fn breed(
        &mut self,
        shared: &Shared,
        count: usize,
        pass: usize,
        cancel: &Cancel,
        tools: &mut Tools,
    ) -> Option<Offspring> {
        let offspring = self.try_breed(shared, count, pass, cancel, tools);
        if offspring.is_none() {
            self.forget_bred();
        }
        offspring
    }

    /// Forgets offspring that were bred but never selected, so that they can be bred again.
    pub fn forget_bred(&mut self) {
        self.seen.clear();
    }

    fn try_breed(
        &mut self,
        shared: &Shared,
        count: usize,
        pass: usize,
        cancel: &Cancel,
        tools: &mut Tools,
    ) -> Option<Offspring> {
        let started = Instant::now();
        self.renew(&shared.donors);
        let pool = Arc::make_mut(&mut self.pool);
        let parts = &mut self.parts;
        if !self.started {
            parts.defer([(Ref::INPUT, 0)]);
            let (first, further) = DONOR_PART_COST;
            for value in shared.donors.all_values() {
                let size = pool.typed.graph.reach(value).len() as u32;
                parts.defer([(value, first + further * size)]);
            }
        }
        let started = tools.times.since(Stage::Breed, started);
        let computed = parts.compute(
            count / OFFSPRING_PER_PART,
            &pool.typed,
            &self.samples,
            &mut tools.worker,
            &shared.settings.limits,
            cancel,
        )?;
        let started = tools.times.since(Stage::Parts, started);
        let purpose = [
            shared.settings.seed,
            name_hash(&self.task.id),
            self.island as u64,
            shared.generation,
            pass as u64,
        ];
        // The usual single pass is left out, so the random choices do not depend on the number of
        // passes.
        let purpose = &purpose[..purpose.len() - usize::from(pass == 0)];
        let GenePool {
            typed, functions, ..
        } = pool;
        let mut breeder = Breeder {
            parts: PartIndex::new(typed, &parts.ready),
            assembly: Assembly::new(&parts.ready, typed.graph.len(), &shared.donors),
            typed,
            functions,
            chance: Chance::new(purpose),
            donors: &shared.donors,
            population: self.population.iter().map(|i| i.root).collect(),
            colours: &self.colours,
            largest: LARGEST,
            nodes: Vec::new(),
        };
        let mut made = OffspringBuilder {
            seen: &mut self.seen,
            children: Vec::with_capacity(count),
            repeated: 0,
            tried: [0; MutationKind::ALL.len()],
        };
        if !self.started {
            let programs = shared.donors.programs.iter();
            let grids = shared.donors.values(TypeId::GRID);
            let roots = programs.chain(grids).chain([&Ref::INPUT]);
            for &root in roots {
                made.add(&mut breeder, Child::unchanged(root));
            }
        }
        let weights = &shared.weights;
        made.breed(&mut breeder, weights, count, self.stagnant, cancel)?;
        for &(at, groups) in &breeder.assembly.expanded {
            parts.ready[at].expanded = groups;
        }
        let values = std::mem::take(&mut breeder.assembly.values);
        let graph = &breeder.typed.graph;
        parts.defer(
            values
                .into_iter()
                .filter(|(value, _)| made.is_new(graph.hash(*value))),
        );
        let OffspringBuilder {
            children,
            repeated,
            tried,
            ..
        } = made;
        tools.times.since(Stage::Breed, started);
        Some(Offspring {
            pool: Arc::clone(&self.pool),
            children,
            repeated,
            tried,
            computed,
        })
    }

    /// Adds the best offspring to the population, and new parts to the parts. If `cancel` is set
    /// meanwhile, fewer offspring are refined.
    pub fn select(
        &mut self,
        offspring: &Offspring,
        evaluations: &[Evaluation],
        shared: &Shared,
        cancel: &Cancel,
        tools: &mut Tools,
    ) -> Generation {
        let started = Instant::now();
        let mut generation = Generation {
            evaluated: evaluations.len() as u64,
            repeated: offspring.repeated,
            ..Generation::default()
        };
        generation.credit.tried = offspring.tried;
        for evaluation in evaluations {
            generation.failed += u64::from(evaluation.failed);
            generation.runs += evaluation.closeness.len() as u64 + u64::from(evaluation.failed);
        }
        let chosen = self.choose(
            offspring,
            evaluations,
            shared.settings.population.max(1),
            &mut generation,
        );
        let started = tools.times.since(Stage::Select, started);
        let mut refined = Vec::with_capacity(chosen.len());
        for at in chosen {
            if cancel.is_cancelled() {
                generation.is_cut_short = true;
                break;
            }
            refined.extend(self.refine(offspring, at, shared, &mut tools.workspace));
        }
        let started = tools.times.since(Stage::Refine, started);
        let before = self.best().map(|best| best.score);
        for individual in &refined {
            self.credit(individual, before, &mut generation);
        }
        self.is_improved(&refined, before, &mut generation);
        generation.parts = offspring.computed as u64;
        for (child, evaluation) in offspring.children.iter().zip(evaluations) {
            if let Some(cost) = child.cost.filter(|_| !evaluation.failed) {
                self.parts.admit(child.root, cost, evaluation.outputs);
            }
        }
        self.keep(refined, shared.settings.population.max(1));
        self.started = true;
        tools.times.since(Stage::Select, started);
        generation
    }

    /// Chooses the offspring to refine: those that would be among the best, one for each set of
    /// outputs. All solutions have the same outputs but may answer the tests differently, so each
    /// of them is chosen.
    fn choose(
        &self,
        offspring: &Offspring,
        evaluations: &[Evaluation],
        population: usize,
        generation: &mut Generation,
    ) -> Vec<usize> {
        let sizes = |at: usize| offspring.children[at].size;
        let mut known: FxHashMap<u64, u32> = self
            .population
            .iter()
            .map(|individual| (individual.outputs, individual.score.size))
            .collect();
        let mut best: FxHashMap<u64, usize> = FxHashMap::default();
        let worst = match self.population.len() >= population {
            true => self.population.last().map(|individual| individual.score),
            false => None,
        };
        for (at, evaluation) in evaluations.iter().enumerate() {
            if evaluation.failed {
                continue;
            }
            let hopeless = worst.is_some_and(|worst| {
                evaluation.solved < worst.demos_solved
                    || evaluation.solved == worst.demos_solved
                        && evaluation.mean().saturating_add(WHOLE / 10) < worst.closeness
            });
            let outputs = match evaluation.solved as usize == self.samples.len() {
                true => offspring.pool.typed.graph.hash(offspring.children[at].root),
                false => evaluation.outputs,
            };
            match known.get_mut(&outputs) {
                Some(size) => {
                    generation.equal += 1;
                    let own = sizes(at);
                    if own < *size {
                        *size = own;
                        best.insert(outputs, at);
                    }
                }
                None if hopeless => {}
                None => {
                    known.insert(outputs, sizes(at));
                    best.insert(outputs, at);
                }
            }
        }
        let mut chosen: Vec<usize> = best.into_values().collect();
        let rank = |&at: &usize| {
            let evaluation = &evaluations[at];
            let worth = std::cmp::Reverse((evaluation.solved, evaluation.mean()));
            (worth, sizes(at), at)
        };
        chosen.sort_by_cached_key(rank);
        chosen.truncate(population);
        chosen
    }

    /// Refines the result of a child with its size, cost, colours and differs. Returns `None` if
    /// the child fails when run alone, or is too expensive.
    fn refine(
        &self,
        offspring: &Offspring,
        at: usize,
        shared: &Shared,
        workspace: &mut Workspace,
    ) -> Option<Individual> {
        let child = offspring.children[at];
        let program = offspring.pool.typed.graph.program(child.root, "solve");
        let trial = try_on(
            &program,
            self.task,
            &self.samples,
            &shared.differs,
            workspace,
        );
        // A solution that fails on a test is useless, and an expensive program would have expensive
        // offspring.
        let expensive = trial.score.cost > EXPENSIVE && !trial.score.is_solved();
        if trial.failed > 0 || expensive {
            return None;
        }
        let parent = child.parent.map(|parent| {
            let root = self.population[parent].root;
            offspring.pool.typed.graph.program(root, "solve")
        });
        Some(Individual {
            root: child.root,
            outputs: trial.outputs,
            score: trial.score,
            closeness: trial.closeness,
            kind: child.kind,
            parent,
            is_new: true,
        })
    }

    /// Credits the kind of mutation if the program is better than the median of the population, or
    /// better than the best program.
    fn credit(&self, new: &Individual, best: Option<Score>, generation: &mut Generation) {
        let Some(kind) = new.kind else { return };
        let median = self.population.get(self.population.len() / 2);
        let better = median.is_none_or(|median| new.score < median.score);
        let credit = match best {
            Some(best) if is_progress(&new.score, &best) => 10,
            _ => u64::from(better),
        };
        generation.credit.paid[kind.index()] += credit;
    }

    fn is_improved(
        &mut self,
        refined: &[Individual],
        before: Option<Score>,
        generation: &mut Generation,
    ) {
        let best = refined.iter().map(|individual| individual.score).min();
        generation.improved = match (best, before) {
            (Some(best), Some(before)) => best < before,
            (best, None) => best.is_some(),
            (None, _) => false,
        };
        self.stagnant = match generation.improved {
            true => 0,
            false => self.stagnant + 1,
        };
    }

    /// Replaces the population by the best of old and new programs.
    fn keep(&mut self, refined: Vec<Individual>, population: usize) {
        let mut all = std::mem::take(&mut self.population);
        all.extend(refined);
        all.sort_by_key(|individual| (individual.score, individual.root));
        let mut outputs = FxHashSet::default();
        all.retain(|individual| outputs.insert(individual.outputs));
        let shaken = self.stagnant > 0 && self.stagnant.is_multiple_of(STAGNATION);
        let mut next = survivors(all, population);
        if shaken {
            // The best programs stay; the others make room for different programs, even worse ones.
            next.truncate((population / 4).max(1));
        }
        self.population = next;
    }

    /// Returns a program of the population.
    pub fn program(&self, individual: &Individual) -> Program {
        self.pool.typed.graph.program(individual.root, "solve")
    }

    /// Runs programs and adds the best of them to the population.
    pub fn add_programs(&mut self, programs: &[Program], shared: &Shared, tools: &mut Tools) {
        self.renew(&shared.donors);
        let typed = &mut Arc::make_mut(&mut self.pool).typed;
        let mut children = Vec::new();
        for program in programs {
            if let Some(root) = typed.add_program(program) {
                children.push(Child {
                    size: typed.graph.reach(root).len() as u32,
                    ..Child::unchanged(root)
                });
            }
        }
        let offspring = Offspring {
            pool: Arc::clone(&self.pool),
            children,
            repeated: 0,
            tried: [0; MutationKind::ALL.len()],
            computed: 0,
        };
        let (started, stagnant) = (self.started, self.stagnant);
        let roots: Vec<Ref> = offspring.children.iter().map(|o| o.root).collect();
        let (typed, limits) = (&offspring.pool.typed, &shared.settings.limits);
        let (samples, never) = (&self.samples, Cancel::new());
        let evaluations = run_programs(typed, &roots, samples, tools, Stage::Run, limits, &never);
        let evaluations = evaluations.unwrap_or_default();
        let generation = self.select(&offspring, &evaluations, shared, &never, tools);
        self.started = started;
        if !generation.improved {
            self.stagnant = stagnant;
        }
    }

    /// Renews the gene pool if it has grown too much, or if there are new donors.
    fn renew(&mut self, donors: &Donors) {
        if self.pool.is_current(&donors.pool) {
            return;
        }
        let (population, parts) = (&mut self.population, &mut self.parts);
        let pool = self.pool.renewed(&donors.pool, |import| {
            for individual in population {
                individual.root = import(individual.root);
            }
            parts.move_to(import);
        });
        self.pool = Arc::new(pool);
    }
}

/// Returns whether a score is better in more than size and cost.
fn is_progress(new: &Score, old: &Score) -> bool {
    new.grade() < old.grade()
}

/// Selects the survivors: the best programs, and for each demonstration the program that is closest
/// to it.
fn survivors(sorted: Vec<Individual>, population: usize) -> Vec<Individual> {
    if sorted.len() <= population {
        return sorted;
    }
    let demos = sorted[0].closeness.len();
    let by_score = population - (population / 4).min(demos);
    let mut stays = vec![false; sorted.len()];
    stays[..by_score].fill(true);
    for demo in 0..demos.min(population / 4) {
        let close = |at: &usize| sorted[*at].closeness.get(demo).copied().unwrap_or_default();
        let rest = (0..sorted.len()).filter(|&at| !stays[at]);
        if let Some(at) = rest.max_by_key(|at| (close(at), std::cmp::Reverse(*at))) {
            stays[at] = true;
        }
    }
    let mut at = 0;
    let mut sorted = sorted;
    sorted.retain(|_| {
        at += 1;
        stays[at - 1]
    });
    sorted.truncate(population);
    sorted
}

/// The offspring of a pass while they are made.
struct OffspringBuilder<'s> {
    seen: &'s mut FxHashSet<u64>,
    children: Vec<Child>,
    repeated: u64,
    tried: [u64; MutationKind::ALL.len()],
}

impl OffspringBuilder<'_> {
    fn add(&mut self, breeder: &mut Breeder<'_>, child: Child) -> bool {
        let new = self.is_new(breeder.typed.graph.hash(child.root));
        match new {
            true => self.children.push(Child {
                size: breeder.size(child.root) as u32,
                ..child
            }),
            false => self.repeated += 1,
        }
        new
    }

    /// Returns whether a hash is not remembered yet, and remembers it.
    fn is_new(&mut self, hash: u64) -> bool {
        if self.seen.len() >= REMEMBERED {
            self.seen.clear();
        }
        self.seen.insert(hash)
    }

    /// Makes `count` children, or fewer if too many tries fail. Returns `None` if `cancel` is set
    /// meanwhile.
    fn breed(
        &mut self,
        breeder: &mut Breeder<'_>,
        weights: &Weights,
        count: usize,
        stagnant: u32,
        cancel: &Cancel,
    ) -> Option<()> {
        let sums = weights.sums();
        let goal = self.children.len() + count;
        // A stagnant island makes larger changes.
        let again = if stagnant > STAGNATION / 2 {
            0.45
        } else {
            0.25
        };
        for tries in 0..count * 4 {
            if self.children.len() >= goal {
                break;
            }
            if tries % 64 == 0 && cancel.is_cancelled() {
                return None;
            }
            let kind = Weights::choose(&sums, &mut breeder.chance);
            let child = match kind {
                MutationKind::Assemble => breeder.assemble().map(|(root, cost)| Child {
                    kind: Some(kind),
                    cost: Some(cost),
                    ..Child::unchanged(root)
                }),
                _ => mutated(breeder, kind, &sums, again),
            };
            if let Some(child) = child
                && self.add(breeder, child)
            {
                self.tried[kind.index()] += 1;
            }
        }
        Some(())
    }
}

/// Makes a program by one or a few mutations.
fn mutated(
    breeder: &mut Breeder<'_>,
    kind: MutationKind,
    sums: &[f64],
    again: f64,
) -> Option<Child> {
    let at = breeder.chance.low(breeder.population.len());
    let parent = breeder.population.get(at).copied();
    let root = match kind.has_parent() {
        true => parent?,
        false => Ref::INPUT,
    };
    let child = breeder.change(kind, root, sums, again)?;
    Some(Child {
        kind: Some(kind),
        parent: kind.has_parent().then_some(at),
        ..Child::unchanged(child)
    })
}

/// Returns a stable hash of a name.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
