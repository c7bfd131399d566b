//! Times the same runs on one core, on all cores and on devices, in turns, and compares the
//! results.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use batt::Devices;
use batt_dsl::{Limits, Workspace};
use batt_engine::device::{
    Counts, Device, DeviceOpCount, DeviceOptions, DeviceReport, LaunchSettings, ScoreOptions,
    score_table,
};
use batt_engine::{
    BattWorker, Compiled, CompiledBatt, Goal, Job, Judged, MegaOptions, MegaReport, Sample,
    StepCount, judge_job, mega_on,
};
use batt_lang::Batt;

use super::limit::Parts;
use crate::interrupt;
use crate::mega::{Entry, hash_of, verdict_of};
use batt_reference::median;

/// More rounds do not improve the median.
const ROUNDS: usize = 15;

/// The shortest time that is measured in one piece on one core, so that reading the clock does not
/// matter.
const STRETCH: Duration = Duration::from_micros(500);

/// The number of differences listed.
const LISTED: usize = 10;

/// The programs or the batt to run on samples.
pub enum Subject {
    /// Programs, which return verdicts and hashes.
    Programs(Vec<Compiled>),
    /// A batt.
    Batt {
        /// Exactly one, in the form that the engine takes.
        batt: Vec<CompiledBatt>,
        /// Whether values are computed, or only verdicts.
        values: bool,
    },
}

impl Subject {
    /// Compiles a batt. `values` says whether its values are computed, or only verdicts.
    pub fn batt(batt: &Batt, values: bool) -> Subject {
        Subject::Batt {
            batt: vec![CompiledBatt::new(batt)],
            values,
        }
    }

    /// Returns the number of runs on each sample.
    fn per_sample(&self) -> usize {
        match self {
            Subject::Programs(programs) => programs.len(),
            Subject::Batt { .. } => 1,
        }
    }
}

/// A subject and the samples to run it on.
pub struct Work<'a> {
    pub subject: &'a Subject,
    /// The number of steps on each sample.
    pub steps: usize,
    pub samples: Vec<Sample<'a>>,
    /// The number of runs in a batch, for batts; `None` leaves it to the engine.
    pub batch: Option<NonZeroUsize>,
    /// The number of samples in one call to the engine; `None` passes all samples at once.
    pub at_a_time: Option<NonZeroUsize>,
}

/// The measured times.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    pub samples: usize,
    pub runs: usize,
    /// The number of calls to the engine in one pass.
    pub calls: usize,
    /// The number of steps on each sample.
    pub steps: usize,
    pub rounds: usize,
    /// Median microseconds on one core, on all cores and on devices.
    pub one: f64,
    pub all: f64,
    pub device: f64,
    /// The parts of the time on devices.
    pub parts: Parts,
    /// Where runs were finished.
    pub counts: Counts,
}

/// The counts of a comparison between devices and the CPU.
#[derive(Default)]
pub struct Agreement {
    /// The number of results compared.
    pub compared: usize,
    /// The number of results that differ.
    pub differing: usize,
    /// The first differences.
    pub differences: Vec<String>,
}

impl Agreement {
    /// Adds the results of another comparison.
    pub fn add(&mut self, other: Agreement) {
        self.compared += other.compared;
        self.differing += other.differing;
        self.differences.extend(other.differences);
        self.differences.truncate(LISTED);
    }

    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, cores: &[T], devices: &[T]) {
        self.compared += cores.len().max(devices.len());
        for at in 0..cores.len().max(devices.len()) {
            let (core, device) = (cores.get(at), devices.get(at));
            if core == device {
                continue;
            }
            self.differing += 1;
            if self.differences.len() < LISTED {
                let text = format!("run {at}: {device:?} on the device, {core:?} on the CPU");
                self.differences.push(text);
            }
        }
    }
}

/// Runs work on one core, on all cores and on devices.
pub struct Harness<'h> {
    pub devices: &'h mut [Box<dyn Device>],
    pub limits: Limits,
    pub agreement: Agreement,
    /// Where the compared runs were finished.
    pub finished: Counts,
    /// All errors of devices.
    pub errors: Vec<String>,
    /// The number of threads of the CPU.
    pub threads: usize,
}

