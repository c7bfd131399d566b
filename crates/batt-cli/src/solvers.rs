//! Loads solvers, tasks and differs, and prints the diagnostics of their files.

use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::card::DifferSet;
use batt::{Batts, Diagnostic, Dialect, Program, Severity, Solvers, Tasks};

use crate::error::advised;
use crate::ui::{Ui, counted, say};

/// The number of findings in a file that are printed; for the others a note names `batt check`.
const SHOWN: usize = 20;

/// Loads solvers and prints the diagnostics of their files. Fails if no function could be loaded.
pub fn open_solvers(paths: &[PathBuf], dialect: Option<Dialect>, ui: &Ui) -> Result<Solvers> {
    let solvers = Solvers::load(paths, dialect)?;
    for file in solvers.files() {
        print_findings(file.source.name(), &file.diagnostics, ui);
        if let Some(detected) = &file.detected {
            ui.note(format_args!("{}: {detected}", file.source.name()));
        }
    }
    if solvers.files().iter().all(|file| file.programs.is_empty()) {
        let names: Vec<_> = solvers
            .files()
            .iter()
            .map(|file| file.source.name())
            .collect();
        let hint = if Batts::load(paths, dialect).is_ok_and(|batts| !batts.is_empty()) {
            "this is a batt: `batt mega` runs it, and `batt extract` cuts solvers out of it"
        } else if solvers.is_clean() {
            "a solver is a function of one grid: def solve_<task id>(I): ... return O"
        } else {
            "correct what is reported above"
        };
        return Err(advised(
            format_args!("no solver in {}", names.join(", ")),
            hint,
        ));
    }
    let left_out: Vec<&str> = solvers.left_out().map(Program::name).collect();
    ui.mention(
        "left out, because a solver takes one grid or (S, I, C)",
        &left_out,
    );
    Ok(solvers)
}

/// Loads tasks, and prints a note about files that were skipped.
pub fn open_tasks(path: &Path, ui: &Ui) -> Result<Tasks> {
    let tasks = Tasks::load(path)?;
    mention_skipped(&tasks, ui);
    Ok(tasks)
}

/// Prints a note about files of a folder of tasks that were skipped.
pub fn mention_skipped(tasks: &Tasks, ui: &Ui) {
    for skipped in tasks.skipped() {
        let path = skipped.path.display();
        ui.note(format_args!("{path} left out: it is {}", skipped.holds));
    }
}

/// Loads differs and prints what is wrong with their files. Returns the built-in ones and these,
/// and whether every function of the files is among them.
pub fn open_differs(paths: &[PathBuf], dialect: Dialect, ui: &Ui) -> Result<(DifferSet, bool)> {
    let mut differs = DifferSet::built_in(dialect);
    let mut is_complete = true;
    for path in paths {
        let solvers = Solvers::load([path], Some(dialect))?;
        let file = &solvers.files()[0];
        print_findings(file.source.name(), &file.diagnostics, ui);
        let added = differs.add_file(file);
        differs.left_out.drain(..).for_each(|why| {
            ui.warn(format_args!("{why}; left out"));
            is_complete = false;
        });
        added.map_err(batt::Error::from)?;
        is_complete &= file.is_clean();
    }
    Ok((differs, is_complete))
}

/// Prints the errors and warnings about a file on stderr.
pub fn print_findings(name: &str, diagnostics: &[Diagnostic], ui: &Ui) {
    let findings = || {
        let all = diagnostics.iter();
        all.filter(|found| found.severity > Severity::Info)
    };
    for found in findings().take(SHOWN) {
        say(ui.diagnostic(found, ui.err_color()));
    }
    let rest = findings().count().saturating_sub(SHOWN);
    if rest > 0 {
        ui.warn(format_args!(
            "{} more in {name}; `batt check {name}` lists all",
            counted(rest, "finding")
        ));
    }
}
