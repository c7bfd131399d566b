//! Prints every step of a built-in solver on the first demonstration of its task.
//!
//!     cargo run -p batt --example trace -- solve_1673c3ec

use batt::{Limits, PairRef, RunInput, Solvers, Split, Tasks, describe};

fn main() {
    let (solvers, tasks) = (Solvers::embedded(), Tasks::embedded());
    let wanted = std::env::args().nth(1);
    let wanted = wanted.as_deref().unwrap_or("solve_1673c3ec");
    let first = PairRef {
        split: Split::Train,
        index: 0,
    };
    let (Some(solver), Some(task)) = (solvers.get(wanted), tasks.task_of(wanted)) else {
        eprintln!("there is no solver '{wanted}'");
        return;
    };
    let Some(input) = RunInput::of_pair(task, first) else {
        eprintln!("task {} has no {first}", task.id);
        return;
    };
    for step in solver.trace(&input, &Limits::default()) {
        let value = step.value.as_ref().map_or("too large".to_owned(), describe);
        println!("{} = {}  # {value}", step.name, step.call);
    }
    let result = solver.run_on(&input, &Limits::default());
    println!("{first}: {}", result.verdict.kind());
}
