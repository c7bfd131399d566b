//! Samples: the input grids of programs, with the demonstrations of their tasks.

use batt_arc::{Grid, Pair, Task};
use batt_dsl::{Outcome, Run, Value};

/// One input of a task, with its demonstrations and its expected output.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The demonstrations of the task.
    pub demos: &'a [Pair],
    /// The input grid.
    pub input: &'a Grid,
    /// The expected output, if it is known. Programs do not see it.
    pub expected: Option<&'a Grid>,
}

impl<'a> Sample<'a> {
    /// Creates a sample for a pair of a task.
    pub fn new(task: &'a Task, pair: &'a Pair) -> Sample<'a> {
        Sample {
            demos: &task.train,
            input: &pair.input,
            expected: pair.output.as_ref(),
        }
    }
}

/// The role of a parameter of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamRole {
    /// `S`: the demonstrations, a tuple of (input, output) pairs.
    Samples,
    /// `I`: the input grid.
    Input,
    /// `C`: the grid to compare with, `None` while solving.
    Comparison,
}

impl ParamRole {
    /// Returns the roles of parameters by their names; `None` if a name is unknown or there is no
    /// input. A single parameter of any other name is the input.
    pub fn of(params: &[String]) -> Option<Vec<ParamRole>> {
        let role = |name: &String| match name.as_str() {
            "S" | "s" => Some(ParamRole::Samples),
            "I" | "i" => Some(ParamRole::Input),
            "C" | "c" => Some(ParamRole::Comparison),
            _ => None,
        };
        if let [only] = params {
            return Some(vec![role(only).unwrap_or(ParamRole::Input)]);
        }
        let roles: Option<Vec<ParamRole>> = params.iter().map(role).collect();
        roles.filter(|roles| roles.contains(&ParamRole::Input))
    }
}

/// Makes the tuple of demonstrations, without demonstrations that have no output.
pub(crate) fn demos<'r>(run: &mut Run<'r>, pairs: &[Pair]) -> Outcome<Value<'r>> {
    let mut values = Vec::with_capacity(pairs.len());
    for pair in pairs {
        if let Some(output) = &pair.output {
            let halves = [grid(run, &pair.input)?, grid(run, output)?];
            values.push(run.make_tuple(&halves)?);
        }
    }
    run.make_tuple(&values)
}

/// Makes a value from a grid of a task.
pub(crate) fn grid<'r>(run: &mut Run<'r>, grid: &Grid) -> Outcome<Value<'r>> {
    run.input(grid.height(), grid.width(), grid.cells())
}
