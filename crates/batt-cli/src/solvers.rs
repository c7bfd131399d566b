//! Loading solver files, and finding the task a solver is for.

use std::path::{Path, PathBuf};

use anyhow::Result;
use batt::{Program, Solvers, Tasks};
use batt_arc::{Dataset, Task};
use batt_dsl::Dialect;
use batt_lang::{Diagnostic, Severity, SolverFile};

use crate::error::{advised, bad_source, bad_tasks};
use crate::ui::{Ui, counted, say};

/// Findings of one file that are printed before we refer to `batt check`.
const SHOWN: usize = 20;

/// Loads solvers and prints what is wrong with their files. At least one function has loaded.
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
        let hint = match solvers.is_clean() {
            true => "a solver is a function of one grid: def solve_<task id>(I): ... return O",
            false => "correct what is reported above",
        };
        return Err(advised(
            format_args!("no solver in {}", names.join(", ")),
            hint,
        ));
    }
    let left_out: Vec<&str> = solvers.left_out().map(Program::name).collect();
    ui.mention(
        "left out, not a function of one grid or of (S, I, C)",
        &left_out,
    );
    Ok(solvers)
}

/// Loads tasks, and mentions files that were left out.
pub fn open_tasks(path: &Path, ui: &Ui) -> Result<Tasks> {
    let tasks = Tasks::load(path)?;
    for skipped in tasks.skipped() {
        let path = skipped.path.display();
        ui.note(format_args!("{path} left out: it is {}", skipped.holds));
    }
    Ok(tasks)
}

/// Reads a solver file, in a given dialect or in the one it seems to be written in.
pub fn load(path: &Path, dialect: Option<Dialect>) -> Result<SolverFile> {
    SolverFile::load(path, dialect).map_err(|error| bad_source(&error))
}

/// Reads solver files and prints what is wrong with them. At least one function has loaded.
pub fn load_all(paths: &[PathBuf], dialect: Option<Dialect>, ui: &Ui) -> Result<Vec<SolverFile>> {
    let mut files = Vec::new();
    for path in paths {
        let file = load(path, dialect)?;
        print_findings(file.source.name(), &file.diagnostics, ui);
        if let Some(detected) = &file.detected {
            ui.note(format_args!("{}: {detected}", path.display()));
        }
        files.push(file);
    }
    if files.iter().all(|file| file.programs.is_empty()) {
        let names: Vec<_> = files.iter().map(|file| file.source.name()).collect();
        let hint = if files.iter().all(SolverFile::is_clean) {
            "a solver is a function of one grid: def solve_<task id>(I): ... return O"
        } else {
            "mend what is reported above"
        };
        return Err(advised(
            format_args!("no solver in {}", names.join(", ")),
            hint,
        ));
    }
    Ok(files)
}

/// Prints errors and warnings about a file on stderr.
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

/// Loads tasks, and mentions files that were left out.
pub fn load_tasks(path: &Path, ui: &Ui) -> Result<Dataset> {
    let data = Dataset::load(path).map_err(bad_tasks)?;
    for skipped in data.skipped() {
        let path = skipped.path.display();
        ui.note(format_args!("{path} left out: it is {}", skipped.holds));
    }
    Ok(data)
}

/// The task a function is for: its name is the task's id, or ends in `_` and the id. Of several
/// the longest counts, since an id may contain `_` itself.
pub fn task_of<'d>(name: &str, data: &'d Dataset) -> Option<&'d Task> {
    let ends = name.match_indices('_').map(|(at, _)| &name[at + 1..]);
    std::iter::once(name)
        .chain(ends)
        .find_map(|id| data.get(id))
}

/// The name closest to one that nobody knows, if any is close enough to be meant.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Beyond this a name is not a slip, and comparing it would take long.
    if name.len() > 60 {
        return None;
    }
    // A third of the letters may differ.
    let allowed = name.chars().count() / 3;
    known
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_id_wins() {
        let task = |id: &str| {
            let json = br#"[{"input": [[1]], "output": [[2]]}]"#;
            let data = Dataset::from_json(format!("{id}.json"), json).unwrap();
            data.into_tasks().remove(0)
        };
        let data = Dataset::new(vec![task("ab12"), task("x_ab12"), task("solve")]).unwrap();
        let found = |name| task_of(name, &data).map(|task| task.id.as_str());
        assert_eq!(found("solve_ab12"), Some("ab12"));
        assert_eq!(found("solve_x_ab12"), Some("x_ab12"));
        assert_eq!(found("solve"), Some("solve"));
        assert_eq!(found("solveab12"), None);
        assert_eq!(found("solve_ab1"), None);
    }
}
