//! Resolving: replaces the call of a known closure by the calls that the closure would make.
//!
//! `x1 = rbind(o_g, R5); x2 = x1(I)` becomes `x2 = o_g(I, R5)`. The step that makes the closure is
//! usually not needed any more, and other programs can share the resulting calls.
//!
//! The outcome is the same. A call is resolved only if every function in it is known down to the
//! primitives, and each gets the number of arguments it takes, so every call succeeds or fails as
//! before. Functions have no side effects, so the order of the parts does not matter: if one fails,
//! the solver fails. There is one difference: resolved calls do not count as nested, so a run that
//! barely exceeds the limit on nested calls may succeed.

use batt_dsl::{Dialect, Literal, OpId};

use crate::batt::OnError;
use crate::program::{Operand, StepKind};

/// The most calls that a closure may stand for. The limit bounds the work for a single step: a
/// closure composed with itself doubles every time.
const MAX_CALLS: usize = 64;
/// The deepest nesting of closures that is resolved.
const MAX_DEPTH: usize = 32;

/// The greatest exponent up to which `power` is written out.
const MAX_POWER: i64 = 8;

/// A function whose definition is known.
enum Known<'s> {
    Op(OpId),
    /// A closure made by the named primitive from these operands.
    Closure(&'static str, &'s [Operand]),
    /// `power` with an exponent of at least 2.
    Power(&'s Operand, i64),
}

/// An argument of a planned call.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    Given(Operand),
    /// The value of an earlier call of the plan.
    Call(usize),
}

/// The calls that a call of a closure stands for, in order.
type Calls = Vec<(OpId, Vec<Planned>)>;

/// The calls that a call of a closure stands for, and the value of the original call.
pub(super) struct Plan {
    pub calls: Calls,
    pub value: Planned,
}

/// Finds the calls that calls of closures stand for.
pub(super) struct Resolver {
    equality: Option<OpId>,
    on_error: OnError,
}

impl Resolver {
    pub fn new(dialect: Dialect, on_error: OnError) -> Resolver {
        Resolver {
            equality: dialect.op("equality"),
            on_error,
        }
    }

    /// Returns the calls that a call stands for, if its callee is known. `lines` are the steps so
    /// far.
    pub fn plan(&self, lines: &[StepKind], callee: &Operand, args: &[Operand]) -> Option<Plan> {
        let mut calls = Calls::new();
        let given = args.iter().cloned().map(Planned::Given).collect();
        let planner = Planner {
            resolver: self,
            lines,
        };
        let value = planner.call(&mut calls, callee, given, false, 0)?;
        Some(Plan { calls, value })
    }
}

struct Planner<'s> {
    resolver: &'s Resolver,
    lines: &'s [StepKind],
}

impl<'s> Planner<'s> {
    /// Plans one call. `inner` tells whether another call uses its value.
    fn call(
        &self,
        calls: &mut Calls,
        function: &'s Operand,
        args: Vec<Planned>,
        inner: bool,
        depth: usize,
    ) -> Option<Planned> {
        if depth > MAX_DEPTH {
            return None;
        }
        let known = self.known(function)?;
        let depth = depth + 1;
        match known {
            Known::Op(op) => self.primitive(calls, op, args, inner),
            Known::Closure("lbind", [function, fixed]) => {
                self.require_bound_arity(function, args.len(), depth)?;
                let mut all = vec![Planned::Given(fixed.clone())];
                all.extend(args);
                self.call(calls, function, all, inner, depth)
            }
            Known::Closure("rbind", [function, fixed]) => {
                self.require_bound_arity(function, args.len(), depth)?;
                let mut all = args;
                all.push(Planned::Given(fixed.clone()));
                self.call(calls, function, all, inner, depth)
            }
            // All other closures take one argument.
            _ if args.len() != 1 => None,
            Known::Closure("compose", [outer, within]) => {
                let y = self.call(calls, within, args, true, depth)?;
                self.call(calls, outer, vec![y], inner, depth)
            }
            Known::Closure("chain", [h, g, f]) => {
                let y = self.call(calls, f, args, true, depth)?;
                let z = self.call(calls, g, vec![y], true, depth)?;
                self.call(calls, h, vec![z], inner, depth)
            }
            Known::Closure("fork", [outer, a, b]) => {
                let a = self.call(calls, a, args.clone(), true, depth)?;
                let b = self.call(calls, b, args, true, depth)?;
                self.call(calls, outer, vec![a, b], inner, depth)
            }
            Known::Closure("matcher", [function, target]) => {
                let y = self.call(calls, function, args, true, depth)?;
                let both = vec![y, Planned::Given(target.clone())];
                self.primitive(calls, self.resolver.equality?, both, inner)
            }
            Known::Power(function, times) => {
                let mut args = args;
                for _ in 1..times {
                    args = vec![self.call(calls, function, args, true, depth)?];
                }
                self.call(calls, function, args, inner, depth)
            }
            Known::Closure(..) => None,
        }
    }

