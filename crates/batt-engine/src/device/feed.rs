//! Feeding devices: chunks of consecutive runs, one after the other, a few ahead of those who look at the results.
//!
//! ```text
//!   feeder per device: take the next chunk ── launch ──────────────────────────> Chunk
//!                         ^                                                      |
//!                         +--- waits while too far ahead <--- workers wait for the chunk of their run
//! ```
//!
//! A chunk whose device fails is handed over without results, and so are all chunks once no device is left: then
//! the CPU does the runs.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use super::backend::{Device, DeviceError};
use super::bytecode::{ProgramAt, Programs};
use super::inputs::{Inputs, SampleAt, Shape, Shapes};
use super::launch::{Done, Finished, JobAt, LaunchSettings, Launcher};
use super::piece::{Numbers, Piece};
use super::report::{DeviceOpCount, DeviceUsage, op_counts};
use super::results::Reason;
use super::waves::{self, WaveFeeder, WaveLot, WaveRun, WaveSubject};
use super::wire::NOTHING;
use crate::batt::CompiledBatt;
use crate::cancel::Cancel;
use crate::sample::Sample;
use crate::schedule::{Delivered, Schedule, Team};
use crate::shard::Shard;

/// What is to be run.
pub(crate) struct Load<'a> {
    pub programs: Programs,
    pub subjects: Vec<Subject<'a>>,
    pub shapes: Shapes,
    pub samples: &'a [Sample<'a>],
    /// Which subject runs on which sample.
    pub runs: Runs<'a>,
}

/// A program or a batt, with what its jobs have to know about it.
pub(crate) struct Subject<'a> {
    /// Its pieces, a job each in every run; none if it cannot be sent.
    pub pieces: Vec<PieceAt>,
    pub params: Shape,
    /// Are comparisons wanted where the output is known?
    pub compares: bool,
    /// What devices that run waves do instead; `None` if they do the same.
    pub waves: Option<WaveSubject<'a>>,
}

/// A piece of a batt, or a program.
pub struct PieceAt {
    /// Its program.
    pub at: ProgramAt,
    /// Outputs and scores. The other entries are comparisons.
    pub solved: usize,
    pub(crate) numbers: Numbers,
}

impl PieceAt {
    /// Adds all pieces of a batt to the programs; none if one of them cannot be sent.
    pub fn all_of(programs: &mut Programs, batt: &CompiledBatt) -> Option<Vec<PieceAt>> {
        Piece::all_of(batt)
            .map(|piece| PieceAt::add(programs, piece))
            .collect()
    }

    /// The entries of the batt that this piece computes, in the order of its results.
    pub fn entries(&self) -> &[u32] {
        &self.numbers.entries
    }

    /// Adds a piece of a batt to the programs; none if it cannot be sent.
    pub(crate) fn add(programs: &mut Programs, piece: Piece) -> Option<PieceAt> {
        Some(PieceAt {
            at: programs.push_piece(&piece).ok()?,
            solved: piece.outputs + piece.scores,
            numbers: piece.numbers,
        })
    }

    /// A program is in one piece.
    pub fn program(at: ProgramAt) -> PieceAt {
        PieceAt {
            at,
            solved: 1,
            numbers: Numbers {
                entries: vec![0],
                steps: Vec::new(),
            },
        }
    }
}

/// Which subject runs on which sample.
pub(crate) enum Runs<'a> {
    /// Every subject on every sample, subject by subject: the runs of a part, from one on.
    Part { shard: Shard, from: usize },
    /// As listed.
    Listed(&'a [(u32, u32)]),
}

impl Runs<'_> {
    /// How many there are, of so many subjects and samples.
    pub fn count(&self, subjects: usize, samples: usize) -> usize {
        match self {
            Runs::Part { shard, from } => shard.len(subjects * samples).saturating_sub(*from),
            Runs::Listed(runs) => runs.len(),
        }
    }

    /// Subject and sample of a run, of so many samples.
    pub fn place(&self, at: usize, samples: usize) -> (usize, usize) {
        match self {
            Runs::Part { shard, from } => {
                let run = shard.run(from + at);
                (run / samples, run % samples)
            }
            Runs::Listed(runs) => (runs[at].0 as usize, runs[at].1 as usize),
        }
    }
}

impl Load<'_> {
    pub(super) fn count(&self) -> usize {
        self.runs.count(self.subjects.len(), self.samples.len())
    }

    /// Subject and sample of a run.
    pub(super) fn run(&self, at: usize) -> (usize, usize) {
        self.runs.place(at, self.samples.len())
    }

    /// The most jobs that a run has.
    fn most_pieces(&self) -> usize {
        let pieces = self.subjects.iter().map(|subject| subject.pieces.len());
        pieces.max().unwrap_or_default()
    }
}

