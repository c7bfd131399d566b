//! Measures the wave engine: fixed programs on all inputs, on a GPU and on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use batt_cuda::{Cuda, CudaSettings, CudaWaves};
use batt_dsl::{Fault, Limits, Workspace};
use batt_engine::device::{Device, DeviceOptions, ScoreOptions, score_table};
use batt_engine::wave::{
    KernelWork, WaveBatch, WaveDevice, WaveEnd, WaveEngine, WavePlan, WaveReason, WaveReport,
};
use batt_engine::{Cancel, Compiled, Job, Judged, Sample, Verdict, judge_job};
use batt_lang::{Program, SolverFile};
use clap::Args;
use serde_json::json;

use crate::interrupt;
use crate::options::Common;
use crate::text::{note, print};
use crate::wave_targets;

/// The passes on the GPU; the first one includes start-up costs.
const PASSES: usize = 6;

/// The engines on the GPU when it works together with the cores. While the slowest items of one engine keep
/// few multiprocessors busy, the others use the rest.
const ENGINES: usize = 4;

/// The number of kernels listed.
const KERNELS: usize = 25;

/// The number of differences listed.
const LISTED: usize = 10;

/// Measure the wave engine on a GPU against all cores
///
/// Without --solvers it runs 384 programs of five ops: `objects` in all modes, `argmax` or `argmin`,
/// `subgrid`, a mirror and a concatenation. All scores and hashes are compared.
#[derive(Args)]
pub struct WavesArgs {
    #[command(flatten)]
    common: Common,

    /// Run on the emulated device
    #[cfg(feature = "emulated")]
    #[arg(long)]
    emulated: bool,

    /// Run each solver alone, and list how many of its runs the GPU finishes
    #[arg(long)]
    each: bool,

    /// Measure a batt of about 650 steps on 4,000 samples, and `o_g` on 22,752 grids, instead
    #[arg(long, conflicts_with_all = ["each", "json"])]
    targets: bool,
}

