//! Loads batt files and prints their diagnostics.

use std::path::PathBuf;

use anyhow::Result;
use batt::{BattFile, Batts, Dialect};

use crate::error::advised;
use crate::solvers::print_findings;
use crate::ui::Ui;

/// Loads batt files and prints their diagnostics. Fails if no batt could be loaded, or if a file
/// without an error contains no batt.
pub fn load_all(paths: &[PathBuf], dialect: Option<Dialect>, ui: &Ui) -> Result<Batts> {
    let batts = Batts::load(paths, dialect)?;
    for file in batts.files() {
        let name = file.source.name();
        if file.batts.is_empty() && file.is_clean() {
            // One error is enough; a warning for each function of the file would only repeat it.
            return Err(advised(
                format_args!("no batt in {name}"),
                "a batt is a function batt(task_id, S, I, C, log_path) that returns o, s; `batt card` \
                 makes one from solvers",
            ));
        }
        print_findings(name, &file.diagnostics, ui);
        if let Some(detected) = file.detected.as_ref().filter(|_| !file.batts.is_empty()) {
            ui.note(format_args!("{name}: {detected}"));
        }
    }
    if batts.is_empty() {
        let names: Vec<_> = batts
            .files()
            .iter()
            .map(|file| file.source.name())
            .collect();
        return Err(advised(
            format_args!("no batt in {}", names.join(", ")),
            "correct the errors reported above",
        ));
    }
    Ok(batts)
}

/// Returns the name of the only file of some batts.
pub fn file_of(batts: &Batts) -> &str {
    batts
        .files()
        .first()
        .map_or("", |file: &BattFile| file.source.name())
}
