//! Runs the measurements of the catalogue.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt::DeviceChoice;
use batt_arc::Pair;
use batt_dsl::OpId;
use batt_engine::device::Counts;
use batt_engine::{Compiled, Sample, profile};
use batt_lang::card::CardDonor;
use batt_lang::{Batt, OnError, StepId};

use super::catalogue::Measurement;
use super::harness::{Agreement, Harness, OneCore, Subject, Timings, Work, micros};
use super::workloads::{Op, Programs, codes, identity, patterns, ten};
use super::{Finding, Opened};
use crate::corpus::{Corpus, merged, merged_to_size};
use crate::devices::open_logical;
use crate::mega::targets::STEPS;
use crate::memory::{DeviceMemory, Used};
use crate::text::{counted, duration, grouped, where_finished};
use crate::{interrupt, tokpidjin};

/// The most grids that one operation runs on.
const MANY: usize = 1 << 15;

/// The most samples that a batt runs on.
const SAMPLES: usize = 4000;

/// The number of samples among which the median one is chosen and measured alone.
const CANDIDATES: usize = 64;

/// Batch sizes, in samples, for one batt of 32 solvers.
const SIZES: [usize; 10] = [1, 3, 10, 30, 100, 200, 500, 1_000, 3_000, 10_000];

/// Batch sizes, in grids, for one operation.
const GRIDS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];

/// The number of samples that are divided into batches.
const POOL: usize = 1_000;

/// The most batches of one size.
const BATCHES: usize = 64;

/// The number of solvers in the batt that is measured in batches of several sizes.
const SOLVERS: usize = 32;

/// The number of runs of the sample pattern at once, which is enough to fill a device.
const FILLED: usize = 1000;

/// The state that all measurements share.
pub struct Stages<'m, 'h> {
    corpus: &'m Corpus,
    donors: Vec<CardDonor<'m>>,
    samples: Vec<Sample<'m>>,
    harness: Harness<'h>,
    /// The batt of about 650 steps.
    batt: Batt,
    /// The Python that runs the batt as well, if any.
    python: Option<tokpidjin::PythonOptions<'m>>,
}

/// The work on which two logical devices are measured.
pub struct TwoDeviceWork<'m> {
    programs: Subject,
    steps: usize,
    samples: Vec<Sample<'m>>,
}

impl<'m, 'h> Stages<'m, 'h> {
    pub fn new(
        corpus: &'m Corpus,
        harness: Harness<'h>,
        python: Option<tokpidjin::PythonOptions<'m>>,
    ) -> Result<Stages<'m, 'h>> {
        let donors = corpus.donors();
        let on_error = match python {
            Some(_) => OnError::Defaults,
            None => OnError::default(),
        };
        Ok(Stages {
            batt: merged_to_size(&donors, STEPS, on_error)?,
            samples: corpus.samples(),
            corpus,
            donors,
            harness,
            python,
        })
    }

    /// Runs one measurement. Returns `None` if it is not made here, or after Ctrl-C.
    pub fn measure(&mut self, what: Measurement, time: Duration) -> Result<Option<Finding>> {
        let finding = match what {
            Measurement::Pattern(demos) => self.pattern(1, demos, time)?,
            Measurement::FivePatterns(demos) => self.pattern(5, demos, time)?,
            Measurement::BattOnce => self.batt_once(time),
            Measurement::Batt => self.whole_batt(time)?,
            Measurement::Tasks(tasks, batch) => {
                let samples = self.corpus.samples_of(tasks);
                self.on_batt(samples, NonZeroUsize::new(batch), time)
            }
            Measurement::Few(count) => self.on_batt(self.cycled(count), None, time),
            Measurement::Sizes => self.sizes(time)?,
            Measurement::OpSizes => self.op_sizes(time)?,
            Measurement::Op(name) => self.op(name, time)?,
            Measurement::Ops(category) => self.many(&category.program()?, time),
            Measurement::Codes => self.codes(time)?,
            Measurement::Single => self.on_grids(&named("fgpartition")?, 1, time),
            Measurement::Grids80 => self.on_grids(&named("o_g")?, 80, time),
            Measurement::Grids80Ten => self.on_grids(&ten()?, 80, time),
            Measurement::Launch => self.on_grids(&identity()?, 1, time),
            Measurement::ShareOfObjects => Some(self.share_of_objects(time)),
            Measurement::Calls => Some(self.calls()),
            Measurement::Soak => Some(Finding::remark("`batt-bench soak` measures it")),
            Measurement::Setting => Some(Finding::remark(
                "a setting of the original, not a measurement",
            )),
            Measurement::Opening
            | Measurement::Memory
            | Measurement::TwoDevices
            | Measurement::Coverage
            | Measurement::Compared
            | Measurement::Device => None,
        };
        Ok(finding)
    }

