//! The population of one task on one island.

use std::sync::Arc;
use std::time::{Duration, Instant};

use batt_arc::{Score, Task};
use batt_dsl::Workspace;
use batt_engine::Sample;
use batt_lang::Program;
use batt_lang::graph::Ref;
use batt_lang::types::TypeId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::brood::{Brood, Offspring, Outcome, run_programs, samples};
use crate::credit::{Credit, Weights};
use crate::differ::Differs;
use crate::donors::Donors;
use crate::evolution::EvolveSettings;
use crate::ground::Ground;
use crate::mutate::{Assembly, Breeder, Kind, LARGEST};
use crate::parts::{OFFSPRING_A_PART, PartIndex, Parts};
use crate::random::Chance;
use crate::score::WHOLE;
use crate::stages::Stage;
use crate::trial::try_on;
use crate::work::Tools;

/// What a part costs that a donor computes, and what each further call in it adds: somebody found it useful.
const DONATED: (u32, u32) = (4, 1);

/// What a program may cost on all demonstrations together to be in a population, unless it is a solution. Of arc-dsl's
/// solvers half take 600 steps, and 98 of 100 no more than this. Offspring of dear programs are dear.
const DEAR: u64 = 64_000;

/// Hashes of programs that are remembered, so that they are not run again.
const REMEMBERED: usize = 1 << 20;

/// Generations without progress after which a colony is shaken up.
const PATIENCE: u32 = 24;

/// A program of a population.
#[derive(Clone, Debug)]
pub(crate) struct Individual {
    pub root: Ref,
    pub outputs: u64,
    pub score: Score,
    /// Closeness on each demonstration.
    pub closeness: Vec<u32>,
    /// How it was made, and from which programs.
    pub kind: Option<Kind>,
    pub parent: Option<Program>,
    /// Has nobody been told of it yet?
    pub is_new: bool,
}

/// What a generation of a colony came to.
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
}

/// The population of one task on one island.
pub(crate) struct Colony<'t> {
    pub task: &'t Task,
    pub island: usize,
    samples: Vec<Sample<'t>>,
    /// The number of the first of them among those of all tasks.
    pub first_sample: usize,
    colours: Vec<u8>,
    /// Where programs and parts are.
    ground: Arc<Ground>,
    pub population: Vec<Individual>,
    parts: Parts,
    seen: FxHashSet<u64>,
    /// Generations since the last progress.
    pub stagnant: u32,
    started: bool,
    /// How long the last generation took: whoever takes long begins first. Nothing else depends on it.
    pub took: Duration,
}

/// What every colony needs.
pub(crate) struct Shared {
    pub donors: Donors,
    pub differs: Differs,
    pub weights: Weights,
    pub settings: EvolveSettings,
    /// The generation that comes next.
    pub generation: u64,
}

