//! One run as a line of JSON, written on the thread that ran it; and read again.

use std::borrow::Cow;
use std::fmt::Write as _;

use batt_dsl::Run;
use batt_engine::{BattEntry, MegaResult, RunError};
use batt_lang::Batt;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

/// The part of every line that is the same for all runs of a batt: what stands before each value.
pub struct Entries {
    outputs: Vec<String>,
    scores: Vec<String>,
    numbers: Vec<u32>,
}

impl Entries {
    /// Prepares the entries of a batt.
    pub fn new(batt: &Batt) -> Entries {
        let opening = |fields: Json| {
            let text = fields.to_string();
            // The value comes last, so the bracket is left open.
            text.trim_end_matches(']').to_owned() + ","
        };
        let outputs = batt.outputs.iter();
        let scores = batt.scores.iter();
        Entries {
            outputs: outputs
                .map(|o| opening(json!([o.number, o.mutated, o.donor])))
                .collect(),
            scores: scores
                .map(|s| {
                    let donor = s.donor.as_deref().unwrap_or("None");
                    opening(json!([s.number, donor, s.differ]))
                })
                .collect(),
            numbers: batt.numbers.clone(),
        }
    }

    /// An entry of a run, as it stands in its list.
    pub fn render<'r>(&self, run: &mut Run<'r>, entry: BattEntry<'r>) -> String {
        let opening = match entry.number.checked_sub(self.outputs.len()) {
            None => &self.outputs[entry.number],
            // Comparisons are the scores once more.
            Some(score) => &self.scores[score % self.scores.len()],
        };
        let mut text = opening.clone();
        let written = entry.value.and_then(|value| {
            let written = run.write_json(value, &mut text);
            written.map_err(|fault| RunError { fault, step: None })
        });
        if let Err(error) = written {
            text.truncate(opening.len());
            self.error(&error, &mut text);
        }
        text.push(']');
        text
    }

    fn error(&self, error: &RunError, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = match error.step {
            Some(step) => {
                let number = self.numbers[step.index()];
                write!(
                    text,
                    "{{\"err\":\"{}\",\"step\":{number}}}",
                    error.fault.name()
                )
            }
            None => write!(text, "{{\"err\":\"{}\"}}", error.fault.name()),
        };
    }
}

/// The whole line. Times are left out: the same work gives the same file.
pub fn line(batt: &str, task: &str, pair: &str, result: &MegaResult<Option<String>>) -> String {
    let right: Vec<usize> = result.right().collect();
    let list = |entries: &[Option<String>]| {
        let entries: Vec<&str> = entries.iter().flatten().map(String::as_str).collect();
        entries.join(",")
    };
    // There is a verdict on each candidate.
    let (o, s) = result.solved.split_at(result.verdicts.len());
    let mut lists = format!("\"o\":[{}],\"s\":[{}]", list(o), list(s));
    if let Some(compared) = &result.compared {
        // Writing to a string cannot fail.
        let _ = write!(lists, ",\"compared\":[{}]", list(compared));
    }
    let head = json!({ "batt": batt, "task": task, "pair": pair }).to_string();
    let head = head.trim_end_matches('}');
    format!("{head},{lists},\"right\":{}}}\n", json!(right))
}

/// A line that was read.
#[derive(Deserialize)]
pub struct Record<'a> {
    /// The batt, as it was called.
    #[serde(borrow)]
    pub batt: Cow<'a, str>,
    /// The id of the task.
    #[serde(borrow)]
    pub task: Cow<'a, str>,
    /// The name of the pair.
    #[serde(borrow)]
    pub pair: Cow<'a, str>,
    /// The candidates: number, whether mutated, donor, value.
    #[serde(borrow)]
    pub o: Vec<(u32, bool, String, &'a RawValue)>,
    /// The scores: number, donor, differ, value.
    #[serde(borrow)]
    pub s: Vec<Score<'a>>,
    /// The scores once more, against the known output.
    #[serde(borrow, default)]
    pub compared: Vec<Score<'a>>,
    /// The positions in `o` that are right.
    pub right: Vec<usize>,
}

/// What a differ said: number, donor, differ, value.
pub type Score<'a> = (u32, String, String, &'a RawValue);

/// The name of the error, if a value is one.
pub fn failure(value: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Failure {
        err: String,
    }
    // Values that are objects have other keys, and most are long.
    let text = value.get();
    text.starts_with("{\"err\"").then_some(())?;
    let failure: Failure = serde_json::from_str(text).ok()?;
    Some(failure.err)
}
