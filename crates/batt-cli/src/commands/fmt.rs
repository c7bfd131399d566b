//! `batt fmt`: solver files in canonical form.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_lang::{SolverFile, print_file};
use clap::Args;

use crate::cli::Exit;
use crate::error::bad_file;
use crate::solvers::load;
use crate::ui::{Ui, say, stdout};

/// Print solver files in canonical form
#[derive(Args)]
#[command(after_help = "\
In canonical form every call has its own line and variables are x1, x2, ... and O. Comments,
docstrings and everything that is no solver are lost. A file with a function that does not load is
left alone.

Examples:
  batt fmt solvers.py
  batt fmt solvers.py --check
  batt fmt mine/*.py --write")]
pub struct FmtArgs {
    /// Solver files
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Only say which files are not in canonical form
    #[arg(long, conflicts_with = "write")]
    check: bool,

    /// Write the files back; comments are lost
    #[arg(long)]
    write: bool,
}

/// Runs the command.
pub fn main(args: &FmtArgs, ui: &Ui) -> Result<Exit> {
    let mut out = stdout();
    let mut found = false;
    for path in &args.files {
        let file = load(path, None)?;
        if !file.is_clean() {
            // Printing what is left would drop the functions that did not load.
            for error in file.diagnostics.iter().filter(|found| found.is_error()) {
                say(ui.diagnostic(error, ui.err_color()));
            }
            ui.warn(format_args!("{} is left alone", path.display()));
            found = true;
            continue;
        }
        let text = print_file(&file.programs);
        if args.check {
            if text != file.source.text() {
                writeln!(out, "{}", path.display())?;
                found = true;
            }
        } else if args.write {
            write_back(path, &file, &text, ui)?;
        } else {
            write!(out, "{text}")?;
        }
    }
    out.flush()?;
    Ok(Exit::findings(found))
}

/// Replaces a file as a whole or not at all: a full disk must not eat it.
fn write_back(path: &Path, file: &SolverFile, text: &str, ui: &Ui) -> Result<()> {
    if text == file.source.text() {
        return Ok(());
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".batt-fmt");
    let beside = path.with_file_name(name);
    let failed = |error: std::io::Error| bad_file("write", path, &error);
    let written = std::fs::write(&beside, text).and_then(|()| {
        // The new file gets the permissions of the old one.
        std::fs::set_permissions(&beside, std::fs::metadata(path)?.permissions())?;
        std::fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(failed)?;
    ui.note(format_args!("{} written", path.display()));
    Ok(())
}
