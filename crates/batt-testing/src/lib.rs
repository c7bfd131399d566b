//! Test support that several crates and the fuzz targets share. Only tests depend on this crate,
//! and the command if it is built with the feature `emulated`.
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
use std::time::Duration;

use batt_dsl::{Dialect, Fault, Limits, OwnedValue, Workspace};
use batt_engine::Compiled;
use batt_lang::{Program, SolverFile};

/// Parses a text in arc-dsl. Panics if it has an error.
pub fn programs(text: &str) -> Vec<Program> {
    programs_in(Dialect::ArcDsl, text)
}

/// Parses a text in a dialect. Panics if it has an error.
pub fn programs_in(dialect: Dialect, text: &str) -> Vec<Program> {
    let file = SolverFile::parse_in(text, "test.py", Some(dialect));
    if let Some(error) = file.diagnostics.iter().find(|d| d.is_error()) {
        panic!("{}", error.render());
    }
    file.programs
}

/// Compiles a program without inputs from some lines. The last line is the result.
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

/// Runs a program without inputs in a new workspace.
pub fn run(program: &Compiled, limits: &Limits) -> Result<OwnedValue, Fault> {
    Workspace::new().run(program.dialect(), limits, |run| {
        let value = program.execute(run, &[]).map_err(|e| e.fault)?;
        run.to_owned(value)
    })
}

/// Runs `work` on this thread and panics if it takes longer than `patience`. The time bounds
/// runaways; it is no measurement, since debug builds are slow.
pub fn within<T>(patience: Duration, what: &str, work: impl FnOnce() -> T) -> T {
    let (result, took) = processor_time(work);
    assert!(took <= patience, "{what} took {took:?}");
    result
}

/// Runs `work` on this thread and returns the processor time it takes, which other programs on the
/// machine do not lengthen.
#[cfg(unix)]
pub fn processor_time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    use rustix::time::{ClockId, clock_gettime};

    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        // The clock starts at 0 with the thread, so both numbers are positive.
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    };
    let started = now();
    let result = work();
    (result, now() - started)
}

/// Runs `work` and returns the time it takes.
#[cfg(not(unix))]
pub fn processor_time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = std::time::Instant::now();
    let result = work();
    (result, started.elapsed())
}

/// Returns whether tests that take minutes should run: `BATT_HEAVY` is set and not 0.
pub fn heavy() -> bool {
    std::env::var_os("BATT_HEAVY").is_some_and(|v| v != "0")
}

/// Returns a directory of test data outside of the repository: a folder in `BATT_SHARED`, or in
/// `shared` next to the checkout. `docs/testing.md` describes its contents.
pub fn shared(name: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("BATT_SHARED") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    Some(root.join(name)).filter(|dir| dir.is_dir())
}
