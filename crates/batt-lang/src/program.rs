//! Programs: the form of a solver after parsing.
//!
//! A program is a list of steps in Python's order of evaluation. Every call is one step with its
//! own number. A name that is assigned twice in the text becomes two steps, and an alias (`x2 =
//! x1`) becomes none.

use std::fmt;
use std::hash::{Hash, Hasher};

use batt_dsl::{ConstId, Dialect, Literal, OpId};

use crate::source::{LineRange, Span};

/// A step of a [`Program`], by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepId(pub u32);

impl StepId {
    /// The position, for arrays indexed by step.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A parameter of a [`Program`], by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(pub u32);

impl ParamId {
    /// The position, for arrays indexed by parameter.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something that a step can refer to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A parameter of the program, such as the input grid.
    Param(ParamId),
    /// The value of an earlier step.
    Step(StepId),
    /// A primitive, called or passed as a function.
    Op(OpId),
    /// A named constant.
    Const(ConstId),
    /// A literal value.
    Literal(Literal),
}

impl Operand {
    /// Returns the value of a literal or a constant.
    pub fn literal(&self) -> Option<Literal> {
        match self {
            Operand::Literal(literal) => Some(literal.clone()),
            Operand::Const(constant) => Some(constant.value()),
            _ => None,
        }
    }
}

/// The operation of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// `callee(args...)`
    Call {
        /// The callee: a primitive, or a value that should be a function at run time.
        callee: Operand,
        /// The arguments in positional order.
        args: Vec<Operand>,
    },
    /// `(items...)` with at least one item that is neither a literal nor a constant. A tuple of
    /// only literals and constants is a literal itself.
    Tuple(Vec<Operand>),
}

impl StepKind {
    /// Returns everything the step refers to: the callee first, then the arguments or items.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> + Clone {
        let (callee, rest) = match self {
            StepKind::Call { callee, args } => (Some(callee), args),
            StepKind::Tuple(items) => (None, items),
        };
        callee.into_iter().chain(rest)
    }

    /// Returns the operands in the order of [`operands`](Self::operands), as mutable references.
    pub fn operands_mut(&mut self) -> impl Iterator<Item = &mut Operand> {
        let (callee, rest) = match self {
            StepKind::Call { callee, args } => (Some(callee), args),
            StepKind::Tuple(items) => (None, items),
        };
        callee.into_iter().chain(rest)
    }
}

/// One step of evaluation and its origin.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation.
    pub kind: StepKind,
    /// The variable in the source; nested calls get a generated name such as `x3.1`.
    pub name: String,
    /// The place of the call in the source.
    pub span: Span,
}

/// A solver: parameters, steps in evaluation order, and the value it returns.
///
/// Two programs are equal when they have the same name, the same number of parameters, and the same
/// steps and result. Their places in a file and the names of their parameters and variables do not
/// count.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    dialect: Dialect,
    params: Vec<String>,
    steps: Vec<Step>,
    result: Operand,
    lines: LineRange,
}

impl Program {
    /// The name of the function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The dialect of the program.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Parameter names in order.
    pub fn params(&self) -> &[String] {
        &self.params
    }

    /// The steps in evaluation order. All of them count, used or not: in Python a line that fails
    /// fails the solver, even if its value is not needed.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// One step.
    ///
    /// # Panics
    ///
    /// If `id` is of another, longer program.
    pub fn step(&self, id: StepId) -> &Step {
        &self.steps[id.index()]
    }

    /// Returns a step as text with the names of the source, such as `crop(I, x1, x2)`.
    ///
    /// # Panics
    ///
    /// If the program has no such step.
    pub fn call_text(&self, id: StepId) -> String {
        crate::print::call_text(self, id, |id| self.step(id).name.clone())
    }

    /// Returns an operand as text with the names of the source.
    pub fn operand_text(&self, operand: &Operand) -> String {
        crate::print::operand_text(self, operand, |id| self.step(id).name.clone())
    }

