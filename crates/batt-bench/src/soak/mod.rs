//! Runs mega-batches repeatedly, and checks that memory does not grow and that results stay right.

mod growth;
mod report;

use std::time::{Duration, Instant};

use anyhow::Result;
use batt::{Cancel, Devices};
use batt_dsl::Limits;
use batt_engine::device::{
    Counts, DeviceOptions, DeviceReport, LaunchSettings, ScoreOptions, score_table,
};
use batt_engine::{Compiled, CompiledBatt, MegaOptions, Sample, mega_on};
use batt_lang::SplitMix64;
use batt_lang::card::CardDonor;
use clap::Args;
use serde_json::json;

use self::growth::Growth;
use self::report::{to_json, write};
use crate::corpus::merged;
use crate::devices;
use crate::interrupt;
use crate::memory::{DeviceMemory, Used, Watch};
use crate::options::{Common, OnDevice, fraction};
use crate::text::print;

/// Run mega-batches on a device for --seconds, and check results and memory
///
/// Some results are verified on the CPU, and memory is sampled every second. The exit code is 1 if
/// a result differs, if a device is lost, or if memory grows by more than 2 % from the second fifth
/// of the time to the last.
#[derive(Args)]
pub struct SoakArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    device: OnDevice,

    /// The fraction of runs that the CPU repeats to compare
    #[arg(long, value_name = "FRACTION", default_value_t = 0.05, value_parser = fraction)]
    verify: f64,
}

/// Runs the benchmark. Returns whether nothing is wrong.
pub fn main(args: &SoakArgs) -> Result<bool> {
    let soak = run(args)?;
    print(|out| match args.common.json {
        true => Ok(writeln!(out, "{}", json!({"soak": to_json(&soak)}))?),
        false => Ok(write(out, &soak)?),
    })?;
    Ok(!soak.is_bad())
}

/// The number of solvers in a batt.
const SOLVERS: usize = 32;

/// The number of different batts that run before the first repeats.
const DIFFERENT: usize = 100;

/// The number of batts in one mega-batch.
const TOGETHER: usize = 4;

/// The interval at which memory is sampled.
const EVERY: Duration = Duration::from_secs(1);

/// The result of a soak.
pub struct Soak {
    pub devices: Vec<String>,
    pub solvers: usize,
    pub samples: usize,
    /// The number of different batts.
    pub batts: usize,
    pub elapsed: Duration,
    /// The number of rounds. In each round every solver runs on every input, both in a batt and
    /// alone.
    pub rounds: usize,
    /// The number of calls to the engine, with batts or with programs.
    pub batches: usize,
    /// The number of runs of batts.
    pub batt_runs: usize,
    /// The number of runs of programs.
    pub program_runs: usize,
    pub counts: Counts,
    pub launches: u64,
    pub verified: u64,
    pub differing: u64,
    /// The first differences.
    pub differences: Vec<String>,
    /// The first errors of devices.
    pub errors: Vec<String>,
    pub lost: bool,
    pub memory: Vec<Used>,
    pub process: Option<Growth>,
    pub device: Option<Growth>,
    pub interrupted: bool,
}

impl Soak {
    /// Returns whether a result differs, a device was lost, or memory grew.
    pub fn is_bad(&self) -> bool {
        let grown = |growth: &Option<Growth>| growth.as_ref().is_some_and(Growth::is_too_much);
        self.differing > 0 || self.lost || grown(&self.process) || grown(&self.device)
    }
}

/// The number of differences and of errors kept.
const LISTED: usize = 10;

/// Runs until the time is over.
fn run(args: &SoakArgs) -> Result<Soak> {
    let corpus = args.common.corpus(None)?;
    let donors = corpus.donors();
    let samples = corpus.samples();
    let batts = batts(&donors, args.common.seed)?;
    let programs = corpus.compiled();
    let mut devices = devices::open(&args.device.device)?;
    let mut soak = Soak {
        devices: devices.names(),
        solvers: donors.len(),
        samples: samples.len(),
        batts: batts.len(),
        elapsed: Duration::ZERO,
        rounds: 0,
        batches: 0,
        batt_runs: 0,
        program_runs: 0,
        counts: Counts::default(),
        launches: 0,
        verified: 0,
        differing: 0,
        differences: Vec::new(),
        errors: Vec::new(),
        lost: false,
        memory: Vec::new(),
        process: None,
        device: None,
        interrupted: false,
    };
    let stop = Cancel::new();
    let started = Instant::now();
    let watch = {
        let (stop, time) = (stop.clone(), args.common.time());
        Watch::start(DeviceMemory::of(&args.device.device), EVERY, move || {
            if started.elapsed() >= time || interrupt::happened() {
                stop.cancel();
            }
        })
    };
    let work = Work {
        batts: &batts,
        programs: &programs,
        samples: &samples,
        verify: args.verify,
        stop: &stop,
    };
    while work.round(soak.rounds, &mut devices, &mut soak) {
        soak.rounds += 1;
    }
    soak.elapsed = started.elapsed();
    soak.memory = watch.finish();
    let rounds = soak.rounds;
    let growth = |of: fn(&Used) -> Option<u64>| Growth::of(soak.memory.iter().map(of), rounds);
    (soak.process, soak.device) = (growth(|used| used.process), growth(|used| used.devices));
    soak.interrupted = interrupt::happened();
    Ok(soak)
}

