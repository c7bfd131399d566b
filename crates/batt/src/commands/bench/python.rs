//! The Python side: a child process that runs a checkout's solvers when asked.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use batt_arc::Grid;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::error::advised;

const SCRIPT: &str = include_str!("child.py");

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

#[derive(Deserialize)]
struct Hello {
    version: String,
    kind: String,
}

/// One answer: for each grid the nanoseconds of a call and, if asked for, its result.
#[derive(Deserialize)]
pub struct Answer {
    pub nanos: Vec<f64>,
    pub results: Vec<Json>,
}

impl Python {
    /// Starts Python and lets it import the checkout.
    pub fn start(path: Option<&Path>, checkout: &Path) -> Result<Python> {
        let path = path.map_or_else(fastest, Path::to_owned);
        let mut child = Command::new(&path)
            .arg("-c")
            .arg(SCRIPT)
            .arg(checkout)
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
        let hello: Hello = python.read()?;
        python.version = format!("{} {}", hello.kind, hello.version);
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
        let grids: Vec<Vec<&[u8]>> = grids.iter().map(|grid| grid.rows().collect()).collect();
        let request = json!({
            "solver": solver,
            "grids": grids,
            "repetitions": repetitions,
            "results": results,
        });
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
                "the checkout needs dsl.py, constants.py and solvers.py that this Python can import",
            ));
        }
        serde_json::from_str(&line).context("internal error: an answer of the Python child")
    }
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
