//! `batt device`: shows the devices of this machine and what is missing to use them, and tests
//! them.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::{
    Compiler, DeviceChoice, DeviceFacts, Devices, KernelFacts, Limits, Origin, SelfTest, Survey,
};
use clap::Args;
use serde_json::{Value, json};

use crate::cli::Exit;
use crate::device::{counts_json, where_finished};
use crate::error::advised;
use crate::numbers;
use crate::ui::{
    BAD, GOOD, STRONG, Ui, counted, escaped, grouped, name, shown, stdout, table, table_text,
};

/// List the GPUs of this machine, and what is missing to use them
#[derive(Args)]
#[command(after_help = "\
Without a device everything runs on the CPU, with the same results.

Environment:
  BATT_CACHE_DIR  folder for compiled kernels
  BATT_NVRTC      file of NVRTC, the compiler for GPUs: libnvrtc.so.12 or .13

Examples:
  batt device
  batt device --self-test --json
  batt device --clear-cache")]
pub struct DeviceArgs {
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,

    /// Run every built-in solver on the device and compare the results with the CPU's
    #[arg(long)]
    self_test: bool,

    /// Which device to test
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = numbers::from_zero::<usize>)]
    device: usize,

    /// Test the emulated device instead
    #[cfg(feature = "emulated")]
    #[arg(long, conflicts_with_all = ["device", "clear_cache"])]
    emulated: bool,

    /// Delete the cached kernels
    #[arg(long, conflicts_with = "self_test")]
    clear_cache: bool,
}

impl DeviceArgs {
    fn choice(&self) -> DeviceChoice {
        #[cfg(feature = "emulated")]
        if self.emulated {
            return DeviceChoice::Emulated;
        }
        DeviceChoice::Cuda(vec![self.device])
    }
}

/// Runs the command.
pub fn main(args: &DeviceArgs, ui: &Ui) -> Result<Exit> {
    if args.clear_cache {
        return clear(args.json);
    }
    let survey = batt::survey();
    let choice = args.choice();
    if args.self_test && choice != DeviceChoice::Emulated && survey.devices.is_empty() {
        let why = survey.driver.as_ref().err().map_or("no device", |why| why);
        return Err(advised(
            format_args!("there is no device to test: {why}"),
            "`batt device` lists what is missing",
        ));
    }
    let test = args.self_test.then(|| Test::of(&choice)).transpose()?;
    let mut out = stdout();
    if args.json {
        let mut all = survey_json(&survey);
        if let Some(test) = &test {
            all["self_test"] = test.to_json();
        }
        all["notes"] = json!(test.as_ref().map_or(&[][..], |test| test.devices.notes()));
        writeln!(out, "{all}")?;
    } else {
        write_survey(&mut out, &survey, ui)?;
        if let Some(test) = &test {
            test.write(&mut out, ui)?;
            ui.device_notes(&test.devices);
        }
    }
    out.flush()?;
    let problem = test.and_then(|test| test.found.problem());
    Ok(Exit::findings(problem.is_some()))
}

fn clear(json: bool) -> Result<Exit> {
    let (folder, gone) = batt::clear_kernels()?;
    let folder = folder.map_or_else(String::new, |folder| folder.display().to_string());
    let mut out = stdout();
    if json {
        let report = json!({ "folder": folder, "entries": gone.entries, "bytes": gone.bytes });
        writeln!(out, "{report}")?;
    } else {
        let kernels = counted(gone.entries, "compiled kernel");
        let size = size(gone.bytes);
        let folder = escaped(&folder, &[]);
        writeln!(out, "{kernels} deleted from {folder}, {size}")?;
    }
    out.flush()?;
    Ok(Exit::Good)
}

/// The self-test of a device.
struct Test {
    devices: Devices,
    /// The time that opening the device took.
    opened: Duration,
    found: SelfTest,
}

impl Test {
    fn of(choice: &DeviceChoice) -> Result<Test> {
        let started = Instant::now();
        let mut devices = Devices::open(choice, usize::MAX, &Limits::default(), None)?;
        let opened = started.elapsed();
        let found = devices.self_test();
        Ok(Test {
            devices,
            opened,
            found,
        })
    }

    fn to_json(&self) -> Value {
        let found = &self.found;
        let problem = found.problem();
        let mut compared = counts_json(&found.report.runs);
        compared["runs"] = json!(found.runs);
        compared["differing"] = json!(found.differing);
        compared["differences"] = json!(found.differences);
        let kernel = self.devices.kernels().first();
        json!({
            "device": self.devices.names().first(),
            "good": problem.is_none(),
            "problem": problem,
            "seconds": found.time.as_secs_f64(),
            "compared": compared,
            "kernel": kernel.map(|facts| kernel_json(facts, self.opened)),
        })
    }

    fn write(&self, out: &mut impl Write, ui: &Ui) -> Result<()> {
        let device = self.devices.names().into_iter().next().unwrap_or_default();
        writeln!(out, "\nTest of device {}:", name(&device))?;
        if let Some(facts) = self.devices.kernels().first() {
            writeln!(out, " {}", kernel_text(facts, self.opened))?;
        }
        let found = &self.found;
        let problem = found.problem();
        let verdict = match problem {
            None => ui.out(GOOD, "good"),
            Some(_) => ui.out(BAD, "wrong"),
        };
        writeln!(
            out,
            " built-in solvers: {verdict}, {:.1} ms, {}; {} differing",
            found.time.as_secs_f64() * 1e3,
            where_finished(&found.report.runs),
            grouped(found.differing)
        )?;
        if let Some(problem) = problem {
            writeln!(out, "\n{problem}")?;
        }
        Ok(())
    }
}

