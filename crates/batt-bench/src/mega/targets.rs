//! Measures workloads of the sizes for which the original system published figures.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use batt_dsl::{Dialect, Limits};
use batt_engine::Cancel;
use batt_engine::{CompiledBatt, MegaOptions, Sample, mega};
use batt_lang::card::CardDonor;
use batt_lang::{BattFile, OnError};

use super::sharing::Runner;
use super::{Agreement, Workload};
use crate::corpus::{Corpus, merged_to_size};
use crate::interrupt;
use crate::turns::{Side, take_turns};
use batt_reference::median;

/// The sample pattern: it lists the colours of the demonstrations' inputs and outputs.
pub const PATTERN: &str = "\
def batt(task_id, S, I, C, log_path):
    s = []
    o = []
    t1 = apply(first, S)
    t2 = apply(second, S)
    t3 = mapply(p_g, t1)
    t4 = mapply(p_g, t2)
    o.append((3, False, 'inputs', t3))
    o.append((4, False, 'outputs', t4))
    return o, s
";

/// Numbers of demonstrations in the sample pattern, and the original's published times.
const PATTERNS: [(usize, &str); 4] = [
    (3, "0.35 ms"),
    (10, "6.53 ms"),
    (50, "74.49 ms"),
    (200, "114.33 ms"),
];

/// The number of steps of the batt for which the original published a figure.
pub const STEPS: usize = 650;

/// Numbers of tasks in a mega-batch, and samples in a batch.
const MEGA: [(usize, usize); 3] = [(10, 50), (50, 200), (200, 1000)];

/// More rounds do not improve the median.
const ROUNDS: usize = 15;

/// The shortest time that is measured in one piece, so that reading the clock does not matter.
const STRETCH: Duration = Duration::from_micros(500);

/// Measures all workloads.
pub fn measure(
    corpus: &Corpus,
    donors: &[CardDonor<'_>],
    samples: &[Sample<'_>],
    limits: &Limits,
    time: Duration,
    agreement: &mut Agreement,
) -> Result<Vec<Workload>> {
    let mut found = patterns(corpus, limits, time / 8, agreement)?;
    let batt = merged_to_size(donors, STEPS, OnError::default())?;
    let steps = batt.program.steps().len();
    let mut runner = Runner::new(&batt);
    let run: Side<'_> = Box::new(|sample| {
        black_box(runner.verdicts(&samples[sample], limits));
    });
    let times = take_turns(samples.len(), time / 4, |_| (), &mut [run]);
    found.push(Workload {
        name: format!("batt of {steps} steps, one thread"),
        steps: Some(steps),
        samples: times.samples(),
        rounds: times.rounds,
        mean: times.mean(0),
        median: Some(times.median(0)),
        baseline: None,
        published: Some("200 to 300 ms"),
    });
    let compiled = [CompiledBatt::new(&batt)];
    for (tasks, batch) in MEGA {
        let samples = corpus.samples_of(tasks);
        let options = MegaOptions {
            limits: *limits,
            threads: None,
            batch_size: NonZeroUsize::new(batch),
            ..MegaOptions::default()
        };
        let share = time / 5;
        let started = Instant::now();
        let mut costs = Vec::new();
        let mut runs = 0;
        while costs.is_empty() || (started.elapsed() < share && costs.len() < ROUNDS) {
            // Solvers may run very long on the inputs of other tasks. If the time is over, the
            // samples finished so far count.
            let stop = Cancel::new();
            let sink = |_, _| {
                if started.elapsed() > share * 2 || interrupt::happened() {
                    stop.cancel();
                }
            };
            let report = mega(&compiled, &samples, 0, &options, &stop, |_, _, _| (), sink);
            runs = report.runs;
            costs.push(report.elapsed.as_secs_f64() * 1e6 / runs.max(1) as f64);
        }
        found.push(Workload {
            name: format!("{tasks} tasks in batches of {batch}, all cores"),
            steps: Some(steps),
            samples: runs,
            rounds: costs.len(),
            mean: median(&mut costs),
            median: None,
            baseline: None,
            published: Some("4.63 ms"),
        });
    }
    Ok(found)
}

/// Measures the sample pattern in all its sizes, in turns.
fn patterns(
    corpus: &Corpus,
    limits: &Limits,
    time: Duration,
    agreement: &mut Agreement,
) -> Result<Vec<Workload>> {
    let file = BattFile::parse(PATTERN, "pattern", Some(Dialect::Tokpidjin));
    let batt = file
        .batts
        .first()
        .context("internal error: the sample pattern")?;
    let mut runner = Runner::new(batt);
    let demos = PATTERNS.map(|(count, _)| corpus.demos(count));
    let mut micros = [const { Vec::new() }; PATTERNS.len()];
    let started = Instant::now();
    let mut round = 0;
    while round == 0 || (started.elapsed() < time && round < ROUNDS && !interrupt::happened()) {
        for (demos, micros) in demos.iter().zip(&mut micros) {
            let Some(pair) = demos.first() else { continue };
            let sample = Sample {
                demos,
                input: &pair.input,
                expected: None,
            };
            let (mut runs, mut made) = (0, 0);
            let start = Instant::now();
            while runs == 0 || start.elapsed() < STRETCH {
                let outputs = runner.run(&sample, limits, |run, entry| {
                    entry.value.is_ok_and(|value| run.to_owned(value).is_ok())
                });
                made += outputs.iter().filter(|made| **made).count();
                runs += 1;
            }
            micros.push(start.elapsed().as_secs_f64() * 1e6 / runs as f64);
            // A run without both lists of colours would time a failure.
            agreement.count(false, made == 2 * runs, || {
                "the sample pattern failed".into()
            });
        }
        round += 1;
    }
    let workload = |((count, published), micros): ((usize, _), &mut Vec<f64>)| Workload {
        name: format!("sample pattern, {count} samples"),
        steps: Some(batt.program.steps().len()),
        samples: 1,
        rounds: micros.len(),
        mean: median(micros),
        median: None,
        baseline: None,
        published: Some(published),
    };
    Ok(PATTERNS
        .into_iter()
        .zip(&mut micros)
        .map(workload)
        .collect())
}
