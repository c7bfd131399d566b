//! Mega-batches over and over: checks that memory does not grow and that results stay right.

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
use batt_lang::card::Donor;
use clap::Args;
use serde_json::json;

use self::growth::Growth;
use self::report::{to_json, write};
use crate::devices;
use crate::interrupt;
use crate::material::merged;
use crate::memory::{DeviceMemory, Used, Watch};
use crate::options::{Common, OnDevice, fraction};
use crate::text::print;

/// Run mega-batches on a device for --seconds, and check results and memory
///
/// Some results are verified on the CPU, and memory is sampled every second. The exit code is 1 if a
/// result differs, if a device is lost, or if memory grows by more than 2 % from the second fifth of
/// the time to the last.
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

/// Solvers in a batt.
const SOLVERS: usize = 32;

/// So many different batts are run before the first comes again.
const DIFFERENT: usize = 100;

/// Batts of one mega-batch.
const TOGETHER: usize = 4;

/// How often memory is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// What came of it.
pub struct Soak {
    pub devices: Vec<String>,
    pub solvers: usize,
    pub samples: usize,
    /// Different batts.
    pub batts: usize,
    pub elapsed: Duration,
    /// Times that every solver was run on every input, in a batt and alone.
    pub rounds: usize,
    /// Mega-batches, of batts and of programs.
    pub batches: usize,
    /// Runs of batts and of programs.
    pub batt_runs: usize,
    pub program_runs: usize,
    pub counts: Counts,
    pub launches: u64,
    pub verified: u64,
    pub differing: u64,
    /// The first of those that differ, and what went wrong with devices.
    pub differences: Vec<String>,
    pub errors: Vec<String>,
    pub lost: bool,
    pub memory: Vec<Used>,
    pub process: Option<Growth>,
    pub device: Option<Growth>,
    pub interrupted: bool,
}

impl Soak {
    /// Is there anything to look into?
    pub fn is_bad(&self) -> bool {
        let grown = |growth: &Option<Growth>| growth.as_ref().is_some_and(Growth::is_too_much);
        self.differing > 0 || self.lost || grown(&self.process) || grown(&self.device)
    }
}

/// Differences and errors kept.
const LISTED: usize = 10;

/// Runs until the time is over.
fn run(args: &SoakArgs) -> Result<Soak> {
    let material = args.common.material(None)?;
    let donors = material.donors();
    let samples = material.samples();
    let batts = batts(&donors, args.common.seed)?;
    let programs = material.compiled();
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

/// Batts of solvers in other and other company.
fn batts(donors: &[Donor<'_>], seed: u64) -> Result<Vec<CompiledBatt>> {
    let mut random = SplitMix64::new(seed);
    let mut order: Vec<Donor<'_>> = donors.to_vec();
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

/// One mega-batch.
enum Turn<'a> {
    Batts(&'a [CompiledBatt]),
    Programs(&'a [Compiled]),
}

/// What is done over and over.
struct Work<'a> {
    batts: &'a [CompiledBatt],
    programs: &'a [Compiled],
    samples: &'a [Sample<'a>],
    verify: f64,
    stop: &'a Cancel,
}

impl Work<'_> {
    /// As many batts as have every solver once, and every solver by itself; all on all inputs. The next round has other
    /// batts. Is it whole?
    fn round(&self, round: usize, devices: &mut Devices, soak: &mut Soak) -> bool {
        let rounds: Vec<&[CompiledBatt]> = self
            .batts
            .chunks(self.programs.len().div_ceil(SOLVERS))
            .collect();
        let batts = rounds[round % rounds.len()].chunks(TOGETHER);
        // In small parts by turns, so that memory is about the same at all times.
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
                // Runs that were done after one that was not, when it was stopped, have no score but count.
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
