//! Devices on the command line: which to use, and what to say about them.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::{DeviceBug, DeviceChoice};
use batt_cuda::{Cuda, Driver, Origin, Settings};
use batt_dsl::Limits;
use batt_engine::device::{Counts, Device, DeviceError, DeviceOptions, DeviceReport, Mismatch};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::calibration;
use crate::error::advised;
use crate::ui::{Ui, counted, escaped, grouped, say};

/// Where to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceName {
    /// On devices, if there are any and it is worth it
    Auto,
    /// On the processor's cores
    Cpu,
    /// On these devices, or on all
    Cuda(Vec<usize>),
    /// On the emulated device
    Emulated,
}

/// How the values of `--device` are written.
pub const VALUES: &str = "auto|cpu|cuda[:N,...]|emulated";

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceName, String> {
        match text {
            "auto" => return Ok(DeviceName::Auto),
            "cpu" => return Ok(DeviceName::Cpu),
            "cuda" => return Ok(DeviceName::Cuda(Vec::new())),
            "emulated" => return Ok(DeviceName::Emulated),
            _ => {}
        }
        let numbers = text.strip_prefix("cuda:").map(|list| {
            let numbers = list.split(',').map(|number| number.trim().parse());
            numbers.collect::<Result<Vec<usize>, _>>()
        });
        match numbers {
            Some(Ok(numbers)) => Ok(DeviceName::Cuda(numbers)),
            _ => Err("write auto, cpu, cuda, cuda:0, cuda:0,1 or emulated".to_owned()),
        }
    }
}

/// Options of commands that run programs on devices.
#[derive(Args, Clone, Debug)]
pub struct OldDeviceChoice {
    /// Where to run; auto uses devices if there are any and there is enough to do
    #[arg(long, value_name = VALUES, default_value = "auto")]
    device: DeviceName,

    /// Do runs that a device has finished again on the processor, all or a fraction, and compare
    #[arg(
        long,
        value_name = "FRACTION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = fraction
    )]
    verify: Option<f64>,
}

/// Options of commands that run programs on devices.
#[derive(Args, Clone, Debug)]
pub struct DeviceFlags {
    /// Where to run; auto uses GPUs if there are any and there are at least 500,000 runs
    #[arg(long, value_name = DeviceChoice::FORMS, default_value = "auto")]
    device: DeviceChoice,

    /// Do runs that a device has finished again on the CPU, all or a fraction, and compare
    #[arg(
        long,
        value_name = "FRACTION",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        value_parser = fraction
    )]
    verify: Option<f64>,
}

impl DeviceFlags {
    /// Opens the devices for a number of runs within limits, and prints notes about them.
    pub fn open(
        &self,
        runs: usize,
        limits: &Limits,
        threads: Option<NonZeroUsize>,
        ui: &Ui,
    ) -> Result<batt::Devices> {
        let devices = batt::Devices::open(&self.device, runs, limits, threads)?;
        ui.device_notes(&devices);
        Ok(devices)
    }

    /// The share of runs finished on a device to do again.
    pub fn verify(&self) -> f64 {
        self.verify.unwrap_or_default()
    }
}

/// Prints a run that a device got wrong, with all that a report of the bug needs.
pub fn report_bug(bug: &DeviceBug, ui: &Ui) {
    ui.warn(format_args!(
        "{} differs on the device: this is a bug, please report all of this",
        bug.place
    ));
    for (label, text) in [
        ("program", &bug.program),
        ("input", &bug.input),
        ("on the CPU", &bug.cpu),
        ("on the device", &bug.device),
    ] {
        say(format_args!("{label}:"));
        for line in text.lines() {
            say(format_args!("  {}", escaped(line, &['\t'])));
        }
    }
}

/// `0.1`, `1`.
pub fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err("write a fraction from 0 to 1, such as 0.01".to_owned()),
    }
}

/// Devices that were asked for.
pub type Devices = Vec<Box<dyn Device>>;

/// Logical devices on each device, where the user names none: while one computes, another one's results are copied.
pub const PER_DEVICE: usize = 2;

impl OldDeviceChoice {
    /// The devices to use for so many runs within some limits; none for the processor alone.
    pub fn open(
        &self,
        runs: usize,
        limits: &Limits,
        threads: Option<NonZeroUsize>,
        ui: &Ui,
    ) -> Result<Devices> {
        if self.device == DeviceName::Cpu {
            return Ok(Vec::new());
        }
        if !self.options().keep(limits) {
            if self.device != DeviceName::Auto {
                ui.note(
                    "limits as low as these cannot be kept on a device; the processor runs everything",
                );
            }
            return Ok(Vec::new());
        }
        if self.device == DeviceName::Auto {
            return Ok(calibration::open(runs, ui));
        }
        self.device.open(threads, PER_DEVICE, ui)
    }

    /// How devices are used.
    pub fn options(&self) -> DeviceOptions {
        DeviceOptions {
            verify: self.verify.unwrap_or(0.0),
            ..DeviceOptions::default()
        }
    }
}

