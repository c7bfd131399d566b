//! Devices in a generation: they score the offspring of many islands at once.
//!
//! ```text
//!   breed ─> encode ─> wait for others ─> collect ─> launch ─> scores ─> read
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::Scope;
use std::time::{Duration, Instant};

use batt_dsl::Limits;
use batt_engine::device::{
    Device, EncodedPrograms, Encoder, Prepared, SearchBatch, SearchScores, Searcher, Times,
};
use batt_engine::wave::KernelTable;
use batt_engine::{Judged, ParamRole, Sample};

use crate::generation::{Pipeline, Tools, Work, lock};
use crate::offspring::{Evaluation, Offspring};
use crate::score::closeness;
use crate::timing::{Stage, StageTimes};

/// The number of offspring in a launch, if that many are waiting. Waves take about as long for few runs
/// as for many.
const LAUNCH_SIZE: usize = 1 << 15;
const WAVES_LAUNCH_SIZE: usize = 1 << 17;

/// Threads that serve a device: one waits for the device while the other collects the next launch.
const FEEDERS: usize = 2;

/// The parameter lists that programs may have.
const PARAMS: [&[ParamRole]; 3] = [
    &[ParamRole::Input],
    &[ParamRole::Samples, ParamRole::Input],
    &[ParamRole::Samples, ParamRole::Input, ParamRole::Comparison],
];

/// Encodes the demonstrations of all tasks, one after the other. Devices keep them.
pub(crate) fn prepare<'t>(samples: &[Sample<'t>]) -> Prepared<'t> {
    Prepared::new(samples, PARAMS)
}

/// A device, and the searcher that has learnt how to use it.
type ServedDevice<'d> = (&'d mut Box<dyn Device>, Searcher);

/// The devices of a generation.
pub(crate) struct Devices<'d, 't> {
    devices: Vec<Mutex<ServedDevice<'d>>>,
    samples: &'d Prepared<'t>,
    /// The kernels of the devices, if all of them run one op at a time.
    waves: Option<&'static KernelTable>,
    /// Whether any thread serves a device.
    served: AtomicBool,
    /// The programs of each island, once they are encoded.
    encoded: Vec<Mutex<Option<EncodedPrograms>>>,
    spent: Mutex<DeviceWork>,
}

/// The scores of a launch for one island. There are none if the device failed.
pub(crate) struct DeviceScores {
    scores: Arc<Option<SearchScores>>,
    /// The position of the island's first run among the scores.
    first: usize,
}

impl<'d, 't> Devices<'d, 't> {
    /// Prepares devices for a generation of some islands. Returns `None` if there are no devices,
    /// or if the limits do not allow them.
    pub fn new(
        devices: &'d mut [Box<dyn Device>],
        samples: &'d Prepared<'t>,
        islands: usize,
        limits: &Limits,
    ) -> Option<Devices<'d, 't>> {
        let tables = devices
            .iter_mut()
            .map(|device| Some(device.waves()?.table()));
        let tables: Option<Vec<&'static KernelTable>> = tables.collect();
        let waves = tables.and_then(|tables| tables.first().copied());
        let devices: Vec<Mutex<ServedDevice<'d>>> = devices
            .iter_mut()
            .filter_map(|device| Some(Mutex::new((device, Searcher::new(limits)?))))
            .collect();
        (!devices.is_empty()).then(|| Devices {
            devices,
            samples,
            waves,
            served: AtomicBool::new(false),
            encoded: (0..islands).map(|_| Mutex::default()).collect(),
            spent: Mutex::default(),
        })
    }

