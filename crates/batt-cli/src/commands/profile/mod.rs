//! `batt profile`: where the time of a batt goes.

mod device;
mod flame;
mod report;
mod units;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_arc::Dataset;
use batt_engine::{BattProfile, Sample, profile};
use batt_lang::Batt;
use batt_lang::batt::BattFile;
use clap::Args;

use self::device::OnDevice;
use self::report::Report;
use crate::cli::{Exit, RunOptions};
use crate::device::{DeviceName, PER_DEVICE};
use crate::error::{advised, bad_file};
use crate::solvers::{load_tasks, nearest};
use crate::ui::{Ui, counted, grouped, stdout};
use crate::{batts, interrupt};

/// Show where the time of a batt goes: by primitive, by step, and along the longest chain
#[derive(Args)]
#[command(after_help = "\
The batt runs on samples from all over the tasks, on one thread, without anything to compare with. It
runs plainly, with its steps timed, and with every call of a primitive timed, in turns.

  total      from call to return; of a primitive inside itself, the outer call only
  self       the same without the primitives called inside
  p99        99 of 100 calls take no longer, to within a fifth
  bytes      allocated from call to return

Times of steps are taken without timing the primitives inside. The critical path is the chain of steps,
each needing the one before, that takes longest: on any number of cores one run takes at least that.

With --device all samples run on the device at once, and its clock counts the cycles of each primitive. A run
that is launched again, since the order of a set mattered or room was short, counts each time.

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

    /// The batt to profile, where the file has several [default: the first]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Samples to run [default: as many as take about 5 seconds]
    #[arg(long, value_name = "N")]
    samples: Option<NonZeroUsize>,

    /// Write a flame graph of the calls to a file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Profile on a device instead of the processor
    #[arg(long, value_name = "cuda[:N,...]|emulated", conflicts_with = "svg")]
    device: Option<DeviceName>,

    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: RunOptions,
}

/// How long to go on where nobody says how many samples to run.
const ENOUGH: Duration = Duration::from_secs(5);

/// Seconds one run may take, as a last resort.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs the command.
pub fn main(args: &ProfileArgs, ui: &Ui) -> Result<Exit> {
    let loaded = batts::load_all(std::slice::from_ref(&args.batt), args.options.dialect(), ui)?;
    let batt = choose(&loaded[0], args, ui)?;
    let data = load_tasks(&args.tasks, ui)?;
    let samples = spread(&data);
    if samples.is_empty() {
        return Err(advised(
            format_args!("{} holds no sample to run", args.tasks.display()),
            "name tasks that have at least one pair",
        ));
    }
    if let Some(device) = args
        .device
        .as_ref()
        .filter(|device| **device != DeviceName::Cpu)
    {
        let mut devices = device.open(None, PER_DEVICE, ui)?;
        if devices.is_empty() {
            return Err(advised(
                "there is no device to profile on",
                "`batt device` says what is missing; without --device the processor is profiled",
            ));
        }
        let file = loaded[0].source.name();
        let found = OnDevice::measure(file, batt, &samples, &mut devices, args, ui);
        let mut out = stdout();
        match args.json {
            true => writeln!(out, "{}", found.json())?,
            false => found.write(&mut out)?,
        }
        out.flush()?;
        return Ok(ending(&loaded[0]));
    }
    let profile = measure(batt, &samples, args, ui);
    let report = Report {
        file: loaded[0].source.name(),
        batt,
        profile: &profile,
        samples: samples.len(),
        top: args.top,
    };
    let mut out = stdout();
    if args.json {
        writeln!(out, "{}", report.json())?;
    } else {
        report.write(&mut out)?;
    }
    out.flush()?;
    // After the report: it is there even if the picture cannot be written.
    if let Some(path) = &args.svg {
        write_svg(path, &report, ui)?;
    }
    Ok(ending(&loaded[0]))
}