    /// The steps with their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (StepId, &Step)> {
        self.steps
            .iter()
            .enumerate()
            .map(|(k, step)| (StepId(k as u32), step))
    }

    /// The returned value.
    pub fn result(&self) -> &Operand {
        &self.result
    }

    /// The lines of the file the function came from; empty for a program that came from no file.
    pub fn lines(&self) -> LineRange {
        self.lines
    }

    /// Returns the same program under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Program {
        self.name = name.into();
        self
    }

    /// Returns the same program with its operands changed. A changed operand must not refer to a
    /// later step.
    ///
    /// # Panics
    ///
    /// If an operand refers to a parameter or step that does not exist.
    #[must_use]
    pub fn with_operands(self, mut change: impl FnMut(&mut Operand)) -> Program {
        let mut builder = ProgramBuilder::new(self.name, self.params).in_dialect(self.dialect);
        builder.set_lines(self.lines);
        for mut step in self.steps {
            step.kind.operands_mut().for_each(&mut change);
            builder.push(step.kind, Some(step.name), step.span);
        }
        let mut result = self.result;
        change(&mut result);
        builder.finish(result)
    }

    /// Every operand in evaluation order, the result last.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        self.steps
            .iter()
            .flat_map(|step| step.kind.operands())
            .chain(std::iter::once(&self.result))
    }

    /// Counts the references to each step and parameter.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses {
            steps: vec![0; self.steps.len()],
            params: vec![0; self.params.len()],
        };
        for operand in self.operands() {
            match operand {
                Operand::Step(id) => uses.steps[id.index()] += 1,
                Operand::Param(id) => uses.params[id.index()] += 1,
                _ => {}
            }
        }
        uses
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.name == other.name
            && self.dialect == other.dialect
            && self.params.len() == other.params.len()
            && self.steps.len() == other.steps.len()
            && self.result == other.result
            && self
                .steps
                .iter()
                .zip(&other.steps)
                .all(|(a, b)| a.kind == b.kind)
    }
}

impl Eq for Program {}

impl Hash for Program {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.params.len().hash(state);
        for step in &self.steps {
            step.kind.hash(state);
        }
        self.result.hash(state);
    }
}

impl fmt::Display for Program {
    /// Writes the canonical text, see [`print`](crate::print).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::print::write_program(f, self)
    }
}

/// The number of references to each step and parameter of a program, `return` included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    steps: Vec<u32>,
    params: Vec<u32>,
}

impl Uses {
    /// The number of references to a step.
    pub fn step(&self, id: StepId) -> u32 {
        self.steps[id.index()]
    }

    /// The number of references to a parameter.
    pub fn param(&self, id: ParamId) -> u32 {
        self.params[id.index()]
    }
}

/// Builds a [`Program`] step by step; the only way to make one.
///
/// Operands can refer only to existing steps, so a finished program never refers to a later step.
///
/// ```
/// use batt_dsl::OpId;
/// use batt_lang::{Operand, ProgramBuilder};
///
/// let op = |name| Operand::Op(OpId::named(name).unwrap());
/// let mut solver = ProgramBuilder::new("solve_twice", ["I"]);
/// let input = solver.param(0);
/// let flipped = solver.call(op("hmirror"), vec![input.clone()]);
/// let stacked = solver.call(op("vconcat"), vec![input, flipped]);
/// let program = solver.finish(stacked);
/// assert_eq!(program.to_string(), "\
/// def solve_twice(I):
///     x1 = hmirror(I)
///     O = vconcat(I, x1)
///     return O
/// ");
/// ```
#[derive(Clone, Debug)]
pub struct ProgramBuilder {
    program: Program,
}

impl ProgramBuilder {
    /// Starts a program of arc-dsl with the given name and parameter names.
    pub fn new<P: Into<String>>(
        name: impl Into<String>,
        params: impl IntoIterator<Item = P>,
    ) -> ProgramBuilder {
        ProgramBuilder {
            program: Program {
                name: name.into(),
                dialect: Dialect::ArcDsl,
                params: params.into_iter().map(Into::into).collect(),
                steps: Vec::new(),
                result: Operand::Literal(Literal::None),
                lines: LineRange::default(),
            },
        }
    }

