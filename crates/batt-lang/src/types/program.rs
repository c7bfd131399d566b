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

    /// Returns the type of one step, given the types of the steps before it.
    pub fn of_step(
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

    /// Returns the type expected of an operand, given the types of the program's steps and the
    /// step's other operands. Operands count as in [`StepKind::operands`]: in a call the callee is
    /// 0, the first argument 1.
    ///
    /// | operand | expected |
    /// | --- | --- |
    /// | callee | a function that takes the arguments and returns the step's type |
    /// | argument | what the callee takes |
    /// | item of a tuple | the type of the current item |
    /// | operand 0 of the step after the last: the program's result | a grid |
    /// | any other position | anything |
    pub fn wanted(
        &mut self,
        program: &Program,
        steps: &[Option<TypeId>],
        step: usize,
        operand: usize,
    ) -> TypeId {
        let Some(at) = program.steps().get(step) else {
            return TypeId::GRID;
        };
        match (&at.kind, operand) {
            (StepKind::Call { args, .. }, 0) => {
                let args: Vec<_> = args
                    .iter()
                    .map(|arg| self.of_operand(program, steps, arg))
                    .collect();
                let result = steps.get(step).copied().flatten();
                self.function(&args, result.unwrap_or(TypeId::ANY))
            }
            (StepKind::Call { callee, args }, _) if operand <= args.len() => {
                let callee = self.of_operand(program, steps, callee);
                let args: Vec<_> = args
                    .iter()
                    .map(|arg| self.of_operand(program, steps, arg))
                    .collect();
                self.wanted_in(callee, &args, operand - 1, None)
            }
            (StepKind::Tuple(items), _) if operand < items.len() => {
                self.of_operand(program, steps, &items[operand])
            }
            _ => TypeId::ANY,
        }
    }
}