impl<'h> Harness<'h> {
    pub fn new(devices: &'h mut Devices) -> Harness<'h> {
        Harness {
            devices: devices.as_mut(),
            limits: Limits::default(),
            agreement: Agreement::default(),
            finished: Counts::default(),
            errors: Vec::new(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// Truncates the samples to those that one core completes in a fifth of the time, at least one.
    pub fn fit<'a>(&self, work: &mut Work<'a>, time: Duration) {
        let mut core = OneCore::new(work.subject, &self.limits);
        let started = Instant::now();
        let mut done = 0;
        while done < work.samples.len() && (done == 0 || started.elapsed() < time / 5) {
            core.run(&work.samples[done]);
            done += 1;
        }
        work.samples.truncate(done);
    }

    /// Compares the CPU with the devices, then times all three sides in turns for about `time`.
    /// Returns `None` after Ctrl-C.
    pub fn measure(&mut self, work: &Work<'_>, time: Duration) -> Option<Timings> {
        let started = Instant::now();
        let report = self.compare(work);
        let counts = report.map(|report| report.runs).unwrap_or_default();
        self.finished.add_all(&counts);
        let mut core = OneCore::new(work.subject, &self.limits);
        let mut times = [const { Vec::new() }; 3];
        let mut parts = Vec::new();
        let mut longest = Duration::ZERO;
        while parts.len() < ROUNDS && (parts.is_empty() || started.elapsed() + longest < time) {
            let round = Instant::now();
            times[0].push(core.time(&work.samples));
            times[1].push(micros(self.pass(work, false).0));
            let (elapsed, pass) = self.pass(work, true);
            times[2].push(micros(elapsed));
            parts.push(pass);
            longest = longest.max(round.elapsed());
            if interrupt::happened() {
                return None;
            }
        }
        let rounds = parts.len();
        let [one, all, device] = times.map(|mut times| median(&mut times));
        let mut parts = Parts::median(parts);
        if let Subject::Programs(_) = work.subject {
            // An estimate: each fallback run costs as much as the mean run on all cores.
            let left = counts.total() - counts.finished();
            parts.leftovers = all * left as f64 / counts.total().max(1) as f64;
        }
        Some(Timings {
            samples: work.samples.len(),
            runs: work.samples.len() * work.subject.per_sample(),
            calls: work
                .at_a_time
                .map_or(1, |n| work.samples.len().div_ceil(n.get())),
            steps: work.steps,
            rounds,
            one,
            all,
            device,
            parts,
            counts,
        })
    }

    /// Counts calls and cycles of each primitive on the devices.
    pub fn ops(&mut self, work: &Work<'_>) -> Vec<DeviceOpCount> {
        let settings = LaunchSettings {
            ops: true,
            ..LaunchSettings::default()
        };
        let report = match work.subject {
            Subject::Programs(programs) => {
                let options = self.score_options(settings);
                let stop = interrupt::stop();
                let (_, report) =
                    score_table(self.devices, programs, &work.samples, &options, stop);
                report.device
            }
            Subject::Batt { batt, values } => {
                let options = self.mega_options(*values, None, settings);
                mega_discarding(self.devices, batt, &work.samples, &options).device
            }
        };
        report.map(|report| report.ops).unwrap_or_default()
    }

    /// Runs everything on all cores and on devices, and compares all results. For batts it compares
    /// every value.
    fn compare(&mut self, work: &Work<'_>) -> Option<DeviceReport> {
        let stop = interrupt::stop();
        let report = match work.subject {
            Subject::Programs(programs) => {
                let options = self.score_options(LaunchSettings::default());
                let samples = &work.samples;
                let (cores, _) = score_table(&mut [], programs, samples, &options, stop);
                let (devices, report) =
                    score_table(self.devices, programs, samples, &options, stop);
                if !interrupt::happened() {
                    self.agreement.compare::<Judged>(&cores, &devices);
                }
                report.device
            }
            Subject::Batt { batt, .. } => {
                let options = self.mega_options(true, work.batch, LaunchSettings::default());
                let mut both = [const { Vec::<Vec<Entry>>::new() }; 2];
                let mut report = None;
                for (k, found) in both.iter_mut().enumerate() {
                    let none: &mut [Box<dyn Device>] = &mut [];
                    let devices = if k == 0 { none } else { &mut self.devices[..] };
                    let done = mega_on(
                        devices,
                        batt,
                        &work.samples,
                        0,
                        &options,
                        stop,
                        |_, run, entry| hash_of(run, entry),
                        |_, result| found.push(result.solved),
                    );
                    report = done.device;
                }
                let [cores, devices] = both;
                if !interrupt::happened() {
                    self.agreement.compare(&cores, &devices);
                }
                report
            }
        };
        let errors = report.iter().flat_map(|report| &report.devices);
        let errors = errors.flat_map(|device| device.errors.iter().cloned());
        self.errors.extend(errors);
        report
    }

    /// Runs everything once, on devices or on all cores.
    fn pass(&mut self, work: &Work<'_>, on_devices: bool) -> (Duration, Parts) {
        let all = work.samples.len().max(1);
        let at_a_time = work.at_a_time.map_or(all, NonZeroUsize::get);
        let mut whole = (Duration::ZERO, Parts::default());
        for samples in work.samples.chunks(at_a_time) {
            let (elapsed, parts) = self.batch(work, samples, on_devices);
            whole.0 += elapsed;
            whole.1.add(&parts);
        }
        whole
    }

    /// Runs everything on some samples, in one call to the engine.
    fn batch(
        &mut self,
        work: &Work<'_>,
        samples: &[Sample<'_>],
        on_devices: bool,
    ) -> (Duration, Parts) {
        let none: &mut [Box<dyn Device>] = &mut [];
        match work.subject {
            Subject::Programs(programs) => {
                let options = self.score_options(LaunchSettings::default());
                let devices = if on_devices {
                    &mut self.devices[..]
                } else {
                    none
                };
                let started = Instant::now();
                let (scores, report) =
                    score_table(devices, programs, samples, &options, interrupt::stop());
                let elapsed = started.elapsed();
                black_box(scores);
                (elapsed, Parts::of(report.device.as_ref(), elapsed))
            }
            Subject::Batt { batt, values } => {
                let options = self.mega_options(*values, work.batch, LaunchSettings::default());
                let devices = if on_devices {
                    &mut self.devices[..]
                } else {
                    none
                };
                let started = Instant::now();
                let report = mega_discarding(devices, batt, samples, &options);
                let elapsed = started.elapsed();
                let mut parts = Parts::of(report.device.as_ref(), elapsed);
                let left = report.device.as_ref().is_some_and(|device| {
                    device.runs.finished() < device.runs.total()
                        || device.entries.finished() < device.entries.total()
                });
                if left {
                    // The fallback runs on all cores.
                    parts.leftovers = micros(report.busy) / self.threads as f64;
                }
                (elapsed, parts)
            }
        }
    }

    fn score_options(&self, settings: LaunchSettings) -> ScoreOptions {
        ScoreOptions {
            limits: self.limits,
            device: DeviceOptions {
                settings,
                ..DeviceOptions::default()
            },
            ..ScoreOptions::default()
        }
    }

    fn mega_options(
        &self,
        values: bool,
        batch_size: Option<NonZeroUsize>,
        settings: LaunchSettings,
    ) -> MegaOptions {
        MegaOptions {
            limits: self.limits,
            batch_size,
            compare: false,
            values,
            device: DeviceOptions {
                settings,
                ..DeviceOptions::default()
            },
            ..MegaOptions::default()
        }
    }
}

/// Runs a mega-batch and discards its values.
fn mega_discarding(
    devices: &mut [Box<dyn Device>],
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    options: &MegaOptions,
) -> MegaReport {
    mega_on(
        devices,
        batts,
        samples,
        0,
        options,
        interrupt::stop(),
        |_, _, _| (),
        |_, _| (),
    )
}

/// Converts a duration to microseconds.
pub fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Runs a subject on this thread, without any scheduling.
pub struct OneCore<'a> {
    subject: &'a Subject,
    limits: Limits,
    workspace: Workspace,
    worker: BattWorker,
    counts: Vec<StepCount>,
}

impl<'a> OneCore<'a> {
    pub fn new(subject: &'a Subject, limits: &Limits) -> OneCore<'a> {
        let steps = match subject {
            Subject::Programs(_) => 0,
            Subject::Batt { batt, .. } => batt[0].len(),
        };
        OneCore {
            subject,
            limits: *limits,
            workspace: Workspace::new(),
            worker: BattWorker::default(),
            counts: vec![StepCount::default(); steps],
        }
    }

    /// Runs everything on one sample.
    pub fn run(&mut self, sample: &Sample<'_>) {
        match self.subject {
            Subject::Programs(programs) => {
                for program in programs {
                    let job = Job {
                        program,
                        sample: *sample,
                    };
                    black_box(judge_job(&mut self.workspace, &job, &self.limits));
                }
            }
            Subject::Batt { batt, .. } => {
                let (worker, counts) = (&mut self.worker, &mut self.counts);
                let found = batt[0].run(
                    worker,
                    sample,
                    Goal::Solve,
                    &self.limits,
                    counts,
                    |run, entry| verdict_of(run, entry, batt[0].outputs(), sample),
                );
                black_box(found);
            }
        }
    }

    /// Returns the microseconds of one pass over all samples.
    pub fn time(&mut self, samples: &[Sample<'_>]) -> f64 {
        let started = Instant::now();
        let mut passes = 0;
        while passes == 0 || started.elapsed() < STRETCH {
            for sample in samples {
                self.run(sample);
            }
            passes += 1;
        }
        micros(started.elapsed()) / f64::from(passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_result_counts_as_a_difference() {
        let mut agreement = Agreement::default();
        agreement.compare(&[1, 2, 3], &[1, 2, 3]);
        assert_eq!((agreement.compared, agreement.differing), (3, 0));
        agreement.compare(&[1, 2, 3], &[1, 4]);
        assert_eq!((agreement.compared, agreement.differing), (6, 2));
        assert_eq!(agreement.differences.len(), 2);
        assert!(agreement.differences[0].contains("run 1: Some(4) on the device"));
        let mut all = Agreement::default();
        all.add(agreement);
        assert_eq!(
            (all.compared, all.differing, all.differences.len()),
            (6, 2, 2)
        );
    }
}
