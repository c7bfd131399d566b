//! Who does the work of a generation: cores, and devices where there are any.
//!
//! ```text
//!   breed ─┬──────────────────────────────────────────────────────────────────────> run, in portions ──> select
//!          └─> encode ──> devices: the programs of many colonies at once ──> read ──> run what they left ──> select
//! ```
//!
//! Every colony goes through this by itself, and no core waits for a colony as long as there is another one. What comes
//! out does not depend on who did what when.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use batt_dsl::Workspace;
use batt_engine::Cancel;
use batt_engine::device::{
    Device, Encoder, Prepared, ScoredRun, Scores, Searcher, Sheaf, Shipment, Times,
};
use batt_engine::{GraphWorker, Sample};
use batt_lang::graph::Ref;

use crate::brood::{Brood, Offspring, Outcome, run_programs};
use crate::colony::{Colony, Generation, Shared};
use crate::score::closeness;
use crate::stages::{Busy, Stage};

/// Offspring that devices are given at a time, if there are so many.
const DEVICE_LOAD: usize = 1 << 15;

/// Threads that work for a device: one has its programs run, the other puts the next ones together.
const FEEDERS: usize = 2;

/// Offspring that a core runs at a time. They share what they have in common; those of other portions do not.
const PORTION: usize = 128;

/// The same of those that devices have left: they are the dear ones, and whoever is last is waited for.
const LEFT_PORTION: usize = 32;

/// What a thread works with.
#[derive(Default)]
pub(crate) struct Tools {
    pub worker: GraphWorker,
    pub workspace: Workspace,
    pub encoder: Encoder,
    pub busy: Busy,
}

/// The lock, also of somebody who panicked: what it guards is replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does work number 0, 1, ... on all threads, until it is done or `stop` is set.
pub(crate) fn in_parallel(
    threads: Option<NonZeroUsize>,
    count: usize,
    stop: &Cancel,
    work: impl Fn(usize, &mut Tools) + Sync,
) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or(cores, NonZeroUsize::get).min(count).max(1);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut tools = Tools::default();
                while !stop.is_cancelled() {
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

/// A generation of some colonies. None for one that had no turn because `stop` was set. Devices run what they can; what they
/// leave, or everything if there are none, is run by cores. `samples` are those of all tasks, one after the other.
pub(crate) fn generation<'t>(
    devices: &mut [Box<dyn Device>],
    samples: &Prepared<'t>,
    colonies: Vec<&mut Colony<'t>>,
    count: usize,
    shared: &Shared,
    stop: &Cancel,
) -> (Vec<Option<Generation>>, DeviceWork, Busy) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = shared.settings.threads.map_or(cores, NonZeroUsize::get);
    let turns: Vec<Turn<'_, '_>> = colonies.into_iter().map(Turn::new).collect();
    // One that the limits do not allow is not used.
    let searchers = devices.iter_mut().filter_map(|device| {
        let searcher = Searcher::new(&shared.settings.limits)?;
        Some(Mutex::new((device, searcher)))
    });
    let devices: Vec<Mutex<Station<'_>>> = searchers.collect();
    // Broods are large, so not all colonies may have one at a time.
    let at_once = match devices.is_empty() {
        true => 4 * threads,
        false => 4 * threads + (FEEDERS * devices.len() + 1) * DEVICE_LOAD.div_ceil(count.max(1)),
    };
    let work = Work {
        turns,
        samples,
        count,
        shared,
        stop,
        at_once,
        has_devices: !devices.is_empty(),
        queue: Mutex::default(),
        changed: Condvar::new(),
        busy: Mutex::default(),
    };
    let spent = Mutex::new(DeviceWork::default());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work.work());
        }
        for device in &devices {
            for _ in 0..FEEDERS {
                let (work, spent) = (&work, &spent);
                scope.spawn(move || work.feed(device, spent));
            }
        }
    });
    let spent = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    // What is left there, if all was stopped, holds broods.
    lock(&work.queue).ready.clear();
    let finish = |turn: Turn<'_, '_>| {
        let state = turn.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).generation
    };
    let busy = *lock(&work.busy);
    let generations = work.turns.into_iter().map(finish).collect();
    (generations, spent, busy)
}

/// A device, and what is known about how to use it.
type Station<'c> = (&'c mut Box<dyn Device>, Searcher);

/// A colony on its way through a generation.
struct Turn<'c, 't> {
    colony: Mutex<&'c mut Colony<'t>>,
    samples: Vec<Sample<'t>>,
    /// The number of its first sample among all.
    first_sample: usize,
    state: Mutex<State>,
    /// Portions that have not been run.
    left: AtomicUsize,
}

#[derive(Default)]
struct State {
    brood: Option<Arc<Brood>>,
    /// The same as devices are given them.
    sheaf: Option<Sheaf>,
    outcomes: Vec<Option<Outcome>>,
    on_devices: u64,
    generation: Option<Generation>,
    took: Duration,
}