    fn primitive(
        &self,
        calls: &mut Calls,
        op: OpId,
        args: Vec<Planned>,
        inner: bool,
    ) -> Option<Planned> {
        if calls.len() >= MAX_CALLS || op.op().arity() != args.len() {
            return None;
        }
        if let ("identity", [same]) = (op.op().name, &args[..]) {
            return Some(same.clone());
        }
        // Where failing steps get a default, a closure that fails inside gets one default as a
        // whole. Its last call may fail, because the default of a closure and of a failing
        // primitive are both `()`.
        let defaults = self.resolver.on_error == OnError::Defaults;
        if inner && defaults && op.op().fallback.is_none() {
            return None;
        }
        calls.push((op, args));
        Some(Planned::Call(calls.len() - 1))
    }

    /// Returns `Some` if this function, with one argument bound, takes this many arguments.
    fn require_bound_arity(&self, function: &'s Operand, args: usize, depth: usize) -> Option<()> {
        (self.bound_arity(function, depth)? == args).then_some(())
    }

    /// Returns the number of arguments of a function with one argument bound. As in the Python
    /// library, a function of two or three parameters loses one; any other becomes a function of
    /// three.
    fn bound_arity(&self, function: &'s Operand, depth: usize) -> Option<usize> {
        Some(match self.arity(function, depth)? {
            2 => 1,
            3 => 2,
            _ => 3,
        })
    }

    fn arity(&self, function: &'s Operand, depth: usize) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.known(function)? {
            Known::Op(op) => Some(op.op().arity()),
            Known::Closure("lbind" | "rbind", args) => self.bound_arity(&args[0], depth + 1),
            Known::Closure(..) | Known::Power(..) => Some(1),
        }
    }

    /// Returns the definition of a function, if it is known.
    fn known(&self, function: &'s Operand) -> Option<Known<'s>> {
        let mut function = function;
        for _ in 0..MAX_DEPTH {
            let step = match function {
                Operand::Op(op) => return Some(Known::Op(*op)),
                Operand::Step(id) => &self.lines[id.index()],
                _ => return None,
            };
            let (name, args) = direct_call(step)?;
            match (name, args) {
                ("identity", [same]) => function = same,
                ("power", [same, times]) => match times.literal()? {
                    // In Python, `True` is 1.
                    Literal::Int(1) | Literal::Bool(true) => function = same,
                    Literal::Int(n @ 2..=MAX_POWER) => return Some(Known::Power(same, n)),
                    _ => return None,
                },
                ("compose" | "chain" | "fork" | "matcher" | "lbind" | "rbind", args) => {
                    return Some(Known::Closure(name, args));
                }
                _ => return None,
            }
        }
        None
    }
}

/// Returns the operand that a step passes on unchanged. A primitive stays behind `identity`: a call
/// with a wrong number of arguments is allowed through a variable, but not by the primitive's own
/// name.
pub(super) fn identity_argument(kind: &StepKind) -> Option<&Operand> {
    match direct_call(kind) {
        Some(("identity", [same])) if !matches!(same, Operand::Op(_)) => Some(same),
        _ => None,
    }
}

/// Returns the name and the arguments of a step that calls a primitive with the right number of
/// arguments.
pub(super) fn direct_call(kind: &StepKind) -> Option<(&'static str, &[Operand])> {
    match kind {
        StepKind::Call {
            callee: Operand::Op(op),
            args,
        } if op.op().arity() == args.len() => Some((op.op().name, args)),
        _ => None,
    }
}

/// Returns whether an operand is certainly a function, given that its step succeeds.
pub(super) fn is_function(lines: &[StepKind], operand: &Operand) -> bool {
    let mut operand = operand;
    for _ in 0..MAX_DEPTH {
        let call = match operand {
            Operand::Op(_) => return true,
            Operand::Step(id) => direct_call(&lines[id.index()]),
            _ => None,
        };
        match call {
            Some(("identity", [same])) => operand = same,
            Some(("power", [same, times])) => match times.literal() {
                Some(Literal::Int(1) | Literal::Bool(true)) => operand = same,
                Some(_) => return true,
                None => return false,
            },
            Some((name, _)) => return MAKERS.contains(&name),
            None => return false,
        }
    }
    false
}

/// The primitives whose value is a function if they succeed.
const MAKERS: [&str; 6] = ["compose", "chain", "fork", "matcher", "lbind", "rbind"];
