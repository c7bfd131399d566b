//! Devices and cores at work on scores.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use batt_dsl::Workspace;

use super::prepared::{Encoded, Prepared};
use super::{ScoreOptions, ScoreReport};
use crate::cancel::Cancel;
use crate::compile::Compiled;
use crate::device::backend::Device;
use crate::device::backend::DeviceError;
use crate::device::bytecode::{ProgramAt, Programs};
use crate::device::inputs::Shape;
use crate::device::launch::{Done, JobAt, LaunchPass, LaunchSettings, Launcher};
use crate::device::report::{Counts, DeviceOpCount, DeviceReport, DeviceUsage, op_counts};
use crate::device::results::{DeviceEntry, Reason, only_entry};
use crate::device::verify::{Seen, Verify};
use crate::evaluate::{Job, Judged, judge_job};
use crate::wave::{WaveBatch, WaveEngine, WavePlan, WaveRecords, WaveSamples};

/// Runs of one launch: the slowest of them holds up the others, so there should be many.
const LARGEST_CHUNK: usize = 1 << 18;

/// As many as keep a device busy for some milliseconds. See [`chunks`].
const SMALLEST_CHUNK: usize = 1 << 14;

/// Runs that the CPU takes at a time.
const PORTION: usize = 64;

/// The same of those that a device has left: they are the long ones.
const LISTED: usize = 4;

/// Jobs that are read at a time.
const READ: usize = 1 << 12;

/// Returns the score of every program on every sample, program by program; runs that were not done
/// have none.
pub(super) fn score(
    devices: &mut [Box<dyn Device>],
    programs: &[Compiled],
    samples: &Prepared<'_>,
    options: &ScoreOptions,
    stop: &Cancel,
) -> (Vec<Option<Judged>>, ScoreReport) {
    let count = programs.len() * samples.samples().len();
    let settings = options.device.settings.within(&options.limits);
    let used = !devices.is_empty() && settings.is_some() && count > 0;
    let devices = if used { devices } else { &mut [] };
    // Counters of calls are those of the VM.
    let waves = used
        && options.device.waves
        && !options.device.settings.ops
        && devices.iter_mut().all(|device| device.waves().is_some());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.map_or(cores, std::num::NonZeroUsize::get);
    let work = Work {
        programs,
        samples,
        options,
        settings: LaunchSettings {
            values: false,
            ..settings.unwrap_or_default()
        },
        stop,
        chunks: match options.device.chunk {
            _ if waves => Vec::new(),
            Some(size) => (0..count)
                .step_by(size.get())
                .map(|at| at..(at + size.get()).min(count))
                .collect(),
            None => chunks(count, devices.len().max(1)),
        },
        blocks: match waves {
            true => blocks(programs.len(), samples.samples().len(), devices.len()),
            false => Vec::new(),
        },
        next: AtomicUsize::new(0),
        queue: Mutex::new(Queue {
            portions: VecDeque::new(),
            feeders: devices.len(),
        }),
        changed: Condvar::new(),
        scores: Mutex::new(vec![None; count]),
        report: Mutex::default(),
    };
    if !used {
        work.lock().portions.push_back(Portion::Range(0..count));
    }
    let sent = (used && !waves).then(|| Sent::new(programs, samples, threads));
    thread::scope(|scope| {
        for device in devices.iter_mut() {
            let (work, sent) = (&work, &sent);
            scope.spawn(move || {
                let _leaving = Leaving(work);
                match sent {
                    Some(sent) => work.feed(device.as_mut(), sent),
                    None => work.feed_waves(device.as_mut()),
                }
            });
        }
        for _ in 0..threads {
            let work = &work;
            scope.spawn(move || work.finish());
        }
    });
    let scores = work.scores.into_inner();
    let scores = scores.unwrap_or_else(PoisonError::into_inner);
    let report = work.report.into_inner();
    let mut report = report.unwrap_or_else(PoisonError::into_inner);
    report.devices.sort_by(|a, b| a.name.cmp(&b.name));
    let report = ScoreReport {
        scores: scores.iter().flatten().count(),
        device: used.then_some(report),
    };
    (scores, report)
}

