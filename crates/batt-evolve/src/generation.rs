//! Schedules one generation over CPU workers and, if present, devices.
//!
//! ```text
//!   breed ─┬──────────────────────────────────────────────> run, in chunks ──> select
//!          └─> encode ──> devices, many islands at once ──> read ──> run the rest ──> select
//! ```
//!
//! Each island goes through these steps on its own, so a worker never waits for an island while
//! another one has work. The results do not depend on which worker does what, or when. `devices.rs`
//! implements the lower line.

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

use crate::devices::{DeviceScores, Devices};
use crate::island::{Generation, Island, Shared};
use crate::offspring::{Child, Evaluation, Offspring, run_programs};
use crate::timing::{Stage, StageTimes};

/// The most offspring that an island breeds before it runs them. If a generation has more, the
/// island breeds, runs and selects in several passes, which bounds its memory and lets it meet
/// deadlines.
const BRED_AT_ONCE: usize = 1 << 16;

/// The number of offspring in a chunk. Programs in one chunk share common steps; programs in
/// different chunks do not.
const CHUNK: usize = 128;

/// The number of offspring in a chunk of programs that fell back from devices. These programs are
/// expensive, so smaller chunks keep the last chunk from delaying the generation.
const FALLBACK_CHUNK: usize = 32;

/// The tools and buffers of a thread.
#[derive(Default)]
pub(crate) struct Tools {
    pub worker: GraphWorker,
    pub workspace: Workspace,
    /// Used only with devices.
    pub encoder: Encoder,
    pub times: StageTimes,
}

/// Locks a mutex even after a panic. This is sound because values behind these locks are always
/// replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on the numbers below `count`, on all threads, until all are done or `cancel` is set.
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

/// The result of a generation of all islands.
pub(crate) struct GenerationResult {
    /// One result per island; `None` if the work was cancelled before the island started.
    pub generations: Vec<Option<Generation>>,
    /// Whether some island did less than a whole generation.
    pub stopped: bool,
    pub times: StageTimes,
}

/// Breeds, runs and selects one generation of `count` offspring on each island. Devices run the
/// programs they can; workers run the others, or all if there are no devices.
pub(crate) fn generation<'t>(
    devices: Option<&Devices<'_, 't>>,
    islands: Vec<&mut Island<'t>>,
    count: usize,
    shared: &Shared,
    cancel: &Cancel,
) -> GenerationResult {
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
        // Offspring take much memory, so only some islands may have offspring at a time.
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
    // After a cancellation, queued work still holds references to offspring.
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
    GenerationResult {
        generations,
        stopped,
        times,
    }
}

/// The progress of an island through a generation.
pub(crate) struct Turn<'i, 't> {
    island: Mutex<&'i mut Island<'t>>,
    pub samples: Vec<Sample<'t>>,
    /// The position of its first sample among those of all tasks.
    pub first_sample: usize,
    pub state: Mutex<State>,
    /// The number of chunks that have not been run.
    chunks_to_run: AtomicUsize,
}

#[derive(Default)]
pub(crate) struct State {
    pub offspring: Option<Arc<Offspring>>,
    pub evaluations: Vec<Option<Evaluation>>,
    pub on_devices: u64,
    generation: Option<Generation>,
    /// The number of passes that the island has completed.
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

/// A task for a worker. The number is that of an island.
pub(crate) enum Work {
    Breed(usize),
    /// Reads the scores of a launch.
    Read(usize, DeviceScores),
    /// Runs a chunk: the offspring at these positions.
    Run(usize, Arc<Offspring>, Vec<usize>),
    Select(usize),
}

#[derive(Default)]
pub(crate) struct Queue {
    /// Work that can be done now. The first breeding of an island is not in this queue.
    pub ready: VecDeque<Work>,
    /// The number of islands that have started.
    pub begun: usize,
    /// The number of islands that have started and not finished.
    pub under_way: usize,
    /// The number of islands that are breeding.
    pub breeding: usize,
    /// The number of breedings still to come, over all islands.
    pub unbred: usize,
    /// The islands whose offspring wait for devices.
    pub for_devices: Vec<usize>,
}

pub(crate) struct Pipeline<'p, 'd, 'i, 't> {
    pub turns: Vec<Turn<'i, 't>>,
    /// The number of offspring of each island.
    pub count: usize,
    /// The number of passes of each island.
    passes: usize,
    shared: &'p Shared,
    pub team: &'p Team<'p>,
    cancel: &'p Cancel,
    /// The most islands that may be in progress at a time.
    pub at_once: usize,
    devices: Option<&'p Devices<'d, 't>>,
    pub queue: Mutex<Queue>,
    changed: Condvar,
    times: Mutex<StageTimes>,
}

impl<'p, 'd, 't> Pipeline<'p, 'd, '_, 't> {
    /// Waits until the queue changes, or for a moment, because a cancellation wakes up no thread.
    pub fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        let timeout = Duration::from_millis(20);
        let woken = self.changed.wait_timeout(queue, timeout);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Puts work at the end of the queue.
    pub fn push(&self, work: impl IntoIterator<Item = Work>) {
        lock(&self.queue).ready.extend(work);
        self.changed.notify_all();
    }

    /// Adds the times of a thread.
    pub fn add_times(&self, times: &StageTimes) {
        lock(&self.times).add(times);
    }

    fn devices(&self) -> Option<&'p Devices<'d, 't>> {
        self.devices.filter(|devices| devices.are_served())
    }

    /// Works until the generation has ended.
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
                Work::Read(at, scores) => {
                    self.read(at, &scores, &mut tools.times);
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
            // Breeds first if devices would otherwise run out of programs.
            let needs_programs = self
                .devices()
                .is_some_and(|devices| devices.need_more(queue.for_devices.len() * self.count));
            let breeds = queue.begun < self.turns.len() && queue.under_way < self.at_once;
            if !(needs_programs && breeds)
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
        // Cancelled: this thread ends.
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

    /// Splits offspring into chunks and queues them. If there are none, queues the selection.
    pub fn hand_out(&self, at: usize, offspring: Arc<Offspring>, mut children: Vec<usize>) {
        // Children of one parent share many steps, and so do children that were made one after the
        // other, so they go into the same chunk.
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
        // Cancelled: this thread ends.
        let Some(found) = found else { return };
        let mut state = lock(&turn.state);
        for (&k, evaluation) in chunk.iter().zip(found) {
            state.evaluations[k] = Some(evaluation);
        }
        drop(state);
        // The next breeding changes the gene pool, which would be copied if this chunk still held
        // it. So this comes before the counter.
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
