//! Programs made ready to run: names resolved, arguments in place, primitives as code.

use std::collections::HashMap;

use batt_dsl::{Dialect, Fault, IntPair, Literal, OpCode, OpId, Returned, Run, Value};
use batt_lang::{Operand, Program, StepId, StepKind};

use crate::sample::Role;

/// Where an argument comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// The slot of a parameter, an earlier step or a literal; [`CONSTANT`] for none.
    pub slot: u32,
    pub constant: Constant,
}

/// The slot number of an argument that has no slot.
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

/// One step, with the code of a known primitive at hand.
#[derive(Clone)]
#[repr(u8)] // a tag of its own: one hidden in a field has to be worked out at every step
pub(crate) enum Instruction {
    Call1(CodeOf1, [Source; 1]),
    Call2(CodeOf2, [Source; 2]),
    Call3(CodeOf3, [Source; 3]),
    Call4(CodeOf4, [Source; 4]),
    /// A call of a value, or one with the wrong number of arguments.
    Dynamic(Source, Vec<Source>),
    Tuple(Vec<Source>),
}

type CodeOf1 = for<'r> fn(&mut Run<'r>, Value<'r>) -> Returned<'r>;
type CodeOf2 = for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>) -> Returned<'r>;
type CodeOf3 = for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>;
type CodeOf4 = for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>;

/// The steps of a program, made ready to run.
///
/// Values are kept in slots: first the inputs, then the literals, then the steps.
#[derive(Default)]
pub(crate) struct Steps {
    pub params: usize,
    /// Literals that are no constants of one word.
    pub literals: Vec<Literal>,
    /// The slot of the first step, after inputs and literals.
    pub first_step: usize,
    pub instructions: Vec<Instruction>,
    /// The primitive of each instruction that has its code at hand: code does not tell whose it is.
    pub ops: Vec<Option<OpId>>,
}

impl Steps {
    /// Compiles the steps of a program, and where to find some values when they have run.
    pub fn new<'p>(
        program: &'p Program,
        results: impl Iterator<Item = &'p Operand> + Clone,
    ) -> (Steps, Vec<Source>) {
        let params = program.params().len();
        let operands = program.steps().iter().flat_map(|step| step.kind.operands());
        let literals: Vec<Literal> = operands
            .chain(results.clone())
            .filter_map(|operand| operand.literal())
            .filter(|literal| constant(literal).is_none())
            .collect();
        let first_step = params + literals.len();
        let mut next_literal = params as u32;
        let mut source = |operand: &Operand| {
            let constant = match operand {
                Operand::Param(id) => return Source::slot(id.0),
                Operand::Step(id) => return Source::slot(first_step as u32 + id.0),
                Operand::Op(id) => Some(Constant::Op(*id)),
                Operand::Const(id) => constant(&id.value()),
                Operand::Literal(literal) => constant(literal),
            };
            match constant {
                Some(constant) => Source {
                    slot: CONSTANT,
                    constant,
                },
                // Literals are met here in the sequence in which they were collected.
                None => {
                    next_literal += 1;
                    Source::slot(next_literal - 1)
                }
            }
        };
        let (instructions, ops) = program
            .steps()
            .iter()
            .map(|step| match &step.kind {
                StepKind::Call { callee, args } => {
                    let callee = source(callee);
                    let args: Vec<Source> = args.iter().map(&mut source).collect();
                    instruction(callee, &args)
                }
                StepKind::Tuple(items) => {
                    let items = items.iter().map(&mut source).collect();
                    (Instruction::Tuple(items), None)
                }
            })
            .unzip();
        let results = results.map(&mut source).collect();
        let steps = Steps {
            params,
            literals,
            first_step,
            instructions,
            ops,
        };
        (steps, results)
    }

    /// Some of the steps, with what they need: earlier ones among them, inputs and literals. `results` are changed to where they
    /// are found then.
    pub fn only(&self, numbers: &[u32], results: &mut [Source]) -> Steps {
        let mut only = Steps {
            params: self.params,
            instructions: numbers
                .iter()
                .map(|&step| self.instructions[step as usize].clone())
                .collect(),
            ops: numbers
                .iter()
                .map(|&step| self.ops[step as usize])
                .collect(),
            ..Steps::default()
        };
        let literals = self.params as u32..self.first_step as u32;
        let mut slots: HashMap<u32, u32> = HashMap::new();
        let mut collect = |source: &Source| {
            if literals.contains(&source.slot) {
                slots.entry(source.slot).or_insert_with(|| {
                    let literal = &self.literals[source.slot as usize - self.params];
                    only.literals.push(literal.clone());
                    (self.params + only.literals.len() - 1) as u32
                });
            }
        };
        for instruction in &only.instructions {
            instruction.sources(&mut collect);
        }
        results.iter().for_each(&mut collect);
        only.first_step = self.params + only.literals.len();
        for (slot, &step) in (only.first_step as u32..).zip(numbers) {
            slots.insert(self.first_step as u32 + step, slot);
        }
        let change = |source: &mut Source| {
            // Inputs and constants stay where they are.
            if let Some(slot) = slots.get(&source.slot) {
                source.slot = *slot;
            }
        };
        for instruction in &mut only.instructions {
            instruction.sources_mut(change);
        }
        results.iter_mut().for_each(change);
        only
    }

    /// The slot of the first step.
    #[inline(always)]
    pub fn first(&self) -> usize {
        self.first_step
    }

    /// How many slots a run needs.
    #[inline(always)]
    pub fn slots(&self) -> usize {
        self.first_step + self.instructions.len()
    }

    /// Makes the literals.
    #[inline(always)]
    pub fn place_literals<'r>(
        &self,
        run: &mut Run<'r>,
        slots: &mut [Value<'r>],
    ) -> Result<(), Fault> {
        match self.literals.is_empty() {
            true => Ok(()),
            false => self.make_literals(run, slots),
        }
    }

    #[inline(never)]
    fn make_literals<'r>(&self, run: &mut Run<'r>, slots: &mut [Value<'r>]) -> Result<(), Fault> {
        for (slot, literal) in slots[self.params..].iter_mut().zip(&self.literals) {
            *slot = run.literal(literal)?;
        }
        Ok(())
    }
}

