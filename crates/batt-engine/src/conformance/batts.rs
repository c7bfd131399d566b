//! Batts on their samples: both lists have to be the same, entry by entry.

use std::path::Path;

use batt_dsl::{Limits, Outcome, OwnedValue, Run, Value};
use batt_lang::Batt;
use batt_lang::batt::{BattFile, Form, write_batt};
use serde_json::{Value as Json, json};

use super::{Report, VectorsError, bad, cases, compare, read};
use crate::batt::{BattWorker, CompiledBatt, StepCount, Wanted};
use crate::compile::RunError;

/// Runs a batt as its file has it, and as it is when it has been written and read again: with guards and
/// without.
pub(super) fn run_file(path: &Path, report: &mut Report) -> Result<(), VectorsError> {
    let name = path.to_string_lossy();
    let original = batt_of(&BattFile::parse(&read(path)?, &name, None), path)?;
    let mut forms = vec![("", original.clone())];
    for (label, form) in [(" (plain)", Form::Plain), (" (guarded)", Form::Guarded)] {
        let text = write_batt(&original, form);
        let again = BattFile::parse(&text, &name, Some(original.dialect()));
        forms.push((label, batt_of(&again, path)?));
    }
    let results = path.with_extension("jsonl");
    let lines = cases(&results)?;
    let mut worker = BattWorker::default();
    for (label, batt) in &forms {
        // Without a guard a failing call would end the whole batt in Python, which the vectors do not show.
        let compiled = CompiledBatt::new(batt).on_error(original.on_error);
        for (line, case) in &lines {
            let place = Place {
                path: &results,
                line: *line,
                case,
                label,
            };
            let lists = run_case(&mut worker, &compiled, &place)?;
            let output = |k: usize| {
                let entry = &batt.outputs[k];
                json!([entry.number, entry.mutated, entry.donor])
            };
            let score = |k: usize| {
                let entry = &batt.scores[k];
                let donor = entry.donor.as_deref().unwrap_or("None");
                json!([entry.number, donor, entry.differ])
            };
            compare_list(report, &place, "o", lists.outputs, output)?;
            compare_list(report, &place, "s", lists.scores, score)?;
        }
    }
    Ok(())
}

/// A case, and where it is from.
struct Place<'a> {
    path: &'a Path,
    line: usize,
    case: &'a Json,
    label: &'a str,
}

impl<'a> Place<'a> {
    fn bad(&self, problem: impl ToString) -> VectorsError {
        bad(self.path, self.line, problem)
    }

    fn get(&self, key: &str) -> Result<&'a Json, VectorsError> {
        let value = self.case.get(key);
        value.ok_or_else(|| self.bad(format!("no '{key}'")))
    }

    fn input(&self, key: &str) -> Result<OwnedValue, VectorsError> {
        OwnedValue::from_json(self.get(key)?).map_err(|e| self.bad(e))
    }
}

/// What a batt returns.
struct Lists {
    outputs: Vec<Outcome<OwnedValue>>,
    scores: Vec<Outcome<OwnedValue>>,
}

fn run_case(
    worker: &mut BattWorker,
    batt: &CompiledBatt,
    place: &Place<'_>,
) -> Result<Lists, VectorsError> {
    let inputs = [place.input("S")?, place.input("I")?, place.input("C")?];
    let mut counts = vec![StepCount::default(); batt.len()];
    Ok(batt.run_with(
        worker,
        Wanted::All,
        |run| {
            let [samples, input, comparison] = &inputs;
            Ok([
                run.from_owned(samples)?,
                run.from_owned(input)?,
                run.from_owned(comparison)?,
            ])
        },
        &Limits::default(),
        &mut counts,
        |run, done| Lists {
            outputs: done.outputs().map(|entry| owned(run, entry)).collect(),
            scores: done.scores().map(|entry| owned(run, entry)).collect(),
        },
    ))
}

fn owned<'r>(run: &mut Run<'r>, entry: Result<Value<'r>, RunError>) -> Outcome<OwnedValue> {
    run.to_owned(entry.map_err(|error| error.fault)?)
}

/// Compares a list; `heading` is what stands before the value of an entry.
fn compare_list(
    report: &mut Report,
    place: &Place<'_>,
    key: &str,
    values: Vec<Outcome<OwnedValue>>,
    heading: impl Fn(usize) -> Json,
) -> Result<(), VectorsError> {
    let label = place.label;
    let no_list = || place.bad(format!("'{key}' is no list of entries"));
    let expected = place.get(key)?.as_array().ok_or_else(no_list)?;
    if expected.len() != values.len() {
        let counts = [expected.len(), values.len()].map(|n| format!("{n} entries"));
        let [expected, got] = counts;
        report.differ(
            place.path,
            place.line,
            format!("{key}{label}"),
            expected,
            got,
        );
        return Ok(());
    }
    for (k, (expected, got)) in expected.iter().zip(values).enumerate() {
        let what = format!("{key}[{k}]{label}");
        let Some([head @ .., value]) = expected.as_array().map(Vec::as_slice) else {
            return Err(no_list());
        };
        let heading = heading(k);
        if heading.as_array().map(Vec::as_slice) == Some(head) {
            compare(report, place.path, place.line, what, value, got)?;
        } else {
            let expected = Json::from(head).to_string();
            report.differ(place.path, place.line, what, expected, heading.to_string());
        }
    }
    Ok(())
}

/// The one batt of a file.
fn batt_of(file: &BattFile, path: &Path) -> Result<Batt, VectorsError> {
    if let Some(found) = file.diagnostics.iter().find(|d| d.is_error()) {
        return Err(bad(path, found.span.line as usize, found.headline()));
    }
    let batt = file.batts.first().cloned();
    batt.ok_or_else(|| bad(path, 0, "no batt in this file"))
}