    /// Sets the dialect. All operands must be of that dialect.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Dialect) -> ProgramBuilder {
        self.program.dialect = dialect;
        self
    }

    /// A parameter, by position.
    ///
    /// # Panics
    ///
    /// If there is no such parameter.
    pub fn param(&self, position: usize) -> Operand {
        assert!(position < self.program.params.len(), "no such parameter");
        Operand::Param(ParamId(position as u32))
    }

    /// Adds a call.
    ///
    /// # Panics
    ///
    /// If an operand refers to a parameter or step that does not exist.
    pub fn call(&mut self, callee: Operand, args: Vec<Operand>) -> Operand {
        self.push(StepKind::Call { callee, args }, None, Span::default())
    }

    /// Adds a tuple display. A tuple of literals and constants alone is a literal, not a step.
    ///
    /// # Panics
    ///
    /// If an operand refers to a parameter or step that does not exist.
    pub fn tuple(&mut self, items: Vec<Operand>) -> Operand {
        match items.iter().map(Operand::literal).collect() {
            Some(literals) => Operand::Literal(Literal::Tuple(literals)),
            None => self.push(StepKind::Tuple(items), None, Span::default()),
        }
    }

    /// Finishes the program with its result.
    ///
    /// # Panics
    ///
    /// If the result refers to a parameter or step that does not exist.
    pub fn finish(mut self, result: Operand) -> Program {
        self.check(&result);
        self.program.result = result;
        self.program
    }

    /// Adds a step from a source file.
    pub(crate) fn push(&mut self, kind: StepKind, name: Option<String>, span: Span) -> Operand {
        for operand in kind.operands() {
            self.check(operand);
        }
        let id = StepId(u32::try_from(self.program.steps.len()).expect("fewer than 2^32 steps"));
        let name = name.unwrap_or_else(|| format!("x{}", id.0 + 1));
        self.program.steps.push(Step { kind, name, span });
        Operand::Step(id)
    }

    /// The number of steps so far.
    pub(crate) fn len(&self) -> usize {
        self.program.steps.len()
    }

    /// The callee of the last step, if that is a call.
    pub(crate) fn last_callee(&self) -> Option<&Operand> {
        match &self.program.steps.last()?.kind {
            StepKind::Call { callee, .. } => Some(callee),
            StepKind::Tuple(_) => None,
        }
    }

    /// Sets the lines of the file that the program came from.
    pub(crate) fn set_lines(&mut self, lines: LineRange) {
        self.program.lines = lines;
    }

    fn check(&self, operand: &Operand) {
        let exists = match operand {
            Operand::Step(id) => id.index() < self.program.steps.len(),
            Operand::Param(id) => id.index() < self.program.params.len(),
            _ => true,
        };
        assert!(exists, "{operand:?} does not exist yet");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str) -> Operand {
        Operand::Op(OpId::named(name).expect("a primitive"))
    }

    #[test]
    fn equality_ignores_names_in_the_source() {
        let make = |param: &str| {
            let mut b = ProgramBuilder::new("f", [param]);
            let input = b.param(0);
            let out = b.call(op("hmirror"), vec![input]);
            b.finish(out)
        };
        assert_eq!(make("I"), make("grid"));
        assert_ne!(make("I"), make("I").renamed("g"));
    }

    #[test]
    fn a_tuple_of_literals_is_a_literal() {
        let mut b = ProgramBuilder::new("f", ["I"]);
        let one = Operand::Const(ConstId::named("ONE").expect("a constant"));
        let pair = b.tuple(vec![one, Operand::Literal(Literal::Int(4))]);
        let expected = Literal::Tuple(vec![Literal::Int(1), Literal::Int(4)]);
        assert_eq!(pair, Operand::Literal(expected));
        let input = b.param(0);
        assert_eq!(b.tuple(vec![input]), Operand::Step(StepId(0)));
    }

    #[test]
    fn uses_count_every_reference_and_the_result() {
        let mut b = ProgramBuilder::new("f", ["S", "I"]);
        let input = b.param(1);
        let x1 = b.call(op("hmirror"), vec![input.clone()]);
        let x2 = b.call(op("vconcat"), vec![x1.clone(), x1]);
        let program = b.finish(x2);
        let uses = program.uses();
        assert_eq!((uses.step(StepId(0)), uses.step(StepId(1))), (2, 1));
        assert_eq!((uses.param(ParamId(0)), uses.param(ParamId(1))), (0, 1));
    }

    #[test]
    #[should_panic(expected = "does not exist yet")]
    fn steps_cannot_refer_to_later_ones() {
        let mut b = ProgramBuilder::new("f", ["I"]);
        b.call(op("hmirror"), vec![Operand::Step(StepId(0))]);
    }
}