    /// Releases the devices, and returns the work for the measurement of two logical devices.
    pub fn finish(self) -> (TwoDeviceWork<'m>, Harness<'h>) {
        let programs = self.donors.iter().map(|d| Compiled::new(d.program));
        let steps = self.donors.iter().map(|d| d.program.steps().len());
        let work = TwoDeviceWork {
            steps: steps.sum(),
            programs: Subject::Programs(programs.collect()),
            samples: self.samples,
        };
        (work, self.harness)
    }

    /// Returns `count` samples, repeated if there are fewer.
    fn cycled(&self, count: usize) -> Vec<Sample<'m>> {
        self.samples.iter().copied().cycle().take(count).collect()
    }

    /// Measures as many of the samples as fit the time.
    fn fitting(&mut self, mut work: Work<'_>, time: Duration) -> Option<Timings> {
        self.harness.fit(&mut work, time);
        self.harness.measure(&work, time)
    }

    /// Measures the batt on samples, as many as fit the time.
    fn on_batt(
        &mut self,
        samples: Vec<Sample<'m>>,
        batch: Option<NonZeroUsize>,
        time: Duration,
    ) -> Option<Finding> {
        let work = Work {
            subject: &Subject::batt(&self.batt, false),
            steps: self.batt.program.steps().len(),
            samples,
            batch,
            at_a_time: None,
        };
        let wanted = work.samples.len();
        let timings = self.fitting(work, time)?;
        let mut note = about(&timings);
        if timings.samples < wanted {
            let _ = write!(note, ", of {} (time was short)", grouped(wanted));
        }
        Some(timed(timings, note))
    }

    /// Measures the batt on as many samples as fit the time, and Python if it is requested.
    fn whole_batt(&mut self, time: Duration) -> Result<Option<Finding>> {
        let Some(mut finding) = self.on_batt(self.cycled(SAMPLES), None, time) else {
            return Ok(None);
        };
        let Some(timings) = &finding.timings else {
            return Ok(None);
        };
        let _ = write!(
            finding.note,
            "; all cores are {:.1} times as fast as one",
            timings.one / timings.all.max(1e-6)
        );
        let samples = timings.samples as f64;
        if let Some(python) = &self.python {
            let wanted = tokpidjin::PythonOptions {
                time,
                ..python.clone()
            };
            let outputs = self.batt.outputs.iter();
            let solvers = outputs.map(|output| output.donor.clone()).collect();
            let data = &self.corpus.data;
            let found = tokpidjin::compare_batt(&wanted, &self.batt, solvers, data)?;
            let mean = |of: fn(&tokpidjin::Measured) -> f64| {
                found.samples.iter().map(of).sum::<f64>() / found.samples.len().max(1) as f64
            };
            let (python, quiet) = (mean(|m| m.python), mean(|m| m.quiet));
            finding.python = Some(python * samples);
            let _ = write!(
                finding.note,
                "; Python {} a sample, {} without log calls, on {}",
                duration(python),
                duration(quiet),
                counted(found.samples.len(), "sample")
            );
        }
        Ok(Some(finding))
    }

    /// Measures one run of the batt, on the sample with the median time among the first few.
    fn batt_once(&mut self, time: Duration) -> Option<Finding> {
        let subject = Subject::batt(&self.batt, true);
        let mut core = OneCore::new(&subject, &self.harness.limits);
        let mut times: Vec<(f64, usize)> = self
            .samples
            .iter()
            .take(CANDIDATES)
            .enumerate()
            .map(|(at, sample)| {
                let started = Instant::now();
                core.run(sample);
                (micros(started.elapsed()), at)
            })
            .collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = times.get(times.len() / 2)?.1;
        let work = Work {
            subject: &subject,
            steps: self.batt.program.steps().len(),
            samples: vec![self.samples[at]],
            batch: None,
            at_a_time: None,
        };
        let timings = self.harness.measure(&work, time)?;
        let note = format!("{}; {}", about(&timings), transfers(&timings));
        Some(timed(timings, note))
    }

    /// Measures the sample pattern, which lists the colours of demonstrations: one run, then many
    /// at once.
    fn pattern(&mut self, times: usize, demos: usize, time: Duration) -> Result<Option<Finding>> {
        let batt = patterns(times)?;
        let subject = Subject::batt(&batt, true);
        let demos: Vec<Pair> = self.corpus.demos(demos);
        let Some(pair) = demos.first() else {
            return Ok(None);
        };
        let sample = Sample {
            demos: &demos,
            input: &pair.input,
            expected: None,
        };
        let work = |count: usize| Work {
            subject: &subject,
            steps: batt.program.steps().len(),
            samples: vec![sample; count],
            batch: None,
            at_a_time: None,
        };
        let Some(once) = self.harness.measure(&work(1), time / 2) else {
            return Ok(None);
        };
        let Some(many) = self.fitting(work(FILLED), time / 2) else {
            return Ok(None);
        };
        let each = |whole: f64| duration(whole / many.samples as f64);
        let note = format!(
            "{}; {} at once: {} each on one core, {} on all, {} on the device",
            transfers(&once),
            counted(many.samples, "run"),
            each(many.one),
            each(many.all),
            each(many.device),
        );
        Ok(Some(timed(once, note)))
    }

    /// Measures programs on `count` grids.
    fn on_grids(&mut self, programs: &Programs, count: usize, time: Duration) -> Option<Finding> {
        let work = Work {
            subject: &programs.subject,
            steps: programs.steps,
            samples: self.cycled(count),
            batch: None,
            at_a_time: None,
        };
        let timings = self.harness.measure(&work, time)?;
        let note = transfers(&timings);
        Some(timed(timings, note))
    }

    /// Measures programs on as many grids as fit the time.
    fn many(&mut self, programs: &Programs, time: Duration) -> Option<Finding> {
        let work = Work {
            subject: &programs.subject,
            steps: programs.steps,
            samples: self.cycled(MANY),
            batch: None,
            at_a_time: None,
        };
        let timings = self.fitting(work, time)?;
        let note = about(&timings);
        Some(timed(timings, note))
    }

    /// Measures one operation on many grids.
    fn op(&mut self, name: &str, time: Duration) -> Result<Option<Finding>> {
        let finding = self.many(&named(name)?, time);
        let setup = Op::named(name).and_then(Op::setup);
        Ok(finding.map(|mut finding| {
            if let Some(setup) = setup {
                let _ = write!(finding.note, "; includes {setup} for its arguments");
            }
            finding
        }))
    }

    /// Measures four codes of `o_g` in one program, and in one program each.
    fn codes(&mut self, time: Duration) -> Result<Option<Finding>> {
        let [together, alone] = codes()?;
        let Some(mut finding) = self.many(&together, time / 2) else {
            return Ok(None);
        };
        let Some(samples) = finding.timings.as_ref().map(|timings| timings.samples) else {
            return Ok(None);
        };
        let work = Work {
            subject: &alone.subject,
            steps: alone.steps,
            samples: self.cycled(samples),
            batch: None,
            at_a_time: None,
        };
        let Some(separate) = self.harness.measure(&work, time / 2) else {
            return Ok(None);
        };
        if let Some(timings) = &finding.timings {
            let _ = write!(
                finding.note,
                "; as four programs {} on the device, {:.2} times as long; {:.2} times on one core",
                duration(separate.device),
                separate.device / timings.device.max(1e-6),
                separate.one / timings.one.max(1e-6),
            );
        }
        Ok(Some(finding))
    }

    /// Measures a batt of 32 solvers in batches of several sizes.
    fn sizes(&mut self, time: Duration) -> Result<Option<Finding>> {
        let stride = (self.donors.len() / SOLVERS).max(1);
        let some: Vec<CardDonor<'_>> = self
            .donors
            .iter()
            .step_by(stride)
            .take(SOLVERS)
            .cloned()
            .collect();
        let batt = merged(&some, false)?.batt;
        let subject = Subject::batt(&batt, false);
        Ok(self.series(&subject, batt.program.steps().len(), &SIZES, time, "sample"))
    }

    /// Measures one operation on batches of grids of several sizes.
    fn op_sizes(&mut self, time: Duration) -> Result<Option<Finding>> {
        let op = named("o_g")?;
        Ok(self.series(&op.subject, op.steps, &GRIDS, time, "grid"))
    }

    /// Measures the same work in batches of several sizes, the smallest first, until the time is
    /// over. Some samples take far longer than others, so each size is compared with one core on
    /// the same samples.
    fn series(
        &mut self,
        subject: &Subject,
        steps: usize,
        sizes: &[usize],
        time: Duration,
        noun: &str,
    ) -> Option<Finding> {
        let started = Instant::now();
        let share = time / sizes.len() as u32;
        let mut work = Work {
            subject,
            steps,
            samples: self.cycled(POOL),
            batch: None,
            at_a_time: None,
        };
        self.harness.fit(&mut work, share);
        let pool = work.samples.clone();
        let mut all: Vec<(usize, Timings)> = Vec::new();
        for &size in sizes {
            // Only whole batches are run. A batch larger than the pool repeats samples.
            let count = size * (pool.len() / size).clamp(1, BATCHES);
            let enough = all.last().is_some_and(|(_, last)| {
                let once = last.one + last.device + last.all;
                let next = 2.0 * once * count as f64 / last.samples as f64;
                micros(started.elapsed()) + next > micros(time)
            });
            if enough || interrupt::happened() {
                break;
            }
            work.samples = pool.iter().copied().cycle().take(count).collect();
            work.at_a_time = NonZeroUsize::new(size);
            all.push((size, self.harness.measure(&work, share)?));
        }
        let ratio = |timings: &Timings| timings.one / timings.device.max(1e-6);
        let (size, best) = all
            .iter()
            .max_by(|a, b| ratio(&a.1).total_cmp(&ratio(&b.1)))?
            .clone();
        let ratios: Vec<String> = all
            .iter()
            .map(|(size, t)| format!("{}: {:.3}", grouped(*size), ratio(t)))
            .collect();
        let note = format!(
            "{}; speed relative to one core by batch size {}; the device is faster than all cores {}, than one core {}; \
             best batch size {}, shown here for {}",
            counted(steps, "step"),
            ratios.join(", "),
            crossover(&all, |t| t.all),
            crossover(&all, |t| t.one),
            grouped(size),
            counted(best.samples, noun),
        );
        Some(timed(best, note))
    }

    /// Measures the share of the time that finding objects takes, on the CPU and on the device.
    fn share_of_objects(&mut self, time: Duration) -> Finding {
        let is_objects = |name: &str| matches!(name, "o_g" | "objects");
        let subject = Subject::batt(&self.batt, false);
        let mut work = Work {
            subject: &subject,
            steps: self.batt.program.steps().len(),
            samples: self.cycled(SAMPLES),
            batch: None,
            at_a_time: None,
        };
        self.harness.fit(&mut work, time / 2);
        let limits = &self.harness.limits;
        let found = profile(&self.batt, &work.samples, limits, interrupt::stop(), |_| ());
        let own = |all: bool| -> f64 {
            let ops = found.ops.iter().filter(|(name, _)| all || is_objects(name));
            ops.map(|(_, times)| times.own.as_secs_f64()).sum()
        };
        let ops = self.harness.ops(&work);
        let cycles = |all: bool| -> f64 {
            let ops = ops.iter().filter(|op| all || is_objects(op.op.op().name));
            ops.map(|op| op.cycles as f64).sum()
        };
        let percent = |of: f64, all: f64| 100.0 * of / all.max(1e-12);
        Finding::remark(format!(
            "{:.0} % of the time in primitives on the CPU, {:.0} % of the cycles on the device, on {}",
            percent(own(false), own(true)),
            percent(cycles(false), cycles(true)),
            counted(work.samples.len(), "sample"),
        ))
    }

    /// Counts the calls of some operations in the batt.
    fn calls(&self) -> Finding {
        let steps = self.batt.program.steps().len();
        let mut counts = [("o_g", 0), ("difference", 0), ("mapply", 0), ("apply", 0)];
        for step in 0..steps {
            let call = self.batt.call_text(StepId(step as u32));
            let name = call.split('(').next().unwrap_or_default();
            for (wanted, count) in &mut counts {
                let same = name == *wanted || (*wanted == "o_g" && name == "objects");
                *count += usize::from(same);
            }
        }
        let counts = counts.map(|(name, count)| format!("{name} {count}"));
        let tasks = self.corpus.data.len().max(1);
        Finding::remark(format!(
            "in our batt of {steps} steps: {}; {:.1} samples a task",
            counts.join(", "),
            self.samples.len() as f64 / tasks as f64
        ))
    }
}