/// What the devices take one after the other: small chunks first, so that cores soon have something to do, which is what devices
/// leave; then large ones; and small ones again, so that cores are not left alone with what the last one leaves.
fn chunks(count: usize, devices: usize) -> Vec<Range<usize>> {
    let (mut chunks, mut at, mut size) = (Vec::new(), 0, SMALLEST_CHUNK);
    while at < count {
        let share = (count - at).div_ceil(2 * devices);
        let end = count.min(at + size.min(share).max(SMALLEST_CHUNK));
        chunks.push(at..end);
        at = end;
        // Each device has had one of this size.
        if chunks.len() % devices == 0 {
            size = LARGEST_CHUNK.min(2 * size);
        }
    }
    chunks
}

/// Some programs on some samples, for one call of the wave engine.
#[derive(Clone, Debug)]
struct Block {
    programs: Range<usize>,
    samples: Range<usize>,
}

/// The most runs of a block, and the blocks that each device should have at least. While it runs one, the
/// cores go on with what another one has left.
const LARGEST_BLOCK: usize = 1 << 20;
const BLOCKS: usize = 2;

/// Divides a table of programs and samples. What programs have in common is computed once in a block, so the
/// samples are divided first.
fn blocks(programs: usize, samples: usize, devices: usize) -> Vec<Block> {
    let wanted = (BLOCKS * devices).max((programs * samples).div_ceil(LARGEST_BLOCK));
    let parts = wanted.min(samples.div_ceil(SMALLEST_PART)).max(1);
    let groups = wanted.div_ceil(parts).min(programs).max(1);
    let part = |count: usize, parts: usize, k: usize| count * k / parts..count * (k + 1) / parts;
    let of_group = |group: usize| {
        (0..parts).map(move |k| Block {
            programs: part(programs, groups, group),
            samples: part(samples, parts, k),
        })
    };
    (0..groups).flat_map(of_group).collect()
}

/// The fewest samples of a block, if there are more. A call takes about as long for few samples.
const SMALLEST_PART: usize = 256;

/// Programs and samples as the devices know them.
struct Sent<'a> {
    programs: Programs,
    /// Where each program is, if it can be sent at all, and which parameters it has.
    places: Vec<Option<(ProgramAt, Shape)>>,
    samples: &'a Encoded,
}

impl<'a> Sent<'a> {
    fn new(programs: &[Compiled], samples: &'a Prepared<'_>, threads: usize) -> Sent<'a> {
        let (sent, places) = Programs::of(programs, threads);
        let place = |(at, program): (Option<ProgramAt>, &Compiled)| {
            // One whose parameters have no role fails before its first step: no work for a device.
            at.zip(samples.shape(program.roles()?))
        };
        Sent {
            programs: sent,
            places: places.into_iter().zip(programs).map(place).collect(),
            samples: samples.encoded(),
        }
    }

    fn job(&self, program: usize, sample: usize) -> Option<JobAt> {
        let (program, shape) = self.places[program]?;
        let sample = &self.samples.places[sample];
        Some(JobAt {
            program,
            params: sample.params(shape),
            expected: sample.expected,
            compares: false,
        })
    }
}

/// Runs that a device is done with.
enum Returned {
    /// Jobs of the VM, and the run of each.
    Jobs { runs: Vec<u32>, done: Done },
    /// Waves: the ends of the runs of a block, program by program.
    Waves { block: Block, records: WaveRecords },
}

/// Something for the CPU to do.
enum Portion {
    /// Runs that no device has seen.
    Range(Range<usize>),
    /// Runs that a device has left.
    Listed(Vec<u32>),
    /// Jobs whose scores are to be read.
    Read(Arc<Returned>, Range<usize>),
}

struct Queue {
    portions: VecDeque<Portion>,
    /// Devices at work: more may come from them.
    feeders: usize,
}

struct Work<'a> {
    programs: &'a [Compiled],
    samples: &'a Prepared<'a>,
    options: &'a ScoreOptions,
    /// Of each run on a device.
    settings: LaunchSettings,
    stop: &'a Cancel,
    /// For the VM.
    chunks: Vec<Range<usize>>,
    /// For devices that run waves.
    blocks: Vec<Block>,
    /// The next of these.
    next: AtomicUsize,
    queue: Mutex<Queue>,
    changed: Condvar,
    scores: Mutex<Vec<Option<Judged>>>,
    report: Mutex<DeviceReport>,
}

