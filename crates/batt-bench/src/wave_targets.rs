//! Measures waves on two workloads of the original's documents: a batt of about 650 steps, and
//! `o_g` alone.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::thread;
use std::time::Instant;

use anyhow::{Result, anyhow};
use batt_dsl::{Limits, Run};
use batt_engine::device::{Counts, Device, DeviceOptions, ScoreOptions, score_table};
use batt_engine::wave::{WaveBatch, WavePlan};
use batt_engine::{
    BattEntry, Cancel, CompiledBatt, Judged, MegaOptions, MegaReport, Sample, Verdict, mega_on,
};
use batt_lang::OnError;
use batt_reference::median;

use crate::corpus::{Corpus, merged_to_size};
use crate::interrupt;
use crate::mega::targets::STEPS;
use crate::targets::o_g;
use crate::text::{note, where_finished};
use crate::waves::agrees;

/// The number of samples of the batt, and the number of grids of `o_g`.
const SAMPLES: usize = 4_000;
const GRIDS: usize = 22_752;

/// The passes on each side.
const PASSES: usize = 5;

/// A side by side comparison.
struct Pair {
    name: String,
    cores: f64,
    waves: f64,
    compared: usize,
    differing: usize,
    note: String,
}

/// Measures both workloads. Returns the lines of the report, and whether all results agree.
pub fn measure(corpus: &Corpus, devices: &mut [Box<dyn Device>]) -> Result<(Vec<String>, bool)> {
    let mut pairs = batt(corpus, devices)?;
    if !interrupt::happened() {
        pairs.push(objects(corpus, devices)?);
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let agree = pairs.iter().all(|pair| pair.differing == 0);
    let line = |pair: Pair| {
        format!(
            "{:40} {threads} cores {:9.1} ms, waves {:9.1} ms, {:6.2} times; {} of {} differ; {}",
            pair.name,
            pair.cores * 1e3,
            pair.waves * 1e3,
            pair.cores / pair.waves,
            pair.differing,
            pair.compared,
            pair.note
        )
    };
    Ok((pairs.into_iter().map(line).collect(), agree))
}

fn cycled<'c>(corpus: &'c Corpus, count: usize) -> Vec<Sample<'c>> {
    corpus.samples().into_iter().cycle().take(count).collect()
}

/// The result of a run: the verdicts, and digests of the values or the faults of all entries.
type Line = (Vec<Verdict>, Vec<u64>, Option<Vec<u64>>);

/// Measures the batt with its values and without.
fn batt(corpus: &Corpus, devices: &mut [Box<dyn Device>]) -> Result<Vec<Pair>> {
    let batt = merged_to_size(&corpus.donors(), STEPS, OnError::default())?;
    let steps = batt.program.steps().len();
    let compiled = [CompiledBatt::new(&batt)];
    let samples = cycled(corpus, SAMPLES);
    note(format_args!("a batt of {steps} steps on {SAMPLES} samples"));
    let options = |values| MegaOptions {
        limits: Limits::default(),
        values,
        device: DeviceOptions {
            waves: true,
            ..DeviceOptions::default()
        },
        ..MegaOptions::default()
    };
    let mut lines = [const { Vec::<Line>::new() }; 2];
    let mut reports = Vec::new();
    for (side, lines) in lines.iter_mut().enumerate() {
        let none: &mut [Box<dyn Device>] = &mut [];
        let devices = if side == 0 { none } else { &mut *devices };
        reports.push(mega_on(
            devices,
            &compiled,
            &samples,
            0,
            &options(true),
            interrupt::stop(),
            |_, run, entry| digest(run, entry),
            |_, result| lines.push((result.verdicts, result.solved, result.compared)),
        ));
    }
    let [cores, waves] = &lines;
    let differing = cores.iter().zip(waves).filter(|(a, b)| a != b).count()
        + cores.len().abs_diff(waves.len())
        + usize::from(reports[0].steps != reports[1].steps);
    let counts = |report: &MegaReport| {
        let device = report.device.as_ref();
        device.map_or(Counts::default(), |device| device.entries)
    };
    let mut pairs = Vec::new();
    for values in [true, false] {
        let mut times = [const { Vec::new() }; 2];
        let mut busy = [0.0; 2];
        for _ in 0..PASSES {
            for (side, times) in times.iter_mut().enumerate() {
                let none: &mut [Box<dyn Device>] = &mut [];
                let devices = if side == 0 { none } else { &mut *devices };
                let started = Instant::now();
                let report = mega_on(
                    devices,
                    &compiled,
                    &samples,
                    0,
                    &options(values),
                    interrupt::stop(),
                    |_, _, _| (),
                    |_, _| (),
                );
                times.push(started.elapsed().as_secs_f64());
                busy[side] = report.busy.as_secs_f64() * 1e3;
            }
        }
        let [cores, waves] = times.map(|mut times| median(&mut times));
        let which = if values { "values" } else { "verdicts" };
        pairs.push(Pair {
            name: format!("batt of {steps} steps, {which}"),
            cores,
            waves,
            compared: lines[0].len(),
            differing,
            note: format!(
                "the threads work {:.1} and {:.1} ms; entries: {}",
                busy[0],
                busy[1],
                where_finished(&counts(&reports[1]))
            ),
        });
    }
    Ok(pairs)
}

/// Returns a digest of an entry: of its value with the order of its sets, or of its fault.
fn digest<'r>(run: &mut Run<'r>, entry: BattEntry<'r>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match entry.value {
        Ok(value) => match run.to_owned(value) {
            Ok(owned) => owned.to_string().hash(&mut hasher),
            Err(fault) => fault.name().hash(&mut hasher),
        },
        Err(error) => {
            let step = error.step.map(|step| step.index());
            (error.fault.name(), step).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Measures `o_g` on samples that stay on the device.
fn objects(corpus: &Corpus, devices: &mut [Box<dyn Device>]) -> Result<Pair> {
    let programs = o_g()?;
    let samples = cycled(corpus, GRIDS);
    note(format_args!("o_g on {GRIDS} grids"));
    let engine = devices.first_mut().and_then(|device| device.waves());
    let engine = engine.ok_or_else(|| anyhow!("the device has no waves"))?;
    let resident = engine.load(&samples)?;
    let cancel = Cancel::new();
    let options = ScoreOptions::default();
    let mut times = [const { Vec::new() }; 2];
    let (mut differing, mut finished) = (0, 0);
    for pass in 0..PASSES {
        let started = Instant::now();
        let (expected, _) = score_table(&mut [], &programs, &samples, &options, &cancel);
        times[0].push(started.elapsed().as_secs_f64());
        let started = Instant::now();
        let plan = WavePlan::of(engine.table(), programs[0].dialect(), &programs);
        let batch = WaveBatch {
            plan: &plan,
            first: 0,
            count: samples.len(),
        };
        let (records, report) = engine.run(&[batch], &resident, &Limits::default(), &cancel);
        times[1].push(started.elapsed().as_secs_f64());
        if let Some(error) = report.errors.first() {
            return Err(anyhow!("{error}"));
        }
        if pass == 0 {
            finished = report.finished;
            let judged: Vec<Judged> = expected;
            let pairs = judged.iter().enumerate();
            differing = pairs
                .filter(|(sample, judged)| !agrees(&records.end(0, 0, *sample), judged))
                .count();
        }
        engine.reuse(records);
    }
    engine.release(resident);
    let [cores, waves] = times.map(|mut times| median(&mut times));
    Ok(Pair {
        name: "o_g".to_owned(),
        cores,
        waves,
        compared: samples.len(),
        differing,
        note: format!("{finished} finished"),
    })
}