/// As many samples are sent once and kept; of more, every chunk sends its own.
pub(super) const KEPT_SAMPLES: usize = 1 << 15;

/// Jobs in a chunk: enough for every warp of a large device to have several, few enough for results to come steadily.
const SMALLEST_CHUNK: usize = 1 << 14;
const LARGEST_CHUNK: usize = 1 << 16;
/// Without values there is less to wait for.
const LARGEST_CHUNK_OF_SCORES: usize = 1 << 18;

/// Chunks that a device may be ahead.
const AHEAD: usize = 2;

/// Samples as words, with the place of each by its number.
struct Sent {
    inputs: Inputs,
    places: Places,
}

enum Places {
    All(Vec<SampleAt>),
    Some(HashMap<usize, SampleAt>),
}

impl Sent {
    fn place(&self, sample: usize) -> Option<SampleAt> {
        match &self.places {
            Places::All(places) => places.get(sample).copied(),
            Places::Some(places) => places.get(&sample).copied(),
        }
    }
}

/// What became of a chunk of runs.
struct Chunk {
    lots: Vec<Lot>,
    waves: Vec<WaveLot>,
    /// Runs that nobody has looked at yet.
    waiting: Apart<AtomicUsize>,
}

/// In memory of its own: everybody writes here, and nobody is to wait who only reads what is beside it.
#[repr(align(128))]
struct Apart<T>(T);

/// What was launched together.
struct Lot {
    start: usize,
    /// For each run its jobs, if it was sent.
    jobs: Vec<Option<Jobs>>,
    done: Done,
}

/// The jobs of a run, one for each piece. Those of a piece stand next to one another, since they are alike.
#[derive(Clone, Copy)]
struct Jobs {
    first: usize,
    /// From one piece to the next.
    stride: usize,
}

impl Jobs {
    fn of_piece(self, piece: usize) -> usize {
        self.first + piece * self.stride
    }
}

impl Chunk {
    fn piece(&self, at: usize, piece: usize) -> Result<Finished<'_>, Reason> {
        let lot = self.lot(at).ok_or(Reason::Device)?;
        let jobs = lot.jobs[at - lot.start].ok_or(Reason::Unsent)?;
        lot.done.job(jobs.of_piece(piece))
    }

    fn waves(&self, at: usize) -> Option<WaveRun<'_>> {
        self.waves.iter().find_map(|lot| lot.run(at))
    }

    fn lot(&self, at: usize) -> Option<&Lot> {
        let lot = self.lots.iter().rev().find(|lot| lot.start <= at)?;
        (at - lot.start < lot.jobs.len()).then_some(lot)
    }
}

/// The queue between feeders and workers.
pub(crate) struct Feed<'a> {
    load: Load<'a>,
    settings: LaunchSettings,
    chunks: Vec<Range<usize>>,
    kept: OnceLock<Sent>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The next chunk to be launched.
    next: usize,
    /// The first chunk that is not used up.
    oldest: usize,
    /// Chunks that are used up, from the oldest on.
    used: BTreeSet<usize>,
    /// Chunks with their outcomes.
    done: HashMap<usize, Arc<Chunk>>,
    /// Devices at work.
    alive: usize,
    /// How far ahead all devices together may be.
    ahead: usize,
    /// Nobody wants any more.
    ended: bool,
    counters: Vec<u64>,
    devices: Vec<DeviceUsage>,
}

