//! Schedules one generation over CPU workers and, if present, devices.
//!
//! ```text
//!   breed ─┬───────────────────────────────────────────────────────────────> run, in chunks ──> select
//!          └─> encode ──> devices: the programs of many islands at once ──> read ──> run the rest ──> select
//! ```
//!
//! Each island goes through these steps on its own, so a worker never waits for an island while
//! another one has work. The results do not depend on which worker did what, or when. `devices.rs`
//! has the lower line.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use batt_dsl::Workspace;
use batt_engine::device::Encoder;
use batt_engine::schedule::{Schedule, Team, workers};
use batt_engine::{Cancel, GraphWorker, Sample};
use batt_lang::graph::Ref;

use crate::devices::{Answered, Devices};
use crate::island::{Generation, Island, Shared};
use crate::offspring::{Child, Evaluation, Offspring, run_programs};
use crate::timing::{Stage, StageTimes};

/// Offspring that an island breeds before it runs them. An island with more of them in a generation
/// breeds, runs and selects several times, so that its memory is bounded and a deadline is met.
const BRED_AT_ONCE: usize = 1 << 16;

/// Offspring in a chunk. Those of one chunk share what they have in common; those of different
/// chunks do not.
const CHUNK: usize = 128;

/// The same of programs that devices could not complete: these are expensive, and the last chunk
/// delays the generation.
const FALLBACK_CHUNK: usize = 32;

/// What a thread works with.
#[derive(Default)]
pub(crate) struct Tools {
    pub worker: GraphWorker,
    pub workspace: Workspace,
    /// Only used with devices.
    pub encoder: Encoder,
    pub times: StageTimes,
}

/// Locks, even after a panic: what these locks guard is replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does item 0, 1, ... on all threads, until all are done or `cancel` is set.
pub(crate) fn in_parallel(
    threads: Option<NonZeroUsize>,
    count: usize,
    cancel: &Cancel,
    work: impl Fn(usize, &mut Tools) + Sync,
) {
    let worker = || {
        let mut tools = Tools::default();
        let work = &work;
        move |at: usize| work(at, &mut tools)
    };
    Schedule::one_by_one(count, threads).run(cancel, worker, |_, ()| ());
}

/// What a generation of all islands came to.
pub(crate) struct Bred {
    /// One for each island; none for an island that had no turn before the work was cancelled.
    pub generations: Vec<Option<Generation>>,
    /// Whether some island did less than a whole generation.
    pub stopped: bool,
    pub times: StageTimes,
}

/// Breeds, runs and selects one generation of `count` offspring on each island. Devices run what
/// they can; workers run the rest, or everything if there are no devices.
pub(crate) fn generation<'t>(
    devices: Option<&Devices<'_, 't>>,
    islands: Vec<&mut Island<'t>>,
    count: usize,
    shared: &Shared,
    cancel: &Cancel,
) -> Bred {
    let threads = workers(shared.settings.threads);
    let team = Team::new(cancel);
    let passes = count.div_ceil(BRED_AT_ONCE).max(1);
    let pipeline = Pipeline {
        queue: Mutex::new(Queue {
            unbred: islands.len() * passes,
            ..Queue::default()
        }),
        turns: islands.into_iter().map(Turn::new).collect(),
        count,
        passes,
        shared,
        team: &team,
        cancel,
        // Offspring take much memory, so not all islands may have some at a time.
        at_once: 4 * threads + devices.map_or(0, |devices| devices.islands_at_once(count)),
        devices,
        changed: Condvar::new(),
        times: Mutex::default(),
    };
    thread::scope(|scope| {
        let _alarm = team.alarm();
        if let Some(devices) = devices {
            devices.serve(scope, &pipeline);
        }
        let start = |_: &usize| team.start(scope, "batt-worker", || pipeline.work());
        let started = (0..threads).take_while(start).count();
        if started == 0 {
            pipeline.work();
        }
    });
    // After a cancellation, work that is still queued holds offspring.
    lock(&pipeline.queue).ready.clear();
    let times = *lock(&pipeline.times);
    let (mut generations, mut stopped) = (Vec::new(), false);
    for turn in pipeline.turns {
        let state = turn.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if state.offspring.is_some() {
            lock(&turn.island).forget_bred();
        }
        stopped |= state.passes < passes;
        stopped |= state.generation.as_ref().is_some_and(|g| g.is_cut_short);
        generations.push(state.generation);
    }
    Bred {
        generations,
        stopped,
        times,
    }
}

