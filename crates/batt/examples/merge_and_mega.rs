//! Merges the embedded solvers with some mutants into one batt and runs it on all embedded tasks.
//!
//!     cargo run --release --example merge_and_mega [RESULTS]
//!
//! RESULTS is a file for the results, such as results.jsonl or results.parquet. If the program is
//! interrupted, start it again to continue.

use std::error::Error;

use batt::card::{DifferSet, DonorPool, extract_donor};
use batt::mega::Existing;
use batt::{Batts, Control, Mega, Solvers, Tasks};

fn main() -> Result<(), Box<dyn Error>> {
    let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());

    let mut donors = DonorPool::new(&solvers, Some(&tasks))?;
    donors.add_mutants(100, 1, &Control::new());
    let differs = DifferSet::built_in(donors.dialect());
    let merged = donors.merge(&differs, None)?;
    let stats = &merged.stats;
    println!(
        "{} solvers: {} steps alone, {} merged",
        stats.solvers, stats.solver_steps, stats.after
    );

    let mut mega = Mega::new(&Batts::from(merged.batt.clone()), &tasks);
    if let Some(path) = std::env::args().nth(1) {
        mega = mega.write_to(path, Existing::Resume);
    }
    let summary = mega.run(&Control::new())?;
    let totals = &summary.totals;
    println!(
        "{} runs: {} of {} candidates are right",
        totals.runs,
        totals.right,
        totals.candidates()
    );

    // Mutants that solve a task.
    let is_mutant = |donor: &&String| {
        donors
            .iter()
            .any(|d| d.id == **donor && d.mutant_of.is_some())
    };
    let solved = totals.solved.iter();
    let found =
        solved.flat_map(|solved| solved.donors.iter().map(move |donor| (&solved.task, donor)));
    for (task, donor) in found.filter(|(_, donor)| is_mutant(donor)).take(3) {
        let cut = extract_donor(&merged.batt, donor, None)?;
        println!("\n{donor} solves {task}:\n{}", cut.program);
    }
    Ok(())
}
