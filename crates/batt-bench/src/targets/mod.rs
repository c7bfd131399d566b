//! `batt bench --device D --targets`: every target of the original's documents, next to what is measured here.

mod catalogue;
mod harness;
mod limit;
mod report;
mod stages;
mod workloads;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_cuda::{Cuda, Driver, Settings};
use batt_dsl::Dialect;
use batt_engine::device::DeviceOptions;

use self::catalogue::{What, measurements};
use self::harness::{Agreement, Harness, Timings};
pub use self::report::{to_json, write, write_markdown};
use self::stages::{Stages, two_devices};
use super::checkout::Kind;
use super::device::Wanted;
use super::mega::setup::Material;
use super::memory::{DeviceMemory, Watch, ordinals};
use crate::device::{DeviceName, PER_DEVICE};
use crate::error::advised;
use crate::interrupt;
use crate::ui::Ui;

/// What a measurement came to.
#[derive(Clone, Debug, Default)]
pub struct Finding {
    pub timings: Option<Timings>,
    /// Microseconds that Python takes for the same.
    pub python: Option<f64>,
    /// What there is to say besides.
    pub note: String,
}

impl Finding {
    fn said(note: impl Into<String>) -> Finding {
        Finding {
            note: note.into(),
            ..Finding::default()
        }
    }
}

/// All that was measured.
pub struct Table {
    pub devices: Vec<String>,
    /// Runs that the device does at a time, if it says.
    pub warps: Option<u64>,
    pub threads: usize,
    pub findings: HashMap<What, Finding>,
    pub agreement: Agreement,
    pub errors: Vec<String>,
    pub elapsed: Duration,
    pub interrupted: bool,
}

/// What opening a device took and told.
struct Opened {
    /// With whatever had to be done for the first time, and again.
    times: [Duration; 2],
    warps: Option<u64>,
    name: String,
}

/// How often memory is looked at.
const EVERY: Duration = Duration::from_millis(200);

/// Measures for about as long as said.
pub fn measure(wanted: &Wanted<'_>, ui: &Ui) -> Result<Table> {
    if !DeviceOptions::default().keep(&wanted.limits) {
        return Err(advised(
            "limits as low as these cannot be kept on a device",
            "leave --max-steps, --max-size and --max-memory out",
        ));
    }
    let started = Instant::now();
    let (files, tasks) = super::files_of(wanted.checkout, wanted.solvers, wanted.tasks)?;
    let python = match wanted.checkout {
        Some(folder) => Kind::of(folder, !wanted.solvers.is_empty())? == Kind::Tokpidjin,
        None => false,
    };
    let dialect = match python {
        true => Some(Dialect::Tokpidjin),
        false => wanted.dialect,
    };
    let material = Material::load(&files, tasks.as_ref(), dialect, ui)?;
    let opened = open_twice(wanted.device, ui)?;
    let mut devices = super::open(wanted.device, PER_DEVICE, ui)?;
    let names = devices.iter().map(|device| device.name()).collect();
    let watch = Watch::start(DeviceMemory::of(wanted.device), EVERY, || ());

    let all = measurements();
    let bar = ui.progress(all.len(), "measuring");
    let harness = Harness::new(&mut devices, wanted.limits);
    let mut stages = Stages::new(&material, harness, wanted, python)?;
    let weights: u32 = all.iter().map(|what| what.weight()).sum();
    let share = |what: What| wanted.time * what.weight() / weights;
    let mut findings = HashMap::new();
    for what in all {
        if interrupt::happened() {
            break;
        }
        if let Some(finding) = stages.measure(what, share(what), ui)? {
            findings.insert(what, finding);
        }
        bar.inc(1);
    }
    let (work, harness) = stages.finish();
    let (mut agreement, counts) = (harness.agreement, harness.finished);
    let (errors, threads) = (harness.errors, harness.threads);
    let seen = watch.finish();
    // The device is to have room for others.
    drop(devices);
    if !interrupt::happened() {
        let share = share(What::TwoDevices);
        let finding = two_devices(&work, wanted, share, &mut agreement, ui)?;
        findings.extend(finding.map(|finding| (What::TwoDevices, finding)));
    }
    bar.finish_and_clear();
    findings.insert(What::Opening, stages::opening(&opened));
    findings.insert(What::Device, Finding::said(opened.name));
    findings.insert(What::Memory, stages::memory(wanted.device, &seen));
    findings.insert(What::Coverage, stages::coverage(&counts));
    findings.insert(What::Compared, stages::compared(&agreement, &errors));
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

/// Opens the device twice: the first time a kernel may have to be compiled, the second time it is kept.
fn open_twice(device: &DeviceName, ui: &Ui) -> Result<Opened> {
    let started = Instant::now();
    let devices = super::open(device, 1, ui)?;
    let name = devices
        .first()
        .map_or_else(String::new, |device| device.name());
    drop(devices);
    let first = started.elapsed();
    let number = Driver::get()
        .ok()
        .and_then(|driver| ordinals(device, driver.devices).first().copied());
    let started = Instant::now();
    let warps = match number {
        // A device that opened once does so again; if not, the next one says why.
        Some(number) => Cuda::open(number, &Settings::from_env())
            .ok()
            .map(|(device, _)| device.kernel().warps),
        None => {
            drop(super::open(device, 1, ui)?);
            None
        }
    };
    Ok(Opened {
        times: [first, started.elapsed()],
        warps,
        name,
    })
}
