//! Runs every test: those of the Rust crates, and those of the Python package.
//!
//! ```text
//!   cargo test --workspace --all-features
//!   maturin build ──> wheel ──> a virtual environment of its own
//!                                 ├─ pytest: interface, documentation, notebooks, clusters
//!                                 └─ stubtest, pyright, ruff: stubs, types, style
//! ```

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::root;

/// The oldest Python that the package supports.
const OLDEST: (u32, u32) = (3, 10);

/// The folder of the virtual environment and the wheel, below the target folder.
const FOLDER: &str = "python-tests";

/// Runs the tests that the arguments select.
pub fn run(words: &[&str]) -> Result<ExitCode> {
    let (rust, python) = match words {
        [] => (true, true),
        ["--rust"] => (true, false),
        ["--python"] => (false, true),
        _ => bail!("usage: cargo xtask test [--rust | --python]"),
    };
    if rust {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut tests = Command::new(cargo);
        tests.args(["test", "--workspace", "--all-features"]);
        step(&mut tests)?;
    }
    if python {
        match interpreter() {
            Ok(interpreter) => test_python(&interpreter)?,
            // A machine that checks changes must not pass because something is missing.
            Err(why) if env::var_os("CI").is_some() => bail!("no Python tests: {why}"),
            Err(why) => println!("\nskipped: the tests of the Python package, because {why}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the Python to test with, or the reason why there is none.
fn interpreter() -> Result<PathBuf, String> {
    let python = env::var_os("BATT_PYTHON").unwrap_or_else(|| "python3".into());
    let name = python.to_string_lossy().into_owned();
    let code = "import sys, venv, ensurepip; print(*sys.version_info[:2]); print(sys.executable)";
    let output = Command::new(&python).args(["-c", code]).output();
    let output = output.map_err(|error| format!("{name} cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} has no modules venv and ensurepip"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default();
    let numbers: Vec<u32> = version.split(' ').filter_map(|n| n.parse().ok()).collect();
    match (&numbers[..], lines.next()) {
        (&[major, minor], Some(path)) if (major, minor) >= OLDEST => Ok(PathBuf::from(path)),
        _ => Err(format!(
            "{name} is Python {}, and the package needs {}.{}",
            version.replace(' ', "."),
            OLDEST.0,
            OLDEST.1
        )),
    }
}

/// Builds the wheel, installs it into a new virtual environment, and runs all checks there.
fn test_python(interpreter: &Path) -> Result<()> {
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = target.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let venv = folder.join("venv");
    step(Command::new(interpreter).args(["-m", "venv"]).arg(&venv))?;
    let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = || {
        let mut python = Command::new(bin.join("python"));
        python.env("VIRTUAL_ENV", &venv);
        python
    };
    let pip = || {
        let mut pip = python();
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        pip
    };
    step(pip().arg("maturin>=1.16,<2"))?;
    let wheels = folder.join("wheels");
    let mut build = Command::new(bin.join("maturin"));
    build
        .args(["build", "--release", "--locked", "--out"])
        .arg(&wheels);
    step(build.arg("--interpreter").arg(bin.join("python")))?;
    let wheel = fs::read_dir(&wheels)
        .with_context(|| format!("cannot read {}", wheels.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|end| end == "whl"))
        .context("maturin made no wheel")?;
    let mut with_tests = wheel.into_os_string();
    with_tests.push("[test]");
    step(pip().arg(with_tests))?;
    // The installed package is tested, not the one in the source folder.
    let path = "pythonpath=crates/batt-python/tests";
    step(python().args(["-m", "pytest", "-o", path]))?;
    step(python().args([
        "-m",
        "mypy.stubtest",
        "batt",
        "--mypy-config-file",
        "pyproject.toml",
        "--allowlist",
        "crates/batt-python/stubtest-allowlist.txt",
    ]))?;
    step(python().args(["-m", "mypy"]))?;
    // Otherwise pyright looks for packages in the first Python on the PATH.
    step(
        python()
            .args(["-m", "pyright", "--pythonpath"])
            .arg(bin.join("python")),
    )?;
    step(python().args(["-m", "ruff", "check"]))?;
    step(python().args(["-m", "ruff", "format", "--check"]))
}

/// Runs a command in the root of the project; it is an error if it fails.
fn step(command: &mut Command) -> Result<()> {
    println!("\n== {}", shown(command));
    let status = command.current_dir(root()).status();
    let status = status.with_context(|| format!("cannot start {}", shown(command)))?;
    match status.success() {
        true => Ok(()),
        false => bail!("failed: {}", shown(command)),
    }
}

/// A command as a person would write it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    let words = words.map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}
