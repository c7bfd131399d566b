//! The report of a profile on a device.

use std::io::Write;

use anyhow::Result;
use batt::mega::MegaReport;
use batt::{Batt, DeviceReport};
use serde_json::{Value as Json, json};

use crate::device::{to_json, where_entries_finished, where_finished};
use crate::interrupt;
use crate::ui::{counted, escaped, grouped, name, rate, table, table_text};
use crate::units::{bytes, percent, time};

/// A profile of a batt on a device.
pub struct DeviceProfile<'a> {
    pub file: &'a str,
    pub batt: &'a Batt,
    /// The number of samples in the tasks.
    pub samples: usize,
    /// The number of rows in the table.
    pub top: usize,
    pub report: MegaReport,
}

impl DeviceProfile<'_> {
    /// Writes a table and a few sentences.
    pub fn write(&self, out: &mut impl Write) -> Result<()> {
        let report = &self.report;
        writeln!(
            out,
            "{} of {}: {} on {} of {}",
            name(self.batt.program.name()),
            escaped(self.file, &[]),
            counted(self.batt.program.steps().len(), "step"),
            grouped(report.runs),
            counted(self.samples, "sample"),
        )?;
        let Some(device) = &report.device else {
            writeln!(out, "no device was used: it cannot enforce these limits")?;
            return Ok(());
        };
        writeln!(
            out,
            "\nprimitives on the device, by their own cycles in all launches:"
        )?;
        let mut rows = table(&["op", "calls", "cycles", "share", "a call"], &[1, 2, 3, 4]);
        for count in device.ops.iter().take(self.top) {
            rows.add_row([
                count.op.op().name.to_owned(),
                grouped(count.calls as usize),
                grouped(count.cycles as usize),
                percent(share(count.cycles, device)),
                grouped((count.cycles / count.calls.max(1)) as usize),
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
        if device.ops.len() > self.top {
            let more = grouped(device.ops.len() - self.top);
            writeln!(out, " ... and {more} more (--top lists more)")?;
        }
        let times = device.times();
        writeln!(out, "\non a device: {}", where_finished(&device.runs))?;
        if let Some(entries) = where_entries_finished(&device.entries) {
            writeln!(out, "entries on a device: {entries}")?;
        }
        writeln!(
            out,
            "kernels: {} in {}; sent: {} in {}; received: {} in {}",
            crate::device::launches(times.launches),
            time(times.kernel),
            bytes(times.bytes_up),
            time(times.upload),
            bytes(times.bytes_down),
            time(times.download),
        )?;
        writeln!(
            out,
            "all: {}, {} runs/s with every call counted",
            time(report.elapsed),
            rate(report.runs, report.elapsed),
        )?;
        Ok(())
    }

    /// Returns the whole profile as JSON.
    pub fn json(&self) -> Json {
        let report = &self.report;
        let mut device = report.device.as_ref().map_or(Json::Null, to_json);
        if let (Some(found), Some(ops)) = (&report.device, device["ops"].as_array_mut()) {
            for (op, count) in ops.iter_mut().zip(&found.ops) {
                op["share"] = json!(share(count.cycles, found));
            }
        }
        json!({
            "file": self.file,
            "batt": self.batt.program.name(),
            "runs": report.runs,
            "samples": self.samples,
            "device": device,
            "seconds": report.elapsed.as_secs_f64(),
            "interrupted": interrupt::happened(),
        })
    }
}

/// Returns a number of cycles as a share of the cycles of all primitives; 0 if there are none.
fn share(cycles: u64, device: &DeviceReport) -> f64 {
    let all: u64 = device.ops.iter().map(|count| count.cycles).sum();
    cycles as f64 / all.max(1) as f64
}
