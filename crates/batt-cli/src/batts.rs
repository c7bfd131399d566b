//! Loading batt files, and talking about what is in them.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_dsl::Dialect;
use batt_lang::Batt;
use batt_lang::batt::{BattFile, to_json_text};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::error::{advised, bad_source};
use crate::solvers::print_findings;
use crate::ui::Ui;

/// Reads batt files and prints what is wrong with them. At least one batt has loaded, and every file that
/// is in order holds one.
pub fn load_all(paths: &[PathBuf], dialect: Option<Dialect>, ui: &Ui) -> Result<Vec<BattFile>> {
    let mut files = Vec::new();
    for path in paths {
        let file = load(path, dialect)?;
        if file.batts.is_empty() && file.is_clean() {
            // That each of its functions is no batt need not be said one by one.
            return Err(advised(
                format_args!("no batt in {}", file.source.name()),
                "a batt is a function batt(task_id, S, I, C, log_path) that returns o, s; `batt card` \
                 makes one from solvers",
            ));
        }
        print_findings(file.source.name(), &file.diagnostics, ui);
        if let Some(detected) = file.detected.as_ref().filter(|_| !file.batts.is_empty()) {
            ui.note(format_args!("{}: {detected}", path.display()));
        }
        files.push(file);
    }
    if files.iter().all(|file| file.batts.is_empty()) {
        let names: Vec<_> = files.iter().map(|file| file.source.name()).collect();
        return Err(advised(
            format_args!("no batt in {}", names.join(", ")),
            "mend what is reported above",
        ));
    }
    Ok(files)
}

/// Reads one batt file.
pub fn load(path: &Path, dialect: Option<Dialect>) -> Result<BattFile> {
    BattFile::load(path, dialect).map_err(|error| bad_source(&error))
}

/// A number that changes when a batt does.
pub fn fingerprint(batt: &Batt) -> String {
    hashed(to_json_text(batt))
}

/// A number that changes when something does, the same in every run of this version.
pub fn hashed(value: impl Hash) -> String {
    let mut hasher = SipHasher13::new();
    value.hash(&mut hasher);
    hasher.write_u8(0);
    format!("{:032x}", hasher.finish128().as_u128())
}
