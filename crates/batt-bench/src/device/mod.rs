//! Every solver on every input, on a device, on all cores and by Python.

mod batches;
mod python;
mod report;
mod strata;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::Devices;
use batt_dsl::{Limits, Workspace};
use batt_engine::device::{
    DeviceOptions, DeviceReport, ScoreOptions, ScoredRun, Settings, score_table,
};
use batt_engine::{Compiled, Sample, input_grid};
use batt_lang::Program;
use clap::Args;
use serde_json::json;

use self::batches::Batches;
use self::python::Sampled;
use self::report::{to_json, write};
use self::strata::Cost;
use crate::options::{Against, Common, OnDevice};
use crate::text::{note, print};
use crate::{devices, interrupt};

/// Runs whose costs one thread finds out at a time.
const PORTION: usize = 64;

/// Measure every solver on every input on a device, on all cores and, with --against, by Python
///
/// All scores and hashes are compared. Python runs a sample of the runs.
#[derive(Args)]
pub struct DeviceArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    device: OnDevice,
    #[command(flatten)]
    against: Against,
}

/// Runs the benchmark. Returns whether all results agree.
pub fn main(args: &DeviceArgs) -> Result<bool> {
    let bench = measure(args)?;
    print(|out| match args.common.json {
        true => Ok(writeln!(out, "{}", json!({"device": to_json(&bench)}))?),
        false => Ok(write(out, &bench)?),
    })?;
    Ok(bench.differing == 0)
}

/// All that was measured.
pub struct DeviceBench {
    pub programs: usize,
    pub samples: usize,
    /// Each pass on the devices, the first of which starts cold.
    pub passes: Vec<Duration>,
    /// All cores, without devices.
    pub cores: Duration,
    pub threads: usize,
    /// What the devices did in the fastest pass.
    pub device: DeviceReport,
    /// Calls of primitives, and what a pass that counts them took.
    pub calls: u64,
    pub counted: Duration,
    /// Runs whose scores differ between devices and cores.
    pub differing: usize,
    /// The first of them.
    pub differences: Vec<String>,
    pub python: Option<Sampled>,
    pub batches: Vec<Batches>,
    pub interrupted: bool,
}

impl DeviceBench {
    /// Runs in all.
    pub fn runs(&self) -> usize {
        self.programs * self.samples
    }

    /// The median pass with everything in place: all but the first.
    pub fn warm(&self) -> Duration {
        let mut warm = self.passes.get(1..).unwrap_or_default().to_vec();
        warm.sort_unstable();
        let median = warm.get(warm.len() / 2).or(self.passes.first());
        median.copied().unwrap_or_default()
    }
}

/// Passes on the devices.
const PASSES: usize = 4;

/// Differences listed.
const LISTED: usize = 10;

