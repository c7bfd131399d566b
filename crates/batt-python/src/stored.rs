//! Results as text, for pickles.

use std::time::Duration;

use batt::{Fault, OwnedValue, RunError, StepId, Verdict};
use pyo3::prelude::*;
use serde_json::{Value as Json, json};

use crate::errors;
use crate::run::Row;

/// Creates the exception for a pickle that cannot be read.
pub fn damaged(py: Python<'_>) -> PyErr {
    errors::request(py, "the pickled results are damaged", "make them again")
}

/// Writes rows. A tuple or set with a function in it cannot be read again and is lost.
pub fn to_text(rows: &[Row]) -> String {
    let rows = rows.iter().map(|row| {
        json!([
            row.solver,
            row.task,
            row.pair.to_string(),
            of_verdict(&row.verdict),
            row.value.as_ref().map(of_value),
            row.time.as_nanos() as u64,
        ])
    });
    Json::Array(rows.collect()).to_string()
}

/// Reads what [`to_text`] wrote.
pub fn from_text(text: &str) -> Option<Vec<Row>> {
    type Stored = (u32, u32, String, Json, Option<Json>, u64);
    let rows: Vec<Stored> = serde_json::from_str(text).ok()?;
    let rows = rows
        .into_iter()
        .map(|(solver, task, pair, verdict, value, nanos)| {
            Some(Row {
                solver,
                task,
                pair: pair.parse().ok()?,
                verdict: to_verdict(&verdict)?,
                value: value.and_then(|value| to_value(&value)),
                time: Duration::from_nanos(nanos),
            })
        });
    rows.collect()
}

/// What stands for a function, which no value is written as.
const FUNCTION: &str = "function";

fn of_value(value: &OwnedValue) -> Json {
    match value {
        OwnedValue::Function => json!(FUNCTION),
        value => value.to_json(),
    }
}

fn to_value(json: &Json) -> Option<OwnedValue> {
    match json == FUNCTION {
        true => Some(OwnedValue::Function),
        false => OwnedValue::from_json(json).ok(),
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
