//! Results as text, for pickles.

use std::time::Duration;

use batt::{Fault, OwnedValue, RunError, StepId, Verdict};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::errors;
use crate::kept::Kept;
use crate::run::Row;

/// Creates the exception for a pickle that cannot be read.
pub fn damaged(py: Python<'_>) -> PyErr {
    errors::request(py, "the pickled results are damaged", "make them again")
}

/// Writes rows.
pub fn to_text(rows: &[Row]) -> String {
    let rows = rows.iter().map(|row| {
        json!([
            row.solver,
            row.task,
            row.pair.to_string(),
            of_verdict(&row.verdict),
            // In a list, because the value `None` is null.
            row.value().map(|value| [value.to_json()]),
            row.time.as_nanos() as u64,
        ])
    });
    Json::Array(rows.collect()).to_string()
}

/// Reads what [`to_text`] wrote.
pub fn from_text(text: &str) -> Option<Vec<Row>> {
    type Stored = (u32, u32, String, Json, Option<[Json; 1]>, u64);
    let rows: Vec<Stored> = serde_json::from_str(text).ok()?;
    let rows = rows
        .into_iter()
        .map(|(solver, task, pair, verdict, value, nanos)| {
            Some(Row {
                solver,
                task,
                pair: pair.parse().ok()?,
                verdict: to_verdict(&verdict)?,
                value: match value {
                    Some([value]) => Some(Kept::new(to_value(&value)?)),
                    None => None,
                },
                time: Duration::from_nanos(nanos),
            })
        });
    rows.collect()
}

/// Reads a value. Unlike [`OwnedValue::from_json`] it accepts functions, which a solver may return.
fn to_value(json: &Json) -> Option<OwnedValue> {
    let list = |tag: &str| {
        let items = json.get(tag)?.as_array()?;
        items.iter().map(to_value).collect::<Option<Vec<_>>>()
    };
    let tag = json.as_object().and_then(|object| object.keys().next());
    match tag.map(String::as_str) {
        Some("f") => Some(OwnedValue::Function),
        Some("t") => list("t").map(OwnedValue::Tuple),
        Some("s") => list("s").map(OwnedValue::Set),
        _ => OwnedValue::from_json(json).ok(),
    }
}

fn of_verdict(verdict: &Verdict) -> Json {
    match verdict {
        Verdict::Right => json!(["right"]),
        Verdict::WrongCells(wrong) => json!(["cells", wrong]),
        Verdict::WrongShape(height, width) => json!(["shape", height, width]),
        Verdict::NotAGrid => json!(["no-grid"]),
        Verdict::Unknown => json!(["unknown"]),
        Verdict::Failed(RunError { fault, step }) => {
            json!(["failed", fault.name(), step.map(|step| step.0)])
        }
    }
}

fn to_verdict(json: &Json) -> Option<Verdict> {
    let number = |at: usize| usize::try_from(json[at].as_u64()?).ok();
    Some(match json[0].as_str()? {
        "right" => Verdict::Right,
        "cells" => Verdict::WrongCells(number(1)?),
        "shape" => Verdict::WrongShape(number(1)?, number(2)?),
        "no-grid" => Verdict::NotAGrid,
        "unknown" => Verdict::Unknown,
        "failed" => {
            let name = json[1].as_str()?;
            let fault = Fault::ALL.into_iter().find(|fault| fault.name() == name)?;
            let step = json[2].as_u64().map(|step| StepId(step as u32));
            Verdict::Failed(RunError { fault, step })
        }
        _ => return None,
    })
}
