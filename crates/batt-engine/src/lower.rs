//! Lowering: turns the operands of programs and graphs into sources, and their steps into
//! instructions.
//!
//! Values of a run are kept in slots: first the parameters, then the literals, then the steps. A
//! source is a slot, or a constant that needs no slot. An implementation of [`Operands`] tells what
//! operands refer to. There is one for programs, one for the plan of a graph, and one for single
//! values of a graph. Everything else is here.

use std::sync::OnceLock;

use batt_dsl::{Dialect, IntPair, Literal, OpCode, OpId, Returned, Run, Value};
use batt_lang::graph::{Graph, Ref, Target};

/// The source of an operand: a slot, or a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The slot of a parameter, a literal or an earlier step; [`CONSTANT`] if there is none.
    pub slot: u32,
    pub constant: Constant,
}

/// The slot number of a source that has no slot.
pub(crate) const CONSTANT: u32 = u32::MAX;

/// A value that needs no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    None,
    Bool(bool),
    Int(i64),
    Pair(IntPair),
    Op(OpId),
}

/// One step. Calls of known primitives hold their code.
#[derive(Clone)]
#[repr(u8)] // An explicit tag: a niche in a field would be decoded at every step.
pub(crate) enum Instruction {
    Call1(CodeOf1, [Source; 1]),
    Call2(CodeOf2, [Source; 2]),
    Call3(CodeOf3, [Source; 3]),
    Call4(CodeOf4, [Source; 4]),
    /// A call of a computed value, or a call with the wrong number of arguments.
    Dynamic(Source, Vec<Source>),
    Tuple(Vec<Source>),
}

type CodeOf1 = for<'r> fn(&mut Run<'r>, Value<'r>) -> Returned<'r>;
type CodeOf2 = for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Returned<'r>;
type CodeOf3 = for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>;
type CodeOf4 = for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>;

/// The target of an operand.
pub(crate) enum Referent<L> {
    /// A parameter, by its slot.
    Param(u32),
    /// A step, by its number.
    Step(u32),
    Constant(Constant),
    /// A literal that is not a constant of one word.
    Literal(L),
}

/// Resolves the operands of steps.
pub(crate) trait Operands {
    type Operand: Copy;
    /// The type in which the steps keep literals.
    type Literal: PartialEq;
    /// Whether equal literals share one slot.
    const SHARES_LITERALS: bool;

    fn referent(&mut self, operand: Self::Operand) -> Referent<Self::Literal>;
}

/// Lowered steps. They are made in this order: [`begin`](Steps::begin), each step, the results,
/// [`finish`](Steps::finish).
pub(crate) struct Steps<L = Literal> {
    pub params: usize,
    /// Literals that are not constants of one word.
    pub literals: Vec<L>,
    /// The slot of the first step, after parameters and literals.
    pub first_step: usize,
    pub instructions: Vec<Instruction>,
    /// The primitive of each instruction that holds a primitive's code, because the code does not
    /// name its primitive.
    pub ops: Vec<Option<OpId>>,
}

impl<L> Default for Steps<L> {
    fn default() -> Steps<L> {
        Steps {
            params: 0,
            literals: Vec::new(),
            first_step: 0,
            instructions: Vec::new(),
            ops: Vec::new(),
        }
    }
}

/// Added to slots of steps until `finish`, since the number of literals is not known before.
const STEP_BASE: u32 = 1 << 30;

impl<L: PartialEq> Steps<L> {
    /// Starts over with `params` parameters and reuses the memory of the previous steps.
    pub fn begin(&mut self, params: usize) {
        self.params = params;
        self.literals.clear();
        self.first_step = 0;
        self.instructions.clear();
        self.ops.clear();
    }

    /// Adds a call.
    #[inline]
    pub fn call<O: Operands<Literal = L>>(
        &mut self,
        operands: &mut O,
        callee: O::Operand,
        args: impl ExactSizeIterator<Item = O::Operand>,
    ) {
        let callee = self.source(operands, callee);
        // Most calls have at most four arguments, and then need no allocation here.
        let mut few = [Source::slot(CONSTANT); 4];
        let (made, op) = match few.get_mut(..args.len()) {
            Some(places) => {
                for (place, arg) in places.iter_mut().zip(args) {
                    *place = self.source(operands, arg);
                }
                instruction(callee, places)
            }
            None => instruction(callee, &self.sources(operands, args)),
        };
        self.instructions.push(made);
        self.ops.push(op);
    }

    /// Adds a tuple.
    pub fn tuple<O: Operands<Literal = L>>(
        &mut self,
        operands: &mut O,
        items: impl Iterator<Item = O::Operand>,
    ) {
        let items = self.sources(operands, items);
        self.instructions.push(Instruction::Tuple(items));
        self.ops.push(None);
    }

    fn sources<O: Operands<Literal = L>>(
        &mut self,
        operands: &mut O,
        all: impl Iterator<Item = O::Operand>,
    ) -> Vec<Source> {
        all.map(|operand| self.source(operands, operand)).collect()
    }

