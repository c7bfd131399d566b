//! The interpreter: executes lowered steps in a run.

use batt_dsl::{Fault, Returned, Run, Value};
use batt_lang::StepId;

use crate::compile::Compiled;
use crate::lower::{Constant, Instruction, Source, Steps};

/// Why a run failed, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The fault.
    pub fault: Fault,
    /// The step that failed; none if the fault belongs to no step, such as a wrong number of
    /// inputs.
    pub step: Option<StepId>,
}

/// Returns an error that belongs to no step.
fn without_step(fault: Fault) -> RunError {
    RunError { fault, step: None }
}

/// The number of slots that the shortest solvers fit into. Clearing the larger array would take as
/// long as a step.
const SHORT_SLOTS: usize = 4;

/// The number of slots that most solvers fit into.
pub(crate) const STACK_SLOTS: usize = 24;

impl Compiled {
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
        // Passed in registers: a copy from memory would wait for the stores just made.
        self.execute_with(run, 1, |slots| slots[0] = input, |_, _, _| {})
    }

    /// Executes the program and shows the value of each step to `watch`.
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
            return Err(without_step(Fault::Type));
        }
        // Short programs keep their values on the stack, in an array of the smallest size that
        // fits.
        let len = self.steps.slots();
        if len <= SHORT_SLOTS {
            let slots = &mut [Value::None; SHORT_SLOTS];
            copy_in(&mut slots[..inputs]);
            self.execute_in(run, slots, watch)
        } else if len <= STACK_SLOTS {
            let slots = &mut [Value::None; STACK_SLOTS];
            copy_in(&mut slots[..inputs]);
            self.execute_in(run, slots, watch)
        } else {
            let slots = run.slots(len).map_err(without_step)?;
            copy_in(&mut slots[..inputs]);
            self.execute_in(run, slots, watch)
        }
    }

    /// Executes the steps. The inputs must be in their slots.
    #[inline(always)]
    fn execute_in<'r>(
        &self,
        run: &mut Run<'r>,
        slots: &mut [Value<'r>],
        mut watch: impl FnMut(&mut Run<'r>, StepId, Value<'r>),
    ) -> Result<Value<'r>, RunError> {
        self.steps
            .place_literals(run, slots)
            .map_err(without_step)?;
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
        run.check_limits().map_err(without_step)?;
        Ok(self.result.get(slots))
    }
}

impl Steps {
    /// Creates the literals and puts them into their slots.
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

impl Source {
    #[inline(always)]
    pub fn get<'r>(&self, slots: &[Value<'r>]) -> Value<'r> {
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
    /// Returns the called value, unless the instruction holds the code of a primitive.
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
            _ => self.execute_rare(run, slots),
        }
    }

    /// Executes rare and long instructions. They have a separate function so that comparisons
    /// select the common ones: a jump through a table takes as long as a short step.
    #[inline(never)]
    fn execute_rare<'r>(&self, run: &mut Run<'r>, slots: &[Value<'r>]) -> Returned<'r> {
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
