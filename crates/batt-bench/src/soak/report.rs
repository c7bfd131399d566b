//! The report of a soak, as text and as JSON.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::Soak;
use super::growth::Growth;
use crate::text::{counted, counts_json, differ, grouped, interrupted, where_finished};

/// Writes the report as text.
pub fn write(out: &mut dyn Write, soak: &Soak) -> io::Result<()> {
    writeln!(
        out,
        "{:.1} s{} on {}: {} in {} mega-batches of {}, merged into {} and alone, on {}",
        soak.elapsed.as_secs_f64(),
        interrupted(soak.interrupted),
        soak.devices.join(", "),
        counted(soak.rounds, "whole round"),
        grouped(soak.batches),
        counted(soak.solvers, "solver"),
        counted(soak.batts, "batt"),
        counted(soak.samples, "input"),
    )?;
    writeln!(
        out,
        "{} of batts, {} of programs, {} launches",
        counted(soak.batt_runs, "run"),
        grouped(soak.program_runs),
        grouped(soak.launches as usize),
    )?;
    writeln!(out, "on the device: {}", where_finished(&soak.counts))?;
    let differ = differ(soak.differing as usize);
    writeln!(
        out,
        "{} repeated on the CPU: {differ}",
        counted(soak.verified as usize, "run")
    )?;
    for difference in &soak.differences {
        writeln!(out, "  {difference}")?;
    }
    for error in &soak.errors {
        writeln!(out, "device: {error}")?;
    }
    if soak.lost {
        writeln!(out, "a device was lost; its runs fell back to the CPU")?;
    }
    write_growth(out, "memory of this process", soak.process.as_ref())?;
    write_growth(out, "memory of the device", soak.device.as_ref())
}

fn write_growth(out: &mut dyn Write, what: &str, growth: Option<&Growth>) -> io::Result<()> {
    let Some(growth) = growth else {
        return writeln!(out, "{what}: unknown");
    };
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    write!(
        out,
        "{what}, MiB: {} first, {} last, {} maximum; ",
        mib(growth.first),
        mib(growth.last),
        mib(growth.largest),
    )?;
    match growth.share() {
        None => writeln!(out, "growth unknown: it takes at least 5 rounds and 25 s"),
        Some(share) => {
            let words = format!("{:+.2} % from the second fifth to the last", share * 100.0);
            let grows = if growth.is_too_much() {
                ": it grows"
            } else {
                ""
            };
            writeln!(out, "{words}{grows}")
        }
    }
}

/// Returns the report as JSON.
pub fn to_json(soak: &Soak) -> Json {
    let growth = |growth: Option<&Growth>| {
        growth.map(|growth| {
            json!({
                "first": growth.first,
                "last": growth.last,
                "max": growth.largest,
                "second_fifth_mean": growth.fifths.map(|[second, _]| second.mean.round()),
                "last_fifth_mean": growth.fifths.map(|[_, last]| last.mean.round()),
                "second_fifth_max": growth.fifths.map(|[second, _]| second.most),
                "last_fifth_max": growth.fifths.map(|[_, last]| last.most),
                "second_fifth_min": growth.fifths.map(|[second, _]| second.least),
                "last_fifth_min": growth.fifths.map(|[_, last]| last.least),
                "growth": growth.share(),
                "grown": growth.is_too_much(),
            })
        })
    };
    let memory = soak.memory.iter().map(|used| {
        json!({
            "seconds": used.at,
            "process_bytes": used.process,
            "device_bytes": used.devices,
        })
    });
    json!({
        "devices": soak.devices,
        "seconds": soak.elapsed.as_secs_f64(),
        "interrupted": soak.interrupted,
        "solvers": soak.solvers,
        "inputs": soak.samples,
        "batts": soak.batts,
        "rounds": soak.rounds,
        "mega_batches": soak.batches,
        "batt_runs": soak.batt_runs,
        "program_runs": soak.program_runs,
        "launches": soak.launches,
        "finished": counts_json(&soak.counts),
        "verified": soak.verified,
        "differing": soak.differing,
        "differences": soak.differences,
        "errors": soak.errors,
        "lost": soak.lost,
        "process": growth(soak.process.as_ref()),
        "device_memory": growth(soak.device.as_ref()),
        "memory": memory.collect::<Vec<_>>(),
        "good": !soak.is_bad(),
    })
}