/// What was measured.
struct Measured {
    programs: usize,
    samples: usize,
    cores: Duration,
    threads: usize,
    passes: Vec<Duration>,
    /// Passes of the GPU and the cores together, after which every run has a score.
    together: Vec<Duration>,
    report: WaveReport,
    /// The time that threads need for the runs that the GPU leaves, by reason.
    left: [Duration; WaveReason::ALL.len()],
    /// The programs that take most of it.
    expensive: Vec<(String, Duration)>,
    /// The most expensive kernels, each waiting for the one before.
    kernels: Vec<(&'static str, KernelWork)>,
    differing: usize,
    differences: Vec<String>,
}

/// Runs the benchmark. Returns whether all results agree.
pub fn main(args: &WavesArgs) -> Result<bool> {
    let corpus = args.common.corpus(None)?;
    if args.targets {
        let (lines, agree) = wave_targets::measure(&corpus, &mut open_engines(args)?)?;
        print(|out| {
            lines
                .iter()
                .try_for_each(|line| Ok(writeln!(out, "{line}")?))
        })?;
        return Ok(agree);
    }
    let five;
    let programs: Vec<Program> = match args.common.solvers.is_empty() {
        true => {
            five = SolverFile::parse(&five_ops(), "five-ops.py");
            five.programs
        }
        false => corpus.programs().cloned().collect(),
    };
    let samples = corpus.samples();
    let mut engine = WaveEngine::new(open(args)?)?;
    let mut devices = open_engines(args)?;
    let measured = measure(&mut engine, &mut devices, &programs, &samples)?;
    let each = match args.each {
        true => each(&mut engine, &programs, &samples)?,
        false => Vec::new(),
    };
    print(|out| match args.common.json {
        true => Ok(writeln!(out, "{}", measured.json())?),
        false => {
            measured.write(out)?;
            for line in &each {
                writeln!(out, "{line}")?;
            }
            Ok(())
        }
    })?;
    Ok(measured.differing == 0)
}

/// Opens the devices that work together with the cores.
fn open_engines(args: &WavesArgs) -> Result<Vec<Box<dyn Device>>> {
    #[cfg(feature = "emulated")]
    if args.emulated {
        let threads = thread::available_parallelism()?;
        return Ok(vec![Box::new(
            batt_emulated::Emulated::new(threads).with_waves()?,
        )]);
    }
    let _ = args;
    // The VM is not needed.
    let settings = CudaSettings {
        later: true,
        ..CudaSettings::from_env()
    };
    let opened = Cuda::open_all(&[0; ENGINES], &settings)?;
    let boxed = |device: Cuda| -> Box<dyn Device> { Box::new(device) };
    Ok(opened.devices.into_iter().map(boxed).collect())
}

fn open(args: &WavesArgs) -> Result<Box<dyn WaveDevice>> {
    #[cfg(feature = "emulated")]
    if args.emulated {
        return Ok(Box::new(batt_wave::EmulatedWaves));
    }
    let _ = args;
    let (device, notes) = CudaWaves::open(0)?;
    notes.iter().for_each(note);
    Ok(Box::new(device))
}

fn measure(
    engine: &mut WaveEngine,
    devices: &mut [Box<dyn Device>],
    programs: &[Program],
    samples: &[Sample<'_>],
) -> Result<Measured> {
    let compiled: Vec<Compiled> = programs.iter().map(Compiled::new).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    note(format_args!(
        "{} programs on {} inputs",
        programs.len(),
        samples.len()
    ));
    let started = Instant::now();
    let cancel = Cancel::new();
    let options = ScoreOptions::default();
    let (expected, _) = score_table(&mut [], &compiled, samples, &options, &cancel);
    let cores = started.elapsed();
    let resident = engine.load(samples)?;
    let mut measured = Measured {
        programs: programs.len(),
        samples: samples.len(),
        cores,
        threads,
        passes: Vec::new(),
        together: Vec::new(),
        report: WaveReport::default(),
        left: Default::default(),
        expensive: Vec::new(),
        kernels: Vec::new(),
        differing: 0,
        differences: Vec::new(),
    };
    let mut left = Vec::new();
    for pass in 0..PASSES {
        if interrupt::happened() {
            break;
        }
        let started = Instant::now();
        // A search makes new programs each time, so planning counts.
        let plan = WavePlan::of(engine.table(), programs[0].dialect(), &compiled);
        let batch = WaveBatch {
            plan: &plan,
            first: 0,
            count: samples.len(),
        };
        let (records, report) = engine.run(&[batch], &resident, &Limits::default(), &cancel);
        measured.passes.push(started.elapsed());
        if let Some(error) = report.errors.first() {
            return Err(anyhow!("{error}"));
        }
        measured.report = report;
        if pass > 0 {
            engine.reuse(records);
            continue;
        }
        for (p, program) in programs.iter().enumerate() {
            for (s, _) in samples.iter().enumerate() {
                let end = records.end(0, p, s);
                if let WaveEnd::Left(reason) = end {
                    left.push((p, s, reason));
                }
                let Some(expected) = expected.get(p * samples.len() + s) else {
                    continue;
                };
                if !agrees(&end, expected) {
                    measured.differing += 1;
                    if measured.differences.len() < LISTED {
                        let name = program.name();
                        measured
                            .differences
                            .push(format!("{name}, input {s}: {end:?}, and not {expected:?}"));
                    }
                }
            }
        }
    }
    engine.release(resident);
    measured.time_left(&left, &compiled, samples, programs);
    let options = ScoreOptions {
        device: DeviceOptions {
            waves: true,
            ..DeviceOptions::default()
        },
        ..options
    };
    for _ in 0..PASSES {
        if interrupt::happened() {
            break;
        }
        let started = Instant::now();
        let (scores, _) = score_table(devices, &compiled, samples, &options, &cancel);
        measured.together.push(started.elapsed());
        measured.differing += scores.iter().zip(&expected).filter(|(a, b)| a != b).count();
        measured.differing += scores.len().abs_diff(expected.len());
    }
    let resident = engine.load(samples)?;
    if !interrupt::happened() {
        engine.profile(true);
        let plan = WavePlan::of(engine.table(), programs[0].dialect(), &compiled);
        let batch = WaveBatch {
            plan: &plan,
            first: 0,
            count: samples.len(),
        };
        let (_, report) = engine.run(&[batch], &resident, &Limits::default(), &cancel);
        engine.profile(false);
        measured.kernels = by_time(engine, &report);
    }
    engine.release(resident);
    Ok(measured)
}

/// Returns the kernels that took the most time, with their names.
fn by_time(engine: &WaveEngine, report: &WaveReport) -> Vec<(&'static str, KernelWork)> {
    let names = engine.table().kernels().iter().map(|kernel| kernel.name);
    let mut kernels: Vec<_> = names.zip(report.kernels.iter().copied()).collect();
    kernels.retain(|(_, work)| work.launches > 0);
    kernels.sort_by_key(|(_, work)| std::cmp::Reverse(work.time));
    kernels.truncate(KERNELS);
    kernels
}

/// Lists for each program how many of its runs are finished, and why the others are not.
fn each(
    engine: &mut WaveEngine,
    programs: &[Program],
    samples: &[Sample<'_>],
) -> Result<Vec<String>> {
    let resident = engine.load(samples)?;
    let mut lines = Vec::new();
    for program in programs {
        let started = Instant::now();
        let plan = WavePlan::of(engine.table(), program.dialect(), [&Compiled::new(program)]);
        let batch = WaveBatch {
            plan: &plan,
            first: 0,
            count: samples.len(),
        };
        let (_, report) = engine.run(&[batch], &resident, &Limits::default(), &Cancel::new());
        let left: Vec<String> = report
            .reasons()
            .map(|(reason, n)| format!("{} {n}", reason.name()))
            .collect();
        lines.push(format!(
            "{:30} {:8.3} ms {:6} finished, left: {}",
            program.name(),
            started.elapsed().as_secs_f64() * 1e3,
            report.finished,
            left.join(", ")
        ));
    }
    engine.release(resident);
    Ok(lines)
}

/// Returns whether a run ended as on the CPU. A run that is left agrees.
pub fn agrees(end: &WaveEnd, expected: &Judged) -> bool {
    match (end, &expected.verdict) {
        (WaveEnd::Left(_), _) => true,
        (WaveEnd::Fault { fault, step }, Verdict::Failed(error)) => {
            let own = error.step.map(|step| step.index() as u32);
            Fault::ALL.get(usize::from(*fault)) == Some(&error.fault) && own == Some(*step)
        }
        (WaveEnd::Value { verdict, hash }, known) => {
            expected.hash == Some(*hash)
                && match known {
                    Verdict::Right => *verdict == 0,
                    Verdict::Unknown => *verdict == u32::MAX,
                    Verdict::NotAGrid => *verdict == u32::MAX - 1,
                    Verdict::WrongCells(cells) => *verdict as usize == *cells,
                    Verdict::WrongShape(height, width) => {
                        *verdict == 0x8000_0000 | (*height as u32) << 16 | *width as u32
                    }
                    Verdict::Failed(_) => false,
                }
        }
        _ => false,
    }
}

impl Measured {
    /// Measures what the runs that the GPU leaves take on one thread each, while all threads work.
    fn time_left(
        &mut self,
        left: &[(usize, usize, WaveReason)],
        compiled: &[Compiled],
        samples: &[Sample<'_>],
        programs: &[Program],
    ) {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut workspace = Workspace::new();
            let mut by_reason = [Duration::ZERO; WaveReason::ALL.len()];
            let mut by_program = vec![Duration::ZERO; programs.len()];
            while let Some(&(p, s, reason)) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                let job = Job {
                    program: &compiled[p],
                    sample: samples[s],
                };
                let started = Instant::now();
                judge_job(&mut workspace, &job, &Limits::default());
                by_reason[reason as usize] += started.elapsed();
                by_program[p] += started.elapsed();
            }
            (by_reason, by_program)
        };
        let mut by_program = vec![Duration::ZERO; programs.len()];
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(work)).collect();
            for (by_reason, of_thread) in threads.into_iter().filter_map(|t| t.join().ok()) {
                (self.left.iter_mut().zip(by_reason)).for_each(|(sum, time)| *sum += time);
                (by_program.iter_mut().zip(of_thread)).for_each(|(sum, time)| *sum += time);
            }
        });
        let mut expensive: Vec<usize> = (0..programs.len()).collect();
        expensive.sort_by_key(|&p| std::cmp::Reverse(by_program[p]));
        let listed = expensive.into_iter().take(LISTED);
        self.expensive = listed
            .map(|p| (programs[p].name().to_owned(), by_program[p]))
            .collect();
    }

    /// Returns the share of the cores' time that the runs need which the GPU leaves.
    fn share_left(&self) -> f64 {
        let left: Duration = self.left.iter().sum();
        left.as_secs_f64() / (self.cores.as_secs_f64() * self.threads as f64)
    }

    fn runs(&self) -> f64 {
        (self.programs * self.samples) as f64
    }

    /// Returns the median time of all passes but the first.
    fn warm(passes: &[Duration]) -> f64 {
        let mut warm: Vec<f64> = passes.iter().skip(1).map(Duration::as_secs_f64).collect();
        warm.sort_by(f64::total_cmp);
        warm.get(warm.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn json(&self) -> serde_json::Value {
        let left = self
            .report
            .reasons()
            .map(|(reason, n)| (reason.name().to_owned(), json!(n)));
        json!({"waves": {
            "programs": self.programs,
            "samples": self.samples,
            "threads": self.threads,
            "cores_seconds": self.cores.as_secs_f64(),
            "passes_seconds": self.passes.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
            "together_seconds": self.together.iter().map(Duration::as_secs_f64).collect::<Vec<_>>(),
            "ratio": self.cores.as_secs_f64() / Self::warm(&self.passes),
            "together_ratio": self.cores.as_secs_f64() / Self::warm(&self.together),
            "finished": self.report.finished,
            "share_left": self.share_left(),
            "left": left.collect::<serde_json::Map<_, _>>(),
            "differing": self.differing,
        }})
    }

    fn write(&self, out: &mut dyn std::io::Write) -> Result<()> {
        let (cores, warm) = (self.cores.as_secs_f64(), Self::warm(&self.passes));
        writeln!(out, "{} programs on {} inputs", self.programs, self.samples)?;
        writeln!(
            out,
            "{} cores {:9.1} ms {:9.2} M runs/s",
            self.threads,
            cores * 1e3,
            self.runs() / cores / 1e6
        )?;
        writeln!(
            out,
            "waves    {:9.1} ms {:9.2} M runs/s, {:.1} times",
            warm * 1e3,
            self.runs() / warm / 1e6,
            cores / warm
        )?;
        let together = Self::warm(&self.together);
        writeln!(
            out,
            "together {:9.1} ms {:9.2} M runs/s, {:.1} times",
            together * 1e3,
            self.runs() / together / 1e6,
            cores / together
        )?;
        let passes: Vec<String> = self
            .passes
            .iter()
            .map(|p| format!("{:.1}", p.as_secs_f64() * 1e3))
            .collect();
        writeln!(out, "passes   {} ms", passes.join(" "))?;
        let share = self.report.finished as f64 / self.runs() * 100.0;
        writeln!(
            out,
            "finished {share:.2} %: {} nodes, {} launches, {} items",
            self.report.nodes, self.report.launches, self.report.items
        )?;
        for (reason, count) in self.report.reasons() {
            let time = self.left[reason as usize].as_secs_f64() * 1e3;
            writeln!(
                out,
                "left     {count} for {}, {time:.0} ms of a thread",
                reason.name()
            )?;
        }
        writeln!(
            out,
            "left     {:.1} % of the cores' time",
            self.share_left() * 100.0
        )?;
        for (name, time) in self.expensive.iter().filter(|(_, time)| !time.is_zero()) {
            writeln!(out, "  {name:30} {:9.3} ms", time.as_secs_f64() * 1e3)?;
        }
        for (name, work) in &self.kernels {
            writeln!(
                out,
                "  {name:20} {:9.3} ms {:5} launches {:7} calls {:11} items",
                work.time.as_secs_f64() * 1e3,
                work.launches,
                work.calls,
                work.items
            )?;
        }
        writeln!(out, "{} differ", self.differing)?;
        for line in &self.differences {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    }
}

/// Returns the fixed workload.
fn five_ops() -> String {
    let mut text = String::new();
    let mut number = 0;
    for mode in 0..8 {
        let flag = |bit: usize| if mode >> bit & 1 == 1 { "T" } else { "F" };
        for pick in ["argmax", "argmin"] {
            for key in ["size", "height", "width"] {
                for mirror in ["vmirror", "hmirror", "dmirror", "cmirror"] {
                    for join in ["hconcat", "vconcat"] {
                        number += 1;
                        text += &format!(
                            "def solve_{number:03}(I):\n    x1 = objects(I, {}, {}, {})\n    \
                             x2 = {pick}(x1, {key})\n    x3 = subgrid(x2, I)\n    x4 = {mirror}(x3)\n    \
                             O = {join}(x3, x4)\n    return O\n\n",
                            flag(2),
                            flag(1),
                            flag(0)
                        );
                    }
                }
            }
        }
    }
    text
}
