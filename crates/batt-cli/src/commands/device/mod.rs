//! `batt device`: which devices there are, what is missing to use them, and whether they work.

mod calibrate;
mod programs;

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_cuda::{
    Cache, Compiler, Cuda, DeviceFacts, KernelFacts, Origin, Places, Settings, Survey,
};
use batt_engine::device::DeviceError;
use clap::Args;
use serde_json::{Value, json};

use self::calibrate::{Measurement, calibrate};
use self::programs::{Check, Programs, compare_with_cpu};
use crate::cli::Exit;
use crate::device::{DeviceName, Devices};
use crate::error::advised;
use crate::ui::{BAD, GOOD, STRONG, Ui, counted, grouped, stdout, table, table_text};

/// Show the devices of this machine, and what is missing to use them
#[derive(Args)]
#[command(after_help = "\
Without a device everything runs on the CPU, with the same results.

Environment:
  BATT_CACHE_DIR  where compiled kernels and measurements are kept
  BATT_NVRTC      the file of the compiler for devices, libnvrtc.so.12 or .13

Examples:
  batt device
  batt device --self-test --json
  batt device --calibrate
  batt device --clear-cache")]
pub struct DeviceArgs {
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,

    /// Run every built-in solver on the device and compare each result with the CPU
    #[arg(long)]
    self_test: bool,

    /// Measure from how many runs on devices are faster than the CPU, and keep it for `--device auto`
    #[arg(long)]
    calibrate: bool,

    /// Which device to try
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,

    /// Try the emulated device instead of a device
    #[cfg(feature = "emulated")]
    #[arg(long, conflicts_with_all = ["device", "clear_cache"])]
    emulated: bool,

    /// Delete the compiled kernels that are kept
    #[arg(long, conflicts_with_all = ["self_test", "calibrate"])]
    clear_cache: bool,
}

impl DeviceArgs {
    fn is_emulated(&self) -> bool {
        #[cfg(feature = "emulated")]
        return self.emulated;
        #[cfg(not(feature = "emulated"))]
        return false;
    }
}

/// Runs the command.
pub fn main(args: &DeviceArgs, ui: &Ui) -> Result<Exit> {
    let cache = Cache::from_env();
    if args.clear_cache {
        return clear(&cache, args.json);
    }
    let survey = Survey::new(&Places::from_env(), &cache);
    let wanted = args.self_test || args.calibrate;
    if wanted && !args.is_emulated() && survey.devices.is_empty() {
        let why = survey.driver.as_ref().err().map_or("no device", |why| why);
        return Err(advised(
            format_args!("there is no device to try: {why}"),
            "`batt device` says what is missing",
        ));
    }
    let mut notes = Vec::new();
    let tests = match (args.self_test, args.is_emulated()) {
        (false, _) => None,
        (true, false) => Some(self_test(args.device, &mut notes)),
        (true, true) => Some(Tests::of_programs(DeviceName::Emulated.open(None, 1, ui)?)),
    };
    let calibration = args.calibrate.then(|| calibrate(args.is_emulated(), ui));

    let mut out = stdout();
    if args.json {
        let mut all = survey_json(&survey);
        if let Some(tests) = &tests {
            all["self_test"] = tests.to_json();
        }
        if let Some(calibration) = &calibration {
            all["calibration"] = calibration
                .as_ref()
                .map_or_else(|error| json!({ "error": error }), Measurement::to_json);
        }
        all["notes"] = json!(notes);
        writeln!(out, "{all}")?;
    } else {
        write_survey(&mut out, &survey, ui)?;
        if let Some(tests) = &tests {
            tests.write(&mut out, ui)?;
        }
        match &calibration {
            Some(Ok(found)) => found.write(&mut out)?,
            Some(Err(error)) => writeln!(out, "\n{} {error}", ui.out(BAD, "not measured:"))?,
            None => {}
        }
        for note in &notes {
            ui.note(note);
        }
    }
    out.flush()?;
    let failed = tests.is_some_and(|tests| tests.failed());
    Ok(Exit::findings(
        failed || calibration.is_some_and(|found| found.is_err()),
    ))
}

