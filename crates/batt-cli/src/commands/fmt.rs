//! `batt fmt`: solver files in canonical form.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::Solvers;
use clap::Args;

use crate::cli::Exit;
use crate::error::bad_file;
use crate::ui::{Ui, say, shown, stdout};

/// Print solver files in canonical form
#[derive(Args)]
#[command(after_help = "\
In canonical form every call has its own line and variables are x1, x2, ... and O. Comments,
docstrings and everything that is no solver are lost. A file with a function that does not load
stays as it is.

Examples:
  batt fmt solvers.py
  batt fmt solvers.py --check
  batt fmt mine/*.py --write")]
pub struct FmtArgs {
    /// Solver files
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Print the names of files that are not in canonical form, and change nothing
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
        let solvers = Solvers::load([path], None)?;
        if !solvers.is_clean() {
            // The canonical form would drop the functions that did not load.
            for error in solvers.diagnostics().filter(|found| found.is_error()) {
                say(ui.diagnostic(error, ui.err_color()));
            }
            ui.warn(format_args!("{} is left alone", path.display()));
            found = true;
            continue;
        }
        let (text, old) = (solvers.format(), solvers.files()[0].source.text());
        if args.check {
            if text != old {
                writeln!(out, "{}", shown(path))?;
                found = true;
            }
        } else if args.write {
            if text != old {
                write_back(path, &text, ui)?;
            }
        } else {
            write!(out, "{text}")?;
        }
    }
    out.flush()?;
    Ok(Exit::findings(found))
}

/// Replaces a file as a whole or not at all: a full disk must not destroy it.
fn write_back(path: &Path, text: &str, ui: &Ui) -> Result<()> {
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
