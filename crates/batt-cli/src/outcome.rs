//! What became of a run, in words and in JSON.

use batt_arc::Grid;
use batt_dsl::OwnedValue;
use batt_engine::{RunError, Verdict};
use batt_lang::{Operand, Program, StepId, StepKind};
use serde::{Serialize, Serializer};

/// Why a run is not right; `None` if it is, or if nobody knows.
pub fn reason(
    verdict: &Verdict,
    program: &Program,
    file: &str,
    expected: Option<&Grid>,
    value: Option<&OwnedValue>,
) -> Option<String> {
    let cells = expected.map_or(0, |grid| grid.cells().len());
    let (height, width) = expected.map_or((0, 0), |grid| (grid.height(), grid.width()));
    Some(match verdict {
        Verdict::Right | Verdict::Unknown => return None,
        Verdict::WrongCells(wrong) => format!("{wrong} of {cells} cells wrong"),
        Verdict::WrongShape(h, w) => format!("{h}x{w} instead of {height}x{width}"),
        Verdict::NotAGrid => match value {
            Some(value) => format!("{} instead of a grid", describe(value)),
            None => "not a grid".to_owned(),
        },
        Verdict::Failed(error) => failure(error, program, file),
    })
}

/// A failed run in one line: what, where and why.
pub fn failure(error: &RunError, program: &Program, file: &str) -> String {
    let (name, why) = (error.fault.name(), error.fault.explain());
    match error.step {
        Some(id) => {
            let (call, line) = (callee(program, id), program.step(id).span.line);
            format!("{name} in {call}, {file}:{line}: {why}")
        }
        None => format!("{name}: {why}"),
    }
}

/// What a step calls: a primitive, or the variable that holds the function.
pub fn callee(program: &Program, id: StepId) -> &str {
    match &program.step(id).kind {
        StepKind::Call { callee, .. } => match callee {
            Operand::Op(op) => op.op().name,
            Operand::Step(earlier) => &program.step(*earlier).name,
            Operand::Param(param) => &program.params()[param.index()],
            Operand::Const(constant) => constant.name(),
            Operand::Literal(_) => "a literal",
        },
        StepKind::Tuple(_) => "a tuple",
    }
}

/// The kind of a value and its size, in a few words.
pub fn describe(value: &OwnedValue) -> String {
    match value {
        OwnedValue::None => "None".to_owned(),
        OwnedValue::Bool(b) => format!("the bool {}", if *b { "True" } else { "False" }),
        OwnedValue::Int(n) => format!("the integer {n}"),
        OwnedValue::Float(x) => format!("the float {x}"),
        OwnedValue::Function => "a function".to_owned(),
        OwnedValue::Set(items) => format!("a frozenset of {}", items.len()),
        OwnedValue::Tuple(items) => match value.as_grid() {
            Some(rows) => format!("a {}x{} grid", rows.len(), rows[0].len()),
            None => format!("a tuple of {}", items.len()),
        },
    }
}

/// A failed run, for JSON.
#[derive(Serialize)]
pub struct ErrorRecord<'a> {
    kind: &'static str,
    op: Option<&'a str>,
    line: Option<u32>,
    message: &'static str,
}

impl<'a> ErrorRecord<'a> {
    /// What went wrong in a run of this program.
    pub fn new(error: &RunError, program: &'a Program) -> ErrorRecord<'a> {
        ErrorRecord {
            kind: error.fault.name(),
            op: error.step.map(|id| callee(program, id)),
            line: error.step.map(|id| program.step(id).span.line),
            message: error.fault.explain(),
        }
    }
}

/// One run, for JSON.
#[derive(Serialize)]
pub struct RunRecord<'a> {
    /// The function.
    pub solver: &'a str,
    /// The task's id.
    pub task: &'a str,
    /// Which pair, such as `train[0]`.
    pub pair: String,
    /// Right or wrong; `null` where no output is known.
    pub ok: Option<bool>,
    /// The value, in the encoding of the conformance vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Encoded<'a>>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorRecord<'a>>,
    /// Microseconds.
    pub us: f64,
}

impl RunRecord<'_> {
    /// Was it right, if that can be known? A failed run is wrong whatever the answer is.
    pub fn ok(verdict: &Verdict) -> Option<bool> {
        match verdict {
            Verdict::Unknown => None,
            verdict => Some(verdict.is_right()),
        }
    }
}

/// A value in the encoding of the conformance vectors, written as it is walked: the tree that
/// [`OwnedValue::to_json`] builds would take a gigabyte for the largest values.
pub struct Encoded<'a>(pub &'a OwnedValue);

impl Serialize for Encoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (tag, items) = match self.0 {
            OwnedValue::Set(items) => ("s", items),
            OwnedValue::Tuple(items) if self.0.as_grid().is_none() => ("t", items),
            // Grids and scalars are small.
            other => return other.to_json().serialize(serializer),
        };
        let items: Vec<Encoded<'_>> = items.iter().map(Encoded).collect();
        serializer.collect_map([(tag, items)])
    }
}

/// Microseconds, to the nanosecond.
pub fn micros(time: std::time::Duration) -> f64 {
    time.as_nanos() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_that_of_the_vectors() {
        let value = serde_json::json!({"t": [
            {"s": [{"t": [1, {"t": [2, 3]}]}, null]}, {"g": ["01", "23"]}, true, -4, {"t": []}
        ]});
        let owned = OwnedValue::from_json(&value).unwrap();
        assert_eq!(serde_json::to_value(Encoded(&owned)).unwrap(), value);
        assert_eq!(owned.to_json(), value);
    }
}
