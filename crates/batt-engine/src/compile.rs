//! Programs made ready to run: names resolved, arguments in place, primitives as code.

use batt_dsl::{Code, Fault, Literal, OpId, Outcome, Pair, Returned, Run, Value};
use batt_lang::{Operand, Program, StepId, StepKind};

/// Where an argument comes from.
#[derive(Clone, Debug)]
enum Source {
    /// A parameter or an earlier step.
    Slot(u32),
    Op(OpId),
    None,
    Bool(bool),
    Int(i64),
    Pair(Pair),
    /// Any other literal.
    Literal(Literal),
}

/// One step, with the code of a known primitive at hand.
enum Instruction {
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
type CodeOf4 =
    for<'r> fn(&mut Run<'r>, Value<'r>, Value<'r>, Value<'r>, Value<'r>) -> Returned<'r>;

/// A program compiled once, to be run many times, on any thread.
pub struct Compiled {
    params: usize,
    instructions: Vec<Instruction>,
    result: Source,
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
        let params = program.params().len();
        let source = |operand: &Operand| match operand {
            Operand::Param(id) => Source::Slot(id.0),
            Operand::Step(id) => Source::Slot(params as u32 + id.0),
            Operand::Op(id) => Source::Op(*id),
            Operand::Const(constant) => literal(constant.value()),
            Operand::Literal(value) => literal(value.clone()),
        };
        let instructions = program
            .steps()
            .iter()
            .map(|step| match &step.kind {
                StepKind::Call { callee, args } => {
                    instruction(source(callee), args.iter().map(source).collect())
                }
                StepKind::Tuple(items) => Instruction::Tuple(items.iter().map(source).collect()),
            })
            .collect();
        Compiled {
            params,
            instructions,
            result: source(program.result()),
        }
    }

    /// Number of inputs a run takes.
    pub fn params(&self) -> usize {
        self.params
    }

    /// Number of steps.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Does the program return one of its inputs or a constant, without any step?
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Executes the program in a run.
    pub fn execute<'r>(
        &self,
        run: &mut Run<'r>,
        inputs: &[Value<'r>],
    ) -> Result<Value<'r>, RunError> {
        self.execute_watched(run, inputs, |_, _, _| {})
    }

    /// Executes the program and shows every step's value as it is computed.
    pub fn execute_watched<'r>(
        &self,
        run: &mut Run<'r>,
        inputs: &[Value<'r>],
        mut watch: impl FnMut(&mut Run<'r>, StepId, Value<'r>),
    ) -> Result<Value<'r>, RunError> {
        let nowhere = |fault| RunError { fault, step: None };
        if inputs.len() != self.params {
            return Err(nowhere(Fault::Type));
        }
        let slots = run
            .slots(self.params + self.instructions.len())
            .map_err(nowhere)?;
        slots[..self.params].copy_from_slice(inputs);
        for (k, instruction) in self.instructions.iter().enumerate() {
            let step = StepId(k as u32);
            let value = instruction.execute(run, slots).map_err(|fault| RunError {
                fault,
                step: Some(step),
            })?;
            slots[self.params + k] = value;
            watch(run, step, value);
        }
        run.check_limits().map_err(nowhere)?;
        self.result.get(run, slots).map_err(nowhere)
    }
}

fn literal(value: Literal) -> Source {
    match &value {
        Literal::None => Source::None,
        Literal::Bool(b) => Source::Bool(*b),
        Literal::Int(n) => Source::Int(*n),
        Literal::Tuple(items) => match items[..] {
            [Literal::Int(i), Literal::Int(j)] => match Pair::fit(i, j) {
                Some(pair) => Source::Pair(pair),
                None => Source::Literal(value),
            },
            _ => Source::Literal(value),
        },
    }
}

fn instruction(callee: Source, args: Vec<Source>) -> Instruction {
    let Source::Op(id) = callee else {
        return Instruction::Dynamic(callee, args);
    };
    // A count that does not fit falls through to the dynamic call, which fails as Python does.
    let args = match (id.op().code, args.len()) {
        (Code::One(code), 1) => match <[Source; 1]>::try_from(args) {
            Ok(args) => return Instruction::Call1(code, args),
            Err(args) => args,
        },
        (Code::Two(code), 2) => match <[Source; 2]>::try_from(args) {
            Ok(args) => return Instruction::Call2(code, args),
            Err(args) => args,
        },
        (Code::Three(code), 3) => match <[Source; 3]>::try_from(args) {
            Ok(args) => return Instruction::Call3(code, args),
            Err(args) => args,
        },
        (Code::Four(code), 4) => match <[Source; 4]>::try_from(args) {
            Ok(args) => return Instruction::Call4(code, args),
            Err(args) => args,
        },
        _ => args,
    };
    Instruction::Dynamic(callee, args)
}

impl Source {
    #[inline(always)]
    fn get<'r>(&self, run: &mut Run<'r>, slots: &[Value<'r>]) -> Outcome<Value<'r>> {
        Ok(match self {
            Source::Slot(k) => slots[*k as usize],
            Source::Op(id) => Value::Op(*id),
            Source::None => Value::None,
            Source::Bool(b) => Value::bool(*b),
            Source::Int(n) => Value::Int(*n),
            Source::Pair(pair) => Value::pair(*pair),
            Source::Literal(value) => return run.literal(value),
        })
    }
}

impl Instruction {
    fn execute<'r>(&self, run: &mut Run<'r>, slots: &[Value<'r>]) -> Outcome<Value<'r>> {
        match self {
            Instruction::Call1(code, [a]) => {
                let a = a.get(run, slots)?;
                code(run, a).outcome()
            }
            Instruction::Call2(code, [a, b]) => {
                let (a, b) = (a.get(run, slots)?, b.get(run, slots)?);
                code(run, a, b).outcome()
            }
            Instruction::Call3(code, [a, b, c]) => {
                let (a, b) = (a.get(run, slots)?, b.get(run, slots)?);
                let c = c.get(run, slots)?;
                code(run, a, b, c).outcome()
            }
            Instruction::Call4(code, [a, b, c, d]) => {
                let (a, b) = (a.get(run, slots)?, b.get(run, slots)?);
                let (c, d) = (c.get(run, slots)?, d.get(run, slots)?);
                code(run, a, b, c, d).outcome()
            }
            Instruction::Dynamic(callee, args) => {
                let callee = callee.get(run, slots)?;
                let args = gather(run, args, slots)?;
                run.call(callee, &args)
            }
            Instruction::Tuple(items) => {
                let items = gather(run, items, slots)?;
                run.make_tuple(&items)
            }
        }
    }
}

fn gather<'r>(
    run: &mut Run<'r>,
    sources: &[Source],
    slots: &[Value<'r>],
) -> Outcome<Vec<Value<'r>>> {
    sources
        .iter()
        .map(|source| source.get(run, slots))
        .collect()
}