fn named(name: &str) -> Result<Programs> {
    Op::named(name)
        .ok_or_else(|| anyhow::anyhow!("internal error: no operation {name}"))?
        .program()
}

fn timed(timings: Timings, note: String) -> Finding {
    Finding {
        timings: Some(timings),
        note,
        ..Finding::default()
    }
}

/// Formats the size of a measurement: `658 steps on 1,000 samples`.
fn about(timings: &Timings) -> String {
    format!(
        "{} on {}",
        counted(timings.steps, "step"),
        counted(timings.samples, "sample")
    )
}

/// Formats the bytes of the transfers, and the times of transfers and kernel.
fn transfers(timings: &Timings) -> String {
    let parts = &timings.parts;
    format!(
        "up {} bytes in {}, kernel {}, down {} bytes in {}, launches: {}",
        grouped(parts.bytes_up as usize),
        duration(parts.upload),
        duration(parts.kernel),
        grouped(parts.bytes_down as usize),
        duration(parts.download),
        parts.launches,
    )
}

/// Names the size from which on the device is faster than another side.
fn crossover(all: &[(usize, Timings)], other: impl Fn(&Timings) -> f64) -> String {
    let wins = all.iter().rev().take_while(|(_, t)| t.device < other(t));
    match (wins.last(), all.last()) {
        (Some((size, _)), _) => format!("from {} on", grouped(*size)),
        (None, Some((largest, _))) => format!("never up to {}", grouped(*largest)),
        (None, None) => "never".to_owned(),
    }
}