impl<'a> Feed<'a> {
    /// A feed for some devices, in chunks of a size.
    pub fn new(
        load: Load<'a>,
        settings: LaunchSettings,
        devices: usize,
        chunk: Option<usize>,
    ) -> Feed<'a> {
        let count = load.count();
        let fitting = count.div_ceil(devices.max(1) * 4);
        let largest = match settings.values {
            true => LARGEST_CHUNK,
            false => LARGEST_CHUNK_OF_SCORES,
        };
        let pieces = load.most_pieces().max(1);
        let fitting = fitting.clamp(SMALLEST_CHUNK.div_ceil(pieces), largest.div_ceil(pieces));
        let uses_waves = load.subjects.iter().any(|subject| subject.waves.is_some());
        let fitting = match uses_waves {
            true => waves::chunk(count, devices),
            false => fitting,
        };
        let size = chunk.unwrap_or(fitting).max(1);
        let starts = (0..count).step_by(size);
        Feed {
            load,
            settings,
            chunks: starts.map(|at| at..(at + size).min(count)).collect(),
            kept: OnceLock::new(),
            state: Mutex::new(State {
                alive: devices,
                ahead: devices * AHEAD,
                ..State::default()
            }),
            changed: Condvar::new(),
        }
    }

    /// Works for a device until there is nothing left to do.
    fn work(&self, device: &mut dyn Device, stop: &Cancel) {
        let subjects = self.load.subjects.iter();
        let pieces = subjects.flat_map(|subject| &subject.pieces);
        let numbers = pieces.map(|piece| &piece.numbers);
        let entries = numbers.clone().map(|numbers| numbers.entries.len());
        let steps = numbers.map(|numbers| numbers.steps.len());
        let launcher = Launcher::new(self.settings, entries.max().unwrap_or_default())
            .with_steps(steps.max().unwrap_or_default());
        let mut feeder = Feeder {
            feed: self,
            report: DeviceUsage {
                name: device.name(),
                ..DeviceUsage::default()
            },
            launcher,
            waves: WaveFeeder::new(&self.load, device),
            stop,
        };
        while let Some(number) = self.take() {
            let turn = Turn {
                feed: self,
                number,
                chunk: None,
                waves: Vec::new(),
            };
            if !feeder.run(device, turn) {
                break;
            }
        }
        feeder.waves.release(device);
    }

    /// Nobody wants results any more.
    fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// A worker's view of the feed.
    fn reader<'f>(&'f self, stop: &'f Cancel) -> Reader<'f, 'a> {
        Reader {
            feed: self,
            stop,
            range: 0..0,
            number: 0,
            taken: Taken(None),
        }
    }

    /// All runs of a chunk have been looked at: it is forgotten, and a device may go on.
    fn used_up(&self, number: usize) {
        let mut state = self.lock();
        let chunk = state.done.remove(&number);
        state.used.insert(number);
        while state.used.first() == Some(&state.oldest) {
            state.used.pop_first();
            state.oldest += 1;
        }
        drop(state);
        self.changed.notify_all();
        // It is large, so it is given back when nobody waits for the lock.
        drop(chunk);
    }

    /// What all devices did, when they have ended.
    pub fn devices(&self) -> Vec<DeviceUsage> {
        let mut devices = self.lock().devices.clone();
        devices.sort_by(|a, b| a.name.cmp(&b.name));
        devices
    }

    /// The pieces of a subject.
    pub fn pieces(&self, subject: usize) -> &[PieceAt] {
        &self.load.subjects[subject].pieces
    }

    /// Returns what a subject is on devices that run waves.
    pub fn waves(&self, subject: usize) -> Option<&WaveSubject<'a>> {
        self.load.subjects[subject].waves.as_ref()
    }

    /// What each primitive did, if that was counted.
    pub fn op_counts(&self) -> Vec<DeviceOpCount> {
        op_counts(&self.lock().counters)
    }

    /// The next chunk to be launched; `None` when there is none.
    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if state.ended || state.next >= self.chunks.len() {
                return None;
            }
            if state.next < state.oldest + state.ahead {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.wait(state);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever panicked has left the state as it was before or after a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'g>(&self, state: MutexGuard<'g, State>) -> MutexGuard<'g, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// The samples of a chunk.
    fn sent(&self, range: &Range<usize>) -> SentRef<'_> {
        let load = &self.load;
        if load.samples.len() <= KEPT_SAMPLES {
            return SentRef::Kept(self.kept.get_or_init(|| {
                let mut inputs = Inputs::new();
                let places = inputs.push_samples(load.samples, &load.shapes);
                Sent {
                    inputs,
                    places: Places::All(places),
                }
            }));
        }
        let mut numbers: Vec<usize> = range.clone().map(|at| load.run(at).1).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut inputs = Inputs::new();
        let samples = numbers.iter().map(|number| &load.samples[*number]);
        let places = inputs.push_samples(samples, &load.shapes);
        SentRef::Own(Sent {
            inputs,
            places: Places::Some(numbers.into_iter().zip(places).collect()),
        })
    }
}

enum SentRef<'f> {
    Kept(&'f Sent),
    Own(Sent),
}

impl SentRef<'_> {
    fn get(&self) -> &Sent {
        match self {
            SentRef::Kept(sent) => sent,
            SentRef::Own(sent) => sent,
        }
    }
}

