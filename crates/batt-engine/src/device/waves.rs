//! Runs of batts as waves: one op at a time, for all samples of a chunk.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::Instant;

use batt_dsl::Limits;

use super::backend::{Device, DeviceError, Times};
use super::feed::{KEPT_SAMPLES, Load, Runs};
use crate::batt::CompiledBatt;
use crate::cancel::Cancel;
use crate::sample::Sample;
use crate::shard::Shard;
use crate::wave::{BattPlan, WaveBatch, WaveEngine, WaveRecords, WaveSamples};

/// The bounds of the number of runs in a chunk. Runs share launches, so there should be many; but
/// the cores have something to do only after the first chunk.
const SMALLEST_CHUNK: usize = 1 << 10;
const LARGEST_CHUNK: usize = 1 << 13;

/// If fewer runs of a chunk than one in so many have a right candidate, the CPU compares: it solves
/// these runs again, but another pass of the device has as many launches as the first.
const FEW: usize = 16;

/// Returns the number of runs in a chunk.
pub(super) fn chunk(runs: usize, devices: usize) -> usize {
    let fitting = runs.div_ceil(devices.max(1) * 4);
    fitting.clamp(SMALLEST_CHUNK, LARGEST_CHUNK)
}

/// A batt that devices may run as waves.
pub(crate) struct WaveSubject<'a> {
    batt: &'a CompiledBatt,
    limits: &'a Limits,
    values: bool,
    compares: bool,
    /// The plan, once a device has asked for it; `None` inside if no part of the batt can be planned.
    plan: OnceLock<Option<BattPlan>>,
}

impl<'a> WaveSubject<'a> {
    /// Creates the subject. `values` says whether the values of entries come back, and `compares`
    /// whether there are comparisons.
    pub fn new(
        batt: &'a CompiledBatt,
        limits: &'a Limits,
        values: bool,
        compares: bool,
    ) -> WaveSubject<'a> {
        WaveSubject {
            batt,
            limits,
            values,
            compares,
            plan: OnceLock::new(),
        }
    }

    /// Returns the plan, if there is one and a device has asked for it.
    pub fn plan(&self) -> Option<&BattPlan> {
        self.plan.get()?.as_ref()
    }

    fn planned(&self, engine: &WaveEngine) -> Option<&BattPlan> {
        let plan = || BattPlan::new(engine.table(), self.batt, self.values, self.compares);
        self.plan.get_or_init(plan).as_ref()
    }
}

/// Runs of a batt that were done together.
pub(super) struct WaveLot {
    runs: Range<usize>,
    records: WaveRecords,
    /// The comparisons, for some samples.
    compared: Option<(Vec<usize>, WaveRecords)>,
}

impl WaveLot {
    /// Returns a run, if it is one of these.
    pub fn run(&self, at: usize) -> Option<WaveRun<'_>> {
        let sample = at.checked_sub(self.runs.start)?;
        self.runs.contains(&at).then(|| WaveRun {
            records: &self.records,
            sample,
            compared: self.compared.as_ref().and_then(|(samples, records)| {
                let place = samples.binary_search(&sample).ok()?;
                Some((records, place))
            }),
        })
    }
}

/// A run that was done as waves.
#[derive(Clone, Copy)]
pub(crate) struct WaveRun<'a> {
    pub records: &'a WaveRecords,
    /// The number of its sample in the batch.
    pub sample: usize,
    /// The records of comparisons, and the number of its sample there.
    pub compared: Option<(&'a WaveRecords, usize)>,
}

/// What waves took.
pub(super) struct WaveUsage {
    pub times: Times,
    pub errors: Vec<String>,
}

/// The waves of one device.
pub(super) struct WaveFeeder {
    /// Whether each subject is done as waves.
    subjects: Vec<bool>,
    uses_demos: bool,
    /// Whether all samples may stay on the device: runs next to each other have samples next to each
    /// other, and there are not too many.
    keeps: bool,
    resident: Option<WaveSamples>,
}

impl WaveFeeder {
    pub fn new(load: &Load<'_>, device: &mut dyn Device) -> WaveFeeder {
        let mut feeder = WaveFeeder {
            subjects: vec![false; load.subjects.len()],
            uses_demos: false,
            keeps: load.samples.len() <= KEPT_SAMPLES
                && matches!(load.runs, Runs::Part { shard, .. } if shard == Shard::WHOLE),
            resident: None,
        };
        let wants = load.subjects.iter().any(|subject| subject.waves.is_some());
        let Some(engine) = wants.then(|| device.waves()).flatten() else {
            return feeder;
        };
        for (subject, is_done) in load.subjects.iter().zip(&mut feeder.subjects) {
            let waves = subject
                .waves
                .as_ref()
                .filter(|_| !subject.pieces.is_empty());
            if let Some(plan) = waves.and_then(|waves| waves.planned(engine)) {
                *is_done = true;
                let mut plans = std::iter::once(&plan.plan).chain(&plan.compared);
                feeder.uses_demos |= plans.any(|plan| plan.uses_demos());
            }
        }
        feeder
    }