    /// Starts the threads that serve the devices. If none can be started, workers run everything.
    pub fn serve<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        pipeline: &'scope Pipeline<'_, '_, '_, 't>,
    ) {
        // This is set before the first thread starts, because programs are only encoded for devices
        // while it is set.
        self.served.store(true, Ordering::Relaxed);
        let mut started = 0;
        for served in self.devices.iter().flat_map(|served| [served; FEEDERS]) {
            let feed = move || self.feed(served, pipeline);
            started += usize::from(pipeline.team.start(scope, "batt-feeder", feed));
        }
        self.served.store(started > 0, Ordering::Relaxed);
    }

    /// Returns whether any thread serves a device.
    pub fn are_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// Returns how many more islands may have offspring at a time, so that the devices stay busy.
    /// Each island has `count` offspring.
    pub fn islands_at_once(&self, count: usize) -> usize {
        (FEEDERS * self.devices.len() + 1) * self.launch_size().div_ceil(count.max(1))
    }

    /// Returns whether the waiting offspring are too few for the next launch.
    pub fn need_more(&self, waiting: usize) -> bool {
        waiting < self.launch_size()
    }

    fn launch_size(&self) -> usize {
        match self.waves {
            Some(_) => WAVES_LAUNCH_SIZE,
            None => LAUNCH_SIZE,
        }
    }

    /// Encodes the offspring of an island.
    pub fn encode(&self, at: usize, offspring: &Offspring, tools: &mut Tools) {
        let started = Instant::now();
        let roots = offspring.children.iter().map(|child| child.root);
        let graph = &offspring.pool.typed.graph;
        let encoded = match self.waves {
            Some(table) => Encoder::plan(table, graph, roots),
            None => tools.encoder.encode(graph, roots),
        };
        *lock(&self.encoded[at]) = Some(encoded);
        tools.times.since(Stage::Encode, started);
    }

    /// Returns the work of the devices so far.
    pub fn spent(&self) -> DeviceWork {
        *lock(&self.spent)
    }

    /// Sends encoded programs to a device, launch by launch.
    fn feed(&self, served: &Mutex<ServedDevice<'_>>, pipeline: &Pipeline<'_, '_, '_, 't>) {
        let mut times = StageTimes::default();
        while let Some(islands) = self.next_launch(pipeline) {
            let started = Instant::now();
            let (programs, firsts) = self.collect(&islands, pipeline);
            let parts: Vec<(EncodedPrograms, Range<usize>)> = programs
                .into_iter()
                .zip(&islands)
                .map(|(encoded, &at)| {
                    let turn = &pipeline.turns[at];
                    let own = turn.first_sample..turn.first_sample + turn.samples.len();
                    (encoded, own)
                })
                .collect();
            let batch = SearchBatch::new(self.samples, parts);
            times.since(Stage::Send, started);
            let launched = {
                let mut served = lock(served);
                let (device, searcher) = &mut *served;
                let started = Instant::now();
                let launched = searcher.launch(device.as_mut(), self.samples, batch);
                lock(&self.spent).add(&DeviceWork {
                    time: started.elapsed(),
                    times: launched
                        .as_ref()
                        .map(SearchScores::times)
                        .unwrap_or_default(),
                });
                launched
            };
            // If the device failed, workers run the programs.
            let scores = Arc::new(launched.ok());
            pipeline.push(islands.into_iter().zip(firsts).map(|(at, first)| {
                let scores = Arc::clone(&scores);
                Work::Read(at, DeviceScores { scores, first })
            }));
        }
        pipeline.add_times(&times);
    }

    /// Waits for enough islands to fill a launch and returns them; `None` when the generation has no
    /// more.
    fn next_launch(&self, pipeline: &Pipeline<'_, '_, '_, '_>) -> Option<Vec<usize>> {
        let mut queue = lock(&pipeline.queue);
        loop {
            if pipeline.team.has_ended() {
                return None;
            }
            let all_begun =
                queue.begun == pipeline.turns.len() || queue.under_way >= pipeline.at_once;
            let no_more_now = all_begun && queue.breeding == 0;
            if queue.for_devices.len() * pipeline.count >= self.launch_size() || no_more_now {
                if !queue.for_devices.is_empty() {
                    return Some(std::mem::take(&mut queue.for_devices));
                }
                if queue.unbred == 0 {
                    return None;
                }
            }
            queue = pipeline.wait(queue);
        }
    }

    /// Returns the programs of some islands, and the number of the first run of each island.
    fn collect(
        &self,
        islands: &[usize],
        pipeline: &Pipeline<'_, '_, '_, 't>,
    ) -> (Vec<EncodedPrograms>, Vec<usize>) {
        let (mut programs, mut firsts) = (Vec::new(), Vec::new());
        let mut next = 0;
        for &at in islands {
            let encoded = lock(&self.encoded[at]).take().unwrap_or_default();
            firsts.push(next);
            next += encoded.len() * pipeline.turns[at].samples.len();
            programs.push(encoded);
        }
        (programs, firsts)
    }
}

impl Pipeline<'_, '_, '_, '_> {
    /// Reads the scores of an island, and queues the programs that fall back to the CPU.
    pub fn read(&self, at: usize, scores: &DeviceScores, times: &mut StageTimes) {
        let started = Instant::now();
        let turn = &self.turns[at];
        let Some(offspring) = lock(&turn.state).offspring.clone() else {
            return;
        };
        let mut fallback = Vec::new();
        let mut run = scores.first;
        let mut evaluations = Vec::with_capacity(offspring.children.len());
        for k in 0..offspring.children.len() {
            let evaluation = scores.scores.as_ref().as_ref().and_then(|scores| {
                let own = (run..).map(|run| scores.of(run));
                evaluation(&turn.samples, own)
            });
            run += turn.samples.len();
            if evaluation.is_none() {
                fallback.push(k);
            }
            evaluations.push(evaluation);
        }
        let mut state = lock(&turn.state);
        state.on_devices = (evaluations.len() - fallback.len()) as u64;
        state.evaluations = evaluations;
        drop(state);
        times.since(Stage::Read, started);
        self.hand_out(at, offspring, fallback);
    }
}

/// The work of devices.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceWork {
    /// The time from sending programs to receiving their scores, added up over all devices.
    pub time: Duration,
    /// The times of launches and copies, added up over all devices.
    pub times: Times,
}

impl DeviceWork {
    /// Adds the work of other devices or of another generation.
    pub fn add(&mut self, other: &DeviceWork) {
        self.time += other.time;
        self.times.add(&other.times);
    }
}

/// Returns the evaluation of a program; `None` if the device did not finish a run that counts.
fn evaluation(
    samples: &[Sample<'_>],
    scores: impl Iterator<Item = Option<Judged>>,
) -> Option<Evaluation> {
    let mut evaluation = Evaluation::default();
    for (sample, score) in samples.iter().zip(scores) {
        let score = score?;
        let close = sample.expected.map_or(0, |e| closeness(&score.verdict, e));
        evaluation.add(&score.verdict, score.hash, close);
        // Runs after a failure do not count, so the device need not have finished them.
        if evaluation.failed {
            break;
        }
    }
    Some(evaluation)
}
