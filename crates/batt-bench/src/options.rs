//! Options that benchmarks share, and errors with hints.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Error, Result};
use batt::DeviceChoice;
use batt_reference::{Checkout, ReferenceError};
use clap::Args;

use crate::corpus::Corpus;

/// The solvers and tasks to measure on, and the time to measure.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// Solver files [default: the checkout's, or the built-in solvers]
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub solvers: Vec<PathBuf>,

    /// Tasks [default: those next to the checkout, or the built-in puzzles]
    #[arg(long, value_name = "PATH")]
    pub tasks: Option<PathBuf>,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// About how long to measure, in seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds)]
    pub seconds: f64,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl Common {
    /// Returns about how long to measure.
    pub fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// Loads the named solvers and tasks. The checkout's or the built-in ones replace those that
    /// are not named.
    pub fn corpus(&self, checkout: Option<&Checkout>) -> Result<Corpus> {
        let Some(checkout) = checkout else {
            return Corpus::load(&self.solvers, self.tasks.as_deref(), None);
        };
        let files = checkout.solver_files(&self.solvers);
        let tasks = checkout.tasks(self.tasks.as_deref())?;
        Corpus::load(&files, Some(&tasks), Some(checkout.dialect()))
    }

    /// Opens the checkout in a folder.
    pub fn checkout(&self, folder: &Path) -> Result<Checkout> {
        Ok(Checkout::open(folder, self.solvers.is_empty())?)
    }
}

/// The device to measure.
#[derive(Args, Clone, Debug)]
pub struct OnDevice {
    /// The device to measure
    #[arg(long, value_name = DeviceChoice::FORMS, default_value = "cuda")]
    pub device: DeviceChoice,
}

/// An optional Python to compare with.
#[derive(Args, Clone, Debug)]
pub struct Against {
    /// A checkout of arc-dsl or tokpidjin; Python runs there
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,

    /// The Python to run [default: /usr/bin/python3, or the first on the PATH]
    #[arg(long, value_name = "PATH", requires = "against")]
    pub python: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("write a number of seconds, such as 10 or 0.5".to_owned()),
    }
}

/// Parses a fraction: `0.1`, `1`.
pub fn fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
        _ => Err("write a fraction from 0 to 1, such as 0.01".to_owned()),
    }
}

/// An error with a hint.
#[derive(Debug)]
struct Advised {
    message: String,
    hint: String,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Advised {}

/// Makes an error with a hint.
pub fn advised(message: impl fmt::Display, hint: impl Into<String>) -> Error {
    Error::new(Advised {
        message: message.to_string(),
        hint: hint.into(),
    })
}

/// Returns the hint of an error.
pub fn hint_of(error: &Error) -> Option<String> {
    if let Some(advised) = error.downcast_ref::<Advised>() {
        return Some(advised.hint.clone());
    }
    if let Some(error) = error.downcast_ref::<batt::Error>() {
        return Some(error.hint());
    }
    let error = error.downcast_ref::<ReferenceError>()?;
    Some(error.hint())
}