fn clear(cache: &Cache, json: bool) -> Result<Exit> {
    let folder = cache
        .folder()
        .map_or_else(String::new, |folder| folder.display().to_string());
    let gone = cache.clear().map_err(|error| {
        advised(
            format_args!("cannot clear {folder}: {error}"),
            "check the permissions of the folder",
        )
    })?;
    let mut out = stdout();
    if json {
        let report = json!({ "folder": folder, "entries": gone.entries, "bytes": gone.bytes });
        writeln!(out, "{report}")?;
    } else {
        let kernels = counted(gone.entries, "compiled kernel");
        let size = size(gone.bytes);
        writeln!(out, "{kernels} deleted from {folder}, {size}")?;
    }
    out.flush()?;
    Ok(Exit::Good)
}

/// The outcome of the self-test.
struct Tests {
    device: String,
    /// The kernel and how long opening took; none for an emulated device.
    kernel: Option<(KernelFacts, Duration)>,
    programs: Result<Programs, DeviceError>,
}

fn self_test(device: usize, notes: &mut Vec<String>) -> Tests {
    let start = Instant::now();
    let (kernel, programs) = match Cuda::open(device, &Settings::from_env()) {
        Ok((cuda, said)) => {
            notes.extend(said);
            let kernel = (cuda.kernel().clone(), start.elapsed());
            (Some(kernel), Ok(compare_with_cpu(vec![Box::new(cuda)])))
        }
        Err(error) => (None, Err(error)),
    };
    Tests {
        device: device.to_string(),
        kernel,
        programs,
    }
}

impl Tests {
    /// The test of an emulated device, which has no kernel to report.
    fn of_programs(devices: Devices) -> Tests {
        Tests {
            device: devices
                .first()
                .map_or_else(String::new, |device| device.name()),
            kernel: None,
            programs: Ok(compare_with_cpu(devices)),
        }
    }

    fn check(&self) -> Result<&Check, &DeviceError> {
        self.programs.as_ref().map(|programs| &programs.check)
    }

    fn failed(&self) -> bool {
        self.check().map_or(true, |check| check.problem.is_some())
    }

    fn to_json(&self) -> Value {
        let programs = match self.check() {
            Ok(check) => json!({
                "good": check.problem.is_none(),
                "problem": check.problem,
                "detail": check.detail,
                "seconds": check.time.as_secs_f64(),
            }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        let compared = self.programs.as_ref().ok().map(Programs::to_json);
        let kernel = self.kernel.as_ref();
        json!({
            "device": self.device,
            "good": !self.failed(),
            "programs": programs,
            "compared": compared,
            "kernel": kernel.map(|(facts, opened)| kernel_json(facts, *opened)),
        })
    }

    fn write(&self, out: &mut impl Write, ui: &Ui) -> Result<()> {
        writeln!(out, "\nTest of device {}:", self.device)?;
        if let Some((facts, opened)) = &self.kernel {
            writeln!(out, " {}", kernel_text(facts, *opened))?;
        }
        let (verdict, problem) = match self.check() {
            Ok(check) => {
                let time = check.time.as_secs_f64() * 1e3;
                writeln!(out, " built-in solvers: {}, {time:.1} ms", check.detail)?;
                match &check.problem {
                    None => (ui.out(GOOD, "good"), None),
                    Some(problem) => (ui.out(BAD, "wrong"), Some(problem.clone())),
                }
            }
            Err(error) => (ui.out(BAD, "not done"), Some(error.to_string())),
        };
        writeln!(out, " {verdict}")?;
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
        Origin::Cache(_) => "kept".to_owned(),
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
            Some(folder) => format!("{} ({kept})", folder.display()),
            None => "none".to_owned(),
        },
    ]);
    write!(out, "{}", table_text(&rest))?;
    for line in survey.advice() {
        writeln!(out, "\n{line}")?;
    }
    for (device, free) in &survey.devices {
        if let Err(problem) = free {
            writeln!(out, "\ncard {}: {problem}", device.ordinal)?;
        }
    }
    Ok(())
}

fn compiler_text(compiler: &Result<Compiler, String>) -> String {
    match compiler {
        Ok(found) => format!("{} ({})", found.version, found.path.display()),
        Err(_) => "none".to_owned(),
    }
}

/// Bytes as people say them.
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
