//! Do cards pay? The same work on the processor's cores and with the help of cards, in turns.

use std::hash::{Hash, Hasher};
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Result;
use batt_dsl::Limits;
use batt_engine::device::{DeviceOptions, DeviceReport, score};
use batt_engine::{Compiled, CompiledBatt, MegaOptions, Sample, mega_on};
use serde_json::{Value as Json, json};
use siphasher::sip::SipHasher13;

use super::mega::{Material, merged};
use crate::corpus::median;
use crate::device::{self, Cards};
use crate::interrupt;
use crate::ui::{BAD, GOOD, Ui, counted, grouped, table, table_text};

/// What was measured.
pub struct DeviceBench {
    pub cards: Vec<String>,
    pub solvers: usize,
    pub samples: usize,
    pub workloads: Vec<Workload>,
}

/// Some work, on both sides.
pub struct Workload {
    name: &'static str,
    runs: usize,
    rounds: usize,
    /// Runs a second, the median of all rounds.
    cpu: f64,
    device: f64,
    /// What the cards did in the last round.
    report: Option<DeviceReport>,
    /// Were the results the same every time?
    agrees: bool,
}

/// One pass over some work.
struct Passed {
    runs: usize,
    /// A number that changes with any of the results.
    results: u64,
    report: Option<DeviceReport>,
}

/// Measures for about this long.
pub fn measure(
    mut cards: Cards,
    material: &Material,
    limits: &Limits,
    time: Duration,
) -> Result<DeviceBench> {
    let donors = material.donors()?;
    let programs: Vec<Compiled> = donors.iter().map(|d| Compiled::new(d.program)).collect();
    let samples = material.samples();
    let batt = [CompiledBatt::new(&merged(&donors, true)?.batt)];
    let scores = |cards: &mut Cards| scores(cards, &programs, &samples, limits);
    let megas = |cards: &mut Cards| megas(cards, &batt, &samples, limits);
    let names = cards.iter().map(|card| card.name()).collect();
    let workloads = vec![
        in_turns("scores of every solver", &mut cards, time / 2, scores),
        in_turns("one batt of all solvers", &mut cards, time / 2, megas),
    ];
    Ok(DeviceBench {
        cards: names,
        solvers: programs.len(),
        samples: samples.len(),
        workloads,
    })
}

fn in_turns(
    name: &'static str,
    cards: &mut Cards,
    time: Duration,
    pass: impl Fn(&mut Cards) -> Passed,
) -> Workload {
    let mut rates = [Vec::new(), Vec::new()];
    let started = Instant::now();
    let mut agrees = true;
    let mut last = None;
    let mut runs = 0;
    let mut timed = |cards: &mut Cards, side: usize| {
        let begun = Instant::now();
        let passed = pass(cards);
        rates[side].push(passed.runs as f64 / begun.elapsed().as_secs_f64().max(1e-9));
        passed
    };
    loop {
        let cpu = timed(&mut Vec::new(), 0);
        let device = timed(cards, 1);
        // Results that were not waited for are no disagreement.
        if interrupt::happened() {
            break;
        }
        agrees &= cpu.results == device.results;
        runs = device.runs;
        last = device.report;
        if started.elapsed() >= time {
            break;
        }
    }
    let rounds = rates[0].len();
    // The first round of a card waits for programs and samples to be sent.
    let warm = usize::from(rounds > 1);
    Workload {
        name,
        runs,
        rounds,
        cpu: median(&mut rates[0]),
        device: median(&mut rates[1][warm..]),
        report: last,
        agrees,
    }
}

fn scores(
    cards: &mut Cards,
    programs: &[Compiled],
    samples: &[Sample<'_>],
    limits: &Limits,
) -> Passed {
    let mut hasher = SipHasher13::new();
    let options = DeviceOptions::default();
    let stop = interrupt::stop();
    let report = score(
        cards,
        programs,
        samples,
        limits,
        None,
        &options,
        stop,
        |_, _, score| {
            score.hash.hash(&mut hasher);
            score.verdict.is_right().hash(&mut hasher);
        },
    );
    Passed {
        runs: report.scores,
        results: hasher.finish(),
        report: report.device,
    }
}

fn megas(
    cards: &mut Cards,
    batt: &[CompiledBatt],
    samples: &[Sample<'_>],
    limits: &Limits,
) -> Passed {
    let mut hasher = SipHasher13::new();
    let options = MegaOptions {
        limits: *limits,
        values: false,
        ..MegaOptions::default()
    };
    let report = mega_on(
        cards,
        batt,
        samples,
        0,
        &options,
        interrupt::stop(),
        |_, _, _, _| (),
        |_, result| format!("{:?}", result.verdicts).hash(&mut hasher),
    );
    format!("{:?}", report.steps).hash(&mut hasher);
    Passed {
        runs: report.runs,
        results: hasher.finish(),
        report: report.device,
    }
}

impl DeviceBench {
    /// Did anything differ?
    pub fn differs(&self) -> bool {
        self.workloads.iter().any(|workload| !workload.agrees)
    }

    /// Writes the report for people.
    pub fn write(&self, out: &mut impl Write, ui: &Ui) -> Result<()> {
        writeln!(
            out,
            "{} on {}, with {}",
            counted(self.solvers, "solver"),
            counted(self.samples, "sample"),
            self.cards.join(" and "),
        )?;
        let header = [
            "work", "runs", "rounds", "cores/s", "cards/s", "ratio", "finished", "",
        ];
        let mut rows = table(&header, &[1, 2, 3, 4, 5, 6]);
        for workload in &self.workloads {
            let finished = workload.report.as_ref().map_or(0.0, |report| {
                report.runs.finished() as f64 / (report.runs.total() as f64).max(1.0)
            });
            rows.add_row([
                workload.name.to_owned(),
                grouped(workload.runs),
                workload.rounds.to_string(),
                grouped(workload.cpu as usize),
                grouped(workload.device as usize),
                format!("{:.2}", workload.device / workload.cpu.max(1e-9)),
                format!("{:.1} %", 100.0 * finished),
                match workload.agrees {
                    true => ui.out(GOOD, "same results"),
                    false => ui.out(BAD, "other results"),
                },
            ]);
        }
        write!(out, "{}", table_text(&rows))?;
        for report in self.workloads.iter().filter_map(|w| w.report.as_ref()) {
            device::remark(report, ui);
        }
        Ok(())
    }

    /// The same for programs.
    pub fn to_json(&self) -> Json {
        let workload = |w: &Workload| {
            json!({
                "name": w.name,
                "runs": w.runs,
                "rounds": w.rounds,
                "cores_per_second": w.cpu,
                "cards_per_second": w.device,
                "agrees": w.agrees,
                "device": w.report.as_ref().map(device::to_json),
            })
        };
        json!({
            "cards": self.cards,
            "solvers": self.solvers,
            "samples": self.samples,
            "workloads": self.workloads.iter().map(workload).collect::<Vec<_>>(),
        })
    }
}
