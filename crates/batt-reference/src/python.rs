//! Python as a child process that runs functions of a checkout on request.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use batt_arc::Grid;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::error::ReferenceError;

/// The beginning of every script: writes answers and encodes values.
pub const SCRIPT_PREAMBLE: &str = include_str!("answers.py");

/// The script that times solvers.
const SCRIPT: &str = concat!(include_str!("answers.py"), include_str!("child.py"));

/// A Python process that has loaded a checkout.
pub struct Python {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// The path of the Python that was started.
    pub path: PathBuf,
    /// The implementation and version, such as `CPython 3.11.2`.
    pub version: String,
}

/// The first line of a script: its version, or the module that it could not import.
#[derive(Deserialize)]
#[serde(untagged)]
enum FirstLine {
    Ready { version: String, kind: String },
    Missing { missing: String, error: String },
}

/// The answer to a request: for each grid the nanoseconds of a call and, if requested, its result.
#[derive(Deserialize)]
pub(crate) struct SolverAnswer {
    pub nanos: Vec<f64>,
    pub results: Vec<Json>,
}

impl Python {
    /// Starts Python with the solvers of an arc-dsl checkout.
    pub fn start(path: Option<&Path>, checkout: &Path) -> Result<Python, ReferenceError> {
        Python::start_script(path, SCRIPT, &[checkout.as_os_str()])
    }

    /// Starts Python with a script that begins with [`SCRIPT_PREAMBLE`]. Without a path it starts
    /// `/usr/bin/python3`, or the first `python3` on the PATH.
    pub fn start_script(
        path: Option<&Path>,
        script: &str,
        args: &[&OsStr],
    ) -> Result<Python, ReferenceError> {
        let path = path.map_or_else(fastest, Path::to_owned);
        let mut child = Command::new(&path)
            .arg("-c")
            .arg(script)
            .args(args)
            // The checkout belongs to the user, so Python must not write `__pycache__` into it.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| ReferenceError::Start {
                python: path.clone(),
                source,
            })?;
        let stdin = child.stdin.take();
        let Some(stdout) = child.stdout.take() else {
            return Err(ReferenceError::Ended(path));
        };
        let stdout = BufReader::new(stdout);
        let mut python = Python {
            child,
            stdin,
            stdout,
            path,
            version: String::new(),
        };
        match python.read()? {
            FirstLine::Ready { version, kind } => python.version = format!("{kind} {version}"),
            FirstLine::Missing { missing, error } => {
                return Err(ReferenceError::Import {
                    python: python.path.clone(),
                    missing,
                    error,
                });
            }
        }
        Ok(python)
    }

    /// Times a solver on some grids.
    pub(crate) fn time(
        &mut self,
        solver: &str,
        grids: &[&Grid],
        repetitions: usize,
        results: bool,
    ) -> Result<SolverAnswer, ReferenceError> {
        let grids: Vec<Vec<&[u8]>> = grids.iter().map(|grid| rows(grid)).collect();
        self.ask(&json!({
            "solver": solver,
            "grids": grids,
            "repetitions": repetitions,
            "results": results,
        }))
    }

    /// Sends a request and reads the answer.
    pub fn ask<T: for<'de> Deserialize<'de>>(
        &mut self,
        request: &Json,
    ) -> Result<T, ReferenceError> {
        if let Some(stdin) = &mut self.stdin {
            // If the child has ended, reading its answer gives a better error than the broken pipe.
            let _ = writeln!(stdin, "{request}").and_then(|()| stdin.flush());
        }
        self.read()
    }

    fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T, ReferenceError> {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        if !matches!(read, Ok(1..)) {
            return Err(ReferenceError::Ended(self.path.clone()));
        }
        Ok(serde_json::from_str(&line)?)
    }
}

/// Returns the rows of a grid, for a request.
pub fn rows(grid: &Grid) -> Vec<&[u8]> {
    grid.rows().collect()
}

impl Drop for Python {
    fn drop(&mut self) {
        // Closing its input ends the child, except in the middle of a slow solver, so the child is
        // killed as well.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the system's Python, which is built with all optimisations. The first one on the PATH
/// may be a shim or an unoptimised build.
fn fastest() -> PathBuf {
    let system = Path::new("/usr/bin/python3");
    if system.exists() {
        system.to_owned()
    } else {
        PathBuf::from("python3")
    }
}
