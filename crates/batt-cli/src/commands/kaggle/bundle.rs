//! `batt kaggle bundle`: makes a folder for upload with the program, a notebook and metadata.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use batt::kaggle::{KaggleBundle, NO_KAGGLE_USER};
use clap::Args;

use crate::cli::{ABOUT, Exit};
use crate::duration;
use crate::error::{advised, bad_file};
use crate::solvers;
use crate::ui::{Ui, shown, stdout};

/// The longest time that Kaggle allows a notebook.
const LONGEST: Duration = Duration::from_secs(12 * 3600);

/// Make a folder to upload: the program, a notebook that evolves and submits, and metadata
#[derive(Args)]
#[command(after_help = "\
Examples:
  batt kaggle bundle -o bundle --user me
  batt kaggle bundle -o bundle --user me --archive batt.sqlite --time 11h30m
  batt kaggle bundle -o bundle --binary target/x86_64-unknown-linux-gnu/release/batt

Then, with Kaggle's own command:
  kaggle datasets create -p bundle/dataset
  kaggle kernels push -p bundle/kernel

The exit code is 1 if the program will not start on Kaggle: it was built for another machine, or
needs a newer C library.")]
pub struct BundleArgs {
    /// The folder to create
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// How long the notebook runs in all; Kaggle allows 12h
    #[arg(long, value_name = "TIME", default_value = "11h", value_parser = duration::parse)]
    time: Duration,

    /// How long the notebook runs on a commit, when the tasks are placeholders
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse)]
    trial: Duration,

    /// An archive to start with
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,

    /// Solver files to start with
    #[arg(long, value_name = "FILE", num_args = 1..)]
    solvers: Vec<PathBuf>,

    /// The batt program to pack [default: this one]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Your Kaggle name, as in the address of your profile
    #[arg(long, value_name = "NAME", value_parser = in_address)]
    user: Option<String>,

    /// Name of the notebook; the dataset is called NAME-program
    #[arg(long, value_name = "NAME", default_value = "batt-arc", value_parser = slug)]
    name: String,

    /// The competition, as in its web address
    #[arg(
        long,
        value_name = "NAME",
        default_value = "arc-prize-2026-arc-agi-2",
        value_parser = in_address
    )]
    competition: String,

    /// The machine, such as NvidiaTeslaT4 (two of them) or NvidiaL4 (four, in competitions that
    /// offer it)
    #[arg(long, value_name = "NAME", default_value = "NvidiaTeslaT4")]
    accelerator: String,
}

/// Runs the command.
pub fn main(args: &BundleArgs, ui: &Ui) -> Result<Exit> {
    let program = match &args.binary {
        Some(path) => path.clone(),
        None => this_program()?,
    };
    if args.output == Path::new("-") {
        return Err(advised(
            "a bundle cannot be written to stdout",
            "name a folder",
        ));
    }
    if !args.solvers.is_empty() {
        solvers::open_solvers(&args.solvers, None, ui)?;
    }
    let bundle = KaggleBundle {
        program,
        archive: args.archive.clone(),
        solvers: args.solvers.clone(),
        user: args.user.clone(),
        name: args.name.clone(),
        competition: args.competition.clone(),
        accelerator: args.accelerator.clone(),
        time: args.time,
        trial: args.trial,
    };
    let needs = bundle.write(&args.output)?;
    let mut out = stdout();
    writeln!(
        out,
        "wrote {}: dataset/, kernel/, README.md",
        shown(&args.output)
    )?;
    out.flush()?;
    if args.time > LONGEST {
        ui.warn("Kaggle ends a notebook after 12 hours: choose a shorter --time");
    }
    if args.user.is_none() {
        ui.note(format_args!(
            "--user was not given: replace {NO_KAGGLE_USER} by your name in both metadata files"
        ));
    }
    let problem = needs.problem();
    if let Some((problem, hint)) = &problem {
        ui.warn(problem);
        ui.note(hint);
    }
    Ok(Exit::findings(problem.is_some()))
}

/// Returns the path of the running program. It is another one than `batt` if that calls this crate.
fn this_program() -> Result<PathBuf> {
    let path = std::env::current_exe()
        .map_err(|error| bad_file("find", Path::new("this program"), error))?;
    let bytes = fs::read(&path).map_err(|error| bad_file("read", &path, error))?;
    // Only a program that contains this crate contains its help.
    let marker = ABOUT.as_bytes();
    if bytes.windows(marker.len()).any(|bytes| bytes == marker) {
        return Ok(path);
    }
    Err(advised(
        format_args!("{} is not a program to pack", path.display()),
        "build one with `cargo build --release` in a clone of Batt, \
         and add --binary target/release/batt",
    ))
}

/// Parses a name for a web address.
fn in_address(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    match !text.is_empty() && text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err("write it as in the web address, with letters, digits and hyphens".to_owned()),
    }
}

/// Parses a name for a web address.
fn slug(text: &str) -> Result<String, String> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    // Together with `-program` it is a title, for which Kaggle requires 6 to 50 characters.
    match (5..=42).contains(&text.len()) && text.bytes().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("use 5 to 42 small letters, digits and hyphens".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_addresses() {
        assert!(slug("batt-arc").is_ok());
        for bad in ["", "batt", "Batt-Arc", "batt arc", &"b".repeat(43)] {
            assert!(slug(bad).is_err(), "{bad}");
        }
    }
}
