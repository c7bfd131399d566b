//! Results of runs, in words and in JSON.

use std::io::{self, Write};
use std::time::Duration;

use batt_arc::{Grid, PairRef};
use batt_dsl::OwnedValue;
use batt_lang::{Operand, Program, StepId, StepKind};
use serde::{Serialize, Serializer};

use crate::evaluate::{JobResult, Verdict};
use crate::interpret::RunError;

impl Verdict {
    /// Returns whether the run failed or gave a value other than the expected one.
    pub fn is_wrong(&self) -> bool {
        !matches!(self, Verdict::Right | Verdict::Unknown)
    }

    /// Returns whether the run is right; `None` if the output is not known. A failed run is wrong
    /// even then.
    pub fn known(&self) -> Option<bool> {
        (*self != Verdict::Unknown).then(|| self.is_right())
    }

    /// Returns the kind of the verdict for counting: `right`, `with wrong cells`, or the name of
    /// the fault.
    pub fn kind(&self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::WrongCells(_) => "with wrong cells",
            Verdict::WrongShape(..) => "of a wrong shape",
            Verdict::NotAGrid => "not a grid",
            Verdict::Unknown => "without a known output",
            Verdict::Failed(error) => error.fault.name(),
        }
    }

    /// Returns why the run is wrong; `None` if it is right or the output is not known.
    pub fn reason(
        &self,
        program: &Program,
        file: &str,
        expected: Option<&Grid>,
        value: Option<&OwnedValue>,
    ) -> Option<String> {
        let cells = expected.map_or(0, |grid| grid.cells().len());
        let (height, width) = expected.map_or((0, 0), |grid| (grid.height(), grid.width()));
        Some(match self {
            Verdict::Right | Verdict::Unknown => return None,
            Verdict::WrongCells(wrong) => format!("{wrong} of {cells} cells wrong"),
            Verdict::WrongShape(h, w) => format!("{h}x{w} instead of {height}x{width}"),
            Verdict::NotAGrid => match value {
                Some(value) => format!("{} instead of a grid", describe(value)),
                None => "not a grid".to_owned(),
            },
            Verdict::Failed(error) => error.explain(program, file),
        })
    }
}

impl RunError {
    /// Returns in one line what failed, where in the program and why.
    pub fn explain(&self, program: &Program, file: &str) -> String {
        let (name, why) = (self.fault.name(), self.fault.explain());
        match self.step {
            Some(id) => {
                let (call, line) = (callee(program, id), program.step(id).span.line);
                format!("{name} in {call}, {file}:{line}: {why}")
            }
            None => format!("{name}: {why}"),
        }
    }
}

/// Returns the name of what a step calls: a primitive, or the variable that holds a function.
fn callee(program: &Program, id: StepId) -> &str {
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

impl JobResult {
    /// Returns the value as an [`output_grid`], if the value was asked for and is one.
    pub fn output(&self) -> Option<Grid> {
        self.value.as_ref().and_then(output_grid)
    }
}

/// Returns a value as a grid, if it is one of a size that ARC allows. As in a comparison with the
/// expected output, `True` is 1.
pub fn output_grid(value: &OwnedValue) -> Option<Grid> {
    let OwnedValue::Tuple(rows) = value else {
        return None;
    };
    let cell = |value: &OwnedValue| match value {
        OwnedValue::Int(n) => u8::try_from(*n).ok(),
        OwnedValue::Bool(b) => Some(u8::from(*b)),
        _ => None,
    };
    let row = |value: &OwnedValue| match value {
        OwnedValue::Tuple(cells) => cells.iter().map(cell).collect::<Option<Vec<u8>>>(),
        _ => None,
    };
    let rows: Option<Vec<Vec<u8>>> = rows.iter().map(row).collect();
    Grid::from_rows(&rows?).ok()
}

/// Describes a value by its kind and size, in a few words.
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
    fn only_grids_are_outputs() {
        let output = |json| {
            let value = OwnedValue::from_json(&json).unwrap();
            output_grid(&value).map(|grid| grid.to_string())
        };
        assert_eq!(
            output(serde_json::json!({"g": ["01", "23"]})).unwrap(),
            "01\n23"
        );
        let bools = serde_json::json!({"t": [{"t": [true, 2]}, {"t": [false, 3]}]});
        assert_eq!(output(bools).unwrap(), "12\n03");
        for other in [
            serde_json::json!(3),
            serde_json::json!({"t": []}),
            serde_json::json!({"t": [1, 2]}),
            serde_json::json!({"t": [{"t": []}]}),
            serde_json::json!({"t": [{"t": [1, 10]}]}),
            serde_json::json!({"t": [{"t": [-1]}]}),
            serde_json::json!({"t": [{"t": [1, 2]}, {"t": [1]}]}),
            serde_json::json!({"s": [{"t": [1, 2]}]}),
            serde_json::json!({"t": vec![serde_json::json!({"t": [1]}); 31]}),
        ] {
            assert_eq!(output(other.clone()), None, "{other}");
        }
    }
}
