//! Mega-batches with devices. The results are those of [`mega`].

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use batt_dsl::Run;

use crate::batt::{BattEntry, CompiledBatt, Goal};
use crate::cancel::Cancel;
use crate::device::{
    Counts, Device, DeviceReport, Feed, JobParam, LaunchSettings, Load, PieceAt, Programs, Reason,
    Replay, RunThere, Runs, Seen, Shapes, Subject, Taken, Tally, Verify, WaveSubject, run_fed,
};
use crate::mega::{
    CurrentRun, Entries, Mega, MegaOptions, MegaReport, MegaResult, MegaWorker, is_right, mega,
};
use crate::sample::Sample;

/// Runs a mega-batch as [`mega`] does, with the same results, and uses devices.
///
/// Devices are not used if the limits do not [allow](LaunchSettings::within) it. The report then
/// has no device part.
#[allow(
    clippy::too_many_arguments,
    reason = "those of `mega`, and the devices"
)]
pub fn mega_on<T: Send>(
    devices: &mut [Box<dyn Device>],
    batts: &[CompiledBatt],
    samples: &[Sample<'_>],
    from: usize,
    options: &MegaOptions,
    cancel: &Cancel,
    render: impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T + Sync,
    sink: impl FnMut(usize, MegaResult<T>),
) -> MegaReport {
    let settings = options.device.settings.within(&options.limits);
    let Some(settings) = settings.filter(|_| !devices.is_empty()) else {
        return mega(batts, samples, from, options, cancel, render, sink);
    };
    let mega = Mega::new(batts, samples, from, options);
    let feed = feed(devices.len(), settings, batts, samples, from, options);
    let totals = Mutex::new(DeviceReport::default());
    let worker = || {
        let mut worker = DeviceWorker {
            cpu: mega.worker(),
            runs: Counts::default(),
            entries: Counts::default(),
            verify: Verify::new(options.device.verify),
            feed: &feed,
            totals: &totals,
        };
        let (mega, render) = (&mega, &render);
        move |at: usize, taken: Option<&Taken>| worker.run(&mega.run_at(at), taken, render)
    };
    let report = mega.deliver(sink, |schedule, sink| {
        run_fed(devices, Some(&feed), schedule, cancel, worker, sink)
    });
    // If a worker panicked, the schedule has passed the panic on, so the lock is not poisoned.
    let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    MegaReport {
        device: Some(DeviceReport {
            devices: feed.devices(),
            ops: feed.op_counts(),
            ..totals
        }),
        ..report
    }
}

/// Creates the queue of runs for the devices.
fn feed<'a>(
    devices: usize,
    settings: LaunchSettings,
    batts: &'a [CompiledBatt],
    samples: &'a [Sample<'a>],
    from: usize,
    options: &'a MegaOptions,
) -> Feed<'a> {
    let settings = LaunchSettings {
        values: options.values,
        ..settings
    };
    let mut programs = Programs::new();
    let mut shapes = Shapes::default();
    // Counters of calls are those of the VM.
    let waves = options.device.waves && !settings.ops;
    let subject = |batt: &'a CompiledBatt| {
        let pieces = PieceAt::all_of(&mut programs, batt);
        let demos = match batt.uses_samples {
            true => JobParam::Demos,
            false => JobParam::Nothing,
        };
        Subject {
            pieces: pieces.unwrap_or_default(),
            params: shapes.add(&[
                demos,
                JobParam::Input,
                JobParam::Nothing,
                JobParam::Expected,
            ]),
            compares: options.compare,
            waves: waves
                .then(|| WaveSubject::new(batt, &options.limits, options.values, options.compare)),
        }
    };
    let subjects = batts.iter().map(subject).collect();
    let load = Load {
        programs,
        subjects,
        shapes,
        samples,
        runs: Runs::Part {
            shard: options.shard,
            from,
        },
    };
    let chunk = options.device.chunk.map(NonZeroUsize::get);
    Feed::new(load, settings, devices, chunk)
}

/// One thread that works with devices. Dropping it adds its counts to the totals.
struct DeviceWorker<'m> {
    cpu: MegaWorker<'m>,
    runs: Counts,
    entries: Counts,
    verify: Verify,
    feed: &'m Feed<'m>,
    totals: &'m Mutex<DeviceReport>,
}