impl<'c, 't> Turn<'c, 't> {
    fn new(colony: &'c mut Colony<'t>) -> Turn<'c, 't> {
        Turn {
            samples: colony.samples().to_vec(),
            first_sample: colony.first_sample,
            colony: Mutex::new(colony),
            state: Mutex::default(),
            left: AtomicUsize::new(0),
        }
    }

    /// Its samples among all.
    fn own_samples(&self) -> Range<usize> {
        self.first_sample..self.first_sample + self.samples.len()
    }
}

/// Something for a core to do for a colony.
enum Item {
    Breed(usize),
    /// Read what a device gave back, from this run on.
    Read(usize, Arc<Option<Scores>>, usize),
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
    /// Colonies that wait for devices.
    for_devices: Vec<usize>,
}

struct Work<'w, 'c, 't> {
    turns: Vec<Turn<'c, 't>>,
    samples: &'w Prepared<'t>,
    count: usize,
    shared: &'w Shared,
    stop: &'w Cancel,
    at_once: usize,
    has_devices: bool,
    queue: Mutex<Queue>,
    changed: Condvar,
    busy: Mutex<Busy>,
}

impl Work<'_, '_, '_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
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
        let mut waiting = Instant::now();
        while let Some(item) = self.next() {
            let started = tools.busy.since(Stage::Wait, waiting);
            let at = match item {
                Item::Breed(at) => {
                    self.breed(at, &mut tools);
                    at
                }
                Item::Read(at, scores, first) => {
                    self.read(at, &scores, first, &mut tools);
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
            waiting = Instant::now();
            lock(&self.turns[at].state).took += waiting - started;
        }
        tools.busy.since(Stage::Wait, waiting);
        lock(&self.busy).add(&tools.busy);
    }

    fn next(&self) -> Option<Item> {
        let mut queue = lock(&self.queue);
        loop {
            if self.is_stopped() {
                return None;
            }
            // Devices are not to wait for programs.
            let hungry = self.has_devices && queue.for_devices.len() * self.count < DEVICE_LOAD;
            let breeds = queue.begun < self.turns.len() && queue.under_way < self.at_once;
            if !(hungry && breeds)
                && let Some(item) = queue.ready.pop_front()
            {
                return Some(item);
            }
            if breeds {
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
        let started = Instant::now();
        let sheaf = self.has_devices.then(|| {
            let roots = brood.offspring.iter().map(|offspring| offspring.root);
            tools.encoder.encode(&brood.ground.typed.graph, roots)
        });
        tools.busy.since(Stage::Encode, started);
        let all: Vec<usize> = (0..brood.offspring.len()).collect();
        let brood = Arc::new(brood);
        {
            let mut state = lock(&turn.state);
            state.outcomes = vec![None; all.len()];
            state.sheaf = sheaf;
            state.brood = Some(Arc::clone(&brood));
        }
        match self.has_devices {
            true => drop(brood),
            false => self.hand_out(at, brood, all),
        }
        let mut queue = lock(&self.queue);
        queue.breeding -= 1;
        if self.has_devices {
            queue.for_devices.push(at);
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Cuts offspring into portions for cores to run. If there are none, the colony can select.
    fn hand_out(&self, at: usize, brood: Arc<Brood>, mut offspring: Vec<usize>) {
        // Those of one parent have much in common, and so have those that were made one after the other.
        offspring.sort_unstable_by_key(|&k| {
            let Offspring { parent, root, .. } = brood.offspring[k];
            (parent, root)
        });
        let portions = offspring.chunks(match self.has_devices {
            true => LEFT_PORTION,
            false => PORTION,
        });
        self.turns[at].left.store(portions.len(), Ordering::Release);
        let mut items: Vec<Item> = portions
            .map(|portion| Item::Run(at, Arc::clone(&brood), portion.to_vec()))
            .collect();
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
        let stage = match self.has_devices {
            true => Stage::Leftovers,
            false => Stage::Run,
        };
        let typed = &brood.ground.typed;
        let found = run_programs(typed, &roots, &turn.samples, tools, stage, limits);
        let mut state = lock(&turn.state);
        for (&k, outcome) in portion.iter().zip(found) {
            state.outcomes[k] = Some(outcome);
        }
        drop(state);
        // Before whoever is last says so: the next generation changes the ground it stands on.
        drop(brood);
        if turn.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            lock(&self.queue).ready.push_front(Item::Select(at));
            self.changed.notify_all();
        }
    }

    fn select(&self, at: usize, tools: &mut Tools) {
        let turn = &self.turns[at];
        let (brood, outcomes, on_devices) = {
            let mut state = lock(&turn.state);
            let outcomes = std::mem::take(&mut state.outcomes);
            (state.brood.take(), outcomes, state.on_devices)
        };
        if let Some(brood) = brood {
            let outcomes: Vec<Outcome> = outcomes
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect();
            let mut colony = lock(&turn.colony);
            let mut generation = colony.select(&brood, &outcomes, self.shared, tools);
            generation.on_devices = on_devices;
            let mut state = lock(&turn.state);
            state.generation = Some(generation);
            colony.took = state.took;
        }
        lock(&self.queue).under_way -= 1;
        self.changed.notify_all();
    }

    /// Gives a device what has been bred, as much as possible at a time.
    fn feed(&self, device: &Mutex<Station<'_>>, spent: &Mutex<DeviceWork>) {
        let mut busy = Busy::default();
        while let Some(group) = self.next_group() {
            let started = Instant::now();
            let (sheaves, firsts) = self.collect(&group);
            let pieces: Vec<(&Sheaf, Range<usize>)> = sheaves
                .iter()
                .zip(&group)
                .map(|(sheaf, &at)| (sheaf, self.turns[at].own_samples()))
                .collect();
            let shipment = Shipment::new(self.samples, &pieces);
            drop(pieces);
            drop(sheaves);
            busy.since(Stage::Send, started);
            let launched = {
                let mut device = lock(device);
                let (device, searcher) = &mut *device;
                let started = Instant::now();
                let launched = searcher.launch(device.as_mut(), self.samples, shipment);
                lock(spent).add(&DeviceWork {
                    time: started.elapsed(),
                    times: launched.as_ref().map(Scores::times).unwrap_or_default(),
                });
                launched
            };
            // What a device could not do cores can.
            let scores = Arc::new(launched.ok());
            let items = group.iter().zip(firsts);
            let items = items.map(|(&at, first)| Item::Read(at, Arc::clone(&scores), first));
            lock(&self.queue).ready.extend(items);
            self.changed.notify_all();
        }
        lock(&self.busy).add(&busy);
    }

    /// Colonies whose programs go to a device together.
    fn next_group(&self) -> Option<Vec<usize>> {
        let mut queue = lock(&self.queue);
        loop {
            if self.is_stopped() {
                return None;
            }
            let is_all = queue.begun == self.turns.len() || queue.under_way >= self.at_once;
            let is_all = is_all && queue.breeding == 0;
            if queue.for_devices.len() * self.count >= DEVICE_LOAD || is_all {
                if !queue.for_devices.is_empty() {
                    return Some(std::mem::take(&mut queue.for_devices));
                }
                if queue.begun == self.turns.len() {
                    return None;
                }
            }
            queue = self.wait(queue);
        }
    }

    /// The programs of a group, and the number of the first run of each colony.
    fn collect(&self, group: &[usize]) -> (Vec<Sheaf>, Vec<usize>) {
        let (mut sheaves, mut firsts) = (Vec::new(), Vec::new());
        let mut next = 0;
        for &at in group {
            let turn = &self.turns[at];
            let sheaf = lock(&turn.state).sheaf.take().unwrap_or_default();
            firsts.push(next);
            next += sheaf.len() * turn.samples.len();
            sheaves.push(sheaf);
        }
        (sheaves, firsts)
    }

    /// Reads what a device gave back for a colony, and hands out what it left.
    fn read(&self, at: usize, scores: &Option<Scores>, first: usize, tools: &mut Tools) {
        let started = Instant::now();
        let turn = &self.turns[at];
        let Some(brood) = lock(&turn.state).brood.clone() else {
            return;
        };
        let mut left = Vec::new();
        let mut run = first;
        let mut outcomes = Vec::with_capacity(brood.offspring.len());
        for k in 0..brood.offspring.len() {
            let outcome = scores.as_ref().and_then(|scores| {
                let own = (run..).map(|run| scores.of(run));
                outcome(&turn.samples, own)
            });
            run += turn.samples.len();
            if outcome.is_none() {
                left.push(k);
            }
            outcomes.push(outcome);
        }
        let mut state = lock(&turn.state);
        state.on_devices = (outcomes.len() - left.len()) as u64;
        state.outcomes = outcomes;
        drop(state);
        tools.busy.since(Stage::Read, started);
        self.hand_out(at, brood, left);
    }
}

/// What devices took.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceWork {
    /// From handing programs over to having their scores, of all devices together.
    pub time: Duration,
    /// Launches and copies, of all devices together.
    pub times: Times,
}

impl DeviceWork {
    /// Adds what was taken elsewhere.
    pub fn add(&mut self, other: &DeviceWork) {
        self.time += other.time;
        self.times.add(&other.times);
    }
}

/// What the runs of a program came to; none if one of them was left.
fn outcome(
    samples: &[Sample<'_>],
    scores: impl Iterator<Item = Option<ScoredRun>>,
) -> Option<Outcome> {
    let mut outcome = Outcome::default();
    for (sample, score) in samples.iter().zip(scores) {
        let score = score?;
        let close = sample.expected.map_or(0, |e| closeness(&score.verdict, e));
        outcome.add(&score.verdict, score.hash, close);
        // What comes after a failure does not matter, nor whether a device got that far.
        if outcome.failed {
            break;
        }
    }
    Some(outcome)
}