impl DeviceName {
    /// The devices; none for the processor alone. `threads` is how many an emulated device may take, `per_device` how many
    /// logical devices each device has if none is named.
    pub fn open(
        &self,
        threads: Option<NonZeroUsize>,
        per_device: usize,
        ui: &Ui,
    ) -> Result<Devices> {
        match self {
            DeviceName::Cpu => Ok(Vec::new()),
            DeviceName::Auto => match cuda(&[], per_device, ui) {
                Ok(devices) => Ok(devices),
                // That there is none is no news.
                Err(DeviceError::Missing(_)) => Ok(Vec::new()),
                Err(error) => {
                    ui.note(format_args!("{error}; the processor runs everything"));
                    Ok(Vec::new())
                }
            },
            DeviceName::Cuda(numbers) => cuda(numbers, per_device, ui).map_err(|error| {
                advised(
                    &error,
                    "`batt device` says what is missing; --device cpu runs on the processor",
                )
            }),
            DeviceName::Emulated => emulated(threads),
        }
    }
}

/// CUDA devices: those with these numbers, or all.
fn cuda(numbers: &[usize], per_device: usize, ui: &Ui) -> Result<Devices, DeviceError> {
    Ok(boxed(open_cuda(numbers, per_device, ui)?))
}

/// All devices, and how long it took until they were ready. Compiling for them does not count: that is done once.
pub fn ready(ui: &Ui) -> Result<(Devices, Duration), DeviceError> {
    let started = Instant::now();
    let devices = open_cuda(&[], PER_DEVICE, ui)?;
    let opening = started.elapsed();
    let compiling = devices.iter().map(|device| match device.kernel().origin {
        Origin::Cache(_) => Duration::ZERO,
        Origin::Compiler(_, time) => time,
    });
    let compiling = compiling.max().unwrap_or_default();
    Ok((boxed(devices), opening.saturating_sub(compiling)))
}

fn boxed(devices: Vec<Cuda>) -> Devices {
    let boxed = |device: Cuda| -> Box<dyn Device> { Box::new(device) };
    devices.into_iter().map(boxed).collect()
}

fn open_cuda(numbers: &[usize], per_device: usize, ui: &Ui) -> Result<Vec<Cuda>, DeviceError> {
    let all: Vec<usize>;
    let numbers = match numbers.is_empty() {
        false => numbers,
        true => {
            let devices = 0..Driver::get()?.devices;
            all = devices
                .flat_map(|device| vec![device; per_device])
                .collect();
            &all
        }
    };
    if numbers.is_empty() {
        return Err(DeviceError::Missing("the driver sees none".into()));
    }
    let opened = Cuda::open_all(numbers, &Settings::from_env())?;
    for note in &opened.notes {
        ui.note(note);
    }
    Ok(opened.devices)
}

#[cfg(feature = "emulated")]
fn emulated(threads: Option<NonZeroUsize>) -> Result<Devices> {
    let threads = threads.or_else(|| std::thread::available_parallelism().ok());
    let device = batt_emulated::Emulated::new(threads.unwrap_or(NonZeroUsize::MIN));
    let Some(script) = std::env::var_os(FAULTS) else {
        return Ok(vec![Box::new(device)]);
    };
    let script: batt_testing::Script =
        script.to_string_lossy().parse().map_err(|error: String| {
            advised(
                format_args!("{FAULTS}: {error}"),
                "write what goes wrong in which launch, such as memory@0,lost@2; \
             there are memory, launch, lost, timeout, garbage and short",
            )
        })?;
    Ok(vec![Box::new(batt_testing::Faulty::new(device, script))])
}

/// The variable that says which launches of the emulated device go wrong, and how.
#[cfg(feature = "emulated")]
const FAULTS: &str = "BATT_DEVICE_FAULTS";

#[cfg(not(feature = "emulated"))]
fn emulated(_: Option<NonZeroUsize>) -> Result<Devices> {
    Err(advised(
        "this batt was built without the emulated device",
        "build it with `--features emulated`",
    ))
}