/// A chunk that somebody works on. Whatever happens, it is handed over in the end.
struct Turn<'f, 'a> {
    feed: &'f Feed<'a>,
    number: usize,
    chunk: Option<Vec<Lot>>,
    waves: Vec<WaveLot>,
}

impl Drop for Turn<'_, '_> {
    fn drop(&mut self) {
        let chunk = Chunk {
            lots: self.chunk.take().unwrap_or_default(),
            waves: std::mem::take(&mut self.waves),
            waiting: Apart(AtomicUsize::new(self.feed.chunks[self.number].len())),
        };
        self.feed.lock().done.insert(self.number, Arc::new(chunk));
        self.feed.changed.notify_all();
    }
}

/// One device at work.
struct Feeder<'f, 'a> {
    feed: &'f Feed<'a>,
    report: DeviceUsage,
    launcher: Launcher,
    waves: WaveFeeder,
    stop: &'f Cancel,
}

impl Drop for Feeder<'_, '_> {
    fn drop(&mut self) {
        let mut state = self.feed.lock();
        state.alive -= 1;
        state.devices.push(std::mem::take(&mut self.report));
        drop(state);
        // The last one to leave: nobody is to wait for a chunk that no device will do.
        self.feed.changed.notify_all();
    }
}

impl Feeder<'_, '_> {
    /// Does a chunk. Is the device of any more use?
    fn run(&mut self, device: &mut dyn Device, mut turn: Turn<'_, '_>) -> bool {
        let feed = self.feed;
        let range = feed.chunks[turn.number].clone();
        self.report.runs += range.len() as u64;
        for (range, subject) in self.waves.divide(&feed.load, range) {
            let done = match subject {
                Some(subject) => self.run_waves(device, &mut turn, range, subject),
                None => self.run_lots(device, &mut turn, range),
            };
            if let Err(error) = done {
                return self.failed(&error);
            }
        }
        !self.report.lost
    }

    /// Does runs of one subject as waves.
    fn run_waves(
        &mut self,
        device: &mut dyn Device,
        turn: &mut Turn<'_, '_>,
        range: Range<usize>,
        subject: usize,
    ) -> Result<(), DeviceError> {
        let Some(engine) = device.waves() else {
            return Ok(());
        };
        let (lot, report) = (self.waves).run(engine, &self.feed.load, range, subject, self.stop)?;
        self.report.times.add(&report.times);
        for error in report.errors {
            self.failed(&DeviceError::Launch(error));
        }
        turn.waves.push(lot);
        Ok(())
    }

    /// Does runs in launches of the VM.
    fn run_lots(
        &mut self,
        device: &mut dyn Device,
        turn: &mut Turn<'_, '_>,
        range: Range<usize>,
    ) -> Result<(), DeviceError> {
        let feed = self.feed;
        let sent = feed.sent(&range);
        let mut start = range.start;
        while start < range.end {
            let most = self.launcher.most_jobs() / feed.load.most_pieces().max(1);
            let end = range.end.min(start + most.max(1));
            let lot = self.lot(device, sent.get(), start..end)?;
            turn.chunk.get_or_insert_default().push(lot);
            start = end;
        }
        Ok(())
    }

    /// Notes what went wrong. Is the device of any more use?
    fn failed(&mut self, error: &DeviceError) -> bool {
        self.report.note(error);
        !self.report.lost
    }

    fn lot(
        &mut self,
        device: &mut dyn Device,
        sent: &Sent,
        range: Range<usize>,
    ) -> Result<Lot, DeviceError> {
        let load = &self.feed.load;
        let (jobs, sending) = self.jobs(sent, range.clone());
        let done = self
            .launcher
            .run(device, &load.programs, &sent.inputs, &sending)?;
        self.count(&done);
        Ok(Lot {
            start: range.start,
            jobs,
            done,
        })
    }

    /// Which jobs each run has, none if it cannot be sent, and all of them.
    fn jobs(&self, sent: &Sent, range: Range<usize>) -> (Vec<Option<Jobs>>, Vec<JobAt>) {
        let load = &self.feed.load;
        let (mut numbers, mut jobs) = (vec![None; range.len()], Vec::new());
        let runs: Vec<usize> = range.clone().collect();
        for runs in runs.chunk_by(|a, b| load.run(*a).0 == load.run(*b).0) {
            let subject = &load.subjects[load.run(runs[0]).0];
            if subject.pieces.is_empty() {
                continue;
            }
            let sample = |&at: &usize| Some((at, sent.place(load.run(at).1)?));
            let samples: Vec<(usize, SampleAt)> = runs.iter().filter_map(sample).collect();
            let stride = samples.len();
            for (first, (at, _)) in (jobs.len()..).zip(&samples) {
                numbers[at - range.start] = Some(Jobs { first, stride });
            }
            for piece in &subject.pieces {
                jobs.extend(samples.iter().map(|(_, sample)| JobAt {
                    program: piece.at,
                    params: sample.params(subject.params),
                    expected: sample.expected,
                    compares: subject.compares && sample.expected != NOTHING,
                }));
            }
        }
        (numbers, jobs)
    }

