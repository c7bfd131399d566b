//! `batt fmt`: prints solver files in canonical form.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use batt::Solvers;
use batt::files::replace;
use clap::Args;

use crate::cli::{DialectName, Exit};
use crate::ui::{Ui, say, shown, stdout};

/// Print solver files in canonical form
#[derive(Args)]
#[command(after_help = "\
In canonical form, every call has its own line and variables are x1, x2, ... and O. Comments,
docstrings and everything outside solvers are lost. If a function of a file does not load, the file
is not changed.

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

    /// Rewrite the files; comments are lost
    #[arg(long)]
    write: bool,

    /// Which library the solvers are written for
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: DialectName,
}

/// Runs the command.
pub fn main(args: &FmtArgs, ui: &Ui) -> Result<Exit> {
    let mut out = stdout();
    let mut found = false;
    for path in &args.files {
        let solvers = Solvers::load([path], args.dialect.dialect())?;
        if !solvers.is_clean() {
            // The canonical form would drop the functions that did not load.
            for error in solvers.diagnostics().filter(|found| found.is_error()) {
                say(ui.diagnostic(error, ui.err_color()));
            }
            ui.warn(format_args!("{} is not changed", path.display()));
            found = true;
            continue;
        }
        if solvers.files()[0].programs.is_empty() {
            // It may be something else altogether, of which nothing would remain.
            let path = path.display();
            ui.warn(format_args!("no solver in {path}; it is left alone"));
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
                replace(path, &text)?;
                ui.note(format_args!("{} written", path.display()));
            }
        } else {
            write!(out, "{text}")?;
        }
    }
    out.flush()?;
    Ok(Exit::findings(found))
}