/// A program compiled once, to be run many times, on any thread.
pub struct Compiled {
    dialect: Dialect,
    roles: Option<Vec<Role>>,
    pub(crate) steps: Steps,
    pub(crate) result: Source,
}

/// A run that failed, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunError {
    /// What went wrong.
    pub fault: Fault,
    /// The step that failed; none when the program was given a wrong number of inputs.
    pub step: Option<StepId>,
}

impl Compiled {
    /// Compiles a program.
    pub fn new(program: &Program) -> Compiled {
        let (steps, results) = Steps::new(program, std::iter::once(program.result()));
        Compiled {
            dialect: program.dialect(),
            roles: Role::of(program.params()),
            steps,
            result: results[0],
        }
    }

    /// The dialect of the program: its runs have to be of the same.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What each input is for; `None` if the names of the parameters do not tell.
    pub fn roles(&self) -> Option<&[Role]> {
        self.roles.as_deref()
    }

    /// Number of inputs a run takes.
    pub fn params(&self) -> usize {
        self.steps.params
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.steps.instructions.len()
    }

    /// Does the program return one of its inputs or a constant, without any step?
    pub fn is_empty(&self) -> bool {
        self.steps.instructions.is_empty()
    }

    /// Executes the program in a run.
    pub fn execute<'r>(
        &self,
        run: &mut Run<'r>,
        inputs: &[Value<'r>],
    ) -> Result<Value<'r>, RunError> {
        self.execute_watched(run, inputs, |_, _, _| {})
    }

    /// Executes a program of one input.
    #[inline]
    pub fn execute_on<'r>(
        &self,
        run: &mut Run<'r>,
        input: Value<'r>,
    ) -> Result<Value<'r>, RunError> {
        // Handed over in registers: a copy from memory would wait for the stores just made.
        self.execute_with(run, 1, |slots| slots[0] = input, |_, _, _| {})
    }

    /// Executes the program and shows every step's value as it is computed.
    pub fn execute_watched<'r>(
        &self,
        run: &mut Run<'r>,
        inputs: &[Value<'r>],
        watch: impl FnMut(&mut Run<'r>, StepId, Value<'r>),
    ) -> Result<Value<'r>, RunError> {
        let copy_in = |slots: &mut [Value<'r>]| slots.copy_from_slice(inputs);
        self.execute_with(run, inputs.len(), copy_in, watch)
    }

    #[inline(always)]
    fn execute_with<'r>(
        &self,
        run: &mut Run<'r>,
        inputs: usize,
        copy_in: impl FnOnce(&mut [Value<'r>]),
        watch: impl FnMut(&mut Run<'r>, StepId, Value<'r>),
    ) -> Result<Value<'r>, RunError> {
        if inputs != self.steps.params {
            return Err(nowhere(Fault::Type));
        }
        // Short programs keep their values on the stack.
        let len = self.steps.slots();
        if len <= FEW {
            let slots = &mut [Value::None; FEW];
            copy_in(&mut slots[..inputs]);
            self.execute_in(run, slots, watch)
        } else if len <= SOME {
            let slots = &mut [Value::None; SOME];
            copy_in(&mut slots[..inputs]);
            self.execute_in(run, slots, watch)
        } else {
            let slots = run.slots(len).map_err(nowhere)?;
            copy_in(&mut slots[..inputs]);
            self.execute_in(run, slots, watch)
        }
    }

    /// Executes the steps; the inputs are in their slots.
    #[inline(always)]
    fn execute_in<'r>(
        &self,
        run: &mut Run<'r>,
        slots: &mut [Value<'r>],
        mut watch: impl FnMut(&mut Run<'r>, StepId, Value<'r>),
    ) -> Result<Value<'r>, RunError> {
        self.steps.place_literals(run, slots).map_err(nowhere)?;
        for (next, instruction) in (self.steps.first_step..).zip(&self.steps.instructions) {
            let step = || StepId((next - self.steps.first_step) as u32);
            match instruction.execute(run, slots).outcome() {
                Ok(value) => {
                    slots[next] = value;
                    watch(run, step(), value);
                }
                Err(fault) => {
                    return Err(RunError {
                        fault,
                        step: Some(step()),
                    });
                }
            }
        }
        run.check_limits().map_err(nowhere)?;
        Ok(self.result.get(slots))
    }
}

