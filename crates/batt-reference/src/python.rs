//! The Python side: a child process that runs what is in a checkout when asked.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use batt_arc::Grid;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::error::advised;

const SCRIPT: &str = concat!(include_str!("answers.py"), include_str!("child.py"));

/// A Python that has loaded the checkout.
pub struct Python {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// The program that was started.
    pub path: PathBuf,
    /// Implementation and version, such as `CPython 3.11.2`.
    pub version: String,
}

/// The first line: who it is, or what it could not import.
#[derive(Deserialize)]
#[serde(untagged)]
enum Hello {
    Ready { version: String, kind: String },
    Missing { missing: String, error: String },
}

/// One answer: for each grid the nanoseconds of a call and, if asked for, its result.
#[derive(Deserialize)]
pub struct Answer {
    pub nanos: Vec<f64>,
    pub results: Vec<Json>,
}

impl Python {
    /// Starts Python on the solvers of an arc-dsl checkout.
    pub fn start(path: Option<&Path>, checkout: &Path) -> Result<Python> {
        Python::start_script(path, SCRIPT, &[checkout.as_os_str()])
    }

    /// Starts Python on a script of ours and lets it import the checkout.
    pub fn start_script(path: Option<&Path>, script: &str, args: &[&OsStr]) -> Result<Python> {
        let path = path.map_or_else(fastest, Path::to_owned);
        let mut child = Command::new(&path)
            .arg("-c")
            .arg(script)
            .args(args)
            // The checkout is not ours: leave no __pycache__ behind.
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| {
                advised(
                    format_args!("cannot start {}: {error}", path.display()),
                    "install Python 3, or name one with --python PATH",
                )
            })?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().context("the child has no stdout")?);
        let mut python = Python {
            child,
            stdin,
            stdout,
            path,
            version: String::new(),
        };
        match python.read()? {
            Hello::Ready { version, kind } => python.version = format!("{kind} {version}"),
            Hello::Missing { missing, error } => {
                let path = python.path.display();
                return Err(advised(
                    format_args!("{path} cannot import the checkout: {error}"),
                    format!(
                        "install it with `{path} -m pip install {missing}`, put it on the PYTHONPATH, or name \
                         a Python that has it with --python PATH"
                    ),
                ));
            }
        }
        Ok(python)
    }

    /// Times a solver on some grids.
    pub fn time(
        &mut self,
        solver: &str,
        grids: &[&Grid],
        repetitions: usize,
        results: bool,
    ) -> Result<Answer> {
        let grids: Vec<Vec<&[u8]>> = grids.iter().map(|grid| rows(grid)).collect();
        self.ask(&json!({
            "solver": solver,
            "grids": grids,
            "repetitions": repetitions,
            "results": results,
        }))
    }

    /// One question, one answer.
    pub fn ask<T: for<'de> Deserialize<'de>>(&mut self, request: &Json) -> Result<T> {
        let stdin = self.stdin.as_mut().context("the child has no stdin")?;
        // Should the child be gone, reading its answer says so better than a broken pipe does.
        let _ = writeln!(stdin, "{request}").and_then(|()| stdin.flush());
        self.read()
    }

    fn read<T: for<'de> Deserialize<'de>>(&mut self) -> Result<T> {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        if !matches!(read, Ok(1..)) {
            return Err(advised(
                format_args!("{} ended early; its message is above", self.path.display()),
                "the checkout needs dsl.py, constants.py and solvers that this Python can import",
            ));
        }
        serde_json::from_str(&line).context("internal error: an answer of the Python child")
    }
}

/// The rows of a grid, for JSON.
pub fn rows(grid: &Grid) -> Vec<&[u8]> {
    grid.rows().collect()
}

impl Drop for Python {
    fn drop(&mut self) {
        // The end of its input ends the child, unless it is in the middle of a long solver.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The system's own Python is built with all optimisations; one found first on the PATH may be a
/// shim that costs a start, or a home build without them.
fn fastest() -> PathBuf {
    let system = Path::new("/usr/bin/python3");
    if system.exists() {
        system.to_owned()
    } else {
        PathBuf::from("python3")
    }
}
