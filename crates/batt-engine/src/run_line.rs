//! Runs as lines of JSON, written and read.

use std::io::{self, Write};
use std::time::Duration;

use batt_arc::PairRef;
use batt_arc::text::name;
use batt_dsl::OwnedValue;
use batt_lang::Program;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::evaluate::Verdict;
use crate::interpret::RunError;
use crate::outcome::callee;

/// Why a run failed, in a form for programs and for JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureRecord {
    /// The name of the fault: Python's exception, or the limit that was reached.
    pub kind: &'static str,
    /// What the step that failed calls.
    pub op: Option<String>,
    /// The line of that step.
    pub line: Option<u32>,
    /// What the fault means.
    pub message: &'static str,
}

impl FailureRecord {
    /// Describes a failed run of a program.
    pub fn new(error: &RunError, program: &Program) -> FailureRecord {
        FailureRecord {
            kind: error.fault.name(),
            op: error.step.map(|id| callee(program, id).to_owned()),
            line: error.step.map(|id| program.step(id).span.line),
            message: error.fault.explain(),
        }
    }
}

/// One run as a line of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct RunLine<'a> {
    solver: &'a str,
    task: &'a str,
    pair: String,
    /// Whether the run is right; `null` if the output is not known.
    ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<EncodedValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<FailureRecord>,
    /// Microseconds.
    us: f64,
}

impl<'a> RunLine<'a> {
    /// Describes a run of a program on a pair of a task.
    pub fn new(
        program: &'a Program,
        task: &'a str,
        pair: PairRef,
        verdict: &Verdict,
        value: Option<&'a OwnedValue>,
        time: Duration,
    ) -> RunLine<'a> {
        RunLine {
            solver: program.name(),
            task,
            pair: pair.to_string(),
            ok: verdict.known(),
            value: value.map(EncodedValue),
            error: match verdict {
                Verdict::Failed(error) => Some(FailureRecord::new(error, program)),
                _ => None,
            },
            us: micros(time),
        }
    }

    /// Writes the line.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

/// A run that was read back from its line of JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The name of the solver.
    pub solver: String,
    /// The id of the task.
    pub task: String,
    /// The name of the pair in its task.
    pub pair: PairRef,
    /// Whether the run is right; `None` if the output is not known.
    pub ok: Option<bool>,
    /// The value. `None` if the run failed, or the value contains a function.
    pub value: Option<OwnedValue>,
    /// Why the run failed, in one line.
    pub error: Option<String>,
}

/// The reason why a text is not the line of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunRecordError {
    /// The line is not JSON.
    #[error("not JSON: {message}")]
    Json {
        /// What is wrong with it.
        message: String,
    },
    /// The line has no solver, task or pair, or one that is none.
    #[error("no {field} of a run")]
    Field {
        /// The field.
        field: &'static str,
    },
}

impl RunRecord {
    /// Reads the line that [`RunLine`] writes.
    pub fn parse(line: &str) -> Result<RunRecord, RunRecordError> {
        let json: Json = serde_json::from_str(line).map_err(|error| RunRecordError::Json {
            message: error.to_string(),
        })?;
        let text = |field: &'static str| {
            let text = json[field].as_str().map(str::to_owned);
            text.ok_or(RunRecordError::Field { field })
        };
        let pair = text("pair")?.parse();
        let value = &json["value"];
        Ok(RunRecord {
            solver: text("solver")?,
            task: text("task")?,
            pair: pair.map_err(|_| RunRecordError::Field { field: "pair" })?,
            ok: json["ok"].as_bool(),
            value: match value["f"].is_string() {
                true => Some(OwnedValue::Function),
                false if json.get("value").is_none() => None,
                false => OwnedValue::from_json(value).ok(),
            },
            error: error_text(&json["error"]),
        })
    }

    /// Returns the name of the run: the solver, the task and the pair.
    pub fn title(&self) -> String {
        let (solver, task) = (name(&self.solver), name(&self.task));
        format!("{solver} on {task} {}", self.pair)
    }

    /// Returns whether the run failed or gave a value other than the expected one.
    pub fn is_wrong(&self) -> bool {
        self.ok == Some(false)
    }
}

