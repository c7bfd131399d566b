//! Where the time of a batt goes on a device.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use batt_engine::device::{DeviceOptions, DeviceReport, LaunchSettings};
use batt_engine::{CompiledBatt, MegaOptions, MegaReport, Sample, mega_on};
use batt_lang::Batt;
use serde_json::{Value as Json, json};

use super::units::{bytes, percent, time};
use super::{ENOUGH, LONGEST, ProfileArgs};
use crate::device::{Devices, to_json, where_entries_finished, where_finished};
use crate::interrupt;
use crate::ui::{Ui, counted, grouped, rate, table, table_text};

/// A profile on a device and what it is of.
pub struct OnDevice<'a> {
    pub file: &'a str,
    pub batt: &'a Batt,
    /// Samples that there are.
    pub samples: usize,
    /// Rows of the table.
    pub top: usize,
    report: MegaReport,
}

impl<'a> OnDevice<'a> {
    /// Runs a batt on devices until the samples, the time or the patience of the user run out.
    pub fn measure(
        file: &'a str,
        batt: &'a Batt,
        samples: &[Sample<'_>],
        devices: &mut Devices,
        args: &ProfileArgs,
        ui: &Ui,
    ) -> OnDevice<'a> {
        let chosen = &samples[..super::wanted(args, samples.len(), ui)];
        let mut limits = args.options.engine(None).limits;
        limits.time = Some(LONGEST);
        let options = MegaOptions {
            limits,
            // As on the processor: nothing to compare with, and nobody looks at values.
            compare: false,
            values: false,
            device: DeviceOptions {
                settings: LaunchSettings {
                    ops: true,
                    ..LaunchSettings::default()
                },
                ..DeviceOptions::default()
            },
            ..MegaOptions::default()
        };
        interrupt::watch();
        let stop = interrupt::stop();
        let bar = ui.progress(chosen.len(), "profiling");
        let started = Instant::now();
        let report = mega_on(
            devices,
            &[CompiledBatt::new(batt)],
            chosen,
            0,
            &options,
            stop,
            |_, _, _| (),
            |at, _| {
                bar.set_position(at as u64 + 1);
                if args.samples.is_none() && started.elapsed() >= ENOUGH {
                    stop.cancel();
                }
            },
        );
        bar.finish_and_clear();
        OnDevice {
            file,
            batt,
            samples: samples.len(),
            top: args.top,
            report,
        }
    }

    /// A table and a few sentences.
    pub fn write(&self, out: &mut impl Write) -> Result<()> {
        let report = &self.report;
        writeln!(
            out,
            "{} of {}: {} on {} of {}",
            self.batt.program.name(),
            self.file,
            counted(self.batt.program.steps().len(), "step"),
            grouped(report.runs),
            counted(self.samples, "sample"),
        )?;
        let Some(device) = &report.device else {
            writeln!(out, "no device was used: the limits do not allow it")?;
            return Ok(());
        };
        writeln!(
            out,
            "\nprimitives on the device, by the cycles in themselves, in all launches:"
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
            writeln!(out, "in all on a device: {entries}")?;
        }
        writeln!(
            out,
            "kernels: {} in {}; sent: {} in {}; back: {} in {}",
            counted(times.launches as usize, "time"),
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

    /// Everything.
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

/// How much of the cycles of all primitives some are; nothing of nothing.
fn share(cycles: u64, device: &DeviceReport) -> f64 {
    let all: u64 = device.ops.iter().map(|count| count.cycles).sum();
    cycles as f64 / all.max(1) as f64
}
