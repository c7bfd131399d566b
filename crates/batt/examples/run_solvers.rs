//! Runs the solvers of a file on their tasks and prints the wrong results.
//!
//!     cargo run -p batt --example run_solvers -- solvers.py data/training
//!
//! Without arguments the built-in solvers run on the built-in puzzles.

use std::process::ExitCode;

use batt::{Control, Devices, RunOptions, Solvers, Tasks, Values};

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}\nhint: {}", error.hint());
            ExitCode::from(2)
        }
    }
}

fn run(args: Vec<String>) -> batt::Result<ExitCode> {
    let (solvers, tasks) = match args.as_slice() {
        [solvers, tasks] => (Solvers::load([solvers], None)?, Tasks::load(tasks)?),
        _ => (Solvers::embedded(), Tasks::embedded()),
    };
    for found in solvers.diagnostics().filter(|found| found.is_error()) {
        eprintln!("{found}");
    }
    let options = RunOptions {
        values: Values::Wrong,
        ..RunOptions::default()
    };
    let control = Control::new();
    let report = batt::run(
        &solvers,
        &tasks,
        &options,
        &mut Devices::none(),
        &control,
        |result| {
            if let Some(reason) = result.reason() {
                println!("{} {}: {reason}", result.solver().name(), result.pair);
            }
        },
    )?;
    let (solved, all) = report.summary.tasks();
    println!("solved {solved} of {all} tasks in {:?}", report.time);
    Ok(match report.summary.has_findings() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}
