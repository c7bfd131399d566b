//! Results of runs, in words.

use batt_arc::Grid;
use batt_dsl::OwnedValue;
use batt_lang::{Operand, Program, StepId, StepKind};

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
        match self {
            Verdict::Failed(error) => Some(error.explain(program, file)),
            _ => self.shortfall(expected, value),
        }
    }

    /// Returns why the value of a run is wrong; `None` if it is right, the output is not known, or
    /// the run failed.
    pub fn shortfall(&self, expected: Option<&Grid>, value: Option<&OwnedValue>) -> Option<String> {
        let cells = expected.map_or(0, |grid| grid.cells().len());
        let (height, width) = expected.map_or((0, 0), |grid| (grid.height(), grid.width()));
        Some(match self {
            Verdict::Right | Verdict::Unknown | Verdict::Failed(_) => return None,
            Verdict::WrongCells(wrong) => format!("{wrong} of {cells} cells wrong"),
            Verdict::WrongShape(h, w) => format!("{h}x{w} instead of {height}x{width}"),
            Verdict::NotAGrid => match value {
                Some(value) => format!("{} instead of a grid", describe(value)),
                None => "not a grid".to_owned(),
            },
        })
    }

    /// Compares a value outside a run with the expected grid, as [`judge`](crate::judge) does
    /// inside.
    pub fn of_value(value: &OwnedValue, expected: &Grid) -> Verdict {
        let Some((rows, has_bools)) = rectangle(value) else {
            return Verdict::NotAGrid;
        };
        let (height, width) = (rows.len(), rows[0].len());
        let same_shape = (height, width) == (expected.height(), expected.width());
        let pairs = rows.iter().flatten().zip(expected.cells());
        match pairs.filter(|(a, b)| a != b).count() {
            0 if same_shape => Verdict::Right,
            // Only a right grid may hold bools.
            _ if has_bools => Verdict::NotAGrid,
            _ if !same_shape => Verdict::WrongShape(height, width),
            wrong => Verdict::WrongCells(wrong),
        }
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
pub(crate) fn callee(program: &Program, id: StepId) -> &str {
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
    Grid::from_rows(&rectangle(value)?.0).ok()
}

/// Returns the rows of a rectangle of small numbers of any size.
fn rectangle(value: &OwnedValue) -> Option<(Vec<Vec<u8>>, bool)> {
    let OwnedValue::Tuple(rows) = value else {
        return None;
    };
    let mut has_bools = false;
    let mut cell = |value: &OwnedValue| match value {
        OwnedValue::Int(n) => u8::try_from(*n).ok(),
        OwnedValue::Bool(b) => {
            has_bools = true;
            Some(u8::from(*b))
        }
        _ => None,
    };
    let row = |value: &OwnedValue| match value {
        OwnedValue::Tuple(cells) => cells.iter().map(&mut cell).collect::<Option<Vec<u8>>>(),
        _ => None,
    };
    let rows: Vec<Vec<u8>> = rows.iter().map(row).collect::<Option<_>>()?;
    let width = rows.first()?.len();
    let is_rectangle = width > 0 && rows.iter().all(|row| row.len() == width);
    is_rectangle.then_some((rows, has_bools))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_judged_as_in_a_run() {
        use serde_json::json;
        let expected = Grid::from_rows(&[[1, 2], [3, 4]]).unwrap();
        let big = json!({"t": vec![json!({"t": [1, 99]}); 40]});
        for (json, verdict) in [
            (json!({"g": ["12", "34"]}), Verdict::Right),
            (
                json!({"t": [{"t": [true, 2]}, {"t": [3, 4]}]}),
                Verdict::Right,
            ),
            (json!({"g": ["12", "55"]}), Verdict::WrongCells(2)),
            (json!({"g": ["123"]}), Verdict::WrongShape(1, 3)),
            (big, Verdict::WrongShape(40, 2)),
            (json!({"t": [{"t": [1, 2]}, {"t": [3]}]}), Verdict::NotAGrid),
            (json!(null), Verdict::NotAGrid),
        ] {
            let value = OwnedValue::from_json(&json).unwrap();
            assert_eq!(Verdict::of_value(&value, &expected), verdict, "{json}");
            let judged = batt_dsl::Workspace::new().run(
                batt_dsl::Dialect::ArcDsl,
                &batt_dsl::Limits::default(),
                |run| {
                    let value = run.from_owned(&value).unwrap();
                    crate::judge(run, value, Some(&expected))
                },
            );
            assert_eq!(judged, verdict, "{json}");
        }
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