fn measure(args: &DeviceArgs) -> Result<DeviceBench> {
    let checkout = args.against.against.as_deref();
    let checkout = checkout
        .map(|folder| args.common.checkout(folder))
        .transpose()?;
    let material = args.common.material(checkout.as_ref())?;
    let programs: Vec<Program> = material.programs().cloned().collect();
    let samples = material.samples();
    let mut devices = devices::open(&args.device.device)?;
    let limits = Limits::default();
    let compiled = material.compiled();
    let work = Work {
        programs: &compiled,
        samples: &samples,
        limits,
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    note(format_args!(
        "{} solvers on {} inputs: {} runs",
        programs.len(),
        samples.len(),
        work.count()
    ));
    let (cores, expected, _) = work.pass(&mut Devices::none(), false);
    let mut bench = DeviceBench {
        programs: programs.len(),
        samples: samples.len(),
        passes: Vec::new(),
        cores,
        threads,
        device: DeviceReport::default(),
        calls: 0,
        counted: Duration::ZERO,
        differing: 0,
        differences: Vec::new(),
        python: None,
        batches: Vec::new(),
        interrupted: false,
    };
    for pass in 0..PASSES {
        if interrupt::happened() {
            break;
        }
        let (time, scores, report) = work.pass(&mut devices, false);
        bench.passes.push(time);
        if pass == 0 {
            bench.compare(&programs, &expected, &scores);
        }
        bench.device = report.unwrap_or_default();
    }
    if !interrupt::happened() {
        let (time, _, report) = work.pass(&mut devices, true);
        bench.counted = time;
        let ops = report.map(|report| report.ops).unwrap_or_default();
        bench.calls = ops.iter().map(|op| op.calls).sum();
        bench.device.ops = ops;
        bench.batches = batches::measure(&programs, &samples, devices.as_mut(), &limits)?;
    }
    if let Some(checkout) = checkout.filter(|_| !interrupt::happened()) {
        let names: Vec<&str> = programs.iter().map(Program::name).collect();
        let costs = work.costs(threads);
        bench.python = Some(python::sample(args, &checkout, &names, &samples, &costs)?);
    }
    bench.interrupted = interrupt::happened();
    Ok(bench)
}

/// Every program on every sample.
struct Work<'a> {
    programs: &'a [Compiled],
    samples: &'a [Sample<'a>],
    limits: Limits,
}

impl Work<'_> {
    fn count(&self) -> usize {
        self.programs.len() * self.samples.len()
    }

    /// What each run costs, on all cores. After Ctrl-C some are missing.
    fn costs(&self, threads: usize) -> Vec<Cost> {
        let chunks: Vec<_> = (0..self.count()).step_by(PORTION).collect();
        let next = AtomicUsize::new(0);
        let costs = Mutex::new(vec![Cost::default(); self.count()]);
        let work = || {
            let mut workspace = Workspace::new();
            while let Some(&start) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                if interrupt::happened() {
                    break;
                }
                let end = self.count().min(start + PORTION);
                let found: Vec<Cost> = (start..end)
                    .map(|run| self.cost(&mut workspace, run))
                    .collect();
                let mut costs = costs.lock().unwrap_or_else(PoisonError::into_inner);
                costs[start..end].copy_from_slice(&found);
            }
        };
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        costs.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn cost(&self, workspace: &mut Workspace, run: usize) -> Cost {
        let program = &self.programs[run / self.samples.len()];
        let input = input_grid(self.samples[run % self.samples.len()].input);
        workspace.run_on(&input, program.dialect(), &self.limits, |run, input| {
            let finished = program.execute_on(run, input).is_ok();
            Cost {
                // Python makes each call by itself.
                steps: run.spent() + run.calls_at_once(),
                finished,
            }
        })
    }

    /// All runs once: how long that took, and what came of it.
    fn pass(
        &self,
        devices: &mut Devices,
        ops: bool,
    ) -> (Duration, Vec<ScoredRun>, Option<DeviceReport>) {
        let settings = Settings {
            ops,
            ..Settings::default()
        };
        let options = ScoreOptions {
            limits: self.limits,
            device: DeviceOptions {
                settings,
                ..DeviceOptions::default()
            },
            ..ScoreOptions::default()
        };
        let started = Instant::now();
        let (scores, report) = score_table(
            devices.as_mut(),
            self.programs,
            self.samples,
            &options,
            interrupt::stop(),
        );
        (started.elapsed(), scores, report.device)
    }
}

impl DeviceBench {
    /// Compares what devices and cores made of the same runs.
    fn compare(&mut self, programs: &[Program], expected: &[ScoredRun], found: &[ScoredRun]) {
        for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
            if expected == found {
                continue;
            }
            self.differing += 1;
            if self.differences.len() < LISTED {
                let name = programs[at / self.samples].name();
                let input = at % self.samples;
                self.differences.push(format!(
                    "{name} on input {input}: {found:?} on the device, {expected:?} on the CPU"
                ));
            }
        }
    }
}