/// A device that leaves, however it does: nobody is to wait for it.
struct Leaving<'w, 'a>(&'w Work<'a>);

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        let work = self.0;
        let mut queue = work.lock();
        queue.feeders -= 1;
        // The last one hands over what no device has taken.
        if queue.feeders == 0 && !work.is_stopped() {
            let mut counts = Counts::default();
            let left: Vec<Range<usize>> = match work.blocks.is_empty() {
                true => std::iter::from_fn(|| work.take()).collect(),
                false => std::iter::from_fn(|| work.take_block())
                    .flat_map(|block| {
                        let programs = block.programs.clone();
                        programs.map(move |program| work.runs(program, &block))
                    })
                    .collect(),
            };
            for range in left {
                counts.add_many(Err(Reason::Device), range.len() as u64);
                queue.portions.push_back(Portion::Range(range));
            }
            work.lock_report().runs.add_all(&counts);
        }
        drop(queue);
        work.changed.notify_all();
    }
}

impl Work<'_> {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    fn take(&self) -> Option<Range<usize>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.chunks.get(number).cloned()
    }

    fn take_block(&self) -> Option<Block> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.blocks.get(number).cloned()
    }

    /// Returns the runs of a program in a block.
    fn runs(&self, program: usize, block: &Block) -> Range<usize> {
        let first = program * self.samples.samples().len();
        first + block.samples.start..first + block.samples.end
    }

    /// Works for a device.
    fn feed(&self, device: &mut dyn Device, sent: &Sent<'_>) {
        let settings = self.settings;
        let mut launcher = Launcher::new(settings, 1);
        let mut own = DeviceUsage {
            name: device.name(),
            ..DeviceUsage::default()
        };
        while !own.lost && !self.is_stopped() {
            let Some(range) = self.take() else { break };
            own.runs += range.len() as u64;
            let mut jobs = Vec::with_capacity(range.len());
            let mut runs = Vec::with_capacity(range.len());
            let mut unsent = Vec::new();
            for run in range {
                let (program, sample) = self.place(run);
                match sent.job(program, sample) {
                    Some(job) => {
                        jobs.push(job);
                        runs.push(run as u32);
                    }
                    None => unsent.push(run as u32),
                }
            }
            self.leave(unsent.into_iter().map(|run| (run, Reason::Unsent)));
            let inputs = &sent.samples.inputs;
            // Cores need not wait for the other launches with what none of them would change.
            let leave = |done: &Done| {
                let left = |(k, run): (usize, &u32)| Some((*run, done.left_at_once(k)?));
                self.leave(runs.iter().enumerate().filter_map(left));
            };
            match launcher.run_and_tell(device, &sent.programs, inputs, &jobs, leave) {
                Ok(done) => {
                    own.times.add(&done.times());
                    if let Some(error) = &done.error {
                        own.note(error);
                    }
                    if settings.ops {
                        self.count(&op_counts(&done.counters()));
                    }
                    let count = runs.len();
                    self.hand_over(Returned::Jobs { runs, done }, count);
                }
                Err(error) => {
                    own.note(&error);
                    self.leave(runs.into_iter().map(|run| (run, Reason::Device)));
                }
            }
        }
        self.lock_report().devices.push(own);
    }

    /// Works for a device that runs waves.
    fn feed_waves(&self, device: &mut dyn Device) {
        let mut own = DeviceUsage {
            name: device.name(),
            ..DeviceUsage::default()
        };
        if let Some(engine) = device.waves() {
            match engine.keep(self.samples.id(), self.samples.samples()) {
                Ok(resident) => self.run_waves(engine, &resident, &mut own),
                Err(error) => own.note(&error),
            }
        }
        self.lock_report().devices.push(own);
    }

    fn run_waves(&self, engine: &mut WaveEngine, resident: &WaveSamples, own: &mut DeviceUsage) {
        while !own.lost && !self.is_stopped() {
            let Some(block) = self.take_block() else {
                break;
            };
            let samples = block.samples.len();
            own.runs += (block.programs.len() * samples) as u64;
            // Programs of one dialect share what they have in common.
            let mut start = block.programs.start;
            let programs = &self.programs[block.programs.clone()];
            for same in programs.chunk_by(|a, b| a.dialect() == b.dialect()) {
                let started = Instant::now();
                let part = Block {
                    programs: start..start + same.len(),
                    samples: block.samples.clone(),
                };
                start = part.programs.end;
                let plan = WavePlan::of(engine.table(), same[0].dialect(), same);
                // The cores need not wait for the device with what it cannot run.
                let missing = part.programs.clone().zip(plan.planned());
                let missing = missing.filter(|(_, is_planned)| !is_planned);
                self.leave(missing.flat_map(|(program, _)| {
                    let runs = self.runs(program, &part);
                    runs.map(|run| (run as u32, Reason::Missing))
                }));
                let batch = WaveBatch {
                    plan: &plan,
                    first: part.samples.start,
                    count: samples,
                };
                let (records, report) =
                    engine.run(&[batch], resident, &self.options.limits, self.stop);
                own.times.kernel += started.elapsed();
                own.times.launches += u32::try_from(report.launches).unwrap_or(u32::MAX);
                for error in report.errors {
                    own.note(&DeviceError::Launch(error));
                }
                let block = part;
                self.hand_over(Returned::Waves { block, records }, same.len() * samples);
            }
        }
    }

    fn lock_report(&self) -> MutexGuard<'_, DeviceReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds up what each primitive did.
    fn count(&self, ops: &[DeviceOpCount]) {
        let mut report = self.lock_report();
        for new in ops {
            match report.ops.iter_mut().find(|old| old.op == new.op) {
                Some(old) => {
                    old.calls = old.calls.saturating_add(new.calls);
                    old.cycles = old.cycles.saturating_add(new.cycles);
                }
                None => report.ops.push(*new),
            }
        }
        report
            .ops
            .sort_by_key(|count| std::cmp::Reverse(count.cycles));
    }

    /// Hands so many runs over to be read.
    fn hand_over(&self, returned: Returned, count: usize) {
        let returned = Arc::new(returned);
        let mut queue = self.lock();
        for start in (0..count).step_by(READ) {
            let range = start..(start + READ).min(count);
            let portion = Portion::Read(Arc::clone(&returned), range);
            queue.portions.push_front(portion);
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Counts runs that are left, and hands them over to the CPU.
    fn leave(&self, left: impl Iterator<Item = (u32, Reason)>) {
        let mut counts = Counts::default();
        let count = |(run, reason)| {
            counts.add(Err(reason));
            run
        };
        let runs: Vec<u32> = left.map(count).collect();
        self.lock_report().runs.add_all(&counts);
        self.list(&runs);
    }

    /// Hands runs over to the CPU, a few at a time: some of them take long.
    fn list(&self, runs: &[u32]) {
        if runs.is_empty() {
            return;
        }
        let mut queue = self.lock();
        for portion in runs.chunks(LISTED) {
            queue.portions.push_back(Portion::Listed(portion.to_vec()));
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Program and sample of a run.
    fn place(&self, run: usize) -> (usize, usize) {
        let samples = self.samples.samples().len();
        (run / samples, run % samples)
    }

    fn job(&self, run: usize) -> Job<'_> {
        let (program, sample) = self.place(run);
        Job {
            program: &self.programs[program],
            sample: self.samples.samples()[sample],
        }
    }

    /// Works for the CPU until no device can leave anything any more.
    fn finish(&self) {
        let mut core = Core {
            work: self,
            workspace: Workspace::new(),
            verify: Verify::new(self.options.device.verify),
        };
        while let Some(portion) = self.next_portion() {
            let found = match portion {
                Portion::Range(range) => core.run(range),
                Portion::Listed(runs) => core.run(runs.iter().map(|&run| run as usize)),
                Portion::Read(returned, range) => core.read(&returned, range),
            };
            let mut scores = self.scores.lock().unwrap_or_else(PoisonError::into_inner);
            for (run, score) in found {
                scores[run] = Some(score);
            }
        }
        let Verify {
            verified,
            differing,
            mismatches,
            ..
        } = core.verify;
        self.lock_report().note(verified, differing, mismatches);
    }

    fn next_portion(&self) -> Option<Portion> {
        let mut queue = self.lock();
        loop {
            match queue.portions.pop_front() {
                Some(Portion::Range(range)) if range.len() > PORTION => {
                    let rest = range.start + PORTION..range.end;
                    queue.portions.push_front(Portion::Range(rest));
                    return Some(Portion::Range(range.start..range.start + PORTION));
                }
                Some(portion) => return Some(portion),
                None if queue.feeders == 0 => return None,
                None => {
                    let waited = self.changed.wait(queue);
                    queue = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// One thread at work.
struct Core<'w, 'a> {
    work: &'w Work<'a>,
    workspace: Workspace,
    verify: Verify,
}

impl Core<'_, '_> {
    /// Does runs.
    fn run(&mut self, runs: impl Iterator<Item = usize>) -> Vec<(usize, Judged)> {
        let work = self.work;
        let going_on = |_: &usize| !work.is_stopped();
        let score = |run: usize| {
            let score = judge_job(&mut self.workspace, &work.job(run), &work.options.limits);
            (run, score)
        };
        runs.take_while(going_on).map(score).collect()
    }

    /// Reads the scores of finished jobs, and lists those of the others that are not listed yet.
    fn read(&mut self, returned: &Returned, range: Range<usize>) -> Vec<(usize, Judged)> {
        let mut found = Vec::with_capacity(range.len());
        let mut left = Vec::new();
        let mut counts = Counts::default();
        for k in range {
            let (run, end) = match returned {
                Returned::Jobs { done, .. } if done.left_at_once(k).is_some() => continue,
                Returned::Jobs { runs, done } => {
                    let end = done.job(k).and_then(|finished| {
                        let entry = only_entry(finished.words, false).map_err(Reason::from)?;
                        Ok((finished.pass, score_of(&entry)))
                    });
                    (runs[k], end)
                }
                Returned::Waves { block, records } => {
                    let (program, sample) = (k / block.samples.len(), k % block.samples.len());
                    let end = records.end(0, program, sample).judged();
                    if end.as_ref().err() == Some(&Reason::Missing) {
                        // Listed before the launch.
                        continue;
                    }
                    let runs = self.work.runs(block.programs.start + program, block);
                    (
                        (runs.start + sample) as u32,
                        end.map(|score| (LaunchPass::First, score)),
                    )
                }
            };
            match end {
                Ok((pass, score)) => {
                    counts.add(Ok(pass));
                    let run = run as usize;
                    found.push((run, self.verified(run, score)));
                }
                Err(reason) => {
                    counts.add(Err(reason));
                    left.push(run);
                }
            }
        }
        self.work.lock_report().runs.add_all(&counts);
        self.work.list(&left);
        found
    }

    /// A score of a device; that of the CPU, if it does the run again to compare.
    fn verified(&mut self, run: usize, score: Judged) -> Judged {
        if !self.verify.chooses(run) {
            return score;
        }
        let limits = &self.work.options.limits;
        let (cpu, seen) = Seen::scored(&mut self.workspace, &self.work.job(run), limits);
        let device = Seen::judged(&score);
        self.verify.compare(run, &[seen], &[device]);
        cpu
    }
}

pub(super) fn score_of(entry: &DeviceEntry) -> Judged {
    Judged {
        verdict: entry.verdict(),
        hash: match entry {
            DeviceEntry::Value { hash, .. } => Some(*hash),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_whole_table() {
        for (programs, samples) in [(1, 1), (400, 3_500), (1, 22_752), (100_000, 3), (3, 700)] {
            for devices in 1..5 {
                let mut seen = vec![0_u8; programs * samples];
                for block in blocks(programs, samples, devices) {
                    let runs = block.programs.len() * block.samples.len();
                    assert!(runs > 0 && runs <= LARGEST_BLOCK + programs.max(samples));
                    for program in block.programs {
                        for sample in block.samples.clone() {
                            seen[program * samples + sample] += 1;
                        }
                    }
                }
                assert!(seen.iter().all(|&times| times == 1));
            }
        }
    }

    #[test]
    fn chunks_grow_and_shrink() {
        for devices in 1..4 {
            for count in [0, 1, SMALLEST_CHUNK, 100_000, 1_400_000, 10_000_000] {
                let chunks = chunks(count, devices);
                let all: Vec<usize> = chunks.iter().cloned().flatten().collect();
                assert!(all.into_iter().eq(0..count));
                assert!(chunks.iter().all(|chunk| chunk.len() <= LARGEST_CHUNK));
            }
            let chunks = chunks(10_000_000, devices);
            assert_eq!(chunks[0].len(), SMALLEST_CHUNK);
            assert!(chunks.iter().any(|chunk| chunk.len() == LARGEST_CHUNK));
            assert!(chunks[chunks.len() - 2].len() <= 2 * SMALLEST_CHUNK);
        }
    }
}
