//! Measures the time to compile programs for the CPU and for a device. Ignored by default.
//!
//!     BATT_SOLVERS=solvers.py cargo test --release -p batt-engine --test compile_time \
//!         -- --ignored --nocapture

use std::hint::black_box;
use std::time::{Duration, Instant};

use batt_arc::corpus;
use batt_dsl::Dialect;
use batt_engine::Cancel;
use batt_engine::device::{
    Batch, Device, DeviceError, Launched, Programs, ScoreOptions, score_table,
};
use batt_engine::{Compiled, Sample};
use batt_lang::{Program, SolverFile};

/// Returns the time per item, the best of several tries.
fn best(items: usize, mut work: impl FnMut()) -> Duration {
    let times = (0..20).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed()
    });
    times.min().unwrap_or_default() / items.max(1) as u32
}

/// Generates ten thousand solvers of five to fifteen steps, some of them equal.
fn typical() -> Vec<Program> {
    let text = match std::env::var("BATT_SOLVERS") {
        Ok(path) => std::fs::read_to_string(path).expect("a file of solvers"),
        Err(_) => corpus::SOLVERS.to_owned(),
    };
    let file = SolverFile::parse_in(&text, "solvers.py", Some(Dialect::ArcDsl));
    let typical = |program: &&Program| (5..=15).contains(&program.steps().len());
    let some: Vec<&Program> = file.programs.iter().filter(typical).collect();
    some.into_iter().cycle().take(10_000).cloned().collect()
}

/// A device that takes no time.
struct NoTime;

impl Device for NoTime {
    fn name(&self) -> String {
        "no time".to_owned()
    }

    fn memory(&self) -> u64 {
        0
    }

    fn run(&mut self, batch: &Batch<'_>) -> Result<Launched, DeviceError> {
        let jobs = batch.jobs.len() / 4;
        Ok(Launched {
            results: (0..jobs as u32).flat_map(|k| [0, 4 * k, 4, 1]).collect(),
            output: (0..jobs as u32).flat_map(|k| [0, 7, k, 0]).collect(),
            ..Launched::default()
        })
    }
}

/// Measures the host's work around launches per run.
#[test]
#[ignore = "it measures"]
fn time_of_a_score() {
    let programs: Vec<Compiled> = typical().iter().map(Compiled::new).collect();
    let tasks = corpus::tasks();
    let pairs = tasks.pairs().take(4);
    let samples: Vec<Sample<'_>> = pairs
        .map(|(task, _, pair)| Sample::new(task, pair))
        .collect();
    let samples = &samples[..];
    let options = ScoreOptions::default();
    let runs = programs.len() * samples.len();
    let time = best(runs, || {
        let mut devices: Vec<Box<dyn Device>> = vec![Box::new(NoTime)];
        let stop = Cancel::new();
        let scores = score_table(&mut devices, &programs, samples, &options, &stop);
        assert_eq!(scores.1.scores, runs);
        black_box(scores);
    });
    println!("score_table   {time:?} a run, programs included");
}

#[test]
#[ignore = "it measures"]
fn time_of_a_program() {
    let programs = typical();
    let steps: usize = programs.iter().map(|program| program.steps().len()).sum();
    println!("steps         {:.1}", steps as f64 / programs.len() as f64);
    let count = programs.len();
    let all = || -> Vec<Compiled> { programs.iter().map(Compiled::new).collect() };
    println!("Compiled::new {:?}", best(count, || drop(black_box(all()))));
    let compiled = all();
    let mut words = 0;
    for threads in [1, 2] {
        let time = best(count, || {
            let (programs, _) = Programs::of(&compiled, threads);
            words = black_box(programs).words().len();
        });
        println!("Programs::of  {time:?} on {threads} threads");
    }
    let ranks = Programs::new().words().len();
    println!("words         {}", (words - ranks) / count);
}
