//! Which solvers does evolution find again? Some solvers are taken away, and it is run on their tasks with the others.
//!
//! ```text
//! cargo run --release --package batt-evolve --example held_out -- [SEEDS] [SECONDS] [REMOVED] [THREADS] [SOLVERS TASKS]
//! ```
//!
//! Without files, the solvers and tasks are the embedded ones. Test outputs are looked at in the end only.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use batt_arc::{Dataset, Task, corpus};
use batt_engine::{Compiled, Job, Options, Sample, evaluate};
use batt_evolve::{Donor, Evolution, Kind, Settings, Tally};
use batt_lang::{Program, SolverFile, SplitMix64};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: u64| {
        let text = args.get(at).map(|text| text.parse());
        text.map_or(default, |number| number.expect("a number"))
    };
    let (seeds, seconds) = (number(0, 5), number(1, 600));
    let (removed, threads) = (number(2, 20) as usize, number(3, 2) as usize);
    let (solvers, tasks) = match &args[args.len().min(4)..] {
        [] => (corpus::SOLVERS.to_owned(), corpus::tasks()),
        [solvers, tasks] => (
            std::fs::read_to_string(solvers).expect("a solver file"),
            Dataset::load(tasks).expect("tasks"),
        ),
        _ => panic!("give SOLVERS and TASKS, or neither"),
    };
    let file = SolverFile::parse(&solvers, "solvers.py");
    let mut shares = Vec::new();
    for seed in 0..seeds {
        shares.push(experiment(
            seed,
            seconds,
            removed,
            threads,
            &file.programs,
            &tasks,
        ));
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let variance = shares.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / shares.len() as f64;
    println!(
        "{seeds} seeds: {:.1} % found on the average, standard deviation {:.1} %",
        100.0 * mean,
        100.0 * variance.sqrt()
    );
}

/// One seed: which solvers are removed, and what chance does then. Gives the share found.
fn experiment(
    seed: u64,
    seconds: u64,
    removed: usize,
    threads: usize,
    solvers: &[Program],
    tasks: &Dataset,
) -> f64 {
    let task_of = |program: &Program| {
        let id = program.name().rsplit('_').next().unwrap_or_default();
        tasks.get(id).cloned()
    };
    let mut all: Vec<(Task, Program)> = solvers
        .iter()
        .filter_map(|program| Some((task_of(program)?, program.clone())))
        .collect();
    let mut random = SplitMix64::new(seed);
    for at in (1..all.len()).rev() {
        all.swap(at, random.below(at as u64 + 1) as usize);
    }
    let rest = all.split_off(removed.min(all.len()));
    let held_out: Vec<Task> = all.into_iter().map(|(task, _)| task).collect();
    let donors: Vec<Donor> = rest
        .into_iter()
        .map(|(task, program)| Donor {
            task: task.id,
            program,
        })
        .collect();
    let dialect = donors[0].program.dialect();
    let settings = Settings {
        seed,
        threads: NonZeroUsize::new(threads),
        ..Settings::default()
    };
    let mut evolution = Evolution::new(&held_out, dialect, donors, &[], settings);
    let started = Instant::now();
    let mut tally = Tally::default();
    let stop = AtomicBool::new(false);
    let time = Duration::from_secs(seconds);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while started.elapsed() < time && !stop.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(50));
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut solved = 0;
        while started.elapsed() < time && !evolution.is_done() {
            tally.add(&evolution.round(&mut [], &stop).tally);
            let now = (0..held_out.len())
                .filter(|&at| evolution.best(at).is_some_and(|best| best.is_complete()))
                .count();
            if now > solved {
                solved = now;
                eprintln!(
                    "seed {seed}: {solved} of {} after {:.1} s, generation {}",
                    held_out.len(),
                    started.elapsed().as_secs_f64(),
                    evolution.generation()
                );
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let (mut demos, mut tests) = (0, 0);
    for (at, task) in held_out.iter().enumerate() {
        let Some(best) = evolution.best(at) else {
            continue;
        };
        let program = evolution.best_program(at).expect("there is a best score");
        let right = best.is_complete() && is_right(&program, task);
        demos += usize::from(best.is_complete());
        tests += usize::from(right);
        eprintln!(
            "{}: {} of {} demonstrations, closeness {:.3}{}",
            task.id,
            best.solved,
            best.demos,
            f64::from(best.closeness) / 1e6,
            if right { ", tests right" } else { "" }
        );
        if best.is_complete() {
            eprintln!("{program}");
        }
    }
    for kind in Kind::ALL {
        let k = kind.index();
        eprintln!(
            "{:>10}: {:>9} tried, {:>7} credit, weight {:.3}",
            kind.name(),
            tally.credit.tried[k],
            tally.credit.paid[k],
            evolution.weights().share(kind)
        );
    }
    let minutes = tally.time.as_secs_f64() / 60.0;
    println!(
        "seed {seed}: {demos} of {} found on the demonstrations, {tests} on the tests too; {} offspring, {:.0} a minute, \
         {:.1} % ran without error, {:.1} % had known outputs, {} generations",
        held_out.len(),
        tally.offspring,
        tally.offspring as f64 / minutes,
        100.0 - 100.0 * tally.failed as f64 / tally.offspring.max(1) as f64,
        100.0 * tally.equal as f64 / tally.offspring.max(1) as f64,
        tally.generations,
    );
    demos as f64 / held_out.len() as f64
}

fn is_right(program: &Program, task: &Task) -> bool {
    let compiled = Compiled::new(program);
    let jobs: Vec<Job<'_>> = task
        .test
        .iter()
        .map(|pair| Job {
            program: &compiled,
            sample: Sample::new(task, pair),
        })
        .collect();
    let mut right = true;
    let stop = AtomicBool::new(false);
    evaluate(&jobs, &Options::default(), &stop, |_, result| {
        right &= result.verdict.is_right();
    });
    right
}