    /// Returns the source of an operand. Slots of steps are correct after
    /// [`finish`](Steps::finish).
    #[inline]
    pub fn source<O: Operands<Literal = L>>(
        &mut self,
        operands: &mut O,
        operand: O::Operand,
    ) -> Source {
        match operands.referent(operand) {
            Referent::Param(slot) => Source::slot(slot),
            Referent::Step(step) => Source::slot(STEP_BASE + step),
            Referent::Constant(constant) => Source {
                slot: CONSTANT,
                constant,
            },
            Referent::Literal(literal) => {
                let mut known = self.literals.iter();
                let place = match O::SHARES_LITERALS {
                    true => known.position(|known| *known == literal),
                    false => None,
                };
                let place = place.unwrap_or_else(|| {
                    self.literals.push(literal);
                    self.literals.len() - 1
                });
                Source::slot((self.params + place) as u32)
            }
        }
    }

    /// Moves the steps behind the literals, now that their number is known, and corrects `results`.
    pub fn finish<'s>(&mut self, results: impl Iterator<Item = &'s mut Source>) {
        self.first_step = self.params + self.literals.len();
        let first = self.first_step as u32;
        let correct = |source: &mut Source| {
            if source.slot >= STEP_BASE && source.slot != CONSTANT {
                source.slot = source.slot - STEP_BASE + first;
            }
        };
        for instruction in &mut self.instructions {
            instruction.sources_mut(correct);
        }
        results.for_each(correct);
    }
}

impl<L> Steps<L> {
    /// Returns the slot of the first step.
    #[inline(always)]
    pub fn first(&self) -> usize {
        self.first_step
    }

    /// Returns the number of slots that a run needs.
    #[inline(always)]
    pub fn slots(&self) -> usize {
        self.first_step + self.instructions.len()
    }
}

/// Returns a literal as a constant of one word; `None` if it needs memory.
pub(crate) fn constant(literal: &Literal) -> Option<Constant> {
    Some(match literal {
        Literal::None => Constant::None,
        Literal::Bool(b) => Constant::Bool(*b),
        Literal::Int(n) => Constant::Int(*n),
        Literal::Tuple(items) => match items[..] {
            [Literal::Int(i), Literal::Int(j)] => Constant::Pair(IntPair::fit(i, j)?),
            _ => return None,
        },
    })
}

/// Returns the named constants of all dialects, by number. Each fits in one word.
fn named_constants() -> &'static [Constant] {
    static NAMED: OnceLock<Vec<Constant>> = OnceLock::new();
    NAMED.get_or_init(|| {
        let all = Dialect::Tokpidjin.constants();
        all.map(|id| constant(&id.value()).unwrap_or(Constant::None))
            .collect()
    })
}

/// Returns the target of a graph value. The caller resolves nodes and parameters. A literal that is
/// not a constant of one word is given by its number.
#[inline]
pub(crate) fn referent_in(
    graph: &Graph,
    value: Ref,
    node: impl FnOnce(u32) -> u32,
    param: impl FnOnce(u32) -> u32,
) -> Referent<u32> {
    match value.target() {
        Target::Node(id) => Referent::Step(node(id)),
        Target::Op(op) => Referent::Constant(Constant::Op(op)),
        Target::Param(id) => Referent::Param(param(id)),
        Target::Const(id) => Referent::Constant(named_constants()[id.index()]),
        Target::Literal(at) => match graph.literal_at(at).and_then(constant) {
            Some(constant) => Referent::Constant(constant),
            None => Referent::Literal(at),
        },
    }
}

/// Returns the instruction of a call, and the primitive whose code it holds.
fn instruction(callee: Source, args: &[Source]) -> (Instruction, Option<OpId>) {
    let Constant::Op(id) = callee.constant else {
        return (Instruction::Dynamic(callee, args.to_vec()), None);
    };
    let known = match (id.op().code, args) {
        (OpCode::One(code), &[a]) => Instruction::Call1(code, [a]),
        (OpCode::Two(code), &[a, b]) => Instruction::Call2(code, [a, b]),
        (OpCode::Three(code), &[a, b, c]) => Instruction::Call3(code, [a, b, c]),
        (OpCode::Four(code), &[a, b, c, d]) => Instruction::Call4(code, [a, b, c, d]),
        // With a wrong number of arguments, the dynamic call fails as Python does.
        _ => return (Instruction::Dynamic(callee, args.to_vec()), None),
    };
    (known, Some(id))
}

impl Source {
    pub fn slot(slot: u32) -> Source {
        Source {
            slot,
            constant: Constant::None,
        }
    }
}

impl Instruction {
    /// Returns the sources of the arguments, or of the items of a tuple.
    pub fn args(&self) -> &[Source] {
        match self {
            Instruction::Call1(_, args) => args,
            Instruction::Call2(_, args) => args,
            Instruction::Call3(_, args) => args,
            Instruction::Call4(_, args) => args,
            Instruction::Dynamic(_, args) | Instruction::Tuple(args) => args,
        }
    }

    /// Passes each source of the instruction to `see`.
    pub fn sources(&self, mut see: impl FnMut(&Source)) {
        if let Instruction::Dynamic(callee, _) = self {
            see(callee);
        }
        self.args().iter().for_each(see);
    }

    /// Changes each source of the instruction.
    pub fn sources_mut(&mut self, mut change: impl FnMut(&mut Source)) {
        match self {
            Instruction::Call1(_, args) => args.iter_mut().for_each(change),
            Instruction::Call2(_, args) => args.iter_mut().for_each(change),
            Instruction::Call3(_, args) => args.iter_mut().for_each(change),
            Instruction::Call4(_, args) => args.iter_mut().for_each(change),
            Instruction::Dynamic(callee, args) => {
                change(callee);
                args.iter_mut().for_each(change);
            }
            Instruction::Tuple(items) => items.iter_mut().for_each(change),
        }
    }
}