    /// Divides runs into those of one subject that are done as waves, and others.
    pub fn divide(
        &self,
        load: &Load<'_>,
        range: Range<usize>,
    ) -> Vec<(Range<usize>, Option<usize>)> {
        let mut parts: Vec<(Range<usize>, Option<usize>)> = Vec::new();
        for at in range {
            let subject = load.run(at).0;
            let subject = self.subjects[subject].then_some(subject);
            match parts.last_mut() {
                Some((runs, last)) if *last == subject => runs.end = at + 1,
                _ => parts.push((at..at + 1, subject)),
            }
        }
        parts
    }

    /// Does runs of one subject.
    pub fn run(
        &mut self,
        engine: &mut WaveEngine,
        load: &Load<'_>,
        runs: Range<usize>,
        subject: usize,
        stop: &Cancel,
    ) -> Result<(WaveLot, WaveUsage), DeviceError> {
        let started = Instant::now();
        let subject = load.subjects[subject].waves.as_ref();
        let (subject, plan) = subject
            .and_then(|subject| Some((subject, subject.plan()?)))
            .ok_or_else(|| DeviceError::Launch("a batt without a plan".into()))?;
        let (samples, first) = self.samples(engine, load, &runs)?;
        let uploaded = started.elapsed();
        let batch = WaveBatch {
            plan: &plan.plan,
            first,
            count: runs.len(),
        };
        let (records, report) = engine.run(&[batch], &samples, subject.limits, stop);
        if self.resident.is_none() {
            engine.release(samples);
        }
        let mut launches = report.launches;
        let mut errors = report.errors;
        let mut compared = None;
        if let Some(comparisons) = &plan.compared {
            let is_right = |sample: &usize| {
                (0..subject.batt.outputs()).any(|output| records.is_right(0, output, *sample))
            };
            let right: Vec<usize> = (0..runs.len()).filter(is_right).collect();
            if right.len() * FEW >= runs.len() {
                let samples = right.iter().map(|sample| runs.start + sample);
                let samples = samples.map(|at| load.samples[load.run(at).1]);
                let samples = self.load(engine, &samples.collect::<Vec<_>>())?;
                let batch = WaveBatch {
                    plan: comparisons,
                    first: 0,
                    count: right.len(),
                };
                let (records, report) = engine.run(&[batch], &samples, subject.limits, stop);
                engine.release(samples);
                launches += report.launches;
                errors.extend(report.errors);
                compared = Some((right, records));
            }
        }
        let times = Times {
            upload: uploaded,
            kernel: started.elapsed() - uploaded,
            launches: u32::try_from(launches).unwrap_or(u32::MAX),
            ..Times::default()
        };
        let usage = WaveUsage { times, errors };
        let lot = WaveLot {
            runs,
            records,
            compared,
        };
        Ok((lot, usage))
    }

    /// Returns samples on the device, and the number of the first one of these runs.
    fn samples(
        &mut self,
        engine: &mut WaveEngine,
        load: &Load<'_>,
        runs: &Range<usize>,
    ) -> Result<(WaveSamples, usize), DeviceError> {
        if !self.keeps {
            let samples = runs.clone().map(|at| load.samples[load.run(at).1]);
            let samples: Vec<Sample<'_>> = samples.collect();
            return Ok((self.load(engine, &samples)?, 0));
        }
        let resident = match self.resident {
            Some(resident) => resident,
            None => self.load(engine, load.samples)?,
        };
        self.resident = Some(resident);
        Ok((resident, load.run(runs.start).1))
    }

    fn load(
        &self,
        engine: &mut WaveEngine,
        samples: &[Sample<'_>],
    ) -> Result<WaveSamples, DeviceError> {
        match self.uses_demos {
            true => engine.load_with_demos(samples),
            false => engine.load(samples),
        }
    }

    /// Frees the samples that stayed on the device.
    pub fn release(&mut self, device: &mut dyn Device) {
        if let (Some(resident), Some(engine)) = (self.resident.take(), device.waves()) {
            engine.release(resident);
        }
    }
}
