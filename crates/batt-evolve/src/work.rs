//! Who does the work: cores, and cards where there are any.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use batt_dsl::Workspace;
use batt_engine::device::{Card, Left, Prepared, Score, ScoreOptions, Times, score_jobs};
use batt_engine::{Compiled, GraphWorker, Role, Sample};

use crate::brood::{Brood, Outcome};
use crate::colony::{Colony, Generation, Shared};
use crate::score::closeness;

/// Offspring that cards are given at a time. While they run those, cores breed the next and select from the last.
const CARD_LOAD: usize = 1 << 16;

/// What a thread works with.
#[derive(Default)]
pub(crate) struct Tools {
    pub worker: GraphWorker,
    pub workspace: Workspace,
}

/// The lock, also of somebody who panicked: what it guards is replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does work number 0, 1, ... on all threads, until it is done or `stop` is set.
pub(crate) fn in_parallel(
    threads: Option<NonZeroUsize>,
    count: usize,
    stop: &AtomicBool,
    work: impl Fn(usize, &mut Tools) + Sync,
) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or(cores, NonZeroUsize::get).min(count).max(1);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut tools = Tools::default();
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    work(at, &mut tools);
                }
            });
        }
    });
}

/// A generation of some colonies, on cores alone. None for a colony that had no turn.
pub(crate) fn on_cores(
    colonies: Vec<&mut Colony<'_>>,
    count: usize,
    shared: &Shared<'_>,
    stop: &AtomicBool,
) -> Vec<Option<Generation>> {
    let settings = shared.settings;
    let colonies: Vec<_> = colonies
        .into_iter()
        .map(|c| Mutex::new((c, None)))
        .collect();
    in_parallel(settings.threads, colonies.len(), stop, |at, tools| {
        let started = Instant::now();
        let mut guard = lock(&colonies[at]);
        let (colony, generation) = &mut *guard;
        let brood = colony.breed(shared, count, tools);
        let outcomes = colony.run(&brood, None, &mut tools.worker, &settings.limits);
        *generation = Some(colony.select(brood, &outcomes, shared, tools));
        colony.took = started.elapsed();
    });
    let generation = |colony: Mutex<(_, Option<Generation>)>| {
        let inner = colony.into_inner();
        inner.unwrap_or_else(PoisonError::into_inner).1
    };
    colonies.into_iter().map(generation).collect()
}

/// A colony on its way through a generation.
struct Turn<'c, 't> {
    colony: &'c mut Colony<'t>,
    /// Its offspring, and the same as cards are given them.
    brood: Option<(Brood, Vec<Compiled>)>,
    known: Vec<Option<Outcome>>,
    generation: Option<Generation>,
}

/// As [`on_cores`], with cards running the offspring. What they leave is run by cores, so the results are the same.
pub(crate) fn on_cards(
    cards: &mut [Box<dyn Card>],
    colonies: Vec<&mut Colony<'_>>,
    count: usize,
    shared: &Shared<'_>,
    stop: &AtomicBool,
) -> (Vec<Option<Generation>>, OnCards) {
    let turns: Vec<Mutex<Turn<'_, '_>>> = colonies
        .into_iter()
        .map(|colony| {
            Mutex::new(Turn {
                colony,
                brood: None,
                known: Vec::new(),
                generation: None,
            })
        })
        .collect();
    let at_once = (CARD_LOAD / count.max(1)).clamp(1, turns.len().div_ceil(2).max(1));
    let groups: Vec<&[Mutex<Turn<'_, '_>>]> = turns.chunks(at_once).collect();
    let mut spent = OnCards::default();
    // Group by group: one is bred, the one before it is on the cards, and from the one before that is selected.
    for step in 0..groups.len() + 2 {
        let before = |steps: usize| step.checked_sub(steps).and_then(|at| groups.get(at));
        let (bred, run, selected) = (before(0), before(1), before(2));
        let bred: &[_] = bred.copied().unwrap_or_default();
        let selected: &[_] = selected.copied().unwrap_or_default();
        thread::scope(|scope| {
            if let Some(group) = run {
                let (cards, spent) = (&mut *cards, &mut spent);
                scope.spawn(move || run_group(cards, group, shared, stop, spent));
            }
            let both = selected.len() + bred.len();
            in_parallel(
                shared.settings.threads,
                both,
                stop,
                |at, tools| match selected.get(at) {
                    Some(turn) => lock(turn).select(shared, tools),
                    None => lock(&bred[at - selected.len()]).breed(shared, count, tools),
                },
            );
        });
    }
    let generation = |turn: Mutex<Turn<'_, '_>>| {
        let inner = turn.into_inner();
        let turn = inner.unwrap_or_else(PoisonError::into_inner);
        // Nobody had the time to select from it.
        if let Some((brood, _)) = turn.brood {
            turn.colony.abandon(brood);
        }
        turn.generation
    };
    let generations = turns.into_iter().map(generation).collect();
    (generations, spent)
}

