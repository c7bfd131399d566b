//! Simplifying: rewrites one program by itself before merging.

use batt_dsl::{Dialect, OpId};

use crate::program::{Operand, StepId, StepKind};

use super::CardOptions;
use super::dead::drop_dead;
use super::fold::Folder;
use super::resolve::{Plan, Planned, Resolver, identity_argument};
use super::script::{Script, follow};
use super::share::literal_tuple;

/// Simplifies programs: resolves, folds and drops steps as the options say.
pub(super) struct Simplifier {
    resolver: Option<Resolver>,
    folder: Option<Folder>,
    drop_dead: bool,
}

impl Simplifier {
    pub fn new(dialect: Dialect, options: &CardOptions) -> Simplifier {
        Simplifier {
            resolver: options
                .resolve
                .then(|| Resolver::new(dialect, options.on_error)),
            folder: options.fold.then(|| Folder::new(dialect)),
            drop_dead: options.drop_dead,
        }
    }

    pub fn simplify(&mut self, script: Script) -> Script {
        let mut simpler = self.rewrite(script);
        if self.drop_dead {
            simpler = drop_dead(simpler);
        }
        simpler
    }

    /// Resolves and folds in one pass, because each enables the other: a folded exponent makes a
    /// `power` known, and the arguments of a resolved call may all be constants.
    fn rewrite(&mut self, script: Script) -> Script {
        if self.resolver.is_none() && self.folder.is_none() {
            return script;
        }
        let mut lines: Vec<StepKind> = Vec::with_capacity(script.lines.len());
        let mut values: Vec<Operand> = Vec::with_capacity(script.lines.len());
        for mut kind in script.lines {
            kind.operands_mut().for_each(|o| follow(o, &values));
            values.push(self.line(&mut lines, kind));
        }
        let mut result = script.result;
        follow(&mut result, &values);
        Script {
            name: script.name,
            lines,
            result,
        }
    }

    fn line(&mut self, lines: &mut Vec<StepKind>, kind: StepKind) -> Operand {
        if let (Some(_), Some(same)) = (&self.resolver, identity_argument(&kind)) {
            return same.clone();
        }
        match &kind {
            StepKind::Call {
                callee: Operand::Op(op),
                args,
            } => {
                if let Some(value) = self.fold(*op, args) {
                    return value;
                }
            }
            StepKind::Call { callee, args } => {
                let resolver = self.resolver.as_ref();
                if let Some(plan) = resolver.and_then(|r| r.plan(lines, callee, args)) {
                    return self.follow_plan(lines, plan);
                }
            }
            StepKind::Tuple(_) => {
                if let Some(literal) = literal_tuple(&kind) {
                    return Operand::Literal(literal);
                }
            }
        }
        push(lines, kind)
    }

    /// Adds the calls of a plan as steps and returns the value of the plan.
    fn follow_plan(&mut self, lines: &mut Vec<StepKind>, plan: Plan) -> Operand {
        let mut values: Vec<Operand> = Vec::with_capacity(plan.calls.len());
        let value_of = |planned: Planned, values: &[Operand]| match planned {
            Planned::Given(operand) => operand,
            Planned::Call(k) => values[k].clone(),
        };
        for (op, args) in plan.calls {
            let args = args.into_iter().map(|arg| value_of(arg, &values));
            let args: Vec<Operand> = args.collect();
            let callee = Operand::Op(op);
            values.push(match self.fold(op, &args) {
                Some(value) => value,
                None => push(lines, StepKind::Call { callee, args }),
            });
        }
        value_of(plan.value, &values)
    }

    fn fold(&mut self, op: OpId, args: &[Operand]) -> Option<Operand> {
        self.folder.as_mut()?.fold(op, args)
    }
}

fn push(lines: &mut Vec<StepKind>, kind: StepKind) -> Operand {
    lines.push(kind);
    Operand::Step(StepId(lines.len() as u32 - 1))
}