    /// Adds up what launches took and counted.
    fn count(&mut self, done: &Done) {
        self.report.times.add(&done.times());
        if let Some(error) = &done.error {
            self.failed(error);
        }
        let counters = done.counters();
        let mut state = self.feed.lock();
        if state.counters.is_empty() {
            state.counters = counters;
        } else {
            let sums = state.counters.iter_mut();
            sums.zip(counters)
                .for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
    }
}

/// Does all items of a schedule with the help of devices. What a worker makes of an item it is given with what became of
/// it on a device, if there are any.
pub(crate) fn run_fed<T: Send, W: FnMut(usize, Option<&Taken>) -> T>(
    devices: &mut [Box<dyn Device>],
    feed: Option<&Feed<'_>>,
    schedule: &Schedule,
    stop: &Cancel,
    worker: impl Fn() -> W + Sync,
    sink: impl FnMut(usize, T),
) -> Delivered {
    let team = Team::new(stop);
    thread::scope(|scope| {
        let _end = feed.map(EndOfFeed);
        if let Some(feed) = feed {
            for device in devices {
                if !team.start(scope, "batt-feeder", || feed.work(device.as_mut(), stop)) {
                    feed.lock().alive -= 1;
                }
            }
        }
        let fed = || {
            let mut reader = feed.map(|feed| feed.reader(stop));
            let mut work = worker();
            move |at: usize| {
                let taken = reader.as_mut().map(|reader| reader.wait(at));
                let result = work(at, taken);
                // Looked at is not delivered: a worker may have to wait for a chunk with earlier results in hand.
                if let Some(reader) = &reader {
                    reader.looked_at();
                }
                result
            }
        };
        schedule.run(stop, fed, sink)
    })
}

/// What a device did with the runs of a chunk; nothing, if no device was left to do it.
pub(crate) struct Taken(Option<Arc<Chunk>>);

impl Taken {
    /// What became of a piece of a run.
    pub fn piece(&self, at: usize, piece: usize) -> Result<Finished<'_>, Reason> {
        self.0.as_ref().ok_or(Reason::Device)?.piece(at, piece)
    }

    /// Returns a run that was done as waves.
    pub fn waves(&self, at: usize) -> Option<WaveRun<'_>> {
        self.0.as_ref()?.waves(at)
    }
}

/// A worker's view of the feed.
struct Reader<'f, 'a> {
    feed: &'f Feed<'a>,
    stop: &'f Cancel,
    /// The chunk of the last run: the next one is mostly in the same.
    range: Range<usize>,
    number: usize,
    taken: Taken,
}

impl Reader<'_, '_> {
    /// Waits for the chunk of a run.
    fn wait(&mut self, at: usize) -> &Taken {
        if self.range.contains(&at) {
            return &self.taken;
        }
        let feed = self.feed;
        // What is not looked at any more is not kept while waiting.
        self.taken = Taken(None);
        let number = feed.chunks.partition_point(|range| range.end <= at);
        self.range = feed.chunks[number].clone();
        self.number = number;
        let mut state = feed.lock();
        let chunk = loop {
            if let Some(chunk) = state.done.get(&number) {
                break Some(Arc::clone(chunk));
            }
            if state.alive == 0 || state.ended {
                break None;
            }
            state = feed.wait(state);
        };
        self.taken = Taken(chunk);
        &self.taken
    }

    /// The run that was waited for has been looked at.
    fn looked_at(&self) {
        if let Some(chunk) = &self.taken.0
            && chunk.waiting.0.fetch_sub(1, Ordering::AcqRel) == 1
        {
            self.feed.used_up(self.number);
        }
    }
}

/// A worker that ends early leaves runs of chunks that are not used up: no device may go on then, and the other workers
/// must not wait for one that does.
impl Drop for Reader<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() || self.stop.is_cancelled() {
            self.feed.end();
        }
    }
}

/// Ends a feed when all workers have ended.
struct EndOfFeed<'f, 'a>(&'f Feed<'a>);

impl Drop for EndOfFeed<'_, '_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
