//! Batts: many solvers as one program.
//!
//! A batt has numbered steps, `t1`, `t2`, ..., that several solvers share. When a solver is
//! complete, its value is appended to `o` as a *candidate*. *Differs*, small programs that compare
//! a grid with the expected one, append *scores* to `s`.
//!
//! ```text
//!  x.py -----> BattFile::load ----> Batt ----> write_batt -----> x.py
//!                  ^                  |
//!  x.json ---------+                  +------> to_json_text ---> x.json
//!  (whose steps)
//! ```

mod json;
mod read;
mod write;

use batt_dsl::{Dialect, Literal};

pub use self::json::{BattJson, JsonError, OutputJson, ScoreJson, StepJson};
pub use self::json::{from_json, from_json_text, is_json_form, to_json, to_json_text};
pub use self::read::BattFile;
pub use self::write::{Form, write_batt};

use crate::program::{Operand, ParamId, Program, StepId};

/// The parameters of a batt's program: the demonstrations, the input grid, the grid to compare
/// with.
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
    /// The steps. Its parameters are [`PARAMS`]; its result is `None` and unused.
    pub program: Program,
    /// The number of each step in the text, `12` for `t12`, in ascending order.
    pub numbers: Vec<u32>,
    /// Candidates, in the order in which they are appended to `o`.
    pub outputs: Vec<Output>,
    /// The scores of differs, in the order in which they are appended to `s`.
    pub scores: Vec<DifferScore>,
    /// The effect of a step that fails.
    pub on_error: OnError,
}

/// A candidate: the value of one solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The step number given in the text.
    pub number: u32,
    /// Whether the solver was mutated. The original Python system sets this if the last line of the
    /// solver was mutated.
    pub mutated: bool,
    /// The id of the solver.
    pub donor: String,
    /// The value.
    pub value: Operand,
    /// Every step of the solver in ascending order, including steps that its value does not need.
    /// When one of them fails, the solver fails.
    pub steps: Vec<StepId>,
    /// The number of steps before the append.
    pub after: u32,
}

/// The result of a differ on one grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferScore {
    /// The step number given in the text.
    pub number: u32,
    /// The solver whose candidate was compared; `None` for the input itself.
    pub donor: Option<String>,
    /// The name of the differ.
    pub differ: String,
    /// The value, normally (count, example).
    pub value: Operand,
    /// Every step of the differ and of the solver it compares, in ascending order.
    pub steps: Vec<StepId>,
    /// The number of steps before the append.
    pub after: u32,
}

/// The effect of a step that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnError {
    /// The step has no value, and neither has any step that uses it. A candidate is an error
    /// exactly when its solver would fail on its own.
    #[default]
    Poison,
    /// The step gets the default value of the called primitive, and the batt goes on.
    Defaults,
}

impl Batt {
    /// Returns the dialect of the batt.
    pub fn dialect(&self) -> Dialect {
        self.program.dialect()
    }

    /// Returns the step with this number in the text.
    pub fn step_numbered(&self, number: u32) -> Option<StepId> {
        let at = self.numbers.binary_search(&number).ok()?;
        Some(StepId(at as u32))
    }

    /// Returns a step as text, such as `o_g(I, R5)`, with other steps as `t3`.
    ///
    /// # Panics
    ///
    /// If the batt has no such step.
    pub fn call_text(&self, id: StepId) -> String {
        let name = |id: StepId| format!("t{}", self.numbers[id.index()]);
        crate::print::call_text(&self.program, id, name)
    }

    /// Returns the steps that a value needs, in ascending order.
    pub fn closure(&self, value: &Operand) -> Vec<StepId> {
        Closures::new(&self.program).of(value)
    }

    /// The result of the program of a batt, which is unused.
    pub(crate) const RESULT: Operand = Operand::Literal(Literal::None);

    /// Returns an operand as it is spelt in the text.
    fn spelling(&self, operand: &Operand) -> String {
        match operand {
            Operand::Param(id) => PARAMS[id.index()].to_owned(),
            Operand::Step(id) => format!("t{}", self.numbers[id.index()]),
            Operand::Op(op) => op.op().name.to_owned(),
            Operand::Const(constant) => constant.name().to_owned(),
            Operand::Literal(literal) => literal.to_string(),
        }
    }
}

/// Finds the closure of a value: the steps that the value needs. The time for one closure is
/// proportional to its length, not to the length of the program, so a batt may have many entries as
/// long as its solvers are short.
pub(crate) struct Closures<'p> {
    program: &'p Program,
    /// For each step, the last round that visited it.
    seen: Vec<u32>,
    round: u32,
    /// Steps in the closure whose operands have not been visited yet.
    open: Vec<StepId>,
}

/// The closures of all entries are too long to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl<'p> Closures<'p> {
    /// The most steps that the closures of all entries may have in total: far more than any useful
    /// batt needs, and little enough for memory.
    const LIMIT: usize = 50_000_000;

    pub(crate) fn new(program: &'p Program) -> Closures<'p> {
        Closures {
            program,
            seen: vec![0; program.steps().len()],
            round: 0,
            open: Vec::new(),
        }
    }

    /// Returns the steps that a value needs, in ascending order.
    pub(crate) fn of(&mut self, value: &Operand) -> Vec<StepId> {
        let mut needed = Vec::new();
        self.round += 1;
        self.visit(value);
        while let Some(id) = self.open.pop() {
            needed.push(id);
            let program = self.program;
            for operand in program.step(id).kind.operands() {
                self.visit(operand);
            }
        }
        needed.sort_unstable();
        needed
    }

    fn visit(&mut self, operand: &Operand) {
        if let Operand::Step(id) = operand
            && std::mem::replace(&mut self.seen[id.index()], self.round) != self.round
        {
            self.open.push(*id);
        }
    }

    /// Sets the steps of every entry of a batt to the closure of its value.
    pub(crate) fn fill_in(batt: &mut Batt) -> Result<(), TooLong> {
        let mut closures = Closures::new(&batt.program);
        let outputs = batt.outputs.iter_mut().map(|o| (&o.value, &mut o.steps));
        let scores = batt.scores.iter_mut().map(|s| (&s.value, &mut s.steps));
        let mut total = 0;
        for (value, steps) in outputs.chain(scores) {
            *steps = closures.of(value);
            total += steps.len();
            if total > Closures::LIMIT {
                return Err(TooLong);
            }
        }
        Ok(())
    }
}
