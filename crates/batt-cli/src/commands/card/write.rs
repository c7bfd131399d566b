//! The files of a batt: the Python text, and the JSON form beside it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use batt_lang::Batt;
use batt_lang::batt::to_json_text;

use crate::error::advised;
use crate::files::{check_not_read, stage};

/// The JSON form of a batt file: loading looks for it there.
pub fn beside(path: &Path) -> PathBuf {
    path.with_extension("json")
}

/// Can the files of a batt have these names? Neither a file that is read nor JSON of another kind is replaced.
pub fn check<'p>(out: &Path, read: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    let json = beside(out);
    if json == out {
        return Err(advised(
            format_args!(
                "cannot write {}: the JSON form has this name",
                out.display()
            ),
            "name the Python file; the .json is written beside it",
        ));
    }
    check_not_read(out, read)?;
    if json.is_file() && !is_batt(&json) {
        return Err(advised(
            format_args!(
                "cannot write {}: it is there and is not the JSON form of a batt",
                json.display()
            ),
            "choose another name, or move that file away",
        ));
    }
    Ok(())
}

/// Does a file hold the JSON form of a batt, of whichever version?
fn is_batt(path: &Path) -> bool {
    let json = fs::read(path).ok();
    let json = json.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    json.is_some_and(|json| json["format"] == "batt")
}

/// Writes both files. They are complete before either takes its place.
pub fn both(out: &Path, text: &str, batt: &Batt) -> Result<()> {
    let text = stage(out, text)?;
    let json = stage(&beside(out), &to_json_text(batt))?;
    text.put()?;
    json.put()
}