/// Returns the error of a line in words: `TypeError in crop, line 3: ...`.
fn error_text(error: &Json) -> Option<String> {
    let mut text = error["kind"].as_str()?.to_owned();
    if let Some(op) = error["op"].as_str() {
        text += &format!(" in {op}");
    }
    if let Some(line) = error["line"].as_u64() {
        text += &format!(", line {line}");
    }
    if let Some(message) = error["message"].as_str() {
        text += &format!(": {message}");
    }
    Some(text)
}

/// A value in the encoding of the conformance vectors. It is written directly, because the tree
/// that [`OwnedValue::to_json`] builds would take a gigabyte for the largest values.
#[derive(Clone, Copy, Debug)]
pub struct EncodedValue<'a>(pub &'a OwnedValue);

impl Serialize for EncodedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tag, items) = match self.0 {
            OwnedValue::Set(items) => ("s", items),
            OwnedValue::Tuple(items) if self.0.as_grid().is_none() => ("t", items),
            // Grids and scalars are small.
            other => return other.to_json().serialize(serializer),
        };
        let items: Vec<EncodedValue<'_>> = items.iter().map(EncodedValue).collect();
        serializer.collect_map([(tag, items)])
    }
}

/// Returns a time in microseconds, to the nanosecond.
pub fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use batt_lang::StepId;

    #[test]
    fn the_encoding_is_that_of_the_vectors() {
        let value = serde_json::json!({"t": [
            {"s": [{"t": [1, {"t": [2, 3]}]}, null]}, {"g": ["01", "23"]}, true, -4, {"t": []}
        ]});
        let owned = OwnedValue::from_json(&value).unwrap();
        assert_eq!(serde_json::to_value(EncodedValue(&owned)).unwrap(), value);
        assert_eq!(owned.to_json(), value);
    }

    #[test]
    fn lines_are_read_back() {
        let text = "def f(I):\n    x1 = crop(I, ONE, TWO)\n    return x1\n";
        let file = batt_lang::SolverFile::parse(text, "f.py");
        let program = &file.programs[0];
        let line = |verdict: &Verdict, value: Option<&OwnedValue>| {
            let pair: PairRef = "train[1]".parse().unwrap();
            let mut out = Vec::new();
            let line = RunLine::new(program, "a\"b", pair, verdict, value, Duration::ZERO);
            line.write(&mut out).unwrap();
            RunRecord::parse(&String::from_utf8(out).unwrap()).unwrap()
        };
        let value = OwnedValue::Set(vec![OwnedValue::Int(3), OwnedValue::None]);
        let record = line(&Verdict::NotAGrid, Some(&value));
        assert_eq!((&*record.solver, &*record.task), ("f", "a\"b"));
        assert_eq!(record.pair.to_string(), "train[1]");
        assert!(record.is_wrong());
        assert_eq!(record.value, Some(value));
        let none = line(&Verdict::Unknown, Some(&OwnedValue::None));
        assert_eq!((none.ok, none.value), (None, Some(OwnedValue::None)));
        let function = line(&Verdict::NotAGrid, Some(&OwnedValue::Function));
        assert_eq!(function.value, Some(OwnedValue::Function));
        let failed = Verdict::Failed(RunError {
            fault: batt_dsl::Fault::Type,
            step: Some(StepId(0)),
        });
        let record = line(&failed, None);
        let error = record.error.unwrap();
        assert!(error.starts_with("TypeError in crop, line 2: "), "{error}");
        assert_eq!((record.ok, record.value), (Some(false), None));
        for (line, message) in [
            ("{", "not JSON"),
            ("[]", "no pair of a run"),
            (
                r#"{"solver": "s", "task": "t", "pair": "x"}"#,
                "no pair of a run",
            ),
            (r#"{"task": "t", "pair": "test[0]"}"#, "no solver of a run"),
        ] {
            let error = RunRecord::parse(line).unwrap_err().to_string();
            assert!(error.starts_with(message), "{line}: {error}");
        }
    }
}
