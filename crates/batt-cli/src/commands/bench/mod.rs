//! `batt bench`: measures the throughput of solvers on cores, on devices and in comparison with
//! Python.

mod report;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use batt::{CompareOptions, DeviceChoice, Devices, Limits, Solvers, Tasks, bench};
use clap::Args;
use serde_json::json;

use crate::cli::Exit;
use crate::interrupt;
use crate::solvers::{open_solvers, open_tasks};
use crate::ui::{Ui, stdout};

/// Measure throughput on cores, on devices or in comparison with Python
#[derive(Args)]
#[command(after_help = "\
Without options, the built-in solvers run on their puzzles, on one core and on all cores. --solvers
and --tasks select others; each solver runs on the task it is named after.

With --device, every solver also runs on every input, on the device and on all cores, and all
results are compared.

With --against, Python and batt take turns at running the solvers of an arc-dsl checkout on the
inputs of their tasks, on one core each. Only the call of a solver is timed, and the median of
several rounds counts. All answers are compared. The exit code is 1 if results differ.

Examples:
  batt bench
  batt bench --solvers solvers.py --tasks data/training
  batt bench --device cuda --solvers solvers.py --tasks data/training
  batt bench --against ../arc-dsl --tasks data/training
  batt bench --against ../arc-dsl --tasks data/training --python /usr/bin/python3.12 --json")]
pub struct BenchArgs {
    /// Solver files [default: the built-in solvers]
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "against")]
    solvers: Vec<PathBuf>,

    /// The tasks to run on [default: the built-in puzzles; with --against DIR, DIR/../data/training]
    #[arg(long, value_name = "PATH")]
    tasks: Option<PathBuf>,

    /// Also measure every solver on every input, on a device
    #[arg(long, value_name = DeviceChoice::FORMS, conflicts_with = "against")]
    device: Option<DeviceChoice>,

    /// Compare with the Python of an arc-dsl checkout
    #[arg(long, value_name = "DIR")]
    against: Option<PathBuf>,

    /// The Python to compare with [default: /usr/bin/python3, or the first on the PATH]
    #[arg(long, value_name = "PATH", requires = "against")]
    python: Option<PathBuf>,

    /// Seconds to measure, approximately [default: 4; with --against, 60]
    #[arg(long, value_name = "S", value_parser = seconds)]
    seconds: Option<f64>,

    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("write a number of seconds, such as 10 or 0.5".to_owned()),
    }
}

/// Runs the command.
pub fn main(args: &BenchArgs, ui: &Ui) -> Result<Exit> {
    interrupt::watch();
    let differ = match args.against.is_some() {
        true => against(args, ui)?,
        false => throughput(args, ui)?,
    };
    match interrupt::happened() {
        true => Ok(Exit::Interrupted),
        false => Ok(Exit::findings(differ)),
    }
}

/// Measures on cores and, if requested, on a device. Returns whether results differ.
fn throughput(args: &BenchArgs, ui: &Ui) -> Result<bool> {
    let solvers = match &args.solvers[..] {
        [] => Solvers::embedded(),
        files => open_solvers(files, None, ui)?,
    };
    let tasks = match &args.tasks {
        Some(path) => open_tasks(path, ui)?,
        None => Tasks::embedded(),
    };
    let limits = Limits::default();
    let mut devices = match &args.device {
        Some(choice) => Devices::open(choice, usize::MAX, &limits, None)?,
        None => Devices::none(),
    };
    devices.notes().iter().for_each(|note| ui.note(note));
    // One core and all cores get half of the time each.
    let time = Duration::from_secs_f64(args.seconds.unwrap_or(4.0) / 2.0);
    let cores = bench::throughput(&solvers, &tasks, time, &interrupt::control())?;
    let on_device = match &args.device {
        None => None,
        Some(_) => Some(bench::device_throughput(
            &solvers,
            &tasks,
            &mut devices,
            &limits,
            &interrupt::control(),
        )?),
    };
    let mut out = stdout();
    if args.json {
        let device = on_device.as_ref().map(report::device_json);
        let all = json!({"cores": report::cores_json(&cores), "device": device});
        writeln!(out, "{all}")?;
    } else {
        report::write_cores(&mut out, &cores)?;
        if let Some(device) = &on_device {
            report::write_device(&mut out, device, ui)?;
        }
    }
    out.flush()?;
    Ok(on_device.is_some_and(|device| device.differing > 0))
}

/// Compares with Python. Returns whether answers differ.
fn against(args: &BenchArgs, ui: &Ui) -> Result<bool> {
    let Some(checkout) = &args.against else {
        return Ok(false);
    };
    let options = CompareOptions {
        python: args.python.clone(),
        time: Duration::from_secs_f64(args.seconds.unwrap_or(60.0)),
    };
    let bar = ui.progress(0, "comparing");
    let shown = bar.clone();
    let control = interrupt::control().on_progress(move |at| {
        shown.set_length(at.total as u64);
        shown.set_position(at.done as u64);
    });
    let found = bench::against_python(checkout, args.tasks.as_deref(), &options, &control);
    bar.finish_and_clear();
    let found = found?;
    let mut out = stdout();
    match args.json {
        true => writeln!(out, "{}", json!({"against": report::to_json(&found)}))?,
        false => report::write(&mut out, &found, ui)?,
    }
    out.flush()?;
    Ok(found.agreed < found.answers)
}