/// Measures the same work on one and on two logical devices of one device. Returns `None` after
/// Ctrl-C.
pub fn two_devices(
    work: &TwoDeviceWork<'_>,
    device: &DeviceChoice,
    time: Duration,
    agreement: &mut Agreement,
) -> Result<Option<Finding>> {
    let mut work = Work {
        subject: &work.programs,
        steps: work.steps,
        samples: work.samples.clone(),
        batch: None,
        at_a_time: None,
    };
    let mut measure = |count: usize| {
        let mut devices = open_logical(device, count)?;
        let mut harness = Harness::new(&mut devices);
        if count == 1 {
            harness.fit(&mut work, time);
        }
        let timings = harness.measure(&work, time / 2);
        agreement.add(harness.agreement);
        anyhow::Ok(timings)
    };
    let (Some(one), Some(two)) = (measure(1)?, measure(2)?) else {
        return Ok(None);
    };
    let note = format!(
        "every solver on {}, {}; two logical devices, one takes {}: two are {:.2} times as fast",
        counted(two.samples, "input"),
        counted(two.runs, "run"),
        duration(one.device),
        one.device / two.device.max(1e-6),
    );
    Ok(Some(timed(two, note)))
}

/// Reports how long opening the device took.
pub fn opening(opened: &Opened) -> Finding {
    let [first, again] = opened.times.map(|time| duration(micros(time)));
    Finding::remark(format!(
        "{first} the first time, {again} with a cached kernel"
    ))
}