impl DeviceWorker<'_> {
    fn run<T>(
        &mut self,
        current: &CurrentRun<'_>,
        taken: Option<&Taken>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> MegaResult<T> {
        let started = Instant::now();
        let done = taken.and_then(|taken| {
            let done = self.finished(current, taken, render);
            if let Err(reason) = &done {
                self.runs.add(Err(*reason));
                let entries = current.batt.solved() as u64;
                self.entries.add_many(Err(*reason), entries);
            }
            done.ok()
        });
        let entries = done.unwrap_or_else(|| {
            self.cpu.on_cpu(current, |run, entry| {
                let verdict = current.verdict(run, &entry);
                (verdict, render(current.number, run, entry))
            })
        });
        self.cpu.result(current, started, entries)
    }

    /// Returns the entries of a run that a device has finished; fails if the device's results
    /// cannot be decoded.
    fn finished<T>(
        &mut self,
        current: &CurrentRun<'_>,
        taken: &Taken,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Result<Entries<T>, Reason> {
        let there = RunThere {
            batt: current.batt,
            sample: current.sample,
            limits: &self.cpu.options.limits,
            pieces: self.feed.pieces(current.number),
            waves: self.feed.waves(current.number).and_then(WaveSubject::plan),
            compares: current.compares,
            full: self.cpu.options.values,
        };
        let replay = Replay::new(there, taken, current.at)?;
        let entries = match self.verify.chooses(current.run) {
            true => self.verified(current, &replay, render),
            false => self.replayed(current, &replay, render),
        }?;
        self.runs.add(Ok(replay.pass));
        Ok(entries)
    }

    fn replayed<T>(
        &mut self,
        current: &CurrentRun<'_>,
        replay: &Replay<'_>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Result<Entries<T>, Reason> {
        let ahead = self.cpu.compares_ahead(current);
        let full = self.cpu.options.values;
        let mut tally = Tally {
            steps: &mut self.cpu.counts[current.number],
            entries: &mut self.entries,
        };
        let worker = &mut self.cpu.worker;
        replay.show(ahead, worker, &mut tally, is_right, |run, entry, found| {
            let verdict = match full {
                true => current.verdict(run, &entry),
                false => current.judges(&entry).then(|| found.verdict()),
            };
            (verdict, render(current.number, run, entry))
        })
    }

    /// Repeats a run on the CPU and compares it with the device's results. Returns the CPU's
    /// entries.
    fn verified<T>(
        &mut self,
        current: &CurrentRun<'_>,
        replay: &Replay<'_>,
        render: &impl for<'r> Fn(usize, &mut Run<'r>, BattEntry<'r>) -> T,
    ) -> Result<Entries<T>, Reason> {
        let there = replay.seen(&mut self.cpu.worker)?;
        let (full, outputs) = (self.cpu.options.values, current.batt.outputs());
        let done = self.cpu.on_cpu(current, |run, entry| {
            let verdict = current.verdict(run, &entry);
            let made = render(current.number, run, entry);
            // The second look at a value has limits of its own, so it does not affect the first.
            run.renew();
            let expected = current.sample.expected.filter(|_| entry.number < outputs);
            let seen = Seen::here(run, entry.value, full, expected);
            (verdict, (seen, made))
        });
        let (seen, done): (Vec<Seen>, Entries<T>) = done
            .into_iter()
            .map(|(verdict, (seen, made))| (seen, (verdict, made)))
            .unzip();
        replay.count(Goal::Solve, &mut self.entries);
        self.verify.compare(current.run, &seen, &there);
        Ok(done)
    }
}

impl Drop for DeviceWorker<'_> {
    fn drop(&mut self) {
        if let Ok(mut totals) = self.totals.lock() {
            totals.runs.add_all(&self.runs);
            totals.entries.add_all(&self.entries);
            let verify = &mut self.verify;
            let mismatches = std::mem::take(&mut verify.mismatches);
            totals.note(verify.verified, verify.differing, mismatches);
        }
    }
}