impl<'t> Colony<'t> {
    /// The population of a task whose samples begin at a number.
    pub fn new(task: &'t Task, first_sample: usize, island: usize, donors: &Donors) -> Colony<'t> {
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
        Colony {
            task,
            island,
            samples,
            first_sample,
            colours,
            ground: Arc::clone(&donors.ground),
            population: Vec::new(),
            parts: Parts::default(),
            seen: FxHashSet::default(),
            stagnant: 0,
            started: false,
            took: Duration::ZERO,
        }
    }

    /// The demonstrations.
    pub fn samples(&self) -> &[Sample<'t>] {
        &self.samples
    }

    /// The best score so far.
    pub fn best(&self) -> Option<&Individual> {
        self.population.first()
    }

    /// Is nothing left to do? After the first solution simpler ones are looked for, the longer the larger it is: a large
    /// program that fits a few demonstrations is seldom right about anything else.
    pub fn is_done(&self) -> bool {
        let patience = |best: &Individual| (best.score.size * best.score.size / 2).clamp(2, 400);
        let complete = |best: &Individual| best.score.is_solved();
        let mut best = self.best().into_iter();
        self.samples.is_empty() || best.any(|b| complete(b) && self.stagnant >= patience(b))
    }

    /// Makes the offspring of a generation. The first are the donors' programs as they are.
    pub fn breed(&mut self, shared: &Shared, count: usize, tools: &mut Tools) -> Brood {
        let started = Instant::now();
        self.renew(&shared.donors);
        let ground = Arc::make_mut(&mut self.ground);
        let parts = &mut self.parts;
        if !self.started {
            parts.wait([(Ref::INPUT, 0)]);
            let (first, further) = DONATED;
            for value in shared.donors.all_values() {
                let size = ground.typed.graph.reach(value).len() as u32;
                parts.wait([(value, first + further * size)]);
            }
        }
        let started = tools.busy.since(Stage::Breed, started);
        let computed = parts.compute(
            count / OFFSPRING_A_PART,
            &ground.typed,
            &self.samples,
            &mut tools.worker,
            &shared.settings.limits,
        );
        let started = tools.busy.since(Stage::Parts, started);
        let purpose = [
            shared.settings.seed,
            name_hash(&self.task.id),
            self.island as u64,
            shared.generation,
        ];
        let Ground {
            typed, functions, ..
        } = ground;
        let mut breeder = Breeder {
            parts: PartIndex::new(typed, &parts.ready),
            assembly: Assembly::new(&parts.ready, typed.graph.len(), &shared.donors),
            typed,
            functions,
            chance: Chance::new(&purpose),
            donors: &shared.donors,
            population: self.population.iter().map(|i| i.root).collect(),
            colours: &self.colours,
            largest: LARGEST,
            nodes: Vec::new(),
        };
        let mut made = Made {
            seen: &mut self.seen,
            offspring: Vec::with_capacity(count),
            repeated: 0,
            tried: [0; Kind::ALL.len()],
        };
        if !self.started {
            let programs = shared.donors.programs.iter();
            let grids = shared.donors.values(TypeId::GRID);
            let roots = programs.chain(grids).chain([&Ref::INPUT]);
            for &root in roots {
                made.add(&mut breeder, Offspring::as_it_is(root));
            }
        }
        made.breed(&mut breeder, &shared.weights, count, self.stagnant);
        for &(at, groups) in &breeder.assembly.expanded {
            parts.ready[at].expanded = groups;
        }
        let values = std::mem::take(&mut breeder.assembly.values);
        let graph = &breeder.typed.graph;
        parts.wait(
            values
                .into_iter()
                .filter(|(value, _)| made.is_new(graph.hash(*value))),
        );
        let Made {
            offspring,
            repeated,
            tried,
            ..
        } = made;
        tools.busy.since(Stage::Breed, started);
        Brood {
            ground: Arc::clone(&self.ground),
            offspring,
            repeated,
            tried,
            computed,
        }
    }

    /// Takes the best of a brood and its new parts into the colony.
    pub fn select(
        &mut self,
        brood: &Brood,
        outcomes: &[Outcome],
        shared: &Shared,
        tools: &mut Tools,
    ) -> Generation {
        let started = Instant::now();
        let mut generation = Generation {
            evaluated: outcomes.len() as u64,
            repeated: brood.repeated,
            ..Generation::default()
        };
        generation.credit.tried = brood.tried;
        for outcome in outcomes {
            generation.failed += u64::from(outcome.failed);
            generation.runs += outcome.closeness.len() as u64 + u64::from(outcome.failed);
        }
        let chosen = self.choose(
            brood,
            outcomes,
            shared.settings.population.max(1),
            &mut generation,
        );
        let started = tools.busy.since(Stage::Select, started);
        let refined: Vec<Individual> = chosen
            .into_iter()
            .filter_map(|at| self.refine(brood, at, shared, &mut tools.workspace))
            .collect();
        let started = tools.busy.since(Stage::Refine, started);
        let before = self.best().map(|best| best.score);
        for individual in &refined {
            self.credit(individual, before, &mut generation);
        }
        self.is_improved(&refined, before, &mut generation);
        generation.parts = brood.computed as u64;
        for (offspring, outcome) in brood.offspring.iter().zip(outcomes) {
            if let Some(cost) = offspring.cost.filter(|_| !outcome.failed) {
                self.parts.admit(offspring.root, cost, outcome.outputs);
            }
        }
        self.keep(refined, shared.settings.population.max(1));
        self.started = true;
        tools.busy.since(Stage::Select, started);
        generation
    }

    /// The offspring worth a closer look: those that would be among the best, one for each set of outputs. Solutions have
    /// the same outputs all, and may still answer the tests differently: each of them is worth it.
    fn choose(
        &self,
        brood: &Brood,
        outcomes: &[Outcome],
        population: usize,
        generation: &mut Generation,
    ) -> Vec<usize> {
        let sizes = |at: usize| brood.offspring[at].size;
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
        for (at, outcome) in outcomes.iter().enumerate() {
            if outcome.failed {
                continue;
            }
            let hopeless = worst.is_some_and(|worst| {
                outcome.solved < worst.demos_solved
                    || outcome.solved == worst.demos_solved
                        && outcome.mean().saturating_add(WHOLE / 10) < worst.closeness
            });
            let outputs = match outcome.solved as usize == self.samples.len() {
                true => brood.ground.typed.graph.hash(brood.offspring[at].root),
                false => outcome.outputs,
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
            let outcome = &outcomes[at];
            let worth = std::cmp::Reverse((outcome.solved, outcome.mean()));
            (worth, sizes(at), at)
        };
        chosen.sort_by_cached_key(rank);
        chosen.truncate(population);
        chosen
    }

    /// A closer look at an offspring: size, cost, colours and what differs say. None if alone it fails.
    fn refine(
        &self,
        brood: &Brood,
        at: usize,
        shared: &Shared,
        workspace: &mut Workspace,
    ) -> Option<Individual> {
        let offspring = brood.offspring[at];
        let program = brood.ground.typed.graph.program(offspring.root, "solve");
        let trial = try_on(
            &program,
            self.task,
            &self.samples,
            &shared.differs,
            workspace,
        );
        // A solution without an answer is none, and what is dear and no solution would have dear offspring.
        let dear = trial.score.cost > DEAR && !trial.score.is_solved();
        if trial.failed > 0 || dear {
            return None;
        }
        let parent = offspring.parent.map(|parent| {
            let root = self.population[parent].root;
            brood.ground.typed.graph.program(root, "solve")
        });
        Some(Individual {
            root: offspring.root,
            outputs: trial.outputs,
            score: trial.score,
            closeness: trial.closeness,
            kind: offspring.kind,
            parent,
            is_new: true,
        })
    }

    /// Credits the kind of change that made a program better than the median of the population, or the best of all.
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

    /// Makes the next population.
    fn keep(&mut self, refined: Vec<Individual>, population: usize) {
        let mut all = std::mem::take(&mut self.population);
        all.extend(refined);
        all.sort_by_key(|individual| (individual.score, individual.root));
        let mut outputs = FxHashSet::default();
        all.retain(|individual| outputs.insert(individual.outputs));
        let shaken = self.stagnant > 0 && self.stagnant.is_multiple_of(PATIENCE);
        let mut next = survivors(all, population);
        if shaken {
            // The best stay; the others make room for what is less good but different.
            next.truncate((population / 4).max(1));
        }
        self.population = next;
    }

    /// A program of the population.
    pub fn program(&self, individual: &Individual) -> Program {
        self.ground.typed.graph.program(individual.root, "solve")
    }

    /// Takes programs in as they are, to be run in the next generation.
    pub fn settle(&mut self, programs: &[Program], shared: &Shared, tools: &mut Tools) {
        self.renew(&shared.donors);
        let typed = &mut Arc::make_mut(&mut self.ground).typed;
        let mut offspring = Vec::new();
        for program in programs {
            if let Some(root) = typed.add_program(program) {
                offspring.push(Offspring {
                    size: typed.graph.reach(root).len() as u32,
                    ..Offspring::as_it_is(root)
                });
            }
        }
        let brood = Brood {
            ground: Arc::clone(&self.ground),
            offspring,
            repeated: 0,
            tried: [0; Kind::ALL.len()],
            computed: 0,
        };
        let (started, stagnant) = (self.started, self.stagnant);
        let roots: Vec<Ref> = brood.offspring.iter().map(|o| o.root).collect();
        let (typed, limits) = (&brood.ground.typed, &shared.settings.limits);
        let outcomes = run_programs(typed, &roots, &self.samples, tools, Stage::Run, limits);
        let generation = self.select(&brood, &outcomes, shared, tools);
        self.started = started;
        if !generation.improved {
            self.stagnant = stagnant;
        }
    }

    /// Leaves behind what nobody needs, if there is much of it, and goes over to other donors if there are others.
    fn renew(&mut self, donors: &Donors) {
        if self.ground.is_good(&donors.ground) {
            return;
        }
        let (population, parts) = (&mut self.population, &mut self.parts);
        let ground = self.ground.renewed(&donors.ground, |import| {
            for individual in population {
                individual.root = import(individual.root);
            }
            parts.move_to(import);
        });
        self.ground = Arc::new(ground);
    }
}

/// Is a score better by more than size and cost?
fn is_progress(new: &Score, old: &Score) -> bool {
    new.grade() < old.grade()
}

/// Who lives on: the best, and for each demonstration the one that is closest to it.
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

/// Offspring in the making.
struct Made<'s> {
    seen: &'s mut FxHashSet<u64>,
    offspring: Vec<Offspring>,
    repeated: u64,
    tried: [u64; Kind::ALL.len()],
}

impl Made<'_> {
    fn add(&mut self, breeder: &mut Breeder<'_>, offspring: Offspring) -> bool {
        let new = self.is_new(breeder.typed.graph.hash(offspring.root));
        match new {
            true => self.offspring.push(Offspring {
                size: breeder.size(offspring.root) as u32,
                ..offspring
            }),
            false => self.repeated += 1,
        }
        new
    }

