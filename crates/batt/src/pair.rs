//! Runs one program on one pair of a task.

use batt_arc::{Pair, Task};
use batt_dsl::Workspace;
use batt_engine::{Compiled, EvalOptions, Job, JobResult, Sample, Values, run_job};
use batt_lang::Program;

/// Runs a program on the input of a pair and returns its value and verdict. The verdict compares
/// the value with the output of the pair; clear the output to hide it.
///
/// ```
/// let tasks = batt::Tasks::embedded();
/// let task = tasks.get("1673c3ec").unwrap();
/// let solvers = batt::Solvers::embedded();
/// let program = solvers.get("solve_1673c3ec").unwrap().program();
/// assert!(batt::run_pair(program, task, &task.train[0]).verdict.is_right());
/// ```
pub fn run_pair(program: &Program, task: &Task, pair: &Pair) -> JobResult {
    let compiled = Compiled::new(program);
    let job = Job {
        program: &compiled,
        sample: Sample::new(task, pair),
    };
    let options = EvalOptions {
        values: Values::All,
        ..EvalOptions::default()
    };
    run_job(&mut Workspace::new(), &job, &options)
}
