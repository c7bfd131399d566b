//! Batts: many solvers as one program.
//!
//! A batt has numbered steps, `t1`, `t2`, ..., that several solvers share. Where a solver is complete its
//! value is appended to `o`, as a *candidate*; differs, small programs that compare a grid with the
//! expected one, append to `s`, as *scores*.

use batt_dsl::{Dialect, Literal};

use crate::program::{Operand, ParamId, Program, StepId};

/// The parameters of a batt's program: the demonstrations, the input grid, the grid to compare with.
pub const PARAMS: [&str; 3] = ["S", "I", "C"];

/// `S`, the demonstrations: a tuple of (input, output) pairs.
pub const SAMPLES: Operand = Operand::Param(ParamId(0));
/// `I`, the input grid.
pub const INPUT: Operand = Operand::Param(ParamId(1));
/// `C`, the grid to compare with; `None` while solving.
pub const COMPARISON: Operand = Operand::Param(ParamId(2));

/// Many solvers as one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batt {
    /// The steps. Its parameters are [`PARAMS`]; its result is `None` and means nothing.
    pub program: Program,
    /// The number of each step in the text, `12` for `t12`; growing.
    pub numbers: Vec<u32>,
    /// Candidates, in the order in which they are appended to `o`.
    pub outputs: Vec<Output>,
    /// What differs say, in the order in which it is appended to `s`.
    pub scores: Vec<Score>,
    /// What becomes of a step that fails.
    pub on_error: OnError,
}

/// A candidate: the value of one solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The step number given in the text.
    pub number: u32,
    /// Was its last line mutated?
    pub mutated: bool,
    /// The id of the solver.
    pub donor: String,
    /// The value.
    pub value: Operand,
    /// Every step of the solver, growing: those its value needs, and those it does not. When one of
    /// them fails, the solver fails.
    pub steps: Vec<StepId>,
    /// How many steps come before the append.
    pub after: u32,
}

/// What a differ says about a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// The step number given in the text.
    pub number: u32,
    /// Whose candidate was compared; `None` for the input itself.
    pub donor: Option<String>,
    /// The name of the differ.
    pub differ: String,
    /// The value, normally (count, example).
    pub value: Operand,
    /// Every step of the differ, growing, and those of the solver it looks at.
    pub steps: Vec<StepId>,
    /// How many steps come before the append.
    pub after: u32,
}

/// What becomes of a step that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnError {
    /// It has no value, and whatever uses it has none. A candidate is an error exactly when its solver
    /// alone would fail.
    #[default]
    Poison,
    /// Its value is the default of what was called, and the batt goes on.
    Defaults,
}

impl Batt {
    /// The dialect it is written in.
    pub fn dialect(&self) -> Dialect {
        self.program.dialect()
    }

    /// The step with this number in the text.
    pub fn step_numbered(&self, number: u32) -> Option<StepId> {
        let at = self.numbers.binary_search(&number).ok()?;
        Some(StepId(at as u32))
    }

    /// The steps that a value needs, growing.
    pub fn closure(&self, value: &Operand) -> Vec<StepId> {
        let mut needed = vec![false; self.program.steps().len()];
        let mut open: Vec<StepId> = match value {
            Operand::Step(id) => vec![*id],
            _ => Vec::new(),
        };
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut needed[id.index()], true) {
                continue;
            }
            open.extend(
                self.program
                    .step(id)
                    .kind
                    .operands()
                    .filter_map(|o| match o {
                        Operand::Step(id) => Some(*id),
                        _ => None,
                    }),
            );
        }
        let numbered = needed.iter().enumerate();
        numbered
            .filter(|(_, needed)| **needed)
            .map(|(k, _)| StepId(k as u32))
            .collect()
    }

    /// What the program of a batt returns: nothing that anybody uses.
    #[allow(dead_code)]
    pub(crate) const RESULT: Operand = Operand::Literal(Literal::None);
}