/// Merges the solvers into different batts, shuffled between passes.
fn batts(donors: &[CardDonor<'_>], seed: u64) -> Result<Vec<CompiledBatt>> {
    let mut random = SplitMix64::new(seed);
    let mut order: Vec<CardDonor<'_>> = donors.to_vec();
    let mut found = Vec::new();
    while found.len() < DIFFERENT {
        for some in order.chunks(SOLVERS) {
            found.push(CompiledBatt::new(&merged(some, true)?.batt));
        }
        if donors.len() <= SOLVERS {
            break;
        }
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at as u64 + 1) as usize);
        }
    }
    Ok(found)
}

/// One call to the engine.
enum Turn<'a> {
    Batts(&'a [CompiledBatt]),
    Programs(&'a [Compiled]),
}

/// The batts, programs and samples of a soak.
struct Work<'a> {
    batts: &'a [CompiledBatt],
    programs: &'a [Compiled],
    samples: &'a [Sample<'a>],
    verify: f64,
    stop: &'a Cancel,
}

impl Work<'_> {
    /// Runs every solver once in a batt and once alone, on all inputs. The next round uses other
    /// batts. Returns whether the round was completed.
    fn round(&self, round: usize, devices: &mut Devices, soak: &mut Soak) -> bool {
        let rounds: Vec<&[CompiledBatt]> = self
            .batts
            .chunks(self.programs.len().div_ceil(SOLVERS))
            .collect();
        let batts = rounds[round % rounds.len()].chunks(TOGETHER);
        // Batts and programs alternate in small parts, so that the use of memory stays even.
        let part = self.programs.len().div_ceil(batts.len());
        for (batts, programs) in batts.zip(self.programs.chunks(part)) {
            for turn in [Turn::Batts(batts), Turn::Programs(programs)] {
                if self.stop.is_cancelled() {
                    return false;
                }
                self.turn(&turn, devices, soak);
            }
        }
        !self.stop.is_cancelled()
    }

    fn turn(&self, turn: &Turn<'_>, devices: &mut Devices, soak: &mut Soak) {
        match turn {
            Turn::Batts(batts) => {
                let options = MegaOptions {
                    limits: Limits::default(),
                    values: false,
                    device: self.device(),
                    ..MegaOptions::default()
                };
                let report = mega_on(
                    devices.as_mut(),
                    batts,
                    self.samples,
                    0,
                    &options,
                    self.stop,
                    |_, _, _| (),
                    |_, _| (),
                );
                soak.batt_runs += report.runs;
                soak.count("batts", report.device);
            }
            Turn::Programs(programs) => {
                let options = ScoreOptions {
                    limits: Limits::default(),
                    device: self.device(),
                    ..ScoreOptions::default()
                };
                let (scores, report) = score_table(
                    devices.as_mut(),
                    programs,
                    self.samples,
                    &options,
                    self.stop,
                );
                // After a stop, scores end at the first run that was not done. The report counts
                // the later ones too.
                let done = report.device.as_ref().map(|device| device.runs.total());
                soak.program_runs += done.map_or(scores.len(), |done| done as usize);
                soak.count("programs", report.device);
            }
        }
    }

    fn device(&self) -> DeviceOptions {
        DeviceOptions {
            settings: LaunchSettings {
                values: false,
                ..LaunchSettings::default()
            },
            verify: self.verify,
            ..DeviceOptions::default()
        }
    }
}

impl Soak {
    fn count(&mut self, what: &str, report: Option<DeviceReport>) {
        self.batches += 1;
        let report = report.unwrap_or_default();
        self.counts.add_all(&report.runs);
        self.launches += u64::from(report.times().launches);
        self.verified += report.verified;
        self.differing += report.differing;
        for found in &report.mismatches {
            self.differences.push(format!(
                "{what}, batch {}: run {}, entry {}: {} on the device, {} on the CPU",
                self.batches, found.run, found.entry, found.device, found.cpu
            ));
        }
        self.differences.truncate(LISTED);
        for device in &report.devices {
            self.lost |= device.lost;
            self.errors.extend(device.errors.iter().cloned());
        }
        self.errors.truncate(LISTED);
    }
}
