//! The fields of the lines of runs, to continue an interrupted run and to merge its parts.
//!
//! Values are decoded only if the verdict needs them. [`RunRecord`](crate::RunRecord) is a line with
//! its value.

use std::borrow::Cow;

use batt_arc::Grid;
use batt_dsl::{Fault, OwnedValue};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::evaluate::Verdict;
use crate::interpret::RunError;

/// The fields of a line that [`RunLine`](crate::RunLine) wrote. They borrow from the line.
#[derive(Debug, Deserialize)]
pub struct RunFields<'a> {
    /// The name of the solver.
    #[serde(borrow)]
    pub solver: Cow<'a, str>,
    /// The id of the task.
    #[serde(borrow)]
    pub task: Cow<'a, str>,
    /// The name of the pair.
    #[serde(borrow)]
    pub pair: Cow<'a, str>,
    /// Whether the run is right; `None` if the output is not known.
    pub ok: Option<bool>,
    /// The value, if the run returned one.
    #[serde(borrow, default)]
    pub value: Option<&'a RawValue>,
    /// Why the run failed, if it did.
    #[serde(borrow, default)]
    pub error: Option<RunFault<'a>>,
    /// Microseconds.
    pub us: f64,
}

/// The fault in the line of a run.
#[derive(Debug, Deserialize)]
pub struct RunFault<'a> {
    /// The name of the fault.
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
}

impl RunFields<'_> {
    /// Returns whether the run gave the expected grid.
    pub fn is_right(&self) -> bool {
        self.ok == Some(true)
    }

    /// Returns the verdict that the line was written for, without the step of a fault. Returns
    /// `None` if no run writes such a line.
    pub fn verdict(&self, expected: Option<&Grid>) -> Option<Verdict> {
        if let Some(error) = &self.error {
            let mut faults = Fault::ALL.into_iter();
            let fault = faults.find(|fault| fault.name() == error.kind)?;
            return Some(Verdict::Failed(RunError { fault, step: None }));
        }
        match (self.ok, expected) {
            (Some(true), Some(_)) => Some(Verdict::Right),
            (None, None) => Some(Verdict::Unknown),
            (Some(false), Some(expected)) => {
                let value = serde_json::from_str(self.value?.get()).ok()?;
                let value = OwnedValue::from_json(&value).ok()?;
                Some(Verdict::of_value(&value, expected))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use batt_arc::{PairRef, Task};
    use batt_dsl::Workspace;
    use batt_lang::SolverFile;

    use super::*;
    use crate::compile::Compiled;
    use crate::evaluate::{EvalOptions, Job, run_job};
    use crate::run_line::RunLine;
    use crate::sample::Sample;

    /// Programs with every kind of result, on a pair with and without a known output.
    #[test]
    fn the_verdict_is_that_of_the_run() {
        let bodies = [
            "return hmirror(I)",
            "return vmirror(I)",
            "return tophalf(I)",
            "return palette(I)",
            "return first(difference(I, I))",
            "return astuple(astuple(200, 1), astuple(3, 4))",
            "return astuple(astuple(300, 1), astuple(3, 4))",
            "return astuple(astuple(1, 1), first(I))",
            "return astuple(astuple(1, 1), I)",
            "return astuple(astuple(greater(TWO, ONE), ONE), astuple(ONE, equality(ONE, ONE)))",
            "return difference(I, I)",
            "return height(I)",
        ];
        let grid = |rows: &[[u8; 2]; 2]| Grid::from_rows(rows).unwrap();
        let (input, expected) = (grid(&[[1, 2], [3, 4]]), grid(&[[3, 4], [1, 2]]));
        let task = Task {
            id: "t".into(),
            name: None,
            description: None,
            train: Vec::new(),
            test: Vec::new(),
        };
        let pair: PairRef = "test:0".parse().unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for body in bodies {
            let text = format!("def solve(I):\n    {body}\n");
            let file = SolverFile::parse(&text, "s.py");
            let program = &file.programs[0];
            for expected in [None, Some(&expected)] {
                let sample = Sample {
                    demos: &task.train,
                    input: &input,
                    expected,
                };
                let job = Job {
                    program: &Compiled::new(program),
                    sample,
                };
                let options = EvalOptions::default().with_values();
                let result = run_job(&mut Workspace::new(), &job, &options);
                let (verdict, value) = (&result.verdict, result.value.as_ref());
                let mut line = Vec::new();
                RunLine::new(program, &task.id, pair, verdict, value, result.time)
                    .write(&mut line)
                    .unwrap();
                let record: RunFields<'_> = serde_json::from_slice(&line).unwrap();
                let same = match (record.verdict(expected), result.verdict) {
                    (Some(Verdict::Failed(a)), Verdict::Failed(b)) => a.fault == b.fault,
                    (found, verdict) => found.as_ref() == Some(&verdict),
                };
                assert!(same, "{body}: {}", String::from_utf8_lossy(&line));
                seen.insert(record.verdict(expected).unwrap().kind());
                // A line for a known output is no line for an unknown one.
                let other = if expected.is_some() {
                    None
                } else {
                    Some(&input)
                };
                let is_failed = record.error.is_some();
                assert_eq!(record.verdict(other).is_some(), is_failed, "{body}");
            }
        }
        assert!(seen.len() >= 6, "{seen:?}");
    }
}
