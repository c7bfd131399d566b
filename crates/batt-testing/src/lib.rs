//! Test support that several crates and the fuzz targets share. Only tests depend on this crate,
//! and the command when it is built with the feature `emulated`.
//!
//! - [`command`]: commands run in a temporary folder
//! - [`generate`]: random programs and grids, decoded from bytes
//! - [`oracle`]: properties that hold for every program on every grid
//! - [`forms`]: properties of primitives on values built in different ways
//! - [`Faulty`]: a device that fails on request
//! - [`plumbing`]: checks of the host side of a device

pub mod command;
mod faulty;
pub mod forms;
pub mod generate;
pub mod oracle;
pub mod plumbing;

pub use faulty::{Faulty, Script, Trouble};

use std::path::PathBuf;
use std::time::{Duration, Instant};

use batt_dsl::{Dialect, Fault, Limits, OwnedValue, Workspace};
use batt_engine::Compiled;
use batt_lang::{Program, SolverFile};

/// Parses a text in the original dialect. Panics if there is an error in it.
pub fn programs(text: &str) -> Vec<Program> {
    programs_in(Dialect::ArcDsl, text)
}

/// Parses a text in a dialect. Panics if there is an error in it.
pub fn programs_in(dialect: Dialect, text: &str) -> Vec<Program> {
    let file = SolverFile::parse_in(text, "test.py", Some(dialect));
    if let Some(error) = file.diagnostics.iter().find(|d| d.is_error()) {
        panic!("{}", error.render());
    }
    file.programs
}

/// Compiles a program without inputs from some lines; the last one is the result.
pub fn script(lines: &[&str]) -> Compiled {
    let (last, rest) = lines.split_last().expect("at least the result");
    let body: String = rest.iter().map(|line| format!("    {line}\n")).collect();
    let text = format!("def script():\n{body}    return {last}\n");
    Compiled::new(&programs(&text)[0])
}

/// Evaluates an expression within the default limits.
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

/// Runs `work` and panics if it takes longer than `patience`. The time bounds runaways; it is no
/// measurement, since debug builds on a busy machine are slow.
pub fn within<T>(patience: Duration, what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    let took = started.elapsed();
    assert!(took <= patience, "{what} took {took:?}");
    result
}

/// Returns whether tests that take minutes should run: `BATT_HEAVY` is set and not 0.
pub fn heavy() -> bool {
    std::env::var_os("BATT_HEAVY").is_some_and(|v| v != "0")
}

/// Returns a directory of test data that is not part of the repository: a folder of `BATT_SHARED`,
/// or of `shared` beside the checkout. `docs/testing.md` says what it holds.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("BATT_SHARED") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    Some(root.join(name)).filter(|dir| dir.is_dir())
}