/// An island on its way through a generation.
pub(crate) struct Turn<'i, 't> {
    island: Mutex<&'i mut Island<'t>>,
    pub samples: Vec<Sample<'t>>,
    /// The number of its first sample among all.
    pub first_sample: usize,
    pub state: Mutex<State>,
    /// Chunks that have not been run.
    chunks_to_run: AtomicUsize,
}

#[derive(Default)]
pub(crate) struct State {
    pub offspring: Option<Arc<Offspring>>,
    pub evaluations: Vec<Option<Evaluation>>,
    pub on_devices: u64,
    generation: Option<Generation>,
    /// How many times the island has bred, run and selected.
    passes: usize,
    took: Duration,
}

impl<'i, 't> Turn<'i, 't> {
    fn new(island: &'i mut Island<'t>) -> Turn<'i, 't> {
        Turn {
            samples: island.samples().to_vec(),
            first_sample: island.first_sample,
            island: Mutex::new(island),
            state: Mutex::default(),
            chunks_to_run: AtomicUsize::new(0),
        }
    }
}

/// Something for a worker to do for an island, which is given by its number.
pub(crate) enum Work {
    Breed(usize),
    /// Read what a device answered.
    Read(usize, Answered),
    /// Run these of the offspring.
    Run(usize, Arc<Offspring>, Vec<usize>),
    Select(usize),
}

#[derive(Default)]
pub(crate) struct Queue {
    /// Work that can be done now, without the first breeding of islands.
    pub ready: VecDeque<Work>,
    /// Islands that have begun their turn.
    pub begun: usize,
    /// Islands that have begun their turn and not ended it.
    pub under_way: usize,
    /// Islands that are breeding.
    pub breeding: usize,
    /// How often islands are still to breed, all together.
    pub unbred: usize,
    /// Islands whose offspring wait for devices.
    pub for_devices: Vec<usize>,
}

pub(crate) struct Pipeline<'p, 'd, 'i, 't> {
    pub turns: Vec<Turn<'i, 't>>,
    /// Offspring of each island.
    pub count: usize,
    /// How many times each island breeds, runs and selects.
    passes: usize,
    shared: &'p Shared,
    pub team: &'p Team<'p>,
    cancel: &'p Cancel,
    /// Islands that may be under way at a time.
    pub at_once: usize,
    devices: Option<&'p Devices<'d, 't>>,
    pub queue: Mutex<Queue>,
    changed: Condvar,
    times: Mutex<StageTimes>,
}

