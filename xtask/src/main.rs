//! Generates files of the project or checks that they are fresh, compiles the device source, checks
//! rules of style, and runs all tests.
//!
//! ```text
//! cargo xtask gen               write the generated files
//! cargo xtask gen dispatch      write the device's tables of primitives alone, which is quick
//! cargo xtask gen python        write the Python modules of the primitives alone
//! cargo xtask gen --check       list stale files; exit code 1 if there are any
//! cargo xtask device-compile    compile the device source for every supported GPU architecture;
//!                               needs NVRTC, but no GPU. With --quick, stop at PTX, which is ten
//!                               times as fast
//! cargo xtask check-style       check names and lengths; exit code 1 if a rule is broken
//! cargo xtask test              run all tests, of the crates and of the Python package
//! ```

mod device;
mod dispatch;
mod names;
mod python;
mod style;
mod test;

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use batt_dsl::Dialect;

const USAGE: &str = "\
usage: cargo xtask gen [dispatch | python | --check]
       cargo xtask device-compile [--quick] [--ptxas] [ARCH]...
       cargo xtask check-style
       cargo xtask test [--rust | --python]";

/// A generated file: its path, and its generator.
struct Generated {
    path: &'static str,
    writer: Writer,
}

enum Writer {
    /// A `batt` command that prints the file.
    Command(&'static [&'static str]),
    /// The device's table of primitives.
    Dispatch,
    /// The declarations of the bodies in that table.
    Declarations,
    /// The Python module of a dialect.
    Python(Dialect),
}

/// All generated files.
const GENERATED: [Generated; 8] = [
    Generated {
        path: "crates/batt-cuda/device/dispatch.cuh",
        writer: Writer::Dispatch,
    },
    Generated {
        path: "crates/batt-cuda/device/declare.cuh",
        writer: Writer::Declarations,
    },
    Generated {
        path: "crates/batt-python/python/batt/dsl/__init__.py",
        writer: Writer::Python(Dialect::ArcDsl),
    },
    Generated {
        path: "crates/batt-python/python/batt/dsl/rearc.py",
        writer: Writer::Python(Dialect::ReArc),
    },
    Generated {
        path: "crates/batt-python/python/batt/dsl/tokpidjin.py",
        writer: Writer::Python(Dialect::Tokpidjin),
    },
    Generated {
        path: "docs/ops.md",
        writer: Writer::Command(&["ops", "--markdown"]),
    },
    Generated {
        path: "docs/ops-tokpidjin.md",
        writer: Writer::Command(&["ops", "--markdown", "--dialect", "tokpidjin"]),
    },
    Generated {
        path: "docs/images/trace.svg",
        writer: Writer::Command(&[
            "show",
            "examples/solvers.py::solve_d00d1e55",
            "--task",
            "examples/tasks:test:0",
            "--svg",
            "-",
        ]),
    },
];

fn main() -> Result<ExitCode> {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["gen"] => write_all(&GENERATED),
        ["gen", "dispatch"] => write_all(&GENERATED[..2]),
        ["gen", "python"] => write_all(&GENERATED[2..5]),
        ["gen", "--check"] => check_all(),
        ["device-compile", ref words @ ..] => device::compile(words),
        ["check-style"] => style::check(),
        ["test", ref words @ ..] => test::run(words),
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

fn write_all(files: &[Generated]) -> Result<ExitCode> {
    for file in files {
        let path = root().join(file.path);
        let text = file.text()?;
        if on_disk(&path)?.as_deref() == Some(&text) {
            println!("{} is fresh", file.path);
        } else {
            fs::write(&path, text).with_context(|| format!("cannot write {}", file.path))?;
            println!("{} written", file.path);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check_all() -> Result<ExitCode> {
    let mut stale = false;
    for file in &GENERATED {
        let wanted = file.text()?;
        let found = on_disk(&root().join(file.path))?;
        if found.as_deref() == Some(&wanted) {
            println!("{} is fresh", file.path);
            continue;
        }
        stale = true;
        match found {
            None => eprintln!("{} is missing", file.path),
            Some(found) => {
                let line = first_difference(&found, &wanted);
                eprintln!("{} is stale, from line {line} on", file.path);
            }
        }
    }
    if stale {
        eprintln!("run `cargo xtask gen` and commit the result");
    }
    Ok(ExitCode::from(u8::from(stale)))
}

impl Generated {
    /// Generates the text of the file.
    fn text(&self) -> Result<String> {
        match self.writer {
            Writer::Command(arguments) => printed(arguments),
            Writer::Dispatch => dispatch::text(&root().join("crates/batt-cuda/device")),
            Writer::Declarations => Ok(dispatch::declarations()),
            Writer::Python(dialect) => Ok(python::module(dialect)),
        }
    }
}

/// Runs a `batt` command and returns its output. `BATT_COMMAND` names the binary; without it, one
/// is built.
fn printed(arguments: &[&str]) -> Result<String> {
    let mut batt = match env::var_os("BATT_COMMAND") {
        Some(built) => Command::new(built),
        None => {
            let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo
                .current_dir(root())
                .args(["run", "--quiet", "--package", "batt-cli", "--"]);
            cargo
        }
    };
    let output = batt
        .args(arguments)
        .env("NO_COLOR", "1")
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", batt.get_program().display()))?;
    if !output.status.success() {
        bail!("batt {} failed: {}", arguments.join(" "), output.status);
    }
    String::from_utf8(output.stdout).context("the generated text is not UTF-8")
}

/// Reads a file; `None` if it does not exist.
fn on_disk(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        // A checkout on Windows may have other line endings.
        Ok(text) => Ok(Some(text.replace("\r\n", "\n"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Returns the first line, counted from 1, in which two different texts differ.
fn first_difference(a: &str, b: &str) -> usize {
    a.lines().zip(b.lines()).take_while(|(a, b)| a == b).count() + 1
}

/// Returns the root of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
