//! Measures every solver on every input: on a device, on all cores and under Python.

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
use batt_engine::device::{DeviceOptions, DeviceReport, LaunchSettings, ScoreOptions, score_table};
use batt_engine::{Compiled, Judged, Sample, input_grid};
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

/// The number of runs in a chunk while threads determine the costs of runs.
const CHUNK: usize = 64;

/// Measure every solver on every input on a device, on all cores and, with --against, by Python
///
/// All scores and hashes are compared. Python times a random sample of the runs.
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

/// All measurements, and whether the sides agree.
pub struct DeviceBench {
    pub programs: usize,
    pub samples: usize,
    /// The times of the passes on devices. The first pass includes start-up costs.
    pub passes: Vec<Duration>,
    /// The time of a pass on all cores, without devices.
    pub cores: Duration,
    pub threads: usize,
    /// The report of the last pass on devices.
    pub device: DeviceReport,
    /// Calls of primitives.
    pub calls: u64,
    /// The time of the pass that counted the calls.
    pub counted: Duration,
    /// Runs whose scores differ between devices and cores.
    pub differing: usize,
    /// The first differences.
    pub differences: Vec<String>,
    pub python: Option<Sampled>,
    pub batches: Vec<Batches>,
    pub interrupted: bool,
}

impl DeviceBench {
    /// Returns the number of runs in a pass.
    pub fn runs(&self) -> usize {
        self.programs * self.samples
    }

    /// Returns the median time of all passes but the first, which is a warm-up.
    pub fn warm(&self) -> Duration {
        let mut warm = self.passes.get(1..).unwrap_or_default().to_vec();
        warm.sort_unstable();
        let median = warm.get(warm.len() / 2).or(self.passes.first());
        median.copied().unwrap_or_default()
    }
}

/// The number of passes on devices.
const PASSES: usize = 4;

/// The number of differences listed.
const LISTED: usize = 10;

fn measure(args: &DeviceArgs) -> Result<DeviceBench> {
    let checkout = args.against.against.as_deref();
    let checkout = checkout
        .map(|folder| args.common.checkout(folder))
        .transpose()?;
    let corpus = args.common.corpus(checkout.as_ref())?;
    let programs: Vec<Program> = corpus.programs().cloned().collect();
    let samples = corpus.samples();
    let mut devices = devices::open(&args.device.device)?;
    let limits = Limits::default();
    let compiled = corpus.compiled();
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

/// The programs and the samples; every program runs on every sample.
struct Work<'a> {
    programs: &'a [Compiled],
    samples: &'a [Sample<'a>],
    limits: Limits,
}

impl Work<'_> {
    fn count(&self) -> usize {
        self.programs.len() * self.samples.len()
    }

    /// Determines the cost of each run, on all cores. After Ctrl-C some costs are missing.
    fn costs(&self, threads: usize) -> Vec<Cost> {
        let chunks: Vec<_> = (0..self.count()).step_by(CHUNK).collect();
        let next = AtomicUsize::new(0);
        let costs = Mutex::new(vec![Cost::default(); self.count()]);
        let work = || {
            let mut workspace = Workspace::new();
            while let Some(&start) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                if interrupt::happened() {
                    break;
                }
                let end = self.count().min(start + CHUNK);
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
                // Calls that this engine makes for all elements at once count one by one, as in
                // Python.
                steps: run.spent() + run.calls_at_once(),
                finished,
            }
        })
    }

    /// Runs everything once. Returns the time, the scores and the report.
    fn pass(
        &self,
        devices: &mut Devices,
        ops: bool,
    ) -> (Duration, Vec<Judged>, Option<DeviceReport>) {
        let settings = LaunchSettings {
            ops,
            ..LaunchSettings::default()
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
    /// Compares the scores of devices and cores.
    fn compare(&mut self, programs: &[Program], expected: &[Judged], found: &[Judged]) {
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
