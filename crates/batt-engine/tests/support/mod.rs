//! Helpers shared by the tests.

// Every test file compiles this module for itself and uses a part of it.
#![allow(dead_code)]

pub mod forms;
pub mod generate;
pub mod oracle;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use batt_dsl::{Dialect, Fault, Limits, OwnedValue, Workspace};
use batt_engine::Compiled;
use batt_lang::{Program, SolverFile};

/// Parses the programs of a text that must have no diagnostics.
pub fn programs(text: &str) -> Vec<Program> {
    programs_in(Dialect::ArcDsl, text)
}

/// The same in another dialect.
pub fn programs_in(dialect: Dialect, text: &str) -> Vec<Program> {
    let file = SolverFile::parse_in(text, "test.py", Some(dialect));
    if let Some(error) = file.diagnostics.iter().find(|d| d.is_error()) {
        panic!("{}", error.render());
    }
    file.programs
}

/// Makes a program without inputs from these lines; the last one is the result.
pub fn script(lines: &[&str]) -> Compiled {
    let (last, rest) = lines.split_last().expect("at least the result");
    let body: String = rest.iter().map(|line| format!("    {line}\n")).collect();
    let text = format!("def script():\n{body}    return {last}\n");
    Compiled::new(&programs(&text)[0])
}

/// The value of an expression, or its fault, within the default limits.
pub fn eval(expression: &str) -> Result<OwnedValue, Fault> {
    run(&script(&[expression]), &Limits::default())
}

/// Runs a program without inputs in a workspace of its own.
pub fn run(program: &Compiled, limits: &Limits) -> Result<OwnedValue, Fault> {
    Workspace::new().run(program.dialect(), limits, |run| {
        let value = program.execute(run, &[]).map_err(|e| e.fault)?;
        run.to_owned(value)
    })
}

/// Runs `work` and fails if it takes longer than `patience`. Debug builds on a busy machine are
/// slow, so the time is a bound for runaways, not a measurement.
pub fn within<T>(patience: Duration, what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    let took = started.elapsed();
    assert!(took <= patience, "{what} took {took:?}");
    result
}

/// Returns whether the tests that take minutes should run.
pub fn heavy() -> bool {
    std::env::var_os("BATT_HEAVY").is_some_and(|v| v != "0")
}

/// Returns the directory of test data that is not part of the repository.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("BATT_SHARED") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    Some(root.join(name)).filter(|dir| dir.is_dir())
}
