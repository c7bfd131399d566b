//! The report of the measurements on a device, as text and as JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{DeviceBench, Sampled};
use crate::text::grouped;

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64().max(1e-9)
}

fn ratio(slow: f64, fast: Duration) -> f64 {
    slow / seconds(fast)
}

/// Writes the report as text.
pub fn write(out: &mut dyn Write, bench: &DeviceBench) -> io::Result<()> {
    let runs = bench.runs();
    let (warm, device) = (bench.warm(), &bench.device);
    writeln!(
        out,
        "{} solvers on {} inputs: {} runs",
        bench.programs,
        bench.samples,
        grouped(runs)
    )?;
    let per_second = |time: Duration| grouped((runs as f64 / seconds(time)) as usize);
    for device in &device.devices {
        writeln!(out, "device: {}", device.name)?;
        for error in &device.errors {
            writeln!(out, "  {error}")?;
        }
    }
    let passes: Vec<String> = bench
        .passes
        .iter()
        .map(|time| format!("{:.3}", seconds(*time)))
        .collect();
    writeln!(
        out,
        "  on the device: {} runs/s; passes of {} s, the first cold",
        per_second(warm),
        passes.join(", ")
    )?;
    writeln!(
        out,
        "  on {} threads: {} runs/s, {:.3} s",
        bench.threads,
        per_second(bench.cores),
        seconds(bench.cores)
    )?;
    writeln!(
        out,
        "  the device is {:.2} times as fast as all cores",
        ratio(seconds(bench.cores), warm)
    )?;
    if let Some(python) = &bench.python {
        let all = python.estimate.mean * runs as f64;
        writeln!(
            out,
            "  Python ({}, {}): a run takes {:.1} us on average (standard error {:.1}, from {} runs by strata), the median run {:.1} us; {} were stopped ({}) and count as that long",
            python.python,
            python.version,
            python.estimate.mean * 1e6,
            python.estimate.error * 1e6,
            grouped(python.runs),
            python.estimate.median * 1e6,
            python.cut,
            Sampled::limits(),
        )?;
        writeln!(
            out,
            "  all runs would take {all:.0} s: the device is {:.0} times as fast, all cores {:.0} times",
            ratio(all, warm),
            ratio(all, bench.cores)
        )?;
    }
    let counts = &device.runs;
    let share = |n: u64| 100.0 * n as f64 / counts.total().max(1) as f64;
    writeln!(
        out,
        "finished on the device: {:.2} % ({} in the first launch, {} exactly)",
        share(counts.finished()),
        grouped(counts.first as usize),
        grouped(counts.exact as usize)
    )?;
    for (reason, count) in counts.reasons() {
        writeln!(
            out,
            "  fell back to the CPU, {}: {} ({:.3} %)",
            reason.name(),
            grouped(count as usize),
            share(count)
        )?;
    }
    let times = device.times();
    writeln!(
        out,
        "kernel {:.3} s in {} launches, up {:.3} s for {} bytes, down {:.3} s for {} bytes",
        seconds(times.kernel),
        times.launches,
        seconds(times.upload),
        grouped(times.bytes_up as usize),
        seconds(times.download),
        grouped(times.bytes_down as usize)
    )?;
    writeln!(
        out,
        "calls of primitives: {} ({:.0} million a second; counted and timed in a pass of {:.3} s)",
        grouped(bench.calls as usize),
        bench.calls as f64 / seconds(bench.counted) / 1e6,
        seconds(bench.counted)
    )?;
    let cycles: u64 = device.ops.iter().map(|op| op.cycles).sum();
    for op in device.ops.iter().take(25) {
        writeln!(
            out,
            "  {:<16} {:>14} calls {:>6.2} % of the cycles, {:>9} a call",
            op.op.op().name,
            grouped(op.calls as usize),
            100.0 * op.cycles as f64 / cycles.max(1) as f64,
            grouped((op.cycles / op.calls.max(1)) as usize)
        )?;
    }
    writeln!(out, "one batt of 32 solvers:")?;
    for batch in &bench.batches {
        writeln!(
            out,
            "  {:>6} samples: {:>10.3} ms on the device, {:>10.3} ms on all cores, {:.2} times as fast",
            grouped(batch.samples),
            seconds(batch.device) * 1e3,
            seconds(batch.cores) * 1e3,
            ratio(seconds(batch.cores), batch.device)
        )?;
    }
    writeln!(
        out,
        "the same scores and hashes: {} of {}",
        grouped(runs - bench.differing),
        grouped(runs)
    )?;
    for difference in &bench.differences {
        writeln!(out, "  {difference}")?;
    }
    Ok(())
}

/// Returns the report as JSON.
pub fn to_json(bench: &DeviceBench) -> Json {
    let (warm, device) = (bench.warm(), &bench.device);
    let counts = &device.runs;
    let times = device.times();
    let left: serde_json::Map<String, Json> = counts
        .reasons()
        .map(|(reason, count)| (reason.name().to_owned(), json!(count)))
        .collect();
    let python = bench.python.as_ref().map(|python| {
        let all = python.estimate.mean * bench.runs() as f64;
        json!({
            "python": python.python,
            "version": python.version,
            "runs": python.runs,
            "given_up": python.cut,
            "mean_us": python.estimate.mean * 1e6,
            "mean_error_us": python.estimate.error * 1e6,
            "median_us": python.estimate.median * 1e6,
            "times_python": ratio(all, warm),
            "times_python_on_all_cores": ratio(all, bench.cores),
        })
    });
    let ops: Vec<Json> = device
        .ops
        .iter()
        .map(|op| json!({"op": op.op.op().name, "calls": op.calls, "cycles": op.cycles}))
        .collect();
    let batches: Vec<Json> = bench
        .batches
        .iter()
        .map(|b| {
            json!({
                "samples": b.samples,
                "device_s": seconds(b.device),
                "cores_s": seconds(b.cores),
            })
        })
        .collect();
    json!({
        "programs": bench.programs,
        "samples": bench.samples,
        "runs": bench.runs(),
        "devices": device.devices.iter().map(|device| &device.name).collect::<Vec<_>>(),
        "passes_s": bench.passes.iter().map(|time| seconds(*time)).collect::<Vec<_>>(),
        "device_s": seconds(warm),
        "threads": bench.threads,
        "cores_s": seconds(bench.cores),
        "times_cores": ratio(seconds(bench.cores), warm),
        "python": python,
        "finished_first": counts.first,
        "finished_exact": counts.exact,
        "left": left,
        "kernel_s": seconds(times.kernel),
        "upload_s": seconds(times.upload),
        "download_s": seconds(times.download),
        "bytes_up": times.bytes_up,
        "bytes_down": times.bytes_down,
        "launches": times.launches,
        "primitive_calls": bench.calls,
        "counted_s": seconds(bench.counted),
        "ops": ops,
        "batches": batches,
        "differing": bench.differing,
    })
}