impl<'p, 'd, 't> Pipeline<'p, 'd, '_, 't> {
    /// Waits until the queue changes, or for a moment: a cancellation wakes up no thread.
    pub fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        let patience = Duration::from_millis(20);
        let woken = self.changed.wait_timeout(queue, patience);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Puts work at the end of the queue.
    pub fn push(&self, work: impl IntoIterator<Item = Work>) {
        lock(&self.queue).ready.extend(work);
        self.changed.notify_all();
    }

    /// Adds what a thread spent its time on.
    pub fn add_times(&self, times: &StageTimes) {
        lock(&self.times).add(times);
    }

    fn devices(&self) -> Option<&'p Devices<'d, 't>> {
        self.devices.filter(|devices| devices.are_served())
    }

    /// Works until there is no more work.
    fn work(&self) {
        let mut tools = Tools::default();
        let mut waiting = Instant::now();
        while let Some(work) = self.next() {
            let started = tools.times.since(Stage::Wait, waiting);
            let at = match work {
                Work::Breed(at) => {
                    self.breed(at, &mut tools);
                    at
                }
                Work::Read(at, answered) => {
                    self.read(at, &answered, &mut tools.times);
                    at
                }
                Work::Run(at, offspring, chunk) => {
                    self.run(at, offspring, &chunk, &mut tools);
                    at
                }
                Work::Select(at) => {
                    self.select(at, &mut tools);
                    at
                }
            };
            waiting = Instant::now();
            lock(&self.turns[at].state).took += waiting - started;
        }
        tools.times.since(Stage::Wait, waiting);
        self.add_times(&tools.times);
    }

    fn next(&self) -> Option<Work> {
        let mut queue = lock(&self.queue);
        loop {
            if self.team.has_ended() {
                return None;
            }
            // Devices should not wait for programs.
            let hungry = self
                .devices()
                .is_some_and(|devices| devices.are_hungry(queue.for_devices.len() * self.count));
            let breeds = queue.begun < self.turns.len() && queue.under_way < self.at_once;
            if !(hungry && breeds)
                && let Some(work) = queue.ready.pop_front()
            {
                queue.breeding += usize::from(matches!(work, Work::Breed(_)));
                return Some(work);
            }
            if breeds {
                let at = queue.begun;
                queue.begun += 1;
                queue.under_way += 1;
                queue.breeding += 1;
                return Some(Work::Breed(at));
            }
            if queue.begun == self.turns.len() && queue.under_way == 0 {
                return None;
            }
            queue = self.wait(queue);
        }
    }

    fn breed(&self, at: usize, tools: &mut Tools) {
        let turn = &self.turns[at];
        let pass = lock(&turn.state).passes;
        let count = self.count.saturating_sub(pass * BRED_AT_ONCE);
        let count = count.min(BRED_AT_ONCE);
        let bred = lock(&turn.island).breed(self.shared, count, pass, self.cancel, tools);
        // None after a cancellation, which ends this thread.
        let Some(offspring) = bred else { return };
        let devices = self.devices();
        if let Some(devices) = devices {
            devices.encode(at, &offspring, tools);
        }
        let all: Vec<usize> = (0..offspring.children.len()).collect();
        let offspring = Arc::new(offspring);
        {
            let mut state = lock(&turn.state);
            state.evaluations = vec![None; all.len()];
            state.offspring = Some(Arc::clone(&offspring));
        }
        match devices {
            Some(_) => drop(offspring),
            None => self.hand_out(at, offspring, all),
        }
        let mut queue = lock(&self.queue);
        queue.breeding -= 1;
        queue.unbred -= 1;
        if devices.is_some() {
            queue.for_devices.push(at);
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Cuts offspring into chunks for workers to run. If there are none, the island can select.
    pub fn hand_out(&self, at: usize, offspring: Arc<Offspring>, mut children: Vec<usize>) {
        // Children of one parent have much in common, and so have children made one after the
        // other.
        children.sort_unstable_by_key(|&k| {
            let Child { parent, root, .. } = offspring.children[k];
            (parent, root)
        });
        let chunks = children.chunks(match self.devices() {
            Some(_) => FALLBACK_CHUNK,
            None => CHUNK,
        });
        self.turns[at]
            .chunks_to_run
            .store(chunks.len(), Ordering::Release);
        let mut work: Vec<Work> = chunks
            .map(|chunk| Work::Run(at, Arc::clone(&offspring), chunk.to_vec()))
            .collect();
        if work.is_empty() {
            work.push(Work::Select(at));
        }
        self.push(work);
    }

    fn run(&self, at: usize, offspring: Arc<Offspring>, chunk: &[usize], tools: &mut Tools) {
        let turn = &self.turns[at];
        let roots: Vec<Ref> = chunk.iter().map(|&k| offspring.children[k].root).collect();
        let limits = &self.shared.settings.limits;
        let stage = match self.devices() {
            Some(_) => Stage::Fallback,
            None => Stage::Run,
        };
        let typed = &offspring.pool.typed;
        let samples = &turn.samples;
        let found = run_programs(typed, &roots, samples, tools, stage, limits, self.cancel);
        // None after a cancellation, which ends this thread.
        let Some(found) = found else { return };
        let mut state = lock(&turn.state);
        for (&k, evaluation) in chunk.iter().zip(found) {
            state.evaluations[k] = Some(evaluation);
        }
        drop(state);
        // The next breeding changes the gene pool, which is copied if anything else still holds it:
        // this must come first.
        drop(offspring);
        if turn.chunks_to_run.fetch_sub(1, Ordering::AcqRel) == 1 {
            lock(&self.queue).ready.push_front(Work::Select(at));
            self.changed.notify_all();
        }
    }

    fn select(&self, at: usize, tools: &mut Tools) {
        let turn = &self.turns[at];
        let (offspring, evaluations, on_devices) = {
            let mut state = lock(&turn.state);
            let evaluations = std::mem::take(&mut state.evaluations);
            let on_devices = std::mem::take(&mut state.on_devices);
            (state.offspring.take(), evaluations, on_devices)
        };
        let mut breeds_again = false;
        if let Some(offspring) = offspring {
            let evaluations: Vec<Evaluation> = evaluations
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect();
            let mut island = lock(&turn.island);
            let mut generation =
                island.select(&offspring, &evaluations, self.shared, self.cancel, tools);
            generation.on_devices = on_devices;
            let mut state = lock(&turn.state);
            state.generation.get_or_insert_default().add(&generation);
            state.passes += 1;
            breeds_again = state.passes < self.passes;
            island.took = state.took;
        }
        let mut queue = lock(&self.queue);
        match breeds_again {
            true => queue.ready.push_front(Work::Breed(at)),
            false => queue.under_way -= 1,
        }
        drop(queue);
        self.changed.notify_all();
    }
}
