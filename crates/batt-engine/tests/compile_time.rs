//! How long it takes to make programs ready to run, here and on a device. Ignored: it measures.
//!
//!     BATT_SOLVERS=solvers.py cargo test --profile fast -p batt-engine --test compile_time -- --ignored --nocapture

use std::hint::black_box;
use std::time::{Duration, Instant};

use batt_arc::corpus;
use batt_dsl::Dialect;
use batt_engine::Compiled;
use batt_engine::device::Programs;
use batt_lang::{Program, SolverFile};

/// What one item takes, at best of several times.
fn best(items: usize, mut work: impl FnMut()) -> Duration {
    let times = (0..20).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed()
    });
    times.min().unwrap_or_default() / items.max(1) as u32
}

#[test]
#[ignore = "it measures"]
fn time_of_a_program() {
    let text = match std::env::var("BATT_SOLVERS") {
        Ok(path) => std::fs::read_to_string(path).expect("a file of solvers"),
        Err(_) => corpus::SOLVERS.to_owned(),
    };
    let file = SolverFile::parse_in(&text, "solvers.py", Some(Dialect::ArcDsl));
    let typical = |program: &&Program| (5..=15).contains(&program.steps().len());
    let one: Vec<&Program> = file.programs.iter().filter(typical).collect();
    let programs: Vec<&Program> = one.iter().cycle().take(10_000).copied().collect();
    let steps: usize = programs.iter().map(|program| program.steps().len()).sum();
    println!(
        "{} solvers of {:.1} steps",
        one.len(),
        steps as f64 / programs.len() as f64
    );
    let count = programs.len();
    let all = || -> Vec<Compiled> { programs.iter().copied().map(Compiled::new).collect() };
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
