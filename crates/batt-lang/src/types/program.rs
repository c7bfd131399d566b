//! The types of the values of a program.

use super::{TypeId, Types};
use crate::program::{Operand, Program, StepKind};

impl Types {
    /// Returns the type of every step in order; `None` for a call whose arguments do not fit. Steps
    /// that use such a value treat its type as unknown.
    pub fn of_program(&mut self, program: &Program) -> Vec<Option<TypeId>> {
        let mut steps = Vec::with_capacity(program.steps().len());
        for step in program.steps() {
            let ty = self.of_step(program, &steps, &step.kind);
            steps.push(ty);
        }
        steps
    }

    /// Returns the type of one step, given those before it.
    fn of_step(
        &mut self,
        program: &Program,
        steps: &[Option<TypeId>],
        kind: &StepKind,
    ) -> Option<TypeId> {
        match kind {
            StepKind::Call { callee, args } => {
                let callee = self.of_operand(program, steps, callee);
                let args: Vec<_> = args
                    .iter()
                    .map(|arg| self.of_operand(program, steps, arg))
                    .collect();
                self.call(callee, &args)
            }
            StepKind::Tuple(items) => {
                let items: Vec<_> = items
                    .iter()
                    .map(|item| self.of_operand(program, steps, item))
                    .collect();
                Some(self.tuple(&items))
            }
        }
    }

    /// Returns the type of an operand.
    pub fn of_operand(
        &mut self,
        program: &Program,
        steps: &[Option<TypeId>],
        operand: &Operand,
    ) -> TypeId {
        match operand {
            Operand::Param(id) => match (program.params(), program.params().get(id.index())) {
                // A single parameter is the input, whatever its name.
                ([only], _) if self.param(only) == TypeId::ANY => TypeId::GRID,
                (_, Some(name)) => self.param(name),
                _ => TypeId::ANY,
            },
            Operand::Step(id) => steps
                .get(id.index())
                .copied()
                .flatten()
                .unwrap_or(TypeId::ANY),
            Operand::Op(op) => self.op(*op),
            Operand::Const(constant) => self.constant(*constant),
            Operand::Literal(literal) => self.literal(literal),
        }
    }
}
