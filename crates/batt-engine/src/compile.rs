//! Programs compiled for running: names are resolved, and calls hold the code of their primitives.

use std::collections::HashMap;

use batt_dsl::{Dialect, Literal};
use batt_lang::{Operand, Program, StepKind};

use crate::lower::{Constant, Operands, Referent, Source, Steps, constant};
use crate::sample::ParamRole;

/// A program compiled once, to run many times, on any thread.
pub struct Compiled {
    dialect: Dialect,
    roles: Option<Vec<ParamRole>>,
    pub(crate) steps: Steps,
    pub(crate) result: Source,
}

impl Compiled {
    /// Compiles a program.
    pub fn new(program: &Program) -> Compiled {
        let (steps, results) = Steps::new(program, std::iter::once(program.result()));
        Compiled {
            dialect: program.dialect(),
            roles: ParamRole::of(program.params()),
            steps,
            result: results[0],
        }
    }

    /// Returns the dialect of the program. A run of the program must use the same dialect.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the role of each parameter; `None` if their names do not tell.
    pub fn roles(&self) -> Option<&[ParamRole]> {
        self.roles.as_deref()
    }
}

/// The operands of a program.
struct ProgramOperands<'p>(std::marker::PhantomData<&'p Program>);

impl<'p> Operands for ProgramOperands<'p> {
    type Operand = &'p Operand;
    type Literal = Literal;
    const SHARES_LITERALS: bool = false;

    fn referent(&mut self, operand: &'p Operand) -> Referent<Literal> {
        let literal = match operand {
            Operand::Param(id) => return Referent::Param(id.0),
            Operand::Step(id) => return Referent::Step(id.0),
            Operand::Op(id) => return Referent::Constant(Constant::Op(*id)),
            Operand::Const(id) => &id.value(),
            Operand::Literal(literal) => literal,
        };
        match constant(literal) {
            Some(constant) => Referent::Constant(constant),
            None => Referent::Literal(literal.clone()),
        }
    }
}

impl Steps {
    /// Compiles the steps of a program. Also returns the sources of `results`, which are valid once
    /// the steps have run.
    pub fn new<'p>(
        program: &'p Program,
        results: impl Iterator<Item = &'p Operand>,
    ) -> (Steps, Vec<Source>) {
        let (mut steps, mut operands) =
            (Steps::default(), ProgramOperands(std::marker::PhantomData));
        steps.begin(program.params().len());
        steps.instructions.reserve_exact(program.steps().len());
        steps.ops.reserve_exact(program.steps().len());
        for step in program.steps() {
            match &step.kind {
                StepKind::Call { callee, args } => {
                    steps.call(&mut operands, callee, args.iter());
                }
                StepKind::Tuple(items) => steps.tuple(&mut operands, items.iter()),
            }
        }
        let results = results.map(|result| steps.source(&mut operands, result));
        let mut results: Vec<Source> = results.collect();
        steps.finish(results.iter_mut());
        (steps, results)
    }

    /// Returns the steps with the given numbers and the literals they need. These steps may refer
    /// only to inputs and to earlier steps of the selection. Corrects `results` to the new slots.
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
            // Inputs and constants keep their slots, so they are not in the map.
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
}
