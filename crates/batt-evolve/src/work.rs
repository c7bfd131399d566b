//! Who does the work of a generation: cores, and cards where there are any.
//!
//! ```text
//!   breed ──> (cards: all programs of many colonies at once) ──> run, in portions ──> select
//! ```
//!
//! Every colony goes through this by itself, and no core waits for a colony as long as there is another one. What comes
//! out does not depend on who did what when.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use batt_dsl::Workspace;
use batt_engine::device::{Card, Left, Prepared, Score, ScoreOptions, Times, score_jobs};
use batt_engine::{Compiled, GraphWorker, Role, Sample};
use batt_lang::graph::Ref;

use crate::brood::{Brood, Outcome, run_programs};
use crate::colony::{Colony, Generation, Shared};
use crate::score::closeness;

/// Offspring that cards are given at a time, if there are so many.
const CARD_LOAD: usize = 1 << 16;

/// Offspring that a core runs at a time. They share what they have in common; those of other portions do not.
const PORTION: usize = 128;

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

/// A generation of some colonies. None for one that had no turn because `stop` was set. Cards run what they can; what they
/// leave, or everything if there are none, is run by cores.
pub(crate) fn generation(
    cards: &mut [Box<dyn Card>],
    colonies: Vec<&mut Colony<'_>>,
    count: usize,
    shared: &Shared,
    stop: &AtomicBool,
) -> (Vec<Option<Generation>>, OnCards) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = shared.settings.threads.map_or(cores, NonZeroUsize::get);
    let turns: Vec<Turn<'_, '_>> = colonies.into_iter().map(Turn::new).collect();
    // Broods are large, so not all colonies may have one at a time.
    let at_once = match cards.is_empty() {
        true => 4 * threads,
        false => 4 * threads + (cards.len() + 1) * CARD_LOAD.div_ceil(count.max(1)),
    };
    let work = Work {
        turns,
        count,
        shared,
        stop,
        at_once,
        has_cards: !cards.is_empty(),
        queue: Mutex::default(),
        changed: Condvar::new(),
    };
    let spent = Mutex::new(OnCards::default());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work.work());
        }
        // While one card computes, programs for the next one are made ready.
        for card in cards.chunks_mut(1) {
            let (work, spent) = (&work, &spent);
            scope.spawn(move || work.feed(card, spent));
        }
    });
    let spent = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    // What is left there, if all was stopped, holds broods.
    lock(&work.queue).ready.clear();
    let finish = |turn: Turn<'_, '_>| {
        let colony = turn.colony.into_inner();
        let colony = colony.unwrap_or_else(PoisonError::into_inner);
        let state = turn.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        // Nobody had the time to select from it.
        if let Some(brood) = state.brood.and_then(Arc::into_inner) {
            colony.abandon(brood);
        }
        state.generation
    };
    let generations = work.turns.into_iter().map(finish).collect();
    (generations, spent)
}

/// A colony on its way through a generation.
struct Turn<'c, 't> {
    colony: Mutex<&'c mut Colony<'t>>,
    samples: Vec<Sample<'t>>,
    state: Mutex<State>,
    /// Portions that have not been run.
    left: AtomicUsize,
}

#[derive(Default)]
struct State {
    brood: Option<Arc<Brood>>,
    /// The same as cards are given them.
    programs: Vec<Compiled>,
    outcomes: Vec<Option<Outcome>>,
    on_cards: u64,
    generation: Option<Generation>,
    took: Duration,
}

impl<'c, 't> Turn<'c, 't> {
    fn new(colony: &'c mut Colony<'t>) -> Turn<'c, 't> {
        Turn {
            samples: colony.samples().to_vec(),
            colony: Mutex::new(colony),
            state: Mutex::default(),
            left: AtomicUsize::new(0),
        }
    }
}

/// Something for a core to do for a colony.
enum Item {
    Breed(usize),
    /// Run these offspring.
    Run(usize, Arc<Brood>, Vec<usize>),
    Select(usize),
}

