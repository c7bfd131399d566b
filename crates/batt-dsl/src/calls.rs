//! Calls of function values, and the depth of CPython's stack.
//!
//! CPython raises `RecursionError` at 1,000 frames. A run counts the frames that CPython would
//! have: the frames below a solver, one frame for each closure, and the frames that a primitive
//! puts between its caller and the function it calls (its own frame, and that of a generator
//! expression or `max`). Such a primitive declares them with `frames` in [`op!`](crate::op).
//!
//! The run counts neither frames of helpers inside a primitive nor C functions that call no
//! function of the program. CPython counts some of them, and fewer once its interpreter has
//! specialised the code.

use crate::dialect::Dialect;
use crate::fault::{Fault, Outcome};
use crate::memo::MemoState;
use crate::run::Run;
use crate::table::{Fallback, Op, OpCode, OpId, Type};
use crate::value::{Closure, ClosureForm, Returned, Value};

/// The frame number of a solver. Below it are the frames of the module, of `main` and of the
/// function that tests solvers, as in the original library.
pub(crate) const SOLVER_FRAME: u32 = 4;

/// CPython's recursion limit.
const FRAMES: u32 = 1000;

impl<'r> Run<'r> {
    /// Calls a function value with one argument.
    #[inline(always)]
    pub fn call1(&mut self, f: Value<'r>, a: Value<'r>) -> Outcome<Value<'r>> {
        self.spend(1)?;
        match f {
            Value::Op(id) => match id.op().code {
                OpCode::One(code) => code(self, a).outcome(),
                _ => self.call_with_unusual_arity(id, &[a]),
            },
            Value::Closure(closure) => self.call_closure1(closure, a).outcome(),
            _ => Err(Fault::Type),
        }
    }

    /// Calls a function value with two arguments.
    #[inline(always)]
    pub fn call2(&mut self, f: Value<'r>, a: Value<'r>, b: Value<'r>) -> Outcome<Value<'r>> {
        self.spend(1)?;
        match f {
            Value::Op(id) => match id.op().code {
                OpCode::Two(code) => code(self, a, b).outcome(),
                _ => self.call_with_unusual_arity(id, &[a, b]),
            },
            Value::Closure(closure) => self.call_closure2(closure, a, b).outcome(),
            _ => Err(Fault::Type),
        }
    }

    /// Calls a function value with three arguments.
    pub fn call3(
        &mut self,
        f: Value<'r>,
        a: Value<'r>,
        b: Value<'r>,
        c: Value<'r>,
    ) -> Outcome<Value<'r>> {
        self.spend(1)?;
        match f {
            Value::Op(id) => match id.op().code {
                OpCode::Three(code) => code(self, a, b, c).outcome(),
                _ => self.call_with_unusual_arity(id, &[a, b, c]),
            },
            Value::Closure(closure) if closure.arity == 3 => {
                self.enter()?;
                let outcome = match closure.form {
                    ClosureForm::Lbind(f, fixed) => self.call4(f, fixed, a, b, c),
                    ClosureForm::Rbind(f, fixed) => self.call4(f, a, b, c, fixed),
                    _ => Err(Fault::Type),
                };
                self.depth -= 1;
                outcome
            }
            _ => Err(Fault::Type),
        }
    }

    /// Calls a function value with four arguments. No closure takes four.
    pub fn call4(
        &mut self,
        f: Value<'r>,
        a: Value<'r>,
        b: Value<'r>,
        c: Value<'r>,
        d: Value<'r>,
    ) -> Outcome<Value<'r>> {
        self.spend(1)?;
        match f {
            Value::Op(id) => match id.op().code {
                OpCode::Four(code) => code(self, a, b, c, d).outcome(),
                _ => self.call_with_unusual_arity(id, &[a, b, c, d]),
            },
            _ => Err(Fault::Type),
        }
    }

    /// Calls a function value with any number of arguments.
    pub fn call(&mut self, f: Value<'r>, args: &[Value<'r>]) -> Outcome<Value<'r>> {
        match *args {
            [a] => self.call1(f, a),
            [a, b] => self.call2(f, a, b),
            [a, b, c] => self.call3(f, a, b, c),
            [a, b, c, d] => self.call4(f, a, b, c, d),
            _ => match f {
                Value::Op(id) => self.call_with_unusual_arity(id, args),
                _ => Err(Fault::Type),
            },
        }
    }

    /// Calls a primitive with an unusual number of arguments.
    #[cold]
    fn call_with_unusual_arity(&mut self, id: OpId, args: &[Value<'r>]) -> Outcome<Value<'r>> {
        match (id.op().code, args) {
            (OpCode::Anything, _) => Ok(Value::EMPTY_TUPLE),
            (OpCode::TwoOrThree(code), &[a, b]) => code(self, a, b, None).outcome(),
            (OpCode::TwoOrThree(code), &[a, b, c]) => code(self, a, b, Some(c)).outcome(),
            _ => match id.op().fallback {
                Some(fallback) => self.fall_back(Fault::Type, fallback),
                None => Err(Fault::Type),
            },
        }
    }

    /// Returns the default of a primitive that never fails in Python. A fault that is a limit is
    /// returned unchanged, because Python has no such limit and therefore no default for it.
    #[cold]
    pub(crate) fn fall_back(&mut self, fault: Fault, to: Fallback) -> Outcome<Value<'r>> {
        if fault.is_limit() {
            return Err(fault);
        }
        self.fallbacks += 1;
        Ok(match to {
            Fallback::EmptyTuple => Value::EMPTY_TUPLE,
            Fallback::EmptySet => Value::Set(self.empty_set()?),
            Fallback::Zero => Value::Int(0),
            Fallback::False => Value::bool(false),
            Fallback::Function => Value::Op(OpId::of(&FALLBACK_FUNCTION)),
        })
    }

    /// Returns the value that a generated program uses in place of a failed call of `f`: the
    /// fallback of the primitive, or `()` if `f` is anything else.
    pub fn default_of(&mut self, f: Value<'r>) -> Outcome<Value<'r>> {
        let fallback = match f {
            Value::Op(id) => id.op().fallback,
            _ => None,
        };
        self.fall_back(Fault::Type, fallback.unwrap_or(Fallback::EmptyTuple))
    }

    /// Fails when the stack has no room for this many frames and for one that they call.
    #[inline(always)]
    pub(crate) fn check_frames(&self, frames: u32) -> Outcome<()> {
        match self.depth + frames < FRAMES {
            true => Ok(()),
            false => Err(Fault::Recursion),
        }
    }

    /// Returns how many frames still fit on the stack.
    pub(crate) fn free_frames(&self) -> u32 {
        FRAMES.saturating_sub(self.depth)
    }

    /// Puts the frame of a closure on the stack. The caller removes it.
    #[inline(always)]
    fn enter(&mut self) -> Outcome<()> {
        self.check_frames(1)?;
        self.depth += 1;
        Ok(())
    }

    /// Runs the body of a primitive that calls functions, with this many more frames on the stack.
    /// In tokpidjin the wrapper that returns the default of a failed primitive takes one frame
    /// more.
    #[inline(always)]
    pub(crate) fn in_frames<T>(
        &mut self,
        frames: u32,
        body: impl FnOnce(&mut Run<'r>) -> Outcome<T>,
    ) -> Outcome<T> {
        let frames = frames + u32::from(self.dialect.never_fails());
        self.check_frames(frames)?;
        self.depth += frames;
        let outcome = body(self);
        self.depth -= frames;
        outcome
    }

    pub(crate) fn call_closure1(&mut self, closure: &'r Closure<'r>, x: Value<'r>) -> Returned<'r> {
        if closure.memo_state.is_lookup_due() {
            return self.call_memoised(closure, x);
        }
        let fuel = self.fuel();
        let returned = Returned::new(self.call_without_memo(closure, x));
        if self.was_expensive(fuel) {
            self.record_expensive_call(closure);
        }
        returned
    }

    /// Calls a closure with one argument, without the memo.
    #[inline(always)]
    pub(crate) fn call_without_memo(
        &mut self,
        closure: &'r Closure<'r>,
        x: Value<'r>,
    ) -> Outcome<Value<'r>> {
        self.enter()?;
        let outcome = self.call_form(closure, x);
        self.depth -= 1;
        outcome
    }

    fn call_closure2(
        &mut self,
        closure: &'r Closure<'r>,
        a: Value<'r>,
        b: Value<'r>,
    ) -> Returned<'r> {
        if closure.arity != 2 {
            return Returned::new(Err(Fault::Type));
        }
        if let Err(fault) = self.enter() {
            return Returned::new(Err(fault));
        }
        let outcome = match closure.form {
            ClosureForm::Lbind(f, fixed) => self.call3(f, fixed, a, b),
            ClosureForm::Rbind(f, fixed) => self.call3(f, a, b, fixed),
            _ => Err(Fault::Type),
        };
        self.depth -= 1;
        Returned::new(outcome)
    }

    #[inline(always)]
    fn call_form(&mut self, closure: &'r Closure<'r>, x: Value<'r>) -> Outcome<Value<'r>> {
        if closure.arity != 1 {
            return Err(Fault::Type);
        }
        match closure.form {
            ClosureForm::Compose(outer, inner) => {
                if let Value::Closure(outer) = outer
                    && outer.memo_state.is_lookup_due()
                {
                    return self.compose_memoised(outer, inner, x).outcome();
                }
                let y = self.call1(inner, x)?;
                self.call1(outer, y)
            }
            ClosureForm::Chain(h, g, f) => {
                let y = self.call1(f, x)?;
                let z = self.call1(g, y)?;
                self.call1(h, z)
            }
            ClosureForm::Matcher(f, target) => {
                let y = self.call1(f, x)?;
                Ok(Value::bool(self.eq(y, target)))
            }
            ClosureForm::Fork(outer, a, b) => {
                let a = self.call1(a, x)?;
                let b = self.call1(b, x)?;
                self.call2(outer, a, b)
            }
            ClosureForm::Lbind(f, fixed) => self.call2(f, fixed, x),
            ClosureForm::Rbind(f, fixed) => self.call2(f, x, fixed),
            ClosureForm::Power(f, n) => self.call_power(f, n, x),
        }
    }

    /// Calls a function `n` times, at the depths that Python's nested compositions have: the
    /// innermost composition calls it twice, each outer one once.
    fn call_power(&mut self, f: Value<'r>, n: u32, x: Value<'r>) -> Outcome<Value<'r>> {
        let outermost = self.depth;
        self.check_frames(compositions_around(n, 0))?;
        let mut outcome = Ok(x);
        for k in 0..n {
            let Ok(y) = outcome else { break };
            self.depth = outermost + compositions_around(n, k);
            outcome = self.call1(f, y);
        }
        self.depth = outermost;
        outcome
    }

    /// Returns the number of arguments a function value takes.
    pub(crate) fn arity(&self, f: Value<'r>) -> Outcome<usize> {
        match f {
            Value::Op(id) => Ok(id.op().arity()),
            Value::Closure(closure) => Ok(closure.arity.into()),
            _ => Err(Fault::Attribute),
        }
    }

    /// Makes a closure, which is equal only to itself.
    pub fn closure(&mut self, arity: u8, form: ClosureForm<'r>) -> Outcome<Value<'r>> {
        self.closures = self.closures.wrapping_add(1);
        Ok(Value::Closure(self.alloc(Closure {
            arity,
            memo_state: MemoState::default(),
            id: self.closures,
            form,
        })?))
    }
}

/// Returns how many compositions of `power(f, n)` are on the stack inside the outermost one while
/// `f` is called for the `k`-th time, counted from 0.
pub(crate) fn compositions_around(n: u32, k: u32) -> u32 {
    n.saturating_sub(2).min(n - 1 - k)
}

/// The function that a primitive returns if it cannot make the requested one.
static FALLBACK_FUNCTION: Op = Op {
    name: "<fallback>",
    dialect: Dialect::Tokpidjin,
    fallback: Some(Fallback::EmptyTuple),
    family: "higher order",
    params: &[],
    returns: Type::Any,
    order_sensitive: false,
    order: "",
    doc: "Takes anything and gives `()`.",
    example: ("", ""),
    fails: "",
    code: OpCode::Anything,
    profiled: &FALLBACK_FUNCTION,
};
