//! Devices on the command line: options, and reports of what the devices did.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use anyhow::Result;
use batt::{Counts, DeviceBug, DeviceChoice, DeviceReport, Devices, Limits};
use clap::Args;
use serde_json::{Value as Json, json};

use crate::ui::{Ui, counted, escaped, grouped, say};

/// Options of commands that run programs on devices.
#[derive(Args, Clone, Debug)]
pub struct DeviceFlags {
    /// Where to run; auto uses all GPUs for 500,000 runs or more, and otherwise the CPU
    #[arg(long, value_name = DeviceChoice::FORMS, default_value = "auto")]
    device: DeviceChoice,

    /// Repeat on the CPU the runs that a device finished, all or a fraction, and report differences
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
    ) -> Result<Devices> {
        let devices = Devices::open(&self.device, runs, limits, threads)?;
        ui.device_notes(&devices);
        Ok(devices)
    }

    /// Returns the share of runs finished on a device that the CPU repeats.
    pub fn verify(&self) -> f64 {
        self.verify.unwrap_or_default()
    }
}

/// Prints a run that a device got wrong, with everything that a bug report needs.
pub fn report_bug(bug: &DeviceBug, ui: &Ui) {
    ui.warn(format_args!(
        "{} differs on the device: this is a bug, please report it with the text below",
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

/// Parses a fraction: `0.1`, `1`.
pub fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err("write a fraction from 0 to 1, such as 0.01".to_owned()),
    }
}

/// Prints a summary of what the devices did.
pub fn remark(report: &DeviceReport, ui: &Ui) {
    for device in &report.devices {
        for error in &device.errors {
            let name = &device.name;
            ui.warn(format_args!("{name}: {error}; the CPU ran those runs"));
        }
        if device.lost {
            ui.warn(format_args!("{}: not used again", device.name));
        }
    }
    ui.remark(format_args!(
        "on a device: {}",
        where_finished(&report.runs)
    ));
    if let Some(entries) = where_entries_finished(&report.entries) {
        ui.remark(format_args!("entries on a device: {entries}"));
    }
    let times = report.times();
    let seconds = [times.kernel, times.upload, times.download].map(|time| time.as_secs_f64());
    let [kernel, upload, download] = seconds;
    ui.remark(format_args!(
        "{} on {}: {kernel:.2} s computing, {} sent in {upload:.2} s, {} back in {download:.2} s",
        launches(times.launches),
        counted(report.devices.len(), "device"),
        megabytes(times.bytes_up),
        megabytes(times.bytes_down),
    ));
    if report.verified > 0 {
        ui.remark(format_args!(
            "{} repeated on the CPU, {} differ",
            counted(report.verified as usize, "run"),
            grouped(report.differing as usize),
        ));
    }
}

/// Returns a number of launches: `1 launch`, `2 launches`.
pub fn launches(n: u32) -> String {
    match n {
        1 => "1 launch".to_owned(),
        n => format!("{} launches", grouped(n as usize)),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// `17 of 20 runs, 2 of them exact; left to the CPU: 3 missing`.
pub fn where_finished(counts: &Counts) -> String {
    finished(counts, counted(counts.total() as usize, "run"))
}

/// Returns where the outputs and scores of batts were finished; `None` if devices finished all.
pub fn where_entries_finished(counts: &Counts) -> Option<String> {
    let total = grouped(counts.total() as usize);
    let some_left = counts.finished() < counts.total();
    some_left.then(|| finished(counts, format!("{total} outputs and scores")))
}

fn finished(counts: &Counts, of: String) -> String {
    let mut text = format!("{} of {of}", grouped(counts.finished() as usize));
    // Writing to a string cannot fail.
    if counts.exact > 0 {
        let _ = write!(text, ", {} of them exact", grouped(counts.exact as usize));
    }
    let left: Vec<String> = counts
        .reasons()
        .map(|(reason, count)| format!("{} {reason}", grouped(count as usize)))
        .collect();
    if !left.is_empty() {
        let _ = write!(text, "; left to the CPU: {}", left.join(", "));
    }
    text
}

/// Returns where runs were finished, as JSON.
pub fn counts_json(counts: &Counts) -> Json {
    let left: serde_json::Map<String, Json> = counts
        .reasons()
        .map(|(reason, count)| (reason.name().to_owned(), json!(count)))
        .collect();
    json!({"first": counts.first, "exact": counts.exact, "left": left})
}

/// Returns what the devices did, as JSON.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_from_0_to_1() {
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
        assert_eq!(
            where_finished(&counts),
            "15 of 18 runs; left to the CPU: 3 missing"
        );
    }
}