#[derive(Default)]
struct Queue {
    /// What can be done now, apart from breeding.
    ready: VecDeque<Item>,
    /// Colonies that have been given to somebody to breed.
    begun: usize,
    /// Colonies that are on their way: more can come from them.
    under_way: usize,
    /// Colonies that are being bred.
    breeding: usize,
    /// Colonies that wait for cards.
    for_cards: Vec<usize>,
}

struct Work<'w, 'c, 't> {
    turns: Vec<Turn<'c, 't>>,
    count: usize,
    shared: &'w Shared,
    stop: &'w AtomicBool,
    at_once: usize,
    has_cards: bool,
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Work<'_, '_, '_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        // Nobody says when `stop` is set.
        let patience = Duration::from_millis(20);
        let woken = self.changed.wait_timeout(queue, patience);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Works until there is nothing left to do.
    fn work(&self) {
        let mut tools = Tools::default();
        while let Some(item) = self.next() {
            let started = Instant::now();
            let at = match item {
                Item::Breed(at) => {
                    self.breed(at, &mut tools);
                    at
                }
                Item::Run(at, brood, portion) => {
                    self.run(at, brood, &portion, &mut tools);
                    at
                }
                Item::Select(at) => {
                    self.select(at, &mut tools);
                    at
                }
            };
            lock(&self.turns[at].state).took += started.elapsed();
        }
    }

    fn next(&self) -> Option<Item> {
        let mut queue = lock(&self.queue);
        loop {
            if self.is_stopped() {
                return None;
            }
            if let Some(item) = queue.ready.pop_front() {
                return Some(item);
            }
            if queue.begun < self.turns.len() && queue.under_way < self.at_once {
                let at = queue.begun;
                queue.begun += 1;
                queue.under_way += 1;
                queue.breeding += 1;
                return Some(Item::Breed(at));
            }
            if queue.begun == self.turns.len() && queue.under_way == 0 {
                return None;
            }
            queue = self.wait(queue);
        }
    }

    fn breed(&self, at: usize, tools: &mut Tools) {
        let turn = &self.turns[at];
        let brood = lock(&turn.colony).breed(self.shared, self.count, tools);
        let graph = &brood.typed.graph;
        let compile = |root| Compiled::new(&graph.program(root, "solve"));
        let programs: Vec<Compiled> = match self.has_cards {
            true => brood.offspring.iter().map(|o| compile(o.root)).collect(),
            false => Vec::new(),
        };
        let all: Vec<usize> = (0..brood.offspring.len()).collect();
        let brood = Arc::new(brood);
        {
            let mut state = lock(&turn.state);
            state.outcomes = vec![None; all.len()];
            state.programs = programs;
            state.brood = Some(Arc::clone(&brood));
        }
        match self.has_cards {
            true => drop(brood),
            false => self.hand_out(at, brood, &all),
        }
        let mut queue = lock(&self.queue);
        queue.breeding -= 1;
        if self.has_cards {
            queue.for_cards.push(at);
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Cuts offspring into portions for cores to run. If there are none, the colony can select.
    fn hand_out(&self, at: usize, brood: Arc<Brood>, offspring: &[usize]) {
        let portions = offspring.chunks(PORTION);
        self.turns[at].left.store(portions.len(), Ordering::Release);
        let mut items: Vec<Item> = portions
            .map(|portion| Item::Run(at, Arc::clone(&brood), portion.to_vec()))
            .collect();
        // Whoever selects wants to be the only one that has it.
        drop(brood);
        if items.is_empty() {
            items.push(Item::Select(at));
        }
        lock(&self.queue).ready.extend(items);
        self.changed.notify_all();
    }

    fn run(&self, at: usize, brood: Arc<Brood>, portion: &[usize], tools: &mut Tools) {
        let turn = &self.turns[at];
        let roots: Vec<Ref> = portion.iter().map(|&k| brood.offspring[k].root).collect();
        let limits = &self.shared.settings.limits;
        let found = run_programs(
            &brood.typed,
            &roots,
            &turn.samples,
            &mut tools.worker,
            limits,
        );
        let mut state = lock(&turn.state);
        for (&k, outcome) in portion.iter().zip(found) {
            state.outcomes[k] = Some(outcome);
        }
        drop(state);
        // Before whoever is last says so: it wants to be the only one that has it.
        drop(brood);
        if turn.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            lock(&self.queue).ready.push_front(Item::Select(at));
            self.changed.notify_all();
        }
    }

    fn select(&self, at: usize, tools: &mut Tools) {
        let turn = &self.turns[at];
        let (brood, outcomes, on_cards) = {
            let mut state = lock(&turn.state);
            let outcomes = std::mem::take(&mut state.outcomes);
            (state.brood.take(), outcomes, state.on_cards)
        };
        if let Some(brood) = brood.and_then(Arc::into_inner) {
            let outcomes: Vec<Outcome> = outcomes
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect();
            let mut colony = lock(&turn.colony);
            let mut generation = colony.select(brood, &outcomes, self.shared, tools);
            generation.on_cards = on_cards;
            let mut state = lock(&turn.state);
            state.generation = Some(generation);
            colony.took = state.took;
        }
        lock(&self.queue).under_way -= 1;
        self.changed.notify_all();
    }

    /// Gives cards what has been bred, as much as possible at a time.
    fn feed(&self, card: &mut [Box<dyn Card>], spent: &Mutex<OnCards>) {
        while let Some(group) = self.next_group() {
            let started = Instant::now();
            let times = self.run_on_card(card, &group);
            let mut spent = lock(spent);
            spent.time += started.elapsed();
            spent.times.add(&times);
        }
    }

    fn next_group(&self) -> Option<Vec<usize>> {
        let mut queue = lock(&self.queue);
        loop {
            if self.is_stopped() {
                return None;
            }
            let is_all = queue.begun == self.turns.len() || queue.under_way >= self.at_once;
            let is_all = is_all && queue.breeding == 0;
            if queue.for_cards.len() * self.count >= CARD_LOAD || is_all {
                if !queue.for_cards.is_empty() {
                    return Some(std::mem::take(&mut queue.for_cards));
                }
                if queue.begun == self.turns.len() {
                    return None;
                }
            }
            queue = self.wait(queue);
        }
    }

    fn run_on_card(&self, card: &mut [Box<dyn Card>], group: &[usize]) -> Times {
        let mut programs: Vec<Compiled> = Vec::new();
        let mut samples: Vec<Sample<'_>> = Vec::new();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &at in group {
            let turn = &self.turns[at];
            let first = samples.len();
            samples.extend_from_slice(&turn.samples);
            for program in std::mem::take(&mut lock(&turn.state).programs) {
                let number = programs.len() as u32;
                runs.extend((first..samples.len()).map(|sample| (number, sample as u32)));
                programs.push(program);
            }
        }
        let all: [&[Role]; 3] = [
            &[Role::Input],
            &[Role::Samples, Role::Input],
            &[Role::Samples, Role::Input, Role::Comparison],
        ];
        let prepared = Prepared::new(&samples, all);
        let options = ScoreOptions {
            limits: self.shared.settings.limits,
            threads: NonZeroUsize::new(2),
            left: Left::HandedBack,
            ..ScoreOptions::default()
        };
        let (scores, report) = score_jobs(card, &programs, &prepared, &runs, &options, self.stop);
        let mut times = Times::default();
        for card in report.device.iter().flat_map(|device| &device.cards) {
            times.add(&card.times);
        }
        let mut scores = scores.iter();
        for &at in group {
            let turn = &self.turns[at];
            let mut state = lock(&turn.state);
            let Some(brood) = state.brood.clone() else {
                continue;
            };
            let mut left = Vec::new();
            for k in 0..brood.offspring.len() {
                let own = scores.by_ref().take(turn.samples.len());
                state.outcomes[k] = outcome(&turn.samples, own);
                if state.outcomes[k].is_none() {
                    left.push(k);
                }
            }
            state.on_cards = (brood.offspring.len() - left.len()) as u64;
            drop(state);
            self.hand_out(at, brood, &left);
        }
        times
    }
}

/// What cards took.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnCards {
    /// From handing programs over to having their scores, of all cards together.
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