/// Reports the most memory of the device that was in use.
pub fn memory(device: &DeviceChoice, seen: &[Used]) -> Finding {
    let most = seen.iter().filter_map(|used| used.devices).max();
    let (Some(device), Some(most)) = (DeviceMemory::of(device), most) else {
        return Finding::remark("unknown: the device has no memory of its own");
    };
    let mib = |bytes: u64| grouped((bytes >> 20) as usize);
    Finding::remark(format!(
        "at most {:.1} % of the device, {} of {} MiB",
        100.0 * most as f64 / device.total.max(1) as f64,
        mib(most),
        mib(device.total)
    ))
}

/// Reports how many primitives and runs the device covers.
pub fn coverage(counts: &Counts) -> Finding {
    let all = OpId::every().count();
    Finding::remark(format!(
        "{} of {} primitives; {}",
        grouped(all - batt::ops::without_device_body().len()),
        grouped(all),
        where_finished(counts)
    ))
}

/// Reports how many results were compared, and how many differ.
pub fn compared(agreement: &Agreement, errors: &[String]) -> Finding {
    let mut note = format!(
        "{} compared, {} differ; {} on devices",
        counted(agreement.compared, "result"),
        grouped(agreement.differing),
        counted(errors.len(), "error"),
    );
    if let Some(error) = errors.first() {
        let _ = write!(note, ": {error}");
    }
    Finding::remark(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossover_names_the_first_size_that_wins() {
        let timings = |size: usize, all: f64, device: f64| {
            let timings = Timings {
                samples: size,
                calls: 1,
                all,
                device,
                ..Timings::default()
            };
            (size, timings)
        };
        let series = [timings(1, 10.0, 100.0), timings(100, 1000.0, 200.0)];
        assert_eq!(crossover(&series, |t| t.all), "from 100 on");
        let never = [timings(1, 10.0, 100.0), timings(100, 1000.0, 20_000.0)];
        assert_eq!(crossover(&never, |t| t.all), "never up to 100");
    }
}
