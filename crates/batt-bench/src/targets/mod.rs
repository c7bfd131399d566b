//! The performance targets of the original's documents, next to measurements on this machine.

mod catalogue;
mod harness;
mod limit;
mod report;
mod stages;
mod workloads;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use batt::DeviceChoice;
use batt_cuda::{Cuda, CudaSettings};
use batt_engine::Compiled;
use batt_reference::Original;
use clap::Args;
use serde_json::json;

use self::catalogue::{Measurement, measurements};
use self::harness::{Agreement, Harness, Timings};
use self::report::{to_json, write, write_markdown};
use self::stages::{Stages, two_devices};
use crate::devices::ordinals;
use crate::memory::{DeviceMemory, Watch};
use crate::options::{Against, Common, OnDevice};
use crate::text::print;
use crate::tokpidjin::PythonOptions;
use crate::{devices, interrupt};

/// The result of one measurement.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    pub timings: Option<Timings>,
    /// The microseconds that Python takes for the same runs.
    pub python: Option<f64>,
    /// Remarks.
    pub note: String,
}

impl Finding {
    /// Creates a finding without timings.
    fn remark(note: impl Into<String>) -> Finding {
        Finding {
            note: note.into(),
            ..Finding::default()
        }
    }
}

/// All measurements, and whether the sides agree.
pub struct Table {
    pub devices: Vec<String>,
    /// The number of runs that the device executes at a time, if the device reports it.
    pub warps: Option<u64>,
    pub threads: usize,
    pub findings: HashMap<Measurement, Finding>,
    pub agreement: Agreement,
    pub errors: Vec<String>,
    pub elapsed: Duration,
    pub interrupted: bool,
}

/// The time to open a device, and the properties that it reports.
struct Opened {
    /// The first time, which may compile the kernel, and the second time.
    times: [Duration; 2],
    warps: Option<u64>,
    name: String,
}

/// The interval at which memory is sampled.
const EVERY: Duration = Duration::from_millis(200);

/// Measure the workloads of the original's documents on a device, on one core and on all
///
/// All sides take turns, and their results are compared. The table names what limits the device.
/// With --against and a checkout of tokpidjin, Python runs the batt of 650 steps as well.
#[derive(Args)]
pub struct TargetsArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    device: OnDevice,
    #[command(flatten)]
    against: Against,

    /// Print the table as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Returns the program of `o_g`.
pub fn o_g() -> Result<Vec<Compiled>> {
    let op = workloads::Op::named("o_g").context("internal error: o_g")?;
    match op.program()?.subject {
        harness::Subject::Programs(programs) => Ok(programs),
        harness::Subject::Batt { .. } => Err(anyhow::anyhow!("internal error: o_g")),
    }
}

/// Runs the benchmark. Returns whether all results agree.
pub fn main(args: &TargetsArgs) -> Result<bool> {
    let table = measure(args)?;
    print(|out| match (args.common.json, args.markdown) {
        (true, _) => Ok(writeln!(out, "{}", json!({"targets": to_json(&table)}))?),
        (false, true) => write_markdown(out, &table),
        (false, false) => write(out, &table),
    })?;
    Ok(table.agreement.differing == 0)
}

fn measure(args: &TargetsArgs) -> Result<Table> {
    let started = Instant::now();
    let checkout = args.against.against.as_deref();
    let checkout = checkout
        .map(|folder| args.common.checkout(folder))
        .transpose()?;
    let corpus = args.common.corpus(checkout.as_ref())?;
    let python = checkout
        .as_ref()
        .filter(|checkout| checkout.original == Original::Tokpidjin)
        .map(|checkout| PythonOptions {
            checkout,
            python: args.against.python.as_deref(),
            seed: args.common.seed,
            time: Duration::ZERO,
        });
    let device = &args.device.device;
    let time = args.common.time();
    let opened = open_twice(device)?;
    let mut devices = devices::open(device)?;
    let names = devices.names();
    let watch = Watch::start(DeviceMemory::of(device), EVERY, || ());

    let all = measurements();
    let harness = Harness::new(&mut devices);
    let mut stages = Stages::new(&corpus, harness, python)?;
    let weights: u32 = all.iter().map(|what| what.weight()).sum();
    let share = |what: Measurement| time * what.weight() / weights;
    let mut findings = HashMap::new();
    for what in all {
        if interrupt::happened() {
            break;
        }
        if let Some(finding) = stages.measure(what, share(what))? {
            findings.insert(what, finding);
        }
    }
    let (work, harness) = stages.finish();
    let (mut agreement, counts) = (harness.agreement, harness.finished);
    let (errors, threads) = (harness.errors, harness.threads);
    let seen = watch.finish();
    // Frees the memory of the device.
    drop(devices);
    if !interrupt::happened() {
        let share = share(Measurement::TwoDevices);
        let finding = two_devices(&work, device, share, &mut agreement)?;
        findings.extend(finding.map(|finding| (Measurement::TwoDevices, finding)));
    }
    findings.insert(Measurement::Opening, stages::opening(&opened));
    findings.insert(Measurement::Device, Finding::remark(opened.name));
    findings.insert(Measurement::Memory, stages::memory(device, &seen));
    findings.insert(Measurement::Coverage, stages::coverage(&counts));
    findings.insert(Measurement::Compared, stages::compared(&agreement, &errors));
    Ok(Table {
        devices: names,
        warps: opened.warps,
        threads,
        findings,
        agreement,
        errors,
        elapsed: started.elapsed(),
        interrupted: interrupt::happened(),
    })
}

/// Opens the device twice. The first time may compile the kernel; the second finds it in the cache.
fn open_twice(device: &DeviceChoice) -> Result<Opened> {
    let started = Instant::now();
    let name = devices::open_logical(device, 1)?.names().swap_remove(0);
    let first = started.elapsed();
    let number = ordinals(device).first().copied();
    let started = Instant::now();
    let warps = match number {
        Some(number) => {
            let (device, _) = Cuda::open(number, &CudaSettings::from_env())?;
            device.kernel().map(|kernel| kernel.warps)
        }
        None => {
            drop(devices::open_logical(device, 1)?);
            None
        }
    };
    Ok(Opened {
        times: [first, started.elapsed()],
        warps,
        name,
    })
}
