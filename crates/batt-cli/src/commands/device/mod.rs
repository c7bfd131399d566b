//! `batt device`: which devices there are, what is missing to use them, and whether they work.

mod calibrate;
mod programs;

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_cuda::plumbing::{self, Check};
use batt_cuda::{
    Cache, Compiler, Cuda, DeviceFacts, KernelFacts, Origin, Places, Settings, Survey, source,
};
use batt_engine::device::DeviceError;
use clap::Args;
use serde_json::{Value, json};

use self::calibrate::{Measurement, calibrate};
use self::programs::{Programs, compare_with_cpu};
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

    /// Try out the device: transfers and limits, then programs against the CPU
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

/// Long enough for a kernel to be known as late, short enough to wait for.
const LATE: Duration = Duration::from_millis(100);

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

/// What came of trying a device.
struct Tests {
    device: String,
    /// The host side, on a kernel made for that.
    plumbing: Result<Vec<Check>, DeviceError>,
    /// The same, with two logical devices at a time.
    sharing: Result<Vec<Check>, DeviceError>,
    /// The VM, opened, and programs on it against the CPU.
    kernel: Result<Option<(KernelFacts, Duration)>, DeviceError>,
    programs: Result<Programs, DeviceError>,
    clock: Result<Vec<Check>, DeviceError>,
}

fn self_test(device: usize, notes: &mut Vec<String>) -> Tests {
    let probe = Settings::with_source(source::PROBE);
    let plumbing = Cuda::open(device, &probe).map(|(mut cuda, said)| {
        notes.extend(said);
        plumbing::check(&mut cuda)
    });
    let sharing = Cuda::open_all(&[device, device], &probe).map(|opened| {
        thread::scope(|scope| {
            let running: Vec<_> = opened
                .devices
                .into_iter()
                .map(|mut cuda| scope.spawn(move || plumbing::check(&mut cuda)))
                .collect();
            // A thread that panicked has said so.
            let results = running.into_iter().filter_map(|thread| thread.join().ok());
            results.flatten().collect()
        })
    });
    let start = Instant::now();
    let (kernel, programs) = match Cuda::open(device, &Settings::from_env()) {
        Ok((cuda, said)) => {
            notes.extend(said);
            let kernel = (cuda.kernel().clone(), start.elapsed());
            (Ok(Some(kernel)), Ok(compare_with_cpu(vec![Box::new(cuda)])))
        }
        Err(error) => (Err(error.clone()), Err(error)),
    };
    // Last: the device is lost to this process afterwards.
    let impatient = Settings {
        timeout: LATE,
        ..probe
    };
    let clock =
        Cuda::open(device, &impatient).map(|(mut cuda, _)| vec![plumbing::check_clock(&mut cuda)]);
    Tests {
        device: device.to_string(),
        plumbing,
        sharing,
        kernel,
        programs,
        clock,
    }
}

impl Tests {
    /// Nothing but programs: an emulated device has neither transfers nor a clock.
    fn of_programs(devices: Devices) -> Tests {
        Tests {
            device: devices
                .first()
                .map_or_else(String::new, |device| device.name()),
            plumbing: Ok(Vec::new()),
            sharing: Ok(Vec::new()),
            kernel: Ok(None),
            programs: Ok(compare_with_cpu(devices)),
            clock: Ok(Vec::new()),
        }
    }

    /// The checks of each part, or why there are none.
    fn parts(&self) -> [(&'static str, Result<&[Check], &DeviceError>); 4] {
        fn checks(part: &Result<Vec<Check>, DeviceError>) -> Result<&[Check], &DeviceError> {
            part.as_ref().map(Vec::as_slice)
        }
        [
            ("host side", checks(&self.plumbing)),
            ("two at a time", checks(&self.sharing)),
            (
                "programs",
                self.programs
                    .as_ref()
                    .map(|programs| std::slice::from_ref(&programs.check)),
            ),
            ("time limit", checks(&self.clock)),
        ]
    }

    fn failed(&self) -> bool {
        self.parts().iter().any(|(_, part)| match part {
            Ok(checks) => checks.iter().any(|check| check.problem.is_some()),
            Err(_) => true,
        })
    }

    fn to_json(&self) -> Value {
        let check = |check: &Check| {
            json!({
                "name": check.name,
                "good": check.problem.is_none(),
                "problem": check.problem,
                "detail": check.detail,
                "seconds": check.time.as_secs_f64(),
            })
        };
        let mut all = json!({ "device": self.device, "good": !self.failed() });
        for (name, part) in self.parts() {
            all[name.replace(' ', "_")] = match part {
                Ok(checks) => checks.iter().map(check).collect(),
                Err(error) => json!({ "error": error.to_string() }),
            };
        }
        all["compared"] = self
            .programs
            .as_ref()
            .map_or(Value::Null, Programs::to_json);
        all["kernel"] = match &self.kernel {
            Ok(Some((facts, opened))) => kernel_json(facts, *opened),
            Ok(None) => Value::Null,
            Err(error) => json!({ "error": error.to_string() }),
        };
        all
    }

    fn write(&self, out: &mut impl Write, ui: &Ui) -> Result<()> {
        writeln!(out, "\nTests of device {}:", self.device)?;
        if let Ok(Some((facts, opened))) = &self.kernel {
            writeln!(out, " {}", kernel_text(facts, *opened))?;
        }
        let mut all = table(&[], &[3]);
        let mut undone = Vec::new();
        for (name, part) in self.parts() {
            match part {
                Ok([]) => {
                    all.add_row([name.to_owned(), "nothing to do".to_owned()]);
                }
                Ok(checks) => {
                    for check in checks {
                        let verdict = match &check.problem {
                            None => ui.out(GOOD, "good"),
                            Some(problem) => {
                                undone.push(format!("{name}, {}: {problem}", check.name));
                                ui.out(BAD, "wrong")
                            }
                        };
                        all.add_row([
                            name.to_owned(),
                            check.name.to_owned(),
                            verdict,
                            format!("{:.1} ms", check.time.as_secs_f64() * 1e3),
                            check.detail.clone(),
                        ]);
                    }
                }
                Err(error) => {
                    undone.push(format!("{name}: {error}"));
                    all.add_row([name.to_owned(), ui.out(BAD, "not done")]);
                }
            }
        }
        write!(out, "{}", table_text(&all))?;
        for line in undone {
            writeln!(out, "\n{line}")?;
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