    /// Has nothing with this hash been made before, as far as is remembered?
    fn is_new(&mut self, hash: u64) -> bool {
        if self.seen.len() >= REMEMBERED {
            self.seen.clear();
        }
        self.seen.insert(hash)
    }

    fn breed(&mut self, breeder: &mut Breeder<'_>, weights: &Weights, count: usize, stagnant: u32) {
        let sums = weights.sums();
        let goal = self.offspring.len() + count;
        // A colony that does not get on takes larger steps.
        let again = if stagnant > PATIENCE / 2 { 0.45 } else { 0.25 };
        for _ in 0..count * 4 {
            if self.offspring.len() >= goal {
                return;
            }
            let kind = Weights::choose(&sums, &mut breeder.chance);
            let offspring = match kind {
                Kind::Assemble => breeder.assemble().map(|(root, cost)| Offspring {
                    kind: Some(kind),
                    cost: Some(cost),
                    ..Offspring::as_it_is(root)
                }),
                _ => changed(breeder, kind, &sums, again),
            };
            if let Some(offspring) = offspring
                && self.add(breeder, offspring)
            {
                self.tried[kind.index()] += 1;
            }
        }
    }
}

/// A program changed once or a few times.
fn changed(breeder: &mut Breeder<'_>, kind: Kind, sums: &[f64], again: f64) -> Option<Offspring> {
    let at = breeder.chance.low(breeder.population.len());
    let parent = breeder.population.get(at).copied();
    let root = match kind.has_parent() {
        true => parent?,
        false => Ref::INPUT,
    };
    let child = breeder.change(kind, root, sums, again)?;
    Some(Offspring {
        kind: Some(kind),
        parent: kind.has_parent().then_some(at),
        ..Offspring::as_it_is(child)
    })
}

/// A number for a name, the same every time.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