/// Says what devices did.
pub fn remark(report: &DeviceReport, ui: &Ui) {
    for device in &report.devices {
        for error in &device.errors {
            let name = &device.name;
            ui.warn(format_args!(
                "{name}: {error}; the processor did those runs"
            ));
        }
        if device.lost {
            ui.warn(format_args!("{}: not used any more", device.name));
        }
    }
    ui.remark(format_args!(
        "on a device: {}",
        where_finished(&report.runs)
    ));
    if let Some(entries) = where_entries_finished(&report.entries) {
        ui.remark(format_args!("in all on a device: {entries}"));
    }
    let times = report.times();
    let seconds = [times.kernel, times.upload, times.download].map(|time| time.as_secs_f64());
    let [kernel, upload, download] = seconds;
    ui.remark(format_args!(
        "{} on {}: {kernel:.2} s computing, {} sent in {upload:.2} s, {} back in {download:.2} s",
        match times.launches {
            1 => "1 launch".to_owned(),
            n => format!("{} launches", grouped(n as usize)),
        },
        counted(report.devices.len(), "device"),
        megabytes(times.bytes_up),
        megabytes(times.bytes_down),
    ));
    if report.verified > 0 {
        ui.remark(format_args!(
            "{} done again on the processor, {} differ",
            counted(report.verified as usize, "run"),
            grouped(report.differing as usize),
        ));
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// `17 of 20 runs, 2 of them exact; left: 3 missing`.
pub fn where_finished(counts: &Counts) -> String {
    finished(counts, counted(counts.total() as usize, "run"))
}

/// The same of the outputs and scores of batts; nothing to say if none was left.
pub fn where_entries_finished(counts: &Counts) -> Option<String> {
    let total = grouped(counts.total() as usize);
    let some_left = counts.finished() < counts.total();
    some_left.then(|| finished(counts, format!("{total} outputs and scores")))
}

fn finished(counts: &Counts, of: String) -> String {
    let mut text = format!("{} of {of}", grouped(counts.finished() as usize));
    // Writing cannot fail: it is to a string.
    if counts.exact > 0 {
        let _ = write!(text, ", {} of them exact", grouped(counts.exact as usize));
    }
    let left: Vec<String> = counts
        .reasons()
        .map(|(reason, count)| format!("{} {reason}", grouped(count as usize)))
        .collect();
    if !left.is_empty() {
        let _ = write!(text, "; left: {}", left.join(", "));
    }
    text
}

/// Where runs were finished, for programs.
pub fn counts_json(counts: &Counts) -> Json {
    let left: serde_json::Map<String, Json> = counts
        .reasons()
        .map(|(reason, count)| (reason.name().to_owned(), json!(count)))
        .collect();
    json!({"first": counts.first, "exact": counts.exact, "left": left})
}

/// What devices did, for programs.
pub fn to_json(report: &DeviceReport) -> Json {
    let devices = report.devices.iter().map(|device| {
        json!({
            "name": device.name,
            "runs": device.runs,
            "errors": device.errors,
            "lost": device.lost,
            "launches": device.times.launches,
            "kernel_seconds": device.times.kernel.as_secs_f64(),
            "upload_seconds": device.times.upload.as_secs_f64(),
            "download_seconds": device.times.download.as_secs_f64(),
            "bytes_up": device.times.bytes_up,
            "bytes_down": device.times.bytes_down,
        })
    });
    let ops = report.ops.iter().map(|count| {
        json!({
            "op": count.op.op().name,
            "dialect": count.op.op().dialect.name(),
            "calls": count.calls,
            "cycles": count.cycles,
        })
    });
    json!({
        "runs": counts_json(&report.runs),
        "entries": counts_json(&report.entries),
        "devices": devices.collect::<Vec<_>>(),
        "ops": ops.collect::<Vec<_>>(),
        "verified": report.verified,
        "differing": report.differing,
    })
}

/// A run that differs, so that whoever looks for the bug has all of it.
pub struct BugReport<'a> {
    pub mismatch: &'a Mismatch,
    /// What was run, on what.
    pub place: String,
    /// The program.
    pub program: String,
    /// Its input.
    pub input: String,
}

impl BugReport<'_> {
    /// Prints it on stderr.
    pub fn say(&self, ui: &Ui) {
        ui.warn(format_args!(
            "{} gives something else on the device: this is a bug of ours, please report all of this",
            self.place
        ));
        for (label, text) in [
            ("program", &self.program),
            ("input", &self.input),
            ("on the processor", &self.mismatch.cpu),
            ("on the device", &self.mismatch.device),
        ] {
            say(format_args!("{label}:"));
            for line in text.lines() {
                say(format_args!("  {line}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_by_name() {
        let device = |text: &str| text.parse::<DeviceName>();
        assert_eq!(device("auto"), Ok(DeviceName::Auto));
        assert_eq!(device("cuda"), Ok(DeviceName::Cuda(vec![])));
        assert_eq!(device("cuda:1"), Ok(DeviceName::Cuda(vec![1])));
        // A device named twice is two logical devices.
        assert_eq!(device("cuda:3,0,3"), Ok(DeviceName::Cuda(vec![3, 0, 3])));
        for bad in ["", "gpu", "cuda:", "cuda:x", "cuda:0;1", "cpu:0"] {
            assert!(device(bad).is_err(), "{bad}");
        }
        assert_eq!(fraction("0.5"), Ok(0.5));
        for bad in ["-1", "2", "nan", "half"] {
            assert!(fraction(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn where_runs_were_finished() {
        let mut counts = Counts {
            first: 15,
            exact: 2,
            ..Counts::default()
        };
        assert_eq!(where_finished(&counts), "17 of 17 runs, 2 of them exact");
        counts.exact = 0;
        counts.left[5] = 3;
        assert_eq!(where_finished(&counts), "15 of 18 runs; left: 3 missing");
    }
}