/// What cards took.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnCards {
    /// From handing programs over to having their scores.
    pub time: Duration,
    /// Launches and copies, of all cards together.
    pub times: Times,
}

impl OnCards {
    /// Adds what was taken elsewhere.
    pub fn add(&mut self, other: &OnCards) {
        self.time += other.time;
        self.times.add(&other.times);
    }
}

impl Turn<'_, '_> {
    fn breed(&mut self, shared: &Shared<'_>, count: usize, tools: &mut Tools) {
        let brood = self.colony.breed(shared, count, tools);
        let graph = &brood.typed.graph;
        let compile = |root| Compiled::new(&graph.program(root, "solve"));
        let programs = brood.offspring.iter().map(|o| compile(o.root)).collect();
        self.brood = Some((brood, programs));
    }

    fn select(&mut self, shared: &Shared<'_>, tools: &mut Tools) {
        let Some((brood, _)) = self.brood.take() else {
            return;
        };
        let limits = &shared.settings.limits;
        let known = std::mem::take(&mut self.known);
        let known = (known.len() == brood.offspring.len()).then_some(known);
        let on_cards = known.iter().flatten().filter(|o| o.is_some()).count();
        let known = known.as_deref();
        let outcomes = self.colony.run(&brood, known, &mut tools.worker, limits);
        let mut generation = self.colony.select(brood, &outcomes, shared, tools);
        generation.on_cards = on_cards as u64;
        self.generation = Some(generation);
    }
}

/// Runs the offspring of some colonies on cards.
fn run_group(
    cards: &mut [Box<dyn Card>],
    group: &[Mutex<Turn<'_, '_>>],
    shared: &Shared<'_>,
    stop: &AtomicBool,
    spent: &mut OnCards,
) {
    let started = Instant::now();
    let mut turns: Vec<MutexGuard<'_, Turn<'_, '_>>> = group.iter().map(lock).collect();
    let mut programs: Vec<Compiled> = Vec::new();
    let mut samples: Vec<Sample<'_>> = Vec::new();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for turn in &mut turns {
        let first = samples.len();
        samples.extend_from_slice(turn.colony.samples());
        if let Some((_, own)) = &mut turn.brood {
            for program in own.drain(..) {
                let number = programs.len() as u32;
                runs.extend((first..samples.len()).map(|sample| (number, sample as u32)));
                programs.push(program);
            }
        }
    }
    let all: [&[Role]; 3] = [
        &[Role::Input],
        &[Role::Samples, Role::Input],
        &[Role::Samples, Role::Input, Role::Comparison],
    ];
    let prepared = Prepared::new(&samples, all);
    let options = ScoreOptions {
        limits: shared.settings.limits,
        threads: NonZeroUsize::new(1),
        left: Left::HandedBack,
        ..ScoreOptions::default()
    };
    let (scores, report) = score_jobs(cards, &programs, &prepared, &runs, &options, stop);
    for card in report.device.iter().flat_map(|device| &device.cards) {
        spent.times.add(&card.times);
    }
    let mut scores = scores.iter();
    for turn in &mut turns {
        let Turn {
            colony,
            brood,
            known,
            ..
        } = &mut **turn;
        let Some((brood, _)) = brood else { continue };
        let samples = colony.samples();
        let outcome = |_| outcome(samples, scores.by_ref().take(samples.len()));
        *known = brood.offspring.iter().map(outcome).collect();
    }
    spent.time += started.elapsed();
}

/// What the runs of a program came to; none if one of them was left.
fn outcome<'s>(
    samples: &[Sample<'_>],
    scores: impl Iterator<Item = &'s Option<Score>>,
) -> Option<Outcome> {
    let mut outcome = Some(Outcome::default());
    for (sample, score) in samples.iter().zip(scores) {
        match (&mut outcome, score) {
            // What comes after a failure does not matter, nor whether a card got that far.
            (Some(outcome), _) if outcome.failed => {}
            (Some(outcome), Some(score)) => {
                let close = sample.expected.map_or(0, |e| closeness(&score.verdict, e));
                outcome.add(&score.verdict, score.hash, close);
            }
            (outcome, None) => *outcome = None,
            (None, _) => {}
        }
    }
    outcome
}
