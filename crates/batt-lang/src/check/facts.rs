//! Facts: what is certain about the values of a program before it runs.

use batt_dsl::{Literal, OpId};

use super::kinds::{Kinds, Signature};
use crate::program::{Operand, Program, Step, StepKind};

/// The facts about one value, given that its step succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    /// The kinds it can have.
    pub kinds: Kinds,
    /// The number of parameters, if it is a function.
    pub arity: Option<u8>,
    /// A bit set: bit n is set if a call with n arguments may succeed. Bit 7 stands for 7 or more
    /// arguments.
    pub calls: u8,
}

const ALL_CALLS: u8 = u8::MAX;

fn bit(args: usize) -> u8 {
    1 << args.min(7)
}

impl Fact {
    const UNKNOWN: Fact = Fact {
        kinds: Kinds::ANY,
        arity: None,
        calls: ALL_CALLS,
    };

    /// A value of known kinds. If there is no possible kind, its step always fails. The failure is
    /// reported once, for the step itself, so later steps treat the value as unknown.
    fn plain(kinds: Kinds) -> Fact {
        if kinds == Kinds::NOTHING {
            return Fact::UNKNOWN;
        }
        let callable = kinds.overlaps(Kinds::FUNCTION);
        Fact {
            kinds,
            arity: None,
            calls: if callable { ALL_CALLS } else { 0 },
        }
    }

    /// A function of known arity; `works` tells whether a call can succeed.
    fn function(arity: u8, works: bool) -> Fact {
        Fact {
            kinds: Kinds::FUNCTION,
            arity: Some(arity),
            calls: if works { bit(arity.into()) } else { 0 },
        }
    }

    /// A primitive. A primitive with a fallback never fails, so it takes any number of arguments.
    fn primitive(op: OpId) -> Fact {
        let fact = Fact::function(op.op().params.len() as u8, true);
        match op.op().fallback {
            Some(_) => Fact {
                calls: ALL_CALLS,
                ..fact
            },
            None => fact,
        }
    }

    /// Returns whether a call with this many arguments can succeed.
    pub(super) fn callable_with(self, args: usize) -> bool {
        self.calls & bit(args) != 0
    }

    /// The facts about a value that is described by either `self` or `other`.
    fn or(self, other: Fact) -> Fact {
        Fact {
            kinds: self.kinds | other.kinds,
            arity: self.arity.filter(|_| self.arity == other.arity),
            calls: self.calls | other.calls,
        }
    }
}

/// Everything that is certain about the values of a program, for all inputs.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    steps: Vec<Fact>,
}

impl Facts {
    /// Derives the facts of a program, step by step.
    pub fn of(program: &Program) -> Facts {
        let mut facts = Facts {
            steps: Vec::with_capacity(program.steps().len()),
        };
        for step in program.steps() {
            let fact = facts.result(step);
            facts.steps.push(fact);
        }
        facts
    }

    /// The kinds a value can have.
    pub fn kinds(&self, operand: &Operand) -> Kinds {
        self.fact(operand).kinds
    }

    pub(super) fn fact(&self, operand: &Operand) -> Fact {
        match operand {
            Operand::Param(_) => Fact::UNKNOWN,
            Operand::Step(id) => self.steps[id.index()],
            Operand::Op(op) => Fact::primitive(*op),
            Operand::Const(constant) => Fact::plain(Kinds::of(&constant.value())),
            Operand::Literal(literal) => Fact::plain(Kinds::of(literal)),
        }
    }

    fn result(&self, step: &Step) -> Fact {
        match &step.kind {
            StepKind::Tuple(_) => Fact::plain(Kinds::TUPLE),
            StepKind::Call {
                callee: Operand::Op(op),
                args,
            } if op.op().params.len() == args.len() => self.result_of(*op, args),
            StepKind::Call { .. } => Fact::UNKNOWN,
        }
    }

    /// The facts about the result of a primitive. Closures follow the rules of the original
    /// library, including the odd ones.
    fn result_of(&self, op: OpId, args: &[Operand]) -> Fact {
        // The primitive may return its fallback instead of a closure, so nothing is certain.
        if op.op().fallback.is_some() {
            return Fact::UNKNOWN;
        }
        let arg = |k: usize| self.fact(&args[k]);
        match op.op().name {
            "compose" | "chain" => {
                let works = (0..args.len()).all(|k| arg(k).callable_with(1));
                Fact::function(1, works)
            }
            "matcher" => Fact::function(1, arg(0).callable_with(1)),
            "fork" => {
                let inner = arg(1).callable_with(1) && arg(2).callable_with(1);
                Fact::function(1, inner && arg(0).callable_with(2))
            }
            "lbind" | "rbind" => bound(arg(0)),
            "power" => power(arg(0), args[1].literal()),
            _ => {
                let signature = Signature::of(op);
                let same = signature.same.iter().map(|&k| {
                    let fact = arg(k);
                    let kinds = fact.kinds & signature.params[k];
                    match kinds.overlaps(Kinds::FUNCTION) {
                        true => Fact { kinds, ..fact },
                        false => Fact::plain(kinds),
                    }
                });
                let fact = same.reduce(Fact::or);
                fact.unwrap_or(Fact::plain(signature.result))
            }
        }
    }
}

/// The result of `lbind` and `rbind`: a function of two or three parameters loses one. Any other
/// becomes a function of three parameters that calls the original with four arguments.
fn bound(function: Fact) -> Fact {
    let after = |arity: u8| match arity {
        2 => 1,
        3 => 2,
        _ => 3,
    };
    let works = |arity: u8| function.callable_with(usize::from(arity) + 1);
    match function.arity.map(after) {
        Some(arity) => Fact::function(arity, works(arity)),
        None => Fact {
            kinds: Kinds::FUNCTION,
            arity: None,
            calls: (1..=3)
                .filter(|&arity| works(arity))
                .fold(0, |calls, arity| calls | bit(arity.into())),
        },
    }
}

/// The result of `power`: the function itself for exponent 1, a composition for a greater one.
fn power(function: Fact, times: Option<Literal>) -> Fact {
    let repeated = Fact::function(1, function.callable_with(1));
    match times {
        Some(Literal::Int(1) | Literal::Bool(true)) => function,
        Some(_) => repeated,
        None => function.or(repeated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::SolverFile;

    #[test]
    fn closures_are_functions_of_what_is_not_bound() {
        let file = SolverFile::parse("def f(I):\n  x = lbind(fill, I)\n  return x", "f.py");
        let program = &file.programs[0];
        let fact = Facts::of(program).fact(program.result());
        assert_eq!((fact.kinds, fact.arity), (Kinds::FUNCTION, Some(2)));
    }
}