/// A fault that no step is to blame for.
fn nowhere(fault: Fault) -> RunError {
    RunError { fault, step: None }
}

/// The shortest solvers have no more values; clearing more takes as long as a step.
const FEW: usize = 4;

/// Most solvers have no more.
pub(crate) const SOME: usize = 24;

/// The literal as a constant of one word, if it is one.
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

/// The instruction of a call, and the primitive whose code it has at hand.
pub(crate) fn instruction(callee: Source, args: &[Source]) -> (Instruction, Option<OpId>) {
    let Constant::Op(id) = callee.constant else {
        return (Instruction::Dynamic(callee, args.to_vec()), None);
    };
    let known = match (id.op().code, args) {
        (OpCode::One(code), &[a]) => Instruction::Call1(code, [a]),
        (OpCode::Two(code), &[a, b]) => Instruction::Call2(code, [a, b]),
        (OpCode::Three(code), &[a, b, c]) => Instruction::Call3(code, [a, b, c]),
        (OpCode::Four(code), &[a, b, c, d]) => Instruction::Call4(code, [a, b, c, d]),
        // A count that does not fit is left to the dynamic call, which fails as Python does.
        _ => return (Instruction::Dynamic(callee, args.to_vec()), None),
    };
    (known, Some(id))
}

impl Source {
    pub(crate) fn slot(slot: u32) -> Source {
        Source {
            slot,
            constant: Constant::None,
        }
    }

    #[inline(always)]
    pub(crate) fn get<'r>(&self, slots: &[Value<'r>]) -> Value<'r> {
        match slots.get(self.slot as usize) {
            Some(value) => *value,
            None => self.constant.value(),
        }
    }
}

impl Constant {
    #[inline(always)]
    fn value<'r>(self) -> Value<'r> {
        match self {
            Constant::None => Value::None,
            Constant::Bool(b) => Value::bool(b),
            Constant::Int(n) => Value::Int(n),
            Constant::Pair(pair) => Value::pair(pair),
            Constant::Op(id) => Value::Op(id),
        }
    }
}

impl Instruction {
    /// Where the arguments come from, or the items of a tuple.
    pub(crate) fn args(&self) -> &[Source] {
        match self {
            Instruction::Call1(_, args) => args,
            Instruction::Call2(_, args) => args,
            Instruction::Call3(_, args) => args,
            Instruction::Call4(_, args) => args,
            Instruction::Dynamic(_, args) | Instruction::Tuple(args) => args,
        }
    }

    /// Shows where everything comes from that it uses.
    pub(crate) fn sources(&self, mut see: impl FnMut(&Source)) {
        if let Instruction::Dynamic(callee, _) = self {
            see(callee);
        }
        self.args().iter().for_each(see);
    }

    /// Changes where everything comes from that it uses.
    pub(crate) fn sources_mut(&mut self, mut change: impl FnMut(&mut Source)) {
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

    /// The value that is called, where it is not a known primitive with the right number of arguments.
    pub(crate) fn dynamic_callee<'r>(&self, slots: &[Value<'r>]) -> Option<Value<'r>> {
        match self {
            Instruction::Dynamic(callee, _) => Some(callee.get(slots)),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn execute<'r>(&self, run: &mut Run<'r>, slots: &[Value<'r>]) -> Returned<'r> {
        match self {
            Instruction::Call1(code, [a]) => code(run, a.get(slots)),
            Instruction::Call2(code, [a, b]) => code(run, a.get(slots), b.get(slots)),
            Instruction::Call3(code, [a, b, c]) => {
                code(run, a.get(slots), b.get(slots), c.get(slots))
            }
            _ => self.execute_apart(run, slots),
        }
    }

    /// The kinds that are rare or long. Kept apart, so that the others are told apart by comparisons:
    /// a jump through a table takes as long as a short step.
    #[inline(never)]
    fn execute_apart<'r>(&self, run: &mut Run<'r>, slots: &[Value<'r>]) -> Returned<'r> {
        let values = |sources: &[Source]| -> Vec<_> {
            sources.iter().map(|source| source.get(slots)).collect()
        };
        match self {
            Instruction::Call4(code, [a, b, c, d]) => {
                code(run, a.get(slots), b.get(slots), c.get(slots), d.get(slots))
            }
            Instruction::Dynamic(callee, args) => {
                Returned::new(run.call(callee.get(slots), &values(args)))
            }
            Instruction::Tuple(items) => Returned::new(run.make_tuple(&values(items))),
            _ => self.execute(run, slots),
        }
    }
}