fn ending(file: &BattFile) -> Exit {
    match interrupt::happened() {
        true => Exit::Interrupted,
        false => Exit::findings(!file.is_clean()),
    }
}

/// The batt to profile.
fn choose<'f>(file: &'f BattFile, args: &ProfileArgs, ui: &Ui) -> Result<&'f Batt> {
    let names = || file.batts.iter().map(|batt| batt.program.name());
    if let Some(name) = &args.name {
        return file.batt(name).ok_or_else(|| {
            let hint = match nearest(name, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("it holds {}", names().collect::<Vec<_>>().join(", ")),
            };
            let file = args.batt.display();
            advised(format_args!("no batt '{name}' in {file}"), hint)
        });
    }
    if file.batts.len() > 1 {
        ui.note(format_args!(
            "{} holds {} batts; this is the first, --name chooses another",
            args.batt.display(),
            grouped(file.batts.len()),
        ));
    }
    // Loading has made sure that there is one.
    Ok(&file.batts[0])
}

/// All samples, in an order in which the first few come from all over the tasks: neighbours have much in common.
fn spread(data: &Dataset) -> Vec<Sample<'_>> {
    let all: Vec<Sample<'_>> = data
        .iter()
        .flat_map(|task| task.pairs().map(|(_, pair)| Sample::new(task, pair)))
        .collect();
    order(all.len()).map(|at| all[at]).collect()
}

/// The numbers below `n`, each far from those just before it.
fn order(n: usize) -> impl Iterator<Item = usize> {
    // Steps by the golden ratio leave no large gap anywhere; without a common divisor they get everywhere.
    let golden = (n as f64 * 0.618_034) as usize;
    let step = (golden.max(1)..).find(|&step| gcd(step, n) == 1);
    let step = step.unwrap_or(1);
    (0..n).map(move |k| k * step % n)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// How many of so many samples to run, at most.
fn wanted(args: &ProfileArgs, samples: usize, ui: &Ui) -> usize {
    let wanted = args.samples.map_or(samples, NonZeroUsize::get);
    if wanted > samples {
        ui.note(format_args!(
            "there are only {}",
            counted(samples, "sample")
        ));
    }
    wanted.min(samples)
}

/// Profiles until the samples, the time or the patience of the user run out.
fn measure(batt: &Batt, samples: &[Sample<'_>], args: &ProfileArgs, ui: &Ui) -> BattProfile {
    let mut limits = args.options.engine(None).limits;
    limits.time = Some(LONGEST);
    let samples = &samples[..wanted(args, samples.len(), ui)];
    interrupt::watch();
    let stop = interrupt::stop();
    let bar = ui.progress(samples.len(), "profiling");
    let started = Instant::now();
    let found = profile(batt, samples, &limits, stop, |done| {
        bar.set_position(done as u64);
        if args.samples.is_none() && started.elapsed() >= ENOUGH {
            stop.cancel();
        }
    });
    bar.finish_and_clear();
    found
}

fn write_svg(path: &Path, report: &Report<'_>, ui: &Ui) -> Result<()> {
    let title = format!(
        "{} in {}, {}",
        report.batt.program.name(),
        report.file,
        counted(report.profile.runs, "sample"),
    );
    match flame::svg(&report.profile.tree, &title)? {
        Some(svg) => std::fs::write(path, svg).map_err(|error| bad_file("write", path, &error)),
        None => {
            ui.warn(format_args!(
                "no primitive took any time; {} is not written",
                path.display()
            ));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_has_every_sample_once_and_jumps() {
        for n in [0, 1, 2, 3, 4, 6, 100, 1718] {
            let mut seen: Vec<usize> = order(n).collect();
            if n >= 100 {
                let mut first: Vec<usize> = seen[..10].to_vec();
                first.sort_unstable();
                let far = first.windows(2).all(|w| w[1] - w[0] >= n / 20);
                assert!(far, "{n}: {first:?}");
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n), "{n}");
        }
    }
}