fn kernel_json(facts: &KernelFacts, opened: Duration) -> Value {
    let compiled = match facts.origin {
        Origin::Cache(_) => None,
        Origin::Compiler(_, time) => Some(time.as_secs_f64()),
    };
    json!({
        "opened_seconds": opened.as_secs_f64(),
        "loaded_seconds": facts.ready.as_secs_f64(),
        "compiled_seconds": compiled,
        "bytes": facts.bytes,
        "registers": facts.registers,
        "local_bytes": facts.local,
        "shared_bytes": facts.shared,
        "warps": facts.warps,
    })
}

fn kernel_text(facts: &KernelFacts, opened: Duration) -> String {
    let origin = match &facts.origin {
        Origin::Cache(_) => "cached".to_owned(),
        Origin::Compiler(version, time) => {
            format!("compiled by NVRTC {version} in {:.1} s", time.as_secs_f64())
        }
    };
    format!(
        "kernel: {origin}, ready after {:.2} s, {:.2} s with opening the device, {}, {} registers, {} bytes local, {} bytes shared, {} warps at a time",
        facts.ready.as_secs_f64(),
        opened.as_secs_f64(),
        size(facts.bytes as u64),
        facts.registers,
        facts.local,
        facts.shared,
        grouped(usize::try_from(facts.warps).unwrap_or(usize::MAX)),
    )
}

fn survey_json(survey: &Survey) -> Value {
    let device = |(device, free): &(DeviceFacts, Result<u64, String>)| {
        json!({
            "number": device.ordinal,
            "name": device.name,
            "compute_capability": device.arch.capability(),
            "multiprocessors": device.multiprocessors,
            "memory": device.memory,
            "memory_free": free.as_ref().ok(),
            "problem": free.as_ref().err(),
        })
    };
    let compiler = survey.compiler.as_ref().map(|compiler| {
        json!({
            "version": compiler.version.to_string(),
            "path": compiler.path.display().to_string(),
            "architectures": compiler.archs.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    });
    json!({
        "devices": survey.devices.iter().map(device).collect::<Vec<_>>(),
        "driver": survey.driver.as_ref().ok().map(ToString::to_string),
        "nvrtc": compiler.ok(),
        "cache": {
            "folder": survey.cache.as_ref().map(|folder| folder.display().to_string()),
            "entries": survey.kept.entries,
            "bytes": survey.kept.bytes,
        },
        "missing": survey.advice(),
    })
}

fn write_survey(out: &mut impl Write, survey: &Survey, ui: &Ui) -> Result<()> {
    if survey.devices.is_empty() {
        writeln!(
            out,
            "{}",
            ui.out(STRONG, "No device: programs run on the CPU.")
        )?;
    } else {
        let mut devices = table(
            &[
                "device",
                "name",
                "capability",
                "processors",
                "free",
                "memory",
            ],
            &[0, 2, 3, 4, 5],
        );
        for (device, free) in &survey.devices {
            devices.add_row([
                device.ordinal.to_string(),
                device.name.clone(),
                device.arch.capability(),
                device.multiprocessors.to_string(),
                free.as_ref()
                    .map_or_else(|_| "unknown".to_owned(), |&free| size(free)),
                size(device.memory),
            ]);
        }
        writeln!(out, "{}", table_text(&devices))?;
    }
    let mut rest = table(&[], &[]);
    rest.add_row([
        "driver".to_owned(),
        match &survey.driver {
            Ok(version) => format!("for CUDA {version}"),
            Err(_) => "none".to_owned(),
        },
    ]);
    rest.add_row(["NVRTC".to_owned(), compiler_text(&survey.compiler)]);
    let kept = match survey.kept.entries {
        0 => "empty".to_owned(),
        n => format!("{}, {}", counted(n, "kernel"), size(survey.kept.bytes)),
    };
    rest.add_row([
        "cache".to_owned(),
        match &survey.cache {
            Some(folder) => format!("{} ({kept})", shown(folder)),
            None => "none".to_owned(),
        },
    ]);
    write!(out, "{}", table_text(&rest))?;
    for line in survey.advice() {
        writeln!(out, "\n{line}")?;
    }
    for (device, free) in &survey.devices {
        if let Err(problem) = free {
            writeln!(out, "\ndevice {}: {problem}", device.ordinal)?;
        }
    }
    Ok(())
}

fn compiler_text(compiler: &Result<Compiler, String>) -> String {
    match compiler {
        Ok(found) => format!("{} ({})", found.version, shown(&found.path)),
        Err(_) => "none".to_owned(),
    }
}

/// Formats a number of bytes.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match value {
        small if small < 10.0 => format!("{value:.1} {}", UNITS[unit]),
        _ => format!("{value:.0} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_for_people() {
        assert_eq!(size(0), "0.0 KiB");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(80 << 20), "80 MiB");
        assert_eq!(size(139 << 30), "139 GiB");
        assert_eq!(size(u64::MAX), "16777216 TiB");
    }
}
