//! `batt profile`: shows where the time of a batt goes.

mod device;
mod flame;
mod report;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::files::check_output;
use batt::profile::{ProfileOptions, profile, profile_on, sample_count};
use batt::{DeviceChoice, Devices};
use clap::Args;

use self::device::DeviceProfile;
use self::report::Report;
use crate::cli::{Exit, RunOptions};
use crate::error::{advised, bad_file};
use crate::numbers;
use crate::solvers::open_tasks;
use crate::ui::{Ui, counted, escaped, grouped, name, stdout};
use crate::{batts, interrupt};

/// Show where the time of a batt goes: by primitive, by step, and on the critical path
#[derive(Args)]
#[command(after_help = "\
The batt runs on samples drawn evenly from the tasks, on one thread, without comparing. The runs
take turns: one without timing, one with timed steps, one with a timer in every call of a
primitive.

  total      from call to return; for a primitive that calls itself, only the outer call
  self       the same without the time of primitives called inside
  p99        99 of 100 calls take no longer, to within a fifth
  bytes      allocated from call to return

Steps are timed without timing the primitives inside. In a chain of steps, each step needs the one
before. The critical path is the chain that takes longest: a run takes at least that long on any
number of cores.

With --device, all samples run on the device at once, and its clock counts the cycles of each
primitive. A run may be launched several times, because the first launch ignores the order of sets
and has little memory. Each launch counts.

Examples:
  batt profile batt.py --tasks data/training
  batt profile batt.py --tasks data/training --svg flame.svg
  batt profile batt.py --tasks data/training --samples 500 --json > profile.json
  batt profile batt.py --tasks data/training --device cuda")]
pub struct ProfileArgs {
    /// A batt file
    #[arg(value_name = "BATT")]
    batt: PathBuf,

    /// A folder of tasks, a task file, or a Kaggle challenges file
    #[arg(long, value_name = "PATH")]
    tasks: PathBuf,

    /// The batt to profile, if the file has several [default: the first]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Samples to run [default: as many as take about 5 seconds]
    #[arg(long, value_name = "N", value_parser = numbers::from_one::<NonZeroUsize>)]
    samples: Option<NonZeroUsize>,

    /// Write a flame graph of the calls to a file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Profile on a device instead of the CPU
    #[arg(long, value_name = "cuda[:N,...]|emulated", conflicts_with = "svg")]
    device: Option<DeviceChoice>,

    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = numbers::from_zero::<usize>)]
    top: usize,

    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: RunOptions,
}

/// Runs the command.
pub fn main(args: &ProfileArgs, ui: &Ui) -> Result<Exit> {
    let paths = std::slice::from_ref(&args.batt);
    if let Some(svg) = &args.svg {
        if svg == Path::new("-") {
            return Err(advised(
                "a flame graph cannot be written to stdout",
                "name a file",
            ));
        }
        check_output(svg, paths, &args.tasks)?;
    }
    let batts = batts::load_all(paths, args.options.dialect(), ui)?;
    let batt = match (&args.name, batts.iter().next()) {
        (None, Some((_, first))) => first,
        (name, _) => batts.get(name.as_deref().unwrap_or_default())?,
    };
    let file = batts::file_of(&batts);
    if args.name.is_none() && batts.len() > 1 {
        let count = grouped(batts.len());
        ui.note(format_args!(
            "{file} holds {count} batts; profiling the first, --name selects another"
        ));
    }
    let tasks = open_tasks(&args.tasks, ui)?;
    let samples = tasks.pair_count();
    if args.samples.is_some_and(|wanted| wanted.get() > samples) {
        ui.note(format_args!(
            "the tasks have only {}",
            counted(samples, "sample")
        ));
    }
    let options = ProfileOptions {
        samples: args.samples,
        limits: args.options.limits(),
    };
    let devices = args.open_devices(&options, samples, ui)?;
    interrupt::watch();
    let bar = ui.progress(sample_count(&tasks, &options), "profiling");
    let control = interrupt::control_with(&bar);
    let mut out = stdout();
    if let Some(mut devices) = devices {
        let report = profile_on(batt, &tasks, &options, &mut devices, &control);
        bar.finish_and_clear();
        let found = DeviceProfile {
            file,
            batt,
            samples,
            top: args.top,
            report: report?,
        };
        match args.json {
            true => writeln!(out, "{}", found.json())?,
            false => found.write(&mut out)?,
        }
        out.flush()?;
    } else {
        let profile = profile(batt, &tasks, &options, &control);
        bar.finish_and_clear();
        let report = Report {
            file,
            batt,
            profile: &profile?,
            samples,
            top: args.top,
        };
        match args.json {
            true => writeln!(out, "{}", report.json())?,
            false => report.write(&mut out)?,
        }
        out.flush()?;
        // The report comes first, so it is printed even if the picture cannot be written.
        if let Some(path) = &args.svg {
            write_svg(path, &report, ui)?;
        }
    }
    Ok(match interrupt::happened() {
        true => Exit::Interrupted,
        false => Exit::findings(!batts.is_clean()),
    })
}

impl ProfileArgs {
    /// Opens the devices on which to profile; `None` profiles on the CPU.
    fn open_devices(
        &self,
        options: &ProfileOptions,
        samples: usize,
        ui: &Ui,
    ) -> Result<Option<Devices>> {
        let Some(choice) = self.device.as_ref().filter(|it| **it != DeviceChoice::Cpu) else {
            return Ok(None);
        };
        let devices = Devices::open(choice, samples, &options.limits, None)?;
        ui.device_notes(&devices);
        match devices.is_empty() {
            true => Err(advised(
                "there is no device to profile on",
                "`batt device` lists what is missing; without --device the CPU is profiled",
            )),
            false => Ok(Some(devices)),
        }
    }
}

fn write_svg(path: &Path, report: &Report<'_>, ui: &Ui) -> Result<()> {
    let title = format!(
        "{} in {}, {}",
        name(report.batt.program.name()),
        escaped(report.file, &[]),
        counted(report.profile.runs, "sample"),
    );
    match flame::svg(&report.profile.tree, &title)? {
        Some(svg) => std::fs::write(path, svg).map_err(|error| bad_file("write", path, error)),
        None => {
            ui.warn(format_args!(
                "no primitive took any time; {} is not written",
                path.display()
            ));
            Ok(())
        }
    }
}
