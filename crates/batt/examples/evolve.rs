//! Finds solvers of embedded puzzles again, starting from the solvers of the other puzzles.
//!
//!     cargo run --release --package batt --example evolve

use std::time::Duration;

use batt::evolve::{Change, Evolve, EvolveEvent, HoldOut};
use batt::{Control, Solvers, Tasks};

fn main() -> batt::Result<()> {
    let evolve = Evolve::new(&Tasks::embedded())
        .solvers(&Solvers::embedded())
        .hold_out(HoldOut::Exactly(8))
        .offspring(1000)
        .generations(20);
    let control = Control::new().deadline_in(Duration::from_secs(20));
    let report = evolve.run(&control, |event| match event {
        EvolveEvent::Started(start) => {
            println!(
                "{} tasks, {} solvers to learn from",
                start.tasks, start.seed_solvers
            );
        }
        EvolveEvent::Improved { improvement, .. } if improvement.change == Change::Solved => {
            let best = &improvement.best;
            println!(
                "a solver of {} steps, made by {}",
                best.score.size, best.origin
            );
        }
        _ => {}
    })?;
    for (at, task, best) in report.solved() {
        let tests = report.answer(at).map_or("unknown", |answer| answer.name());
        println!("\n# {}, tests: {tests}\n{}", task.id, best.program);
    }
    Ok(())
}
