//! Reads the cases of batts. Both lists of a batt must agree, entry by entry.

use std::path::Path;
use std::sync::Arc;

use batt_dsl::OwnedValue;
use batt_lang::Batt;
use batt_lang::batt::{BattFile, Form, write_batt};
use serde_json::{Value as Json, json};

use crate::cases::{Case, Expected, Headings, Work};
use crate::files::{bad, lines, read};
use crate::programs::is_order_dependent;
use crate::{Group, VectorsError};
use batt_engine::CompiledBatt;

/// Reads the cases of a batt file. Each sample runs on the batt as it is in the file, and on the
/// batt written with and without guards and read again.
pub(crate) fn batt_cases(path: &Path) -> Result<Vec<Case>, VectorsError> {
    let name = path.to_string_lossy();
    let original = batt_of(&BattFile::parse(&read(path)?, &name, None), path)?;
    let mut forms = vec![("", original.clone())];
    for (label, form) in [(" (plain)", Form::Plain), (" (guarded)", Form::Guarded)] {
        let text = write_batt(&original, form);
        let again = BattFile::parse(&text, &name, Some(original.dialect()));
        forms.push((label, batt_of(&again, path)?));
    }
    let results = Arc::new(path.with_extension("jsonl"));
    let samples: Vec<(usize, Arc<Json>)> = lines(&results)?
        .into_iter()
        .map(|(line, case)| (line, Arc::new(case)))
        .collect();
    let mut cases = Vec::new();
    for (label, batt) in &forms {
        // All forms get the original's mode. Without guards, a failing call would end the whole
        // batt in Python, and no vector records that.
        let compiled = Arc::new(CompiledBatt::new(batt).on_error(original.on_error));
        let headings = Arc::new(Headings::of(batt));
        for (line, case) in &samples {
            let input = |key: &str| {
                let missing = || bad(&results, *line, format!("no '{key}'"));
                let value = OwnedValue::from_json(case.get(key).ok_or_else(missing)?);
                value.map_err(|e| bad(&results, *line, e))
            };
            cases.push(Case {
                path: Arc::clone(&results),
                line: *line,
                group: Group::Batts,
                order_dependent: is_order_dependent(case),
                work: Work::Batt {
                    batt: Arc::clone(&compiled),
                    inputs: vec![input("S")?, input("I")?, input("C")?],
                },
                expected: Expected::Lists {
                    label,
                    case: Arc::clone(case),
                    headings: Arc::clone(&headings),
                },
            });
        }
    }
    Ok(cases)
}

impl Headings {
    fn of(batt: &Batt) -> Headings {
        let outputs = batt.outputs.iter();
        let scores = batt.scores.iter();
        Headings {
            outputs: outputs
                .map(|entry| json!([entry.number, entry.mutated, entry.donor]))
                .collect(),
            scores: scores
                .map(|entry| {
                    let donor = entry.donor.as_deref().unwrap_or("None");
                    json!([entry.number, donor, entry.differ])
                })
                .collect(),
        }
    }
}

/// Returns the one batt of a file.
fn batt_of(file: &BattFile, path: &Path) -> Result<Batt, VectorsError> {
    if let Some(found) = file.diagnostics.iter().find(|d| d.is_error()) {
        return Err(bad(path, found.span.line as usize, found.headline()));
    }
    let batt = file.batts.first().cloned();
    batt.ok_or_else(|| bad(path, 0, "no batt in this file"))
}
