//! Rows of results as bytes, for pickles and for other machines.

use std::time::Duration;

use batt::{Fault, OwnedValue, PairRef, RunError, StepId, Verdict};
use serde_json::{Value as Json, json};

/// One run of a solver on a pair.
#[derive(Clone)]
pub struct Row {
    pub solver: u32,
    pub task: u32,
    pub pair: PairRef,
    pub verdict: Verdict,
    pub value: Option<OwnedValue>,
    pub time: Duration,
}

/// Returns rows as bytes.
pub fn encode(rows: &[Row]) -> Vec<u8> {
    let row = |row: &Row| {
        let value = row.value.as_ref().map(OwnedValue::to_json);
        let verdict = match &row.verdict {
            Verdict::Right => json!(["right"]),
            Verdict::WrongCells(cells) => json!(["cells", cells]),
            Verdict::WrongShape(height, width) => json!(["shape", height, width]),
            Verdict::NotAGrid => json!(["other"]),
            Verdict::Unknown => json!(["unknown"]),
            Verdict::Failed(RunError { fault, step }) => {
                json!(["failed", fault.name(), step.map(|step| step.0)])
            }
        };
        let nanoseconds = row.time.as_nanos() as u64;
        json!([
            row.solver,
            row.task,
            row.pair.to_string(),
            verdict,
            nanoseconds,
            value
        ])
    };
    let rows: Vec<Json> = rows.iter().map(row).collect();
    Json::Array(rows).to_string().into_bytes()
}

/// Reads what [`encode`] wrote; `None` for other bytes, or for rows of other solvers and tasks.
pub fn decode(bytes: &[u8], solvers: usize, tasks: usize) -> Option<Vec<Row>> {
    type Stored = (u32, u32, String, Vec<Json>, u64, Option<Json>);
    let stored: Vec<Stored> = serde_json::from_slice(bytes).ok()?;
    let row = |(solver, task, pair, verdict, nanoseconds, value): Stored| {
        Some(Row {
            solver,
            task,
            pair: pair.parse().ok()?,
            verdict: read_verdict(&verdict)?,
            value: match value {
                Some(value) => Some(read_value(&value)?),
                None => None,
            },
            time: Duration::from_nanos(nanoseconds),
        })
    };
    let fits = |row: &Row| (row.solver as usize) < solvers && (row.task as usize) < tasks;
    stored
        .into_iter()
        .map(|stored| row(stored).filter(fits))
        .collect()
}

fn read_verdict(parts: &[Json]) -> Option<Verdict> {
    let number = |at: usize| Some(parts.get(at)?.as_u64()? as usize);
    Some(match parts.first()?.as_str()? {
        "right" => Verdict::Right,
        "cells" => Verdict::WrongCells(number(1)?),
        "shape" => Verdict::WrongShape(number(1)?, number(2)?),
        "other" => Verdict::NotAGrid,
        "unknown" => Verdict::Unknown,
        "failed" => {
            let name = parts.get(1)?.as_str()?;
            Verdict::Failed(RunError {
                fault: Fault::ALL.into_iter().find(|fault| fault.name() == name)?,
                step: parts.get(2)?.as_u64().map(|step| StepId(step as u32)),
            })
        }
        _ => return None,
    })
}

/// Reads a value. Unlike [`OwnedValue::from_json`] it accepts functions, which a solver may return.
fn read_value(json: &Json) -> Option<OwnedValue> {
    let list = |tag: &str| {
        let items = json.get(tag)?.as_array()?;
        items.iter().map(read_value).collect::<Option<Vec<_>>>()
    };
    if json.get("f").is_some() {
        return Some(OwnedValue::Function);
    }
    if json.get("t").is_some() {
        return list("t").map(OwnedValue::Tuple);
    }
    if json.get("s").is_some() {
        return list("s").map(OwnedValue::Set);
    }
    OwnedValue::from_json(json).ok()
}
